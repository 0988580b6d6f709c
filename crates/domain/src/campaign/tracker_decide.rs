//! Decides what changes trackers: commands, damage against thresholds, the end of a session, and the outcome of a roll.

use super::actor_sheet::GameTemplate;
use super::decide::{CampaignDecision, SingleDecision, check_length, check_name, check_text_limit};
use super::entities::{Actor, ActorKind};
use super::event::CampaignEvent;
use super::refusal::{CampaignAction, CampaignRefusal};
use super::roll::RecordedRoll;
use super::spotlight::GAME_MASTER;
use super::state::CampaignState;
use super::tracker::{
    TickMoment, Tracker, TrackerChange, TrackerCommand, TrackerDefinition, TrackerOwner, TrackerTick,
};
use crate::Moment;
use crate::decider::DecisionContext;
use crate::dice::{Outcome, RollMode};
use crate::limits;
use crate::visibility::Visibility;

pub(super) const HP: &str = "HP";
pub(super) const STRESS: &str = "Stress";
pub(super) const HOPE: &str = "Hope";
pub(super) const ARMOR: &str = "Armor";
pub(super) const FEAR: &str = "Fear";

pub(super) fn decide_tracker(state: &CampaignState, command: &TrackerCommand) -> CampaignDecision {
    state.check_status(CampaignAction::Change)?;
    let event = match command {
        TrackerCommand::Set { owner, definition, reason } => set_tracker(state, owner, definition, reason)?,
        TrackerCommand::Change { owner, name, by, reason } => {
            let owner = find_owner(state, owner)?;
            check_number("by", *by)?;
            let change = find_tracker(state, &owner, name)?.change_by(&owner, *by);
            changed_event(state, change, check_reason(reason)?)
        }
        TrackerCommand::Damage { actor_id, damage, spends_armor, reason } => {
            return take_damage(state, actor_id, *damage, *spends_armor, reason);
        }
        TrackerCommand::Remove { owner, name } => {
            let owner = find_owner(state, owner)?;
            let Tracker { name, value, visible_to, .. } = find_tracker(state, &owner, name)?.clone();
            CampaignEvent::TrackerRemoved { owner, name, value, visible_to }
        }
    };
    Ok(vec![event])
}

fn set_tracker(
    state: &CampaignState,
    owner: &TrackerOwner,
    definition: &TrackerDefinition,
    reason: &str,
) -> SingleDecision {
    let (owner, reason) = (find_owner(state, owner)?, check_reason(reason)?);
    let known = state.tracker(&owner, &definition.name);
    let mut tracker = define_tracker(known, definition)?;
    tracker.visible_to = state.tracker_visibility(&owner, &tracker.name);
    check_tracker_count(state.trackers_of(&owner).len() + usize::from(known.is_none()))?;
    check_text_limit(state, (known.map_or(0, Tracker::text_bytes), tracker.text_bytes()))?;
    let session_id = state.active_session().map(|session| session.id.clone());
    Ok(CampaignEvent::TrackerSet { owner, from: known.map(|known| known.value), tracker, reason, session_id })
}

pub(super) fn check_tracker_count(count: usize) -> Result<(), CampaignRefusal> {
    if count > limits::TRACKERS_MAX {
        return Err(CampaignRefusal::TooManyOnOne { things: "trackers", count_max: limits::TRACKERS_MAX });
    }
    Ok(())
}

/// The tracker that a definition makes of a known one, which keeps its spelling, or a new one. A new tracker starts
/// full if it has a maximum, and empty if it counts up.
pub(super) fn define_tracker(
    known: Option<&Tracker>,
    definition: &TrackerDefinition,
) -> Result<Tracker, CampaignRefusal> {
    let given =
        [("value", definition.value), ("min", definition.min), ("max", definition.max), ("step", definition.step)];
    for (field, number) in given {
        check_number(field, number.unwrap_or_default())?;
    }
    let name = check_name("name", &definition.name)?;
    let name = known.map_or(name, |known| known.name.clone());
    let min = definition.min.or(known.map(|known| known.min)).unwrap_or(0);
    let max = definition.max.or(known.and_then(|known| known.max));
    if let Some(max) = max.filter(|max| *max < min) {
        return Err(CampaignRefusal::TrackerBoundsCrossed { name, min, max });
    }
    let meaning = match &definition.meaning {
        Some(meaning) => check_length("meaning", meaning.trim(), limits::TRACKER_TEXT_CHARS_MAX)?,
        None => known.map(|known| known.meaning.clone()).unwrap_or_default(),
    };
    let ticks = define_ticks(known, definition)?;
    let counts_up = ticks.is_some_and(|tick| tick.by > 0);
    let start = if counts_up { min } else { max.unwrap_or(min) };
    let value = definition.value.or(known.map(|known| known.value)).unwrap_or(start);
    if value < min || max.is_some_and(|max| value > max) {
        return Err(CampaignRefusal::TrackerOutOfBounds { name, value, min, max });
    }
    let visible_to = known.map(|known| known.visible_to.clone()).unwrap_or_default();
    Ok(Tracker { name, value, min, max, meaning, ticks, visible_to })
}

