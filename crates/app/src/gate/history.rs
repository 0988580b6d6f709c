//! The history of a run: accepted events from its stream merged with refused attempts, which are stored outside it. A
//! refused attempt follows the event after which it was refused.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use skald_domain::Moment;
use skald_domain::access::AccessState;
use skald_domain::gate::{Artifact, GuardResult, RunEvent};

use super::access::FoundRun;
use super::emit_event::event_id;
use super::refused_attempts::{StoredAttempt, SummedAttempts};
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::{App, Fault};
use skald_journal::{Record, hex};

/// One attempt, accepted or not.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HistoryEntry {
    at: Moment,
    /// Who it was.
    by: String,
    /// The token that they acted with, if it was one, and how it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<ActingToken>,
    role: String,
    /// What was emitted; `created`, `override_guard` and `cancelled` for what is no event of the process.
    event_name: String,
    accepted: bool,
    /// The run's revision after it; where it stood, if it was refused.
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_state: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_state: Option<String>,
    /// Whether it was only recorded, since its guard was not satisfied.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    recorded: bool,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// What somebody gave as the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// Every guard that was evaluated.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    guards: Vec<GuardResult>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    payload: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    artifacts: Vec<Artifact>,
    /// Evidence that did not count, since it had changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stale: Vec<String>,
    /// What was known of the campaign, where guards ask for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    campaign: Option<Value>,
    /// SHA-256 of it and of all that was accepted before it.
    hash: String,
    /// SHA-256 of the request that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_hash: Option<String>,
}

/// A token that somebody acted with.
#[derive(Debug, Serialize, JsonSchema)]
struct ActingToken {
    name: String,
    /// Whose it is: two tokens of one person are one person to an approval.
    person: String,
    made_at: Moment,
    /// Who made it; `unknown` if that was before tokens were recorded.
    made_by: String,
    /// What it was made with.
    made_with: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked_at: Option<Moment>,
}

impl ActingToken {
    fn from_access(access: &AccessState, principal: &str) -> Option<Self> {
        let token = access.get(principal)?;
        let (made_at, made_by) = match token.earlier {
            Some(earlier) => (earlier, "unknown".to_owned()),
            None => (token.made.at, token.made.by.clone()),
        };
        Some(Self {
            name: token.name.clone(),
            person: token.person.clone(),
            made_at,
            made_by,
            made_with: token.made.program.clone(),
            revoked_at: token.revoked.as_ref().map(|revoked| revoked.at),
        })
    }
}

/// A page of a history.
pub(super) struct HistoryPage {
    pub entries: Vec<HistoryEntry>,
    pub next_cursor: Option<String>,
}

/// The end of a page: the revision of its last record, and the key of its last attempt.
struct HistoryCursor {
    revision: u64,
    key: String,
}

impl HistoryCursor {
    fn parse(cursor: Option<&str>) -> Result<Self, Fault> {
        let Some(cursor) = cursor else { return Ok(Self { revision: 0, key: String::new() }) };
        let place = cursor
            .split_once('.')
            .and_then(|(revision, key)| Some(Self { revision: revision.parse().ok()?, key: key.to_owned() }));
        place.ok_or_else(|| invalid_cursor_fault(cursor))
    }

    fn encode(&self) -> String {
        format!("{}.{}", self.revision, self.key)
    }
}

impl App {
    /// A page of a run's history, oldest first.
    pub(super) async fn history(
        &self,
        found_run: &FoundRun,
        cursor: Option<&str>,
        limit: Option<usize>,
    ) -> Result<HistoryPage, Fault> {
        let limit = check_page_limit(limit)?;
        let mut place = HistoryCursor::parse(cursor)?;
        // Read one more than the page holds, to know whether another page follows.
        let records = self.journal.read(&found_run.stream, place.revision, limit + 1).await;
        let records = records.map_err(|error| self.store_fault(&error))?;
        let attempts = self.list_attempts(&found_run.run_id, &place.key, limit + 1).await?;
        let access = self.read_access_state().await?;
        let is_more = records.len() + attempts.len() > limit;
        let (mut records, mut attempts) = (records.into_iter().peekable(), attempts.into_iter().peekable());
        let mut entries = Vec::new();
        if cursor.is_none() {
            entries.extend(self.summed_attempts(&found_run.run_id).await?.map(summed_entry));
        }
        while entries.len() < limit {
            let is_record_next = match (records.peek(), attempts.peek()) {
                (None, None) => break,
                (Some(record), Some((_, attempt))) => record.revision <= attempt.revision,
                (record, _) => record.is_some(),
            };
            if is_record_next {
                let Some(record) = records.next() else { break };
                place.revision = record.revision;
                entries.push(self.accepted_entry(&record)?);
            } else {
                let Some((key, attempt)) = attempts.next() else { break };
                place.key = key;
                entries.push(refused_entry(attempt));
            }
        }
        for entry in &mut entries {
            entry.token = ActingToken::from_access(&access.state, &entry.by);
            // A message to the owner may contain the path of the run's folder.
            if let (Some(message), Some(folder)) = (&mut entry.message, &found_run.run().folder) {
                *message = found_run.paths.redact_text(message, folder);
            }
        }
        Ok(HistoryPage { entries, next_cursor: is_more.then(|| place.encode()) })
    }

