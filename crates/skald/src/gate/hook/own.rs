//! The gate's own tools, as agents name the tools of a server.

/// Whether a tool is one of a gate's, whatever its server is called: `mcp__skald__state_gate_emit_event`. Clients write
/// the dot of a name as it is, or as an underscore.
pub(super) fn is_own(tool: &str) -> bool {
    let named = tool.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map(|(_, name)| name);
    named.is_some_and(|name| name.starts_with("state_gate_") || name.starts_with("state_gate."))
}

/// Whether it is the one that moves a run.
pub(super) fn emits(tool: &str) -> bool {
    tool.ends_with("state_gate_emit_event") || tool.ends_with("state_gate.emit_event")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gates_tools_are_told_by_their_names() {
        for tool in ["mcp__skald__state_gate_get_state", "mcp__state-gate__state_gate.emit_event"] {
            assert!(is_own(tool), "{tool}");
        }
        for tool in
            ["Bash", "state_gate_get_state", "mcp__state_gate_x", "mcp__fs__write_state_gate_", "mcp__fs__write"]
        {
            assert!(!is_own(tool), "{tool}");
        }
        assert!(emits("mcp__skald__state_gate_emit_event") && !emits("mcp__skald__state_gate_run"));
    }
}
