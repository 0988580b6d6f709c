//! Decides universe commands into events or refusals. Checks run in this order: the universe exists, what is named
//! exists, what is new fits. Only what the command is about is checked, not the whole state.

mod bodies;
mod groups;
mod regions;

use std::sync::Arc;

use super::check_bounds::{Check, FieldMisfit, Reason, truncate_for_message};
use super::command::Command;
use super::event::{Commanded, Created, Deleted, Renamed, Replaced, UniverseEvent};
use super::failure::Failure;
use super::id_name_color::{Id, Name};
use super::refusal::UniverseRefusal;
use super::snapshot::Snapshot;
use super::state::{SentState, Universe, UniverseState};
use super::wire_event::WireEvent;
use super::{UniverseCommand, apply_command};
use crate::limits;

/// The events of an accepted command in the wire format, or its failure.
type CommandResult = Result<Vec<WireEvent>, Failure>;

pub(super) fn decide(universe: &Universe, command: &UniverseCommand) -> Result<Vec<UniverseEvent>, UniverseRefusal> {
    let there = || if universe.about.is_some() { Ok(&universe.state) } else { Err(UniverseRefusal::UniverseNotFound) };
    let event = match command {
        UniverseCommand::Create { id, name, campaign_id, state } => {
            create(universe, id, name, campaign_id.as_deref(), state.as_ref())?
        }
        UniverseCommand::Apply(commands) => return decide_commands(there()?, commands),
        UniverseCommand::Rename { name } => {
            there()?;
            UniverseEvent::Renamed(Renamed { name: check_name(name)? })
        }
        UniverseCommand::Replace { name, state } => {
            there()?;
            let name = name.as_deref().map(check_name).transpose()?;
            let state = check_state(state.as_ref(), &universe.state)?;
            UniverseEvent::Replaced(Replaced { name, state })
        }
        UniverseCommand::Delete => {
            there()?;
            UniverseEvent::Deleted(Deleted {})
        }
    };
    Ok(vec![event])
}

fn create(
    universe: &Universe,
    id: &str,
    name: &str,
    campaign_id: Option<&str>,
    state: Option<&SentState>,
) -> Result<UniverseEvent, UniverseRefusal> {
    if let Some(about) = universe.identity() {
        return Err(UniverseRefusal::UniverseExists { id: about.id.clone() });
    }
    let identified =
        |field: &str, id: &str| Id::from(id).check().map_err(|misfit| UniverseRefusal::Field(misfit.in_field(field)));
    identified("id", id)?;
    // No URL could name it: clients resolve such path segments.
    if id == "." || id == ".." {
        let misfit = FieldMisfit::new(Reason::ForbiddenName, "is a way through folders, and no name");
        return Err(UniverseRefusal::Field(misfit.in_field("id")));
    }
    if let Some(campaign_id) = campaign_id {
        identified("campaignId", campaign_id)?;
    }
    let state = check_state(state, &UniverseState::default())?;
    Ok(UniverseEvent::Created(Created {
        id: id.to_owned(),
        name: check_name(name)?,
        campaign_id: campaign_id.map(str::to_owned),
        state,
    }))
}

fn check_name(name: &str) -> Result<String, UniverseRefusal> {
    let name = name.trim();
    let empty = || Err(FieldMisfit::new(Reason::ForbiddenName, "is required and must be a non-empty string"));
    let checked = if name.is_empty() { empty() } else { Name::from(name).check() };
    checked.map_err(|misfit| UniverseRefusal::Field(misfit.in_field("name")))?;
    Ok(name.to_owned())
}

/// The sent state, if it is within bounds and may replace the current one. Without a time it gets the current time.
fn check_state(sent: Option<&SentState>, now: &UniverseState) -> Result<Option<UniverseState>, UniverseRefusal> {
    let Some(sent) = sent else { return Ok(None) };
    let state = sent.to_state(now.time);
    let text = text_limit_problem(now.snapshot.text_bytes, state.snapshot.text_bytes);
    let room = text.map_or(Ok(()), |problem| Err(FieldMisfit::new(Reason::TooMany, problem)));
    state.check().and(room).map_err(|misfit| UniverseRefusal::Field(misfit.in_field("state")))?;
    Ok(Some(state))
}

/// Decides the commands in order, each against the state that the previous ones leave.
fn decide_commands(state: &UniverseState, commands: &[Arc<Command>]) -> Result<Vec<UniverseEvent>, UniverseRefusal> {
    if commands.is_empty() {
        return Err(UniverseRefusal::NoCommand);
    }
    if commands.len() > limits::COMMANDS_MAX {
        return Err(UniverseRefusal::TooManyCommands { count: commands.len() });
    }
    let mut state = state.clone();
    let mut events = Vec::with_capacity(commands.len());
    for (number, command) in commands.iter().enumerate() {
        let done = decide_command(&state, command)
            .and_then(|done| check_text_limit(&state, command).map(|()| done))
            .map_err(|failure| UniverseRefusal::Command { number: (commands.len() > 1).then_some(number), failure })?;
        if number + 1 < commands.len() {
            apply_command::apply(&mut state, command);
        }
        events.push(UniverseEvent::Commanded(Commanded { command: Arc::clone(command), events: done }));
    }
    Ok(events)
}

