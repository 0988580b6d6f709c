//! Tests of approvals, rejections and overrides.

use serde_json::json;

use super::*;

const REVIEW: &str = r#"
process: {id: review, version: "1", name: R, initial_state: work}
states: [{name: work}, {name: review}, {name: second}, {name: done, is_final: true}]
events:
  - {name: submit, allowed_roles: ["*"]}
  - {name: approve, allowed_roles: ["*"]}
  - {name: reject, allowed_roles: ["*"]}
transitions:
  - {from: work, event: submit, to: review, guard: has_text}
  - {from: review, event: approve, to: second}
  - {from: review, event: reject, to: work}
  - {from: second, event: approve, to: done, guard: has_text}
guards:
  has_text: {type: artifact, artifact_type: text, condition: exists}
artifacts: [{type: text}]
roles:
  - {name: agent, allowed_events: [submit]}
  - {name: reviewer, allowed_events: [approve], can_approve: true}
  - {name: human, allowed_events: [submit, approve, reject], can_approve: true, can_reject: true}
"#;

fn run_in_review() -> RunFixture {
    let mut fixture = RunFixture::with_run(REVIEW);
    fixture.emit_as_agent("submit", vec![submitted_file("text.md", "t")]).unwrap();
    fixture
}

#[test]
fn approvals_need_the_flag() {
    let mut fixture = run_in_review();
    let refusal = fixture.emit(("other", "agent"), "approve", json!({}), vec![]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.to_string().as_str()),
        (RunRefusalKind::Forbidden, "role 'agent' has no can_approve")
    );
    let refusal = fixture.emit(("rex", "reviewer"), "reject", json!({}), vec![]).unwrap_err();
    assert_eq!(refusal.to_string(), "role 'reviewer' has no can_reject");
    let emitted = fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    assert!(emitted.decision);
    assert!(!fixture.state.has_submitted("rex"), "to decide is not to submit");
}

#[test]
fn who_submitted_decides_nothing_also_later_and_in_another_role() {
    let mut fixture = run_in_review();
    let own = RunRefusal::OwnWork { principal: "robot".to_owned() };
    assert_eq!(fixture.emit(("robot", "human"), "approve", json!({}), vec![]), Err(own.clone()));
    assert_eq!(fixture.emit(("robot", "human"), "reject", json!({}), vec![]), Err(own.clone()));
    fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    assert_eq!(fixture.emit(("robot", "human"), "approve", json!({}), vec![]), Err(own));
    let done = fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    assert!(done.is_final);
}

#[test]
fn a_second_token_of_the_submitter_decides_nothing_either() {
    let mut fixture = run_in_review();
    fixture.facts.same_person = vec!["robot".to_owned()];
    let refusal = fixture.emit(("robot-2", "human"), "approve", json!({}), vec![]).unwrap_err();
    assert_eq!(refusal.to_string(), "'robot-2 (also robot)' submitted to this run, and may not decide on it");
    assert_eq!(refusal.kind(), RunRefusalKind::Forbidden);
    fixture.facts.same_person = vec!["rex".to_owned()];
    fixture.emit(("rex-2", "reviewer"), "approve", json!({}), vec![]).unwrap();
}

#[test]
fn a_rejection_does_not_make_the_submitter_a_stranger() {
    let mut fixture = run_in_review();
    fixture.emit(("hanna", "human"), "reject", json!({}), vec![]).unwrap();
    fixture.emit(("puppet", "agent"), "submit", json!({}), vec![]).unwrap();
    assert_eq!(
        fixture.emit(("robot", "human"), "approve", json!({}), vec![]),
        Err(RunRefusal::OwnWork { principal: "robot".to_owned() })
    );
}

#[test]
fn only_people_override_and_it_is_recorded() {
    let mut fixture = RunFixture::with_run(REVIEW);
    assert_eq!(
        fixture.override_guard("robot", ("agent", false), "submit"),
        Err(RunRefusal::NotHuman { role: "agent".to_owned() })
    );
    assert_eq!(
        fixture.override_guard("robot", ("human", false), "submit").unwrap_err().kind(),
        RunRefusalKind::Forbidden
    );
    let events = fixture.override_guard("hanna", ("human", true), "submit").unwrap();
    let [RunEvent::Overridden(overridden)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((overridden.guard.as_str(), overridden.to.as_str()), ("has_text", "review"));
    assert_eq!(overridden.guards[0].missing, ["Artifact 'text' does not exist"]);
    assert_eq!(fixture.state.state(), "review");
}

#[test]
fn an_override_is_for_a_guard_that_is_not_satisfied() {
    let mut fixture = run_in_review();
    fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    let refusal = fixture.override_guard("hanna", ("human", true), "approve").unwrap_err();
    assert_eq!((refusal.kind(), refusal.hint()), (RunRefusalKind::Rejected, "emit 'approve' as it is".to_owned()));
    let refusal = fixture.override_guard("hanna", ("human", true), "submit").unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::InvalidEvent);
}

#[test]
fn an_override_of_a_decision_is_a_decision() {
    let mut fixture = RunFixture::with_run(REVIEW);
    fixture.override_guard("otto", ("human", true), "submit").unwrap();
    fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    assert_eq!(
        fixture.override_guard("adam", ("agent", true), "approve").unwrap_err().to_string(),
        "role 'agent' has no can_approve"
    );
    fixture.override_guard("hanna", ("human", true), "approve").unwrap();
    assert_eq!(fixture.state.status(), RunStatus::Finished);
}

