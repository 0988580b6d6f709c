//! Writes HTML as Markdown. Every top-level block is rendered again and compared with what it came from; what Markdown
//! cannot say stays raw HTML, so that nothing is lost.

use crate::canonical_html::{canonical_children, canonical_node, canonical_rendered};
use crate::escape_markdown::TextPlace;
use crate::html_tree::{HtmlTree, NodeContent, NodeId, escape_blank_lines, is_html_space};
use crate::inline_markdown::{inline_markdown, longest_run};
use crate::markdown_table::table_markdown;
use crate::mention_anchor::collapse_mention_anchors;
use crate::render_markdown::markdown_to_html;
use crate::simplify_html::{checkbox_state, is_block, simplify, wrap_inline_runs};

/// Lists and quotes nested deeper than this stay HTML.
const BLOCK_DEPTH_MAX: usize = 24;

/// Writes HTML as Markdown. What Markdown cannot say stays HTML in it; rendered mentions become mentions again.
pub fn html_to_markdown(html: &str) -> String {
    let Ok(mut original) = HtmlTree::parse(html) else { return unparsed_block(html) };
    collapse_mention_anchors(&mut original);
    let mut tree = original.clone();
    simplify(&mut tree);
    let root = tree.root;
    wrap_inline_runs(&mut tree, root);
    let writer = BlockWriter { tree: &tree, original: &original, only_tags: false };
    let tag_writer = BlockWriter { only_tags: true, ..writer };
    let mut blocks: Vec<WrittenBlock> = Vec::new();
    for id in tree.children(root).iter().copied() {
        let wanted = canonical_node(&tree, id);
        let is_right = |block: &WrittenBlock| canonical_rendered(&markdown_to_html(&block.markdown)) == wanted;
        let written = writer.block(id, 0).filter(is_right).or_else(|| tag_writer.block(id, 0).filter(is_right));
        blocks.push(written.unwrap_or_else(|| writer.raw_block(id)));
    }
    let markdown = join_blocks(&blocks, "\n\n");
    if canonical_rendered(&markdown_to_html(&markdown)) == canonical_children(&tree, root) {
        return markdown;
    }
    // Blocks that are right each for itself are not so together: keep the HTML of all.
    let raw: Vec<_> = tree.children(root).iter().map(|id| writer.raw_block(*id)).collect();
    join_blocks(&raw, "\n\n")
}

/// HTML that is too complex to look into, as one block of raw HTML.
fn unparsed_block(html: &str) -> String {
    let lines: Vec<&str> = html.lines().filter(|line| !line.trim().is_empty()).collect();
    format!("<div>\n{}\n</div>", lines.join("\n"))
}

struct WrittenBlock {
    markdown: String,
    /// The kind of a list in Markdown: two of them side by side would become one.
    list: Option<&'static str>,
}

fn join_blocks(blocks: &[WrittenBlock], gap: &str) -> String {
    let mut markdown = String::new();
    let mut previous_list = None;
    for (index, block) in blocks.iter().enumerate() {
        if index > 0 {
            markdown.push_str(gap);
        }
        if block.list.is_some() && block.list == previous_list {
            markdown.push_str("<!-- -->\n\n");
        }
        markdown.push_str(&block.markdown);
        previous_list = block.list;
    }
    markdown
}

#[derive(Clone, Copy)]
struct BlockWriter<'a> {
    tree: &'a HtmlTree,
    /// Before it was simplified; nodes have the same ids. Raw HTML is written from it.
    original: &'a HtmlTree,
    only_tags: bool,
}