fn define_ticks(
    known: Option<&Tracker>,
    definition: &TrackerDefinition,
) -> Result<Option<TrackerTick>, CampaignRefusal> {
    let before = known.and_then(|known| known.ticks);
    let Some(on) = definition.ticks.or(before.map(|tick| tick.on)) else {
        return match definition.step {
            Some(step) => Err(CampaignRefusal::StepWithoutTicks { step }),
            None => Ok(None),
        };
    };
    match definition.step.or(before.map(|tick| tick.by)).unwrap_or(-1) {
        0 => Err(CampaignRefusal::StepWithoutTicks { step: 0 }),
        by => Ok(Some(TrackerTick { on, by })),
    }
}

/// Damage by the thresholds of an actor: below major one HP, from major two, from severe three.
fn take_damage(
    state: &CampaignState,
    actor_id: &str,
    damage: i64,
    spends_armor: bool,
    reason: &str,
) -> CampaignDecision {
    let actor = state.find_actor(actor_id)?;
    let owner = TrackerOwner::actor(&actor.id);
    check_number("damage", damage)?;
    if damage < 1 {
        return Err(CampaignRefusal::DamageTooSmall { damage });
    }
    let Some(thresholds) = actor.thresholds() else {
        return Err(CampaignRefusal::NoThresholds { actor_id: actor.id.clone() });
    };
    let hp = find_tracker(state, &owner, HP)?;
    let marked = thresholds.hit_points(damage);
    let armor = if spends_armor {
        let armor = find_tracker(state, &owner, ARMOR)?;
        if armor.value <= armor.min {
            return Err(CampaignRefusal::ArmorSpent { actor_id: actor.id.clone() });
        }
        Some(armor.change_by(&owner, -1))
    } else {
        None
    };
    let lost = marked - i64::from(armor.is_some());
    let severity = ["none", "minor", "major", "severe"][usize::try_from(lost).unwrap_or_default().min(3)];
    let description = format!("{damage} damage against {thresholds}: {severity}");
    let reason = check_reason(reason)?;
    let reason = if reason.is_empty() { description } else { format!("{reason} ({description})") };
    let hit = (lost > 0).then(|| hp.change_by(&owner, -lost));
    let changes = armor.into_iter().chain(hit);
    Ok(changes.map(|change| changed_event(state, change, reason.clone())).collect())
}

/// The trackers that tick when a session ends, then its end, so that they still belong to the session.
pub(super) fn add_session_ticks(state: &CampaignState, ended: CampaignEvent) -> Vec<CampaignEvent> {
    let ticks = tick_changes(state, TickMoment::SessionEnd);
    let ticks = ticks.into_iter().map(|change| changed_event(state, change, "the session ended".to_owned()));
    ticks.chain([ended]).collect()
}

/// Trackers that are at their end do not tick.
fn tick_changes(state: &CampaignState, on: TickMoment) -> Vec<TrackerChange> {
    let ticking = state.all_trackers().filter_map(|(owner, tracker)| {
        let tick = tracker.ticks.filter(|tick| tick.on == on)?;
        Some(tracker.change_by(&owner, tick.by))
    });
    ticking.filter(|change| change.from != change.to).collect()
}

