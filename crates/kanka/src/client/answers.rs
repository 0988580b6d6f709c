//! Parses Kanka's answers. Every field may be null or missing. An answer that cannot be parsed is an error as a whole,
//! never a part of its rows.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use skald_app::{
    RemoteAlias, RemoteCreated, RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteHead, RemoteKind, RemotePage,
    RemoteParent, RemotePost, limits,
};
use skald_domain::lore::{EntityType, name_identity};

use crate::ENTITY_KINDS;

/// Assets of this type are aliases.
const ALIAS_TYPE: u64 = 3;
const VISIBLE_TO_ALL: u64 = 1;
/// Posts with these visibilities are seen by every member.
const SHARED_VISIBILITIES: [u64; 2] = [1, 5];

const fn kind(word: &'static str, entity_type: EntityType, has_date: bool) -> RemoteKind {
    RemoteKind { word, entity_type: Some(entity_type), has_date }
}

const fn read_only(word: &'static str) -> RemoteKind {
    RemoteKind { word, entity_type: None, has_date: false }
}

/// The kinds that are mirrored, the most frequent first. Tags are missing because the lore has them as names; dice rolls,
/// conversations, templates and bookmarks because they are no lore.
pub(super) static MIRRORED_KINDS: [RemoteKind; 16] = [
    kind("character", EntityType::Character, false),
    kind("location", EntityType::Location, false),
    kind("organisation", EntityType::Organization, false),
    kind("creature", EntityType::Creature, false),
    kind("race", EntityType::Race, false),
    kind("item", EntityType::Item, false),
    kind("note", EntityType::Note, false),
    kind("journal", EntityType::Journal, true),
    kind("quest", EntityType::Quest, true),
    kind("event", EntityType::Event, true),
    read_only("family"),
    read_only("calendar"),
    read_only("map"),
    read_only("timeline"),
    read_only("ability"),
    read_only(CUSTOM),
];
/// The kind of all entities of custom modules, which a campaign has defined itself.
const CUSTOM: &str = "custom";
/// Type numbers above this one are custom modules.
const STANDARD_TYPES_MAX: u64 = 20;

pub(super) fn is_custom(kind: &RemoteKind) -> bool {
    kind.word == CUSTOM
}

/// Whether a row of `/entities` belongs to a custom module. Such a row has its fields directly, not under `child`.
pub(super) fn is_custom_row(row: &Value) -> bool {
    row.get("type_id").and_then(number_of).is_some_and(|id| id > STANDARD_TYPES_MAX)
        && !row.get("child").is_some_and(Value::is_object)
}

/// The names of custom modules, by their type numbers.
pub(super) fn custom_types_of(answer: &Value) -> BTreeMap<u64, String> {
    let rows = answer.get("data").and_then(Value::as_array).into_iter().flatten();
    let custom = rows.filter(|row| row.get("is_custom").is_none_or(|_| flag_of(row, "is_custom")));
    let named = custom.filter_map(|row| {
        let id = row.get("id").and_then(number_of).filter(|id| *id > STANDARD_TYPES_MAX)?;
        Some((id, text_of(row, "singular").or_else(|| text_of(row, "code")).unwrap_or_default()))
    });
    named.collect()
}

/// The last segment of the route of a kind.
pub(super) fn plural_of(kind: &RemoteKind) -> &'static str {
    ENTITY_KINDS.iter().find(|known| known.code == kind.word).map_or("", |known| known.plural)
}

pub(super) fn type_id_of(kind: &RemoteKind) -> u64 {
    ENTITY_KINDS.iter().find(|known| known.code == kind.word).map_or(0, |known| known.type_id)
}

pub(super) fn kind_of_code(code: &str) -> Option<&'static RemoteKind> {
    MIRRORED_KINDS.iter().find(|kind| kind.word == code)
}

pub(super) fn broken(what: &str) -> RemoteFailure {
    RemoteFailure::new(RemoteFailureKind::BrokenAnswer, format!("an answer is not what was expected: {what}"))
}

/// What an envelope holds.
pub(super) fn data_of(answer: &Value) -> Result<&Value, RemoteFailure> {
    answer.get("data").ok_or_else(|| broken("it has no data"))
}

