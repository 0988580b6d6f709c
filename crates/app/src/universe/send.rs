//! Something is done to a universe.

use std::borrow::Cow;
use std::sync::Arc;

use domain::universe::{UniverseCommand, UniverseEvent, UniverseState, WireEvent};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Changed;
use super::shape::{EventShape, StateShape};
use super::wording;
use crate::{Allowed, Answered, App, Call, Caller, CampaignRole, Fault, Kind, Operation, Toolset, limits};

pub(super) struct SendUniverseCommand;

/// A command as it was sent; it is read once it is known which universe it is for, so that an error can say so.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct SentCommand(Value);

impl JsonSchema for SentCommand {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "SentCommand".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "properties": {
                "type": {"type": "string", "description": "such as tick or addStar; list_universe_commands has them all"}
            },
            "required": ["type"],
            "additionalProperties": true
        })
    }
}

/// Whether the answer has the whole state in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum StateWanted {
    /// If the universe is small.
    #[default]
    Auto,
    Full,
    None,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SendUniverseCommandInput {
    /// The universe.
    universe_id: String,
    /// The command: an object with its type and fields, such as {"type": "tick", "dt": 60}.
    command: SentCommand,
    /// Whether to answer nextState: auto has it for up to 200 bodies and other things.
    #[serde(default)]
    state: StateWanted,
}

/// What is kept of an answer for a retry under the same key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Sent {
    universe_id: String,
    /// How many commands the universe has seen.
    revision: u64,
    /// What it did; empty for tick.
    #[schemars(with = "Vec<EventShape>")]
    events: Vec<WireEvent>,
    changed: Changed,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SendUniverseCommandOutput {
    #[serde(flatten)]
    answered: Answered<Sent>,
    /// The whole state after it; absent if that is long, or was not wanted: `get_universe_state` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<StateShape>")]
    next_state: Option<UniverseState>,
}

impl Operation for SendUniverseCommand {
    const NAME: &'static str = "send_universe_command";
    const TITLE: &'static str = "Change a universe";
    const SUMMARY: &'static str = "Send a command to a universe: add, change, move or remove bodies and groups, or let \
        time pass. A refused command changes nothing. list_universe_commands shows them all.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: Kind = Kind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    type Input = SendUniverseCommandInput;
    type Output = SendUniverseCommandOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: SendUniverseCommandInput,
    ) -> Result<SendUniverseCommandOutput, Fault> {
        let sky = app.sky::<Self>(call, &input.universe_id, CampaignRole::Gm).await?;
        let command = wording::command(&sky.universe_id, &input.command.0)?;
        let command = UniverseCommand::Apply(vec![Arc::new(command)]);
        let universe_id = sky.universe_id.clone();
        let place = (sky.universe_id.as_str(), &sky.stream, "/command");
        let (answered, done) = app
            .universe_command::<Self, _>(call, place, command, move |done| Sent {
                universe_id: universe_id.clone(),
                revision: done.revision,
                events: done.events.iter().flat_map(UniverseEvent::wire_events).cloned().collect(),
                changed: Changed::by(&done.events, &done.kept.state),
            })
            .await?;
        let state = done.kept.state.state();
        let is_wanted = match input.state {
            StateWanted::Auto => things(state) <= limits::ANSWERED_STATE_MAX,
            StateWanted::Full => true,
            StateWanted::None => false,
        };
        // To a retry the state after it is told only where nothing came after it.
        let is_after = done.kept.revision() == done.revision;
        Ok(SendUniverseCommandOutput { answered, next_state: (is_wanted && is_after).then(|| state.clone()) })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.universe_ids(caller, field).await
    }
}

/// How much there is to tell, without a look at any of it.
fn things(state: &UniverseState) -> usize {
    let snapshot = state.snapshot();
    snapshot.bodies().len()
        + snapshot.groups().len()
        + snapshot.belts().len()
        + snapshot.small_body_fields().len()
        + snapshot.protoplanetary_disks().len()
        + snapshot.nebulae().len()
}
