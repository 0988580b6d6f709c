//! Changes for a recap: the events of a session that changed the campaign, one line each.

use std::fmt::Write;

use super::super::entities::{ActorController, Controller, Role};
use super::super::event::CampaignEvent;
use super::names::{Names, to_one_line};

const CHANGES_SHOWN: usize = 30;

#[derive(Default)]
pub(super) struct RecapChanges {
    lines: Vec<String>,
    left_out: usize,
}

impl RecapChanges {
    pub(super) fn record_event(&mut self, event: &CampaignEvent, names: &Names<'_>) {
        let Some(change) = describe_change(event, names) else { return };
        if self.lines.len() < CHANGES_SHOWN {
            self.lines.push(change);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn render(&self, text: &mut String) {
        if self.lines.is_empty() {
            return;
        }
        text.push_str("\n## What changed\n\n");
        for change in &self.lines {
            let _ = writeln!(text, "- {change}");
        }
        if self.left_out > 0 {
            let _ = writeln!(text, "- and {} more changes", self.left_out);
        }
    }
}

/// One change as text for people; `None` for events that a recap does not list.
pub(super) fn describe_change(event: &CampaignEvent, names: &Names<'_>) -> Option<String> {
    Some(match event {
        CampaignEvent::CampaignUpdated { name: Some(name), .. } => {
            format!("The campaign is now called {}", to_one_line(name))
        }
        CampaignEvent::ParticipantAdded { display_name, role, controller, .. } => {
            let role = if *role == Role::Gm { " as game master" } else { "" };
            let controller = if *controller == Controller::Ai { ", an AI" } else { "" };
            format!("{}{controller} joined the table{role}", to_one_line(display_name))
        }
        CampaignEvent::ParticipantUpdated { participant_id, display_name: Some(name), .. } => {
            describe_rename(names.last_known_name(participant_id), name)
        }
        CampaignEvent::ParticipantRemoved { display_name, released_actor_ids, .. } => {
            let released: Vec<String> = released_actor_ids.iter().map(|id| names.actor(id)).collect();
            let released = match released.as_slice() {
                [] => String::new(),
                released => format!(", and nobody plays {} now", released.join(", ")),
            };
            format!("{} left the table{released}", to_one_line(display_name))
        }
        CampaignEvent::ActorAdded { name, kind, .. } => {
            format!("{} ({}) entered the story", to_one_line(name), kind.as_str())
        }
        CampaignEvent::ActorUpdated { actor_id, name: Some(name), .. } => {
            describe_rename(names.last_known_name(actor_id), name)
        }
        CampaignEvent::ActorRemoved { name, .. } => format!("{} left the story", to_one_line(name)),
        CampaignEvent::ActorControlSet { actor_id, controller } => {
            let player = match controller {
                ActorController::Gm => "the game master".to_owned(),
                ActorController::Participant(_) => names.controller(controller),
            };
            format!("{} is now played by {player}", names.actor(actor_id))
        }
        _ => return None,
    })
}

fn describe_rename(before: Option<&str>, name: &str) -> String {
    let name = to_one_line(name);
    match before {
        Some(before) => format!("{before} is now called {name}"),
        None => format!("{name} is a new name"),
    }
}
