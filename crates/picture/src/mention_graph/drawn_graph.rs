//! Chooses what the graph shows: known entities in a fixed order, and one line for each two that mention each other.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use skald_domain::deceptive_characters::clean_name;

use super::entity_groups::EntityGroup;
use super::{MentionGraph, MentionGraphNode};

/// Entities that are drawn; the least connected of more are counted as left out.
pub(super) const NODES_MAX: usize = 100;

pub(super) struct DrawnGraph {
    /// The most connected first.
    pub(super) entities: Vec<DrawnEntity>,
    pub(super) lines: Vec<MentionLine>,
    /// Pairs of which the first mentions the second.
    pub(super) mentions: BTreeSet<(usize, usize)>,
    /// Pairs and what the first is to the second.
    pub(super) relationships: Vec<(usize, usize, String)>,
    pub(super) left_out: usize,
}

pub(super) struct DrawnEntity {
    /// The whole name, without deceptive characters.
    pub(super) name: String,
    pub(super) group: EntityGroup,
    pub(super) degree: usize,
    /// How many of the drawn entities mention this one.
    pub(super) mentioned_by: usize,
}

/// A line between two entities, which are indices of `entities`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MentionLine {
    pub(super) from: usize,
    pub(super) to: usize,
    /// Whether there is an arrow in both directions.
    pub(super) is_mutual: bool,
    /// Whether they have a relationship.
    pub(super) is_related: bool,
}

impl DrawnGraph {
    pub(super) fn new(graph: &MentionGraph) -> Self {
        let nodes: BTreeMap<u64, &MentionGraphNode> = graph.nodes.iter().rev().map(|node| (node.id, node)).collect();
        let mut nodes: Vec<&MentionGraphNode> = nodes.into_values().collect();
        nodes.sort_by_key(|node| (Reverse(node.degree), node.id));
        let left_out = graph.left_out.saturating_add(nodes.len().saturating_sub(NODES_MAX));
        nodes.truncate(NODES_MAX);
        let index_of: BTreeMap<u64, usize> = nodes.iter().enumerate().map(|(index, node)| (node.id, index)).collect();
        let known = graph.edges.iter().filter_map(|edge| Some((*index_of.get(&edge.from)?, *index_of.get(&edge.to)?)));
        let mentions: BTreeSet<(usize, usize)> = known.filter(|(from, to)| from != to).collect();
        let (mut related, mut relationships) = (BTreeSet::new(), Vec::new());
        for relationship in &graph.relationships {
            let ends = (index_of.get(&relationship.from), index_of.get(&relationship.to));
            let (Some(from), Some(to)) = ends else { continue };
            if from == to {
                continue;
            }
            related.insert((*from, *to));
            related.extend(relationship.is_symmetric.then_some((*to, *from)));
            relationships.push((
                *from,
                *to,
                clean_name(&relationship.word).unwrap_or_else(|| relationship.word.clone()),
            ));
        }
        let arrows: BTreeSet<(usize, usize)> = mentions.union(&related).copied().collect();
        let is_mutual = |(from, to): (usize, usize)| arrows.contains(&(to, from));
        let is_related = |(from, to): (usize, usize)| related.contains(&(from, to)) || related.contains(&(to, from));
        let lines = arrows.iter().copied().filter(|pair| pair.0 < pair.1 || !is_mutual(*pair));
        let lines = lines.map(|pair| MentionLine {
            from: pair.0,
            to: pair.1,
            is_mutual: is_mutual(pair),
            is_related: is_related(pair),
        });
        let lines = lines.collect();
        let entities = nodes.iter().enumerate().map(|(index, node)| DrawnEntity {
            name: visible_name(node),
            group: EntityGroup::by_name(node.group),
            degree: node.degree,
            mentioned_by: mentions.iter().filter(|(_, to)| *to == index).count(),
        });
        Self { entities: entities.collect(), lines, mentions, relationships, left_out }
    }

    pub(super) fn mention_count(&self) -> usize {
        self.mentions.len()
    }

    /// The indices of the entities that each entity has a line to.
    pub(super) fn neighbours(&self) -> Vec<BTreeSet<usize>> {
        let mut neighbours = vec![BTreeSet::new(); self.entities.len()];
        for line in &self.lines {
            neighbours[line.from].insert(line.to);
            neighbours[line.to].insert(line.from);
        }
        neighbours
    }
}

/// A name without deceptive characters. A name of nothing but white space is replaced by the id.
fn visible_name(node: &MentionGraphNode) -> String {
    let name = clean_name(&node.name).unwrap_or_else(|| node.name.clone());
    let name = name.trim();
    if name.is_empty() { format!("entity {}", node.id) } else { name.to_owned() }
}
