//! Held changes in the answers of operations that write lore: the fault, the id of the conflict, and texts proposed twice.

use skald_domain::lore::{CanonFields, LoreCommand, LoreEvent, LoreRefusal, TextRef};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::PreparedItem;
use super::texts::parse_text_row;
use crate::{App, Code, Fault};

/// A change that was held instead of made.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldChange {
    pub conflict_id: u64,
    pub fields: CanonFields,
}

impl HeldChange {
    pub(super) fn of_events(events: &[LoreEvent]) -> Option<Self> {
        match events.first() {
            Some(LoreEvent::ChangeHeld { conflict_id, fields, .. }) => {
                Some(Self { conflict_id: *conflict_id, fields: *fields })
            }
            _ => None,
        }
    }

    /// The id as answers show it.
    pub(super) fn id(self) -> String {
        conflict_name(self.conflict_id)
    }

    pub(super) fn fault(self) -> Fault {
        let (id, fields) = (self.id(), self.fields.field_names().join(", "));
        let message = format!("held as conflict {id}, nothing was changed: {fields} of the entity is authoritative");
        Fault::new(Code::Held, message)
            .value(&id.into())
            .hint("a person decides: `canon` with method resolve and this id; go on with something else")
    }
}

/// The name of a conflict in inputs and answers.
pub(super) fn conflict_name(conflict_id: u64) -> String {
    format!("c{conflict_id}")
}

/// The id of the conflict as which the same change is held already.
pub(super) fn held_already(refusal: &LoreRefusal) -> Option<String> {
    match refusal {
        LoreRefusal::HeldAlready { conflict_id } => Some(conflict_name(*conflict_id)),
        _ => None,
    }
}

/// The text that a command writes, to be replaced.
fn written_text(command: &mut LoreCommand) -> Option<(u64, &mut TextRef)> {
    match command {
        LoreCommand::UpdateEntity { entity_id, change, .. } => Some((*entity_id, change.text.as_mut()?.as_mut()?)),
        LoreCommand::UpdatePost { entity_id, change, .. } => Some((*entity_id, change.text.as_mut()?.as_mut()?)),
        LoreCommand::FromTool { command, .. } => written_text(command),
        _ => None,
    }
}

impl App {
    /// If an open conflict proposes the same text already, uses its key, so that the same proposal is held only once. Equal
    /// texts have different keys, since keys are salted, so the texts themselves are compared.
    pub(super) async fn reuse_held_text(
        &self,
        lore: &EnteredLore,
        mut prepared: PreparedItem,
    ) -> Result<PreparedItem, Fault> {
        if lore.state().open_conflict_count() == 0 {
            return Ok(prepared);
        }
        let Some((entity_id, reference)) = written_text(&mut prepared.command) else { return Ok(prepared) };
        let state = lore.state();
        let proposals: Vec<&TextRef> =
            state.open_conflicts_of(entity_id).filter_map(|conflict| conflict.proposed.text()).collect();
        let key = reference.key.to_string();
        let Some(row) = prepared.side_rows.iter().position(|row| row.key == key) else { return Ok(prepared) };
        let Some(written) = parse_text_row(&prepared.side_rows[row].body) else { return Ok(prepared) };
        let texts = self.load_texts(&lore.campaign_id, proposals.iter().copied()).await?;
        let is_same = |proposal: &&&TextRef| texts.entry(Some(proposal)).is_some_and(|known: &Entry| *known == written);
        if let Some(proposal) = proposals.iter().find(is_same) {
            *reference = TextRef::clone(proposal);
            prepared.side_rows.remove(row);
        }
        Ok(prepared)
    }
}
