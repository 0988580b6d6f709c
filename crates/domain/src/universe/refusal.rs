//! Refusals of universe commands: the reason, the input field at fault, and a hint.

use super::check::{FieldMisfit, Reason};
use super::failure::Failure;
use crate::limits;

/// What a refusal comes to, for the table of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UniverseRefusalKind {
    /// There is no such universe.
    NotFound,
    /// A field does not fit.
    Invalid,
    /// More than a limit allows.
    TooLarge,
    /// The rules do not allow it as things stand; of a command, for whatever reason.
    Rejected,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum UniverseRefusal {
    /// An empty stream: whoever asked knows the id.
    #[error("there is no such universe")]
    UniverseNotFound,
    #[error("universe {id} exists already")]
    UniverseExists { id: String },
    /// Of the universe itself: its id, its name, or a state that was sent.
    #[error("{0}")]
    Field(FieldMisfit),
    #[error("there is no command in the array")]
    NoCommand,
    #[error("at most {} commands are sent together, these are {count}", limits::COMMANDS_MAX)]
    TooManyCommands { count: usize },
    /// `number` says which, from 0, where several came together; then none of them was done.
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

    /// Where in the input the fault lies, as a JSON pointer: into the universe that was sent, or into the command, or,
    /// where several came together, into the array of them.
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
