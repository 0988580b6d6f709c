//! Writes a table as a Markdown table, if it is one of a header and rows of equal length with nothing but lines of text
//! in its cells.

use crate::escape_markdown::TextPlace;
use crate::html_tree::{HtmlTree, NodeId};
use crate::inline_markdown::inline_markdown;
use crate::simplify_table::text_alignment;

/// None for a table that Markdown cannot say.
pub(crate) fn table_markdown(tree: &HtmlTree, table: NodeId, only_tags: bool) -> Option<String> {
    tree.is_bare(table, "table").then_some(())?;
    let (head, body) = match tree.filled_children(table)[..] {
        [head] => (head, None),
        [head, body] => (head, Some(body)),
        _ => return None,
    };
    (tree.is_bare(head, "thead") && body.is_none_or(|body| tree.is_bare(body, "tbody"))).then_some(())?;
    let [header] = tree.filled_children(head)[..] else { return None };
    let columns = cells(tree, header, "th")?;
    let alignments: Vec<_> = columns.iter().map(|cell| alignment(tree, *cell)).collect::<Option<_>>()?;
    let mut markdown = String::new();
    push_row(&mut markdown, tree, &columns, only_tags)?;
    markdown.push_str("\n|");
    for word in &alignments {
        markdown.push_str(match *word {
            "left" => " :-- |",
            "center" => " :-: |",
            "right" => " --: |",
            _ => " --- |",
        });
    }
    for row in body.map(|body| tree.filled_children(body)).unwrap_or_default() {
        let cells = cells(tree, row, "td")?;
        let found: Vec<_> = cells.iter().map(|cell| alignment(tree, *cell)).collect::<Option<_>>()?;
        (found == alignments).then_some(())?;
        markdown.push('\n');
        push_row(&mut markdown, tree, &cells, only_tags)?;
    }
    Some(markdown)
}

fn cells(tree: &HtmlTree, row: NodeId, name: &str) -> Option<Vec<NodeId>> {
    let cells = tree.filled_children(row);
    let is_row = tree.is_bare(row, "tr") && !cells.is_empty();
    (is_row && cells.iter().all(|cell| tree.name(*cell) == Some(name))).then_some(cells)
}

/// How a cell is aligned; None if it has another attribute.
fn alignment(tree: &HtmlTree, cell: NodeId) -> Option<&'static str> {
    match &tree.element(cell)?.attributes[..] {
        [] => Some(""),
        [(name, value)] if name == "style" => text_alignment(value),
        _ => None,
    }
}

fn push_row(markdown: &mut String, tree: &HtmlTree, cells: &[NodeId], only_tags: bool) -> Option<()> {
    markdown.push('|');
    for cell in cells {
        let text = inline_markdown(tree, tree.children(*cell), TextPlace::TableCell, only_tags)?;
        markdown.push(' ');
        markdown.push_str(&text);
        markdown.push_str(if text.is_empty() { "|" } else { " |" });
    }
    Some(())
}
