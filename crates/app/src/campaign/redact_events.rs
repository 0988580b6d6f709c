//! Redaction of a campaign's events: as a caller may see them now, whatever was so when they were written.

use std::collections::BTreeMap;

use serde_json::Value;
use skald_domain::campaign::{
    CampaignEvent, CampaignState, RecordedRoll, SecretSubject, Session, Tracker, TrackerOwner,
};
use skald_domain::visibility::{Viewer, Visibility};

use super::list_events::LoggedEvent;
use crate::redaction::Redaction;

impl Redaction {
    /// The events that the caller may see, without the parts that they may not.
    pub(crate) fn redact_events(&self, state: &CampaignState, events: &[CampaignEvent]) -> Vec<CampaignEvent> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        events.iter().filter_map(|event| redact_event(viewer, state, event.clone())).collect()
    }

    pub(super) fn redact_logged(&self, state: &CampaignState, logged: Vec<LoggedEvent>) -> Vec<LoggedEvent> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        let redact = |logged: LoggedEvent| {
            redact_event(viewer, state, logged.event).map(|event| LoggedEvent { event, ..logged })
        };
        logged.into_iter().filter_map(redact).collect()
    }

    /// The session with the notes and rolls that the caller may see.
    pub(crate) fn redact_session(&self, state: &CampaignState, session: &Session) -> Option<Session> {
        self.redact_sessions(state, std::iter::once(session)).pop()
    }

    /// The same for several sessions: the secrets of a campaign are looked through once.
    pub(crate) fn redact_sessions<'a>(
        &self,
        state: &CampaignState,
        sessions: impl Iterator<Item = &'a Session>,
    ) -> Vec<Session> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        // Nothing is hidden from a game master.
        let hidden = if viewer.is_game_master { BTreeMap::new() } else { state.hidden_counts(viewer) };
        let redact = |session: &Session| {
            let mut session = self.redact(session.clone())?;
            if let Some(hidden) = hidden.get(session.id.as_str()) {
                session.note_count = session.note_count.saturating_sub(hidden.notes);
                session.roll_count = session.roll_count.saturating_sub(hidden.rolls);
            }
            Some(session)
        };
        sessions.filter_map(redact).collect()
    }
}

fn redact_event(viewer: &Viewer, state: &CampaignState, event: CampaignEvent) -> Option<CampaignEvent> {
    // The state knows what was revealed or hidden since. What it does not know is as it was written.
    let written = event.visibility();
    let now = event.secret_subject().and_then(|of| state.secret(&of)).map(|secret| secret.visible_to().clone());
    let now = now.unwrap_or(written);
    if !now.is_visible_to(viewer) {
        return None;
    }
    let visible_to = now.narrow_for(viewer);
    Some(match event {
        CampaignEvent::NoteAdded { note_id, session_id, text, tags, .. } => {
            CampaignEvent::NoteAdded { note_id, session_id, text, tags, visible_to }
        }
        CampaignEvent::NoteChanged { note_id, text, tags, .. } => {
            CampaignEvent::NoteChanged { note_id, text, tags, visible_to }
        }
        CampaignEvent::NoteRemoved { note_id, .. } => CampaignEvent::NoteRemoved { note_id, visible_to },
        CampaignEvent::RollRecorded(roll) => {
            CampaignEvent::RollRecorded(Box::new(redact_roll(viewer, state, *roll, visible_to)))
        }
        CampaignEvent::TrackerSet { owner, mut tracker, from, reason, session_id } => {
            tracker.visible_to = visible_to;
            CampaignEvent::TrackerSet { owner, tracker, from, reason, session_id }
        }
        CampaignEvent::TrackerChanged { mut change, reason, session_id } => {
            change.visible_to = visible_to;
            CampaignEvent::TrackerChanged { change, reason, session_id }
        }
        CampaignEvent::TrackerRemoved { owner, name, value, .. } => {
            CampaignEvent::TrackerRemoved { owner, name, value, visible_to }
        }
        CampaignEvent::ActorAdded { actor_id, name, kind, notes, .. } => {
            let of_notes = state.visibility_of(&SecretSubject::actor_notes(&actor_id));
            let (notes, notes_visible_to) = if of_notes.is_visible_to(viewer) {
                (notes, of_notes.narrow_for(viewer))
            } else {
                (String::new(), Visibility::Table)
            };
            CampaignEvent::ActorAdded { actor_id, name, kind, notes, notes_visible_to }
        }
        CampaignEvent::ActorUpdated { actor_id, name, kind, notes, .. } => {
            let of_notes = state.visibility_of(&SecretSubject::actor_notes(&actor_id));
            let (notes, notes_visible_to) = if of_notes.is_visible_to(viewer) {
                (notes, of_notes.narrow_for(viewer))
            } else {
                (None, Visibility::Table)
            };
            CampaignEvent::ActorUpdated { actor_id, name, kind, notes, notes_visible_to }
        }
        CampaignEvent::ActorSheetSet { actor_id, template, traits, trackers } => {
            let had_trackers = !trackers.is_empty();
            let owner = TrackerOwner::actor(&actor_id);
            let trackers: Vec<Tracker> =
                trackers.into_iter().filter_map(|tracker| redact_set(viewer, state, &owner, tracker)).collect();
            if had_trackers && trackers.is_empty() && template.is_none() && traits.is_empty() {
                return None;
            }
            CampaignEvent::ActorSheetSet { actor_id, template, traits, trackers }
        }
        // Only game masters see visibility changes.
        CampaignEvent::VisibilityChanged { .. } if !viewer.is_game_master => return None,
        event => event,
    })
}

fn redact_set(viewer: &Viewer, state: &CampaignState, owner: &TrackerOwner, tracker: Tracker) -> Option<Tracker> {
    let of = SecretSubject::tracker(owner, &tracker.name);
    let now = state.secret(&of).map_or_else(|| tracker.visible_to.clone(), |secret| secret.visible_to().clone());
    now.is_visible_to(viewer).then(|| Tracker { visible_to: now.narrow_for(viewer), ..tracker })
}

/// A roll without the trackers that the viewer may not see, and without the names of others who see it.
fn redact_roll(viewer: &Viewer, state: &CampaignState, mut roll: RecordedRoll, visible_to: Visibility) -> RecordedRoll {
    roll.changes.retain(|change| {
        let secret = state.secret(&SecretSubject::tracker(&change.owner, &change.name));
        secret.map_or(&change.visible_to, |secret| secret.visible_to()).is_visible_to(viewer)
    });
    if !viewer.is_game_master
        && let Value::Object(fields) = &mut roll.input
    {
        fields.remove("visible_to");
    }
    RecordedRoll { visible_to, ..roll }
}
