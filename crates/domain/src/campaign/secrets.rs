//! Secrets of a campaign: notes, notes of actors, trackers and rolls that not everybody at the table may see.
//!
//! An event says who might see it when it was written; the state knows who may see it now, and who could since when.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command::CampaignCommand;
use super::decide::{CampaignDecision, SingleDecision};
use super::event::CampaignEvent;
use super::refusal::{CampaignAction, CampaignRefusal};
use super::state::CampaignState;
use super::tracker::TrackerOwner;
use crate::decider::DecisionContext;
use crate::limits;
use crate::visibility::{Viewer, Visibility, VisibilityStep};

/// Tags that make a new note a secret of the game masters, unless it says who sees it.
const SECRET_TAGS: [&str; 4] = ["gm", "gm only", "gm-only", "secret"];

/// Something of a campaign that has a visibility.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SecretSubject {
    Note {
        note_id: String,
    },
    Roll {
        roll_id: String,
        /// The session of the roll.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<String>,
    },
    ActorNotes {
        actor_id: String,
    },
    Tracker {
        #[serde(flatten)]
        owner: TrackerOwner,
        name: String,
    },
    /// A private entity of the lore.
    Entity {
        entity_id: u64,
        /// When it was created: another entity may get its number.
        created_micros: i64,
    },
    /// A private post of an entity of the lore.
    Post {
        post_id: u64,
        created_micros: i64,
    },
}

impl SecretSubject {
    pub fn note(note_id: &str) -> Self {
        Self::Note { note_id: note_id.to_owned() }
    }

    pub fn actor_notes(actor_id: &str) -> Self {
        Self::ActorNotes { actor_id: actor_id.to_owned() }
    }

    pub fn tracker(owner: &TrackerOwner, name: &str) -> Self {
        Self::Tracker { owner: owner.clone(), name: name.to_owned() }
    }

    fn key(&self) -> String {
        match self {
            Self::Note { note_id } => format!("note/{note_id}"),
            Self::Roll { roll_id, .. } => format!("roll/{roll_id}"),
            Self::ActorNotes { actor_id } => format!("actor_notes/{actor_id}"),
            Self::Entity { entity_id, created_micros } => format!("entity/{entity_id}/{created_micros}"),
            Self::Post { post_id, created_micros } => format!("post/{post_id}/{created_micros}"),
            Self::Tracker { owner: TrackerOwner { actor_id, participant_id }, name } => {
                let owner = actor_id.as_deref().or(participant_id.as_deref()).unwrap_or_default();
                format!("tracker/{owner}/{}", name.trim().to_lowercase())
            }
        }
    }
}

/// Something that is or was a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CampaignSecret {
    pub of: SecretSubject,
    /// The session that it belongs to.
    pub session_id: Option<String>,
    pub is_removed: bool,
    /// Who could see it since when, the oldest first; the last one holds now.
    pub steps: Vec<VisibilityStep>,
    /// When its text and tags were written that hold now.
    written: WrittenMoments,
    /// For each step what it was about: what is replaced before a reveal is not revealed.
    written_at_steps: Vec<WrittenAtStep>,
}

/// When the text and the tags of a secret were written, in microseconds. `None` before it was a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
struct WrittenMoments {
    text: Option<i64>,
    tags: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct WrittenAtStep {
    at_micros: i64,
    written: WrittenMoments,
}

/// A part of a secret that is replaced alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecretPart {
    /// The text of a note, the notes of an actor, or what a tracker means.
    Text,
    /// The tags of a note.
    Tags,
}

impl WrittenMoments {
    fn part(&mut self, part: SecretPart) -> &mut Option<i64> {
        match part {
            SecretPart::Text => &mut self.text,
            SecretPart::Tags => &mut self.tags,
        }
    }
}

impl CampaignSecret {
    pub fn visible_to(&self) -> &Visibility {
        self.steps.last().map_or(&Visibility::Table, |step| &step.visible_to)
    }

