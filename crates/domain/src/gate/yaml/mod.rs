//! YAML parser: a tree in which every node has its line and column in the file.
//!
//! `saphyr-parser` reads the syntax; the tree is ours, since a reader over serde stops at the first error, and we want
//! to report all of them. Bytes, nodes and depth are limited before the tree is built, with aliases counted as what
//! they stand for, so that a few lines of anchors cannot become a billion nodes.

mod build;
mod scalar;
#[cfg(test)]
mod tests;

pub(super) use build::read;

use serde_json::{Map, Number, Value};

use super::finding::SourcePosition;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    pub(super) place: SourcePosition,
    pub(super) content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file, without duplicate keys.
    Map(Vec<(YamlKey, Node)>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct YamlKey {
    pub(super) place: SourcePosition,
    pub(super) text: String,
}

impl Node {
    /// The type of the node, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.content {
            Content::Null => "nothing",
            Content::Bool(_) => "a boolean",
            Content::Number(_) => "a number",
            Content::Text(_) => "a text",
            Content::List(_) => "a list",
            Content::Map(_) => "a mapping",
        }
    }

    /// The node as JSON, without places.
    pub(super) fn json(&self) -> Value {
        match &self.content {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(number) => Value::Number(number.clone()),
            Content::Text(text) => Value::String(text.clone()),
            Content::List(items) => items.iter().map(Node::json).collect(),
            Content::Map(entries) => {
                Value::Object(entries.iter().map(|(key, node)| (key.text.clone(), node.json())).collect::<Map<_, _>>())
            }
        }
    }

    /// The place of the node at a JSON pointer, or of its nearest ancestor that exists.
    pub(super) fn place_of(&self, pointer: &str) -> SourcePosition {
        let mut node = self;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            let next = match &node.content {
                Content::List(items) => step.parse().ok().and_then(|index: usize| items.get(index)),
                Content::Map(entries) => entries.iter().find(|(key, _)| key.text == step).map(|(_, node)| node),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node.place
    }
}
