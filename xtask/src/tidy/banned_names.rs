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
/// Exceptions: the file, its names, and the reason.
type AllowedNames = (&'static str, &'static [&'static str], &'static str);

const ALLOWED: [AllowedNames; 11] = [
    (
        "crates/app/src/lore/entity_row.rs",
        &["shown"],
        "a row of the lore: which of its texts is the one that is answered",
    ),
    ("crates/app/src/lore/mirror/lease.rs", &["keep"], "a lease is kept by renewing it"),
    ("crates/app/src/redaction.rs", &["seen"], "the redaction through which people are seen"),
    ("crates/domain/src/dice/notation/mod.rs", &["Keep"], "the term of dice notation: keep highest, keep lowest"),
    ("crates/kanka/src/api/listed_rows.rs", &["shown"], "a field of the answer of `app` that is read here"),
    ("crates/lore_files/src/safe_names.rs", &["taken"], "names of files that are used already"),
    ("crates/page/src/kanka.rs", &["MirrorTrouble"], "a mirror that does not work at the moment"),
    ("crates/page/src/lib.rs", &["store_trouble"], "a store that does not work at the moment"),
    (
        "crates/page/src/lore/reveal.rs",
        &["LoreKnowledge", "knowledge"],
        "who knows an entity, which the page shows as a table",
    ),
    ("crates/page/src/universe/body_panel.rs", &["known"], "values of a form that are there already"),
    ("crates/tool_calls/src/shell/mod.rs", &["Word"], "the term of the shell's grammar"),
];

/// A banned name, and where it stands.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BannedName {
    path: String,
    kind: &'static str,
    name: String,
}

/// The banned names of one file. The path is relative to the repository; only code of the product and of `xtask` has its
/// declarations checked, since a test is named by a sentence.
pub(super) fn banned_names_of(path: &str, source: &str, is_code: bool) -> Vec<BannedName> {
    let banned_name = |kind, name: &str| BannedName { path: path.to_owned(), kind, name: name.to_owned() };
    let parts = path.trim_end_matches(".rs").split('/').filter(|part| is_bad(part, &BANNED_NAMES));
    let mut found: Vec<BannedName> = parts.map(|part| banned_name("file", part)).collect();
    let declared = if is_code { declarations(source) } else { Vec::new() };
    for Declaration { kind, name } in declared {
        let (banned, kind) = match kind {
            DeclarationKind::Type => (&BANNED_NAMES[..], "type"),
            DeclarationKind::Function => (&BANNED_NAMES[..], "function"),
            DeclarationKind::Field => (&BANNED_FIELDS[..], "field"),
        };
        if is_bad(name, banned) {
            found.push(banned_name(kind, name));
        }
    }
    found
}

/// What is wrong with these names: those that are no exception, and the exceptions that none of them needs.
pub(super) fn findings(names: &[BannedName]) -> Vec<String> {
    compare(names, &ALLOWED)
}

fn compare(names: &[BannedName], allowed: &[AllowedNames]) -> Vec<String> {
    let exceptions = || allowed.iter().flat_map(|(path, names, _)| names.iter().map(move |name| (*path, *name)));
    let is_allowed = |name: &BannedName| exceptions().any(|exception| exception == (&*name.path, &*name.name));
    let bad = names.iter().filter(|name| !is_allowed(name));
    let bad = bad.map(|BannedName { path, kind, name }| format!("{path}: the {kind} {name}"));
    let is_used = |(path, name): (&str, &str)| names.iter().any(|known| known.path == path && known.name == name);
    let unused = exceptions().filter(|exception| !is_used(*exception));
    bad.chain(unused.map(|(path, name)| format!("{path}: the exception {name} is not used: remove it"))).collect()
}

fn is_bad(name: &str, banned: &[&str]) -> bool {
    let words = words_of(name);
    banned.contains(&words.join("_").as_str()) || words.iter().any(|word| BANNED_WORDS.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banned_word_is_found_wherever_it_stands_in_a_name() {
        let source = "pub struct SkyReading {\n    seen: u8,\n    seen_at: u8,\n    at: u8,\n}\nfn told() {} // a comment\n\
                      fn kept_dice() {}\nfn kept() {}\n// fn said()\n";
        let found = banned_names_of("crates/a/src/sky_page.rs", source, true);
        let names: Vec<String> = found.iter().map(|found| format!("{} {}", found.kind, found.name)).collect();
        assert_eq!(names, ["file sky_page", "type SkyReading", "field seen", "function told", "function kept"]);
        assert_eq!(banned_names_of("crates/a/src/utils/mod.rs", source, false).len(), 1);
        assert_eq!(banned_names_of("crates/a/src/kept_dice.rs", "fn count_kept() {}\n", true), []);
    }

    #[test]
    fn an_exception_is_for_one_name_of_one_file_and_is_used() {
        let names = banned_names_of("crates/a/src/lease.rs", "fn keep() {}\nfn told() {}\n", true);
        let found = |allowed: &[AllowedNames]| compare(&names, allowed);
        assert_eq!(found(&[("crates/a/src/lease.rs", &["keep", "told"], "")]), [""; 0]);
        assert_eq!(found(&[("crates/a/src/lease.rs", &["keep"], "")]), ["crates/a/src/lease.rs: the function told"]);
        let folder = found(&[("crates/a/src/", &["keep"], ""), ("crates/a/src/lease.rs", &["keep", "told"], "")]);
        assert_eq!(folder, ["crates/a/src/: the exception keep is not used: remove it"]);
        let part_of_a_name = found(&[("crates/a/src/lease.rs", &["keep", "tol"], "")]);
        assert_eq!(part_of_a_name.len(), 2, "{part_of_a_name:?}");
    }

    #[test]
    fn every_exception_has_a_reason() {
        assert!(ALLOWED.iter().all(|(path, names, reason)| !path.is_empty() && !names.is_empty() && reason.len() > 20));
    }
}
