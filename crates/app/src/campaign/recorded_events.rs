//! Recorded events of play, for the timeline: sessions, scenes, rolls and reveals, as far as the caller may see
//! them.

use jiff::Timestamp;
use skald_domain::campaign::{CampaignEvent, CampaignState, SecretSubject, describe_events};
use skald_domain::visibility::{Visibility, VisibilityStep};

use super::access::EnteredCampaign;
use super::campaign_stream;
use super::list_events::LoggedEvent;
use super::resolve_name::find_id_by_name;
use crate::{Allowed, App, Call, CampaignRole, Fault, Operation, limits};

/// Something that was recorded while it happened.
#[derive(Debug, Clone)]
pub(crate) struct RecordedEvent {
    pub at: Timestamp,
    /// Such as `session.started`.
    pub kind: String,
    pub description: String,
    pub session_id: Option<String>,
    /// For whom the dice of a roll fell.
    pub actor_id: Option<String>,
}

/// What was recorded, the oldest first.
pub(crate) struct RecordedEvents {
    pub events: Vec<RecordedEvent>,
    /// Whether earlier ones were left out.
    pub is_cut: bool,
}

impl App {
    /// Starts and ends of all sessions.
    pub(crate) async fn recorded_sessions<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
    ) -> Result<Vec<RecordedEvent>, Fault> {
        let campaign = self.enter_as_guest::<O>(call, campaign_id).await?;
        let redaction = campaign.redaction(call.caller);
        let sessions = campaign.state().sessions().oldest_first().filter_map(|session| redaction.redact_ref(session));
        let events = sessions.flat_map(|session| {
            let name = if session.name.is_empty() { session.id.clone() } else { session.name.clone() };
            let event = |at: Timestamp, word: &str| RecordedEvent {
                at,
                kind: format!("session.{word}"),
                description: format!("session {word}: {name}"),
                session_id: Some(session.id.clone()),
                actor_id: None,
            };
            let ended = session.ended_at.map(|at| event(at.timestamp(), "ended"));
            [Some(event(session.started_at.timestamp(), "started")), ended].into_iter().flatten().collect::<Vec<_>>()
        });
        Ok(events.collect())
    }

    /// Scenes, rolls and reveals: of one session, or the newest of the campaign.
    pub(crate) async fn recorded_play<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
        session_id: Option<&str>,
    ) -> Result<RecordedEvents, Fault> {
        let campaign = self.enter_as_guest::<O>(call, campaign_id).await?;
        let redaction = campaign.redaction(call.caller);
        let (logged, is_cut) = if let Some(session_id) = session_id {
            (self.read_events_since_session(&redaction, &campaign, session_id).await?, false)
        } else {
            self.read_newest_events(&redaction, &campaign, limits::EVENTS_SCANNED_MAX).await?
        };
        let people = redaction.redact_people(campaign.state());
        let played: Vec<(&LoggedEvent, &'static str, Option<String>)> =
            logged.iter().filter_map(|logged| played_event(logged)).collect();
        let lines = describe_events(&people, played.iter().map(|(logged, ..)| &logged.event));
        let events = played.iter().zip(lines).map(|((logged, kind, session_id), line)| RecordedEvent {
            at: logged.recorded_at,
            kind: (*kind).to_owned(),
            description: match &logged.event {
                CampaignEvent::SpotlightSet { scene: Some(scene), .. } => format!("scene: {scene}"),
                CampaignEvent::VisibilityChanged { of, visible_to, .. } => {
                    reveal_line(campaign.state(), of, visible_to)
                }
                _ => line,
            },
            session_id: session_id.clone(),
            actor_id: match &logged.event {
                CampaignEvent::RollRecorded(roll) => roll.actor_id.clone(),
                _ => None,
            },
        });
        let events = events.filter(|event| session_id.is_none() || event.session_id.as_deref() == session_id);
        Ok(RecordedEvents { events: events.collect(), is_cut })
    }

    /// What was revealed and hidden in the lore: what it is, and each step.
    pub(crate) async fn recorded_reveals(
        &self,
        campaign_id: &str,
        steps: Vec<(String, VisibilityStep)>,
    ) -> Result<Vec<RecordedEvent>, Fault> {
        let committed = self.campaigns.read(&campaign_stream(campaign_id)).await;
        let committed = committed.map_err(|error| self.store_fault(&error))?;
        let events = steps.into_iter().map(|(subject, step)| RecordedEvent {
            at: step.since.timestamp(),
            kind: "reveal".to_owned(),
            description: describe_reveal(&committed.state, &subject, &step.visible_to),
            session_id: step.session_id,
            actor_id: None,
        });
        Ok(events.collect())
    }

    /// The id of a session of a campaign that the caller has entered, by its id or unique name.
    pub(crate) async fn find_session(&self, campaign_id: &str, given: &str, pointer: &str) -> Result<String, Fault> {
        let committed = self.campaigns.read(&campaign_stream(campaign_id)).await;
        let committed = committed.map_err(|error| self.store_fault(&error))?;
        let sessions = committed.state.sessions();
        let session_id = find_id_by_name(sessions, pointer, given, |_| true)?;
        if sessions.contains(&session_id) {
            return Ok(session_id);
        }
        let message = format!("there is no session {:?}", crate::truncate_for_message(given));
        Err(Fault::new(crate::Code::NotFound, message)
            .with_path(pointer)
            .value(&given.into())
            .hint("`campaign_read` with view sessions lists the sessions of the campaign"))
    }

    async fn enter_as_guest<O: Operation>(&self, call: &Call<'_>, campaign_id: &str) -> Result<EnteredCampaign, Fault> {
        self.enter_campaign_as(call.caller, O::NAME, Allowed::InCampaign(CampaignRole::Guest), campaign_id).await
    }
}

