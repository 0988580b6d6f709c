//! Tests of the catalogue: rules that hold for all operations, resources, errors and toolsets.

use std::collections::BTreeSet;

use serde_json::Value;
use skald_app::{Catalogue, Class, ERROR_TABLE, Exposed, OperationEntry, Toolset, ToolsetFilter, Toolsets};

#[test]
fn everything_is_described() {
    let catalogue = Catalogue::from_all_nouns();
    for entry in catalogue.operations() {
        assert!(!entry.title.is_empty() && entry.summary.ends_with('.'), "{}", entry.name);
        let fields = entry.input.get("properties").and_then(|fields| fields.as_object());
        for (name, field) in fields.into_iter().flatten() {
            assert!(field.get("description").is_some(), "{}.{name} has no description", entry.name);
        }
    }
    for prompt in catalogue.prompts() {
        assert!(prompt.arguments.iter().all(|argument| !argument.summary.is_empty()), "{}", prompt.name);
    }
}

#[test]
fn a_resource_fills_every_field_that_its_operation_requires() {
    let catalogue = Catalogue::from_all_nouns();
    for resource in catalogue.resources() {
        let entry = catalogue.operation(resource.operation).unwrap();
        let required = entry.input.get("required").and_then(|fields| fields.as_array());
        for field in required.into_iter().flatten().filter_map(|field| field.as_str()) {
            let is_fixed = resource.fixed.is_some_and(|(name, _)| name == field);
            assert!(is_fixed || resource.uri.contains(&format!("{{{field}}}")), "{} lacks {field}", resource.uri);
        }
        assert_eq!(entry.toolset, resource.toolset, "{}", resource.uri);
    }
}

#[test]
fn every_error_has_one_row_and_every_class_a_code() {
    let names: BTreeSet<&str> = ERROR_TABLE.iter().map(|row| row.name).collect();
    assert_eq!(names.len(), ERROR_TABLE.len());
    assert!(ERROR_TABLE.iter().all(|row| row.code.name() == row.name && row.code.class() == row.class));
    let classes = [
        Class::Invalid,
        Class::Unauthenticated,
        Class::Denied,
        Class::NotFound,
        Class::Refused,
        Class::Conflict,
        Class::Limited,
        Class::TooLarge,
        Class::Unavailable,
        Class::Internal,
    ];
    assert!(classes.iter().all(|class| ERROR_TABLE.iter().any(|row| row.class == *class)));
}

#[test]
fn toolsets_are_named_in_any_case() {
    let parse = |text: &str| text.parse::<Toolsets>();
    assert_eq!(parse("all").unwrap(), Toolsets::ALL);
    assert_eq!(parse("dice,campaign, LORE,canon,gate ,universe").unwrap(), Toolsets::ALL);
    let two = parse("dice,lore").unwrap();
    assert!(two.contains(Toolset::Dice) && two.contains(Toolset::Lore) && !two.contains(Toolset::Gate));
    assert_eq!(
        parse("dices").unwrap_err(),
        "unknown toolset \"dices\", allowed: dice, campaign, lore, canon, gate, universe, all"
    );
    assert_eq!(
        parse(" ").unwrap_err(),
        "no toolset is named, allowed: dice, campaign, lore, canon, gate, universe, all"
    );
    let lore = ToolsetFilter { toolsets: parse("lore").unwrap(), read_only: false };
    let catalogue = Catalogue::from_all_nouns();
    assert!(catalogue.operations().iter().all(|entry| lore.admits(entry) == (entry.toolset == Toolset::Lore)));
}

/// Also what is no tool: a route or a resource that ignores a field would mislead as well.
#[test]
fn every_input_denies_fields_that_it_does_not_know() {
    let catalogue = Catalogue::from_all_nouns();
    let is_open = |entry: &&OperationEntry| entry.full_input.get("additionalProperties") != Some(&Value::Bool(false));
    let open: Vec<&str> = catalogue.operations().iter().filter(is_open).map(|entry| entry.name).collect();
    assert!(open.is_empty(), "these lack deny_unknown_fields: {open:?}");
    let exposures = [Exposed::Everywhere, Exposed::NotAsTool, Exposed::RestOnly, Exposed::EngineOnly];
    let has = |exposed: &Exposed| catalogue.operations().iter().any(|entry| entry.exposed == *exposed);
    assert!(exposures.iter().all(has), "the catalogue has operations of every exposure");
}
