//! The extension `io.modelcontextprotocol/skills`: `skills/list`, `skills/get`, and the files of skills as resources.

use std::collections::BTreeMap;

use rmcp::ErrorData;
use rmcp::model::{ExtensionCapabilities, JsonObject, ReadResourceResult, ResourceContents};
use serde_json::{Map, Value, json};
use skald_app::skills::{SKILLS, Skill, SkillFile};
use skald_app::{Code, Fault, Toolset, truncate_for_message};

use crate::convert;

pub(crate) const LIST: &str = "skills/list";
pub(crate) const GET: &str = "skills/get";
/// The scheme of the files of skills.
const SCHEME: &str = "skill://";
const MARKDOWN: &str = "text/markdown";
/// How long a client may cache an answer: the files are part of the binary.
const TTL_MS: u64 = 300_000;

/// The extension, for the capabilities of the server.
pub(crate) fn capability() -> ExtensionCapabilities {
    BTreeMap::from([("io.modelcontextprotocol/skills".to_owned(), JsonObject::new())])
}

pub(crate) fn is_skill_uri(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// The answer to `skills/list`.
pub(crate) fn list(is_visible: impl Fn(Toolset) -> bool, params: Option<&Value>) -> Result<Value, ErrorData> {
    if let Some(cursor) = params.and_then(|params| params.get("cursor")).filter(|cursor| !cursor.is_null()) {
        let message =
            format!("unknown cursor {}: the whole list comes without one", truncate_for_message(&cursor.to_string()));
        return Err(convert::protocol_error(&Fault::new(Code::InvalidParams, message)));
    }
    let skills: Vec<Value> = visible_skills(is_visible).map(|skill| entry(&skill)).collect();
    Ok(complete("skills", json!(skills)))
}

/// The answer to `skills/get`.
pub(crate) fn get(is_visible: impl Fn(Toolset) -> bool, params: Option<&Value>) -> Result<Value, ErrorData> {
    let Some(uri) = params.and_then(|params| params.get("uri")).and_then(Value::as_str) else {
        let fault = Fault::new(Code::InvalidParams, "skills/get needs the uri of a SKILL.md").with_path("/uri");
        return Err(convert::protocol_error(&fault));
    };
    let found = visible_skills(is_visible).find(|skill| file_uri(skill, &skill.files[0]) == uri);
    found.map(|skill| complete("skill", entry(&skill))).ok_or_else(|| unknown_uri(uri))
}

/// A file of a skill.
pub(crate) fn read(is_visible: impl Fn(Toolset) -> bool, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    for skill in visible_skills(is_visible) {
        if let Some(file) = skill.files.iter().find(|file| file_uri(&skill, file) == uri) {
            let contents = ResourceContents::text(file.text, uri).with_mime_type(MARKDOWN);
            return Ok(ReadResourceResult::new(vec![contents]));
        }
    }
    Err(unknown_uri(uri))
}

fn visible_skills(is_visible: impl Fn(Toolset) -> bool) -> impl Iterator<Item = Skill> {
    SKILLS.into_iter().filter(move |skill| is_visible(skill.toolset))
}

fn unknown_uri(uri: &str) -> ErrorData {
    let message = format!("there is no skill or file of one at {:?}", truncate_for_message(uri));
    let fault = Fault::new(Code::InvalidParams, message).with_path("/uri").hint("skills/list has all of them");
    convert::protocol_error(&fault)
}

fn file_uri(skill: &Skill, file: &SkillFile) -> String {
    format!("{SCHEME}{}/{}", skill.name, file.path)
}

/// A skill with its front matter and the digests of all its files.
fn entry(skill: &Skill) -> Value {
    let fields = skill.front_matter().into_iter().map(|(name, value)| (name.to_owned(), json!(value)));
    let resource = |file: &SkillFile| {
        json!({
            "uri": file_uri(skill, file),
            "digest": format!("sha256:{}", file.sha256()),
            "size": file.text.len(),
        })
    };
    json!({
        "uri": file_uri(skill, &skill.files[0]),
        "frontmatter": fields.collect::<Map<String, Value>>(),
        "resources": skill.files.iter().map(resource).collect::<Vec<_>>(),
    })
}

/// A result with what every answer of the extension has.
fn complete(field: &str, value: Value) -> Value {
    let mut result = json!({"resultType": "complete", "ttlMs": TTL_MS, "cacheScope": "public"});
    result[field] = value;
    result
}
