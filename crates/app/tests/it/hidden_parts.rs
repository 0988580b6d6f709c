//! Tests of what is hidden inside of something that can be seen: refusals, searches and lists tell nothing of it.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, LocalEngine};

use crate::engine::block_on;
use crate::gate::{app_with, engine_with};
use crate::secrets::{Table, member, owner};
use crate::universe::{call, call_as_owner};

async fn answer_text(table: &Table, caller: &Caller, operation: &str, input: &Value) -> String {
    let answer = table.try_call(caller, operation, input.clone()).await;
    answer.map_or_else(|fault| format!("{:?}", fault.body()), |value| value.to_string())
}

async fn create_actor(table: &Table, name: &str) -> String {
    let created = table.call(&owner(), "actor_create", json!({"name": name, "kind": "NPC"})).await;
    created["id"].as_str().expect("an id").to_owned()
}

/// A secret tracker that was removed stays a secret when a sheet or a template sets it again.
#[test]
fn a_sheet_does_not_reveal_a_secret_tracker_that_was_removed() {
    block_on(async {
        let table = Table::new().await;
        let duke = create_actor(&table, "Count").await;
        let trackers = || {
            let of_actor = ["HP", "Stress", "Dread"].map(|name| json!({"actor_id": duke, "name": name}));
            [of_actor.to_vec(), vec![json!({"name": "Fear"})]].concat()
        };
        let hidden: Vec<Value> = trackers()
            .into_iter()
            .map(|mut tracker| {
                (tracker["max"], tracker["meaning"]) = (json!(9), json!("zqmeaning"));
                tracker["visible_to"] = json!(["gm"]);
                tracker
            })
            .collect();
        table.call(&owner(), "tracker", json!({"method": "set", "trackers": hidden})).await;
        table.call(&owner(), "tracker", json!({"method": "remove", "trackers": trackers()})).await;
        let sheet = json!({"actor_id": duke, "template": "daggerheart", "trackers": {"dread": {"max": 4}}});
        table.call(&owner(), "actor_update", sheet).await;
        let seen_by = async |caller: &Caller| {
            let id = &table.campaign_id;
            let reads = [
                ("campaign_read", json!({"campaign_id": id, "view": "actors"})),
                ("campaign_read", json!({"campaign_id": id, "view": "campaign"})),
                ("tracker", json!({"campaign_id": id, "method": "read"})),
                ("events_list", json!({"campaign_id": id, "types": ["tracker", "actor"]})),
                ("events_list", json!({"campaign_id": id, "types": ["tracker", "actor"], "compact": true})),
            ];
            let mut answers = String::new();
            for (operation, input) in reads {
                answers.push_str(&answer_text(&table, caller, operation, &input).await);
            }
            answers
        };
        let names = ["HP", "Stress", "read", "Fear"];
        let seen = seen_by(&owner()).await;
        assert!(names.iter().all(|name| seen.contains(name)), "{seen}");
        for caller in [&table.ana, &table.ben, &table.unbound, &table.guest] {
            let seen = seen_by(caller).await;
            assert!(names.iter().all(|name| !seen.contains(name)), "{seen}");
        }
    });
}

