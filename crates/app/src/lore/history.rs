//! `lore_history`: versions of entities and posts, differences between them, restoring, and the archive.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::Moment;
use skald_domain::lore::{
    EntityChange, EntityVersion, LoreCommand, LoreEvent, PostChange, TextRef, fold_entity_version,
};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::canon_hold::{HeldChange, held_already};
use super::entity_reference::EntityReference;
use super::line_diff::diff_lines;
use super::stream::LoreStream;
use crate::execute_command::{CommandAnswer, CommandTerms};
use crate::method_fields::MethodFields;
use crate::{Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, Toolset, limits};
use skald_journal::{Applied, JournalFailure, parse_events};

/// How often emptying the archive is tried while others write.
const EMPTY_ATTEMPTS: usize = 8;

pub(super) struct LoreHistory;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum HistoryMethod {
    #[default]
    List,
    Diff,
    Restore,
    Archive,
    Undelete,
    Empty,
}

impl HistoryMethod {
    fn fields(self) -> MethodFields {
        match self {
            Self::List => MethodFields { method: "list", takes: &["entity_id", "cursor", "limit"] },
            Self::Diff => MethodFields { method: "diff", takes: &["entity_id", "from", "to"] },
            Self::Restore => MethodFields { method: "restore", takes: &["entity_id", "to"] },
            Self::Archive => MethodFields { method: "archive", takes: &["cursor", "limit"] },
            Self::Undelete => MethodFields { method: "undelete", takes: &["entity_id", "post_id"] },
            Self::Empty => MethodFields { method: "empty", takes: &["entity_id"] },
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoreHistoryInput {
    /// list: its versions; diff: what differs; restore: go back; archive, undelete, empty: what was deleted.
    #[serde(default)]
    #[schemars(extend("x-brief" = true))]
    method: HistoryMethod,
    /// Its id or unique name; every archived one if left out of empty.
    entity_id: Option<EntityReference>,
    /// A deleted post, for undelete.
    post_id: Option<u64>,
    /// The older version, by its number; the one before `to` if left out.
    from: Option<usize>,
    /// The newer version, or the one to restore; the current one if left out.
    to: Option<usize>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct LoreHistoryOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<u64>,
    /// The newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    versions: Option<Vec<VersionRow>>,
    /// Fields that differ, and the text as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    archived: Option<Vec<ArchivedRow>>,
    /// False if it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    success: Option<bool>,
    /// The conflict as which it waits, since it contradicts an authoritative value.
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<String>,
    /// How many were removed for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct VersionRow {
    version: usize,
    at: Moment,
    by: String,
    /// What happened, such as entity.updated.v1.
    kind: String,
    /// The fields that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ArchivedRow {
    entity_id: u64,
    name: String,
    /// A deleted post of an entity that is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
    archived_at: Option<Moment>,
}

impl Operation for LoreHistory {
    const NAME: &'static str = "lore_history";
    const TITLE: &'static str = "History of the lore";
    const SUMMARY: &'static str = "Versions of an entity, what differs, going back; and the archive of what was deleted: list, \
        undelete, or empty it for good.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const DESTRUCTIVE: bool = true;
    type Input = LoreHistoryInput;
    type Output = LoreHistoryOutput;

    async fn run(app: &App, call: &Call<'_>, input: LoreHistoryInput) -> Result<LoreHistoryOutput, Fault> {
        let given = [
            ("entity_id", input.entity_id.is_some()),
            ("post_id", input.post_id.is_some()),
            ("from", input.from.is_some()),
            ("to", input.to.is_some()),
            ("cursor", input.cursor.is_some()),
            ("limit", input.limit.is_some()),
        ];
        let fields = input.method.fields();
        fields.check(&given)?;
        let needs_entity = !matches!(input.method, HistoryMethod::Archive | HistoryMethod::Empty);
        if needs_entity {
            fields.check_required(&given[..1])?;
        }
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        match input.method {
            HistoryMethod::List => app.list_versions(&lore, &input).await,
            HistoryMethod::Diff => app.diff_versions(&lore, &input).await,
            HistoryMethod::Restore => app.restore_version(call, &lore, &input).await,
            HistoryMethod::Archive => lore.list_archive(&input),
            HistoryMethod::Undelete => app.undelete(call, &lore, &input).await,
            HistoryMethod::Empty => app.empty_archive_at_rest(call, lore, &input).await,
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// A record of an entity's history.
struct PastEvent {
    at: Moment,
    by: String,
    event: LoreEvent,
}

impl EnteredLore {
    /// An entity by id, archived or not, or by name.
    fn any_entity(&self, reference: Option<&EntityReference>) -> Result<u64, Fault> {
        match reference {
            Some(EntityReference::Id(id)) if self.state().entity(*id).is_some() => Ok(self.state().current_id(*id)),
            Some(reference @ EntityReference::Name(name)) => {
                let is_it = |entity: &&std::sync::Arc<skald_domain::lore::Entity>| {
                    skald_domain::lore::fold_name(&entity.name) == skald_domain::lore::fold_name(name)
                };
                let archived = || self.state().archived().find(is_it).map(|entity| entity.entity_id);
                self.resolve_entity(reference, "/entity_id").or_else(|fault| archived().ok_or(fault))
            }
            Some(reference) => Err(self.missing_entity(reference, "/entity_id")),
            None => Err(self.missing_entity(&EntityReference::Id(0), "/entity_id")),
        }
    }

    fn list_archive(&self, input: &LoreHistoryInput) -> Result<LoreHistoryOutput, Fault> {
        let limit = crate::list_page::check_page_limit(input.limit)?;
        let skipped: usize = match input.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| crate::list_page::invalid_cursor_fault(cursor))?,
        };
        let entities = self.state().archived().map(|entity| ArchivedRow {
            entity_id: entity.entity_id,
            name: entity.name.to_string(),
            post_id: None,
            archived_at: entity.details().archived_at.map(Moment::from),
        });
        let posts = self.state().archived_posts().map(|(entity, post)| ArchivedRow {
            entity_id: entity.entity_id,
            name: post.name.to_string(),
            post_id: Some(post.post_id),
            archived_at: post.archived_at.map(Moment::from),
        });
        let mut rows: Vec<ArchivedRow> = entities.chain(posts).skip(skipped).take(limit + 1).collect();
        let next_cursor = (rows.len() > limit).then(|| (skipped + limit).to_string());
        rows.truncate(limit);
        Ok(LoreHistoryOutput { archived: Some(rows), next_cursor, ..LoreHistoryOutput::default() })
    }
}

impl App {
    /// Everything that happened to an entity, the oldest first.
    async fn past_events(&self, lore: &EnteredLore, entity_id: u64) -> Result<Vec<PastEvent>, Fault> {
        let revisions = lore.state().entity(entity_id).map(|entity| entity.changes.clone()).unwrap_or_default();
        let mut past = Vec::with_capacity(revisions.len());
        for revision in revisions.iter().copied() {
            let records = self.journal.read(&lore.stream, u64::from(revision).saturating_sub(1), 1).await;
            for record in records.map_err(|error| self.store_fault(&error))? {
                let events = parse_events::<LoreStream>(&record);
                let events = events.map_err(|error| Fault::internal(error, self.new_request_id()))?;
                let (at, by) = (Moment::from(record.at), record.by);
                past.extend(events.into_iter().map(|event| PastEvent { at, by: by.clone(), event }));
            }
        }
        Ok(past)
    }

    async fn list_versions(&self, lore: &EnteredLore, input: &LoreHistoryInput) -> Result<LoreHistoryOutput, Fault> {
        let limit = crate::list_page::check_page_limit(input.limit)?;
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let past = self.past_events(lore, entity_id).await?;
        let end: usize = match input.cursor.as_deref() {
            None => past.len(),
            Some(cursor) => cursor.parse().map_err(|_| crate::list_page::invalid_cursor_fault(cursor))?,
        };
        let rows = past.iter().enumerate().take(end).rev().take(limit).map(|(index, past)| VersionRow {
            version: index + 1,
            at: past.at,
            by: past.by.clone(),
            kind: past.event.kind().to_owned(),
            fields: past.event.changed_fields().into_iter().map(ToOwned::to_owned).collect(),
        });
        let versions: Vec<VersionRow> = rows.collect();
        let next_cursor = versions.last().filter(|row| row.version > 1).map(|row| (row.version - 1).to_string());
        Ok(LoreHistoryOutput {
            entity_id: Some(entity_id),
            versions: Some(versions),
            next_cursor,
            ..LoreHistoryOutput::default()
        })
    }

    /// The entity as it was after a number of its changes.
    fn version(past: &[PastEvent], number: usize, pointer: &str) -> Result<EntityVersion, Fault> {
        if !(1..=past.len()).contains(&number) {
            let fault = Fault::new(Code::InvalidParams, format!("version {number} is none of 1 to {}", past.len()));
            return Err(fault
                .with_path(pointer)
                .value(&number.into())
                .hint("`lore_history` with method list has the versions"));
        }
        Ok(fold_entity_version(past[..number].iter().map(|past| &past.event)))
    }

    async fn diff_versions(&self, lore: &EnteredLore, input: &LoreHistoryInput) -> Result<LoreHistoryOutput, Fault> {
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let past = self.past_events(lore, entity_id).await?;
        let to = input.to.unwrap_or(past.len());
        let newer = Self::version(&past, to, "/to")?;
        let older = match input.from.unwrap_or(to.saturating_sub(1)) {
            0 if input.from.is_none() => EntityVersion::default(),
            from => Self::version(&past, from, "/from")?,
        };
        let older_texts = self.version_texts(lore, &older).await?;
        let newer_texts = self.version_texts(lore, &newer).await?;
        let mut changes = BTreeMap::new();
        let (before, after) = (version_fields(&older), version_fields(&newer));
        for (field, value) in &after {
            let earlier = before.get(field).cloned().unwrap_or_default();
            if earlier != *value {
                changes.insert((*field).to_owned(), json!({"from": earlier, "to": value}));
            }
        }
        for (name, text) in &newer_texts {
            let earlier = older_texts.get(name).map_or("", String::as_str);
            if earlier != text {
                changes.insert(name.clone(), diff_lines(earlier, text).into());
            }
        }
        for (name, text) in older_texts.iter().filter(|(name, _)| !newer_texts.contains_key(*name)) {
            changes.insert(name.clone(), diff_lines(text, "").into());
        }
        Ok(LoreHistoryOutput { entity_id: Some(entity_id), changes: Some(changes), ..LoreHistoryOutput::default() })
    }

    /// The texts of a version: its entry, and its posts by name. A text that was removed for good is empty.
    async fn version_texts(
        &self,
        lore: &EnteredLore,
        version: &EntityVersion,
    ) -> Result<BTreeMap<String, String>, Fault> {
        let posts = version.posts.values();
        let references = version.text.iter().chain(posts.clone().filter_map(|post| post.text.as_ref()));
        let texts = self.load_texts(&lore.campaign_id, references).await?;
        let entry = ("entry".to_owned(), texts.markdown(version.text.as_ref()).to_owned());
        let posts = version.posts.iter().filter(|(_, post)| !post.is_archived);
        let posts = posts
            .map(|(id, post)| (format!("post {id}: {}", post.name), texts.markdown(post.text.as_ref()).to_owned()));
        Ok([entry].into_iter().chain(posts).collect())
    }

    async fn restore_version(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        MethodFields { method: "restore", takes: &[] }.check_required(&[("to", input.to.is_some())])?;
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let past = self.past_events(lore, entity_id).await?;
        let version = Self::version(&past, input.to.unwrap_or_default(), "/to")?;
        let text = self.kept_text(lore, version.text.as_ref()).await?;
        let parent = version.parent.filter(|parent| lore.visible_entity(*parent).is_some());
        let change = EntityChange {
            name: Some(version.name.clone()),
            subtype: Some(version.subtype.clone()),
            tags: Some(version.tags.clone()),
            aliases: Some(version.aliases.clone()),
            is_private: Some(version.is_private),
            parent: Some(parent),
            image: Some(version.image.clone()),
            date: Some(version.date.clone()),
            actor_id: Some(version.actor_id.clone()),
            text: Some(text),
            source: None,
        };
        let posts = self.restored_posts(lore, &version).await?;
        let command = LoreCommand::RestoreVersion { entity_id, change: Box::new(change), posts };
        let held = self.run_lore_command(call, lore, command).await?;
        let newest = self.load_lore(call, lore.campaign_id.clone()).await?;
        let revision = newest.state().entity(entity_id).map(|entity| entity.revision);
        let success = held.as_ref().map(|_| false);
        Ok(LoreHistoryOutput { entity_id: Some(entity_id), revision, success, held, ..LoreHistoryOutput::default() })
    }

    /// The posts of a version that are there still, with the name, privacy and text that they had.
    async fn restored_posts(
        &self,
        lore: &EnteredLore,
        version: &EntityVersion,
    ) -> Result<Vec<(u64, PostChange)>, Fault> {
        let mut posts = Vec::new();
        for (post_id, post) in version.posts.iter().filter(|(_, post)| !post.is_archived) {
            if lore.state().post(*post_id).is_some() {
                let text = self.kept_text(lore, post.text.as_ref()).await?;
                let (name, is_private) = (Some(post.name.clone()), Some(post.is_private));
                posts.push((*post_id, PostChange { name, is_private, text: Some(text) }));
            }
        }
        Ok(posts)
    }

    /// A reference to an earlier text, if its row is still there.
    async fn kept_text(&self, lore: &EnteredLore, text: Option<&TextRef>) -> Result<Option<TextRef>, Fault> {
        let Some(text) = text else { return Ok(None) };
        let texts = self.load_texts(&lore.campaign_id, [text].into_iter()).await?;
        let found: Option<&Entry> = texts.entry(Some(text));
        Ok(found.map(|_| text.clone()))
    }

    async fn undelete(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let command = match input.post_id {
            Some(post_id) => LoreCommand::RestorePost { entity_id, post_id },
            None => LoreCommand::RestoreEntity { entity_id },
        };
        self.run_lore_command(call, lore, command).await?;
        Ok(LoreHistoryOutput { entity_id: Some(entity_id), ..LoreHistoryOutput::default() })
    }

    /// Empties the archive, again if somebody else wrote meanwhile.
    async fn empty_archive_at_rest(
        &self,
        call: &Call<'_>,
        mut lore: EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        for _ in 0..EMPTY_ATTEMPTS {
            match self.empty_archive(call, &lore, input).await {
                Err(fault) if fault.code() == Code::RevisionConflict => {}
                done => return done,
            }
            lore = self.load_lore(call, lore.campaign_id).await?;
        }
        self.empty_archive(call, &lore, input).await
    }

    async fn empty_archive(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &LoreHistoryInput,
    ) -> Result<LoreHistoryOutput, Fault> {
        let entity_ids = match &input.entity_id {
            Some(reference) => vec![lore.any_entity(Some(reference))?],
            None => lore.state().archived().map(|entity| entity.entity_id).collect(),
        };
        let is_all = input.entity_id.is_none();
        let posts: Vec<(u64, u64)> = if is_all {
            lore.state().archived_posts().map(|(entity, post)| (entity.entity_id, post.post_id)).collect()
        } else {
            Vec::new()
        };
        let mut text_keys = Vec::new();
        for entity_id in &entity_ids {
            let past = self.past_events(lore, *entity_id).await?;
            text_keys.extend(past.iter().filter_map(|past| Some(past.event.text()?.key)));
        }
        for (entity_id, post_id) in &posts {
            let past = self.past_events(lore, *entity_id).await?;
            let of_post = past.iter().filter(|past| past.event.post_id() == Some(*post_id));
            text_keys.extend(of_post.filter_map(|past| Some(past.event.text()?.key)));
        }
        let removed = entity_ids.len() + posts.len();
        let entity_ids = if is_all { Vec::new() } else { entity_ids };
        // The texts must not be those of something that was brought back meanwhile.
        let terms = CommandTerms { expected: Some(lore.committed.revision()), ..CommandTerms::of_call(call) };
        self.run_with_terms(call, lore, LoreCommand::EmptyArchive { entity_ids, text_keys }, terms).await?;
        if let Err(error) = self.journal.optimize_search().await {
            tracing::warn!(%error, "removed words stay in the search index until it is next merged");
        }
        Ok(LoreHistoryOutput { removed: Some(removed), ..LoreHistoryOutput::default() })
    }

    /// Runs a command; answers the id of the conflict if it is held.
    async fn run_lore_command(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        command: LoreCommand,
    ) -> Result<Option<String>, Fault> {
        let command = LoreCommand::FromTool { tool: LoreHistory::NAME, command: Box::new(command) };
        self.run_with_terms(call, lore, command, CommandTerms::of_call(call)).await
    }

    /// Runs a command of which a change that changes nothing is no failure.
    async fn run_with_terms(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        command: LoreCommand,
        terms: CommandTerms,
    ) -> Result<Option<String>, Fault> {
        let answer =
            |done: &Applied<LoreStream>| json!({"held": HeldChange::of_events(&done.events).map(HeldChange::id)});
        let done =
            self.execute_with_terms::<LoreHistory, _, _>(&self.lore, call, &lore.stream, command, terms, answer).await;
        match done {
            Ok((CommandAnswer::Now(answer), _)) => Ok(answer["held"].as_str().map(ToOwned::to_owned)),
            Ok((CommandAnswer::Again(stored), _)) => {
                Ok(stored.field("held").and_then(Value::as_str).map(ToOwned::to_owned))
            }
            Err(not_done) if is_unchanged(&not_done.failure) => Ok(None),
            Err(not_done) => {
                if let JournalFailure::Refused(refusal) = &not_done.failure
                    && let Some(id) = held_already(refusal)
                {
                    return Ok(Some(id));
                }
                Err(self.lore_fault(not_done.failure))
            }
        }
    }
}

fn version_fields(version: &EntityVersion) -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        ("name", json!(version.name)),
        ("type", json!(version.subtype)),
        ("tags", json!(version.tags)),
        ("aliases", json!(version.aliases)),
        ("is_private", json!(version.is_private)),
        ("parent", json!(version.parent)),
        ("image", json!(version.image)),
        ("date", json!(version.date)),
        ("actor_id", json!(version.actor_id)),
    ])
}
