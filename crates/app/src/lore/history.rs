//! `lore_history`: versions of entities and posts, differences between them, restoring. The archive is in `archive.rs`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use futures::future::join_all;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::Moment;
use skald_domain::lore::{
    EntityChange, EntityVersion, LoreCommand, LoreEvent, LoreRefusal, LoreState, PostChange, TextRef,
    fold_entity_version, use_current_tag_names,
};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::canon_hold::{HeldChange, held_already};
use super::entity_reference::EntityReference;
use super::line_diff::diff_lines;
use super::stream::{LoreStream, refusal_fault};
use crate::execute_command::{CommandAnswer, CommandTerms, StoredAnswer};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset, limits,
};
use skald_journal::{Applied, JournalFailure, parse_events};

/// Revisions that are at most so far apart are read together: the records between them cost less than another read.
const NEAR_REVISIONS: u64 = 32;
/// Records that one read answers at most.
const RANGE_RECORDS_MAX: u64 = 512;
/// Reads that run at once.
const RANGES_AT_ONCE: usize = 8;

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
            Self::List => MethodFields { method: "list", takes: &["entity_id", "post_id", "cursor", "limit"] },
            Self::Diff => MethodFields { method: "diff", takes: &["entity_id", "post_id", "from", "to"] },
            Self::Restore => MethodFields { method: "restore", takes: &["entity_id", "post_id", "to"] },
            Self::Archive => MethodFields { method: "archive", takes: &["cursor", "limit"] },
            Self::Undelete => MethodFields { method: "undelete", takes: &["entity_id", "post_id"] },
            Self::Empty => MethodFields { method: "empty", takes: &["entity_id", "post_id"] },
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
    pub(super) entity_id: Option<EntityReference>,
    /// One post of it alone.
    pub(super) post_id: Option<u64>,
    /// The older version, by its number; the one before `to` if left out.
    from: Option<usize>,
    /// The newer version, or the one to restore; the current one if left out.
    to: Option<usize>,
    /// The `next_cursor` of the page before.
    pub(super) cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub(super) limit: Option<usize>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
pub(super) struct LoreHistoryOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<u64>,
    /// The newest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versions: Option<Vec<VersionRow>>,
    /// Fields that differ, and the text as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<BTreeMap<String, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<Vec<ArchivedRow>>,
    /// False if it is held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub success: Option<bool>,
    /// The conflict as which it waits, since it contradicts an authoritative value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    /// Fields of the version that could not come back, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-unlisted" = true))]
    pub left_out: Vec<String>,
    /// How many were removed for good.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub removed: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct VersionRow {
    version: usize,
    at: Moment,
    by: String,
    /// What happened, such as entity.updated.v1.
    kind: String,
    /// The post that it was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
    /// The fields that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct ArchivedRow {
    pub entity_id: u64,
    pub name: String,
    /// A deleted post of an entity that is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_id: Option<u64>,
    pub archived_at: Option<Moment>,
}

impl LoreHistoryOutput {
    pub(super) fn of_answer(answer: CommandAnswer<Self>) -> Self {
        match answer {
            CommandAnswer::Now(output) => output,
            CommandAnswer::Again(stored) => Self::of_stored(&stored),
        }
    }

    fn with_held(self, held: Option<String>) -> Self {
        Self { success: held.as_ref().map(|_| false), held, ..self }
    }

    fn of_stored(stored: &StoredAnswer) -> Self {
        let held = stored.field("held").and_then(Value::as_str).map(ToOwned::to_owned);
        let number = |name: &str| stored.field(name).and_then(Value::as_u64);
        let left_out = stored.field("left_out").and_then(Value::as_array).into_iter().flatten();
        Self {
            entity_id: number("entity_id"),
            revision: number("revision"),
            left_out: left_out.filter_map(Value::as_str).map(ToOwned::to_owned).collect(),
            removed: number("removed").and_then(|removed| usize::try_from(removed).ok()),
            ..Self::default()
        }
        .with_held(held)
    }
}

