//! `send_universe_command`: sends a command to a universe, and others that follow it in the same revision.

use crate::universe::UniverseStream;
use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::universe::{
    Command, Failure, Repair, UniverseCommand, UniverseEvent, UniverseRefusal, UniverseState, WireEvent,
};

use super::access::{FoundUniverse, count_things};
use super::answer_schemas::{EventShape, StateShape};
use super::changed_ids::ChangedIds;
use super::removed_answer::RemovedAnswer;
use super::{nearest_id, parse_command_or_state, rest};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, CommandAnswer, Fault, Operation, OperationKind, PermissionClass,
    RequestBody, Route, Toolset, limits,
};
use skald_journal::{Applied, CommittedState};

pub(super) struct SendUniverseCommand;

/// A command as it was sent. It is parsed after the universe is known, so that an error can name the universe.
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
#[schemars(rename = "StateWanted")]
pub(super) enum NextStateChoice {
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
    /// More commands that follow it, all or none, as one revision.
    #[serde(default)]
    #[schemars(with = "Vec<Map<String, Value>>", length(max = limits::COMMANDS_MAX - 1))]
    commands: Vec<SentCommand>,
    /// Whether to answer nextState: auto has it for up to 200 bodies and other things.
    #[serde(default)]
    state: NextStateChoice,
}

/// What is kept of an answer for a retry under the same key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SendAnswer {
    universe_id: String,
    /// How often the universe was changed.
    revision: u64,
    /// What it did; empty for tick.
    #[schemars(with = "Vec<EventShape>")]
    events: Vec<CommandEvent>,
    changed: ChangedIds,
    /// What had to be repaired in a snapshot, so that it could be kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    repaired: Vec<Repair>,
    /// What a command that replaces all of a kind removed, and how to put it back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<Map<String, Value>>")]
    removed: Vec<RemovedAnswer>,
}

/// What a command did, or that there was nothing to do.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum CommandEvent {
    Done(WireEvent),
    NothingToDo(Failure),
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SendUniverseCommandOutput {
    #[serde(flatten)]
    answered: CommandAnswer<SendAnswer>,
    /// The whole state after it; absent if that is long, or was not wanted: `get_universe_state` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<StateShape>")]
    next_state: Option<UniverseState>,
    /// Where nextState is left out: why, and how to read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Sends commands, all or none, for every surface. Each comes with the input field that contains it.
pub(super) async fn send_commands<O: Operation>(
    app: &App,
    call: &Call<'_>,
    universe_id: &str,
    sent: &[(String, &Value)],
    choice: NextStateChoice,
) -> Result<SendUniverseCommandOutput, Fault> {
    // A value without a type is no command for any universe, so refuse it before the lookup.
    for (within, command) in sent {
        parse_command_or_state::command_type(within, command).map_err(|fault| fault.universe(universe_id))?;
    }
    let found_universe = app.find_universe::<O>(call, universe_id, CampaignRole::Gm).await?;
    let (mut commands, mut repaired) = (Vec::with_capacity(sent.len()), Vec::new());
    for (within, command) in sent {
        let (command, mut repairs) =
            parse_command_or_state::parse_command(within, command).map_err(|fault| fault.universe(universe_id))?;
        commands.push(Arc::new(command));
        repaired.append(&mut repairs);
    }
    let fields: Vec<&str> = sent.iter().map(|(within, _)| within.as_str()).collect();
    let SentCommands { answered, committed, revision } =
        apply_commands::<O>(app, call, &found_universe, &fields, (commands, repaired)).await?;
    let state = committed.state.state();
    let count = count_things(state);
    let is_short = count <= limits::ANSWERED_STATE_MAX;
    // A retry gets nextState only if the universe has not changed since.
    let is_current = committed.revision() == revision;
    let (is_answered, hint) = match choice {
        NextStateChoice::None => (false, None),
        NextStateChoice::Auto if !is_short => (false, Some(too_long_hint(count))),
        NextStateChoice::Auto | NextStateChoice::Full if !is_current => (false, Some(CHANGED_HINT.to_owned())),
        NextStateChoice::Auto | NextStateChoice::Full => (true, None),
    };
    Ok(SendUniverseCommandOutput { answered, next_state: is_answered.then(|| state.clone()), hint })
}

const CHANGED_HINT: &str =
    "nextState is left out, since the universe has changed since then; `get_universe_state` reads it as it is now";

fn too_long_hint(count: usize) -> String {
    let most = limits::ANSWERED_STATE_MAX;
    format!(
        "nextState is left out, since the universe holds {count} bodies and other things, more than {most}; \
         `get_universe_state` reads all of it or, with a view (summary, bodies, body, groups, positions), a part; \
         state: full asks for nextState whatever the size"
    )
}

/// The result of commands that were applied or had nothing to do.
struct SentCommands {
    answered: CommandAnswer<SendAnswer>,
    committed: Arc<CommittedState<UniverseStream>>,
    revision: u64,
}

/// Applies commands together. If one has nothing to do, the others are applied without it, and the answer says so.
/// `fields` are the input fields that contain the commands.
async fn apply_commands<O: Operation>(
    app: &App,
    call: &Call<'_>,
    found_universe: &FoundUniverse,
    fields: &[&str],
    (commands, repaired): (Vec<Arc<Command>>, Vec<Repair>),
) -> Result<SentCommands, Fault> {
    // Each command with its index in the request.
    let mut commands: Vec<(usize, Arc<Command>)> = commands.into_iter().enumerate().collect();
    let mut nothing_to_do: Vec<(usize, CommandEvent)> = Vec::new();
    loop {
        let numbers: Vec<usize> = commands.iter().map(|(number, _)| *number).collect();
        let (universe_id, others, repaired) =
            (found_universe.universe_id.clone(), nothing_to_do.clone(), repaired.clone());
        let answer = move |done: &Applied<UniverseStream>| SendAnswer {
            universe_id: universe_id.clone(),
            revision: done.revision,
            events: events_in_order(&numbers, &done.events, &others),
            changed: ChangedIds::from_events(&done.events, &done.committed.state),
            repaired: repaired.clone(),
            removed: RemovedAnswer::from_events(&done.before.state, &done.events),
        };
        let command = UniverseCommand::Apply(commands.iter().map(|(_, command)| Arc::clone(command)).collect());
        let (number, failure) =
            match app.execute::<O, _, _>(&app.universes, call, &found_universe.stream, command, answer).await {
                Ok((answered, done)) => {
                    return Ok(SentCommands { answered, revision: done.revision, committed: done.committed });
                }
                Err(skald_journal::JournalFailure::Refused(UniverseRefusal::Command { number, failure })) => {
                    (number.unwrap_or_default(), failure)
                }
                Err(failure) => return Err(app.universe_fault(&found_universe.universe_id, "", failure)),
            };
        let (sent_as, _) = commands.remove(number);
        if !failure.is_no_op() {
            let earlier = commands[..number].iter().map(|(_, command)| &**command);
            return Err(refused_command_fault(app, found_universe, fields, (sent_as, failure), earlier));
        }
        nothing_to_do.push((sent_as, CommandEvent::NothingToDo(failure)));
        if commands.is_empty() {
            return unchanged_answer(app, call, found_universe, &nothing_to_do).await;
        }
    }
}

/// The fault for a refused command. It names the id that was probably meant, from the state that the commands before it
/// would have left.
fn refused_command_fault<'a>(
    app: &App,
    found_universe: &FoundUniverse,
    fields: &[&str],
    (sent_as, failure): (usize, Failure),
    earlier: impl Iterator<Item = &'a Command>,
) -> Fault {
    let field = fields.get(sent_as).copied().unwrap_or_default();
    let meant = failure.missing().and_then(|missing| {
        let state = found_universe.universe().ok()?.state().after_commands(earlier);
        nearest_id::missing_thing_hint(state.snapshot(), missing)
    });
    let in_array = field.rsplit_once('/').and_then(|(array, number)| Some((array, number.parse().ok()?)));
    let (within, number) = match in_array.filter(|_| fields.len() > 1) {
        Some((array, number)) => (array, Some(number)),
        None => (field, None),
    };
    let refusal = skald_journal::JournalFailure::Refused(UniverseRefusal::Command { number, failure });
    let mut fault = app.universe_fault(&found_universe.universe_id, within, refusal);
    if fields.len() > 1 && fault.body().path.is_none() {
        fault = fault.with_path(field);
    }
    let Some(meant) = meant else { return fault };
    let hint = fault.body().hint.clone().unwrap_or_default();
    fault.hint(format!("{meant} {hint}"))
}

