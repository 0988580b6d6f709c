//! Parses states, events, transitions, artifacts and roles of a process file.

use super::super::finding::{Rule, join_pointer, shorten};
use super::super::yaml::Node;
use super::field_reader::{FieldReader, Fields};
use super::{ArtifactKind, EventKind, OnGuardFail, Role, State, ToolPermissions, Transition};

pub(super) fn parse_state(reader: &mut FieldReader, node: &Node, path: &str) -> Option<State> {
    let keys = ["name", "description", "prompt", "required_artifacts", "is_final", "tool_permissions"];
    let fields = reader.fields(node, path, &keys)?;
    let permissions = fields.get("tool_permissions");
    Some(State {
        name: reader.required_name(&fields, "name"),
        description: reader.optional_text(&fields, "description"),
        prompt: reader.optional_text(&fields, "prompt"),
        required_artifacts: reader.names(&fields, "required_artifacts").unwrap_or_default(),
        is_final: reader.flag(&fields, "is_final").unwrap_or(false),
        tool_permissions: permissions
            .and_then(|node| parse_tool_permissions(reader, node, &fields.path("tool_permissions"))),
    })
}

fn parse_tool_permissions(reader: &mut FieldReader, node: &Node, path: &str) -> Option<ToolPermissions> {
    let fields = reader.fields(node, path, &["allowed", "denied", "ask"])?;
    Some(ToolPermissions {
        allowed: parse_tool_patterns(reader, &fields, "allowed"),
        denied: parse_tool_patterns(reader, &fields, "denied"),
        ask: parse_tool_patterns(reader, &fields, "ask"),
    })
}

/// Reads tool patterns and reports malformed ones: these match no tool, so what they should deny would be allowed.
fn parse_tool_patterns(reader: &mut FieldReader, fields: &Fields<'_>, key: &str) -> Vec<String> {
    let patterns = reader.names(fields, key).unwrap_or_default();
    for (index, pattern) in patterns.iter().enumerate().filter(|(_, pattern)| !ToolPermissions::is_pattern(pattern)) {
        let place = fields.get(key).map_or(fields.place, |node| node.place_of(&format!("/{index}")));
        let message = format!("{:?} is no pattern of a tool", shorten(pattern));
        let hint = "write a tool's name, or a name and a pattern of its argument, as in Bash(git diff *)";
        reader.report(Rule::InvalidValue, &join_pointer(&fields.path(key), index), place, message, hint);
    }
    patterns
}

pub(super) fn parse_event(reader: &mut FieldReader, node: &Node, path: &str) -> Option<EventKind> {
    let fields = reader.fields(node, path, &["name", "description", "payload_schema", "allowed_roles", "sets"])?;
    reader.required_field(&fields, "allowed_roles");
    Some(EventKind {
        name: reader.required_name(&fields, "name"),
        description: reader.optional_text(&fields, "description"),
        payload_schema: reader.schema(&fields, "payload_schema"),
        allowed_roles: reader.names(&fields, "allowed_roles").unwrap_or_default(),
        sets: reader.names(&fields, "sets"),
    })
}

pub(super) fn parse_transition(reader: &mut FieldReader, node: &Node, path: &str) -> Option<Transition> {
    let keys = ["from", "event", "to", "guard", "allowed_roles", "description", "on_guard_fail"];
    let fields = reader.fields(node, path, &keys)?;
    Some(Transition {
        from: reader.required_name(&fields, "from"),
        event: reader.required_name(&fields, "event"),
        to: reader.required_name(&fields, "to"),
        guard: fields.get("guard").and_then(|node| reader.name(node, &fields.path("guard"))),
        allowed_roles: reader.names(&fields, "allowed_roles"),
        description: reader.optional_text(&fields, "description"),
        on_guard_fail: reader.enum_value(&fields, "on_guard_fail", OnGuardFail::WORDS).unwrap_or_default(),
    })
}

pub(super) fn parse_artifact(reader: &mut FieldReader, node: &Node, path: &str) -> Option<ArtifactKind> {
    let keys = ["type", "description", "required_in_states", "required_for_transitions", "schema"];
    let fields = reader.fields(node, path, &keys)?;
    Some(ArtifactKind {
        name: reader.required_name(&fields, "type"),
        description: reader.optional_text(&fields, "description"),
        required_in_states: reader.names(&fields, "required_in_states").unwrap_or_default(),
        required_for_transitions: reader.names(&fields, "required_for_transitions").unwrap_or_default(),
        schema: reader.schema(&fields, "schema"),
    })
}

pub(super) fn parse_role(reader: &mut FieldReader, node: &Node, path: &str) -> Option<Role> {
    let fields = reader.fields(node, path, &["name", "allowed_events", "can_approve", "can_reject"])?;
    reader.required_field(&fields, "allowed_events");
    Some(Role {
        name: reader.required_name(&fields, "name"),
        allowed_events: reader.names(&fields, "allowed_events").unwrap_or_default(),
        can_approve: reader.flag(&fields, "can_approve"),
        can_reject: reader.flag(&fields, "can_reject"),
    })
}
