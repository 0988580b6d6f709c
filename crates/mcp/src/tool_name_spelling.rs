//! Tool names: with a dot (`state_gate.get_state`), or with `_` for models whose interface does not accept dots.

use std::borrow::Cow;

use skald_app::{Catalogue, OperationEntry};

/// How the dot in a tool name is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ToolNameSpelling {
    /// As they are: `state_gate.get_state`.
    #[default]
    Dotted,
    /// `state_gate_get_state`.
    Underscore,
}

impl ToolNameSpelling {
    pub(crate) fn tool_name(self, name: &'static str) -> Cow<'static, str> {
        self.name_writer()(name)
    }

    /// The function that writes a tool name for the client.
    pub(crate) fn name_writer(self) -> fn(&'static str) -> Cow<'static, str> {
        match self {
            Self::Dotted => Cow::Borrowed,
            Self::Underscore => {
                |name| if name.contains('.') { name.replace('.', "_").into() } else { Cow::Borrowed(name) }
            }
        }
    }
}

/// Finds the operation of a tool name, in either spelling.
pub(crate) fn find_operation<'a>(catalogue: &'a Catalogue, name: &str) -> Option<&'a OperationEntry> {
    let is_alias = |entry: &&OperationEntry| entry.name.contains('.') && entry.name.replace('.', "_") == name;
    catalogue.operation(name).ok().or_else(|| catalogue.operations().iter().find(is_alias))
}