/// A page of rows, each read by `read`.
pub(super) fn page_of<T>(
    answer: &Value,
    page: usize,
    read: impl Fn(&Value) -> Result<T, RemoteFailure>,
) -> Result<RemotePage<T>, RemoteFailure> {
    let listed = data_of(answer)?.as_array().ok_or_else(|| broken("a list is no list"))?;
    let mut rows = Vec::with_capacity(listed.len());
    let mut hidden = 0;
    for row in listed {
        match read(row) {
            Ok(row) => rows.push(row),
            // Skip a row that cannot be read, and count it: the pull fetches the entity by its id.
            Err(failure) if matches!(failure.kind, RemoteFailureKind::Forbidden | RemoteFailureKind::BrokenEntity) => {
                hidden += 1;
            }
            Err(failure) => return Err(failure),
        }
    }
    let number = |name: &str| answer.get("meta")?.get(name).and_then(number_of);
    let last_page = number("last_page");
    let has_next = answer.get("links").and_then(|links| links.get("next")).is_some_and(|next| !next.is_null());
    let is_last = last_page.map_or(!has_next, |last| page as u64 >= last) || listed.is_empty();
    let total = number("total").and_then(|total| usize::try_from(total).ok()).unwrap_or(listed.len());
    let sync = answer.get("sync").and_then(moment_of);
    Ok(RemotePage { rows, sync, total, hidden, is_last })
}

/// A tag in Kanka.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KnownTag {
    /// Visible to everybody who sees an entity with it.
    Named(String),
    /// Visible to game masters only.
    Private,
}

/// An entity of a typed route, whose tags are looked up by `known_tag`.
pub(super) fn typed_entity(
    kind: &'static RemoteKind,
    row: &Value,
    known_tag: &dyn Fn(u64) -> Option<KnownTag>,
) -> Result<RemoteEntity, RemoteFailure> {
    if let Some(sentence) = row.as_str() {
        return Err(hidden_or_broken(sentence));
    }
    let id = |name: &str| row.get(name).and_then(number_of).filter(|id| *id > 0);
    let (Some(entity_id), Some(own_id)) = (id("entity_id"), id("id")) else {
        return Err(broken("an entity has no id"));
    };
    let tags = tag_ids_of(row).map(|ids| ids.into_iter().map(|id| (id, known_tag(id))).collect::<Vec<_>>());
    let (mut names, mut hidden_tags): (Vec<String>, Vec<u64>) = (Vec::new(), Vec::new());
    for (id, tag) in tags.iter().flatten() {
        match tag {
            Some(KnownTag::Named(name)) if names.iter().any(|known| name_identity(known) == name_identity(name)) => {}
            Some(KnownTag::Named(name)) if names.len() < limits::LORE_TAGS_MAX => names.push(name.clone()),
            // Those that are not here go back with every list of tags, since the list replaces all.
            Some(KnownTag::Named(_) | KnownTag::Private) | None => hidden_tags.push(*id),
        }
    }
    let has_image = row.get("has_custom_image").and_then(Value::as_bool).unwrap_or(true);
    let image = || text_of(row, "image_full").or_else(|| text_of(row, "image")).filter(|_| has_image);
    let text = |name: &str| row.get(name).map(|_| text_of(row, name).unwrap_or_default());
    Ok(RemoteEntity {
        kind,
        id: own_id,
        entity_id,
        // An empty name is allowed: the lore then calls the entity unnamed.
        name: text_of(row, "name").unwrap_or_default(),
        subtype: text("type"),
        html: text("entry"),
        tags: tags.is_some().then_some(names),
        hidden_tags,
        is_private: row.get("is_private").filter(|flag| !flag.is_null()).map(|_| flag_of(row, "is_private")),
        parent: parent_of(kind, row),
        image: (row.get("image_full").is_some() || row.get("image").is_some()).then(image),
        date: row.get("date").map(|_| text_of(row, "date")),
        updated_at: row.get("updated_at").and_then(moment_of),
        aliases: aliases_of(row),
        posts: posts_of(row)?,
    })
}

/// The parent by its entity id, or in answers of older routes by its id within the kind, as in `location_id` of a location.
fn parent_of(kind: &RemoteKind, row: &Value) -> RemoteParent {
    let named = |name: &str, parent: fn(u64) -> RemoteParent| {
        let id = row.get(name).map(|id| number_of(id).filter(|id| *id > 0))?;
        Some(id.map_or(RemoteParent::None, parent))
    };
    let own_kind = format!("{}_id", kind.word);
    named("parent_id", RemoteParent::Entity)
        .or_else(|| named(&own_kind, RemoteParent::SameKind))
        .or_else(|| named(&format!("parent_{own_kind}"), RemoteParent::SameKind))
        .unwrap_or(RemoteParent::Unknown)
}

