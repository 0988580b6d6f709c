//! Table of command outcomes: for each command its success event and the failures it can be refused with.

use super::check_bounds::Reason;
use super::failure::ALREADY_IN_GROUP;

/// The possible outcomes of a command.
#[derive(Debug)]
pub struct CommandOutcome {
    /// The success event; `None` for a command without one.
    pub event: Option<&'static str>,
    pub failures: &'static [FailureEntry],
}

/// One failure event, with the reasons that it can give.
#[derive(Debug)]
pub struct FailureEntry {
    pub event: &'static str,
    /// Empty where the event's name is the reason.
    pub reasons: &'static [Reason],
}

/// The success event of `addToGroup`.
const CHILD_ADDED_TO_GROUP: &str = "childAddedToGroup";

impl CommandOutcome {
    /// The event that reports that there was nothing to do. Nothing is stored then, and it is not a failure.
    pub fn no_op_event(&self) -> Option<&'static str> {
        (self.event == Some(CHILD_ADDED_TO_GROUP)).then_some(ALREADY_IN_GROUP)
    }

    /// Whether the command can fail with this event and reason.
    pub fn has_failure(&self, event: &str, reason: Option<Reason>) -> bool {
        if self.no_op_event() == Some(event) {
            return reason.is_none();
        }
        let named = |entry: &&FailureEntry| entry.event == event;
        self.failures.iter().find(named).is_some_and(|entry| match reason {
            None => entry.reasons.is_empty(),
            Some(reason) => entry.reasons.contains(&reason),
        })
    }
}

const fn failure_without_reason(event: &'static str) -> FailureEntry {
    FailureEntry { event, reasons: &[] }
}

const fn failure_with_reasons(event: &'static str, reasons: &'static [Reason]) -> FailureEntry {
    FailureEntry { event, reasons }
}

macro_rules! outcomes {
    ($($command:literal => $event:expr, [$($failure:expr),*];)+) => {
        /// The possible outcomes of the command with this name.
        pub fn outcome(command: &str) -> Option<&'static CommandOutcome> {
            use Reason::{
                BadColor, Cycle, DuplicateId, ForbiddenId, LinkChange, ListedTwice, NotAttached, NotFinite,
                NotFound, NotPlain, OutOfRange, SelfParent, TooLong, TooMany, UnknownParent, Unreadable, WrongKey,
            };
            match command {
                $($command => {
                    const OUTCOME: &CommandOutcome = &CommandOutcome { event: $event, failures: &[$($failure),*] };
                    Some(OUTCOME)
                })+
                _ => None,
            }
        }
    };
}

outcomes! {
    "tick" => None, [failure_with_reasons("tickFailed", &[NotFinite, Unreadable])];
    "addStar" => Some("starAdded"), [failure_with_reasons("addStarFailed", &[
        DuplicateId, ForbiddenId, LinkChange, UnknownParent, SelfParent, OutOfRange, NotFinite, TooLong, NotPlain,
        BadColor, TooMany, Unreadable,
    ])];
    "updateStar" => Some("starUpdated"), [
        failure_without_reason("starNotFound"),
        failure_with_reasons("updateStarFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeStar" => Some("starRemoved"), [failure_without_reason("starNotFound"), failure_with_reasons("removeStarFailed", &[Unreadable])];
    "attachStar" => Some("starAttached"), [failure_with_reasons("attachFailed", &[NotFound, Cycle, Unreadable])];
    "detachStar" => Some("starDetached"), [failure_with_reasons("detachFailed", &[NotAttached, Unreadable])];
    "addGroup" => Some("groupAdded"), [failure_with_reasons("addGroupFailed", &[
        DuplicateId, ForbiddenId, LinkChange, UnknownParent, SelfParent, NotFound, Cycle, ListedTwice, NotFinite, TooLong,
        NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateGroup" => Some("groupUpdated"), [
        failure_without_reason("groupNotFound"),
        failure_with_reasons("updateGroupFailed", &[LinkChange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable])
    ];
    "removeGroup" => Some("groupRemoved"), [failure_without_reason("groupNotFound"), failure_with_reasons("removeGroupFailed", &[Unreadable])];
    "addToGroup" => Some(CHILD_ADDED_TO_GROUP), [
        failure_without_reason("groupNotFound"),
        failure_with_reasons("addToGroupFailed", &[NotFound, Cycle, TooMany, Unreadable])
    ];
    "removeFromGroup" => Some("childRemovedFromGroup"), [
        failure_without_reason("groupNotFound"),
        failure_without_reason("childNotInGroup"),
        failure_with_reasons("removeFromGroupFailed", &[Unreadable])
    ];
    "moveToGroup" => Some("movedToGroup"), [
        failure_without_reason("groupNotFound"),
        failure_with_reasons("moveToGroupFailed", &[NotFound, Cycle, TooMany, Unreadable])
    ];
    "setSmallBodyFields" => Some("smallBodyFieldsSet"), [failure_with_reasons("setSmallBodyFieldsFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateSmallBodyField" => Some("smallBodyFieldUpdated"), [
        failure_without_reason("smallBodyFieldNotFound"),
        failure_with_reasons("updateSmallBodyFieldFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeSmallBodyField" => Some("smallBodyFieldRemoved"), [
        failure_without_reason("smallBodyFieldNotFound"),
        failure_with_reasons("removeSmallBodyFieldFailed", &[Unreadable])
    ];
    "setProtoplanetaryDisks" => Some("protoplanetaryDisksSet"), [failure_with_reasons("setProtoplanetaryDisksFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "addProtoplanetaryDisk" => Some("protoplanetaryDiskAdded"), [failure_with_reasons("addProtoplanetaryDiskFailed", &[
        ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateProtoplanetaryDisk" => Some("protoplanetaryDiskUpdated"), [
        failure_without_reason("protoplanetaryDiskNotFound"),
        failure_with_reasons("updateProtoplanetaryDiskFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeProtoplanetaryDisk" => Some("protoplanetaryDiskRemoved"), [
        failure_without_reason("protoplanetaryDiskNotFound"),
        failure_with_reasons("removeProtoplanetaryDiskFailed", &[Unreadable])
    ];
    "setNebulae" => Some("nebulaeSet"), [failure_with_reasons("setNebulaeFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateNebula" => Some("nebulaUpdated"), [
        failure_without_reason("nebulaNotFound"),
        failure_with_reasons("updateNebulaFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeNebula" => Some("nebulaRemoved"), [
        failure_without_reason("nebulaNotFound"),
        failure_with_reasons("removeNebulaFailed", &[Unreadable])
    ];
    "updateRing" => Some("ringUpdated"), [
        failure_without_reason("starNotFound"),
        failure_with_reasons("updateRingFailed", &[OutOfRange, NotFinite, TooLong, BadColor, TooMany, Unreadable])
    ];
    "removeRing" => Some("ringRemoved"), [failure_without_reason("ringNotFound"), failure_with_reasons("removeRingFailed", &[Unreadable])];
    "replaceSnapshot" => Some("snapshotReplaced"), [failure_with_reasons("replaceSnapshotFailed", &[
        ForbiddenId, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
}

#[cfg(test)]
mod tests {
    use super::super::command::Command;
    use super::*;

    #[test]
    fn every_command_has_its_outcome_and_its_own_failure() {
        for name in Command::NAMES {
            let outcome = outcome(name).unwrap();
            assert!(
                outcome.has_failure(Command::general_failure_name(name).unwrap(), Some(Reason::Unreadable)),
                "{name}"
            );
        }
        assert!(outcome("fly").is_none());
    }
}