fn decide_command(state: &UniverseState, command: &Command) -> CommandResult {
    use Command as C;
    let snapshot = &state.snapshot;
    match command {
        C::Tick(tick) => self::tick(state, tick.seconds()),
        C::AddStar(command) => bodies::add(snapshot, command),
        C::UpdateStar(command) => bodies::update(snapshot, command),
        C::RemoveStar(command) => bodies::remove(snapshot, &command.id),
        C::AttachStar(command) => bodies::attach(snapshot, &command.child_id, &command.parent_id),
        C::DetachStar(command) => bodies::detach(snapshot, &command.child_id),
        C::UpdateRing(command) => bodies::update_ring(snapshot, command),
        C::RemoveRing(command) => bodies::remove_ring(snapshot, &command.planet_id),
        C::AddGroup(command) => groups::add(snapshot, command),
        C::UpdateGroup(command) => groups::update(snapshot, command),
        C::RemoveGroup(command) => groups::remove(snapshot, &command.id),
        C::AddToGroup(command) => groups::add_child(snapshot, &command.group_id, &command.child),
        C::RemoveFromGroup(command) => groups::remove_child(snapshot, &command.group_id, &command.child_id),
        C::MoveToGroup(command) => groups::move_child(snapshot, command),
        C::SetSmallBodyFields(command) => regions::set_fields(&command.fields),
        C::UpdateSmallBodyField(command) => regions::update_field(snapshot, command),
        C::RemoveSmallBodyField(command) => regions::remove_field(snapshot, &command.id),
        C::SetProtoplanetaryDisks(command) => regions::set_disks(&command.disks),
        C::AddProtoplanetaryDisk(command) => regions::add_disk(snapshot, &command.disk),
        C::UpdateProtoplanetaryDisk(command) => regions::update_disk(snapshot, command),
        C::RemoveProtoplanetaryDisk(command) => regions::remove_disk(snapshot, &command.id),
        C::SetNebulae(command) => regions::set_nebulae(&command.nebulae),
        C::UpdateNebula(command) => regions::update_nebula(snapshot, command),
        C::RemoveNebula(command) => regions::remove_nebula(snapshot, &command.id),
        C::ReplaceSnapshot(command) => replace(&command.snapshot),
    }
}

/// Refuses texts past the limit of a universe. A universe that is already past it may shrink but not grow.
fn check_text_limit(state: &UniverseState, command: &Command) -> Result<(), Failure> {
    let before = state.snapshot.text_bytes;
    if before + command.text_bytes_max() <= limits::UNIVERSE_TEXT_BYTES_MAX {
        return Ok(());
    }
    // The command may also remove text, so apply it to a copy and count what is left.
    let mut changed = state.clone();
    apply_command::apply(&mut changed, command);
    match text_limit_problem(before, changed.snapshot.text_bytes) {
        Some(problem) => {
            Err(Failure::command_failed(command.name(), Reason::TooMany, format!("the universe {problem}"))
                .with_pointer(String::new()))
        }
        None => Ok(()),
    }
}

fn text_limit_problem(before: usize, after: usize) -> Option<String> {
    let bytes_max = limits::UNIVERSE_TEXT_BYTES_MAX;
    (after > bytes_max && after > before).then(|| {
        format!(
            "would have {after} bytes of ids, names, colours and extensions, at most {bytes_max} are kept; it has {before} \
             now"
        )
    })
}

/// A tick has no events, as in the original.
fn tick(state: &UniverseState, dt: f64) -> CommandResult {
    if (state.time.0 + dt).is_finite() {
        return Ok(Vec::new());
    }
    let message = format!("{:e} seconds and {dt:e} more is beyond all time", state.time.0);
    Err(Failure::command_failed("tick", Reason::NotFinite, message).with_pointer("/dt".to_owned()))
}

fn replace(snapshot: &Snapshot) -> CommandResult {
    snapshot.check().map_err(|misfit| Failure::from_misfit("replaceSnapshot", &misfit.in_field("snapshot")))?;
    Ok(vec![WireEvent::SnapshotReplaced {}])
}

/// Refuses a link in a payload that differs from the current one. A new thing has no children.
fn check_link_unchanged(command: &str, is_same: bool, field: &str, id: &Id) -> Result<(), Failure> {
    if is_same {
        return Ok(());
    }
    let message = format!(
        "{field} of {:?} differs from what is there, and {command} does not change it",
        truncate_for_message(id)
    );
    let failure = Failure::command_failed(command, Reason::LinkChange, message);
    Err(failure.with_id(id).with_pointer(format!("/payload/{field}")))
}
