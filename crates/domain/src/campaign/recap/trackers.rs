//! Trackers for a recap: what each one was when the session began to move it, and what it was at the end.

use std::fmt::Write;

use super::super::event::CampaignEvent;
use super::super::tracker::{TrackerBound, TrackerChange, TrackerOwner, is_same_name};
use super::names::{Names, to_one_line};

const TRACKERS_SHOWN: usize = 30;
/// Reasons that a line repeats, and characters of each.
const REASONS_SHOWN: usize = 3;
const REASON_CHARS_SHOWN: usize = 60;

#[derive(Default)]
pub(super) struct RecapTrackers {
    moved: Vec<MovedTracker>,
}

struct MovedTracker {
    /// From the first value of the session to the last.
    change: TrackerChange,
    reasons: Vec<String>,
}

impl RecapTrackers {
    pub(super) fn record_event(&mut self, event: &CampaignEvent) {
        match event {
            CampaignEvent::TrackerChanged { change, reason, .. } => self.record_change(change, reason),
            CampaignEvent::TrackerSet { owner, tracker, from: Some(from), reason, .. } => {
                let to = tracker.value;
                let change = TrackerChange {
                    owner: owner.clone(),
                    name: tracker.name.clone(),
                    by: to.saturating_sub(*from),
                    from: *from,
                    to,
                    reached: None,
                    visible_to: tracker.visible_to.clone(),
                };
                self.record_change(&change, reason);
            }
            CampaignEvent::RollRecorded(roll) => roll.changes.iter().for_each(|change| self.record_change(change, "")),
            _ => {}
        }
    }

    fn record_change(&mut self, change: &TrackerChange, reason: &str) {
        let is_same = |moved: &&mut MovedTracker| is_same_tracker(&moved.change, &change.owner, &change.name);
        let moved = if let Some(moved) = self.moved.iter_mut().find(is_same) {
            (moved.change.to, moved.change.reached) = (change.to, change.reached);
            moved
        } else {
            self.moved.push(MovedTracker { change: change.clone(), reasons: Vec::new() });
            self.moved.last_mut().expect("a tracker was just added")
        };
        let reason = shorten_reason(reason);
        if !reason.is_empty() && moved.reasons.len() < REASONS_SHOWN && !moved.reasons.contains(&reason) {
            moved.reasons.push(reason);
        }
    }

    fn lines(&self) -> impl Iterator<Item = &MovedTracker> {
        self.moved.iter().filter(|moved| moved.change.from != moved.change.to)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines().next().is_none()
    }

    pub(super) fn render(&self, text: &mut String, names: &Names<'_>) {
        if self.is_empty() {
            return;
        }
        text.push_str("\n## Trackers\n\n");
        for MovedTracker { change, reasons } in self.lines().take(TRACKERS_SHOWN) {
            let owner = owner_name(&change.owner, names);
            // Only an end that was reached is worth telling afterwards: that HP is full again is not.
            let reached = change.reached.filter(|reached| *reached == TrackerBound::End);
            let line = TrackerChange { reached, ..change.clone() }.describe(owner.as_deref());
            let reasons = if reasons.is_empty() { String::new() } else { format!(" ({})", reasons.join("; ")) };
            let _ = writeln!(text, "- {line}{reasons}");
        }
        let left_out = self.lines().skip(TRACKERS_SHOWN).count();
        if left_out > 0 {
            let _ = writeln!(text, "- and {left_out} more trackers");
        }
    }
}

fn is_same_tracker(change: &TrackerChange, owner: &TrackerOwner, name: &str) -> bool {
    change.owner == *owner && is_same_name(&change.name, name)
}

fn owner_name(owner: &TrackerOwner, names: &Names<'_>) -> Option<String> {
    let actor = owner.actor_id.as_ref().map(|id| names.actor(id));
    actor.or_else(|| owner.participant_id.as_ref().map(|id| names.participant(id)))
}

fn shorten_reason(reason: &str) -> String {
    let reason = to_one_line(reason);
    match reason.char_indices().nth(REASON_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", reason[..end].trim_end()),
        None => reason,
    }
}
