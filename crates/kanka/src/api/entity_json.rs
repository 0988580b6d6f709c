//! Entities as Kanka shows them: a typed row with the fields of its kind, and the row of `/entities`.

use serde_json::{Map, Value, json};

use super::assets::alias_assets;
use super::listed_rows::{ListedCampaign, ListedEntity, ListedParent, ListedPost};
use super::request::ApiRequest;
use super::typed_fields::{parent_field, typed_defaults};
use crate::{ENTITY_KINDS, EntityKind};

/// The user id that stands for every writer: rows of the lore do not say who wrote them.
pub(super) const USER_ID: u64 = 1;
/// Offset for typed ids of lore types that are shown as notes: their typed id is this plus the `entity_id`, so that it
/// is never that of a real note.
const FOREIGN_NOTE_IDS: u64 = 1_000_000_000;
/// The types of the lore that Kanka does not have. They are notes, and their type says what they are.
const FOREIGN_NOTE_TYPES: [(&str, &str); 3] = [("clue", "Clue"), ("document", "Document"), ("other", "Other")];

const NOTE: &EntityKind = &ENTITY_KINDS[5];

/// The kind under which an entity is shown.
pub(super) fn kind_of(entity_type: &str) -> &'static EntityKind {
    ENTITY_KINDS.iter().find(|kind| kind.entity_type == Some(entity_type)).unwrap_or(NOTE)
}

/// The types of the lore that are shown under a kind.
pub(super) fn entity_types_of(kind: &EntityKind) -> Vec<&'static str> {
    let own = kind.entity_type.into_iter();
    let foreign = FOREIGN_NOTE_TYPES.iter().filter(|_| kind.code == NOTE.code).map(|(entity_type, _)| *entity_type);
    own.chain(foreign).collect()
}

/// The filter that finds an entity by its typed id.
pub(super) fn typed_id_filters(kind: &EntityKind, id: u64) -> Vec<Value> {
    let own = json!({"entity_types": kind.entity_type.into_iter().collect::<Vec<_>>(), "ids": [id]});
    match id.checked_sub(FOREIGN_NOTE_IDS) {
        Some(entity_id) if kind.code == NOTE.code => {
            let types: Vec<&str> = FOREIGN_NOTE_TYPES.iter().map(|(entity_type, _)| *entity_type).collect();
            vec![json!({"entity_types": types, "entity_ids": [entity_id]}), own]
        }
        _ => vec![own],
    }
}

impl ListedEntity {
    pub(super) fn kind(&self) -> &'static EntityKind {
        kind_of(&self.entity_type)
    }

    /// Its id among the entities of its kind.
    pub(super) fn typed_id(&self) -> u64 {
        if self.foreign_type().is_some() { FOREIGN_NOTE_IDS + self.entity_id } else { self.id }
    }

    /// The word for its type, if Kanka does not have it.
    pub(super) fn foreign_type(&self) -> Option<&'static str> {
        FOREIGN_NOTE_TYPES.iter().find(|(entity_type, _)| *entity_type == self.entity_type).map(|(_, word)| *word)
    }

    /// The text in `type`.
    fn type_text(&self) -> Option<&str> {
        Some(self.subtype.as_str()).filter(|text| !text.is_empty()).or(self.foreign_type())
    }
}

impl ListedParent {
    /// Its id among the entities of a kind; `None` if it is of another one.
    pub(super) fn id_in(&self, kind: &EntityKind) -> Option<u64> {
        (kind.entity_type == Some(self.entity_type.as_str())).then_some(self.id)
    }
}

/// The row of an entity at its typed route.
pub(super) fn typed_row(
    request: &ApiRequest,
    campaign: &ListedCampaign,
    entity: &ListedEntity,
    is_related: bool,
) -> Value {
    let kind = entity.kind();
    let mut row = Map::from_iter([
        ("id".to_owned(), json!(entity.typed_id())),
        ("name".to_owned(), json!(entity.name)),
        ("entry".to_owned(), json!(entity.entry.html)),
        ("entry_parsed".to_owned(), json!(entity.entry.shown)),
        ("type".to_owned(), json!(entity.type_text())),
        ("entity_id".to_owned(), json!(entity.entity_id)),
        ("parent_id".to_owned(), json!(entity.parent.as_ref().map(|parent| parent.entity_id))),
    ]);
    row.extend(shared_fields(entity));
    row.extend(typed_defaults(kind));
    if let Some(field) = parent_field(kind) {
        row.insert(field.to_owned(), json!(entity.parent.as_ref().and_then(|parent| parent.id_in(kind))));
    }
    if ["journal", "quest", "event"].contains(&kind.code) {
        row.insert("date".to_owned(), json!(entity.date));
    }
    row.insert("urls".to_owned(), urls(request, campaign, entity));
    if is_related {
        row.extend(related_fields(entity));
    }
    Value::Object(row)
}

