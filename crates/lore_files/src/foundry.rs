//! Reads journals of Foundry, versions 9 to 14: one entry, a list of them, or the files of an unpacked compendium.
//!
//! The first page that everybody who sees the entry may read becomes its text, the other pages become posts. Sections
//! for the game master become private posts.

mod journal_text;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::entity_types::recognise_type;
use crate::import::{
    Import, ImportFormat, ImportLoss, ImportedEntity, ImportedPost, ImportedText, hash_parts, link_names_without_paths,
};
use crate::json_fields::{list_field, parse_json, text_field};
use crate::source_file::file_extension;
use crate::{ImportError, SourceFile};
use journal_text::{JournalNames, rewrite_links, split_secrets};

/// Who has this level of ownership may read; below it a title is seen at most.
const OWNERSHIP_OBSERVER: i64 = 2;
/// A page that has its entry's ownership.
const OWNERSHIP_INHERIT: i64 = -1;
/// The text of a page is Markdown.
const FORMAT_MARKDOWN: u64 = 2;

/// Reads journals, or `None` if there are none in these files.
pub(crate) fn import_foundry(files: &[SourceFile]) -> Result<Option<Import>, ImportError> {
    let mut documents = FoundryDocuments::default();
    let mut losses = Vec::new();
    for file in files.iter().filter(|file| file_extension(&file.path) == "json") {
        let value = parse_json(file.content.as_deref().unwrap_or_default(), &file.path)?;
        match value {
            Value::Array(items) => {
                for (at, item) in items.into_iter().enumerate() {
                    documents.add(format!("{}#{}", file.path, at + 1), item, &mut losses);
                }
            }
            value => documents.add(file.path.clone(), value, &mut losses),
        }
    }
    if documents.journals.is_empty() {
        return Ok(None);
    }
    let names = documents.names();
    let entities: Vec<ImportedEntity> =
        documents.journals.iter().map(|journal| journal.read_entity(&documents.folders, &names, &mut losses)).collect();
    let used_folders: BTreeSet<&String> = documents.journals.iter().filter_map(Journal::folder).collect();
    for id in used_folders {
        let name = documents.folders.get(id).map_or("", String::as_str);
        losses.push(ImportLoss::new(format!("Folder.{id}"), format!("the folder {name:?} is not imported")));
    }
    let links = link_names_without_paths(&entities);
    Ok(Some(Import::new(ImportFormat::Foundry, entities, losses, links, BTreeMap::new())))
}

#[derive(Default)]
struct FoundryDocuments {
    journals: Vec<Journal>,
    /// The source ids of the journals.
    ids: BTreeSet<String>,
    /// Names of folders by id.
    folders: BTreeMap<String, String>,
}

struct Journal {
    source_id: String,
    /// The file, and the number in its list.
    place: String,
    value: Value,
}

impl FoundryDocuments {
    fn add(&mut self, place: String, value: Value, losses: &mut Vec<ImportLoss>) {
        let key = text_field(&value, "_key").unwrap_or_default();
        // Before version 10 an entry had one text and no pages.
        let has_pages_or_text = value["pages"].is_array() || value["content"].is_string() && value["items"].is_null();
        let is_journal = has_pages_or_text && (key.is_empty() || key.starts_with("!journal!"));
        if key.starts_with("!folders!") || value["type"] == "JournalEntry" && value.get("pages").is_none() {
            let name = text_field(&value, "name").unwrap_or_default();
            self.folders.extend(text_field(&value, "_id").map(|id| (id, name)));
        } else if !is_journal {
            losses.push(ImportLoss::new(place, "is no journal entry"));
        } else {
            let source_id = journal_source_id(&value, &place);
            if self.ids.insert(source_id.clone()) {
                self.journals.push(Journal { source_id, place, value });
            } else {
                losses.push(ImportLoss::new(place, "has the id of another entry"));
            }
        }
    }

    fn names(&self) -> JournalNames {
        let mut names = JournalNames::default();
        for journal in &self.journals {
            names.add_entry(&journal.source_id, text_field(&journal.value, "name"));
            for page in list_field(&journal.value, "pages") {
                names.add_page(text_field(page, "_id"), text_field(page, "name"));
            }
        }
        names
    }
}

/// An exported entry has lost its own id, and names where it came from.
fn journal_source_id(value: &Value, place: &str) -> String {
    let own = text_field(value, "_id").map(|id| format!("JournalEntry.{id}"));
    let export = &value["_stats"]["exportSource"];
    let exported = || text_field(export, "uuid").or_else(|| text_field(&value["flags"]["core"], "sourceId"));
    own.or_else(exported).or_else(|| id_in_file_name(place)).unwrap_or_else(|| place.to_owned())
}

/// `fvtt-JournalEntry-the-inn-a1b2c3d4e5f6g7h8.json` ends with the id.
fn id_in_file_name(place: &str) -> Option<String> {
    let stem = place.strip_suffix(".json")?;
    let id = stem.rsplit(['-', '_']).next()?;
    let is_id = id.len() == 16 && id.chars().all(|letter| letter.is_ascii_alphanumeric());
    (is_id && id.len() < stem.len()).then(|| format!("JournalEntry.{id}"))
}

