//! `SyncRun`: the state of one sync (connection, lease, link, failures so far), and the steps that pull and push share.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Value, json};
use skald_domain::decider::DecisionContext;
use skald_domain::lore::{
    Entity, LoreCommand, LoreRefusal, MirroredFields, MirroredPost, MirroredText, Post, TextKey, TextRef,
};
use skald_markup::Entry;

use super::lease::MirrorLease;
use super::merge_versions::{SentText, our_fields, our_post, sent_text};
use super::operation::KankaMirror;
use super::remote::{RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteKind, RemoteLore, RemoteParent};
use super::rows::{AgreedPost, AgreedRow, CreatedRow, MirrorLink};
use super::stoppable_remote::StoppableRemote;
use crate::lore::canon_hold::HeldChange;
use crate::lore::stream::{LoreStream, lore_stream};
use crate::{App, Code, Fault, Operation};
use skald_journal::{Applied, CommittedState, JournalFailure, SideRow, StreamName, Submission, truncate_to_micros};

/// How often a step is tried again when the lore changed under it.
pub(super) const ATTEMPTS: usize = 16;
/// How many failures about single entities or lists a run survives.
const FAILURES_MAX: usize = 5;
/// The author of pulled changes in the history of an entity.
pub(super) const WRITER: &str = "kanka";

/// Why a sync ended early.
#[derive(Debug)]
pub(super) enum SyncFailure {
    /// The store, or a fault of ours.
    Fault(Box<Fault>),
    Remote(RemoteFailure),
    /// Everything was synced but single entities that the remote place could not show.
    Unread(RemoteFailure),
    /// Another process has taken over, or somebody here who is not to wait.
    LeaseLost,
}

impl From<Fault> for SyncFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<RemoteFailure> for SyncFailure {
    fn from(failure: RemoteFailure) -> Self {
        if failure.kind == RemoteFailureKind::Stopped { Self::LeaseLost } else { Self::Remote(failure) }
    }
}

/// What a sync did.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SyncReport {
    /// Entities that were created, changed or archived here.
    pub pulled: usize,
    /// Entities and posts that were created, changed or deleted there.
    pub sent: usize,
    /// Remote entities that the rules of lore refuse, each with the reason.
    pub skipped: Vec<String>,
}

/// Called with how many entities are done, and of how many.
pub type SyncProgress<'a> = dyn FnMut(usize, usize) + Send + 'a;

pub(super) struct SyncRun<'a> {
    pub app: &'a App,
    pub campaign_id: &'a str,
    pub stream: StreamName,
    pub remote: Arc<dyn RemoteLore>,
    pub lease: &'a MirrorLease,
    pub link: MirrorLink,
    /// Entities that were sent by an earlier run whose answer was lost.
    pub unanswered: Vec<(u64, CreatedRow)>,
    /// Entity ids by kind and id within the kind, read from the agreed rows when they are needed first.
    pub typed_ids: Option<HashMap<(String, u64), u64>>,
    /// Whether this run has seen that the campaign itself is there.
    pub is_campaign_confirmed: bool,
    /// The first failure to read an entity or a list. The rest is synced, and the sync reports the failure at its end.
    pub unread: Option<RemoteFailure>,
    /// Whether it could not show the list of a kind.
    pub has_unread_list: bool,
    /// Entities about which the remote place failed in this run. They are sent again by the next one.
    pub failing: BTreeSet<u64>,
    /// Entities that could not be fetched in this run.
    pub unreadable: BTreeSet<u64>,
    /// How many requests for single entities or lists failed although the campaign itself could be read.
    failure_count: usize,
    /// Entities that were sent while everything is pulled, with their revisions then.
    pub sent_early: BTreeMap<u64, Option<u64>>,
    pub report: SyncReport,
}

impl<'a> SyncRun<'a> {
    pub(super) fn new(
        app: &'a App,
        campaign_id: &'a str,
        remote: Arc<dyn RemoteLore>,
        lease: &'a MirrorLease,
        link: MirrorLink,
    ) -> Self {
        Self {
            app,
            campaign_id,
            stream: lore_stream(campaign_id),
            remote: Arc::new(StoppableRemote::new(remote, lease.stop_token())),
            lease,
            link,
            unanswered: Vec::new(),
            typed_ids: None,
            is_campaign_confirmed: false,
            unread: None,
            has_unread_list: false,
            failing: BTreeSet::new(),
            unreadable: BTreeSet::new(),
            failure_count: 0,
            sent_early: BTreeMap::new(),
            report: SyncReport::default(),
        }
    }
}

