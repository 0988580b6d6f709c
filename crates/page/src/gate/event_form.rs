//! The forms of a run: an event with its fields, an override with its reason, giving the run up.

use maud::{Markup, html};
use serde_json::{Map, Value};
use skald_app::{Code, Fault};

use super::read_run::{AllowedAnswer, RunAnswers, TransitionAnswer};
use super::run_page::RefusedDecision;
use super::to_words;
use crate::components::{described_by, field_fault, invalid};
use crate::form::Form;

/// The kind of input that a form has for a field of a payload.
#[derive(Debug, Clone, PartialEq)]
enum FieldKind {
    Line,
    Text,
    Whole,
    Number,
    YesNo,
    Choice(Vec<String>),
    /// Anything else is typed as JSON.
    Json,
}

fn field_kind(schema: &Value) -> FieldKind {
    if let Some(words) = schema["enum"].as_array()
        && words.iter().all(Value::is_string)
    {
        return FieldKind::Choice(words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
    }
    match schema["type"].as_str() {
        Some("string") if schema["maxLength"].as_u64().is_none_or(|most| most > 200) => FieldKind::Text,
        Some("string") => FieldKind::Line,
        Some("integer") => FieldKind::Whole,
        Some("number") => FieldKind::Number,
        Some("boolean") => FieldKind::YesNo,
        _ => FieldKind::Json,
    }
}

fn fields_of(schema: Option<&Value>) -> Vec<(&str, &Value, bool)> {
    let Some(schema) = schema else { return Vec::new() };
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let properties = schema["properties"].as_object();
    properties.into_iter().flatten().map(|(name, field)| (name.as_str(), field, is_required(name))).collect()
}

/// The payload that a form has, by the schema of its event. Fields that are left empty are left out.
pub(super) fn payload_from_form(form: &Form, schema: Option<&Value>) -> Result<Map<String, Value>, Fault> {
    let mut payload = Map::new();
    for (name, field, _) in fields_of(schema) {
        let Some(text) = form.filled(&format!("payload.{name}")) else { continue };
        let misfit = |what: &str, hint: &str| {
            let fault = Fault::new(Code::InvalidPayload, format!("{name} is {text:?}, not {what}"));
            fault.with_path(format!("/payload.{name}")).hint(hint)
        };
        let value = match field_kind(field) {
            FieldKind::Line | FieldKind::Text | FieldKind::Choice(_) => Value::from(text),
            FieldKind::Whole => {
                let number: Result<i64, _> = text.parse();
                number.map(Value::from).map_err(|_| misfit("a whole number", "type digits"))?
            }
            FieldKind::Number => {
                let number = text.parse().ok().and_then(serde_json::Number::from_f64);
                number.map(Value::Number).ok_or_else(|| misfit("a number", "type digits, with a point"))?
            }
            FieldKind::YesNo => Value::from(text == "true"),
            FieldKind::Json => skald_app::parse_json(text.as_bytes())
                .map_err(|_| misfit("JSON", "type it as JSON, such as [\"one\", \"two\"]"))?,
        };
        payload.insert(name.to_owned(), value);
    }
    Ok(payload)
}

/// The form of one event.
pub(super) fn event_form(
    event: &AllowedAnswer,
    run: &RunAnswers,
    path: &str,
    refused: Option<&RefusedDecision<'_>>,
) -> Markup {
    let name = &event.event_name;
    let is_open = refused.is_some() || run.state.allowed_events.len() == 1;
    let fields = fields_of(event.payload_schema.as_ref());
    html! {
        details.decision open[is_open] {
            summary { strong dir="auto" { (to_words(name)) } " " code.muted { (name) } @if !event.description.is_empty() { span.muted dir="auto" { (event.description) } } }
            form method="post" action={ (path) "/emit" } data-refused[refused.is_some()] {
                input type="hidden" name="event" value=(name);
                input type="hidden" name="revision" value=(run.state.revision);
                @for (field, schema, is_required) in fields {
                    (payload_field(name, field, schema, is_required, refused))
                }
                details.attach open[refused.is_some_and(|refused| refused.form.filled("evidence_text").is_some())] {
                    summary { "Attach evidence" }
                    div.attach-fields {
                        (plain_field(name, "evidence_path", "File name", "", refused))
                        (plain_field(name, "evidence_text", "Its text", "textarea", refused))
                    }
                }
                button.primary[!is_refusal(name)].danger[is_refusal(name)] { (to_words(name)) }
            }
        }
    }
}

/// Whether an event rejects something, judged by the words that processes use for that.
fn is_refusal(name: &str) -> bool {
    let words = ["reject", "decline", "refuse", "send_back", "deny", "abandon", "cancel", "call_off", "veto"];
    words.iter().any(|word| name.contains(word))
}

fn typed_text<'a>(refused: Option<&'a RefusedDecision<'a>>, field: &str) -> &'a str {
    refused.map_or("", |refused| refused.form.text(field))
}

fn plain_field(event: &str, field: &str, label: &str, kind: &str, refused: Option<&RefusedDecision<'_>>) -> Markup {
    let id = format!("{event}-{field}");
    let fault = refused.map(|refused| &refused.fault);
    let (described, invalid) = (described_by(None, fault, field), invalid(fault, field));
    html! {
        div.field {
            label for=(id) { (label) }
            @if kind == "textarea" {
                textarea #(id) name=(field) rows="5" aria-describedby=[described] aria-invalid=[invalid] dir="auto" { (typed_text(refused, field)) }
            } @else {
                input #(id) type="text" name=(field) value=(typed_text(refused, field)) autocomplete="off"
                    aria-describedby=[described] aria-invalid=[invalid] dir="auto";
            }
            (field_fault(fault, field))
        }
    }
}

fn payload_field(
    event: &str,
    name: &str,
    schema: &Value,
    is_required: bool,
    refused: Option<&RefusedDecision<'_>>,
) -> Markup {
    let (field, id) = (format!("payload.{name}"), format!("{event}-{name}"));
    let value = typed_text(refused, &field);
    let note = schema["description"].as_str();
    let fault = refused.map(|refused| &refused.fault);
    let described = described_by(note.map(|_| format!("{id}-note")).as_deref(), fault, &field);
    let described = described.as_deref();
    let invalid = invalid(fault, &field);
    html! {
        div.field {
            label for=(id) { (to_words(name)) @if !is_required { span.muted { " (may be left out)" } } }
            @match field_kind(schema) {
                FieldKind::Line => input #(id) type="text" name=(field) value=(value) required[is_required] autocomplete="off" dir="auto" aria-describedby=[described] aria-invalid=[invalid];,
                FieldKind::Text => textarea #(id) name=(field) rows="3" required[is_required] dir="auto" aria-describedby=[described] aria-invalid=[invalid] { (value) },
                FieldKind::Whole => input #(id) type="number" step="1" name=(field) value=(value) required[is_required] aria-describedby=[described] aria-invalid=[invalid];,
                FieldKind::Number => input #(id) type="number" step="any" name=(field) value=(value) required[is_required] aria-describedby=[described] aria-invalid=[invalid];,
                FieldKind::YesNo => (select((&id, &field), &[("true", "Yes"), ("false", "No")], (value, is_required), (described, invalid))),
                FieldKind::Choice(choices) => {
                    @let choices: Vec<(&str, String)> = choices.iter().map(|word| (word.as_str(), to_words(word))).collect();
                    @let choices: Vec<(&str, &str)> = choices.iter().map(|(word, shown)| (*word, shown.as_str())).collect();
                    (select((&id, &field), &choices, (value, is_required), (described, invalid)))
                }
                FieldKind::Json => textarea.code #(id) name=(field) rows="3" required[is_required] spellcheck="false" aria-describedby=[described] aria-invalid=[invalid] { (value) },
            }
            @if let Some(note) = note { p.field-note id={ (id) "-note" } dir="auto" { (note) } }
            (field_fault(fault, &field))
        }
    }
}

fn select(
    (id, field): (&str, &str),
    choices: &[(&str, &str)],
    (value, is_required): (&str, bool),
    (described, invalid): (Option<&str>, Option<&str>),
) -> Markup {
    html! {
        select #(id) name=(field) required[is_required] aria-describedby=[described] aria-invalid=[invalid] {
            option value="" { "Choose…" }
            @for (word, shown) in choices { option value=(word) selected[*word == value] { (shown) } }
        }
    }
}

