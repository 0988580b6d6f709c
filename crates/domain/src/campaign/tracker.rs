//! Trackers: named numbers that a game counts (hit points, Fear, a countdown), on an actor, a participant or the
//! campaign.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::state::CampaignState;
use crate::Moment;
use crate::case_insensitive_enum::case_insensitive_enum;
use crate::visibility::Visibility;

/// When a tracker moves by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TickMoment {
    SessionEnd,
    /// On every recorded roll with Fear.
    Fear,
}

case_insensitive_enum!(TickMoment {
    SessionEnd = "session_end",
    Fear = "fear"
});

/// What moves a tracker by itself, and by how much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrackerTick {
    pub on: TickMoment,
    pub by: i64,
}

/// A named number with its bounds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tracker {
    pub name: String,
    pub value: i64,
    pub min: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticks: Option<TrackerTick>,
    /// Who may see it; everybody if left out.
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>")]
    pub visible_to: Visibility,
}

impl Tracker {
    pub(super) fn has_name(&self, name: &str) -> bool {
        is_same_name(&self.name, name)
    }

    pub(super) fn text_bytes(&self) -> usize {
        self.name.len() + self.meaning.len()
    }

    /// The change by a number, within the bounds.
    pub(super) fn change_by(&self, owner: &TrackerOwner, by: i64) -> TrackerChange {
        let (from, wanted) = (self.value, self.value.saturating_add(by));
        let to = wanted.max(self.min).min(self.max.unwrap_or(i64::MAX));
        let bound = if by < 0 && to == self.min {
            Some(TrackerBound::Min)
        } else if by > 0 && Some(to) == self.max {
            Some(TrackerBound::Max)
        } else {
            None
        };
        let is_end = self.ticks.is_some_and(|tick| tick.by.signum() == by.signum());
        let reached = bound.map(|bound| if is_end { TrackerBound::End } else { bound });
        TrackerChange {
            owner: owner.clone(),
            name: self.name.clone(),
            by,
            from,
            to,
            reached,
            visible_to: self.visible_to.clone(),
        }
    }
}

/// The time of a change that everybody sees.
pub(super) fn public_time(visible_to: &Visibility, at: Moment) -> Option<Moment> {
    visible_to.is_table().then_some(at)
}

/// `HP 4/6`, or `Gold 12` without a maximum.
impl fmt::Display for Tracker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, self.value)?;
        self.max.map_or(Ok(()), |max| write!(formatter, "/{max}"))
    }
}

/// Names of trackers and traits are compared without regard to case.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    one.trim().to_lowercase() == other.trim().to_lowercase()
}

/// Where a tracker is. Without either id it is on the campaign.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrackerOwner {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub participant_id: Option<String>,
}

impl TrackerOwner {
    pub fn actor(id: &str) -> Self {
        Self { actor_id: Some(id.to_owned()), participant_id: None }
    }

    pub fn participant(id: &str) -> Self {
        Self { actor_id: None, participant_id: Some(id.to_owned()) }
    }

    pub fn campaign() -> Self {
        Self::default()
    }
}

/// Where a change led.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrackerBound {
    Min,
    Max,
    /// The bound towards which a tracker ticks: the countdown has run out, or the clock is full.
    End,
}

/// One change of one tracker. `from` plus `by` is `to`, unless a bound was in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TrackerChange {
    #[serde(flatten)]
    pub owner: TrackerOwner,
    pub name: String,
    pub by: i64,
    pub from: i64,
    pub to: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<TrackerBound>,
    /// Who may see it; everybody if left out.
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>")]
    pub visible_to: Visibility,
}

impl TrackerChange {
    /// As a line for people: `Mira: HP 6 to 4`. The campaign's own trackers have no owner's name.
    pub fn describe(&self, owner: Option<&str>) -> String {
        let owner = owner.map(|owner| format!("{owner}: ")).unwrap_or_default();
        let moved = if self.from == self.to {
            format!("{} stays at {}", self.name, self.to)
        } else {
            format!("{} {} to {}", self.name, self.from, self.to)
        };
        let reached = match self.reached {
            None => "",
            Some(TrackerBound::Min) => ", its minimum",
            Some(TrackerBound::Max) => ", its maximum",
            Some(TrackerBound::End) => ", its end",
        };
        format!("{owner}{moved}{reached}")
    }
}

