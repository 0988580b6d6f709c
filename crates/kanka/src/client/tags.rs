//! Tags of a campaign in Kanka: entities there, names here. All of them are listed once, and again when an unknown one
//! is met.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use reqwest::Method;
use serde_json::{Value, json};
use skald_app::RemoteFailure;

use super::KankaClient;
use super::answers::{broken, data_of, number_of, page_of, text_of};

const PAGES_MAX: usize = 1_000;

#[derive(Default)]
pub(super) struct TagNames(Mutex<KnownTags>);

#[derive(Default)]
struct KnownTags {
    is_listed: bool,
    names: HashMap<u64, String>,
    ids: HashMap<String, u64>,
}

impl TagNames {
    pub(super) fn name(&self, id: u64) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).names.get(&id).cloned()
    }

    /// Lists them again before they are used next.
    pub(super) fn forget(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = KnownTags::default();
    }

    fn is_listed(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_listed
    }

    fn id(&self, name: &str) -> Option<u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).ids.get(&name.to_lowercase()).copied()
    }

    fn add(&self, id: u64, name: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.names.insert(id, name.to_owned());
        // Of several tags of one name the first is used.
        known.ids.entry(name.to_lowercase()).or_insert(id);
    }

    fn replace_all(&self, rows: Vec<(u64, String)>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = KnownTags { is_listed: true, ..KnownTags::default() };
        for (id, name) in rows {
            self.add(id, &name);
        }
    }
}

impl KankaClient {
    /// Lists the tags if one of the rows has a tag that is not known.
    pub(super) async fn know_tags(&self, rows: &[Value]) -> Result<(), RemoteFailure> {
        if self.has_unknown_tag(rows) {
            self.list_tags().await?;
        }
        Ok(())
    }

    fn has_unknown_tag(&self, rows: &[Value]) -> bool {
        let tags = rows.iter().filter_map(|row| row.get("tags")?.as_array()).flatten();
        let mut ids = tags.filter_map(|tag| number_of(tag).or_else(|| tag.get("id").and_then(number_of)));
        ids.any(|id| self.tags.name(id).is_none())
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

    async fn create_tag(&self, name: &str) -> Result<u64, RemoteFailure> {
        let answer = self.send(Method::POST, "tags", &json!({"name": name})).await;
        if answer.is_err() {
            // It may be there nevertheless: look before it is created again.
            self.tags.forget();
        }
        let (id, name) = tag_of(data_of(&answer?)?)?;
        self.tags.add(id, &name);
        Ok(id)
    }
}

fn tag_of(row: &Value) -> Result<(u64, String), RemoteFailure> {
    let id = row.get("id").and_then(number_of).ok_or_else(|| broken("a tag has no id"))?;
    Ok((id, text_of(row, "name").unwrap_or_default()))
}
