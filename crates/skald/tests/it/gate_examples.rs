//! Tests that the examples of the gate's document are true on every surface.

use serde_json::{Map, Value};

use crate::gate_document::{EMIT, Example, GET_STATE, RUN, Step, examples};
use crate::program_under_test::{StoreKind, World};
use crate::surface_client::{LEGACY, SURFACES, Surface, SurfaceClient};

#[test]
fn every_example_is_true_on_every_surface() {
    for surface in SURFACES {
        play_all(StoreKind::Sqlite, surface, &[]);
    }
}

#[test]
fn every_example_is_true_under_names_without_a_dot() {
    for surface in
        [Surface::Stdio(LEGACY), Surface::Http(skald_testkit::mcp_messages::MODERN), Surface::BridgedStdio(LEGACY)]
    {
        play_all(StoreKind::Memory, surface, &["--tool-names", "underscore"]);
    }
}

mod postgres {
    use super::*;

    /// With a shared artifact folder, files count on PostgreSQL too.
    #[test]
    fn every_example_is_true_on_postgres() {
        for surface in [Surface::Rest, Surface::Stdio(LEGACY), Surface::Http(LEGACY), Surface::Grpc] {
            play_all(StoreKind::Postgres, surface, &[]);
        }
    }
}

fn play_all(kind: StoreKind, surface: Surface, shown: &[&str]) {
    for example in examples() {
        let world = World::new(kind);
        let artifacts = world.folder().join("artifacts").display().to_string();
        let kept = ["--store", world.store(), "--artifact-dir", &artifacts];
        let mut client = Client {
            player: SurfaceClient::start_with_options(surface, &kept, shown, None),
            has_dots: shown.is_empty(),
            last: (String::new(), Value::Null, Value::Null),
        };
        client.play(&example).unwrap_or_else(|why| panic!("{}, {surface:?} {shown:?}: {why}", example.name));
    }
}

struct Client {
    player: SurfaceClient,
    /// Whether tool names keep their dots.
    has_dots: bool,
    /// The last call, with its answer.
    last: (String, Value, Value),
}

impl Client {
    fn play(&mut self, example: &Example) -> Result<(), String> {
        for step in &example.steps {
            self.play_step(step)?;
        }
        Ok(())
    }

    fn call(&mut self, tool: &str, input: &Value) -> Result<Value, Value> {
        let name = if self.has_dots || !self.player.has_tools() { tool.to_owned() } else { tool.replace('.', "_") };
        self.player.call(&name, input, None)
    }

    fn play_step(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::File(path, content) => {
                let state = self.call(GET_STATE, &serde_json::json!({"run_id": RUN})).expect("a run");
                let file = std::path::Path::new(state["artifact_base_path"].as_str().expect("a folder")).join(path);
                std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
                std::fs::write(file, content).expect("a file");
                Ok(())
            }
            Step::Call(tool, input, expected) => {
                let answer = self.call(tool, input).map_err(|fault| format!("{tool} {input}: {fault}"))?;
                check_contains(expected, &answer, tool)?;
                self.last = ((*tool).to_owned(), input.clone(), answer);
                Ok(())
            }
            Step::Fault(tool, input, expected) => match self.call(tool, input) {
                Ok(answer) => Err(format!("{tool} {input} is no error: {answer}")),
                Err(fault) => check_contains(expected, &fault, tool),
            },
            Step::Again(tool, expected) => {
                let (last, input, before) = self.last.clone();
                assert_eq!((last.as_str(), *tool), (*tool, EMIT), "what is repeated is an event");
                let again = self.call(tool, &input).map_err(|fault| fault.to_string())?;
                check_contains(expected, &again, tool)?;
                let same = without_replay_mark(again) == without_replay_mark(before);
                if same { Ok(()) } else { Err("a replay differs in more than its mark".to_owned()) }
            }
            Step::Read(uri, expected) => check_contains(expected, &self.player.read(uri), uri),
        }
    }
}

