//! Answer budgets over the whole catalogue: a default answer is short, a list or a document has a bound.
//!
//! A new operation needs a row in `calls` or `lore_calls`: the test fails for one that has none.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skald_app::{Caller, Conversation, Engine, Exposed, LocalEngine};

use crate::gate::{engine, human_caller};
use crate::universe::{call, call_as_owner, run};

/// What an operation answers, which says how long that may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// What was asked, or what was done.
    Short,
    /// Rows of a page.
    List,
    /// A text, a picture or a whole state, which the caller asked for as such.
    Document,
}

impl AnswerForm {
    fn chars_max(self) -> usize {
        match self {
            Self::Short => 4_000,
            Self::List | Self::Document => 40_000,
        }
    }
}

use AnswerForm::{Document, List, Short};

/// A process of two states.
const SMALL: &str = "process: {id: small, version: '1', name: Small, initial_state: open}\n\
    states: [{name: open}, {name: shut, is_final: true}]\n\
    events: [{name: shut, allowed_roles: ['*']}]\n\
    transitions: [{from: open, event: shut, to: shut}]\n";

/// A table in the middle of an evening. Names have 20 characters.
#[expect(clippy::struct_field_names, reason = "they are ids")]
pub(crate) struct Evening {
    pub(crate) campaign_id: Value,
    pub(crate) participant_id: Value,
    pub(crate) actor_id: Value,
    session_id: Value,
}

/// Rows of each list that a default page does not hold all of.
const MANY: usize = 60;

pub(crate) async fn play_evening(engine: &LocalEngine) -> Evening {
    let campaign = json!({"name": "The Lost Expeditions", "gm_mode": "HUMAN"});
    let campaign_id = call_as_owner(engine, "campaign_create", campaign).await["id"].clone();
    let mut last = (Value::Null, Value::Null);
    for number in 0..MANY {
        let name = format!("Ilse of the Tide, {number:02}");
        let participant = json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"});
        last.0 = call_as_owner(engine, "participant_create", participant).await["id"].clone();
        let actor = json!({"campaign_id": campaign_id, "name": name, "kind": "PC", "notes": "Keeps the ferry."});
        last.1 = call_as_owner(engine, "actor_create", actor).await["id"].clone();
    }
    let (participant_id, actor_id) = last;
    let session_id = call_as_owner(engine, "session_start", json!({"campaign_id": campaign_id})).await["id"].clone();
    for number in 0..MANY {
        let roll = json!({"modifier": 2, "difficulty": 15, "session_id": session_id, "actor_id": actor_id});
        call_as_owner(engine, "duality_action_roll", roll).await;
        let text = format!("They crossed the river for the {number}th time, and it did not get any warmer.");
        let note = json!({"campaign_id": campaign_id, "session_id": session_id, "text": text});
        call_as_owner(engine, "session_note", note).await;
    }
    call_as_owner(engine, "universe", json!({"method": "create", "universeId": "u-1", "name": "Sol"})).await;
    for number in 0..20 {
        let payload = json!({
            "name": format!("A wandering star, {number:02}"), "mass": 1, "radius": 1, "color": "#C1440E", "parentId": null,
            "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0
        });
        let command = json!({"type": "addStar", "id": format!("star-{number}"), "payload": payload});
        let input = json!({"universeId": "u-1", "command": command});
        call_as_owner(engine, "send_universe_command", input).await;
    }
    call(engine, &human_caller("mara"), "state_gate.submit_process", json!({"source": SMALL}))
        .await
        .expect("it is right");
    let run = json!({"process_id": "small", "run_id": "run-small"});
    call_as_owner(engine, "state_gate.create_run", run).await;
    for number in 0..MANY {
        let run = json!({"process_id": "quest", "run_id": format!("run-{number}")});
        call_as_owner(engine, "state_gate.create_run", run).await;
    }
    for begin in [0, MANY] {
        let entry = "Keeps the ferry of [[Ilse of the Tide]], and knows every rock of the river by its name.";
        let entity = |number: usize| {
            json!({
                "entity_type": "character", "name": format!("Ferryman number {number:04}"), "type": "NPC", "entry": entry,
                "tags": ["river", "ferry"]
            })
        };
        let entities: Value = (begin..begin + MANY).map(entity).collect();
        call_as_owner(engine, "create_entities", json!({"campaign_id": campaign_id, "entities": entities})).await;
    }
    Evening { campaign_id, participant_id, actor_id, session_id }
}

