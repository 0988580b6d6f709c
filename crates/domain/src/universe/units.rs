//! Units for people: hours, days and years of a tick, and the days of a turn of a body.
//!
//! They are converted to `dt` and `orbitalSpeed` before anything is parsed, so that what is stored, broadcast and
//! answered as state has the original's fields only. Views show them beside the original's fields.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::body::Star;
use super::check_bounds::{FieldMisfit, Reason, truncate_for_message};
use super::number::Number;

const HOUR_SECONDS: f64 = 3_600.0;
const DAY_SECONDS: f64 = 86_400.0;
/// A Julian year of 365.25 days.
const YEAR_SECONDS: f64 = 31_557_600.0;

const ORBITAL_PERIOD_DAYS: &str = "orbitalPeriodDays";
const ORBITAL_SPEED: &str = "orbitalSpeed";

/// How far a period and a speed that are sent together may differ, as a part of a turn.
const AGREEMENT: f64 = 1e-6;

/// An input field that is converted to a field of the original.
#[derive(Debug)]
pub struct UnitField {
    pub name: &'static str,
    /// In place of this field.
    pub replaces: &'static str,
    pub description: &'static str,
}

const TICK_FIELDS: [UnitField; 3] = [
    UnitField { name: "hours", replaces: "dt", description: "In place of dt; hours, days and years add up." },
    UnitField { name: "days", replaces: "dt", description: "In place of dt." },
    UnitField { name: "years", replaces: "dt", description: "In place of dt, of 365.25 days." },
];

const BODY_FIELDS: [UnitField; 1] = [UnitField {
    name: ORBITAL_PERIOD_DAYS,
    replaces: ORBITAL_SPEED,
    description: "In place of orbitalSpeed: days of one turn; negative ones go backwards.",
}];

/// The unit fields of a command, and the field of the command that contains them.
pub fn unit_fields(command: &str) -> (Option<&'static str>, &'static [UnitField]) {
    match command {
        "tick" => (None, &TICK_FIELDS),
        "addStar" | "updateStar" => (Some("payload"), &BODY_FIELDS),
        _ => (None, &[]),
    }
}

/// The command with its units converted.
pub(super) fn convert_command(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
    match sent.get("type").and_then(Value::as_str) {
        Some("tick") => convert_tick(sent),
        Some("addStar" | "updateStar") => convert_field(sent, "payload", convert_body),
        Some("replaceSnapshot") => convert_field(sent, "snapshot", convert_state),
        _ => Ok(Cow::Borrowed(sent)),
    }
}

/// A state or a snapshot with the units of its bodies converted.
pub(super) fn convert_state(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
    convert_field(sent, "stars", convert_bodies)
}

fn convert_bodies(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
    let has_period = |body: &Value| body.get(ORBITAL_PERIOD_DAYS).is_some();
    let Some(bodies) = sent.as_object().filter(|bodies| bodies.values().any(has_period)) else {
        return Ok(Cow::Borrowed(sent));
    };
    let mut converted = Map::with_capacity(bodies.len());
    for (id, body) in bodies {
        let body = convert_body(body).map_err(|misfit| misfit.in_field(id))?;
        converted.insert(id.clone(), body.into_owned());
    }
    Ok(Cow::Owned(converted.into()))
}

/// Converts what stands in a field. Without a change nothing is copied.
fn convert_field<'a>(
    sent: &'a Value,
    field: &str,
    convert: impl FnOnce(&'a Value) -> Result<Cow<'a, Value>, FieldMisfit>,
) -> Result<Cow<'a, Value>, FieldMisfit> {
    let Some(inner) = sent.get(field) else { return Ok(Cow::Borrowed(sent)) };
    match convert(inner).map_err(|misfit| misfit.in_field(field))? {
        Cow::Borrowed(_) => Ok(Cow::Borrowed(sent)),
        Cow::Owned(inner) => {
            let fields = sent.as_object().into_iter().flatten();
            let others =
                fields.map(|(name, value)| (name.clone(), if name == field { Value::Null } else { value.clone() }));
            let mut converted: Map<String, Value> = others.collect();
            converted.insert(field.to_owned(), inner);
            Ok(Cow::Owned(converted.into()))
        }
    }
}

