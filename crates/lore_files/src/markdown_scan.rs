//! Finds what is special in Obsidian's Markdown: hidden parts, tags, and files that are shown inside a note. Code is
//! left alone.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::import::DistinctNames;
use crate::link_index::link_path;

/// Bytes of a code span. Longer ones are read as text.
const CODE_SPAN_BYTES_MAX: usize = 8_192;

/// A note in two: what everybody may read, and what stands between `%%` and `%%`.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct SplitText {
    pub(crate) visible: String,
    pub(crate) hidden: Vec<String>,
    /// Whether the last `%%` has no partner: then everything after it is hidden.
    pub(crate) is_unclosed: bool,
}

/// Moves hidden parts out of a text.
pub(crate) fn split_hidden(text: &str) -> SplitText {
    let mut split = SplitText::default();
    let mut rest = text;
    let mut code = CodeScanner::default();
    while let Some(at) = code.find_outside_code(rest, "%%") {
        split.visible.push_str(&rest[..at]);
        let inside = &rest[at + 2..];
        let end = inside.find("%%");
        split.is_unclosed = end.is_none();
        let end = end.unwrap_or(inside.len());
        let hidden = inside[..end].trim();
        if !hidden.is_empty() {
            split.hidden.push(hidden.to_owned());
        }
        rest = inside.get(end + 2..).unwrap_or_default();
        code.is_line_start = split.visible.is_empty() || split.visible.ends_with('\n');
        // A line that had nothing but hidden text goes with it.
        if code.is_line_start {
            rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).unwrap_or(rest);
        }
    }
    split.visible.push_str(rest);
    split
}

/// The tags in a text, without `#`, each once.
pub(crate) fn find_tags(text: &str) -> Vec<String> {
    let mut tags = DistinctNames::default();
    let mut rest = text;
    let mut before = None;
    let mut code = CodeScanner::default();
    while let Some(at) = code.find_outside_code(rest, "#") {
        let before_tag = rest[..at].chars().next_back().or(before);
        let tag = &rest[at + 1..];
        let end = tag.find(|letter: char| !is_tag_letter(letter)).unwrap_or(tag.len());
        let tag = &tag[..end];
        let is_after_space = before_tag.is_none_or(char::is_whitespace);
        if is_after_space && tag.chars().any(|letter| !letter.is_ascii_digit() && letter != '/') {
            tags.add(tag.trim_matches('/'));
        }
        before = rest[..at + 1 + end].chars().next_back();
        rest = &rest[at + 1 + end..];
        code.is_line_start = false;
    }
    tags.into_vec()
}

/// Letters of tags, as in Obsidian: everything but spaces and punctuation.
fn is_tag_letter(letter: char) -> bool {
    let is_symbol = !letter.is_ascii() && !letter.is_whitespace() && !letter.is_control() && !is_punctuation(letter);
    letter.is_alphanumeric() || ['_', '-', '/'].contains(&letter) || is_symbol
}

/// Punctuation outside of ASCII that ends a tag.
fn is_punctuation(letter: char) -> bool {
    matches!(letter, '\u{a1}' | '\u{ab}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{2010}'..='\u{205e}' | '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}')
}

/// Paths and names of files that a text shows or links: `![[a.png|300]]`, `[[a.pdf]]`, `![x](b%20c.png)`.
pub(crate) fn find_file_links(text: &str) -> Vec<String> {
    let wiki = text.split("[[").skip(1).filter_map(|rest| rest.split_once("]]")).map(|(link, _)| link_path(link));
    let inline = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    let inline = inline.map(|(target, _)| target.trim().trim_start_matches('<').split(['>', '"']).next().unwrap_or(""));
    wiki.map(str::to_owned).chain(inline.map(|target| decode_percent(target.trim()))).collect()
}

/// A target that is no UTF-8 when it is decoded stays as it is.
fn decode_percent(target: &str) -> String {
    percent_decode_str(target).decode_utf8().map_or_else(|_| target.to_owned(), Cow::into_owned)
}

/// Steps over fenced code and code spans while a text is searched piece by piece.
struct CodeScanner {
    /// Whether the next piece begins a line.
    is_line_start: bool,
}

impl Default for CodeScanner {
    fn default() -> Self {
        Self { is_line_start: true }
    }
}

impl CodeScanner {
    /// The place of a pattern that is not in code.
    fn find_outside_code(&mut self, text: &str, pattern: &str) -> Option<usize> {
        let mut at = 0;
        loop {
            let rest = &text[at..];
            if std::mem::take(&mut self.is_line_start)
                && let Some(length) = fenced_code_length(rest)
            {
                at += length;
                self.is_line_start = true;
                continue;
            }
            at += rest.find(|letter: char| ['`', '\n'].contains(&letter) || pattern.starts_with(letter))?;
            let rest = &text[at..];
            if rest.starts_with(pattern) {
                return Some(at);
            }
            self.is_line_start = rest.starts_with('\n');
            at += if rest.starts_with('`') { code_span_length(rest) } else { 1 };
        }
    }
}

