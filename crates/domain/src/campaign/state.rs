//! The state of a campaign: what decisions need, and what is read most.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use super::actor_sheet::trait_text_bytes;
use super::entities::{Actor, Campaign, Participant, Session};
use super::insertion_ordered_map::{HasId, InsertionOrderedMap};
use super::secrets::CampaignSecret;
use super::spotlight::Spotlight;
use super::tracker::Tracker;

/// Empty until the campaign is created. Persistent maps make clones cheap and each command cost only its changes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CampaignState {
    pub(super) campaign: Option<Arc<Campaign>>,
    pub(super) participants: InsertionOrderedMap<Participant>,
    pub(super) actors: InsertionOrderedMap<Actor>,
    pub(super) sessions: InsertionOrderedMap<Session>,
    pub(super) active_session_id: Option<Arc<str>>,
    /// The notes that can be changed or removed. Their texts are in the events.
    #[serde(default)]
    pub(super) notes: OrdMap<Arc<str>, Arc<NoteOrigin>>,
    /// The number of the newest note.
    #[serde(default)]
    pub(super) last_note_number: u32,
    /// Creation time in microseconds, to sort lists of campaigns created in the same second.
    #[serde(default)]
    pub(super) created_micros: i64,
    /// Index of (participant, actor), to find a leaving participant's actors without a scan.
    pub(super) played: OrdSet<(Arc<str>, Arc<str>)>,
    /// The campaign's own; others are in the records of actors and participants.
    #[serde(default)]
    pub(super) trackers: Arc<Vec<Tracker>>,
    #[serde(default)]
    pub(super) spotlight: Spotlight,
    /// What is or was visible to some alone.
    #[serde(default)]
    pub(super) secrets: OrdMap<Arc<str>, Arc<CampaignSecret>>,
}

/// Where a note is, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteOrigin {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The principal that wrote it.
    pub by: String,
    /// Counts the notes of the campaign, those that were removed too.
    #[serde(default)]
    pub number: u32,
}

impl CampaignState {
    pub fn campaign(&self) -> Option<&Campaign> {
        self.campaign.as_deref()
    }

    pub fn created_micros(&self) -> i64 {
        self.created_micros
    }

    pub fn participants(&self) -> &InsertionOrderedMap<Participant> {
        &self.participants
    }

    pub fn actors(&self) -> &InsertionOrderedMap<Actor> {
        &self.actors
    }

    pub fn sessions(&self) -> &InsertionOrderedMap<Session> {
        &self.sessions
    }

    pub fn note_origin(&self, note_id: &str) -> Option<&NoteOrigin> {
        self.notes.get(note_id).map(|origin| &**origin)
    }

    pub fn last_note_number(&self) -> u32 {
        self.last_note_number
    }

    /// The ids of the notes with these numbers.
    pub fn note_ids(&self, numbers: &BTreeSet<u32>) -> BTreeMap<u32, &str> {
        let notes = self.notes.iter().filter(|(_, origin)| numbers.contains(&origin.number));
        notes.map(|(id, origin)| (origin.number, &**id)).collect()
    }

    pub fn active_session(&self) -> Option<&Session> {
        self.sessions.get(self.active_session_id.as_deref()?)
    }

    /// Who is up in the active session.
    pub fn spotlight(&self) -> &Spotlight {
        &self.spotlight
    }

    /// Bytes of its texts: its name and theme, names of participants and sessions, names and notes of actors, trackers
    /// and traits.
    pub fn text_bytes(&self) -> usize {
        let own = self.campaign().map_or(0, |campaign| campaign.name.len() + campaign.theme_prompt.len());
        let own = own + tracker_text_bytes(&self.trackers);
        own + self.participants.text_bytes() + self.actors.text_bytes() + self.sessions.text_bytes()
    }

    /// The participants among these ids, and those who play an actor among them.
    pub fn participants_among(&self, ids: &BTreeSet<String>) -> BTreeSet<String> {
        let participant = |id: &String| {
            if self.participants.contains(id) {
                return Some(id.clone());
            }
            self.actors.get(id)?.controller.as_ref()?.participant_id().map(str::to_owned)
        };
        ids.iter().filter_map(participant).collect()
    }

    /// The ids of the actors that a participant plays, in order.
    pub fn actor_ids_played_by<'a>(&'a self, participant_id: &'a str) -> impl Iterator<Item = &'a str> {
        let first: (Arc<str>, Arc<str>) = (participant_id.into(), "".into());
        let pairs = self.played.range(first..).take_while(move |(player, _)| **player == *participant_id);
        pairs.map(|(_, actor)| actor.as_ref())
    }
}

fn tracker_text_bytes(trackers: &[Tracker]) -> usize {
    trackers.iter().map(Tracker::text_bytes).sum()
}

impl HasId for Participant {
    fn id(&self) -> &str {
        &self.id
    }

    fn text_bytes(&self) -> usize {
        self.display_name.len() + tracker_text_bytes(&self.trackers)
    }
}

impl HasId for Actor {
    fn id(&self) -> &str {
        &self.id
    }

    fn text_bytes(&self) -> usize {
        self.name.len() + self.notes.len() + tracker_text_bytes(&self.trackers) + trait_text_bytes(&self.traits)
    }
}

impl HasId for Session {
    fn id(&self) -> &str {
        &self.id
    }

    fn text_bytes(&self) -> usize {
        self.name.len()
    }
}
