//! Trackers and the spotlight as lines of text, for answers, `campaign_read` and prompts.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::campaign::{CampaignEvent, CampaignState, People, Tracker, TrackerOwner};

use super::people_names::{owner_name, spotlight_name};
use crate::redaction::Redaction;

/// The most actors and participants whose trackers are listed.
const OWNERS_LISTED_MAX: usize = 50;

/// What events changed, as far as it may be seen, a line for each change: `Mira: HP 6 to 4`.
pub(super) fn change_lines(events: &[CampaignEvent], seen: &Redaction, state: &CampaignState) -> Vec<String> {
    describe_changes(&seen.redact_events(state, None, events), &seen.redact_people(state))
}

/// The lines of events that are redacted already.
pub(super) fn describe_changes(events: &[CampaignEvent], people: &dyn People) -> Vec<String> {
    let of = |owner: &TrackerOwner| owner_name(people, owner);
    let prefix = |owner: &TrackerOwner| of(owner).map(|name| format!("{name}: ")).unwrap_or_default();
    let mut lines = Vec::new();
    for event in events {
        match event {
            CampaignEvent::TrackerChanged { change, .. } => lines.push(change.describe(of(&change.owner).as_deref())),
            CampaignEvent::RollRecorded(roll) => {
                lines.extend(roll.changes.iter().map(|change| change.describe(of(&change.owner).as_deref())));
            }
            CampaignEvent::TrackerSet { owner, tracker, from: Some(from), .. } if *from != tracker.value => {
                lines.push(format!("{}{} {from} to {}", prefix(owner), tracker.name, tracker.value));
            }
            CampaignEvent::TrackerSet { owner, tracker, .. } => lines.push(format!("{}{tracker}", prefix(owner))),
            CampaignEvent::TrackerRemoved { owner, name, value, .. } => {
                lines.push(format!("{}{name} removed, it was {value}", prefix(owner)));
            }
            _ => {}
        }
    }
    lines
}

/// Trackers in one line: `HP 4/6, Stress 1/6`.
pub(super) fn join_trackers(trackers: &[Tracker]) -> String {
    trackers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// All trackers, a line for the campaign and for each participant and actor who has some: `Mira: HP 4/6, Hope 3/6`.
pub(super) fn tracker_lines(state: &CampaignState, seen: &Redaction) -> Vec<String> {
    let people = seen.redact_people(state);
    let own = seen.redact_trackers(state.trackers_of(&TrackerOwner::campaign()));
    let own = (!own.is_empty()).then(|| join_trackers(&own));
    let line = |name: &str, trackers: &[Tracker]| {
        (!trackers.is_empty()).then(|| format!("{name}: {}", join_trackers(trackers)))
    };
    let participants =
        people.participants().filter_map(|participant| line(&participant.display_name, &participant.trackers));
    let actors = people.actors().filter_map(|actor| line(&actor.name, &actor.trackers));
    own.into_iter().chain(participants.chain(actors).take(OWNERS_LISTED_MAX)).collect()
}

/// The spotlight by names.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct SpotlightView {
    #[serde(skip_serializing_if = "Option::is_none")]
    scene: Option<String>,
    /// GM, or an actor's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
}

impl SpotlightView {
    /// `None` outside of a session, and before anybody was up.
    pub(super) fn from_state(state: &CampaignState, people: &dyn People) -> Option<Self> {
        let spotlight = state.spotlight();
        (!spotlight.is_empty()).then(|| Self {
            scene: spotlight.scene.clone(),
            up: spotlight_name(people, spotlight.up.as_ref()),
            last: spotlight_name(people, spotlight.last.as_ref()),
        })
    }

    /// For a prompt: `The scene is "The bridge". Mira is up, Thorin was last.`
    pub(super) fn describe(&self) -> String {
        let scene = self.scene.as_ref().map(|scene| format!("The scene is \"{scene}\"."));
        let last = self.last.as_ref().map(|last| format!(", {last} was last")).unwrap_or_default();
        let up = self.up.as_ref().map(|up| format!("{up} is up{last}."));
        scene.into_iter().chain(up).collect::<Vec<_>>().join(" ")
    }
}
