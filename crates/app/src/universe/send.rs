//! Something is done to a universe.

use std::borrow::Cow;
use std::sync::Arc;

use domain::universe::{UniverseCommand, UniverseEvent, UniverseState, WireEvent};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::change::Changed;
use super::shape::{EventShape, StateShape};
use super::sky::things;
use super::wording;
use crate::{Allowed, Answered, App, Call, Caller, CampaignRole, Fault, Kind, Operation, Toolset, limits};

pub(super) struct SendUniverseCommand;

/// A command as it was sent; it is read once it is known which universe it is for, so that an error can say so.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct SentCommand(pub Value);

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
                "type": {"type": "string", "description": "such as tick or addStar; `list_universe_commands` has them all"}
            },
            "required": ["type"],
            "additionalProperties": true
        })
    }
}

/// Whether the answer has the whole state in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum StateWanted {
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
    /// How often the universe was changed.
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

/// Sends commands, each with the field of the input that holds it: all of them or none. The one way for every surface.
pub(super) async fn send<O: Operation>(
    app: &App,
    call: &Call<'_>,
    universe_id: &str,
    sent: &[(String, &Value)],
    wanted: StateWanted,
) -> Result<SendUniverseCommandOutput, Fault> {
    // What is no command at all is not for this universe or another.
    for (within, command) in sent {
        wording::typed(within, command).map_err(|fault| fault.universe(universe_id))?;
    }
    let sky = app.sky::<O>(call, universe_id, CampaignRole::Gm).await?;
    let read = sent.iter().map(|(within, command)| wording::command(within, command).map(Arc::new));
    let read = read.collect::<Result<Vec<_>, _>>().map_err(|fault| fault.universe(universe_id))?;
    let within = match sent {
        [(within, _)] => within,
        _ => "/commands",
    };
    let (place, id) = ((universe_id, &sky.stream, within), universe_id.to_owned());
    let sent = app.universe_command::<O, _>(call, place, UniverseCommand::Apply(read), move |done| Sent {
        universe_id: id.clone(),
        revision: done.revision,
        events: done.events.iter().flat_map(UniverseEvent::wire_events).cloned().collect(),
        changed: Changed::by(&done.events, &done.kept.state),
    });
    let (answered, done) = sent.await?;
    let state = done.kept.state.state();
    let is_wanted = match wanted {
        StateWanted::Auto => things(state) <= limits::ANSWERED_STATE_MAX,
        StateWanted::Full => true,
        StateWanted::None => false,
    };
    // To a retry the state after it is told only where nothing came after it.
    let is_after = done.kept.revision() == done.revision;
    Ok(SendUniverseCommandOutput { answered, next_state: (is_wanted && is_after).then(|| state.clone()) })
}

impl Operation for SendUniverseCommand {
    const NAME: &'static str = "send_universe_command";
    const TITLE: &'static str = "Change a universe";
    const SUMMARY: &'static str = "Send a command to a universe: add, change, move or remove bodies and groups, or let \
        time pass. A refused command changes nothing. list_universe_commands shows them all.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: Kind = Kind::Command;
    // Whoever may not is told so once the universe is known; of one that is not there, nobody is.
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const DESTRUCTIVE: bool = true;
    type Input = SendUniverseCommandInput;
    type Output = SendUniverseCommandOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: SendUniverseCommandInput,
    ) -> Result<SendUniverseCommandOutput, Fault> {
        let SendUniverseCommandInput { universe_id, command, state } = input;
        send::<Self>(app, call, &universe_id, &[("/command".to_owned(), &command.0)], state).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.universe_ids(caller, field).await
    }
}