/// The tags of a row by their ids; newer answers have them as objects.
pub(super) fn tag_ids_of(row: &Value) -> Option<Vec<u64>> {
    let tags = row.get("tags")?.as_array()?.iter();
    Some(tags.filter_map(|tag| number_of(tag).or_else(|| tag.get("id").and_then(number_of))).collect())
}

/// The failure for a sentence in the place of an entity.
fn hidden_or_broken(sentence: &str) -> RemoteFailure {
    if sentence.to_lowercase().contains("permission") {
        return RemoteFailure::new(RemoteFailureKind::Forbidden, "an entity is hidden from the user of the token");
    }
    let sentence: String = sentence.chars().filter(|letter| !letter.is_control()).take(200).collect();
    RemoteFailure::new(RemoteFailureKind::BrokenEntity, format!("an entity cannot be read: {sentence:?}"))
}

/// An entity of `/entities`, with its typed row. If its kind is not mirrored or it is hidden, the failure says that, and
/// not that it is missing.
pub(super) fn whole_entity(
    row: &Value,
    custom_types: &BTreeMap<u64, String>,
    known_tag: &dyn Fn(u64) -> Option<KnownTag>,
) -> Result<RemoteEntity, RemoteFailure> {
    let head = head_of(row)?;
    let Some(kind) = head.kind else {
        let message = format!("entity {} is of a kind that is not mirrored", head.entity_id);
        return Err(RemoteFailure::new(RemoteFailureKind::Forbidden, message));
    };
    if is_custom(kind) {
        return custom_entity(kind, row, custom_types, known_tag);
    }
    let child = match row.get("child") {
        Some(child) if child.is_object() => child,
        Some(Value::String(sentence)) => return Err(hidden_or_broken(sentence)),
        _ => {
            let message = format!("entity {} comes without its fields", head.entity_id);
            return Err(RemoteFailure::new(RemoteFailureKind::BrokenEntity, message));
        }
    };
    let mut entity = typed_entity(kind, child, known_tag)?;
    entity.aliases = entity.aliases.or(aliases_of(row));
    if entity.posts.is_none() {
        entity.posts = posts_of(row)?;
    }
    // Lists of changes compare the entity's own `updated_at`, not that of its typed row.
    entity.updated_at = row.get("updated_at").and_then(moment_of).or(entity.updated_at);
    Ok(entity)
}

/// An entity of a custom module. Without a subtype of its own, the name of the module is its subtype.
fn custom_entity(
    kind: &'static RemoteKind,
    row: &Value,
    custom_types: &BTreeMap<u64, String>,
    known_tag: &dyn Fn(u64) -> Option<KnownTag>,
) -> Result<RemoteEntity, RemoteFailure> {
    let mut fields = row.clone();
    let module = row.get("type_id").and_then(number_of).and_then(|id| custom_types.get(&id)).cloned();
    let subtype = text_of(row, "type_field").or(module).unwrap_or_default();
    fields["entity_id"] = fields["id"].clone();
    fields["type"] = Value::String(subtype);
    typed_entity(kind, &fields, known_tag)
}

/// The ids of an entity that was created, from a row of `/entities` without its typed row.
pub(super) fn created_ids(row: &Value) -> Result<RemoteCreated, RemoteFailure> {
    let number = |name: &str| row.get(name).and_then(number_of).filter(|id| *id > 0);
    match (number("id"), number("child_id")) {
        (Some(entity_id), Some(id)) => Ok(RemoteCreated { id, entity_id, entity: None }),
        _ => Err(broken("a new entity has no id")),
    }
}

/// A row of the list of changes.
pub(super) fn head_of(row: &Value) -> Result<RemoteHead, RemoteFailure> {
    let entity_id = row.get("id").and_then(number_of).ok_or_else(|| broken("an entity has no id"))?;
    let module = || row.get("module")?.get("code")?.as_str();
    let by_number = || {
        let type_id = row.get("type_id").and_then(number_of)?;
        ENTITY_KINDS.iter().find(|kind| kind.type_id == type_id).map(|kind| kind.code)
    };
    let code = by_number().or_else(module).or_else(|| row.get("type")?.as_str());
    let code = if is_custom_row(row) { Some(CUSTOM) } else { code };
    Ok(RemoteHead {
        entity_id,
        kind: code.and_then(kind_of_code),
        updated_at: row.get("updated_at").and_then(moment_of),
    })
}