    fn accepted_entry(&self, record: &Record) -> Result<HistoryEntry, Fault> {
        let events: Vec<RunEvent> =
            serde_json::from_str(&record.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let mut entry = HistoryEntry {
            at: record.at.into(),
            by: record.by.clone(),
            token: None,
            role: String::new(),
            event_name: String::new(),
            accepted: true,
            revision: record.revision,
            event_id: Some(event_id(&record.content_hash())),
            from_state: None,
            to_state: None,
            recorded: false,
            code: None,
            message: None,
            reason: None,
            guards: Vec::new(),
            payload: Map::new(),
            artifacts: Vec::new(),
            stale: Vec::new(),
            campaign: None,
            hash: hex(&record.hash),
            request_hash: None,
        };
        for event in events {
            entry.apply_event(event);
        }
        Ok(entry)
    }
}

impl HistoryEntry {
    fn apply_event(&mut self, event: RunEvent) {
        match event {
            RunEvent::Created(created) => {
                (self.role, self.event_name) = (created.role, "created".to_owned());
                (self.to_state, self.payload) = (Some(created.state), created.context);
            }
            RunEvent::Emitted(emitted) => {
                (self.role, self.event_name) = (emitted.role, emitted.event);
                (self.from_state, self.to_state) = (Some(emitted.from), Some(emitted.to));
                (self.recorded, self.guards, self.stale) = (emitted.recorded, emitted.guards, emitted.stale);
                (self.payload, self.artifacts) = (emitted.payload, emitted.artifacts);
                self.campaign = emitted.campaign;
            }
            RunEvent::Overridden(overridden) => {
                (self.role, self.event_name) = (overridden.role, skald_domain::gate::OVERRIDE_GUARD.to_owned());
                (self.from_state, self.to_state) = (Some(overridden.from), Some(overridden.to));
                (self.reason, self.guards) = (Some(overridden.reason), overridden.guards);
                self.message = Some(format!("{} in place of {}", overridden.event, overridden.guard));
            }
            RunEvent::Cancelled(cancelled) => {
                (self.role, self.event_name) = (cancelled.role, "cancelled".to_owned());
                self.reason = cancelled.reason;
            }
        }
    }
}

/// The entry for the oldest attempts, of which only a sum is stored.
fn summed_entry(attempts: SummedAttempts) -> HistoryEntry {
    let attempt = StoredAttempt {
        at: attempts.last_at.or(attempts.first_at).unwrap_or_else(|| jiff::Timestamp::UNIX_EPOCH.into()),
        by: String::new(),
        role: String::new(),
        event: "refused_attempts".to_owned(),
        state: String::new(),
        revision: 0,
        code: String::new(),
        message: attempts.message(),
        guards: Vec::new(),
        request_hash: String::new(),
        hash: attempts.sum.hash,
    };
    HistoryEntry { from_state: None, code: None, request_hash: None, ..refused_entry(attempt) }
}

fn refused_entry(attempt: StoredAttempt) -> HistoryEntry {
    HistoryEntry {
        at: attempt.at,
        by: attempt.by,
        token: None,
        role: attempt.role,
        event_name: attempt.event,
        accepted: false,
        revision: attempt.revision,
        event_id: None,
        from_state: Some(attempt.state),
        to_state: None,
        recorded: false,
        code: Some(attempt.code),
        message: Some(attempt.message),
        reason: None,
        guards: attempt.guards,
        payload: Map::new(),
        artifacts: Vec::new(),
        stale: Vec::new(),
        campaign: None,
        hash: attempt.hash,
        request_hash: Some(attempt.request_hash),
    }
}
