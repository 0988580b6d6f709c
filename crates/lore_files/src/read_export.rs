//! Reads our own export back. Files that people added to it are notes, as in any other folder of Markdown.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::entity_types::exact_type;
use crate::front_matter::{YamlValue, parse_front_matter, split_front_matter};
use crate::import::{
    Import, ImportFormat, ImportLoss, ImportedEntity, ImportedPost, ImportedText, SKALD_POST_SOURCE, hash_parts,
};
use crate::json_fields::parse_json;
use crate::link_index::LinkIndex;
use crate::skald_format::{
    MANIFEST_FORMAT, MANIFEST_ORIGINALS, MANIFEST_PATH, MANIFEST_VERSION, MarkLine, OriginalHtml, OriginalTexts,
    parse_mark_line, post_heading, unescape_marks,
};
use crate::source_file::{check_archive_path, decode_text, is_markdown};
use crate::vault::{VaultNote, add_unused_files, read_note};
use crate::{ImportError, SourceFile};

/// The manifest, if these files are an export of ours.
pub(crate) fn find_manifest(files: &[SourceFile]) -> Result<Option<Value>, ImportError> {
    let file = files.iter().find(|file| file.path == MANIFEST_PATH);
    let Some(content) = file.and_then(|file| file.content.as_deref()) else { return Ok(None) };
    let manifest = parse_json(content, MANIFEST_PATH)?;
    if manifest["format"] != MANIFEST_FORMAT {
        return Ok(None);
    }
    let version = manifest["version"].as_u64().unwrap_or(u64::MAX);
    if version > MANIFEST_VERSION {
        return Err(ImportError::NewerExport { version, readable: MANIFEST_VERSION });
    }
    Ok(Some(manifest))
}

/// The paths of the files that an export wrote, by the content of its manifest: relative, without `..`. `None` if this is
/// no manifest that can be read.
pub fn exported_paths(manifest: &[u8]) -> Option<Vec<String>> {
    let file = SourceFile { path: MANIFEST_PATH.to_owned(), content: Some(manifest.to_vec()) };
    let manifest = find_manifest(&[file]).ok().flatten()?;
    let is_safe = |path: &str| check_archive_path(path).is_ok_and(|checked| checked == path);
    let entities = manifest_paths(&manifest, "entities").into_values().filter(|path| is_markdown(path));
    let is_original = |path: &&str| path.ends_with(".html.json");
    let originals = manifest_paths(&manifest, MANIFEST_ORIGINALS).into_values().filter(is_original);
    Some(entities.chain(originals).filter(|path| is_safe(path)).map(str::to_owned).collect())
}

/// The paths that a manifest names, by the ids of entities.
fn manifest_paths<'a>(manifest: &'a Value, key: &str) -> BTreeMap<u64, &'a str> {
    let paths = manifest[key].as_object().into_iter().flatten();
    paths.filter_map(|(id, path)| Some((id.parse().ok()?, path.as_str()?))).collect()
}

pub(crate) fn import_export(files: &[SourceFile], manifest: &Value) -> Result<Import, ImportError> {
    let mut losses = Vec::new();
    let mut notes = Vec::new();
    // A file that somebody copied has the id of the original: the file that the manifest names keeps it.
    let named = manifest_paths(manifest, "entities");
    let originals = manifest_paths(manifest, MANIFEST_ORIGINALS);
    let paths: BTreeSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut mentions = BTreeMap::new();
    for file in files.iter().filter(|file| is_markdown(&file.path)) {
        let Some(mut note) = read_exported_entity(file, &mut losses)? else {
            notes.extend(read_note(file, &mut losses)?);
            continue;
        };
        let owner = named.get(&note.entity_id).filter(|path| paths.contains(*path));
        let is_owner = owner.is_none_or(|path| *path == file.path) && !mentions.contains_key(&note.entity_id);
        if is_owner {
            mentions.insert(note.entity_id, note.note.entity.source_id.clone());
            if let Some(path) = originals.get(&note.entity_id) {
                add_originals(&mut note.note.entity, path, files, &mut losses);
            }
        } else {
            losses.push(ImportLoss::new(&file.path, "has the entity_id of another file, so it is a new entity"));
            note.note.entity.source_id.clone_from(&file.path);
        }
        notes.push(note.note);
    }
    for (id, path) in &named {
        if !mentions.contains_key(id) {
            losses.push(ImportLoss::new(*path, "is named by skald.json, and is not there"));
        }
    }
    let links = LinkIndex::new(notes.iter().map(VaultNote::link_names));
    let others = files.iter().map(|file| file.path.as_str()).filter(|path| *path != MANIFEST_PATH);
    let others = others.filter(|path| !originals.values().any(|original| original == path));
    add_unused_files(others, &notes, &mut losses);
    let entities = notes.into_iter().map(|note| note.into_entity(&links)).collect();
    Ok(Import::new(ImportFormat::Skald, entities, losses, links, mentions))
}

/// Gives the texts of an entity the HTML that they were made from, unless somebody has changed them since.
fn add_originals(entity: &mut ImportedEntity, path: &str, files: &[SourceFile], losses: &mut Vec<ImportLoss>) {
    let content = files.iter().find(|file| file.path == path).and_then(|file| file.content.as_deref());
    let originals = content.and_then(|content| serde_json::from_slice::<OriginalTexts>(content).ok());
    let (Some(content), Some(mut originals)) = (content, originals) else {
        losses.push(ImportLoss::new(path, "cannot be read, so the HTML that the texts came from is lost"));
        return;
    };
    entity.source_hash = hash_parts([entity.source_hash.as_bytes(), content]);
    add_original(&mut entity.text, originals.entry);
    for post in &mut entity.posts {
        let post_id = post.source_id.strip_prefix(SKALD_POST_SOURCE).and_then(|id| id.parse().ok());
        add_original(&mut post.text, post_id.and_then(|post_id: u64| originals.posts.remove(&post_id)));
    }
}