/// A tracker as a command defines it. Fields that are `None` keep their value, or get a default if it is new.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TrackerDefinition {
    pub name: String,
    pub value: Option<i64>,
    pub min: Option<i64>,
    pub max: Option<i64>,
    pub meaning: Option<String>,
    pub ticks: Option<TickMoment>,
    /// By how much it ticks.
    pub step: Option<i64>,
}

/// Commands about one tracker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrackerCommand {
    Set {
        owner: TrackerOwner,
        definition: TrackerDefinition,
        reason: String,
    },
    Change {
        owner: TrackerOwner,
        name: String,
        by: i64,
        reason: String,
    },
    /// Damage against an actor's thresholds. `spends_armor` uses one Armor to lower the severity by one step.
    Damage {
        actor_id: String,
        damage: i64,
        spends_armor: bool,
        reason: String,
    },
    Remove {
        owner: TrackerOwner,
        name: String,
    },
}

impl CampaignState {
    /// The trackers of the campaign, an actor or a participant; none if it does not exist.
    pub fn trackers_of(&self, owner: &TrackerOwner) -> &[Tracker] {
        match (&owner.actor_id, &owner.participant_id) {
            (Some(id), _) => self.actors.get(id).map_or(&[], |actor| &actor.trackers),
            (None, Some(id)) => self.participants.get(id).map_or(&[], |participant| &participant.trackers),
            (None, None) => &self.trackers,
        }
    }

    /// A tracker by its name in any case.
    pub fn tracker(&self, owner: &TrackerOwner, name: &str) -> Option<&Tracker> {
        self.trackers_of(owner).iter().find(|tracker| tracker.has_name(name))
    }

    /// Every tracker: those of the campaign, of participants, of actors.
    pub fn all_trackers(&self) -> impl Iterator<Item = (TrackerOwner, &Tracker)> {
        let own = self.trackers.iter().map(|tracker| (TrackerOwner::campaign(), tracker));
        let participants = self.participants.oldest_first().flat_map(|participant| {
            participant.trackers.iter().map(|tracker| (TrackerOwner::participant(&participant.id), tracker))
        });
        let actors = self.actors.oldest_first();
        let actors =
            actors.flat_map(|actor| actor.trackers.iter().map(|tracker| (TrackerOwner::actor(&actor.id), tracker)));
        own.chain(participants).chain(actors)
    }

    pub(super) fn set_tracker_visibility(&mut self, owner: &TrackerOwner, name: &str, visible_to: &Visibility) {
        self.change_trackers(owner, None, |trackers| {
            if let Some(tracker) = trackers.iter_mut().find(|tracker| tracker.has_name(name)) {
                tracker.visible_to.clone_from(visible_to);
            }
        });
    }

    pub(super) fn put_tracker(&mut self, owner: &TrackerOwner, tracker: &Tracker, at: Moment) {
        self.change_trackers(owner, public_time(&tracker.visible_to, at), |trackers| {
            match trackers.iter_mut().find(|known| known.has_name(&tracker.name)) {
                Some(known) => known.clone_from(tracker),
                None => trackers.push(tracker.clone()),
            }
        });
    }

    pub(super) fn apply_tracker_change(&mut self, change: &TrackerChange, at: Moment) {
        self.change_trackers(&change.owner, public_time(&change.visible_to, at), |trackers| {
            if let Some(tracker) = trackers.iter_mut().find(|tracker| tracker.has_name(&change.name)) {
                tracker.value = change.to;
            }
        });
    }

    pub(super) fn remove_tracker(&mut self, owner: &TrackerOwner, name: &str, at: Option<Moment>) {
        self.change_trackers(owner, at, |trackers| trackers.retain(|tracker| !tracker.has_name(name)));
    }

    /// Without a time, the time of the owner's last change stays: that of a secret would tell of it.
    fn change_trackers(&mut self, owner: &TrackerOwner, at: Option<Moment>, change: impl FnOnce(&mut Vec<Tracker>)) {
        match (&owner.actor_id, &owner.participant_id) {
            (Some(id), _) => self.actors.change(id, |actor| {
                change(&mut actor.trackers);
                actor.updated_at = at.unwrap_or(actor.updated_at);
            }),
            (None, Some(id)) => self.participants.change(id, |participant| {
                change(&mut participant.trackers);
                participant.updated_at = at.unwrap_or(participant.updated_at);
            }),
            (None, None) => change(Arc::make_mut(&mut self.trackers)),
        }
    }
}
