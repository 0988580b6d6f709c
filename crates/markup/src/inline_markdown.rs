//! Writes inline HTML as Markdown: text, emphasis, code, links, images and line breaks. Elements that Markdown does not
//! know stay tags with Markdown between them.

use crate::escape_markdown::{TextPlace, is_entity, push_escaped};
use crate::html_tags::{is_raw_text_name, is_void_name};
use crate::html_tree::{HtmlTree, NodeContent, NodeId};
use crate::simplify_html::{is_block, is_formatting};

/// Inline elements nested deeper than this are not taken apart.
const INLINE_DEPTH_MAX: usize = 64;

enum InlinePiece<'a> {
    Text(&'a str),
    Break,
    /// A tag, a code span or a part of a link, as it is.
    Verbatim(String),
    /// Start of emphasis, with the index of its end.
    Start(NodeId, usize),
    /// End of emphasis, with the index of its start.
    End(NodeId, usize),
}

/// What the parser takes a letter for when it looks whether emphasis begins or ends beside it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LetterClass {
    Space,
    Punctuation,
    Word,
    /// Parsers differ, or a mention: a bracket to the reader, a letter to our parser.
    Unclear,
}

fn class_of(letter: Option<char>) -> LetterClass {
    match letter {
        None => LetterClass::Space,
        Some(letter) if letter.is_whitespace() => LetterClass::Space,
        Some(letter) if letter.is_ascii_punctuation() => LetterClass::Punctuation,
        Some(letter) if letter.is_alphanumeric() => LetterClass::Word,
        Some(_) => LetterClass::Unclear,
    }
}

/// Writes nodes as inline Markdown. None if they hold something that cannot stand within a line.
/// With `only_tags`, emphasis and code are tags too: for places where delimiters would not be understood.
pub(crate) fn inline_markdown(tree: &HtmlTree, nodes: &[NodeId], place: TextPlace, only_tags: bool) -> Option<String> {
    let mut pieces = Vec::new();
    for node in nodes {
        collect_pieces(tree, *node, only_tags, 0, &mut pieces)?;
    }
    Some(
        PieceWriter { tree, pieces: &pieces, place, markdown: String::new(), delimiters: vec![""; pieces.len()] }
            .write(),
    )
}

fn collect_pieces<'a>(
    tree: &'a HtmlTree,
    id: NodeId,
    only_tags: bool,
    depth: usize,
    pieces: &mut Vec<InlinePiece<'a>>,
) -> Option<()> {
    let element = match &tree.node(id).content {
        NodeContent::Fragment => return None,
        NodeContent::Text(text) => {
            pieces.push(InlinePiece::Text(text));
            return Some(());
        }
        NodeContent::Comment(text) => {
            let is_plain = !text.contains("--") && !text.starts_with(['>', '-']) && !text.ends_with('-');
            is_plain.then_some(())?;
            pieces.push(InlinePiece::Verbatim(format!("<!--{}-->", text.split('\n').collect::<Vec<_>>().join(" "))));
            return Some(());
        }
        NodeContent::Element(element) => element,
    };
    if element.is_foreign || depth > INLINE_DEPTH_MAX {
        return None;
    }
    let name = &*element.name;
    let is_frame = name == "iframe" && tree.children(id).is_empty();
    if !is_frame && (is_block(tree, id) || is_raw_text_name(name) || name == "template") {
        return None;
    }
    let children = |pieces: &mut Vec<InlinePiece<'a>>| {
        tree.children(id).iter().try_for_each(|child| collect_pieces(tree, *child, only_tags, depth + 1, pieces))
    };
    if is_formatting(tree, id) && !only_tags {
        let start = pieces.len();
        pieces.push(InlinePiece::Start(id, 0));
        children(pieces)?;
        let end = pieces.len();
        pieces.push(InlinePiece::End(id, start));
        pieces[start] = InlinePiece::Start(id, end);
        return Some(());
    }
    let has_only = |known: &[&str]| element.attributes.iter().all(|(key, _)| known.contains(&key.as_str()));
    match name {
        "br" if element.attributes.is_empty() => pieces.push(InlinePiece::Break),
        "code" if element.attributes.is_empty() && !only_tags => match code_span(tree, id) {
            Some(span) => pieces.push(InlinePiece::Verbatim(span)),
            None => tagged(tree, id, pieces, children)?,
        },
        "a" if has_only(&["href", "title"]) && element.attribute("href").is_some() => {
            match link_target(element.attribute("href"), element.attribute("title")) {
                Some(target) => {
                    pieces.push(InlinePiece::Verbatim("[".to_owned()));
                    children(pieces)?;
                    pieces.push(InlinePiece::Verbatim(format!("]({target})")));
                }
                None => tagged(tree, id, pieces, children)?,
            }
        }
        "img" if has_only(&["src", "alt", "title"]) && element.attribute("src").is_some() => {
            let mut alternative = String::new();
            push_escaped(&mut alternative, element.attribute("alt").unwrap_or_default(), TextPlace::Heading, true);
            match link_target(element.attribute("src"), element.attribute("title")) {
                Some(target) => pieces.push(InlinePiece::Verbatim(format!("![{alternative}]({target})"))),
                None => pieces.push(InlinePiece::Verbatim(tree.start_tag(id))),
            }
        }
        _ => tagged(tree, id, pieces, children)?,
    }
    Some(())
}

