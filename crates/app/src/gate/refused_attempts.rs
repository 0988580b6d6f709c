//! Stores refused attempts to emit an event. They are no events and move no run, so they are rows outside its stream.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::gate::GuardResult;

use super::access::FoundRun;
use super::stream::{RunStream, run_stream};
use crate::deceptive_characters::clean_name;
use crate::sha256::sha256_hex;
use crate::{App, Call, Code, Fault, limits};
use skald_journal::{CommittedState, FindingKind, Hash, RowCheck, RowSum, RowsToSumUp, hex};

/// A refused attempt as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct StoredAttempt {
    pub at: Moment,
    pub by: String,
    pub role: String,
    pub event: String,
    /// The state of the run.
    pub state: String,
    pub revision: u64,
    pub code: String,
    pub message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guards: Vec<GuardResult>,
    /// SHA-256 of the request.
    pub request_hash: String,
    /// SHA-256 of the other fields and of the record on which it was refused.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hash: String,
}

/// Maximum characters of a stored message.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// A refused attempt before it is stored.
pub(super) struct RefusedAttempt<'a> {
    pub event: &'a str,
    pub code: Code,
    pub message: &'a str,
    pub guards: &'a [GuardResult],
    /// The state of the run that it was refused on.
    pub on: &'a CommittedState<RunStream>,
    pub request: &'a str,
}

/// Prefix of the kinds of side rows with attempts; the run's id follows.
pub(super) const ATTEMPTS: &str = "attempt/";

fn row_kind(run_id: &str) -> String {
    format!("{ATTEMPTS}{run_id}")
}

/// The key of an attempt. Keys sort by revision, then by time; a random part distinguishes two of the same microsecond.
fn row_key(revision: u64, at: Timestamp, chance: &str) -> String {
    format!("{revision:016x}-{:016x}-{chance}", at.as_microsecond())
}

/// Kind of the side rows with sums of attempts, by run.
pub(super) const ATTEMPT_SUMS: &str = "attempts-summed";

/// The sum of old attempts whose own rows were removed.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SummedAttempts {
    #[serde(flatten)]
    pub sum: RowSum,
    pub first_at: Option<Moment>,
    pub last_at: Option<Moment>,
    /// How many were refused with each code.
    pub codes: BTreeMap<String, u64>,
}

impl SummedAttempts {
    fn add(&mut self, attempt: &StoredAttempt, body: &str) {
        self.sum.add(body);
        self.first_at = self.first_at.or(Some(attempt.at));
        self.last_at = Some(attempt.at);
        *self.codes.entry(attempt.code.clone()).or_default() += 1;
    }

    /// The message in the history.
    pub(super) fn message(&self) -> String {
        let codes: Vec<String> = self.codes.iter().map(|(code, count)| format!("{count} {code}")).collect();
        format!("{} refused attempts are no longer kept one by one: {}", self.sum.count, codes.join(", "))
    }
}

/// How many attempts each run has, as far as this process has seen.
#[derive(Default)]
pub(crate) struct AttemptCounts(Mutex<HashMap<String, usize>>);

/// Maximum number of runs with a count; a full map is cleared.
const RUNS_COUNTED_MAX: usize = 10_000;

impl AttemptCounts {
    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one more attempt. `None` if the run has no count yet.
    fn count_one(&self, run_id: &str) -> Option<usize> {
        let mut counted = self.lock();
        let count = counted.get_mut(run_id)?;
        *count += 1;
        Some(*count)
    }

    fn set_count(&self, run_id: &str, count: usize) {
        let mut counted = self.lock();
        if counted.len() >= RUNS_COUNTED_MAX {
            counted.clear();
        }
        counted.insert(run_id.to_owned(), count);
    }

    fn subtract(&self, run_id: &str, removed: usize) {
        if let Some(count) = self.lock().get_mut(run_id) {
            *count = count.saturating_sub(removed);
        }
    }
}

/// The hash of an attempt's JSON without the hash field, and of the record that the attempt was made on.
fn attempt_hash(record: &Hash, written: &str) -> String {
    sha256_hex(format!("{}{written}", hex(record)))
}

