//! A tree of HTML in one vector, parsed by html5ever, and written back as HTML.
//! What would make the tree builder slow or the tree deep is refused: the caller then keeps the source as it is.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::{Attribute, ExpandedName, LocalName, ParseOpts, QualName, local_name, ns, parse_fragment};

use crate::html_tags::{HtmlTags, is_raw_text_name, is_void_name};

/// How deep elements may be nested. The tree builder walks over the open elements at every tag.
const DEPTH_MAX: usize = 512;
const ATTRIBUTES_PER_TAG_MAX: usize = 256;
/// After so many bytes the parser is asked how deep and how large the tree is.
const CHUNK_BYTES: usize = 2048;

pub(crate) type NodeId = usize;

#[derive(Clone, Debug)]
pub(crate) struct HtmlElement {
    pub(crate) name: LocalName,
    /// Of SVG or `MathML`.
    pub(crate) is_foreign: bool,
    pub(crate) attributes: Vec<(String, String)>,
    template: Option<NodeId>,
}

impl HtmlElement {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: LocalName::from(name), is_foreign: false, attributes: Vec::new(), template: None }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn remove_attribute(&mut self, name: &str) {
        self.attributes.retain(|(key, _)| key != name);
    }

    /// Whether it is this HTML element without any attribute.
    pub(crate) fn is_bare(&self, name: &str) -> bool {
        !self.is_foreign && &*self.name == name && self.attributes.is_empty()
    }
}

#[derive(Clone, Debug)]
pub(crate) enum NodeContent {
    Fragment,
    Element(HtmlElement),
    Text(String),
    Comment(String),
}

#[derive(Clone, Debug)]
pub(crate) struct HtmlNode {
    parent: Option<NodeId>,
    pub(crate) children: Vec<NodeId>,
    pub(crate) content: NodeContent,
}

/// The HTML is nested too deeply, or the tree would be much larger than its source.
#[derive(Debug)]
pub(crate) struct TooComplexHtml;

#[derive(Clone, Debug)]
pub(crate) struct HtmlTree {
    nodes: Vec<HtmlNode>,
    pub(crate) root: NodeId,
}

impl HtmlTree {
    pub(crate) fn parse(html: &str) -> Result<Self, TooComplexHtml> {
        if HtmlTags::new(html).any(|tag| tag.attribute_count > ATTRIBUTES_PER_TAG_MAX) {
            return Err(TooComplexHtml);
        }
        let context = QualName::new(None, ns!(html), local_name!("div"));
        let mut parser = parse_fragment(TreeBuilderSink::new(), ParseOpts::default(), context, Vec::new(), false);
        let mut at = 0;
        while at < html.len() {
            let end = html.floor_char_boundary(at + CHUNK_BYTES).min(html.len());
            parser.process(StrTendril::from(&html[at..end]));
            at = end;
            let sink = &parser.tokenizer.sink.sink;
            if sink.depth.get() > DEPTH_MAX || sink.nodes.borrow().len() > 1000 + at {
                return Err(TooComplexHtml);
            }
        }
        let mut tree = parser.finish();
        tree.root = tree.nodes[tree.root].children.first().copied().unwrap_or(tree.root);
        if tree.depth() > DEPTH_MAX { Err(TooComplexHtml) } else { Ok(tree) }
    }