#[test]
fn who_overrode_a_guard_does_not_decide_on_what_came_of_it() {
    let mut fixture = RunFixture::with_run(REVIEW);
    fixture.override_guard("hanna", ("human", true), "submit").unwrap();
    let own = RunRefusal::OwnWork { principal: "hanna".to_owned() };
    assert_eq!(fixture.emit(("hanna", "human"), "approve", json!({}), vec![]), Err(own.clone()));
    fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    assert_eq!(fixture.override_guard("hanna", ("human", true), "approve"), Err(own));
}

#[test]
fn a_decision_brings_no_evidence_of_its_own() {
    let mut fixture = RunFixture::with_run(REVIEW);
    fixture.override_guard("otto", ("human", true), "submit").unwrap();
    fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
    let refusal =
        fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![submitted_file("text.md", "mine")]).unwrap_err();
    assert_eq!(
        (refusal.kind(), refusal.pointer().as_deref()),
        (RunRefusalKind::InvalidPayload, Some("/artifact_paths/0")),
        "the guard asks for a text, which who approves does not write"
    );
    let refusal = fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap_err();
    assert_eq!(refusal.kind(), RunRefusalKind::GuardFailed);
}

#[test]
fn an_override_of_a_decision_is_for_the_roles_that_may_take_it() {
    let event = REVIEW.replace("{name: approve, allowed_roles: [\"*\"]}", "{name: approve, allowed_roles: [reviewer]}");
    let way = REVIEW.replace("to: done, guard: has_text", "to: done, guard: has_text, allowed_roles: [reviewer]");
    for (source, message) in
        [(event, "role 'human' may not emit 'approve'"), (way, "Permission denied for all available transitions")]
    {
        let mut fixture = RunFixture::with_run(&source);
        fixture.override_guard("otto", ("human", true), "submit").unwrap();
        fixture.emit(("rex", "reviewer"), "approve", json!({}), vec![]).unwrap();
        let refusal = fixture.override_guard("hanna", ("human", true), "approve").unwrap_err();
        assert_eq!((refusal.kind(), refusal.to_string().as_str()), (RunRefusalKind::Forbidden, message));
        assert!(fixture.override_guard("rita", ("reviewer", true), "approve").is_ok());
    }
}

#[test]
fn what_was_known_is_kept_with_an_override() {
    let guard = "{all: [{type: artifact, artifact_type: text, condition: exists}, \
                 {type: cel, expression: 'campaign.ready'}]}";
    let source = REVIEW.replace("{type: artifact, artifact_type: text, condition: exists}", guard);
    let mut fixture = RunFixture::with_run(&source);
    fixture.facts.campaign = Some(json!({"ready": false}));
    let events = fixture.override_guard("hanna", ("human", true), "submit").unwrap();
    let [RunEvent::Overridden(overridden)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(overridden.campaign, fixture.facts.campaign);
}

#[test]
fn a_process_says_who_may_override() {
    let source = REVIEW.replace("events:\n", "events:\n  - {name: override_guard, allowed_roles: [reviewer]}\n");
    let mut fixture = RunFixture::with_run(&source);
    let refusal = fixture.override_guard("hanna", ("human", true), "submit").unwrap_err();
    assert_eq!((refusal.kind(), refusal.hint()), (RunRefusalKind::Forbidden, "roles that may: reviewer".to_owned()));
    assert!(fixture.override_guard("rex", ("reviewer", true), "submit").is_ok());
}

#[test]
fn an_override_names_the_way_where_there_are_several() {
    let second = "  - {from: work, event: submit, to: second, guard: has_more}\n  - {from: review, event: approve";
    let source = REVIEW.replacen("  - {from: review, event: approve", second, 1);
    let more = "guards:\n  has_more: {type: artifact, artifact_type: text, condition: count, min_count: 2}\n";
    let mut fixture = RunFixture::with_run(&source.replace("guards:\n", more));
    let mut overrides = |to: Option<&str>, reason: &str| {
        let command = RunCommand::Override(Box::new(Override {
            process: Arc::clone(&fixture.process),
            acting_role: ActingRole { role: "human".to_owned(), is_human: true },
            event: "submit".to_owned(),
            to: to.map(str::to_owned),
            reason: reason.to_owned(),
            facts: Facts::default(),
            facts_of: fixture.state.revision(),
        }));
        fixture.execute("hanna", &command)
    };
    assert_eq!(overrides(None, " "), Err(RunRefusal::Empty { field: "reason" }));
    assert_eq!(overrides(Some("done"), "why").unwrap_err().kind(), RunRefusalKind::InvalidEvent);
    let events = overrides(Some("second"), " it is late ").unwrap();
    let [RunEvent::Overridden(overridden)] = &events[..] else { panic!("{events:?}") };
    assert_eq!((overridden.guard.as_str(), overridden.reason.as_str()), ("has_more", "it is late"));
    assert_eq!(fixture.state.state(), "second");
}

#[test]
fn facts_of_an_earlier_state_decide_nothing() {
    let mut fixture = RunFixture::with_run(REVIEW);
    let before = fixture.state.revision();
    fixture.emit_as_agent("submit", vec![submitted_file("text.md", "a text")]).unwrap();
    let command = RunCommand::Emit(Box::new(Emit {
        process: Arc::clone(&fixture.process),
        role: "human".to_owned(),
        event: "approve".to_owned(),
        payload: Map::new(),
        artifacts: Vec::new(),
        unfit: Vec::new(),
        facts: Facts::default(),
        facts_of: before,
    }));
    let refused = fixture.execute("hanna", &command).unwrap_err();
    assert_eq!(refused, RunRefusal::OutOfDate { facts_of: before, revision: before + 1 });
}
