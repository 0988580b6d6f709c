//! Tests of CEL guards: their variables, the limits on their cost, and their errors.

use serde_json::json;

use super::*;
use crate::gate::guard::cel::check_cost;
use crate::limits;

#[test]
fn expressions_see_what_they_are_handed() {
    let mut world = GuardFixture::from_context(json!({"n": 3, "v": "x", "w": [1, 2, 3]})).with_notes(&["one", "two"]);
    world.payload = object(json!({"score": 0.5, "tags": ["a", "b"]}));
    world.visits.insert("a".to_owned(), 2);
    world.facts.campaign = Some(json!({"sessions": [{"status": "ended"}, {"status": "active"}]}));
    world.facts.stale.insert("note-1.md".to_owned());
    for expression in [
        "context.n + 1 == 4 && context.v == \"x\"",
        "payload.score >= 0.5 && \"a\" in payload.tags",
        "size(artifacts) == 1 && artifacts.exists(one, one.types == [\"note\"] && one.path == \"note-0.md\")",
        "artifacts.map(one, one.sha256) == [\"one\"]",
        "run.visits.a == 2 && run.id == \"run-1\" && !has(run.attempts.go)",
        "campaign.sessions.filter(session, session.status == \"ended\").size() == 1",
        "context.w.all(number, number > 0) && context.v.matches(\"^x$\")",
    ] {
        let guard = format!("{{type: cel, expression: '{expression}'}}");
        assert_eq!(world.missing("en", &guard), [""; 0], "{expression}");
    }
}

#[test]
fn expressions_that_fail_say_why() {
    let world = GuardFixture::from_context(json!({"n": 3}));
    let missing = |expression: &str| world.missing("en", &format!("{{type: cel, expression: '{expression}'}}"));
    assert_eq!(missing("context.n > 3"), ["Condition 'context.n > 3' is not met"]);
    assert_eq!(missing("context.m > 3"), ["Condition 'context.m > 3' cannot be evaluated: No such key: m"]);
    assert_eq!(
        missing("context.n"),
        ["Condition 'context.n' cannot be evaluated: it is a int, expected true or false"]
    );
    assert_eq!(
        missing("campaign.sessions > 1"),
        ["Condition 'campaign.sessions > 1' cannot be evaluated: this run belongs to no campaign"]
    );
    assert_eq!(missing("campaign == null || campaign.x"), [""; 0]);
    assert_eq!(
        missing("campaign == null && context.m > 3"),
        ["Condition 'campaign == null && context.m > 3' cannot be evaluated: No such key: m"]
    );
    assert_eq!(
        world.missing("ja", "{type: cel, expression: 'campaign.x'}"),
        ["条件 'campaign.x' を評価できません: この実行はキャンペーンに属していません"]
    );
    assert_eq!(missing("1 / 0 == 1").len(), 1);
    let opposite = world.missing("en", "{not: {type: cel, expression: 'context.m > 3'}}");
    assert_eq!(opposite, ["Condition 'context.m > 3' cannot be evaluated: No such key: m"]);
}

#[test]
fn expressions_are_bounded_before_they_run() {
    let most = limits::GUARD_EXPRESSION_CHARS_MAX;
    let padded = |chars: usize| format!("true{}", " ".repeat(chars - 4));
    assert_eq!(CelExpression::new(&padded(most)).err(), None);
    assert!(CelExpression::new(&padded(most + 1)).unwrap_err().contains("at most 2000 characters"));
    let long = format!("{} true", "true && ".repeat(300));
    assert!(CelExpression::new(&long).unwrap_err().contains("at most 2000 characters"));
    let doubling = |times: usize| format!("[\"xxxxxxxx\"]{}.size() > 0", ".map(x, x + x + x + x)".repeat(times));
    assert!(CelExpression::new(&doubling(12)).unwrap_err().contains("could cost"));
    assert_eq!(CelExpression::new(&doubling(6)).err(), None);
    let loops = |range: &str, count: usize| {
        (0..count).fold("true".to_owned(), |inner, level| format!("{range}.all(x{level}, {inner})"))
    };
    assert!(
        CelExpression::new(&loops("[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]", 6))
            .unwrap_err()
            .contains("cost")
    );
    assert!(CelExpression::new(&loops("[1]", 6)).is_ok(), "loops over little cost little");
}

#[test]
fn expressions_are_nested_within_bounds_whatever_they_are_nested_by() {
    for deep in [
        format!("1{} > 0", "+1".repeat(900)),
        format!("context{} == 1", ".a".repeat(900)),
        format!("[\"x\"]{}.size() > 0", ".map(x, x)".repeat(150)),
        format!("{}true{}", "[1].all(x, ".repeat(60), ")".repeat(60)),
        format!("{}1{} == 1", "[".repeat(900), "]".repeat(900)),
        "true ? true : ".repeat(140) + "true",
    ] {
        assert!(CelExpression::new(&deep).is_err(), "{deep}");
    }
    let world = GuardFixture::from_context(json!({"v": 1}));
    let sum = format!("{{type: cel, expression: 'context.v{} > 0'}}", " + 1".repeat(20));
    assert!(world.missing("en", &sum).is_empty());
    let loops = format!("{{type: cel, expression: '{}true{}'}}", "[1].all(x, ".repeat(6), ")".repeat(6));
    assert!(world.missing("en", &loops).is_empty());
}

