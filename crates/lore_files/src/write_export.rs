//! Writes lore as a folder of Markdown files that people can read, and that imports back equal.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::front_matter::write_scalar;
use crate::import::hash_parts;
use crate::safe_names::SafePaths;
use crate::skald_format::{
    MANIFEST_FORMAT, MANIFEST_ORIGINALS, MANIFEST_PATH, MANIFEST_VERSION, OriginalHtml, OriginalTexts, escape_marks,
    post_heading, write_post_mark,
};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedEntity {
    /// Not 0, and each once.
    pub entity_id: u64,
    /// One of [`crate::ENTITY_TYPES`].
    pub entity_type: String,
    pub name: String,
    /// Empty if there is none.
    pub subtype: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    pub is_private: bool,
    /// An `entity_id` of this export.
    pub parent: Option<u64>,
    pub image: Option<String>,
    pub date: Option<String>,
    pub actor_id: Option<String>,
    /// Markdown. Mentions stay as they are: the manifest says which file has which id.
    pub text: Option<String>,
    /// The HTML that the text was made from.
    pub html: Option<String>,
    pub posts: Vec<ExportedPost>,
    pub created_at: Option<String>,
    pub updated_at: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportedPost {
    pub post_id: u64,
    pub name: String,
    pub is_private: bool,
    /// Markdown.
    pub text: Option<String>,
    /// The HTML that the text was made from.
    pub html: Option<String>,
}

/// The files of an export, as relative path and content, in the order of the entities; the manifest is the last.
pub fn write_export(entities: &[ExportedEntity]) -> Vec<(String, String)> {
    let mut safe_paths = SafePaths::default();
    let paths: BTreeMap<u64, String> = entities
        .iter()
        .map(|entity| {
            let folder = type_folder(&entity.entity_type);
            (entity.entity_id, safe_paths.claim_path(folder, &entity.name, entity.entity_id))
        })
        .collect();
    let mut files: Vec<(String, String)> = entities
        .iter()
        .map(|entity| (format!("{}.md", paths[&entity.entity_id]), write_entity(entity, &paths)))
        .collect();
    let manifest: Map<String, Value> =
        paths.iter().map(|(entity_id, path)| (entity_id.to_string(), json!(format!("{path}.md")))).collect();
    let mut manifest = json!({"format": MANIFEST_FORMAT, "version": MANIFEST_VERSION, "entities": manifest});
    for entity in entities {
        if let Some(originals) = write_originals(entity) {
            let path = format!("{}.html.json", paths[&entity.entity_id]);
            manifest[MANIFEST_ORIGINALS][entity.entity_id.to_string()] = json!(path);
            files.push((path, originals));
        }
    }
    files.push((MANIFEST_PATH.to_owned(), format!("{manifest:#}\n")));
    files
}

fn type_folder(entity_type: &str) -> &'static str {
    match entity_type {
        "character" => "Characters",
        "creature" => "Creatures",
        "location" => "Locations",
        "organization" => "Organizations",
        "race" => "Races",
        "note" => "Notes",
        "journal" => "Journals",
        "quest" => "Quests",
        "item" => "Items",
        "clue" => "Clues",
        "event" => "Events",
        "document" => "Documents",
        _ => "Other",
    }
}

fn write_entity(entity: &ExportedEntity, paths: &BTreeMap<u64, String>) -> String {
    let mut file = String::from("---\n");
    let mut add_line = |key: &str, value: &str| file.extend([key, ": ", value, "\n"]);
    add_line("entity_id", &entity.entity_id.to_string());
    add_line("type", &write_scalar(&entity.entity_type));
    add_line("name", &write_scalar(&entity.name));
    if !entity.subtype.is_empty() {
        add_line("subtype", &write_scalar(&entity.subtype));
    }
    for (key, names) in [("tags", &entity.tags), ("aliases", &entity.aliases)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| write_scalar(name)).collect();
            add_line(key, &format!("[{}]", names.join(", ")));
        }
    }
    add_line("is_private", if entity.is_private { "true" } else { "false" });
    if let Some(parent) = entity.parent {
        // Programs that know links find the parent by its path.
        let link = paths.get(&parent).map_or_else(|| format!("skald:{parent}"), |path| format!("[[{path}]]"));
        add_line("parent", &write_scalar(&link));
    }
    let optional = [
        ("image", &entity.image),
        ("date", &entity.date),
        ("actor_id", &entity.actor_id),
        ("created_at", &entity.created_at),
        ("updated_at", &entity.updated_at),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            add_line(key, &write_scalar(value));
        }
    }
    file.push_str("---\n");
    push_text(&mut file, entity.text.as_deref());
    for post in &entity.posts {
        let fields = json!({"post_id": post.post_id, "name": post.name, "is_private": post.is_private});
        file.push_str(&write_post_mark(&fields));
        file.push_str(&post_heading(&post.name));
        push_text(&mut file, post.text.as_deref());
    }
    file
}

/// The file with the HTML that the texts of an entity were made from, if any of them was.
fn write_originals(entity: &ExportedEntity) -> Option<String> {
    let original = |text: &Option<String>, html: &Option<String>| {
        let (text, html) = (text.as_ref()?, html.as_ref()?);
        Some(OriginalHtml { sha256: hash_parts([text.as_bytes()]), html: html.clone() })
    };
    let posts = entity.posts.iter().filter_map(|post| Some((post.post_id, original(&post.text, &post.html)?)));
    let originals = OriginalTexts { entry: original(&entity.text, &entity.html), posts: posts.collect() };
    if originals == OriginalTexts::default() {
        return None;
    }
    let text = serde_json::to_string_pretty(&originals).unwrap_or_default();
    Some(format!("{text}\n"))
}

fn push_text(file: &mut String, text: Option<&str>) {
    if let Some(text) = text {
        file.push_str(&escape_marks(text));
        file.push('\n');
    }
}