/// Two actors that look the same, one of which has hidden trackers: every call about one is answered as about the other.
#[test]
fn no_refusal_tells_of_a_hidden_tracker() {
    block_on(async {
        let table = Table::new().await;
        let (rook, pawn) = (create_actor(&table, "Rook").await, create_actor(&table, "Pawn").await);
        let light = |actor: &str| json!({"actor_id": actor, "name": "Light", "max": 6});
        let hidden = ["HP", "Armor", "Dread"]
            .map(|name| json!({"actor_id": rook, "name": name, "max": 6, "visible_to": ["gm"]}));
        let trackers = [vec![light(&rook), light(&pawn)], hidden.to_vec()].concat();
        table.call(&owner(), "tracker", json!({"method": "set", "trackers": trackers})).await;
        let items = [
            json!({"damage": 1}),
            json!({"damage": 0}),
            json!({"damage": 1, "armor": true}),
            json!({"damage": i64::MAX}),
            json!({"damage": 1, "reason": "x".repeat(5_000)}),
            json!({"name": "HP", "by": -1}),
            json!({"name": "Dread", "by": 1}),
            json!({"name": "Dread", "by": i64::MAX}),
            json!({"name": "Dread", "by": 1, "reason": "x".repeat(5_000)}),
            json!({"name": "Dread", "by": 1, "value": 2}),
            json!({"name": "dread ", "by": 1}),
            json!({"name": "", "by": 1}),
            json!({"name": "Armor"}),
            json!({"name": "Light", "by": -1}),
        ];
        let of = |actor: &str, item: &Value| {
            let mut item = item.clone();
            item["actor_id"] = json!(actor);
            item
        };
        for caller in [&table.ben, &table.unbound] {
            for item in &items {
                // Alone, and after one that is done.
                for parts in [vec![item.clone()], vec![json!({"name": "Light", "by": -1}), item.clone()]] {
                    let input = |actor: &str| {
                        let trackers: Vec<Value> = parts.iter().map(|part| of(actor, part)).collect();
                        json!({"campaign_id": table.campaign_id, "method": "change", "trackers": trackers})
                    };
                    let about_rook = answer_text(&table, caller, "tracker", &input(&rook)).await;
                    let about_pawn = answer_text(&table, caller, "tracker", &input(&pawn)).await;
                    let about_rook = about_rook.replace(&rook, &pawn).replace("Rook", "Pawn");
                    assert_eq!(without_revision(&about_rook), without_revision(&about_pawn), "{parts:?}");
                }
            }
        }
    });
}

/// Calls that are done one after the other differ by their revision alone.
fn without_revision(answer: &str) -> String {
    match serde_json::from_str::<Value>(answer) {
        Ok(mut answer) => {
            answer.as_object_mut().expect("an object").retain(|field, _| field != "revision");
            answer.to_string()
        }
        Err(_) => answer.to_owned(),
    }
}

#[test]
fn no_refusal_tells_of_a_hidden_note() {
    block_on(async {
        let table = Table::new().await;
        let sessions = json!({"campaign_id": table.campaign_id, "view": "sessions"});
        let sessions = table.call(&owner(), "campaign_read", sessions).await;
        let session_id = sessions.to_string().split('"').find(|text| text.starts_with("sess_")).map(str::to_owned);
        let session_id = session_id.expect("a session");
        let changes = [
            json!({"text": "x"}),
            json!({"text": "x", "session_id": session_id}),
            json!({"session_id": session_id}),
            json!({"tags": ["gm"]}),
            json!({"tags": ["\u{202e}"]}),
            json!({"text": ""}),
            json!({"remove": true}),
            json!({"remove": true, "session_id": session_id}),
            json!({"remove": true, "text": "x"}),
            json!({"visible_to": ["table"]}),
            json!({"visible_to": ["gm"]}),
            json!({"visible_to": ["Nobody"]}),
            json!({"visible_to": ["gm"], "text": "x"}),
            json!({"scene": "Dusk", "text": "x"}),
            json!({}),
        ];
        let missing = "note_00000000000000000000000000";
        for caller in [&table.ana, &table.ben, &table.unbound] {
            for change in &changes {
                let input = |note_id: &str| {
                    let mut input = change.clone();
                    (input["campaign_id"], input["note_id"]) = (json!(table.campaign_id), json!(note_id));
                    input
                };
                let about_hidden = answer_text(&table, caller, "session_note", &input(&table.note_id)).await;
                let about_missing = answer_text(&table, caller, "session_note", &input(missing)).await;
                assert_eq!(about_hidden.replace(&table.note_id, missing), about_missing, "{change}");
            }
        }
    });
}

async fn add_note(table: &Table, caller: &Caller, note: Value) -> String {
    let mut note = note;
    note["campaign_id"] = json!(table.campaign_id);
    table.call(caller, "session_note", note).await["id"].as_str().expect("an id").to_owned()
}

async fn reads_note(table: &Table, caller: &Caller, text: &str) -> bool {
    let events = json!({"campaign_id": table.campaign_id, "limit": 100});
    table.call(caller, "events_list", events).await.to_string().contains(text)
}

/// What is hidden from an actor is hidden from whoever plays it.
#[test]
fn what_an_actor_may_not_know_its_player_does_not_see() {
    block_on(async {
        let table = Table::new().await;
        for (number, visible_to) in [json!(["table"]), json!(["Ana", "Ben"]), json!(["Mira", "Ben"])].iter().enumerate()
        {
            let text = format!("whisper {number}");
            let note_id = add_note(&table, &owner(), json!({"text": text, "visible_to": visible_to})).await;
            assert!(reads_note(&table, &table.ana, &text).await);
            let hide = json!({"method": "hide", "note_id": note_id, "who": ["Mira"]});
            table.call(&owner(), "visibility", hide).await;
            assert!(!reads_note(&table, &table.ana, &text).await, "{visible_to}");
            assert!(reads_note(&table, &table.ben, &text).await, "{visible_to}");
        }
    });
}