/// Adds what the rules say of a roll's outcome: Hope, Fear and Stress with the Daggerheart template, and ticks.
pub(super) fn add_roll_effects(
    state: &CampaignState,
    recorded: CampaignEvent,
    given: &DecisionContext,
) -> Vec<CampaignEvent> {
    let CampaignEvent::RollRecorded(mut roll) = recorded else { return vec![recorded] };
    roll.changes.clear();
    if !has_effects(&roll) {
        return vec![CampaignEvent::RollRecorded(roll)];
    }
    let actor = roll.actor_id.as_deref().and_then(|id| state.actors.get(id));
    let plays_by_rules = match actor {
        Some(actor) => is_daggerheart_character(actor),
        None => roll.actor_id.is_none() && state.actors.oldest_first().any(is_daggerheart_character),
    };
    let (mut after, mut is_game_masters_turn) = (state.clone(), false);
    for outcome in roll.outcomes() {
        let mut changes = Vec::new();
        if plays_by_rules {
            changes.extend(outcome_changes(&after, roll.actor_id.as_deref(), outcome));
        }
        if is_with_fear(outcome) {
            changes.extend(tick_changes(&after, TickMoment::Fear));
        }
        // Whoever may not see the roll must not read its outcome off a tracker.
        if !roll.visible_to.is_table() {
            changes.retain(|change| change.visible_to == Visibility::GameMasters);
        }
        for change in &changes {
            after.apply_tracker_change(change, Moment::from(given.at));
        }
        is_game_masters_turn = plays_by_rules && is_with_fear(outcome) && roll.visible_to.is_table();
        roll.changes.extend(changes);
    }
    let passed = match (&roll.session_id, is_game_masters_turn) {
        (Some(session_id), true) => Some(CampaignEvent::SpotlightSet {
            session_id: session_id.clone(),
            scene: None,
            up: Some(GAME_MASTER.to_owned()),
        }),
        _ => None,
    };
    [CampaignEvent::RollRecorded(roll)].into_iter().chain(passed).collect()
}

/// A replay repeats a roll whose effects were applied. `apply` in the input switches them off.
fn has_effects(roll: &RecordedRoll) -> bool {
    let is_replay = roll.rng.as_ref().is_some_and(|rng| rng.roll_mode == RollMode::Replay);
    !is_replay && !roll.reaction && roll.input.get("apply").and_then(serde_json::Value::as_bool) != Some(false)
}

fn is_daggerheart_character(actor: &Actor) -> bool {
    actor.kind == ActorKind::Pc && actor.template == Some(GameTemplate::Daggerheart)
}

fn is_with_fear(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::RollWithFear | Outcome::SuccessWithFear | Outcome::FailureWithFear)
}

fn outcome_changes(state: &CampaignState, actor_id: Option<&str>, outcome: Outcome) -> Vec<TrackerChange> {
    let moved: &[(&str, i64)] = match outcome {
        Outcome::CriticalSuccess => &[(HOPE, 1), (STRESS, -1)],
        Outcome::RollWithHope | Outcome::SuccessWithHope | Outcome::FailureWithHope => &[(HOPE, 1)],
        Outcome::RollWithFear | Outcome::SuccessWithFear | Outcome::FailureWithFear => &[(FEAR, 1)],
    };
    let owner_of = |name: &str| match actor_id {
        _ if name == FEAR => Some(TrackerOwner::campaign()),
        id => id.map(TrackerOwner::actor),
    };
    let changes = moved.iter().filter_map(|(name, by)| {
        let owner = owner_of(name)?;
        Some(state.tracker(&owner, name)?.change_by(&owner, *by))
    });
    // A character without Stress has none to clear; Hope and Fear at their maximum are told as capped.
    changes.filter(|change| change.from != change.to || change.by > 0).collect()
}

fn changed_event(state: &CampaignState, change: TrackerChange, reason: String) -> CampaignEvent {
    let session_id = state.active_session().map(|session| session.id.clone());
    CampaignEvent::TrackerChanged { change, reason, session_id }
}

fn check_reason(reason: &str) -> Result<String, CampaignRefusal> {
    check_length("reason", reason.trim(), limits::TRACKER_TEXT_CHARS_MAX)
}

fn check_number(field: &'static str, number: i64) -> Result<(), CampaignRefusal> {
    if number.unsigned_abs() > limits::TRACKER_VALUE_MAX {
        return Err(CampaignRefusal::NumberTooLarge { field, number, number_max: limits::TRACKER_VALUE_MAX });
    }
    Ok(())
}

/// The owner with its ids as they are stored.
fn find_owner(state: &CampaignState, owner: &TrackerOwner) -> Result<TrackerOwner, CampaignRefusal> {
    match (&owner.actor_id, &owner.participant_id) {
        (Some(_), Some(_)) => Err(CampaignRefusal::TrackerOwnedTwice),
        (Some(id), None) => state.find_actor(id).map(|actor| TrackerOwner::actor(&actor.id)),
        (None, Some(id)) => {
            let participant = state.find_participant("participant_id", id)?;
            Ok(TrackerOwner::participant(&participant.id))
        }
        (None, None) => Ok(TrackerOwner::campaign()),
    }
}

fn find_tracker<'a>(
    state: &'a CampaignState,
    owner: &TrackerOwner,
    name: &str,
) -> Result<&'a Tracker, CampaignRefusal> {
    let known = || state.trackers_of(owner).iter().map(|tracker| tracker.name.clone()).collect();
    let missing = || CampaignRefusal::TrackerNotFound { name: name.trim().to_owned(), known: known() };
    state.tracker(owner, name).ok_or_else(missing)
}
