//! Failures of universe commands as clients read them in a refusal, in the words of the original where it has some.

use std::fmt;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::check_bounds::{FieldMisfit, Reason, truncate_for_message};
use super::command::Command;
use super::id_name_color::Id;

/// The original's event for a child that is in the group already.
pub(super) const ALREADY_IN_GROUP: &str = "childAlreadyInGroup";

/// One failed command. On the wire it is an event: `type`, then `reason` and ids as in the original. Failures that the
/// original does not have also name the field at fault.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure(Box<FailureText>);

/// The kinds of things that commands name by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThingKind {
    Body,
    Group,
    /// A child of a group.
    BodyOrGroup,
    SmallBodyField,
    ProtoplanetaryDisk,
    Nebula,
}

/// A thing that a command names and that does not exist. The name of something may have been sent as its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingItem {
    pub kind: ThingKind,
    pub id: Id,
}

#[derive(Debug, Clone, PartialEq)]
struct FailureText {
    name: &'static str,
    reason: Option<Reason>,
    subjects: Vec<(&'static str, Option<Id>)>,
    pointer: Option<String>,
    command: Option<Value>,
    missing: Option<MissingItem>,
    message: String,
    hint: &'static str,
}

impl Failure {
    fn new(name: &'static str, message: String, hint: &'static str) -> Self {
        let (reason, subjects, pointer, command, missing) = (None, Vec::new(), None, None, None);
        Self(Box::new(FailureText { name, reason, subjects, pointer, command, missing, message, hint }))
    }

    fn with_subject(mut self, field: &'static str, id: &Id) -> Self {
        self.0.subjects.push((field, Some(id.clone())));
        self
    }

    /// The event's name, such as `starNotFound`.
    pub fn name(&self) -> &'static str {
        self.0.name
    }

    pub fn reason(&self) -> Option<Reason> {
        self.0.reason
    }

    /// The JSON pointer of the field at fault in the command.
    pub fn pointer(&self) -> Option<&str> {
        self.0.pointer.as_deref()
    }

    /// The id that is missing, or the first that the failure is about.
    pub fn value(&self) -> Option<&str> {
        let missing = self.missing().map(|missing| &*missing.id);
        missing.or_else(|| self.first_subject())
    }

    fn first_subject(&self) -> Option<&str> {
        self.0.subjects.iter().find_map(|(_, id)| id.as_deref())
    }

    /// The thing that the command names and that does not exist.
    pub fn missing(&self) -> Option<&MissingItem> {
        self.0.missing.as_ref()
    }

    pub(super) fn with_missing(mut self, kind: ThingKind, id: &Id) -> Self {
        self.0.missing = Some(MissingItem { kind, id: id.clone() });
        self
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        self.0.hint
    }

    /// Whether the command had nothing left to do, which is not reported as a failure.
    pub fn is_no_op(&self) -> bool {
        self.0.name == ALREADY_IN_GROUP
    }

    /// Whether something that the command names does not exist.
    pub fn is_not_found(&self) -> bool {
        self.0.reason == Some(Reason::NotFound) || self.0.name.ends_with("NotFound")
    }

    pub(super) fn star_not_found(id: &Id) -> Self {
        Self::not_found("starNotFound", "body", ThingKind::Body, id)
    }

    pub(super) fn group_not_found(id: &Id) -> Self {
        Self::not_found("groupNotFound", "group", ThingKind::Group, id)
    }

    pub(super) fn field_not_found(id: &Id) -> Self {
        Self::not_found("smallBodyFieldNotFound", "small body field", ThingKind::SmallBodyField, id)
    }

    pub(super) fn disk_not_found(id: &Id) -> Self {
        Self::not_found("protoplanetaryDiskNotFound", "protoplanetary disk", ThingKind::ProtoplanetaryDisk, id)
    }

    pub(super) fn nebula_not_found(id: &Id) -> Self {
        Self::not_found("nebulaNotFound", "nebula", ThingKind::Nebula, id)
    }

    fn not_found(name: &'static str, thing: &str, kind: ThingKind, id: &Id) -> Self {
        let message = format!("there is no {thing} {:?} in this universe", truncate_for_message(id));
        Self::new(name, message, Reason::NotFound.hint()).with_subject("id", id).with_missing(kind, id)
    }

    pub(super) fn ring_not_found(planet_id: &Id) -> Self {
        let message = format!("there is no body {:?} with a ring in this universe", truncate_for_message(planet_id));
        Self::new("ringNotFound", message, "updateRing gives a body a ring").with_subject("planetId", planet_id)
    }

    pub(super) fn attach_failed(reason: Reason, child_id: &Id, parent_id: &Id) -> Self {
        let (child, parent) = (truncate_for_message(child_id), truncate_for_message(parent_id));
        let message = match reason {
            Reason::Cycle => format!("{child:?} cannot move around {parent:?}, which is itself or moves around it"),
            _ => format!("{child:?} cannot move around {parent:?}: one of them is not there"),
        };
        Self::new("attachFailed", message, reason.hint())
            .with_reason(reason)
            .with_subject("childId", child_id)
            .with_subject("parentId", parent_id)
    }

