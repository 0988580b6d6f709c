//! The log of a session: rolls with their dice, notes, changes of trackers, scenes. The newest first.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;

use super::roll_view::{RollView, audience_words};
use super::state::{EventRow, TableState};
use crate::components::{clock_time, empty_state};

/// Notes that were changed or removed since they were taken, by id: the new text, or `None` if removed.
type NoteEdits<'a> = BTreeMap<&'a str, Option<&'a str>>;

pub(super) fn render(state: &TableState) -> Markup {
    let edits = note_edits(&state.events);
    let entries: Vec<Markup> = state.events.iter().filter_map(|row| entry(state, row, &edits)).collect();
    html! {
        @if entries.is_empty() {
            li { (empty_state("Nothing happened yet", &html! { p { "Rolls and notes appear here, on every screen at once." } })) }
        }
        @for entry in &entries { (entry) }
        @if let Some(more) = &state.older_events { li.pages { a.button href=(more) { "Older entries" } } }
    }
}

/// The newest event about each note wins, and events come newest first.
fn note_edits(events: &[EventRow]) -> NoteEdits<'_> {
    let mut edits = NoteEdits::new();
    for row in events {
        let Some(id) = row.text("note_id") else { continue };
        match row.kind() {
            kind if kind.starts_with("note.removed") => drop(edits.entry(id).or_insert(None)),
            kind if kind.starts_with("note.changed") => {
                if let Some(text) = row.text("text") {
                    edits.entry(id).or_insert(Some(text));
                }
            }
            _ => {}
        }
    }
    edits
}

fn entry(state: &TableState, row: &EventRow, edits: &NoteEdits<'_>) -> Option<Markup> {
    let (kind, title, body) = match row.kind().split('.').next().unwrap_or_default() {
        "roll" => roll_entry(state, row)?,
        "note" => note_entry(state, row, edits)?,
        "tracker" => ("entry-change", tracker_line(state, row)?, html! {}),
        "spotlight" => ("entry-scene", html! { span.entry-title { "Scene: " bdi { (row.text("scene")?) } } }, html! {}),
        "session" => {
            let what =
                if row.kind().starts_with("session.started") { "The session began" } else { "The session ended" };
            ("entry-change", html! { span.entry-title { (what) } }, html! {})
        }
        _ => return None,
    };
    // One record may change the same tracker of several actors.
    let own = ["id", "note_id", "name", "actor_id", "participant_id"].map(|field| row.text(field).unwrap_or_default());
    let revision = row.revision.map_or_else(|| checksum(&row.at).to_string(), |revision| revision.to_string());
    let id = format!("e{revision}-{}", checksum(&own.join("/")));
    Some(html! {
        li id=(id) class={ "entry " (kind) @if row.is_fresh() { " fresh" } } {
            div.entry-head { (title) (clock_time(&row.at)) }
            (body)
        }
    })
}

/// A short number of a text, to tell entries of one revision or of one moment apart.
fn checksum(text: &str) -> u32 {
    text.bytes().fold(5_381, |sum: u32, byte| sum.wrapping_mul(33) ^ u32::from(byte))
}

fn roll_entry(state: &TableState, row: &EventRow) -> Option<(&'static str, Markup, Markup)> {
    let roll = RollView::from_row(row)?;
    let changes = roll.changes();
    let title = html! {
        span.entry-title {
            @if let Some(name) = roll.roller_name(state) { strong dir="auto" { (name) } " " }
            @if let Some(reason) = roll.reason() { span dir="auto" { (reason) } } @else { "rolls" }
            (audience_badge(roll.audience(state)))
        }
    };
    let body = html! {
        div.dice { (roll.dice()) }
        p.entry-outcome {
            @if let Some((words, class)) = roll.outcome() { span class={ "outcome " (class) } { (words) } }
            @if let Some(likelihood) = roll.likelihood() { span.muted { (likelihood) } }
            @if let Some(expression) = roll.expression() { span.muted { code { (expression) } } }
        }
        @if !changes.is_empty() { p.muted { (changes.join(" · ")) } }
    };
    Some(("entry-roll", title, body))
}

fn note_entry(state: &TableState, row: &EventRow, edits: &NoteEdits<'_>) -> Option<(&'static str, Markup, Markup)> {
    if !row.kind().starts_with("note.added") {
        return None;
    }
    let text = match edits.get(row.text("note_id")?) {
        Some(None) => return None,
        Some(Some(text)) => *text,
        None => row.text("text")?,
    };
    let title = html! { span.entry-title { "Note" (audience_badge(audience_words(state, &row.event))) } };
    Some(("entry-note", title, html! { p.note-text dir="auto" { (text) } }))
}

/// The badge of an entry that not everybody at the table sees.
pub(super) fn audience_badge(audience: Option<String>) -> Markup {
    html! { @if let Some(audience) = audience { " " span.badge.badge-private dir="auto" { (audience) } } }
}

fn tracker_line(state: &TableState, row: &EventRow) -> Option<Markup> {
    let number = |field: &str| row.event.get(field).and_then(Value::as_i64);
    let (name, from, to) = (row.text("name")?, number("from")?, number("to")?);
    if from == to {
        return None;
    }
    let of = row.text("actor_id").and_then(|id| state.actor_name(id));
    Some(html! {
        span.entry-title {
            @if let Some(of) = of { strong dir="auto" { (of) } " " }
            bdi { (name) } " " (from) " → " (to)
            @if let Some(reason) = row.text("reason") { span.muted dir="auto" { " " (reason) } }
        }
    })
}

/// The last roll as a sentence, for those who hear the page. Each roll is an element of its own, so that one with the same
/// words is announced as well.
pub(super) fn announcement(state: &TableState) -> Markup {
    let last = state.events.iter().find_map(RollView::from_row);
    html! {
        @if let Some(roll) = last {
            @let id = roll.id().unwrap_or_default();
            p id={ "announced-" (id) } data-roll=(id) { (roll.screen_reader_text(state)) }
        }
    }
}
