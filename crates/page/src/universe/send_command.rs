//! `POST /c/{campaign}/sky/{universe}/command`: turns the forms of a universe's page into commands.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use serde_json::{Map, Value, json};
use skald_app::{Code, Fault};

use super::UniverseAddress;
use super::read_universe::DAY_SECONDS;
use super::universe_page::{RefusedCommand, UniverseQuery, universe_page};
use crate::SharedContext;
use crate::components::encode;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// `POST …/command`.
pub(crate) async fn send_command(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<UniverseAddress>,
    form: Form,
) -> Result<Response, PageError> {
    let place = context.place_of_universe(&visitor, address.campaign.as_deref()).await?;
    let universe_id = address.universe;
    context.universe_of(&visitor, &place, &universe_id).await?;
    let sent = match command_from_form(&form) {
        Ok((command, _)) => {
            let input = json!({"universeId": universe_id, "command": command, "state": "none"});
            context
                .send::<Value>(&visitor.caller, "send_universe_command", input)
                .await
                .map(drop)
                .map_err(|fault| to_form_path(fault, &form))
        }
        Err(fault) => Err(fault),
    };
    let path = place.item_path(&universe_id);
    match (sent, command_from_form(&form)) {
        (Ok(()), Ok((_, Some(body)))) => {
            Ok(Redirect::to(&format!("{path}?body={}#sky-body", encode(&body))).into_response())
        }
        (Ok(()), _) => Ok(Redirect::to(&path).into_response()),
        (Err(fault), _) => {
            let body = form.filled("id").map(str::to_owned);
            let refused = RefusedCommand { form: &form, fault };
            let query = UniverseQuery::of_body(body.filter(|_| refused.form.text("command") == "update"));
            universe_page(&context, &visitor, &place, &universe_id, &query, Some(&refused)).await
        }
    }
}

/// The command, and the body to show afterwards.
fn command_from_form(form: &Form) -> Result<(Value, Option<String>), Fault> {
    match form.text("command") {
        "tick" => {
            let days = number(form, "by_days")?.ok_or_else(|| missing("by_days", "how many days pass"))?;
            Ok((json!({"type": "tick", "dt": days * DAY_SECONDS}), None))
        }
        "add" => {
            let name = form.filled("name").ok_or_else(|| missing("name", "what it is called"))?;
            let id = match form.filled("id") {
                Some(id) => id.to_owned(),
                None => id_from_name(name),
            };
            let around = form.filled("around");
            let mut payload = common_fields(form, "orbitalDistance")?;
            for (field, value) in [("radius", 1.0), ("mass", 1.0), ("orbitalDistance", 0.0), ("orbitalSpeed", 0.0)] {
                payload.entry(field).or_insert_with(|| json!(value));
            }
            payload.entry("color").or_insert_with(|| json!("#7fb2e5"));
            payload.insert("parentId".to_owned(), json!(around));
            if around.is_none() {
                payload.insert("orbitalDistance".to_owned(), json!(0.0));
                payload.insert("orbitalSpeed".to_owned(), json!(0.0));
            }
            if let Some(kind) = form.filled("kind") {
                payload.insert("bodyType".to_owned(), json!(kind));
            }
            Ok((json!({"type": "addStar", "id": id, "payload": payload}), Some(id)))
        }
        "update" => {
            let id = form.filled("id").ok_or_else(|| missing("id", "which body"))?;
            let distance_of =
                if form.text("distance_of") == "semiMajorAxis" { "semiMajorAxis" } else { "orbitalDistance" };
            let payload = common_fields(&without_untouched(form), distance_of)?;
            Ok((json!({"type": "updateStar", "id": id, "payload": payload}), Some(id.to_owned())))
        }
        "remove" => {
            let id = form.filled("id").ok_or_else(|| missing("id", "which body"))?;
            Ok((json!({"type": "removeStar", "id": id}), None))
        }
        other => {
            let fault = Fault::new(Code::InvalidParams, format!("there is no form for the command {other:?}"));
            Err(fault.with_path("/command").allowed(["tick", "add", "update", "remove"]))
        }
    }
}

