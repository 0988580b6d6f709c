//! Reads a folder of Markdown files: an Obsidian vault, or any other. Each file is an entity.

use std::collections::{BTreeMap, BTreeSet};

use crate::entity_types::{RecognisedType, recognise_folder, recognise_type};
use crate::front_matter::{YamlValue, has_unclosed_front_matter, parse_front_matter, split_front_matter};
use crate::import::{
    DistinctNames, Import, ImportFormat, ImportLoss, ImportedEntity, ImportedPost, ImportedText, hash_parts,
};
use crate::link_index::{LinkIndex, LinkNames, fold_link, link_path};
use crate::markdown_scan::{find_file_links, find_tags, split_hidden};
use crate::source_file::{decode_text, file_extension, is_markdown};
use crate::{ImportError, SourceFile};

/// Keys that say how Obsidian shows a note.
const IGNORED_KEYS: [&str; 2] = ["cssclass", "cssclasses"];
/// Files that Obsidian draws from other notes.
const IGNORED_EXTENSIONS: [&str; 2] = ["canvas", "base"];

pub(crate) fn import_vault(files: &[SourceFile]) -> Result<Import, ImportError> {
    let mut losses = Vec::new();
    let mut notes = Vec::new();
    for file in files {
        notes.extend(read_note(file, &mut losses)?);
    }
    let links = LinkIndex::new(notes.iter().map(VaultNote::link_names));
    add_unused_files(files.iter().map(|file| file.path.as_str()), &notes, &mut losses);
    let entities = notes.into_iter().map(|note| note.into_entity(&links)).collect();
    Ok(Import::new(ImportFormat::Markdown, entities, losses, links, BTreeMap::new()))
}

/// A note whose links are not resolved yet.
#[derive(Debug)]
pub(crate) struct VaultNote {
    pub(crate) path: String,
    pub(crate) entity: ImportedEntity,
    /// The link to its parent, as written.
    pub(crate) parent_link: Option<String>,
    /// Files that it shows or links.
    pub(crate) file_links: Vec<String>,
}

impl VaultNote {
    pub(crate) fn link_names(&self) -> LinkNames {
        LinkNames {
            source_id: self.entity.source_id.clone(),
            path: self.path.clone(),
            aliases: self.entity.aliases.iter().chain([&self.entity.name]).cloned().collect(),
        }
    }

    /// Resolves the link to the parent. One that leads nowhere stays as it is, and is reported with those of all formats.
    pub(crate) fn into_entity(mut self, links: &LinkIndex) -> ImportedEntity {
        let target =
            |link: String| links.link_target(&self.entity.source_id, &link).map_or(link.clone(), str::to_owned);
        self.entity.parent = self.parent_link.take().map(target);
        self.entity
    }
}

/// Reads one file. `None` for a file that is no note.
pub(crate) fn read_note(file: &SourceFile, losses: &mut Vec<ImportLoss>) -> Result<Option<VaultNote>, ImportError> {
    let Some(content) = file.content.as_deref().filter(|_| is_markdown(&file.path)) else { return Ok(None) };
    if file.path.ends_with(".excalidraw.md") {
        losses.push(ImportLoss::new(&file.path, "a drawing is not imported"));
        return Ok(None);
    }
    let text = decode_text(content, &file.path)?;
    let (yaml, body) = split_front_matter(text);
    let mut fields = NoteFields::default();
    // Unreadable front matter might have said that the note is private: treat it so.
    let unread = if has_unclosed_front_matter(text) {
        Some("the front matter has no end".to_owned())
    } else {
        match parse_front_matter(yaml.unwrap_or_default()) {
            Ok(values) => {
                fields.read_values(&file.path, values, losses);
                None
            }
            Err(reason) => Some(format!("the front matter cannot be read ({reason})")),
        }
    };
    if let Some(reason) = unread {
        fields.is_private = Some(true);
        losses.push(ImportLoss::new(&file.path, format!("{reason}, so the note is private")));
    }
    let split = split_hidden(body);
    if split.is_unclosed {
        losses.push(ImportLoss::new(&file.path, "a %% has no end: everything after it is in a private post"));
    }
    for tag in find_tags(&split.visible) {
        fields.tags.add(&tag);
    }
    let hidden = (!split.hidden.is_empty()).then(|| ImportedPost {
        source_id: format!("{}#hidden", file.path),
        name: "Hidden".to_owned(),
        is_private: true,
        text: Some(ImportedText::Markdown(split.hidden.join("\n\n"))),
    });
    let (entity_type, subtype) = fields.choose_type(&file.path);
    let mut file_links = find_file_links(body);
    file_links.extend(fields.image.clone());
    let entity = ImportedEntity {
        source_id: file.path.clone(),
        source_hash: hash_parts([content]),
        entity_type,
        name: fields.name.unwrap_or_else(|| note_name(&file.path)),
        subtype,
        tags: fields.tags.into_vec(),
        aliases: fields.aliases.into_vec(),
        is_private: fields.is_private,
        is_private_at_first: None,
        parent: None,
        image: fields.image,
        date: fields.date,
        actor_id: None,
        text: trim_text(&split.visible).map(|text| ImportedText::Markdown(text.to_owned())),
        posts: hidden.into_iter().collect(),
        created_at: fields.created_at,
        updated_at: fields.updated_at,
    };
    Ok(Some(VaultNote { path: file.path.clone(), entity, parent_link: fields.parent_link, file_links }))
}

