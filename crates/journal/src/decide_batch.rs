//! Decides the waiting commands of a stream as one batch, each against the state that the one before it left.
//!
//! A batch can be decided again on top of what others appended meanwhile; nothing here waits or stores.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use skald_domain::decider::{Decider, DecisionContext};
use tokio::sync::oneshot;

use super::stream_kind::{CommandOf, EventOf, RefusalOf, StateOf, replay_record};
use super::{
    Batch, ConcurrentAppends, Hash, Head, IdempotencyKey, IdempotentAnswer, ReadModelChange, Record, SideRow,
    StreamKind, StreamName, truncate_to_micros,
};

/// A stream's state as it was committed.
pub struct CommittedState<K: StreamKind> {
    pub state: StateOf<K>,
    pub head: Head,
    /// Cached results for readers, dropped with the state.
    pub read_cache: K::ReadCache,
}

impl<K: StreamKind> CommittedState<K> {
    pub(super) fn new(state: StateOf<K>, head: Head) -> Self {
        Self { state, head, read_cache: K::ReadCache::default() }
    }

    /// The state that follows this one.
    pub(super) fn next_state(&self, state: StateOf<K>, head: Head) -> Self {
        Self { state, head, read_cache: K::next_read_cache(&self.read_cache) }
    }

    pub fn revision(&self) -> u64 {
        self.head.revision
    }
}

impl<K: StreamKind> Default for CommittedState<K> {
    fn default() -> Self {
        Self::new(StateOf::<K>::default(), Head::default())
    }
}

/// Builds the answer that is stored, so that a retry under the same key gets it again.
pub type AnswerBuilder<K> = Box<dyn Fn(&Applied<K>) -> String + Send + Sync>;

/// Receives the state on which a command was refused, so that the error can explain the refusal.
pub type RefusedOn<K> = Arc<Mutex<Option<Arc<CommittedState<K>>>>>;

/// A command for a stream.
pub struct Submission<K: StreamKind> {
    pub command: CommandOf<K>,
    pub given: DecisionContext,
    /// The revision that the caller has read; another one is a conflict.
    pub expected: Option<u64>,
    pub key: Option<(IdempotencyKey, AnswerBuilder<K>)>,
    /// Side rows that are stored with the record if the command is accepted.
    pub side_rows: Vec<SideRow>,
    pub refused_on: RefusedOn<K>,
}

impl<K: StreamKind> Submission<K> {
    pub fn new(command: CommandOf<K>, given: DecisionContext) -> Self {
        Self { command, given, expected: None, key: None, side_rows: Vec::new(), refused_on: Arc::default() }
    }
}

/// A command that was accepted and is durable.
pub struct Applied<K: StreamKind> {
    /// The state after the command; for a retry, the current state.
    pub committed: Arc<CommittedState<K>>,
    /// The state that the command was decided on; for a retry, the current state.
    pub before: Arc<CommittedState<K>>,
    pub revision: u64,
    pub events: Arc<[EventOf<K>]>,
    /// The hash of its record without the answer. An answer can contain it to identify the record.
    pub content_hash: Hash,
    /// The answer that was stored under the idempotency key, if there was one.
    pub answer: Option<String>,
    /// Whether this is a retry, which gets the first answer again.
    pub replayed: bool,
}

impl<K: StreamKind> Clone for Applied<K> {
    fn clone(&self) -> Self {
        Self {
            committed: Arc::clone(&self.committed),
            before: Arc::clone(&self.before),
            revision: self.revision,
            events: Arc::clone(&self.events),
            content_hash: self.content_hash,
            answer: self.answer.clone(),
            replayed: self.replayed,
        }
    }
}

/// Why a command failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalFailure<R> {
    /// The rules refuse the command. Nothing was stored.
    Refused(R),
    RevisionConflict {
        expected: u64,
        actual: u64,
    },
    IdempotencyMismatch {
        key: String,
    },
    /// Too many commands wait for this stream or for the store. Nothing was stored.
    RateLimited,
    /// Whether the command was stored is unknown; the cause is for the log.
    Unavailable(String),
    /// Like `Unavailable`, for a command with an idempotency key, which may be sent again as it is.
    UnavailableUnderKey(String),
    /// Another program holds the store. Nothing was stored; the cause is for the log.
    Held(String),
    /// The stored records cannot be read; the cause is for the log.
    Damaged(String),
    /// A bug in the rules, or in the request to the store.
    Broken(String),
}

