//! The format of our own export, shared by its writer and its reader: the manifest, and the marks between posts.
//!
//! An entity is one Markdown file: front matter, the text, and after it each post behind a mark, which is a comment of
//! HTML on a line of its own. Lines of texts that look like a mark are escaped. Every text is followed by a line break
//! that is not part of it, so that "no text" and "an empty text" differ.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The file that makes a folder an export.
pub const MANIFEST_PATH: &str = "skald.json";
pub(crate) const MANIFEST_FORMAT: &str = "skald-lore";
pub(crate) const MANIFEST_VERSION: u64 = 1;
/// The key of the manifest with the files of original HTML, by entity.
pub(crate) const MANIFEST_ORIGINALS: &str = "originals";

/// The HTML that the texts of an entity were made from, in a file beside it: so that the Markdown is for people.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct OriginalTexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<OriginalHtml>,
    /// By `post_id`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub posts: BTreeMap<u64, OriginalHtml>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct OriginalHtml {
    /// Of the Markdown that was made from it: if somebody changed that, this is no longer its original.
    pub sha256: String,
    pub html: String,
}

/// How a mark begins, and how the mark of a post does.
const MARK_START: &str = "<!-- ";
const MARK_NAME: &str = "skald:";
const POST_MARK_START: &str = "<!-- skald:post ";
const MARK_END: &str = " -->";

/// The mark before a post. Its fields are JSON, in which no `>` can end the comment.
pub(crate) fn write_post_mark(fields: &serde_json::Value) -> String {
    let fields = fields.to_string().replace('>', "\\u003e");
    format!("{POST_MARK_START}{fields}{MARK_END}\n")
}

/// A line of a file that begins with a mark.
#[derive(Debug, PartialEq)]
pub(crate) enum MarkLine {
    Post(serde_json::Value),
    /// A mark that was changed by hand and cannot be read.
    Damaged,
}

/// The mark on a line, if there is one.
pub(crate) fn parse_mark_line(line: &str) -> Option<MarkLine> {
    line.strip_prefix(MARK_START)?.strip_prefix(MARK_NAME)?;
    let fields = line.trim_end().strip_prefix(POST_MARK_START).and_then(|rest| rest.strip_suffix(MARK_END));
    let fields = fields.and_then(|fields| serde_json::from_str(fields).ok());
    Some(fields.filter(serde_json::Value::is_object).map_or(MarkLine::Damaged, MarkLine::Post))
}

/// The heading under the mark of a post. It is there for people: the name is in the mark.
pub(crate) fn post_heading(name: &str) -> String {
    let name: String = name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    format!("## {name}\n")
}

/// Escapes lines that look like a mark.
pub(crate) fn escape_marks(text: &str) -> Cow<'_, str> {
    change_mark_lines(text, |backslashes, rest| format!("{MARK_START}\\{backslashes}{rest}"))
}

/// Undoes [`escape_marks`].
pub(crate) fn unescape_marks(text: &str) -> Cow<'_, str> {
    change_mark_lines(text, |backslashes, rest| {
        format!("{MARK_START}{}{rest}", backslashes.get(1..).unwrap_or_default())
    })
}

/// Changes lines of `<!-- `, any number of backslashes, and `skald:`.
fn change_mark_lines(text: &str, change: impl Fn(&str, &str) -> String) -> Cow<'_, str> {
    if !text.contains(MARK_NAME) {
        return Cow::Borrowed(text);
    }
    let changed = text.split_inclusive('\n').map(|line| {
        let parts = line.strip_prefix(MARK_START).and_then(|line| {
            let rest = line.trim_start_matches('\\');
            rest.starts_with(MARK_NAME).then(|| (&line[..line.len() - rest.len()], rest))
        });
        parts.map_or(Cow::Borrowed(line), |(backslashes, rest)| Cow::Owned(change(backslashes, rest)))
    });
    Cow::Owned(changed.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_in_texts_are_escaped_and_come_back() {
        let text = "<!-- skald:post {} -->\n <!-- skald:x\n<!-- \\\\skald:\r\n<!-- skald";
        let escaped = escape_marks(text);
        assert_eq!(escaped, "<!-- \\skald:post {} -->\n <!-- skald:x\n<!-- \\\\\\skald:\r\n<!-- skald");
        assert!(escaped.lines().all(|line| parse_mark_line(line).is_none()));
        assert_eq!(unescape_marks(&escaped), text);
    }

    #[test]
    fn a_mark_is_read_or_damaged() {
        let fields = serde_json::json!({"name": "a --> b"});
        let mark = write_post_mark(&fields);
        assert_eq!(mark, "<!-- skald:post {\"name\":\"a --\\u003e b\"} -->\n");
        assert_eq!(parse_mark_line(&mark), Some(MarkLine::Post(fields)));
        assert_eq!(parse_mark_line("<!-- skald:post {} -->\r\n"), Some(MarkLine::Post(serde_json::json!({}))));
        assert_eq!(parse_mark_line("<!-- skald:post {\"name\": -->\n"), Some(MarkLine::Damaged));
        assert_eq!(parse_mark_line("<!-- comment -->"), None);
    }
}