pub(super) fn post_of(row: &Value) -> Result<RemotePost, RemoteFailure> {
    let id = row.get("id").and_then(number_of).ok_or_else(|| broken("a post has no id"))?;
    let visibility = row.get("visibility_id").and_then(number_of);
    let is_private = visibility.map_or_else(|| flag_of(row, "is_private"), |id| !SHARED_VISIBILITIES.contains(&id));
    Ok(RemotePost {
        id,
        name: text_of(row, "name").unwrap_or_default(),
        html: text_of(row, "entry").unwrap_or_default(),
        is_private,
        updated_at: row.get("updated_at").and_then(moment_of),
    })
}

fn posts_of(row: &Value) -> Result<Option<Vec<RemotePost>>, RemoteFailure> {
    row.get("posts").and_then(Value::as_array).map(|posts| posts.iter().map(post_of).collect()).transpose()
}

fn aliases_of(row: &Value) -> Option<Vec<RemoteAlias>> {
    let assets = row.get("entity_assets")?.as_array()?.iter();
    let is_alias = |asset: &&Value| asset.get("type_id").and_then(number_of) == Some(ALIAS_TYPE);
    // Leave out hidden aliases: the lore has no hidden ones, so they would become as public as their entity.
    let is_public = |asset: &&Value| {
        asset.get("visibility_id").is_none_or(|id| number_of(id) == Some(VISIBLE_TO_ALL))
            && !flag_of(asset, "is_private")
    };
    Some(assets.filter(is_alias).filter(is_public).filter_map(alias_of).collect())
}

pub(super) fn alias_of(row: &Value) -> Option<RemoteAlias> {
    Some(RemoteAlias { id: row.get("id").and_then(number_of)?, name: text_of(row, "name")? })
}

