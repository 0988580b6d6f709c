//! `universe_commands`: sends several commands to a universe, all or none of them.

use schemars::JsonSchema;
use serde::Deserialize;

use super::rest;
use super::send_command::{NextStateChoice, SendUniverseCommandOutput, SentCommand, send_commands};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, RequestBody,
    Route, Toolset, limits,
};

pub(super) struct SendUniverseCommands;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SendUniverseCommandsInput {
    /// The universe.
    universe_id: String,
    /// The commands, in the order in which they are done.
    #[schemars(length(min = 1, max = limits::COMMANDS_MAX))]
    commands: Vec<SentCommand>,
    /// Whether to answer nextState: auto has it for up to 200 bodies and other things.
    #[serde(default)]
    state: NextStateChoice,
}

impl Operation for SendUniverseCommands {
    const NAME: &'static str = "universe_commands";
    const TITLE: &'static str = "Change a universe by several commands at once";
    const SUMMARY: &'static str = "Send several commands to a universe. They are done together, as one revision; if one is refused, none is done.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Command;
    // The role is checked after the lookup, so that missing and hidden universes look the same.
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::WriteUniverse;
    const FOR_GAME_MASTERS: bool = true;
    // The toolset has three fixed tools.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[rest::commands_route(RequestBody::Items("commands"))];
    type Input = SendUniverseCommandsInput;
    type Output = SendUniverseCommandOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: SendUniverseCommandsInput,
    ) -> Result<SendUniverseCommandOutput, Fault> {
        let sent = input.commands.iter().enumerate();
        let sent: Vec<_> = sent.map(|(at, command)| (format!("/commands/{at}"), &command.0)).collect();
        send_commands::<Self>(app, call, &input.universe_id, &sent, input.state).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
