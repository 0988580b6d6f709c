//! `state_gate.run`: history, dry run, plan and artifacts of a run, and overriding a guard or cancelling the run.

use crate::gate::RunStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::decider::Decider;
use skald_domain::gate::{Override, Plan, RunCommand, RunEvent, RunRules};

use super::access::{EvidenceScope, FoundRun};
use super::artifact_view::{Shown, shown};
use super::emit_event::{Emission, Moved, Taken, check_key, taken};
use super::emit_refusal::{Tried, Unaccepted, unmet};
use super::history::HistoryEntry;
use super::stream::refused;
use super::submitted_artifacts::{Sent, SentArtifact};
use crate::execute::{EXPECTED_BESIDE, KEY_BESIDE, given_once};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, Answered, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, Terms, Toolset, limits,
    short,
};
use skald_journal::Applied;

pub(super) struct RunOperation;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum RunMethod {
    /// Every attempt, accepted or refused, oldest first.
    History,
    /// What an event would come to, without emitting it.
    Check,
    /// The shortest way to a state, or to each final one, and what is missing on it.
    Plan,
    /// One artifact with its content.
    Artifact,
    /// Take a guarded transition although its guard is not satisfied. For people only.
    Override,
    /// Give the run up. Not for agents.
    Cancel,
}

impl RunMethod {
    fn word(self) -> &'static str {
        match self {
            Self::History => "history",
            Self::Check => "check",
            Self::Plan => "plan",
            Self::Artifact => "artifact",
            Self::Override => "override",
            Self::Cancel => "cancel",
        }
    }

    /// The input fields of the method, besides `run_id`.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::History => &["cursor", "limit"],
            Self::Check => &["event_name", "payload", "artifact_paths", "artifacts"],
            Self::Plan => &["to_state"],
            Self::Artifact => &["path"],
            Self::Override => &["event_name", "to_state", "reason", "expected_revision", "idempotency_key"],
            Self::Cancel => &["reason", "expected_revision", "idempotency_key"],
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunInput {
    /// What to do.
    method: RunMethod,
    /// The run; the one that state-gate.json names if left out.
    run_id: Option<String>,
    /// For check and override.
    event_name: Option<String>,
    /// For check.
    payload: Option<Map<String, Value>>,
    /// For check.
    artifact_paths: Option<Vec<String>>,
    /// For check.
    artifacts: Option<Vec<SentArtifact>>,
    /// For plan: where to; every final state if left out. For override: which of several.
    to_state: Option<String>,
    /// For artifact: which one.
    path: Option<String>,
    /// For override and cancel: why.
    reason: Option<String>,
    /// For override and cancel: the revision that you have seen.
    expected_revision: Option<u64>,
    /// For override and cancel: a retry with the same key gets the same answer.
    idempotency_key: Option<String>,
    /// For history: the `next_cursor` of the page before.
    cursor: Option<String>,
    /// For history: rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

#[derive(Default, Serialize, JsonSchema)]
pub(super) struct RunOutput {
    run_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<Vec<HistoryEntry>>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    check: Option<Checked>,
    /// The shortest way to the state that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    /// Where no state was named: a way to each final state that can be reached, the shortest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plans: Vec<Plan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<Shown>,
    /// The transition that was taken in spite of its guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<Answered<Taken>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<Answered<Ended>>,
    /// It was done before, under the same key: this is the same answer again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
}

/// What an event would come to.
#[derive(Serialize, JsonSchema)]
struct Checked {
    would_be_accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    transition: Option<Moved>,
    /// What would keep it, or let it only be recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_guards: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Unaccepted>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Ended {
    revision: u64,
    state: String,
}

impl RunInput {
    fn method_fields(&self) -> MethodFields {
        MethodFields { method: self.method.word(), takes: self.method.takes() }
    }

    /// Refuses fields that the method does not take.
    fn check_fields(&self) -> Result<(), Fault> {
        self.method_fields().check(&[
            ("event_name", self.event_name.is_some()),
            ("payload", self.payload.is_some()),
            ("artifact_paths", self.artifact_paths.is_some()),
            ("artifacts", self.artifacts.is_some()),
            ("to_state", self.to_state.is_some()),
            ("path", self.path.is_some()),
            ("reason", self.reason.is_some()),
            ("expected_revision", self.expected_revision.is_some()),
            ("idempotency_key", self.idempotency_key.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
        ])
    }

    fn needed<'a>(&self, field: &str, given: Option<&'a String>) -> Result<&'a str, Fault> {
        self.method_fields().needed(field, given)
    }
}

