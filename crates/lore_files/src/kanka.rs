//! Reads a campaign that was exported from Kanka: one JSON file per entity, in one folder per type.
//!
//! Lists that are empty are absent in these files, and older files have some fields in other places. Everything is read
//! leniently, and what has no place in an entity is listed, once for each entity.

mod kinds;
mod unread_fields;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::import::{
    DistinctNames, Import, ImportFormat, ImportLoss, ImportedEntity, ImportedPost, ImportedText, KANKA_POST_SOURCE,
    hash_parts, link_names_without_paths,
};
use crate::json_fields::{is_true, list_field, number_field, parse_json, text_field};
use crate::source_file::file_extension;
use crate::{ImportError, SourceFile};
use kinds::{KankaKind, is_entity_path, read_custom_modules, recognise_kind};
use unread_fields::describe_unread_fields;

/// Kinds of files that hang on an entity; the others are files and links.
const ASSET_ALIAS: u64 = 3;
/// Visible to everyone who sees the entity. All other values hide a post or an alias from someone.
const VISIBILITY_ALL: u64 = 1;
/// The private post with the aliases that not everybody may see.
const HIDDEN_ALIASES: &str = "Hidden aliases";

/// Whether these files are an export of Kanka.
pub(crate) fn is_kanka(files: &[SourceFile]) -> bool {
    let read = |path: &str| {
        let file = files.iter().find(|file| file.path == path)?;
        parse_json(file.content.as_deref()?, path).ok()
    };
    let has_entities = || files.iter().any(|file| is_entity_path(&file.path));
    read("info.json").is_some_and(|value| value.get("kanka_version").is_some())
        || read("campaign.json").is_some_and(|value| value.get("name").is_some()) && has_entities()
}

pub(crate) fn import_kanka(files: &[SourceFile]) -> Result<Import, ImportError> {
    let modules = read_custom_modules(files)?;
    let mut losses = Vec::new();
    let mut campaign = KankaCampaign::default();
    let documents = files.iter().filter(|file| file.content.is_some() && file_extension(&file.path) == "json");
    let rows: Vec<(&SourceFile, KankaKind)> =
        documents.filter_map(|file| Some((file, recognise_kind(&file.path, &modules, &mut losses)?))).collect();
    // Ids and tags first: a file may name any other. The files are parsed again later rather than kept in memory.
    for (file, kind) in &rows {
        campaign.learn_ids(&KankaRow::read(file, kind)?);
    }
    let images = files.iter().map(|file| file.path.as_str()).filter(|path| file_extension(path) != "json");
    campaign.images = images.map(|path| (image_key(path).to_owned(), path.to_owned())).collect();
    let mut entities = Vec::new();
    let mut seen = BTreeSet::new();
    for (file, kind) in &rows {
        let row = KankaRow::read(file, kind)?;
        match row.entity_id {
            _ if row.is_plain_tag() => {}
            None => losses.push(ImportLoss::new(&file.path, "has no id")),
            Some(id) if !seen.insert(id) => losses.push(ImportLoss::new(&file.path, "has the id of another file")),
            Some(id) => entities.push(campaign.read_entity(id, &row, &mut losses)),
        }
    }
    if !campaign.images.is_empty() {
        losses.push(ImportLoss::new("gallery", format!("{} files are not copied", campaign.images.len())));
    }
    let mentions = seen.into_iter().map(|id| (id, source_id(id))).collect();
    let links = link_names_without_paths(&entities);
    Ok(Import::new(ImportFormat::Kanka, entities, losses, links, mentions))
}

fn source_id(entity_id: u64) -> String {
    format!("kanka:{entity_id}")
}

/// One file: the fields that all types share are in `entity`, those of its type around it.
struct KankaRow<'a> {
    path: &'a str,
    content: &'a [u8],
    kind: &'a KankaKind,
    child: Value,
    entity: Value,
    entity_id: Option<u64>,
}

impl<'a> KankaRow<'a> {
    fn read(file: &'a SourceFile, kind: &'a KankaKind) -> Result<Self, ImportError> {
        let content = file.content.as_deref().unwrap_or_default();
        let mut child = parse_json(content, &file.path)?;
        let entity = child.as_object_mut().and_then(|child| child.shift_remove("entity")).unwrap_or(Value::Null);
        let entity_id = number_field(&entity, "id").or_else(|| number_field(&child, "entity_id"));
        let entity_id = entity_id.or_else(|| id_in_file_name(&file.path));
        Ok(Self { path: &file.path, content, kind, child, entity, entity_id })
    }

