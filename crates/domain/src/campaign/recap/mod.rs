//! Renders the recap of a session: date, attendance, notes, dice statistics and changes.
//!
//! It repeats what is in the journal and adds nothing. Long notes are cut and long lists say how much they leave out.

mod attendance;
mod changes;
mod dice;
mod luck;
mod names;
mod people;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::fmt::Write;

use jiff::Timestamp;

use self::attendance::Seats;
use self::changes::RecapChanges;
use self::dice::Dice;
use self::names::{Names, line};
use super::event::CampaignEvent;
use super::record::{ActorKind, Session};
use crate::Moment;

pub use self::people::People;

/// Notes that a recap shows, and characters of each.
const NOTES_SHOWN: usize = 50;
const NOTE_CHARS_SHOWN: usize = 500;
/// Participants, and player characters, that it names.
const PEOPLE_SHOWN: usize = 20;

/// The recap of a session as Markdown. `people` gives current names, redacted for the reader; `events` are those of the
/// campaign's journal in order, at least from the session's start, each with its time and principal.
pub fn recap<B: AsRef<str>, E: Borrow<CampaignEvent>>(
    session: &Session,
    people: &dyn People,
    events: impl IntoIterator<Item = (Timestamp, B, E)>,
) -> String {
    let mut told = RecapText { names: Names::new(people), ..RecapText::default() };
    for (at, by, event) in events {
        told.hear(session, at, by.as_ref(), event.borrow());
    }
    told.tell(session, people)
}

#[derive(Default)]
struct RecapText<'a> {
    names: Names<'a>,
    seats: Seats,
    /// Whether the session is active at the current event.
    is_during: bool,
    notes: Vec<(Timestamp, String, String)>,
    notes_left_out: usize,
    dice: Dice,
    changes: RecapChanges,
}

impl RecapText<'_> {
    fn hear(&mut self, session: &Session, at: Timestamp, by: &str, event: &CampaignEvent) {
        match event {
            CampaignEvent::SessionStarted { session_id, .. } if *session_id == session.id => self.is_during = true,
            CampaignEvent::SessionEnded { session_id } if *session_id == session.id => self.is_during = false,
            CampaignEvent::NoteAdded { session_id, text, .. } if *session_id == session.id => {
                if self.notes.len() < NOTES_SHOWN {
                    self.notes.push((at, by.to_owned(), cut(text)));
                } else {
                    self.notes_left_out += 1;
                }
            }
            CampaignEvent::RollRecorded(roll) if roll.session_id.as_ref() == Some(&session.id) => {
                self.dice.hear(at, roll, &self.names);
            }
            _ if self.is_during => self.changes.hear(event, &self.names),
            _ => {}
        }
        self.seats.hear(event, &session.id);
        self.names.hear(event);
    }

    fn tell(&self, session: &Session, people: &dyn People) -> String {
        let mut text = String::new();
        let name = if session.name.is_empty() {
            format!("The session of {}", day(session.started_at.timestamp()))
        } else {
            line(&session.name)
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "# {name}\n\n{}", when(session, people));
        let table = self.seats.table(session, people);
        if !table.is_empty() {
            let _ = writeln!(text, "\n**At the table:** {}", table.join(", "));
        }
        let cast = self.cast(session, people);
        if !cast.is_empty() {
            let _ = writeln!(text, "\n**In the story:** {}", cast.join(", "));
        }
        self.tell_notes(&mut text, session);
        self.dice.tell(&mut text);
        self.changes.tell(&mut text);
        if self.notes.is_empty() && self.dice.is_empty() && self.changes.is_empty() {
            text.push_str("\nNothing was written down, and no dice were rolled.\n");
        }
        text
    }

    /// The player characters, each with its controller.
    fn cast(&self, session: &Session, people: &dyn People) -> Vec<String> {
        let all = people.actors().filter(|actor| actor.kind == ActorKind::Pc);
        let there = all.filter(|actor| was_there(actor.created_at, session));
        let played = there.map(|actor| match &actor.controller {
            Some(controller) => format!("{} ({})", line(&actor.name), self.names.controller(controller)),
            None => line(&actor.name),
        });
        shown(played, PEOPLE_SHOWN)
    }

    fn tell_notes(&self, text: &mut String, session: &Session) {
        if self.notes.is_empty() {
            return;
        }
        text.push_str("\n## What happened\n\n");
        let first_author = self.notes.first().map(|(_, by, _)| by);
        let has_several_authors = self.notes.iter().any(|(_, by, _)| Some(by) != first_author);
        for (at, by, note) in &self.notes {
            let is_later = session.ended_at.is_some_and(|ended| Moment::from(*at) > ended);
            let time = if is_later { "later".to_owned() } else { clock(*at) };
            let author = if has_several_authors { format!(" ({})", line(by)) } else { String::new() };
            let _ = writeln!(text, "- {time}{author}: {}", indented(note));
        }
        if self.notes_left_out > 0 {
            let _ = writeln!(text, "- and {} more notes", self.notes_left_out);
        }
    }
}

fn was_there(since: Moment, session: &Session) -> bool {
    session.ended_at.is_none_or(|ended| since <= ended)
}

/// The first `count_max` items, then how many more there are.
fn shown(mut all: impl Iterator<Item = String>, count_max: usize) -> Vec<String> {
    let mut shown: Vec<String> = all.by_ref().take(count_max).collect();
    let left_out = all.count();
    shown.extend((left_out > 0).then(|| format!("and {left_out} more")));
    shown
}

fn when(session: &Session, people: &dyn People) -> String {
    let campaign = people.campaign().map(|campaign| format!("*{}*, ", line(&campaign.name))).unwrap_or_default();
    let start = session.started_at.timestamp();
    let Some(end) = session.ended_at.map(Moment::timestamp) else {
        return format!("{campaign}{}, since {} UTC, still going on", day(start), clock(start));
    };
    let until = if day(start) == day(end) { clock(end) } else { format!("{}, {}", day(end), clock(end)) };
    let minutes = end.duration_since(start).as_mins();
    let long = match (minutes / 60, minutes % 60) {
        (0, 0) => "under a minute".to_owned(),
        (0, minutes) => format!("{minutes} min"),
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    };
    format!("{campaign}{}, {} to {until} UTC ({long})", day(start), clock(start))
}

fn day(at: Timestamp) -> String {
    at.strftime("%-d %B %Y").to_string()
}

fn clock(at: Timestamp) -> String {
    at.strftime("%H:%M").to_string()
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(NOTE_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// Indents the following lines, so that the note stays one item of the Markdown list.
fn indented(note: &str) -> String {
    let lines: Vec<&str> = note.lines().collect();
    lines.join("\n  ").replace("\n  \n", "\n\n")
}
