//! Executes a command of any noun: decides and stores it, or repeats the stored answer of its idempotency key.

use std::fmt::Display;
use std::sync::{Arc, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::{App, Call, Code, Fault, Operation, truncate_for_message};
use skald_journal::{
    Applied, CommandOf, CommittedState, IdempotencyKey, JournalFailure, RefusalOf, SideRow, StreamKind, StreamName,
    Streams, Submission,
};

impl App {
    /// Decides and stores a command, and answers it. The answer is stored for a retry under the same key; a stored
    /// answer takes precedence over any refusal.
    pub(crate) async fn execute<O: Operation, K: StreamKind, T: Serialize + 'static>(
        &self,
        streams: &Streams<K>,
        call: &Call<'_>,
        stream: &StreamName,
        command: CommandOf<K>,
        answer: impl Fn(&Applied<K>) -> T + Send + Sync + 'static,
    ) -> Result<(CommandAnswer<T>, Applied<K>), JournalFailure<RefusalOf<K>>> {
        let terms = CommandTerms::of_call(call);
        let done = self.execute_with_terms::<O, K, T>(streams, call, stream, command, terms, answer).await;
        done.map_err(|not_done| not_done.failure)
    }

    /// The stored answer of an idempotency key, if the request was executed before.
    pub(crate) async fn find_stored_answer<O: Operation, T>(
        &self,
        call: &Call<'_>,
        stream: &StreamName,
        key: &str,
        request: &str,
    ) -> Result<Option<CommandAnswer<T>>, Fault> {
        let key = IdempotencyKey::new(stored_key(call, key), &[O::NAME.as_bytes(), request.as_bytes()]);
        let found = self.journal.find_answers(stream, vec![key.key.clone()]).await;
        let found = found.map_err(|error| self.store_fault(&error))?;
        match found.into_iter().next() {
            None => Ok(None),
            Some(stored) if stored.key == key => Ok(Some(CommandAnswer::Again(StoredAnswer::new(&stored.answer)))),
            Some(_) => {
                Err(self.journal_fault(JournalFailure::IdempotencyMismatch { key: key.key }, |fault: Fault| fault))
            }
        }
    }

    /// Like `execute`, with explicit terms.
    pub(crate) async fn execute_with_terms<O: Operation, K: StreamKind, T: Serialize + 'static>(
        &self,
        streams: &Streams<K>,
        call: &Call<'_>,
        stream: &StreamName,
        command: CommandOf<K>,
        terms: CommandTerms,
        answer: impl Fn(&Applied<K>) -> T + Send + Sync + 'static,
    ) -> Result<(CommandAnswer<T>, Applied<K>), CommandFailure<K>> {
        let mut submission = Submission::new(command, self.time_and_caller(call));
        (submission.expected, submission.side_rows) = (terms.expected, terms.side_rows);
        let answer = Arc::new(answer);
        if let Some((key, request)) = &terms.key {
            let key = IdempotencyKey::new(stored_key(call, key), &[O::NAME.as_bytes(), request.as_bytes()]);
            let answer = Arc::clone(&answer);
            let stored = move |done: &Applied<K>| serde_json::to_string(&answer(done)).expect("an answer is JSON");
            submission.key = Some((key, Box::new(stored)));
        }
        let (is_keyed, refused_on) = (submission.key.is_some(), Arc::clone(&submission.refused_on));
        let done = streams.execute(stream, submission).await.map_err(|failure| CommandFailure {
            failure: if is_keyed { failure.with_idempotency_key() } else { failure },
            refused_on: refused_on.lock().unwrap_or_else(PoisonError::into_inner).take(),
        })?;
        call.control.set_revision(done.revision);
        let answered = match done.answer.as_ref().filter(|_| done.replayed) {
            Some(stored) => CommandAnswer::Again(StoredAnswer::new(stored)),
            None => CommandAnswer::Now(answer(&done)),
        };
        Ok((answered, done))
    }
}

/// A failed command.
pub(crate) struct CommandFailure<K: StreamKind> {
    pub failure: JournalFailure<RefusalOf<K>>,
    /// The state that the rules refused it on, if they did.
    pub refused_on: Option<Arc<CommittedState<K>>>,
}

impl<K: StreamKind> From<JournalFailure<RefusalOf<K>>> for CommandFailure<K> {
    fn from(failure: JournalFailure<RefusalOf<K>>) -> Self {
        Self { failure, refused_on: None }
    }
}

/// Merges a value that may come in the input and in a header or metadata. Two different values are refused.
pub(crate) fn merge_input_and_header<T: PartialEq + Display>(
    (field, in_input): (&str, Option<T>),
    (name, beside): (&str, Option<T>),
) -> Result<Option<T>, Fault> {
    match (in_input, beside) {
        (Some(one), Some(other)) if one != other => {
            let message = format!(
                "{field} is {}, but {name} is {}",
                truncate_for_message(&one.to_string()),
                truncate_for_message(&other.to_string())
            );
            Err(Fault::new(Code::InvalidParams, message)
                .with_path(format!("/{field}"))
                .value(&one.to_string().into())
                .hint("send one of the two, or the same in both"))
        }
        (in_input, beside) => Ok(in_input.or(beside)),
    }
}

/// How error messages name the header and the metadata of the revision and the key.
pub(crate) const EXPECTED_REVISION_LABEL: &str = "If-Match (or skald/expectedRevision)";
pub(crate) const IDEMPOTENCY_KEY_LABEL: &str = "Idempotency-Key (or skald/idempotencyKey)";

/// Conditions of a command, and what is stored with it.
pub(crate) struct CommandTerms {
    /// The revision that the caller has read; another one is a conflict.
    pub expected: Option<u64>,
    /// The idempotency key, and the request that it stands for.
    pub key: Option<(String, String)>,
    /// What is stored with the command, if it is accepted.
    pub side_rows: Vec<SideRow>,
}

impl CommandTerms {
    /// The terms that came with a call: the revision that it expects, and its idempotency key.
    pub(crate) fn of_call(call: &Call<'_>) -> Self {
        let key = call.control.idempotency_key.as_ref().map(|key| (key.clone(), call.input.to_string()));
        Self::new(call.control.expected_revision, key)
    }

    pub(crate) fn new(expected: Option<u64>, key: Option<(String, String)>) -> Self {
        Self { expected, key, side_rows: Vec::new() }
    }
}

/// An idempotency key as it is stored, with the caller's id: callers do not share keys.
pub(crate) fn stored_key(call: &Call<'_>, key: &str) -> String {
    format!("{}/{key}", call.caller.id())
}

/// The answer of a command: new, or the stored one of an earlier request under the same key.
#[derive(Debug)]
pub(crate) enum CommandAnswer<T> {
    Now(T),
    Again(StoredAnswer),
}

/// An answer as it was stored.
#[derive(Debug)]
pub(crate) struct StoredAnswer(Value);

impl StoredAnswer {
    fn new(stored: &str) -> Self {
        Self(serde_json::from_str(stored).unwrap_or_default())
    }

    /// A field of the answer.
    pub(crate) fn field(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

impl<T: Serialize> Serialize for CommandAnswer<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Now(answer) => answer.serialize(serializer),
            Self::Again(again) => again.0.serialize(serializer),
        }
    }
}

impl<T: JsonSchema> JsonSchema for CommandAnswer<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