fn name_of(state: &CampaignState, id: &str) -> String {
    let participant = state.participants().get(id).map(|participant| participant.display_name.clone());
    let name = participant.or_else(|| state.actors().get(id).map(|actor| actor.name.clone()));
    name.unwrap_or_else(|| id.to_owned())
}

/// What was revealed or hidden, and who may know it since.
fn reveal_line(state: &CampaignState, of: &SecretSubject, visible_to: &Visibility) -> String {
    let subject = match of {
        SecretSubject::Note { note_id } => format!("the note {note_id}"),
        SecretSubject::Roll { roll_id, .. } => format!("the roll {roll_id}"),
        SecretSubject::ActorNotes { actor_id } => format!("the notes of {}", name_of(state, actor_id)),
        SecretSubject::Tracker { name, .. } => format!("the tracker {name}"),
        SecretSubject::Entity { entity_id, .. } => format!("the entity {entity_id}"),
        SecretSubject::Post { post_id, .. } => format!("the post {post_id}"),
    };
    describe_reveal(state, &subject, visible_to)
}

fn describe_reveal(state: &CampaignState, subject: &str, visible_to: &Visibility) -> String {
    match visible_to {
        Visibility::Table => format!("{subject} is revealed to the table"),
        Visibility::GameMasters => format!("{subject} is for game masters"),
        Visibility::People(ids) => {
            let names: Vec<String> = ids.iter().map(|id| name_of(state, id)).collect();
            format!("{subject} is revealed to {}", names.join(", "))
        }
    }
}

/// The kind and the session of an event that stands in the timeline.
fn played_event(logged: &LoggedEvent) -> Option<(&LoggedEvent, &'static str, Option<String>)> {
    match &logged.event {
        CampaignEvent::RollRecorded(roll) => Some((logged, "roll", roll.session_id.clone())),
        CampaignEvent::SpotlightSet { session_id, scene: Some(_), .. } => {
            Some((logged, "scene", Some(session_id.clone())))
        }
        CampaignEvent::VisibilityChanged { session_id, .. } => Some((logged, "reveal", session_id.clone())),
        _ => None,
    }
}
