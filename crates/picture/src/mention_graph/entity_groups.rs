//! Types of entities: their nouns and their colours.

use super::drawn_graph::DrawnGraph;
use crate::palette::Ink;

/// A type of entity on the picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntityGroup {
    pub(super) name: &'static str,
    plural: &'static str,
    pub(super) ink: Ink,
}

const fn group(name: &'static str, plural: &'static str, ink: Ink) -> EntityGroup {
    EntityGroup { name, plural, ink }
}

const OTHER: EntityGroup = group("other", "others", Ink::OtherEntity);

/// In the order of the legend.
pub(super) const GROUPS: [EntityGroup; 13] = [
    group("character", "characters", Ink::Character),
    group("creature", "creatures", Ink::Creature),
    group("location", "locations", Ink::Location),
    group("organization", "organizations", Ink::Organization),
    group("race", "races", Ink::Race),
    group("quest", "quests", Ink::Quest),
    group("event", "events", Ink::Event),
    group("item", "items", Ink::Item),
    group("clue", "clues", Ink::Clue),
    group("journal", "journals", Ink::Journal),
    group("note", "notes", Ink::Note),
    group("document", "documents", Ink::Document),
    OTHER,
];

impl EntityGroup {
    pub(super) fn by_name(name: &str) -> Self {
        GROUPS.into_iter().find(|group| group.name == name).unwrap_or(OTHER)
    }
}

/// The groups that occur, each with its count and noun.
pub(super) fn group_counts(graph: &DrawnGraph) -> Vec<(EntityGroup, String)> {
    let count = |group: EntityGroup| graph.entities.iter().filter(|entity| entity.group == group).count();
    let counts = GROUPS.into_iter().map(|group| (group, count(group))).filter(|(_, count)| *count > 0);
    counts
        .map(|(group, count)| (group, format!("{count} {}", if count == 1 { group.name } else { group.plural })))
        .collect()
}