/// A default call of every operation, in an order in which each is possible.
pub(crate) fn calls(evening: &Evening) -> Vec<(&'static str, AnswerForm, Value)> {
    let Evening { campaign_id, participant_id, actor_id, session_id } = evening;
    let of_campaign = |mut input: Value| {
        input["campaign_id"] = campaign_id.clone();
        input
    };
    let of_universe = |mut input: Value| {
        input["universeId"] = "u-1".into();
        input
    };
    let of_run = |mut input: Value| {
        input["run_id"] = "run-0".into();
        input
    };
    let recorded = json!({"session_id": session_id, "actor_id": actor_id});
    let record = |mut input: Value| {
        input.as_object_mut().expect("an object").extend(recorded.as_object().cloned().unwrap_or_default());
        input
    };
    let judged = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
    vec![
        ("duality_rules_version", Short, json!({})),
        ("duality_action_roll", Short, record(json!({"modifier": 2, "difficulty": 15}))),
        ("duality_outcome", Short, judged.clone()),
        ("duality_explain", Short, judged.clone()),
        ("duality_probability", Short, json!({"modifier": 2, "difficulty": 15})),
        ("roll_dice", Short, record(json!({"dice": [{"sides": 20, "count": 2}, {"sides": 6, "count": 1}]}))),
        ("roll", Short, record(json!({"expression": "4d6kh3"}))),
        ("read_duality_outcome", Short, judged.clone()),
        ("read_duality_explanation", Short, judged.clone()),
        ("odds", Short, json!({"expression": "2d20kh1+5"})),
        // Its table is a list of rows.
        ("odds", List, json!({"expression": "2d20kh1+5", "detail": "table"})),
        ("odds_picture", Document, json!({"expression": "2d20kh1+5"})),
        ("duality_rules", Document, json!({})),
        ("dice_notation", Document, json!({})),
        ("campaign_create", Short, json!({"name": "The Found Expedition", "gm_mode": "AI"})),
        ("group_roll", Short, json!({"rolls": [{"actor_id": "Thorin"}, {"actor_id": "Balin"}], "expression": "1d20"})),
        ("participant_create", Short, of_campaign(json!({"display_name": "Juno of the Marshes", "role": "PLAYER"}))),
        ("actor_create", Short, of_campaign(json!({"name": "Thorin of Iron Forge", "kind": "NPC"}))),
        ("actor_control_set", Short, of_campaign(json!({"actor_id": actor_id, "controller": participant_id}))),
        ("set_context", Short, of_campaign(json!({"session_id": session_id, "participant_id": participant_id}))),
        ("session_note", Short, of_campaign(json!({"text": "They met a bear."}))),
        (
            "tracker",
            Short,
            of_campaign(json!({"method": "set", "trackers": [{"actor_id": actor_id, "name": "HP", "value": 6}]})),
        ),
        ("luck", List, of_campaign(json!({}))),
        ("luck_picture", Document, of_campaign(json!({}))),
        ("session_recap", Document, of_campaign(json!({}))),
        ("session_end", Short, of_campaign(json!({}))),
        ("session_start", Short, of_campaign(json!({"name": "Low tide at the mill"}))),
        ("campaign_read", Short, of_campaign(json!({}))),
        ("campaign_read", List, of_campaign(json!({"view": "participants"}))),
        ("campaign_read", List, of_campaign(json!({"view": "actors"}))),
        ("campaign_read", List, of_campaign(json!({"view": "sessions"}))),
        ("campaign_read", List, json!({"view": "campaigns"})),
        ("campaign_read", Short, json!({"view": "context"})),
        ("events_list", List, of_campaign(json!({}))),
        ("events_list", List, of_campaign(json!({"types": ["roll"], "limit": 200}))),
        ("events_list", List, of_campaign(json!({"compact": true, "limit": 200}))),
        ("campaign_update", Short, of_campaign(json!({"name": "The Last Expeditions"}))),
        ("participant_update", Short, of_campaign(json!({"participant_id": participant_id, "role": "GM"}))),
        ("actor_update", Short, of_campaign(json!({"actor_id": actor_id, "notes": "Sold the ferry."}))),
        ("visibility", Short, of_campaign(json!({"method": "hide", "actor_id": actor_id}))),
        ("visibility", List, of_campaign(json!({"method": "who_knows"}))),
        ("universe", List, json!({"method": "list"})),
        ("universe_list", List, json!({})),
        ("universe_create", Document, json!({"name": "A second sky above", "state": {}})),
        ("universe_replace", Document, of_universe(json!({"name": "Sol and its neighbours"}))),
        ("universe_read", List, of_universe(json!({"view": "bodies"}))),
        ("universe_record", Document, of_universe(json!({}))),
        ("universe_map", Document, of_universe(json!({}))),
        ("universe_docs", Document, json!({})),
        ("universe_command_docs", Document, json!({"command": "addStar"})),
        ("universe_events", Short, of_universe(json!({}))),
        ("get_universe_state", Document, of_universe(json!({}))),
        ("get_universe_state", Short, of_universe(json!({"view": "summary"}))),
        ("list_universe_commands", Document, of_universe(json!({}))),
        // A small universe answers its whole state.
        ("send_universe_command", Document, of_universe(json!({"command": {"type": "tick"}}))),
        ("send_universe_command", Short, of_universe(json!({"command": {"type": "tick"}, "state": "none"}))),
        ("universe_commands", Document, of_universe(json!({"commands": [{"type": "tick"}]}))),
        ("universe_delete", Short, of_universe(json!({}))),
        ("state_gate.get_state", Short, of_run(json!({}))),
        ("state_gate.list_events", List, of_run(json!({"include_blocked": true}))),
        (
            "state_gate.emit_event",
            Short,
            json!({"run_id": "run-small", "event_name": "shut", "expected_revision": 1, "idempotency_key": "key-1"}),
        ),
        ("state_gate.create_run", Short, json!({"process_id": "quest", "run_id": "run-more"})),
        ("state_gate.list_runs", List, json!({})),
        ("state_gate.run", List, of_run(json!({"method": "history"}))),
        ("state_gate.submit_process", Short, json!({"source": SMALL, "check_only": true})),
        ("state_gate.read", List, json!({"view": "processes"})),
        ("state_gate.document", Document, json!({"process_id": "quest"})),
        ("state_gate.tool_permission", Short, of_run(json!({"tool_name": "Read"}))),
    ]
}

