//! Resolves the names of actors and participants to their ids, and shows ids as names.

use skald_domain::campaign::{CampaignState, GAME_MASTER, HasId, People, Register, TrackerOwner};

use crate::{Code, Fault, limits, truncate_for_message};

/// The id of the actor that an id or a unique name, in any case, stands for. What is neither stays as it is, and the
/// rules refuse it.
pub(super) fn resolve_actor(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    resolve_name(state.actors(), |actor| &actor.name, pointer, given)
}

/// The same for a participant.
pub(super) fn resolve_participant(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    resolve_name(state.participants(), |participant| &participant.display_name, pointer, given)
}

/// GM in any case, or a participant.
pub(super) fn resolve_controller(state: &CampaignState, pointer: &str, given: &str) -> Result<String, Fault> {
    if given.trim().eq_ignore_ascii_case(GAME_MASTER) {
        return Ok(GAME_MASTER.to_owned());
    }
    resolve_participant(state, pointer, given)
}

fn resolve_name<T: HasId>(
    register: &Register<T>,
    name_of: impl Fn(&T) -> &String,
    pointer: &str,
    given: &str,
) -> Result<String, Fault> {
    let given = given.trim();
    if given.is_empty() || register.contains(given) || given.len() > limits::NAME_CHARS_MAX * 4 {
        return Ok(given.to_owned());
    }
    let wanted = given.to_lowercase();
    let found: Vec<&T> = register.oldest_first().filter(|entry| name_of(entry).to_lowercase() == wanted).collect();
    match found.as_slice() {
        [] => Ok(given.to_owned()),
        [only] => Ok(only.id().to_owned()),
        several => {
            let candidates = several.iter().take(10).map(|entry| format!("{} ({})", name_of(entry), entry.id()));
            let message = format!("{:?} is the name of {} here", truncate_for_message(given), several.len());
            let fault = Fault::new(Code::InvalidParams, message).with_path(pointer).value(&given.into());
            Err(fault.hint("send one of their ids").allowed(candidates))
        }
    }
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