impl Operation for RunOperation {
    const NAME: &'static str = "state_gate.run";
    const TITLE: &'static str = "History, dry run, plan, override or cancel";
    const SUMMARY: &'static str = "More of a run: the history of every attempt, a dry run of an event (check), the \
        shortest way to a state (plan), an artifact, an override of a guard by a person, or its end (cancel).";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const DESTRUCTIVE: bool = true;
    type Input = RunInput;
    type Output = RunOutput;

    async fn run(app: &App, call: &Call<'_>, input: RunInput) -> Result<RunOutput, Fault> {
        input.check_fields()?;
        let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
        let mut output = RunOutput { run_id: found_run.run_id.clone(), ..RunOutput::default() };
        match input.method {
            RunMethod::History => {
                let page = app.history(&found_run, input.cursor.as_deref(), input.limit).await?;
                (output.history, output.next_cursor) = (Some(page.entries), page.next_cursor);
            }
            RunMethod::Check => output.check = Some(check(app, call, &found_run, &input).await?),
            RunMethod::Plan => (output.plan, output.plans) = plan(app, &found_run, input.to_state.as_deref()).await?,
            RunMethod::Artifact => {
                let path = input.needed("path", input.path.as_ref())?;
                output.artifact = Some(shown(app, &found_run, path).await?);
            }
            RunMethod::Override => {
                let (answered, replayed) = override_guard(app, call, &found_run, &input).await?;
                (output.overridden, output.replayed) = (Some(answered), replayed);
            }
            RunMethod::Cancel => {
                let (answered, replayed) = cancel(app, call, &found_run, &input).await?;
                (output.cancelled, output.replayed) = (Some(answered), replayed);
            }
        }
        Ok(output)
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.gate_ids(caller, field).await
    }
}

async fn check(app: &App, call: &Call<'_>, found_run: &FoundRun, input: &RunInput) -> Result<Checked, Fault> {
    let (payload, paths, artifacts) =
        (input.payload.clone().unwrap_or_default(), input.artifact_paths.as_ref(), input.artifacts.as_ref());
    let sent = Sent {
        artifact_paths: paths.map(Vec::as_slice).unwrap_or_default(),
        artifacts: artifacts.map(Vec::as_slice).unwrap_or_default(),
    };
    let event_name = input.needed("event_name", input.event_name.as_ref())?;
    let (command, _) = app.emission(found_run, &Emission { event_name, payload: &payload, sent }).await?;
    Ok(match RunRules::decide(&found_run.committed.state, &command, &app.given(call)) {
        Ok(events) => {
            let emitted = events.into_iter().find_map(|event| match event {
                RunEvent::Emitted(emitted) => Some(emitted),
                _ => None,
            });
            Checked {
                would_be_accepted: true,
                missing_guards: emitted.iter().filter(|event| event.recorded).flat_map(|e| unmet(&e.guards)).collect(),
                transition: emitted.map(|event| Moved { from_state: event.from, to_state: event.to }),
                error: None,
            }
        }
        Err(refusal) => Checked {
            would_be_accepted: false,
            transition: None,
            missing_guards: unmet(refusal.guards()),
            error: Some(Unaccepted::by(&refusal)),
        },
    })
}

/// The plan to the named state, or one to each final state.
async fn plan(app: &App, found_run: &FoundRun, to_state: Option<&str>) -> Result<(Option<Plan>, Vec<Plan>), Fault> {
    let facts = app.facts(found_run, EvidenceScope::Everywhere).await?;
    let look = found_run.look(&facts);
    let states = || found_run.process.states.iter().map(|state| state.name.clone());
    let Some(target) = to_state else {
        let plans = look.plans();
        return if plans.is_empty() { Err(no_way(found_run, "a final state")) } else { Ok((None, plans)) };
    };
    if found_run.process.state(target).is_none() {
        let fault = Fault::new(Code::InvalidParams, format!("the process has no state '{}'", short(target)));
        return Err(fault.at("/to_state").value(&target.into()).hint("name one of its states").allowed(states()));
    }
    let plan = look.plan(target).ok_or_else(|| no_way(found_run, target))?;
    Ok((Some(plan), Vec::new()))
}

