//! One turn of a stream: the commands that were waiting, decided one after the other against the state as it changes.
//!
//! A turn can be decided again on top of what others appended meanwhile; nothing here waits or stores.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use domain::decider::Given;
use tokio::sync::oneshot;

use super::noun::replay;
use super::{Batch, Change, Command, Hash, Head, Key, Missed, Noun, Record, StreamName, to_micros};
use crate::{Code, Fault};

/// A stream's state as it was committed.
pub struct Kept<N: Noun> {
    pub state: N::State,
    pub head: Head,
    /// What readers have asked for, ready for the next one. It goes with the state.
    pub ready: N::Ready,
}

impl<N: Noun> Kept<N> {
    pub(super) fn new(state: N::State, head: Head) -> Self {
        Self { state, head, ready: N::Ready::default() }
    }

    /// What this one became.
    pub(super) fn then(&self, state: N::State, head: Head) -> Self {
        Self { state, head, ready: N::next(&self.ready) }
    }

    pub fn revision(&self) -> u64 {
        self.head.revision
    }
}

impl<N: Noun> Default for Kept<N> {
    fn default() -> Self {
        Self::new(N::State::default(), Head::default())
    }
}

/// Makes the answer that a retry under the same key will get again.
pub type Answer<N> = Box<dyn Fn(&Done<N>) -> String + Send + Sync>;

/// A command for a stream.
pub struct Ask<N: Noun> {
    pub command: N::Command,
    pub given: Given,
    /// The revision that the caller has seen and insists on.
    pub expected: Option<u64>,
    pub key: Option<(Key, Answer<N>)>,
}

impl<N: Noun> Ask<N> {
    pub fn new(command: N::Command, given: Given) -> Self {
        Self { command, given, expected: None, key: None }
    }
}

/// A command that was accepted and is durable.
pub struct Done<N: Noun> {
    /// The state after it. Of a replayed command: the state now.
    pub kept: Arc<Kept<N>>,
    pub revision: u64,
    pub events: Arc<[N::Event]>,
    /// The hash of its record without the answer, by which an answer may name the record.
    pub content_hash: Hash,
    /// What was stored under the key, if there was one.
    pub answer: Option<String>,
    /// It happened before; this is the same answer again.
    pub replayed: bool,
}

impl<N: Noun> Clone for Done<N> {
    fn clone(&self) -> Self {
        Self {
            kept: Arc::clone(&self.kept),
            revision: self.revision,
            events: Arc::clone(&self.events),
            content_hash: self.content_hash,
            answer: self.answer.clone(),
            replayed: self.replayed,
        }
    }
}

/// Why a command was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<R> {
    /// The rules say no. Nothing was stored.
    Refused(R),
    RevisionConflict {
        expected: u64,
        actual: u64,
    },
    IdempotencyMismatch {
        key: String,
    },
    /// Too many wait for this stream or for the store. Nothing was stored.
    RateLimited,
    /// Whether it was done is unknown; the cause is for the log.
    Unavailable(String),
    /// The same, for a command with an idempotency key, which may be sent again as it is.
    UnavailableUnderKey(String),
    /// Another program holds the store. Nothing was stored; the cause is for the log.
    Held(String),
    /// What is stored cannot be read; the cause is for the log.
    Damaged(String),
    /// A bug in the rules, or in what was asked of the store.
    Broken(String),
}

/// When to come back after being turned away.
const RETRY_AFTER_MS: u64 = 50;

impl<R> Failure<R> {
    /// The same for a command that was sent with an idempotency key.
    pub(crate) fn under_key(self) -> Self {
        match self {
            Self::Unavailable(cause) => Self::UnavailableUnderKey(cause),
            other => other,
        }
    }

    /// As every surface shows it; the noun says what its refusals mean.
    pub fn into_fault(self, refused: impl FnOnce(R) -> Fault, request_id: impl FnOnce() -> String) -> Fault {
        match self {
            Self::Refused(refusal) => refused(refusal),
            Self::RevisionConflict { expected, actual } => {
                Fault::new(Code::RevisionConflict, format!("revision {expected} was expected, but it is at {actual}"))
                    .hint(format!("read it again, decide again, and expect revision {actual}"))
            }
            Self::IdempotencyMismatch { key } => Fault::new(
                Code::IdempotencyMismatch,
                format!(
                    "the key {:?} was used for another request",
                    key.split_once('/').map_or(key.as_str(), |(_, key)| key)
                ),
            )
            .hint("use a new key for a new request"),
            Self::RateLimited => Fault::new(Code::RateLimited, "too many commands are waiting")
                .retry_after_ms(RETRY_AFTER_MS)
                .hint("send it again a little later"),
            Self::Unavailable(cause) => {
                unavailable(&cause).hint("read whether it was done, and send it again if it was not")
            }
            Self::UnavailableUnderKey(cause) => {
                unavailable(&cause).hint("send the same request with the same idempotency key again")
            }
            Self::Held(cause) => held(&cause),
            Self::Damaged(cause) => Fault::damaged(cause, request_id()),
            Self::Broken(cause) => Fault::internal(cause, request_id()),
        }
    }
}