impl<R> JournalFailure<R> {
    /// The failure of a command that was sent with an idempotency key.
    #[must_use]
    pub fn with_idempotency_key(self) -> Self {
        match self {
            Self::Unavailable(cause) => Self::UnavailableUnderKey(cause),
            other => other,
        }
    }
}

pub(super) type SubmissionReply<K> = Result<Applied<K>, JournalFailure<RefusalOf<K>>>;

/// A waiting command, and the channel for its reply.
pub(super) struct PendingSubmission<K: StreamKind> {
    pub(super) submission: Submission<K>,
    pub(super) reply: oneshot::Sender<SubmissionReply<K>>,
}

/// The events of a record that was stored before, and its hash without the answer.
pub(super) type ReplayedRecord<K> = (Arc<[EventOf<K>]>, Hash);

/// The outcome of one command in the batch.
enum SubmissionOutcome<K: StreamKind> {
    Decided(SubmissionReply<K>),
    /// Answered in an earlier batch; its record has the events.
    Replay(IdempotentAnswer),
}

pub(super) struct BatchDecision<K: StreamKind> {
    stream: StreamName,
    base: Arc<CommittedState<K>>,
    requests: Vec<PendingSubmission<K>>,
    /// Stored answers under the keys of this batch, as far as they were looked up.
    answered: BTreeMap<String, IdempotentAnswer>,
    outcomes: Vec<SubmissionOutcome<K>>,
    /// The state once the batch is stored.
    after: Arc<CommittedState<K>>,
    /// Why a concurrently appended record cannot be replayed.
    damage: Option<String>,
}

/// One accepted command.
struct AcceptedSubmission<K: StreamKind> {
    done: Applied<K>,
    record: Record,
    command: Option<IdempotentAnswer>,
    changes: Vec<ReadModelChange>,
    removed_side_rows: Vec<(String, String)>,
}

impl<K: StreamKind> BatchDecision<K> {
    pub(super) fn new(stream: StreamName, base: Arc<CommittedState<K>>, requests: Vec<PendingSubmission<K>>) -> Self {
        let after = Arc::clone(&base);
        Self { stream, base, requests, answered: BTreeMap::new(), outcomes: Vec::new(), after, damage: None }
    }

    pub(super) fn state_after(&self) -> &Arc<CommittedState<K>> {
        &self.after
    }

    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    pub(super) fn base_revision(&self) -> u64 {
        self.base.revision()
    }

    /// Decides all commands again after concurrent appends.
    pub(super) fn decide_again(&mut self, missed: ConcurrentAppends) -> Option<Batch> {
        for command in missed.answered {
            self.answered.insert(command.key.key.clone(), command);
        }
        for record in &missed.records {
            match replay_record::<K>(self.base.state.clone(), self.base.head, record) {
                Ok((state, head)) => self.base = Arc::new(self.base.next_state(state, head)),
                Err(damage) => {
                    self.damage = Some(damage);
                    return None;
                }
            }
        }
        self.decide()
    }

    /// Decides all commands again if `newest` is not the state that they were decided on.
    pub(super) fn decide_on(&mut self, newest: Arc<CommittedState<K>>) -> Option<Batch> {
        if newest.head == self.base.head {
            return None;
        }
        self.base = newest;
        self.decide()
    }