fn add_original(text: &mut Option<ImportedText>, original: Option<OriginalHtml>) {
    let (Some(ImportedText::Markdown(markdown)), Some(original)) = (&mut *text, original) else { return };
    if hash_parts([markdown.as_bytes()]) == original.sha256 {
        let markdown = std::mem::take(markdown);
        *text = Some(ImportedText::WithOriginal { markdown, html: original.html });
    }
}

struct ExportedNote {
    entity_id: u64,
    note: VaultNote,
}

/// `None` for a file that has no `entity_id`.
fn read_exported_entity(file: &SourceFile, losses: &mut Vec<ImportLoss>) -> Result<Option<ExportedNote>, ImportError> {
    let content = file.content.as_deref().unwrap_or_default();
    let text = decode_text(content, &file.path)?;
    let (yaml, body) = split_front_matter(text);
    let Some(values) = yaml.and_then(|yaml| parse_front_matter(yaml).ok()) else { return Ok(None) };
    let id = values.iter().find(|(key, _)| key == "entity_id").and_then(|(_, value)| value.single_text());
    let Some(entity_id) = id.and_then(|id| id.parse().ok()) else { return Ok(None) };
    let mut entity = ImportedEntity {
        source_id: format!("skald:{entity_id}"),
        source_hash: hash_parts([content]),
        entity_type: "other",
        // Without a line about it a private entity would become public.
        is_private_at_first: Some(true),
        ..ImportedEntity::default()
    };
    let mut parent_link = None;
    for (key, value) in &values {
        let is_known = match key.as_str() {
            "entity_id" => true,
            "parent" => {
                parent_link = value.single_text().map(str::to_owned);
                true
            }
            key => read_field(&mut entity, key, value),
        };
        if !is_known && !value.is_empty() {
            losses.push(ImportLoss::new(&file.path, format!("front matter {key:?} is not imported")));
        }
    }
    read_body(&mut entity, body, &file.path, losses);
    let file_links = entity.image.iter().cloned().collect();
    Ok(Some(ExportedNote { entity_id, note: VaultNote { path: file.path.clone(), entity, parent_link, file_links } }))
}

/// `false` for a key or value that has no place.
fn read_field(entity: &mut ImportedEntity, key: &str, value: &YamlValue) -> bool {
    let text = match value {
        YamlValue::Text(text) => Some(text.clone()),
        _ => None,
    };
    let list = || value.texts().into_iter().map(str::to_owned).collect();
    match key {
        "type" => {
            let entity_type = text.as_deref().and_then(exact_type);
            entity.entity_type = entity_type.unwrap_or("other");
            return entity_type.is_some();
        }
        "name" => entity.name = text.unwrap_or_default(),
        "subtype" => entity.subtype = text.unwrap_or_default(),
        "tags" => entity.tags = list(),
        "aliases" => entity.aliases = list(),
        "is_private" => {
            entity.is_private = Some(value.boolean().unwrap_or(true));
            return value.boolean().is_some();
        }
        "image" => entity.image = text,
        "date" => entity.date = text,
        "actor_id" => entity.actor_id = text,
        "created_at" => entity.created_at = text,
        "updated_at" => entity.updated_at = text,
        _ => return false,
    }
    true
}

/// Reads the text of an entity and its posts.
fn read_body(entity: &mut ImportedEntity, body: &str, path: &str, losses: &mut Vec<ImportLoss>) {
    let mut start = 0;
    let mut at = 0;
    let mut posts: Vec<ImportedPost> = Vec::new();
    let mut add_text = |posts: &mut Vec<ImportedPost>, text: &str| match posts.last_mut() {
        Some(post) => post.text = read_text(text.strip_prefix(post_heading(&post.name).as_str()).unwrap_or(text)),
        None => entity.text = read_text(text),
    };
    for line in body.split_inclusive('\n') {
        let line_start = at;
        at += line.len();
        let fields = match parse_mark_line(line) {
            None => continue,
            Some(MarkLine::Post(fields)) => fields,
            Some(MarkLine::Damaged) => {
                losses.push(ImportLoss::new(path, "a mark of a post cannot be read, so the post is private"));
                Value::Null
            }
        };
        add_text(&mut posts, &body[start..line_start]);
        start = at;
        let number = posts.len() + 1;
        let source_id = fields["post_id"].as_u64().map(|id| format!("{SKALD_POST_SOURCE}{id}"));
        posts.push(ImportedPost {
            source_id: source_id.unwrap_or_else(|| format!("{path}#post-{number}")),
            name: fields["name"].as_str().unwrap_or("Post").to_owned(),
            is_private: fields["is_private"].as_bool().unwrap_or(true),
            text: None,
        });
    }
    add_text(&mut posts, &body[start..]);
    entity.posts = posts;
}

/// The line break after a text is not part of it, and nothing at all is no text.
fn read_text(text: &str) -> Option<ImportedText> {
    if text.is_empty() {
        return None;
    }
    let text = text.strip_suffix('\n').unwrap_or(text);
    Some(ImportedText::Markdown(unescape_marks(text).into_owned()))
}
