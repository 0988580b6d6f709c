//! Renders the recap of a session: date, attendance, notes, dice statistics and changes.
//!
//! It repeats what is in the journal and adds nothing. Long notes are cut and long lists say how much they leave out.

mod attendance;
mod changes;
mod dice;
mod event_line;
mod luck;
mod luck_report;
mod names;
mod notes;
mod people;
mod scenes;
#[cfg(test)]
mod tests;
mod trackers;

use std::borrow::Borrow;
use std::fmt::Write;

use jiff::Timestamp;

use self::attendance::Attendance;
use self::changes::RecapChanges;
use self::dice::DiceSection;
use self::names::{Names, to_one_line};
use self::notes::RecapNotes;
use self::scenes::RecapScenes;
use self::trackers::RecapTrackers;
use super::entities::{ActorKind, Session};
use super::event::CampaignEvent;
use crate::Moment;

pub use self::event_line::describe_events;
pub use self::luck_report::{LuckReport, LuckRow, NotableRoll, luck_report};
pub use self::people::People;

/// Participants, and player characters, that it names.
const PEOPLE_SHOWN: usize = 20;

/// The recap of a session as Markdown. `people` gives current names, redacted for the reader; `events` are those of the
/// campaign's journal in order, at least from the session's start, each with its time and principal.
pub fn recap<B: AsRef<str>, E: Borrow<CampaignEvent>>(
    session: &Session,
    people: &dyn People,
    events: impl IntoIterator<Item = (Timestamp, B, E)>,
) -> String {
    let mut recap = RecapText { names: Names::new(people), ..RecapText::default() };
    for (at, by, event) in events {
        recap.record_event(session, at, by.as_ref(), event.borrow());
    }
    recap.render(session, people)
}

#[derive(Default)]
struct RecapText<'a> {
    names: Names<'a>,
    attendance: Attendance,
    /// Whether the session is active at the current event.
    is_during: bool,
    notes: RecapNotes,
    dice: DiceSection,
    scenes: RecapScenes,
    trackers: RecapTrackers,
    changes: RecapChanges,
}

impl RecapText<'_> {
    fn record_event(&mut self, session: &Session, at: Timestamp, by: &str, event: &CampaignEvent) {
        match event {
            CampaignEvent::SessionStarted { session_id, .. } if *session_id == session.id => self.is_during = true,
            CampaignEvent::SessionEnded { session_id } if *session_id == session.id => self.is_during = false,
            CampaignEvent::NoteAdded { note_id, session_id, text, visible_to, .. }
                if session_id.as_ref() == Some(&session.id) =>
            {
                self.notes.add(note_id, at, by, text, !visible_to.is_table());
            }
            CampaignEvent::NoteChanged { note_id, text, .. } => self.notes.change(note_id, text.as_deref()),
            CampaignEvent::NoteRemoved { note_id, .. } => self.notes.remove(note_id),
            CampaignEvent::RollRecorded(roll) if roll.session_id.as_ref() == Some(&session.id) => {
                self.dice.record_roll(at, roll, &self.names);
            }
            _ if self.is_during => self.changes.record_event(event, &self.names),
            _ => {}
        }
        if self.is_during {
            self.scenes.record_event(at, event);
            self.trackers.record_event(event);
        }
        self.attendance.record_event(event, &session.id);
        self.names.record_event(event);
    }

    fn render(&self, session: &Session, people: &dyn People) -> String {
        let mut text = String::new();
        let name = if session.name.is_empty() {
            format!("The session of {}", format_day(session.started_at.timestamp()))
        } else {
            to_one_line(&session.name)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {name}\n\n{}", format_when(session, people));
        let table = self.attendance.participants_present(session, people);
        if !table.is_empty() {
            let _ = writeln!(text, "\n**At the table:** {}", table.join(", "));
        }
        let cast = self.player_characters(session, people);
        if !cast.is_empty() {
            let _ = writeln!(text, "\n**In the story:** {}", cast.join(", "));
        }
        self.scenes.render(&mut text, &self.names);
        self.notes.render(&mut text, session);
        self.dice.render(&mut text);
        self.trackers.render(&mut text, &self.names);
        self.dice.luck.render(&self.names, &mut text);
        self.changes.render(&mut text);
        if self.notes.is_empty() && self.dice.is_empty() && self.changes.is_empty() && self.trackers.is_empty() {
            text.push_str("\nNothing was written down, and no dice were rolled.\n");
        }
        text
    }

    /// The player characters, each with its controller.
    fn player_characters(&self, session: &Session, people: &dyn People) -> Vec<String> {
        let all = people.actors().filter(|actor| actor.kind == ActorKind::Pc);
        let there = all.filter(|actor| was_present(actor.created_at, session));
        let played = there.map(|actor| match &actor.controller {
            Some(controller) => format!("{} ({})", to_one_line(&actor.name), self.names.controller(controller)),
            None => to_one_line(&actor.name),
        });
        truncate_list(played, PEOPLE_SHOWN)
    }
}

fn was_present(since: Moment, session: &Session) -> bool {
    session.ended_at.is_none_or(|ended| since <= ended)
}

/// The first `count_max` items, then how many more there are.
fn truncate_list(mut all: impl Iterator<Item = String>, count_max: usize) -> Vec<String> {
    let mut shown: Vec<String> = all.by_ref().take(count_max).collect();
    let left_out = all.count();
    shown.extend((left_out > 0).then(|| format!("and {left_out} more")));
    shown
}

fn format_when(session: &Session, people: &dyn People) -> String {
    let campaign = people.campaign().map(|campaign| format!("*{}*, ", to_one_line(&campaign.name))).unwrap_or_default();
    let start = session.started_at.timestamp();
    let Some(end) = session.ended_at.map(Moment::timestamp) else {
        return format!("{campaign}{}, since {} UTC, still going on", format_day(start), format_time(start));
    };
    let until = if format_day(start) == format_day(end) {
        format_time(end)
    } else {
        format!("{}, {}", format_day(end), format_time(end))
    };
    let minutes = end.duration_since(start).as_mins();
    let long = match (minutes / 60, minutes % 60) {
        (0, 0) => "under a minute".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    };
    format!("{campaign}{}, {} to {until} UTC ({long})", format_day(start), format_time(start))
}

fn format_day(at: Timestamp) -> String {
    at.strftime("%-d %B %Y").to_string()
}

fn format_time(at: Timestamp) -> String {
    at.strftime("%H:%M").to_string()
}

/// Indents the following lines, so that the note stays one item of the Markdown list.
fn indent_note(note: &str) -> String {
    let lines: Vec<&str> = note.lines().collect();
    lines.join("\n  ").replace("\n  \n", "\n\n")
}