fn convert_tick(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
    let given: Vec<&str> = TICK_FIELDS.iter().map(|unit| unit.name).filter(|name| sent.get(name).is_some()).collect();
    let Some(first) = given.first() else { return Ok(Cow::Borrowed(sent)) };
    if let Some(dt) = sent.get("dt") {
        let problem = format!("stands beside dt {}: send one of them", truncate_for_message(&dt.to_string()));
        return Err(FieldMisfit::new(Reason::Unreadable, problem).in_field(first));
    }
    let mut seconds = 0.0;
    for name in &given {
        let unit = match *name {
            "hours" => HOUR_SECONDS,
            "days" => DAY_SECONDS,
            _ => YEAR_SECONDS,
        };
        seconds += read_number(sent, name)? * unit;
        if !f64::is_finite(seconds) {
            return Err(FieldMisfit::new(Reason::NotFinite, "is beyond all time").in_field(name));
        }
    }
    let fields = sent.as_object().into_iter().flatten();
    let others = fields.filter(|(name, _)| !given.contains(&name.as_str()));
    let mut converted: Map<String, Value> = others.map(|(name, value)| (name.clone(), value.clone())).collect();
    converted.insert("dt".to_owned(), seconds.into());
    Ok(Cow::Owned(converted.into()))
}

/// A body, or a change to one, with its period as speed. A period beside a speed must agree with it, so that what a view
/// shows can be sent back.
fn convert_body(sent: &Value) -> Result<Cow<'_, Value>, FieldMisfit> {
    if sent.get(ORBITAL_PERIOD_DAYS).is_none() {
        return Ok(Cow::Borrowed(sent));
    }
    let refused =
        |reason: Reason, problem: String| Err(FieldMisfit::new(reason, problem).in_field(ORBITAL_PERIOD_DAYS));
    let days = read_number(sent, ORBITAL_PERIOD_DAYS)?;
    if days == 0.0 {
        return refused(Reason::Unreadable, "is 0; a body that stands still has orbitalSpeed 0 instead".to_owned());
    }
    let speed = 360.0 / (days * DAY_SECONDS);
    if !speed.is_finite() {
        return refused(Reason::NotFinite, format!("is {days:e}, which is too fast for any orbitalSpeed"));
    }
    let mut body = sent.as_object().cloned().unwrap_or_default();
    body.shift_remove(ORBITAL_PERIOD_DAYS);
    let agrees = |other: f64| (other - speed).abs() <= speed.abs() * AGREEMENT;
    match body.get(ORBITAL_SPEED) {
        None => {
            body.insert(ORBITAL_SPEED.to_owned(), speed.into());
        }
        Some(other) if other.as_f64().is_some_and(agrees) => {}
        Some(other) => {
            let other = truncate_for_message(&other.to_string());
            return refused(Reason::Unreadable, format!("is {days} beside orbitalSpeed {other}: send one of them"));
        }
    }
    Ok(Cow::Owned(body.into()))
}

fn read_number(sent: &Value, field: &str) -> Result<f64, FieldMisfit> {
    let value = sent.get(field).unwrap_or(&Value::Null);
    value.as_f64().ok_or_else(|| {
        let problem = format!("is {}, expected a number", truncate_for_message(&value.to_string()));
        FieldMisfit::new(Reason::Unreadable, problem).in_field(field)
    })
}

/// Seconds as days, for views.
pub fn days(seconds: f64) -> Number {
    round_for_view(seconds / DAY_SECONDS)
}

impl Star {
    /// The days of one turn, negative for one that goes backwards. `None` for a body that stands still, and for a rogue
    /// planet with a path of its own.
    pub fn orbital_period_days(&self) -> Option<Number> {
        if self.is_rogue() && self.rogue_planet.is_some() {
            return None;
        }
        let days = 360.0 / self.orbital_speed.0 / DAY_SECONDS;
        (days.is_finite() && days != 0.0).then(|| round_for_view(days))
    }
}

