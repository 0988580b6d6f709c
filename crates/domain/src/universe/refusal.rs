//! Refusals of universe commands: the reason, the input field at fault, and a hint.

use super::check_bounds::{FieldMisfit, Reason};
use super::failure::Failure;
use crate::limits;

/// The category of a refusal, which determines the error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniverseRefusalKind {
    /// There is no such universe.
    NotFound,
    /// An input field is invalid.
    Invalid,
    /// More than a limit allows.
    TooLarge,
    /// The current state does not allow it. Every failure of a single command has this kind, whatever its reason.
    Rejected,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UniverseRefusal {
    /// The stream is empty. The caller knows the id.
    #[error("there is no such universe")]
    UniverseNotFound,
    #[error("universe {id} exists already")]
    UniverseExists { id: String },
    /// An invalid field of the universe itself: its id, its name, or the sent state.
    #[error("{0}")]
    Field(FieldMisfit),
    #[error("there is no command in the array")]
    NoCommand,
    #[error("at most {} commands are sent together, these are {count}", limits::COMMANDS_MAX)]
    TooManyCommands { count: usize },
    /// `number` is the index of the command in a batch, of which no command was applied; `None` without a batch.
    #[error("{}{failure}", number.map(|number| format!("command {number}: ")).unwrap_or_default())]
    Command { number: Option<usize>, failure: Failure },
}

impl UniverseRefusal {
    pub fn kind(&self) -> UniverseRefusalKind {
        match self {
            Self::UniverseNotFound => UniverseRefusalKind::NotFound,
            Self::Field(FieldMisfit { reason: Reason::TooMany, .. }) | Self::TooManyCommands { .. } => {
                UniverseRefusalKind::TooLarge
            }
            Self::Field(_) | Self::NoCommand => UniverseRefusalKind::Invalid,
            Self::UniverseExists { .. } | Self::Command { .. } => UniverseRefusalKind::Rejected,
        }
    }

    /// The failure event of a refused command.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Command { failure, .. } => Some(failure),
            Self::UniverseNotFound
            | Self::UniverseExists { .. }
            | Self::Field(_)
            | Self::NoCommand
            | Self::TooManyCommands { .. } => None,
        }
    }

    /// The JSON pointer of the field at fault, relative to the sent universe, to the single command, or to the array of
    /// commands.
    pub fn pointer(&self) -> Option<String> {
        match self {
            Self::Field(misfit) => Some(misfit.pointer.clone()),
            Self::UniverseExists { .. } => Some("/id".to_owned()),
            Self::Command { number: None, failure } => failure.pointer().map(str::to_owned),
            Self::Command { number: Some(number), failure } => {
                Some(format!("/{number}{}", failure.pointer().unwrap_or_default()))
            }
            Self::UniverseNotFound | Self::NoCommand | Self::TooManyCommands { .. } => None,
        }
    }

    /// The id at fault, where there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::UniverseExists { id } => Some(id),
            Self::Command { failure, .. } => failure.value(),
            Self::UniverseNotFound | Self::Field(_) | Self::NoCommand | Self::TooManyCommands { .. } => None,
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::UniverseNotFound => "list the universes for their ids, or create one",
            Self::UniverseExists { .. } => "use it as it is, or create one under another id",
            Self::Field(misfit) => misfit.reason.hint(),
            Self::NoCommand => "send one command, or an array of at least one",
            Self::TooManyCommands { .. } => "send them in several requests, or use replaceSnapshot",
            Self::Command { failure, .. } => failure.hint(),
        }
    }
}
