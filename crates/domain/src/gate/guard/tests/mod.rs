//! Tests of guards and of their messages about what is missing.

mod expressions;
mod substance;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

use imbl::OrdMap;
use serde_json::{Map, Value, json};

use super::*;
use crate::gate::evidence::{Artifact, Evidence, name_matches};
use crate::gate::facts::Facts;
use crate::gate::process::{Process, load};
use crate::gate::tests::object;

/// A process with these guards, in this language. The rest is only there to make the process valid.
fn process(locale: &str, guards: &str) -> Arc<Process> {
    let mut source = format!(
        "process: {{id: p, version: '1', name: P, initial_state: a, locale: {locale}, sets: [v, w, n]}}\n\
         states: [{{name: a}}, {{name: end, is_final: true}}]\nevents: [{{name: go, allowed_roles: ['*']}}]\n\
         artifacts: [{{type: note}}]\nguards:\n{guards}\ntransitions:\n"
    );
    for name in guards.lines().filter_map(|line| line.trim().split_once(':')).map(|(name, _)| name) {
        writeln!(source, "  - {{from: a, event: go, to: end, guard: {name}}}").unwrap();
    }
    let loaded = load(&source);
    Arc::new(loaded.process.unwrap_or_else(|| panic!("{:#?}", loaded.findings)))
}

/// Inputs for the guards under test.
#[derive(Default)]
struct GuardFixture {
    context: OrdMap<String, Value>,
    evidence: Evidence,
    attempts: OrdMap<String, u64>,
    visits: OrdMap<String, u64>,
    payload: Map<String, Value>,
    facts: Facts,
}

impl GuardFixture {
    fn from_context(context: Value) -> Self {
        Self { context: object(context).into_iter().collect(), ..Self::default() }
    }

    fn with_notes(mut self, contents: &[&str]) -> Self {
        for (index, content) in contents.iter().enumerate() {
            let types = vec!["note".to_owned()];
            let path = format!("note-{index}.md");
            self.evidence.put(Artifact {
                path,
                sha256: (*content).to_owned(),
                bytes: 1,
                types,
                inline: false,
                measure: None,
            });
        }
        self
    }

    fn evaluate(&self, process: &Process, guard: &str) -> GuardResult {
        let scene = GuardInputs {
            process,
            run_id: "run-1",
            state: "a",
            context: &self.context,
            evidence: &self.evidence,
            attempts: &self.attempts,
            visits: &self.visits,
            payload: &self.payload,
            facts: &self.facts,
        };
        scene.evaluate(guard)
    }

    /// What one guard is missing; empty if it is satisfied.
    fn missing(&self, locale: &str, guard: &str) -> Vec<String> {
        let result = self.evaluate(&process(locale, &format!("  g: {guard}")), "g");
        assert_eq!(result.satisfied, result.missing.is_empty());
        result.missing
    }
}

