use serde_json::json;

use super::super::campaign_numbers::CampaignNumbers;
use super::super::finding::{Finding, Rule};
use super::super::guard::{ContentRequirement, Test};
use super::*;
use crate::limits;

/// A process that has every key.
const PROCESS_WITH_EVERY_KEY: &str = r#"
process:
  id: bugfix
  version: "1.2.0"
  name: Bug fix loop
  description: From a report to a release.
  locale: ja
  initial_state: triage
  initial_context: {severity: low, tries: 0}
  context_schema: {type: object, properties: {severity: {enum: [low, high]}}}
  sets: [reporter]
states:
  - name: triage
    description: Is it real?
    prompt: Reproduce the bug of {context.severity} and write repro.md
    required_artifacts: [repro]
    tool_permissions: {allowed: [Read, "Bash(git log *)"], denied: [Edit], ask: [Bash]}
  - {name: fix}
  - {name: closed, is_final: true}
events:
  - name: submit_repro
    description: Hand in how to reproduce it.
    allowed_roles: [agent, human]
    payload_schema: {type: object, required: [severity], properties: {severity: {enum: [low, high]}}}
  - {name: submit_fix, allowed_roles: ["*"], sets: [tries]}
  - {name: approve, allowed_roles: [human]}
transitions:
  - {from: triage, event: submit_repro, to: fix, guard: ready, on_guard_fail: record, description: on}
  - {from: fix, event: submit_fix, to: fix, guard: again, allowed_roles: [agent]}
  - {from: fix, event: approve, to: closed, guard: checked}
guards:
  has_repro: {type: artifact, artifact_type: repro, condition: exists, description: A repro, message: "{current}/{required}"}
  ready: {all: [has_repro, {any: [{type: context, variable: severity, condition: in, value: [low, high]}]}]}
  again: {type: run, counter: visits, of: fix, condition: at_most, value: 2}
  checked: {not: {type: cel, expression: "context.tries > 3 || payload.size() > 4"}}
artifacts:
  - {type: repro, description: Steps, required_in_states: [triage], required_for_transitions: [triage->fix], schema: {type: object}}
roles:
  - {name: agent, allowed_events: [submit_repro, submit_fix], can_approve: false, can_reject: false}
  - {name: human, allowed_events: [submit_repro, approve], can_approve: true, can_reject: true}
"#;

fn codes(findings: &[Finding]) -> Vec<Rule> {
    findings.iter().map(|finding| finding.code).collect()
}

/// Loads the process with one text replaced.
fn load_changed(from: &str, to: &str) -> LoadedProcess {
    assert!(PROCESS_WITH_EVERY_KEY.contains(from), "{from}");
    load(&PROCESS_WITH_EVERY_KEY.replacen(from, to, 1))
}

fn only_finding(loaded: &LoadedProcess) -> &Finding {
    assert_eq!(loaded.findings.len(), 1, "{:?}", loaded.findings);
    &loaded.findings[0]
}

#[test]
fn every_key_is_read() {
    let loaded = load(PROCESS_WITH_EVERY_KEY);
    assert_eq!(loaded.findings, []);
    let process = loaded.process.unwrap();
    assert_eq!((&*process.id, &*process.version, &*process.name), ("bugfix", "1.2.0", "Bug fix loop"));
    assert_eq!((process.locale, &*process.initial_state), (Locale::Ja, "triage"));
    assert_eq!(process.description.as_deref(), Some("From a report to a release."));
    assert_eq!(serde_json::Value::Object(process.initial_context.clone()), json!({"severity": "low", "tries": 0}));
    assert_eq!(process.sets, Some(vec!["reporter".to_owned()]));
    let triage = process.state("triage").unwrap();
    assert_eq!(triage.required_artifacts, ["repro"]);
    assert_eq!(triage.description.as_deref(), Some("Is it real?"));
    assert!(triage.prompt.as_ref().is_some_and(|prompt| prompt.contains("{context.severity}")));
    let tools = triage.tool_permissions.as_ref().unwrap();
    assert_eq!((tools.allowed.len(), &*tools.denied[0], &*tools.ask[0]), (2, "Edit", "Bash"));
    assert!(process.is_final("closed") && !process.is_final("fix"));
    let event = process.event("submit_repro").unwrap();
    assert_eq!(event.payload_schema.as_ref().unwrap().json()["required"], json!(["severity"]));
    assert_eq!(process.transitions[0].on_guard_fail, OnGuardFail::Record);
    assert_eq!(process.transitions[1].allowed_roles, Some(vec!["agent".to_owned()]));
    assert_eq!(process.guards["has_repro"].message.as_deref(), Some("{current}/{required}"));
    assert_eq!(process.artifacts[0].required_for_transitions, ["triage->fix"]);
    assert_eq!(process.role("human").unwrap().can_approve, Some(true));
    assert_eq!(process.reads.variables, BTreeSet::from(["severity".to_owned(), "tries".to_owned()]));
    assert!(!process.reads.is_any);
}