impl Operation for LoreHistory {
    const NAME: &'static str = "lore_history";
    const TITLE: &'static str = "History of the lore";
    const SUMMARY: &'static str = "Versions of an entity, what differs, going back; and the archive of what was deleted: list, \
        undelete, or empty it for good.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
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
        if needs_entity || input.post_id.is_some() {
            fields.check_required(&given[..1])?;
        }
        if input.method == HistoryMethod::Restore {
            fields.check_required(&[("to", input.to.is_some())])?;
        }
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let is_change = matches!(input.method, HistoryMethod::Restore | HistoryMethod::Undelete | HistoryMethod::Empty);
        if is_change && let Some(output) = app.find_history_answer(call, &lore).await? {
            if input.method == HistoryMethod::Empty {
                app.erase_removed_texts().await?;
            }
            return Ok(output);
        }
        match input.method {
            HistoryMethod::List => app.list_versions(&lore, &input).await,
            HistoryMethod::Diff => app.diff_versions(&lore, &input).await,
            HistoryMethod::Restore => app.restore_version(call, &lore, &input).await,
            HistoryMethod::Archive => lore.list_archive(&input),
            HistoryMethod::Undelete => app.undelete(call, &lore, &input).await,
            HistoryMethod::Empty => app.empty_archive_with_retries(call, lore, &input).await,
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// A record of an entity's history.
pub(super) struct PastEvent {
    at: Moment,
    by: String,
    pub event: LoreEvent,
}

impl EnteredLore {
    /// An entity by id, archived or not, or by name.
    pub(super) fn any_entity(&self, reference: Option<&EntityReference>) -> Result<u64, Fault> {
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
}

impl App {
    /// Everything that happened to an entity, the oldest first, with the names that tags have now.
    pub(super) async fn past_events(&self, lore: &EnteredLore, entity_id: u64) -> Result<Vec<PastEvent>, Fault> {
        let revisions = lore.state().entity(entity_id).map(|entity| entity.changes.clone()).unwrap_or_default();
        let revisions: Vec<u64> = revisions.iter().map(|revision| u64::from(*revision)).collect();
        let mut past = Vec::with_capacity(revisions.len());
        for ranges in revision_ranges(&revisions).chunks(RANGES_AT_ONCE) {
            let reads = ranges.iter().map(|range| {
                let limit = usize::try_from(range.end() - range.start() + 1).unwrap_or(usize::MAX);
                self.journal.read(&lore.stream, range.start().saturating_sub(1), limit)
            });
            for records in join_all(reads).await {
                let records = records.map_err(|error| self.store_fault(&error))?;
                for record in records.into_iter().filter(|record| revisions.binary_search(&record.revision).is_ok()) {
                    let events = parse_events::<LoreStream>(&record);
                    let events = events.map_err(|error| Fault::internal(error, self.new_request_id()))?;
                    let (at, by) = (Moment::from(record.at), record.by);
                    past.extend(events.into_iter().map(|mut event| {
                        use_current_tag_names(lore.state(), &mut event, record.revision, record.at);
                        PastEvent { at, by: by.clone(), event }
                    }));
                }
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
        let numbers = version_numbers(&past, (entity_id, input.post_id))?;
        let shown = numbers.iter().copied().filter(|number| *number <= end);
        let versions: Vec<VersionRow> =
            shown.rev().take(limit).map(|number| VersionRow::new(number, &past[number - 1])).collect();
        let first = numbers.first().copied().unwrap_or_default();
        let next_cursor = versions.last().filter(|row| row.version > first).map(|row| (row.version - 1).to_string());
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
        let newest = version_numbers(&past, (entity_id, input.post_id))?.last().copied().unwrap_or_default();
        let to = input.to.unwrap_or(newest);
        let newer = Self::version(&past, to, "/to")?;
        let older = match input.from.unwrap_or(to.saturating_sub(1)) {
            0 if input.from.is_none() => EntityVersion::default(),
            from => Self::version(&past, from, "/from")?,
        };
        let older_texts = self.version_texts(lore, &older, input.post_id).await?;
        let newer_texts = self.version_texts(lore, &newer, input.post_id).await?;
        let mut changes = BTreeMap::new();
        let (before, after) = match input.post_id {
            None => (version_fields(&older), version_fields(&newer)),
            Some(post_id) => (post_fields(&older, post_id), post_fields(&newer, post_id)),
        };
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

    /// The texts of a version: its entry, and its posts by name; or the text of one post. A text that was removed for
    /// good is empty.
    async fn version_texts(
        &self,
        lore: &EnteredLore,
        version: &EntityVersion,
        post_id: Option<u64>,
    ) -> Result<BTreeMap<String, String>, Fault> {
        if let Some(post_id) = post_id {
            let text = version.posts.get(&post_id).and_then(|post| post.text.as_ref());
            let texts = self.load_texts(&lore.campaign_id, text.into_iter()).await?;
            return Ok(BTreeMap::from([("entry".to_owned(), texts.markdown(text).to_owned())]));
        }
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
        let entity_id = lore.any_entity(input.entity_id.as_ref())?;
        let past = self.past_events(lore, entity_id).await?;
        let version = Self::version(&past, input.to.unwrap_or_default(), "/to")?;
        if let Some(post_id) = input.post_id {
            version_numbers(&past, (entity_id, Some(post_id)))?;
            return self.restore_post(call, lore, (entity_id, post_id), &version).await;
        }
        let text = self.kept_text(lore, version.text.as_ref()).await?;
        let mut left_out = Vec::new();
        let parent = match version.parent {
            Some(parent) if lore.visible_entity(parent).is_none() => {
                left_out.push(format!("parent: entity {parent} is not there any more"));
                Some(None)
            }
            Some(parent) if !lore.state().may_have_parent(entity_id, parent) => {
                left_out.push(format!("parent: entity {parent} lies below it now; the present parent stays"));
                None
            }
            parent => Some(parent),
        };
        let other = |actor_id: &String| lore.state().entity_of_actor(actor_id).filter(|other| *other != entity_id);
        let actor_id = match version.actor_id.as_ref().and_then(|actor_id| Some((actor_id, other(actor_id)?))) {
            Some((actor_id, other)) => {
                left_out.push(format!("actor_id: {actor_id} is entity {other} now"));
                None
            }
            None => Some(version.actor_id.clone()),
        };
        let change = EntityChange {
            name: Some(version.name.clone()),
            subtype: Some(version.subtype.clone()),
            tags: Some(version.tags.clone()),
            aliases: Some(version.aliases.clone()),
            is_private: Some(version.is_private),
            parent,
            image: Some(version.image.clone()),
            date: Some(version.date.clone()),
            actor_id,
            text: Some(text),
            source: None,
        };
        let posts = self.restored_posts(lore, &version).await?;
        let command = LoreCommand::RestoreVersion { entity_id, change: Box::new(change), posts };
        let answer = move |state: &LoreState| {
            let revision = state.entity(entity_id).map(|entity| entity.revision);
            let left_out = left_out.clone();
            LoreHistoryOutput { entity_id: Some(entity_id), revision, left_out, ..LoreHistoryOutput::default() }
        };
        self.run_lore_command(call, lore, command, answer).await
    }

    /// Makes a post what it was in a version, and nothing else.
    async fn restore_post(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        (entity_id, post_id): (u64, u64),
        version: &EntityVersion,
    ) -> Result<LoreHistoryOutput, Fault> {
        let Some(post) = version.posts.get(&post_id).filter(|post| !post.is_archived) else {
            let fault = Fault::new(Code::InvalidParams, format!("post {post_id} is not there in this version"));
            let hint = "`lore_history` with method list and this post_id has its versions";
            return Err(fault.with_path("/to").hint(hint));
        };
        let text = self.kept_text(lore, post.text.as_ref()).await?;
        let change = PostChange { name: Some(post.name.clone()), is_private: Some(post.is_private), text: Some(text) };
        let (change_of_entity, posts) = (Box::new(EntityChange::default()), vec![(post_id, change)]);
        let command = LoreCommand::RestoreVersion { entity_id, change: change_of_entity, posts };
        let answer = move |state: &LoreState| {
            let revision = state.post(post_id).map(|(_, post)| post.revision);
            LoreHistoryOutput { entity_id: Some(entity_id), revision, ..LoreHistoryOutput::default() }
        };
        self.run_lore_command(call, lore, command, answer).await
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

    /// The answer that is stored under the call's idempotency key. It is looked up first: what the call names may be called
    /// otherwise by now, or be removed.
    async fn find_history_answer(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
    ) -> Result<Option<LoreHistoryOutput>, Fault> {
        let Some((key, request)) = CommandTerms::of_call(call).key else { return Ok(None) };
        let found: Option<CommandAnswer<LoreHistoryOutput>> =
            self.find_stored_answer::<LoreHistory, _>(call, &lore.stream, &key, &request).await?;
        Ok(found.map(LoreHistoryOutput::of_answer))
    }

    /// Runs a command of which a change that changes nothing is no failure.
    pub(super) async fn run_lore_command(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        command: LoreCommand,
        answer: impl Fn(&LoreState) -> LoreHistoryOutput + Send + Sync + 'static,
    ) -> Result<LoreHistoryOutput, Fault> {
        let on_this_state = answer(lore.state());
        let command = LoreCommand::FromTool { tool: LoreHistory::NAME, command: Box::new(command) };
        let terms = CommandTerms::of_call(call);
        let answer = move |done: &Applied<LoreStream>| {
            answer(&done.committed.state).with_held(HeldChange::of_events(&done.events).map(HeldChange::id))
        };
        let done =
            self.execute_with_terms::<LoreHistory, _, _>(&self.lore, call, &lore.stream, command, terms, answer).await;
        match done {
            Ok((answered, _)) => Ok(LoreHistoryOutput::of_answer(answered)),
            Err(not_done) if is_unchanged(&not_done.failure) => Ok(on_this_state),
            Err(not_done) => {
                if let JournalFailure::Refused(refusal) = &not_done.failure
                    && let Some(id) = held_already(refusal)
                {
                    return Ok(on_this_state.with_held(Some(id)));
                }
                Err(self.lore_fault(not_done.failure))
            }
        }
    }
}

/// Ranges that contain these revisions, which ascend. Revisions near each other are in one range.
fn revision_ranges(revisions: &[u64]) -> Vec<RangeInclusive<u64>> {
    let mut ranges: Vec<RangeInclusive<u64>> = Vec::new();
    for revision in revisions {
        match ranges.last_mut() {
            Some(range) if revision - range.end() <= NEAR_REVISIONS && revision - range.start() < RANGE_RECORDS_MAX => {
                *range = *range.start()..=*revision;
            }
            _ => ranges.push(*revision..=*revision),
        }
    }
    ranges
}

/// The numbers of the versions in which the entity, or one of its posts, changed.
fn version_numbers(past: &[PastEvent], (entity_id, post_id): (u64, Option<u64>)) -> Result<Vec<usize>, Fault> {
    let numbers = 1..=past.len();
    let Some(post_id) = post_id else { return Ok(numbers.collect()) };
    let of_post: Vec<usize> = numbers.filter(|number| past[number - 1].event.is_about_post(post_id)).collect();
    if of_post.is_empty() {
        return Err(refusal_fault(&LoreRefusal::PostNotFound { entity_id, post_id }));
    }
    Ok(of_post)
}

impl VersionRow {
    fn new(version: usize, past: &PastEvent) -> Self {
        Self {
            version,
            at: past.at,
            by: past.by.clone(),
            kind: past.event.kind().to_owned(),
            post_id: past.event.only_post_id(),
            fields: past.event.changed_fields().into_iter().map(ToOwned::to_owned).collect(),
        }
    }
}

/// The fields of a post; of one that is not there, those of an empty one.
fn post_fields(version: &EntityVersion, post_id: u64) -> BTreeMap<&'static str, Value> {
    let post = version.posts.get(&post_id).cloned().unwrap_or_default();
    BTreeMap::from([
        ("name", json!(post.name)),
        ("is_private", json!(post.is_private)),
        ("deleted", json!(post.is_archived)),
    ])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_near_each_other_are_read_together() {
        assert!(revision_ranges(&[]).is_empty());
        assert_eq!(revision_ranges(&[1, 2, 34, 67]), [1..=34, 67..=67]);
        let many: Vec<u64> = (1..=RANGE_RECORDS_MAX + 1).collect();
        assert_eq!(revision_ranges(&many), [1..=RANGE_RECORDS_MAX, RANGE_RECORDS_MAX + 1..=RANGE_RECORDS_MAX + 1]);
    }
}