    pub(crate) fn node(&self, id: NodeId) -> &HtmlNode {
        &self.nodes[id]
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut HtmlNode {
        &mut self.nodes[id]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn children(&self, id: NodeId) -> &[NodeId] {
        &self.nodes[id].children
    }

    pub(crate) fn element(&self, id: NodeId) -> Option<&HtmlElement> {
        match &self.nodes[id].content {
            NodeContent::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(crate) fn element_mut(&mut self, id: NodeId) -> Option<&mut HtmlElement> {
        match &mut self.nodes[id].content {
            NodeContent::Element(element) => Some(element),
            _ => None,
        }
    }

    /// The name of an HTML element.
    pub(crate) fn name(&self, id: NodeId) -> Option<&str> {
        self.element(id).filter(|element| !element.is_foreign).map(|element| &*element.name)
    }

    pub(crate) fn is_bare(&self, id: NodeId, name: &str) -> bool {
        self.element(id).is_some_and(|element| element.is_bare(name))
    }

    pub(crate) fn is_blank_text(&self, id: NodeId) -> bool {
        matches!(&self.nodes[id].content, NodeContent::Text(text) if is_blank(text))
    }

    /// The children without texts that are only white space.
    pub(crate) fn filled_children(&self, id: NodeId) -> Vec<NodeId> {
        self.children(id).iter().copied().filter(|child| !self.is_blank_text(*child)).collect()
    }

    pub(crate) fn add(&mut self, content: NodeContent, children: Vec<NodeId>) -> NodeId {
        self.nodes.push(HtmlNode { parent: None, children, content });
        self.nodes.len() - 1
    }

    /// All nodes below a node, parents before their children.
    pub(crate) fn descendants(&self, id: NodeId) -> Vec<NodeId> {
        let mut found = Vec::new();
        let mut waiting: Vec<NodeId> = self.children(id).iter().rev().copied().collect();
        while let Some(next) = waiting.pop() {
            found.push(next);
            waiting.extend(self.children(next).iter().rev());
        }
        found
    }

    pub(crate) fn text_content(&self, id: NodeId) -> String {
        let mut text = String::new();
        for node in self.descendants(id) {
            if let NodeContent::Text(part) = &self.nodes[node].content {
                text.push_str(part);
            }
        }
        text
    }

    fn depth(&self) -> usize {
        let mut deepest = 0;
        let mut waiting = vec![(self.root, 0)];
        while let Some((id, depth)) = waiting.pop() {
            deepest = deepest.max(depth);
            waiting.extend(self.children(id).iter().map(|child| (*child, depth + 1)));
            let template = self.element(id).and_then(|element| element.template);
            waiting.extend(template.map(|contents| (contents, depth + 1)));
        }
        deepest
    }

    pub(crate) fn to_html(&self, id: NodeId) -> String {
        let mut html = String::new();
        self.write_html(id, true, &mut html);
        html
    }

    pub(crate) fn to_html_without_comments(&self, id: NodeId) -> String {
        let mut html = String::new();
        self.write_html(id, false, &mut html);
        html
    }

    /// The HTML of all children of a node.
    pub(crate) fn children_to_html(&self, id: NodeId) -> String {
        let mut html = String::new();
        for child in self.children(id) {
            self.write_html(*child, true, &mut html);
        }
        html
    }

    fn write_html(&self, id: NodeId, has_comments: bool, html: &mut String) {
        enum UnwrittenPart {
            Node(NodeId, bool),
            EndTag(NodeId),
        }
        let mut waiting = vec![UnwrittenPart::Node(id, false)];
        while let Some(part) = waiting.pop() {
            match part {
                UnwrittenPart::EndTag(id) => html.push_str(&self.end_tag(id)),
                UnwrittenPart::Node(id, is_raw_text) => match &self.nodes[id].content {
                    NodeContent::Fragment => {
                        waiting.extend(self.children(id).iter().rev().map(|child| UnwrittenPart::Node(*child, false)));
                    }
                    NodeContent::Comment(_) if !has_comments => {}
                    NodeContent::Comment(text) => {
                        html.push_str("<!--");
                        html.push_str(&without_blank_lines(text));
                        html.push_str("-->");
                    }
                    // In a script `<!--` may hide its end tag.
                    NodeContent::Text(text) if is_raw_text && text.contains("<!--") => {}
                    NodeContent::Text(text) if is_raw_text => html.push_str(&without_blank_lines(text)),
                    NodeContent::Text(text) => push_escaped_text(html, text),
                    NodeContent::Element(element) => {
                        html.push_str(&self.start_tag(id));
                        if !element.is_foreign && is_void_name(&element.name) {
                            continue;
                        }
                        waiting.push(UnwrittenPart::EndTag(id));
                        let is_raw_text =
                            !element.is_foreign && is_raw_text_name(&element.name) && &*element.name != "textarea";
                        if self.drops_first_newline(id) {
                            html.push('\n');
                        }
                        waiting.extend(element.template.map(|contents| UnwrittenPart::Node(contents, false)));
                        waiting.extend(
                            self.children(id).iter().rev().map(|child| UnwrittenPart::Node(*child, is_raw_text)),
                        );
                    }
                },
            }
        }
    }

    /// A parser drops a line break right after `<pre>`, so one that is content has to be written twice.
    fn drops_first_newline(&self, id: NodeId) -> bool {
        let first = self.children(id).first();
        matches!(self.name(id), Some("pre" | "textarea" | "listing"))
            && first
                .is_some_and(|id| matches!(&self.nodes[*id].content, NodeContent::Text(text) if text.starts_with('\n')))
    }

    pub(crate) fn start_tag(&self, id: NodeId) -> String {
        let Some(element) = self.element(id) else { return String::new() };
        let mut tag = format!("<{}", element.name);
        for (name, value) in &element.attributes {
            tag.push(' ');
            tag.push_str(name);
            tag.push_str("=\"");
            push_escaped(&mut tag, value, true);
            tag.push('"');
        }
        tag.push('>');
        tag
    }

    pub(crate) fn end_tag(&self, id: NodeId) -> String {
        self.element(id).map_or_else(String::new, |element| format!("</{}>", element.name))
    }
}

pub(crate) fn is_html_space(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\x0c')
}

pub(crate) fn is_blank(text: &str) -> bool {
    text.chars().all(is_html_space)
}

pub(crate) fn push_escaped_text(html: &mut String, text: &str) {
    push_escaped(html, text, false);
}

fn push_escaped(html: &mut String, text: &str, is_attribute: bool) {
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '\u{a0}' => html.push_str("&nbsp;"),
            '"' if is_attribute => html.push_str("&quot;"),
            '\n' if is_attribute => html.push_str("&#10;"),
            '\r' => html.push_str("&#13;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            _ => html.push(letter),
        }
    }
}

/// A blank line would end a block of raw HTML in Markdown.
pub(crate) fn escape_blank_lines(html: &str) -> String {
    let mut escaped = String::with_capacity(html.len());
    let mut is_line_blank = false;
    for letter in html.chars() {
        if letter == '\n' && is_line_blank {
            escaped.push_str("&#10;");
            continue;
        }
        is_line_blank = letter == '\n' || (is_line_blank && is_html_space(letter));
        escaped.push(letter);
    }
    escaped
}

fn without_blank_lines(text: &str) -> String {
    if !text.contains('\n') {
        return text.to_owned();
    }
    let mut lines = text.split('\n').enumerate();
    let last = text.split('\n').count() - 1;
    let mut kept = String::with_capacity(text.len());
    for (index, line) in &mut lines {
        if index > 0 && index < last && is_blank(line) {
            continue;
        }
        if index > 0 {
            kept.push('\n');
        }
        kept.push_str(line);
    }
    kept
}

#[derive(Clone)]
struct SinkHandle {
    id: NodeId,
    name: Option<Rc<QualName>>,
}

/// Takes the nodes from the tree builder.
struct TreeBuilderSink {
    nodes: RefCell<Vec<HtmlNode>>,
    /// Depth of each node when it was added, and of the deepest; exact enough to stop in time.
    depths: RefCell<Vec<usize>>,
    depth: Cell<usize>,
}

impl TreeBuilderSink {
    fn new() -> Self {
        let document = HtmlNode { parent: None, children: Vec::new(), content: NodeContent::Fragment };
        Self { nodes: RefCell::new(vec![document]), depths: RefCell::new(vec![0]), depth: Cell::new(0) }
    }

    fn add(&self, content: NodeContent) -> NodeId {
        let mut nodes = self.nodes.borrow_mut();
        nodes.push(HtmlNode { parent: None, children: Vec::new(), content });
        self.depths.borrow_mut().push(0);
        nodes.len() - 1
    }

    fn attach(&self, parent: NodeId, index: Option<usize>, child: NodeOrText<SinkHandle>) {
        let id = match child {
            NodeOrText::AppendNode(handle) => {
                self.detach(handle.id);
                handle.id
            }
            NodeOrText::AppendText(text) => {
                let mut nodes = self.nodes.borrow_mut();
                let count = nodes[parent].children.len();
                let previous = index.unwrap_or(count).checked_sub(1).map(|before| nodes[parent].children[before]);
                if let Some(previous) = previous
                    && let NodeContent::Text(existing) = &mut nodes[previous].content
                {
                    existing.push_str(&text);
                    return;
                }
                drop(nodes);
                self.add(NodeContent::Text(text.to_string()))
            }
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes[id].parent = Some(parent);
        let siblings = &mut nodes[parent].children;
        siblings.insert(index.unwrap_or(siblings.len()).min(siblings.len()), id);
        let mut depths = self.depths.borrow_mut();
        depths[id] = depths[parent] + 1;
        self.depth.set(self.depth.get().max(depths[id]));
    }

    fn detach(&self, id: NodeId) {
        let mut nodes = self.nodes.borrow_mut();
        if let Some(parent) = nodes[id].parent.take()
            && let Some(index) = nodes[parent].children.iter().rposition(|child| *child == id)
        {
            nodes[parent].children.remove(index);
        }
    }
}

fn attribute_pair(attribute: &Attribute) -> (String, String) {
    let name = match &attribute.name.prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", attribute.name.local),
        _ => attribute.name.local.to_string(),
    };
    (name, attribute.value.to_string())
}

/// Whether Markdown takes a tag with this attribute for a tag. Others come from broken tags, and are dropped; an
/// element whose name is broken becomes a `span`.
fn is_attribute_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-');
    name.bytes().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_' || first == ':')
}

impl TreeSink for TreeBuilderSink {
    type Handle = SinkHandle;
    type Output = HtmlTree;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> HtmlTree {
        HtmlTree { nodes: self.nodes.into_inner(), root: 0 }
    }

    fn parse_error(&self, _message: std::borrow::Cow<'static, str>) {}

    fn get_document(&self) -> SinkHandle {
        SinkHandle { id: 0, name: None }
    }

    fn elem_name<'a>(&'a self, target: &'a SinkHandle) -> ExpandedName<'a> {
        target.name.as_ref().expect("the tree builder asks only elements for their name").expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> SinkHandle {
        let template = flags.template.then(|| self.add(NodeContent::Fragment));
        let is_plain = name.local.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let element = HtmlElement {
            name: if is_plain { name.local.clone() } else { local_name!("span") },
            is_foreign: name.ns != ns!(html),
            attributes: attributes.iter().map(attribute_pair).filter(|(name, _)| is_attribute_name(name)).collect(),
            template,
        };
        let id = self.add(NodeContent::Element(element));
        SinkHandle { id, name: Some(Rc::new(name)) }
    }

    fn create_comment(&self, text: StrTendril) -> SinkHandle {
        SinkHandle { id: self.add(NodeContent::Comment(text.to_string())), name: None }
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> SinkHandle {
        SinkHandle { id: self.add(NodeContent::Comment(format!("?{target} {data}"))), name: None }
    }

    fn append(&self, parent: &SinkHandle, child: NodeOrText<SinkHandle>) {
        self.attach(parent.id, None, child);
    }

    fn append_based_on_parent_node(
        &self,
        element: &SinkHandle,
        previous_element: &SinkHandle,
        child: NodeOrText<SinkHandle>,
    ) {
        let has_parent = self.nodes.borrow()[element.id].parent.is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous_element, child) }
    }

    fn append_doctype_to_document(&self, _name: StrTendril, _public_id: StrTendril, _system_id: StrTendril) {}

    fn get_template_contents(&self, target: &SinkHandle) -> SinkHandle {
        let template = match &self.nodes.borrow()[target.id].content {
            NodeContent::Element(element) => element.template,
            _ => None,
        };
        SinkHandle { id: template.unwrap_or(target.id), name: None }
    }

    fn same_node(&self, x: &SinkHandle, y: &SinkHandle) -> bool {
        x.id == y.id
    }

    fn set_quirks_mode(&self, _mode: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &SinkHandle, new_node: NodeOrText<SinkHandle>) {
        if let NodeOrText::AppendNode(node) = &new_node {
            self.detach(node.id);
        }
        let place = {
            let nodes = self.nodes.borrow();
            nodes[sibling.id]
                .parent
                .map(|parent| (parent, nodes[parent].children.iter().rposition(|child| *child == sibling.id)))
        };
        if let Some((parent, index)) = place {
            self.attach(parent, index, new_node);
        }
    }

    fn add_attrs_if_missing(&self, target: &SinkHandle, attributes: Vec<Attribute>) {
        if let NodeContent::Element(element) = &mut self.nodes.borrow_mut()[target.id].content {
            for (name, value) in attributes.iter().map(attribute_pair) {
                if element.attribute(&name).is_none() {
                    element.attributes.push((name, value));
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &SinkHandle) {
        self.detach(target.id);
    }

    fn reparent_children(&self, node: &SinkHandle, new_parent: &SinkHandle) {
        let mut nodes = self.nodes.borrow_mut();
        let children = std::mem::take(&mut nodes[node.id].children);
        for child in &children {
            nodes[*child].parent = Some(new_parent.id);
        }
        nodes[new_parent.id].children.extend(children);
    }
}
