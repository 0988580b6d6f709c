//! The audience of a roll or a note: the field in which a game master chooses it, and its value for the command.

use maud::{Markup, html};
use serde_json::{Value, json};
use skald_app::{Code, Fault};

use super::state::TableState;
use crate::form::Form;

/// The field of a form. Players have none: what they roll and write is for the table.
pub(super) fn audience_field(state: &TableState, form_name: &str, typed: Option<&Form>) -> Markup {
    let chosen = typed.map(|form| form.text("seen_by")).unwrap_or_default();
    let is_checked = |id: &str| typed.is_some_and(|form| form.all("people").any(|person| person == id));
    html! {
        @if state.is_game_master {
            div.field.audience {
                label for={ (form_name) "-seen-by" } { "Who sees it" }
                select id={ (form_name) "-seen-by" } name="seen_by" {
                    @for (word, title) in [("", "the table"), ("gm", "only game masters"), ("people", "chosen people")] {
                        option value=(word) selected[word == chosen] { (title) }
                    }
                }
                fieldset.choices.audience-people {
                    legend.visually-hidden { "Chosen people" }
                    @for (id, name) in &state.people {
                        label.choice { input type="checkbox" name="people" value=(id) checked[is_checked(id)]; bdi { (name) } }
                    }
                }
            }
        }
    }
}

/// The field `visible_to` of a command; nothing if the table sees it.
pub(super) fn visible_to(form: &Form) -> Result<Option<Value>, Fault> {
    match form.text("seen_by") {
        "" => Ok(None),
        "people" => {
            let people: Vec<&str> = form.all("people").collect();
            if people.is_empty() {
                let fault = Fault::new(Code::InvalidParams, "nobody is chosen who sees it").with_path("/people");
                return Err(fault.hint("choose somebody, or let only game masters see it"));
            }
            Ok(Some(json!(people)))
        }
        word => Ok(Some(json!([word]))),
    }
}
