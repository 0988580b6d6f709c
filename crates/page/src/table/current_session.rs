//! The middle of the table: the session, the scene, who is up, the last roll, and the boxes to roll and to take notes.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::audience::audience_field;
use super::log::audience_badge;
use super::roll_view::RollView;
use super::state::{SessionRow, TableState};
use super::{RefusedForm, TableForm};
use crate::SharedContext;
use crate::components::{
    clock_time, count, described_by, empty_state, encode, field_fault, invalid, source_lines, split_message,
};
use crate::extractors::{PagePath, PageQuery};
use crate::layout::html_response;
use crate::middleware::PageError;
use crate::visitor::Visitor;

pub(super) fn render(state: &TableState) -> Markup {
    html! {
        (session_line(state))
        (spotlight(state))
        @if let Some(roll) = state.events.iter().find_map(RollView::from_row) { (last_roll(state, &roll)) }
        @if state.sessions.is_empty() {
            (empty_state("No session yet", &html! {
                p {
                    @if state.is_game_master { "Start one below: rolls and notes go to it." }
                    @else { "The game master starts one; then rolls and notes appear here." }
                }
            }))
        }
    }
}

fn session_line(state: &TableState) -> Markup {
    let shown = state.active_session().or(state.sessions.first());
    html! {
        @if let Some(session) = shown {
            div.session-line data-session=(if session.is_active() { "active" } else { "ended" }) {
                h2 {
                    "Session " (state.session_number(&session.id).unwrap_or_default())
                    @if !session.name.is_empty() { " · " bdi { (session.name) } }
                }
                p.muted {
                    @if session.is_active() { span.badge.badge-live { "going on" } " since " (clock_time(&session.started_at)) }
                    @else { span.badge { "ended" } }
                    " · " (count(session.roll_count, "roll", "rolls")) " · " (count(session.note_count, "note", "notes"))
                }
                (recap_links(state, session))
            }
        }
    }
}

/// The recap of the session that is shown, and that of the one before it.
fn recap_links(state: &TableState, session: &SessionRow) -> Markup {
    let path = |number: usize| format!("/c/{}/sessions/{number}", state.head.id);
    let number = state.session_number(&session.id).unwrap_or_default();
    html! {
        p.recap-links {
            a href=(path(number)) { "Recap so far" }
            @if number > 1 { " · " a href=(path(number - 1)) { "Previously: session " (number - 1) } }
        }
    }
}

/// How lucky everybody was in the session that is shown. The address of the picture has the number of rolls in it, so that
/// a browser asks for it again after each roll.
pub(super) fn luck_strip(state: &TableState) -> Markup {
    let shown = state.active_session().or(state.sessions.first()).filter(|session| session.roll_count > 0);
    html! { @if let Some(session) = shown { (luck_figure(&state.head.id, session)) } }
}

/// The picture of the luck in a session.
pub(super) fn luck_figure(campaign_id: &str, session: &SessionRow) -> Markup {
    let address = format!("/c/{campaign_id}/luck.svg?session={}&rolls={}", session.id, session.roll_count);
    html! {
        figure.card.luck {
            img data-themed src=(address) alt="How lucky everybody was: each roll between unlucky and lucky" loading="lazy" width="720" height="300";
        }
    }
}

fn spotlight(state: &TableState) -> Markup {
    html! {
        @if state.spotlight.scene.is_some() || state.spotlight.up.is_some() {
            dl.spotlight {
                @if let Some(scene) = &state.spotlight.scene { div { dt { "Scene" } dd dir="auto" { (scene) } } }
                @if let Some(up) = &state.spotlight.up {
                    div { dt { "Spotlight" } dd dir="auto" { @if up == "GM" { "Game master" } @else { (up) } } }
                }
            }
        }
    }
}

fn last_roll(state: &TableState, roll: &RollView<'_>) -> Markup {
    let (words, class) = roll.outcome().unwrap_or(("", "outcome-none"));
    html! {
        div class={ "last-roll " (class) } {
            p.last-roll-who {
                @if let Some(name) = roll.roller_name(state) { strong dir="auto" { (name) } " " }
                @if let Some(reason) = roll.reason() { span dir="auto" { (reason) } }
                (audience_badge(roll.audience(state)))
            }
            div.dice.dice-large { (roll.dice()) }
            p.last-roll-outcome {
                @if !words.is_empty() { strong { (words) } }
                @if let Some(likelihood) = roll.likelihood() { span { (likelihood) } }
            }
            @if let Some(chance) = roll.likelihood_part() { meter.chance-bar min="0" max="1" value=(format!("{chance:.4}")) aria-hidden="true" {} }
        }
    }
}

