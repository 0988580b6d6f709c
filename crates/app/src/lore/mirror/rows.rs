//! Side rows of the mirror: the link of a campaign, what both sides agreed on for each entity, and entities that are being
//! created there. None of it is history: it follows from comparing both sides, and can be lost without
//! losing lore.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use skald_domain::lore::{MirroredFields, MirroredPost, TextKey};

use super::remote::{RemoteAddress, RemoteFailure};
use crate::lore::stream::lore_stream;
use crate::{App, Fault};
use skald_journal::SideRow;

/// The kinds of all rows of the mirror begin with it.
pub(in super::super) const MIRROR_KINDS: &str = "lore_mirror/";
/// The kind of the links of all campaigns, by campaign.
const LINKS: &str = "lore_mirror/links";
/// The kind of the leases of all campaigns, by campaign.
pub(super) const LEASES: &str = "lore_mirror/leases";
const ROWS_PER_READ: usize = 500;

/// The kind of rows with what both sides agreed on, by entity id.
fn agreed_kind(campaign_id: &str) -> String {
    format!("{MIRROR_KINDS}agreed/{campaign_id}")
}

/// The kind of rows of entities that are being created there, by the id that they have here.
fn created_kind(campaign_id: &str) -> String {
    format!("{MIRROR_KINDS}created/{campaign_id}")
}

/// The kind of rows that list the entities with a conflict or a problem.
fn open_kind(campaign_id: &str) -> String {
    format!("{MIRROR_KINDS}open/{campaign_id}")
}

/// The link of a campaign to a remote one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct MirrorLink {
    pub base_url: String,
    pub remote_campaign: u64,
    pub remote_name: String,
    /// False after `unlink`: what was agreed on stays, for the case that it is linked again.
    pub is_linked: bool,
    pub linked_at: String,
    /// Whether entities of the same name and type are taken for the same in the first pull.
    pub merges_by_name: bool,
    /// Whether everything was pulled once.
    pub is_pulled: bool,
    /// When the last pull was complete, by our clock.
    pub synced_at: Option<String>,
    /// When the last pull began, by our clock: what changed there since then is not known.
    #[serde(default)]
    pub asked_at: Option<String>,
    /// The moment of the remote clock up to which changes were pulled.
    pub remote_sync: Option<String>,
    /// When all entities were listed last, by our clock.
    pub swept_at: Option<String>,
    /// All records of the lore up to this revision were sent, or need not be.
    pub sent_revision: u64,
    /// Entities to look at once more with the next push, since a conflict was resolved.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub resend: BTreeSet<u64>,
    /// Entities there that could not be taken over, with the reason.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<u64, String>,
    pub requests_per_minute: u32,
    /// What the token's user could not do there when the campaign was linked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_permissions: Vec<String>,
    pub failure: Option<LinkFailure>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in super::super) struct LinkFailure {
    pub kind: String,
    pub message: String,
    pub at: String,
    /// Whether everything was synced but single entities that could not be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_partial: bool,
}

impl LinkFailure {
    pub(super) fn new(failure: &RemoteFailure, at: String) -> Self {
        Self { kind: failure.kind.as_str().to_owned(), message: failure.message.clone(), at, is_partial: false }
    }
}

impl MirrorLink {
    pub(super) fn address(&self) -> RemoteAddress {
        RemoteAddress { base_url: self.base_url.clone(), campaign_id: self.remote_campaign }
    }
}

/// What both sides agreed on for an entity.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct AgreedRow {
    /// The word of its kind there.
    pub kind: String,
    /// Its id there among the entities of its kind.
    pub id: u64,
    pub base: MirroredFields,
    /// The text here that stands for the entry in `base`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_key: Option<TextKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Ids of its tags there that stay there, since not everybody there may see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden_tags: Vec<u64>,
    /// When it changed there, as far as we know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Ids of aliases there by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub alias_ids: BTreeMap<String, u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub posts: Vec<AgreedPost>,
    /// Fields that both sides changed, with what is there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conflicts: BTreeMap<String, Value>,
    /// Why something could not be sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Why posts there could not be taken over. Only what was seen there sets and clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub posts_problem: Option<String>,
}

/// The ids of an entity there.
pub(super) struct AgreedId {
    pub entity_id: u64,
    /// The word of its kind there.
    pub kind: String,
    /// Among the entities of its kind.
    pub id: u64,
}

/// What both sides agreed on for a post.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct AgreedPost {
    /// Its id here.
    pub post_id: u64,
    /// Its id there; `None` while it is being created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_id: Option<u64>,
    #[serde(default)]
    pub base: MirroredPost,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_key: Option<TextKey>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub conflicts: BTreeMap<String, Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl AgreedRow {
    fn is_open(&self) -> bool {
        let is_open_post = |post: &AgreedPost| !post.conflicts.is_empty() || post.problem.is_some();
        let has_problem = self.problem.is_some() || self.posts_problem.is_some();
        has_problem || !self.conflicts.is_empty() || self.posts.iter().any(is_open_post)
    }
}