    /// A field of the entity, or of the child in older files.
    fn text(&self, key: &str) -> Option<String> {
        text_field(&self.entity, key).or_else(|| text_field(&self.child, key))
    }

    fn list(&self, keys: &[&str]) -> Vec<&Value> {
        let lists = keys.iter().flat_map(|key| [list_field(&self.entity, key), list_field(&self.child, key)]);
        lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
    }

    fn posts(&self) -> Vec<&Value> {
        let mut posts = self.list(&["posts", "entityNotes", "entity_notes"]);
        let position = |post: &Value| post.get("position").and_then(Value::as_i64).unwrap_or_default();
        posts.sort_by_key(|post| position(post));
        posts
    }

    fn is_private(&self) -> bool {
        is_true(&self.entity, "is_private") || is_true(&self.child, "is_private")
    }

    /// Whether the file says if it is private.
    fn has_privacy(&self) -> bool {
        [&self.entity, &self.child].iter().any(|part| part.get("is_private").is_some_and(|value| !value.is_null()))
    }

    /// Whether this is a tag with a name and nothing else.
    fn is_plain_tag(&self) -> bool {
        self.kind.singular == "tag" && self.text("entry").is_none() && self.posts().is_empty()
    }
}

/// `characters/ann_12.json` is 12.
fn id_in_file_name(path: &str) -> Option<u64> {
    path.strip_suffix(".json")?.rsplit_once('_')?.1.parse().ok()
}

/// What one file has to know of the others.
#[derive(Default)]
struct KankaCampaign {
    /// Tags by their id among tags.
    tags: BTreeMap<u64, KankaTag>,
    /// Entity ids by type and the id within the type.
    entity_ids: BTreeMap<(String, u64), u64>,
    /// Files that are not JSON, by their path without its extension.
    images: BTreeMap<String, String>,
}

struct KankaTag {
    name: String,
    is_private: bool,
}

impl KankaCampaign {
    fn learn_ids(&mut self, row: &KankaRow<'_>) {
        let child_id = number_field(&row.child, "id").or_else(|| number_field(&row.entity, "entity_id"));
        let Some(child_id) = child_id else { return };
        if let Some(name) = row.text("name").filter(|_| row.kind.singular == "tag") {
            self.tags.insert(child_id, KankaTag { name, is_private: row.is_private() });
        }
        if let Some(entity_id) = row.entity_id {
            self.entity_ids.insert((row.kind.singular.clone(), child_id), entity_id);
        }
    }

    fn read_entity(&self, id: u64, row: &KankaRow<'_>, losses: &mut Vec<ImportLoss>) -> ImportedEntity {
        let mut unread = describe_unread_fields(row.kind, &row.entity, &row.child);
        let tags = self.read_tags(row, &mut unread);
        let image = self.find_image(row, &mut unread);
        let (mut aliases, mut hidden_aliases) = (DistinctNames::default(), DistinctNames::default());
        let (names, files): (Vec<&Value>, Vec<&Value>) =
            row.list(&["assets"]).into_iter().partition(|asset| number_field(asset, "type_id") == Some(ASSET_ALIAS));
        for asset in names {
            let aliases = if is_hidden(asset) { &mut hidden_aliases } else { &mut aliases };
            aliases.add(&text_field(asset, "name").unwrap_or_default());
        }
        let mut posts: Vec<ImportedPost> =
            row.posts().into_iter().enumerate().map(|(at, post)| read_post(id, at, post)).collect();
        let hidden_aliases = hidden_aliases.into_vec();
        if !hidden_aliases.is_empty() {
            let what =
                format!("{} aliases are hidden: they become the private post {HIDDEN_ALIASES:?}", hidden_aliases.len());
            losses.push(ImportLoss::new(row.path, what));
            posts.push(write_hidden_aliases(id, &hidden_aliases));
        }
        if !files.is_empty() {
            unread.push(format!("{} files or links", files.len()));
        }
        if !unread.is_empty() {
            losses.push(ImportLoss::new(row.path, format!("not imported: {}", unread.join(", "))));
        }
        let hashed = [row.content].into_iter().chain(tags.iter().map(String::as_bytes));
        ImportedEntity {
            source_id: source_id(id),
            source_hash: hash_parts(hashed),
            entity_type: row.kind.entity_type,
            name: row.text("name").unwrap_or_else(|| "Unnamed".to_owned()),
            subtype: row.kind.subtype(row.text("type")),
            tags,
            aliases: aliases.into_vec(),
            is_private: row.has_privacy().then(|| row.is_private()),
            is_private_at_first: Some(false),
            parent: self.find_parent(row),
            image,
            date: text_field(&row.child, "date"),
            text: row.text("entry").map(ImportedText::Html),
            posts,
            created_at: row.text("created_at"),
            updated_at: row.text("updated_at"),
            ..ImportedEntity::default()
        }
    }