#[test]
fn what_an_expression_costs_depends_on_what_it_reads() {
    let guard = "{type: cel, expression: 'context.w.all(x, context.w.all(y, context.w.all(z, x + y + z >= 0)))'}";
    let with = |count: usize| GuardFixture::from_context(json!({ "w": vec![1; count] }));
    assert!(with(20).missing("en", guard).is_empty());
    let refused = with(500).missing("en", guard);
    assert!(refused[0].contains("could cost"), "{refused:?}");
    let plain = "{type: cel, expression: 'context.w.filter(x, x > 0).size() == 20000'}";
    assert!(with(20_000).missing("en", plain).is_empty(), "one loop over much is fine");
    assert_eq!(check_cost(limits::GUARD_COST_MAX), Ok(()));
    let past = check_cost(limits::GUARD_COST_MAX + 1).unwrap_err();
    assert_eq!(past, "it could cost 10000001, at most 10000000 is spent");
}

#[test]
fn only_known_names_are_read() {
    for (expression, word) in [
        ("contxt.a", "did you mean context?"),
        ("now() > 1", "now() is not known"),
        ("context.a.startWith(\"x\")", "did you mean startsWith?"),
        ("context.all(x)", "all() is not known"),
        ("x.y", "x is not known"),
        ("[1].exists(x, y)", "y is not known"),
        ("[1].map(x, y) == []", "y is not known"),
    ] {
        let refused = CelExpression::new(expression).expect_err(expression);
        assert!(refused.contains(word), "{expression}: {refused}");
    }
    let mut reads = ReadVariables::default();
    CelExpression::new("context.a > 1 && has(context.b) && context.c.d == payload.e")
        .unwrap()
        .collect_reads(&mut reads);
    let names: Vec<&str> = reads.variables.iter().map(String::as_str).collect();
    assert_eq!((names, reads.is_any), (vec!["a", "b", "c"], false));
    CelExpression::new("size(context) > 1").unwrap().collect_reads(&mut reads);
    assert!(reads.is_any);
}

#[test]
fn what_is_never_true_or_false_is_found_when_it_is_read() {
    for expression in ["1 + 1", "-context.a", "\"yes\"", "[true]", "{\"a\": true}", "size(context.a)", "1"] {
        assert_eq!(CelExpression::new(expression).err().as_deref(), Some("it is never true or false"), "{expression}");
    }
    for expression in
        ["true", "context.a", "!context.a", "context.a ? true : context.b", "context[\"a\"]", "bool(\"true\")"]
    {
        assert_eq!(CelExpression::new(expression).err(), None, "{expression}");
    }
}

/// A pattern is compiled at every match: one that takes a third of a second would take that for each element of a list.
#[test]
fn patterns_are_written_out_and_cost_what_they_take() {
    for expression in
        ["context.v.matches(payload.pattern)", "context.v.matches(\"x\" + \"y\")", "matches(context.v, context.v)"]
    {
        assert!(CelExpression::new(expression).unwrap_err().contains("written out"), "{expression}");
    }
    for pattern in ["(", "(\\\\w{60}){6}|a*", "((a{100}){100}){100}"] {
        let refused = CelExpression::new(&format!("context.v.matches(\"{pattern}\")")).unwrap_err();
        assert!(refused.contains("cannot be used"), "{refused}");
    }
    for pattern in ["^\\\\w+$", "^\\\\d{4}-\\\\d{2}$", "^[a-z0-9-]{1,64}$", "(?i)dragon|wyrm"] {
        assert_eq!(CelExpression::new(&format!("context.v.matches(\"{pattern}\")")).err(), None, "{pattern}");
    }
    let guard = "{type: cel, expression: 'context.w.all(x, \"a\".matches(\"^[a-z]{1,20}$\"))'}";
    let with = |count: usize| GuardFixture::from_context(json!({ "w": vec![1; count] }));
    assert!(with(20).missing("en", guard).is_empty());
    assert!(with(1_000).missing("en", guard)[0].contains("could cost"));
}

#[test]
fn copies_of_a_content_are_one_artifact_and_stale_ones_are_none() {
    let mut world = GuardFixture::default().with_notes(&["same", "same", "other", "same"]);
    let two = "{type: cel, expression: 'size(artifacts) == 2'}";
    assert!(world.missing("en", two).is_empty());
    world.facts.stale.insert("note-0.md".to_owned());
    assert!(world.missing("en", two).is_empty(), "a copy that did not change still counts");
    world.facts.stale.insert("note-2.md".to_owned());
    assert_eq!(world.missing("en", two).len(), 1);
}
