//! Brings HTML of different editors to one form before it is written as Markdown or compared: what is changed here
//! means the same to a reader (`<b>` is `<strong>`, a space at the end of bold text stands after it), the rest stays.

use html5ever::LocalName;

use crate::html_tags::is_block_name;
use crate::html_tree::{HtmlElement, HtmlTree, NodeContent, NodeId, is_blank, is_html_space};
use crate::simplify_table::simplify_table;

/// Text between the top-level blocks is put into paragraphs by `wrap_inline_runs`, which the caller may leave out.
pub(crate) fn simplify(tree: &mut HtmlTree) {
    let root = tree.root;
    for id in tree.descendants(root) {
        rename_formatting(tree, id);
        match tree.name(id) {
            Some("ul") => simplify_task_list(tree, id),
            Some("li") => simplify_checkbox(tree, id),
            _ => {}
        }
    }
    let order = tree.descendants(root);
    for id in order.iter().rev().copied() {
        if tree.name(id).is_some_and(|name| !matches!(name, "pre" | "textarea")) {
            tidy_inline_children(tree, id);
        }
    }
    tidy_inline_children(tree, root);
    for id in tree.descendants(root) {
        match tree.name(id) {
            Some("table") => simplify_table(tree, id),
            Some("ul" | "ol") => unwrap_single_item(tree, id),
            Some("blockquote") if tree.is_bare(id, "blockquote") => wrap_inline_runs(tree, id),
            _ => {}
        }
    }
}

pub(crate) fn is_block(tree: &HtmlTree, id: NodeId) -> bool {
    tree.name(id).is_some_and(is_block_name)
}

fn rename_formatting(tree: &mut HtmlTree, id: NodeId) {
    let Some(element) = tree.element_mut(id).filter(|element| !element.is_foreign) else { return };
    if !element.attributes.is_empty() {
        return;
    }
    let name = match &*element.name {
        "b" => "strong",
        "i" => "em",
        "s" | "strike" => "del",
        _ => return,
    };
    element.name = LocalName::from(name);
}

/// Whether the element is written with Markdown delimiters.
pub(crate) fn is_formatting(tree: &HtmlTree, id: NodeId) -> bool {
    tree.is_bare(id, "strong") || tree.is_bare(id, "em") || tree.is_bare(id, "del")
}

/// The task list of `TipTap`: `<ul data-type="taskList"><li
/// data-checked="true"><label><input></label><div>…</div></li>`.
fn simplify_task_list(tree: &mut HtmlTree, list: NodeId) {
    let is_task_list = tree
        .element(list)
        .is_some_and(|element| element.attribute("data-type") == Some("taskList") && element.attributes.len() == 1);
    if !is_task_list {
        return;
    }
    let items = tree.filled_children(list);
    let Some(contents) = items.iter().map(|item| task_item(tree, *item)).collect::<Option<Vec<_>>>() else { return };
    for (item, (is_checked, children)) in items.into_iter().zip(contents) {
        let input = tree.add(NodeContent::Element(checkbox(is_checked)), Vec::new());
        let space = tree.add(NodeContent::Text(" ".to_owned()), Vec::new());
        let node = tree.node_mut(item);
        node.children = [input, space].into_iter().chain(children).collect();
        node.content = NodeContent::Element(HtmlElement::new("li"));
    }
    if let Some(element) = tree.element_mut(list) {
        element.attributes.clear();
    }
}

