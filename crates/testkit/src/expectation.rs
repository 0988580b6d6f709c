//! Matches an answer against a story's expectation: only the parts that are written there are compared.

use serde_json::{Number, Value};

/// Stands for anything: alone for any value, within a text for any text, last in a list for whatever follows.
const ANYTHING: &str = "…";
/// Before a number: compares with the precision in which that number is written.
const ABOUT: char = '≈';

/// Compares a value with an expectation. The error says where they differ.
pub(crate) fn compare(expected: &Value, found: &Value, at: &str) -> Result<(), String> {
    let differs = || Err(format!("at {at:?} expected {expected}, found {found}"));
    match (expected, found) {
        (Value::String(pattern), found) if pattern == ANYTHING && !found.is_null() => Ok(()),
        (Value::String(pattern), Value::String(found)) if matches_pattern(pattern, found) => Ok(()),
        (Value::String(pattern), Value::Number(found)) if is_rounded_to(pattern, found) => Ok(()),
        (Value::Object(expected), Value::Object(found)) => expected.iter().try_for_each(|(name, expected)| {
            compare(expected, found.get(name).unwrap_or(&Value::Null), &format!("{at}/{name}"))
        }),
        (Value::Array(expected), Value::Array(found)) => {
            let (expected, has_more) = match expected.split_last() {
                Some((last, others)) if last == ANYTHING => (others, true),
                _ => (&expected[..], false),
            };
            if found.len() < expected.len() || (found.len() > expected.len() && !has_more) {
                return differs();
            }
            let mut pairs = expected.iter().zip(found).enumerate();
            pairs.try_for_each(|(number, (expected, found))| compare(expected, found, &format!("{at}/{number}")))
        }
        (expected, found) if expected == found => Ok(()),
        _ => differs(),
    }
}

/// Whether a text has the pieces of a pattern, in order, from its beginning to its end.
fn matches_pattern(pattern: &str, found: &str) -> bool {
    let Some((first, rest)) = pattern.split_once(ANYTHING) else { return pattern == found };
    let (middle, last) = rest.rsplit_once(ANYTHING).unwrap_or(("", rest));
    let Some(mut left) = found.strip_prefix(first).and_then(|left| left.strip_suffix(last)) else { return false };
    middle.split(ANYTHING).all(|piece| match left.split_once(piece) {
        Some((_, after)) => {
            left = after;
            true
        }
        None => false,
    })
}

/// Whether a number, rounded to the decimal places of a pattern like `≈0.98`, is the number in the pattern.
fn is_rounded_to(pattern: &str, found: &Number) -> bool {
    let Some(told) = pattern.strip_prefix(ABOUT) else { return false };
    let is_plain = told.chars().all(|letter| letter.is_ascii_digit() || "-.".contains(letter));
    let (Ok(number), Some(found), true) = (told.parse::<f64>(), found.as_f64(), is_plain) else { return false };
    let places = told.split_once('.').map_or(0, |(_, places)| places.len());
    let last_place = places.try_into().map_or(0.0, |places| 0.1_f64.powi(places));
    (found - number).abs() <= last_place / 2.0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_expectation_is_a_part_of_what_is_found() {
        let found = json!({"name": "Ada of the Hill", "dice": [1, 2, 3], "left": null});
        for expected in [
            json!({}),
            json!({"name": "Ada…"}),
            json!({"name": "…of…Hill"}),
            json!({"name": "…"}),
            json!({"dice": [1, 2, 3], "gone": null}),
            json!({"dice": [1, "…"]}),
            json!({"dice": "…"}),
        ] {
            assert_eq!(compare(&expected, &found, ""), Ok(()), "{expected}");
        }
        for expected in [
            json!({"name": "Ada"}),
            json!({"name": "…Valley"}),
            json!({"name": "…Hill…of…"}),
            json!({"name": "Ada of the…the Hill"}),
            json!({"dice": [1, 2]}),
            json!({"dice": [1, 2, 3, 4, "…"]}),
            json!({"left": "…"}),
            json!({"gone": "…"}),
            json!({"dice": null}),
        ] {
            assert!(compare(&expected, &found, "").is_err(), "{expected}");
        }
    }

    #[test]
    fn a_number_may_be_told_roughly() {
        for (pattern, found) in [
            ("≈0.98", json!(0.9834)),
            ("≈-0.182", json!(-0.1816)),
            ("≈0.000", json!(-1e-15)),
            ("≈0.000", json!(0)),
            ("≈150", json!(149.6)),
            ("≈150", json!(150)),
            ("≈1.", json!("≈1.")),
        ] {
            assert_eq!(compare(&json!(pattern), &found, ""), Ok(()), "{pattern} {found}");
        }
        for (pattern, found) in [
            ("≈0.98", json!(0.9851)),
            ("≈0.980", json!(0.9834)),
            ("≈0.000", json!(0.0006)),
            ("≈150", json!(150.6)),
            ("≈150", json!("150")),
            ("≈150", json!(null)),
            ("≈1.5e2", json!(150)),
            ("≈", json!(0)),
            ("≈inf", json!(1)),
            ("150", json!(150)),
        ] {
            assert!(compare(&json!(pattern), &found, "").is_err(), "{pattern} {found}");
        }
    }
}
