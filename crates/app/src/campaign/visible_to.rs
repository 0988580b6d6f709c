//! The input field `visible_to`: gm, table, or participants and actors by names or ids.

use skald_domain::campaign::{CampaignCommand, CampaignState};
use skald_domain::visibility::{GAME_MASTERS, Visibility, WHOLE_TABLE};

use super::resolve_name::find_id_by_name;
use crate::{Code, Fault, truncate_for_message};

/// The visibility that a call gives; `None` if it says nothing.
pub(crate) fn read_visible_to(
    state: &CampaignState,
    pointer: &str,
    given: Option<&[String]>,
) -> Result<Option<Visibility>, Fault> {
    let Some(given) = given else { return Ok(None) };
    if given.is_empty() {
        let fault = Fault::new(Code::InvalidParams, "visible_to is empty").with_path(pointer);
        return Err(fault.hint("send gm, table, or names of participants or actors; leave it out for the table"));
    }
    let person = |(at, text): (usize, &String)| find_person(state, &format!("{pointer}/{at}"), text);
    let words: Vec<String> = given.iter().enumerate().map(person).collect::<Result<_, Fault>>()?;
    Ok(Some(Visibility::from(words)))
}

/// The command, with a visibility if the call gives one.
pub(super) fn with_visibility(visible_to: Option<Visibility>, command: CampaignCommand) -> CampaignCommand {
    match visible_to {
        Some(visible_to) => CampaignCommand::WithVisibility { visible_to, command: Box::new(command) },
        None => command,
    }
}

/// gm, table, or the id of a participant or an actor.
pub(crate) fn find_person(state: &CampaignState, pointer: &str, text: &str) -> Result<String, Fault> {
    let text = text.trim();
    if let Some(word) = [GAME_MASTERS, WHOLE_TABLE].into_iter().find(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(word.to_owned());
    }
    let participant_id = find_id_by_name(state.participants(), pointer, text, |_| true)?;
    if state.participants().contains(&participant_id) {
        return Ok(participant_id);
    }
    let actor_id = find_id_by_name(state.actors(), pointer, text, |_| true)?;
    if state.actors().contains(&actor_id) {
        return Ok(actor_id);
    }
    let message = format!("there is nobody called {:?} in this campaign", truncate_for_message(text));
    Err(Fault::new(Code::NotFound, message)
        .with_path(pointer)
        .value(&text.into())
        .hint("send gm, table, or names or ids of participants or actors of this campaign"))
}
