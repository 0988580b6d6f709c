//! Tests of runs that take numbers from their campaign.

use serde_json::json;

use super::*;

const PARTY: &str = r#"
process:
  id: party
  version: "1"
  name: Party
  initial_state: a
  initial_context: {party_size: 4, open_sessions: 0}
  context_schema: {properties: {party_size: {type: integer, minimum: 1}}}
  sets: [party_size]
  from_campaign: {party_size: players, open_sessions: open_sessions}
states: [{name: a, prompt: "For {context.party_size} players."}, {name: b, is_final: true}]
events:
  - {name: note, allowed_roles: ["*"], sets: [party_size]}
  - {name: go, allowed_roles: ["*"], sets: []}
transitions: [{from: a, event: note, to: a}, {from: a, event: go, to: b, guard: is_ready}]
guards:
  alone: {type: context, variable: party_size, condition: at_most, value: 1}
  closed: {type: cel, expression: context.open_sessions == 0, message: end the session first}
  is_ready: {all: [alone, closed]}
roles: [{name: agent, allowed_events: ["*"]}, {name: human, allowed_events: ["*"]}]
"#;

const NUMBERS: CampaignNumbers = CampaignNumbers { players: 3, actors: 7, open_sessions: 1 };

fn create_in_campaign(context: Value, numbers: CampaignNumbers) -> (RunFixture, Result<Vec<RunEvent>, RunRefusal>) {
    let mut fixture = RunFixture::empty(load_process(PARTY));
    let RunCommand::Create { id, process, role, .. } = fixture.create_command(Map::new()) else { panic!() };
    let create = RunCommand::Create {
        id,
        process,
        role,
        context: object(context),
        campaign_id: Some("c".to_owned()),
        campaign_numbers: Some(numbers),
        folder: None,
    };
    let created = fixture.execute("alice", &create);
    (fixture, created)
}

impl RunFixture {
    /// Looks the numbers up again, as before every decision.
    fn look_up(&mut self, numbers: CampaignNumbers) {
        let context = self.state.context().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        self.facts.campaign_numbers = self.process.context_from_campaign(numbers, &context);
    }
}

#[test]
fn a_run_begins_with_the_numbers_of_its_campaign() {
    let (fixture, created) = create_in_campaign(json!({}), NUMBERS);
    created.unwrap();
    assert_eq!(Value::Object(fixture.view().context()), json!({"party_size": 3, "open_sessions": 1}));
    let (_, agreed) = create_in_campaign(json!({"party_size": 3}), NUMBERS);
    agreed.unwrap();
    let (_, refused) = create_in_campaign(json!({"party_size": 1}), NUMBERS);
    let refusal = refused.unwrap_err();
    assert_eq!(refusal.pointer().as_deref(), Some("/context/party_size"));
    assert_eq!(refusal.misfits()[0].message, "'party_size' comes from the campaign of this run, where it is 3");
    let (fixture, created) = create_in_campaign(json!({"party_size": 2}), CampaignNumbers::default());
    created.unwrap();
    assert_eq!(fixture.state.context().get("party_size"), Some(&json!(2)), "a campaign without players says nothing");
    let fixture = RunFixture::with_run(PARTY);
    assert_eq!(
        fixture.state.context().get("party_size"),
        Some(&json!(4)),
        "without a campaign it is as the process says"
    );
}

#[test]
fn guards_and_prompts_follow_the_campaign() {
    let (mut fixture, _) = create_in_campaign(json!({}), NUMBERS);
    fixture.look_up(NUMBERS);
    let refusal = fixture.emit_as_agent("go", vec![]).unwrap_err();
    assert_eq!(
        refusal.guards()[0].missing,
        ["Context variable 'party_size' is '3', expected at most 1", "end the session first"]
    );
    fixture.look_up(CampaignNumbers { players: 1, actors: 7, open_sessions: 0 });
    assert_eq!(fixture.view().prompt("a").unwrap(), "For 1 players.");
    let lie = fixture.emit(("robot", "agent"), "note", json!({"party_size": 9}), vec![]).unwrap_err();
    assert_eq!(lie.misfits()[0].message, "'party_size' comes from the campaign of this run, where it is 1");
    let emitted = fixture.emit(("robot", "agent"), "note", json!({"party_size": 1}), vec![]).unwrap();
    assert_eq!(Value::Object(emitted.campaign_numbers), json!({"party_size": 1, "open_sessions": 0}));
    assert_eq!(fixture.state.context().get("open_sessions"), Some(&json!(0)));
    let emitted = fixture.emit_as_agent("go", vec![]).unwrap();
    assert!(emitted.campaign_numbers.is_empty(), "they stand in the context already");
    assert_eq!(emitted.to, "b");
}

#[test]
fn an_override_keeps_the_numbers_too() {
    let (mut fixture, _) = create_in_campaign(json!({}), NUMBERS);
    fixture.look_up(CampaignNumbers { open_sessions: 2, ..NUMBERS });
    let events = fixture.override_guard("hanna", ("human", true), "go").unwrap();
    let [RunEvent::Overridden(overridden)] = &events[..] else { panic!("{events:?}") };
    assert_eq!(Value::Object(overridden.campaign_numbers.clone()), json!({"open_sessions": 2}));
    assert_eq!(fixture.state.context().get("open_sessions"), Some(&json!(2)));
}
