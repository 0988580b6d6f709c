//! Tests of refusals: each says what to do next.

use serde_json::json;

use super::*;

/// The refusal of a run with this context, where `head` is added to the exploration process.
fn creation_refusal(head: &str, context: Value) -> RunRefusal {
    let mut fixture =
        RunFixture::empty(load_process(&EXPLORATION.replace("initial_context:", &format!("{head}initial_context:"))));
    let create = fixture.create_command(object(context));
    fixture.execute("robot", &create).unwrap_err()
}

#[test]
fn a_context_that_does_not_fit_says_what_may_be_set() {
    let refusal = creation_refusal("sets: [team_mode]\n  ", json!({"team_mode": "duo", "approved": true}));
    assert_eq!(refusal.to_string(), "the context does not fit this process");
    assert_eq!(
        (refusal.kind(), refusal.pointer().as_deref()),
        (RunRefusalKind::InvalidPayload, Some("/context/approved"))
    );
    assert_eq!(refusal.misfits()[0].message, "creating a run of this process does not set 'approved'");
    assert_eq!(refusal.hint(), "change or leave out what is listed; variables that may be set: team_mode");
    let none = creation_refusal("sets: []\n  ", json!({"team_mode": "duo"}));
    assert_eq!(none.hint(), "change or leave out what is listed; creating a run of this process sets none");
    let schema = "context_schema: {properties: {team_mode: {enum: [solo, duo]}}}\n  ";
    let any = creation_refusal(schema, json!({"team_mode": "crowd"}));
    assert_eq!(any.pointer().as_deref(), Some("/context/team_mode"));
    assert_eq!(any.hint(), "change or leave out what is listed; any variable that no guard reads may be set");
}

#[test]
fn an_unknown_event_is_not_repeated_at_any_length() {
    let mut fixture = RunFixture::with_run(EXPLORATION);
    let refusal = fixture.emit_as_agent(&"x".repeat(100_000), vec![]).unwrap_err();
    assert_eq!(refusal.to_string(), format!("Event '{}…' not found", "x".repeat(79)));
    assert_eq!(fixture.emit_as_agent("finish", vec![]).unwrap_err().to_string(), "Event 'finish' not found");
}

#[test]
fn an_artifact_that_does_not_fit_says_why_and_what_fits() {
    let source = EXPLORATION.replace(
        "description: 統合結果}",
        "description: 統合結果, schema: {properties: {summary: {type: string}}, required: [summary]}}",
    );
    let mut fixture = RunFixture::with_run(&source);
    let mut misfit = |content: &str| {
        let refusal = fixture
            .emit_as_agent("submit_experiment_plan", vec![submitted_file("synthesis.json", content)])
            .unwrap_err();
        assert!(refusal.hint().contains("its schema"), "{}", refusal.hint());
        refusal.misfits()[0].message.clone()
    };
    let whole = misfit("{}");
    assert!(whole.starts_with("'synthesis.json' does not fit the schema of 'synthesis': \"summary\""), "{whole}");
    let part = misfit(r#"{"summary": 1}"#);
    assert!(part.starts_with("'synthesis.json' does not fit the schema of 'synthesis': /summary value"), "{part}");
}

#[test]
fn who_may_not_decide_on_their_own_work_is_sent_to_somebody_else() {
    let hint = RunRefusal::OwnWork { principal: "robot".to_owned() }.hint();
    assert_eq!(hint, "let somebody else decide, who submitted nothing to this run");
}

#[test]
fn what_is_not_defined_at_all_is_to_be_defined() {
    let (source, _) = EXPLORATION.split_once("\nroles:\n").unwrap();
    let found = load(source).findings;
    let lost = found.iter().find(|finding| finding.code == Rule::InvalidRoleReference).unwrap();
    assert_eq!(
        (lost.message.as_str(), lost.hint.as_str()),
        ("there is no role \"agent\"", "define it, or leave it out")
    );
}
