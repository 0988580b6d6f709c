//! `state_gate.emit_event`: emits an event, the ordinary way to move a run to another state.
//!
//! A refusal by the rules is an ordinary answer with `success: false`; only faults that do not concern the run are
//! errors. Every attempt is stored: an accepted one in the run's stream, a refused one outside it.

use crate::gate::RunStream;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use skald_domain::gate::{Emit, Facts, Process, RunCommand, RunEvent, RunRefusal, RunState, RunView, SchemaMisfit};

use super::access::{EvidenceScope, FoundRun};
use super::emit_refusal::{AttemptRequest, EmitRefusal, unsatisfied_guards};
use super::submitted_artifacts::{EvidenceContents, RequestArtifacts, SentArtifact, content_rows};
use crate::execute_command::{CommandFailure, EXPECTED_REVISION_LABEL, IDEMPOTENCY_KEY_LABEL, merge_input_and_header};
use crate::idempotency_key::key_problem;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, CommandTerms, Fault, Operation, OperationKind,
    PermissionClass, Toolset, limits, stored_key,
};
use skald_journal::{Applied, Hash, JournalFailure, hex};

pub(super) struct EmitEvent;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EmitEventInput {
    /// That of state-gate.json if left out.
    run_id: Option<String>,
    /// One of the run's events.
    event_name: String,
    /// What it says; `payload_schema` of the event has its shape.
    payload: Option<Map<String, Value>>,
    /// The revision that you have seen: of `get_state`, or the last `new_revision`.
    expected_revision: u64,
    /// New for each event. A retry with the same key gets the same answer.
    idempotency_key: String,
    /// Evidence: files below `artifact_base_path`, by relative path.
    artifact_paths: Option<Vec<String>>,
    /// Evidence with its content, as text or base64; without any, a file below `artifact_base_path`.
    artifacts: Option<Vec<SentArtifact>>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EmitEventOutput {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<AcceptedEmit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<EmitRefusal>,
}

#[derive(Serialize, JsonSchema)]
struct AcceptedEmit {
    #[serde(flatten)]
    answered: CommandAnswer<EmitResult>,
    /// It was accepted before, under the same key: this is the same answer again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    /// `IDEMPOTENT_REPLAY`, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

/// The code of a repeated answer.
const REPLAY_CODE: &str = "IDEMPOTENT_REPLAY";

/// What an accepted event came to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct EmitResult {
    event_id: String,
    accepted: bool,
    transition: StateChange,
    new_revision: u64,
    /// What to do in the state it is in now.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_state_prompt: Option<String>,
    /// If it was recorded and the run stayed: what keeps it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_guards: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct StateChange {
    pub from_state: String,
    pub to_state: String,
}

impl From<EmitRefusal> for EmitEventOutput {
    fn from(error: EmitRefusal) -> Self {
        Self { success: false, result: None, error: Some(error) }
    }
}

/// The id of an accepted event. It is derived from the hash of its record, so it need not be stored.
pub(super) fn event_id(hash: &Hash) -> String {
    format!("evt-{}", &hex(hash)[..20])
}

/// An event to emit, or to check in a dry run.
pub(super) struct Emission<'a> {
    pub event_name: &'a str,
    pub payload: &'a Map<String, Value>,
    pub sent: RequestArtifacts<'a>,
}

impl App {
    /// The command that emits an event, with the evidence and facts that it needs, and the inline contents.
    pub(super) async fn prepare_emission(
        &self,
        found_run: &FoundRun,
        emission: &Emission<'_>,
    ) -> Result<(RunCommand, EvidenceContents), Fault> {
        let resolved = self.resolve_artifacts(found_run, &emission.sent).await;
        self.check_content_quotas(found_run, &resolved.contents).await?;
        // Look up the facts last: reading large artifacts takes a while, and the facts must be current.
        let facts = self.guard_facts(found_run, EvidenceScope::Here).await?;
        let command = RunCommand::Emit(Box::new(Emit {
            process: Arc::clone(&found_run.process),
            role: found_run.acting_role.role.clone(),
            event: emission.event_name.to_owned(),
            payload: emission.payload.clone(),
            artifacts: resolved.submitted,
            unfit: resolved.unfit,
            facts,
            facts_of: found_run.committed.revision(),
        }));
        Ok((command, resolved.contents))
    }
}

