//! An event is emitted: the one way by which a run moves.
//!
//! What the rules say of it is an ordinary answer, `success` or not; only what is no business of a run is an error. Every
//! attempt is kept: an accepted one in the run's stream, a refused one beside it.

use std::sync::Arc;

use domain::decider::Decider;
use domain::gate::{Emit, Facts, Look, Misfit, Process, RunCommand, RunEvent, RunRefusal, RunRules, RunState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::evidence::{Resolved, Sent, SentArtifact};
use super::gatehouse::{Evidence, Visit};
use super::unaccepted::{Tried, Unaccepted, unmet};
use crate::journal::{Done, Failure, Hash, hex};
use crate::{
    Allowed, Answered, App, Call, Caller, CampaignRole, Fault, Kind, Operation, Terms, Toolset, limits, stored_key,
};

pub(super) struct EmitEvent;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EmitEventInput {
    /// The run; the one that state-gate.json names if left out.
    run_id: Option<String>,
    /// One of the run's events.
    event_name: String,
    /// What it says; `payload_schema` of the event has its shape.
    #[serde(default)]
    payload: Map<String, Value>,
    /// The revision that you have seen: of `get_state`, or the last `new_revision`.
    expected_revision: u64,
    /// New for each event. A retry with the same key gets the same answer.
    idempotency_key: String,
    /// Evidence: files below `artifact_base_path`, by relative path.
    #[serde(default)]
    artifact_paths: Vec<String>,
    /// Evidence with its content, or a file with its type.
    #[serde(default)]
    artifacts: Vec<SentArtifact>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct EmitEventOutput {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Accepted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Unaccepted>,
}

#[derive(Serialize, JsonSchema)]
struct Accepted {
    #[serde(flatten)]
    answered: Answered<Taken>,
    /// It was accepted before, under the same key: this is the same answer again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
    /// `IDEMPOTENT_REPLAY`, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
}

/// The mark of an answer that was given before.
const REPLAY: &str = "IDEMPOTENT_REPLAY";

/// What is kept of an answer for a retry under the same key.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Taken {
    event_id: String,
    accepted: bool,
    transition: Moved,
    new_revision: u64,
    /// What to do in the state it is in now.
    #[serde(skip_serializing_if = "Option::is_none")]
    new_state_prompt: Option<String>,
    /// If it was recorded and the run stayed: what keeps it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_guards: Vec<String>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct Moved {
    pub from_state: String,
    pub to_state: String,
}

impl From<Unaccepted> for EmitEventOutput {
    fn from(error: Unaccepted) -> Self {
        Self { success: false, result: None, error: Some(error) }
    }
}

/// The name of an accepted event: it follows from its record.
pub(super) fn event_id(hash: &Hash) -> String {
    format!("evt-{}", &hex(hash)[..20])
}

/// An event as it would be emitted.
pub(super) struct Emission<'a> {
    pub event_name: &'a str,
    pub payload: &'a Map<String, Value>,
    pub sent: Sent<'a>,
}

impl App {
    /// What an emission asks of a run, with all that was looked up for it.
    pub(super) async fn emission(
        &self,
        visit: &Visit,
        emission: &Emission<'_>,
    ) -> Result<(RunCommand, Resolved), Fault> {
        let facts = self.facts(visit, Evidence::Here).await?;
        let mut resolved = self.resolve(visit, &emission.sent).await;
        let command = RunCommand::Emit(Box::new(Emit {
            process: Arc::clone(&visit.process),
            role: visit.standing.role.clone(),
            event: emission.event_name.to_owned(),
            payload: emission.payload.clone(),
            artifacts: std::mem::take(&mut resolved.submitted),
            unfit: resolved.unfit.clone(),
            facts,
        }));
        Ok((command, resolved))
    }
}

impl Operation for EmitEvent {
    const NAME: &'static str = "state_gate.emit_event";
    const TITLE: &'static str = "Emit an event";
    const SUMMARY: &'static str = "Submit evidence to a run: an event with its payload and artifacts. The gate alone \
        decides whether the run moves on. After REVISION_CONFLICT read the state again and send a new key.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: Kind = Kind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    type Input = EmitEventInput;
    type Output = EmitEventOutput;

