//! Finds type names that two types of the workspace share.

use std::collections::{BTreeMap, BTreeSet};

use super::declarations::{DeclarationKind, declarations};

/// A name that several types may have: in exactly these files, and why.
type SharedName = (&'static str, &'static [&'static str], &'static str);

const ALLOWED: [SharedName; 12] = [
    (
        "Command",
        &["crates/domain/src/universe/command.rs", "crates/skald/src/arguments.rs"],
        "a stored word of universes, and what clap calls a part of the command line",
    ),
    (
        "Created",
        &["crates/domain/src/gate/run/event.rs", "crates/domain/src/universe/event.rs"],
        "a stored event, named by its stream: `run.created` and `universe.created`",
    ),
    (
        "HeldChange",
        &["crates/app/src/lore/canon_hold.rs", "crates/page/src/canon.rs"],
        "the page reads the rows that `app` writes: the two sides of one answer",
    ),
    (
        "Journal",
        &["crates/journal/src/store_port.rs", "crates/lore_files/src/foundry.rs"],
        "the port of a store, and in `lore_files` what Foundry calls its documents",
    ),
    (
        "ListedCampaign",
        &["crates/app/src/lore/campaign_overview.rs", "crates/kanka/src/api/listed_rows.rs"],
        "the Kanka-compatible API reads the rows that `app` writes: the two sides of one answer",
    ),
    (
        "Reply",
        &["crates/mcp/src/middleware.rs", "crates/testkit/src/client.rs"],
        "the body of an answer that is being sent, and in `testkit` an answer that a test has read",
    ),
    (
        "Role",
        &["crates/domain/src/campaign/entities.rs", "crates/domain/src/gate/process/mod.rs"],
        "a stored word of campaigns and of processes",
    ),
    (
        "Seed",
        &["crates/domain/src/dice/random.rs", "crates/domain/src/universe/number.rs"],
        "a stored word of universes, and the word of dice",
    ),
    (
        "Snapshot",
        &["crates/domain/src/universe/snapshot.rs", "crates/journal/src/stored_values.rs"],
        "a stored word of universes, and the word of the journal",
    ),
    (
        "Step",
        &[
            "crates/app/src/lore/mirror/apply_remote.rs",
            "crates/domain/src/dice/explain_duality.rs",
            "crates/domain/src/gate/view/plan.rs",
        ],
        "in schemas of answers of dice and of the gate, and private to the mirror",
    ),
    (
        "TemporaryFolder",
        &["crates/page/src/administration/store.rs", "crates/testkit/src/temporary_folder.rs"],
        "of the page, and of `testkit`, which no code of the product uses",
    ),
    (
        "UntrustedFolder",
        &["crates/gate_files/src/untrusted_folder/non_unix.rs", "crates/gate_files/src/untrusted_folder/unix.rs"],
        "the same type for two operating systems: one of the two is compiled",
    ),
];

/// What is wrong with the type names of these sources, which come as relative path and text: names that types in several
/// files have without a reason, and exceptions that no longer fit.
pub(super) fn bad_type_names(sources: &[(String, String)]) -> Vec<String> {
    compare(&shared_names(sources), &ALLOWED)
}

/// Type names that occur in more than one file, each with the files that have it. Private types count as well: who
/// searches for a name should find one thing.
fn shared_names(sources: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut files: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (path, text) in sources {
        let types = declarations(text).into_iter().filter(|declaration| declaration.kind == DeclarationKind::Type);
        for declaration in types {
            files.entry(declaration.name).or_default().insert(path);
        }
    }
    files.retain(|_, files| files.len() > 1);
    files
}

fn compare(shared: &BTreeMap<&str, BTreeSet<&str>>, allowed: &[SharedName]) -> Vec<String> {
    let is_allowed = |name: &str, files: &BTreeSet<&str>| {
        allowed
            .iter()
            .any(|(known, known_files, _)| *known == name && known_files.iter().copied().eq(files.iter().copied()))
    };
    let unexplained = shared.iter().filter(|(name, files)| !is_allowed(name, files));
    let unexplained =
        unexplained.map(|(name, files)| format!("{name} is a type of {files:?}: each needs its own name"));
    let unused = allowed.iter().filter(|(name, files, _)| {
        !shared.get(name).is_some_and(|found| files.iter().copied().eq(found.iter().copied()))
    });
    let unused = unused.map(|(name, files, _)| format!("the exception {name} in {files:?} fits nothing: remove it"));
    unexplained.chain(unused).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources() -> Vec<(String, String)> {
        let source = |path: &str, text: &str| (path.to_owned(), text.to_owned());
        vec![
            source("a.rs", "pub struct Told {\n}\npub(crate) enum Once {\n}\nstruct Hidden;\n"),
            source("b.rs", "pub(super) trait Told: Send {\n}\ntype Hidden = u8;\npub struct Folder;\n"),
            source(
                "c.rs",
                "pub struct Folder;\nfn read() {\n    struct Once;\n}\nimpl Read for Folder {\n    type Told = u8;\n}\n",
            ),
        ]
    }

    #[test]
    fn two_types_of_one_name_are_found() {
        let sources = sources();
        let found = shared_names(&sources);
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), ["Folder", "Hidden", "Once", "Told"]);
        assert_eq!(found["Told"].iter().copied().collect::<Vec<_>>(), ["a.rs", "b.rs"]);
        assert_eq!(found["Once"].iter().copied().collect::<Vec<_>>(), ["a.rs", "c.rs"]);
    }

    #[test]
    fn an_exception_is_for_its_files_and_is_used() {
        let sources = sources();
        let mut shared = shared_names(&sources);
        shared.retain(|name, _| *name == "Folder");
        assert_eq!(compare(&shared, &[("Folder", &["b.rs", "c.rs"], "")]), [""; 0]);
        let other_file: SharedName = ("Folder", &["a.rs", "b.rs"], "");
        assert_eq!(compare(&shared, &[other_file]).len(), 2, "the name is not explained, and the exception not used");
        let gone: SharedName = ("Gone", &["a.rs", "b.rs"], "");
        assert_eq!(compare(&shared, &[("Folder", &["b.rs", "c.rs"], ""), gone]).len(), 1);
        assert_eq!(compare(&shared, &[]).len(), 1);
    }
}
