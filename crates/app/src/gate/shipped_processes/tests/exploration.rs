//! Tests of the exploration process: the answers that clients get on the way through it.

use serde_json::{json, to_value};

use super::Walk;

pub(super) fn walk_exploration() -> Walk {
    let mut walk = Walk::start("exploration-process", json!({}));
    walk.assert_agent_reaches(
        "submit_experiment_plan",
        json!({"plan": "look"}),
        &[("experiment_plan.md", "p")],
        "observe",
    );
    walk.assert_agent_reaches(
        "submit_observation",
        json!({}),
        &[("observation-001.md", "1"), ("observation-002.md", "2")],
        "observe",
    );
    walk.assert_agent_reaches("submit_observation", json!({}), &[("observation-003.md", "3")], "synthesize");
    walk.assert_agent_reaches("submit_synthesis", json!({}), &[("synthesis.md", "s")], "decide");
    walk
}

/// A run at its third revision that has no experiment plan yet.
#[test]
fn an_exploration_without_a_plan_says_so() {
    let mut walk = Walk::start("exploration-process", json!({}));
    walk.assert_agent_reaches("submit_experiment_plan", json!({"plan": "first"}), &[], "experiment");
    walk.assert_agent_reaches("submit_experiment_plan", json!({"plan": "second"}), &[], "experiment");
    assert_eq!(walk.revision, 3);
    assert_eq!(to_value(walk.run.context()).unwrap(), json!({"exploration_mode": "domain", "team_mode": "solo"}));
    let look = walk.run_view();
    assert_eq!(
        to_value(look.missing_guards()).unwrap(),
        json!([{
            "guard_name": "has_experiment_plan",
            "description": "実験計画が必要です",
            "current_status": "成果物 'experiment_plan' が未提出",
        }])
    );
    assert_eq!(
        to_value(look.required_artifacts()).unwrap(),
        json!([{"type": "experiment_plan", "description": "実験計画", "status": "missing"}])
    );
    assert_eq!(
        to_value(look.allowed_events()).unwrap(),
        json!([{
            "event_name": "submit_experiment_plan",
            "description": "実験計画を提出",
            "payload_schema": {"type": "object", "required": ["plan"], "properties": {"plan": {"type": "string"}}},
        }])
    );
}

#[test]
fn observations_are_counted_by_what_is_in_them() {
    let mut walk = Walk::start("exploration-process", json!({}));
    walk.assert_agent_reaches(
        "submit_experiment_plan",
        json!({"plan": "look"}),
        &[("experiment_plan.md", "p")],
        "observe",
    );
    walk.assert_agent_reaches("submit_observation", json!({}), &[("observation-000.md", "zero")], "observe");
    assert_eq!(walk.revision, 3);
    let listed = to_value(walk.run_view().events(true)).unwrap();
    let event =
        |name: &str| listed.as_array().unwrap().iter().find(|event| event["event_name"] == name).unwrap().clone();
    let observing = event("submit_observation");
    assert_eq!(observing["description"], "観察結果を提出");
    assert_eq!(
        observing["transitions"],
        json!([{
            "to_state": "synthesize",
            "guard": "has_sufficient_observations",
            "guard_status": "unsatisfied",
            "missing_requirements": ["観察件数が不足 (現在: 1, 必要: 3)"],
        }])
    );
    assert_eq!((&observing["is_allowed"], &observing["blocked_reason"]), (&json!(true), &json!(null)));
    let synthesis = event("submit_synthesis");
    assert_eq!(synthesis["description"], "統合結果を提出");
    assert_eq!(synthesis["transitions"][0]["missing_requirements"], json!(["synthesis が必要"]));
    assert_eq!(synthesis["blocked_reason"], "現在の状態では発行できません（synthesize 状態でのみ発行可能）");

    let payload = json!({
        "findings": "ユーザーは検索バーを見つけるのに平均5秒かかった",
        "confidence_level": "high",
        "compared_with": ["competitor_a", "competitor_b"],
    });
    let files = [("./evidence/observation-001.md", "one"), ("./evidence/screenshots/search-test-001.png", "png")];
    let emitted = walk.emit(("robot", "agent"), "submit_observation", payload, &files).unwrap();
    assert_eq!((emitted.from.as_str(), emitted.to.as_str(), walk.revision), ("observe", "observe", 4));
    assert_eq!(
        walk.assert_guard_refuses("finish_observation", json!({}), &[]),
        ["has_sufficient_observations: 観察件数が不足 (現在: 2, 必要: 3)"]
    );
    walk.assert_agent_reaches("submit_observation", json!({}), &[("again/observation-001.md", "one")], "observe");
    assert_eq!(walk.revision, 5, "a copy is kept, and counts for nothing");
    walk.assert_agent_reaches("finish_observation", json!({}), &[("observation-003.md", "three")], "synthesize");
}
