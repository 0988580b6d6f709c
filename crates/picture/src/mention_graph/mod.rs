//! Graph of the entities of a campaign that mention each other or have relationships: circles, with an arrow for each
//! mention and a bold one for each relationship.
//!
//! What is drawn is chosen first (`drawn_graph.rs`). Then forces move the circles (`force_layout.rs`), which are fitted
//! to the card (`node_placement.rs`) and joined by lines (`curved_lines.rs`); names are placed last (`name_labels.rs`).
//! Nothing depends on chance, on the order of the input or on a machine's trigonometry, so the same graph is the same
//! text everywhere. The work and the size are bounded.

mod curved_lines;
mod description;
mod draw;
mod drawn_graph;
mod entity_groups;
mod force_layout;
mod name_labels;
mod node_placement;
#[cfg(test)]
mod tests;

use super::Theme;

#[derive(Debug, Clone)]
pub struct MentionGraph {
    pub nodes: Vec<MentionGraphNode>,
    pub edges: Vec<MentionGraphEdge>,
    pub relationships: Vec<GraphRelationship>,
    /// How many entities are not among the nodes.
    pub left_out: usize,
    pub theme: Theme,
}

/// An entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MentionGraphNode {
    pub id: u64,
    pub name: String,
    /// The entity's type, such as `character`. An unknown type is drawn as `other`.
    pub group: &'static str,
    /// How many mentions and relationships lead to the entity or away from it. The size of its circle.
    pub degree: usize,
}

/// A mention of one entity in the entry of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MentionGraphEdge {
    pub from: u64,
    pub to: u64,
}

/// A relationship of one entity to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphRelationship {
    pub from: u64,
    pub to: u64,
    /// Such as `parent_of`.
    pub word: String,
    /// Whether the relationship reads the same in both directions.
    pub is_symmetric: bool,
}

impl MentionGraph {
    /// The picture as SVG. Edges from or to an unknown node are left out, and so are mentions of an entity by itself.
    pub fn svg(&self) -> String {
        let graph = drawn_graph::DrawnGraph::new(self);
        let placement = node_placement::NodePlacement::new(&graph);
        draw::draw(&graph, &placement, self.theme)
    }
}