fn unavailable(cause: &str) -> Fault {
    tracing::warn!(cause, "the journal is not available");
    Fault::new(Code::Unavailable, "it is not known whether this was stored")
}

/// Nothing was stored, because another program does not let us.
pub(crate) fn held(cause: &str) -> Fault {
    tracing::warn!(cause, "the journal is held");
    Fault::new(Code::Unavailable, "another program holds the store; nothing was stored").hint(
        "whoever runs Skald should look for another skald on the same file that is stopped or stuck; then send it again",
    )
}

pub(super) type Reply<N> = Result<Done<N>, Failure<<N as domain::decider::Decider>::Refusal>>;

/// A command and whoever waits for it.
pub(super) struct Request<N: Noun> {
    pub(super) ask: Ask<N>,
    pub(super) reply: oneshot::Sender<Reply<N>>,
}

/// The events of a record that was stored before, and its hash without the answer.
pub(super) type Replayed<N> = (Arc<[<N as domain::decider::Decider>::Event]>, Hash);

/// What became of one command in this turn.
enum Outcome<N: Noun> {
    Reply(Reply<N>),
    /// Answered before this turn; its record has the events.
    Replay(Command),
}

pub(super) struct Turn<N: Noun> {
    stream: StreamName,
    base: Arc<Kept<N>>,
    requests: Vec<Request<N>>,
    /// What the store has answered under the keys of this turn, as far as it was asked.
    answered: BTreeMap<String, Command>,
    outcomes: Vec<Outcome<N>>,
    /// The state once the batch is stored.
    after: Arc<Kept<N>>,
    /// The stream cannot be read on.
    damage: Option<String>,
}

/// One accepted command.
struct Step<N: Noun> {
    done: Done<N>,
    record: Record,
    command: Option<Command>,
    changes: Vec<Change>,
}

impl<N: Noun> Turn<N> {
    pub(super) fn new(stream: StreamName, base: Arc<Kept<N>>, requests: Vec<Request<N>>) -> Self {
        let after = Arc::clone(&base);
        Self { stream, base, requests, answered: BTreeMap::new(), outcomes: Vec::new(), after, damage: None }
    }

    pub(super) fn after(&self) -> &Arc<Kept<N>> {
        &self.after
    }

    pub(super) fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    pub(super) fn base_revision(&self) -> u64 {
        self.base.revision()
    }

    /// Decides everything anew on top of what was missed.
    pub(super) fn again(&mut self, missed: Missed) -> Option<Batch> {
        for command in missed.answered {
            self.answered.insert(command.key.key.clone(), command);
        }
        for record in &missed.records {
            match replay::<N>(self.base.state.clone(), self.base.head, record) {
                Ok((state, head)) => self.base = Arc::new(self.base.then(state, head)),
                Err(damage) => {
                    self.damage = Some(damage);
                    return None;
                }
            }
        }
        self.decide()
    }

    /// Decides everything anew if there is a newer state to decide on.
    pub(super) fn decide_on(&mut self, newest: Arc<Kept<N>>) -> Option<Batch> {
        if newest.head == self.base.head {
            return None;
        }
        self.base = newest;
        self.decide()
    }