fn no_way(found_run: &FoundRun, target: &str) -> Fault {
    let message = format!("no way leads from '{}' to {target}", found_run.committed.state.state());
    Fault::new(Code::Rejected, message).at("/to_state").hint("name a state that can still be reached")
}

impl RunInput {
    /// The expected revision and the idempotency key, from the input or from the request's headers or metadata.
    fn terms(&self, call: &Call<'_>) -> Result<Terms, Fault> {
        if let Some(misfit) = self.idempotency_key.as_ref().and_then(|key| check_key(key).err()) {
            let fault = Fault::new(Code::InvalidPayload, misfit.message).at(misfit.path);
            return Err(fault.hint("send a key of your own, new for each request"));
        }
        let beside = (KEY_BESIDE, call.work.idempotency_key.as_ref());
        let key = given_once(("idempotency_key", self.idempotency_key.as_ref()), beside)?;
        Ok(Terms::new(self.expected(call)?, key.map(|key| (key.clone(), call.input.to_string()))))
    }

    fn expected(&self, call: &Call<'_>) -> Result<Option<u64>, Fault> {
        let beside = (EXPECTED_BESIDE, call.work.expected_revision);
        given_once(("expected_revision", self.expected_revision), beside)
    }
}

async fn override_guard(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
) -> Result<(Answered<Taken>, bool), Fault> {
    let event = input.needed("event_name", input.event_name.as_ref())?.to_owned();
    let reason = input.needed("reason", input.reason.as_ref())?.to_owned();
    // Require the revision, so that the caller overrides the guard in a state that they have seen.
    if input.expected(call)?.is_none() {
        let fault = Fault::new(Code::InvalidParams, "override needs expected_revision").at("/expected_revision");
        return Err(fault.hint("send the revision that you decided on; `state_gate.get_state` has it"));
    }
    let command = RunCommand::Override(Box::new(Override {
        process: found_run.process.clone(),
        standing: found_run.standing.clone(),
        event: event.clone(),
        to: input.to_state.clone(),
        reason,
        facts: app.facts(found_run, EvidenceScope::Here).await?,
        facts_of: found_run.committed.revision(),
    }));
    let (process, role) = (found_run.process.clone(), found_run.standing.role.clone());
    let answer = move |done: &Applied<RunStream>| taken(done, &process, &role);
    change(app, call, found_run, input, (&event, command), answer).await
}

async fn cancel(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
) -> Result<(Answered<Ended>, bool), Fault> {
    let role = found_run.standing.role.clone();
    let command = RunCommand::Cancel { role, reason: input.reason.clone() };
    let answer =
        |done: &Applied<RunStream>| Ended { revision: done.revision, state: done.committed.state.state().to_owned() };
    change(app, call, found_run, input, ("cancelled", command), answer).await
}

/// Executes a command on a run. A refusal is stored as an attempt, like that of an event.
async fn change<T: Serialize + 'static>(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
    (event, command): (&str, RunCommand),
    answer: impl Fn(&Applied<RunStream>) -> T + Send + Sync + 'static,
) -> Result<(Answered<T>, bool), Fault> {
    let terms = input.terms(call)?;
    let tried = app.execute_on::<RunOperation, _, T>(&app.runs, call, &found_run.stream, command, terms, answer).await;
    match tried {
        Ok((answered, done)) => Ok((answered, done.replayed)),
        Err(not_done) => {
            let request = call.input.to_string();
            let fault = app.journal_fault(not_done.failure.clone(), |refusal| refused(&found_run.run_id, &refusal));
            app.refuse(call, found_run, &Tried { event, request: &request }, not_done).await?;
            Err(fault)
        }
    }
}
