//! The body that is chosen: its figures, its neighbours, and the common commands as forms.

use maud::{Markup, html};
use skald_app::Fault;

use super::read_universe::{BodyAnswer, DAY_SECONDS, UniverseAnswers, figure, kind_words};
use super::universe_page::{RefusedCommand, swatch};
use crate::components::{count, described_by, encode, field_fault, invalid};

/// Kinds that a form offers: the word of a command, and what people say.
const KINDS: [(&str, &str); 7] = [
    ("planet", "planet"),
    ("moon", "moon"),
    ("star", "star"),
    ("asteroid", "asteroid"),
    ("comet", "comet"),
    ("blackHole", "black hole"),
    ("lagrangePoint", "Lagrange point"),
];

pub(super) fn body_panel(
    body: &BodyAnswer,
    sky: &UniverseAnswers,
    path: &str,
    may_write: bool,
    refused: Option<&RefusedCommand<'_>>,
) -> Markup {
    let fields = &body.body;
    let moment = if sky.is_now { String::new() } else { format!("&t={}", sky.time) };
    let link = |id: &str| format!("{path}?body={}{moment}#sky-body", encode(id));
    html! {
        section.card.body-card {
            div.split { h2 dir="auto" { (swatch(&fields.color)) " " (fields.name) } span.badge { (kind_words(&body.kind)) } }
            dl.figures {
                @if let Some(parent) = &body.parent {
                    dt { "Moves around" } dd { a href=(link(&parent.id)) data-body-link=(parent.id) dir="auto" { (parent.name) } }
                    dt { "Distance" } dd { (figure(fields.semi_major_axis.unwrap_or(fields.orbital_distance))) }
                }
                @if let Some(days) = body.orbital_period_days {
                    dt { "One turn" } dd { (figure(days.abs())) " days" @if days < 0.0 { ", backwards" } }
                }
                @if let Some(eccentricity) = fields.eccentricity { dt { "Eccentricity" } dd { (figure(eccentricity)) } }
                dt { "Mass" } dd { (figure(fields.mass)) }
                dt { "Radius" } dd { (figure(fields.radius)) }
                dt { "Position" } dd {
                    (figure(body.world_position.x)) ", " (figure(body.world_position.y)) ", " (figure(body.world_position.z))
                }
            }
            @if body.child_count > 0 {
                p {
                    (count(body.child_count, "body", "bodies")) " around it: "
                    @for (at, child) in body.children.iter().take(24).enumerate() {
                        @if at > 0 { ", " }
                        a href=(link(&child.id)) data-body-link=(child.id) dir="auto" { (child.name) }
                    }
                    @if body.child_count > 24 { " …" }
                }
            }
            @if may_write { (update_form(body, path, refused)) (remove_form(body, path)) }
        }
    }
}

/// The refusal, if it is that of this form.
fn refusal_of<'a>(refused: Option<&'a RefusedCommand<'a>>, command: &str) -> Option<&'a RefusedCommand<'a>> {
    refused.filter(|refused| refused.form.text("command") == command)
}

/// The value of a field: what was typed, if the form was refused, or else the stored value.
fn typed_text<'a>(refused: Option<&'a RefusedCommand<'a>>, command: &str, field: &str, known: &'a str) -> &'a str {
    refusal_of(refused, command).map_or(known, |refused| refused.form.text(field))
}

struct CommandField<'a> {
    command: &'a str,
    name: &'a str,
    label: &'a str,
    kind: &'a str,
    known: &'a str,
    is_required: bool,
}

impl CommandField<'_> {
    fn render(&self, refused: Option<&RefusedCommand<'_>>) -> Markup {
        let Self { command, name, label, kind, known, is_required } = *self;
        let id = format!("{command}-{name}");
        let step = (kind == "number").then_some("any");
        let fault = refusal_of(refused, command).map(|refused| &refused.fault);
        html! {
            div.field {
                label for=(id) { (label) }
                input #(id) type=(kind) step=[step] name=(name) value=(typed_text(refused, command, name, known)) required[is_required] autocomplete="off"
                    aria-invalid=[invalid(fault, name)] aria-describedby=[described_by(None, fault, name)] dir="auto";
                (field_fault(fault, name))
            }
        }
    }
}

