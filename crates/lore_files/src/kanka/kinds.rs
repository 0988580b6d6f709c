//! The folders of a Kanka export: which type of entity is in which, modules that a campaign made itself included.

use std::collections::BTreeMap;

use crate::import::ImportLoss;
use crate::json_fields::{list_field, number_field, parse_json, text_field};
use crate::source_file::file_extension;
use crate::{ImportError, SourceFile};

/// Folder, name of the type in Kanka, our type, and the subtype of those that we have no type for.
const KINDS: [(&str, &str, &str, &str); 16] = [
    ("abilities", "ability", "other", "Ability"),
    ("calendars", "calendar", "other", "Calendar"),
    ("characters", "character", "character", ""),
    ("creatures", "creature", "creature", ""),
    ("events", "event", "event", ""),
    ("families", "family", "other", "Family"),
    ("items", "item", "item", ""),
    ("journals", "journal", "journal", ""),
    ("locations", "location", "location", ""),
    ("maps", "map", "other", "Map"),
    ("notes", "note", "note", ""),
    ("organisations", "organisation", "organization", ""),
    ("quests", "quest", "quest", ""),
    ("races", "race", "race", ""),
    ("tags", "tag", "other", "Tag"),
    ("timelines", "timeline", "other", "Timeline"),
];
/// Folders that have no entities.
const OTHER_FOLDERS: [&str; 2] = ["settings", "gallery"];
/// The modules of a campaign.
const MODULES_PATH: &str = "settings/custom-modules.json";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct KankaKind {
    /// Kanka's name of the type.
    pub(super) singular: String,
    pub(super) entity_type: &'static str,
    /// For people; empty for types that we have too.
    label: String,
}

impl KankaKind {
    /// The subtype of an entity with this free text in its field `type`.
    pub(super) fn subtype(&self, text: Option<String>) -> String {
        match (self.label.as_str(), text) {
            ("", text) => text.unwrap_or_default(),
            (label, None) => label.to_owned(),
            (label, Some(text)) => format!("{label}: {text}"),
        }
    }
}

/// Names of a campaign's own modules, by their type id.
pub(super) fn read_custom_modules(files: &[SourceFile]) -> Result<BTreeMap<u64, String>, ImportError> {
    let file = files.iter().find(|file| file.path == MODULES_PATH);
    let Some(content) = file.and_then(|file| file.content.as_deref()) else { return Ok(BTreeMap::new()) };
    let modules = serde_json::json!({ "modules": parse_json(content, MODULES_PATH)? });
    let names = list_field(&modules, "modules").into_iter().filter_map(|module| {
        let name = text_field(module, "singular").or_else(|| text_field(module, "code"))?;
        Some((number_field(module, "id")?, name))
    });
    Ok(names.collect())
}

/// Whether a path is that of an entity of a type that every campaign has.
pub(super) fn is_entity_path(path: &str) -> bool {
    let folder = path.split_once('/').map(|(folder, _)| folder);
    file_extension(path) == "json" && KINDS.iter().any(|(name, ..)| Some(*name) == folder)
}

/// The kind of the entities in a file's folder. `None` for files that are no entities.
pub(super) fn recognise_kind(
    path: &str,
    modules: &BTreeMap<u64, String>,
    losses: &mut Vec<ImportLoss>,
) -> Option<KankaKind> {
    let (folder, _) = path.split_once('/')?;
    if let Some((_, singular, entity_type, label)) = KINDS.iter().find(|(name, ..)| *name == folder) {
        return Some(KankaKind { singular: (*singular).to_owned(), entity_type, label: (*label).to_owned() });
    }
    // `{plural or code}_{type id}` is a module of the campaign.
    if let Some((name, id)) = folder.rsplit_once('_')
        && let Ok(id) = id.parse::<u64>()
    {
        let label = modules.get(&id).cloned().unwrap_or_else(|| name.to_owned());
        return Some(KankaKind { singular: folder.to_owned(), entity_type: "other", label });
    }
    if !OTHER_FOLDERS.contains(&folder) {
        losses.push(ImportLoss::new(path, "is no entity that can be imported"));
    }
    None
}