    /// Decides each command against the state that the ones before left. `None` if none was accepted.
    pub(super) fn decide(&mut self) -> Option<Batch> {
        let mut now = Arc::clone(&self.base);
        let mut batch = Batch { expected: now.head, records: Vec::new(), commands: Vec::new(), changes: Vec::new() };
        let mut changes: BTreeMap<(String, String), Change> = BTreeMap::new();
        let mut under_key: BTreeMap<&str, usize> = BTreeMap::new();
        let mut outcomes: Vec<Outcome<N>> = Vec::with_capacity(self.requests.len());
        for request in &self.requests {
            let ask = &request.ask;
            if let Some((key, _)) = &ask.key
                && let Some(outcome) = before(key, &self.answered, &under_key, &outcomes, &self.requests)
            {
                outcomes.push(outcome);
                continue;
            }
            let outcome = match step(&self.stream, &now, ask) {
                Ok(step) => {
                    now = Arc::clone(&step.done.kept);
                    batch.records.push(step.record);
                    if let Some(command) = step.command {
                        batch.commands.push(command);
                        under_key.extend(ask.key.as_ref().map(|(key, _)| (key.key.as_str(), outcomes.len())));
                    }
                    for change in step.changes {
                        let (collection, id) = change.key();
                        changes.insert((collection.to_owned(), id.to_owned()), change);
                    }
                    Ok(step.done)
                }
                Err(failure) => Err(failure),
            };
            outcomes.push(Outcome::Reply(outcome));
        }
        self.outcomes = outcomes;
        self.after = now;
        batch.changes = changes.into_values().collect();
        (!batch.records.is_empty()).then_some(batch)
    }

    /// Keys of commands that were turned down although they may have been accepted once: a retry must not be told no.
    pub(super) fn doubtful_keys(&self) -> Vec<String> {
        let pairs = self.requests.iter().zip(&self.outcomes);
        let doubtful = pairs.filter(|(_, outcome)| {
            matches!(outcome, Outcome::Reply(Err(Failure::Refused(_) | Failure::RevisionConflict { .. })))
        });
        doubtful.filter_map(|(request, _)| Some(request.ask.key.as_ref()?.0.key.clone())).collect()
    }

    /// Takes up what the store says of those keys. A command that was turned down changed nothing, so the others stand.
    pub(super) fn resolve(&mut self, answered: Vec<Command>) {
        for command in answered {
            for (request, outcome) in self.requests.iter().zip(&mut self.outcomes) {
                let Some((key, _)) = request.ask.key.as_ref().filter(|(key, _)| key.key == command.key.key) else {
                    continue;
                };
                if matches!(outcome, Outcome::Reply(Err(_))) {
                    *outcome = stored(key, &command);
                }
            }
        }
    }

    /// Revisions whose events are needed to answer retries.
    pub(super) fn replayed_revisions(&self) -> Vec<u64> {
        let replays = self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Replay(command) => Some(command.revision),
            Outcome::Reply(_) => None,
        });
        replays.collect()
    }

    /// Answers everyone.
    pub(super) fn finish(&mut self, replayed: &BTreeMap<u64, Replayed<N>>) {
        for (request, outcome) in self.requests.drain(..).zip(self.outcomes.drain(..)) {
            let reply = match outcome {
                Outcome::Reply(reply) => reply,
                Outcome::Replay(command) => match replayed.get(&command.revision) {
                    Some((events, content_hash)) => Ok(Done {
                        kept: Arc::clone(&self.after),
                        revision: command.revision,
                        events: Arc::clone(events),
                        content_hash: *content_hash,
                        answer: Some(command.answer),
                        replayed: true,
                    }),
                    None => Err(Failure::Broken(format!("revision {} has no record", command.revision))),
                },
            };
            // Whoever gave up does not listen.
            let _ = request.reply.send(reply);
        }
    }

    /// Answers everyone that it failed.
    pub(super) fn fail(&mut self, failure: impl Fn() -> Failure<N::Refusal>) {
        for request in self.requests.drain(..) {
            let _ = request.reply.send(Err(failure()));
        }
    }
}

/// What was answered under this key already, in the store or earlier in this turn.
fn before<N: Noun>(
    key: &Key,
    answered: &BTreeMap<String, Command>,
    under_key: &BTreeMap<&str, usize>,
    outcomes: &[Outcome<N>],
    requests: &[Request<N>],
) -> Option<Outcome<N>> {
    if let Some(command) = answered.get(&key.key) {
        return Some(stored(key, command));
    }
    let first = *under_key.get(key.key.as_str())?;
    let same = requests[first].ask.key.as_ref().is_some_and(|(first, _)| first.request == key.request);
    match &outcomes[first] {
        Outcome::Reply(Ok(done)) if same => Some(Outcome::Reply(Ok(Done { replayed: true, ..done.clone() }))),
        _ => Some(mismatch(key)),
    }
}

fn stored<N: Noun>(key: &Key, command: &Command) -> Outcome<N> {
    if command.key.request == key.request { Outcome::Replay(command.clone()) } else { mismatch(key) }
}

fn mismatch<N: Noun>(key: &Key) -> Outcome<N> {
    Outcome::Reply(Err(Failure::IdempotencyMismatch { key: key.key.clone() }))
}