/// The form of an override: it takes a transition whose guard is not satisfied. The reason is stored in the history.
pub(super) fn override_form(
    event: &str,
    way: &TransitionAnswer,
    run: &RunAnswers,
    path: &str,
    refused: Option<&RefusedDecision<'_>>,
) -> Markup {
    let guard = way.guard.as_deref().unwrap_or_default();
    let id = format!("override-{event}-{}", way.to_state);
    html! {
        details.decision.override open[refused.is_some()] {
            summary {
                strong { "Override" }
                span.muted dir="auto" { (to_words(event)) " → " (to_words(&way.to_state)) ", although " (to_words(guard)) " is not satisfied" }
            }
            form method="post" action={ (path) "/override" } data-refused[refused.is_some()] {
                input type="hidden" name="event" value=(event);
                input type="hidden" name="to_state" value=(way.to_state);
                input type="hidden" name="revision" value=(run.state.revision);
                @if !way.missing_requirements.is_empty() {
                    ul.why { @for missing in &way.missing_requirements { li dir="auto" { (missing) } } }
                }
                (reason_field(&id, "Why it may go on all the same", true, refused))
                button.danger { "Override " (to_words(guard)) }
            }
        }
    }
}

/// The form that cancels the run.
pub(super) fn cancel_form(run: &RunAnswers, path: &str, refused: Option<&RefusedDecision<'_>>) -> Markup {
    html! {
        details.decision.override open[refused.is_some()] {
            summary { strong { "Give the run up" } span.muted { "It ends here; its history stays." } }
            form method="post" action={ (path) "/cancel" } data-refused[refused.is_some()] {
                input type="hidden" name="revision" value=(run.state.revision);
                (reason_field("cancel", "Why", false, refused))
                button.danger { "Give up" }
            }
        }
    }
}

