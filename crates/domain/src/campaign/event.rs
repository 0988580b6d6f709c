//! Events of a campaign. Their shapes are stable: each has a golden file that must always decode.
//!
//! - The type names the version. A field may be added if it can be left out; any other change is a new version, and the
//!   old one still decodes.
//! - Only the creation names the campaign, so that a copy of the first events of one campaign is the start of another.
//! - The time and the principal are in the journal's record, next to the events of one command.
//! - A removal repeats the name of what it removes, so that a history can be read without earlier events.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor_sheet::{GameTemplate, TraitValue};
use super::entities::{ActorController, ActorKind, Controller, GmMode, Role};
use super::roll::RecordedRoll;
use super::secrets::SecretSubject;
use super::tracker::{Tracker, TrackerChange, TrackerOwner};
use crate::visibility::Visibility;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
pub enum CampaignEvent {
    #[serde(rename = "campaign.created.v1")]
    CampaignCreated { id: String, name: String, gm_mode: GmMode, theme_prompt: String },
    #[serde(rename = "campaign.updated.v1")]
    CampaignUpdated {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        gm_mode: Option<GmMode>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        theme_prompt: Option<String>,
    },
    /// The first session of a draft makes it a campaign that is played.
    #[serde(rename = "campaign.activated.v1")]
    CampaignActivated {},
    #[serde(rename = "campaign.completed.v1")]
    CampaignCompleted {},
    #[serde(rename = "campaign.archived.v1")]
    CampaignArchived {},
    #[serde(rename = "campaign.restored.v1")]
    CampaignRestored {},
    #[serde(rename = "participant.added.v1")]
    ParticipantAdded { participant_id: String, display_name: String, role: Role, controller: Controller },
    #[serde(rename = "participant.updated.v1")]
    ParticipantUpdated {
        participant_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<Role>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        controller: Option<Controller>,
    },
    #[serde(rename = "participant.removed.v1")]
    ParticipantRemoved {
        participant_id: String,
        display_name: String,
        /// The actors that nobody plays any more.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        released_actor_ids: Vec<String>,
    },
    #[serde(rename = "actor.added.v1")]
    ActorAdded {
        actor_id: String,
        name: String,
        kind: ActorKind,
        notes: String,
        /// Who may see the notes; everybody if left out. So are all visibilities here.
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        notes_visible_to: Visibility,
    },
    #[serde(rename = "actor.updated.v1")]
    ActorUpdated {
        actor_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ActorKind>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        notes: Option<String>,
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        notes_visible_to: Visibility,
    },
    #[serde(rename = "actor.removed.v1")]
    ActorRemoved { actor_id: String, name: String },
    #[serde(rename = "actor.control_set.v1")]
    ActorControlSet { actor_id: String, controller: ActorController },
    #[serde(rename = "session.started.v1")]
    SessionStarted { session_id: String, name: String },
    #[serde(rename = "session.ended.v1")]
    SessionEnded { session_id: String },
    #[serde(rename = "note.added.v1")]
    NoteAdded {
        note_id: String,
        /// Absent for a note that belongs to no session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<String>,
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
    },
    #[serde(rename = "note.changed.v1")]
    NoteChanged {
        note_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// All tags of the note from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tags: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
    },
    #[serde(rename = "note.removed.v1")]
    NoteRemoved {
        note_id: String,
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
    },
    #[serde(rename = "roll.recorded.v1")]
    RollRecorded(Box<RecordedRoll>),
    #[serde(rename = "actor.sheet_set.v1")]
    ActorSheetSet {
        actor_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        template: Option<GameTemplate>,
        /// A trait that is null was removed.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        traits: BTreeMap<String, Option<TraitValue>>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        trackers: Vec<Tracker>,
    },
    /// A tracker was added, or its definition was replaced.
    #[serde(rename = "tracker.set.v1")]
    TrackerSet {
        #[serde(flatten)]
        owner: TrackerOwner,
        tracker: Tracker,
        /// The value before; left out for a new tracker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<i64>,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    #[serde(rename = "tracker.changed.v1")]
    TrackerChanged {
        #[serde(flatten)]
        change: TrackerChange,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    #[serde(rename = "tracker.removed.v1")]
    TrackerRemoved {
        #[serde(flatten)]
        owner: TrackerOwner,
        name: String,
        value: i64,
        #[serde(default, skip_serializing_if = "Visibility::is_table")]
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
    },
    /// Something was revealed or hidden.
    #[serde(rename = "visibility.changed.v1")]
    VisibilityChanged {
        of: SecretSubject,
        #[schemars(with = "Vec<String>")]
        visible_to: Visibility,
        /// Who could see it before.
        #[schemars(with = "Vec<String>")]
        was: Visibility,
        /// The session that was going on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    /// A scene began, or somebody is up. `up` is GM or an actor's id.
    #[serde(rename = "spotlight.set.v1")]
    SpotlightSet {
        session_id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scene: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        up: Option<String>,
    },
}

impl CampaignEvent {
    /// Whether it belongs to the course of play and changes nothing that a list of campaigns shows.
    pub fn is_play(&self) -> bool {
        matches!(
            self,
            Self::NoteAdded { .. }
                | Self::NoteChanged { .. }
                | Self::NoteRemoved { .. }
                | Self::RollRecorded(_)
                | Self::TrackerSet { .. }
                | Self::TrackerChanged { .. }
                | Self::TrackerRemoved { .. }
                | Self::SpotlightSet { .. }
                | Self::VisibilityChanged { .. }
        )
    }
}

macro_rules! kinds {
    ($($variant:ident = $kind:literal),+ $(,)?) => {
        impl CampaignEvent {
            /// The types of all events that are written today.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The type under which the event is stored.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant { .. } => $kind),+ }
            }
        }
    };
}

kinds! {
    CampaignCreated = "campaign.created.v1",
    CampaignUpdated = "campaign.updated.v1",
    CampaignActivated = "campaign.activated.v1",
    CampaignCompleted = "campaign.completed.v1",
    CampaignArchived = "campaign.archived.v1",
    CampaignRestored = "campaign.restored.v1",
    ParticipantAdded = "participant.added.v1",
    ParticipantUpdated = "participant.updated.v1",
    ParticipantRemoved = "participant.removed.v1",
    ActorAdded = "actor.added.v1",
    ActorUpdated = "actor.updated.v1",
    ActorRemoved = "actor.removed.v1",
    ActorControlSet = "actor.control_set.v1",
    SessionStarted = "session.started.v1",
    SessionEnded = "session.ended.v1",
    NoteAdded = "note.added.v1",
    NoteChanged = "note.changed.v1",
    NoteRemoved = "note.removed.v1",
    RollRecorded = "roll.recorded.v1",
    ActorSheetSet = "actor.sheet_set.v1",
    TrackerSet = "tracker.set.v1",
    TrackerChanged = "tracker.changed.v1",
    TrackerRemoved = "tracker.removed.v1",
    VisibilityChanged = "visibility.changed.v1",
    SpotlightSet = "spotlight.set.v1",
}
