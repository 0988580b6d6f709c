use std::fmt::Write;

use super::super::finding::{Finding, Rule};
use super::super::process::load;

const SOUND: &str = r#"process: {id: p, version: "1", name: P, initial_state: a, initial_context: {mode: x}, sets: [mode]}
states: [{name: a}, {name: b, required_artifacts: [note]}, {name: c, is_final: true}]
events:
  - {name: go, allowed_roles: [agent]}
  - {name: back, allowed_roles: ["*"]}
  - {name: approve, allowed_roles: [human]}
transitions:
  - {from: a, event: go, to: b, guard: is_x}
  - {from: b, event: back, to: a}
  - {from: b, event: approve, to: c, guard: all_there}
guards:
  is_x: {type: context, variable: mode, condition: equals, value: x}
  noted: {type: artifact, artifact_type: note, condition: count, min_count: 2}
  all_there: {all: [noted, {not: {type: run, counter: visits, of: b, condition: greater_than, value: 5}}]}
artifacts: [{type: note, required_in_states: [b], required_for_transitions: ["b->c"]}]
roles:
  - {name: agent, allowed_events: [go, back]}
  - {name: human, allowed_events: [back, approve], can_approve: true}
"#;

fn findings_after(from: &str, to: &str) -> Vec<Finding> {
    assert!(SOUND.contains(from), "{from}");
    load(&SOUND.replacen(from, to, 1)).findings
}

#[test]
fn nothing_is_found_where_nothing_is_wrong() {
    let loaded = load(SOUND);
    assert_eq!(loaded.findings, []);
    assert!(loaded.process.is_some());
}

/// A text of `SOUND`, its replacement, and the expected finding: rule, path, and the text at its place.
type Case = (&'static str, &'static str, Rule, &'static str, &'static str);

