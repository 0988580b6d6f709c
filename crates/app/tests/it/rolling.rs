//! Tests of rolls as tables make them: short answers, advantage, bonus dice, reasons, real dice, groups and luck.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};
use skald_app::{App, Caller, CampaignRole, Clock, Code, Engine, Entropy, Fault, LocalEngine, RequestControl, limits};

use crate::engine::{block_on, call};
use crate::universe::caller_with_roles;

/// Entropy that differs at each use, so that ids differ.
#[derive(Default)]
struct CountingEntropy(AtomicU64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        let mut bytes = [7; 32];
        bytes[..8].copy_from_slice(&count.to_le_bytes());
        bytes
    }
}

struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_768_478_400).expect("a moment")
    }
}

/// A campaign with a session that is played, under names of twenty characters.
struct PlayedCampaign {
    engine: Arc<LocalEngine>,
    campaign_id: Value,
    session_id: Value,
    actors: Vec<Value>,
}

impl PlayedCampaign {
    fn new() -> Self {
        let app =
            App::new(Arc::new(CountingEntropy::default()), Arc::new(FixedClock), Arc::new(skald_store::Memory::new()));
        let engine = LocalEngine::new(app);
        let name = |number: usize| format!("Twenty characters {number:02}");
        let mut played = Self { engine, campaign_id: Value::Null, session_id: Value::Null, actors: Vec::new() };
        let created = played.ok("campaign_create", json!({"name": name(0), "gm_mode": "AI"}));
        played.campaign_id = created["id"].clone();
        let campaign_id = played.campaign_id.clone();
        let alice = json!({"campaign_id": campaign_id, "display_name": name(1), "role": "PLAYER"});
        let alice = played.ok("participant_create", alice)["id"].clone();
        for number in 2..5 {
            let actor = json!({"campaign_id": campaign_id, "name": name(number), "kind": "PC"});
            let actor = played.ok("actor_create", actor)["id"].clone();
            let control = json!({"campaign_id": campaign_id, "actor_id": actor, "controller": alice});
            played.ok("actor_control_set", control);
            played.actors.push(actor);
        }
        let session = json!({"campaign_id": campaign_id, "name": name(5)});
        played.session_id = played.ok("session_start", session)["id"].clone();
        played
    }

    fn call_as(&self, caller: &Caller, operation: &str, input: Value) -> Result<Value, Fault> {
        block_on(self.engine.call(caller, operation, input, &RequestControl::default()))
    }

    fn call(&self, operation: &str, input: Value) -> Result<Value, Fault> {
        self.call_as(&Caller::owner(), operation, input)
    }

