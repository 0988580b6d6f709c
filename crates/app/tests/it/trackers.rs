//! Tests of trackers, sheets, roll effects and the spotlight, called through the engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use serde_json::{Map, Value, json};
use skald_app::{
    App, Caller, CampaignRole, Clock, Code, Engine, Entropy, Fault, LocalEngine, PrincipalKind, RequestControl, limits,
};
use tokio::runtime::{Builder, Runtime};

use crate::gate::token_holder;

/// Different bytes for every call, so that ids differ.
#[derive(Default)]
struct CountingEntropy(AtomicU8);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        [self.0.fetch_add(1, Ordering::Relaxed); 32]
    }
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_768_478_400).expect("a moment")
    }
}

/// A campaign with two participants.
struct Table {
    /// Lives as long as the engine: the writers of streams are its tasks.
    runtime: Runtime,
    engine: Arc<LocalEngine>,
    campaign_id: String,
}

impl Table {
    fn new() -> Self {
        let memory = Arc::new(skald_store::Memory::new());
        let engine = LocalEngine::new(App::new(Arc::new(CountingEntropy::default()), Arc::new(FixedClock), memory));
        let runtime = Builder::new_current_thread().enable_time().build().expect("a runtime");
        let mut table = Self { runtime, engine, campaign_id: String::new() };
        let campaign = table.call("campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).expect("it is there");
        campaign["id"].as_str().expect("it is there").clone_into(&mut table.campaign_id);
        table.ok("participant_create", json!({"display_name": "Anna", "role": "PLAYER"}));
        table.ok("participant_create", json!({"display_name": "Bert", "role": "GM"}));
        table
    }

    /// The same with two player characters and an adversary, in a session.
    fn with_session() -> (Self, String) {
        let table = Self::new();
        table.ok(
            "actor_create",
            json!({
                "name": "Mira", "kind": "PC", "controller": "anna", "template": "daggerheart",
                "traits": {"agility": 2, "ancestry": "Ribbet", "thresholds": "7/14"}, "trackers": {"HP": 7, "Armor": "2/3"},
                "actors": [
                    {"name": "Thorin", "kind": "PC", "template": "daggerheart", "trackers": {"Gold": {"value": 3, "meaning": "handfuls"}}},
                    {"name": "Goblin", "kind": "NPC", "template": "daggerheart", "controller": "GM"},
                ],
            }),
        );
        let session = table.ok("session_start", json!({"name": "Low tide"}));
        let session_id = session["id"].as_str().expect("it is there").to_owned();
        (table, session_id)
    }

    fn call(&self, operation: &str, input: Value) -> Result<Value, Fault> {
        self.runtime.block_on(self.engine.call(&Caller::owner(), operation, input, &RequestControl::default()))
    }

    fn with_campaign(&self, mut input: Value) -> Value {
        input.as_object_mut().expect("it is there").insert("campaign_id".to_owned(), json!(self.campaign_id));
        input
    }

    fn ok(&self, operation: &str, input: Value) -> Value {
        let input = self.with_campaign(input);
        self.call(operation, input.clone()).unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
    }

    fn expect_refusal(&self, operation: &str, input: Value) -> Fault {
        self.call(operation, self.with_campaign(input)).expect_err(operation)
    }

    fn change(&self, trackers: &Value) -> Value {
        self.ok("tracker", json!({"method": "change", "trackers": trackers}))
    }

    fn trackers(&self) -> Value {
        self.ok("campaign_read", json!({}))["trackers"].clone()
    }
}

#[test]
fn sheets_of_several_actors_are_set_up_in_one_call() {
    let (table, _) = Table::with_session();
    let actors = table.ok("campaign_read", json!({"view": "actors"}))["actors"].clone();
    let mira = actors.as_array().unwrap().iter().find(|actor| actor["name"] == "Mira").unwrap();
    assert_eq!(mira["traits"], json!({"agility": 2, "ancestry": "Ribbet", "thresholds": "7/14"}));
    assert_eq!(
        (&mira["template"], mira["controller"].as_str().unwrap().starts_with("part_")),
        (&json!("daggerheart"), true)
    );
    assert_eq!(
        table.trackers(),
        json!([
            "Fear 0/12",
            "Mira: HP 7/7, Stress 0/6, Hope 2/6, Armor 2/3",
            "Thorin: HP 6/6, Stress 0/6, Hope 2/6, Armor 0/0, Gold 3",
            "Goblin: HP 3/3, Stress 0/3",
        ])
    );
    let updated = table.ok(
        "actor_update",
        json!({
            "actor_id": "mira", "traits": {"agility": null, "level": 2}, "trackers": {"Stress": 1},
            "actors": [{"actor_id": "Thorin", "controller": "Anna", "notes": "A smith."}],
        }),
    );
    assert_eq!(updated["actor"]["traits"], json!({"ancestry": "Ribbet", "level": 2, "thresholds": "7/14"}));
    assert_eq!(
        (&updated["actors"][0]["notes"], &updated["actors"][0]["controller"]),
        (&json!("A smith."), &mira["controller"])
    );
    let removed = table.ok("actor_update", json!({"actor_id": "goblin", "method": "remove"}));
    assert_eq!((&removed["removed"], &removed["actor"]["name"]), (&json!(true), &json!("Goblin")));
}

#[test]
fn what_does_not_fit_a_sheet_creates_nobody() {
    let table = Table::new();
    let with = |field: &str, value: Value| {
        let mut actor = json!({"name": "Mira", "kind": "PC"});
        actor[field] = value;
        actor
    };
    for (input, path) in [
        (with("traits", json!({"agility": [1]})), "/traits/agility"),
        (with("trackers", json!({"HP": "many"})), "/trackers/HP"),
        (with("trackers", json!({"HP": {"values": 1}})), "/trackers/HP/values"),
        (with("trackers", json!({"HP": "7/6"})), "/trackers/HP/value"),
        (with("controller", json!("Nobody")), "/controller"),
        (with("actors", json!([{"name": "Thorin"}])), "/actors/0/kind"),
        (with("actors", json!([{"name": "Thorin", "kind": "PC", "hp": 6}])), "/actors/0/hp"),
        (with("actors", json!([{"name": "", "kind": "PC"}])), "/actors/0/name"),
        (with("template", json!("chess")), "/template"),
    ] {
        let fault = table.expect_refusal("actor_create", input.clone());
        assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        assert!(fault.body().hint.is_some(), "{fault}");
    }
    let more = |count: usize| with("actors", vec![json!({"name": "More", "kind": "NPC"}); count].into());
    let fault = table.expect_refusal("actor_create", more(limits::ACTORS_PER_CALL_MAX));
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::TooLarge, Some("/actors")));
    assert_eq!(table.ok("campaign_read", json!({}))["campaign"]["actor_count"], 0);
    table.ok("actor_create", more(limits::ACTORS_PER_CALL_MAX - 1));
    assert_eq!(table.ok("campaign_read", json!({}))["campaign"]["actor_count"], limits::ACTORS_PER_CALL_MAX);
}

