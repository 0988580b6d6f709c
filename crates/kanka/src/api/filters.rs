//! Filters of lists: Kanka's parameters and value operators as conditions of the engine's lists.

use serde_json::{Map, Value, json};

use super::entity_json::{USER_ID, entity_types_of};
use super::errors::{ApiError, ApiResult};
use super::request::ApiRequest;
use crate::{ENTITY_KINDS, EntityKind};

/// Filters on things that Skald does not store. If one is set, no entity fits.
const UNSUPPORTED_FILTERS: [&str; 26] = [
    "age",
    "attribute_name",
    "attribute_value",
    "author_id",
    "character_id",
    "connection_name",
    "connection_target",
    "creators",
    "element_role",
    "families",
    "family_id",
    "family",
    "instigator_id",
    "location_id",
    "locations",
    "member_id",
    "organisation_id",
    "price",
    "pronouns",
    "quest_element_id",
    "race_id",
    "races",
    "sex",
    "size",
    "status_id",
    "title",
];

/// A filter that no entity fits.
fn match_nothing() -> Value {
    json!({"entity_ids": []})
}

/// The filter of `/entities`: tags are any of those that are named.
pub(super) fn entities_filter(request: &ApiRequest) -> Value {
    let mut filter = common_filter(request);
    let codes = request.parameter_list("types");
    let type_ids = request.parameter_list("type_id");
    if !codes.is_empty() || !type_ids.is_empty() {
        let is_asked =
            |kind: &&EntityKind| codes.contains(&kind.code) || type_ids.iter().any(|id| id.parse() == Ok(kind.type_id));
        let types: Vec<&str> = ENTITY_KINDS.iter().filter(is_asked).flat_map(entity_types_of).collect();
        filter.insert("entity_types".to_owned(), json!(types));
    }
    let tags = tag_ids(request);
    if !tags.is_empty() {
        filter.insert("tags".to_owned(), json!({"any_of": tags}));
    }
    if fits_nothing(request) { match_nothing() } else { Value::Object(filter) }
}

/// The filter of the list of a kind: tags are all of those that are named, unless another option is.
pub(super) fn typed_filter(request: &ApiRequest, kind: &EntityKind) -> ApiResult<Value> {
    let mut filter = common_filter(request);
    filter.insert("entity_types".to_owned(), json!(entity_types_of(kind)));
    let tags = tag_ids(request);
    let tags = match request.parameter("tags_option") {
        Some("none") => Some(json!("untagged")),
        _ if tags.is_empty() => None,
        Some("any") => Some(json!({"any_of": tags})),
        Some("exclude") => Some(json!({"none_of": tags})),
        _ => Some(json!({"all_of": tags})),
    };
    filter.extend(tags.map(|tags| ("tags".to_owned(), tags)));
    for name in ["has_entry", "has_posts", "has_image"] {
        filter.extend(request.flag(name).map(|has| (name.to_owned(), json!(has))));
    }
    if let Some(parent) = request.parameter("parent_id") {
        match parent {
            "!!" => filter.insert("has_parent".to_owned(), json!(false)),
            parent => filter.insert("parent".to_owned(), json!(parse_id(parent, "parent_id")?)),
        };
    }
    filter.insert("date".to_owned(), text_conditions(request.parameter("date")));
    for (name, field) in [("date_start", "date_from"), ("date_end", "date_until")] {
        filter.extend(request.parameter(name).map(|day| (field.to_owned(), json!(day))));
    }
    if request.flag("archived") == Some(true) {
        filter.insert("archived".to_owned(), json!(true));
    }
    let has_unsupported =
        UNSUPPORTED_FILTERS.iter().any(|name| request.parameter_list(name).into_iter().any(|value| value != "!!"))
            || [("has_attributes", true), ("has_entity_files", true), ("template", true)]
                .iter()
                .any(|(name, is_on)| request.flag(name) == Some(*is_on));
    Ok(if has_unsupported || fits_nothing(request) { match_nothing() } else { Value::Object(filter) })
}

/// The conditions of `/tags`.
pub(super) fn tags_filter(request: &ApiRequest) -> Value {
    let mut filter = Map::from_iter([("name".to_owned(), text_conditions(request.parameter("name")))]);
    filter.extend(request.parameter("lastSync").map(|moment| ("updated_after".to_owned(), json!(moment))));
    if fits_nothing(request) || request.flag("is_private") == Some(true) {
        filter.insert("ids".to_owned(), json!([]));
    }
    Value::Object(filter)
}

/// What both lists of entities take.
fn common_filter(request: &ApiRequest) -> Map<String, Value> {
    let mut filter = Map::new();
    filter.insert("name".to_owned(), text_conditions(request.parameter("name")));
    filter.insert("type".to_owned(), text_conditions(request.parameter("type")));
    filter.extend(request.flag("is_private").map(|is_private| ("is_private".to_owned(), json!(is_private))));
    filter.extend(request.parameter("lastSync").map(|moment| ("updated_after".to_owned(), json!(moment))));
    filter
}

/// Whether a filter asks for templates, or for entities of another user: Skald has neither.
fn fits_nothing(request: &ApiRequest) -> bool {
    let is_another = |name: &str| request.parameter(name).is_some_and(|id| id.parse() != Ok(USER_ID));
    request.flag("is_template") == Some(true) || is_another("created_by") || is_another("updated_by")
}

/// `x!` is exactly x, `!x` not with x, `!!` is empty, `a;b` is both, anything else is a part.
fn text_conditions(value: Option<&str>) -> Value {
    let parts = value.unwrap_or_default().split(';').map(str::trim).filter(|part| !part.is_empty());
    let conditions = parts.map(|part| match (part.strip_prefix('!'), part.strip_suffix('!')) {
        _ if part == "!!" => json!({"is_empty": true}),
        (_, Some(whole)) if !whole.is_empty() => json!({"equals": whole}),
        (Some(rest), _) if !rest.is_empty() => json!({"lacks": rest}),
        _ => json!({"contains": part}),
    });
    conditions.collect()
}

/// The tags that a filter names. What is no id is left out, as Kanka does.
fn tag_ids(request: &ApiRequest) -> Vec<u32> {
    let named = request.parameter_list("tags").into_iter().chain(request.parameter_list("tag_id"));
    named.filter_map(|id| id.parse().ok()).collect()
}

pub(super) fn parse_id(text: &str, field: &str) -> ApiResult<u64> {
    text.parse().map_err(|_| ApiError::invalid_field(field, format!("{field} is a number"), "send an id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_operators_are_conditions() {
        for (value, conditions) in [
            (None, json!([])),
            (Some(""), json!([])),
            (Some("ael"), json!([{"contains": "ael"}])),
            (Some("Aelysh!"), json!([{"equals": "Aelysh"}])),
            (Some("!ael"), json!([{"lacks": "ael"}])),
            (Some("!!"), json!([{"is_empty": true}])),
            (Some("a; !b ;c!"), json!([{"contains": "a"}, {"lacks": "b"}, {"equals": "c"}])),
            (Some("!"), json!([{"contains": "!"}])),
        ] {
            assert_eq!(text_conditions(value), conditions, "{value:?}");
        }
    }
}
