//! Tests of the documented dice tools and HTTP conversation, word by word. The tools are tested on every surface and
//! store.

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::program_under_test::{TestClient, World, on_every_surface};

on_every_surface! {
    dice_are_judged_as_printed,
    dice_fall_as_printed,
}

/// Asserts that an answer has all that is printed. It may have more.
fn assert_contains(printed: &Value, answer: &Value) {
    match (printed, answer) {
        (Value::Object(fields), Value::Object(_)) => {
            fields.iter().for_each(|(name, value)| assert_contains(value, &answer[name]));
        }
        (Value::Array(items), Value::Array(found)) => {
            assert_eq!(items.len(), found.len(), "{answer}");
            items.iter().zip(found).for_each(|(item, found)| assert_contains(item, found));
        }
        _ => assert_eq!(printed, answer),
    }
}

fn dice_are_judged_as_printed(seat: &mut TestClient) {
    let rules = json!({
        "system": "Daggerheart",
        "module": "Duality",
        "rules_version": "1.0.0",
        "dice_model": "DUALITY_D12_V1",
        "total_formula": "hope + fear + modifier",
        "crit_rule": "HOPE_EQUALS_FEAR_IS_CRITICAL",
        "difficulty_rule": "TOTAL_MEETS_OR_EXCEEDS_DIFFICULTY",
        "outcomes": [
            "ROLL_WITH_HOPE", "ROLL_WITH_FEAR", "SUCCESS_WITH_HOPE", "SUCCESS_WITH_FEAR", "FAILURE_WITH_HOPE",
            "FAILURE_WITH_FEAR", "CRITICAL_SUCCESS"
        ]
    });
    assert_eq!(seat.ok("duality_rules_version", &json!({})), rules);

    let known = json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15});
    let outcome = json!({
        "hope": 8, "fear": 5, "modifier": 2, "difficulty": 15, "total": 15,
        "is_crit": false, "meets_difficulty": true, "outcome": "SUCCESS_WITH_HOPE"
    });
    assert_eq!(seat.ok("duality_outcome", &known), outcome);

    // The evening in the README.
    let evening = json!({"hope": 9, "fear": 11, "modifier": 2, "difficulty": 15});
    let outcome_of_evening = seat.ok("duality_outcome", &evening);
    assert_contains(&json!({"total": 22, "outcome": "SUCCESS_WITH_FEAR"}), &outcome_of_evening);
    let odds = seat.ok("odds", &json!({"expression": "duality(+2, dc 15)"}));
    assert_eq!(odds["success_chance"]["fraction"], "7/12", "{odds}");

    let mut input = known;
    input["request_id"] = json!("req_123");
    let explained = seat.ok("duality_explain", &input);
    assert_contains(&outcome, &explained);
    assert_contains(
        &json!({
            "rules_version": "1.0.0",
            "intermediates": {
                "base_total": 13, "total": 15, "is_crit": false, "meets_difficulty": true,
                "hope_gt_fear": true, "fear_gt_hope": false
            },
            "steps": [
                {
                    "code": "SUM_DICE", "message": "Sum hope and fear dice",
                    "data": {"hope": 8, "fear": 5, "base_total": 13}
                },
                {
                    "code": "APPLY_MODIFIER", "message": "Apply modifier to base total",
                    "data": {"base_total": 13, "modifier": 2, "total": 15}
                },
                {
                    "code": "CHECK_CRIT", "message": "Check for critical outcome",
                    "data": {"hope": 8, "fear": 5, "is_crit": false}
                },
                {
                    "code": "CHECK_DIFFICULTY", "message": "Compare total against difficulty",
                    "data": {"total": 15, "difficulty": 15, "meets_difficulty": true}
                },
                {
                    "code": "SELECT_OUTCOME", "message": "Select final outcome based on roll",
                    "data": {"outcome": "SUCCESS"}
                }
            ]
        }),
        &explained,
    );

    // The printed counts are not those of these dice, but the names, the order and the sums are as printed.
    let odds = seat.ok("duality_probability", &json!({"modifier": 2, "difficulty": 15}));
    assert_contains(&json!({"total_outcomes": 144, "crit_count": 12, "success_count": 84, "failure_count": 60}), &odds);
    let counts = [
        ("CRITICAL_SUCCESS", 12),
        ("SUCCESS_WITH_HOPE", 36),
        ("SUCCESS_WITH_FEAR", 36),
        ("FAILURE_WITH_HOPE", 30),
        ("FAILURE_WITH_FEAR", 30),
    ];
    assert_eq!(
        odds["outcome_counts"],
        json!(counts.map(|(outcome, count)| json!({"outcome": outcome, "count": count})))
    );
}

fn dice_fall_as_printed(seat: &mut TestClient) {
    let roll = seat.ok("duality_action_roll", &json!({"modifier": 2, "difficulty": 15}));
    let judged = json!({"hope": roll["hope"], "fear": roll["fear"], "modifier": 2, "difficulty": 15});
    assert_contains(&seat.ok("duality_outcome", &judged), &roll);
    for die in ["hope", "fear"] {
        assert!(roll[die].as_u64().is_some_and(|face| (1..=12).contains(&face)), "{roll}");
    }

    let rolled = seat.ok("roll_dice", &json!({"dice": [{"sides": 20, "count": 2}, {"sides": 6, "count": 1}]}));
    let mut total = 0;
    for (roll, (sides, count)) in rolled["rolls"].as_array().expect("rolls").iter().zip([(20, 2), (6, 1)]) {
        let results: Vec<u64> = serde_json::from_value(roll["results"].clone()).expect("faces");
        assert!(results.len() == count && results.iter().all(|face| (1..=sides).contains(face)), "{roll}");
        assert_contains(&json!({"sides": sides, "total": results.iter().sum::<u64>()}), roll);
        total += results.iter().sum::<u64>();
    }
    assert_eq!((rolled["rolls"].as_array().map(Vec::len), &rolled["total"]), (Some(2), &json!(total)), "{rolled}");
}

/// Like the printed commands: a cookie that the client keeps, no header besides `Content-Type`, and an `initialize`
/// without capabilities.
#[test]
fn the_conversation_over_http_goes_as_printed() {
    let server = World::sqlite().serve(&[]);
    let mut client = Client::connect(server.address);
    let initialize = json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {"protocolVersion": "2024-11-05", "clientInfo": {"name": "test-client", "version": "0.1.0"}}
    });
    let opened = client.send("POST", "/mcp", &[JSON], initialize.to_string().as_bytes());
    assert_eq!((opened.status, &opened.json()["result"]["protocolVersion"]), (200, &json!("2024-11-05")));
    let cookie = opened.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    assert!(cookie.starts_with("mcp_session="), "{cookie}");
    let mut send = |message: Value| {
        client.send("POST", "/mcp", &[JSON, ("Cookie", cookie.as_str())], message.to_string().as_bytes())
    };
    assert_eq!(send(json!({"jsonrpc": "2.0", "method": "initialized", "params": {}})).status, 202);
    let listed = send(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})).json();
    let tools: Vec<&str> =
        listed["result"]["tools"].as_array().expect("tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    let printed = [
        "set_context",
        "campaign_create",
        "participant_create",
        "actor_create",
        "actor_control_set",
        "session_start",
        "duality_rules_version",
        "duality_action_roll",
        "duality_outcome",
        "duality_explain",
        "duality_probability",
        "roll_dice",
    ];
    assert!(printed.iter().all(|tool| tools.contains(tool)), "{tools:?}");
    assert_eq!(client.send("GET", "/mcp/health", &[], b"").status, 200);
}
