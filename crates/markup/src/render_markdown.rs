//! Renders Markdown as HTML: tables, strikethrough and task lists; raw HTML passes. Mentions travel through the parser
//! as tokens. The result is not sanitised.

use std::borrow::Cow;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd, html};

use crate::html_tags::{HtmlTags, TagKind, has_optional_end, is_void_name};
use crate::mentions::scan_mentions;
use crate::protected_text::ProtectedText;

/// Quotes and lists that begin further right than this are text: the parser walks over all open ones at every line.
const NESTING_COLUMNS_MAX: usize = 400;

/// Renders Markdown as HTML. Mentions come out as they were written, as text. Raw HTML comes out as it is: what is
/// shown to people has to go through `sanitize_html`.
pub fn markdown_to_html(markdown: &str) -> String {
    let protected = protect_mentions(markdown);
    let text = limit_nesting(&protected.text);
    let mut rendered = String::with_capacity(markdown.len() + markdown.len() / 4);
    html::push_html(&mut rendered, restored_events(&text, &protected));
    rendered
}

/// The HTML of each top-level block. Together they are what `markdown_to_html` gives.
pub(crate) fn render_blocks(markdown: &str) -> Vec<String> {
    let protected = protect_mentions(markdown);
    let text = limit_nesting(&protected.text);
    let mut blocks: Vec<String> = Vec::new();
    let mut events = Vec::new();
    let mut depth = 0_usize;
    let mut open_tags = 0_isize;
    let mut is_block_continued = false;
    for event in restored_events(&text, &protected) {
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            // An HTML element that stays open takes in the blocks that follow, up to its end tag.
            Event::Html(source) if depth <= 1 => open_tags = (open_tags + tag_balance(source)).max(0),
            _ => {}
        }
        events.push(event);
        if depth == 0 {
            if !is_block_continued || blocks.is_empty() {
                blocks.push(String::new());
            }
            if let Some(block) = blocks.last_mut() {
                html::push_html(block, events.drain(..));
            }
            is_block_continued = open_tags > 0;
        }
    }
    blocks
}

/// Start tags without end tags, less end tags without start tags.
fn tag_balance(source: &str) -> isize {
    let mut balance = 0;
    for tag in HtmlTags::new(source) {
        if is_void_name(&tag.name) || has_optional_end(&tag.name) || source[tag.range.clone()].ends_with("/>") {
            continue;
        }
        balance += match tag.kind {
            TagKind::Start => 1,
            TagKind::End => -1,
            TagKind::Other => 0,
        };
    }
    balance
}

pub(crate) fn protect_mentions(markdown: &str) -> ProtectedText<'_> {
    let piece = |text: &str| if text.contains("\\|") { Some(text.replace("\\|", "|")) } else { None };
    let pieces = scan_mentions(markdown).into_iter().map(|mention| {
        let text = &markdown[mention.range.clone()];
        (mention.range, piece(text).map_or(Cow::Borrowed(text), Cow::Owned))
    });
    ProtectedText::new(markdown, pieces)
}

pub(crate) fn markdown_events(text: &str) -> Parser<'_> {
    Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS)
}

fn restored_events<'a>(text: &'a str, protected: &ProtectedText<'_>) -> impl Iterator<Item = Event<'a>> {
    let restore = |part: CowStr<'a>| protected.restore(&part).map_or(part, CowStr::from);
    markdown_events(text).map(move |event| match event {
        Event::Text(part) => Event::Text(restore(part)),
        Event::Code(part) => Event::Code(restore(part)),
        Event::Html(part) => Event::Html(restore(part)),
        Event::InlineHtml(part) => Event::InlineHtml(restore(part)),
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Link { link_type, dest_url: restore(dest_url), title: restore(title), id })
        }
        Event::Start(Tag::Image { link_type, dest_url, title, id }) => {
            Event::Start(Tag::Image { link_type, dest_url: restore(dest_url), title: restore(title), id })
        }
        Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(restore(info))))
        }
        other => other,
    })
}

/// Which of the protected pieces stand in a code span or a code block.
pub(crate) fn pieces_in_code(protected: &ProtectedText<'_>) -> Vec<bool> {
    let mut in_code = vec![false; protected.piece_count];
    let mut mark = |text: &str| {
        for (_, index) in protected.tokens(text) {
            if let Some(is_in_code) = in_code.get_mut(index) {
                *is_in_code = true;
            }
        }
    };
    let mut is_code_block = false;
    for event in markdown_events(&limit_nesting(&protected.text)) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                is_code_block = true;
                if let CodeBlockKind::Fenced(info) = kind {
                    mark(&info);
                }
            }
            Event::End(TagEnd::CodeBlock) => is_code_block = false,
            Event::Code(text) => mark(&text),
            Event::Text(text) if is_code_block => mark(&text),
            _ => {}
        }
    }
    in_code
}

/// Escapes markers of quotes and lists that begin too far right.
pub(crate) fn limit_nesting(markdown: &str) -> Cow<'_, str> {
    let mut limited = String::new();
    let mut copied = 0;
    let mut line_start = 0;
    for line in markdown.split_inclusive('\n') {
        if let Some(offset) = far_marker(line) {
            limited.push_str(&markdown[copied..line_start + offset]);
            limited.push('\\');
            copied = line_start + offset;
        }
        line_start += line.len();
    }
    if copied == 0 {
        return Cow::Borrowed(markdown);
    }
    limited.push_str(&markdown[copied..]);
    Cow::Owned(limited)
}

/// Where to escape the first marker of a line that begins too far right.
fn far_marker(line: &str) -> Option<usize> {
    if line.len() <= NESTING_COLUMNS_MAX / 4 {
        return None;
    }
    let bytes = line.as_bytes();
    let is_space = |at: usize| bytes.get(at).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    let mut column = 0;
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes[at..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let escape_at = match byte {
            b' ' => {
                column += 1;
                at += 1;
                continue;
            }
            b'\t' => {
                column += 4;
                at += 1;
                continue;
            }
            b'>' => at,
            b'-' | b'+' | b'*' if is_space(at + 1) => at,
            b'0'..=b'9' if matches!(bytes.get(at + digits), Some(b'.' | b')')) && is_space(at + digits + 1) => {
                at + digits
            }
            _ => return None,
        };
        if column > NESTING_COLUMNS_MAX {
            return Some(escape_at);
        }
        column += escape_at + 1 - at;
        at = escape_at + 1;
    }
    None
}