fn update_form(body: &BodyAnswer, path: &str, refused: Option<&RefusedCommand<'_>>) -> Markup {
    let fields = &body.body;
    // Only what differs from the hidden base is sent.
    let field = |name, label, kind, known: &str| {
        let base = format!("base_{name}");
        html! {
            (CommandField { command: "update", name, label, kind, known, is_required: false }.render(refused))
            input type="hidden" name=(base) value=(typed_text(refused, "update", &base, known));
        }
    };
    let is_refused = refusal_of(refused, "update").is_some();
    let days = body.orbital_period_days.map(|days| days.to_string()).unwrap_or_default();
    // The axis is what a body moves by where it has one.
    let (distance, distance_of) = match fields.semi_major_axis {
        Some(axis) => (axis, "semiMajorAxis"),
        None => (fields.orbital_distance, "orbitalDistance"),
    };
    html! {
        details.command open[is_refused] {
            summary { "Change it" }
            form method="post" action={ (path) "/command" } data-refused[is_refused] {
                input type="hidden" name="command" value="update";
                input type="hidden" name="id" value=(fields.id);
                (field("name", "Name", "text", &fields.name))
                (field("color", "Colour", "color", &color_value(&fields.color)))
                div.pair {
                    (field("radius", "Radius", "number", &fields.radius.to_string()))
                    (field("mass", "Mass", "number", &fields.mass.to_string()))
                }
                @if body.parent.is_some() {
                    input type="hidden" name="distance_of" value=(distance_of);
                    div.pair {
                        (field("distance", "Distance", "number", &distance.to_string()))
                        (field("period", "Days of one turn", "number", &days))
                    }
                }
                button.primary { "Save" }
            }
        }
    }
}

/// A colour as a browser sends it back from its field, which knows no others.
fn color_value(color: &str) -> String {
    let is_known = color.len() == 7
        && color.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    if is_known { color.to_ascii_lowercase() } else { "#000000".to_owned() }
}

fn remove_form(body: &BodyAnswer, path: &str) -> Markup {
    html! {
        details.command {
            summary { "Remove it" }
            form method="post" action={ (path) "/command" } {
                input type="hidden" name="command" value="remove";
                input type="hidden" name="id" value=(body.body.id);
                p.muted {
                    @if body.child_count > 0 { "With it goes what moves around it: " (count(body.child_count, "body", "bodies")) "." }
                    @else { "What happened stays in the journal." }
                }
                button.danger { "Remove " span dir="auto" { (body.body.name) } }
            }
        }
    }
}

/// The form that advances the time of the universe.
pub(super) fn tick_form(sky: &UniverseAnswers, path: &str, refused: Option<&RefusedCommand<'_>>) -> Markup {
    let field =
        CommandField { command: "tick", name: "by_days", label: "Days", kind: "number", known: "1", is_required: true };
    let is_refused = refusal_of(refused, "tick").is_some();
    html! {
        details.command open[is_refused] {
            summary { "Let time pass" }
            form method="post" action={ (path) "/command" } data-refused[is_refused] {
                input type="hidden" name="command" value="tick";
                p.muted { "It is day " (figure(sky.summary.time / DAY_SECONDS)) ". This moves the universe for everybody." }
                (field.render(refused))
                button.primary { "Let it pass" }
            }
        }
    }
}

/// The form that adds a body.
pub(super) fn add_form(sky: &UniverseAnswers, path: &str, refused: Option<&RefusedCommand<'_>>) -> Markup {
    let field = |name, label, kind, known, is_required| {
        CommandField { command: "add", name, label, kind, known, is_required }.render(refused)
    };
    let chosen = sky.selected.as_ref().map_or("", |body| body.body.id.as_str());
    let (kind, around) = (typed_text(refused, "add", "kind", "planet"), typed_text(refused, "add", "around", chosen));
    let fault = refusal_of(refused, "add").map(|refused| &refused.fault);
    html! {
        details.command open[fault.is_some() || sky.bodies.items.is_empty()] {
            summary { "Add a body" }
            form method="post" action={ (path) "/command" } data-refused[fault.is_some()] {
                input type="hidden" name="command" value="add";
                (field("name", "Name", "text", "", true))
                div.pair {
                    (choice_field("kind", "Kind", fault, &html! {
                        @for (word, shown) in KINDS { option value=(word) selected[word == kind] { (shown) } }
                    }))
                    (field("color", "Colour", "color", "#7fb2e5", false))
                }
                (choice_field("around", "Moves around", fault, &html! {
                    option value="" { "nothing" }
                    @for body in &sky.bodies.items { option value=(body.id) selected[body.id == around] { (body.name) } }
                }))
                div.pair {
                    (field("distance", "Distance", "number", "10", false))
                    (field("period", "Days of one turn", "number", "365", false))
                }
                div.pair {
                    (field("radius", "Radius", "number", "0.5", true))
                    (field("mass", "Mass", "number", "1", true))
                }
                button.primary { "Add" }
            }
        }
    }
}

/// A list to choose from in the form of a new body.
fn choice_field(name: &str, label: &str, fault: Option<&Fault>, options: &Markup) -> Markup {
    let id = format!("add-{name}");
    html! {
        div.field {
            label for=(id) { (label) }
            select #(id) name=(name) aria-invalid=[invalid(fault, name)] aria-describedby=[described_by(None, fault, name)] { (*options) }
            (field_fault(fault, name))
        }
    }
}
