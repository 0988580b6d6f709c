//! The kinds of entities that Kanka has: their codes, routes and numbers, and the entity types of the lore that they are.

/// A kind of entity in Kanka.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntityKind {
    /// Kanka's word for it, as in the field `type` of an entity and in mentions.
    pub code: &'static str,
    /// The last segment of its list's route.
    pub plural: &'static str,
    /// Kanka's number of it.
    pub type_id: u64,
    /// The entity type of the lore that is stored under this kind; `None` for kinds that the lore does not have.
    pub entity_type: Option<&'static str>,
}

const fn kind(code: &'static str, plural: &'static str, type_id: u64, entity_type: Option<&'static str>) -> EntityKind {
    EntityKind { code, plural, type_id, entity_type }
}

/// All kinds, by their numbers.
pub const ENTITY_KINDS: [EntityKind; 20] = [
    kind("character", "characters", 1, Some("character")),
    kind("family", "families", 2, None),
    kind("location", "locations", 3, Some("location")),
    kind("organisation", "organisations", 4, Some("organization")),
    kind("item", "items", 5, Some("item")),
    kind("note", "notes", 6, Some("note")),
    kind("event", "events", 7, Some("event")),
    kind("calendar", "calendars", 8, None),
    kind("race", "races", 9, Some("race")),
    kind("quest", "quests", 10, Some("quest")),
    kind("journal", "journals", 11, Some("journal")),
    kind("tag", "tags", 12, None),
    kind("dice_roll", "dice_rolls", 13, None),
    kind("conversation", "conversations", 14, None),
    kind("attribute_template", "attribute_templates", 15, None),
    kind("ability", "abilities", 16, None),
    kind("map", "maps", 17, None),
    kind("timeline", "timelines", 18, None),
    kind("bookmark", "bookmarks", 19, None),
    kind("creature", "creatures", 20, Some("creature")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_stand_in_the_order_of_their_numbers() {
        for (place, kind) in (1..).zip(ENTITY_KINDS) {
            assert_eq!(kind.type_id, place, "{}", kind.code);
        }
    }
}
