//! Finds the tags in HTML source with their byte ranges, without building a tree; and the lists of element names that
//! the crate needs. The tree builder gives no ranges, and it takes time quadratic in the attributes of one tag.

use std::ops::Range;

/// Elements that start a block of raw HTML in Markdown (HTML blocks 1 and 6 of the specification), so they can stand
/// between paragraphs. All others are inline.
const BLOCK_NAMES: [&str; 66] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "pre",
    "script",
    "search",
    "section",
    "style",
    "summary",
    "table",
    "tbody",
    "td",
    "textarea",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];
const VOID_NAMES: [&str; 17] = [
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "source", "track", "wbr",
];
/// Elements whose content is not HTML: it ends at the first end tag of the same name.
const RAW_TEXT_NAMES: [&str; 9] =
    ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "textarea", "xmp"];
/// Elements whose end tag is often left out.
const OPTIONAL_END_NAMES: [&str; 10] = ["dd", "dt", "li", "option", "p", "tbody", "td", "th", "thead", "tr"];

pub(crate) fn is_block_name(name: &str) -> bool {
    BLOCK_NAMES.binary_search(&name).is_ok()
}

pub(crate) fn is_void_name(name: &str) -> bool {
    VOID_NAMES.binary_search(&name).is_ok() || name == "param"
}

pub(crate) fn is_raw_text_name(name: &str) -> bool {
    RAW_TEXT_NAMES.binary_search(&name).is_ok()
}

pub(crate) fn has_optional_end(name: &str) -> bool {
    OPTIONAL_END_NAMES.binary_search(&name).is_ok()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TagKind {
    Start,
    End,
    /// A comment, a doctype or a processing instruction.
    Other,
}

#[derive(Debug)]
pub(crate) struct HtmlTag {
    pub(crate) range: Range<usize>,
    pub(crate) kind: TagKind,
    /// In lower case; empty for `TagKind::Other`.
    pub(crate) name: String,
    pub(crate) attribute_count: usize,
}

/// Walks over the tags of a text.
pub(crate) struct HtmlTags<'a> {
    html: &'a str,
    at: usize,
}

impl<'a> HtmlTags<'a> {
    pub(crate) fn new(html: &'a str) -> Self {
        Self { html, at: 0 }
    }

    fn find_from(&self, from: usize, pattern: &str) -> usize {
        self.html[from..].find(pattern).map_or(self.html.len(), |found| from + found + pattern.len())
    }

    /// Where the content of a raw text element ends: before its end tag.
    fn raw_text_end(&self, from: usize, name: &str) -> usize {
        let bytes = self.html.as_bytes();
        let mut at = from;
        while let Some(found) = self.html[at..].find("</") {
            let tag = at + found;
            let name_end = tag + 2 + name.len();
            if bytes.get(tag + 2..name_end).is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes())) {
                return tag;
            }
            at = tag + 2;
        }
        self.html.len()
    }

    /// The end of a tag whose name ends at `at`, and how many attributes it has. Quotes count only after `=`.
    fn tag_end(&self, mut at: usize) -> (usize, usize) {
        let bytes = self.html.as_bytes();
        let mut count = 0;
        let mut is_in_word = false;
        let mut is_value_next = false;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'>' => return (at + 1, count),
                b'"' | b'\'' if is_value_next => {
                    let quote = if byte == b'"' { "\"" } else { "'" };
                    at = self.find_from(at + 1, quote);
                    is_value_next = false;
                    is_in_word = false;
                    continue;
                }
                b'=' if is_in_word => is_value_next = true,
                b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' => {
                    if !is_value_next {
                        is_in_word = false;
                    }
                }
                _ => {
                    if !is_in_word {
                        count += 1;
                    }
                    is_in_word = true;
                    is_value_next = false;
                }
            }
            at += 1;
        }
        (bytes.len(), count)
    }
}

impl Iterator for HtmlTags<'_> {
    type Item = HtmlTag;

    fn next(&mut self) -> Option<HtmlTag> {
        let bytes = self.html.as_bytes();
        loop {
            let start = self.at + self.html[self.at..].find('<')?;
            let kind = match bytes.get(start + 1) {
                Some(b'!' | b'?') => TagKind::Other,
                Some(b'/') if bytes.get(start + 2).is_some_and(u8::is_ascii_alphabetic) => TagKind::End,
                Some(byte) if byte.is_ascii_alphabetic() => TagKind::Start,
                _ => {
                    self.at = start + 1;
                    continue;
                }
            };
            if kind == TagKind::Other {
                let end = match self.html[start..].strip_prefix("<!--") {
                    Some(rest) if rest.starts_with('>') => start + 5,
                    Some(_) => self.find_from(start + 4, "-->"),
                    None => self.find_from(start + 2, ">"),
                };
                self.at = end;
                return Some(HtmlTag { range: start..end, kind, name: String::new(), attribute_count: 0 });
            }
            let name_start = if kind == TagKind::End { start + 2 } else { start + 1 };
            let is_name_end = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b'/' | b'>');
            let name_end = bytes[name_start..].iter().position(is_name_end).map_or(bytes.len(), |n| name_start + n);
            let name = self.html[name_start..name_end].to_ascii_lowercase();
            let (end, attribute_count) = self.tag_end(name_end);
            let is_raw_text = kind == TagKind::Start && (is_raw_text_name(&name) || name == "title");
            self.at = if is_raw_text { self.raw_text_end(end, &name) } else { end };
            return Some(HtmlTag { range: start..end, kind, name, attribute_count });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_lists_are_sorted() {
        assert!(BLOCK_NAMES.is_sorted() && VOID_NAMES.is_sorted());
        assert!(RAW_TEXT_NAMES.is_sorted() && OPTIONAL_END_NAMES.is_sorted());
    }

    #[test]
    fn tags_are_found_around_quotes_comments_and_scripts() {
        let html = "<a title='x>y' b=c d>1 < 2<!-- <b> --><script>if (a<b) </script></A><br/>";
        let tags: Vec<_> = HtmlTags::new(html).map(|tag| (tag.name, tag.kind, tag.attribute_count)).collect();
        let expected = [
            ("a", TagKind::Start, 3),
            ("", TagKind::Other, 0),
            ("script", TagKind::Start, 0),
            ("script", TagKind::End, 0),
            ("a", TagKind::End, 0),
            ("br", TagKind::Start, 0),
        ];
        assert_eq!(tags, expected.map(|(name, kind, count)| (name.to_owned(), kind, count)));
    }
}
