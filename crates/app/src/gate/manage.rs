//! `state_gate.run`: history, dry run, plan and artifacts of a run, and overriding a guard or cancelling the run.

use crate::gate::RunStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::decider::Decider;
use skald_domain::gate::{Override, Plan, RunCommand, RunEvent, RunRules};

use super::access::{EvidenceScope, FoundRun};
use super::artifact_view::{ArtifactView, view_artifact};
use super::emit_event::{Emission, EmitResult, StateChange, check_idempotency_key, emit_result};
use super::emit_refusal::{AttemptRequest, EmitRefusal, unsatisfied_guards};
use super::history::HistoryEntry;
use super::stream::refusal_fault;
use super::submitted_artifacts::{RequestArtifacts, SentArtifact};
use crate::execute_command::{EXPECTED_REVISION_LABEL, IDEMPOTENCY_KEY_LABEL, merge_input_and_header};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, CommandTerms, Fault, Operation, OperationKind,
    PermissionClass, Toolset, limits, truncate_for_message,
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
    fn as_str(self) -> &'static str {
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
    fn allowed_fields(self) -> &'static [&'static str] {
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
    /// That of state-gate.json if left out.
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
    /// For override and cancel.
    expected_revision: Option<u64>,
    /// For override and cancel.
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
    check: Option<DryRunResult>,
    /// The shortest way to the state that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
    /// Where no state was named: a way to each final state that can be reached, the shortest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    plans: Vec<Plan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact: Option<ArtifactView>,
    /// The transition that was taken in spite of its guard.
    #[serde(skip_serializing_if = "Option::is_none")]
    overridden: Option<CommandAnswer<EmitResult>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancelled: Option<CommandAnswer<CancelResult>>,
    /// It was done before, under the same key: this is the same answer again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    replayed: bool,
}

/// What an event would come to.
#[derive(Serialize, JsonSchema)]
struct DryRunResult {
    would_be_accepted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    transition: Option<StateChange>,
    /// What would keep it, or let it only be recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    missing_guards: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<EmitRefusal>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CancelResult {
    revision: u64,
    state: String,
}

impl RunInput {
    fn method_fields(&self) -> MethodFields {
        MethodFields { method: self.method.as_str(), takes: self.method.allowed_fields() }
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

    fn require_field<'a>(&self, field: &str, given: Option<&'a String>) -> Result<&'a str, Fault> {
        self.method_fields().require_field(field, given)
    }
}

impl Operation for RunOperation {
    const NAME: &'static str = "state_gate.run";
    const TITLE: &'static str = "More of a run";
    const SUMMARY: &'static str = "More of a run: the history of every attempt, a dry run of an event (check), the \
        shortest way to a state (plan), an artifact, an override of a guard by a person, or its end (cancel).";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
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
            RunMethod::Check => output.check = Some(dry_run_event(app, call, &found_run, &input).await?),
            RunMethod::Plan => {
                (output.plan, output.plans) = plan_run(app, &found_run, input.to_state.as_deref()).await?;
            }
            RunMethod::Artifact => {
                let path = input.require_field("path", input.path.as_ref())?;
                output.artifact = Some(view_artifact(app, &found_run, path).await?);
            }
            RunMethod::Override => {
                let (answered, replayed) = override_guard(app, call, &found_run, &input).await?;
                (output.overridden, output.replayed) = (Some(answered), replayed);
            }
            RunMethod::Cancel => {
                let (answered, replayed) = cancel_run(app, call, &found_run, &input).await?;
                (output.cancelled, output.replayed) = (Some(answered), replayed);
            }
        }
        Ok(output)
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

async fn dry_run_event(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
) -> Result<DryRunResult, Fault> {
    let (payload, paths, artifacts) =
        (input.payload.clone().unwrap_or_default(), input.artifact_paths.as_ref(), input.artifacts.as_ref());
    let sent = RequestArtifacts {
        artifact_paths: paths.map(Vec::as_slice).unwrap_or_default(),
        artifacts: artifacts.map(Vec::as_slice).unwrap_or_default(),
    };
    let event_name = input.require_field("event_name", input.event_name.as_ref())?;
    let (command, _) = app.prepare_emission(found_run, &Emission { event_name, payload: &payload, sent }).await?;
    Ok(match RunRules::decide(&found_run.committed.state, &command, &app.time_and_caller(call)) {
        Ok(events) => {
            let emitted = events.into_iter().find_map(|event| match event {
                RunEvent::Emitted(emitted) => Some(emitted),
                _ => None,
            });
            DryRunResult {
                would_be_accepted: true,
                missing_guards: emitted
                    .iter()
                    .filter(|event| event.recorded)
                    .flat_map(|e| unsatisfied_guards(&e.guards))
                    .collect(),
                transition: emitted.map(|event| StateChange { from_state: event.from, to_state: event.to }),
                error: None,
            }
        }
        Err(refusal) => DryRunResult {
            would_be_accepted: false,
            transition: None,
            missing_guards: unsatisfied_guards(refusal.guards()),
            error: Some(EmitRefusal::from_refusal(&refusal)),
        },
    })
}