/// A context, a guard, and what is missing in both languages.
type Case = (Value, &'static str, Option<(&'static str, &'static str)>);

#[test]
fn the_eight_shapes_say_what_is_missing() {
    let cases: Vec<Case> = vec![
        (
            json!({}),
            "{type: artifact, artifact_type: note, condition: exists}",
            Some(("Artifact 'note' does not exist", "成果物 'note' が未提出")),
        ),
        (
            json!({}),
            "{type: artifact, artifact_type: note, condition: count, min_count: 2}",
            Some(("Artifact 'note' count is 0, required 2", "成果物 'note' の件数が不足 (現在: 0, 必要: 2)")),
        ),
        (json!({}), "{type: artifact, artifact_type: note, condition: count, min_count: 0}", None),
        (
            json!({}),
            "{type: context, variable: v, condition: equals, value: x}",
            Some(("Context variable 'v' is not defined", "コンテキスト変数 'v' が未定義")),
        ),
        (
            json!({"v": "y"}),
            "{type: context, variable: v, condition: equals, value: x}",
            Some(("Context variable 'v' is 'y', expected 'x'", "コンテキスト変数 'v' は 'y' (必要: 'x')")),
        ),
        (json!({"v": "x"}), "{type: context, variable: v, condition: equals, value: x}", None),
        (
            json!({"v": "1"}),
            "{type: context, variable: v, condition: equals, value: 1}",
            Some(("Context variable 'v' is '1', expected '1'", "コンテキスト変数 'v' は '1' (必要: '1')")),
        ),
        (json!({"v": 1.0}), "{type: context, variable: v, condition: equals, value: 1}", None),
        (json!({"v": null}), "{type: context, variable: v, condition: equals, value: null}", None),
        (
            json!({}),
            "{type: context, variable: v, condition: not_equals, value: x}",
            Some(("Context variable 'v' is not defined", "コンテキスト変数 'v' が未定義")),
        ),
        (
            json!({"v": "x"}),
            "{type: context, variable: v, condition: not_equals, value: x}",
            Some(("Context variable 'v' is 'x', expected not 'x'", "コンテキスト変数 'v' は 'x' (必要: 'x' 以外)")),
        ),
        (
            json!({"v": "z"}),
            "{type: context, variable: v, condition: in, value: [x, 2]}",
            Some((
                "Context variable 'v' is 'z', expected one of [x, 2]",
                "コンテキスト変数 'v' は 'z' (必要: [x, 2] のいずれか)",
            )),
        ),
        (json!({"v": 2}), "{type: context, variable: v, condition: in, value: [x, 2]}", None),
        (
            json!({"v": 2}),
            "{type: context, variable: v, condition: not_in, value: [x, 2]}",
            Some((
                "Context variable 'v' is '2', expected not in [x, 2]",
                "コンテキスト変数 'v' は '2' (必要: [x, 2] 以外)",
            )),
        ),
        (
            json!({}),
            "{type: context, variable: v, condition: not_in, value: [x]}",
            Some(("Context variable 'v' is not defined", "コンテキスト変数 'v' が未定義")),
        ),
        (
            json!({}),
            "{type: context, variable: v, condition: exists}",
            Some(("Context variable 'v' does not exist", "コンテキスト変数 'v' が存在しません")),
        ),
        (json!({"v": null}), "{type: context, variable: v, condition: exists}", None),
        (json!({}), "{type: context, variable: v, condition: not_exists}", None),
        (
            json!({"v": null}),
            "{type: context, variable: v, condition: not_exists}",
            Some((
                "Context variable 'v' exists but should not",
                "コンテキスト変数 'v' が存在しています (存在しないことが必要)",
            )),
        ),
    ];
    for (context, guard, expected) in cases {
        let world = GuardFixture::from_context(context);
        let (en, ja): (Vec<&str>, Vec<&str>) = expected.into_iter().unzip();
        assert_eq!(world.missing("en", guard), en, "{guard}");
        assert_eq!(world.missing("ja", guard), ja, "{guard}");
    }
}

#[test]
fn numbers_are_compared_by_value() {
    let asked = |value: Value, condition: &str, bound: &str| {
        let guard = format!("{{type: context, variable: n, condition: {condition}, value: {bound}}}");
        GuardFixture::from_context(json!({ "n": value })).missing("en", &guard).is_empty()
    };
    for (condition, below, equal, above) in [
        ("less_than", true, false, false),
        ("at_most", true, true, false),
        ("greater_than", false, false, true),
        ("at_least", false, true, true),
    ] {
        assert_eq!(
            [asked(json!(2), condition, "3"), asked(json!(3.0), condition, "3"), asked(json!(3.5), condition, "3")],
            [below, equal, above]
        );
    }
    // Neighbours that are equal as floating point.
    assert!(asked(json!(9_007_199_254_740_993_i64), "greater_than", "9007199254740992"));
    assert!(asked(json!(9_007_199_254_740_993_i64), "greater_than", "9007199254740992.0"));
    assert!(!asked(json!(9_007_199_254_740_992.0), "at_least", "9007199254740993"));
    assert!(asked(json!(-2), "greater_than", "-2.5") && asked(json!(-2.5), "less_than", "-2"));
    assert!(asked(json!(u64::MAX), "less_than", "1e300") && asked(json!(-1e300), "less_than", "-9223372036854775808"));
    let world = GuardFixture::from_context(json!({"n": "3"}));
    let guard = "{type: context, variable: n, condition: at_least, value: 3}";
    assert_eq!(world.missing("en", guard), ["Context variable 'n' is '3', expected a number"]);
    assert_eq!(
        GuardFixture::from_context(json!({"n": 2})).missing("en", guard),
        ["Context variable 'n' is '2', expected at least 3"]
    );
    assert_eq!(GuardFixture::from_context(json!({})).missing("en", guard), ["Context variable 'n' is not defined"]);
}

#[test]
fn counters_of_the_run_are_seen() {
    let mut world = GuardFixture::default();
    let visits = "{type: run, counter: visits, of: a, condition: at_most, value: 2}";
    assert_eq!(world.missing("en", visits), [""; 0]);
    world.visits.insert("a".to_owned(), 3);
    assert_eq!(world.missing("en", visits), ["Visits of state 'a': 3, expected at most 2"]);
    let attempts =
        "{type: run, counter: attempts, of: go, condition: at_least, value: 1, message: '{current} of {required}'}";
    assert_eq!(world.missing("en", attempts), ["0 of 1"]);
}

#[test]
fn messages_are_filled_in_and_never_cover_what_else_is_wrong() {
    let world = GuardFixture::default().with_notes(&["one", "two"]);
    let guard = "{type: artifact, artifact_type: note, condition: count, min_count: 3, message: '{current}/{required} {current}'}";
    assert_eq!(world.missing("ja", guard), ["2/3 2"]);
    let mut world = GuardFixture::default().with_notes(&["one", "two", "three"]);
    assert_eq!(world.missing("ja", guard), [""; 0]);
    world.facts.stale.insert("note-1.md".to_owned());
    assert_eq!(
        world.missing("en", guard),
        ["2/3 2", "Artifact file 'note-1.md' is gone or has changed since it was submitted"]
    );
    let broken = "{type: context, variable: n, condition: at_least, value: 3, message: too small}";
    assert_eq!(
        GuardFixture::from_context(json!({"n": []})).missing("en", broken),
        ["Context variable 'n' is '[]', expected a number"]
    );
}

#[test]
fn a_message_has_words_for_a_variable_without_a_value() {
    let bound = "{type: context, variable: n, condition: at_most, value: 3, message: '{current} of {required}'}";
    assert_eq!(GuardFixture::default().missing("en", bound), ["not defined of 3"]);
    assert_eq!(GuardFixture::default().missing("ja", bound), ["未定義 of 3"]);
    let exists = "{type: context, variable: n, condition: exists, message: 'n is {current}'}";
    assert_eq!(GuardFixture::default().missing("en", exists), ["n is not defined"]);
    assert_eq!(
        GuardFixture::from_context(json!({"n": ""})).missing("en", bound),
        ["Context variable 'n' is '', expected a number"]
    );
}

#[test]
fn guards_are_combined() {
    let has = |name: &str| format!("{{type: context, variable: {name}, condition: exists}}");
    let (v, w) = (has("v"), has("w"));
    let none = GuardFixture::from_context(json!({}));
    let one = GuardFixture::from_context(json!({"v": 1}));
    let both = GuardFixture::from_context(json!({"v": 1, "w": 1}));
    let all = format!("{{all: [{v}, {w}]}}");
    let missing = |name: &str| format!("Context variable '{name}' does not exist");
    assert_eq!(none.missing("en", &all), [missing("v"), missing("w")], "every leaf is told");
    assert_eq!(one.missing("en", &all), [missing("w")]);
    assert!(both.missing("en", &all).is_empty());
    let any = format!("{{any: [{v}, {w}]}}");
    assert_eq!(none.missing("en", &any), [format!("one of: {}; {}", missing("v"), missing("w"))]);
    assert!(one.missing("en", &any).is_empty());
    let not = format!("{{not: {v}}}");
    assert!(none.missing("en", &not).is_empty());
    assert_eq!(one.missing("en", &not), ["A condition holds that should not"]);
    let told = format!("{{all: [{v}, {w}], message: '{{current}} of {{required}}'}}");
    assert_eq!(one.missing("en", &told), ["1 of 2"]);
}

#[test]
fn what_cannot_be_told_is_not_satisfied_nor_is_its_opposite() {
    let broken = "{type: context, variable: n, condition: at_least, value: 3}";
    let world = GuardFixture::from_context(json!({"n": "many", "v": 1}));
    let fine = "{type: context, variable: v, condition: exists}";
    for guard in [
        broken.to_owned(),
        format!("{{not: {broken}}}"),
        format!("{{not: {{not: {broken}}}}}"),
        format!("{{all: [{fine}, {broken}]}}"),
        format!("{{not: {{all: [{fine}, {broken}]}}}}"),
        format!("{{not: {{any: [{broken}, {{not: {fine}}}]}}}}"),
    ] {
        let missing = world.missing("en", &guard);
        assert!(missing.iter().any(|reason| reason.contains("expected a number")), "{guard}: {missing:?}");
    }
    assert!(world.missing("en", &format!("{{any: [{broken}, {fine}]}}")).is_empty());
    // One part that is false decides the result.
    assert!(world.missing("en", &format!("{{not: {{all: [{{not: {fine}}}, {broken}]}}}}")).is_empty());
}

#[test]
fn a_variable_that_is_not_defined_satisfies_neither_a_guard_nor_its_opposite() {
    let world = GuardFixture::from_context(json!({"v": 1}));
    let (here, gone) = ("{type: context, variable: v, condition: exists}", |condition: &str| {
        format!("{{type: context, variable: w, condition: {condition}, message: 'say {{required}}'}}")
    });
    for condition in ["equals, value: x", "not_equals, value: x", "in, value: [x]", "not_in, value: [x]"] {
        let gone = gone(condition);
        assert_eq!(world.missing("en", &gone), ["say x"]);
        assert_eq!(world.missing("en", &format!("{{not: {gone}}}")), ["say x"]);
        assert_eq!(world.missing("en", &format!("{{not: {{all: [{here}, {gone}]}}}}")), ["say x"]);
        assert_eq!(world.missing("en", &format!("{{not: {{any: [{{not: {here}}}, {gone}]}}}}")).len(), 1);
        assert!(world.missing("en", &format!("{{any: [{here}, {gone}]}}")).is_empty());
    }
    assert!(world.missing("en", "{not: {type: context, variable: w, condition: exists}}").is_empty());
}

#[test]
fn reasons_that_quote_each_other_stay_short() {
    let mut guards = "  a0: {type: context, variable: v, condition: exists}\n".to_owned();
    guards += "  b0: {type: context, variable: w, condition: exists}\n";
    for number in 1..31 {
        let before = number - 1;
        writeln!(guards, "  a{number}: {{any: [a{before}, b{before}]}}").unwrap();
        writeln!(guards, "  b{number}: {{any: [b{before}, a{before}]}}").unwrap();
    }
    let line = GuardFixture::default().evaluate(&process("en", &guards), "a30").line();
    assert!(line.starts_with("a30: one of: ") && line.chars().count() < 2_100, "{}", line.len());
    let parts = (0..300)
        .map(|number| format!("{{type: run, counter: visits, of: a, condition: greater_than, value: {number}}}"));
    let many = format!("{{all: [{}]}}", parts.collect::<Vec<_>>().join(", "));
    assert_eq!(GuardFixture::default().missing("en", &many).len(), 100);
}

#[test]
fn a_long_value_is_shown_by_its_beginning() {
    let world = GuardFixture::from_context(json!({"v": "x".repeat(100_000)}));
    let guard =
        format!("{{type: context, variable: v, condition: equals, value: y, message: '{}'}}", "{current}".repeat(500));
    let missing = world.missing("en", &guard);
    assert_eq!(missing[0].chars().count(), 2_000);
    let plain = world.missing("en", "{type: context, variable: v, condition: equals, value: y}");
    assert!(plain[0].ends_with("x…', expected 'y'") && plain[0].len() < 600);
    let mut world = GuardFixture::default().with_notes(&["same"; 100]);
    world.facts.stale = (0..100).map(|number| format!("note-{number}.md")).collect();
    let missing = world.missing("en", "{type: artifact, artifact_type: note, condition: exists}");
    assert_eq!(missing.len(), 21, "what is missing, and some of the files that changed");
}

#[test]
fn guards_that_share_parts_are_asked_once() {
    let mut guards = "  g0: {type: context, variable: v, condition: exists}\n".to_owned();
    for number in 1..32 {
        let before = number - 1;
        writeln!(guards, "  g{number}: {{all: [g{before}, g{before}, {{any: [g{before}, g{before}]}}]}}").unwrap();
    }
    let process = process("en", &guards);
    assert!(GuardFixture::from_context(json!({"v": 1})).evaluate(&process, "g31").satisfied);
    assert_eq!(GuardFixture::default().evaluate(&process, "g31").missing, ["Context variable 'v' does not exist"]);
    assert_eq!(process.needed_artifact_types("a"), Some(BTreeSet::new()), "what they ask for is found once, too");
}

#[test]
fn the_type_of_an_artifact_follows_from_its_name() {
    let cases = BTreeMap::from([
        ("NOTE.md", true),
        ("note_v1.md", true),
        ("note-2.md", true),
        ("final_note.md", true),
        ("a/b/final-note.tar", true),
        ("note", true),
        ("notes.md", false),
        ("mynote.md", false),
        ("a-note_b.md", false),
        ("note/other.md", false),
        (".note", false),
        ("note.tar.gz", false),
    ]);
    for (path, matches) in cases {
        assert_eq!(name_matches(path, "note"), matches, "{path}");
    }
    assert!(name_matches("note-plan.md", "note") && name_matches("note-plan.md", "plan"));
}