/// The length of fenced code at the start of a line, if there is one. Without an end it is the rest of the text.
fn fenced_code_length(text: &str) -> Option<usize> {
    let indent = text.bytes().take(4).take_while(|byte| *byte == b' ').count();
    let indented = &text[indent..];
    // Most lines are told by this, without a look at all of the line.
    if indent > 3 || !(indented.starts_with("```") || indented.starts_with("~~~")) {
        return None;
    }
    let fence_letter = indented.chars().next()?;
    let first_line = text.split_inclusive('\n').next()?;
    let fence = indented.len() - indented.trim_start_matches(fence_letter).len();
    if fence_letter == '`' && first_line[indent + fence..].contains('`') {
        return None;
    }
    let mut length = first_line.len();
    for line in text[length..].split_inclusive('\n') {
        length += line.len();
        let line = line.trim();
        if line.len() >= fence && line.chars().all(|letter| letter == fence_letter) {
            break;
        }
    }
    Some(length)
}

/// The length of the code span at the start of a text, or of the backticks that begin none.
fn code_span_length(text: &str) -> usize {
    let run_length = |text: &str| text.len() - text.trim_start_matches('`').len();
    let ticks = run_length(text);
    let mut at = ticks;
    while let Some(next) = text[at..].find(['`', '\n']) {
        at += next;
        let run = run_length(&text[at..]);
        // A span does not go beyond its paragraph, nor so far that a text of backticks takes long.
        if text[at..].starts_with("\n\n") || at > CODE_SPAN_BYTES_MAX {
            break;
        }
        at += run.max(1);
        if run == ticks {
            return at;
        }
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_hidden(text: &str, visible: &str, hidden: &[&str]) {
        let split = split_hidden(text);
        assert_eq!(
            (split.visible.as_str(), split.hidden),
            (visible, hidden.iter().map(|&part| part.to_owned()).collect()),
            "{text:?}"
        );
    }

    #[test]
    fn hidden_parts_leave_the_text() {
        check_hidden("a %%b%% c", "a  c", &["b"]);
        check_hidden("a\n%%\nb\n\nc\n%%\nd", "a\nd", &["b\n\nc"]);
        check_hidden("%%a%%%%b%%", "", &["a", "b"]);
        check_hidden("`%%a%%` ``x ` %%b`` %%c%%", "`%%a%%` ``x ` %%b`` ", &["c"]);
        check_hidden("```\n%%a%%\n```\n%%b%%\nc", "```\n%%a%%\n```\nc", &["b"]);
        check_hidden("%%```%%\n```\n%%a%%\n```\n", "```\n%%a%%\n```\n", &["```"]);
        check_hidden("~~~~\n~~~\n%%a%%\n~~~~\n%%b%%", "~~~~\n~~~\n%%a%%\n~~~~\n", &["b"]);
        check_hidden("a ` b %%c%%", "a ` b ", &["c"]);
        check_hidden("a\r\n%%b%%\r\nc", "a\r\nc", &["b"]);
        check_hidden("100% %", "100% %", &[]);
    }

    #[test]
    fn without_an_end_everything_is_hidden() {
        check_hidden("a %%b\n\nc", "a ", &["b\n\nc"]);
        assert!(split_hidden("a %%").is_unclosed);
        assert!(!split_hidden("a %%b%%").is_unclosed);
    }

    #[test]
    fn tags_are_found_where_obsidian_finds_them() {
        let text = "#npc and #Nested/Tag, #NPC #2024 #2024a #ünï #🐉x x#no [[Note#Heading]] (#no)\n# Heading\n## #two\n`#code`\n```\n#fence\n```\n#last";
        assert_eq!(find_tags(text), ["npc", "Nested/Tag", "2024a", "ünï", "🐉x", "two", "last"]);
        assert_eq!(find_tags("#a#b #c/"), ["a", "c"]);
        assert_eq!(find_tags("https://x.y/#z"), [""; 0]);
    }

    #[test]
    fn files_that_are_shown_are_found() {
        let text = "![[a b.png|300]] [[c.pdf#page=2]] ![x](d%20e.png) ![y](<f g.png> \"title\") [z](https://h)";
        assert_eq!(find_file_links(text), ["a b.png", "c.pdf", "d e.png", "f g.png", "https://h"]);
        assert_eq!(decode_percent("100%, %zz %c3%a4 %ff"), "100%, %zz %c3%a4 %ff");
        assert_eq!(decode_percent("%c3%a4"), "ä");
    }

    #[test]
    fn percent_and_two_digits_are_a_byte_and_a_sign_is_no_digit() {
        assert_eq!(find_file_links("![x](a%20b.png) ![y](5%+5.png)"), ["a b.png", "5%+5.png"]);
    }
}
