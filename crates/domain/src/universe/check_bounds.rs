//! Checks values of a universe against their bounds, and names the input field at fault.
//!
//! Bounds are checked when a command is decided, never when something stored is read: a bound that becomes tighter must
//! not make an old record unreadable.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::deceptive_characters::clean_name;

/// Why a command fails, in one word for programs. The first three are the original's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Reason {
    NotFound,
    Cycle,
    NotAttached,
    /// Something has this id already.
    DuplicateId,
    /// The id is empty, too long, not one line of plain characters, or a word that every object of JavaScript knows.
    ForbiddenId,
    /// A universe must have a name.
    ForbiddenName,
    /// The parent that is named is not there.
    UnknownParent,
    /// A body or a group cannot be its own parent.
    SelfParent,
    /// An update may not change ids, parents or children.
    LinkChange,
    /// An entry stands under a key that is not its id.
    WrongKey,
    /// The same thing is listed twice.
    ListedTwice,
    OutOfRange,
    NotFinite,
    TooLong,
    /// A name with a line break, a control character, a bidirectional override or a tag.
    NotPlain,
    BadColor,
    /// More than a limit allows.
    TooMany,
    /// A snapshot whose parents, children and lists do not agree.
    BrokenLinks,
    /// What was sent is not of the command's shape.
    Unreadable,
}

impl Reason {
    /// What to do next.
    pub fn hint(self) -> &'static str {
        match self {
            Self::NotFound => "read the universe for the ids that are there",
            Self::Cycle => "choose a parent that is neither the thing itself nor below it",
            Self::NotAttached => "only what has a parent can be detached",
            Self::DuplicateId => "choose another id, or update what is there",
            Self::ForbiddenId => "choose an id of 1 to 200 plain characters, such as earth-1",
            Self::ForbiddenName => "send at least one character that is not a space",
            Self::UnknownParent => "add the parent first, or send null for none",
            Self::SelfParent => "name another parent, or send null for none",
            Self::LinkChange => {
                "leave it out; attachStar, detachStar, addToGroup and moveToGroup change who belongs to whom"
            }
            Self::WrongKey => "use the same word as key and as id",
            Self::ListedTwice => "list it once",
            Self::OutOfRange => "send a number within the range",
            Self::NotFinite => "send an ordinary number",
            Self::TooLong => "shorten it",
            Self::NotPlain => "leave that character out",
            Self::BadColor => "write a colour as #RRGGBB, such as #FFD700",
            Self::TooMany => "remove something first, or use another universe",
            Self::BrokenLinks => "make parents, children and root lists agree, then send the snapshot again",
            Self::Unreadable => "`list_universe_commands` shows a right example of every command",
        }
    }
}

/// A value out of bounds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldMisfit {
    pub reason: Reason,
    /// A JSON pointer from the checked value to the part that is wrong.
    pub pointer: String,
    /// The problem, as text that follows the field's name in a message.
    pub problem: String,
}

impl FieldMisfit {
    pub fn new(reason: Reason, problem: impl Into<String>) -> Self {
        Self { reason, pointer: String::new(), problem: problem.into() }
    }

    /// Prepends a field to the pointer, for a misfit in a nested value.
    #[must_use]
    pub fn in_field(mut self, field: &str) -> Self {
        self.pointer.insert_str(0, &format!("/{}", field.replace('~', "~0").replace('/', "~1")));
        self
    }

    /// Prepends a field to the pointer, given its name in Rust.
    #[must_use]
    pub(super) fn in_rust_field(self, rust_name: &str) -> Self {
        self.in_field(&to_camel_case(rust_name))
    }
}

impl fmt::Display for FieldMisfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.pointer.rsplit('/').next().unwrap_or_default();
        write!(formatter, "{} {}", truncate_to_line(name), self.problem)
    }
}

/// A value whose bounds can be checked.
pub trait Check {
    fn check(&self) -> Result<(), FieldMisfit>;

    /// Checks all bounds except ranges of numbers. Whole states are checked like this, so that they are stored as sent.
    fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
        self.check()
    }

    /// Clamps every number to its range, for views.
    fn clamp_ranges(&mut self) {}

    /// Bytes of its text: ids, names, colours and extensions. Links to parents and children are not counted.
    fn text_bytes(&self) -> usize {
        0
    }
}

impl<T: Check> Check for Option<T> {
    fn check(&self) -> Result<(), FieldMisfit> {
        self.as_ref().map_or(Ok(()), Check::check)
    }

    fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
        self.as_ref().map_or(Ok(()), Check::check_except_ranges)
    }

    fn clamp_ranges(&mut self) {
        if let Some(thing) = self {
            thing.clamp_ranges();
        }
    }

    fn text_bytes(&self) -> usize {
        self.as_ref().map_or(0, Check::text_bytes)
    }
}

impl<T: Check + Clone> Check for std::sync::Arc<T> {
    fn check(&self) -> Result<(), FieldMisfit> {
        (**self).check()
    }

    fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
        (**self).check_except_ranges()
    }

    fn clamp_ranges(&mut self) {
        // `make_mut` copies a shared value, so call it only if something has to change.
        if self.check().is_err() {
            std::sync::Arc::make_mut(self).clamp_ranges();
        }
    }

    fn text_bytes(&self) -> usize {
        (**self).text_bytes()
    }
}

impl Check for bool {
    fn check(&self) -> Result<(), FieldMisfit> {
        Ok(())
    }
}

/// A Rust field name in camel case, as in JSON.
fn to_camel_case(rust_name: &str) -> String {
    let mut words = rust_name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |name, word| {
        let (head, tail) = word.split_at(word.len().min(1));
        name + &head.to_ascii_uppercase() + tail
    })
}

/// Characters of a client's text that a message repeats.
const QUOTED_CHARS_MAX: usize = 80;

/// A client's text for use in a message, cut if it is long.
pub(super) fn truncate_for_message(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A client's text for messages that do not quote it: cut, and without line breaks and other deceptive characters.
pub(super) fn truncate_to_line(text: &str) -> String {
    let text = truncate_for_message(text);
    clean_name(&text).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misfit_says_where_it_is() {
        let misfit = FieldMisfit::new(Reason::OutOfRange, "is 2").in_rust_field("disk_opacity").in_field("a/b~c");
        assert_eq!(misfit.pointer, "/a~1b~0c/diskOpacity");
        assert_eq!(misfit.to_string(), "diskOpacity is 2");
        assert_eq!(to_camel_case("orbit_offset_x"), "orbitOffsetX");
        assert_eq!(to_camel_case("mass"), "mass");
    }
}