/// A default call of every operation of the lore, in an order in which each is possible.
pub(crate) fn lore_calls(evening: &Evening) -> Vec<(&'static str, AnswerForm, Value)> {
    let of_campaign = |mut input: Value| {
        input["campaign_id"] = evening.campaign_id.clone();
        input
    };
    vec![
        (
            "create_entities",
            Short,
            of_campaign(json!({"entities": [
                {"entity_type": "character", "name": "Ilse of the Tide", "entry": "Owns [[Ferryman number 0001]]."},
                {"entity_type": "location", "name": "The Lower Landing", "entry": "Where [[Ilse of the Tide]] lives."},
            ]})),
        ),
        ("find_entities", List, of_campaign(json!({}))),
        ("find_entities", List, of_campaign(json!({"query": "river"}))),
        ("find_entities", List, of_campaign(json!({"limit": 0, "include_full": false}))),
        ("update_entities", Short, of_campaign(json!({"updates": [{"entity_id": 1, "entry_append": "He is old."}]}))),
        ("get_entities", Short, of_campaign(json!({"entity_ids": [1]}))),
        ("get_entities", List, of_campaign(json!({"entity_ids": (1..=50).collect::<Vec<_>>()}))),
        (
            "create_posts",
            Short,
            of_campaign(json!({"posts": [{"entity_id": 1, "name": "Rumour", "entry": "He drinks."}]})),
        ),
        ("update_posts", Short, of_campaign(json!({"updates": [{"entity_id": 1, "post_id": 1, "is_private": true}]}))),
        ("kanka_mirror", Short, of_campaign(json!({}))),
        ("read_entity", Document, of_campaign(json!({"entity_id": 1}))),
        (
            "check_entity_updates",
            Short,
            of_campaign(json!({"entity_ids": (1..=100).collect::<Vec<_>>(), "last_synced": "2025-05-30T10:00:00Z"})),
        ),
        (
            "relationships",
            Short,
            of_campaign(json!({"method": "add", "entity_id": 3, "target_id": 4, "type": "knows", "strength": 3})),
        ),
        ("relationships", Short, of_campaign(json!({"method": "path", "entity_id": 3, "target_id": 4}))),
        ("relationships", List, of_campaign(json!({"entity_id": 3}))),
        ("read_relationships", List, of_campaign(json!({}))),
        (
            "timeline",
            Short,
            of_campaign(
                json!({"method": "add", "date": "1204-03-15", "description": "They met.", "entity_ids": [3, 4]}),
            ),
        ),
        ("timeline", List, of_campaign(json!({}))),
        ("timeline", List, of_campaign(json!({"include": "all", "limit": 200}))),
        ("read_timeline", List, of_campaign(json!({}))),
        ("entity_search", List, of_campaign(json!({}))),
        ("entity_search", List, of_campaign(json!({"query": "river", "in": ["posts", "timeline", "notes"]}))),
        ("entity_compare", Short, of_campaign(json!({"entity_id_1": 3, "entity_id_2": 4}))),
        ("campaign_overview", Short, of_campaign(json!({}))),
        ("game_system", Document, json!({"code": "daggerheart"})),
        ("lore_history", List, of_campaign(json!({"entity_id": 1}))),
        ("lore_history", Short, of_campaign(json!({"method": "diff", "entity_id": 1}))),
        ("canon", List, of_campaign(json!({}))),
        ("canon", List, of_campaign(json!({"method": "check"}))),
        ("canon", Short, of_campaign(json!({"method": "mark", "entity_id": 3, "confidence": "AUTHORITATIVE"}))),
        ("delete_posts", Short, of_campaign(json!({"deletions": [{"entity_id": 1, "post_id": 1}]}))),
        ("delete_entities", Short, of_campaign(json!({"entity_ids": [1, 2]}))),
        ("lore_history", List, of_campaign(json!({"method": "archive"}))),
        ("lore_graph", Document, of_campaign(json!({}))),
        ("kanka_context", Document, json!({})),
    ]
}