/// The form without the fields that are as they were: somebody else may have changed them since, and a number may be stored
/// otherwise than it is shown.
fn without_untouched(form: &Form) -> Form {
    let base = form.strip_prefix("base_");
    let mut touched = form.clone();
    for (name, _) in base.iter().filter(|(name, was)| form.text(name).trim() == was.trim()) {
        touched.set(name, "");
    }
    touched
}

/// The fields that a form may have of a body; those that are left empty stay as they are. `distance_of` is the field of the
/// body that the distance is.
fn common_fields(form: &Form, distance_of: &str) -> Result<Map<String, Value>, Fault> {
    let mut fields = Map::new();
    for name in ["name", "color"] {
        if let Some(text) = form.filled(name) {
            fields.insert(name.to_owned(), json!(text));
        }
    }
    for (name, field) in [("radius", "radius"), ("mass", "mass"), ("distance", distance_of)] {
        if let Some(number) = number(form, name)? {
            fields.insert(field.to_owned(), json!(number));
        }
    }
    if let Some(days) = number(form, "period")? {
        // The command takes degrees per second, the form days per orbit.
        let speed = if days == 0.0 { 0.0 } else { 360.0 / (days * DAY_SECONDS) };
        fields.insert("orbitalSpeed".to_owned(), json!(speed));
    }
    Ok(fields)
}

fn number(form: &Form, name: &str) -> Result<Option<f64>, Fault> {
    let Some(text) = form.filled(name) else { return Ok(None) };
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(Some).ok_or_else(|| {
        let fault =
            Fault::new(Code::InvalidParams, format!("{:?} is no number", skald_app::truncate_for_message(text)));
        fault.with_path(format!("/{name}")).hint("type digits, with a point")
    })
}

fn missing(field: &str, what: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("{field} is missing"))
        .with_path(format!("/{field}"))
        .hint(format!("say {what}"))
}

/// An id that people can read: letters and digits of the name.
fn id_from_name(name: &str) -> String {
    let letters = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
    let spaced: String = letters.flat_map(char::to_lowercase).collect();
    let words: Vec<&str> = spaced.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { "body".to_owned() } else { words.join("-").chars().take(60).collect() }
}

/// A fault names the field of the command; a form has it under a name of its own.
fn to_form_path(fault: Fault, form: &Form) -> Fault {
    let last = fault.body().path.as_deref().and_then(|path| path.rsplit('/').next()).map(str::to_owned);
    match last.as_deref() {
        Some("orbitalDistance" | "semiMajorAxis") => fault.with_path("/distance"),
        Some("orbitalSpeed") => fault.with_path("/period"),
        Some("parentId") => fault.with_path("/around"),
        // The id of a new body is made of its name.
        Some("id") if form.text("command") == "add" => fault.with_path("/name"),
        Some("bodyType") => fault.with_path("/kind"),
        Some("dt") => fault.with_path("/by_days"),
        Some(field @ ("name" | "color" | "radius" | "mass")) => fault.with_path(format!("/{field}")),
        _ => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> (Value, Option<String>) {
        command_from_form(&Form::parse(text)).expect("a command")
    }

    #[test]
    fn forms_become_commands() {
        assert_eq!(command("command=tick&by_days=2").0, json!({"type": "tick", "dt": 172_800.0}));
        let (sent, shown) =
            command("command=add&name=Ash+%26+Ember&kind=moon&around=vex&distance=3&period=360&radius=1&mass=2");
        assert_eq!(shown.as_deref(), Some("ash-ember"));
        assert_eq!(sent["payload"]["orbitalSpeed"], json!(1.0 / DAY_SECONDS));
        assert_eq!(sent["payload"]["parentId"], json!("vex"));
        let (sent, _) = command("command=update&id=vex&name=New&radius=");
        assert_eq!(sent, json!({"type": "updateStar", "id": "vex", "payload": {"name": "New"}}));
        let base = "command=update&id=vex&base_name=Vex&base_mass=0.1&base_distance=20&distance_of=semiMajorAxis";
        let (sent, _) = command(&format!("{base}&name=Vex&mass=0.1&distance=21"));
        assert_eq!(sent["payload"], json!({"semiMajorAxis": 21.0}));
        for bad in ["command=tick&by_days=x", "command=add", "command=format", "command=update&id=a&mass=NaN"] {
            command_from_form(&Form::parse(bad)).expect_err(bad);
        }
    }
}