/// Checks a stored attempt against its hash, which includes the hash of the record that it was made on.
pub(super) fn check_attempt(kind: &str, _key: &str, body: &str) -> RowCheck {
    let unreadable = |why: String| RowCheck::Wrong(FindingKind::AttemptDiffers, format!("it cannot be read: {why}"));
    let attempt: StoredAttempt = match serde_json::from_str(body) {
        Ok(attempt) => attempt,
        Err(error) => return unreadable(error.to_string()),
    };
    // Attempts from before they had hashes cannot be checked; only the root hash covers them.
    if attempt.hash.is_empty() {
        return RowCheck::Sound;
    }
    // The hash is the last field, so the hashed text is everything before it.
    let end = format!(r#","hash":"{}"}}"#, attempt.hash);
    let Some(written) = body.strip_suffix(&end).map(|text| format!("{text}}}")) else {
        return unreadable("it does not end with its hash".to_owned());
    };
    let stream = run_stream(kind.strip_prefix(ATTEMPTS).unwrap_or_default());
    let is_made_with = Box::new(move |record: &Hash| attempt_hash(record, &written) == attempt.hash);
    RowCheck::MadeOn { stream, revision: attempt.revision, is_made_with }
}

/// Cuts text of a refused request to one line and a maximum length, since others may read it in the history.
fn cut_to_line(text: &str, chars_max: usize) -> String {
    let text: String = text.chars().take(chars_max).collect();
    clean_name(&text).unwrap_or(text)
}

impl App {
    pub(super) async fn store_attempt(
        &self,
        call: &Call<'_>,
        found_run: &FoundRun,
        refused: RefusedAttempt<'_>,
    ) -> Result<(), Fault> {
        let at = self.time_and_caller(call).at;
        let attempt = StoredAttempt {
            at: at.into(),
            by: call.caller.id().to_owned(),
            role: found_run.acting_role.role.clone(),
            event: cut_to_line(refused.event, limits::NAME_CHARS_MAX),
            state: refused.on.state.state().to_owned(),
            revision: refused.on.revision(),
            code: refused.code.name().to_owned(),
            message: cut_to_line(refused.message, MESSAGE_CHARS_MAX),
            guards: refused.guards.to_vec(),
            request_hash: sha256_hex(refused.request),
            hash: String::new(),
        };
        let written = |attempt: &StoredAttempt| serde_json::to_string(attempt).expect("an attempt is JSON");
        let attempt = StoredAttempt { hash: attempt_hash(&refused.on.head.hash, &written(&attempt)), ..attempt };
        let body = written(&attempt);
        let key = row_key(refused.on.revision(), at, &self.new_request_id());
        self.journal.put(&row_kind(&found_run.run_id), &key, body).await.map_err(|error| self.store_fault(&error))?;
        self.sum_up_attempts(&found_run.run_id).await
    }

    /// Replaces the oldest attempts of a run by their sum, if there are more than the maximum. Each server process
    /// counts the attempts that it has seen, so that a refusal need not read them all.
    async fn sum_up_attempts(&self, run_id: &str) -> Result<(), Fault> {
        let count = if let Some(count) = self.attempts_counted.count_one(run_id) {
            count
        } else {
            let rows = self.journal.list(&row_kind(run_id), "", 2 * limits::ATTEMPTS_MAX).await;
            let count = rows.map_err(|error| self.store_fault(&error))?.len();
            self.attempts_counted.set_count(run_id, count);
            count
        };
        let Some(excess) = count.checked_sub(limits::ATTEMPTS_MAX).filter(|excess| *excess > 0) else { return Ok(()) };
        let kind = row_kind(run_id);
        loop {
            let old = self.journal.get(ATTEMPT_SUMS, run_id).await.map_err(|error| self.store_fault(&error))?;
            let mut summed: SummedAttempts =
                old.as_ref().and_then(|row| serde_json::from_str(row).ok()).unwrap_or_default();
            let oldest = self.journal.list(&kind, "", excess).await.map_err(|error| self.store_fault(&error))?;
            for (_, body) in &oldest {
                summed.add(&self.parse_attempt(body)?, body);
            }
            let keys: Vec<String> = oldest.into_iter().map(|(key, _)| key).collect();
            let (removed, new) = (keys.len(), serde_json::to_string(&summed).expect("a sum is JSON"));
            let (sum_kind, sum_key, old) = (ATTEMPT_SUMS, run_id, old.as_deref());
            let summing_up = RowsToSumUp { kind: &kind, keys, sum_kind, sum_key, old, new };
            // If another server process was faster, try again.
            if self.journal.sum_up_rows(summing_up).await.map_err(|error| self.store_fault(&error))? {
                self.attempts_counted.subtract(run_id, removed);
                return Ok(());
            }
        }
    }

    /// The sum of removed attempts, if there are any.
    pub(super) async fn summed_attempts(&self, run_id: &str) -> Result<Option<SummedAttempts>, Fault> {
        let row = self.journal.get(ATTEMPT_SUMS, run_id).await.map_err(|error| self.store_fault(&error))?;
        Ok(row.and_then(|row| serde_json::from_str(&row).ok()))
    }

    /// The attempts after a key, oldest first, each with its key.
    pub(super) async fn list_attempts(
        &self,
        run_id: &str,
        after: &str,
        limit: usize,
    ) -> Result<Vec<(String, StoredAttempt)>, Fault> {
        let rows =
            self.journal.list(&row_kind(run_id), after, limit).await.map_err(|error| self.store_fault(&error))?;
        rows.into_iter().map(|(key, body)| Ok((key, self.parse_attempt(&body)?))).collect()
    }

    fn parse_attempt(&self, body: &str) -> Result<StoredAttempt, Fault> {
        serde_json::from_str(body).map_err(|error| Fault::internal(error, self.new_request_id()))
    }
}