#[test]
fn every_answer_keeps_its_budget() {
    run(async {
        let engine = engine();
        let evening = play_evening(&engine).await;
        let calls = [calls(&evening), lore_calls(&evening)].concat();
        let with_budget: BTreeSet<&str> = calls.iter().map(|(operation, ..)| *operation).collect();
        // No model reads the answers of operations that other surfaces are made of.
        let operations = engine.catalogue().operations().iter().filter(|entry| entry.exposed != Exposed::EngineOnly);
        let all: BTreeSet<&str> = operations.map(|entry| entry.name).collect();
        assert_eq!(with_budget, all, "every operation has a row in `calls`");
        let caller = Caller { conversation: Conversation::Session("evening".into()), ..Caller::owner() };
        let mut over = Vec::new();
        for (operation, form, input) in calls {
            let answer = call(&engine, &caller, operation, input.clone()).await;
            let answer = answer.unwrap_or_else(|fault| {
                over.push(format!("{operation} {input} is refused: {fault}"));
                Value::Null
            });
            let chars = answer.to_string().chars().count();
            if chars > form.chars_max() {
                over.push(format!("{operation} {input}: {chars} characters, {form:?} has {}", form.chars_max()));
            }
        }
        assert!(over.is_empty(), "{}", over.join("\n"));
    });
}
