//! Tests that `SecretWorld` puts a marker into every text of every kind of record, so that the secrecy matrix looks for
//! each of them. The fields are those of the golden files, which have an example of every field.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::process::CONTENT_MARKERS;
use crate::secret_world::SecretWorld;

/// Where the golden files of nouns with secrets are.
const GOLDEN_FOLDERS: [&str; 3] = ["campaign", "lore", "gate/run"];

/// Fields whose values nobody writes freely: ids, words of a list, hashes, numbers as text, and who sees something.
const NO_TEXTS: [&str; 50] = [
    "actor_id",
    "campaign_id",
    "choice",
    "confidence",
    "controller",
    "entity_type",
    "entry_before",
    "event",
    "expression",
    "fields",
    "finding_id",
    "fraction",
    "from",
    "gm_mode",
    "guard",
    "hash",
    "id",
    "key",
    "kind",
    "note_id",
    "notes_visible_to",
    "on",
    "outcome",
    "participant_id",
    "precision",
    "reached",
    "released_actor_ids",
    "replaced_text_key",
    "rng_algo",
    "role",
    "roll_id",
    "roll_mode",
    "run_id",
    "seed_source",
    "seed_used",
    "session_id",
    "sha256",
    "sort",
    "state",
    "status",
    "template",
    "text_key",
    "text_keys",
    "to",
    "tone",
    "tool",
    "type",
    "up",
    "version",
    "visible_to",
];

/// Texts without a marker, each with the reason.
const WITHOUT_MARKER: [(&str, &str, &str); 14] = [
    ("actor.sheet_set.v1", "/trackers/*/meaning", "the template of the sheet has these texts"),
    ("entity.created.v1", "/entity/date", "a date in figures"),
    ("entity.died.v1", "/date", "a date in figures"),
    ("entity.updated.v1", "/change/date", "a date in figures"),
    ("entity.version_restored.v1", "/steps/*/change/date", "a date in figures"),
    ("roll.recorded.v1", "/changes/*/name", "the name of a tracker, which has a marker where it is set"),
    ("run.emitted.v1", "/artifacts/*/measure/contains/*", "a text that the process names"),
    ("run.emitted.v1", "/artifacts/*/path", "the matrix asks for the file by its name, and its text has a marker"),
    ("run.emitted.v1", "/artifacts/*/types/*", "a type that the process names"),
    ("run.emitted.v1", "/guards/*/missing/*", "a message of the process"),
    ("run.emitted.v1", "/set/*", "a variable that the process names"),
    ("run.emitted.v1", "/stale/*", "the name of a file"),
    ("run.overridden.v1", "/guards/*/missing/*", "a message of the process"),
    ("run.overridden.v1", "/stale/*", "the name of a file"),
];

/// A field of a kind of record. Names of traits and the like are `*`, as are the rows of a list.
type FieldPath = (String, String);

/// The fields that hold texts, with all texts in them.
fn texts_of(kind: &str, value: &Value, path: &str, texts: &mut BTreeMap<FieldPath, Vec<String>>) {
    match value {
        Value::String(text) => {
            texts.entry((kind.to_owned(), path.to_owned())).or_default().push(text.clone());
        }
        Value::Array(rows) => rows.iter().for_each(|row| texts_of(kind, row, &format!("{path}/*"), texts)),
        Value::Object(fields) => {
            // The names in these are chosen by whoever writes them.
            let is_map = ["/context", "/payload", "/traits"].iter().any(|name| path.ends_with(name));
            for (name, value) in fields {
                if is_map {
                    texts_of(kind, value, &format!("{path}/*"), texts);
                } else if value.is_object() || !NO_TEXTS.contains(&name.as_str()) && !name.starts_with("was") {
                    texts_of(kind, value, &format!("{path}/{name}"), texts);
                }
            }
        }
        _ => {}
    }
}

/// The fields of all golden files that hold texts.
fn known_fields() -> BTreeSet<FieldPath> {
    let domain = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../domain/src"));
    let mut texts = BTreeMap::new();
    for folder in GOLDEN_FOLDERS {
        for file in std::fs::read_dir(domain.join(folder).join("golden")).expect("golden files") {
            let json = std::fs::read_to_string(file.expect("a file").path()).expect("a text");
            let event: Value = serde_json::from_str(&json).expect("JSON");
            let kind = event["type"].as_str().expect("a kind").to_owned();
            texts_of(&kind, &event, "", &mut texts);
        }
    }
    texts.into_keys().collect()
}

/// The fields of the records of a store that hold a marker.
fn marked_fields(database: &Path) -> BTreeSet<FieldPath> {
    let store = Connection::open_with_flags(database, OpenFlags::SQLITE_OPEN_READ_ONLY).expect("a store");
    let mut statement = store.prepare("SELECT body FROM records").expect("records");
    let bodies = statement.query_map([], |row| row.get::<_, String>(0)).expect("records");
    let mut texts = BTreeMap::new();
    for body in bodies {
        let body: Value = serde_json::from_str(&body.expect("a body")).expect("JSON");
        for event in body.as_array().expect("events") {
            texts_of(event["type"].as_str().unwrap_or_default(), event, "", &mut texts);
        }
    }
    let is_marked = |text: &String| text.contains(CONTENT_MARKERS[0]);
    texts.into_iter().filter(|(_, texts)| texts.iter().any(is_marked)).map(|(field, _)| field).collect()
}

#[test]
fn every_text_of_a_record_has_a_marker() {
    let world = SecretWorld::new();
    let marked = marked_fields(&world.gate.world.folder().join("world.db"));
    let excepted = |field: &FieldPath| {
        WITHOUT_MARKER.iter().any(|(kind, path, reason)| (*kind, *path) == (&*field.0, &*field.1) && !reason.is_empty())
    };
    let known = known_fields();
    assert!(known.len() > 50, "{known:#?}");
    let missing: Vec<&FieldPath> = known.difference(&marked).filter(|field| !excepted(field)).collect();
    assert!(missing.is_empty(), "plant a marker in `SecretWorld` for these fields: {missing:#?}");
    let needless: Vec<_> = WITHOUT_MARKER
        .iter()
        .filter(|(kind, path, _)| {
            let field = ((*kind).to_owned(), (*path).to_owned());
            marked.contains(&field) || !known.contains(&field)
        })
        .collect();
    assert!(needless.is_empty(), "these fields have a marker, or are not there: {needless:#?}");
}
