//! Tests of the search for session notes: by words, for those who may see them, however long the campaign is.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{App, Caller, CampaignRole};
use skald_journal::{Document, Journal, StreamName, rebuild};

use super::history::assert_sound;
use super::{CountingEntropy, LoreCampaign, SettableClock, rows};
use crate::secrets::member;
use crate::universe::run;

/// The read models of notes, which stores of earlier versions lack.
const NOTE_MODELS: [&str; 2] = ["campaign_notes", "campaigns_with_notes"];

impl LoreCampaign {
    async fn note(&self, note: Value) -> String {
        self.call("session_note", note).await["id"].as_str().expect("an id").to_owned()
    }

    /// Writes notes in few calls.
    async fn notes(&self, texts: impl Iterator<Item = String>) {
        for text in texts {
            self.note(json!({"text": text})).await;
        }
    }

    async fn search_notes(&self, caller: &Caller, query: Option<&str>, limit: usize) -> (Vec<String>, bool) {
        let input = json!({"campaign_id": self.campaign_id, "query": query, "in": ["notes"], "limit": limit});
        let found = self.call_as(caller, "entity_search", input).await.expect("an answer");
        let texts = rows(&found, "notes").iter().map(|note| note["description"].as_str().expect("a text").to_owned());
        (texts.collect(), found["more"] == json!(["notes"]))
    }

    fn campaign_stream(&self) -> StreamName {
        StreamName::new("campaign", &self.campaign_id)
    }

    async fn campaign_documents(&self) -> Vec<Document> {
        self.journal.owned_documents(&self.campaign_stream(), ("", ""), 100_000).await.expect("documents")
    }

