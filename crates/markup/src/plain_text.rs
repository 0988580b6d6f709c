//! The readable text of Markdown, for snippets and search: no markup, mentions as their labels.

use pulldown_cmark::{Event, Tag, TagEnd};

use crate::html_tags::is_block_name;
use crate::html_tree::{HtmlTree, NodeContent};
use crate::mentions::{Mention, MentionKind, mentions};
use crate::protected_text::ProtectedText;
use crate::render_markdown::{limit_nesting, markdown_events};

/// The readable text of Markdown. A mention without a label is shown as it is written.
pub fn plain_text(markdown: &str) -> String {
    plain_text_with_names(markdown, |_| None)
}

/// The readable text of Markdown. `name_of` names the entities that are mentioned without a label.
pub fn plain_text_with_names(markdown: &str, mut name_of: impl FnMut(u64) -> Option<String>) -> String {
    let pieces = mentions(markdown).into_iter().map(|mention| {
        let text = mention_text(markdown, &mention, &mut name_of);
        (mention.range, text.into())
    });
    let protected = ProtectedText::new(markdown, pieces);
    let text = limit_nesting(&protected.text);
    let mut plain = String::with_capacity(markdown.len());
    let mut html = String::new();
    let mut is_html_block = false;
    for event in markdown_events(&text) {
        match event {
            Event::Text(part) | Event::Code(part) => {
                let restored = protected.restore(&part);
                plain.push_str(restored.as_deref().unwrap_or(&part));
            }
            Event::Html(part) if is_html_block => html.push_str(&part),
            Event::SoftBreak | Event::End(TagEnd::TableCell) => plain.push(' '),
            Event::Start(Tag::HtmlBlock) => is_html_block = true,
            Event::End(TagEnd::HtmlBlock) => {
                is_html_block = false;
                push_html_text(&mut plain, &std::mem::take(&mut html), &protected);
                end_line(&mut plain);
            }
            Event::InlineHtml(tag) if tag.starts_with("<br") => end_line(&mut plain),
            Event::HardBreak
            | Event::Rule
            | Event::Start(Tag::Item | Tag::List(_) | Tag::CodeBlock(_) | Tag::Table(_))
            | Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::CodeBlock
                | TagEnd::TableHead
                | TagEnd::TableRow,
            ) => end_line(&mut plain),
            _ => {}
        }
    }
    plain.truncate(plain.trim_end().len());
    plain
}

fn mention_text(markdown: &str, mention: &Mention, name_of: &mut impl FnMut(u64) -> Option<String>) -> String {
    let written = || markdown[mention.range.clone()].to_owned();
    if mention.in_code {
        return written();
    }
    match (mention.kind, &mention.label, mention.id) {
        (MentionKind::Icon, ..) => String::new(),
        (_, Some(label), _) => label.trim().to_owned(),
        (MentionKind::Entity, None, Some(id)) => name_of(id).unwrap_or_else(written),
        _ => written(),
    }
}

fn end_line(plain: &mut String) {
    plain.truncate(plain.trim_end_matches(' ').len());
    if !plain.is_empty() && !plain.ends_with('\n') {
        plain.push('\n');
    }
}

/// The texts of an HTML block, one line for each of its blocks.
fn push_html_text(plain: &mut String, html: &str, protected: &ProtectedText<'_>) {
    let Ok(tree) = HtmlTree::parse(html) else { return };
    for id in tree.descendants(tree.root) {
        match &tree.node(id).content {
            NodeContent::Element(element) if &*element.name == "br" || is_block_name(&element.name) => end_line(plain),
            NodeContent::Text(text) => {
                let restored = protected.restore(text);
                let text = restored.as_deref().unwrap_or(text);
                for (index, word) in text.split_whitespace().enumerate() {
                    let has_gap = index > 0 || text.starts_with(char::is_whitespace);
                    if has_gap && !plain.is_empty() && !plain.ends_with([' ', '\n']) {
                        plain.push(' ');
                    }
                    plain.push_str(word);
                }
                if text.ends_with(char::is_whitespace) && !plain.ends_with([' ', '\n']) {
                    plain.push(' ');
                }
            }
            _ => {}
        }
    }
}
