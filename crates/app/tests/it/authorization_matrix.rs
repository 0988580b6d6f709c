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

/// The columns: the roles of a token, by campaign.
const COLUMNS: [&str; 6] = ["nobody", "gm elsewhere", "guest", "player", "gm", "owner"];

fn caller(column: &str, elsewhere: &Value) -> Caller {
    let roles: BTreeMap<String, CampaignRole> = match column {
        "owner" => return Caller::owner().with_conversation(Conversation::Session(column.into())),
        "nobody" => BTreeMap::new(),
        "gm elsewhere" => [(elsewhere.as_str().expect("an id").to_owned(), CampaignRole::Gm)].into(),
        "guest" => [("*".to_owned(), CampaignRole::Guest)].into(),
        "player" => [("*".to_owned(), CampaignRole::Player)].into(),
        _ => [("*".to_owned(), CampaignRole::Gm)].into(),
    };
    let holder = Holder::new("token_matrix", column, PrincipalKind::Human, roles);
    let conversation = Conversation::Session(column.into());
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation }
}

/// One cell of the matrix.
struct Outcome {
    row: String,
    outcome: String,
    /// The scope that a token needs for it; `None` for a read.
    scope: Option<TokenScope>,
}

/// What comes of each call of an evening, in order, as one column.
async fn outcomes(column: &str) -> Vec<Outcome> {
    let engine: Arc<LocalEngine> = engine();
    let evening: Evening = play_evening(&engine).await;
    let elsewhere = json!({"name": "Elsewhere", "gm_mode": "AI"});
    let elsewhere = call_as_owner(&engine, "campaign_create", elsewhere).await["id"].clone();
    let caller = caller(column, &elsewhere);
    let owner = Caller::owner().with_conversation(Conversation::Session("owner".into()));
    let mut outcomes = Vec::new();
    let calls = [calls(&evening), lore_calls(&evening)].concat();
    let calls = calls.into_iter().map(|(operation, _, input)| (operation, input));
    for (operation, input) in calls.chain(engine_only_calls(&evening)) {
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
        outcomes.push(Outcome { row: row_name(operation, &input), outcome, scope });
    }
    let all = engine.catalogue().operations().iter();
    for entry in all {
        assert!(
            outcomes.iter().any(|cell| cell.row.split(' ').next() == Some(entry.name)),
            "{} is missing",
            entry.name
        );
    }
    outcomes
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

#[test]
fn every_role_may_what_the_matrix_says() {
    run(async {
        let mut columns = Vec::new();
        for column in COLUMNS {
            columns.push(outcomes(column).await);
        }
        let mut matrix = format!("| operation | {} |\n|---|{}\n", COLUMNS.join(" | "), "---|".repeat(COLUMNS.len()));
        let mut seen: Vec<&str> = Vec::new();
        for (at, Outcome { row, scope, .. }) in columns[0].iter().enumerate() {
            if seen.contains(&row.as_str()) {
                continue;
            }
            seen.push(row);
            let cells: Vec<&str> = columns.iter().map(|column| column[at].outcome.as_str()).collect();
            let _ = writeln!(matrix, "| {row} | {} |", cells.join(" | "));
            assert_eq!(cells[5], "yes", "the owner may {row}");
            // What players may not do, a token with the scope of players does not do either.
            if cells[3] == "FORBIDDEN" && cells[4] == "yes" {
                assert!(scope.is_none_or(|scope| scope == TokenScope::Gm), "{row} needs the scope gm");
            }
        }
        insta::assert_snapshot!("authorization_matrix", matrix);
    });
}
