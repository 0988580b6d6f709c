//! Maps of relationships around an entity, and shortest paths between two, over the edges that a reader may see.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::relationship::{Relationship, Relationships};

/// A relationship on a map or a path, read from the entity that is nearer to the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelationshipStep {
    /// How many relationships away from the start the far end is.
    pub distance: usize,
    pub from_id: u64,
    pub to_id: u64,
    pub relationship: Arc<Relationship>,
}

/// The relationships around an entity.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RelationshipMap {
    /// The nearest first.
    pub steps: Vec<RelationshipStep>,
    /// Whether there are more than the limit.
    pub is_cut: bool,
}

impl Relationships {
    /// All relationships within `depth` of an entity, each once. What `is_visible` rejects is not there.
    pub fn map_around(
        &self,
        start: u64,
        depth: usize,
        limit: usize,
        is_visible: &dyn Fn(&Relationship) -> bool,
    ) -> RelationshipMap {
        let mut map = RelationshipMap::default();
        let (mut seen, mut reached) = (BTreeSet::new(), BTreeSet::from([start]));
        let mut waiting = VecDeque::from([(start, 0)]);
        while let Some((from_id, distance)) = waiting.pop_front() {
            if distance >= depth {
                break;
            }
            for relationship in self.of_entity(from_id).filter(|relationship| is_visible(relationship)) {
                if !seen.insert(relationship.relationship_id) {
                    continue;
                }
                if map.steps.len() >= limit {
                    map.is_cut = true;
                    return map;
                }
                let (_, to_id) = relationship.read_from(from_id);
                let relationship = relationship.clone();
                map.steps.push(RelationshipStep { distance: distance + 1, from_id, to_id, relationship });
                if reached.insert(to_id) {
                    waiting.push_back((to_id, distance + 1));
                }
            }
        }
        map
    }

    /// The fewest relationships that lead from one entity to another; `None` if none do within `length_max`. Of paths of
    /// one length, the one whose relationships are older comes first.
    pub fn shortest_path(
        &self,
        start: u64,
        end: u64,
        length_max: usize,
        is_visible: &dyn Fn(&Relationship) -> bool,
    ) -> Option<Vec<RelationshipStep>> {
        let mut arrived: BTreeMap<u64, RelationshipStep> = BTreeMap::new();
        let mut waiting = VecDeque::from([(start, 0)]);
        while let Some((from_id, distance)) = waiting.pop_front() {
            if from_id == end {
                break;
            }
            if distance >= length_max {
                continue;
            }
            for relationship in self.of_entity(from_id).filter(|relationship| is_visible(relationship)) {
                let (_, to_id) = relationship.read_from(from_id);
                if to_id != start && !arrived.contains_key(&to_id) {
                    let relationship = relationship.clone();
                    arrived.insert(to_id, RelationshipStep { distance: distance + 1, from_id, to_id, relationship });
                    waiting.push_back((to_id, distance + 1));
                }
            }
        }
        let (mut path, mut at) = (Vec::new(), end);
        while at != start {
            let step = arrived.remove(&at)?;
            at = step.from_id;
            path.push(step);
        }
        path.reverse();
        Some(path)
    }
}
