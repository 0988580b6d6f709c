//! Attempts that were refused. They are no events and move no run, so they stand beside its stream; but they are kept.

use domain::Moment;
use domain::gate::GuardResult;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gatehouse::Visit;
use super::noun::stream;
use crate::access::hash;
use crate::journal::{FindingKind, Hash, RowCheck, hex};
use crate::{App, Call, Code, Fault, limits};

/// What is kept of an attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub at: Moment,
    pub by: String,
    pub role: String,
    pub event: String,
    /// Where the run stood.
    pub state: String,
    pub revision: u64,
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardResult>,
    /// SHA-256 of the request.
    pub request_hash: String,
    /// SHA-256 of all this and of the event on which it was refused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

/// Characters that are kept of why an attempt was refused.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// Why an attempt was refused.
pub(super) struct Refused<'a> {
    pub event: &'a str,
    pub code: Code,
    pub message: &'a str,
    pub guards: &'a [GuardResult],
    /// Where the run stood.
    pub revision: u64,
    pub request: &'a str,
}

/// What the kinds of attempts begin with; the run follows.
pub(super) const ATTEMPTS: &str = "attempt/";

fn kind(run_id: &str) -> String {
    format!("{ATTEMPTS}{run_id}")
}

/// Keys of attempts are in the order of what they were made on, then of time. Two of one microsecond are told apart by
/// chance.
fn key(revision: u64, at: Timestamp, chance: &str) -> String {
    format!("{revision:016x}-{:016x}-{chance}", at.as_microsecond())
}

/// A hash of an attempt, written without one, and of the record that it was made on.
fn bound_hash(record: &Hash, written: &str) -> String {
    hash(&format!("{}{written}", hex(record)))
}

/// Whether an attempt is as it was kept, on a record that is there.
pub(super) fn check_attempt(kind: &str, _key: &str, body: &str) -> RowCheck {
    let unreadable = |why: String| RowCheck::Wrong(FindingKind::AttemptDiffers, format!("it cannot be read: {why}"));
    let attempt: Attempt = match serde_json::from_str(body) {
        Ok(attempt) => attempt,
        Err(error) => return unreadable(error.to_string()),
    };
    // Attempts from before they had hashes are in the root, and nothing else is known of them.
    if attempt.hash.is_empty() {
        return RowCheck::Sound;
    }
    // The hash is the last field, so what it was made of is the text before it.
    let end = format!(r#","hash":"{}"}}"#, attempt.hash);
    let Some(written) = body.strip_suffix(&end).map(|text| format!("{text}}}")) else {
        return unreadable("it does not end with its hash".to_owned());
    };
    let stream = stream(kind.strip_prefix(ATTEMPTS).unwrap_or_default());
    let is_made_with = Box::new(move |record: &Hash| bound_hash(record, &written) == attempt.hash);
    RowCheck::MadeOn { stream, revision: attempt.revision, is_made_with }
}

impl App {
    pub(super) async fn keep_attempt(&self, call: &Call<'_>, visit: &Visit, refused: Refused<'_>) -> Result<(), Fault> {
        let at = self.given(call).at;
        let attempt = Attempt {
            at: at.into(),
            by: call.caller.id().to_owned(),
            role: visit.standing.role.clone(),
            event: refused.event.chars().take(limits::NAME_CHARS_MAX).collect(),
            state: visit.kept.state.state().to_owned(),
            revision: refused.revision,
            code: refused.code.name().to_owned(),
            message: refused.message.chars().take(MESSAGE_CHARS_MAX).collect(),
            guards: refused.guards.to_vec(),
            request_hash: hash(refused.request),
            hash: String::new(),
        };
        let written = |attempt: &Attempt| serde_json::to_string(attempt).expect("an attempt is JSON");
        let attempt = Attempt { hash: bound_hash(&visit.kept.head.hash, &written(&attempt)), ..attempt };
        let body = written(&attempt);
        let key = key(refused.revision, at, &self.request_id());
        self.journal.put(&kind(&visit.run_id), &key, body).await.map_err(|error| self.unread(&error))
    }

    /// The attempts after a key, oldest first, each with its key.
    pub(super) async fn attempts(
        &self,
        run_id: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, Attempt)>, Fault> {
        let rows = self.journal.list(&kind(run_id), after, limit).await.map_err(|error| self.unread(&error))?;
        let read = |(key, body): (String, String)| {
            let attempt = serde_json::from_str(&body).map_err(|error| Fault::internal(error, self.request_id()))?;
            Ok((key, attempt))
        };
        rows.into_iter().map(read).collect()
    }
}
