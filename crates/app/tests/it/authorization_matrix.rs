//! The authorization matrix: every operation of the catalogue, called as every role. What came of it is a snapshot.
//!
//! A new operation is in the matrix with its row in `answer_budgets.rs`, which another test asks for.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Conversation, Engine, Holder, LocalEngine, OperationKind, Principal, PrincipalKind,
    TokenScope,
};

use crate::answer_budgets::{Evening, calls, lore_calls, play_evening};
use crate::gate::engine;
use crate::universe::{call, call_as_owner, run};

/// The columns: the roles of a token. A game master "here" is one of this campaign alone.
const COLUMNS: [&str; 7] = ["nobody", "gm elsewhere", "guest", "player", "gm here", "gm", "owner"];

fn caller(column: &str, here: &Value, elsewhere: &Value) -> Caller {
    let gm_of = |campaign_id: &Value| [(campaign_id.as_str().expect("an id").to_owned(), CampaignRole::Gm)].into();
    let roles: BTreeMap<String, CampaignRole> = match column {
        "owner" => return Caller::owner().with_conversation(Conversation::Session(column.into())),
        "nobody" => BTreeMap::new(),
        "gm elsewhere" => gm_of(elsewhere),
        "gm here" => gm_of(here),
        "guest" => [("*".to_owned(), CampaignRole::Guest)].into(),
        "player" => [("*".to_owned(), CampaignRole::Player)].into(),
        _ => [("*".to_owned(), CampaignRole::Gm)].into(),
    };
    // The run of the evening has no campaign: of players, those see it whose token has a role at gates.
    let gate_role = (column == "player").then(|| "agent".to_owned());
    let holder = Holder { gate_role, ..Holder::new("token_matrix", column, PrincipalKind::Human, roles) };
    let conversation = Conversation::Session(column.into());
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation }
}

/// One cell of the matrix.
struct MatrixCell {
    row: String,
    outcome: String,
    /// The scope that a token needs for it; `None` for a read.
    scope: Option<TokenScope>,
}

/// What comes of each call of an evening, in order, as one column.
async fn outcomes(column: &str) -> Vec<MatrixCell> {
    let engine: Arc<LocalEngine> = engine();
    let evening: Evening = play_evening(&engine).await;
    let elsewhere = json!({"name": "Elsewhere", "gm_mode": "AI"});
    let elsewhere = call_as_owner(&engine, "campaign_create", elsewhere).await["id"].clone();
    let caller = caller(column, &evening.campaign_id, &elsewhere);
    let owner = Caller::owner().with_conversation(Conversation::Session("owner".into()));
    let mut outcomes = Vec::new();
    let calls = [calls(&evening), lore_calls(&evening)].concat();
    let calls = calls.into_iter().map(|(operation, _, input)| (operation, input));
    for (operation, input) in calls.chain(engine_only_calls(&evening)).chain(method_calls(&evening)) {
        let outcome = match call(&engine, &caller, operation, input.clone()).await {
            Ok(answer) => refusal_in_answer(&answer).unwrap_or_else(|| "yes".to_owned()),
            Err(fault) => {
                // Later calls count on what this one does.
                let _ = call(&engine, &owner, operation, input.clone()).await;
                fault.code().name().to_owned()
            }
        };
        let entry = engine.catalogue().operation(operation).expect("an operation");
        let scope = (entry.kind != OperationKind::Read).then(|| entry.required_scope_for(&input));
        outcomes.push(MatrixCell { row: row_name(operation, &input), outcome, scope });
    }
    for entry in engine.catalogue().operations() {
        assert!(
            outcomes.iter().any(|cell| cell.row.split(' ').next() == Some(entry.name)),
            "{} is missing",
            entry.name
        );
        let methods = entry.input.get("properties").and_then(|fields| fields.pointer("/method/enum")?.as_array());
        for method in methods.into_iter().flatten().filter_map(Value::as_str) {
            let row = format!("{} {method}", entry.name);
            assert!(outcomes.iter().any(|cell| cell.row == row), "{row} is missing");
        }
    }
    outcomes
}

