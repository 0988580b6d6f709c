//! Attempts that were refused. They are no events and move no run, so they stand beside its stream; but they are kept.

use domain::Moment;
use domain::gate::GuardResult;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::gatehouse::Visit;
use crate::access::hash;
use crate::journal::hex;
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

fn kind(run_id: &str) -> String {
    format!("attempt/{run_id}")
}

/// Keys of attempts are in the order of what they were made on, then of time. Two of one microsecond are told apart by
/// chance.
fn key(revision: u64, at: Timestamp, chance: &str) -> String {
    format!("{revision:016x}-{:016x}-{chance}", at.as_microsecond())
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
        let attempt =
            Attempt { hash: hash(&format!("{}{}", hex(&visit.kept.head.hash), written(&attempt))), ..attempt };
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
