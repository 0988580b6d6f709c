//! Which fields go with which method, for operations that take a method.

use crate::input::join_names;
use crate::{Code, Fault};

/// A method, and the fields that it takes beside those that every method takes.
pub(crate) struct MethodFields {
    pub method: &'static str,
    pub takes: &'static [&'static str],
}

impl MethodFields {
    /// The first field that is given and that the method does not take.
    pub(crate) fn find_unexpected<'a>(&self, given: &[(&'a str, bool)]) -> Option<&'a str> {
        let unexpected = given.iter().find(|(field, is_given)| *is_given && !self.takes.contains(field));
        unexpected.map(|(field, _)| *field)
    }

    /// Refuses a field that is given and that the method does not take.
    pub(crate) fn check(&self, given: &[(&str, bool)]) -> Result<(), Fault> {
        let Some(field) = self.find_unexpected(given) else { return Ok(()) };
        let hint = match self.takes {
            [] => "leave it out".to_owned(),
            takes => format!("it takes {}", takes.join(", ")),
        };
        let fault = Fault::new(Code::InvalidParams, format!("{} takes no {field}", self.method));
        Err(fault.with_path(format!("/{field}")).hint(hint))
    }

    /// Refuses the call if fields that the method needs are missing; names all of them.
    pub(crate) fn check_required(&self, needed: &[(&str, bool)]) -> Result<(), Fault> {
        let missing: Vec<&str> = needed.iter().filter(|(_, is_given)| !is_given).map(|(field, _)| *field).collect();
        let Some(first) = missing.first() else { return Ok(()) };
        let fault = Fault::new(Code::InvalidParams, format!("{} needs {}", self.method, join_names(&missing)));
        Err(fault.with_path(format!("/{first}")).hint(format!("send {}", join_names(&missing))))
    }

    /// The value of a required field, or a refusal.
    pub(crate) fn require_field<'a>(&self, field: &str, given: Option<&'a String>) -> Result<&'a str, Fault> {
        given.map(String::as_str).ok_or_else(|| {
            let fault = Fault::new(Code::InvalidParams, format!("{} needs {field}", self.method));
            fault.with_path(format!("/{field}")).hint(format!("send {field}"))
        })
    }
}
