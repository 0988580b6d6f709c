//! Examples of the gate's document: requests and answers as printed there. Each begins with an empty server, with the
//! steps that lead to it.

use serde_json::{Value, json};

/// The run of all examples.
pub(crate) const RUN: &str = "run-550e8400-e29b-41d4-a716-446655440000";

/// The process of all examples.
const PROCESS: &str = "exploration-process";

pub(crate) struct Example {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
}

pub(crate) enum Step {
    /// A file below the run's artifact folder.
    File(&'static str, &'static [u8]),
    /// A call, and the fields that its answer must have.
    Call(&'static str, Value, Value),
    /// A call that must fail, and the fields that its error must have.
    Fault(&'static str, Value, Value),
    /// Repeats the previous call; the answer is the same except for the replay mark.
    Again(&'static str, Value),
    /// A resource, and the fields that it must have.
    Read(String, Value),
}

pub(crate) const GET_STATE: &str = "state_gate.get_state";
pub(crate) const LIST_EVENTS: &str = "state_gate.list_events";
pub(crate) const EMIT: &str = "state_gate.emit_event";
pub(crate) const CREATE: &str = "state_gate.create_run";

pub(crate) fn examples() -> Vec<Example> {
    vec![
        Example { name: "get_state", steps: get_state_steps() },
        Example { name: "list_events", steps: list_events_steps() },
        Example { name: "emit_event, and once more", steps: emit_event_steps() },
        Example { name: "a revision conflict", steps: conflict_steps() },
        Example { name: "a guard that is not satisfied", steps: guard_failed_steps() },
        Example { name: "the summary of a run", steps: summary_steps() },
        Example { name: "the other codes", steps: error_code_steps() },
    ]
}

fn create_run_step() -> Step {
    let answer = json!({"success": true, "run_id": RUN, "initial_state": "experiment", "revision": 1});
    Step::Call(CREATE, json!({"process_id": PROCESS, "run_id": RUN}), answer)
}

/// Submits a plan without its artifact, so that the run stays in its state.
fn submit_plan_without_artifact(revision: u64) -> Step {
    let input = json!({
        "run_id": RUN, "event_name": "submit_experiment_plan", "payload": {"plan": "検索バーの観察"},
        "expected_revision": revision, "idempotency_key": format!("told-{revision}")
    });
    Step::Call(EMIT, input, json!({"success": true, "result": {"accepted": true, "new_revision": revision + 1}}))
}

/// The steps to the state `observe` at this revision.
fn steps_to_observe(revision: u64) -> Vec<Step> {
    let mut steps = vec![create_run_step()];
    steps.extend((1..revision - 1).map(submit_plan_without_artifact));
    steps.push(Step::File("experiment_plan.md", "検索バーの観察".as_bytes()));
    let input = json!({
        "run_id": RUN, "event_name": "submit_experiment_plan", "payload": {"plan": "検索バーの観察"},
        "expected_revision": revision - 1, "idempotency_key": "plan", "artifact_paths": ["experiment_plan.md"]
    });
    let moved = json!({"from_state": "experiment", "to_state": "observe"});
    let answer = json!({"success": true, "result": {"transition": moved, "new_revision": revision}});
    steps.push(Step::Call(EMIT, input, answer));
    steps
}

/// Submits one more observation, which is not enough to leave `observe`.
fn submit_observation(file: &'static str, revision: u64) -> [Step; 2] {
    let input = json!({
        "run_id": RUN, "event_name": "submit_observation", "payload": {"findings": file},
        "expected_revision": revision, "idempotency_key": file, "artifact_paths": [file]
    });
    let moved = json!({"from_state": "observe", "to_state": "observe"});
    let answer = json!({"success": true, "result": {"transition": moved, "new_revision": revision + 1}});
    [Step::File(file, file.as_bytes()), Step::Call(EMIT, input, answer)]
}

fn get_state_steps() -> Vec<Step> {
    let answer = json!({
        "run_id": "run-550e8400-e29b-41d4-a716-446655440000",
        "process_id": "exploration-process",
        "process_version": "1.0.0",
        "current_state": "experiment",
        "revision": 3,
        "context": {
            "exploration_mode": "domain",
            "team_mode": "solo"
        },
        "missing_guards": [
            {
                "guard_name": "has_experiment_plan",
                "description": "実験計画が必要です",
                "current_status": "成果物 'experiment_plan' が未提出"
            }
        ],
        "required_artifacts": [
            {
                "type": "experiment_plan",
                "description": "実験計画",
                "status": "missing"
            }
        ],
        "allowed_events": [
            {
                "event_name": "submit_experiment_plan",
                "description": "実験計画を提出",
                "payload_schema": {
                    "type": "object",
                    "required": ["plan"],
                    "properties": {
                        "plan": { "type": "string" }
                    }
                }
            }
        ],
        "updated_at": "20…T…Z"
    });
    vec![
        create_run_step(),
        submit_plan_without_artifact(1),
        submit_plan_without_artifact(2),
        Step::Call(GET_STATE, json!({"run_id": RUN}), answer),
    ]
}

fn list_events_steps() -> Vec<Step> {
    let answer = json!({
        "run_id": "run-550e8400-e29b-41d4-a716-446655440000",
        "current_state": "observe",
        "events": [
            {
                "event_name": "submit_observation",
                "description": "観察結果を提出",
                "payload_schema": "{…}",
                "transitions": [
                    {
                        "to_state": "synthesize",
                        "guard": "has_sufficient_observations",
                        "guard_status": "unsatisfied",
                        "missing_requirements": ["観察件数が不足 (現在: 1, 必要: 3)"]
                    }
                ],
                "is_allowed": true,
                "blocked_reason": null
            },
            {
                "event_name": "submit_synthesis",
                "description": "統合結果を提出",
                "transitions": [
                    {
                        "to_state": "decide",
                        "guard": "has_synthesis",
                        "guard_status": "unsatisfied",
                        "missing_requirements": ["synthesis が必要"]
                    }
                ],
                "is_allowed": false,
                "blocked_reason": "現在の状態では発行できません（synthesize 状態でのみ発行可能）"
            },
            "…"
        ]
    });
    let mut steps = steps_to_observe(2);
    steps.extend(submit_observation("observation-001.md", 2));
    steps.push(Step::Call(LIST_EVENTS, json!({"run_id": RUN, "include_blocked": true}), answer));
    steps
}

fn submission_input() -> Value {
    json!({
        "run_id": "run-550e8400-e29b-41d4-a716-446655440000",
        "event_name": "submit_observation",
        "payload": {
            "findings": "ユーザーは検索バーを見つけるのに平均5秒かかった",
            "confidence_level": "high",
            "compared_with": ["competitor_a", "competitor_b"]
        },
        "expected_revision": 3,
        "idempotency_key": "obs-2024-01-15-001",
        "artifact_paths": [
            "./evidence/observation-001.md",
            "./evidence/screenshots/search-test-001.png"
        ]
    })
}

fn evidence_files() -> [Step; 2] {
    [
        Step::File("evidence/observation-001.md", "平均5秒".as_bytes()),
        Step::File("evidence/screenshots/search-test-001.png", b"\x89PNG\r\n\x1a\n"),
    ]
}

fn emit_event_steps() -> Vec<Step> {
    let answer = json!({
        "success": true,
        "result": {
            "event_id": "evt-…",
            "accepted": true,
            "transition": {
                "from_state": "observe",
                "to_state": "observe"
            },
            "new_revision": 4
        }
    });
    let mut steps = steps_to_observe(3);
    steps.extend(evidence_files());
    steps.push(Step::Call(EMIT, submission_input(), answer));
    let again = json!({"success": true, "result": {"replayed": true, "code": "IDEMPOTENT_REPLAY"}});
    steps.push(Step::Again(EMIT, again));
    steps.push(Step::Call(GET_STATE, json!({"run_id": RUN}), json!({"current_state": "observe", "revision": 4})));
    steps
}

fn conflict_steps() -> Vec<Step> {
    let answer = json!({
        "success": false,
        "error": {
            "code": "REVISION_CONFLICT",
            "message": "Expected revision 3, but current is 5",
            "details": {
                "current_revision": 5
            }
        }
    });
    let mut steps = steps_to_observe(5);
    steps.extend(evidence_files());
    steps.push(Step::Call(EMIT, submission_input(), answer));
    steps
}

fn guard_failed_steps() -> Vec<Step> {
    let answer = json!({
        "success": false,
        "error": {
            "code": "GUARD_FAILED",
            "message": "Guard conditions not satisfied",
            "details": {
                "missing_guards": [
                    "has_sufficient_observations: 観察件数が不足 (現在: 2, 必要: 3)"
                ]
            }
        }
    });
    let mut steps = steps_to_observe(2);
    steps.extend(submit_observation("observation-001.md", 2));
    steps.extend(submit_observation("observation-002.md", 3));
    let finish = |revision: u64, key: &str| {
        json!({
            "run_id": RUN, "event_name": "finish_observation", "expected_revision": revision, "idempotency_key": key
        })
    };
    steps.push(Step::Call(EMIT, finish(4, "too early"), answer));
    steps.push(Step::Call(GET_STATE, json!({"run_id": RUN}), json!({"current_state": "observe", "revision": 4})));
    steps
}

fn summary_steps() -> Vec<Step> {
    let mut steps = steps_to_observe(2);
    let content = json!({
        "run_id": RUN,
        "process": {"id": "exploration-process", "version": "1.0.0", "name": "探索プロセス"},
        "current_state": "observe",
        "revision": 2,
        "progress": {
            "completed_states": ["experiment"],
            "current_state": "observe",
            "remaining_states": ["synthesize", "decide"]
        },
        "created_at": "20…T…Z",
        "updated_at": "20…T…Z"
    });
    steps.push(Step::Read(format!("stategate://runs/{RUN}/summary"), content));
    steps
}

/// The error codes for which the document prints no example.
fn error_code_steps() -> Vec<Step> {
    let emit = |run_id: &str, event: &str, payload: &Value| {
        json!({
            "run_id": run_id, "event_name": event, "payload": payload,
            "expected_revision": 1, "idempotency_key": event
        })
    };
    let refused = |code: &str, details: &Value| {
        let mut answer = json!({"success": false, "error": {"code": code, "message": "…"}});
        if details.is_object() {
            answer["error"]["details"] = details.clone();
        }
        answer
    };
    let missing = "run-00000000-0000-4000-8000-000000000000";
    let reviewed = "run-11111111-1111-4111-8111-111111111111";
    let misfit = json!({"validation_errors": [{"path": "/payload…", "message": "…plan…"}]});
    vec![
        create_run_step(),
        Step::Fault(GET_STATE, json!({"run_id": missing}), json!({"code": "RUN_NOT_FOUND", "status": "NotFound"})),
        Step::Fault(LIST_EVENTS, json!({"run_id": missing}), json!({"code": "RUN_NOT_FOUND", "status": "NotFound"})),
        Step::Call(EMIT, emit(missing, "submit_experiment_plan", &json!({})), refused("RUN_NOT_FOUND", &Value::Null)),
        Step::Fault(
            CREATE,
            json!({"process_id": "no-process"}),
            json!({"code": "PROCESS_NOT_FOUND", "status": "NotFound"}),
        ),
        Step::Call(EMIT, emit(RUN, "submit_experiment_plan", &json!({})), refused("INVALID_PAYLOAD", &misfit)),
        Step::Call(EMIT, emit(RUN, "submit_synthesis", &json!({})), refused("INVALID_EVENT", &Value::Null)),
        Step::Call(CREATE, json!({"process_id": "canon-review", "run_id": reviewed}), json!({"revision": 1})),
        Step::Call(EMIT, emit(reviewed, "approve", &json!({})), refused("FORBIDDEN", &Value::Null)),
        Step::Call(GET_STATE, json!({"run_id": RUN}), json!({"current_state": "experiment", "revision": 1})),
    ]
}