#[test]
fn a_name_of_two_is_refused_with_both() {
    let table = Table::new();
    table.ok("actor_create", json!({"name": "Mira", "kind": "PC", "actors": [{"name": "MIRA", "kind": "NPC"}]}));
    let fault = table.expect_refusal(
        "tracker",
        json!({"method": "set", "trackers": [{"actor_id": "mira", "name": "HP", "value": 1}]}),
    );
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/trackers/0/actor_id")));
    assert_eq!(fault.body().allowed.len(), 2, "{fault}");
}

#[test]
fn several_changes_are_all_done_or_none() {
    let (table, _) = Table::with_session();
    let answer = table.change(&json!([
        {"actor_id": "Mira", "name": "hp", "by": -2, "reason": "a goblin's arrow"},
        {"name": "Fear", "by": 2},
        {"actor_id": "Goblin", "name": "HP", "by": -5},
    ]));
    assert_eq!(answer["changes"], json!(["Mira: HP 7 to 5", "Fear 0 to 2", "Goblin: HP 3 to 0, its minimum"]));
    let before = table.trackers();
    let fault = table.expect_refusal(
        "tracker",
        json!({"method": "change", "trackers": [{"name": "Fear", "by": 1}, {"actor_id": "Mira", "name": "Mana", "by": 1}]}),
    );
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/trackers/1/name")));
    assert_eq!((fault.body().value.clone(), table.trackers()), (Some(json!("Mana")), before));
    let events = table.ok("events_list", json!({"types": ["tracker.changed"], "order": "oldest"}));
    assert_eq!(events["events"][0]["event"]["reason"], "a goblin's arrow");
    assert_eq!(events["events"].as_array().unwrap().len(), 3);
}

