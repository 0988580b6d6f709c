//! `Import`, the result of reading a source: entities and posts as the source has them, and a list of losses.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};

use crate::link_index::{LinkIndex, LinkNames, fold_link};

/// How the `source_id` of a post begins; its number there follows.
pub(crate) const KANKA_POST_SOURCE: &str = "kanka:post:";
pub(crate) const SKALD_POST_SOURCE: &str = "skald:post:";

#[derive(Debug)]
pub struct Import {
    pub format: ImportFormat,
    /// Tells sources apart that name their entities alike: two vaults may both have a `People/Ann.md`. Empty if every
    /// `source_id` is unique by itself.
    pub source_name: String,
    /// In the order of their source.
    pub entities: Vec<ImportedEntity>,
    /// What is in the source and not in the entities.
    pub losses: Vec<ImportLoss>,
    links: LinkIndex,
    /// The `source_id` behind the id of a mention.
    mentions: BTreeMap<u64, String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportFormat {
    /// A folder of Markdown files, as Obsidian and others have it.
    Markdown,
    Kanka,
    Foundry,
    /// Written by [`crate::write_export`].
    Skald,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ImportedEntity {
    /// The same in every import of the same thing: `Places/Inn.md`, `kanka:123`, `JournalEntry.x`, `skald:5`.
    pub source_id: String,
    /// SHA-256 in hexadecimal of the entity in its source, with its posts.
    pub source_hash: String,
    /// One of `crate::ENTITY_TYPES`.
    pub entity_type: &'static str,
    pub name: String,
    /// Empty if there is none.
    pub subtype: String,
    pub tags: Vec<String>,
    pub aliases: Vec<String>,
    /// Whether only game masters see it. `None` if the source does not say: then an entity that is there stays as it is.
    pub is_private: Option<bool>,
    /// Whether a new entity is private if the source does not say. `None` if its type decides.
    pub is_private_at_first: Option<bool>,
    /// The `source_id` of an entity of this import.
    pub parent: Option<String>,
    /// A path in the source, or a URL.
    pub image: Option<String>,
    /// As written.
    pub date: Option<String>,
    /// The actor that it describes, by its id where it was exported.
    pub actor_id: Option<String>,
    pub text: Option<ImportedText>,
    pub posts: Vec<ImportedPost>,
    /// As written.
    pub created_at: Option<String>,
    /// As written.
    pub updated_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedPost {
    pub source_id: String,
    pub name: String,
    pub is_private: bool,
    pub text: Option<ImportedText>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedText {
    Html(String),
    Markdown(String),
    /// Markdown, and the HTML that it was made from.
    WithOriginal {
        markdown: String,
        html: String,
    },
}

impl ImportedText {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Html(text) | Self::Markdown(text) | Self::WithOriginal { markdown: text, .. } => text,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportLoss {
    /// The path of a file, or the id of what lost something.
    pub source: String,
    pub what: String,
}

impl ImportLoss {
    pub(crate) fn new(source: impl Into<String>, what: impl Into<String>) -> Self {
        Self { source: source.into(), what: what.into() }
    }
}

impl Import {
    /// Parents that are not in the import are removed, and listed.
    pub(crate) fn new(
        format: ImportFormat,
        mut entities: Vec<ImportedEntity>,
        mut losses: Vec<ImportLoss>,
        links: LinkIndex,
        mentions: BTreeMap<u64, String>,
    ) -> Self {
        remove_bad_parents(&mut entities, &mut losses);
        Self { format, source_name: String::new(), entities, losses, links, mentions }
    }

    /// Whether two sources of this format may use one `source_id` for different things.
    pub fn needs_source_name(&self) -> bool {
        match self.format {
            ImportFormat::Markdown | ImportFormat::Skald => true,
            ImportFormat::Kanka | ImportFormat::Foundry => false,
        }
    }

    /// The `source_id` of the entity that a link in the text of the entity `from` means: `[[Inn]]`, `Places/Inn#Cellar`,
    /// `Inn|the inn`. The file of that name or path, and
    /// of several the nearest; without one the entity with that alias. Case does not matter.
    pub fn link_target(&self, from: &str, link: &str) -> Option<&str> {
        self.links.link_target(from, link)
    }

    /// The `source_id` of the entity that a mention in a text means by its number, as in `[entity:5]` or
    /// `[character:5|Ann]`.
    pub fn mention_target(&self, id: u64) -> Option<&str> {
        self.mentions.get(&id).map(String::as_str)
    }

    /// The `source_id` that the post has, if it is there, that a mention in a text means by its number: `[post:5]`.
    pub fn post_mention_target(&self, id: u64) -> Option<String> {
        let prefix = match self.format {
            ImportFormat::Kanka => KANKA_POST_SOURCE,
            ImportFormat::Skald => SKALD_POST_SOURCE,
            ImportFormat::Markdown | ImportFormat::Foundry => return None,
        };
        Some(format!("{prefix}{id}"))
    }
}

/// The names of entities that have no paths.
pub(crate) fn link_names_without_paths(entities: &[ImportedEntity]) -> LinkIndex {
    let names = entities.iter().map(|entity| LinkNames {
        source_id: entity.source_id.clone(),
        path: entity.name.replace('/', " "),
        aliases: entity.aliases.clone(),
    });
    LinkIndex::new(names)
}

/// Removes parents that are not in the import, and those that would close a circle.
fn remove_bad_parents(entities: &mut [ImportedEntity], losses: &mut Vec<ImportLoss>) {
    let numbers: BTreeMap<&str, usize> =
        entities.iter().enumerate().map(|(number, entity)| (entity.source_id.as_str(), number)).collect();
    let parents: Vec<Option<usize>> = entities
        .iter()
        .map(|entity| entity.parent.as_ref().and_then(|parent| numbers.get(parent.as_str()).copied()))
        .collect();
    let in_circle = find_circles(&parents);
    for (number, entity) in entities.iter_mut().enumerate() {
        let what = match parents[number] {
            None => "is not in the import",
            Some(_) if in_circle.contains(&number) => "lies below this entity",
            Some(_) => continue,
        };
        if let Some(parent) = entity.parent.take() {
            losses.push(ImportLoss::new(&entity.source_id, format!("the parent {parent:?} {what}")));
        }
    }
}

/// One member of each parent cycle; clearing its parent breaks it.
fn find_circles(parents: &[Option<usize>]) -> BTreeSet<usize> {
    let mut circles = BTreeSet::new();
    // The walk on which each was met first.
    let mut walks: Vec<Option<usize>> = vec![None; parents.len()];
    for start in 0..parents.len() {
        let mut current = start;
        while walks[current].is_none() {
            walks[current] = Some(start);
            match parents[current] {
                Some(parent) if walks[parent] == Some(start) => {
                    circles.insert(current);
                }
                Some(parent) => current = parent,
                None => {}
            }
        }
    }
    circles
}

/// SHA-256 in hexadecimal of several parts. That of one part is that of its bytes.
pub(crate) fn hash_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new();
    for (number, part) in parts.into_iter().enumerate() {
        if number > 0 {
            hash.update((part.len() as u64).to_be_bytes());
        }
        hash.update(part);
    }
    hash.finalize().iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

/// Tags or aliases: trimmed, not empty, and each once, in whatever case.
#[derive(Debug, Default)]
pub(crate) struct DistinctNames {
    names: Vec<String>,
    folded: BTreeSet<String>,
}

impl DistinctNames {
    pub(crate) fn add(&mut self, name: &str) {
        let name = name.trim();
        if !name.is_empty() && self.folded.insert(fold_link(name)) {
            self.names.push(name.to_owned());
        }
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        self.names
    }
}
