//! Applies events to the state of a campaign. It never fails: an event about something unknown changes nothing.

use std::sync::Arc;

use jiff::Timestamp;

use super::actor_sheet::Traits;
use super::entities::{
    Actor, ActorController, ActorKind, Campaign, CampaignStatus, Controller, GmMode, Participant, Role, Session,
    SessionStatus,
};
use super::event::CampaignEvent;
use super::secrets::SecretSubject;
use super::state::{CampaignState, NoteOrigin};
use super::tracker::{Tracker, TrackerOwner, public_time};
use crate::Moment;
use crate::decider::DecisionContext;
use crate::visibility::Visibility;

pub(super) fn evolve(mut state: CampaignState, event: &CampaignEvent, given: &DecisionContext) -> CampaignState {
    use CampaignEvent as E;
    let at = Moment::from(given.at);
    match event {
        E::CampaignCreated { id, name, gm_mode, theme_prompt } => {
            state.create(id, name, *gm_mode, theme_prompt, at);
            state.created_micros = given.at.as_microsecond();
        }
        E::ParticipantAdded { participant_id, display_name, role, controller } => {
            state.add_participant(participant_id, display_name, *role, *controller, at);
        }
        E::ParticipantUpdated { participant_id, display_name, role, controller } => {
            state.participants.change(participant_id, |participant| {
                set_if_some(&mut participant.display_name, display_name.as_ref());
                set_if_some(&mut participant.role, role.as_ref());
                set_if_some(&mut participant.controller, controller.as_ref());
                participant.updated_at = at;
            });
        }
        E::ParticipantRemoved { participant_id, released_actor_ids, .. } => {
            for actor_id in released_actor_ids {
                state.set_controller(actor_id, None, at);
            }
            state.participants.remove(participant_id);
        }
        E::ActorAdded { actor_id, name, kind, notes, notes_visible_to } => {
            state.add_actor(actor_id, name, *kind, notes, at);
            state.record_visibility(&SecretSubject::actor_notes(actor_id), notes_visible_to, None, given.at);
        }
        E::ActorUpdated { actor_id, name, kind, notes, .. } => {
            let public_at = public_time(&event.visibility(), at);
            state.actors.change(actor_id, |actor| {
                set_if_some(&mut actor.name, name.as_ref());
                set_if_some(&mut actor.kind, kind.as_ref());
                set_if_some(&mut actor.notes, notes.as_ref());
                actor.updated_at = public_at.unwrap_or(actor.updated_at);
            });
        }
        E::ActorRemoved { actor_id, .. } => {
            state.set_controller(actor_id, None, at);
            state.actors.remove(actor_id);
        }
        E::ActorControlSet { actor_id, controller } => state.set_controller(actor_id, Some(controller), at),
        E::SessionStarted { session_id, name } => state.start_session(session_id, name, at),
        E::SessionEnded { session_id } => {
            state.active_session_id.take_if(|active| **active == **session_id);
            state.sessions.change(session_id, |session| {
                session.status = SessionStatus::Ended;
                (session.updated_at, session.ended_at) = (at, Some(at));
            });
        }
        E::NoteAdded { note_id, session_id, visible_to, .. } => {
            state.last_note_number = state.last_note_number.saturating_add(1);
            let number = state.last_note_number;
            let origin = NoteOrigin { session_id: session_id.clone(), by: given.by.clone(), number };
            state.notes.insert(note_id.as_str().into(), Arc::new(origin));
            state.count_notes(session_id.as_deref(), public_time(visible_to, at), |count| count + 1);
            state.record_visibility(&SecretSubject::note(note_id), visible_to, session_id.as_deref(), given.at);
        }
        E::NoteRemoved { note_id, visible_to } => state.remove_note(note_id, public_time(visible_to, at)),
        E::RollRecorded(roll) => {
            state.sessions.change(roll.session_id.as_deref().unwrap_or_default(), |session| {
                session.roll_count += 1;
                session.updated_at = public_time(&roll.visible_to, at).unwrap_or(session.updated_at);
            });
            if let Some(of) = event.secret_subject() {
                state.record_visibility(&of, &roll.visible_to, roll.session_id.as_deref(), given.at);
            }
            for change in &roll.changes {
                state.apply_tracker_change(change, at);
            }
        }
        E::ActorSheetSet { .. } => state.set_sheet(event, given.at),
        E::TrackerSet { owner, tracker, .. } => {
            state.put_tracker(owner, tracker, at);
            let of = SecretSubject::tracker(owner, &tracker.name);
            state.record_visibility(&of, &tracker.visible_to, None, given.at);
        }
        E::TrackerChanged { change, .. } => state.apply_tracker_change(change, at),
        E::TrackerRemoved { owner, name, visible_to, .. } => {
            state.remove_tracker(owner, name, public_time(visible_to, at));
            state.mark_secret_removed(&SecretSubject::tracker(owner, name));
        }
        E::VisibilityChanged { of, visible_to, .. } => {
            let session_id = state.session_of_subject(of);
            state.record_visibility(of, visible_to, session_id.as_deref(), given.at);
        }
        E::NoteChanged { .. }
        | E::SpotlightSet { .. }
        | E::CampaignUpdated { .. }
        | E::CampaignActivated {}
        | E::CampaignCompleted {}
        | E::CampaignArchived {}
        | E::CampaignRestored {} => {}
    }
    state.record_written(event, given.at);
    state.spotlight.record_event(event);
    state.update_campaign(event, at);
    state
}

