//! Writes a simplified tree as one string in which white space, order of attributes and spelling of addresses make no
//! difference, so that two trees mean the same if the strings are equal.

use crate::html_tree::{HtmlElement, HtmlTree, NodeContent, NodeId, is_html_space};
use crate::mention_anchor::collapse_mention_anchors;
use crate::simplify_html::{is_block, simplify, wrap_inline_runs};

/// The canonical form of HTML source; of source that is too complex, the source.
pub(crate) fn canonical_html(html: &str) -> String {
    canonical(html, true)
}

/// The canonical form of rendered Markdown. Text without a paragraph differs from text in one: it shows that the
/// Markdown was read as raw HTML.
pub(crate) fn canonical_rendered(html: &str) -> String {
    canonical(html, false)
}

fn canonical(html: &str, wraps_text: bool) -> String {
    match HtmlTree::parse(html) {
        Ok(mut tree) => {
            collapse_mention_anchors(&mut tree);
            simplify(&mut tree);
            if wraps_text {
                let root = tree.root;
                wrap_inline_runs(&mut tree, root);
            }
            canonical_children(&tree, tree.root)
        }
        Err(_) => html.to_owned(),
    }
}

pub(crate) fn canonical_children(tree: &HtmlTree, id: NodeId) -> String {
    let mut writer = CanonicalWriter::default();
    for child in tree.children(id) {
        writer.write_node(tree, *child);
    }
    writer.text
}

pub(crate) fn canonical_node(tree: &HtmlTree, id: NodeId) -> String {
    let mut writer = CanonicalWriter::default();
    writer.write_node(tree, id);
    writer.text
}

#[derive(Default)]
struct CanonicalWriter {
    text: String,
    /// White space was read and not yet written.
    is_space_waiting: bool,
    /// Something was written since the last block or line break, and not as the last thing a space.
    is_space_due: bool,
}

impl CanonicalWriter {
    fn write_node(&mut self, tree: &HtmlTree, id: NodeId) {
        // A node, or the end of one. The flag says that white space counts.
        let mut waiting = vec![(id, false, false)];
        while let Some((id, is_end, is_preformatted)) = waiting.pop() {
            match &tree.node(id).content {
                NodeContent::Fragment => {}
                NodeContent::Text(text) if is_preformatted => self.text.push_str(text),
                NodeContent::Text(text) => self.write_text(text),
                NodeContent::Comment(text) => {
                    self.flush_space();
                    self.text.push('\u{5}');
                    self.text.extend(text.split_whitespace().flat_map(|word| [word, " "]));
                }
                NodeContent::Element(element) => {
                    let is_break = &*element.name == "br" && !element.is_foreign;
                    if is_block(tree, id) || is_break {
                        self.is_space_waiting = false;
                        self.is_space_due = false;
                    } else {
                        self.flush_space();
                    }
                    if is_end {
                        self.end_element(tree, id, element);
                        continue;
                    }
                    write_start(&mut self.text, element);
                    if !is_block(tree, id) && !is_break && tree.children(id).is_empty() {
                        self.is_space_due = true;
                    }
                    let is_preformatted = is_preformatted || matches!(&*element.name, "pre" | "textarea");
                    waiting.push((id, true, is_preformatted));
                    waiting.extend(tree.children(id).iter().rev().map(|child| (*child, false, is_preformatted)));
                }
            }
        }
    }

    fn end_element(&mut self, tree: &HtmlTree, id: NodeId, element: &HtmlElement) {
        // Code blocks of Markdown end with a line break, those of editors do not.
        if &*element.name == "pre" && !tree.children(id).is_empty() {
            let kept = self.text.trim_end_matches(['\u{4}', '\n']).len();
            let is_code_end = self.text[kept..].contains('\n');
            if is_code_end && self.text[kept..].starts_with('\n') {
                self.text.remove(kept);
            }
        }
        self.text.push('\u{4}');
    }

    fn flush_space(&mut self) {
        if self.is_space_waiting && self.is_space_due {
            self.text.push(' ');
            self.is_space_due = false;
        }
        self.is_space_waiting = false;
    }

    fn write_text(&mut self, text: &str) {
        for letter in text.chars() {
            if is_html_space(letter) {
                self.is_space_waiting = true;
                continue;
            }
            self.flush_space();
            self.text.push(letter);
            self.is_space_due = true;
        }
    }
}

fn write_start(text: &mut String, element: &HtmlElement) {
    text.push('\u{2}');
    text.push_str(&element.name);
    let mut attributes: Vec<(&str, String)> = element
        .attributes
        .iter()
        .filter(|(name, value)| !is_idle_attribute(element, name, value))
        .map(|(name, value)| match name.as_str() {
            "href" | "src" => (name.as_str(), canonical_address(value)),
            "checked" | "disabled" | "open" => (name.as_str(), String::new()),
            _ => (name.as_str(), value.clone()),
        })
        .collect();
    attributes.sort();
    for (name, value) in attributes {
        text.push('\u{6}');
        text.push_str(name);
        text.push('=');
        text.push_str(&value);
    }
    text.push('\u{3}');
}

fn is_idle_attribute(element: &HtmlElement, name: &str, value: &str) -> bool {
    match name {
        "alt" | "title" => value.is_empty(),
        "start" => &*element.name == "ol" && value == "1",
        _ => false,
    }
}

/// An address with the letters percent-encoded that the Markdown renderer encodes.
fn canonical_address(address: &str) -> String {
    let mut encoded = String::with_capacity(address.len());
    for byte in address.bytes() {
        let is_kept = byte.is_ascii_graphic()
            && !matches!(byte, b'"' | b'<' | b'>' | b'[' | b'\\' | b']' | b'`' | b'{' | b'|' | b'}');
        if is_kept {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend(format!("{byte:02X}").chars());
        }
    }
    encoded
}
