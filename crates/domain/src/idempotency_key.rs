//! The form of an idempotency key: one check for HTTP headers, gRPC metadata, MCP `_meta` and input fields.

use crate::deceptive_characters::{code_point, first_deceptive};
use crate::limits;

/// The fault of an invalid key as text for people; `None` if the key is valid.
pub fn key_problem(key: &str) -> Option<String> {
    let (count, most) = (key.chars().count(), limits::KEY_CHARS_MAX);
    if count == 0 {
        return Some("Must not be empty".to_owned());
    }
    if key.trim().is_empty() {
        return Some("Must not be blank".to_owned());
    }
    if count > most {
        return Some(format!("Must have at most {most} characters, this has {count}"));
    }
    let character = first_deceptive(key)?;
    Some(format!("Must be one line of plain characters, this has {}", code_point(character)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_short_and_plain() {
        let most = limits::KEY_CHARS_MAX;
        for key in ["k", "a b", "Zoë 日本", &"k".repeat(most), &"日".repeat(most)] {
            assert_eq!(key_problem(key), None, "{key}");
        }
        let long = ["k", "日"].map(|letter| letter.repeat(most + 1));
        for key in ["", " ", "a\tb", "a\nb", "a\u{202e}b", "a\u{e0041}b", &long[0], &long[1]] {
            assert!(key_problem(key).is_some(), "{key}");
        }
    }
}
