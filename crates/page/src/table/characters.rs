//! The characters of a table with their trackers, and the trackers of the campaign itself.

use maud::{Markup, html};

use super::state::{ActorRow, TableState, TrackerRow};
use crate::components::empty_state;
use crate::lore::lore_path;

/// A tracker up to this is drawn as marks to count; a longer one as a bar.
const MARKS_MAX: i64 = 12;

pub(super) fn render(state: &TableState) -> Markup {
    let (played, others): (Vec<&ActorRow>, Vec<&ActorRow>) = state.actors.iter().partition(|actor| actor.kind == "PC");
    html! {
        h2 { "Characters" }
        @if state.actors.is_empty() {
            (empty_state("Nobody yet", &html! {
                @if state.is_game_master {
                    p { "Ask your AI to add them: “Add Mira, whom Ana plays.” Without an AI, docs/campaign.md has the commands." }
                    p { "You can play without them too: start a session, then roll and take notes." }
                } @else {
                    p { "The game master adds the characters." }
                }
            }))
        }
        ul.people { @for actor in played { (person(state, actor)) } }
        @if !state.trackers.is_empty() {
            h3 { "The table" }
            ul.trackers { @for tracker in &state.trackers { (tracker_row(state, tracker, None)) } }
        }
        @if !others.is_empty() {
            h3 { "Others" }
            ul.people { @for actor in others { (person(state, actor)) } }
        }
        @if state.has_more_actors {
            p.notice { "Only the newest " (state.actors.len()) " are here. Your AI can list the others, and the lore has those that are written about: " a href=(lore_path(&state.head.id)) { "to the lore" } "." }
        }
    }
}

fn person(state: &TableState, actor: &ActorRow) -> Markup {
    let is_up = state.spotlight.up.as_deref() == Some(actor.name.as_str());
    html! {
        li.person id={ "p-" (actor.id) } .is-up[is_up] {
            div.split {
                h3 dir="auto" { (actor.name) @if is_up { span.badge { "up" } } }
                @if let Some(player) = state.player_of(actor) { span.muted dir="auto" { (player) } }
            }
            ul.trackers {
                @for tracker in actor.trackers.iter().filter(|tracker| tracker.max != Some(0)) {
                    (tracker_row(state, tracker, Some(actor)))
                }
            }
        }
    }
}

fn tracker_row(state: &TableState, tracker: &TrackerRow, actor: Option<&ActorRow>) -> Markup {
    let of = actor.map(|actor| actor.name.as_str());
    let button = |by: i64, sign: &str, is_possible: bool| {
        html! {
            // Not `disabled`: the button would lose the focus when the tracker comes to its limit.
            button.step name="by" value=(by) aria-disabled=[(!is_possible).then_some("true")] {
                span aria-hidden="true" { (sign) }
                span.visually-hidden {
                    @if let Some(of) = of { (of) ": " }
                    (tracker.name) @if by < 0 { " down" } @else { " up" }
                }
            }
        }
    };
    html! {
        li.tracker data-value=(tracker.value) title=[tracker.meaning.as_deref()] {
            span.tracker-name dir="auto" { (tracker.name) @if tracker.visible_to.is_some() { span.badge { "hidden" } } }
            (gauge(tracker))
            @if state.plays {
                form.steps method="post" action={ "/c/" (state.head.id) "/tracker" }
                    hx-post={ "/c/" (state.head.id) "/tracker" } hx-target="#table-fault" {
                    input type="hidden" name="name" value=(tracker.name);
                    @if let Some(actor) = actor { input type="hidden" name="actor_id" value=(actor.id); }
                    (button(-1, "−", tracker.value > tracker.min))
                    (button(1, "+", tracker.max.is_none_or(|max| tracker.value < max)))
                }
            }
        }
    }
}

/// The value of a tracker: as marks if its maximum is small, else as a bar; always with its number.
fn gauge(tracker: &TrackerRow) -> Markup {
    let class = match tracker.name.to_lowercase().as_str() {
        "hope" => "gauge gauge-hope",
        "fear" => "gauge gauge-fear",
        "stress" => "gauge gauge-stress",
        _ => "gauge",
    };
    let marks = tracker.max.filter(|max| *max <= MARKS_MAX && tracker.min == 0 && tracker.value >= 0);
    html! {
        span class=(class) {
            @if let Some(max) = marks {
                span.marks.is-many[max > 8] aria-hidden="true" {
                    @for at in 0..max { span.mark.is-full[at < tracker.value] {} }
                }
            } @else if let Some(max) = tracker.max {
                meter min=(tracker.min) max=(max) value=(tracker.value) aria-hidden="true" {}
            }
            span.value { (tracker.value) @if let Some(max) = tracker.max { span.muted { "/" (max) } } }
        }
    }
}
