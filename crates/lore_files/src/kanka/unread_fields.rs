//! Lists the fields of a Kanka file that are not imported, so that the dry run can say so.

use serde_json::{Map, Value};

use super::KankaKind;
use crate::json_fields::is_blank;

/// Fields that are read elsewhere, or that say nothing to people: ids, focus points, who changed it.
const READ_FIELDS: [&str; 43] = [
    "_lft",
    "_rgt",
    "assets",
    "campaign_id",
    "child",
    "created_at",
    "created_by",
    "date",
    "deleted_at",
    "deleted_by",
    "entityNotes",
    "entityTags",
    "entity_id",
    "entity_notes",
    "entity_tags",
    "entry",
    "entry_parsed",
    "focus_x",
    "focus_y",
    "has_entry",
    "id",
    "image",
    "image_full",
    "image_path",
    "image_thumb",
    "image_uuid",
    "is_attributes_private",
    "is_private",
    "marketplace_uuid",
    "mentions",
    "name",
    "parent_id",
    "posts",
    "slug",
    "tags",
    "type",
    "type_id",
    "updated_at",
    "updated_by",
    "urls",
    "has_custom_image",
    "is_auto_applied",
    "words",
];
/// Fields in the words of Kanka's pages.
const LABELS: [(&str, &str); 12] = [
    ("relationships", "relations"),
    ("entityAttributes", "attributes"),
    ("events", "reminders"),
    ("entityLocations", "locations"),
    ("characterTraits", "traits"),
    ("characterFamilies", "families"),
    ("characterRaces", "races"),
    ("organisationMemberships", "memberships"),
    ("pivotMembers", "members"),
    ("itemCreators", "creators"),
    ("header_image", "header image"),
    ("header_uuid", "header image"),
];

/// Fields that are described one by one.
const DESCRIBED_MAX: usize = 40;

/// Describes the fields that are not blank and not imported: "3 attributes", "age".
pub(super) fn describe_unread_fields(kind: &KankaKind, entity: &Value, child: &Value) -> Vec<String> {
    let parent_keys = [format!("{}_id", kind.singular), format!("parent_{}_id", kind.singular)];
    let mut found: Vec<String> = Vec::new();
    let empty = Map::new();
    let fields = entity.as_object().unwrap_or(&empty).iter().chain(child.as_object().unwrap_or(&empty));
    for (key, value) in fields {
        if is_blank(value) || READ_FIELDS.contains(&key.as_str()) || parent_keys.contains(key) {
            continue;
        }
        let label = LABELS.iter().find(|(name, _)| name == key).map_or(key.as_str(), |(_, label)| label);
        let description = match value {
            Value::Array(items) => format!("{} {label}", items.len()),
            _ => label.to_owned(),
        };
        if found.len() < DESCRIBED_MAX && !found.contains(&description) {
            found.push(description);
        } else if found.len() == DESCRIBED_MAX {
            found.push("more".to_owned());
            break;
        }
    }
    found
}
