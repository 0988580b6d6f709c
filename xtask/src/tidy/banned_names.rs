//! Finds names of files, types, functions and fields that say neither what a thing is nor what is done with it.

use super::declarations::{Declaration, DeclarationKind, declarations, words_of};

/// Words that are no part of a name: they fit everything, or are a metaphor or an everyday word where a technical term
/// exists.
const BANNED_WORDS: [&str; 46] = [
    "beside",
    "charted",
    "deed",
    "deeds",
    "desk",
    "door",
    "doors",
    "effort",
    "entrant",
    "eyes",
    "gatehouse",
    "hear",
    "heard",
    "helper",
    "helpers",
    "house",
    "keeper",
    "keeping",
    "knowledge",
    "manager",
    "manners",
    "meant",
    "misc",
    "patience",
    "said",
    "seat",
    "seats",
    "settle",
    "settled",
    "settling",
    "shelf",
    "sight",
    "sky",
    "sought",
    "standing",
    "stock",
    "telling",
    "thrown",
    "told",
    "touched",
    "trouble",
    "unaccepted",
    "util",
    "utils",
    "wording",
    "yardstick",
];
/// Whole names of files, types and functions that do not say what they hold or do. They may be part of a longer name.
const BANNED_NAMES: [&str; 48] = [
    "after",
    "answered",
    "asked",
    "at",
    "base",
    "beside",
    "by",
    "common",
    "counted",
    "data",
    "done",
    "elsewhere",
    "found",
    "hears",
    "info",
    "keep",
    "keeps",
    "kept",
    "known",
    "listed",
    "look",
    "made",
    "named",
    "narrow",
    "of",
    "once",
    "places",
    "reading",
    "ready",
    "refused",
    "say",
    "seen",
    "sheet",
    "shown",
    "taken",
    "tell",
    "tells",
    "typed",
    "types",
    "visit",
    "wanted",
    "watching",
    "way",
    "whole",
    "with",
    "word",
    "words",
    "world",
];
/// Whole names of fields that do not say what they hold. Fields that are stored or sent have other short names.
const BANNED_FIELDS: [&str; 15] = [
    "asked",
    "counted",
    "elsewhere",
    "found",
    "kept",
    "known",
    "look",
    "named",
    "narrow",
    "reading",
    "ready",
    "seen",
    "shown",
    "taken",
    "wanted",
];
/// Exceptions: the begin of the path, the whole name or one word of it, and the reason.
const ALLOWED: [(&str, &str, &str); 13] = [
    ("crates/app/src/lore/mirror/lease.rs", "keep", "a lease is kept by renewing it"),
    ("crates/app/src/lore/entity_row.rs", "shown", "a row of the lore: which of its texts is the one that is answered"),
    ("crates/app/src/redaction.rs", "seen", "the redaction through which people are seen"),
    ("crates/app/src/resource_changes.rs", "told", "the last place that was published"),
    ("crates/domain/src/dice/notation/", "keep", "the term of dice notation: keep highest, keep lowest"),
    ("crates/kanka/src/api/listed_rows.rs", "shown", "a field of the answer of `app` that is read here"),
    ("crates/lore_files/src/safe_names.rs", "taken", "names of files that are used already"),
    ("crates/page/src/", "keeping", "the old word of the page for the tasks of an owner"),
    ("crates/page/src/", "knowledge", "who knows an entity, which the page shows as a table"),
    ("crates/page/src/", "known", "values of a form that are there already"),
    ("crates/page/src/", "sky", "the page of a universe, after the address under which browsers have it"),
    ("crates/page/src/", "trouble", "a store or mirror that does not work at the moment"),
    ("crates/tool_calls/src/shell/", "word", "the term of the shell's grammar"),
];

/// What is wrong with the names of one file. The path is relative to the repository; only code of the product and of
/// `xtask` has its declarations checked, since a test is named by a sentence.
pub(super) fn bad_names(path: &str, source: &str, is_code: bool) -> Vec<String> {
    let parts = path.trim_end_matches(".rs").split('/').filter(|part| is_bad(part, &BANNED_NAMES));
    let mut found: Vec<String> =
        parts.filter(|part| !is_allowed(path, part)).map(|part| format!("{path}: the file {part}")).collect();
    let declared = if is_code { declarations(source) } else { Vec::new() };
    for Declaration { kind, name } in declared {
        let (banned, what) = match kind {
            DeclarationKind::Type => (&BANNED_NAMES[..], "type"),
            DeclarationKind::Function => (&BANNED_NAMES[..], "function"),
            DeclarationKind::Field => (&BANNED_FIELDS[..], "field"),
        };
        if is_bad(name, banned) && !is_allowed(path, name) {
            found.push(format!("{path}: the {what} {name}"));
        }
    }
    found
}

fn is_bad(name: &str, banned: &[&str]) -> bool {
    let words = words_of(name);
    banned.contains(&words.join("_").as_str()) || words.iter().any(|word| BANNED_WORDS.contains(&word.as_str()))
}

fn is_allowed(path: &str, name: &str) -> bool {
    let words = words_of(name);
    let fits = |allowed: &str| words.join("_") == allowed || words.iter().any(|word| word == allowed);
    ALLOWED.iter().any(|(begin, allowed, _)| path.starts_with(begin) && fits(allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_word_is_found_wherever_it_stands_in_a_name() {
        let source = "pub struct SkyReading {\n    seen: u8,\n    seen_at: u8,\n    at: u8,\n}\nfn told() {} // a comment\n\
                      fn kept_dice() {}\nfn kept() {}\n// fn said()\n";
        let found = bad_names("crates/a/src/sky_page.rs", source, true);
        let names: Vec<&str> = found.iter().map(|found| found.split(": the ").last().expect("a name")).collect();
        assert_eq!(names, ["file sky_page", "type SkyReading", "field seen", "function told", "function kept"]);
        assert_eq!(bad_names("crates/a/src/utils/mod.rs", source, false).len(), 1);
        assert_eq!(bad_names("crates/a/src/kept_dice.rs", "fn count_kept() {}\n", true), [""; 0]);
    }

    #[test]
    fn every_exception_has_a_reason() {
        assert!(ALLOWED.iter().all(|(begin, name, reason)| !begin.is_empty() && !name.is_empty() && reason.len() > 20));
    }
}