/// Decides one command. A panic in the rules is this command's failure, not the stream's.
fn step<N: Noun>(stream: &StreamName, now: &Kept<N>, ask: &Ask<N>) -> Result<Step<N>, Failure<N::Refusal>> {
    if let Some(expected) = ask.expected.filter(|expected| *expected != now.revision()) {
        return Err(Failure::RevisionConflict { expected, actual: now.revision() });
    }
    catch_unwind(AssertUnwindSafe(|| decided(stream, now, ask)))
        .unwrap_or_else(|_| Err(Failure::Broken(format!("deciding on {} panicked", stream.noun()))))
}

fn decided<N: Noun>(stream: &StreamName, now: &Kept<N>, ask: &Ask<N>) -> Result<Step<N>, Failure<N::Refusal>> {
    // A replay sees the moment as it is stored.
    let given = Given { at: to_micros(ask.given.at), ..ask.given.clone() };
    let events: Arc<[N::Event]> = N::decide(&now.state, &ask.command, &given).map_err(Failure::Refused)?.into();
    let Some(first) = events.first() else {
        return Err(Failure::Broken(format!("{} accepted a command without an event", stream.noun())));
    };
    let body = serde_json::to_string(&*events).map_err(|error| Failure::Broken(error.to_string()))?;
    let mut record = Record::next(stream, now.head, N::kind(first), given.at, &given.by, body);
    let state = events.iter().fold(now.state.clone(), |state, event| N::evolve(state, event, &given));
    let changes = N::index(stream, &state, &events);
    let kept = Arc::new(now.then(state, record.head()));
    let (revision, content_hash) = (record.revision, record.content_hash());
    let mut done = Done { kept, revision, events, content_hash, answer: None, replayed: false };
    let Some((key, answer)) = &ask.key else { return Ok(Step { done, record, command: None, changes }) };
    let command = Command { key: key.clone(), revision, answer: answer(&done) };
    record = record.with_answer(&command);
    done.answer = Some(command.answer.clone());
    // The hash of the record covers the answer, so it is known only now.
    done.kept = match Arc::try_unwrap(done.kept) {
        Ok(kept) => Arc::new(Kept { head: record.head(), ..kept }),
        Err(shared) => Arc::new(now.then(shared.state.clone(), record.head())),
    };
    Ok(Step { done, record, command: Some(command), changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_code() {
        let code = |failure: Failure<&str>| {
            let refused = |refusal: &str| Fault::new(Code::Rejected, refusal);
            failure.into_fault(refused, || "req_1".to_owned()).code()
        };
        assert_eq!(code(Failure::Refused("no")), Code::Rejected);
        assert_eq!(code(Failure::RevisionConflict { expected: 1, actual: 2 }), Code::RevisionConflict);
        assert_eq!(code(Failure::IdempotencyMismatch { key: "key".to_owned() }), Code::IdempotencyMismatch);
        assert_eq!(code(Failure::RateLimited), Code::RateLimited);
        assert_eq!(code(Failure::Unavailable("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(Failure::UnavailableUnderKey("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(Failure::Held("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(Failure::Damaged("cause".to_owned())), Code::InternalError);
        assert_eq!(code(Failure::Broken("cause".to_owned())), Code::InternalError);
    }

    #[test]
    fn a_fault_tells_what_to_do_and_not_the_cause() {
        let refused = |refusal: &str| Fault::new(Code::Rejected, refusal);
        let told = |failure: Failure<&str>| failure.into_fault(refused, || "req_1".to_owned()).to_string();
        let conflict = "REVISION_CONFLICT: revision 1 was expected, but it is at 2. \
            read it again, decide again, and expect revision 2";
        assert_eq!(told(Failure::RevisionConflict { expected: 1, actual: 2 }), conflict);
        let unavailable = Failure::Unavailable("secret".to_owned());
        assert!(!told(unavailable.clone()).contains("secret"));
        assert!(told(unavailable.clone()).contains("send it again") && !told(unavailable.clone()).contains("key"));
        assert!(told(unavailable.under_key()).contains("with the same idempotency key again"));
        assert_eq!(Failure::<&str>::RateLimited.under_key(), Failure::RateLimited);
        assert!(!told(Failure::Broken("secret".to_owned())).contains("secret"));
        let damaged = told(Failure::Damaged("secret".to_owned()));
        assert!(damaged.contains("restore a backup") && !damaged.contains("secret"), "{damaged}");
    }
}
