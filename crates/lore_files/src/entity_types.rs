//! The entity types, and the names that people and programs give them in folders and in front matter.

/// Every entity type, by the name that it has in the server.
pub const ENTITY_TYPES: [&str; 13] = [
    "character",
    "creature",
    "location",
    "organization",
    "race",
    "note",
    "journal",
    "quest",
    "item",
    "clue",
    "event",
    "document",
    "other",
];

/// A type that was recognised by one of its names, with the subtype that the name implies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecognisedType {
    pub(crate) entity_type: &'static str,
    pub(crate) subtype: &'static str,
}

/// Names besides the types themselves: name, type, subtype.
const OTHER_NAMES: [(&str, &str, &str); 48] = [
    ("people", "character", ""),
    ("person", "character", ""),
    ("npc", "character", "NPC"),
    ("pc", "character", "PC"),
    ("player character", "character", "PC"),
    ("party", "character", "PC"),
    ("monster", "creature", ""),
    ("beast", "creature", ""),
    ("bestiary", "creature", ""),
    ("animal", "creature", ""),
    ("place", "location", ""),
    ("region", "location", "Region"),
    ("city", "location", "City"),
    ("town", "location", "Town"),
    ("village", "location", "Village"),
    ("settlement", "location", "Settlement"),
    ("dungeon", "location", "Dungeon"),
    ("geography", "location", ""),
    ("organisation", "organization", ""),
    ("faction", "organization", "Faction"),
    ("guild", "organization", "Guild"),
    ("group", "organization", ""),
    ("ancestry", "race", ""),
    ("species", "race", ""),
    ("lineage", "race", ""),
    ("session", "journal", "Session"),
    ("session note", "journal", "Session"),
    ("session log", "journal", "Session"),
    ("log", "journal", ""),
    ("diary", "journal", ""),
    ("adventure", "quest", "Adventure"),
    ("mission", "quest", ""),
    ("plot", "quest", ""),
    ("object", "item", ""),
    ("equipment", "item", ""),
    ("artifact", "item", "Artifact"),
    ("artefact", "item", "Artifact"),
    ("magic item", "item", "Magic Item"),
    ("treasure", "item", ""),
    ("weapon", "item", "Weapon"),
    ("loot", "item", ""),
    ("hint", "clue", ""),
    ("rumor", "clue", "Rumor"),
    ("rumour", "clue", "Rumor"),
    ("history", "event", ""),
    ("timeline", "event", ""),
    ("handout", "document", "Handout"),
    ("letter", "document", "Letter"),
];

/// Recognises a type by a word in the singular or plural, in any case.
pub(crate) fn recognise_type(word: &str) -> Option<RecognisedType> {
    let word = word.trim().to_lowercase().replace(['_', '-'], " ");
    singular_forms(&word).iter().find_map(|word| find_type(word))
}

fn find_type(word: &str) -> Option<RecognisedType> {
    if let Some(entity_type) = ENTITY_TYPES.iter().find(|name| **name == word) {
        return Some(RecognisedType { entity_type, subtype: "" });
    }
    let (_, entity_type, subtype) = OTHER_NAMES.iter().find(|(name, _, _)| *name == word)?;
    Some(RecognisedType { entity_type, subtype })
}

/// The word, and what it may be the plural of.
fn singular_forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    forms.extend(word.strip_suffix("ies").map(|stem| format!("{stem}y")));
    forms.extend(word.strip_suffix('s').map(str::to_owned));
    forms
}

/// The type that the deepest folder with a known name implies.
pub(crate) fn recognise_folder(path: &str) -> Option<RecognisedType> {
    path.split('/').rev().skip(1).find_map(recognise_type)
}

/// The type with exactly this name.
pub(crate) fn exact_type(word: &str) -> Option<&'static str> {
    ENTITY_TYPES.into_iter().find(|name| *name == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(word: &str, expected: Option<(&str, &str)>) {
        let found = recognise_type(word).map(|found| (found.entity_type, found.subtype));
        assert_eq!(found, expected, "{word}");
    }

    #[test]
    fn types_are_recognised_by_many_names() {
        check("Characters", Some(("character", "")));
        check("NPCs", Some(("character", "NPC")));
        check("Cities", Some(("location", "City")));
        check("Factions", Some(("organization", "Faction")));
        check("Session-Notes", Some(("journal", "Session")));
        check("Species", Some(("race", "")));
        check("Ancestries", Some(("race", "")));
        check("Misc", None);
        check("", None);
    }

    #[test]
    fn the_deepest_known_folder_counts() {
        let found = |path: &str| recognise_folder(path).map(|found| found.entity_type);
        assert_eq!(found("Locations/Waterdeep/NPCs/Durnan.md"), Some("character"));
        assert_eq!(found("Locations/Waterdeep/Durnan.md"), Some("location"));
        assert_eq!(found("Characters.md"), None);
    }
}
