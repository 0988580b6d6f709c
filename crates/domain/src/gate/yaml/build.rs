//! Builds the YAML tree from the parser's events, within limits of nodes and depth.

use std::collections::{BTreeMap, BTreeSet};

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::scalar::parse_plain_scalar;
use super::{Content, Node, YamlKey};
use crate::gate::finding::{Finding, Rule, SourcePosition, shorten};
use crate::limits;

/// Parses the only document of a file.
pub(in crate::gate) fn read(source: &str) -> Result<Node, Finding> {
    if source.len() > limits::PROCESS_BYTES_MAX {
        let message =
            format!("a process file has at most {} bytes, this one has {}", limits::PROCESS_BYTES_MAX, source.len());
        return Err(Finding::new(
            Rule::TooLarge,
            "",
            SourcePosition::START,
            message,
            "shorten its prompts, or split the process",
        ));
    }
    Builder { nodes: 0, open: Vec::new(), anchors: BTreeMap::new(), root: None }.build(source)
}

/// A list or a mapping that has not ended yet.
struct OpenCollection {
    place: SourcePosition,
    anchor: usize,
    inside: OpenContent,
    /// Nesting depth of its content.
    height: usize,
    /// How many nodes there were before it.
    nodes_before: usize,
}

enum OpenContent {
    List(Vec<Node>),
    Map { entries: Vec<(YamlKey, Node)>, keys: BTreeSet<String>, key: Option<YamlKey> },
}

/// A node with an anchor. Each alias adds its count of nodes and its depth again.
#[derive(Clone)]
struct AnchoredNode {
    node: Node,
    nodes: usize,
    height: usize,
}

struct Builder {
    nodes: usize,
    open: Vec<OpenCollection>,
    anchors: BTreeMap<usize, AnchoredNode>,
    root: Option<Node>,
}

impl Builder {
    fn build(mut self, source: &str) -> Result<Node, Finding> {
        let mut documents = 0;
        for event in Parser::new_from_str(source) {
            let (event, span) = event.map_err(|error| syntax_error(&error))?;
            let place = span_start(&span);
            match event {
                Event::DocumentStart(_) => {
                    documents += 1;
                    if documents > 1 {
                        return Err(invalid_yaml(
                            place,
                            "a file holds one document, this is another",
                            "use one file for each",
                        ));
                    }
                }
                Event::Alias(id) => self.add_alias(id, place)?,
                Event::Scalar(text, style, anchor, tag) => {
                    let content = parse_scalar(&text, style, tag.as_deref(), place)?;
                    self.add_scalar(Node { place, content }, anchor, &text)?;
                }
                Event::SequenceStart(anchor, tag) => {
                    check_tag(tag.as_deref(), "seq", place)?;
                    self.begin_collection(place, anchor, OpenContent::List(Vec::new()))?;
                }
                Event::MappingStart(anchor, tag) => {
                    check_tag(tag.as_deref(), "map", place)?;
                    let inside = OpenContent::Map { entries: Vec::new(), keys: BTreeSet::new(), key: None };
                    self.begin_collection(place, anchor, inside)?;
                }
                Event::SequenceEnd | Event::MappingEnd => self.end_collection(),
                Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
            }
        }
        self.root.ok_or_else(|| {
            invalid_yaml(SourcePosition::START, "the file is empty", "write a process: process, states, events, …")
        })
    }

