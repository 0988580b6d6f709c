//! Attack: rewriting history so that every hash fits again. A hash chain cannot reveal it; a seal does.

use std::path::Path;

use serde_json::json;
use skald_journal::{AnswerDigest, Hash, Head, Record, StreamName, hex};

use crate::attacks::edited_store::{EditedStore, verify_store, verify_store_with};
use crate::program_under_test::{StoreKind, Surface, World};
use crate::rest_client::RestClient;

/// A sealed campaign with four notes. The key and the seal are files in the world's folder.
struct SealedWorld {
    world: World,
    campaign_id: String,
    key: String,
    seal: String,
    public_key: String,
}

fn successful_stdout(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

impl SealedWorld {
    fn new(kind: StoreKind) -> Self {
        let world = World::new(kind);
        let server = world.serve(&[]);
        let mut rest = RestClient::new(server.address);
        let campaign_id = rest.open_campaign("The bell of Dunmere");
        for text in ["one", "two", "three", "four"] {
            let (status, answer) =
                rest.send("session_note", &json!({"campaign_id": campaign_id, "text": text}), text).expect("an answer");
            assert_eq!(status, 200, "{answer}");
        }
        drop(server);
        let [key, seal] = ["seal.key", "seal.jsonl"].map(|name| world.folder().join(name).display().to_string());
        let made = successful_stdout(&world.run(&["seal", "--new-key", &key]));
        let public_key = made.lines().next().expect("a public key").to_owned();
        successful_stdout(&world.run(&["seal", "--key", &key, "--out", &seal]));
        Self { world, campaign_id, key, seal, public_key }
    }

    fn stream_name(&self) -> String {
        format!("campaign/{}", self.campaign_id)
    }

    fn verify_with_seal(&self) -> Result<String, Vec<String>> {
        verify_store_with(&self.world, &["--seal", &self.seal, "--public-key", &self.public_key])
    }

    /// The finding of a comparison with the seal. Asserts that `verify` without the seal finds nothing.
    fn seal_finding(&self) -> String {
        verify_store(&self.world).expect("every hash fits");
        let findings = self.verify_with_seal().expect_err("the seal differs");
        let is_finding = |line: &&String| line.contains(" sealed at ") && !line.contains("differences from");
        findings.iter().find(is_finding).unwrap_or_else(|| panic!("{findings:?}")).clone()
    }

    fn records(&self) -> Vec<Record> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("one");
        runtime.block_on(async {
            let journal = skald_store::open(self.world.store()).await.expect("a store");
            journal.read(&StreamName::parse(&self.stream_name()), 0, 1_000).await.expect("records")
        })
    }
}

/// A hash as an SQL literal of the database.
fn hash_literal(store: &EditedStore, hash: &Hash) -> String {
    let digits = hex(hash);
    match store {
        EditedStore::Sqlite(_) => format!("x'{digits}'"),
        EditedStore::Postgres(_) => format!("'\\x{digits}'::bytea"),
    }
}

/// Replaces a word in the records, and computes the hash chain anew.
fn rechain(sealed: &SealedWorld, store: &EditedStore, word: &str, other: &str) {
    rechain_with(sealed, store, |record| record.body = record.body.replace(word, other));
}

/// Changes records, and computes the hash chain anew.
fn rechain_with(sealed: &SealedWorld, store: &EditedStore, change: impl Fn(&mut Record)) {
    let stream = sealed.stream_name();
    let mut head = Head::default();
    for record in sealed.records() {
        let mut record = Record { previous: head.hash, ..record };
        change(&mut record);
        record.hash = record.computed_hash();
        head = record.head();
        let (previous, hash) = (hash_literal(store, &record.previous), hash_literal(store, &record.hash));
        let answer = if record.answer == AnswerDigest::NotNoted { ", answer = NULL" } else { "" };
        store.edit(&format!(
            "UPDATE records SET body = '{}', previous = {previous}, hash = {hash}{answer}
            WHERE stream = '{stream}' AND revision = {}",
            record.body.replace('\'', "''"),
            record.revision
        ));
    }
    let hash = hash_literal(store, &head.hash);
    store.edit(&format!("UPDATE heads SET hash = {hash} WHERE stream = '{stream}'"));
    // What is derived from the records is rewritten too.
    successful_stdout(&sealed.world.run(&["rebuild"]));
}

/// Removes the records after a revision with every trace of them: answers, the head and read models.
fn truncate_stream(sealed: &SealedWorld, store: &EditedStore, after: u64) {
    let stream = sealed.stream_name();
    let last = sealed.records().into_iter().find(|record| record.revision == after);
    let head = last.map(|record| record.head()).unwrap_or_default();
    store.edit(&format!(
        "DELETE FROM records WHERE stream = '{stream}' AND revision > {after};
        DELETE FROM commands WHERE stream = '{stream}' AND revision > {after}"
    ));
    if after == 0 {
        store.edit(&format!("DELETE FROM heads WHERE stream = '{stream}'"));
    } else {
        let hash = hash_literal(store, &head.hash);
        store.edit(&format!("UPDATE heads SET revision = {after}, hash = {hash} WHERE stream = '{stream}'"));
    }
    successful_stdout(&sealed.world.run(&["rebuild"]));
}

