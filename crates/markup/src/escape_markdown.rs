//! Writes text into Markdown so that it comes out as text: what would be markup gets a backslash. Mentions and plain
//! wiki links stay as they are.

use std::ops::Range;

use crate::html_tree::is_html_space;
use crate::mentions::scan_mentions;
use crate::wiki_links::scan_wiki_links;

/// Where the text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPlace {
    Paragraph,
    /// Everything is on one line.
    Heading,
    /// Everything is on one line, and `|` ends a cell.
    TableCell,
}

impl TextPlace {
    pub(crate) fn is_one_line(self) -> bool {
        self != TextPlace::Paragraph
    }
}

/// The last thing in `markdown` is a mention: for the parser it is a letter, for a reader a bracket.
pub(crate) fn push_escaped(markdown: &mut String, text: &str, place: TextPlace, is_last: bool) -> bool {
    let text = single_spaced(text, place);
    let mut rest_start = 0;
    let mut ends_with_mention = false;
    for range in verbatim_ranges(&text) {
        push_plain(markdown, &text, rest_start..range.start, place, false);
        let verbatim = &text[range.clone()];
        ends_with_mention = !verbatim.starts_with("[[");
        if place == TextPlace::TableCell && !ends_with_mention {
            markdown.push_str(&verbatim.replace('|', "\\|"));
        } else {
            markdown.push_str(verbatim);
        }
        rest_start = range.end;
    }
    let is_rest_empty = rest_start == text.len();
    push_plain(markdown, &text, rest_start..text.len(), place, is_last);
    ends_with_mention && is_rest_empty
}

/// Runs of white space become one space, or one line break if they have one.
fn single_spaced(text: &str, place: TextPlace) -> String {
    let mut spaced = String::with_capacity(text.len());
    let mut space = None;
    for letter in text.chars() {
        if is_html_space(letter) {
            let is_break = letter == '\n' && !place.is_one_line();
            space = if is_break || space == Some('\n') { Some('\n') } else { Some(' ') };
        } else {
            spaced.extend(space.take());
            spaced.push(letter);
        }
    }
    spaced.extend(space);
    spaced
}

/// Mentions, and wiki links of plain letters that Markdown would not take for a link or a definition.
fn verbatim_ranges(text: &str) -> Vec<Range<usize>> {
    if !text.contains(['[', '{']) {
        return Vec::new();
    }
    let mut ranges: Vec<Range<usize>> = scan_mentions(text).into_iter().map(|mention| mention.range).collect();
    // A backslash before a bracket is written as two, so in the Markdown such a bracket does start a mention.
    let is_plain_link = |range: &Range<usize>| {
        let content = &text[range.start..range.end];
        let is_plain = |letter: char| {
            letter.is_alphanumeric() || matches!(letter, ' ' | '|' | '[' | ']' | '#' | '!' | '-' | '/' | '\'' | ',')
        };
        content.chars().all(is_plain) && !text[range.end..].starts_with(['(', '[', ':', '{'])
    };
    let links = scan_wiki_links(text).into_iter().map(|link| {
        let start = if link.is_embed { link.range.start + 1 } else { link.range.start };
        start..link.range.end
    });
    let links: Vec<Range<usize>> = links.filter(is_plain_link).collect();
    if links.is_empty() {
        return ranges;
    }
    ranges.extend(links);
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    ranges.retain(|range| {
        let is_free = range.start >= end;
        if is_free {
            end = range.end;
        }
        is_free
    });
    ranges
}

fn push_plain(markdown: &mut String, text: &str, range: Range<usize>, place: TextPlace, is_last: bool) {
    let part = &text[range.clone()];
    let mut letters = part.char_indices().peekable();
    let mut previous = text[..range.start].chars().next_back();
    while let Some((offset, letter)) = letters.next() {
        let rest = &part[offset..];
        let after = &rest[letter.len_utf8()..];
        let next = letters.peek().map(|(_, next)| *next).or_else(|| text[range.end..].chars().next());
        let is_line_start = markdown.is_empty() || markdown.ends_with('\n');
        if is_line_start && matches!(letter, ' ' | '\n') {
            previous = Some(letter);
            continue;
        }
        if letter == '\n' && is_last && after.is_empty() {
            break;
        }
        if is_line_start && place != TextPlace::TableCell {
            let digits = rest.bytes().take(10).take_while(u8::is_ascii_digit).count();
            let marker_end = rest.as_bytes().get(digits).copied();
            if digits > 0 && matches!(marker_end, Some(b'.' | b')')) && starts_with_gap(&rest[digits + 1..]) {
                markdown.push_str(&rest[..digits]);
                markdown.push('\\');
                markdown.push(if marker_end == Some(b'.') { '.' } else { ')' });
                for _ in 0..digits {
                    letters.next();
                }
                previous = Some('.');
                continue;
            }
            if is_line_marker(letter, after) {
                markdown.push('\\');
                markdown.push(letter);
                previous = Some(letter);
                continue;
            }
        }
        let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let is_escaped = match letter {
            '\\' | '`' | '*' | '[' | ']' | '~' => true,
            '_' => !(is_word(previous) && is_word(next)),
            '<' => next.is_none_or(|next| next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?')),
            '&' => after.is_empty() || is_entity(after),
            '|' => place == TextPlace::TableCell,
            '#' => place == TextPlace::Heading && after.trim_start_matches('#').trim().is_empty(),
            _ => false,
        };
        if is_escaped {
            markdown.push('\\');
        }
        markdown.push(letter);
        previous = Some(letter);
    }
}

fn starts_with_gap(text: &str) -> bool {
    text.is_empty() || text.starts_with([' ', '\n'])
}

/// Whether a letter at the start of a line begins a list, a quote, a heading, a rule, a table or an underline.
fn is_line_marker(letter: char, after: &str) -> bool {
    match letter {
        '>' | '=' => true,
        '+' => starts_with_gap(after),
        '-' => starts_with_gap(after) || after.starts_with(['-', '|', ':']),
        '#' => starts_with_gap(after.trim_start_matches('#')),
        ':' | '|' => after.trim_start_matches([' ', ':', '|']).starts_with('-'),
        _ => false,
    }
}

/// Whether what follows `&` makes it a character reference.
pub(crate) fn is_entity(after: &str) -> bool {
    let name = after.bytes().take(40).take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'#').count();
    name > 0 && after.as_bytes().get(name) == Some(&b';')
}
