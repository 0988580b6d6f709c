//! Tests of where commands of a campaign go: the context, the session that is going on, names in place of ids, notes.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Conversation, Engine, Fault, LocalEngine, RequestControl};

use crate::engine::block_on;
use crate::gate::engine;
use crate::universe::{call, caller_with_roles};

/// A conversation with an engine of its own.
struct Table {
    engine: Arc<LocalEngine>,
    caller: Caller,
}

impl Table {
    fn new() -> Self {
        let caller = Caller { conversation: Conversation::Session("table".into()), ..Caller::owner() };
        Self { engine: engine(), caller }
    }

    async fn try_call(&self, operation: &str, input: Value) -> Result<Value, Fault> {
        self.engine.call(&self.caller, operation, input, &RequestControl::default()).await
    }

    async fn call(&self, operation: &str, input: Value) -> Value {
        let answer = self.try_call(operation, input.clone()).await;
        answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
    }

    async fn create_campaign(&self, name: &str) -> String {
        let created = self.call("campaign_create", json!({"name": name, "gm_mode": "AI"})).await;
        created["id"].as_str().expect("an id").to_owned()
    }

    async fn start_session(&self, name: &str) -> String {
        let started = self.call("session_start", json!({"name": name})).await;
        started["id"].as_str().expect("an id").to_owned()
    }

    async fn roll(&self) -> Value {
        self.call("roll", json!({"expression": "1d20"})).await
    }
}

#[test]
fn a_new_campaign_is_the_context_and_nothing_goes_into_the_one_before() {
    block_on(async {
        let table = Table::new();
        let first = table.create_campaign("Bells").await;
        let created = table.call("campaign_create", json!({"name": "Ashes", "gm_mode": "AI"})).await;
        let second = created["id"].as_str().unwrap().to_owned();
        assert_eq!(created["context"], json!({"campaign_id": second}));
        let actor = table.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await;
        assert_eq!(actor["campaign_id"], json!(second));
        assert_eq!(actor["went_to"], json!({"campaign": {"id": second, "name": "Ashes"}}));
        let actors = table.call("campaign_read", json!({"view": "actors", "campaign_id": first})).await;
        assert_eq!(actors["actors"], json!([]));
    });
}

#[test]
fn a_session_is_in_the_context_while_it_is_going_on() {
    block_on(async {
        let table = Table::new();
        let campaign_id = table.create_campaign("Bells").await;
        let started = table.call("session_start", json!({"name": "Low tide"})).await;
        let session_id = started["id"].as_str().unwrap().to_owned();
        assert_eq!(started["context"], json!({"campaign_id": campaign_id, "session_id": session_id}));
        let went_to = json!({"campaign": {"id": campaign_id, "name": "Bells"}, "session": {"id": session_id, "name": "Low tide"}});
        assert_eq!(started["went_to"], went_to);
        let rolled = table.roll().await;
        let names = json!("Bells, Low tide");
        assert_eq!((&rolled["went_to"], &rolled["recorded"]["session_id"]), (&names, &json!(session_id)));
        let ended = table.call("session_end", json!({})).await;
        assert_eq!((&ended["status"], &ended["went_to"]), (&json!("ENDED"), &went_to));
        let context = table.call("campaign_read", json!({"view": "context"})).await;
        assert_eq!(context["context"]["session_id"], Value::Null);
    });
}

#[test]
fn a_roll_is_recorded_in_the_session_that_is_going_on_without_any_context() {
    block_on(async {
        let table = Table::new();
        let before = table.roll().await;
        assert_eq!(before.get("recorded"), None);
        assert!(before["not_recorded"].as_str().unwrap().contains("campaign_create"), "{before}");
        table.create_campaign("Bells").await;
        let between = table.roll().await;
        assert!(between["not_recorded"].as_str().unwrap().contains("session_start"), "{between}");
        let session_id = table.start_session("").await;
        // A program without a conversation, and one that has just connected, roll in the only campaign there is.
        for conversation in [Conversation::None, Conversation::Session("other".into())] {
            let caller = Caller { conversation, ..Caller::owner() };
            let other = Table { engine: Arc::clone(&table.engine), caller };
            let rolled = other.roll().await;
            assert_eq!((&rolled["recorded"]["session_id"], rolled.get("not_recorded")), (&json!(session_id), None));
        }
        let duality = table.call("duality_action_roll", json!({"difficulty": 12})).await;
        assert_eq!(duality["recorded"]["session_id"], json!(session_id));
        let plain = table.call("roll_dice", json!({"dice": [{"sides": 6, "count": 2}]})).await;
        assert_eq!(plain["recorded"]["session_id"], json!(session_id));
    });
}