    /// A private tag stays on private entities only: players see the tags of all others.
    fn read_tags(&self, row: &KankaRow<'_>, unread: &mut Vec<String>) -> Vec<String> {
        let (mut tags, mut hidden) = (DistinctNames::default(), DistinctNames::default());
        let mut unknown = 0;
        for tag in row.list(&["entityTags", "entity_tags", "tags"]) {
            let id = number_field(tag, "tag_id").or_else(|| number_field(tag, "id")).or_else(|| tag.as_u64());
            match id.and_then(|id| self.tags.get(&id)) {
                Some(tag) if tag.is_private && !row.is_private() => hidden.add(&tag.name),
                Some(tag) => tags.add(&tag.name),
                None => unknown += 1,
            }
        }
        let hidden = hidden.into_vec();
        if !hidden.is_empty() {
            unread.push(format!("{} private tags of a public entity ({})", hidden.len(), hidden.join(", ")));
        }
        if unknown > 0 {
            unread.push(format!("{unknown} tags that are not in the export"));
        }
        tags.into_vec()
    }

    /// Newer files name the parent by its entity id, older ones by its id within the type.
    fn find_parent(&self, row: &KankaRow<'_>) -> Option<String> {
        let singular = &row.kind.singular;
        let by_child_id = || {
            let keys = [format!("{singular}_id"), format!("parent_{singular}_id")];
            let child_id = keys.iter().find_map(|key| number_field(&row.child, key))?;
            self.entity_ids.get(&(singular.clone(), child_id)).copied()
        };
        number_field(&row.entity, "parent_id").or_else(by_child_id).map(source_id)
    }

    fn find_image(&self, row: &KankaRow<'_>, unread: &mut Vec<String>) -> Option<String> {
        let uuid = text_field(&row.entity, "image_uuid");
        let path = row.text("image_path").or_else(|| text_field(&row.child, "image"));
        if uuid.is_none() && path.is_none() {
            return None;
        }
        let in_gallery = uuid.and_then(|uuid| self.images.get(&format!("gallery/{uuid}")));
        let image = in_gallery.or_else(|| self.images.get(image_key(path.as_deref()?)));
        if image.is_none() {
            unread.push("an image that is not in the export".to_owned());
        }
        image.cloned()
    }
}

/// The path of an image without its extension.
fn image_key(path: &str) -> &str {
    path.rsplit_once('.').map_or(path, |(stem, _)| stem)
}

fn read_post(entity_id: u64, at: usize, post: &Value) -> ImportedPost {
    let id = number_field(post, "id").map(|id| format!("{KANKA_POST_SOURCE}{id}"));
    ImportedPost {
        source_id: id.unwrap_or_else(|| format!("{}#post-{}", source_id(entity_id), at + 1)),
        name: text_field(post, "name").unwrap_or_else(|| "Post".to_owned()),
        is_private: is_hidden(post),
        text: text_field(post, "entry").map(ImportedText::Html),
    }
}

fn write_hidden_aliases(entity_id: u64, aliases: &[String]) -> ImportedPost {
    let lines: Vec<String> = aliases.iter().map(|alias| format!("- {}\n", alias.replace(['\n', '\r'], " "))).collect();
    ImportedPost {
        source_id: format!("{}#hidden-aliases", source_id(entity_id)),
        name: HIDDEN_ALIASES.to_owned(),
        is_private: true,
        text: Some(ImportedText::Markdown(lines.concat())),
    }
}

/// Whether somebody who sees the entity may not see this post or alias of it.
fn is_hidden(part: &Value) -> bool {
    let is_limited = match part.get("visibility_id").filter(|value| !value.is_null()) {
        Some(_) => number_field(part, "visibility_id") != Some(VISIBILITY_ALL),
        // Older files have a word.
        None => text_field(part, "visibility").is_some_and(|visibility| visibility != "all"),
    };
    is_limited || is_true(part, "is_private")
}