/// Whether a `TipTap` task is done, and what it holds: the text of its first paragraph and lists below it.
fn task_item(tree: &HtmlTree, item: NodeId) -> Option<(bool, Vec<NodeId>)> {
    let element = tree.element(item).filter(|element| &*element.name == "li")?;
    let is_known = |(name, _): &(String, String)| matches!(name.as_str(), "data-type" | "data-checked");
    element.attributes.iter().all(is_known).then_some(())?;
    let is_checked = element.attribute("data-checked") == Some("true");
    let [label, content] = tree.filled_children(item)[..] else { return None };
    (tree.name(label) == Some("label") && tree.is_bare(content, "div")).then_some(())?;
    is_blank(&tree.text_content(label)).then_some(())?;
    let blocks = tree.filled_children(content);
    let (first, rest) = blocks.split_first()?;
    let are_lists = rest.iter().all(|id| matches!(tree.name(*id), Some("ul" | "ol")));
    (tree.is_bare(*first, "p") && are_lists).then_some(())?;
    Some((is_checked, tree.children(*first).iter().chain(rest).copied().collect()))
}

fn checkbox(is_checked: bool) -> HtmlElement {
    let mut element = HtmlElement::new("input");
    element.attributes.push(("disabled".to_owned(), String::new()));
    element.attributes.push(("type".to_owned(), "checkbox".to_owned()));
    if is_checked {
        element.attributes.push(("checked".to_owned(), String::new()));
    }
    element
}

/// A checkbox at the start of a list item gets the attributes that Markdown gives it.
fn simplify_checkbox(tree: &mut HtmlTree, item: NodeId) {
    let Some(mut first) = tree.children(item).iter().copied().find(|id| !tree.is_blank_text(*id)) else { return };
    if tree.is_bare(first, "p") {
        let Some(inner) = tree.children(first).iter().copied().find(|id| !tree.is_blank_text(*id)) else { return };
        first = inner;
    }
    if let Some(is_checked) = checkbox_state(tree, first) {
        tree.node_mut(first).content = NodeContent::Element(checkbox(is_checked));
    }
}

/// Whether the checkbox is checked; `None` if the node is no checkbox, or has attributes that Markdown cannot express.
pub(crate) fn checkbox_state(tree: &HtmlTree, id: NodeId) -> Option<bool> {
    let element = tree.element(id).filter(|element| &*element.name == "input")?;
    let is_known = |(name, _): &(String, String)| matches!(name.as_str(), "type" | "checked" | "disabled");
    let is_checkbox = element.attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("checkbox"));
    (is_checkbox && element.attributes.iter().all(is_known)).then(|| element.attribute("checked").is_some())
}

/// Joins texts and equal formatting that stand side by side, drops formatting around nothing, moves white space out of
/// formatting, and drops blank comments.
fn tidy_inline_children(tree: &mut HtmlTree, parent: NodeId) {
    let children = std::mem::take(&mut tree.node_mut(parent).children);
    let mut tidied: Vec<NodeId> = Vec::with_capacity(children.len());
    for child in children {
        if matches!(&tree.node(child).content, NodeContent::Comment(text) if is_blank(text)) {
            continue;
        }
        let moves_space = is_formatting(tree, child) || tree.name(child) == Some("a");
        if !moves_space {
            push_joined(tree, &mut tidied, child);
            continue;
        }
        let before = take_edge_space(tree, child, true);
        let after = take_edge_space(tree, child, false);
        if before {
            let space = tree.add(NodeContent::Text(" ".to_owned()), Vec::new());
            push_joined(tree, &mut tidied, space);
        }
        if !(tree.children(child).is_empty() && is_formatting(tree, child)) {
            push_joined(tree, &mut tidied, child);
        }
        if after {
            let space = tree.add(NodeContent::Text(" ".to_owned()), Vec::new());
            push_joined(tree, &mut tidied, space);
        }
    }
    tree.node_mut(parent).children = tidied;
}

/// Removes white space at one edge of an element, and tells whether there was any.
fn take_edge_space(tree: &mut HtmlTree, id: NodeId, is_start: bool) -> bool {
    let children = tree.children(id);
    let Some(edge) = (if is_start { children.first() } else { children.last() }).copied() else { return false };
    let NodeContent::Text(text) = &mut tree.node_mut(edge).content else { return false };
    let trimmed = if is_start { text.trim_start_matches(is_html_space) } else { text.trim_end_matches(is_html_space) };
    if trimmed.len() == text.len() {
        return false;
    }
    let is_empty = trimmed.is_empty();
    *text = trimmed.to_owned();
    if is_empty {
        let siblings = &mut tree.node_mut(id).children;
        if is_start {
            siblings.remove(0);
        } else {
            siblings.pop();
        }
    }
    true
}