/// The forms that people type into. They are outside of the parts that a script replaces. The style sheet hides the forms
/// that need an active session while there is none, except a note that somebody has begun to type.
pub(super) fn render_forms(state: &TableState, refused: Option<&RefusedForm<'_>>) -> Markup {
    html! {
        @if state.plays {
            (roll_box(state, refused))
            (note_box(state, refused))
            @if state.is_game_master { (master_boxes(state, refused)) }
        }
    }
}

/// The refusal, if it is that of this form.
fn refusal_of<'a>(refused: Option<&RefusedForm<'a>>, kind: TableForm) -> Option<RefusedForm<'a>> {
    refused.filter(|refused| refused.kind == kind).copied()
}

fn typed_text<'a>(refused: Option<&RefusedForm<'a>>, kind: TableForm, field: &str) -> &'a str {
    refusal_of(refused, kind).map(|refused| refused.form.text(field)).unwrap_or_default()
}

/// The characters to choose from. A script adds the new ones to the lists below.
pub(super) fn actor_options(state: &TableState) -> Markup {
    html! { @for actor in &state.actors { option value=(actor.id) { (actor.name) } } }
}

fn roll_box(state: &TableState, refused: Option<&RefusedForm<'_>>) -> Markup {
    let path = format!("/c/{}", state.head.id);
    let usual = if state.actors.iter().any(|actor| actor.template.as_deref() == Some("daggerheart")) {
        "duality(+0, dc 12)"
    } else {
        "1d20"
    };
    let refused = refusal_of(refused, TableForm::Roll);
    let (typed, fault) = (refused.map(|refused| refused.form), refused.map(|refused| refused.fault));
    let text = |field: &str| typed.map(|form| form.text(field)).unwrap_or_default();
    let (expression, chosen) = (typed.map_or(usual, |form| form.text("expression")), text("actor_id"));
    let is_up = |name: &str| chosen.is_empty() && state.spotlight.up.as_deref() == Some(name);
    html! {
        form.card.roll-box.in-session #roll-box method="post" action={ (path) "/roll" } hx-post={ (path) "/roll" } hx-target="#table-fault" data-clear="reason"
            data-refused[refused.is_some()] {
            div.roll-line.roll-bar {
                div.field {
                    label for="expression" { "Roll" }
                    input #expression name="expression" value=(expression) required autocomplete="off" spellcheck="false"
                        autocapitalize="off" list="expressions"
                        aria-describedby=[described_by(Some("odds"), fault, "expression")] aria-invalid=[invalid(fault, "expression")]
                        hx-get={ (path) "/odds" } hx-trigger="input changed delay:120ms, load" hx-target="#odds" hx-swap="innerHTML";
                    (field_fault(fault, "expression"))
                    datalist #expressions {
                        @for usual in ["duality(+2, dc 14)", "duality(+1, dc 12, adv)", "2d8+3", "4d6kh3", "2d20kh1+5 >= 15", "1d20+4"] {
                            option value=(usual) {}
                        }
                    }
                }
                button.roll-more type="button" data-expand="roll-box" aria-expanded="false" aria-label="For whom and why" hidden { "…" }
                button.primary.roll-button { (super::drawn_dice::die(20, 20, super::drawn_dice::DieTone::Plain)) "Roll" }
            }
            div.odds #odds { p.muted { "The odds appear here while you type." } }
            div.roll-line.roll-details {
                div.field {
                    label for="actor" { "For" }
                    select #actor name="actor_id" data-actors {
                        option value="" { "nobody in particular" }
                        @for actor in &state.actors {
                            option value=(actor.id) selected[actor.id == chosen || is_up(&actor.name)] { (actor.name) }
                        }
                    }
                }
                div.field.grow {
                    label for="reason" { "Why" }
                    input #reason name="reason" value=(text("reason")) autocomplete="off" dir="auto";
                }
                (audience_field(state, "roll", typed))
            }
        }
    }
}

