//! Tests that no error names a tool or a resource outside the client's toolsets.

use serde_json::{Map, Value, json};
use skald_app::{Catalogue, Exposed, Toolset, ToolsetFilter, Toolsets};

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{Surface, TestClient, World};
use crate::universe;

/// Whether a text contains a name, and not only as a part of a longer one.
fn has_name(text: &str, name: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let mut after = text[at + name.len()..].chars();
        // A full stop ends a sentence, unless another letter follows.
        let is_longer = match after.next() {
            Some('.') => after.next().is_some_and(is_of_name),
            letter => letter.is_some_and(is_of_name),
        };
        !before.is_some_and(is_of_name) && !is_longer
    })
}

/// Names that an error must not contain. A tool whose name is a common word counts only in backticks.
fn hidden_names(visible: ToolsetFilter) -> Vec<String> {
    let catalogue = Catalogue::from_all_nouns();
    let is_tool = |entry: &&skald_app::OperationEntry| visible.admits(entry) && entry.exposed == Exposed::Everywhere;
    let hidden = catalogue.operations().iter().filter(|entry| !is_tool(entry));
    let tools = hidden.map(|entry| match entry.name {
        name if name.contains(['_', '.']) => name.to_owned(),
        name => format!("`{name}`"),
    });
    let resources = catalogue.resources().iter().filter(|resource| !visible.toolsets.contains(resource.toolset));
    let places = resources.map(|resource| resource.uri.split('{').next().unwrap_or_default().to_owned());
    tools.chain(places).collect()
}

/// A value of the schema's type that names nothing that exists.
fn sample_value(schema: &Value) -> Value {
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap_or("string");
    match kind {
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => json!({}),
        _ => schema["enum"].get(0).cloned().unwrap_or_else(|| json!("nowhere")),
    }
}

/// Inputs, most of them wrong: empty, only the required fields, an unknown field, and each field with wrong values and
/// with each allowed word.
fn sample_inputs(schema: &Value) -> Vec<Value> {
    let none = Map::new();
    let fields = schema["properties"].as_object().unwrap_or(&none);
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let filled: Map<String, Value> =
        required.map(|field| (field.to_owned(), sample_value(&schema["properties"][field]))).collect();
    let mut inputs = vec![json!({}), json!(filled), json!({"nothing_of_the_kind": 1})];
    for (field, about) in fields {
        let words = about["enum"].as_array().into_iter().flatten().cloned();
        for value in words.chain([sample_value(about), json!("elsewhere"), json!(-7), json!([[]])]) {
            let mut input = filled.clone();
            input.insert(field.clone(), value);
            inputs.push(input.into());
        }
    }
    inputs
}

/// Calls every tool with these inputs, asserts that no error contains a hidden name, and returns how many errors came.
fn provoke_errors(seat: &mut TestClient, hidden: &[String]) -> usize {
    let listed = seat.request("tools/list", &json!({}));
    let mut errors = 0;
    for tool in listed["result"]["tools"].as_array().expect("tools") {
        for arguments in sample_inputs(&tool["inputSchema"]) {
            let answer = seat.request("tools/call", &json!({"name": tool["name"], "arguments": arguments}));
            if answer["result"]["isError"] != true {
                continue;
            }
            errors += 1;
            let told: Vec<&str> =
                [0, 1].map(|at| answer["result"]["content"][at]["text"].as_str().expect("a text")).into();
            for name in hidden {
                assert!(
                    !told.iter().any(|text| has_name(text, name)),
                    "{} {arguments} names {name}: {}",
                    tool["name"],
                    told[0]
                );
            }
        }
    }
    errors
}

#[test]
fn no_error_names_what_a_toolset_does_not_have() {
    let world = World::sqlite();
    {
        let mut owner = world.stdio_client(&[]);
        create_campaign(&mut owner);
        universe::create_universe(&mut owner, "u-1");
    }
    for toolset in [Toolset::Dice, Toolset::Campaign, Toolset::Gate, Toolset::Universe] {
        let toolsets: Toolsets = toolset.name().parse().expect("a toolset");
        let server = world.serve(&["--toolsets", toolset.name()]);
        let hidden = hidden_names(ToolsetFilter { toolsets, read_only: false });
        let errors = provoke_errors(&mut server.client(Surface::Session), &hidden);
        assert!(errors > 20, "{}: {errors} errors", toolset.name());
    }
    let server = world.serve(&["--read-only"]);
    let hidden = hidden_names(ToolsetFilter { toolsets: Toolsets::ALL, read_only: true });
    let errors = provoke_errors(&mut server.client(Surface::Session), &hidden);
    assert!(errors > 20, "{errors} errors");
}

/// The toolset has no tool that creates a universe, and lists them by a resource; the hint names no others.
#[test]
fn an_unknown_universe_is_answered_with_what_is_at_hand() {
    let world = World::sqlite();
    for (toolsets, hint) in [
        ("universe", "send the id of a universe that is there; `universes://list` has them"),
        ("all", "send the id of a universe that is there; `universes://list` has them; `universe` creates one"),
    ] {
        let server = world.serve(&["--toolsets", toolsets]);
        for surface in [Surface::Session, Surface::Stateless, Surface::Rest] {
            let mut seat = server.client(surface);
            assert_eq!(
                seat.call_refused("get_universe_state", &json!({"universeId": "u-1"}))["hint"],
                hint,
                "{surface:?}"
            );
            assert_eq!(seat.read("universe://u-1").expect_err("nothing there")["hint"], hint, "{surface:?}");
        }
    }
}
