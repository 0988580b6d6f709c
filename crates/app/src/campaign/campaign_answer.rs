//! The answer of a command in a campaign, with the campaign and session that it went to.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::campaign::{
    Actor, CampaignEvent, CampaignState, InsertionOrderedMap, Participant, SecretSubject, Session,
};

use super::CampaignStream;
use super::resolve_name::{HasName, is_same_name};
use skald_journal::Applied;

/// An answer, and beside it where the command went.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CampaignAnswer<T> {
    #[serde(flatten)]
    answer: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    went_to: Option<Destination>,
    /// Why a roll is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    not_recorded: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    note: Option<String>,
}

/// The campaign and the session that a command went to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Destination {
    Ids {
        campaign: NameAndId,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<NameAndId>,
    },
    /// The names for a roll, whose ids are in `recorded`.
    Names(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NameAndId {
    id: String,
    name: String,
}

impl Destination {
    pub(super) fn new(state: &CampaignState, session_id: Option<&str>) -> Option<Self> {
        let campaign = state.campaign()?;
        let session = session_id.and_then(|id| state.sessions().get(id));
        let named = |session: &Session| NameAndId { id: session.id.clone(), name: session.name.clone() };
        Some(Self::Ids {
            campaign: NameAndId { id: campaign.id.clone(), name: campaign.name.clone() },
            session: session.map(named),
        })
    }

    /// Only the names, since the answer of a roll is short and has the ids already.
    fn without_ids(self) -> Self {
        match self {
            Self::Ids { campaign, session } => {
                let names = [Some(campaign.name), session.map(|session| session.name)];
                let names: Vec<String> = names.into_iter().flatten().filter(|name| !name.is_empty()).collect();
                Self::Names(names.join(", "))
            }
            names @ Self::Names(_) => names,
        }
    }
}

impl<T> CampaignAnswer<T> {
    pub(super) fn new(answer: T, applied: &Applied<CampaignStream>) -> Self {
        let state = &applied.committed.state;
        let session_id = applied.events.iter().find_map(|event| session_of_event(state, event));
        let note = applied.events.iter().find_map(|event| same_name_note(state, event));
        let went_to = Destination::new(state, session_id);
        let is_roll = matches!(applied.events.first(), Some(CampaignEvent::RollRecorded(_)));
        let went_to = if is_roll { went_to.map(Destination::without_ids) } else { went_to };
        Self { answer, went_to, not_recorded: None, note }
    }

    /// The answer of a command that found everything as it should be and stored nothing.
    pub(super) fn unchanged(answer: T, state: &CampaignState, session_id: Option<&str>) -> Self {
        Self { answer, went_to: Destination::new(state, session_id), not_recorded: None, note: None }
    }

    /// The answer of a command that has nothing to do with a campaign.
    pub(crate) fn without_campaign(answer: T) -> Self {
        Self { answer, went_to: None, not_recorded: None, note: None }
    }

    pub(crate) fn is_recorded(&self) -> bool {
        self.went_to.is_some()
    }

    pub(super) fn not_recorded(answer: T, reason: String) -> Self {
        Self { answer, went_to: None, not_recorded: Some(reason), note: None }
    }
}

fn session_of_event<'a>(state: &'a CampaignState, event: &'a CampaignEvent) -> Option<&'a str> {
    match event {
        CampaignEvent::SessionStarted { session_id, .. }
        | CampaignEvent::SessionEnded { session_id }
        | CampaignEvent::SpotlightSet { session_id, .. } => Some(session_id),
        CampaignEvent::NoteAdded { session_id, .. }
        | CampaignEvent::TrackerSet { session_id, .. }
        | CampaignEvent::TrackerChanged { session_id, .. } => session_id.as_deref(),
        CampaignEvent::NoteChanged { note_id, .. } => state.note_origin(note_id)?.session_id.as_deref(),
        CampaignEvent::VisibilityChanged { of: SecretSubject::Note { note_id }, .. } => {
            state.note_origin(note_id)?.session_id.as_deref()
        }
        CampaignEvent::RollRecorded(roll) => roll.session_id.as_deref(),
        _ => None,
    }
}

/// A note if somebody who was just added has the name of another.
fn same_name_note(state: &CampaignState, event: &CampaignEvent) -> Option<String> {
    match event {
        CampaignEvent::ParticipantAdded { participant_id, .. } => {
            namesake_note::<Participant>(state.participants(), participant_id)
        }
        CampaignEvent::ActorAdded { actor_id, .. } => namesake_note::<Actor>(state.actors(), actor_id),
        _ => None,
    }
}

fn namesake_note<T: HasName>(map: &InsertionOrderedMap<T>, id: &str) -> Option<String> {
    let name = map.get(id)?.name();
    let other = map.newest_first().find(|other| other.id() != id && is_same_name(other.name(), name))?;
    let thing = T::THING;
    Some(format!("there is another {thing} called {name}, {}; name them by id from now on", other.id()))
}