#[test]
fn trackers_are_set_read_and_removed() {
    let (table, _) = Table::with_session();
    let set = |tracker: Value| {
        let answer = table.ok("tracker", json!({"method": "set", "trackers": [tracker]}));
        json!({"changes": answer["changes"]})
    };
    let ritual = json!({"name": "The ritual", "max": 4, "meaning": "at 0 the gate opens", "ticks": "fear"});
    assert_eq!(set(ritual), json!({"changes": ["The ritual 4/4"]}));
    assert_eq!(
        set(json!({"participant_id": "Anna", "name": "Bennies", "value": 3})),
        json!({"changes": ["Anna: Bennies 3"]})
    );
    assert_eq!(set(json!({"name": "the ritual", "value": 2})), json!({"changes": ["The ritual 4 to 2"]}));
    let read =
        |trackers: Value| table.ok("tracker", json!({"method": "read", "trackers": trackers}))["trackers"].clone();
    assert_eq!(
        read(json!([{"name": "THE RITUAL"}])),
        json!([{"name": "The ritual", "value": 2, "min": 0, "max": 4, "meaning": "at 0 the gate opens",
                "ticks": {"on": "fear", "by": -1}}])
    );
    assert_eq!(read(json!([{"actor_id": "mira"}])).as_array().unwrap().len(), 4);
    assert_eq!(table.ok("tracker", json!({"method": "read"}))["trackers"].as_array().unwrap().len(), 14);
    let bennies = json!({"participant_id": "Anna", "name": "Bennies"});
    let removed = table.ok("tracker", json!({"method": "remove", "trackers": [bennies.clone()]}));
    assert_eq!(removed["changes"], json!(["Anna: Bennies removed, it was 3"]));
    assert_eq!(read(json!([bennies])), json!([]));
}

#[test]
fn a_tracker_call_that_makes_no_sense_is_explained() {
    let (table, _) = Table::with_session();
    for (method, tracker, path) in [
        ("change", json!({"name": "Fear"}), "/trackers/0/by"),
        ("change", json!({"by": 1}), "/trackers/0/name"),
        ("change", json!({"name": "Fear", "by": 1, "value": 2}), "/trackers/0/value"),
        ("change", json!({"damage": 3}), "/trackers/0/actor_id"),
        ("change", json!({"actor_id": "Mira", "damage": 0}), "/trackers/0/damage"),
        ("change", json!({"actor_id": "Mira", "damage": 3, "by": 1}), "/trackers/0/by"),
        ("set", json!({"name": "Fear", "by": 1}), "/trackers/0/by"),
        ("set", json!({"name": "Fear", "value": 13}), "/trackers/0/value"),
        ("set", json!({"name": "Fear", "ticks": "noon"}), "/trackers/0/ticks"),
        ("read", json!({"name": "Fear", "value": 1}), "/trackers/0/value"),
        ("read", json!({"actor_id": "Nobody"}), "/trackers/0"),
        ("remove", json!({"name": "Fear", "by": 1}), "/trackers/0/by"),
        ("remove", json!({"name": "Fear", "participant_id": "part_x"}), "/trackers/0/participant_id"),
    ] {
        let fault = table.expect_refusal("tracker", json!({"method": method, "trackers": [tracker.clone()]}));
        assert_eq!(fault.body().path.as_deref(), Some(path), "{method} {tracker}: {fault}");
        assert!(fault.body().hint.is_some(), "{fault}");
    }
    assert_eq!(table.expect_refusal("tracker", json!({"method": "set"})).body().path.as_deref(), Some("/trackers"));
    let many = |count: usize| json!({"method": "change", "trackers": vec![json!({"name": "Fear", "by": 0}); count]});
    assert_eq!(table.expect_refusal("tracker", many(limits::TRACKER_CHANGES_MAX + 1)).code(), Code::TooLarge);
    table.ok("tracker", many(limits::TRACKER_CHANGES_MAX));
}