    /// Takes away what a store of an earlier version lacks.
    async fn remove_note_models(&self) {
        let head = self.journal.head(&self.campaign_stream()).await.expect("a head");
        let mut documents = self.campaign_documents().await;
        documents.retain(|document| !NOTE_MODELS.contains(&document.collection.as_str()));
        self.journal.replace_documents(&self.campaign_stream(), head, documents).await.expect("a write");
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn a_note_is_found_by_its_words_as_it_is_now() {
    run(async {
        let lore = LoreCampaign::new().await;
        let owner = Caller::owner();
        let search = async |query: &'static str| lore.search_notes(&owner, Some(query), 20).await.0;
        let session = lore.call("session_start", json!({"name": "Low tide"})).await["id"].clone();
        let eaten = lore.note(json!({"text": "They ate **herring**, at dawn."})).await;
        lore.note(json!({"text": "Herrings again."})).await;
        assert_eq!(search("herring").await.len(), 2);
        assert_eq!(search("Dawn HERRING").await.len(), 1, "all words, in any order and case");
        assert_eq!(search("\"herring at dawn\"").await.len(), 1, "a phrase");
        assert_eq!(search("...").await, [""; 0], "no word");
        lore.call("session_note", json!({"note_id": eaten, "text": "They ate eels."})).await;
        assert_eq!(search("herring").await, ["Herrings again."]);
        assert_eq!(search("eels").await, ["They ate eels."]);
        lore.call("session_note", json!({"note_id": eaten, "tags": ["food"]})).await;
        assert_eq!(search("eels").await, ["They ate eels."], "its tags change no words");
        let input = json!({"campaign_id": lore.campaign_id, "query": "eels", "in": ["notes"]});
        let found = lore.call("entity_search", input).await;
        let row = json!({"note_id": eaten, "session_id": session, "description": "They ate eels."});
        assert_eq!(found["notes"], json!([row]));
        lore.call("session_note", json!({"note_id": eaten, "remove": true})).await;
        assert_eq!(search("eels").await, [""; 0]);
        assert_sound(&*lore.journal).await;
    });
}

#[test]
fn a_note_is_found_by_those_who_may_see_it() {
    run(async {
        let lore = LoreCampaign::new().await;
        let add = async |name: &str| {
            let person = json!({"display_name": name, "role": "PLAYER"});
            lore.call("participant_create", person).await["id"].as_str().expect("an id").to_owned()
        };
        let (ana, ben) = (add("Ana").await, add("Ben").await);
        let player = |name: &str, id: &str| member(name, &lore.campaign_id, CampaignRole::Player, &[id]);
        let (ana, ben) = (player("Ana", &ana), player("Ben", &ben));
        let (owner, guest) = (Caller::owner(), lore.caller(CampaignRole::Guest));
        lore.note(json!({"text": "Open herring."})).await;
        let secret = lore.note(json!({"text": "Secret herring.", "visible_to": ["gm"]})).await;
        lore.note(json!({"text": "Ana's herring.", "visible_to": ["Ana"]})).await;
        let seen = async |caller: &Caller| {
            let by_words = lore.search_notes(caller, Some("herring"), 20).await.0;
            assert_eq!(lore.search_notes(caller, None, 20).await.0, by_words, "without a query all are listed");
            by_words
        };
        let open = texts(&["Open herring."]);
        assert_eq!(seen(&owner).await, ["Ana's herring.", "Secret herring.", "Open herring."]);
        assert_eq!(seen(&ana).await, ["Ana's herring.", "Open herring."]);
        assert_eq!((seen(&ben).await, seen(&guest).await), (open.clone(), open.clone()));
        // A hidden note is neither a row nor a sign of more.
        for query in [Some("herring"), None] {
            assert_eq!(lore.search_notes(&ben, query, 1).await, (open.clone(), false), "{query:?}");
            assert_eq!(lore.search_notes(&owner, query, 1).await, (texts(&["Ana's herring."]), true), "{query:?}");
        }
        lore.call("visibility", json!({"method": "reveal", "note_id": secret, "who": ["Ben"]})).await;
        assert_eq!(seen(&ben).await, ["Secret herring.", "Open herring."]);
        lore.call("session_note", json!({"note_id": secret, "text": "Changed herring."})).await;
        assert_eq!(seen(&ben).await, ["Changed herring.", "Open herring."]);
        lore.call("visibility", json!({"method": "hide", "note_id": secret, "who": ["Ben"]})).await;
        assert_eq!(seen(&ben).await, open);
        lore.call("visibility", json!({"method": "reveal", "note_id": secret})).await;
        assert_eq!(seen(&guest).await, ["Changed herring.", "Open herring."]);
        assert_sound(&*lore.journal).await;
    });
}

/// Notes are found however many records are between them and now.
async fn check_old_notes(lore: &LoreCampaign, count: usize) {
    let owner = Caller::owner();
    lore.note(json!({"text": "The oldest omen."})).await;
    lore.notes((0..count).map(|number| format!("Note {number} of w{number}x."))).await;
    let begin = std::time::Instant::now();
    for query in ["omen", "oldest", "w7x", "note"] {
        let (found, more) = lore.search_notes(&owner, Some(query), 5).await;
        let is_common = query == "note";
        assert_eq!((found.len(), more), (if is_common { 5 } else { 1 }, is_common), "{query}");
    }
    let took = begin.elapsed();
    assert!(took < std::time::Duration::from_secs(5), "four searches among {count} notes took {took:?}");
    let newest = lore.search_notes(&owner, None, 1).await;
    assert_eq!(newest, (vec![format!("Note {0} of w{0}x.", count - 1)], true));
}

#[test]
fn the_oldest_of_many_notes_is_found() {
    run(async {
        let lore = LoreCampaign::new().await;
        check_old_notes(&lore, 10_000).await;
        assert_sound(&*lore.journal).await;
    });
}

/// A store of an earlier version gets the read models when it is opened, and a rebuild makes the same.
async fn check_older_store(lore: &LoreCampaign) {
    let owner = Caller::owner();
    lore.note(json!({"text": "Open herring."})).await;
    let removed = lore.note(json!({"text": "Removed herring."})).await;
    lore.call("session_note", json!({"note_id": removed, "remove": true})).await;
    let changed = lore.note(json!({"text": "First herring."})).await;
    lore.call("session_note", json!({"note_id": changed, "text": "Changed herring."})).await;
    let found = texts(&["Changed herring.", "Open herring."]);
    let documents = lore.campaign_documents().await;
    lore.remove_note_models().await;
    assert_eq!(lore.search_notes(&owner, Some("herring"), 20).await.0, [""; 0]);
    // What is written before the read models are filled is filled with the others.
    lore.note(json!({"text": "Newest eel."})).await;
    let app = App::new(
        Arc::new(CountingEntropy::default()),
        Arc::new(SettableClock(std::sync::atomic::AtomicI64::new(super::BEGIN_SECOND))),
        Arc::clone(&lore.journal),
    );
    app.fill_note_documents().await.expect("it is filled");
    assert_eq!(lore.search_notes(&owner, Some("herring"), 20).await.0, found);
    assert_eq!(lore.search_notes(&owner, Some("eel"), 20).await.0, ["Newest eel."]);
    assert_sound(&*lore.journal).await;
    let filled = lore.campaign_documents().await;
    assert_eq!(filled.len(), documents.len() + 1);
    app.fill_note_documents().await.expect("nothing is left to do");
    rebuild(&*lore.journal, &skald_app::Nouns::all().stream_kinds()).await.expect("it is rebuilt");
    assert_eq!(lore.campaign_documents().await, filled);
    assert_eq!(lore.search_notes(&owner, Some("herring"), 20).await.0, found);
    assert_sound(&*lore.journal).await;
}

#[test]
fn the_notes_of_an_older_store_are_found_after_it_is_filled() {
    run(async { check_older_store(&LoreCampaign::new().await).await });
}

#[test]
fn the_notes_in_a_file_are_found() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("note_search_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    run(async {
        for (name, is_older) in [("older", true), ("long", false)] {
            let address = format!("sqlite:{}", folder.join(format!("{name}.db")).display());
            let journal: Arc<dyn Journal> = skald_store::open(&address).await.expect("a store");
            let lore = LoreCampaign::on_journal(journal).await;
            if is_older {
                check_older_store(&lore).await;
            } else {
                check_old_notes(&lore, 300).await;
            }
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}