impl Operation for EmitEvent {
    const NAME: &'static str = "state_gate.emit_event";
    const TITLE: &'static str = "Emit an event";
    const SUMMARY: &'static str = "Submit evidence to a run: an event with its payload and artifacts. The gate alone \
        decides whether the run moves on. After REVISION_CONFLICT read the state again and send a new key.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    type Input = EmitEventInput;
    type Output = EmitEventOutput;

    async fn run(app: &App, call: &Call<'_>, input: EmitEventInput) -> Result<EmitEventOutput, Fault> {
        check_event_name(&input.event_name)?;
        // The input contains the revision and the key; a header may repeat them, but must not differ.
        let (revision, key) = (Some(input.expected_revision), Some(input.idempotency_key.as_str()));
        merge_input_and_header(
            ("expected_revision", revision),
            (EXPECTED_REVISION_LABEL, call.control.expected_revision),
        )?;
        merge_input_and_header(
            ("idempotency_key", key),
            (IDEMPOTENCY_KEY_LABEL, call.control.idempotency_key.as_deref()),
        )?;
        let bad_key = check_idempotency_key(&input.idempotency_key).err();
        for _ in 0..EMIT_TRIES_MAX {
            let found_run = match (app.find_run::<Self>(call, input.run_id.as_deref()).await, &bad_key) {
                (Ok(found_run), _) => found_run,
                // A bad key is reported before a missing run.
                (Err(_), Some(misfit)) => return Ok(EmitRefusal::from_refusal(&bad_key_refusal(misfit)).into()),
                (Err(fault), None) => return EmitRefusal::from_fault(fault).map(Into::into),
            };
            let request = canonical_request(&found_run.run_id, &input);
            let tried = AttemptRequest { event: &input.event_name, request: &request };
            if let Some(misfit) = &bad_key {
                let failure = JournalFailure::Refused(bad_key_refusal(misfit));
                return app.refuse_attempt(call, &found_run, &tried, failure.into()).await.map(Into::into);
            }
            match emit(app, call, &found_run, &input, &request).await {
                Ok(accepted) => return Ok(EmitEventOutput { success: true, result: Some(accepted), error: None }),
                // The run changed while files were read, so the facts are out of date: try again.
                Err(EmissionFailure::NotDone(not_done)) if is_out_of_date(&not_done) => {}
                Err(EmissionFailure::NotDone(not_done)) => {
                    return app.refuse_attempt(call, &found_run, &tried, *not_done).await.map(Into::into);
                }
                Err(EmissionFailure::Fault(fault)) => return EmitRefusal::from_fault(fault).map(Into::into),
            }
        }
        let fault = Fault::new(Code::RateLimited, "the run moves faster than its evidence can be looked at");
        Err(fault.hint("read the state again, and send the event again under the same key"))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

/// How often an emission is tried if the run changes meanwhile.
const EMIT_TRIES_MAX: usize = 5;

/// Why an event was not emitted.
enum EmissionFailure {
    NotDone(Box<CommandFailure<RunStream>>),
    Fault(Fault),
}

impl From<Fault> for EmissionFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

fn is_out_of_date(not_done: &CommandFailure<RunStream>) -> bool {
    matches!(not_done.failure, JournalFailure::Refused(RunRefusal::OutOfDate { .. }))
}

async fn emit(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &EmitEventInput,
    request: &str,
) -> Result<AcceptedEmit, EmissionFailure> {
    let (artifact_paths, artifacts) = (input.artifact_paths.as_deref(), input.artifacts.as_deref());
    let sent = RequestArtifacts {
        artifact_paths: artifact_paths.unwrap_or_default(),
        artifacts: artifacts.unwrap_or_default(),
    };
    // Invalid paths are refused before the revision is checked; a replay is answered before both.
    let unfit = sent.invalid_paths();
    if !unfit.is_empty() && !app.has_stored_answer(call, found_run, &input.idempotency_key).await? {
        let failure = JournalFailure::Refused(RunRefusal::ArtifactMisfits { misfits: unfit });
        return Err(EmissionFailure::NotDone(Box::new(failure.into())));
    }
    let payload = input.payload.clone().unwrap_or_default();
    let emission = Emission { event_name: &input.event_name, payload: &payload, sent };
    let (command, contents) = app.prepare_emission(found_run, &emission).await?;
    let new = app.filter_unstored(contents).await?;
    let new_bytes = new.iter().map(|(_, bytes)| bytes.len() as u64).sum();
    let terms = CommandTerms {
        expected: Some(input.expected_revision),
        key: Some((input.idempotency_key.clone(), request.to_owned())),
        side_rows: content_rows(&new),
    };
    let (process, role) = (Arc::clone(&found_run.process), found_run.acting_role.role.clone());
    let answer = move |done: &Applied<RunStream>| emit_result(done, &process, &role);
    let tried =
        app.execute_with_terms::<EmitEvent, _, _>(&app.runs, call, &found_run.stream, command, terms, answer).await;
    let (answered, done) = tried.map_err(|not_done| EmissionFailure::NotDone(Box::new(not_done)))?;
    if new_bytes > 0 && !done.replayed {
        app.count_contents(found_run, new_bytes).await;
    }
    let code = done.replayed.then_some(REPLAY_CODE);
    Ok(AcceptedEmit { answered, replayed: done.replayed, code })
}

fn check_event_name(name: &str) -> Result<(), Fault> {
    let (count, most) = (name.chars().count(), limits::NAME_CHARS_MAX);
    if count <= most {
        return Ok(());
    }
    let message = format!("an event's name has at most {most} characters, this has {count}");
    Err(Fault::new(Code::InvalidParams, message)
        .with_path("/event_name")
        .hint("send the name of an event of the process; `state_gate.list_events` has them"))
}

pub(super) fn check_idempotency_key(key: &str) -> Result<(), SchemaMisfit> {
    match key_problem(key) {
        Some(message) => Err(SchemaMisfit { path: "/idempotency_key".to_owned(), message }),
        None => Ok(()),
    }
}

fn bad_key_refusal(misfit: &SchemaMisfit) -> RunRefusal {
    RunRefusal::KeyMisfit { misfit: misfit.clone() }
}

/// The request as canonical JSON, so that a retry compares equal.
fn canonical_request(run_id: &str, input: &EmitEventInput) -> String {
    // A missing, a null and an empty field count as equal.
    let mut request = json!({
        "artifact_paths": input.artifact_paths.as_deref().unwrap_or_default(),
        "artifacts": input.artifacts.as_deref().unwrap_or_default(),
        "event_name": input.event_name,
        "expected_revision": input.expected_revision,
        "payload": input.payload.clone().unwrap_or_default(),
        "run_id": run_id,
    });
    request.sort_all_objects();
    request.to_string()
}

pub(super) fn emit_result(done: &Applied<RunStream>, process: &Process, role: &str) -> EmitResult {
    let state: &RunState = &done.committed.state;
    let (moved, guards) = match done.events.first() {
        Some(RunEvent::Emitted(emitted)) => {
            let moved = StateChange { from_state: emitted.from.clone(), to_state: emitted.to.clone() };
            (moved, if emitted.recorded { unsatisfied_guards(&emitted.guards) } else { Vec::new() })
        }
        Some(RunEvent::Overridden(overridden)) => {
            (StateChange { from_state: overridden.from.clone(), to_state: overridden.to.clone() }, Vec::new())
        }
        _ => (StateChange { from_state: state.state().to_owned(), to_state: state.state().to_owned() }, Vec::new()),
    };
    let facts = Facts::default();
    let look = RunView { process, run: state, facts: &facts, principal: "", role };
    EmitResult {
        event_id: event_id(&done.content_hash),
        accepted: true,
        new_state_prompt: look.prompt(&moved.to_state),
        transition: moved,
        new_revision: done.revision,
        missing_guards: guards,
    }
}

impl App {
    async fn has_stored_answer(&self, call: &Call<'_>, found_run: &FoundRun, key: &str) -> Result<bool, Fault> {
        let answered = self.journal.find_answers(&found_run.stream, vec![stored_key(call, key)]).await;
        Ok(!answered.map_err(|error| self.store_fault(&error))?.is_empty())
    }
}