/// Adds a node to a list of siblings; text joins text, and formatting joins the same formatting.
fn push_joined(tree: &mut HtmlTree, siblings: &mut Vec<NodeId>, id: NodeId) {
    let Some(last) = siblings.last().copied() else {
        siblings.push(id);
        return;
    };
    if !joins(tree, last, id) {
        siblings.push(id);
        return;
    }
    // Where the contents meet, they may join in turn.
    let (mut left, mut right) = (last, id);
    loop {
        if let NodeContent::Text(text) = &mut tree.node_mut(right).content {
            let text = std::mem::take(text);
            if let NodeContent::Text(joined) = &mut tree.node_mut(left).content {
                joined.push_str(&text);
            }
            return;
        }
        let mut moved = std::mem::take(&mut tree.node_mut(right).children);
        let meeting = tree.children(left).last().copied().zip(moved.first().copied());
        match meeting {
            Some((end, start)) if joins(tree, end, start) => {
                moved.remove(0);
                tree.node_mut(left).children.extend(moved);
                (left, right) = (end, start);
                // The rest of what was moved stands after the joined pair: only the pair itself is left to join.
            }
            _ => {
                tree.node_mut(left).children.extend(moved);
                return;
            }
        }
    }
}

fn joins(tree: &HtmlTree, left: NodeId, right: NodeId) -> bool {
    match (&tree.node(left).content, &tree.node(right).content) {
        (NodeContent::Text(_), NodeContent::Text(_)) => true,
        (NodeContent::Element(first), NodeContent::Element(second)) => {
            is_formatting(tree, left) && is_formatting(tree, right) && first.name == second.name
        }
        _ => false,
    }
}

/// A list of one item that holds one paragraph cannot be said in Markdown, which puts paragraphs only into lists with
/// blank lines.
fn unwrap_single_item(tree: &mut HtmlTree, list: NodeId) {
    let [item] = tree.filled_children(list)[..] else { return };
    let [paragraph] = tree.filled_children(item)[..] else { return };
    if tree.is_bare(item, "li") && tree.is_bare(paragraph, "p") {
        tree.node_mut(item).children = std::mem::take(&mut tree.node_mut(paragraph).children);
    }
}

/// Puts text that stands between blocks into paragraphs, and drops white space between blocks.
pub(crate) fn wrap_inline_runs(tree: &mut HtmlTree, parent: NodeId) {
    let children = std::mem::take(&mut tree.node_mut(parent).children);
    let mut wrapped = Vec::with_capacity(children.len());
    let mut run = Vec::new();
    for child in children {
        if is_block(tree, child) || holds_block(tree, child) {
            close_run(tree, &mut run, &mut wrapped);
            wrapped.push(child);
        } else {
            run.push(child);
        }
    }
    close_run(tree, &mut run, &mut wrapped);
    tree.node_mut(parent).children = wrapped;
}

/// Whether a block stands within an inline element, so that it cannot stand in a paragraph.
fn holds_block(tree: &HtmlTree, id: NodeId) -> bool {
    tree.name(id).is_some() && tree.descendants(id).into_iter().any(|inner| is_block(tree, inner))
}

fn close_run(tree: &mut HtmlTree, run: &mut Vec<NodeId>, wrapped: &mut Vec<NodeId>) {
    let is_comment = |id: &NodeId| matches!(tree.node(*id).content, NodeContent::Comment(_));
    if run.iter().all(|id| is_comment(id) || tree.is_blank_text(*id)) {
        wrapped.extend(run.drain(..).filter(is_comment));
        return;
    }
    let children = std::mem::take(run);
    wrapped.push(tree.add(NodeContent::Element(HtmlElement::new("p")), children));
}
