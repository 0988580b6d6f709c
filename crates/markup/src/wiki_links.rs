//! Wiki links, as Obsidian writes them: `[[Name]]`, `[[Name|text]]`, `[[Name#Heading]]`, `[[Name#^block]]`,
//! `![[file]]`; in tables with `\|`. Links that the caller resolves become mentions.

use std::borrow::Cow;
use std::ops::Range;

use crate::mentions::{is_escaped, mention_label, scan_mentions};
use crate::protected_text::ProtectedText;
use crate::render_markdown::pieces_in_code;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WikiLink {
    /// Where it stands, in bytes, with the `!` of an embed.
    pub range: Range<usize>,
    pub name: String,
    /// `Heading` of `[[Name#Heading]]`.
    pub heading: Option<String>,
    /// `block` of `[[Name#^block]]`.
    pub block: Option<String>,
    /// What is shown instead of the name; the size of an embedded picture too.
    pub text: Option<String>,
    pub is_embed: bool,
}

impl WikiLink {
    fn to_mention(&self, entity_id: u64) -> String {
        let is_size = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'x');
        let text = self.text.clone().filter(|text| !(self.is_embed && is_size(text)));
        // A label is shown to everybody, so it never has the name: the reader may not see the entity.
        let shown = text.or_else(|| self.heading.clone());
        // A heading that is not shown is where the link leads.
        let hidden_heading = self.heading.as_ref().filter(|heading| shown.as_ref() != Some(*heading));
        let anchor = hidden_heading.map(|heading| format!("|anchor:#{}", mention_label(heading))).unwrap_or_default();
        match shown.map(|text| mention_label(&text)).filter(|label| !label.is_empty()) {
            Some(label) => format!("[entity:{entity_id}|{label}{anchor}]"),
            None => format!("[entity:{entity_id}{anchor}]"),
        }
    }
}

/// The text with wiki links replaced by mentions of the entities that `resolve` names. Links in code and links that it
/// does not know stay as they are.
pub fn replace_wiki_links(markdown: &str, mut resolve: impl FnMut(&WikiLink) -> Option<u64>) -> String {
    let links = scan_wiki_links(markdown);
    if links.is_empty() {
        return markdown.to_owned();
    }
    let in_code = links_in_code(markdown, &links);
    let mut replaced = String::with_capacity(markdown.len());
    let mut end = 0;
    for (link, in_code) in links.iter().zip(in_code) {
        if !in_code && let Some(entity_id) = resolve(link) {
            replaced.push_str(&markdown[end..link.range.start]);
            replaced.push_str(&link.to_mention(entity_id));
            end = link.range.end;
        }
    }
    replaced.push_str(&markdown[end..]);
    replaced
}

/// Which of the links stand in code. Mentions are protected as well: the `|` of one would end a cell of a table, and what
/// follows the last cell is not parsed.
fn links_in_code(markdown: &str, links: &[WikiLink]) -> Vec<bool> {
    let link_pieces = links.iter().enumerate().map(|(index, link)| (link.range.clone(), Some(index)));
    let mut pieces: Vec<(Range<usize>, Option<usize>)> = link_pieces.collect();
    let mut next = 0;
    for mention in scan_mentions(markdown) {
        while links.get(next).is_some_and(|link| link.range.end <= mention.range.start) {
            next += 1;
        }
        if links.get(next).is_none_or(|link| mention.range.end <= link.range.start) {
            pieces.push((mention.range, None));
        }
    }
    pieces.sort_by_key(|(range, _)| range.start);
    let protected = pieces.iter().map(|(range, _)| (range.clone(), Cow::Borrowed("")));
    let marked = pieces_in_code(&ProtectedText::new(markdown, protected));
    let mut in_code = vec![false; links.len()];
    for ((_, link), is_in_code) in pieces.iter().zip(marked) {
        if let Some(index) = link {
            in_code[*index] = is_in_code;
        }
    }
    in_code
}

/// All that looks like a wiki link, without a look at where code is. Of nested ones the inner is a link.
pub(crate) fn scan_wiki_links(text: &str) -> Vec<WikiLink> {
    let bytes = text.as_bytes();
    let mut links = Vec::new();
    let mut opened = None;
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'[', Some(b'[')) => opened = Some(at).filter(|at| !is_escaped(bytes, *at)),
            (b'\n', _) => opened = None,
            (b']', Some(b']')) => {
                if let Some(start) = opened.take()
                    && let Some(link) = read_wiki_link(text, start, at + 2)
                {
                    links.push(link);
                }
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    links
}

fn read_wiki_link(text: &str, start: usize, end: usize) -> Option<WikiLink> {
    let content = text.get(start + 2..end - 2)?;
    let (target, shown) = match content.split_once('|') {
        Some((target, shown)) => (target.strip_suffix('\\').unwrap_or(target), Some(shown.trim())),
        None => (content, None),
    };
    let (name, place) = match target.split_once('#') {
        Some((name, place)) => (name.trim(), Some(place.trim()).filter(|place| !place.is_empty())),
        None => (target.trim(), None),
    };
    if name.is_empty() {
        return None;
    }
    let block = place.and_then(|place| place.strip_prefix('^'));
    let heading = place.filter(|_| block.is_none());
    let bytes = text.as_bytes();
    let is_embed = start > 0 && bytes[start - 1] == b'!' && !is_escaped(bytes, start - 1);
    Some(WikiLink {
        range: if is_embed { start - 1 } else { start }..end,
        name: name.to_owned(),
        heading: heading.map(str::to_owned),
        block: block.map(str::to_owned),
        text: shown.filter(|text| !text.is_empty()).map(str::to_owned),
        is_embed,
    })
}