/// Takes an edit back, and makes the search index of the records that are there again.
fn undo(sealed: &SealedWorld, store: &EditedStore) {
    store.undo();
    successful_stdout(&sealed.world.run(&["rebuild"]));
}

fn a_rewritten_journal_shows(kind: StoreKind) {
    let sealed = SealedWorld::new(kind);
    let (store, stream) = (EditedStore::new(&sealed.world), sealed.stream_name());
    let root = sealed.verify_with_seal().expect("nothing was changed yet");
    let last = sealed.records().len() as u64;

    rechain(&sealed, &store, "two", "too");
    assert_ne!(verify_store(&sealed.world), Ok(root.clone()), "the root is another");
    let found = sealed.seal_finding();
    assert!(found.starts_with(&format!("stream_rewritten: {stream}: revision {last}, or one before it")), "{found}");
    undo(&sealed, &store);

    truncate_stream(&sealed, &store, last - 1);
    let found = sealed.seal_finding();
    assert!(found.starts_with(&format!("stream_cut: {stream}: it was at revision {last} when")), "{found}");
    assert!(found.ends_with(&format!("and ends at {} now", last - 1)), "{found}");
    undo(&sealed, &store);

    truncate_stream(&sealed, &store, 0);
    let found = sealed.seal_finding();
    assert!(found.starts_with(&format!("stream_missing: {stream}: it had {last} records")), "{found}");
    undo(&sealed, &store);

    // What was added after the seal is no difference.
    sealed.world.create_token(&["Ada"]);
    sealed.verify_with_seal().expect("a new token is no change of what was sealed");
}

/// Records of older stores have no digest of their answer, so a changed answer breaks no hash; only the seal shows it.
fn a_changed_older_answer_shows(kind: StoreKind) {
    let mut sealed = SealedWorld::new(kind);
    let (store, stream) = (EditedStore::new(&sealed.world), sealed.stream_name());
    rechain_with(&sealed, &store, |record| record.answer = AnswerDigest::NotNoted);
    sealed.seal = sealed.world.folder().join("older.jsonl").display().to_string();
    successful_stdout(&sealed.world.run(&["seal", "--key", &sealed.key, "--out", &sealed.seal]));
    sealed.verify_with_seal().expect("as sealed");
    let of_last = format!("stream = '{stream}' AND revision = {}", sealed.records().len());
    for edit in [
        format!("UPDATE commands SET answer = replace(answer, 'four', 'fore') WHERE {of_last}"),
        format!("DELETE FROM commands WHERE {of_last}"),
    ] {
        store.edit(&edit);
        let found = sealed.seal_finding();
        assert!(found.starts_with(&format!("sealed_answers_differ: {stream}: answers under")), "{found}");
        store.edit("DELETE FROM commands; INSERT INTO commands SELECT * FROM before_commands");
    }
    sealed.verify_with_seal().expect("as sealed");
}

/// The row that selects the process of new runs may be replaced. A seal includes it, and shows the change.
fn a_changed_submission_shows(kind: StoreKind) {
    let mut sealed = SealedWorld::new(kind);
    let submit = |version: &str| {
        let server = sealed.world.serve(&["--role", "human"]);
        let source = crate::gate_server::PROOF.replace("version: \"1\"", &format!("version: \"{version}\""));
        server.client(Surface::Rest).ok("state_gate.submit_process", &json!({"source": source}));
    };
    submit("1");
    submit("2");
    sealed.seal = sealed.world.folder().join("submitted.jsonl").display().to_string();
    successful_stdout(&sealed.world.run(&["seal", "--key", &sealed.key, "--out", &sealed.seal]));
    sealed.verify_with_seal().expect("as sealed");
    let store = EditedStore::new(&sealed.world);
    // Point the row to the first version, which is still stored, so that nothing that the row names is missing.
    let hashes = "SELECT key FROM shelf AS source WHERE kind = 'process' AND source.key <> ";
    let hash_now = match &store {
        EditedStore::Sqlite(_) => "json_extract(shelf.body, '$.hash')",
        EditedStore::Postgres(_) => "(shelf.body::json ->> 'hash')",
    };
    let submitted = "kind = 'process_submitted' AND key = 'proof'";
    store.edit(&format!(
        "UPDATE shelf SET body = replace(body, {hash_now}, ({hashes}{hash_now} LIMIT 1)) WHERE {submitted}"
    ));
    let found = sealed.seal_finding();
    assert!(found.starts_with("sealed_row_differs: process_submitted proof: it was changed since"), "{found}");
    store.edit(&format!("DELETE FROM shelf WHERE {submitted}"));
    let found = sealed.seal_finding();
    assert!(found.starts_with("sealed_row_differs: process_submitted proof: it is gone since"), "{found}");
    undo(&sealed, &store);
    // A row newer than the seal may be legitimate: it is a note, not a finding. Rows have whole seconds.
    let now = || jiff::Timestamp::now().as_second();
    let last_second = now();
    while now() == last_second {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    submit("3");
    let output = sealed.world.run(&["verify", "--seal", &sealed.seal]);
    let notes = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && notes.contains("process_submitted proof was replaced at "), "{notes}");
}

