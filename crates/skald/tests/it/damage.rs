//! Tests of a SQLite file with a damaged page: it is detected and reported, intact data is read, nothing gets worse.

use serde_json::{Value, json};

use crate::faults::{failing_stderr, overwrite, wait_until_unready};
use crate::process::RunningProgram;
use crate::rest_client::RestClient;
use skald_testkit::TemporaryFolder;

const PAGE: usize = 4_096;
/// A text that is in one record of the damaged campaign only.
const LOST: &str = "the page that was torn out";

/// A file with two campaigns, one of which has an overwritten page in its middle.
struct DamagedStore {
    folder: TemporaryFolder,
    whole: String,
    torn: String,
}

impl DamagedStore {
    fn new() -> Self {
        let folder = TemporaryFolder::new();
        let path = folder.file("world.db");
        let (server, address) = RunningProgram::serve(&["--store", &format!("sqlite:{}", path.display())]);
        let mut rest = RestClient::new(address);
        let [whole, torn] = ["whole", "torn"].map(|name| rest.open_campaign(name));
        for number in 0..60 {
            let words = if number == 30 { LOST } else { "words" };
            rest.call("session_note", &json!({"campaign_id": torn, "text": format!("{words} ").repeat(40)}));
        }
        drop(rest);
        server.signal("TERM");
        assert!(server.wait_for_exit().0.success());
        let bytes = std::fs::read(&path).expect("a file");
        // The read model of notes has the text too, on a page without records.
        let has = |page: &[u8], text: &str| page.windows(text.len()).any(|part| part == text.as_bytes());
        let torn_out = bytes.chunks(PAGE).position(|page| has(page, LOST) && has(page, "note.added.v1"));
        let offset = torn_out.expect("the page") * PAGE;
        assert!(offset > 0 && offset + PAGE < bytes.len(), "it is in the middle");
        overwrite(&path, offset as u64, &[0x5a; PAGE]);
        Self { folder, whole, torn }
    }

    fn path(&self) -> std::path::PathBuf {
        self.folder.file("world.db")
    }

    fn serve(&self) -> (RunningProgram, RestClient) {
        let (server, address) = RunningProgram::serve(&["--store", &format!("sqlite:{}", self.path().display())]);
        (server, RestClient::new(address))
    }
}

/// Asserts that an answer says that the store is damaged and what to do, without internal details.
fn assert_damaged((status, answer): (u16, Value)) {
    let error = &answer["error"];
    assert_eq!((status, &error["code"], &error["status"]), (500, &json!("INTERNAL_ERROR"), &json!("Internal")));
    assert_eq!(error["retryable"], Value::Null, "to try again is of no use: {answer}");
    let says = |field: &str, words: &str| error[field].as_str().is_some_and(|text| text.contains(words));
    assert!(says("message", "damaged") && says("hint", "restore a backup"), "{answer}");
    assert!(!answer.to_string().contains("malformed"), "{answer}");
}

#[test]
fn what_is_whole_is_told_and_what_is_not_is_a_clear_error() {
    let torn = DamagedStore::new();
    let (server, mut rest) = torn.serve();
    let list = rest.call("campaign_read", &json!({"view": "campaigns"}));
    assert_eq!(list["campaigns"].as_array().map(Vec::len), Some(2), "a list of its own");
    assert_eq!(rest.history(&torn.whole).len(), 2);
    assert_damaged(rest.get(&format!("/api/v1/campaigns/{}", torn.torn)));
    assert_damaged(rest.get(&format!("/api/v1/campaigns/{}/events", torn.torn)));
    wait_until_unready(&mut rest, "damaged");

    // Once the damage is known, every write is refused, also to the intact campaign.
    for campaign_id in [&torn.torn, &torn.whole] {
        let note = json!({"campaign_id": campaign_id, "text": "too late"});
        assert_damaged(rest.send("session_note", &note, "late").expect("an answer"));
    }
    assert_damaged(rest.send("campaign_create", &json!({"name": "x", "gm_mode": "AI"}), "new").expect("an answer"));
    // Intact data can still be read, and operations without a store still work.
    assert_eq!(rest.history(&torn.whole).len(), 2);
    assert_eq!(rest.call("duality_outcome", &json!({"hope": 8, "fear": 5}))["total"], 13);
    assert_eq!(rest.get("/health").0, 200);
    wait_until_unready(&mut rest, "restore a backup");
    drop(rest);
    server.signal("TERM");
    let (status, _, errors) = server.wait_for_exit();
    assert!(status.success() && !errors.contains("panicked"), "{errors}");
    assert!(errors.contains("the file is damaged; nothing more is written to it"), "{errors}");
}

#[test]
fn a_write_that_meets_the_damage_finds_it_too() {
    let torn = DamagedStore::new();
    let (_server, mut rest) = torn.serve();
    let note = json!({"campaign_id": torn.torn, "text": "one more"});
    assert_damaged(rest.send("session_note", &note, "more").expect("an answer"));
    wait_until_unready(&mut rest, "damaged");
}

#[test]
fn the_command_line_says_so_and_leaves_nothing_behind() {
    let torn = DamagedStore::new();
    let copy = torn.folder.file("copy.db");
    let copy = copy.to_str().expect("a path");
    for arguments in [&["verify"][..], &["rebuild"], &["backup", copy]] {
        let text = failing_stderr(arguments, &torn.path());
        assert!(text.contains("the store is damaged: database disk image is malformed"), "{arguments:?}: {text}");
    }
    let left = std::fs::read_dir(torn.folder.file("."))
        .expect("a folder")
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("copy.db")));
    assert_eq!(left.count(), 0, "half a backup is none");
}
