//! Tests of input validation: any JSON is accepted or refused with an explanation.

use proptest::prelude::*;
use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, RequestControl, TooComplex, parse_json};

use crate::engine::{block_on, call, engine};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,80}".prop_map(Value::from),
    ];
    let field = prop_oneof![
        prop::sample::select(vec![
            "hope",
            "fear",
            "modifier",
            "difficulty",
            "dice",
            "sides",
            "count",
            "rng",
            "seed",
            "roll_mode"
        ])
        .prop_map(str::to_owned),
        ".{0,6}",
    ];
    leaf.prop_recursive(3, 16, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((field.clone(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn an_input_is_taken_or_explained(input in any_json()) {
        for operation in ["duality_action_roll", "duality_outcome", "duality_explain", "duality_probability", "roll_dice"] {
            if let Err(fault) = call(operation, input.clone()) {
                prop_assert_eq!(fault.code(), Code::InvalidParams);
                prop_assert!(!fault.body().message.is_empty());
                let text = fault.to_string();
                prop_assert!(text.chars().count() < 1_000, "{}", text);
            }
        }
    }

    #[test]
    fn nesting_is_measured_without_parsing(levels in 0..200_usize, text in "[\\[\\]{}\"a-z\\\\]{0,20}") {
        let nested = (0..levels).fold(json!(text), |inner, _| json!([inner]));
        let is_too_deep = TooComplex::find(nested.to_string().as_bytes(), 1_000) == Some(TooComplex::Deep);
        prop_assert_eq!(is_too_deep, levels > skald_domain::limits::JSON_DEPTH_MAX);
    }
}

#[test]
fn bodies_have_limits() {
    assert_eq!(parse_json(b"{").unwrap_err().code(), Code::InvalidParams);
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    assert!(parse_json(deep.as_bytes()).unwrap_err().to_string().contains("64 levels"));
    // The array counts as three.
    let values = |count: usize| format!("[{}1]", "1,".repeat(count - 4));
    assert!(parse_json(values(skald_domain::limits::JSON_VALUES_MAX).as_bytes()).is_ok());
    let many = parse_json(values(skald_domain::limits::JSON_VALUES_MAX + 1).as_bytes()).unwrap_err();
    assert!(many.to_string().contains("more than 1000000 values"), "{many}");
    let objects = |count: usize| format!("[{}0]", "{},".repeat(count));
    // A comma and an object count as seven.
    let most = (skald_domain::limits::JSON_VALUES_MAX - 4) / 7;
    assert!(parse_json(objects(most).as_bytes()).is_ok());
    assert!(parse_json(objects(most + 1).as_bytes()).is_err());
    let text = format!("[{:?}]", ",".repeat(2_000_000));
    assert!(parse_json(text.as_bytes()).is_ok(), "what stands in a text is no value");
    let large = vec![b' '; skald_domain::limits::BODY_BYTES_MAX + 1];
    assert_eq!(parse_json(&large).unwrap_err().code(), Code::TooLarge);
    assert_eq!(parse_json(br#"{"a": 1}"#).unwrap(), json!({"a": 1}));
}

#[test]
fn an_input_that_is_no_object_is_refused() {
    for input in [json!(null), json!([]), json!(7), json!("x")] {
        let fault = call("duality_outcome", input.clone()).unwrap_err();
        assert_eq!(fault.code(), Code::InvalidParams, "{input}");
        assert!(fault.to_string().contains("the input is"), "{fault}");
    }
}

#[test]
fn an_array_is_no_object() {
    for (operation, input, path) in [
        ("duality_outcome", json!([8, 5, 2, 15]), ""),
        ("roll_dice", json!({"dice": [[6, 2]]}), "/dice/0"),
        ("roll_dice", json!({"dice": [{"sides": 6, "count": 2}], "rng": [42, "REPLAY"]}), "/rng"),
    ] {
        let fault = call(operation, input.clone()).unwrap_err();
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)), "{input}");
    }
}

#[test]
fn null_is_as_good_as_left_out_for_every_optional_field() {
    let engine = engine();
    let outcome = |operation: &str, input: Value| {
        let answer = block_on(engine.call(&Caller::owner(), operation, input, &RequestControl::default()));
        answer.map(|_| ()).map_err(|fault| fault.to_string())
    };
    for entry in engine.catalogue().operations() {
        let required = entry.full_input["required"].as_array().cloned().unwrap_or_default();
        let optional = entry.full_input["properties"].as_object().into_iter().flatten().map(|(name, _)| name);
        let nulls = optional.filter(|name| !required.contains(&json!(name))).map(|name| (name.clone(), Value::Null));
        let nulls = Value::Object(nulls.collect());
        assert_eq!(outcome(entry.name, nulls.clone()), outcome(entry.name, json!({})), "{}: {nulls}", entry.name);
    }
}

#[test]
fn null_is_as_good_as_left_out_within_a_field_too() {
    let roll = |spec: Value| call("roll_dice", json!({"dice": [spec], "rng": {"seed": null}}));
    assert!(roll(json!({"sides": 6, "count": 2})).is_ok());
    let fault = roll(json!({"sides": null, "count": 2})).unwrap_err();
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/dice/0/sides")), "{fault}");
    let fault = call("roll_dice", json!({"dice": [{"sides": 6, "count": 1}], "colour": null})).unwrap_err();
    assert_eq!(fault.body().path.as_deref(), Some("/colour"), "an unknown field is unknown, whatever it holds");
}

#[test]
fn optional_fields_may_be_null() {
    assert!(call("duality_outcome", json!({"hope": 8, "fear": 5, "difficulty": null})).is_ok());
    assert!(call("duality_action_roll", json!({"rng": null})).is_ok());
    assert!(call("duality_action_roll", json!({"rng": {"seed": null}})).is_ok());
}

#[test]
fn words_are_taken_in_any_case() {
    for mode in ["REPLAY", "replay", " Replay "] {
        let answer = call("duality_action_roll", json!({"rng": {"seed": 1, "roll_mode": mode}})).unwrap();
        assert_eq!(answer["rng"]["roll_mode"], "REPLAY");
    }
}
