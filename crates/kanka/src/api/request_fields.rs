//! Fields of a request's body, as Kanka takes them, checked and turned into those of the engine's changes.

use serde_json::{Map, Value, json};
use skald_app::{Code, Fault};

use super::errors::{ApiError, ApiResult};

type Body = Map<String, Value>;

/// A text; null and a missing one are `None`, numbers are taken as they are written.
pub(super) fn text_field(body: &Body, name: &str) -> ApiResult<Option<String>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(ApiError::invalid_field(name, format!("{name} is a text"), "send a text")),
    }
}

/// The name of something that is created.
pub(super) fn required_name(body: &Body) -> ApiResult<String> {
    let name = text_field(body, "name")?.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    name.ok_or_else(|| ApiError::invalid_field("name", "the name field is required", "send a name"))
}

/// A switch: a boolean, 0 or 1, or one of them as a text.
pub(super) fn flag_field(body: &Body, name: &str) -> ApiResult<Option<bool>> {
    let word = match body.get(name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Bool(flag)) => return Ok(Some(*flag)),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::String(text)) => text.trim().to_ascii_lowercase(),
        Some(Value::Array(_) | Value::Object(_)) => "a list or an object".to_owned(),
    };
    match word.as_str() {
        "1" | "true" => Ok(Some(true)),
        "0" | "false" | "" => Ok(Some(false)),
        _ => Err(ApiError::invalid_field(name, format!("{name} is true or false"), "send true, false, 1 or 0")),
    }
}

/// An id, as a number or a text; null and a missing one are `None`.
pub(super) fn id_field(body: &Body, name: &str) -> ApiResult<Option<u64>> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(value) => match id_of(value) {
            Some(id) => Ok(Some(id)),
            None => Err(ApiError::invalid_field(name, format!("{name} is a number"), "send an id")),
        },
    }
}

fn id_of(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())
}

/// The fields of an entity that all kinds have, for a change of the engine. What is not in the body is left out.
pub(super) fn entity_fields(body: &Body) -> ApiResult<Body> {
    let mut fields = Map::new();
    if body.contains_key("name") {
        fields.insert("name".to_owned(), json!(text_field(body, "name")?.unwrap_or_default()));
    }
    for name in ["type", "entry"] {
        if body.contains_key(name) {
            fields.insert(name.to_owned(), json!(text_field(body, name)?.unwrap_or_default()));
        }
    }
    if let Some(is_private) = flag_field(body, "is_private")? {
        fields.insert("is_private".to_owned(), json!(is_private));
    }
    for (name, field) in [("date", "date"), ("image_url", "image")] {
        if body.contains_key(name) {
            let text = text_field(body, name)?.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
            fields.insert(field.to_owned(), json!(text));
        }
    }
    if let Some(tags) = body.get("tags") {
        fields.extend(tag_fields(tags)?);
    }
    Ok(fields)
}

/// Tags by id; a text that is no number is the name of a tag, with or without `new:` before it.
fn tag_fields(tags: &Value) -> ApiResult<Body> {
    let tags = match tags {
        Value::Null => &Vec::new(),
        Value::Array(tags) => tags,
        _ => return Err(ApiError::invalid_field("tags", "tags is a list of ids", "send a list such as [1, 2]")),
    };
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    for tag in tags {
        match (id_of(tag), tag.as_str()) {
            (Some(id), _) => match u32::try_from(id) {
                Ok(id) => ids.push(id),
                Err(_) => return Err(unknown_tag(id)),
            },
            (None, Some(name)) => names.push(name.strip_prefix("new:").unwrap_or(name).to_owned()),
            (None, None) => {
                return Err(ApiError::invalid_field("tags", "a tag is an id or a name", "send a list such as [1, 2]"));
            }
        }
    }
    Ok(Map::from_iter([("tags".to_owned(), json!(ids)), ("tag_names".to_owned(), json!(names))]))
}

fn unknown_tag(id: u64) -> ApiError {
    let fault = Fault::new(Code::InvalidParams, format!("there is no tag {id} in this campaign"));
    fault.with_path("/tags").hint("list the tags for their ids").into()
}

/// Whether only game masters see a post; `None` if the body does not say. All and members are 1 and 5; game masters,
/// the writer and both are 2, 4 and 3.
pub(super) fn post_privacy(body: &Body) -> ApiResult<Option<bool>> {
    let by_number = match id_field(body, "visibility_id")? {
        None => None,
        Some(1 | 5) => Some(false),
        Some(2..=4) => Some(true),
        Some(other) => {
            let message = format!("visibility_id is from 1 to 5, {other} is outside");
            return Err(ApiError::invalid_field("visibility_id", message, "1 is all, 2 is game masters"));
        }
    };
    let by_word = match text_field(body, "visibility")?.as_deref() {
        None => None,
        Some("all" | "members") => Some(false),
        Some("admin" | "admin-self" | "self") => Some(true),
        Some(_) => return Err(ApiError::invalid_field("visibility", "visibility is all or admin", "send one of them")),
    };
    Ok(by_number.or(by_word).or(flag_field(body, "is_private")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(value: Value) -> Body {
        match value {
            Value::Object(fields) => fields,
            other => panic!("{other} is no object"),
        }
    }

    #[test]
    fn only_what_was_sent_is_changed() {
        assert_eq!(entity_fields(&body(json!({}))).unwrap(), Map::new());
        let fields = entity_fields(&body(json!({
            "name": "Ann", "type": null, "entry": "<p>a</p>", "is_private": "1", "date": "", "tags": [1, "2", "new:Elf"]
        })));
        assert_eq!(
            Value::Object(fields.unwrap()),
            json!({
                "name": "Ann", "type": "", "entry": "<p>a</p>", "is_private": true, "date": null, "tags": [1, 2],
                "tag_names": ["Elf"]
            })
        );
    }

    #[test]
    fn fields_of_another_shape_are_refused() {
        for wrong in [
            json!({"name": []}),
            json!({"entry": {}}),
            json!({"is_private": "perhaps"}),
            json!({"is_private": []}),
            json!({"tags": "elf"}),
            json!({"tags": [{}]}),
            json!({"tags": [5_000_000_000_u64]}),
        ] {
            assert!(entity_fields(&body(wrong.clone())).is_err(), "{wrong}");
        }
        assert!(post_privacy(&body(json!({"visibility_id": 6}))).is_err());
        assert!(post_privacy(&body(json!({"visibility": "nobody"}))).is_err());
    }

    #[test]
    fn visibilities_are_private_or_not() {
        for (visibility_id, is_private) in [(1, false), (2, true), (3, true), (4, true), (5, false)] {
            let privacy = post_privacy(&body(json!({"visibility_id": visibility_id})));
            assert_eq!(privacy.unwrap(), Some(is_private), "{visibility_id}");
        }
        assert_eq!(post_privacy(&body(json!({}))).unwrap(), None);
        assert_eq!(post_privacy(&body(json!({"visibility": "admin"}))).unwrap(), Some(true));
    }
}
