//! Collapses links that an editor or a page rendered from a mention back to the mention, as Kanka does when it saves.

use crate::html_tree::{HtmlElement, HtmlTree, NodeContent};
use crate::mentions::{mention_label, option_of, scan_mentions};

/// Replaces rendered mentions in the tree by their text.
pub(crate) fn collapse_mention_anchors(tree: &mut HtmlTree) {
    for id in tree.descendants(tree.root) {
        let Some(element) = tree.element(id).filter(|element| !element.is_foreign && &*element.name == "a") else {
            continue;
        };
        if element.attribute("data-mention").is_none() && element.attribute("data-id").is_none() {
            continue;
        }
        if let Some(mention) = anchor_mention(element, &tree.text_content(id)) {
            let node = tree.node_mut(id);
            node.children.clear();
            node.content = NodeContent::Text(mention);
        }
    }
}

/// `data-mention` has the mention, `data-name` the entity's name, `data-config` options; another text than the name is
/// a label. On rendered pages a link of the class `entity-mention` has only the id.
fn anchor_mention(element: &HtmlElement, text: &str) -> Option<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(source) = element.attribute("data-mention") else {
        let classes = element.attribute("class")?;
        classes.split_ascii_whitespace().any(|class| class == "entity-mention").then_some(())?;
        let id: u64 = element.attribute("data-id")?.parse().ok()?;
        let label = mention_label(&text);
        return Some(if label.is_empty() { format!("[entity:{id}]") } else { format!("[entity:{id}|{label}]") });
    };
    let source = source.trim();
    let mut mention = scan_mentions(source).into_iter().next().filter(|found| found.range == (0..source.len()))?;
    if !text.is_empty() && element.attribute("data-name") != Some(text.as_str()) && text != source {
        mention.label = Some(text);
    }
    let config = element.attribute("data-config").unwrap_or_default();
    for option in config.split('|').filter_map(option_of) {
        if !mention.options.contains(&option) {
            mention.options.push(option);
        }
    }
    Some(mention.to_markdown())
}