impl CampaignState {
    /// Updates the campaign's own record after every event except those of play: notes, rolls, trackers, the spotlight.
    fn update_campaign(&mut self, event: &CampaignEvent, at: Moment) {
        use CampaignEvent as E;
        if event.is_play() || !event.visibility().is_table() {
            return;
        }
        let Some(campaign) = &mut self.campaign else { return };
        let campaign = Arc::make_mut(campaign);
        campaign.updated_at = at;
        (campaign.participant_count, campaign.actor_count) = (self.participants.len(), self.actors.len());
        match event {
            E::CampaignUpdated { name, gm_mode, theme_prompt } => {
                set_if_some(&mut campaign.name, name.as_ref());
                set_if_some(&mut campaign.gm_mode, gm_mode.as_ref());
                set_if_some(&mut campaign.theme_prompt, theme_prompt.as_ref());
            }
            E::CampaignActivated {} => campaign.status = CampaignStatus::Active,
            E::CampaignCompleted {} => {
                (campaign.status, campaign.completed_at) = (CampaignStatus::Completed, Some(at));
            }
            E::CampaignArchived {} => (campaign.status, campaign.archived_at) = (CampaignStatus::Archived, Some(at)),
            E::CampaignRestored {} => {
                campaign.status = CampaignStatus::Draft;
                (campaign.completed_at, campaign.archived_at) = (None, None);
            }
            _ => {}
        }
    }

    fn set_sheet(&mut self, event: &CampaignEvent, written_at: Timestamp) {
        let at = Moment::from(written_at);
        let CampaignEvent::ActorSheetSet { actor_id, template, traits, trackers } = event else { return };
        let public_at = public_time(&event.visibility(), at);
        self.actors.change(actor_id, |actor| {
            actor.template = template.or(actor.template);
            for (name, value) in traits {
                match value {
                    Some(value) => actor.traits.insert(name.clone(), value.clone()),
                    None => actor.traits.remove(name),
                };
            }
            actor.updated_at = public_at.unwrap_or(actor.updated_at);
        });
        let owner = TrackerOwner::actor(actor_id);
        for tracker in trackers {
            // Earlier versions wrote a tracker that had been a secret as one that everybody sees.
            let of = SecretSubject::tracker(&owner, &tracker.name);
            let known = self.secret(&of).map(|secret| secret.visible_to().clone());
            let visible_to = known.unwrap_or_else(|| tracker.visible_to.clone());
            self.put_tracker(&owner, &Tracker { visible_to: visible_to.clone(), ..tracker.clone() }, at);
            self.record_visibility(&of, &visible_to, None, written_at);
        }
    }