/// An entity that is being created there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CreatedRow {
    pub kind: String,
    pub name: String,
    /// Why it was refused, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<MirroredFields>,
    /// The text here that was sent as the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_key: Option<TextKey>,
}

impl CreatedRow {
    /// What both sides agree on if the remote place has what was sent, however it was edited here since. If it has
    /// something else under that name, it is not known whose it is, and nothing is agreed on.
    pub(super) fn agreed_fields(&self, theirs: &MirroredFields) -> (MirroredFields, Option<TextKey>) {
        let nothing = (MirroredFields::default(), None);
        let Some(sent) = &self.sent else { return nothing };
        let says = |fields: &MirroredFields| {
            let markdown_hash = fields.entry.as_ref().map(|entry| entry.markdown_hash.clone());
            (fields.name.clone(), fields.subtype.clone(), markdown_hash)
        };
        if says(sent) != says(theirs) {
            return nothing;
        }
        let agreed = MirroredFields {
            tags: theirs.tags.iter().filter(|tag| sent.tags.contains(tag)).cloned().collect(),
            aliases: Vec::new(),
            is_private: sent.is_private && theirs.is_private,
            parent: theirs.parent.filter(|parent| sent.parent == Some(*parent)),
            date: theirs.date.clone().filter(|date| sent.date.as_ref() == Some(date)),
            ..theirs.clone()
        };
        (agreed, self.entry_key)
    }
}

impl App {
    pub(in super::super) async fn read_link_row(&self, campaign_id: &str) -> Result<Option<MirrorLink>, Fault> {
        let row = self.journal.get(LINKS, campaign_id).await;
        let row = row.map_err(|error| self.store_fault(&error))?;
        row.map(|body| self.parse_mirror_row(&body)).transpose()
    }

    pub(super) async fn write_link_row(&self, campaign_id: &str, link: &MirrorLink) -> Result<(), Fault> {
        self.put_mirror_row(LINKS, campaign_id, link).await
    }

    /// The campaigns that are linked now.
    pub(super) async fn linked_campaigns(&self) -> Result<Vec<String>, Fault> {
        let (mut campaigns, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.journal.list(LINKS, &after, ROWS_PER_READ).await;
            let page = page.map_err(|error| self.store_fault(&error))?;
            let Some((last, _)) = page.last() else { return Ok(campaigns) };
            after.clone_from(last);
            for (campaign_id, body) in page {
                if self.parse_mirror_row::<MirrorLink>(&body)?.is_linked {
                    campaigns.push(campaign_id);
                }
            }
        }
    }

    pub(super) async fn agreed_row(&self, campaign_id: &str, entity_id: u64) -> Result<Option<AgreedRow>, Fault> {
        let row = self.journal.get(&agreed_kind(campaign_id), &row_key(entity_id)).await;
        let row = row.map_err(|error| self.store_fault(&error))?;
        row.map(|body| self.parse_mirror_row(&body)).transpose()
    }

    pub(super) async fn agreed_rows(&self, campaign_id: &str, ids: &[u64]) -> Result<BTreeMap<u64, AgreedRow>, Fault> {
        let mut rows = BTreeMap::new();
        for part in ids.chunks(ROWS_PER_READ) {
            let keys = part.iter().map(|id| row_key(*id)).collect();
            let found = self.journal.get_many(&agreed_kind(campaign_id), keys).await;
            for (key, body) in found.map_err(|error| self.store_fault(&error))? {
                rows.insert(key.parse().unwrap_or_default(), self.parse_mirror_row(&body)?);
            }
        }
        Ok(rows)
    }

    /// The ids of all entities with a row.
    pub(super) async fn agreed_ids(&self, campaign_id: &str) -> Result<Vec<AgreedId>, Fault> {
        let rows = self.list_mirror_rows::<AgreedRow>(&agreed_kind(campaign_id)).await?;
        let id = |(entity_id, row): (u64, AgreedRow)| AgreedId { entity_id, kind: row.kind, id: row.id };
        Ok(rows.into_iter().map(id).collect())
    }

    pub(super) async fn put_agreed_row(&self, campaign_id: &str, entity_id: u64, row: &AgreedRow) -> Result<(), Fault> {
        // Listed before the row says that it is open, and taken off the list after it says that it is not.
        if row.is_open() {
            self.put_mirror_row(&open_kind(campaign_id), &row_key(entity_id), &Value::Bool(true)).await?;
        }
        self.put_mirror_row(&agreed_kind(campaign_id), &row_key(entity_id), row).await?;
        if !row.is_open() {
            self.remove_mirror_row(&open_kind(campaign_id), entity_id).await?;
        }
        Ok(())
    }

    /// The row for a command that stores it in its transaction, and the one that lists it if it is open. One that is not
    /// open any more may stay listed: `open_rows` leaves it out.
    pub(super) fn agreed_side_rows(
        &self,
        campaign_id: &str,
        entity_id: u64,
        row: &AgreedRow,
    ) -> Result<Vec<SideRow>, Fault> {
        let body = serde_json::to_string(row).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let side_row =
            |kind: String, body: String| SideRow { kind: kind.into(), key: row_key(entity_id), body: body.into() };
        let mut side_rows = vec![side_row(agreed_kind(campaign_id), body)];
        if row.is_open() {
            side_rows.push(side_row(open_kind(campaign_id), Value::Bool(true).to_string()));
        }
        Ok(side_rows)
    }