#[test]
fn a_changed_older_answer_in_a_file_shows() {
    a_changed_older_answer_shows(StoreKind::Sqlite);
}

#[test]
fn a_changed_submission_in_a_file_shows() {
    a_changed_submission_shows(StoreKind::Sqlite);
}

#[test]
fn a_rewritten_file_shows() {
    a_rewritten_journal_shows(StoreKind::Sqlite);
}

mod postgres {
    use super::*;

    #[test]
    fn a_changed_older_answer_in_a_table_shows() {
        a_changed_older_answer_shows(StoreKind::Postgres);
    }

    #[test]
    fn a_changed_submission_in_a_table_shows() {
        a_changed_submission_shows(StoreKind::Postgres);
    }

    #[test]
    fn a_rewritten_table_shows() {
        a_rewritten_journal_shows(StoreKind::Postgres);
    }
}

#[test]
fn a_refused_attempt_that_is_deleted_shows() {
    let gate = crate::gate_server::Gate::new(StoreKind::Sqlite);
    crate::attacks::tamper_with_the_store::create_run_with_attempt(&gate);
    let world = &gate.world;
    let [key, seal] = ["seal.key", "seal.jsonl"].map(|name| world.folder().join(name).display().to_string());
    successful_stdout(&world.run(&["seal", "--new-key", &key]));
    successful_stdout(&world.run(&["seal", "--key", &key, "--out", &seal]));
    EditedStore::new(world).edit("DELETE FROM shelf WHERE kind LIKE 'attempt/%'");
    verify_store(world).expect("nothing else speaks of it");
    let findings = verify_store_with(world, &["--seal", &seal]).expect_err("the seal does");
    assert!(findings.iter().any(|line| line.starts_with("sealed_row_differs: attempt/run-")), "{findings:?}");
}

#[test]
fn a_seal_or_a_key_that_is_not_right_is_refused() {
    let sealed = SealedWorld::new(StoreKind::Sqlite);
    let world = &sealed.world;
    let refused = |arguments: &[&str], why: &str| {
        let output = world.run(arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains(why), "{arguments:?}: {text}");
    };
    refused(&["seal", "--new-key", &sealed.key], "cannot make the key");
    refused(&["seal", "--key", &sealed.key, "--out", &sealed.seal], "cannot write");
    refused(&["seal", "--out", "elsewhere"], "--new-key FILE");
    let other = "00".repeat(32);
    refused(&["verify", "--seal", &sealed.seal, "--public-key", &other], "and not with");
    refused(&["verify", "--seal", &sealed.seal, "--public-key", "nothing"], "neither a public key");
    let text = std::fs::read_to_string(&sealed.seal).expect("a seal");
    let forged = world.folder().join("forged.jsonl").display().to_string();
    std::fs::write(&forged, text.replacen("\"campaign/", "\"campaign/x", 1)).expect("a file");
    refused(&["verify", "--seal", &forged], "the signature does not fit");
    make_readable_by_others(Path::new(&sealed.key));
    refused(&["seal", "--key", &sealed.key], "others can read the key");
}

fn make_readable_by_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "a key is its owner's alone");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644)).expect("another mode");
}

#[test]
fn what_is_not_sound_is_not_sealed() {
    let sealed = SealedWorld::new(StoreKind::Sqlite);
    EditedStore::new(&sealed.world).edit("UPDATE records SET by = 'somebody' WHERE revision = 2");
    let output = sealed.world.run(&["seal", "--key", &sealed.key]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && text.contains("record_changed: ") && text.contains("nothing was sealed"),
        "{text}"
    );
}

/// The files in a folder of seals, sorted by name.
fn list_seals(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|file| file.expect("a file").path());
    let mut seals: Vec<String> = files.map(|path| path.display().to_string()).collect();
    seals.sort();
    seals
}

#[test]
fn a_server_seals_when_it_starts_and_when_a_session_ends() {
    let sealed = SealedWorld::new(StoreKind::Sqlite);
    let folder = sealed.world.folder().join("seals");
    let server = sealed.world.serve(&["--seal-key", &sealed.key, "--seal-dir", &folder.display().to_string()]);
    let until = |count: usize| {
        for _ in 0..600 {
            if list_seals(&folder).len() >= count {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        panic!("{count} seals did not come");
    };
    until(1);
    let mut rest = RestClient::new(server.address);
    let (status, answer) =
        rest.send("session_end", &json!({"campaign_id": sealed.campaign_id}), "end").expect("an answer");
    assert_eq!(status, 200, "{answer}");
    until(2);
    drop(server);
    let newest = list_seals(&folder).pop().expect("a seal");
    let text = std::fs::read_to_string(&newest).expect("a seal");
    let ended = format!("[\"stream\",\"{}\",{},", sealed.stream_name(), sealed.records().len());
    assert!(text.contains(&ended), "the end of the session is in it: {text}");
    verify_store_with(&sealed.world, &["--seal", &newest, "--public-key", &sealed.public_key]).expect("as sealed");
}