fn tagged<'a>(
    tree: &HtmlTree,
    id: NodeId,
    pieces: &mut Vec<InlinePiece<'a>>,
    mut children: impl FnMut(&mut Vec<InlinePiece<'a>>) -> Option<()>,
) -> Option<()> {
    pieces.push(InlinePiece::Verbatim(tree.start_tag(id)));
    children(pieces)?;
    if !tree.name(id).is_some_and(is_void_name) {
        pieces.push(InlinePiece::Verbatim(tree.end_tag(id)));
    }
    Some(())
}

/// A code span; None if the element holds more than text, or nothing.
fn code_span(tree: &HtmlTree, id: NodeId) -> Option<String> {
    let is_text = |id: &NodeId| matches!(tree.node(*id).content, NodeContent::Text(_));
    tree.children(id).iter().all(is_text).then_some(())?;
    let text = tree.text_content(id).replace(['\n', '\r'], " ");
    if text.is_empty() {
        return None;
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let is_blank = text.chars().all(|letter| letter == ' ');
    let is_padded = text.starts_with('`') || text.ends_with('`') || (text.starts_with(' ') && text.ends_with(' '));
    let gap = if is_padded && !is_blank { " " } else { "" };
    Some(format!("{fence}{gap}{text}{gap}{fence}"))
}

pub(crate) fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for letter in text.chars() {
        run = if letter == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// What stands in the parentheses of a link.
fn link_target(address: Option<&str>, title: Option<&str>) -> Option<String> {
    let address = address?;
    if address.contains(['\n', '\r']) || title.is_some_and(|title| title.contains(['\n', '\r'])) {
        return None;
    }
    let is_plain =
        |letter: char| !letter.is_whitespace() && !letter.is_control() && !matches!(letter, '<' | '>' | '(' | ')');
    let mut target = String::new();
    if !address.is_empty() && address.chars().all(is_plain) {
        push_with_backslashes(&mut target, address, &['\\']);
    } else if !address.is_empty() || title.is_some() {
        target.push('<');
        push_with_backslashes(&mut target, address, &['\\', '<', '>']);
        target.push('>');
    }
    if let Some(title) = title.filter(|title| !title.is_empty()) {
        target.push_str(" \"");
        push_with_backslashes(&mut target, title, &['\\', '"']);
        target.push('"');
    }
    Some(target)
}

fn push_with_backslashes(target: &mut String, text: &str, escaped: &[char]) {
    for (at, letter) in text.char_indices() {
        if escaped.contains(&letter) || (letter == '&' && is_entity(&text[at + 1..])) {
            target.push('\\');
        }
        target.push(letter);
    }
}

struct PieceWriter<'a> {
    tree: &'a HtmlTree,
    pieces: &'a [InlinePiece<'a>],
    place: TextPlace,
    markdown: String,
    /// By index of the start of emphasis: what it is written with; empty for tags.
    delimiters: Vec<&'static str>,
}