/// The row of an entity at `/entities`.
pub(super) fn entity_row(request: &ApiRequest, campaign: &ListedCampaign, entity: &ListedEntity) -> Map<String, Value> {
    let kind = entity.kind();
    let mut row = Map::from_iter([
        ("id".to_owned(), json!(entity.entity_id)),
        ("name".to_owned(), json!(entity.name)),
        ("type".to_owned(), json!(kind.code)),
        ("type_field".to_owned(), json!(entity.type_text())),
        ("type_id".to_owned(), json!(kind.type_id)),
        ("child_id".to_owned(), json!(entity.typed_id())),
        ("parent_id".to_owned(), json!(entity.parent.as_ref().map(|parent| parent.entity_id))),
        ("campaign_id".to_owned(), json!(campaign.number)),
        ("module".to_owned(), module(kind)),
    ]);
    row.extend(shared_fields(entity));
    row.insert("urls".to_owned(), urls(request, campaign, entity));
    if request.flag("image") == Some(true) {
        row.insert("child".to_owned(), Value::Object(image_fields(entity)));
    }
    row
}

/// A kind as a module of the campaign.
pub(super) fn module(kind: &EntityKind) -> Value {
    json!({
        "id": kind.type_id,
        "code": kind.code,
        "singular": title_case(kind.code),
        "plural": title_case(kind.plural),
        "is_enabled": true,
    })
}

fn title_case(word: &str) -> String {
    let mut text = word.replace('_', " ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

fn shared_fields(entity: &ListedEntity) -> Map<String, Value> {
    let mut fields = image_fields(entity);
    fields.extend([
        ("tags".to_owned(), json!(entity.tags)),
        ("is_private".to_owned(), json!(entity.is_private)),
        ("is_template".to_owned(), json!(false)),
        ("is_attributes_private".to_owned(), json!(false)),
        ("is_pinned".to_owned(), json!(false)),
        ("tooltip".to_owned(), Value::Null),
        ("status_id".to_owned(), Value::Null),
        ("created_at".to_owned(), json!(entity.created_at)),
        ("created_by".to_owned(), json!(USER_ID)),
        ("updated_at".to_owned(), json!(entity.updated_at)),
        ("updated_by".to_owned(), json!(USER_ID)),
    ]);
    fields
}

fn image_fields(entity: &ListedEntity) -> Map<String, Value> {
    let image = json!(entity.image);
    Map::from_iter([
        ("image".to_owned(), image.clone()),
        ("image_full".to_owned(), image.clone()),
        ("image_thumb".to_owned(), image),
        ("has_custom_image".to_owned(), json!(entity.image.is_some())),
        ("image_uuid".to_owned(), Value::Null),
        ("header_image".to_owned(), Value::Null),
        ("header_full".to_owned(), Value::Null),
        ("header_uuid".to_owned(), Value::Null),
        ("has_custom_header".to_owned(), json!(false)),
    ])
}

fn urls(request: &ApiRequest, campaign: &ListedCampaign, entity: &ListedEntity) -> Value {
    let typed = format!("campaigns/{}/{}/{}", campaign.number, entity.kind().plural, entity.typed_id());
    let view = format!("campaigns/{}/entities/{}", campaign.number, entity.entity_id);
    json!({"view": request.url(&view), "api": request.url(&typed)})
}

/// The fields that `related=1` adds. Those that Skald does not store are empty: clients read them without checking that
/// they exist.
pub(super) fn related_fields(entity: &ListedEntity) -> Map<String, Value> {
    let posts = entity.posts.iter().enumerate().map(|(place, post)| post_json(entity.entity_id, post, place));
    let parents: Vec<u64> = entity.parent.iter().map(|parent| parent.entity_id).collect();
    Map::from_iter([
        ("posts".to_owned(), posts.collect()),
        ("entity_assets".to_owned(), Value::Array(alias_assets(entity))),
        ("entity_files".to_owned(), json!({"data": []})),
        ("attributes".to_owned(), json!([])),
        ("relations".to_owned(), json!([])),
        ("inventory".to_owned(), json!([])),
        ("entity_abilities".to_owned(), json!([])),
        ("entity_events".to_owned(), json!([])),
        ("reminders".to_owned(), json!([])),
        ("entity_notes".to_owned(), json!({"data": []})),
        ("parents".to_owned(), json!(parents)),
        ("children".to_owned(), json!(entity.children)),
    ])
}

/// A post. `visibility_id` is 1 for all and 2 for game masters.
pub(super) fn post_json(entity_id: u64, post: &ListedPost, place: usize) -> Value {
    let (visibility_id, visibility) = if post.is_private { (2, "admin") } else { (1, "all") };
    json!({
        "id": post.id,
        "entity_id": entity_id,
        "name": post.name,
        "entry": post.entry.html,
        "entry_parsed": post.entry.shown,
        "visibility_id": visibility_id,
        "visibility": visibility,
        "is_private": post.is_private,
        "is_pinned": false,
        "position": place + 1,
        "layout_id": null,
        "settings": {"collapsed": false},
        "tags": [],
        "permissions": [],
        "created_at": post.created_at,
        "created_by": USER_ID,
        "updated_at": post.updated_at,
        "updated_by": USER_ID,
    })
}
