//! Name lookup for a recap: current names first, else the last known name of someone who has left.

use std::collections::BTreeMap;

use super::super::entities::ActorController;
use super::super::event::CampaignEvent;
use super::super::roll::RecordedRoll;
use super::People;

/// Names by id. A current name wins over the last known one from the events.
#[derive(Default)]
pub(super) struct Names<'a> {
    people: Option<&'a dyn People>,
    last_known: BTreeMap<String, String>,
}

impl<'a> Names<'a> {
    pub(super) fn new(people: &'a dyn People) -> Self {
        Self { people: Some(people), last_known: BTreeMap::new() }
    }

    /// Records the name in an event that adds, renames or removes.
    pub(super) fn record_event(&mut self, event: &CampaignEvent) {
        if let CampaignEvent::ParticipantAdded { participant_id: id, display_name: name, .. }
        | CampaignEvent::ParticipantUpdated { participant_id: id, display_name: Some(name), .. }
        | CampaignEvent::ParticipantRemoved { participant_id: id, display_name: name, .. }
        | CampaignEvent::ActorAdded { actor_id: id, name, .. }
        | CampaignEvent::ActorUpdated { actor_id: id, name: Some(name), .. }
        | CampaignEvent::ActorRemoved { actor_id: id, name } = event
        {
            self.last_known.insert(id.clone(), to_one_line(name));
        }
    }

    /// The last name in the events so far.
    pub(super) fn last_known_name(&self, id: &str) -> Option<&str> {
        self.last_known.get(id).map(String::as_str)
    }

    pub(super) fn participant(&self, id: &str) -> String {
        let today = self.people.and_then(|people| people.participant(id));
        let name = today.map(|participant| to_one_line(&participant.display_name));
        name.or_else(|| self.last_known_name(id).map(str::to_owned)).unwrap_or_else(|| "somebody".to_owned())
    }

    pub(super) fn actor(&self, id: &str) -> String {
        let today = self.people.and_then(|people| people.actor(id));
        let name = today.map(|actor| to_one_line(&actor.name));
        name.or_else(|| self.last_known_name(id).map(str::to_owned)).unwrap_or_else(|| "somebody".to_owned())
    }

    pub(super) fn controller(&self, controller: &ActorController) -> String {
        match controller {
            ActorController::Gm => "GM".to_owned(),
            ActorController::Participant(id) => self.participant(id),
        }
    }

    /// The participant who plays an actor now, if it is not the game master.
    pub(super) fn player_of(&self, actor_id: &str) -> Option<String> {
        match self.people.and_then(|people| people.actor(actor_id))?.controller.as_ref()? {
            ActorController::Participant(id) => Some(id.clone()),
            ActorController::Gm => None,
        }
    }

    /// The actor that the roll is for, else the participant who rolled.
    pub(super) fn roller(&self, roll: &RecordedRoll) -> String {
        match (&roll.actor_id, &roll.participant_id) {
            (Some(id), _) => self.actor(id),
            (None, Some(id)) => self.participant(id),
            (None, None) => "somebody".to_owned(),
        }
    }
}

/// A name with all white space collapsed to single spaces.
pub(super) fn to_one_line(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}