    fn create(&mut self, id: &str, name: &str, gm_mode: GmMode, theme_prompt: &str, at: Moment) {
        self.campaign = Some(Arc::new(Campaign {
            id: id.to_owned(),
            name: name.to_owned(),
            gm_mode,
            participant_count: 0,
            actor_count: 0,
            theme_prompt: theme_prompt.to_owned(),
            status: CampaignStatus::Draft,
            created_at: at,
            updated_at: at,
            completed_at: None,
            archived_at: None,
        }));
    }

    fn campaign_id(&self) -> String {
        self.campaign.as_ref().map(|campaign| campaign.id.clone()).unwrap_or_default()
    }

    fn add_participant(&mut self, id: &str, display_name: &str, role: Role, controller: Controller, at: Moment) {
        self.participants.put(Participant {
            id: id.to_owned(),
            campaign_id: self.campaign_id(),
            display_name: display_name.to_owned(),
            role,
            controller,
            trackers: Vec::new(),
            created_at: at,
            updated_at: at,
        });
    }

    fn add_actor(&mut self, id: &str, name: &str, kind: ActorKind, notes: &str, at: Moment) {
        self.actors.put(Actor {
            id: id.to_owned(),
            campaign_id: self.campaign_id(),
            name: name.to_owned(),
            kind,
            notes: notes.to_owned(),
            notes_visible_to: Visibility::Table,
            controller: None,
            template: None,
            traits: Traits::new(),
            trackers: Vec::new(),
            created_at: at,
            updated_at: at,
        });
    }

    /// Sets or clears the controller of an actor, and updates the index `played`.
    fn set_controller(&mut self, actor_id: &str, controller: Option<&ActorController>, at: Moment) {
        let Some(actor) = self.actors.get(actor_id) else { return };
        let pair = |controller: &ActorController| Some((controller.participant_id()?.into(), actor_id.into()));
        if let Some(before) = actor.controller.as_ref().and_then(pair) {
            self.played.remove(&before);
        }
        if let Some(after) = controller.and_then(pair) {
            self.played.insert(after);
        }
        self.actors.change(actor_id, |actor| {
            actor.controller = controller.cloned();
            actor.updated_at = at;
        });
    }

    fn remove_note(&mut self, note_id: &str, at: Option<Moment>) {
        self.mark_secret_removed(&SecretSubject::note(note_id));
        if let Some(origin) = self.notes.remove(note_id) {
            self.count_notes(origin.session_id.as_deref(), at, |count| count.saturating_sub(1));
        }
    }

    /// Updates the number of notes of a session, if the note belongs to one.
    fn count_notes(&mut self, session_id: Option<&str>, at: Option<Moment>, count: impl Fn(u64) -> u64) {
        if let Some(session_id) = session_id {
            self.sessions.change(session_id, |session| {
                session.note_count = count(session.note_count);
                session.updated_at = at.unwrap_or(session.updated_at);
            });
        }
    }

    fn start_session(&mut self, id: &str, name: &str, at: Moment) {
        self.active_session_id = Some(id.into());
        self.sessions.put(Session {
            id: id.to_owned(),
            campaign_id: self.campaign_id(),
            name: name.to_owned(),
            status: SessionStatus::Active,
            note_count: 0,
            roll_count: 0,
            started_at: at,
            updated_at: at,
            ended_at: None,
        });
    }
}

fn set_if_some<T: Clone>(field: &mut T, value: Option<&T>) {
    if let Some(value) = value {
        field.clone_from(value);
    }
}
