//! A lore text that may have come as HTML. An edit of its Markdown keeps the HTML of the blocks that did not change,
//! byte by byte, and converts only the others.

use std::collections::HashMap;
use std::ops::Range;

use crate::align_sequences::align;
use crate::canonical_html::canonical_html;
use crate::html_to_markdown::html_to_markdown;
use crate::render_markdown::render_blocks;
use crate::split_html::split_html;

/// A text as Markdown, and the HTML that it came from, if it came as HTML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub markdown: String,
    pub html: Option<String>,
}

pub fn entry_from_html(html: &str) -> Entry {
    Entry { markdown: html_to_markdown(html), html: Some(html.to_owned()) }
}

/// The entry after its Markdown was edited. None if nothing but line ends differs.
pub fn update_entry(old: &Entry, new_markdown: &str) -> Option<Entry> {
    let old_markdown = with_unix_newlines(&old.markdown);
    let markdown = with_unix_newlines(new_markdown);
    if old_markdown.trim_end_matches('\n') == markdown.trim_end_matches('\n') {
        return None;
    }
    let html = old.html.as_ref().map(|html| update_html(&old_markdown, html, &markdown));
    Some(Entry { markdown, html })
}

fn with_unix_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Blocks of Markdown and the pieces of HTML that belong to them.
struct BlockGroup {
    blocks: Range<usize>,
    pieces: Range<usize>,
}

fn update_html(old_markdown: &str, old_html: &str, new_markdown: &str) -> String {
    let pieces = split_html(old_html);
    let old_blocks = render_blocks(old_markdown);
    let new_blocks = render_blocks(new_markdown);
    let block_forms: Vec<String> = old_blocks.iter().map(|block| canonical_html(block)).collect();
    let piece_forms: Vec<String> = pieces.iter().map(|piece| piece.canonical.clone()).collect();
    let groups = group_blocks(&align(&block_forms, &piece_forms), old_blocks.len(), pieces.len());
    let group_by_block: HashMap<usize, &BlockGroup> = groups.iter().map(|group| (group.blocks.start, group)).collect();
    let mut group_by_html: HashMap<&str, &BlockGroup> = HashMap::new();
    for group in groups.iter().filter(|group| group.blocks.len() == 1 && !group.pieces.is_empty()) {
        group_by_html.entry(&old_blocks[group.blocks.start]).or_insert(group);
    }
    let mut old_of_new: Vec<Option<usize>> = vec![None; new_blocks.len()];
    for (old, new) in align(&old_blocks, &new_blocks) {
        old_of_new[new] = Some(old);
    }
    let mut html = String::with_capacity(old_html.len());
    let mut next = 0;
    while next < new_blocks.len() {
        let aligned = old_of_new[next].and_then(|old| group_by_block.get(&old).copied());
        // A group is kept only as a whole.
        let is_whole = |group: &&BlockGroup| {
            !group.pieces.is_empty()
                && group
                    .blocks
                    .clone()
                    .enumerate()
                    .all(|(offset, old)| old_of_new.get(next + offset) == Some(&Some(old)))
        };
        let kept = aligned.filter(is_whole).or_else(|| group_by_html.get(new_blocks[next].as_str()).copied());
        if let Some(group) = kept {
            pieces[group.pieces.clone()].iter().for_each(|piece| html.push_str(piece.source));
            next += group.blocks.len();
        } else {
            html.push_str(&new_blocks[next]);
            next += 1;
        }
    }
    let is_old_html_whole = canonical_html(old_html) == canonical_html(&old_blocks.concat());
    let rendered = new_blocks.concat();
    if is_old_html_whole && canonical_html(&html) != canonical_html(&rendered) {
        // An element that was never closed takes in what now stands after it: the pieces do not fit together.
        return rendered;
    }
    html
}

/// Groups of blocks and pieces between matching pairs. Pieces to which no block belongs join the group before them.
fn group_blocks(pairs: &[(usize, usize)], block_count: usize, piece_count: usize) -> Vec<BlockGroup> {
    let mut groups: Vec<BlockGroup> = Vec::new();
    let mut from = (0, 0);
    for (block, piece) in pairs.iter().copied().chain([(block_count, piece_count)]) {
        let is_end = block == block_count;
        let mut first_piece = piece;
        if from.0 < block {
            groups.push(BlockGroup { blocks: from.0..block, pieces: from.1..piece });
        } else if from.1 < piece {
            match groups.last_mut() {
                Some(group) => group.pieces.end = piece,
                // Nothing stands before them: they go with the first block.
                None => first_piece = from.1,
            }
        }
        if !is_end {
            groups.push(BlockGroup { blocks: block..block + 1, pieces: first_piece..piece + 1 });
        }
        from = (block + 1, piece + 1);
    }
    groups
}