/// A call of every method that a default call does not have.
fn method_calls(evening: &Evening) -> Vec<(&'static str, Value)> {
    let Evening { campaign_id, participant_id, actor_id, .. } = evening;
    let of_campaign = |operation: &'static str, mut input: Value| {
        input["campaign_id"] = campaign_id.clone();
        (operation, input)
    };
    let hp = |mut tracker: Value| {
        tracker["actor_id"] = actor_id.clone();
        tracker["name"] = "HP".into();
        json!([tracker])
    };
    let held = json!({"updates": [{"entity_id": 3, "entry": "She never rowed."}]});
    vec![
        of_campaign("tracker", json!({"method": "change", "trackers": hp(json!({"by": -1}))})),
        of_campaign("tracker", json!({"method": "read"})),
        of_campaign("tracker", json!({"method": "remove", "trackers": hp(json!({}))})),
        of_campaign("visibility", json!({"method": "reveal", "actor_id": actor_id})),
        of_campaign("visibility", json!({"method": "view_as", "who": ["player"]})),
        ("universe", json!({"method": "create", "universeId": "u-2", "name": "Sea", "campaignId": campaign_id})),
        ("universe", json!({"method": "rename", "universeId": "u-2", "name": "The sea"})),
        ("universe", json!({"method": "replace", "universeId": "u-2", "name": "The sea", "state": {}})),
        ("universe", json!({"method": "delete", "universeId": "u-2"})),
        ("state_gate.run", json!({"run_id": "run-1", "method": "check", "event_name": "accept_quest"})),
        ("state_gate.run", json!({"run_id": "run-1", "method": "plan"})),
        ("state_gate.run", json!({"run_id": "run-1", "method": "artifact", "path": "clue.md"})),
        (
            "state_gate.run",
            json!({"run_id": "run-1", "method": "override", "event_name": "accept_quest", "reason": "It is late.", "expected_revision": 1}),
        ),
        (
            "state_gate.run",
            json!({"run_id": "run-1", "method": "cancel", "reason": "It is late.", "expected_revision": 1}),
        ),
        of_campaign("relationships", json!({"method": "list", "entity_id": 3})),
        of_campaign("relationships", json!({"method": "map", "entity_id": 3})),
        of_campaign("relationships", json!({"method": "update", "relationship_id": 1, "strength": 2})),
        of_campaign("relationships", json!({"method": "remove", "relationship_id": 1})),
        of_campaign("timeline", json!({"method": "query"})),
        of_campaign("timeline", json!({"method": "update", "event_id": 1, "description": "They parted."})),
        of_campaign("timeline", json!({"method": "remove", "event_id": 1})),
        of_campaign("update_entities", held),
        of_campaign("canon", json!({"method": "list"})),
        of_campaign("canon", json!({"method": "get", "id": "c1"})),
        of_campaign("canon", json!({"method": "acknowledge", "id": "c1"})),
        of_campaign("canon", json!({"method": "resolve", "id": "c1", "choice": "current", "reason": "She rows."})),
        of_campaign("canon", json!({"method": "reopen", "id": "c1", "reason": "She was seen."})),
        of_campaign("lore_history", json!({"method": "list", "entity_id": 5})),
        of_campaign("lore_history", json!({"method": "restore", "entity_id": 5, "to": 1})),
        of_campaign("lore_history", json!({"method": "undelete", "entity_id": 1})),
        of_campaign("lore_history", json!({"method": "empty", "entity_id": 2})),
        of_campaign("kanka_mirror", json!({"method": "status"})),
        of_campaign("kanka_mirror", json!({"method": "link", "kanka_campaign": 1})),
        of_campaign("kanka_mirror", json!({"method": "pull"})),
        of_campaign("kanka_mirror", json!({"method": "push"})),
        of_campaign("kanka_mirror", json!({"method": "conflicts"})),
        of_campaign("kanka_mirror", json!({"method": "resolve", "entity_id": 3, "keep": "ours"})),
        of_campaign("kanka_mirror", json!({"method": "unlink"})),
        of_campaign("actor_update", json!({"method": "update", "actor_id": actor_id, "notes": "Bought it back."})),
        of_campaign("actor_update", json!({"method": "remove", "actor_id": actor_id})),
        of_campaign(
            "participant_update",
            json!({"method": "update", "participant_id": participant_id, "role": "PLAYER"}),
        ),
        of_campaign("participant_update", json!({"method": "remove", "participant_id": participant_id})),
        of_campaign("campaign_update", json!({"method": "update", "name": "The First Expeditions"})),
        of_campaign("campaign_update", json!({"method": "end"})),
        of_campaign("campaign_update", json!({"method": "archive"})),
        of_campaign("campaign_update", json!({"method": "restore"})),
    ]
}

