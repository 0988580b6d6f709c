//! `visible_to` in inputs and answers: `gm`, `table`, or the people of the campaign by id or name.

use skald_domain::visibility::{GAME_MASTERS, Visibility, WHOLE_TABLE};

use super::access::EnteredLore;
use crate::{App, Code, Fault, truncate_for_message};

impl App {
    /// Who may see something, as a caller names them: participants and actors by id or unique name.
    pub(super) async fn resolve_visible_to(&self, lore: &EnteredLore, names: &[String]) -> Result<Visibility, Fault> {
        let mut words = Vec::with_capacity(names.len());
        for (index, name) in names.iter().enumerate() {
            let pointer = format!("/visible_to/{index}");
            let word = [GAME_MASTERS, WHOLE_TABLE].into_iter().find(|word| name.trim().eq_ignore_ascii_case(word));
            words.push(match word {
                Some(word) => word.to_owned(),
                None => self.find_person(&lore.campaign_id, name, &pointer).await?,
            });
        }
        if words.is_empty() {
            let fault = Fault::new(Code::InvalidParams, "visible_to is empty").with_path("/visible_to");
            return Err(fault.hint("send gm, table, or people of the campaign"));
        }
        Ok(Visibility::from(words))
    }
}

/// Who may see something, for those who see everything; left out for what the whole table sees.
pub(super) fn shown_visibility(visibility: &Visibility, sees_private: bool) -> Option<Vec<String>> {
    (sees_private && !visibility.is_table()).then(|| visibility.clone().into())
}

/// The fault for somebody who is not in the campaign.
pub(crate) fn unknown_person_fault(given: &str, pointer: &str) -> Fault {
    Fault::new(Code::NotFound, format!("there is no participant or actor {:?}", truncate_for_message(given)))
        .with_path(pointer)
        .value(&given.into())
        .hint("send gm, table, or a participant or an actor of the campaign")
}