impl SyncRun<'_> {
    pub(super) async fn read_lore(&self) -> Result<Arc<CommittedState<LoreStream>>, SyncFailure> {
        let read = self.app.lore.read(&self.stream).await;
        Ok(read.map_err(|error| self.app.store_fault(&error))?)
    }

    /// Call it before something counts as deleted there: if the campaign itself is gone, every request is answered with 404.
    pub(super) async fn confirm_campaign(&mut self) -> Result<(), SyncFailure> {
        if !self.is_campaign_confirmed {
            self.check_lease()?;
            self.remote.check_campaign().await?;
            self.is_campaign_confirmed = true;
        }
        Ok(())
    }

    /// Whether a failure concerns this one request, since the campaign itself can still be read. After a few such failures
    /// the answer is no, which ends the run: each of them costs all retries.
    pub(super) async fn is_failing_alone(&mut self, failure: &RemoteFailure) -> Result<bool, SyncFailure> {
        if !failure.kind.may_be_about_one() || self.failure_count == FAILURES_MAX {
            return Ok(false);
        }
        self.failure_count += 1;
        self.check_lease()?;
        Ok(self.remote.check_campaign().await.is_ok())
    }

    /// Notes that an entity could not be sent because the remote place failed about it, or ends the run.
    pub(super) async fn skip_failing(&mut self, entity_id: u64, failure: RemoteFailure) -> Result<(), SyncFailure> {
        if !self.is_failing_alone(&failure).await? {
            return Err(failure.into());
        }
        self.failing.insert(entity_id);
        if let Some(row) = self.agreed_row(entity_id).await? {
            let problem = format!("{}; it is sent again with the next sync", failure.message);
            self.note_problem(entity_id, row, Some(problem)).await?;
        }
        Ok(())
    }

    /// Replaces a parent that is given by its typed id with its entity id. It stays as it is if that entity is not here yet.
    pub(super) async fn with_entity_parent<'e>(
        &mut self,
        seen: &'e RemoteEntity,
    ) -> Result<Cow<'e, RemoteEntity>, SyncFailure> {
        let RemoteParent::SameKind(id) = seen.parent else { return Ok(Cow::Borrowed(seen)) };
        if self.typed_ids.is_none() {
            let ids = self.app.agreed_ids(self.campaign_id).await?;
            self.typed_ids = Some(ids.into_iter().map(|known| ((known.kind, known.id), known.entity_id)).collect());
        }
        let ids = self.typed_ids.as_ref();
        let parent = ids.and_then(|ids| ids.get(&(seen.kind.word.to_owned(), id)).copied());
        Ok(match parent {
            Some(parent) => Cow::Owned(RemoteEntity { parent: RemoteParent::Entity(parent), ..seen.clone() }),
            None => Cow::Borrowed(seen),
        })
    }

    /// Call it before each request.
    pub(super) fn check_lease(&self) -> Result<(), SyncFailure> {
        if self.lease.is_lost() { Err(SyncFailure::LeaseLost) } else { Ok(()) }
    }

    /// Decides and stores a command of the mirror. A refusal is the inner error, and so is a change that the canon holds: its
    /// side rows are stored nevertheless, so the caller has to put the old row back.
    pub(super) async fn execute(
        &self,
        command: LoreCommand,
        side_rows: Vec<SideRow>,
    ) -> Result<Result<Applied<LoreStream>, LoreRefusal>, SyncFailure> {
        let given = DecisionContext { at: truncate_to_micros(self.app.clock.now()), by: WRITER.to_owned() };
        let command = LoreCommand::FromTool { tool: KankaMirror::NAME, command: Box::new(command) };
        let mut submission: Submission<LoreStream> = Submission::new(command, given);
        submission.side_rows = side_rows;
        match self.app.lore.execute(&self.stream, submission).await {
            Ok(done) => Ok(match HeldChange::of_events(&done.events) {
                Some(held) => Err(LoreRefusal::HeldAlready { conflict_id: held.conflict_id }),
                None => Ok(done),
            }),
            Err(JournalFailure::Refused(refusal)) => Ok(Err(refusal)),
            Err(failure) => Err(self.app.lore_fault(failure).into()),
        }
    }

    /// The rows for the transaction of a command.
    pub(super) fn side_rows(&self, entity_id: u64, row: &AgreedRow) -> Result<Vec<SideRow>, SyncFailure> {
        Ok(self.app.agreed_side_rows(self.campaign_id, entity_id, row)?)
    }

    pub(super) async fn agreed_row(&self, entity_id: u64) -> Result<Option<AgreedRow>, SyncFailure> {
        Ok(self.app.agreed_row(self.campaign_id, entity_id).await?)
    }

    pub(super) async fn put_row(&self, entity_id: u64, row: &AgreedRow) -> Result<(), SyncFailure> {
        Ok(self.app.put_agreed_row(self.campaign_id, entity_id, row).await?)
    }

    pub(super) async fn remove_row(&self, entity_id: u64) -> Result<(), SyncFailure> {
        Ok(self.app.remove_agreed_row(self.campaign_id, entity_id).await?)
    }

    pub(super) fn kind_of_row(&self, row: &AgreedRow) -> Option<&'static RemoteKind> {
        self.remote.kinds().iter().find(|kind| kind.word == row.kind)
    }

    /// The text of an entity or post here.
    pub(super) async fn load_entry(&self, text: Option<&TextRef>) -> Result<Option<Entry>, SyncFailure> {
        let texts = self.app.load_texts(self.campaign_id, text.into_iter()).await?;
        Ok(texts.entry(text).cloned())
    }

    /// The version of a text here. If it differs from the agreed one, also the text as it would be sent.
    async fn our_entry(
        &self,
        committed: &CommittedState<LoreStream>,
        text: Option<&TextRef>,
        agreed_key: Option<&TextKey>,
        agreed: Option<&MirroredText>,
    ) -> Result<(Option<MirroredText>, Option<SentText>), SyncFailure> {
        let Some(text) = text else { return Ok((None, None)) };
        if agreed_key == Some(&text.key) {
            return Ok((agreed.cloned(), None));
        }
        let Some(entry) = self.load_entry(Some(text)).await? else { return Ok((None, None)) };
        let sent = sent_text(&entry, &committed.state);
        Ok((Some(sent.version.clone()), Some(sent)))
    }

    /// The fields of an entity here, and its text as it would be sent.
    pub(super) async fn our_version(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        kind: &RemoteKind,
        row: &AgreedRow,
    ) -> Result<(MirroredFields, Option<SentText>), SyncFailure> {
        let (key, agreed) = (row.entry_key.as_ref(), row.base.entry.as_ref());
        let (version, sent) = self.our_entry(committed, entity.text.as_ref(), key, agreed).await?;
        Ok((our_fields(&committed.state, entity, kind, row, version), sent))
    }

    pub(super) async fn our_post_version(
        &self,
        committed: &CommittedState<LoreStream>,
        post: &Post,
        agreed: &AgreedPost,
    ) -> Result<(MirroredPost, Option<SentText>), SyncFailure> {
        let (key, entry) = (agreed.entry_key.as_ref(), agreed.base.entry.as_ref());
        let (version, sent) = self.our_entry(committed, post.text.as_ref(), key, entry).await?;
        Ok((our_post(post, version), sent))
    }

    /// Whether an entity or one of its posts differs from the merge base.
    pub(super) async fn is_changed_here(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        row: &AgreedRow,
    ) -> Result<bool, SyncFailure> {
        let Some(kind) = self.kind_of_row(row) else { return Ok(true) };
        let (ours, _) = self.our_version(committed, entity, kind, row).await?;
        if !is_same_version(&ours, &row.base) {
            return Ok(true);
        }
        for post in &entity.details().posts {
            let agreed = row.posts.iter().find(|agreed| agreed.post_id == post.post_id);
            let is_changed = match (agreed, post.is_archived()) {
                (None, is_archived) => !is_archived,
                (Some(_), true) => true,
                // What was sent without an answer may not be there.
                (Some(agreed), false) if agreed.remote_id.is_none() => true,
                (Some(agreed), false) => self.our_post_version(committed, post, agreed).await?.0 != agreed.base,
            };
            if is_changed {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

pub(super) fn busy_fault(entity_id: u64) -> SyncFailure {
    let message = format!("entity {entity_id} changes faster than it can be synced");
    Fault::new(Code::Unavailable, message).hint("it is tried again with the next sync").into()
}

/// Equal up to the order and spelling of tags and aliases.
pub(super) fn is_same_version(one: &MirroredFields, other: &MirroredFields) -> bool {
    let lists_aside =
        |fields: &MirroredFields| MirroredFields { tags: Vec::new(), aliases: Vec::new(), ..fields.clone() };
    lists_aside(one) == lists_aside(other)
        && MirroredFields::is_same_set(&one.tags, &other.tags)
        && MirroredFields::is_same_set(&one.aliases, &other.aliases)
}

/// The HTML of an entity there: of an answer, or if that has none, of the conflict about it.
pub(super) fn html_there<'a>(seen: &'a RemoteEntity, row: &'a AgreedRow) -> &'a str {
    let conflict = || row.conflicts.get("entry").and_then(Value::as_str);
    seen.html.as_deref().or_else(conflict).unwrap_or_default()
}

/// The remote value of a field in conflict, as it is stored and shown.
pub(super) fn conflict_value(field: &str, theirs: &MirroredFields, seen: &RemoteEntity, row: &AgreedRow) -> Value {
    match field {
        "name" => json!(theirs.name),
        "type" => json!(theirs.subtype),
        "entry" => json!(html_there(seen, row)),
        "is_private" => json!(theirs.is_private),
        "parent" => json!(theirs.parent),
        "date" => json!(theirs.date),
        "tags" => json!(theirs.tags),
        "aliases" => json!(theirs.aliases),
        _ => Value::Null,
    }
}
