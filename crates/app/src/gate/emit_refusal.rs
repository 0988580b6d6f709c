//! The answer for a refused event: an ordinary answer, no error, in the shape that clients of a gate know.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::gate::{GuardResult, RunRefusal, SchemaMisfit};

use super::access::FoundRun;
use super::refused_attempts::RefusedAttempt;
use super::stream::{RunStream, refusal_code};
use crate::execute_command::CommandFailure;
use crate::{App, Call, Code, Fault, truncate_for_message};
use skald_journal::JournalFailure;

/// Why an event was not accepted.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EmitRefusal {
    code: Code,
    message: String,
    /// What to do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<RefusalDetails>,
}

#[derive(Debug, Default, PartialEq, Serialize, JsonSchema)]
struct RefusalDetails {
    #[serde(skip_serializing_if = "Option::is_none")]
    current_revision: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_guards: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    validation_errors: Vec<ValidationError>,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
struct ValidationError {
    path: String,
    message: String,
}

impl RefusalDetails {
    fn into_non_empty(self) -> Option<Self> {
        (self != Self::default()).then_some(self)
    }
}

fn validation_errors(misfits: &[SchemaMisfit]) -> Vec<ValidationError> {
    let error = |misfit: &SchemaMisfit| ValidationError { path: misfit.path.clone(), message: misfit.message.clone() };
    misfits.iter().map(error).collect()
}

/// The guards that are not satisfied, each with its reason.
pub(super) fn unsatisfied_guards(guards: &[GuardResult]) -> Vec<String> {
    guards.iter().filter(|guard| !guard.satisfied).map(GuardResult::line).collect()
}

impl EmitRefusal {
    pub(super) fn from_refusal(refusal: &RunRefusal) -> Self {
        let details = RefusalDetails {
            current_revision: None,
            missing_guards: unsatisfied_guards(refusal.guards()),
            validation_errors: validation_errors(refusal.misfits()),
        };
        Self {
            code: refusal_code(refusal),
            message: refusal.to_string(),
            hint: Some(refusal.hint()),
            details: details.into_non_empty(),
        }
    }

    /// Converts a fault that concerns the run into an answer; other faults stay errors.
    pub(super) fn from_fault(fault: Fault) -> Result<Self, Fault> {
        match fault.code() {
            Code::RunNotFound | Code::ProcessNotFound | Code::Forbidden | Code::TooLarge => {
                let body = fault.body();
                Ok(Self { code: body.code, message: body.message.clone(), hint: body.hint.clone(), details: None })
            }
            _ => Err(fault),
        }
    }

    /// The message with all validation errors.
    fn full_message(&self) -> String {
        let misfits = self.details.iter().flat_map(|details| &details.validation_errors);
        let said = misfits.map(|error| format!("; {}: {}", error.path, error.message));
        format!("{}{}", self.message, said.collect::<String>())
    }

    fn revision_conflict(expected: u64, actual: u64) -> Self {
        Self {
            code: Code::RevisionConflict,
            message: format!("Expected revision {expected}, but current is {actual}"),
            hint: Some("read the state again, decide again, and send it under a new key".to_owned()),
            details: Some(RefusalDetails { current_revision: Some(actual), ..RefusalDetails::default() }),
        }
    }

    fn idempotency_mismatch(stored: &str) -> Self {
        let key = stored.split_once('/').map_or(stored, |(_, key)| key);
        Self {
            code: Code::IdempotencyMismatch,
            message: format!("the key '{}' was used for another request", truncate_for_message(key)),
            hint: Some("use a new key for a new event".to_owned()),
            details: None,
        }
    }
}

/// The event and the request of an attempt.
pub(super) struct AttemptRequest<'a> {
    pub event: &'a str,
    pub request: &'a str,
}

impl App {
    /// Converts a failure into the answer of a refused attempt and stores the attempt; a failure of the server is a
    /// fault. The attempt is stored with the state that it was refused on, which may be newer than the one that was
    /// found.
    pub(super) async fn refuse_attempt(
        &self,
        call: &Call<'_>,
        found_run: &FoundRun,
        tried: &AttemptRequest<'_>,
        not_done: CommandFailure<RunStream>,
    ) -> Result<EmitRefusal, Fault> {
        let on = not_done.refused_on.unwrap_or_else(|| Arc::clone(&found_run.committed));
        let (unaccepted, guards) = match not_done.failure {
            JournalFailure::Refused(refusal) => (EmitRefusal::from_refusal(&refusal), refusal.guards().to_vec()),
            JournalFailure::RevisionConflict { expected, actual } => {
                (EmitRefusal::revision_conflict(expected, actual), Vec::new())
            }
            JournalFailure::IdempotencyMismatch { key } => (EmitRefusal::idempotency_mismatch(&key), Vec::new()),
            other => {
                return Err(self.journal_fault(other, |_| Fault::internal("a refusal", self.new_request_id())));
            }
        };
        let refused = RefusedAttempt {
            event: tried.event,
            code: unaccepted.code,
            message: &unaccepted.full_message(),
            guards: &guards,
            on: &on,
            request: tried.request,
        };
        self.store_attempt(call, found_run, refused).await?;
        Ok(unaccepted)
    }
}
