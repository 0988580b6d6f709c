//! `state_gate.submit_process`: checks a process and stores it under its id for new runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::gate::{Finding, load};

use super::acting_role::AGENT;
use super::changed_resources;
use super::process_lookup::{SubmittedProcess, invalid_process_fault, unreadable_process_fault};
use super::shipped_processes::shipped_processes;
use crate::resource_changes::ChangeAudience;
use crate::{
    Allowed, App, Call, CampaignRole, Code, EVERY_CAMPAIGN, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct SubmitProcess;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SubmitProcessInput {
    /// The process as YAML.
    source: String,
    /// Only check it.
    #[serde(default)]
    check_only: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SubmitProcessOutput {
    process_id: String,
    version: String,
    /// SHA-256 of the source: runs are pinned to it.
    hash: String,
    /// Whether new runs get it from now on.
    submitted: bool,
    /// Warnings, each with its line and column.
    findings: Vec<Finding>,
}

impl Operation for SubmitProcess {
    const NAME: &'static str = "state_gate.submit_process";
    const TITLE: &'static str = "Submit a process";
    const SUMMARY: &'static str = "Check a process in YAML and keep it for new runs. For the owner or a game master, \
        never for the gate role agent, who may check one.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    const DESTRUCTIVE: bool = true;
    type Input = SubmitProcessInput;
    type Output = SubmitProcessOutput;

    async fn run(app: &App, call: &Call<'_>, input: SubmitProcessInput) -> Result<SubmitProcessOutput, Fault> {
        if !input.check_only {
            check_submit_permission(app, call)?;
        }
        let loaded = load(&input.source);
        let process = loaded
            .process
            .ok_or_else(|| invalid_process_fault("the process", &loaded.findings).with_path("/source"))?;
        if !input.check_only {
            store_submitted_process(app, call, &process, &input.source).await?;
        }
        Ok(SubmitProcessOutput {
            process_id: process.id,
            version: process.version,
            hash: process.hash,
            submitted: !input.check_only,
            findings: loaded.findings,
        })
    }
}

fn check_submit_permission(app: &App, call: &Call<'_>) -> Result<(), Fault> {
    let role = app.acting_role(call.caller).role;
    let hint = "let a game master of another gate role submit it; with check_only it is checked";
    if role == AGENT {
        let fault = Fault::new(Code::Forbidden, "the gate role agent may not submit a process").value(&role.into());
        return Err(fault.hint(hint));
    }
    if !call.caller.has_role_anywhere(CampaignRole::Gm) {
        return Err(Fault::new(Code::Forbidden, "only the owner or a game master may submit a process").hint(hint));
    }
    Ok(())
}

async fn store_submitted_process(
    app: &App,
    call: &Call<'_>,
    process: &skald_domain::gate::Process,
    source: &str,
) -> Result<(), Fault> {
    let id = process.id.as_str();
    if !super::stream::is_run_id(id) {
        let message = format!("a submitted process needs a plain id, '{id}' is none");
        let fault = Fault::new(Code::InvalidProcess, message).with_path("/source");
        return Err(fault.hint("use letters, digits, '-', '_' and '.' for process.id"));
    }
    let file = app.files.process_file(id).await.map_err(|error| unreadable_process_fault(&error))?;
    if file.is_some() {
        let message = format!("new runs of process '{id}' get the owner's version, not a submitted one");
        return Err(Fault::new(Code::Rejected, message).hint("submit it under another id"));
    }
    let is_everywhere = call.caller.role_in(EVERY_CAMPAIGN) == Some(CampaignRole::Gm);
    if shipped_processes().iter().any(|(shipped, _)| *shipped == id) && !is_everywhere {
        let message =
            format!("process '{id}' comes with Skald, and only game masters of every campaign may replace it");
        return Err(Fault::new(Code::Forbidden, message).hint("submit it under another id"));
    }
    // Only its submitter and game masters of every campaign may replace a submitted process.
    if let Some(before) = app.stored_submission(id).await?
        && before.by != call.caller.id()
        && !is_everywhere
    {
        let message = format!("process '{id}' was submitted by somebody else");
        return Err(Fault::new(Code::Forbidden, message).hint("submit it under another id"));
    }
    if app.stored_source(&process.hash).await?.is_none() {
        app.count_process_version(call.caller).await?;
        app.store_source(process, source).await?;
    }
    let (hash, by) = (process.hash.clone(), call.caller.id().to_owned());
    app.store_submission(id, &SubmittedProcess { hash, by, at: app.clock.now().into() }).await?;
    for change in changed_resources::process_changes(id) {
        app.publish_change(change, &ChangeAudience::Everybody);
    }
    Ok(())
}
