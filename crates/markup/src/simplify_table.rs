//! Brings tables to the form in which Markdown renders them: editors wrap cells in paragraphs, put the header into the
//! body, and add attributes that say nothing.

use crate::html_tree::{HtmlElement, HtmlTree, NodeContent, NodeId};

pub(crate) fn simplify_table(tree: &mut HtmlTree, table: NodeId) {
    if let Some(element) = tree.element_mut(table) {
        drop_idle_style(element);
    }
    let is_kept = |tree: &HtmlTree, id: NodeId| !(tree.name(id) == Some("colgroup") && is_idle_colgroup(tree, id));
    let sections: Vec<NodeId> = tree.filled_children(table).into_iter().filter(|id| is_kept(tree, *id)).collect();
    for section in &sections {
        for row in tree.filled_children(*section) {
            for cell in tree.filled_children(row) {
                simplify_cell(tree, cell);
            }
        }
    }
    tree.node_mut(table).children = sections;
    move_header(tree, table);
}

/// `TipTap` writes a smallest width onto every table and column.
fn drop_idle_style(element: &mut HtmlElement) {
    let is_idle = |style: &str| {
        style.split(';').all(|property| property.trim().is_empty() || property.trim().starts_with("min-width:"))
    };
    if element.attribute("style").is_some_and(is_idle) {
        element.remove_attribute("style");
    }
}

fn is_idle_colgroup(tree: &HtmlTree, id: NodeId) -> bool {
    let is_idle_column = |id: &NodeId| {
        tree.element(*id).is_some_and(|element| {
            let mut element = element.clone();
            drop_idle_style(&mut element);
            element.is_bare("col")
        })
    };
    tree.is_bare(id, "colgroup") && tree.filled_children(id).iter().all(is_idle_column)
}

fn simplify_cell(tree: &mut HtmlTree, cell: NodeId) {
    if let [paragraph] = tree.filled_children(cell)[..]
        && tree.is_bare(paragraph, "p")
    {
        tree.node_mut(cell).children = std::mem::take(&mut tree.node_mut(paragraph).children);
    }
    let Some(element) = tree.element_mut(cell) else { return };
    element.attributes.retain(|(name, value)| !(matches!(name.as_str(), "colspan" | "rowspan") && value == "1"));
    drop_idle_style(element);
    let aligned = element.attribute("align").and_then(alignment_word);
    if let Some(word) = aligned
        && element.attribute("style").is_none()
    {
        element.remove_attribute("align");
        element.attributes.push(("style".to_owned(), format!("text-align: {word}")));
    }
    let styled = element.attribute("style").and_then(text_alignment);
    if let Some(word) = styled {
        element.remove_attribute("style");
        element.attributes.push(("style".to_owned(), format!("text-align: {word}")));
    }
}

fn alignment_word(text: &str) -> Option<&'static str> {
    ["left", "center", "right"].into_iter().find(|word| text.trim().eq_ignore_ascii_case(word))
}

/// The alignment that a style says, if it says nothing else.
pub(crate) fn text_alignment(style: &str) -> Option<&'static str> {
    let mut properties = style.split(';').map(str::trim).filter(|property| !property.is_empty());
    let (name, value) = properties.next()?.split_once(':')?;
    let is_only = properties.next().is_none();
    alignment_word(value).filter(|_| is_only && name.trim().eq_ignore_ascii_case("text-align"))
}

/// A first row of header cells in the body becomes the head.
fn move_header(tree: &mut HtmlTree, table: NodeId) {
    let [body] = tree.filled_children(table)[..] else { return };
    if !tree.is_bare(body, "tbody") {
        return;
    }
    let rows = tree.filled_children(body);
    let Some((first, rest)) = rows.split_first() else { return };
    let cells = tree.filled_children(*first);
    if !tree.is_bare(*first, "tr") || cells.is_empty() || cells.iter().any(|cell| tree.name(*cell) != Some("th")) {
        return;
    }
    let head = tree.add(NodeContent::Element(HtmlElement::new("thead")), vec![*first]);
    tree.node_mut(body).children = rest.to_vec();
    tree.node_mut(table).children = if rest.is_empty() { vec![head] } else { vec![head, body] };
}
