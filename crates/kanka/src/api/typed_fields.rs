//! Fields that only one kind of entity has in Kanka. Skald stores few of them; the others are answered empty, since
//! clients read them without checking that they exist.

use serde_json::{Map, Value, json};

use crate::EntityKind;

/// The field with the typed id of the parent, at kinds that can lie in one of their own.
pub(super) fn parent_field(kind: &EntityKind) -> Option<&'static str> {
    match kind.code {
        "location" => Some("parent_location_id"),
        "organisation" => Some("organisation_id"),
        "item" => Some("item_id"),
        "note" => Some("note_id"),
        "event" => Some("event_id"),
        "race" => Some("race_id"),
        "quest" => Some("quest_id"),
        "journal" => Some("journal_id"),
        "creature" => Some("creature_id"),
        _ => None,
    }
}

/// The default values of the fields of a kind.
pub(super) fn typed_defaults(kind: &EntityKind) -> Map<String, Value> {
    let fields = match kind.code {
        "character" => json!({
            "title": null, "age": null, "sex": null, "pronouns": null, "is_dead": false, "location_id": null,
            "locations": [], "race_id": null, "races": [], "family_id": null, "families": [], "traits": [],
            "is_personality_visible": true, "is_personality_pinned": false, "is_appearance_pinned": false,
            "organisations": {"data": []}
        }),
        "location" => json!({
            "title": null, "location_id": null, "map": null, "map_url": null, "is_map_private": 0, "is_destroyed": false
        }),
        "organisation" => json!({"location_id": null, "locations": [], "members": [], "is_defunct": false}),
        "race" => json!({"locations": [], "is_extinct": false}),
        "creature" => json!({"location_id": null, "locations": [], "is_extinct": false, "is_dead": false}),
        "note" | "event" => json!({"location_id": null}),
        "journal" => json!({
            "character_id": null, "author_id": null, "location_id": null, "calendar_id": null, "calendar_year": null,
            "calendar_month": null, "calendar_day": null
        }),
        "quest" => json!({
            "character_id": null, "instigator_id": null, "location_id": null, "is_completed": false, "elements": [],
            "elements_count": 0, "calendar_id": null, "calendar_year": null, "calendar_month": null,
            "calendar_day": null
        }),
        "item" => json!({
            "price": null, "size": null, "weight": null, "character_id": null, "creator_id": null, "location_id": null
        }),
        _ => json!({}),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