#[test]
fn damage_is_taken_against_thresholds() {
    let (table, _) = Table::with_session();
    let hit = |actor: &str, damage: i64, armor: bool| {
        table.change(&json!([{"actor_id": actor, "damage": damage, "armor": armor}]))["changes"].clone()
    };
    assert_eq!(hit("Mira", 9, false), json!(["Mira: HP 7 to 5"]));
    assert_eq!(hit("Mira", 14, true), json!(["Mira: Armor 2 to 1", "Mira: HP 5 to 3"]));
    assert_eq!(hit("Goblin", 10, false), json!(["Goblin: HP 3 to 0, its minimum"]));
}

#[test]
fn a_recorded_roll_moves_hope_and_fear_and_the_spotlight() {
    let (table, session_id) = Table::with_session();
    table.ok("tracker", json!({"method": "set", "trackers": [{"name": "The ritual", "max": 2, "ticks": "fear"}]}));
    let roll = |input: &str| {
        let mut asked: Map<String, Value> = serde_json::from_str(input).unwrap();
        asked.extend([("session_id".to_owned(), json!(session_id))]);
        let campaign = table.ok("campaign_read", json!({"view": "actors"}));
        let mira = campaign["actors"].as_array().unwrap().iter().find(|actor| actor["name"] == "Mira").unwrap();
        asked.insert("actor_id".to_owned(), mira["id"].clone());
        table.call("duality_action_roll", asked.into()).unwrap()
    };
    let (mut hope, mut fear, mut ritual) = (2, 0, 2);
    for _ in 0..12 {
        let answer = roll(r#"{"difficulty": 12}"#);
        let changes = answer["recorded"]["changes"].clone();
        let outcome = answer["outcome"].as_str().unwrap();
        let expected: Vec<String> = if outcome.ends_with("FEAR") {
            fear += 1;
            let mut lines = vec![format!("Fear {} to {fear}", fear - 1)];
            if ritual > 0 {
                ritual -= 1;
                let end = if ritual == 0 { ", its end" } else { "" };
                lines.push(format!("The ritual {} to {ritual}{end}", ritual + 1));
            }
            lines
        } else if hope == 6 {
            vec!["Mira: Hope stays at 6, its maximum".to_owned()]
        } else {
            hope += 1;
            let end = if hope == 6 { ", its maximum" } else { "" };
            vec![format!("Mira: Hope {} to {hope}{end}", hope - 1)]
        };
        assert_eq!(changes, json!(expected), "{answer}");
        let spotlight = table.ok("campaign_read", json!({}))["spotlight"].clone();
        let up = if outcome.ends_with("FEAR") { "GM" } else { "Mira" };
        assert_eq!(spotlight["up"], up, "{spotlight}");
    }
    assert!(fear > 0 && hope > 2, "the dice fell one way only");
    let answer = roll(r#"{"difficulty": 12, "apply": false}"#);
    assert_eq!(answer["recorded"].get("changes"), None, "{answer}");
    let dice = json!({"hope": 9, "fear": 3, "record": true, "actor_id": "Mira", "apply": false});
    for judging in ["duality_outcome", "duality_explain"] {
        let answer = table.call(judging, dice.clone()).expect("dice that are recorded");
        assert!(answer["recorded"].is_object() && answer["recorded"].get("changes").is_none(), "{answer}");
    }
    let recap = table.ok("session_recap", json!({}))["text"].as_str().unwrap().to_owned();
    assert!(recap.contains(&format!("- Fear 0 to {fear}\n")), "{recap}");
    assert!(recap.contains(&format!("- Mira: Hope 2 to {hope}\n")), "{recap}");
}

#[test]
fn scenes_and_trackers_stand_in_the_recap_and_the_prompts() {
    let (table, _) = Table::with_session();
    table.ok("tracker", json!({"method": "set", "trackers": [{"name": "Winter", "max": 1, "ticks": "session_end"}]}));
    table.ok("session_note", json!({"text": "They cross.", "scene": "The bridge", "spotlight": "mira"}));
    // The spotlight moves also without a note.
    let moved = table.ok("session_note", json!({"spotlight": "gm"}));
    assert_eq!((moved.get("id"), moved.get("text")), (None, None), "{moved}");
    table.change(&json!([{"actor_id": "Mira", "name": "HP", "by": -2, "reason": "a club"}]));
    let spotlight = table.ok("campaign_read", json!({}))["spotlight"].clone();
    assert_eq!(spotlight, json!({"scene": "The bridge", "up": "GM", "last": "Mira"}));
    let fault = table.expect_refusal("session_note", json!({"text": "Nobody.", "spotlight": "Nobody"}));
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/spotlight")));
    let arguments = [("campaign_id".to_owned(), table.campaign_id.clone())];
    let prompt = table
        .runtime
        .block_on(table.engine.render(&Caller::owner(), "run_scene", &arguments, &RequestControl::default()))
        .unwrap();
    for part in [
        "[HP 5/7, Stress 0/6, Hope 2/6, Armor 2/3]",
        "The game counts Fear 0/12, Winter 1/1.",
        "GM is up, Mira was last.",
    ] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    let ended = table.ok("session_end", json!({}));
    assert_eq!((&ended["status"], &ended["changes"]), (&json!("ENDED"), &json!(["Winter 1 to 0, its end"])));
    assert_eq!(table.ok("campaign_read", json!({})).get("spotlight"), None);
    let recap = table.ok("session_recap", json!({}))["text"].as_str().unwrap().to_owned();
    for part in [
        "**Scenes:** The bridge (12:00)\n\n**Spotlight:** the game master, before that Mira\n",
        "\n## Trackers\n\n- Mira: HP 7 to 5 (a club)\n- Winter 1 to 0, its end (the session ended)\n",
    ] {
        assert!(recap.contains(part), "{part}: {recap}");
    }
}

#[test]
fn players_change_what_actors_have_and_nothing_else() {
    let (table, _) = Table::with_session();
    let player = token_holder("anna", PrincipalKind::Human, None, CampaignRole::Player);
    let call = |method: &str, tracker: Value| {
        let input = table.with_campaign(json!({"method": method, "trackers": [tracker]}));
        table.runtime.block_on(table.engine.call(&player, "tracker", input, &RequestControl::default()))
    };
    let hp = json!({"actor_id": "Mira", "name": "HP"});
    let marked = call("change", json!({"actor_id": "Mira", "name": "HP", "by": -1})).unwrap();
    assert_eq!(marked["changes"], json!(["Mira: HP 7 to 6"]));
    assert_eq!(call("read", hp.clone()).unwrap()["trackers"][0]["value"], 6);
    for (method, tracker) in
        [("change", json!({"name": "Fear", "by": -1})), ("set", hp.clone()), ("remove", hp.clone())]
    {
        assert_eq!(call(method, tracker).unwrap_err().code(), Code::Forbidden, "{method}");
    }
}

#[test]
fn the_tool_is_small() {
    let (table, _) = Table::with_session();
    let entry = table.engine.catalogue().operations().iter().find(|entry| entry.name == "tracker").unwrap();
    let schema = Value::Object((***entry.input).clone()).to_string();
    assert!(schema.len() < 1_600, "{} {schema}", schema.len());
    assert!(entry.summary.len() < 250, "{}", entry.summary.len());
}
