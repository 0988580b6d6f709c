//! Attendance for a recap: the participants of a session, including those who have left the campaign since.

use std::collections::BTreeSet;

use super::super::entities::{Controller, Participant, Role, Session};
use super::super::event::CampaignEvent;
use super::names::to_one_line;
use super::{PEOPLE_SHOWN, People, truncate_list, was_present};

/// Tracks participants who left after the session began: they are no longer in the campaign, but attended.
#[derive(Default)]
pub(super) struct Attendance {
    has_started: bool,
    has_ended: bool,
    came_later: BTreeSet<String>,
    left_since: Vec<String>,
}

impl Attendance {
    pub(super) fn record_event(&mut self, event: &CampaignEvent, session: &str) {
        match event {
            CampaignEvent::SessionStarted { session_id, .. } if session_id == session => self.has_started = true,
            CampaignEvent::SessionEnded { session_id } if session_id == session => self.has_ended = true,
            CampaignEvent::ParticipantAdded { participant_id, .. } if self.has_ended => {
                self.came_later.insert(participant_id.clone());
            }
            CampaignEvent::ParticipantRemoved { participant_id, display_name, .. }
                if self.has_started && !self.came_later.contains(participant_id) =>
            {
                self.left_since.push(format!("{} (left since)", to_one_line(display_name)));
            }
            _ => {}
        }
    }

    pub(super) fn participants_present(&self, session: &Session, people: &dyn People) -> Vec<String> {
        let there = people.participants().filter(|participant| was_present(participant.created_at, session));
        let there = there.map(|participant| format_participant(&participant));
        truncate_list(there.chain(self.left_since.iter().cloned()), PEOPLE_SHOWN)
    }
}

fn format_participant(participant: &Participant) -> String {
    let name = to_one_line(&participant.display_name);
    match (participant.role, participant.controller) {
        (Role::Gm, Controller::Human) => format!("{name} (GM)"),
        (Role::Gm, Controller::Ai) => format!("{name} (GM, AI)"),
        (Role::Player, Controller::Human) => name,
        (Role::Player, Controller::Ai) => format!("{name} (AI)"),
    }
}