    /// Whether a viewer could see what was written at a moment before it was replaced.
    pub fn was_shown(&self, viewer: &Viewer, part: SecretPart, written_at: Timestamp) -> bool {
        let written_at = Some(written_at.as_microsecond());
        let mut steps = self.steps.iter().zip(&self.written_at_steps);
        steps.any(|(step, at_step)| {
            let mut written = at_step.written;
            *written.part(part) == written_at && step.visible_to.is_visible_to(viewer)
        })
    }

    fn record_written(&mut self, part: SecretPart, at: Timestamp) {
        let at = at.as_microsecond();
        *self.written.part(part) = Some(at);
        // One command may reveal first and write then: nobody was shown what stood there between the two.
        if let Some(step) = self.written_at_steps.last_mut().filter(|step| step.at_micros == at) {
            *step.written.part(part) = Some(at);
        }
    }
}

/// Who may see a new note with these tags.
pub(super) fn visibility_by_tags(tags: &[String]) -> Visibility {
    let is_secret = |tag: &String| SECRET_TAGS.contains(&tag.to_lowercase().as_str());
    if tags.iter().any(is_secret) { Visibility::GameMasters } else { Visibility::Table }
}

/// Decides a command and says who may see what it writes.
pub(super) fn decide_with_visibility(
    state: &CampaignState,
    visible_to: &Visibility,
    command: &CampaignCommand,
    given: &DecisionContext,
) -> CampaignDecision {
    let mut events = super::decide::decide(state, command, given)?;
    check_people(state, visible_to)?;
    for event in &mut events {
        match event {
            CampaignEvent::NoteAdded { visible_to: own, .. }
            | CampaignEvent::ActorAdded { notes_visible_to: own, .. } => own.clone_from(visible_to),
            CampaignEvent::TrackerSet { tracker, .. } => tracker.visible_to.clone_from(visible_to),
            _ => {}
        }
    }
    Ok(events)
}

/// A new visibility of something that is there. The caller has made sure that a roll is: the state knows none.
pub(super) fn change_visibility(state: &CampaignState, of: &SecretSubject, visible_to: &Visibility) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    check_people(state, visible_to)?;
    match of {
        SecretSubject::Note { note_id } if !state.notes.contains_key(note_id.as_str()) => {
            return Err(CampaignRefusal::NoteNotFound { note_id: note_id.clone() });
        }
        SecretSubject::ActorNotes { actor_id } => drop(state.find_actor(actor_id)?),
        SecretSubject::Tracker { owner, name } if state.tracker(owner, name).is_none() => {
            return Err(CampaignRefusal::TrackerNotFound { name: name.clone(), known: Vec::new() });
        }
        _ => {}
    }
    if state.visibility_of(of) == *visible_to {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["who"] });
    }
    Ok(CampaignEvent::VisibilityChanged {
        of: of.clone(),
        visible_to: visible_to.clone(),
        was: state.visibility_of(of),
        session_id: state.active_session().map(|session| session.id.clone()),
    })
}

/// Refuses people who are neither participants nor actors of the campaign.
pub(super) fn check_people(state: &CampaignState, visible_to: &Visibility) -> Result<(), CampaignRefusal> {
    let Visibility::People(ids) = visible_to else { return Ok(()) };
    if ids.len() > limits::VISIBLE_TO_MAX {
        return Err(CampaignRefusal::TooMany { things: "people in one visible_to", count_max: limits::VISIBLE_TO_MAX });
    }
    match ids.iter().find(|id| !state.participants.contains(id) && !state.actors.contains(id)) {
        Some(id) => Err(CampaignRefusal::PersonNotFound { person: id.clone() }),
        None => Ok(()),
    }
}

impl CampaignState {
    /// Everything that is or was a secret.
    pub fn secrets(&self) -> impl Iterator<Item = &CampaignSecret> {
        self.secrets.values().map(|secret| &**secret)
    }

    pub fn secret(&self, of: &SecretSubject) -> Option<&CampaignSecret> {
        self.secrets.get(of.key().as_str()).map(|secret| &**secret)
    }

    /// Who may see something now.
    pub fn visibility_of(&self, of: &SecretSubject) -> Visibility {
        self.secret(of).map(|secret| secret.visible_to().clone()).unwrap_or_default()
    }

