//! Tests of the documentation pages about universes and their commands.

use serde_json::{Value, json};
use skald_app::{Caller, Catalogue, Code, CompletionRequest, CompletionTarget, Engine, Fault, RequestControl};

use crate::engine::{block_on, engine};

/// The contents of a documentation resource.
#[derive(Debug)]
struct Page {
    mime_type: &'static str,
    text: String,
}

fn try_read(uri: &str) -> Result<Page, Fault> {
    let read = block_on(engine().read(&Caller::owner(), uri, &RequestControl::default()));
    read.map(|contents| Page { mime_type: contents.mime_type, text: contents.into_text() })
}

fn read(uri: &str) -> Page {
    try_read(uri).unwrap_or_else(|fault| panic!("{uri}: {fault}"))
}

fn command_types() -> Vec<String> {
    let target = CompletionTarget::Resource("docs://universe/commands/{command}".to_owned());
    let request = CompletionRequest { target, argument: "command".to_owned(), typed: String::new(), given: Vec::new() };
    block_on(engine().complete(&Caller::owner(), &request, &RequestControl::default())).expect("a completion").values
}

#[test]
fn pages_are_there_and_all_in_one() {
    let pages = ["overview", "structure", "commands", "rules", "streaming"];
    let full = read("docs://universe/full");
    for page in pages {
        let contents = read(&format!("docs://universe/{page}"));
        assert_eq!(contents.mime_type, "text/markdown");
        assert!(contents.text.starts_with("# ") && full.text.contains(contents.text.trim_end()), "{page}");
    }
    assert_eq!(full.text.matches("\n---\n").count(), pages.len() - 1);
    let anyone =
        block_on(engine().call(&Caller::owner(), "universe_docs", json!({}), &RequestControl::default())).unwrap();
    assert_eq!(
        (&anyone["title"], &anyone["text"]),
        (&json!("Overview"), &json!(read("docs://universe/overview").text))
    );
    assert_eq!(try_read("docs://universe/nothing").unwrap_err().code(), Code::InvalidParams);
}

/// Every URI that a page names is a resource, and every tool is an operation.
#[test]
fn pages_name_what_is_there() {
    let (catalogue, full) = (Catalogue::from_all_nouns(), read("docs://universe/full").text);
    let quoted = full.split('`').skip(1).step_by(2);
    for uri in quoted.clone().filter(|word| word.contains("://")) {
        let known =
            catalogue.resources().iter().any(|resource| resource.uri.split("{?").next() == uri.split('?').next());
        assert!(known, "{uri}");
    }
    for tool in ["get_universe_state", "list_universe_commands", "send_universe_command"] {
        assert!(quoted.clone().any(|word| word == tool) && catalogue.operation(tool).is_ok(), "{tool}");
    }
}

#[test]
fn every_command_is_told_with_schema_example_events_and_refusals() {
    let (types, page) = (command_types(), read("docs://universe/commands").text);
    assert_eq!(types.len(), 25);
    for name in &types {
        let contents = read(&format!("docs://universe/commands/{name}"));
        assert_eq!(contents.mime_type, "application/json");
        let command: Value = serde_json::from_str(&contents.text).unwrap();
        assert_eq!((&command["type"], &command["example"]["type"]), (&json!(name), &json!(name)));
        assert_eq!(command["schema"]["properties"]["type"]["const"], json!(name));
        // `tick` has no events; `addToGroup` has two, since there may be nothing to do.
        let events = usize::from(name != "tick") + usize::from(name == "addToGroup");
        assert_eq!(command["events"].as_array().map(Vec::len), Some(events));
        let refusals = command["refusals"].as_array().unwrap();
        assert!(!refusals.is_empty(), "{name}");
        for refusal in refusals {
            assert!(page.contains(&format!("`{}`", refusal["event"].as_str().unwrap())), "{refusal}");
        }
        assert!(page.contains(&format!("### {name}\n")), "{name}");
    }
    let attach: Value = serde_json::from_str(&read("docs://universe/commands/attachStar").text).unwrap();
    assert_eq!(attach["category"], "star-hierarchy");
    assert_eq!(attach["refusals"][0]["event"], "attachFailed");
    assert_eq!(attach["refusals"][0]["reasons"][1]["reason"], "cycle");
}

#[test]
fn an_unknown_command_is_answered_with_the_nearest() {
    let fault = try_read("docs://universe/commands/addstars").unwrap_err();
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/command")));
    assert!(fault.to_string().contains("did you mean addStar?"), "{fault}");
}