    pub(super) fn detach_failed(child_id: &Id) -> Self {
        let message = format!("{:?} is not there, or has no parent", truncate_for_message(child_id));
        Self::new("detachFailed", message, Reason::NotAttached.hint())
            .with_reason(Reason::NotAttached)
            .with_subject("childId", child_id)
    }

    pub(super) fn already_in_group(group_id: &Id, child_id: &Id) -> Self {
        let message =
            format!("{:?} is in group {:?} already", truncate_for_message(child_id), truncate_for_message(group_id));
        let failure = Self::new(ALREADY_IN_GROUP, message, "nothing is left to do");
        failure.with_subject("groupId", group_id).with_subject("childId", child_id)
    }

    pub(super) fn not_in_group(group_id: &Id, child_id: &Id) -> Self {
        let message =
            format!("{:?} is not in group {:?}", truncate_for_message(child_id), truncate_for_message(group_id));
        let failure = Self::new("childNotInGroup", message, "read the group for what it holds");
        failure.with_subject("groupId", group_id).with_subject("childId", child_id)
    }

    pub(super) fn move_to_group_failed(reason: Reason, child_id: &Id, target_group_id: Option<&Id>) -> Self {
        let child = truncate_for_message(child_id);
        let message = match reason {
            Reason::Cycle => format!("group {child:?} cannot be in itself or in a group below it"),
            Reason::TooMany => format!("there is no place left in the groups of this universe for {child:?}"),
            _ => format!("{child:?} is not there"),
        };
        let mut failure = Self::new("moveToGroupFailed", message, reason.hint())
            .with_reason(reason)
            .with_subject("childId", child_id);
        failure.0.subjects.push(("targetGroupId", target_group_id.cloned()));
        failure
    }

    pub(super) fn add_to_group_failed(reason: Reason, group_id: &Id, child_id: &Id) -> Self {
        let (group, child) = (truncate_for_message(group_id), truncate_for_message(child_id));
        let message = match reason {
            Reason::Cycle => format!("group {child:?} cannot be in {group:?}, which is itself or below it"),
            _ => format!("{child:?} is not there, so it cannot be in group {group:?}"),
        };
        let failure = Self::new("addToGroupFailed", message, reason.hint()).with_reason(reason);
        failure.with_subject("groupId", group_id).with_subject("childId", child_id)
    }

    /// A refusal that the original does not have.
    pub(super) fn command_failed(command: &str, reason: Reason, message: String) -> Self {
        let name = Command::general_failure_name(command).unwrap_or("commandFailed");
        Self::new(name, message, reason.hint()).with_reason(reason)
    }

    /// Adds the id of the thing that the failure is about.
    pub(super) fn with_id(self, id: &Id) -> Self {
        self.with_subject("id", id)
    }

    pub(super) fn with_planet(self, planet_id: &Id) -> Self {
        self.with_subject("planetId", planet_id)
    }

    pub(super) fn with_group(self, group_id: &Id, child_id: &Id) -> Self {
        self.with_subject("groupId", group_id).with_subject("childId", child_id)
    }

    pub(super) fn with_pointer(mut self, pointer: String) -> Self {
        self.0.pointer = Some(pointer);
        self
    }

    /// A value out of bounds, somewhere in the command.
    pub(super) fn from_misfit(command: &str, misfit: &FieldMisfit) -> Self {
        Self::command_failed(command, misfit.reason, misfit.to_string()).with_pointer(misfit.pointer.clone())
    }

    /// The failure of a value that is none of the 25 commands.
    pub(super) fn unknown_command(sent: &Value) -> Self {
        let message = match sent.get("type").and_then(Value::as_str) {
            Some(name) => format!("there is no command {:?}", truncate_for_message(name)),
            None => "a command is an object with a string \"type\"".to_owned(),
        };
        let mut failure = Self::new("unknownCommand", message, "`list_universe_commands` shows the 25 commands");
        failure.0.command = Some(sent.clone());
        failure
    }

    /// The failure of one of the 25 commands whose fields cannot be parsed.
    pub fn unreadable_command(sent: &Value, problem: &str) -> Self {
        let name = sent.get("type").and_then(Value::as_str).unwrap_or_default();
        let failure = Self::command_failed(
            name,
            Reason::Unreadable,
            format!("{} cannot be read: {problem}", truncate_for_message(name)),
        );
        let given = |field: &'static str| sent.get(field).and_then(Value::as_str).map(|id| (field, Id::from(id)));
        let named = ["id", "childId", "parentId", "groupId", "planetId"].into_iter().filter_map(given);
        named.fold(failure, |failure, (field, id)| failure.with_subject(field, &id))
    }

    pub(super) fn with_reason(mut self, reason: Reason) -> Self {
        self.0.reason = Some(reason);
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0.message)
    }
}

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut event = serializer.serialize_map(None)?;
        event.serialize_entry("type", self.0.name)?;
        if let Some(reason) = self.0.reason {
            event.serialize_entry("reason", &reason)?;
        }
        for (field, id) in &self.0.subjects {
            event.serialize_entry(field, id)?;
        }
        if let Some(pointer) = &self.0.pointer {
            event.serialize_entry("field", pointer)?;
        }
        if let Some(command) = &self.0.command {
            event.serialize_entry("command", command)?;
        }
        event.end()
    }
}
