//! The notes of a session as they stand: corrected ones with their last text, without those that were taken back.

use std::fmt::Write;

use jiff::Timestamp;

use super::super::entities::Session;
use super::names::to_one_line;
use super::{format_time, indent_note};
use crate::Moment;

/// Notes that a recap shows, and characters of each.
pub(super) const NOTES_SHOWN: usize = 50;
pub(super) const NOTE_CHARS_SHOWN: usize = 500;

#[derive(Default)]
pub(super) struct RecapNotes(Vec<RecapNote>);

struct RecapNote {
    id: String,
    at: Timestamp,
    by: String,
    text: String,
    /// Whether not everybody at the table may hear it.
    is_secret: bool,
}

impl RecapNotes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, id: &str, at: Timestamp, by: &str, text: &str, is_secret: bool) {
        self.0.push(RecapNote { id: id.to_owned(), at, by: by.to_owned(), text: truncate_note(text), is_secret });
    }

    /// Replaces the text of a note. Notes of other sessions are unknown here, and change nothing.
    pub(super) fn change(&mut self, id: &str, text: Option<&str>) {
        if let (Some(text), Some(note)) = (text, self.0.iter_mut().find(|note| note.id == id)) {
            note.text = truncate_note(text);
        }
    }

    pub(super) fn remove(&mut self, id: &str) {
        self.0.retain(|note| note.id != id);
    }

    pub(super) fn render(&self, text: &mut String, session: &Session) {
        let Some(first) = self.0.first() else { return };
        text.push_str("\n## What happened\n\n");
        let shown = &self.0[..self.0.len().min(NOTES_SHOWN)];
        let has_several_authors = shown.iter().any(|note| note.by != first.by);
        for RecapNote { at, by, text: note, is_secret, .. } in shown {
            let is_later = session.ended_at.is_some_and(|ended| Moment::from(*at) > ended);
            let time = if is_later { "later".to_owned() } else { format_time(*at) };
            let author = if has_several_authors { format!(" ({})", to_one_line(by)) } else { String::new() };
            let secret = if *is_secret { " (secret)" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "- {time}{author}{secret}: {}", indent_note(note));
        }
        let left_out = self.0.len() - shown.len();
        if left_out > 0 {
            let _ = writeln!(text, "- and {left_out} more notes");
        }
    }
}

fn truncate_note(text: &str) -> String {
    match text.char_indices().nth(NOTE_CHARS_SHOWN) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
