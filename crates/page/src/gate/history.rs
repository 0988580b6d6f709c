//! The history of a run: who tried what, and what came of it. What somebody wrote is shown as quoted text.

use maud::{Markup, html};
use serde_json::{Map, Value};

use super::read_run::{HistoryAnswer, RunAnswers};
use super::to_words;
use crate::components::{encode, time};

pub(super) fn history_list(run: &RunAnswers, path: &str) -> Markup {
    html! {
        @if run.is_history_cut { p.muted { "The newest " (run.history.len()) " steps; older ones are in the resource of the run's history." } }
        ol.run-steps {
            @for entry in run.history.iter().rev() { (history_entry(entry, path)) }
        }
    }
}

fn history_entry(entry: &HistoryAnswer, path: &str) -> Markup {
    let class = match (entry.accepted, entry.event_name.as_str()) {
        (false, _) => "run-step run-step-refused",
        (true, "override_guard") => "run-step run-step-override",
        (true, _) => "run-step",
    };
    let title = match entry.event_name.as_str() {
        "created" => "Run begun".to_owned(),
        "override_guard" => "Guard overridden".to_owned(),
        "cancelled" => "Run given up".to_owned(),
        "refused_attempts" => "Earlier refusals".to_owned(),
        name => to_words(name),
    };
    html! {
        li class=(class) {
            div.split {
                strong dir="auto" { (title) @if !entry.accepted { " · refused" } @else if entry.recorded { " · recorded" } }
                (time(&entry.at))
            }
            p.muted dir="auto" {
                @if !entry.by.is_empty() { (entry.who()) " as " (entry.role) }
                @if let (Some(from), Some(to)) = (&entry.from_state, &entry.to_state) {
                    @if from != to { " · " (to_words(from)) " → " (to_words(to)) }
                }
            }
            @if let Some(message) = &entry.message { p.run-step-message dir="auto" { (message) } }
            @if !entry.accepted || entry.recorded {
                @for guard in entry.guards.iter().filter(|guard| !guard.satisfied) {
                    p.muted dir="auto" { (to_words(&guard.guard)) ": " (guard.missing.join(", ")) }
                }
            }
            @if let Some(reason) = &entry.reason {
                blockquote.quoted dir="auto" { (reason) }
            }
            (payload(&entry.payload))
            @if !entry.artifacts.is_empty() {
                ul.evidence {
                    @for artifact in &entry.artifacts {
                        li { a href={ (path) "/evidence?path=" (encode(&artifact.path)) } dir="auto" { (artifact.path) } }
                    }
                }
            }
        }
    }
}

fn payload(fields: &Map<String, Value>) -> Markup {
    html! {
        @if !fields.is_empty() {
            dl.payload {
                @for (name, value) in fields {
                    dt dir="auto" { (to_words(name)) }
                    dd {
                        @match value {
                            Value::String(text) => blockquote.quoted dir="auto" { (text) },
                            Value::Bool(is_yes) => { @if *is_yes { "yes" } @else { "no" } },
                            Value::Number(number) => (number.to_string()),
                            other => code { (other.to_string()) },
                        }
                    }
                }
            }
        }
    }
}