/// A call of every operation that only other surfaces are made of.
fn engine_only_calls(evening: &Evening) -> Vec<(&'static str, Value)> {
    let (campaign_id, page) = (&evening.campaign_id, json!({"number": 1, "rows": 10}));
    let changes = json!([{"create_tag": {"name": "ebb"}}]);
    vec![
        ("list_numbered_campaigns", json!({})),
        ("list_entities", json!({"campaign_id": campaign_id, "filter": {}, "page": page})),
        ("list_tags", json!({"campaign_id": campaign_id, "page": page})),
        ("write_lore", json!({"campaign_id": campaign_id, "changes": changes})),
        ("read_article", json!({"campaign_id": campaign_id, "entity_id": 3, "link_prefix": "/lore/"})),
        ("preview_entry", json!({"campaign_id": campaign_id, "entry": "*Wet*", "link_prefix": "/lore/"})),
        ("browse_lore", json!({"campaign_id": campaign_id})),
        ("read_mention_graph", json!({"campaign_id": campaign_id})),
    ]
}

/// The code of a refusal that is an ordinary answer: of the gate, or of an item of a batch.
fn refusal_in_answer(answer: &Value) -> Option<String> {
    let items = answer.get("results").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let refused = items.iter().chain([answer]).find(|result| result.get("success") == Some(&Value::Bool(false)))?;
    let code = refused["error"]["code"].as_str().or(refused["error_code"].as_str()).or(refused["code"].as_str());
    Some(code.unwrap_or("refused").to_owned())
}

/// The operation, with the method or view of the call.
fn row_name(operation: &str, input: &Value) -> String {
    let part = ["method", "view"].iter().find_map(|field| input.get(*field)?.as_str());
    part.map_or_else(|| operation.to_owned(), |part| format!("{operation} {part}"))
}

/// Rows that refuse the owner too: an agent decides nothing for people, and the run of the test has no artifacts.
const REFUSED_TO_OWNER: [&str; 5] =
    ["canon resolve", "canon reopen", "state_gate.run override", "state_gate.run cancel", "state_gate.run artifact"];

#[test]
fn every_role_may_what_the_matrix_says() {
    run(async {
        let mut columns = Vec::new();
        for column in COLUMNS {
            columns.push(outcomes(column).await);
        }
        let mut matrix = format!("| operation | {} |\n|---|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
        let mut seen: Vec<&str> = Vec::new();
        let mut refused = Vec::new();
        for (at, MatrixCell { row, scope, .. }) in columns[0].iter().enumerate() {
            if seen.contains(&row.as_str()) {
                continue;
            }
            seen.push(row);
            let cells: Vec<&str> = columns.iter().map(|column| column[at].outcome.as_str()).collect();
            let _ = writeln!(matrix, "| {row} | {} |", cells.join(" | "));
            if ["FORBIDDEN", "NOT_FOUND", "UNAUTHORIZED"].contains(&cells[COLUMNS.len() - 1])
                && !REFUSED_TO_OWNER.contains(&row.as_str())
            {
                refused.push(format!("{row}: {}", cells.join(" ")));
            }
            // What players may not do, a token with the scope of players does not do either.
            if cells[3] == "FORBIDDEN" && cells[4] == "yes" {
                assert!(scope.is_none_or(|scope| scope == TokenScope::Gm), "{row} needs the scope gm");
            }
        }
        assert!(refused.is_empty(), "the owner is refused: {refused:#?}");
        insta::assert_snapshot!("authorization_matrix", matrix);
    });
}