impl PieceWriter<'_> {
    fn write(mut self) -> String {
        let mut ends_with_mention = false;
        for (index, piece) in self.pieces.iter().enumerate() {
            let is_last = index + 1 == self.pieces.len();
            let was_mention = std::mem::take(&mut ends_with_mention);
            match piece {
                InlinePiece::Text(text) => {
                    ends_with_mention = push_escaped(&mut self.markdown, text, self.place, is_last);
                }
                InlinePiece::Break => self.push_break(is_last),
                InlinePiece::Verbatim(text) => self.push_verbatim(text),
                InlinePiece::Start(id, end) => {
                    let before =
                        if was_mention { LetterClass::Unclear } else { class_of(self.markdown.chars().next_back()) };
                    let delimiter = self.delimiter(*id, index, *end, before);
                    self.delimiters[index] = delimiter;
                    self.push_emphasis(delimiter, &self.tree.start_tag(*id));
                }
                InlinePiece::End(id, start) => {
                    let delimiter = self.delimiters[*start];
                    self.push_emphasis(delimiter, &self.tree.end_tag(*id));
                }
            }
        }
        let kept = self.markdown.trim_end_matches([' ', '\n']).len();
        self.markdown.truncate(kept);
        self.markdown
    }

    fn push_emphasis(&mut self, delimiter: &str, tag: &str) {
        self.markdown.push_str(if delimiter.is_empty() { tag } else { delimiter });
    }

    fn push_break(&mut self, is_last: bool) {
        let kept = self.markdown.trim_end_matches(' ').len();
        self.markdown.truncate(kept);
        self.markdown.push_str(if is_last || self.place.is_one_line() { "<br>" } else { "\\\n" });
    }

    fn push_verbatim(&mut self, text: &str) {
        if text.starts_with('[') && self.markdown.ends_with('!') {
            // Text that ends with `!` would make an image of the link.
            self.markdown.pop();
            self.markdown.push_str("\\!");
        }
        if self.place == TextPlace::TableCell {
            self.markdown.push_str(&text.replace('|', "\\|"));
        } else {
            self.markdown.push_str(text);
        }
    }

    /// What emphasis is written with so that the parser finds its start and its end; nothing if it would not.
    fn delimiter(&self, id: NodeId, start: usize, end: usize, before: LetterClass) -> &'static str {
        let inner_start = self.first_class(start + 1);
        let inner_end = self.last_class(end - 1);
        let after = self.first_class(end + 1);
        let is_open = |class| matches!(class, LetterClass::Space | LetterClass::Punctuation);
        let binds = |inner, outer| match inner {
            LetterClass::Space => false,
            LetterClass::Word => true,
            LetterClass::Punctuation | LetterClass::Unclear => is_open(outer),
        };
        if end == start + 1 || !binds(inner_start, before) || !binds(inner_end, after) {
            return "";
        }
        match self.tree.name(id) {
            Some("strong") => "**",
            Some("del") => "~~",
            _ if !self.touches_emphasis(start, end) => "*",
            _ if is_open(before) && is_open(after) => "_",
            _ => "",
        }
    }

    /// Whether another start or end of emphasis stands right beside, so that the stars would run together.
    fn touches_emphasis(&self, start: usize, end: usize) -> bool {
        let is_emphasis =
            |index: usize| matches!(self.pieces.get(index), Some(InlinePiece::Start(..) | InlinePiece::End(..)));
        (start > 0 && is_emphasis(start - 1)) || is_emphasis(start + 1) || is_emphasis(end - 1) || is_emphasis(end + 1)
    }

    fn first_class(&self, index: usize) -> LetterClass {
        match self.pieces.get(index) {
            None | Some(InlinePiece::Break) => LetterClass::Space,
            Some(InlinePiece::Text(text)) => edge_class(text.chars().next()),
            Some(InlinePiece::Verbatim(text)) => class_of(text.chars().next()),
            Some(InlinePiece::Start(..) | InlinePiece::End(..)) => LetterClass::Punctuation,
        }
    }

    fn last_class(&self, index: usize) -> LetterClass {
        match self.pieces.get(index) {
            None | Some(InlinePiece::Break) => LetterClass::Space,
            Some(InlinePiece::Text(text)) => edge_class(text.chars().next_back()),
            Some(InlinePiece::Verbatim(text)) => class_of(text.chars().next_back()),
            Some(InlinePiece::Start(..) | InlinePiece::End(..)) => LetterClass::Punctuation,
        }
    }
}

/// The class of the letter at the edge of a text: a bracket may be that of a mention.
fn edge_class(letter: Option<char>) -> LetterClass {
    match letter {
        Some('[' | ']' | '{' | '}') => LetterClass::Unclear,
        _ => class_of(letter),
    }
}