const CASES: &[Case] = &[
    (
        "states: [{name: a}",
        "states: [{name: a, tool_permissions: {allowed: [Read, \"Bash(git *)\"]}}",
        Rule::ToolPatternTooWide,
        "/states/0/tool_permissions/allowed/1",
        "\"Bash(git *)\"]",
    ),
    ("{name: c, is", "{name: a, is", Rule::DuplicateStateName, "/states/2/name", "a, is_final"),
    ("{name: back, a", "{name: go, a", Rule::DuplicateEventName, "/events/1/name", "go, allowed"),
    ("{name: human, a", "{name: agent, a", Rule::DuplicateRoleName, "/roles/1/name", "agent, allowed_events: [back"),
    (
        "[{type: note, req",
        "[{type: note}, {type: note, req",
        Rule::DuplicateArtifactType,
        "/artifacts/1/type",
        "note, required",
    ),
    ("initial_state: a", "initial_state: A", Rule::InvalidInitialState, "/process/initial_state", "A, initial_context"),
    ("{from: a,", "{from: aa,", Rule::InvalidTransitionFrom, "/transitions/0/from", "aa, event"),
    ("to: a}", "to: z}", Rule::InvalidTransitionTo, "/transitions/1/to", "z}"),
    ("event: go,", "event: goo,", Rule::InvalidTransitionEvent, "/transitions/0/event", "goo, to"),
    ("guard: is_x", "guard: isx", Rule::InvalidGuardReference, "/transitions/0/guard", "isx}"),
    ("{all: [noted,", "{all: [note,", Rule::InvalidGuardReference, "/guards/all_there/all/0", "note, {not"),
    (
        "artifact_type: note,",
        "artifact_type: notes,",
        Rule::InvalidGuardArtifactType,
        "/guards/noted/artifact_type",
        "notes, cond",
    ),
    ("of: b,", "of: bb,", Rule::InvalidGuardCounter, "/guards/all_there/all/1/not/of", "b"),
    ("counter: visits", "counter: attempts", Rule::InvalidGuardCounter, "/guards/all_there/all/1/not/of", "b"),
    ("{all: [noted,", "{all: [all_there,", Rule::GuardCycle, "/guards/all_there", "{all"),
    (
        "allowed_roles: [agent]",
        "allowed_roles: [agnt]",
        Rule::InvalidRoleReference,
        "/events/0/allowed_roles/0",
        "agnt]",
    ),
    ("[\"*\"]", "[agent, \"*\"]", Rule::InvalidWildcardRole, "/events/1/allowed_roles/1", "\"*\"]}"),
    ("to: a}", "to: a, allowed_roles: [x]}", Rule::InvalidRoleReference, "/transitions/1/allowed_roles/0", "x]}"),
    (
        "to: a}",
        "to: a, allowed_roles: [\"*\", agent]}",
        Rule::InvalidWildcardRole,
        "/transitions/1/allowed_roles/0",
        "\"*\", agent]",
    ),
    (
        "required_artifacts: [note]",
        "required_artifacts: [nope]",
        Rule::InvalidRequiredArtifact,
        "/states/1/required_artifacts/0",
        "nope]",
    ),
    ("{name: a}, ", "{name: a}, {name: lost}, ", Rule::UnreachableState, "/states/1/name", "lost}"),
    (", is_final: true", "", Rule::NoFinalState, "/states", "[{name: a}"),
    (
        "initial_context: {mode: x}",
        "initial_context: {mode: x}, context_schema: {properties: {mode: {type: number}}}",
        Rule::InvalidInitialContext,
        "/process/initial_context/mode",
        "x}",
    ),
    ("to: a}", "to: a, on_guard_fail: record}", Rule::RecordWithoutGuard, "/transitions/1/on_guard_fail", "record}"),
    ("to: b, guard: is_x}", "to: b}", Rule::UnusedGuard, "/guards/is_x", "{type: context"),
    ("min_count: 2", "min_count: 0", Rule::GuardAlwaysSatisfied, "/guards/noted/min_count", "0}"),
    ("sets: [mode]", "sets: []", Rule::VariableNeverSet, "/guards/is_x/variable", "mode, condition"),
    (
        "{name: a}, ",
        "{name: a, prompt: '{context.mood}'}, ",
        Rule::VariableOpen,
        "/states/0/prompt",
        "'{context.mood}'",
    ),
    ("{all: [noted,", "{all: [is_x,", Rule::RequiredArtifactNotGuarded, "/states/1/required_artifacts/0", "note]}"),
    (
        "required_in_states: [b]",
        "required_in_states: [bb]",
        Rule::UnknownReference,
        "/artifacts/0/required_in_states/0",
        "bb]",
    ),
    ("[\"b->c\"]", "[\"c->b\"]", Rule::UnknownReference, "/artifacts/0/required_for_transitions/0", "\"c->b\"]"),
    ("[go, back]", "[go, bac]", Rule::UnknownReference, "/roles/0/allowed_events/1", "bac]"),
    ("[back, approve]", "[back, approve, go]", Rule::RoleDisagrees, "/roles/1/allowed_events/2", "go],"),
    (
        "  - {name: approve,",
        "  - {name: idle, allowed_roles: [agent]}\n  - {name: approve,",
        Rule::UnusedEvent,
        "/events/2/name",
        "idle, allowed",
    ),
    ("allowed_roles: [agent]", "allowed_roles: []", Rule::NobodyMayEmit, "/events/0/name", "go, allowed"),
    ("allowed_roles: [human]", "allowed_roles: [agent]", Rule::NobodyMayEmit, "/events/2/name", "approve, allowed"),
    (
        "to: a}",
        "to: a}\n  - {from: b, event: back, to: c, allowed_roles: [human]}",
        Rule::ShadowedTransition,
        "/transitions/2",
        "{from: b, event: back, to: c",
    ),
    ("to: a}", "to: a}\n  - {from: c, event: back, to: a}", Rule::FinalStateLeft, "/states/2/name", "c, is_final"),
    ("{name: b, req", "{name: d}, {name: b, req", Rule::UnreachableState, "/states/1/name", "d}, {name: b"),
];

#[test]
fn each_mistake_is_found_at_its_place() {
    for (from, to, rule, path, text) in CASES {
        let source = SOUND.replacen(from, to, 1);
        let found = findings_after(from, to);
        let finding = found.iter().find(|finding| finding.code == *rule && finding.path == *path);
        let finding = finding.unwrap_or_else(|| panic!("{to}: {rule:?} at {path} is not in {found:#?}"));
        let line = source.lines().nth(finding.line - 1).unwrap();
        assert!(line[finding.column - 1..].starts_with(text), "{to}: {finding}: {line}");
        assert!(!finding.message.is_empty() && !finding.hint.is_empty());
        assert_eq!(load(&source).process.is_none(), found.iter().any(Finding::is_error));
    }
}

