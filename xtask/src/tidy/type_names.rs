//! Finds type names that two types of the workspace share.

use std::collections::{BTreeMap, BTreeSet};

/// Names that two types may have, each with the reason.
const ALLOWED: [(&str, &str); 7] = [
    ("Created", "a stored event, named by its stream: `run.created` and `universe.created`"),
    ("Position", "in a universe the word of its clients"),
    ("Role", "a stored word of campaigns and of processes"),
    ("Seed", "a stored word of universes, and the word of dice"),
    ("Snapshot", "a stored word of universes, and the word of the journal"),
    ("Step", "in schemas of answers of dice and of the gate"),
    ("UntrustedFolder", "the same type for two operating systems: one of the two is compiled"),
];

/// Types that are visible outside of their file and share a name with another, each with the files that have it.
/// Sources come as path and text. A type that only its own file sees may have any name.
pub(crate) fn shared_names(sources: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in sources {
        for name in text.lines().filter_map(visible_type) {
            files.entry(name).or_default().insert(path);
        }
    }
    let is_allowed = |name: &str| ALLOWED.iter().any(|(allowed, _)| *allowed == name);
    files.retain(|name, files| files.len() > 1 && !is_allowed(name));
    files
}

/// The name of the type that a line declares for more than its own file.
fn visible_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = rest.strip_prefix('(').map_or(Some(rest), |scope| scope.split_once(')').map(|(_, rest)| rest))?;
    let mut words = rest.split_whitespace();
    let is_type = ["struct", "enum", "trait", "type"].contains(&words.next()?);
    let name = words.next().filter(|_| is_type)?;
    Some(name.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_visible_types_of_one_name_are_found() {
        let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let sources = [
            source("a.rs", "pub struct Told {\npub(crate) enum Once {\nstruct Hidden;"),
            source("b.rs", "pub(super) trait Told: Send {\nstruct Hidden;\npub struct UntrustedFolder;"),
            source("c.rs", "pub struct UntrustedFolder;"),
        ];
        let found = shared_names(&sources);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["Told"]);
        assert_eq!(found["Told"].len(), 2);
    }
}