/// The plan to the named state, or one to each final state.
async fn plan_run(app: &App, found_run: &FoundRun, to_state: Option<&str>) -> Result<(Option<Plan>, Vec<Plan>), Fault> {
    let facts = app.guard_facts(found_run, EvidenceScope::Everywhere).await?;
    let look = found_run.run_view(&facts);
    let states = || found_run.process.states.iter().map(|state| state.name.clone());
    let Some(target) = to_state else {
        let plans = look.plans();
        return if plans.is_empty() { Err(no_plan_fault(found_run, "a final state")) } else { Ok((None, plans)) };
    };
    if found_run.process.state(target).is_none() {
        let fault =
            Fault::new(Code::InvalidParams, format!("the process has no state '{}'", truncate_for_message(target)));
        return Err(fault
            .with_path("/to_state")
            .value(&target.into())
            .hint("name one of its states")
            .allowed(states()));
    }
    let plan = look.plan(target).ok_or_else(|| no_plan_fault(found_run, target))?;
    Ok((Some(plan), Vec::new()))
}

fn no_plan_fault(found_run: &FoundRun, target: &str) -> Fault {
    let message = format!("no way leads from '{}' to {target}", found_run.committed.state.state());
    Fault::new(Code::Rejected, message).with_path("/to_state").hint("name a state that can still be reached")
}

impl RunInput {
    /// The expected revision and the idempotency key, from the input or from the request's headers or metadata.
    fn terms(&self, call: &Call<'_>) -> Result<CommandTerms, Fault> {
        if let Some(misfit) = self.idempotency_key.as_ref().and_then(|key| check_idempotency_key(key).err()) {
            let fault = Fault::new(Code::InvalidPayload, misfit.message).with_path(misfit.path);
            return Err(fault.hint("send a key of your own, new for each request"));
        }
        let from_header = (IDEMPOTENCY_KEY_LABEL, call.control.idempotency_key.as_ref());
        let key = merge_input_and_header(("idempotency_key", self.idempotency_key.as_ref()), from_header)?;
        Ok(CommandTerms::new(self.expected_revision(call)?, key.map(|key| (key.clone(), call.input.to_string()))))
    }

    fn expected_revision(&self, call: &Call<'_>) -> Result<Option<u64>, Fault> {
        let from_header = (EXPECTED_REVISION_LABEL, call.control.expected_revision);
        merge_input_and_header(("expected_revision", self.expected_revision), from_header)
    }
}

async fn override_guard(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
) -> Result<(CommandAnswer<EmitResult>, bool), Fault> {
    let needed = [("event_name", input.event_name.is_some()), ("reason", input.reason.is_some())];
    if needed.iter().any(|(_, is_given)| !is_given) {
        let revision = ("expected_revision", input.expected_revision(call)?.is_some());
        input.method_fields().check_required(&[needed[0], needed[1], revision])?;
    }
    let event = input.require_field("event_name", input.event_name.as_ref())?.to_owned();
    let reason = input.require_field("reason", input.reason.as_ref())?.to_owned();
    // Require the revision, so that the caller overrides the guard in a state that they have seen.
    if input.expected_revision(call)?.is_none() {
        let fault = Fault::new(Code::InvalidParams, "override needs expected_revision").with_path("/expected_revision");
        return Err(fault.hint("send the revision that you decided on; `state_gate.get_state` has it"));
    }
    let command = RunCommand::Override(Box::new(Override {
        process: found_run.process.clone(),
        acting_role: found_run.acting_role.clone(),
        event: event.clone(),
        to: input.to_state.clone(),
        reason,
        facts: app.guard_facts(found_run, EvidenceScope::Here).await?,
        facts_of: found_run.committed.revision(),
    }));
    let (process, role) = (found_run.process.clone(), found_run.acting_role.role.clone());
    let answer = move |done: &Applied<RunStream>| emit_result(done, &process, &role);
    execute_on_run(app, call, found_run, input, (&event, command), answer).await
}

async fn cancel_run(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
) -> Result<(CommandAnswer<CancelResult>, bool), Fault> {
    let role = found_run.acting_role.role.clone();
    let command = RunCommand::Cancel { role, reason: input.reason.clone() };
    let answer = |done: &Applied<RunStream>| CancelResult {
        revision: done.revision,
        state: done.committed.state.state().to_owned(),
    };
    execute_on_run(app, call, found_run, input, ("cancelled", command), answer).await
}

/// Executes a command on a run. A refusal is stored as an attempt, like that of an event.
async fn execute_on_run<T: Serialize + 'static>(
    app: &App,
    call: &Call<'_>,
    found_run: &FoundRun,
    input: &RunInput,
    (event, command): (&str, RunCommand),
    answer: impl Fn(&Applied<RunStream>) -> T + Send + Sync + 'static,
) -> Result<(CommandAnswer<T>, bool), Fault> {
    let terms = input.terms(call)?;
    let tried =
        app.execute_with_terms::<RunOperation, _, T>(&app.runs, call, &found_run.stream, command, terms, answer).await;
    match tried {
        Ok((answered, done)) => Ok((answered, done.replayed)),
        Err(not_done) => {
            let request = call.input.to_string();
            let fault =
                app.journal_fault(not_done.failure.clone(), |refusal| refusal_fault(&found_run.run_id, &refusal));
            app.refuse_attempt(call, found_run, &AttemptRequest { event, request: &request }, not_done).await?;
            Err(fault)
        }
    }
}