    /// Who may see a tracker that is set: one that is set again after it was removed is as secret as it was.
    pub(super) fn tracker_visibility(&self, owner: &TrackerOwner, name: &str) -> Visibility {
        self.visibility_of(&SecretSubject::tracker(owner, name))
    }

    /// The campaign without the notes and trackers that a viewer may not see. Whoever wrote a note knows it.
    pub(super) fn known_to(&self, viewer: &Viewer, by: &str) -> Self {
        let mut known = self.clone();
        for secret in self.secrets().filter(|secret| !secret.is_removed && !secret.visible_to().is_visible_to(viewer)) {
            match &secret.of {
                SecretSubject::Note { note_id } if self.note_origin(note_id).is_some_and(|note| note.by != by) => {
                    known.notes.remove(note_id.as_str());
                }
                SecretSubject::Tracker { owner, name } => known.remove_tracker(owner, name, None),
                _ => {}
            }
        }
        known
    }

    /// The numbers of the notes that a viewer may not see.
    pub fn hidden_note_numbers(&self, viewer: &Viewer) -> BTreeSet<u32> {
        let hidden = self.secrets().filter(|secret| !secret.visible_to().is_visible_to(viewer));
        let numbers = hidden.filter_map(|secret| match &secret.of {
            SecretSubject::Note { note_id } => Some(self.note_origin(note_id)?.number),
            _ => None,
        });
        numbers.collect()
    }

    /// Notes and rolls of each session that a viewer may not see.
    pub fn hidden_counts(&self, viewer: &Viewer) -> BTreeMap<&str, HiddenCount> {
        let mut counts: BTreeMap<&str, HiddenCount> = BTreeMap::new();
        for secret in self.secrets().filter(|secret| !secret.is_removed && !secret.visible_to().is_visible_to(viewer)) {
            let Some(session_id) = secret.session_id.as_deref() else { continue };
            let count = counts.entry(session_id).or_default();
            match secret.of {
                SecretSubject::Note { .. } => count.notes += 1,
                SecretSubject::Roll { .. } => count.rolls += 1,
                _ => {}
            }
        }
        counts
    }

    /// Records who may see something from now on. What was never a secret is not recorded.
    pub(super) fn record_visibility(
        &mut self,
        of: &SecretSubject,
        visible_to: &Visibility,
        session_id: Option<&str>,
        at: Timestamp,
    ) {
        let key = of.key();
        if visible_to.is_table() && !self.secrets.contains_key(key.as_str()) {
            return;
        }
        let playing = self.active_session().map(|session| session.id.clone());
        let secret = self.secrets.entry(key.into()).or_insert_with(|| {
            let session_id = session_id.map(str::to_owned);
            Arc::new(CampaignSecret {
                of: of.clone(),
                session_id,
                is_removed: false,
                steps: Vec::new(),
                written: WrittenMoments::default(),
                written_at_steps: Vec::new(),
            })
        });
        let secret = Arc::make_mut(secret);
        secret.is_removed = false;
        if secret.steps.last().is_none_or(|step| step.visible_to != *visible_to) {
            secret.steps.push(VisibilityStep { visible_to: visible_to.clone(), since: at.into(), session_id: playing });
            secret.written_at_steps.push(WrittenAtStep { at_micros: at.as_microsecond(), written: secret.written });
        }
        match of {
            SecretSubject::ActorNotes { actor_id } => {
                self.actors.change(actor_id, |actor| actor.notes_visible_to.clone_from(visible_to));
            }
            SecretSubject::Tracker { owner, name } => self.set_tracker_visibility(owner, name, visible_to),
            _ => {}
        }
    }

    /// Records which texts an event wrote. What was never a secret is not recorded.
    pub(super) fn record_written(&mut self, event: &CampaignEvent, at: Timestamp) {
        for (of, part) in event.written_parts() {
            if let Some(secret) = self.secrets.get_mut(of.key().as_str()) {
                Arc::make_mut(secret).record_written(part, at);
            }
        }
    }