fn reason_field(id: &str, label: &str, is_required: bool, refused: Option<&RefusedDecision<'_>>) -> Markup {
    let fault = refused.map(|refused| &refused.fault);
    html! {
        div.field {
            label for={ (id) "-reason" } { (label) }
            textarea id={ (id) "-reason" } name="reason" rows="3" required[is_required]
                aria-describedby=[described_by(None, fault, "reason")] aria-invalid=[invalid(fault, "reason")] dir="auto" {
                (typed_text(refused, "reason"))
            }
            (field_fault(fault, "reason"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_payload_is_typed_by_its_schema() {
        let schema = json!({"type": "object", "required": ["clock"], "properties": {
            "clock": {"type": "integer"}, "share": {"type": "number"}, "paid": {"type": "boolean"},
            "source": {"enum": ["place", "magic"]}, "names": {"type": "array"}, "note": {"type": "string"}}});
        let form = Form::parse(
            "payload.clock=3&payload.share=0.5&payload.paid=true&payload.source=magic&payload.names=%5B%22a%22%5D&payload.note=",
        );
        let payload = payload_from_form(&form, Some(&schema)).expect("a payload");
        let expected = json!({"clock": 3, "share": 0.5, "paid": true, "source": "magic", "names": ["a"]});
        assert_eq!(Value::Object(payload), expected);
        let fault = payload_from_form(&Form::parse("payload.clock=soon"), Some(&schema)).expect_err("no number");
        assert_eq!(fault.body().path.as_deref(), Some("/payload.clock"));
    }

    #[test]
    fn an_event_that_says_no_looks_like_it() {
        assert!(is_refusal("reject_draft") && is_refusal("decline_quest") && !is_refusal("approve"));
    }
}
