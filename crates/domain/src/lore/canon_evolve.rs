//! Applies events of canon to the state of lore: marks, held changes, and what was decided about them.

use jiff::Timestamp;

use super::canon::{CanonMark, Confidence, Conflict, ConflictLogRow, ConflictOutcome, ConflictStatus, FindingReview};
use super::event::LoreEvent;
use super::state::LoreState;
use crate::limits;

impl LoreState {
    /// Applies an event of canon; `by` is who caused it. Other events change nothing here.
    pub(super) fn apply_canon_event(&mut self, event: &LoreEvent, at: Timestamp, by: &str) {
        let log_row = |status, choice, reason: &str| ConflictLogRow {
            status,
            choice,
            reason: reason.to_owned(),
            by: by.to_owned(),
            at,
        };
        match event {
            LoreEvent::EntityMarked { entity_id, confidence, fields, .. } => {
                let mark = CanonMark { confidence: *confidence, fields: *fields };
                // Players do not hear of marks, so when it was last changed stays as it is.
                self.change_posts(*entity_id, |entity| {
                    entity.revision += 1;
                    entity.change_details(|details| {
                        details.canon = (mark.confidence != Confidence::Draft).then_some(mark);
                    });
                });
            }
            LoreEvent::EntityDied { entity_id, date } => {
                let entity_id = self.current_id(*entity_id);
                match date {
                    Some(date) => drop(self.canon.deaths.insert(entity_id, *date)),
                    None => drop(self.canon.deaths.remove(&entity_id)),
                }
                self.change_posts(entity_id, |_| {});
            }
            LoreEvent::ChangeHeld { conflict_id, entity_id, fields, proposed, tool, entry_before } => {
                let canon = &mut self.canon;
                canon.highest_conflict_id = canon.highest_conflict_id.max(*conflict_id);
                canon.put_conflict(Conflict {
                    id: *conflict_id,
                    entity_id: *entity_id,
                    fields: *fields,
                    proposed: proposed.clone(),
                    tool: tool.clone(),
                    by: by.to_owned(),
                    at,
                    entry_before: *entry_before,
                    log: Vec::new(),
                    outcome: None,
                });
                self.change_posts(*entity_id, |_| {});
            }
            LoreEvent::ConflictAcknowledged { conflict_id, reason, .. } => {
                let row = log_row(ConflictStatus::Acknowledged, None, reason);
                self.change_conflict(*conflict_id, row, None);
            }
            LoreEvent::ConflictResolved { conflict_id, entity_id, choice, reason, steps, undo } => {
                for step in steps {
                    self.apply_event(step, at, by);
                }
                let outcome = ConflictOutcome { steps: steps.clone(), undo: undo.clone() };
                let row = log_row(ConflictStatus::Resolved, Some(*choice), reason);
                self.change_conflict(*conflict_id, row, Some(Box::new(outcome)));
                self.change_posts(*entity_id, |_| {});
                self.drop_oldest_resolved();
            }
            LoreEvent::ConflictReopened { conflict_id, entity_id, reason, steps } => {
                for step in steps {
                    self.apply_event(step, at, by);
                }
                self.change_conflict(*conflict_id, log_row(ConflictStatus::Detected, None, reason), None);
                self.change_posts(*entity_id, |_| {});
            }
            LoreEvent::FindingReviewed { finding_id, status: ConflictStatus::Detected, .. } => {
                self.canon.reviews.remove(finding_id);
            }
            LoreEvent::FindingReviewed { finding_id, status, reason } => {
                let review = FindingReview { status: *status, reason: reason.clone(), by: by.to_owned(), at };
                self.canon.reviews.insert(finding_id.clone(), review);
            }
            _ => {}
        }
    }

    fn change_conflict(&mut self, conflict_id: u64, row: ConflictLogRow, outcome: Option<Box<ConflictOutcome>>) {
        let Some(conflict) = self.conflict(conflict_id) else { return };
        let mut conflict = conflict.clone();
        conflict.log.push(row);
        conflict.outcome = outcome;
        self.canon.put_conflict(conflict);
    }

    /// Resolved conflicts that are too many are in the journal alone, the oldest first.
    fn drop_oldest_resolved(&mut self) {
        let resolved = self.canon.conflicts.len() - self.canon.open.len();
        if resolved <= limits::LORE_RESOLVED_CONFLICTS_MAX {
            return;
        }
        let oldest = self.canon.conflicts.values().find(|conflict| !conflict.is_open()).map(|conflict| conflict.id);
        if let Some(conflict_id) = oldest {
            self.canon.remove_conflict(conflict_id);
        }
    }

    /// Conflicts of what is removed for good go with it.
    pub(super) fn remove_conflicts_of(&mut self, entity_ids: &[u64], post_ids: &[u64]) {
        for entity_id in entity_ids {
            self.canon.deaths.remove(entity_id);
        }
        if self.canon.conflicts.is_empty() {
            return;
        }
        let is_about = |conflict: &Conflict| {
            entity_ids.contains(&conflict.entity_id)
                || conflict.proposed.post_id().is_some_and(|post_id| post_ids.contains(&post_id))
        };
        let gone: Vec<u64> =
            self.conflicts().filter(|conflict| is_about(conflict)).map(|conflict| conflict.id).collect();
        for conflict_id in gone {
            self.canon.remove_conflict(conflict_id);
        }
    }

    /// Conflicts follow an entity that gets another id.
    pub(super) fn renumber_conflicts(&mut self, entity_id: u64, new_entity_id: u64) {
        if let Some(died) = self.canon.deaths.remove(&entity_id) {
            self.canon.deaths.insert(new_entity_id, died);
        }
        let moved: Vec<Conflict> =
            self.conflicts().filter(|conflict| conflict.entity_id == entity_id).cloned().collect();
        for conflict in moved {
            self.canon.remove_conflict(conflict.id);
            self.canon.put_conflict(Conflict { entity_id: new_entity_id, ..conflict });
        }
    }
}