/// Rounds to 12 digits: those after them are rounding errors of the conversion.
fn round_for_view(number: f64) -> Number {
    Number(format!("{number:.11e}").parse().unwrap_or(number))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn converted(sent: &Value) -> Value {
        convert_command(sent).unwrap().into_owned()
    }

    fn refusal_of(sent: &Value) -> (Reason, String) {
        let misfit = convert_command(sent).unwrap_err();
        (misfit.reason, misfit.pointer)
    }

    #[test]
    fn ticks_become_seconds() {
        for (sent, dt) in [
            (json!({"type": "tick", "hours": 1}), 3_600.0),
            (json!({"type": "tick", "days": 2}), 172_800.0),
            (json!({"type": "tick", "years": 1}), 31_557_600.0),
            (json!({"type": "tick", "days": -0.5}), -43_200.0),
            (json!({"type": "tick", "years": 1, "days": 1, "hours": 1}), 31_647_600.0),
        ] {
            assert_eq!(converted(&sent), json!({"type": "tick", "dt": dt}), "{sent}");
        }
        for sent in
            [json!({"type": "tick"}), json!({"type": "tick", "dt": 5}), json!({"type": "removeStar", "days": 1})]
        {
            assert!(matches!(convert_command(&sent), Ok(Cow::Borrowed(_))), "{sent}");
        }
        for (field, value) in [("days", json!("2")), ("hours", Value::Null), ("years", json!([1]))] {
            let sent = json!({"type": "tick", field: value});
            assert_eq!(refusal_of(&sent), (Reason::Unreadable, format!("/{field}")), "{sent}");
        }
        assert_eq!(refusal_of(&json!({"type": "tick", "dt": 1, "days": 1})), (Reason::Unreadable, "/days".to_owned()));
        assert_eq!(refusal_of(&json!({"type": "tick", "years": 1e305})), (Reason::NotFinite, "/years".to_owned()));
    }

    #[test]
    fn a_period_becomes_a_speed() {
        let body = |fields: Value| json!({"type": "updateStar", "id": "a", "payload": fields});
        let speed = 360.0 / (365.25 * 86_400.0);
        for (days, speed) in [(365.25, speed), (-365.25, -speed)] {
            let sent = body(json!({"name": "A", "orbitalPeriodDays": days}));
            assert_eq!(converted(&sent), body(json!({"name": "A", "orbitalSpeed": speed})));
        }
        // Views have twelve digits of it.
        let read = body(json!({"orbitalSpeed": 1.140_751_279_780_342e-5, "orbitalPeriodDays": 365.256_365_741}));
        assert_eq!(converted(&read), body(json!({"orbitalSpeed": 1.140_751_279_780_342e-5})));
        for (fields, reason) in [
            (json!({"orbitalPeriodDays": 0}), Reason::Unreadable),
            (json!({"orbitalPeriodDays": "a year"}), Reason::Unreadable),
            (json!({"orbitalPeriodDays": null}), Reason::Unreadable),
            (json!({"orbitalPeriodDays": 10, "orbitalSpeed": 1}), Reason::Unreadable),
            (json!({"orbitalPeriodDays": 10, "orbitalSpeed": null}), Reason::Unreadable),
            (json!({"orbitalPeriodDays": 1e-320}), Reason::NotFinite),
        ] {
            assert_eq!(
                refusal_of(&body(fields.clone())),
                (reason, "/payload/orbitalPeriodDays".to_owned()),
                "{fields}"
            );
        }
    }

    #[test]
    fn bodies_of_a_whole_state_have_periods_too() {
        let state = |body: Value| json!({"stars": {"a/b": {"id": "a/b"}, "c": body}, "rootIds": ["c"]});
        let sent = json!({"type": "replaceSnapshot", "snapshot": state(json!({"id": "c", "orbitalPeriodDays": 1}))});
        let stored = state(json!({"id": "c", "orbitalSpeed": 360.0 / 86_400.0}));
        assert_eq!(converted(&sent)["snapshot"], stored);
        let wrong = json!({"type": "replaceSnapshot", "snapshot": state(json!({"orbitalPeriodDays": 0}))});
        assert_eq!(refusal_of(&wrong).1, "/snapshot/stars/c/orbitalPeriodDays");
    }
}