/// What front matter says about a note.
#[derive(Debug, Default)]
struct NoteFields {
    name: Option<String>,
    recognised: Option<RecognisedType>,
    subtype: Option<String>,
    tags: DistinctNames,
    aliases: DistinctNames,
    /// `None` if it does not say.
    is_private: Option<bool>,
    parent_link: Option<String>,
    image: Option<String>,
    date: Option<String>,
    created_at: Option<String>,
    updated_at: Option<String>,
}

impl NoteFields {
    fn read_values(&mut self, path: &str, values: Vec<(String, YamlValue)>, losses: &mut Vec<ImportLoss>) {
        for (key, value) in values {
            let is_known = self.read_value(&key.to_lowercase(), &value);
            if !is_known && !value.is_empty() && !IGNORED_KEYS.contains(&key.as_str()) {
                losses.push(ImportLoss::new(path, format!("front matter {key:?} is not imported")));
            }
        }
    }

    /// `false` for a key that has no place, or a value that has none under its key.
    fn read_value(&mut self, key: &str, value: &YamlValue) -> bool {
        let text = || value.single_text().map(str::to_owned);
        let set = |field: &mut Option<String>| {
            let is_free = field.is_none();
            if is_free {
                *field = text();
            }
            is_free && field.is_some()
        };
        match key {
            "name" | "title" => set(&mut self.name),
            "type" | "entity_type" => self.read_type(value),
            "subtype" => {
                self.subtype = text().or(self.subtype.take());
                self.subtype.is_some()
            }
            "tags" | "tag" => {
                let separators: &[char] = if matches!(value, YamlValue::List(_)) { &[','] } else { &[',', ' ', '\n'] };
                for tag in value.texts().iter().flat_map(|text| text.split(separators)) {
                    self.tags.add(tag.trim().trim_start_matches('#'));
                }
                true
            }
            "aliases" | "alias" => {
                // One text is a list with commas in older notes.
                let is_list = matches!(value, YamlValue::List(_));
                let aliases = value.texts().into_iter();
                let aliases =
                    aliases.flat_map(|text| text.split(',').filter(|_| !is_list).chain(is_list.then_some(text)));
                aliases.for_each(|alias| self.aliases.add(alias));
                true
            }
            "private" | "is_private" | "secret" | "hidden" | "dm" | "gm" => self.read_privacy(value, true),
            "publish" => self.read_privacy(value, false),
            "parent" => set(&mut self.parent_link),
            "image" => {
                let image = value.single_text().map(|image| if is_url(image) { image } else { link_path(image) });
                self.image = image.map(str::to_owned);
                self.image.is_some()
            }
            "date" => set(&mut self.date),
            "created" | "created_at" => set(&mut self.created_at),
            "updated" | "updated_at" | "modified" => set(&mut self.updated_at),
            _ => false,
        }
    }

    /// Reads whether the note is private; `private_value` is the value that says so. Of several keys one is enough. A value
    /// that is neither yes nor no hides the note rather than shows it.
    fn read_privacy(&mut self, value: &YamlValue, private_value: bool) -> bool {
        if !value.is_empty() {
            let is_private = value.boolean().is_none_or(|value| value == private_value);
            self.is_private = Some(is_private || self.is_private == Some(true));
        }
        value.boolean().is_some()
    }

    /// A type that is not one of ours is a subtype.
    fn read_type(&mut self, value: &YamlValue) -> bool {
        let Some(text) = value.single_text() else { return false };
        match recognise_type(text) {
            Some(recognised) => self.recognised = Some(recognised),
            None if self.subtype.is_none() => self.subtype = Some(text.to_owned()),
            None => return false,
        }
        true
    }

    fn choose_type(&mut self, path: &str) -> (&'static str, String) {
        let note = RecognisedType { entity_type: "note", subtype: "" };
        let recognised = self.recognised.or_else(|| recognise_folder(path)).unwrap_or(note);
        (recognised.entity_type, self.subtype.take().unwrap_or_else(|| recognised.subtype.to_owned()))
    }
}

fn is_url(image: &str) -> bool {
    image.contains("://")
}

/// The name of the file, without its extension.
fn note_name(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem).trim();
    if stem.is_empty() { name.to_owned() } else { stem.to_owned() }
}

/// A text without blank lines before it and space after it. `None` if nothing is left.
fn trim_text(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let first = text.find(|letter: char| !letter.is_whitespace())?;
    let line_start = text[..first].rfind('\n').map_or(0, |at| at + 1);
    Some(&text[line_start..])
}

/// Lists files that are not Markdown and that no note shows or links.
pub(crate) fn add_unused_files<'a>(
    paths: impl Iterator<Item = &'a str>,
    notes: &[VaultNote],
    losses: &mut Vec<ImportLoss>,
) {
    let used: BTreeSet<String> =
        notes.iter().flat_map(|note| &note.file_links).map(|link| fold_link(last_part(link))).collect();
    for path in paths.filter(|path| !is_markdown(path)) {
        let is_ignored = IGNORED_EXTENSIONS.contains(&file_extension(path).as_str());
        if !is_ignored && !used.contains(&fold_link(last_part(path))) {
            losses.push(ImportLoss::new(path, "is not Markdown, and no note uses it"));
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