#[test]
fn the_hash_is_of_the_file() {
    let hash = |source: &str| load(source).process.unwrap().hash;
    assert_eq!(hash(PROCESS_WITH_EVERY_KEY), hash(PROCESS_WITH_EVERY_KEY));
    assert_ne!(hash(PROCESS_WITH_EVERY_KEY), hash(&format!("{PROCESS_WITH_EVERY_KEY}# seen\n")));
    // The vector of FIPS 180-2.
    assert_eq!(super::sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn a_misspelt_key_never_leaves_the_door_open() {
    let loaded = load_changed("guard: ready,", "guards: ready,");
    assert!(loaded.process.is_none());
    let finding = only_finding(&loaded);
    assert_eq!((finding.code, &*finding.path), (Rule::UnknownKey, "/transitions/0/guards"));
    assert_eq!((finding.line, finding.column), (28, 50), "{finding}");
    assert_eq!(finding.message, "/transitions/0 has no key \"guards\"");
    assert_eq!(finding.hint, "did you mean \"guard\"?");
}

#[test]
fn unknown_keys_are_errors_everywhere() {
    let cases = [
        ("\nroles:", "\nroled:", "/roled"),
        ("  locale: ja", "  local: ja", "/process/local"),
        ("is_final: true", "final: true", "/states/2/final"),
        ("denied: [Edit]", "deny: [Edit]", "/states/0/tool_permissions/deny"),
        ("    description: Hand", "    descripton: Hand", "/events/0/descripton"),
        ("condition: exists", "conditions: exists", "/guards/has_repro/conditions"),
        ("variable: severity", "var: severity", "/guards/ready/all/1/any/0/var"),
        ("counter: visits", "count: visits", "/guards/again/count"),
        ("{not: {type", "{nor: {type", "/guards/checked"),
        ("required_in_states", "required_in", "/artifacts/0/required_in"),
        ("can_reject: true", "may_reject: true", "/roles/1/may_reject"),
    ];
    for (from, to, path) in cases {
        let loaded = load_changed(from, to);
        assert!(loaded.process.is_none(), "{to}");
        assert!(
            loaded.findings.iter().any(|finding| finding.path.starts_with(path) && finding.is_error()),
            "{to}: {:?}",
            loaded.findings
        );
    }
}

#[test]
fn all_mistakes_of_form_are_told_at_once_and_in_order() {
    let source =
        "process: {id: ../up, version: 1.0, name: '', initial_state: a}\nstates: []\nevents: {}\nguards: [x]\n";
    let loaded = load(source);
    let found: Vec<(usize, &str, Rule)> =
        loaded.findings.iter().map(|finding| (finding.line, finding.path.as_str(), finding.code)).collect();
    assert_eq!(
        found,
        [
            (1, "/transitions", Rule::MissingRequiredField),
            (1, "/process/id", Rule::InvalidValue),
            (1, "/process/version", Rule::InvalidValue),
            (1, "/process/name", Rule::InvalidValue),
            (2, "/states", Rule::InvalidValue),
            (3, "/events", Rule::InvalidValue),
            (4, "/guards", Rule::InvalidValue),
        ]
    );
    assert_eq!(loaded.findings[2].message, "/process/version is a text, this is a number");
    let hints: Vec<&str> = [2, 5, 6].map(|index| loaded.findings[index].hint.as_str()).to_vec();
    let as_mapping = "write it as a mapping, with a key: value on each line";
    assert_eq!(hints, ["put it in quotes", "write it as a list: [one, two]", as_mapping]);
    assert_eq!(
        only_finding(&load_changed("is_final: true", "is_final: yes")).hint,
        "write true or false, without quotes"
    );
    assert!(loaded.process.is_none());
}

#[test]
fn values_of_guards_are_checked() {
    let cases = [
        ("condition: exists,", "condition: exits,", Rule::InvalidValue),
        ("condition: exists,", "condition: exists, min_count: 3,", Rule::InvalidValue),
        ("condition: exists,", "condition: count,", Rule::MissingRequiredField),
        ("condition: exists,", "condition: count, min_count: -1,", Rule::InvalidMinCount),
        ("condition: exists,", "condition: count, min_count: '3',", Rule::InvalidMinCount),
        ("value: [low, high]", "value: []", Rule::InvalidContextGuardValue),
        ("value: [low, high]", "value: low", Rule::InvalidContextGuardValue),
        ("condition: in, value: [low, high]", "condition: equals, value: [low]", Rule::InvalidContextGuardValue),
        ("condition: in, value: [low, high]", "condition: equals", Rule::InvalidContextGuardValue),
        ("condition: in, value: [low, high]", "condition: at_least, value: low", Rule::InvalidContextGuardValue),
        ("value: 2}", "value: two}", Rule::InvalidContextGuardValue),
        ("type: run", "type: runs", Rule::InvalidValue),
        ("{all: [has_repro,", "{all: [], any: [has_repro,", Rule::UnknownKey),
        (
            "{any: [{type: context, variable: severity, condition: in, value: [low, high]}]}",
            "{any: []}",
            Rule::InvalidValue,
        ),
        ("context.tries > 3", "context.tries >", Rule::InvalidExpression),
        ("context.tries > 3", "contxt.tries > 3", Rule::InvalidExpression),
        ("payload_schema: {type: object,", "payload_schema: {type: objekt,", Rule::InvalidSchema),
        ("schema: {type: object}}", "schema: {$ref: 'https://example.org/s.json'}}", Rule::InvalidSchema),
        ("schema: {type: object}}", "schema: {pattern: '(?=x)'}}", Rule::InvalidSchema),
        ("on_guard_fail: record", "on_guard_fail: keep", Rule::InvalidValue),
        ("locale: ja", "locale: fr", Rule::InvalidValue),
        ("denied: [Edit]", "denied: ['Edit(src/*']", Rule::InvalidValue),
        ("denied: [Edit]", "denied: ['(src/*)']", Rule::InvalidValue),
        ("context.tries > 3", "now() > 3", Rule::InvalidExpression),
    ];
    for (from, to, rule) in cases {
        let loaded = load_changed(from, to);
        assert!(loaded.process.is_none(), "{to}");
        assert!(codes(&loaded.findings).contains(&rule), "{to}: {:?}", loaded.findings);
    }
}

#[test]
fn a_value_that_means_nothing_is_told_and_taken() {
    let loaded = load_changed("condition: in, value: [low, high]", "condition: exists, value: 1");
    assert_eq!(only_finding(&loaded).code, Rule::IgnoredKey);
    assert!(loaded.process.is_some());
}

#[test]
fn a_fault_in_a_schema_is_told_at_its_place() {
    let loaded = load_changed("severity: {enum: [low, high]}}}\n  sets", "severity: {enum: 5}}}\n  sets");
    let finding = only_finding(&loaded);
    assert_eq!(
        (finding.code, &*finding.path),
        (Rule::InvalidSchema, "/process/context_schema/properties/severity/enum")
    );
    assert_eq!((finding.line, finding.column), (10, 64));
}

#[test]
fn patterns_are_bounded_together() {
    let patterns = |count: usize| {
        let pattern = |number: usize| format!("p{number}: {{pattern: '([a-z]{{1,50}}){{1,20}}{number}'}}");
        let patterns = (0..count).map(pattern).collect::<Vec<_>>().join(", ");
        load_changed("schema: {type: object}}", &format!("schema: {{properties: {{{patterns}}}}}}}"))
    };
    assert!(patterns(50).process.is_some());
    assert_eq!(only_finding(&patterns(250)).code, Rule::TooLarge);
}

#[test]
fn guarded_transitions_are_tried_first_and_final_states_are_not_left() {
    let source = PROCESS_WITH_EVERY_KEY.replace(
        "  - {from: triage, event",
        "  - {from: triage, event: submit_repro, to: triage}\n  - {from: triage, event",
    );
    let process = load(&source).process.unwrap();
    let order: Vec<&str> = process.transitions_from("triage").map(|transition| transition.to.as_str()).collect();
    assert_eq!(order, ["fix", "triage"]);
    assert_eq!(process.transitions_from("closed").count(), 0);
    assert_eq!(process.states_of_event("approve"), ["fix"]);
}

#[test]
fn guarded_variables_are_set_only_by_what_names_them() {
    let process = load(PROCESS_WITH_EVERY_KEY).process.unwrap();
    let (repro, fix) = (process.event("submit_repro").unwrap(), process.event("submit_fix").unwrap());
    assert_eq!(process.event_setting(repro, "severity"), Setting::Set, "its schema names it");
    assert_eq!(process.event_setting(repro, "tries"), Setting::Forbidden, "a guard reads it");
    assert_eq!(process.event_setting(repro, "note"), Setting::Set, "nobody reads it");
    assert_eq!(process.event_setting(fix, "tries"), Setting::Set, "`sets` names it");
    assert_eq!(process.event_setting(fix, "note"), Setting::Kept, "`sets` does not name it");
    assert_eq!(process.creation_setting("reporter"), Setting::Set);
    assert_eq!(process.creation_setting("note"), Setting::Kept);
    assert_eq!(process.creation_setting("severity"), Setting::Forbidden);
}

#[test]
fn only_a_role_with_the_flag_decides() {
    let process = load(PROCESS_WITH_EVERY_KEY).process.unwrap();
    assert!(process.can_decide("human", Decision::Approve) && !process.can_decide("agent", Decision::Reject));
    let plain = PROCESS_WITH_EVERY_KEY
        .replace(", can_approve: false, can_reject: false", "")
        .replace(", can_approve: true, can_reject: true", "");
    let loaded = load(&plain);
    let found = only_finding(&loaded);
    assert_eq!((found.code, found.path.as_str()), (Rule::NobodyMayEmit, "/events/2/name"));
    assert_eq!(found.message, "nobody may emit \"approve\"");
    assert_eq!(found.hint, "write can_approve: true on a role that decides: human");
    let process = loaded.process.unwrap();
    assert!(!process.can_decide("agent", Decision::Approve) && !process.can_decide("human", Decision::Approve));
}

#[test]
fn what_guards_ask_of_content_is_read() {
    let asked = "has_repro: {type: artifact, artifact_type: repro, condition: exists";
    let loaded = load_changed(asked, &format!("{asked}, min_bytes: 200, min_lines: 3, contains: [Steps, '## Seen']"));
    assert_eq!(loaded.findings, []);
    let process = loaded.process.unwrap();
    let requirement =
        ContentRequirement { min_bytes: 200, min_lines: 3, contains: vec!["Steps".to_owned(), "## Seen".to_owned()] };
    let Test::ArtifactExists { requirement: found, .. } = &process.guards["has_repro"].test else { panic!() };
    assert_eq!(*found, requirement);
    assert_eq!(process.searched_words().into_iter().collect::<Vec<_>>(), ["## Seen", "Steps"]);
    assert!(process.is_measured("repro") && !process.is_measured("other"));
    for (wrong, path) in [
        ("min_bytes: 0", "min_bytes"),
        ("min_bytes: '5'", "min_bytes"),
        ("min_bytes: 1000001", "min_bytes"),
        ("min_lines: -1", "min_lines"),
        ("min_lines: 1.5", "min_lines"),
        ("min_lines:", "min_lines"),
        ("contains: []", "contains"),
        ("contains: Steps", "contains"),
        ("contains: [Steps, 7]", "contains/1"),
        ("contains: [Steps, Steps]", "contains/1"),
        ("contains: ['']", "contains/0"),
    ] {
        let loaded = load_changed(asked, &format!("{asked}, {wrong}"));
        let finding = &loaded.findings[0];
        assert_eq!((finding.code, &*finding.path), (Rule::InvalidValue, &*format!("/guards/has_repro/{path}")));
        assert!(loaded.process.is_none(), "{wrong}");
    }
}

#[test]
fn the_words_of_a_process_are_limited() {
    let asked = "has_repro: {type: artifact, artifact_type: repro, condition: exists";
    let load_with = |count: usize| {
        let words: Vec<String> = (0..count).map(|number| format!("word{number}")).collect();
        load_changed(asked, &format!("{asked}, contains: [{}]", words.join(", ")))
    };
    assert_eq!(load_with(limits::GUARD_WORDS_MAX).findings, []);
    let loaded = load_with(limits::GUARD_WORDS_MAX + 1);
    let finding = only_finding(&loaded);
    assert_eq!((finding.code, &*finding.path), (Rule::TooLarge, "/guards"));
    assert!(finding.message.contains("at most 50 different words, these for 51"), "{}", finding.message);
}

#[test]
fn numbers_of_the_campaign_are_read() {
    let loaded =
        load_changed("  sets: [reporter]", "  sets: [reporter]\n  from_campaign: {crew: players, tries: Actors}");
    assert_eq!(loaded.findings, []);
    let process = loaded.process.unwrap();
    assert!(process.follows_campaign() && !process.reads_campaign());
    let numbers = CampaignNumbers { players: 4, actors: 9, open_sessions: 1 };
    let taken = process.context_from_campaign(numbers, &process.initial_context);
    assert_eq!(Value::Object(taken), json!({"crew": 4, "tries": 9}));
    let loaded = load_changed("  sets: [reporter]", "  sets: [reporter]\n  from_campaign: {crew: playres}");
    let finding = only_finding(&loaded);
    assert_eq!((finding.code, &*finding.path), (Rule::InvalidValue, "/process/from_campaign/crew"));
    assert_eq!(finding.hint, "did you mean \"players\"?");
    let null = load_changed("  sets: [reporter]", "  sets: [reporter]\n  from_campaign: {crew: }");
    assert_eq!(only_finding(&null).code, Rule::MissingRequiredField);
}
