//! Table of command outcomes: for each command its success event and the failures it can be refused with.

use super::check::Reason;
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
    pub fn nothing_to_do(&self) -> Option<&'static str> {
        (self.event == Some(CHILD_ADDED_TO_GROUP)).then_some(ALREADY_IN_GROUP)
    }

    /// Whether the command can fail with this event and reason.
    pub fn has(&self, event: &str, reason: Option<Reason>) -> bool {
        if self.nothing_to_do() == Some(event) {
            return reason.is_none();
        }
        let named = |entry: &&FailureEntry| entry.event == event;
        self.failures.iter().find(named).is_some_and(|entry| match reason {
            None => entry.reasons.is_empty(),
            Some(reason) => entry.reasons.contains(&reason),
        })
    }
}

const fn named(event: &'static str) -> FailureEntry {
    FailureEntry { event, reasons: &[] }
}

const fn failed(event: &'static str, reasons: &'static [Reason]) -> FailureEntry {
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
    "tick" => None, [failed("tickFailed", &[NotFinite, Unreadable])];
    "addStar" => Some("starAdded"), [failed("addStarFailed", &[
        DuplicateId, ForbiddenId, LinkChange, UnknownParent, SelfParent, OutOfRange, NotFinite, TooLong, NotPlain,
        BadColor, TooMany, Unreadable,
    ])];
    "updateStar" => Some("starUpdated"), [
        named("starNotFound"),
        failed("updateStarFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeStar" => Some("starRemoved"), [named("starNotFound"), failed("removeStarFailed", &[Unreadable])];
    "attachStar" => Some("starAttached"), [failed("attachFailed", &[NotFound, Cycle, Unreadable])];
    "detachStar" => Some("starDetached"), [failed("detachFailed", &[NotAttached, Unreadable])];
    "addGroup" => Some("groupAdded"), [failed("addGroupFailed", &[
        DuplicateId, ForbiddenId, LinkChange, UnknownParent, SelfParent, NotFound, Cycle, ListedTwice, NotFinite, TooLong,
        NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateGroup" => Some("groupUpdated"), [
        named("groupNotFound"),
        failed("updateGroupFailed", &[LinkChange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable])
    ];
    "removeGroup" => Some("groupRemoved"), [named("groupNotFound"), failed("removeGroupFailed", &[Unreadable])];
    "addToGroup" => Some(CHILD_ADDED_TO_GROUP), [
        named("groupNotFound"),
        failed("addToGroupFailed", &[NotFound, Cycle, TooMany, Unreadable])
    ];
    "removeFromGroup" => Some("childRemovedFromGroup"), [
        named("groupNotFound"),
        named("childNotInGroup"),
        failed("removeFromGroupFailed", &[Unreadable])
    ];
    "moveToGroup" => Some("movedToGroup"), [
        named("groupNotFound"),
        failed("moveToGroupFailed", &[NotFound, Cycle, TooMany, Unreadable])
    ];
    "setSmallBodyFields" => Some("smallBodyFieldsSet"), [failed("setSmallBodyFieldsFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateSmallBodyField" => Some("smallBodyFieldUpdated"), [
        named("smallBodyFieldNotFound"),
        failed("updateSmallBodyFieldFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeSmallBodyField" => Some("smallBodyFieldRemoved"), [failed("removeSmallBodyFieldFailed", &[Unreadable])];
    "setProtoplanetaryDisks" => Some("protoplanetaryDisksSet"), [failed("setProtoplanetaryDisksFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "addProtoplanetaryDisk" => Some("protoplanetaryDiskAdded"), [failed("addProtoplanetaryDiskFailed", &[
        ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateProtoplanetaryDisk" => Some("protoplanetaryDiskUpdated"), [
        named("protoplanetaryDiskNotFound"),
        failed("updateProtoplanetaryDiskFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeProtoplanetaryDisk" => Some("protoplanetaryDiskRemoved"), [
        failed("removeProtoplanetaryDiskFailed", &[Unreadable])
    ];
    "setNebulae" => Some("nebulaeSet"), [failed("setNebulaeFailed", &[
        ForbiddenId, WrongKey, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
    ])];
    "updateNebula" => Some("nebulaUpdated"), [
        named("nebulaNotFound"),
        failed("updateNebulaFailed", &[
            LinkChange, ForbiddenId, OutOfRange, NotFinite, TooLong, NotPlain, BadColor, TooMany, Unreadable,
        ])
    ];
    "removeNebula" => Some("nebulaRemoved"), [failed("removeNebulaFailed", &[Unreadable])];
    "updateRing" => Some("ringUpdated"), [
        named("starNotFound"),
        failed("updateRingFailed", &[OutOfRange, NotFinite, TooLong, BadColor, TooMany, Unreadable])
    ];
    "removeRing" => Some("ringRemoved"), [named("ringNotFound"), failed("removeRingFailed", &[Unreadable])];
    "replaceSnapshot" => Some("snapshotReplaced"), [failed("replaceSnapshotFailed", &[
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
            assert!(outcome.has(Command::failed(name).unwrap(), Some(Reason::Unreadable)), "{name}");
        }
        assert!(outcome("fly").is_none());
    }
}