    /// Decides each command against the state that the one before it left. `None` if none was accepted.
    pub(super) fn decide(&mut self) -> Option<Batch> {
        let mut now = Arc::clone(&self.base);
        let mut batch = Batch { expected: now.head, ..Batch::default() };
        let mut changes: BTreeMap<(String, String), ReadModelChange> = BTreeMap::new();
        let mut side_rows = SideRowChanges::default();
        let mut under_key: BTreeMap<&str, usize> = BTreeMap::new();
        let mut outcomes: Vec<SubmissionOutcome<K>> = Vec::with_capacity(self.requests.len());
        for request in &self.requests {
            let submission = &request.submission;
            if let Some((key, _)) = &submission.key
                && let Some(outcome) = earlier_outcome(key, &self.answered, &under_key, &outcomes, &self.requests)
            {
                outcomes.push(outcome);
                continue;
            }
            let outcome = match decide_submission(&self.stream, &now, submission) {
                Ok(step) => {
                    now = Arc::clone(&step.done.committed);
                    batch.records.push(step.record);
                    side_rows.put_rows(&submission.side_rows);
                    side_rows.remove_rows(step.removed_side_rows);
                    if let Some(command) = step.command {
                        batch.answers.push(command);
                        under_key.extend(submission.key.as_ref().map(|(key, _)| (key.key.as_str(), outcomes.len())));
                    }
                    for change in step.changes {
                        let (collection, id) = change.key();
                        changes.insert((collection.to_owned(), id.to_owned()), change);
                    }
                    Ok(step.done)
                }
                Err(failure) => {
                    *submission.refused_on.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&now));
                    Err(failure)
                }
            };
            outcomes.push(SubmissionOutcome::Decided(outcome));
        }
        self.outcomes = outcomes;
        self.after = now;
        batch.changes = changes.into_values().collect();
        batch.side_rows = side_rows.put;
        batch.removed_side_rows = side_rows.removed.into_iter().collect();
        (!batch.records.is_empty()).then_some(batch)
    }

    /// Keys of refused commands. Some may be retries of accepted commands, which must get the first answer instead.
    pub(super) fn refused_keys(&self) -> Vec<String> {
        let pairs = self.requests.iter().zip(&self.outcomes);
        let doubtful = pairs.filter(|(_, outcome)| {
            matches!(
                outcome,
                SubmissionOutcome::Decided(Err(JournalFailure::Refused(_) | JournalFailure::RevisionConflict { .. }))
            )
        });
        doubtful.filter_map(|(request, _)| Some(request.submission.key.as_ref()?.0.key.clone())).collect()
    }

    /// Replaces refusals of retries with the stored answers. A refused command changed nothing, so the other outcomes
    /// stay valid.
    pub(super) fn resolve_retries(&mut self, answered: Vec<IdempotentAnswer>) {
        for command in answered {
            for (request, outcome) in self.requests.iter().zip(&mut self.outcomes) {
                let Some((key, _)) = request.submission.key.as_ref().filter(|(key, _)| key.key == command.key.key)
                else {
                    continue;
                };
                if matches!(outcome, SubmissionOutcome::Decided(Err(_))) {
                    *outcome = stored_outcome(key, &command);
                }
            }
        }
    }

    /// Revisions whose events are needed to answer retries.
    pub(super) fn replayed_revisions(&self) -> Vec<u64> {
        let replays = self.outcomes.iter().filter_map(|outcome| match outcome {
            SubmissionOutcome::Replay(command) => Some(command.revision),
            SubmissionOutcome::Decided(_) => None,
        });
        replays.collect()
    }

    /// Sends all replies.
    pub(super) fn send_replies(&mut self, replayed: &BTreeMap<u64, ReplayedRecord<K>>) {
        for (request, outcome) in self.requests.drain(..).zip(self.outcomes.drain(..)) {
            let reply = match outcome {
                SubmissionOutcome::Decided(reply) => reply,
                SubmissionOutcome::Replay(command) => match replayed.get(&command.revision) {
                    Some((events, content_hash)) => Ok(Applied {
                        committed: Arc::clone(&self.after),
                        before: Arc::clone(&self.after),
                        revision: command.revision,
                        events: Arc::clone(events),
                        content_hash: *content_hash,
                        answer: Some(command.answer),
                        replayed: true,
                    }),
                    None => Err(JournalFailure::Broken(format!("revision {} has no record", command.revision))),
                },
            };
            // The receiver is gone if the caller gave up.
            let _ = request.reply.send(reply);
        }
    }

    /// Answers all commands with a failure.
    pub(super) fn fail_all(&mut self, failure: impl Fn() -> JournalFailure<RefusalOf<K>>) {
        for request in self.requests.drain(..) {
            let _ = request.reply.send(Err(failure()));
        }
    }
}

/// The side rows that the commands of a batch put and remove. What comes later counts.
#[derive(Default)]
struct SideRowChanges {
    put: Vec<SideRow>,
    removed: BTreeSet<(String, String)>,
}

impl SideRowChanges {
    fn put_rows(&mut self, rows: &[SideRow]) {
        for row in rows {
            if !self.removed.is_empty() {
                self.removed.remove(&(row.kind.clone().into_owned(), row.key.clone()));
            }
            self.put.push(row.clone());
        }
    }

    fn remove_rows(&mut self, rows: Vec<(String, String)>) {
        let gone: BTreeSet<(&str, &str)> = rows.iter().map(|(kind, key)| (kind.as_str(), key.as_str())).collect();
        self.put.retain(|row| !gone.contains(&(&*row.kind, row.key.as_str())));
        self.removed.extend(rows);
    }
}