pub(super) fn text_of(row: &Value, name: &str) -> Option<String> {
    match row.get(name)? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A number, also as a text.
pub(super) fn number_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

pub(super) fn flag_of(row: &Value, name: &str) -> bool {
    match row.get(name) {
        Some(Value::Bool(flag)) => *flag,
        Some(value) => number_of(value) == Some(1),
        None => false,
    }
}

/// A moment, with or without an offset; in older answers it is an object.
fn moment_of(value: &Value) -> Option<Timestamp> {
    let text = value.as_str().or_else(|| value.get("date")?.as_str())?.trim();
    let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse().ok().or_else(|| civil().map(|zoned| zoned.timestamp()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn null_fields_are_empty_and_a_row_without_an_id_is_broken() {
        let row = json!({
            "id": 5, "entity_id": "77", "name": "Ann", "entry": null, "type": null, "tags": [1, {"id": 2}, 9],
            "is_private": 1, "created_by": null, "updated_at": "2025-05-30T10:00:00.000000Z", "parent_id": null,
            "image_full": "https://x/y.png", "has_custom_image": false,
            "posts": [{"id": 3, "name": "Cellar", "entry": null, "visibility_id": 4}],
            "entity_assets": [{"id": 8, "type_id": 3, "name": "Annie"}, {"id": 9, "type_id": 2, "name": "a link"}],
        });
        let known_tag = |id: u64| (id < 9).then(|| KnownTag::Named(format!("t{id}")));
        let entity = typed_entity(kind_of_code("character").unwrap(), &row, &known_tag).unwrap();
        assert_eq!(
            (entity.entity_id, entity.id, entity.html.as_deref(), entity.is_private),
            (77, 5, Some(""), Some(true))
        );
        let tags = Some(vec!["t1".to_owned(), "t2".to_owned()]);
        assert_eq!((entity.tags, entity.hidden_tags, entity.image), (tags, vec![9], Some(None)));
        assert_eq!((entity.parent, entity.date), (RemoteParent::None, None), "what is missing is not cleared");
        assert_eq!(entity.aliases.unwrap(), [RemoteAlias { id: 8, name: "Annie".to_owned() }]);
        let cellar =
            RemotePost { id: 3, name: "Cellar".to_owned(), html: String::new(), is_private: true, updated_at: None };
        assert_eq!(entity.posts.unwrap(), [cellar]);
        let unnamed = json!({"id": 1, "entity_id": 2, "name": null});
        assert_eq!(typed_entity(kind_of_code("note").unwrap(), &unnamed, &known_tag).unwrap().name, "");
        for broken in [json!({"entity_id": 1, "name": "x"}), json!(3)] {
            assert!(typed_entity(kind_of_code("note").unwrap(), &broken, &known_tag).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_secret_alias_or_tag_stays_there() {
        let row = json!({
            "id": 5, "entity_id": 77, "name": "Ann", "tags": [1, 2],
            "entity_assets": [
                {"id": 8, "type_id": 3, "name": "Annie", "visibility_id": 1},
                {"id": 9, "type_id": 3, "name": "The Traitor", "visibility_id": 2},
                {"id": 10, "type_id": 3, "name": "Mine", "visibility_id": 4},
            ],
        });
        let known_tag = |id: u64| Some(if id == 1 { KnownTag::Named("npc".to_owned()) } else { KnownTag::Private });
        let entity = typed_entity(kind_of_code("character").unwrap(), &row, &known_tag).unwrap();
        assert_eq!(entity.aliases.unwrap(), [RemoteAlias { id: 8, name: "Annie".to_owned() }]);
        assert_eq!((entity.tags, entity.hidden_tags), (Some(vec!["npc".to_owned()]), vec![2]));
    }

    #[test]
    fn a_parent_is_named_by_either_of_its_ids() {
        let parent = |kind: &str, row: Value| parent_of(kind_of_code(kind).unwrap(), &row);
        assert_eq!(parent("location", json!({"parent_id": 9, "location_id": 3})), RemoteParent::Entity(9));
        assert_eq!(parent("location", json!({"parent_id": null, "location_id": 3})), RemoteParent::None);
        assert_eq!(parent("location", json!({"location_id": 3})), RemoteParent::SameKind(3));
        assert_eq!(parent("location", json!({"parent_location_id": null})), RemoteParent::None);
        // Where a character lives is not its parent.
        assert_eq!(parent("character", json!({"location_id": 3})), RemoteParent::Unknown);
    }

    #[test]
    fn an_entity_without_its_fields_is_not_gone() {
        let whole = |row: Value| whole_entity(&row, &BTreeMap::new(), &|_| None).unwrap_err().kind;
        let row = |child: Value| json!({"id": 7, "type": "character", "type_id": 1, "child_id": 3, "child": child});
        assert_eq!(whole(row(json!("permission issue"))), RemoteFailureKind::Forbidden);
        assert_eq!(whole(row(json!("Invalid child, please contact us"))), RemoteFailureKind::BrokenEntity);
        assert_eq!(whole(row(Value::Null)), RemoteFailureKind::BrokenEntity);
        assert_eq!(whole(json!({"id": 7, "type": "dice_roll", "type_id": 13})), RemoteFailureKind::Forbidden);
        assert_eq!(whole(json!({"type": "character"})), RemoteFailureKind::BrokenAnswer);
    }

    #[test]
    fn a_page_says_whether_it_is_the_last() {
        let read = |row: &Value| Ok(row.clone());
        let page = |answer: &Value, number| page_of(answer, number, read).unwrap();
        let answer = json!({"data": [1], "sync": "2025-05-30T10:00:00.000000Z", "meta": {"last_page": 3, "total": 91}});
        assert_eq!((page(&answer, 2).is_last, page(&answer, 3).is_last, page(&answer, 2).total), (false, true, 91));
        assert!(page(&answer, 1).sync.is_some());
        let linked = json!({"data": [1], "links": {"next": "https://x/?page=2"}});
        assert!(!page(&linked, 1).is_last && page(&json!({"data": [1], "links": {"next": null}}), 1).is_last);
        assert!(page(&json!({"data": [], "meta": {"last_page": 3}}), 1).is_last, "pages moved");
        assert!(page_of(&json!({"rows": []}), 1, read).is_err() && page_of(&json!({"data": 5}), 1, read).is_err());
    }

    #[test]
    fn every_mirrored_kind_has_a_route() {
        for kind in MIRRORED_KINDS.iter().filter(|kind| !is_custom(kind)) {
            assert!(!plural_of(kind).is_empty() && type_id_of(kind) > 0, "{}", kind.word);
            let known = ENTITY_KINDS.iter().find(|known| known.code == kind.word).unwrap();
            assert_eq!(known.entity_type, kind.entity_type.map(EntityType::as_str), "{}", kind.word);
        }
    }
}
