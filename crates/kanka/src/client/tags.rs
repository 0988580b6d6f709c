//! Tags of a campaign in Kanka, which are entities there and names here. They are listed once, and again when a row has an
//! unknown tag.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use reqwest::Method;
use serde_json::{Map, Value, json};
use skald_app::{RemoteFailure, RemoteFailureKind, mirrored_tag_name};

use super::KankaClient;
use super::answers::{KnownTag, broken, data_of, flag_of, number_of, page_of, tag_ids_of, text_of};

const PAGES_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct TagNames(Mutex<KnownTags>);

#[derive(Default)]
struct KnownTags {
    is_listed: bool,
    tags: HashMap<u64, KnownTag>,
    /// Ids by names, without private tags: a tag that is named here must not match one that only game masters see there.
    ids: HashMap<String, u64>,
    /// Ids by the names that the tags have here: a long one is cut.
    mirrored_ids: HashMap<String, u64>,
    /// Ids that entities have and the list does not. They are not asked for again.
    missing: HashSet<u64>,
}

impl KnownTags {
    fn id(&self, name: &str) -> Option<u64> {
        let name = name.to_lowercase();
        self.ids.get(&name).or_else(|| self.mirrored_ids.get(&name)).copied()
    }

    /// Whether the name that a tag has here leads back to it, or to one of the very same name. If not, it would be
    /// taken for another tag, or could not be shown.
    fn is_distinct_here(&self, id: u64, name: &str) -> bool {
        mirrored_tag_name(name).is_some_and(|mirrored| mirrored == name || self.id(&mirrored) == Some(id))
    }
}

impl TagNames {
    pub(super) fn tag(&self, id: u64) -> Option<KnownTag> {
        let known = self.lock();
        let tag = known.tags.get(&id)?;
        match tag {
            KnownTag::Named(name) if !known.is_distinct_here(id, name) => Some(KnownTag::Private),
            tag => Some(tag.clone()),
        }
    }

    /// Lists them again before they are used next.
    pub(super) fn forget(&self) {
        *self.lock() = KnownTags::default();
    }

    fn is_listed(&self) -> bool {
        self.lock().is_listed
    }

    fn id(&self, name: &str) -> Option<u64> {
        self.lock().id(name)
    }

    /// The tag of a name, if there is only one.
    fn only_id(&self, name: &str) -> Option<u64> {
        let known = self.lock();
        let id = known.id(name)?;
        let is_named = |tag: &KnownTag| match tag {
            KnownTag::Named(other) => [Some(other), mirrored_tag_name(other).as_ref()]
                .into_iter()
                .flatten()
                .any(|other| other.to_lowercase() == name.to_lowercase()),
            KnownTag::Private => false,
        };
        (known.tags.values().filter(|tag| is_named(tag)).count() == 1).then_some(id)
    }

    /// Whether one of these is unknown, so that the tags should be listed again.
    fn is_any_unknown(&self, ids: &[u64]) -> bool {
        let known = self.lock();
        ids.iter().any(|id| !known.tags.contains_key(id) && !known.missing.contains(id))
    }

    fn add(&self, id: u64, tag: KnownTag) {
        let mut known = self.lock();
        if let KnownTag::Named(name) = &tag {
            // Of several tags of one name the first is used.
            known.ids.entry(name.to_lowercase()).or_insert(id);
            if let Some(name) = mirrored_tag_name(name) {
                known.mirrored_ids.entry(name.to_lowercase()).or_insert(id);
            }
        }
        known.tags.insert(id, tag);
    }

    fn replace_all(&self, rows: Vec<(u64, KnownTag)>) {
        *self.lock() = KnownTags { is_listed: true, ..KnownTags::default() };
        for (id, tag) in rows {
            self.add(id, tag);
        }
    }

    fn add_missing(&self, ids: Vec<u64>) {
        let mut known = self.lock();
        for id in ids {
            if !known.tags.contains_key(&id) {
                known.missing.insert(id);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, KnownTags> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KankaClient {
    /// Lists the tags if one of the rows has a tag that is not known.
    pub(super) async fn load_unknown_tags(&self, rows: &[Value]) -> Result<(), RemoteFailure> {
        let ids: Vec<u64> = rows.iter().filter_map(tag_ids_of).flatten().collect();
        if self.tags.is_any_unknown(&ids) {
            self.list_tags().await?;
            self.tags.add_missing(ids);
        }
        Ok(())
    }

    async fn list_tags(&self) -> Result<(), RemoteFailure> {
        let mut rows = Vec::new();
        for page_number in 1..=PAGES_MAX {
            let answer = self.get(&format!("tags?page={page_number}")).await?;
            let page = page_of(&answer, page_number, tag_of)?;
            rows.extend(page.rows);
            if page.is_last {
                break;
            }
        }
        self.tags.replace_all(rows);
        Ok(())
    }

    /// The ids of tags by name; those that are new are created.
    pub(super) async fn tag_ids(&self, names: &[String]) -> Result<Vec<u64>, RemoteFailure> {
        let mut ids = Vec::with_capacity(names.len());
        for name in names {
            if self.tags.id(name).is_none() && !self.tags.is_listed() {
                self.list_tags().await?;
            }
            let id = match self.tags.id(name) {
                Some(id) => id,
                None => self.create_tag(name).await?,
            };
            ids.push(id);
        }
        Ok(ids)
    }

    /// False if there is no tag of that name, or several, or already one of the other name.
    pub(super) async fn rename_tag_there(&self, name: &str, new_name: &str) -> Result<bool, RemoteFailure> {
        if !self.tags.is_listed() {
            self.list_tags().await?;
        }
        let (Some(id), None) = (self.tags.only_id(name), self.tags.id(new_name)) else { return Ok(false) };
        let body = Map::from_iter([("name".to_owned(), json!(new_name))]);
        let answer = self.patch(&format!("tags/{id}"), body, name).await;
        // List them again at the next use: if the answer was lost, the tag may have been renamed or not.
        self.tags.forget();
        match answer {
            Ok(_) => Ok(true),
            // Refused: each entity is sent with its new tags instead, and that answer names what is refused.
            Err(failure)
                if matches!(
                    failure.kind,
                    RemoteFailureKind::Invalid | RemoteFailureKind::Forbidden | RemoteFailureKind::NotFound
                ) =>
            {
                Ok(false)
            }
            Err(failure) => Err(failure),
        }
    }

    async fn create_tag(&self, name: &str) -> Result<u64, RemoteFailure> {
        let answer = self.send(Method::POST, "tags", &json!({"name": name})).await;
        if answer.is_err() {
            // It may have been created nevertheless: list the tags before it is created again.
            self.tags.forget();
        }
        let (id, tag) = tag_of(data_of(&answer?)?)?;
        self.tags.add(id, tag);
        Ok(id)
    }
}

fn tag_of(row: &Value) -> Result<(u64, KnownTag), RemoteFailure> {
    let id = row.get("id").and_then(number_of).ok_or_else(|| broken("a tag has no id"))?;
    if flag_of(row, "is_private") {
        return Ok((id, KnownTag::Private));
    }
    Ok((id, KnownTag::Named(text_of(row, "name").unwrap_or_default())))
}