#[test]
fn a_note_that_is_tagged_as_a_secret_later_is_one() {
    block_on(async {
        let table = Table::new().await;
        let note_id = add_note(&table, &table.ana, json!({"text": "The duke lies."})).await;
        assert!(reads_note(&table, &table.ben, "The duke lies.").await);
        table.call(&owner(), "session_note", json!({"note_id": note_id, "tags": ["lies", "GM"]})).await;
        assert!(!reads_note(&table, &table.ben, "The duke lies.").await);
        // What was revealed stays revealed.
        table.call(&owner(), "visibility", json!({"method": "reveal", "note_id": note_id})).await;
        table.call(&owner(), "session_note", json!({"note_id": note_id, "tags": ["gm"]})).await;
        assert!(reads_note(&table, &table.ben, "The duke lies.").await);
    });
}

/// Who else sees a note is not told to its author, unless they are a game master.
#[test]
fn an_author_is_not_told_who_else_sees_their_note() {
    block_on(async {
        let table = Table::new().await;
        let note_id = add_note(&table, &table.ana, json!({"text": "For us.", "visible_to": ["Ana"]})).await;
        table.call(&owner(), "visibility", json!({"method": "reveal", "note_id": note_id, "who": ["Ben"]})).await;
        let change = json!({"campaign_id": table.campaign_id, "note_id": note_id, "text": "For us two."});
        let answer = table.call(&table.ana, "session_note", change.clone()).await;
        assert_eq!(answer["visible_to"].as_array().map(Vec::len), Some(1), "{answer}");
        let answer = table.call(&owner(), "session_note", change).await;
        assert_eq!(answer["visible_to"].as_array().map(Vec::len), Some(2), "{answer}");
    });
}

/// A caller to whom some of the lore was revealed learns no more of the rest of it than one without a reveal.
#[test]
fn a_search_of_posts_tells_nothing_of_private_ones() {
    block_on(async {
        let table = Table::new().await;
        let post = async |name: &str, is_private: bool| {
            let post =
                json!({"entity_id": 3, "name": name, "entry": format!("Herring, {name}."), "is_private": is_private});
            table.call(&owner(), "create_posts", json!({"posts": [post]})).await;
        };
        let search = async |caller: &Caller, limit: usize| {
            let input = json!({"campaign_id": table.campaign_id, "query": "herring", "in": ["posts"], "limit": limit});
            table.call(caller, "entity_search", input).await
        };
        post("Market", false).await;
        let before = [search(&table.ana, 1).await, search(&table.ana, 20).await];
        assert_eq!(before[0]["posts"].as_array().map(Vec::len), Some(1), "{}", before[0]);
        for number in 0..3 {
            post(&format!("Cellar {number}"), true).await;
        }
        assert_eq!([search(&table.ana, 1).await, search(&table.ana, 20).await], before);
    });
}

#[test]
fn whoever_something_was_revealed_to_finds_it_everywhere() {
    block_on(async {
        let table = Table::new().await;
        for (caller, sees) in [(&table.ana, true), (&table.ben, false)] {
            for input in [json!({"query": "zoramark"}), json!({"query": "zoramark person"}), json!({})] {
                let mut input = input;
                input["campaign_id"] = json!(table.campaign_id);
                let found = table.call(caller, "entity_search", input).await;
                assert_eq!(found.to_string().contains("zoramark person"), sees, "{found}");
            }
        }
        // A private post that was revealed changes its entity for those who may read it.
        let changed = async |caller: &Caller| {
            let rows = json!({"campaign_id": table.campaign_id, "filter": {}, "page": {"number": 1, "rows": 10}});
            let rows = table.call(caller, "list_entities", rows).await;
            let rows = rows["rows"].as_array().expect("rows");
            rows.iter().find(|row| row["name"] == "Harbour").expect("a harbour")["updated_at"].clone()
        };
        assert_ne!(changed(&table.ana).await, changed(&table.ben).await);
        assert_eq!(changed(&table.ben).await, changed(&table.guest).await);
    });
}