    fn ok(&self, operation: &str, input: Value) -> Value {
        self.call(operation, input).unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    /// A roll in the session, for an actor.
    fn recorded(&self, operation: &str, mut input: Value) -> Value {
        input["session_id"] = self.session_id.clone();
        if input.get("rolls").is_none() {
            input["actor_id"] = self.actors[0].clone();
        }
        self.ok(operation, input)
    }

    fn events(&self, types: &str) -> Vec<Value> {
        let input = json!({"campaign_id": self.campaign_id, "types": [types], "order": "oldest", "limit": 100});
        let events = self.ok("events_list", input)["events"].as_array().expect("events").clone();
        events.into_iter().map(|row| row["event"].clone()).collect()
    }

    fn recap(&self) -> String {
        let recap = self.ok("session_recap", json!({"campaign_id": self.campaign_id, "session_id": self.session_id}));
        recap["text"].as_str().expect("a text").to_owned()
    }
}

fn chars(answer: &Value) -> usize {
    answer.to_string().chars().count()
}

fn first_field(answer: &Value) -> &str {
    answer.as_object().and_then(|fields| fields.keys().next()).map(String::as_str).unwrap_or_default()
}

#[test]
fn odds_answer_a_sentence_and_few_numbers() {
    let long = format!("{}1d6", "1d6+".repeat(60));
    let inputs = [
        json!({"expression": "duality(+2, dc 15, adv, +1d8)", "target": 0.8}),
        json!({"expression": "duality(+2)"}),
        json!({"expression": "2d20kh1+5 >= 15", "against": "1d20+7 >= 15", "target": 0.75}),
        json!({"expression": "4d6kh3", "against": "3d6"}),
        json!({"expression": "2d6+3 vs 1d20", "target": 0.33}),
        json!({"expression": "6x(4d6kh3)"}),
        json!({"expression": "100d6"}),
        json!({"expression": "10d10!", "simulate": 500}),
        json!({"expression": long, "against": long, "target": 0.5}),
    ];
    for input in inputs {
        let answer = call("odds", input.clone()).expect("odds");
        assert_eq!(first_field(&answer), "summary", "{answer}");
        assert!(chars(&answer) < 600, "{} characters: {answer}", chars(&answer));
        assert!(answer.get("values").is_none() && answer.get("chance").is_none(), "{answer}");
    }
    let summary = |input: Value| call("odds", input).expect("odds")["summary"].as_str().unwrap_or_default().to_owned();
    assert_eq!(summary(json!({"expression": "duality(+2, dc 15)"})), "58 % (25 with Hope, 25 with Fear, 8 critical)");
    assert_eq!(
        summary(json!({"expression": "duality(+2, dc 15)", "target": 0.75})),
        "58 % (25 with Hope, 25 with Fear, 8 critical); for 75 %: difficulty 12, or modifier +5 (78 %)"
    );
    assert_eq!(
        summary(json!({"expression": "1d20 >= 15", "target": 0.5})),
        "30 % chance of success; for 50 %: add +4 (50 %)"
    );
    assert_eq!(summary(json!({"expression": "3d6"})), "3 to 18, 10.5 on average");
    assert_eq!(
        summary(json!({"expression": "1d6", "against": "1d4"})),
        "1 to 6, 3.5 on average; higher than 1d4 in 58 %, equal in 17 %, lower in 25 %"
    );
}

#[test]
fn a_table_of_odds_is_asked_for() {
    let table = call("odds", json!({"expression": "duality(+2, dc 15)", "detail": "table"})).expect("odds");
    assert_eq!(table["values"].as_array().map(Vec::len), Some(23));
    assert_eq!(table["outcomes"].as_array().map(Vec::len), Some(5));
    let part = call("odds", json!({"expression": "2d6", "from": 11, "to": 12})).expect("odds");
    assert_eq!(part["values"].as_array().map(Vec::len), Some(2));
    assert!(call("odds", json!({"expression": "2d6", "detail": "long"})).is_err());
}

#[test]
fn compared_expressions_answer_numbers() {
    let compared = call("odds", json!({"expression": "1d6", "against": "1d4"})).expect("odds")["compared"].clone();
    assert_eq!((&compared["expression"], &compared["higher"]["fraction"]), (&json!("1d4"), &json!("7/12")));
    assert_eq!((&compared["equal"]["fraction"], &compared["lower"]["fraction"]), (&json!("1/6"), &json!("1/4")));
    let checks = json!({"expression": "2d20kh1+5 >= 15", "against": "1d20+7 >= 15"});
    let checks = call("odds", checks).expect("odds");
    assert_eq!(checks["success_chance"]["fraction"], "319/400");
    assert_eq!(checks["compared"]["success_chance"]["fraction"], "13/20");
}

#[test]
fn rolls_answer_in_under_400_characters() {
    let played = PlayedCampaign::new();
    let long = format!("{}1d6", "1d6+".repeat(60));
    for expression in
        ["1d20+5", "4d6kh3+1", "2d20kh1+5 >= 15", "duality(+2, dc 15, adv)", "100x(4d6kh3)", long.as_str()]
    {
        let answer = played.recorded("roll", json!({"expression": expression, "reason": "r".repeat(200)}));
        assert_eq!(first_field(&answer), "summary", "{answer}");
        assert!(chars(&answer) < 400, "{} characters: {answer}", chars(&answer));
        assert!(answer["recorded"]["roll_id"].is_string() && answer.get("chance").is_none(), "{answer}");
        assert!(answer.get("pools").is_none() && answer.get("rng").is_none(), "{answer}");
    }
    let input = json!({"modifier": 12, "difficulty": 25, "disadvantage": true, "bonus_die": "d8", "reason": "r"});
    let answer = played.recorded("duality_action_roll", input);
    assert_eq!(first_field(&answer), "summary", "{answer}");
    assert!(chars(&answer) < 400, "{} characters: {answer}", chars(&answer));
    for field in ["hope", "fear", "modifier", "difficulty", "total", "is_crit", "meets_difficulty", "outcome"] {
        assert!(answer.get(field).is_some(), "{field} is shown by the seed");
    }
    assert!(answer.get("rng").is_none(), "{answer}");
    let full = played.recorded("duality_action_roll", json!({"difficulty": 15, "detail": "full"}));
    assert!(full["rng"]["seed_used"].is_string() && full["success_chance"]["fraction"].is_string(), "{full}");
    let full = played.recorded("roll", json!({"expression": "4d6kh3", "detail": "full"}));
    assert_eq!(full["pools"][0]["dice"].as_array().map(Vec::len), Some(4), "{full}");
    assert!(full["rng"]["seed_used"].is_string() && full["at_least_chance"]["decimal"].is_f64(), "{full}");
}

#[test]
fn a_record_names_its_chance_and_reason() {
    let played = PlayedCampaign::new();
    played.recorded("duality_action_roll", json!({"difficulty": 15, "reason": "leaping the chasm"}));
    played.recorded("duality_action_roll", json!({}));
    played.recorded("roll", json!({"expression": "1d20+5 >= 15 # to hit"}));
    played.recorded("roll", json!({"expression": "2d6", "reason": "damage"}));
    played.recorded("roll_dice", json!({"dice": [{"sides": 6, "count": 2}]}));
    let rolls = played.events("roll");
    let named: Vec<(Option<&str>, bool, bool)> = rolls
        .iter()
        .map(|roll| (roll["reason"].as_str(), roll["success_chance"].is_object(), roll["at_least_chance"].is_object()))
        .collect();
    assert_eq!(
        named,
        [
            (Some("leaping the chasm"), true, false),
            (None, false, true),
            (Some("to hit"), true, false),
            (Some("damage"), false, true),
            (None, false, true),
        ]
    );
    assert!(rolls.iter().all(|roll| roll.get("chance").is_none() && roll["luck"].is_f64()), "{rolls:?}");
    let recap = played.recap();
    for reason in ["leaping the chasm: ", "to hit: ", "damage: "] {
        assert!(recap.contains(reason), "{reason} is not in {recap}");
    }
    let fault = call("roll", json!({"expression": "1d6", "reason": "two\nlines"})).unwrap_err();
    assert_eq!(fault.body().path.as_deref(), Some("/reason"), "{fault}");
    for (reason, is_accepted) in [(limits::NAME_CHARS_MAX, true), (limits::NAME_CHARS_MAX + 1, false), (0, false)] {
        let rolled = call("roll", json!({"expression": "1d6", "reason": "r".repeat(reason)}));
        assert_eq!(rolled.is_ok(), is_accepted, "{reason}");
        if let Err(fault) = rolled {
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/reason")));
        }
    }
}

#[test]
fn advantage_is_a_d6_for_duality_and_a_second_d20_elsewhere() {
    let expression = |input: Value| call("roll", input).expect("a roll")["expression"].clone();
    assert_eq!(expression(json!({"expression": "1d20+5", "advantage": true})), "2d20kh1+5");
    assert_eq!(expression(json!({"expression": "1d20+1d4 >= 15", "disadvantage": true})), "2d20kl1+1d4 >= 15");
    assert_eq!(expression(json!({"expression": "1d20", "advantage": true, "disadvantage": true})), "1d20");
    assert_eq!(expression(json!({"expression": "duality(+2, dis)", "advantage": true})), "duality(+2)");
    let fault = call("roll", json!({"expression": "4d6", "advantage": true})).unwrap_err();
    assert_eq!(fault.body().path.as_deref(), Some("/advantage"));
    assert!(fault.body().hint.as_deref().unwrap_or_default().contains("2d20kh1"), "{fault}");
    let rolled =
        call("duality_action_roll", json!({"detail": "full", "advantage": true, "bonus_die": "1d8"})).expect("a roll");
    let number = |field: &str| rolled[field].as_i64().unwrap_or_else(|| panic!("{field} of {rolled}"));
    assert!((1..=6).contains(&number("edge")) && (1..=8).contains(&number("bonus")), "{rolled}");
    assert_eq!(number("total"), number("hope") + number("fear") + number("edge") + number("bonus"));
    let worse = call("duality_action_roll", json!({"detail": "full", "disadvantage": true})).expect("a roll");
    assert!((-6..=-1).contains(&worse["edge"].as_i64().unwrap_or_default()), "{worse}");
    let most = format!("d{}", limits::BONUS_DIE_SIDES_MAX);
    assert!(call("duality_action_roll", json!({"detail": "full", "bonus_die": most})).is_ok());
    for wrong in ["d21", "8", "2d6", "", "d8, dc 3", "-d4", "d8)"] {
        let fault = call("duality_action_roll", json!({"detail": "full", "bonus_die": wrong})).unwrap_err();
        assert_eq!(fault.body().path.as_deref(), Some("/bonus_die"), "{wrong}");
        assert!(fault.body().hint.as_deref().unwrap_or_default().contains("d6"), "{fault}");
    }
}

#[test]
fn what_people_say_is_rolled_or_refused_with_its_notation() {
    let expression = |said: &str| call("roll", json!({"expression": said})).expect("a roll")["expression"].clone();
    assert_eq!(expression("4d6 drop lowest"), "4d6dl1");
    assert_eq!(expression("advantage"), "2d20kh1");
    assert_eq!(expression("d20 with disadvantage +3"), "2d20kl1+3");
    assert_eq!(call("odds", json!({"expression": "4d6 drop lowest"})).expect("odds")["expression"], "4d6dl1");
    let fault = call("roll", json!({"expression": "4d6 reroll ones"})).unwrap_err();
    assert!(fault.body().hint.as_deref().unwrap_or_default().contains("4d6ro=1"), "{fault}");
}

#[test]
fn real_dice_are_recorded_when_told_to() {
    let played = PlayedCampaign::new();
    let dice = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
    for operation in ["duality_outcome", "duality_explain"] {
        assert!(played.ok(operation, dice.clone()).get("recorded").is_none());
        let mut input = dice.clone();
        (input["record"], input["reason"]) = (json!(true), json!("a leap"));
        let recorded = played.recorded(operation, input.clone());
        assert!(recorded["recorded"]["roll_id"].is_string(), "{recorded}");
        assert_eq!(recorded["outcome"], "SUCCESS_WITH_HOPE");
        let fault = call(operation, input).unwrap_err();
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/record")), "{fault}");
        let mut unrecorded = dice.clone();
        unrecorded["actor_id"] = played.actors[0].clone();
        let fault = played.call(operation, unrecorded).unwrap_err();
        assert_eq!(fault.body().path.as_deref(), Some("/actor_id"), "{fault}");
    }
    let rolls = played.events("roll");
    assert_eq!(rolls.len(), 2);
    for roll in &rolls {
        assert!(roll.get("rng").is_none(), "real dice have no seed: {roll}");
        assert_eq!((&roll["actor_id"], &roll["success_chance"]["fraction"]), (&played.actors[0], &json!("7/12")));
        assert_eq!((&roll["result"]["hope"], &roll["reason"]), (&json!(8), &json!("a leap")));
    }
}

#[test]
fn a_guest_judges_dice_and_records_none() {
    let played = PlayedCampaign::new();
    let campaign_id = played.campaign_id.as_str().expect("an id");
    let guest = caller_with_roles(&[(campaign_id, CampaignRole::Guest)]);
    let seated = caller_with_roles(&[(campaign_id, CampaignRole::Player)]);
    for operation in ["duality_outcome", "duality_explain"] {
        let dice = json!({"hope": 8, "fear": 5});
        assert_eq!(played.call_as(&guest, operation, dice).expect("judged")["total"], 13);
        let recorded = json!({"hope": 8, "fear": 5, "record": true, "session_id": played.session_id});
        let fault = played.call_as(&guest, operation, recorded.clone()).unwrap_err();
        assert_eq!(fault.code(), Code::Forbidden, "{fault}");
        assert!(played.call_as(&seated, operation, recorded).is_ok());
    }
    assert_eq!(played.events("roll").len(), 2);
}

#[test]
fn a_group_rolls_and_each_roll_is_recorded() {
    let played = PlayedCampaign::new();
    let rolls = |fields: &[Value]| {
        let named = played.actors.iter().zip(fields).map(|(actor, fields)| {
            let mut roll = fields.clone();
            roll["actor_id"] = actor.clone();
            roll
        });
        named.collect::<Vec<_>>()
    };
    let group = rolls(&[json!({"modifier": 2}), json!({"advantage": true}), json!({"lead": true, "modifier": 1})]);
    let answer = played.recorded("group_roll", json!({"rolls": group, "difficulty": 12, "reason": "crossing"}));
    assert_eq!(first_field(&answer), "summary");
    assert!(answer["summary"].as_str().unwrap_or_default().contains("led by Twenty characters 04"), "{answer}");
    assert!(chars(&answer) < 1_000, "{} characters: {answer}", chars(&answer));
    let recorded = played.events("roll");
    assert_eq!(recorded.len(), 3);
    let ids: Vec<&Value> = recorded.iter().map(|roll| &roll["id"]).collect();
    assert_eq!(json!(ids), answer["recorded"]["roll_ids"]);
    for (at, roll) in recorded.iter().enumerate() {
        assert_eq!((&roll["actor_id"], &roll["reason"]), (&played.actors[at], &json!("crossing")));
        assert_eq!((roll["reaction"] == true, roll["success_chance"].is_object()), (at < 2, true), "{roll}");
        assert_eq!(roll["result"]["total"], answer["rolls"][at]["total"]);
        assert!(roll["result"]["outcome"].is_string() && roll["luck"].is_f64(), "{roll}");
    }
    // The leader's modifier is 1 with what the two others brought.
    let helped = recorded[..2].iter().map(|roll| if roll["result"]["meets_difficulty"] == true { 1 } else { -1 });
    assert_eq!(recorded[2]["result"]["modifier"], 1 + helped.sum::<i64>());
    let d20 = rolls(&[json!({}), json!({"modifier": 3}), json!({"expression": "1d12", "disadvantage": true})]);
    let answer = played.recorded("group_roll", json!({"rolls": d20, "expression": "1d20", "difficulty": 5}));
    let succeeded = answer["rolls"].as_array().expect("rolls").iter().filter(|roll| roll["success"] == true).count();
    assert_eq!(answer["successes"], succeeded);
    let expressions: Vec<Value> = played.events("roll")[3..].iter().map(|roll| roll["expression"].clone()).collect();
    assert_eq!(expressions, ["1d20 >= 5", "1d20+3 >= 5", "2d12kl1 >= 5"]);
}

#[test]
fn an_opposed_roll_has_a_winner_or_a_tie() {
    let played = PlayedCampaign::new();
    let [one, other] = [&played.actors[0], &played.actors[1]];
    for _ in 0..12 {
        let rolls = json!([{"actor_id": one, "expression": "1d4"}, {"actor_id": other, "modifier": 0}]);
        let answer = played.recorded("group_roll", json!({"rolls": rolls, "expression": "1d4", "opposed": true}));
        let total = |at: usize| answer["rolls"][at]["total"].as_i64().expect("a total");
        let winner = match total(0).cmp(&total(1)) {
            std::cmp::Ordering::Greater => one.clone(),
            std::cmp::Ordering::Less => other.clone(),
            std::cmp::Ordering::Equal => Value::Null,
        };
        assert_eq!(answer["winner"], winner, "{answer}");
    }
    let recorded = played.events("roll");
    assert_eq!(recorded.len(), 24);
    assert!(recorded.iter().all(|roll| roll["success_chance"]["fraction"] == "3/8"), "{}", recorded[0]);
}

#[test]
fn a_group_roll_is_refused_for_what_it_cannot_roll() {
    let played = PlayedCampaign::new();
    let rolls = |count: usize| (0..count).map(|at| json!({"actor_id": format!("actor_{at}")})).collect::<Vec<_>>();
    let two = json!([{"actor_id": played.actors[0]}, {"actor_id": played.actors[1]}]);
    let many = rolls(limits::GROUP_ROLL_ACTORS_MAX);
    for (input, path) in [
        (json!({"rolls": rolls(1)}), "/rolls"),
        (json!({"rolls": rolls(limits::GROUP_ROLL_ACTORS_MAX + 1)}), "/rolls"),
        (json!({"rolls": many}), "/rolls/0/actor_id"),
        (json!({"rolls": [two[0], two[0]]}), "/rolls/1/actor_id"),
        (json!({"rolls": [two[0], {"actor_id": "actor_nobody"}]}), "/rolls/1/actor_id"),
        (json!({"rolls": two, "difficulty": -1}), "/difficulty"),
        (json!({"rolls": two, "difficulty": 5, "opposed": true}), "/difficulty"),
        (json!({"rolls": two, "expression": "1d20 >= 5"}), "/expression"),
        (json!({"rolls": [two[0], {"actor_id": played.actors[1], "lead": true}]}), "/rolls/1/lead"),
        (json!({"rolls": [two[0], {"actor_id": played.actors[1], "expression": "4d"}]}), "/rolls/1/expression"),
        (
            json!({"rolls": [two[0], {"actor_id": played.actors[1], "advantage": true}], "expression": "2d6"}),
            "/rolls/1/advantage",
        ),
    ] {
        let mut input = input;
        input["session_id"] = played.session_id.clone();
        let fault = played.call("group_roll", input.clone()).unwrap_err();
        assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        assert!(fault.body().hint.is_some(), "{fault}");
    }
    assert_eq!(played.events("roll").len(), 0, "nothing was rolled");
    played.ok("session_end", json!({}));
    let unrecorded = played.ok("group_roll", json!({"rolls": two}));
    assert!(unrecorded["not_recorded"].is_string() && unrecorded.get("recorded").is_none(), "{unrecorded}");
}

#[test]
fn a_roll_is_read_by_its_id_with_every_die_and_its_seed() {
    let played = PlayedCampaign::new();
    let short = played.recorded("roll", json!({"expression": "4d6kh3"}));
    let roll_id = short["recorded"]["roll_id"].clone();
    let read = |roll_id: Value| {
        played.call("campaign_read", json!({"view": "roll", "campaign_id": played.campaign_id, "roll_id": roll_id}))
    };
    let roll = read(roll_id.clone()).expect("a roll")["roll"].clone();
    assert_eq!((&roll["id"], &roll["result"]["total"]), (&roll_id, &short["total"]));
    assert_eq!(roll["result"]["pools"][0]["dice"].as_array().map(Vec::len), Some(4));
    let again = json!({"expression": "4d6kh3", "rng": {"seed": roll["rng"]["seed_used"], "roll_mode": "REPLAY"}});
    assert_eq!(played.ok("roll", again)["total"], short["total"]);
    assert_eq!(read(json!("roll_nobody")).unwrap_err().code(), Code::NotFound);
    assert_eq!(read(Value::Null).unwrap_err().body().path.as_deref(), Some("/roll_id"));
}

#[test]
fn luck_is_told_for_characters_and_players() {
    let played = PlayedCampaign::new();
    let luck = |input: Value| {
        let mut input = input;
        input["campaign_id"] = played.campaign_id.clone();
        played.ok("luck", input)
    };
    assert_eq!(luck(json!({}))["characters"], json!([]));
    for _ in 0..6 {
        played.recorded("duality_action_roll", json!({"difficulty": 12}));
        played.recorded("roll", json!({"expression": "1d20+5"}));
    }
    let told = luck(json!({"session_id": played.session_id, "picture": true}));
    assert_eq!(told["characters"][0]["rolls"], 12);
    assert_eq!(told["characters"][0]["id"], played.actors[0]);
    assert_eq!(told["players"][0]["name"], "Twenty characters 01");
    assert!(told["characters"][0]["luckiest"]["luck"].as_f64() > told["characters"][0]["unluckiest"]["luck"].as_f64());
    let picture = told["picture"].as_str().expect("a picture");
    assert_eq!(picture.matches("<circle").count(), 24, "a dot for each roll, of the character and of the player");
    assert_eq!(luck(json!({}))["characters"], told["characters"], "the only session is the campaign");
    let picture = played.ok("luck_picture", json!({"campaign_id": played.campaign_id}));
    assert!(picture["text"].as_str().expect("a picture").starts_with("<svg"));
    let recap = json!({"campaign_id": played.campaign_id, "session_id": played.session_id, "picture": true});
    let recap = played.ok("session_recap", recap);
    assert!(recap["picture"].as_str().is_some_and(|picture| picture.starts_with("<svg")));
    assert!(recap["text"].as_str().expect("a text").contains("## Luck"), "{recap}");
}