#[test]
fn a_variable_that_an_expression_reads_is_set_by_something() {
    let found = |expression: &str| {
        let guard = format!("guards:\n  x: {{not: {{type: cel, expression: '{expression}'}}}}\n");
        let found = findings_after("guards:\n", &guard).into_iter();
        found.filter(|finding| finding.code == Rule::VariableNeverSet).collect::<Vec<_>>()
    };
    let lost = found("has(context.lost) && context.mode == \"x\"");
    assert_eq!(lost.len(), 1);
    assert_eq!(lost[0].path, "/guards/x/not/expression");
    assert!(lost[0].message.contains("\"lost\"") && !lost[0].is_error(), "{}", lost[0]);
    for expression in ["context.mode == \"x\"", "size(context) > 1", "payload.lost == 1"] {
        assert_eq!(found(expression), [], "{expression}");
    }
}

/// The findings after `b` gets this prompt and some texts are replaced.
fn prompt_findings(prompt: &str, changes: &[(&str, &str)]) -> Vec<String> {
    let mut source = SOUND.replace("{name: b, ", &format!("{{name: b, prompt: '{prompt}', "));
    for (from, to) in changes {
        assert!(source.contains(from), "{from}");
        source = source.replace(from, to);
    }
    let loaded = load(&source);
    assert!(loaded.process.is_some(), "{:?}", loaded.findings);
    assert!(loaded.findings.iter().all(|finding| finding.path == "/states/1/prompt"), "{:?}", loaded.findings);
    loaded.findings.into_iter().map(|finding| format!("{}: {}", finding.code.name(), finding.message)).collect()
}

/// Otherwise an agent could put its own text where text of the process is expected.
#[test]
fn what_a_prompt_shows_is_written_only_by_events_that_name_it() {
    let open = |who: &str| {
        vec![format!("VARIABLE_OPEN: this prompt shows {{context.mood}}, and {who} can write anything there")]
    };
    assert_eq!(prompt_findings("{context.mood}", &[]), open("\"go\", \"back\""), "approve leads only to the end");
    let (go, back) = ("{name: go, allowed_roles: [agent]", "{name: back, allowed_roles: [\"*\"]");
    let sets = |event: &str, what: &str| format!("{event}, {what}");
    let closed = sets(back, "sets: []");
    for named in ["sets: [mood]", "payload_schema: {properties: {mood: {type: string}}}"] {
        assert_eq!(prompt_findings("{context.mood}", &[(go, &sets(go, named)), (back, &closed)]), [""; 0], "{named}");
    }
    let other = sets(go, "payload_schema: {properties: {note: {type: string}}}");
    assert_eq!(prompt_findings("{context.mood}", &[(go, &other), (back, &closed)]), open("\"go\""));
    let shut = sets(go, "payload_schema: {properties: {mood: {type: string}}, additionalProperties: false}");
    assert_eq!(prompt_findings("{context.mood}", &[(go, &shut), (back, &closed)]), [""; 0]);
    assert_eq!(prompt_findings("{context.mode}", &[]), [""; 0], "a guard reads it");
    let by_creation = [
        (go, &*sets(go, "sets: [mood]")),
        (back, &closed),
        (", sets: [mode]", ""),
        // Avoids another finding, for a guard that reads a variable that nothing sets.
        ("variable: mode, condition: equals, value: x", "variable: done, condition: not_exists"),
    ];
    assert_eq!(prompt_findings("{context.mood}", &by_creation), open("whoever creates a run"));
}

#[test]
fn a_prompt_that_shows_what_nothing_sets_is_found() {
    let (go, back) = ("{name: go, allowed_roles: [agent]", "{name: back, allowed_roles: [\"*\"]");
    let approve = "{name: approve, allowed_roles: [human]";
    let none = [go, back, approve].map(|event| (event, format!("{event}, sets: []")));
    let none = none.each_ref().map(|(from, to)| (*from, to.as_str()));
    let found = prompt_findings("{context.mood} {context.mode} {context.mood", &none);
    assert_eq!(found, ["VARIABLE_NEVER_SET: this prompt shows {context.mood}, which nothing ever sets"]);
}

/// The findings of a valid process with this graph.
fn graph_findings(states: &str, transitions: &str) -> Vec<(Rule, String)> {
    let source = format!(
        "process: {{id: p, version: '1', name: P, initial_state: a}}\nstates: {states}\n\
         events: [{{name: go, allowed_roles: ['*']}}, {{name: on, allowed_roles: ['*']}}]\ntransitions:\n{transitions}"
    );
    load(&source).findings.into_iter().map(|finding| (finding.code, finding.path)).collect()
}

