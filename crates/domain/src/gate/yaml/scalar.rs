//! Parses plain YAML scalars (null, booleans, numbers, text) by the core schema of YAML 1.2.

use serde_json::Number;

use super::Content;

/// `None` for a number that JSON does not have: infinite, not a number, or too large for an integer.
pub(super) fn parse_plain_scalar(text: &str) -> Option<Content> {
    Some(match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        _ if is_special(text) => return None,
        _ => match parse_number(text) {
            ParsedNumber::Number(number) => Content::Number(number),
            ParsedNumber::Beyond => return None,
            ParsedNumber::Text => Content::Text(text.to_owned()),
        },
    })
}

/// Result of parsing a text as a number.
enum ParsedNumber {
    Number(Number),
    /// A number that JSON cannot hold.
    Beyond,
    /// Not a number.
    Text,
}

impl ParsedNumber {
    fn from_number(number: Option<Number>) -> Self {
        number.map_or(Self::Beyond, Self::Number)
    }
}

/// `.inf` and `.nan`.
fn is_special(text: &str) -> bool {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

fn parse_number(text: &str) -> ParsedNumber {
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
            let number = || u64::from_str_radix(digits, radix).ok().map(Number::from);
            return if is_number { ParsedNumber::from_number(number()) } else { ParsedNumber::Text };
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.is_empty() && unsigned.bytes().all(|byte| byte.is_ascii_digit()) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let whole = text.parse::<i64>().map(Number::from).or_else(|_| text.parse::<u64>().map(Number::from));
        return ParsedNumber::from_number(whole.ok());
    }
    if is_decimal(unsigned) {
        ParsedNumber::from_number(text.parse().ok().and_then(Number::from_f64))
    } else {
        ParsedNumber::Text
    }
}

/// Digits with a point among them, an exponent after them, or both.
fn is_decimal(unsigned: &str) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['-', '+']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    has_digits && digits(whole) && digits(fraction) && exponent.is_none_or(|text| !text.is_empty() && digits(text))
}
