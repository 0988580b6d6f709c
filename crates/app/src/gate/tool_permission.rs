//! `state_gate.tool_permission`: decides whether a coding agent may use a tool in the current state of its run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skald_domain::gate::Permission;

use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct ToolPermission;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolPermissionInput {
    /// That of state-gate.json if left out.
    run_id: Option<String>,
    /// The tool that is to be used.
    tool_name: String,
    /// What it is to be used with.
    #[serde(default)]
    tool_input: Value,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ToolPermissionOutput {
    run_id: String,
    process_id: String,
    current_state: String,
    decision: PermissionDecision,
    /// Why, for the agent to read.
    reason: String,
    /// What to do in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_state_prompt: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PermissionDecision {
    Allow,
    Ask,
    Deny,
}

impl Operation for ToolPermission {
    const NAME: &'static str = "state_gate.tool_permission";
    const TITLE: &'static str = "May a tool be used";
    const SUMMARY: &'static str =
        "Whether a coding agent may use one of its own tools in the state that its run is in.";
    const TOOLSET: Toolset = Toolset::Gate;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Gate;
    // The hooks of an agent call it, not the agent.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    type Input = ToolPermissionInput;
    type Output = ToolPermissionOutput;

    async fn run(app: &App, call: &Call<'_>, input: ToolPermissionInput) -> Result<ToolPermissionOutput, Fault> {
        let found_run = app.find_run::<Self>(call, input.run_id.as_deref()).await?;
        let (state, tool) = (found_run.committed.state.state(), input.tool_name.as_str());
        let permissions = found_run.process.state(state).and_then(|state| state.tool_permissions.as_ref());
        let (decision, word) = match permissions.map(|permissions| permissions.check_call(tool, &input.tool_input)) {
            None | Some(Permission::Allow) => (PermissionDecision::Allow, "may be used"),
            Some(Permission::Ask) => (PermissionDecision::Ask, "may be used if a person agrees"),
            Some(Permission::Deny) => (PermissionDecision::Deny, "may not be used so"),
        };
        let reason = format!("{tool} {word} in state '{state}' of run {}", found_run.run_id);
        let facts = skald_domain::gate::Facts::default();
        Ok(ToolPermissionOutput {
            process_id: found_run.process.id.clone(),
            current_state: state.to_owned(),
            current_state_prompt: found_run.run_view(&facts).prompt(state),
            decision,
            reason,
            run_id: found_run.run_id,
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_gate_ids(caller, field).await
    }
}