/// The outcome of an earlier command under this key, in the store or in this batch.
fn earlier_outcome<K: StreamKind>(
    key: &IdempotencyKey,
    answered: &BTreeMap<String, IdempotentAnswer>,
    under_key: &BTreeMap<&str, usize>,
    outcomes: &[SubmissionOutcome<K>],
    requests: &[PendingSubmission<K>],
) -> Option<SubmissionOutcome<K>> {
    if let Some(command) = answered.get(&key.key) {
        return Some(stored_outcome(key, command));
    }
    let first = *under_key.get(key.key.as_str())?;
    let same = requests[first].submission.key.as_ref().is_some_and(|(first, _)| first.request == key.request);
    match &outcomes[first] {
        SubmissionOutcome::Decided(Ok(done)) if same => {
            Some(SubmissionOutcome::Decided(Ok(Applied { replayed: true, ..done.clone() })))
        }
        _ => Some(mismatch_outcome(key)),
    }
}

fn stored_outcome<K: StreamKind>(key: &IdempotencyKey, command: &IdempotentAnswer) -> SubmissionOutcome<K> {
    if command.key.request == key.request { SubmissionOutcome::Replay(command.clone()) } else { mismatch_outcome(key) }
}

fn mismatch_outcome<K: StreamKind>(key: &IdempotencyKey) -> SubmissionOutcome<K> {
    SubmissionOutcome::Decided(Err(JournalFailure::IdempotencyMismatch { key: key.key.clone() }))
}

/// Decides one command. A panic in the rules fails this command only, not the stream.
fn decide_submission<K: StreamKind>(
    stream: &StreamName,
    now: &Arc<CommittedState<K>>,
    submission: &Submission<K>,
) -> Result<AcceptedSubmission<K>, JournalFailure<RefusalOf<K>>> {
    if let Some(expected) = submission.expected.filter(|expected| *expected != now.revision()) {
        return Err(JournalFailure::RevisionConflict { expected, actual: now.revision() });
    }
    catch_unwind(AssertUnwindSafe(|| apply_rules(stream, now, submission)))
        .unwrap_or_else(|_| Err(JournalFailure::Broken(format!("deciding on {} panicked", stream.noun()))))
}

fn apply_rules<K: StreamKind>(
    stream: &StreamName,
    now: &Arc<CommittedState<K>>,
    submission: &Submission<K>,
) -> Result<AcceptedSubmission<K>, JournalFailure<RefusalOf<K>>> {
    // Truncate the time as stores do, so that a replay sees the same value.
    let given = DecisionContext { at: truncate_to_micros(submission.given.at), ..submission.given.clone() };
    let events: Arc<[EventOf<K>]> =
        K::Rules::decide(&now.state, &submission.command, &given).map_err(JournalFailure::Refused)?.into();
    let Some(first) = events.first() else {
        return Err(JournalFailure::Broken(format!("{} accepted a command without an event", stream.noun())));
    };
    let body = serde_json::to_string(&*events).map_err(|error| JournalFailure::Broken(error.to_string()))?;
    let mut record = Record::next(stream, now.head, K::event_kind(first), given.at, &given.by, body);
    let state = events.iter().fold(now.state.clone(), |state, event| K::Rules::evolve(state, event, &given));
    let changes = K::read_model_changes(stream, &state, &events);
    let removed_side_rows = K::removed_side_rows(stream, &events);
    let committed = Arc::new(now.next_state(state, record.head()));
    let (revision, content_hash) = (record.revision, record.content_hash());
    let before = Arc::clone(now);
    let mut done = Applied { committed, before, revision, events, content_hash, answer: None, replayed: false };
    let Some((key, answer)) = &submission.key else {
        return Ok(AcceptedSubmission { done, record, command: None, changes, removed_side_rows });
    };
    let command = IdempotentAnswer { key: key.clone(), revision, answer: answer(&done) };
    record = record.with_answer(&command);
    done.answer = Some(command.answer.clone());
    // The hash of the record covers the answer, so it is known only now.
    done.committed = match Arc::try_unwrap(done.committed) {
        Ok(committed) => Arc::new(CommittedState { head: record.head(), ..committed }),
        Err(shared) => Arc::new(now.next_state(shared.state.clone(), record.head())),
    };
    Ok(AcceptedSubmission { done, record, command: Some(command), changes, removed_side_rows })
}
