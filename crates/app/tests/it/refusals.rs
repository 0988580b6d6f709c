//! Tests of refused input over the whole catalogue: every operation says what is wrong, where, and what to do next.

use serde_json::{Map, Value, json};
use skald_app::{Caller, Code, Engine, Fault, LocalEngine, OperationEntry};

use crate::engine::engine;
use crate::universe::{call, call_as_owner, run};

/// Characters of a refusal as a model reads it: the sentence and the object.
const REFUSAL_CHARS_MAX: usize = 2_000;

/// Checks what every refusal has, whatever it is about.
fn check_shape(operation: &str, fault: &Fault) {
    let body = fault.body();
    assert!(matches!(fault.code(), Code::InvalidParams | Code::Rejected), "{operation}: {fault}");
    assert!(!body.message.is_empty(), "{operation}: {body:?}");
    assert!(body.path.is_some(), "{operation} does not say where: {body:?}");
    assert!(body.hint.as_ref().is_some_and(|hint| !hint.is_empty()), "{operation} says nothing to do: {body:?}");
    let text = format!("{fault}\n{}", fault.envelope());
    assert!(text.chars().count() < REFUSAL_CHARS_MAX, "{operation}: {} characters\n{text}", text.chars().count());
    if let Some(example) = &body.example {
        assert_eq!(text.matches(&example.to_string()).count(), 1, "{operation} shows its example once: {text}");
    }
}

/// The types that a schema takes; none if it takes anything.
fn kinds(schema: &Value) -> Vec<&str> {
    let branches = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
    match (schema.get("type"), branches) {
        (Some(Value::Array(kinds)), _) => kinds.iter().filter_map(Value::as_str).collect(),
        (Some(kind), _) => kind.as_str().into_iter().collect(),
        (None, Some(branches)) if branches.iter().all(|branch| !kinds(branch).is_empty()) => {
            branches.iter().flat_map(kinds).collect()
        }
        (None, _) => Vec::new(),
    }
}

/// A value of the right type.
fn sample(schema: &Value) -> Value {
    if let Some(word) = schema.get("enum").and_then(|words| words.get(0)) {
        return word.clone();
    }
    if let Some(branch) = schema.get("anyOf").and_then(|branches| branches.get(0)) {
        return sample(branch);
    }
    match kinds(schema).first() {
        Some(&"integer" | &"number") => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        Some(&"boolean") => json!(true),
        Some(&"array") => json!([]),
        Some(&"object") => Value::Object(required_fields(schema)),
        _ => json!("x"),
    }
}

/// The required fields of an object, each with a value of its type.
fn required_fields(schema: &Value) -> Map<String, Value> {
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    required.map(|field| (field.to_owned(), sample(&schema["properties"][field]))).collect()
}

/// A value of a type that the schema does not take.
fn wrong_value(schema: &Value) -> Option<Value> {
    let taken = kinds(schema);
    let candidates = [("integer", json!(7)), ("boolean", json!(true)), ("object", json!({"wrong": 1}))];
    let is_taken = |kind: &str| taken.contains(&kind) || (kind == "integer" && taken.contains(&"number"));
    (!taken.is_empty()).then(|| candidates.into_iter().find(|(kind, _)| !is_taken(kind)))?.map(|(_, value)| value)
}

async fn refuse(engine: &LocalEngine, entry: &OperationEntry, input: Value) -> Fault {
    let answer = call(engine, &Caller::owner(), entry.name, input.clone()).await;
    let Err(fault) = answer else { panic!("{} takes {input}", entry.name) };
    check_shape(entry.name, &fault);
    fault
}

#[test]
fn all_missing_fields_are_named_at_once() {
    run(async {
        let engine = engine();
        for entry in engine.catalogue().operations() {
            let required = required_fields(&entry.full_input);
            let Some(first) = entry.full_input["required"].get(0).and_then(Value::as_str) else { continue };
            let fault = refuse(&engine, entry, json!({})).await;
            assert_eq!(fault.body().path, Some(format!("/{first}")), "{}", entry.name);
            for field in required.keys() {
                // Clients of the Solar System Constructor know its sentence about the name; the hint has the rest.
                let names =
                    if entry.name == "universe_create" { fault.to_string() } else { fault.body().message.clone() };
                assert!(names.contains(field.as_str()), "{} does not name {field}: {fault}", entry.name);
            }
        }
    });
}

