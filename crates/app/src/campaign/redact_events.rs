//! Redaction of a campaign's events: as a caller may see them now, whatever was so when they were written.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;
use skald_domain::campaign::{
    CampaignEvent, CampaignState, RecordedRoll, SecretPart, SecretSubject, Session, Tracker, TrackerOwner,
};
use skald_domain::visibility::{Viewer, Visibility};

use super::list_events::LoggedEvent;
use super::resolve_name::is_same_name;
use crate::redaction::Redaction;

impl Redaction {
    /// The events of one command that the caller may see, without the parts that they may not. Without its time, texts are
    /// shown to those who could see them when they were written.
    pub(crate) fn redact_events(
        &self,
        state: &CampaignState,
        recorded_at: Option<Timestamp>,
        events: &[CampaignEvent],
    ) -> Vec<CampaignEvent> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        events.iter().filter_map(|event| redact_event(viewer, state, recorded_at, event.clone())).collect()
    }

    pub(super) fn redact_logged(&self, state: &CampaignState, logged: Vec<LoggedEvent>) -> Vec<LoggedEvent> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        let redact = |logged: LoggedEvent| {
            redact_event(viewer, state, Some(logged.recorded_at), logged.event)
                .map(|event| LoggedEvent { event, ..logged })
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

fn redact_event(
    viewer: &Viewer,
    state: &CampaignState,
    recorded_at: Option<Timestamp>,
    event: CampaignEvent,
) -> Option<CampaignEvent> {
    // The state knows what was revealed or hidden since. What it does not know is as it was written.
    let written = event.visibility();
    let now = event.secret_subject().and_then(|of| state.secret(&of)).map(|secret| secret.visible_to().clone());
    let now = now.unwrap_or_else(|| written.clone());
    if !now.is_visible_to(viewer) {
        return None;
    }
    let visible_to = now.narrow_for(viewer);
    let shown = ShownTexts { viewer, state, recorded_at };
    Some(match event {
        CampaignEvent::NoteAdded { note_id, session_id, text, tags, .. } => {
            let of = SecretSubject::note(&note_id);
            let text = shown.value_if_shown(&of, SecretPart::Text, &written, text).unwrap_or_default();
            let tags = shown.value_if_shown(&of, SecretPart::Tags, &written, tags).unwrap_or_default();
            CampaignEvent::NoteAdded { note_id, session_id, text, tags, visible_to }
        }
        CampaignEvent::NoteChanged { note_id, text, tags, .. } => {
            let of = SecretSubject::note(&note_id);
            let text = text.and_then(|text| shown.value_if_shown(&of, SecretPart::Text, &written, text));
            let tags = tags.and_then(|tags| shown.value_if_shown(&of, SecretPart::Tags, &written, tags));
            if text.is_none() && tags.is_none() {
                return None;
            }
            CampaignEvent::NoteChanged { note_id, text, tags, visible_to }
        }
        CampaignEvent::NoteRemoved { note_id, .. } => CampaignEvent::NoteRemoved { note_id, visible_to },
        CampaignEvent::RollRecorded(roll) => {
            CampaignEvent::RollRecorded(Box::new(redact_roll(viewer, state, *roll, visible_to)))
        }
        CampaignEvent::TrackerSet { owner, mut tracker, from, reason, session_id } => {
            let meaning = std::mem::take(&mut tracker.meaning);
            let of = SecretSubject::tracker(&owner, &tracker.name);
            tracker.meaning = shown.value_if_shown(&of, SecretPart::Text, &written, meaning).unwrap_or_default();
            tracker.visible_to = visible_to;
            let reason = shown_reason(viewer, &written, reason);
            CampaignEvent::TrackerSet { owner, tracker, from, reason, session_id }
        }
        CampaignEvent::TrackerChanged { mut change, reason, session_id } => {
            change.visible_to = visible_to;
            let reason = shown_reason(viewer, &written, reason);
            CampaignEvent::TrackerChanged { change, reason, session_id }
        }
        CampaignEvent::TrackerRemoved { owner, name, value, .. } => {
            CampaignEvent::TrackerRemoved { owner, name, value, visible_to }
        }
        CampaignEvent::ActorAdded { actor_id, name, kind, notes, notes_visible_to } => {
            let (notes, notes_visible_to) = shown.keep_notes(&actor_id, &notes_visible_to, Some(notes));
            let notes = notes.unwrap_or_default();
            CampaignEvent::ActorAdded { actor_id, name, kind, notes, notes_visible_to }
        }
        CampaignEvent::ActorUpdated { actor_id, name, kind, notes, notes_visible_to } => {
            let (notes, notes_visible_to) = shown.keep_notes(&actor_id, &notes_visible_to, notes);
            if name.is_none() && kind.is_none() && notes.is_none() {
                return None;
            }
            CampaignEvent::ActorUpdated { actor_id, name, kind, notes, notes_visible_to }
        }
        CampaignEvent::ActorSheetSet { actor_id, template, traits, trackers } => {
            let had_trackers = !trackers.is_empty();
            let owner = TrackerOwner::actor(&actor_id);
            let trackers: Vec<Tracker> =
                trackers.into_iter().filter_map(|tracker| redact_set(&shown, &owner, tracker)).collect();
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

/// Which texts of a command may be shown. A reveal shows what stands there now: what a game master had replaced before
/// is shown only to those who could see it then.
struct ShownTexts<'a> {
    viewer: &'a Viewer,
    state: &'a CampaignState,
    recorded_at: Option<Timestamp>,
}

impl ShownTexts<'_> {
    /// What was written, if the viewer could see it when it was written, or before it was replaced.
    fn value_if_shown<T>(&self, of: &SecretSubject, part: SecretPart, written: &Visibility, value: T) -> Option<T> {
        let was_shown = || {
            let (secret, at) = (self.state.secret(of)?, self.recorded_at?);
            Some(secret.was_shown(self.viewer, part, at))
        };
        (written.is_visible_to(self.viewer) || was_shown() == Some(true)).then_some(value)
    }

    fn keep_notes(&self, actor_id: &str, written: &Visibility, notes: Option<String>) -> (Option<String>, Visibility) {
        let of = SecretSubject::actor_notes(actor_id);
        let now = self.state.visibility_of(&of);
        if !now.is_visible_to(self.viewer) {
            return (None, Visibility::Table);
        }
        let notes = notes.and_then(|notes| self.value_if_shown(&of, SecretPart::Text, written, notes));
        (notes, now.narrow_for(self.viewer))
    }
}

/// The reason of a change. It is nowhere but in the change, so who reveals a tracker does not see that they reveal it.
fn shown_reason(viewer: &Viewer, written: &Visibility, reason: String) -> String {
    if written.is_visible_to(viewer) { reason } else { String::new() }
}

fn redact_set(shown: &ShownTexts<'_>, owner: &TrackerOwner, mut tracker: Tracker) -> Option<Tracker> {
    let of = SecretSubject::tracker(owner, &tracker.name);
    let now = shown.state.secret(&of).map_or_else(|| tracker.visible_to.clone(), |secret| secret.visible_to().clone());
    if !now.is_visible_to(shown.viewer) {
        return None;
    }
    let meaning = std::mem::take(&mut tracker.meaning);
    tracker.meaning = shown.value_if_shown(&of, SecretPart::Text, &tracker.visible_to, meaning).unwrap_or_default();
    Some(Tracker { visible_to: now.narrow_for(shown.viewer), ..tracker })
}

/// A roll without the trackers that the viewer may not see, without the names of others who see it, and without the
/// other rolls of its group, which are records of their own.
fn redact_roll(viewer: &Viewer, state: &CampaignState, mut roll: RecordedRoll, visible_to: Visibility) -> RecordedRoll {
    roll.changes.retain(|change| {
        let secret = state.secret(&SecretSubject::tracker(&change.owner, &change.name));
        secret.map_or(&change.visible_to, |secret| secret.visible_to()).is_visible_to(viewer)
    });
    if !viewer.is_game_master
        && let Value::Object(fields) = &mut roll.input
    {
        fields.remove("visible_to");
        if let Some(Value::Array(rolls)) = fields.get_mut("rolls") {
            let actor_id = roll.actor_id.as_deref().unwrap_or_default();
            let name = state.actors().get(actor_id).map(|actor| actor.name.as_str());
            let is_own = |given: &str| given.trim() == actor_id || name.is_some_and(|name| is_same_name(name, given));
            rolls.retain(|of| of.get("actor_id").and_then(Value::as_str).is_none_or(is_own));
        }
    }
    RecordedRoll { visible_to, ..roll }
}