    /// Makes the list of open rows agree with the rows, and forgets creations that are done: a process that was killed may
    /// have stored one of both.
    pub(super) async fn check_mirror_rows(&self, campaign_id: &str) -> Result<(), Fault> {
        let listed = self.list_mirror_rows::<Value>(&open_kind(campaign_id)).await?;
        let listed: BTreeSet<u64> = listed.into_iter().map(|(entity_id, _)| entity_id).collect();
        let mut open = BTreeSet::new();
        for (entity_id, row) in self.list_mirror_rows::<AgreedRow>(&agreed_kind(campaign_id)).await? {
            if row.is_open() {
                open.insert(entity_id);
            }
        }
        for entity_id in open.difference(&listed) {
            self.put_mirror_row(&open_kind(campaign_id), &row_key(*entity_id), &Value::Bool(true)).await?;
        }
        for entity_id in listed.difference(&open) {
            self.remove_mirror_row(&open_kind(campaign_id), *entity_id).await?;
        }
        let committed = self.lore.read(&lore_stream(campaign_id)).await.map_err(|error| self.store_fault(&error))?;
        for (entity_id, _) in self.created_rows(campaign_id).await? {
            if self.agreed_row(campaign_id, committed.state.current_id(entity_id)).await?.is_some() {
                self.remove_created_row(campaign_id, entity_id).await?;
            }
        }
        Ok(())
    }

    pub(super) async fn remove_agreed_row(&self, campaign_id: &str, entity_id: u64) -> Result<(), Fault> {
        self.remove_mirror_row(&agreed_kind(campaign_id), entity_id).await?;
        self.remove_mirror_row(&open_kind(campaign_id), entity_id).await
    }

    /// The entities with a conflict or a problem, with their rows.
    pub(super) async fn open_rows(&self, campaign_id: &str) -> Result<BTreeMap<u64, AgreedRow>, Fault> {
        let listed = self.list_mirror_rows::<Value>(&open_kind(campaign_id)).await?;
        let ids: Vec<u64> = listed.into_iter().map(|(entity_id, _)| entity_id).collect();
        let mut rows = self.agreed_rows(campaign_id, &ids).await?;
        rows.retain(|_, row| row.is_open());
        Ok(rows)
    }

    pub(super) async fn created_rows(&self, campaign_id: &str) -> Result<Vec<(u64, CreatedRow)>, Fault> {
        self.list_mirror_rows(&created_kind(campaign_id)).await
    }

    pub(super) async fn put_created_row(
        &self,
        campaign_id: &str,
        entity_id: u64,
        row: &CreatedRow,
    ) -> Result<(), Fault> {
        self.put_mirror_row(&created_kind(campaign_id), &row_key(entity_id), row).await
    }

    pub(super) async fn remove_created_row(&self, campaign_id: &str, entity_id: u64) -> Result<(), Fault> {
        self.remove_mirror_row(&created_kind(campaign_id), entity_id).await
    }

    /// Forgets everything that was agreed on with another remote campaign.
    pub(super) async fn remove_all_agreed(&self, campaign_id: &str) -> Result<(), Fault> {
        for AgreedId { entity_id, .. } in self.agreed_ids(campaign_id).await? {
            self.remove_agreed_row(campaign_id, entity_id).await?;
        }
        for (entity_id, _) in self.created_rows(campaign_id).await? {
            self.remove_created_row(campaign_id, entity_id).await?;
        }
        Ok(())
    }

    async fn list_mirror_rows<T: for<'de> Deserialize<'de>>(&self, kind: &str) -> Result<Vec<(u64, T)>, Fault> {
        let (mut rows, mut after) = (Vec::new(), String::new());
        loop {
            let page = self.journal.list(kind, &after, ROWS_PER_READ).await;
            let page = page.map_err(|error| self.store_fault(&error))?;
            let Some((last, _)) = page.last() else { return Ok(rows) };
            after.clone_from(last);
            for (key, body) in page {
                rows.push((key.parse().unwrap_or_default(), self.parse_mirror_row(&body)?));
            }
        }
    }

    async fn put_mirror_row<T: Serialize>(&self, kind: &str, key: &str, row: &T) -> Result<(), Fault> {
        let body = serde_json::to_string(row).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        self.journal.put(kind, key, body).await.map_err(|error| self.store_fault(&error))
    }

    async fn remove_mirror_row(&self, kind: &str, entity_id: u64) -> Result<(), Fault> {
        let removed = self.journal.remove(kind, &row_key(entity_id)).await;
        removed.map(drop).map_err(|error| self.store_fault(&error))
    }

    fn parse_mirror_row<T: for<'de> Deserialize<'de>>(&self, body: &str) -> Result<T, Fault> {
        serde_json::from_str(body).map_err(|error| Fault::internal(error, self.new_request_id()))
    }
}

/// Ten digits, so that rows are listed in the order of their ids.
fn row_key(entity_id: u64) -> String {
    format!("{entity_id:010}")
}