#[test]
fn a_field_of_a_wrong_type_is_named_with_its_value() {
    run(async {
        let engine = engine();
        for entry in engine.catalogue().operations() {
            let properties = entry.full_input["properties"].as_object().into_iter().flatten();
            for (field, schema) in properties {
                let Some(wrong) = wrong_value(schema) else { continue };
                let mut input = required_fields(&entry.full_input);
                if entry.name == "universe" {
                    // Its first method, create, needs a name.
                    input.insert("name".to_owned(), json!("Sol"));
                }
                input.insert(field.clone(), wrong.clone());
                let fault = refuse(&engine, entry, input.into()).await;
                let path = fault.body().path.clone().unwrap_or_default();
                assert!(path.starts_with(&format!("/{field}")), "{}.{field}: {path}, {fault}", entry.name);
                assert!(fault.body().message.contains(field.as_str()), "{}.{field}: {fault}", entry.name);
                if path == format!("/{field}") {
                    assert_eq!(fault.body().value, Some(wrong), "{}.{field}", entry.name);
                }
            }
        }
    });
}

#[test]
fn an_unknown_field_is_named_with_the_known_ones() {
    run(async {
        let engine = engine();
        for entry in engine.catalogue().operations() {
            let mut input = required_fields(&entry.full_input);
            input.insert("no_such_field".to_owned(), json!(1));
            let fault = refuse(&engine, entry, input.into()).await;
            assert_eq!(fault.body().path.as_deref(), Some("/no_such_field"), "{}: {fault}", entry.name);
            let known = entry.full_input["properties"].as_object().map(Map::len).unwrap_or_default();
            assert_eq!(fault.body().allowed.len(), known, "{}", entry.name);
        }
    });
}

#[test]
fn missing_fields_are_named_by_their_paths_wherever_they_are() {
    run(async {
        let engine = engine();
        let refused = async |operation: &str, input: Value| {
            let fault = call(&engine, &Caller::owner(), operation, input).await.expect_err("fields are missing");
            check_shape(operation, &fault);
            (fault.body().message.clone(), fault.body().path.clone().unwrap_or_default())
        };
        let dice = json!({"dice": [{"sides": 6}, {}, {"sides": 6, "count": 1}]});
        let message = "dice/0/count, dice/1/sides and dice/1/count are required";
        assert_eq!(refused("roll_dice", dice).await, (message.to_owned(), "/dice/0/count".to_owned()));
        let many = json!({"dice": vec![json!({}); 20]});
        assert!(refused("roll_dice", many).await.0.ends_with("dice/4/count and 30 more are required"));
        let one = refused("duality_outcome", json!({"hope": 8})).await;
        assert_eq!(one, ("fear is required".to_owned(), "/fear".to_owned()));
        let untyped = json!({"entities": [{"name": "Dunmere"}]});
        let untyped = call(&engine, &Caller::owner(), "create_entities", untyped).await.expect_err("it has no type");
        let allowed = &untyped.body().allowed;
        assert!(allowed.iter().any(|word| word == "location") && allowed.len() > 8, "{untyped}: {allowed:?}");
        assert!(untyped.body().hint.as_deref().is_some_and(|hint| !hint.contains('\n')), "{untyped}");
        let two = refused("universe", json!({"method": "rename"})).await;
        assert_eq!(two, ("rename needs universeId and name".to_owned(), "/universeId".to_owned()));
    });
}

/// A refused command of a universe shows a right one, once.
#[test]
fn every_command_of_a_universe_is_refused_with_one_example() {
    run(async {
        let engine = engine();
        call_as_owner(&engine, "universe", json!({"method": "create", "universeId": "u-1", "name": "Sol"})).await;
        let listed = call_as_owner(&engine, "list_universe_commands", json!({"universeId": "u-1"})).await;
        let mut refused = 0;
        for name in listed["commandTypes"].as_array().expect("a list") {
            for command in [json!({"type": name}), json!({"type": name, "id": 7, "noSuchField": 1})] {
                let input = json!({"universeId": "u-1", "command": command});
                if let Err(fault) = call(&engine, &Caller::owner(), "send_universe_command", input).await {
                    check_shape("send_universe_command", &fault);
                    assert!(fault.body().example.is_some(), "{name}: {fault}");
                    refused += 1;
                }
            }
        }
        assert!(refused > 25, "{refused}");
    });
}