    /// The session of a note, which its visibility is counted with.
    pub(super) fn session_of_subject(&self, of: &SecretSubject) -> Option<String> {
        match of {
            SecretSubject::Note { note_id } => self.note_origin(note_id)?.session_id.clone(),
            SecretSubject::Roll { session_id, .. } => session_id.clone(),
            _ => None,
        }
    }

    pub(super) fn mark_secret_removed(&mut self, of: &SecretSubject) {
        if let Some(secret) = self.secrets.get_mut(of.key().as_str()) {
            Arc::make_mut(secret).is_removed = true;
        }
    }
}

/// What a viewer may not see of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HiddenCount {
    pub notes: u64,
    pub rolls: u64,
}

impl CampaignEvent {
    /// The one thing with a visibility that the event is about. An event about an actor as a whole is about none.
    pub fn secret_subject(&self) -> Option<SecretSubject> {
        match self {
            Self::NoteAdded { note_id, .. } | Self::NoteChanged { note_id, .. } | Self::NoteRemoved { note_id, .. } => {
                Some(SecretSubject::note(note_id))
            }
            Self::RollRecorded(roll) => {
                Some(SecretSubject::Roll { roll_id: roll.id.clone(), session_id: roll.session_id.clone() })
            }
            Self::TrackerSet { owner, tracker, .. } => Some(SecretSubject::tracker(owner, &tracker.name)),
            Self::TrackerChanged { change, .. } => Some(SecretSubject::tracker(&change.owner, &change.name)),
            Self::TrackerRemoved { owner, name, .. } => Some(SecretSubject::tracker(owner, name)),
            Self::ActorUpdated { actor_id, name: None, kind: None, .. } => Some(SecretSubject::actor_notes(actor_id)),
            Self::VisibilityChanged { of, .. } => Some(of.clone()),
            _ => None,
        }
    }

    /// The parts of things with a visibility that the event writes.
    fn written_parts(&self) -> Vec<(SecretSubject, SecretPart)> {
        let of_tracker = |owner: &TrackerOwner, name: &str| (SecretSubject::tracker(owner, name), SecretPart::Text);
        match self {
            Self::ActorAdded { actor_id, .. } | Self::ActorUpdated { actor_id, notes: Some(_), .. } => {
                vec![(SecretSubject::actor_notes(actor_id), SecretPart::Text)]
            }
            Self::NoteAdded { note_id, .. } => {
                [SecretPart::Text, SecretPart::Tags].map(|part| (SecretSubject::note(note_id), part)).into()
            }
            Self::NoteChanged { note_id, text, tags, .. } => {
                let written = [text.as_ref().map(|_| SecretPart::Text), tags.as_ref().map(|_| SecretPart::Tags)];
                written.into_iter().flatten().map(|part| (SecretSubject::note(note_id), part)).collect()
            }
            Self::TrackerSet { owner, tracker, .. } => vec![of_tracker(owner, &tracker.name)],
            Self::ActorSheetSet { actor_id, trackers, .. } => {
                let owner = TrackerOwner::actor(actor_id);
                trackers.iter().map(|tracker| of_tracker(&owner, &tracker.name)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Who could see it when it was written. Whether a visibility changed is known to those who see it before or after.
    pub fn visibility(&self) -> Visibility {
        match self {
            Self::NoteAdded { visible_to, .. }
            | Self::NoteChanged { visible_to, .. }
            | Self::NoteRemoved { visible_to, .. }
            | Self::TrackerRemoved { visible_to, .. } => visible_to.clone(),
            Self::RollRecorded(roll) => roll.visible_to.clone(),
            Self::TrackerSet { tracker, .. } => tracker.visible_to.clone(),
            Self::TrackerChanged { change, .. } => change.visible_to.clone(),
            Self::ActorUpdated { name: None, kind: None, notes_visible_to, .. } => notes_visible_to.clone(),
            Self::ActorSheetSet { template: None, traits, trackers, .. }
                if traits.is_empty() && trackers.iter().all(|tracker| !tracker.visible_to.is_table()) =>
            {
                Visibility::GameMasters
            }
            Self::VisibilityChanged { visible_to, was, .. } if !visible_to.is_table() && !was.is_table() => {
                visible_to.clone()
            }
            _ => Visibility::Table,
        }
    }
}