impl BlockWriter<'_> {
    /// A block as Markdown; None if Markdown cannot say it.
    fn block(&self, id: NodeId, depth: usize) -> Option<WrittenBlock> {
        let tree = self.tree;
        if let NodeContent::Comment(text) = &tree.node(id).content {
            return Some(WrittenBlock { markdown: format!("<!--{text}-->"), list: None });
        }
        let name = tree.name(id)?;
        if depth > BLOCK_DEPTH_MAX {
            return None;
        }
        let markdown = match name {
            // A paragraph of nothing but a fixed space would be an empty line to whoever edits it.
            "p" => {
                Some(self.inline(tree.children(id), TextPlace::Paragraph)?).filter(|text| !text.trim().is_empty())?
            }
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = usize::from(name.as_bytes()[1] - b'0');
                let text = self.inline(tree.children(id), TextPlace::Heading)?;
                format!("{} {text}", "#".repeat(level)).trim_end().to_owned()
            }
            "hr" => "***".to_owned(),
            "pre" => return self.code_block(id),
            "blockquote" => self.quote(id, depth)?,
            "ul" | "ol" => return self.list(id, depth),
            "table" => return Some(WrittenBlock { markdown: table_markdown(tree, id, self.only_tags)?, list: None }),
            _ => return None,
        };
        tree.is_bare(id, name).then_some(WrittenBlock { markdown, list: None })
    }

    fn block_or_raw(&self, id: NodeId, depth: usize) -> WrittenBlock {
        self.block(id, depth).unwrap_or_else(|| self.raw_block(id))
    }

    fn raw_block(&self, id: NodeId) -> WrittenBlock {
        let html = if id >= self.original.len() {
            // A paragraph that was put around text without one.
            let parts: String = self.tree.children(id).iter().map(|child| self.raw_html(*child)).collect();
            format!("<p>{parts}</p>")
        } else if is_block(self.tree, id) || self.tree.name(id).is_none() {
            self.original.to_html(id)
        } else {
            // An inline element around blocks begins raw HTML only if its start tag is alone in its line.
            let start = self.original.start_tag(id);
            let html = self.original.to_html(id);
            format!("{start}\n{}", html.strip_prefix(&start).unwrap_or(&html).trim_start_matches(is_html_space))
        };
        let has_inner_end = self.tree.name(id) == Some("pre") && html.matches("</pre>").count() > 1;
        let markdown = if has_inner_end {
            // A comment with `</pre>` would end the block in its line: drop comments, and put everything into one line.
            self.original.to_html_without_comments(id).replace('\n', "&#10;")
        } else {
            escape_blank_lines(html.trim())
        };
        WrittenBlock { markdown, list: None }
    }

    fn raw_html(&self, id: NodeId) -> String {
        if id < self.original.len() { self.original.to_html(id) } else { self.tree.to_html(id) }
    }

    fn inline(&self, nodes: &[NodeId], place: TextPlace) -> Option<String> {
        inline_markdown(self.tree, nodes, place, self.only_tags)
    }

    fn code_block(&self, id: NodeId) -> Option<WrittenBlock> {
        let [code] = self.tree.children(id)[..] else { return None };
        let element = self.tree.element(code).filter(|element| &*element.name == "code")?;
        let language = match &element.attributes[..] {
            [] => "",
            [(name, value)] if name == "class" => value.strip_prefix("language-")?,
            _ => return None,
        };
        let is_plain = |letter: char| !letter.is_whitespace() && !matches!(letter, '`' | '\\' | '&' | '~');
        let is_text = |id: &NodeId| matches!(self.tree.node(*id).content, NodeContent::Text(_));
        let is_written = self.tree.is_bare(id, "pre")
            && language.chars().all(is_plain)
            && self.tree.children(code).iter().all(is_text);
        is_written.then_some(())?;
        let text = self.tree.text_content(code);
        let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
        let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        Some(WrittenBlock { markdown: format!("{fence}{language}\n{text}{line_end}{fence}"), list: None })
    }

    fn quote(&self, id: NodeId, depth: usize) -> Option<String> {
        let children = self.tree.children(id).iter();
        let blocks: Vec<_> = children.map(|child| self.block_or_raw(*child, depth + 1)).collect();
        self.tree.is_bare(id, "blockquote").then(|| with_prefix(&join_blocks(&blocks, "\n\n"), "> ", "> "))
    }

    fn list(&self, id: NodeId, depth: usize) -> Option<WrittenBlock> {
        let element = self.tree.element(id)?;
        let is_ordered = &*element.name == "ol";
        let start: u32 = match &element.attributes[..] {
            [] => 1,
            [(name, value)] if is_ordered && name == "start" => value.parse().ok()?,
            _ => return None,
        };
        let items = self.tree.filled_children(id);
        let is_item = |item: &NodeId| self.tree.is_bare(*item, "li");
        (!items.is_empty() && items.iter().all(is_item)).then_some(())?;
        let has_paragraph =
            |item: &NodeId| self.tree.children(*item).iter().any(|child| self.tree.is_bare(*child, "p"));
        let is_loose = items.iter().any(has_paragraph);
        let gap = if is_loose { "\n\n" } else { "\n" };
        let mut markdown = String::new();
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                markdown.push_str(gap);
            }
            let number = u64::from(start) + u64::try_from(index).ok()?;
            (number <= 999_999_999).then_some(())?;
            let marker = if is_ordered { format!("{number}. ") } else { "- ".to_owned() };
            let content = self.item(*item, is_loose, depth)?;
            markdown.push_str(with_prefix(&content, &marker, &" ".repeat(marker.len())).trim_end());
        }
        Some(WrittenBlock { markdown, list: Some(if is_ordered { "ol" } else { "ul" }) })
    }

    fn item(&self, item: NodeId, is_loose: bool, depth: usize) -> Option<String> {
        let children = self.tree.filled_children(item);
        let line_end = children.iter().position(|child| is_block(self.tree, *child)).unwrap_or(children.len());
        // Blank texts between words count, so the line is taken from all children.
        let all = self.tree.children(item);
        let first_block = all.iter().position(|child| is_block(self.tree, *child)).unwrap_or(all.len());
        let blocks = &children[line_end..];
        (!(is_loose && line_end > 0) && blocks.iter().all(|child| is_block(self.tree, *child))).then_some(())?;
        let mut written = Vec::new();
        if line_end > 0 {
            written.push(WrittenBlock { markdown: self.task_line(&all[..first_block])?, list: None });
        }
        for (index, child) in blocks.iter().enumerate() {
            if index == 0 && line_end == 0 && self.tree.is_bare(*child, "p") {
                written.push(WrittenBlock { markdown: self.task_line(self.tree.children(*child))?, list: None });
            } else {
                written.push(self.block_or_raw(*child, depth + 1));
            }
        }
        Some(join_blocks(&written, if is_loose { "\n\n" } else { "\n" }))
    }

    /// The first line of an item, which may begin with a checkbox.
    fn task_line(&self, nodes: &[NodeId]) -> Option<String> {
        let first = nodes.iter().position(|node| !self.tree.is_blank_text(*node));
        match first.and_then(|first| Some((first, checkbox_state(self.tree, nodes[first])?))) {
            Some((first, is_checked)) => {
                let text = self.inline(&nodes[first + 1..], TextPlace::Paragraph)?;
                Some(format!("[{}] {text}", if is_checked { 'x' } else { ' ' }))
            }
            None => self.inline(nodes, TextPlace::Paragraph),
        }
    }
}

/// Puts a prefix before each line; blank lines get it without spaces at the end.
fn with_prefix(text: &str, first: &str, others: &str) -> String {
    let mut prefixed = String::with_capacity(text.len() + first.len());
    for (index, line) in text.split('\n').enumerate() {
        let prefix = if index == 0 { first } else { others };
        if index > 0 {
            prefixed.push('\n');
        }
        prefixed.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        prefixed.push_str(line);
    }
    prefixed
}
