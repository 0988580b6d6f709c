//! `state_gate.create_run`: creates a run, pinned to the current content of its process.

use crate::gate::RunStream;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::decider::Decider;
use skald_domain::gate::{Facts, RunCommand, RunRules, RunView};
use skald_domain::id;

use super::process_lookup::unreadable_file_fault;
use super::quota::RUN_QUOTA;
use super::stream::{is_run_id, refusal_fault, run_stream};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, EVERY_CAMPAIGN, Fault, Operation, OperationKind,
    PermissionClass, Toolset, check_chosen_id, limits,
};
use skald_journal::Applied;

pub(super) struct CreateRun;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateRunInput {
    /// The process that it goes through.
    process_id: String,
    /// Variables over the process's initial context.
    context: Option<Map<String, Value>>,
    /// An id of your own choice; one is made if left out.
    run_id: Option<String>,
    /// The campaign it belongs to, if any: then its numbers count, such as players and open sessions.
    campaign_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CreateRunOutput {
    success: bool,
    run_id: String,
    initial_state: String,
    revision: u64,
    /// What to do in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_state_prompt: Option<String>,
    /// Where files of evidence belong; hand them in with their content if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_base_path: Option<String>,
}

impl Operation for CreateRun {
    const NAME: &'static str = "state_gate.create_run";
    const TITLE: &'static str = "Begin a run";
    const SUMMARY: &'static str = "Begin a run: one piece of work on its way through a process, which it keeps to \
        even if the process is changed later. The resource stategate://processes lists the processes.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    type Input = CreateRunInput;
    type Output = CommandAnswer<CreateRunOutput>;

    async fn run(app: &App, call: &Call<'_>, mut input: CreateRunInput) -> Result<Self::Output, Fault> {
        if let Some(revision) = call.control.expected_revision {
            let message = format!("revision {revision} is expected of a run that is yet to be created");
            return Err(Fault::new(Code::InvalidParams, message).hint("leave the expected revision out"));
        }
        if let Some(given) = &input.campaign_id {
            input.campaign_id = Some(app.resolve_campaign_id(call, given).await?);
        }
        check_create_permission(app, call.caller, input.campaign_id.as_deref()).await?;
        let run_id = match input.run_id {
            Some(id) if is_run_id(&id) => {
                let sees_all = call.caller.role_in(EVERY_CAMPAIGN).is_some_and(|role| role >= CampaignRole::Gm);
                check_chosen_id(call.caller, sees_all, &id).map_err(|fault| fault.with_path("/run_id"))?;
                id
            }
            Some(id) => return Err(bad_run_id_fault(&id)),
            None => new_run_id(app, call),
        };
        let known = app.find_process(&input.process_id).await?;
        app.store_source(&known.process, &known.source).await?;
        app.watching.start();
        let stream = match &input.campaign_id {
            Some(campaign_id) => run_stream(&run_id).with_tenant(campaign_id),
            None => run_stream(&run_id),
        };
        app.check_quota(call.caller, &RUN_QUOTA, &stream, input.campaign_id.as_deref()).await?;
        let (process, role) = (known.process, app.acting_role(call.caller).role);
        let campaign_numbers = match &input.campaign_id {
            Some(campaign_id) if !process.from_campaign.is_empty() => Some(app.campaign_numbers(campaign_id).await?),
            _ => None,
        };
        let create = |folder: Option<String>| RunCommand::Create {
            id: run_id.clone(),
            process: Arc::clone(&process),
            role: role.clone(),
            context: input.context.clone().unwrap_or_default(),
            campaign_id: input.campaign_id.clone(),
            campaign_numbers,
            folder,
        };
        let committed = app.runs.read(&stream).await.map_err(|error| app.store_fault(&error))?;
        let paths = app.path_redaction(call.caller);
        // Decide before creating the folder, so that a refused command leaves no folder behind.
        let folder = match RunRules::decide(&committed.state, &create(None), &app.time_and_caller(call)) {
            Ok(_) => {
                app.files.create_run_folder(&run_id).await.map_err(|error| unreadable_file_fault(&paths, &error))?
            }
            Err(_) => None,
        };
        let command = create(folder);
        let process = Arc::clone(&process);
        let answer = move |done: &Applied<RunStream>| {
            let (state, facts) = (&done.committed.state, Facts::default());
            let look = RunView { process: &process, run: state, facts: &facts, principal: "", role: "" };
            let run = state.run();
            CreateRunOutput {
                success: true,
                run_id: run.map(|run| run.id.clone()).unwrap_or_default(),
                initial_state: state.state().to_owned(),
                revision: done.revision,
                current_state_prompt: look.prompt(state.state()),
                artifact_base_path: run.and_then(|run| paths.visible_folder(run.folder.as_deref()?)),
            }
        };
        let tried = app.execute::<Self, _, _>(&app.runs, call, &stream, command, answer).await;
        let refused = |refusal| refusal_fault(&run_id, &refusal);
        tried.map(|(answered, _)| answered).map_err(|failure| app.journal_fault(failure, refused))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}

/// Players of a campaign may create its runs. A run without a campaign needs the role of a player in every campaign.
async fn check_create_permission(app: &App, caller: &Caller, campaign_id: Option<&str>) -> Result<(), Fault> {
    if let Some(campaign_id) = campaign_id {
        let entered = app.enter_campaign_as(caller, CreateRun::NAME, CreateRun::ALLOWED, campaign_id).await;
        return entered.map(drop);
    }
    if caller.role_in(EVERY_CAMPAIGN).is_some_and(|role| role >= CampaignRole::Player) {
        return Ok(());
    }
    let message = "a run without a campaign is for those who play in every campaign";
    Err(Fault::new(Code::Forbidden, message).with_path("/campaign_id").hint("name a campaign that you play in"))
}

fn bad_run_id_fault(id: &str) -> Fault {
    let most = limits::ID_CHARS_MAX;
    let message = format!("a run id has 1 to {most} letters, digits, '-', '_' and '.', and begins with no '.'");
    let fault = Fault::new(Code::InvalidParams, message).with_path("/run_id").value(&id.into());
    fault.hint("choose such an id, or leave it out")
}

/// A new id. Ids sort by time; with an idempotency key the id is derived from the key, so that a retry gets the same
/// one.
fn new_run_id(app: &App, call: &Call<'_>) -> String {
    match &call.control.idempotency_key {
        Some(key) => id::uuid_from_key(id::RUN, call.caller.id(), "", key),
        None => id::uuid_v7(id::RUN, app.clock.now().as_millisecond(), app.entropy.bytes()),
    }
}
