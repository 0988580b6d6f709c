//! Tool names: with a dot (`state_gate.get_state`), or with `_` for models whose interface does not accept dots.

use std::borrow::Cow;

use skald_app::{Catalogue, OperationEntry};

/// How tools are called whose names have parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolNames {
    /// As they are: `state_gate.get_state`.
    #[default]
    Dotted,
    /// `state_gate_get_state`.
    Underscore,
}

impl ToolNames {
    pub(crate) fn shown(self, name: &'static str) -> Cow<'static, str> {
        self.written()(name)
    }

    /// How a name is written for the client.
    pub(crate) fn written(self) -> fn(&'static str) -> Cow<'static, str> {
        match self {
            Self::Dotted => Cow::Borrowed,
            Self::Underscore => {
                |name| if name.contains('.') { name.replace('.', "_").into() } else { Cow::Borrowed(name) }
            }
        }
    }
}

/// The operation that a tool's name stands for, in whichever way it is written.
pub(crate) fn named<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a OperationEntry> {
    let is_alias = |entry: &&OperationEntry| entry.name.contains('.') && entry.name.replace('.', "_") == name;
    catalogue.operation(name).ok().or_else(|| catalogue.operations().iter().find(is_alias))
}