    fn count_nodes(&mut self, nodes: usize, place: SourcePosition) -> Result<(), Finding> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes <= limits::PROCESS_NODES_MAX {
            return Ok(());
        }
        let message = format!(
            "a process file has at most {} values, aliases counted as what they stand for",
            limits::PROCESS_NODES_MAX
        );
        Err(Finding::new(Rule::TooLarge, "", place, message, "split the process, or use fewer aliases"))
    }

    fn check_depth(&self, height: usize, place: SourcePosition) -> Result<(), Finding> {
        if self.open.len() + height <= limits::PROCESS_DEPTH_MAX {
            return Ok(());
        }
        let message = format!("lists and mappings are nested at most {} deep", limits::PROCESS_DEPTH_MAX);
        Err(Finding::new(Rule::TooDeep, "", place, message, "write it flatter"))
    }

    fn begin_collection(&mut self, place: SourcePosition, anchor: usize, inside: OpenContent) -> Result<(), Finding> {
        if let Some(OpenCollection { inside: OpenContent::Map { key: None, .. }, .. }) = self.open.last() {
            return Err(invalid_yaml(
                place,
                "a key is a text, this is a list or a mapping",
                "write a name before the colon",
            ));
        }
        let nodes_before = self.nodes;
        self.count_nodes(1, place)?;
        self.check_depth(1, place)?;
        self.open.push(OpenCollection { place, anchor, inside, height: 0, nodes_before });
        Ok(())
    }

    fn end_collection(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let (place, height) = (open.place, open.height + 1);
        let content = match open.inside {
            OpenContent::List(items) => Content::List(items),
            OpenContent::Map { entries, .. } => Content::Map(entries),
        };
        let node = Node { place, content };
        if open.anchor > 0 {
            let nodes = self.nodes - open.nodes_before;
            self.anchors.insert(open.anchor, AnchoredNode { node: node.clone(), nodes, height });
        }
        self.add_node(node, height);
    }

    fn add_alias(&mut self, id: usize, place: SourcePosition) -> Result<(), Finding> {
        let Some(AnchoredNode { node, nodes, height }) = self.anchors.get(&id).cloned() else {
            return Err(invalid_yaml(place, "an alias stands inside what it names", "write out what is meant"));
        };
        self.count_nodes(nodes, place)?;
        self.check_depth(height, place)?;
        if let Some(OpenContent::Map { key: key @ None, keys, .. }) = self.open.last_mut().map(|open| &mut open.inside)
        {
            let Content::Text(text) = node.content else {
                return Err(invalid_yaml(place, "a key is a text", "write a name before the colon"));
            };
            *key = Some(new_key(keys, text, place)?);
            return Ok(());
        }
        self.add_node(node, height);
        Ok(())
    }

    fn add_scalar(&mut self, node: Node, anchor: usize, text: &str) -> Result<(), Finding> {
        self.count_nodes(1, node.place)?;
        if anchor > 0 {
            self.anchors.insert(anchor, AnchoredNode { node: node.clone(), nodes: 1, height: 0 });
        }
        if let Some(OpenContent::Map { key: key @ None, keys, .. }) = self.open.last_mut().map(|open| &mut open.inside)
        {
            *key = Some(new_key(keys, text.to_owned(), node.place)?);
            return Ok(());
        }
        self.add_node(node, 0);
        Ok(())
    }

    /// Adds a node to the innermost open list or mapping, or makes it the root.
    fn add_node(&mut self, node: Node, height: usize) {
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node);
            return;
        };
        open.height = open.height.max(height);
        match &mut open.inside {
            OpenContent::List(items) => items.push(node),
            OpenContent::Map { entries, key, .. } => entries.extend(key.take().map(|key| (key, node))),
        }
    }
}

fn new_key(keys: &mut BTreeSet<String>, text: String, place: SourcePosition) -> Result<YamlKey, Finding> {
    // `<<` is the merge key of YAML 1.1. YAML 1.2 does not have it, and as a plain key it would not do what the author
    // means.
    if text == "<<" {
        return Err(invalid_yaml(place, "mappings are not merged here", "write out the entries that are meant"));
    }
    if keys.insert(text.clone()) {
        return Ok(YamlKey { place, text });
    }
    let message = format!("{:?} is there already", shorten(&text));
    Err(Finding::new(Rule::DuplicateKey, "", place, message, "keep one of the two"))
}

fn parse_scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, place: SourcePosition) -> Result<Content, Finding> {
    let is_text = match tag {
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => true,
        Some(tag) => return Err(foreign_tag(tag, place)),
        None => style != ScalarStyle::Plain,
    };
    if is_text {
        return Ok(Content::Text(text.to_owned()));
    }
    parse_plain_scalar(text).ok_or_else(|| {
        invalid_yaml(
            place,
            format!("{} is no number that can be kept", shorten(text)),
            "use a finite number, or quote it",
        )
    })
}

fn check_tag(tag: Option<&Tag>, own: &str, place: SourcePosition) -> Result<(), Finding> {
    match tag {
        Some(tag) if !(tag.is_yaml_core_schema() && tag.suffix == own) => Err(foreign_tag(tag, place)),
        _ => Ok(()),
    }
}

fn foreign_tag(tag: &Tag, place: SourcePosition) -> Finding {
    let message = format!("the tag {} means nothing here", shorten(&format!("{}{}", tag.handle, tag.suffix)));
    invalid_yaml(place, message, "leave it out; !!str makes a text of a scalar, as quotes do")
}

fn syntax_error(error: &ScanError) -> Finding {
    let place = SourcePosition { line: error.marker().line(), column: error.marker().col() + 1 };
    invalid_yaml(place, shorten(error.info()), "check the indentation, colons and quotes around this place")
}

fn invalid_yaml(place: SourcePosition, message: impl Into<String>, hint: &str) -> Finding {
    Finding::new(Rule::InvalidYaml, "", place, message, hint)
}

fn span_start(span: &Span) -> SourcePosition {
    SourcePosition { line: span.start.line(), column: span.start.col() + 1 }
}