/// An answer of `emit_event` without the fields that mark a replay.
pub(crate) fn without_replay_mark(mut answer: Value) -> Value {
    if let Some(result) = answer["result"].as_object_mut() {
        for mark in ["replayed", "code"] {
            result.remove(mark);
        }
    }
    answer
}

/// Checks that every expected field is there with its exact value; more fields may be there. `…` stands for any text
/// and `{…}` for any object. As the last item of a list, `…` allows more items between and after the others.
pub(crate) fn check_contains(expected: &Value, found: &Value, at: &str) -> Result<(), String> {
    let differs = || Err(format!("at {at} expected {expected}, found {found}"));
    match (expected, found) {
        (Value::String(expected), Value::Object(_)) if expected == "{…}" => Ok(()),
        (Value::String(expected), Value::String(text)) if matches_pattern(expected, text) => Ok(()),
        (Value::Object(expected), Value::Object(fields)) => {
            expected.iter().try_for_each(|(name, value)| check_field(value, fields, name, at))
        }
        (Value::Array(items), Value::Array(found)) => match items.split_last() {
            Some((last, items)) if last == "…" => {
                let mut left = found.iter();
                let is_there = |item: &Value| left.any(|found| check_contains(item, found, at).is_ok());
                if items.iter().all(is_there) { Ok(()) } else { differs() }
            }
            _ if items.len() == found.len() => {
                let mut pairs = items.iter().zip(found).enumerate();
                pairs.try_for_each(|(number, (item, found))| check_contains(item, found, &format!("{at}/{number}")))
            }
            _ => differs(),
        },
        (expected, found) if expected == found => Ok(()),
        _ => differs(),
    }
}

fn check_field(expected: &Value, fields: &Map<String, Value>, name: &str, at: &str) -> Result<(), String> {
    // An expected null must be present too.
    let found = fields.get(name).ok_or_else(|| format!("at {at} there is no {name}"))?;
    // Objects of the process author must have no additional fields.
    if matches!(name, "context" | "payload_schema") && expected.is_object() && expected != found {
        return Err(format!("at {at}/{name} expected nothing but {expected}, found {found}"));
    }
    check_contains(expected, found, &format!("{at}/{name}"))
}

fn matches_pattern(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('…');
    let mut left = match pieces.next().and_then(|first| text.strip_prefix(first)) {
        Some(left) if pattern.contains('…') => left,
        Some(left) => return left.is_empty(),
        None => return false,
    };
    let pieces: Vec<&str> = pieces.collect();
    let Some((last, middle)) = pieces.split_last() else { return false };
    for piece in middle {
        let Some((_, after)) = left.split_once(piece) else { return false };
        left = after;
    }
    left.ends_with(last)
}

#[test]
fn what_is_missing_or_different_is_seen() {
    use serde_json::json;
    let found = json!({"a": [{"b": 1}, {"b": 2, "c": null}], "d": "evt-1", "e": {}, "context": {"x": 1, "y": 2}});
    for expected in [
        json!({"a": [{"b": 1}, {"b": 2, "c": null}]}),
        json!({"a": [{"b": 2}, "…"], "d": "evt-…", "e": "{…}"}),
        json!({"d": "…t…1"}),
    ] {
        assert_eq!(check_contains(&expected, &found, ""), Ok(()), "{expected}");
    }
    for expected in [
        json!({"a": [{"b": 1}]}),
        json!({"a": [{"b": 2}, {"b": 1}, "…"]}),
        json!({"a": [{"b": 1, "c": null}, {"b": 2}]}),
        json!({"d": "evt-…2"}),
        json!({"d": "evt"}),
        json!({"a": "{…}"}),
        json!({"f": null}),
        json!({"context": {"x": 1}}),
    ] {
        assert!(check_contains(&expected, &found, "").is_err(), "{expected}");
    }
}
