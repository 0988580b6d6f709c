//! Recognises the gate's own MCP tools by the names that agents use for them.

use skald_app::{Catalogue, Exposed, Toolset};

/// Whether a tool is one of the gate's on one of these servers, as in `mcp__skald__state_gate_emit_event`. A tool of
/// another server, or one that the gate does not have, does not count, however similar its name.
pub(super) fn is_gate_tool(tool: &str, servers: &[String]) -> bool {
    let of_server =
        |server: &String| tool.strip_prefix("mcp__")?.strip_prefix(&server_in_tool_name(server))?.strip_prefix("__");
    let mut named = servers.iter().filter_map(of_server).peekable();
    if named.peek().is_none() {
        return false;
    }
    let catalogue = Catalogue::from_all_nouns();
    let tools = catalogue.operations().iter();
    let tools: Vec<&str> = tools
        .filter(|entry| entry.toolset == Toolset::Gate && entry.exposed == Exposed::Everywhere)
        .map(|entry| entry.name)
        .collect();
    // Clients write the dot of a name as it is, or as an underscore.
    named.any(|named| tools.iter().any(|tool| *tool == named || tool.replace('.', "_") == named))
}

/// A server's name as agents write it in the names of its tools.
pub(super) fn server_in_tool_name(server: &str) -> String {
    let is_kept = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    server.trim().chars().map(|letter| if is_kept(letter) { letter } else { '_' }).collect()
}

/// Whether a tool is the one that emits events.
pub(super) fn is_emit_event(tool: &str) -> bool {
    tool.ends_with("__state_gate_emit_event") || tool.ends_with("__state_gate.emit_event")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gates_tools_are_told_by_their_names_and_their_server() {
        let servers = ["skald", "state-gate", "my table", "a__b"].map(str::to_owned);
        for tool in [
            "mcp__skald__state_gate_get_state",
            "mcp__skald__state_gate.run",
            "mcp__state-gate__state_gate.emit_event",
            "mcp__my_table__state_gate_list_events",
            "mcp__a__b__state_gate_create_run",
        ] {
            assert!(is_gate_tool(tool, &servers), "{tool}");
        }
        for tool in [
            "Bash",
            "state_gate_get_state",
            "mcp__state_gate_get_state",
            "mcp__evil__state_gate_get_state",
            "mcp__evil__state_gate_delete_all",
            "mcp__skald__state_gate_delete_all",
            "mcp__skald__state_gate_",
            "mcp__skald__write_state_gate_run",
            "mcp__skald_state_gate_run",
            "mcp__skald__x__state_gate_run",
            "mcp__skald__duality_roll",
            // Not offered to agents: only the hook calls it.
            "mcp__skald__state_gate_tool_permission",
        ] {
            assert!(!is_gate_tool(tool, &servers), "{tool}");
        }
        assert!(is_emit_event("mcp__skald__state_gate_emit_event") && !is_emit_event("mcp__skald__state_gate_run"));
    }
}