/// The campaign of the command line is nothing to those who have no role in it.
#[test]
fn the_default_campaign_is_not_named_to_strangers() {
    block_on(async {
        let journal = Arc::new(skald_store::Memory::new());
        let first = engine_with(Arc::clone(&journal) as _);
        let created = call_as_owner(&first, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let campaign_id = created["id"].as_str().expect("an id").to_owned();
        let mut app = app_with(journal);
        app.default_campaign = Some(campaign_id.clone());
        let engine = LocalEngine::new(app);
        let stranger = member("Eve", "camp_elsewhere", CampaignRole::Player, &[]);
        for operation in ["campaign_read", "session_recap", "find_entities"] {
            let answer = call(&engine, &stranger, operation, json!({})).await;
            let answer = answer.map_or_else(|fault| format!("{:?}", fault.body()), |value| value.to_string());
            assert!(!answer.contains(&campaign_id), "{operation}: {answer}");
        }
        let player = member("Ana", &campaign_id, CampaignRole::Player, &[]);
        let read = call(&engine, &player, "campaign_read", json!({})).await.expect("a campaign");
        assert!(read.to_string().contains("Bells"), "{read}");
    });
}

/// The revision of an entity counts marks of the canon, which players do not hear of.
#[test]
fn players_do_not_read_the_revision_of_an_entity() {
    block_on(async {
        let table = Table::new().await;
        let id = &table.campaign_id;
        let reads = [
            ("get_entities", json!({"campaign_id": id, "entity_ids": [3]})),
            ("find_entities", json!({"campaign_id": id, "include_full": true})),
            ("list_entities", json!({"campaign_id": id, "filter": {}, "page": {"number": 1, "rows": 10}})),
        ];
        let read = async |caller: &Caller| {
            let mut answers = Vec::new();
            for (operation, input) in &reads {
                let mut answer = table.call(caller, operation, input.clone()).await;
                // When it was read.
                answer.as_object_mut().expect("an object").remove("read_at");
                answers.push(answer.to_string());
            }
            answers
        };
        let (before, of_owner) = (read(&table.ben).await, read(&owner()).await);
        table.call(&owner(), "canon", json!({"method": "mark", "entity_id": 3, "confidence": "AUTHORITATIVE"})).await;
        assert_eq!(read(&table.ben).await, before);
        assert_ne!(read(&owner()).await, of_owner);
    });
}

#[test]
fn answers_say_what_they_leave_out() {
    block_on(async {
        let table = Table::new().await;
        for number in 0..3 {
            let post = json!({"entity_id": 3, "name": format!("Tide {number}"), "entry": "Herring."});
            table.call(&owner(), "create_posts", json!({"posts": [post]})).await;
            add_note(&table, &owner(), json!({"text": format!("Herring {number}.")})).await;
        }
        let search = async |limit: usize| {
            let input = json!({"campaign_id": table.campaign_id, "query": "herring", "limit": limit});
            let mut input = input;
            input["in"] = json!(["posts", "notes"]);
            table.call(&owner(), "entity_search", input).await
        };
        let cut = search(2).await;
        assert_eq!(cut["more"], json!(["posts", "notes"]), "{cut}");
        assert_eq!((cut["posts"].as_array().map(Vec::len), cut["notes"].as_array().map(Vec::len)), (Some(2), Some(2)));
        assert_eq!(search(3).await.get("more"), None);

        let universe = |id: usize| json!({"method": "create", "universeId": format!("u-{id}"), "name": "Sky", "campaignId": table.campaign_id});
        let timeline = async || {
            let input = json!({"campaign_id": table.campaign_id, "include": "all"});
            table.call(&owner(), "timeline", input).await
        };
        for id in 0..10 {
            table.call(&owner(), "universe", universe(id)).await;
        }
        assert_eq!(timeline().await.get("truncated"), None);
        table.call(&owner(), "universe", universe(10)).await;
        assert_eq!(timeline().await["truncated"], json!(true));

        let secrets = async || table.call(&owner(), "visibility", json!({"method": "who_knows"})).await;
        assert_eq!(secrets().await.get("truncated"), None);
        for number in 0..200 {
            add_note(&table, &owner(), json!({"text": format!("Hush {number}."), "visible_to": ["gm"]})).await;
        }
        assert_eq!(secrets().await["truncated"], json!(true));
    });
}