impl Journal {
    fn folder(&self) -> Option<&String> {
        match self.value.get("folder") {
            Some(Value::String(id)) => Some(id),
            _ => None,
        }
    }

    fn read_entity(
        &self,
        folders: &BTreeMap<String, String>,
        names: &JournalNames,
        losses: &mut Vec<ImportLoss>,
    ) -> ImportedEntity {
        let folder = self.folder().and_then(|id| folders.get(id));
        let recognised = folder.and_then(|folder| recognise_type(folder));
        let stats = &self.value["_stats"];
        let is_private = default_ownership(&self.value).map(|level| level < OWNERSHIP_OBSERVER);
        let mut entity = ImportedEntity {
            source_id: self.source_id.clone(),
            source_hash: hash_parts([self.value.to_string().as_bytes()]),
            entity_type: recognised.map_or("note", |found| found.entity_type),
            name: text_field(&self.value, "name").unwrap_or_else(|| "Unnamed".to_owned()),
            subtype: recognised.map(|found| found.subtype.to_owned()).unwrap_or_default(),
            is_private,
            // Without a level nobody but the game master has any.
            is_private_at_first: Some(true),
            // Version 9 has one image for each entry.
            image: text_field(&self.value, "img"),
            created_at: text_field(stats, "createdTime"),
            updated_at: text_field(stats, "modifiedTime"),
            ..ImportedEntity::default()
        };
        if let Some(content) = text_field(&self.value, "content") {
            let page = serde_json::json!({"text": {"content": content}});
            self.add_text_page(&mut entity, &page, names);
        }
        let mut pages = list_field(&self.value, "pages");
        pages.sort_by_key(|page| page.get("sort").and_then(Value::as_i64).unwrap_or_default());
        for page in pages {
            let has_text = !page["text"]["content"].is_null() || !page["text"]["markdown"].is_null();
            let kind = text_field(page, "type").unwrap_or_else(|| "text".to_owned());
            if kind == "image" && entity.image.is_none() && !is_private_page(page, is_private_entry(&entity)) {
                entity.image = text_field(page, "src");
            } else if has_text || kind == "text" {
                self.add_text_page(&mut entity, page, names);
            } else {
                let name = text_field(page, "name").unwrap_or_default();
                losses
                    .push(ImportLoss::new(&self.place, format!("the page {name:?} of type {kind:?} is not imported")));
            }
        }
        if !list_field(&self.value, "categories").is_empty() {
            losses.push(ImportLoss::new(&self.place, "the categories of its pages are not imported"));
        }
        entity
    }

    /// Adds a page as the text of the entity if it is the first that may be, else as a post.
    fn add_text_page(&self, entity: &mut ImportedEntity, page: &Value, names: &JournalNames) {
        let text = &page["text"];
        let markdown = text_field(text, "markdown").filter(|_| text["format"].as_u64() == Some(FORMAT_MARKDOWN));
        let is_markdown = markdown.is_some();
        let source = markdown.or_else(|| text_field(text, "content")).unwrap_or_default();
        let as_text = |text: &str| {
            let text = rewrite_links(text.trim(), names);
            let text = if is_markdown { ImportedText::Markdown(text) } else { ImportedText::Html(text) };
            Some(text).filter(|text| !text.as_str().is_empty())
        };
        let split = split_secrets(&source);
        let page_id = text_field(page, "_id").unwrap_or_else(|| format!("page-{}", entity.posts.len() + 1));
        let page_id = format!("{}.JournalEntryPage.{page_id}", self.source_id);
        let page_name = text_field(page, "name");
        let is_private_entry = is_private_entry(entity);
        let is_private = is_private_page(page, is_private_entry);
        let is_entry = entity.text.is_none() && is_private == is_private_entry;
        if is_entry {
            entity.text = as_text(&split.visible);
        } else {
            entity.posts.push(ImportedPost {
                source_id: page_id.clone(),
                name: page_name.clone().unwrap_or_else(|| "Page".to_owned()),
                is_private,
                text: as_text(&split.visible),
            });
        }
        let secret_name = page_name.filter(|_| !is_entry).map_or("Secret".to_owned(), |name| format!("Secret: {name}"));
        for (at, secret) in split.secrets.iter().enumerate() {
            let id = secret.id.clone().unwrap_or_else(|| format!("secret-{}", at + 1));
            entity.posts.push(ImportedPost {
                source_id: format!("{page_id}#{id}"),
                name: secret_name.clone(),
                is_private: true,
                text: as_text(&secret.text),
            });
        }
    }
}

/// The ownership that everybody has; `permission` until version 9.
fn default_ownership(value: &Value) -> Option<i64> {
    let default = |key: &str| value.get(key)?.get("default")?.as_i64();
    default("ownership").or_else(|| default("permission"))
}

fn is_private_entry(entity: &ImportedEntity) -> bool {
    entity.is_private.unwrap_or(true)
}

fn is_private_page(page: &Value, is_private_entry: bool) -> bool {
    match default_ownership(page) {
        None | Some(OWNERSHIP_INHERIT) => is_private_entry,
        Some(level) => level < OWNERSHIP_OBSERVER,
    }
}