/// The answer if all commands had nothing to do. Nothing is stored.
async fn unchanged_answer(
    app: &App,
    call: &Call<'_>,
    found_universe: &FoundUniverse,
    nothing_to_do: &[(usize, CommandEvent)],
) -> Result<SentCommands, Fault> {
    let committed = app
        .universes
        .read(&found_universe.stream)
        .await
        .map_err(|error| app.store_fault(&error).universe(&found_universe.universe_id))?;
    let revision = committed.revision();
    call.control.set_revision(revision);
    let sent = SendAnswer {
        universe_id: found_universe.universe_id.clone(),
        revision,
        events: events_in_order(&[], &[], nothing_to_do),
        changed: ChangedIds::default(),
        repaired: Vec::new(),
        removed: Vec::new(),
    };
    Ok(SentCommands { answered: CommandAnswer::Now(sent), committed, revision })
}

/// The events of commands, in the order in which the commands were sent.
fn events_in_order(
    numbers: &[usize],
    done: &[UniverseEvent],
    nothing_to_do: &[(usize, CommandEvent)],
) -> Vec<CommandEvent> {
    let done = numbers.iter().zip(done).flat_map(|(number, event)| {
        event.wire_events().iter().map(move |event| (*number, CommandEvent::Done(event.clone())))
    });
    let mut events: Vec<(usize, CommandEvent)> = done.chain(nothing_to_do.iter().cloned()).collect();
    events.sort_by_key(|(number, _)| *number);
    events.into_iter().map(|(_, event)| event).collect()
}

impl Operation for SendUniverseCommand {
    const NAME: &'static str = "send_universe_command";
    const TITLE: &'static str = "Change a universe";
    const SUMMARY: &'static str = "Send a command to a universe: add, change, move or remove bodies and groups, or let \
        time pass; more of them in commands. A refused command changes nothing. list_universe_commands shows them all.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Command;
    // The role is checked after the lookup, so that missing and hidden universes look the same.
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::WriteUniverse;
    const FOR_GAME_MASTERS: bool = true;
    const DESTRUCTIVE: bool = true;
    const ROUTES: &'static [Route] = &[rest::commands_route(RequestBody::Field("command"))];
    type Input = SendUniverseCommandInput;
    type Output = SendUniverseCommandOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: SendUniverseCommandInput,
    ) -> Result<SendUniverseCommandOutput, Fault> {
        let SendUniverseCommandInput { universe_id, command, commands, state } = input;
        let others = commands.iter().enumerate().map(|(at, command)| (format!("/commands/{at}"), &command.0));
        let sent: Vec<_> = [("/command".to_owned(), &command.0)].into_iter().chain(others).collect();
        send_commands::<Self>(app, call, &universe_id, &sent, state).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