/// An ended session in the context refused every roll and took notes in silence.
#[test]
fn a_context_whose_session_has_ended_traps_nobody() {
    block_on(async {
        let table = Table::new();
        table.create_campaign("Bells").await;
        let last_week = table.start_session("Last week").await;
        table.call("session_end", json!({})).await;
        table.call("set_context", json!({"campaign_id": "Bells", "session_id": last_week})).await;
        let rolled = table.roll().await;
        assert!(rolled["not_recorded"].is_string(), "{rolled}");
        let noted = table.call("session_note", json!({"text": "Between the evenings."})).await;
        assert_eq!((noted.get("session_id"), &noted["went_to"].get("session")), (None, &None));
        let caller = Caller { conversation: Conversation::Session("game master".into()), ..Caller::owner() };
        let other = Table { engine: Arc::clone(&table.engine), caller };
        let today = other.start_session("Today").await;
        assert_eq!(table.roll().await["recorded"]["session_id"], json!(today));
        assert_eq!(table.call("session_note", json!({"text": "On."})).await["session_id"], json!(today));
        let cleared = table.call("set_context", json!({"clear": true})).await;
        assert_eq!(cleared, json!({"cleared": true}));
        let context = table.call("campaign_read", json!({"view": "context"})).await;
        assert_eq!(context["context"]["campaign_id"], Value::Null);
    });
}

#[test]
fn set_context_wants_a_campaign_or_clear() {
    block_on(async {
        let table = Table::new();
        for (input, path) in [
            (json!({}), "/campaign_id"),
            (json!({"session_id": "sess_1"}), "/campaign_id"),
            (json!({"clear": true, "campaign_id": "camp_1"}), "/clear"),
        ] {
            let fault = table.try_call("set_context", input.clone()).await.unwrap_err();
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)), "{input}");
            assert!(fault.body().hint.is_some(), "{input}");
        }
    });
}

#[test]
fn a_unique_name_stands_for_an_id() {
    block_on(async {
        let table = Table::new();
        let campaign_id = table.create_campaign("The Bells").await;
        table.create_campaign("Other").await;
        let named = |extra: Value| {
            let mut input = json!({"campaign_id": " the bells "});
            input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            input
        };
        let mara = table.call("participant_create", named(json!({"display_name": "Mara", "role": "PLAYER"}))).await;
        let actor = table.call("actor_create", named(json!({"name": "Mira", "kind": "PC"}))).await;
        assert_eq!((&mara["campaign_id"], &actor["campaign_id"]), (&json!(campaign_id), &json!(campaign_id)));
        let set = table.call("actor_control_set", named(json!({"actor_id": "MIRA", "controller": "mara"}))).await;
        assert_eq!((&set["actor_id"], &set["controller"]), (&actor["id"], &mara["id"]), "{set}");
        let session = table.call("session_start", named(json!({"name": "Low tide"}))).await;
        let rolled =
            table.call("roll", json!({"expression": "1d20", "session_id": "low tide", "actor_id": "mira"})).await;
        assert_eq!(rolled["recorded"]["session_id"], session["id"]);
        let context =
            table.call("set_context", named(json!({"session_id": "Low Tide", "participant_id": "Mara"}))).await;
        assert_eq!(context["context"]["participant_id"], mara["id"]);
        let renamed = table.call("actor_update", named(json!({"actor_id": "Mira", "name": "Mirabel"}))).await;
        assert_eq!(renamed["actor"]["id"], actor["id"]);
        let recap = table.call("session_recap", named(json!({"session_id": "low tide"}))).await;
        assert_eq!(recap["session"]["id"], session["id"]);
        let ended = table.call("session_end", named(json!({"session_id": "LOW TIDE"}))).await;
        assert_eq!(ended["id"], session["id"]);
        let run = json!({"process_id": "quest", "run_id": "r1", "campaign_id": "THE BELLS"});
        table.call("state_gate.create_run", run).await;
        let runs = table.call("state_gate.list_runs", json!({"campaign_id": "the bells"})).await;
        assert_eq!(runs["runs"][0]["campaign_id"], json!(campaign_id), "{runs}");
        let universe = json!({"method": "create", "name": "Sky", "campaignId": "the Bells"});
        let universe = table.call("universe", universe).await;
        assert_eq!(universe["universe"]["campaignId"], json!(campaign_id), "{universe}");
        let gone = table.try_call("campaign_read", json!({"campaign_id": "Nobody's"})).await.unwrap_err();
        assert_eq!((gone.code(), gone.body().path.as_deref()), (Code::NotFound, Some("/campaign_id")));
        // A resource has one URI: its id, never its name.
        let by_name = table.engine.read(&table.caller, "campaign://The%20Bells", &RequestControl::default()).await;
        assert!(by_name.is_err());
    });
}

