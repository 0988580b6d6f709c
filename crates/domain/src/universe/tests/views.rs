//! Tests of views of a universe (summary, body, categories) and of the descriptions of its commands.

use serde_json::{Value, json, to_value};

use super::super::*;
use super::UniverseFixture;

#[test]
fn what_is_no_command_is_an_unknown_command() {
    let mut sky = UniverseFixture::empty();
    for sent in [
        json!({"type": "explode", "id": "sun"}),
        json!({"type": ""}),
        json!({"id": "sun"}),
        json!({"type": 7}),
        json!("tick"),
    ] {
        assert_eq!(sky.expect_failure(sent.clone()), json!({"type": "unknownCommand", "command": sent}));
    }
}

#[test]
fn a_command_is_shown_as_it_was_received() {
    for entry in CATEGORIES.iter().flat_map(|category| category.commands) {
        let sent: Value = serde_json::from_str(entry.example).unwrap();
        let shown = to_value(Command::read(&sent).unwrap().0).unwrap();
        let shown_again = to_value(serde_json::from_value::<Command>(shown.clone()).unwrap()).unwrap();
        assert_eq!(shown, shown_again);
        if entry.name != "replaceSnapshot" {
            assert_eq!(shown, sent);
        }
        // The type may be the last field.
        let mut late = sent.as_object().unwrap().clone();
        let name = late.shift_remove("type").unwrap();
        late.insert("type".to_owned(), name);
        assert_eq!(Command::read(&late.into()).unwrap(), Command::read(&sent).unwrap());
    }
}

#[test]
fn every_example_is_right() {
    let names: Vec<&str> = CATEGORIES.iter().flat_map(|category| category.commands).map(|entry| entry.name).collect();
    assert_eq!(names, Command::NAMES);
    assert_eq!((CATEGORIES.len(), names.len()), (10, 25));
    for entry in CATEGORIES.iter().flat_map(|category| category.commands) {
        let example: Value = serde_json::from_str(entry.example).unwrap();
        assert_eq!(example["type"], entry.name);
        UniverseFixture::example().expect_events(example.clone());
        for field in entry.required {
            let mut without = example.clone();
            without.as_object_mut().unwrap().remove(*field);
            assert!(Command::read(&without).is_err(), "{} without {field}", entry.name);
        }
        assert!(command_entry(entry.name).is_some());
        let schema = Command::schema_of(entry.name, &mut schemars::SchemaGenerator::default()).unwrap().to_value();
        assert_eq!(schema["properties"]["type"]["const"], entry.name);
        let required: Vec<&str> =
            schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert_eq!(required[1..], *entry.required, "{}", entry.name);
        assert_eq!(schema["additionalProperties"], false);
    }
}

#[test]
fn categories_are_found_in_every_spelling() {
    for found in CATEGORIES {
        for name in [found.title, found.name, found.slug, &found.slug.to_uppercase(), &found.slug.replace('-', "_")] {
            assert_eq!(category(name).unwrap().slug, found.slug);
        }
    }
    assert!(category("stars").is_none());
}

#[test]
fn a_summary_counts() {
    let summary = to_value(UniverseFixture::example().universe.state().summary()).unwrap();
    assert_eq!(
        summary,
        json!({
            "time": 0, "timeDays": 0, "bodyCount": 4, "bodiesByKind": {"star": 1, "planet": 2, "moon": 1}, "roguePlanetCount": 0,
            "ringedCount": 1, "rootCount": 1, "roots": [{"id": "sun", "name": "Sun", "kind": "star"}],
            "deepestNesting": 3, "totalMass": 426.0123, "groupCount": 2, "rootGroupCount": 1, "beltCount": 0,
            "smallBodyFieldCount": 1, "protoplanetaryDiskCount": 1, "nebulaCount": 1,
        })
    );
}

#[test]
fn a_body_is_seen_with_those_around_it() {
    let sky = UniverseFixture::example();
    let state = sky.universe.state();
    let earth = state.body_view("earth", Some(90.0), None, 10).unwrap();
    let ids = |relatives: &[Relative]| relatives.iter().map(|relative| relative.id.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (earth.parent.unwrap().id.to_string(), ids(&earth.children), earth.depth),
        ("sun".to_owned(), vec!["moon".to_owned()], 1)
    );
    assert_eq!((earth.period, earth.next_child_after), (Some(Number(360.0)), None));
    assert_eq!((earth.orbital_period_days, earth.time_days), (Some(Number(0.004_166_666_666_67)), days(90.0)));
    assert!((earth.world_position.z.0 - 15.0).abs() < 1e-9);
    let sun = state.body_view("sun", None, None, 1).unwrap();
    assert_eq!(
        (ids(&sun.children), sun.child_count, ids(&sun.groups)),
        (vec!["earth".to_owned()], 2, vec!["arm".to_owned()])
    );
    let rest = state.body_view("sun", None, sun.next_child_after.as_deref(), 1).unwrap();
    assert_eq!((ids(&rest.children), rest.next_child_after), (vec!["saturn".to_owned()], None));
    assert!(state.body_view("pluto", None, None, 1).is_none());
    let after =
        |after: Option<&str>| state.snapshot().bodies_after(after).map(|star| star.id.to_string()).collect::<Vec<_>>();
    assert_eq!(after(None), ["earth", "moon", "saturn", "sun"]);
    assert_eq!(after(Some("luna")), ["moon", "saturn", "sun"]);
    assert_eq!(state.snapshot().groups_after(Some("arm")).count(), 1);
    assert_eq!(state.snapshot().world_positions_after(Some("moon"), 0.0).next().unwrap().id.to_string(), "saturn");
}