    async fn run(app: &App, call: &Call<'_>, input: EmitEventInput) -> Result<EmitEventOutput, Fault> {
        if let Err(unaccepted) = check_key(&input.idempotency_key) {
            return Ok(unaccepted.into());
        }
        let visit = match app.visit::<Self>(call, input.run_id.as_deref()).await {
            Ok(visit) => visit,
            Err(fault) => return Unaccepted::of(fault).map(Into::into),
        };
        let request = request(&visit.run_id, &input);
        let sent = Sent { artifact_paths: &input.artifact_paths, artifacts: &input.artifacts };
        // A path that no file can have is told before the revision is looked at; a replay comes before both.
        let unfit = sent.unfit_paths();
        if !unfit.is_empty() && !app.is_answered(call, &visit, &input.idempotency_key).await? {
            let refusal = RunRefusal::ArtifactMisfits { misfits: unfit };
            let tried = Tried { event: &input.event_name, request: &request };
            return app.refuse(call, &visit, &tried, Failure::Refused(refusal)).await.map(Into::into);
        }
        let emission = Emission { event_name: &input.event_name, payload: &input.payload, sent };
        let (command, resolved) = match app.emission(&visit, &emission).await {
            Ok(ready) => ready,
            Err(fault) => return Unaccepted::of(fault).map(Into::into),
        };
        // Content is kept before the event that counts it, and not for an event that will be refused.
        let is_likely = !resolved.contents.is_empty() && app.is_likely(call, &visit, &command, input.expected_revision);
        if is_likely {
            app.keep_contents(&resolved.contents).await?;
        }
        let terms = Terms {
            expected: Some(input.expected_revision),
            key: Some((input.idempotency_key.clone(), request.clone())),
        };
        let (process, role) = (Arc::clone(&visit.process), visit.standing.role.clone());
        let answer = move |done: &Done<RunRules>| taken(done, &process, &role);
        let tried = app.execute_on::<Self, _, _>(&app.runs, call, &visit.stream, command, terms, answer).await;
        match tried {
            Ok((answered, done)) => {
                if !is_likely && !done.replayed {
                    app.keep_contents(&resolved.contents).await?;
                }
                let code = done.replayed.then_some(REPLAY);
                let accepted = Accepted { answered, replayed: done.replayed, code };
                Ok(EmitEventOutput { success: true, result: Some(accepted), error: None })
            }
            Err(failure) => {
                let tried = Tried { event: &input.event_name, request: &request };
                app.refuse(call, &visit, &tried, failure).await.map(Into::into)
            }
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.gate_ids(caller, field).await
    }
}

pub(super) fn check_key(key: &str) -> Result<(), Unaccepted> {
    let wrong = |message: String| {
        let misfit = Misfit { path: "/idempotency_key".to_owned(), message: message.clone() };
        Unaccepted::invalid(&message, &[misfit], "send a key of your own, new for each event")
    };
    match key.chars().count() {
        0 => Err(wrong("Must not be empty".to_owned())),
        _ if key.trim().is_empty() => Err(wrong("Must not be blank".to_owned())),
        count if count > limits::KEY_CHARS_MAX => {
            Err(wrong(format!("Must have at most {} characters, this has {count}", limits::KEY_CHARS_MAX)))
        }
        _ => Ok(()),
    }
}

/// The request, written so that the same one always reads the same.
fn request(run_id: &str, input: &EmitEventInput) -> String {
    let mut request = json!({
        "artifact_paths": input.artifact_paths, "artifacts": input.artifacts, "event_name": input.event_name,
        "expected_revision": input.expected_revision, "payload": input.payload, "run_id": run_id,
    });
    request.sort_all_objects();
    request.to_string()
}

pub(super) fn taken(done: &Done<RunRules>, process: &Process, role: &str) -> Taken {
    let state: &RunState = &done.kept.state;
    let (moved, guards) = match done.events.first() {
        Some(RunEvent::Emitted(emitted)) => {
            let moved = Moved { from_state: emitted.from.clone(), to_state: emitted.to.clone() };
            (moved, if emitted.recorded { unmet(&emitted.guards) } else { Vec::new() })
        }
        Some(RunEvent::Overridden(overridden)) => {
            (Moved { from_state: overridden.from.clone(), to_state: overridden.to.clone() }, Vec::new())
        }
        _ => (Moved { from_state: state.state().to_owned(), to_state: state.state().to_owned() }, Vec::new()),
    };
    let facts = Facts::default();
    let look = Look { process, run: state, facts: &facts, principal: "", role };
    Taken {
        event_id: event_id(&done.kept.head.hash),
        accepted: true,
        new_state_prompt: look.prompt(&moved.to_state),
        transition: moved,
        new_revision: done.revision,
        missing_guards: guards,
    }
}

impl App {
    async fn is_answered(&self, call: &Call<'_>, visit: &Visit, key: &str) -> Result<bool, Fault> {
        let answered = self.journal.answered(&visit.stream, vec![stored_key(call, key)]).await;
        Ok(!answered.map_err(|error| self.unread(&error))?.is_empty())
    }

    /// Whether a command would be accepted as things stand.
    fn is_likely(&self, call: &Call<'_>, visit: &Visit, command: &RunCommand, expected: u64) -> bool {
        visit.kept.revision() == expected && RunRules::decide(&visit.kept.state, command, &self.given(call)).is_ok()
    }
}