fn note_box(state: &TableState, refused: Option<&RefusedForm<'_>>) -> Markup {
    let typed = refusal_of(refused, TableForm::Note).map(|refused| refused.form);
    let path = format!("/c/{}/note", state.head.id);
    html! {
        form.card.note-box.in-session #note-box method="post" action=(path) hx-post=(path) hx-target="#table-fault" data-clear="text" data-refused[typed.is_some()] {
            p.warning.session-over { "The session has ended. What you typed is kept; copy it, or wait for the next one." }
            div.roll-line {
                div.field.grow {
                    label for="note" { "Note" }
                    // The placeholder tells the style sheet whether something is typed.
                    textarea #note name="text" rows="2" required dir="auto" placeholder=" " {
                        (typed.map(|form| form.text("text")).unwrap_or_default())
                    }
                }
                (audience_field(state, "note", typed))
                button { "Note it" }
            }
        }
    }
}

fn master_boxes(state: &TableState, refused: Option<&RefusedForm<'_>>) -> Markup {
    let path = format!("/c/{}", state.head.id);
    let (scene, up) =
        (typed_text(refused, TableForm::Spotlight, "scene"), typed_text(refused, TableForm::Spotlight, "up"));
    let is_open = [TableForm::Spotlight, TableForm::EndSession].iter().any(|kind| refusal_of(refused, *kind).is_some());
    html! {
        details.card.master.in-session open[is_open] {
            summary { "Game master" }
            form.inline-form #spotlight-box method="post" action={ (path) "/spotlight" } hx-post={ (path) "/spotlight" } hx-target="#table-fault" {
                div.field {
                    label for="up" { "Spotlight" }
                    select #up name="up" data-actors {
                        option value="" { "as it is" }
                        option value="GM" selected[up == "GM"] { "Game master" }
                        @for actor in &state.actors { option value=(actor.id) selected[actor.id == up] { (actor.name) } }
                    }
                }
                div.field.grow { label for="scene" { "New scene" } input #scene name="scene" value=(scene) autocomplete="off" dir="auto"; }
                button { "Set" }
            }
            form #end-session method="post" action={ (path) "/session/end" } hx-post={ (path) "/session/end" } hx-target="#table-fault" {
                button.danger { "End the session" }
            }
        }
        form.card.between-sessions #start-session method="post" action={ (path) "/session/start" }
            hx-post={ (path) "/session/start" } hx-target="#table-fault" data-clear="name" {
            div.roll-line {
                div.field.grow {
                    label for="name" { "Name of the next session" }
                    input #name name="name" value=(typed_text(refused, TableForm::StartSession, "name")) autocomplete="off" dir="auto";
                }
                button.primary { "Start it" }
            }
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct OddsQuery {
    #[serde(default)]
    expression: String,
}

/// `GET /c/{campaign}/odds?expression=`: the odds of what is being typed.
pub(crate) async fn preview_odds(
    State(context): State<SharedContext>,
    PagePath(_campaign): PagePath<String>,
    PageQuery(OddsQuery { expression }): PageQuery<OddsQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    if expression.trim().is_empty() {
        return Ok(html_response(html! { p.muted { "The odds appear here while you type." } }));
    }
    let input = json!({"expression": expression, "detail": "table"});
    // While somebody types, the expression is incomplete most of the time. Show why, but not as an error.
    let odds: Value = match context.read(&visitor.caller, "odds", input).await {
        Ok(odds) => odds,
        Err(fault) => {
            let (message, source) = split_message(&fault.body().message);
            return Ok(html_response(html! { div.muted { p { (message) } (source_lines(source)) } }));
        }
    };
    Ok(html_response(odds_line(&odds, &expression)))
}

fn odds_line(odds: &Value, expression: &str) -> Markup {
    let summary = odds.get("summary").and_then(Value::as_str).unwrap_or_default();
    let values = odds.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let weights: Vec<f64> = values.iter().filter_map(|row| row.get("exactly")?.get("decimal")?.as_f64()).collect();
    html! {
        div.odds-line {
            strong.odds-summary-line { (summary) }
            (sparkline(&weights))
            a.muted href={ "/dice?e=" (encode(expression)) } { "explore" }
        }
    }
}

/// The shape of a distribution, as small bars.
fn sparkline(weights: &[f64]) -> Markup {
    let most = weights.iter().copied().fold(0.0, f64::max);
    let width = weights.len() * 4;
    html! {
        @if most > 0.0 && weights.len() > 1 {
            svg.sparkline viewBox={ "0 0 " (width) " 24" } width=(width) height="24" aria-hidden="true" preserveAspectRatio="none" {
                @for (at, weight) in weights.iter().enumerate() {
                    @let height = (weight / most * 24.0).max(1.0);
                    rect x=(at * 4) y=(format!("{:.1}", 24.0 - height)) width="3" height=(format!("{height:.1}")) {}
                }
            }
        }
    }
}
