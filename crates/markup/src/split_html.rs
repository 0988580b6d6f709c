//! Cuts HTML source into its top-level blocks without changing a byte: joined again, the pieces are the source.

use crate::canonical_html::canonical_html;
use crate::html_tags::{HtmlTags, TagKind, is_block_name, is_void_name};
use crate::html_tree::is_blank;

/// A top-level block, with the white space after it.
pub(crate) struct HtmlPiece<'a> {
    pub(crate) source: &'a str,
    pub(crate) canonical: String,
}

/// The top-level blocks of HTML; one piece if the source cannot be cut safely.
pub(crate) fn split_html(html: &str) -> Vec<HtmlPiece<'_>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for end in block_bounds(html) {
        pieces.push(HtmlPiece { source: &html[start..end], canonical: canonical_html(&html[start..end]) });
        start = end;
    }
    let whole = canonical_html(html);
    let joined: String = pieces.iter().map(|piece| piece.canonical.as_str()).collect();
    if joined == whole { pieces } else { vec![HtmlPiece { source: html, canonical: whole }] }
}

/// The ends of the pieces.
fn block_bounds(html: &str) -> Vec<usize> {
    let mut bounds: Vec<usize> = Vec::new();
    // The open top-level element: its name, and how many of that name are open.
    let mut open: Option<(String, usize)> = None;
    let mut run_start = 0;
    let close_run = |bounds: &mut Vec<usize>, run_start: usize, end: usize| {
        if is_blank(&html[run_start..end]) {
            // White space belongs to the piece before it.
            if let Some(last) = bounds.last_mut() {
                *last = end;
            }
        } else {
            bounds.push(end);
        }
    };
    for tag in HtmlTags::new(html) {
        if tag.kind == TagKind::Other {
            continue;
        }
        let is_start = tag.kind == TagKind::Start;
        if let Some((name, count)) = &mut open {
            let ends_paragraph = name == "p" && is_start && is_block_name(&tag.name);
            if !ends_paragraph {
                if *name == tag.name {
                    *count = if is_start { *count + 1 } else { *count - 1 };
                }
                if *count == 0 {
                    bounds.push(tag.range.end);
                    run_start = tag.range.end;
                    open = None;
                }
                continue;
            }
            bounds.push(tag.range.start);
            run_start = tag.range.start;
            open = None;
        }
        if !is_block_name(&tag.name) || !is_start {
            continue;
        }
        close_run(&mut bounds, run_start, tag.range.start);
        run_start = tag.range.start;
        if is_void_name(&tag.name) {
            bounds.push(tag.range.end);
            run_start = tag.range.end;
        } else {
            open = Some((tag.name, 1));
        }
    }
    close_run(&mut bounds, run_start, html.len());
    if bounds.last().is_none_or(|last| *last < html.len()) {
        bounds.push(html.len());
    }
    bounds
}