#[test]
fn several_participants_come_in_one_call() {
    block_on(async {
        let table = Table::new();
        table.create_campaign("The Bells").await;
        let with = |participants: Value| json!({"display_name": "Ana", "role": "PLAYER", "participants": participants});
        let cleo = json!({"display_name": "Cleo", "role": "PLAYER"});
        for (participants, path) in [
            (json!([cleo, {"display_name": "", "role": "PLAYER"}]), "/participants/1/display_name"),
            (json!([cleo, {"display_name": "Ben"}]), "/participants/1/role"),
            (vec![cleo.clone(); skald_app::limits::ACTORS_PER_CALL_MAX].into(), "/participants"),
        ] {
            let fault = table.try_call("participant_create", with(participants)).await.unwrap_err();
            assert_eq!(fault.body().path.as_deref(), Some(path), "{fault}");
        }
        let listed = table.call("campaign_read", json!({"view": "participants"})).await;
        assert_eq!(listed["participants"], json!([]), "all or none: {listed}");
        let ben = json!({"display_name": "Ben", "role": "GM", "controller": "AI"});
        let created = table.call("participant_create", with(json!([ben, cleo]))).await;
        assert_eq!(
            (&created["display_name"], &created["participants"][0]["controller"]),
            (&json!("Ana"), &json!("AI"))
        );
        let listed = table.call("campaign_read", json!({"view": "participants"})).await;
        let names: Vec<&str> = listed["participants"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["display_name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["Cleo", "Ben", "Ana"], "the newest first: {listed}");
    });
}

#[test]
fn an_ambiguous_name_is_refused_with_the_candidates() {
    block_on(async {
        let table = Table::new();
        let first = table.create_campaign("Bells").await;
        let second = table.create_campaign("bells").await;
        let ambiguous = table.try_call("campaign_read", json!({"campaign_id": "BELLS"})).await.unwrap_err();
        assert_eq!(ambiguous.code(), Code::InvalidParams);
        for part in [format!("Bells ({first})"), format!("bells ({second})")] {
            assert!(ambiguous.body().message.contains(&part), "{ambiguous}");
        }
        table.call("campaign_update", json!({"campaign_id": second, "method": "archive"})).await;
        let read = table.call("campaign_read", json!({"campaign_id": "BELLS"})).await;
        assert_eq!(read["campaign"]["id"], json!(first), "an archived campaign does not make a name ambiguous");
        let in_first = |name: &str| json!({"campaign_id": first, "name": name, "kind": "NPC"});
        let wolf = table.call("actor_create", in_first("Wolf")).await;
        assert_eq!(wolf.get("note"), None);
        let again = table.call("actor_create", in_first("wolf")).await;
        assert!(again["note"].as_str().unwrap().contains(wolf["id"].as_str().unwrap()), "{again}");
        let update = json!({"campaign_id": first, "actor_id": "Wolf", "notes": "grey"});
        let ambiguous = table.try_call("actor_update", update).await.unwrap_err();
        assert_eq!((ambiguous.code(), ambiguous.body().allowed.len()), (Code::InvalidParams, 2));
        // Campaigns of others are no candidates.
        let stranger = caller_with_roles(&[(&first, CampaignRole::Guest)]);
        let read = call(&table.engine, &stranger, "campaign_read", json!({"campaign_id": "bells"}));
        assert_eq!(read.await.unwrap()["campaign"]["id"], json!(first));
    });
}

#[test]
fn a_note_is_corrected_and_taken_back_by_its_author_or_a_game_master() {
    block_on(async {
        let table = Table::new();
        let campaign_id = table.create_campaign("Bells").await;
        let session_id = table.start_session("").await;
        let note = table.call("session_note", json!({"text": "The brigde fell.", "tags": ["war"]})).await;
        assert_eq!((&note["session_id"], &note["tags"]), (&json!(session_id), &json!(["war"])));
        let corrected = table.call("session_note", json!({"note_id": note["id"], "text": "The bridge fell."})).await;
        assert_eq!((&corrected["id"], &corrected["text"]), (&note["id"], &json!("The bridge fell.")));
        let recap = table.call("session_recap", json!({})).await["text"].as_str().unwrap().to_owned();
        assert!(recap.contains("The bridge fell.") && !recap.contains("brigde"), "{recap}");
        let events = table.call("events_list", json!({})).await.to_string();
        assert!(events.contains("brigde"), "the journal keeps what it was");
        let player = caller_with_roles(&[(&campaign_id, CampaignRole::Player)]);
        let input = json!({"campaign_id": campaign_id, "note_id": note["id"], "text": "mine"});
        let fault = call(&table.engine, &player, "session_note", input).await.unwrap_err();
        assert_eq!(fault.code(), Code::Forbidden);
        for (input, path) in [
            (json!({}), "/text"),
            (json!({"remove": true}), "/note_id"),
            (json!({"note_id": "note_x", "text": "?"}), "/note_id"),
            (json!({"note_id": note["id"], "remove": true, "text": "x"}), "/text"),
        ] {
            let fault = table.try_call("session_note", input.clone()).await.unwrap_err();
            assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        }
        let removed = table.call("session_note", json!({"note_id": note["id"], "remove": true})).await;
        assert_eq!((&removed["removed"], &removed["session_id"]), (&json!(true), &note["session_id"]));
        let recap = table.call("session_recap", json!({})).await["text"].as_str().unwrap().to_owned();
        assert!(!recap.contains("The bridge fell."), "{recap}");
    });
}