#[test]
fn states_without_a_way_out_are_found() {
    let states = "[{name: a}, {name: stuck}, {name: end, is_final: true}]";
    let ways = "  - {from: a, event: go, to: end}\n  - {from: a, event: on, to: stuck}\n";
    assert_eq!(graph_findings(states, ways), [(Rule::DeadEnd, "/states/1/name".to_owned())]);
    let circle = format!("{ways}  - {{from: stuck, event: go, to: stuck}}\n");
    assert_eq!(graph_findings(states, &circle), [(Rule::NoWayToFinal, "/states/1/name".to_owned())]);
}

#[test]
fn what_lies_behind_a_final_state_is_not_reached() {
    let states = "[{name: a}, {name: b}, {name: end, is_final: true}]";
    let ways =
        "  - {from: a, event: go, to: end}\n  - {from: end, event: on, to: b}\n  - {from: b, event: on, to: end}\n";
    let found = graph_findings(states, ways);
    assert_eq!(
        found,
        [(Rule::UnreachableState, "/states/1/name".to_owned()), (Rule::FinalStateLeft, "/states/2/name".to_owned())]
    );
}

#[test]
fn guards_that_name_each_other_without_end_are_found_without_recursion() {
    let chain = |length: usize| {
        let mut guards = "  g0: {type: context, variable: mode, condition: exists}\n".to_owned();
        for number in 1..length {
            writeln!(guards, "  g{number}: {{not: g{}}}", number - 1).unwrap();
        }
        findings_after("guards:\n", &format!("guards:\n{guards}"))
    };
    assert!(!chain(32).iter().any(|finding| finding.code == Rule::TooDeep));
    assert!(chain(33).iter().any(|finding| finding.code == Rule::TooDeep));
    assert!(chain(3_000).iter().any(|finding| finding.code == Rule::TooDeep));
    let circle = "guards:\n  x: {not: y}\n  y: {any: [z, noted]}\n  z: {all: [noted, x]}\n";
    let found = findings_after("guards:\n", circle);
    assert_eq!(found.iter().filter(|finding| finding.code == Rule::GuardCycle).count(), 3);
}

#[test]
fn every_rule_can_be_broken() {
    let of_form = [
        Rule::InvalidYaml,
        Rule::TooLarge,
        Rule::TooDeep,
        Rule::DuplicateKey,
        Rule::UnknownKey,
        Rule::MissingRequiredField,
        Rule::InvalidValue,
        Rule::InvalidSchema,
        Rule::InvalidMinCount,
        Rule::InvalidContextGuardValue,
        Rule::InvalidExpression,
        Rule::IgnoredKey,
    ];
    let of_graphs = [Rule::DeadEnd, Rule::NoWayToFinal];
    for rule in Rule::ALL {
        let is_tested = of_form.contains(rule) || of_graphs.contains(rule) || CASES.iter().any(|case| case.2 == *rule);
        assert!(is_tested, "{} has no test", rule.name());
    }
}

/// Comparing each unknown name with all known names, however long, would take a minute for one file.
#[test]
fn names_that_are_unknown_are_told_at_once() {
    let name = |number: usize| format!("{number:0>100}");
    let mut source =
        "process: {id: p, version: '1', name: P, initial_state: a}\nstates: [{name: a}]\nevents:\n".to_owned();
    for number in 0..900 {
        writeln!(source, "  - {{name: s{number}, allowed_roles: [t{}]}}", name(number)).unwrap();
    }
    source += "transitions: []\nroles:\n";
    for number in 0..900 {
        writeln!(source, "  - {{name: u{}, allowed_events: []}}", name(number)).unwrap();
    }
    assert_eq!(load(&source).findings.len(), 200);
}

/// Otherwise an agent could emit it like any other event.
#[test]
fn overriding_is_no_transition() {
    let source = SOUND.replace("events:\n", "events:\n  - {name: override_guard, allowed_roles: [\"*\"]}\n");
    assert_eq!(load(&source).findings, []);
    let loaded = load(&source.replace("{from: b, event: back", "{from: b, event: override_guard"));
    assert!(loaded.process.is_none());
    let errors: Vec<&Finding> = loaded.findings.iter().filter(|finding| finding.is_error()).collect();
    let [error] = &errors[..] else { panic!("{errors:?}") };
    assert_eq!((error.code, error.path.as_str()), (Rule::InvalidTransitionEvent, "/transitions/1/event"));
}
