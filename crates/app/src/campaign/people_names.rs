//! Resolves the names of actors and participants to their ids, and shows ids as names.

use std::collections::BTreeSet;

use skald_domain::campaign::{CampaignState, GAME_MASTER, People, TrackerOwner};

use super::campaign_stream;
use super::resolve_name::find_id_by_name;
use crate::{App, Code, Fault, truncate_for_message};

/// The id of the actor that an id or a unique name, in any case, stands for. What is neither stays as it is, and the
/// rules refuse it.
pub(super) fn resolve_actor(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    find_id_by_name(state.actors(), pointer, given, |_| true)
}

/// The same for a participant.
pub(super) fn resolve_participant(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    find_id_by_name(state.participants(), pointer, given, |_| true)
}

/// GM in any case, or a participant.
pub(super) fn resolve_controller(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    if given.trim().eq_ignore_ascii_case(GAME_MASTER) {
        return Ok(GAME_MASTER.to_owned());
    }
    resolve_participant(state, pointer, given)
}

/// The name of whoever a tracker is on; `None` for the campaign.
pub(super) fn owner_name(people: &dyn People, owner: &TrackerOwner) -> Option<String> {
    let gone = || "somebody".to_owned();
    let actor = owner.actor_id.as_ref().map(|id| people.actor(id).map_or_else(gone, |actor| actor.name.clone()));
    actor.or_else(|| {
        let participant = people.participant(owner.participant_id.as_ref()?);
        Some(participant.map_or_else(gone, |participant| participant.display_name.clone()))
    })
}

/// The name of whoever has the spotlight: GM, or an actor who is still there.
pub(super) fn spotlight_name(people: &dyn People, holder: Option<&String>) -> Option<String> {
    match holder?.as_str() {
        GAME_MASTER => Some(GAME_MASTER.to_owned()),
        id => Some(people.actor(id)?.name.clone()),
    }
}

impl App {
    /// The id of an actor of a campaign that the caller has entered, by its id or unique name.
    pub(crate) async fn find_actor(&self, campaign_id: &str, given: &str, pointer: &str) -> Result<String, Fault> {
        let stream = campaign_stream(campaign_id);
        let committed = self.campaigns.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let actor_id = resolve_actor(&committed.state, pointer, given)?;
        if committed.state.actors().contains(&actor_id) {
            return Ok(actor_id);
        }
        Err(Fault::new(Code::NotFound, format!("there is no actor {:?}", truncate_for_message(given)))
            .with_path(pointer)
            .value(&given.into())
            .hint("`campaign_read` with view actors lists the actors of the campaign"))
    }

    /// The ids of the actors of a campaign that the caller has entered.
    pub(crate) async fn actor_ids(&self, campaign_id: &str) -> Result<BTreeSet<String>, Fault> {
        let committed = self.campaigns.read(&campaign_stream(campaign_id)).await;
        let committed = committed.map_err(|error| self.store_fault(&error))?;
        Ok(committed.state.actors().oldest_first().map(|actor| actor.id.clone()).collect())
    }

    /// The id of a participant or an actor of a campaign that the caller has entered, by id or unique name.
    pub(crate) async fn find_person(&self, campaign_id: &str, given: &str, pointer: &str) -> Result<String, Fault> {
        let stream = campaign_stream(campaign_id);
        let committed = self.campaigns.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let participant_id = resolve_participant(&committed.state, pointer, given)?;
        if committed.state.participants().contains(&participant_id) {
            return Ok(participant_id);
        }
        let actor_id = resolve_actor(&committed.state, pointer, given)?;
        if committed.state.actors().contains(&actor_id) {
            return Ok(actor_id);
        }
        Err(crate::lore::unknown_person_fault(given, pointer))
    }
}
