//! The recap as HTML: its headings, lists and paragraphs. Everything in it is text; no tag of it survives.

use maud::{Markup, html};

/// A block of the recap.
#[derive(Debug, PartialEq, Eq)]
enum RecapBlock<'a> {
    Heading(usize, &'a str),
    List(Vec<&'a str>),
    Paragraph(Vec<&'a str>),
}

pub(super) fn render(text: &str) -> Markup {
    html! {
        @for block in blocks(text) {
            @match block {
                // The page has the title already.
                RecapBlock::Heading(1, _) => {},
                RecapBlock::Heading(_, text) => h2 dir="auto" { (spans(text)) },
                RecapBlock::List(items) => ul.bullets { @for item in items { li dir="auto" { (spans(item)) } } },
                RecapBlock::Paragraph(lines) => p dir="auto" {
                    @for (at, line) in lines.iter().enumerate() { @if at > 0 { br; } (spans(line)) }
                },
            }
        }
    }
}

fn blocks(text: &str) -> Vec<RecapBlock<'_>> {
    let mut blocks: Vec<RecapBlock<'_>> = Vec::new();
    let mut is_new = true;
    for line in text.lines().map(str::trim_end) {
        let hashes = line.bytes().take_while(|byte| *byte == b'#').count();
        let item = line.trim_start().strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("* "));
        if line.trim().is_empty() {
            is_new = true;
            continue;
        }
        match (hashes, item, blocks.last_mut()) {
            (1.., _, _) if line[hashes..].starts_with(' ') => {
                blocks.push(RecapBlock::Heading(hashes, line[hashes..].trim()));
                is_new = true;
                continue;
            }
            (_, Some(item), Some(RecapBlock::List(items))) => items.push(item),
            (_, Some(item), _) => blocks.push(RecapBlock::List(vec![item])),
            (_, None, Some(RecapBlock::Paragraph(lines))) if !is_new => lines.push(line),
            (_, None, _) => blocks.push(RecapBlock::Paragraph(vec![line])),
        }
        is_new = false;
    }
    blocks
}

/// The marks of a span, and how it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpanStyle {
    Strong,
    Emphasis,
    Code,
}

/// Text with its bold, slanted and code spans, and backslashes of Markdown taken away.
fn spans(text: &str) -> Markup {
    let marks = [("**", SpanStyle::Strong), ("`", SpanStyle::Code), ("*", SpanStyle::Emphasis)];
    let found = marks.iter().filter_map(|(mark, style)| {
        let from = find_mark(text, mark)?;
        let inside = &text[from + mark.len()..];
        let length = find_mark(inside, mark).filter(|length| *length > 0)?;
        Some((from, &inside[..length], &inside[length + mark.len()..], *style))
    });
    let first = found.min_by_key(|(from, ..)| *from);
    html! {
        @match first {
            None => (unescape(text)),
            Some((from, inside, rest, style)) => {
                (unescape(&text[..from]))
                @match style {
                    SpanStyle::Strong => strong { (unescape(inside)) },
                    SpanStyle::Emphasis => em { (unescape(inside)) },
                    SpanStyle::Code => code { (inside) },
                }
                (spans(rest))
            }
        }
    }
}

/// Where a mark is that no backslash stands before.
fn find_mark(text: &str, mark: &str) -> Option<usize> {
    text.match_indices(mark).map(|(at, _)| at).find(|at| !text[..*at].ends_with('\\'))
}

fn unescape(text: &str) -> String {
    let mut letters = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(letter) = letters.next() {
        match letters.peek() {
            Some(next) if letter == '\\' && next.is_ascii_punctuation() => {}
            _ => plain.push(letter),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recap_is_headings_lists_and_paragraphs() {
        let html =
            render("# The first bell\n\nAna, Ben.\nAt dusk.\n\n## Notes\n- one **bold** \\*star *em* `a*b`\n- <script>x</script>")
                .into_string();
        let expected = "<p dir=\"auto\">Ana, Ben.<br>At dusk.</p><h2 dir=\"auto\">Notes</h2>\
             <ul class=\"bullets\"><li dir=\"auto\">one <strong>bold</strong> *star <em>em</em> <code>a*b</code></li>\
             <li dir=\"auto\">&lt;script&gt;x&lt;/script&gt;</li></ul>";
        assert_eq!(html, expected);
    }
}
