//! Finds type names that two types of the workspace share.

use std::collections::{BTreeMap, BTreeSet};

use super::declarations::{DeclarationKind, declarations};

/// Names that two types may have, each with the reason.
const ALLOWED: [(&str, &str); 12] = [
    ("Bucket", "the token bucket of two rate limits, ours and the one of Kanka, each a number of its own file"),
    ("Created", "a stored event, named by its stream: `run.created` and `universe.created`"),
    ("HeldChange", "the page reads the rows that `app` writes: the two sides of one answer"),
    ("Journal", "the port of a store, and in `lore_files` what Foundry calls its documents"),
    ("ListedCampaign", "the Kanka-compatible API reads the rows that `app` writes: the two sides of one answer"),
    ("Position", "in a universe the word of its clients"),
    ("Role", "a stored word of campaigns and of processes"),
    ("Seed", "a stored word of universes, and the word of dice"),
    ("Snapshot", "a stored word of universes, and the word of the journal"),
    ("Step", "in schemas of answers of dice and of the gate"),
    ("TemporaryFolder", "of the page, and of `testkit`, which no code of the product uses"),
    ("UntrustedFolder", "the same type for two operating systems: one of the two is compiled"),
];

/// Type names that occur in more than one file, each with the files that have it. Private types count as well: who
/// searches for a name should find one thing. Sources come as path and text.
pub(crate) fn shared_names(sources: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in sources {
        let types = declarations(text).into_iter().filter(|declaration| declaration.kind == DeclarationKind::Type);
        for declaration in types {
            files.entry(declaration.name).or_default().insert(path);
        }
    }
    let is_allowed = |name: &str| ALLOWED.iter().any(|(allowed, _)| *allowed == name);
    files.retain(|name, files| files.len() > 1 && !is_allowed(name));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_types_of_one_name_are_found() {
        let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        let sources = [
            source("a.rs", "pub struct Told {\n}\npub(crate) enum Once {\n}\nstruct Hidden;\n"),
            source("b.rs", "pub(super) trait Told: Send {\n}\ntype Hidden = u8;\npub struct UntrustedFolder;\n"),
            source("c.rs", "pub struct UntrustedFolder;\n"),
        ];
        let found = shared_names(&sources);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["Hidden", "Told"]);
        assert_eq!(found["Told"].len(), 2);
    }
}
