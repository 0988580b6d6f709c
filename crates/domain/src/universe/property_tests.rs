//! Property tests of the universe rules: invariants hold after any sequence of commands.

use proptest::prelude::*;
use serde_json::{Value, json, to_value};

use super::reference_model::UniverseModel;
use super::tests::UniverseFixture;
use super::*;

/// Few ids, so that commands refer to the same things; some unknown ones; and some hostile ones.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (0..6_u8).prop_map(|number| format!("b{number}")),
        1 => prop_oneof![
            Just("constructor".to_owned()),
            Just("__proto__".to_owned()),
            Just(String::new()),
            Just("x".repeat(2_000)),
            Just("ünï/~cödé \"1\"".to_owned()),
        ],
    ]
}

fn parent() -> impl Strategy<Value = Value> {
    prop_oneof![1 => Just(Value::Null), 3 => id().prop_map(Value::from)]
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        (-1000..1000_i32).prop_map(Value::from),
        any::<f64>()
            .prop_filter_map("a number of JSON", |number| serde_json::Number::from_f64(number).map(Value::from)),
        (-1e6..1e6_f64).prop_map(Value::from),
    ]
}

fn color() -> impl Strategy<Value = Value> {
    prop_oneof![9 => "#[0-9a-fA-F]{6}".prop_map(Value::from), 1 => Just(json!("red"))]
}

fn payload() -> impl Strategy<Value = Value> {
    (number(), color(), parent(), number(), proptest::option::of(any::<bool>()), proptest::option::of(0.0..1.1_f64))
        .prop_map(|(mass, color, parent, distance, rogue, eccentricity)| {
            let mut payload = json!({
                "name": "a body", "mass": mass, "radius": 0.1, "color": color, "parentId": parent,
                "orbitalDistance": distance, "orbitalSpeed": 1,
            });
            if let Some(rogue) = rogue {
                payload["isRoguePlanet"] = json!(rogue);
            }
            if let Some(eccentricity) = eccentricity {
                payload["eccentricity"] = json!(eccentricity);
            }
            payload
        })
}

fn patch() -> impl Strategy<Value = Value> {
    prop_oneof![
        number().prop_map(|mass| json!({ "mass": mass })),
        color().prop_map(|color| json!({ "color": color })),
        any::<bool>().prop_map(|rogue| json!({ "isRoguePlanet": rogue })),
        Just(json!({"isRoguePlanet": null, "eccentricity": null, "ring": null})),
        (0.0..1.1_f64).prop_map(|eccentricity| json!({ "eccentricity": eccentricity })),
        parent().prop_map(|parent| json!({ "parentId": parent })),
        id().prop_map(|id| json!({ "id": id })),
        proptest::collection::vec(id(), 0..2).prop_map(|children| json!({ "children": children })),
        Just(json!({"extensions": {"__proto__": 1}})),
        "[a-zé]{0,9}".prop_map(|name| json!({ "name": name })),
    ]
}

fn any_body_command() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (id(), payload()).prop_map(|(id, payload)| json!({"type": "addStar", "id": id, "payload": payload})),
        2 => (id(), patch()).prop_map(|(id, payload)| json!({"type": "updateStar", "id": id, "payload": payload})),
        1 => id().prop_map(|id| json!({"type": "removeStar", "id": id})),
        4 => (id(), id()).prop_map(|(child, parent)| json!({"type": "attachStar", "childId": child, "parentId": parent})),
        1 => id().prop_map(|id| json!({"type": "detachStar", "childId": id})),
        1 => (id(), color()).prop_map(|(id, color)| json!({"type": "updateRing", "planetId": id, "patch": {"color": color}})),
        1 => id().prop_map(|id| json!({"type": "removeRing", "planetId": id})),
        1 => number().prop_map(|dt| json!({"type": "tick", "dt": dt})),
        1 => Just(json!({"type": "tick"})),
    ]
}

fn child() -> impl Strategy<Value = Value> {
    (id(), prop_oneof![Just("system"), Just("group")]).prop_map(|(id, kind)| json!({"id": id, "type": kind}))
}

fn any_group_command() -> impl Strategy<Value = Value> {
    prop_oneof![
        5 => (id(), parent(), proptest::collection::vec(child(), 0..3)).prop_map(|(id, parent, children)| {
            json!({"type": "addGroup", "id": id, "payload": {"name": "a group", "parentGroupId": parent, "children": children}})
        }),
        1 => (id(), color(), parent(), any::<bool>()).prop_map(|(id, color, parent, is_link)| {
            let payload = if is_link { json!({ "parentGroupId": parent }) } else { json!({ "color": color }) };
            json!({"type": "updateGroup", "id": id, "payload": payload})
        }),
        1 => id().prop_map(|id| json!({"type": "removeGroup", "id": id})),
        4 => (id(), child()).prop_map(|(id, child)| json!({"type": "addToGroup", "groupId": id, "child": child})),
        1 => (id(), id()).prop_map(|(id, child)| json!({"type": "removeFromGroup", "groupId": id, "childId": child})),
        3 => (child(), parent()).prop_map(|(child, target)| {
            json!({"type": "moveToGroup", "childId": child["id"], "childType": child["type"], "targetGroupId": target})
        }),
    ]
}

fn any_region_command() -> impl Strategy<Value = Value> {
    let example: Value = serde_json::from_str(EXAMPLE_STATE).unwrap();
    let kinds = [
        ("smallBodyFields", "main-belt", "SmallBodyField", "setSmallBodyFields", "fields"),
        ("protoplanetaryDisks", "disk", "ProtoplanetaryDisk", "setProtoplanetaryDisks", "disks"),
        ("nebulae", "cloud", "Nebula", "setNebulae", "nebulae"),
    ];
    (0..3_usize, 0..4_u8, id(), id()).prop_map(move |(kind, action, id, other)| {
        let (map, name, one, set, field) = kinds[kind];
        let mut thing = example[map][name].clone();
        thing["id"] = json!(id);
        match action {
            0 => json!({"type": set, field: { other: thing }}),
            1 => json!({"type": set, field: { id: thing }}),
            2 if kind == 1 => json!({"type": "addProtoplanetaryDisk", "disk": thing}),
            2 => json!({"type": format!("update{one}"), "id": id, "patch": {"id": other, "name": "another"}}),
            _ if other.len() % 2 == 0 => json!({"type": format!("update{one}"), "id": id, "patch": {"seed": 3}}),
            _ => json!({"type": format!("remove{one}"), "id": id}),
        }
    })
}

fn any_snapshot_command() -> impl Strategy<Value = Value> {
    any::<bool>().prop_map(|is_rogue| {
        let body = |id: &str, parent: Value, children: Value| {
            json!({
                "id": id, "name": id, "mass": 1, "radius": 1, "color": "#FFFFFF", "orbitalDistance": 1,
                "orbitalSpeed": 1, "orbitalPhase": 0, "parentId": parent, "children": children,
            })
        };
        let mut rogue = body("b2", Value::Null, json!([]));
        rogue["isRoguePlanet"] = json!(true);
        let stars = json!({"b0": body("b0", Value::Null, json!(["b1"])), "b1": body("b1", json!("b0"), json!([])), "b2": rogue});
        let roots = if is_rogue { json!(["b0"]) } else { json!(["b2", "b0"]) };
        // In the original, groups still list removed systems.
        let group = json!({"id": "b3", "name": "b3", "parentGroupId": null, "children": [{"id": "b5", "type": "system"}]});
        json!({"type": "replaceSnapshot", "snapshot": {
            "stars": stars, "rootIds": roots, "groups": {"b3": group}, "rootGroupIds": ["b3"],
        }})
    })
}

/// Boxed, since the unboxed strategy with so many branches would overflow the stack of a test.
fn any_command() -> BoxedStrategy<Value> {
    prop_oneof![20 => any_body_command().boxed(), 16 => any_group_command().boxed(), 3 => any_region_command().boxed(), 1 => any_snapshot_command().boxed()].boxed()
}

/// Turns all numbers into floats, so that 1 and 1.0 compare equal.
fn normalize_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(items) => items.iter().map(normalize_numbers).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), normalize_numbers(field))).collect())
        }
        _ => value.clone(),
    }
}

fn parse_apply(command: &Value) -> UniverseCommand {
    UniverseCommand::Apply(vec![Arc::new(
        Command::read(command).unwrap_or_else(|failure| panic!("{command}: {failure}")).0,
    )])
}

proptest! {
    #[test]
    fn any_commands_come_to_what_the_plain_model_says(commands in proptest::collection::vec(any_command(), 0..80)) {
        let (mut sky, mut model) = (UniverseFixture::empty(), UniverseModel::empty());
        for command in &commands {
            let before = sky.universe.clone();
            match (sky.run(&parse_apply(command)), model.run(command)) {
                (Ok(events), Ok(expected)) => {
                    prop_assert_eq!(to_value(events[0].wire_events()).unwrap(), json!(expected), "{}", command);
                    let told = outcome(command["type"].as_str().unwrap()).unwrap().event.map(|name| json!(name));
                    prop_assert_eq!(expected.first().map(|event| event["type"].clone()), told, "{}", command);
                }
                (Err(refusal), Err((name, reason))) => {
                    prop_assert_eq!(&sky.universe, &before);
                    let failure = refusal.failure().unwrap();
                    prop_assert_eq!(failure.name(), name, "{}", command);
                    let told = outcome(command["type"].as_str().unwrap()).unwrap();
                    prop_assert!(told.has_failure(failure.name(), failure.reason()), "{}: {:?}", command, failure);
                    prop_assert_eq!(to_value(failure).unwrap()["reason"].as_str().map(str::to_owned), reason, "{}", command);
                    prop_assert!(!refusal.to_string().is_empty() && refusal.to_string().len() < 2_000 && !refusal.hint().is_empty());
                }
                (came, expected) => prop_assert!(false, "{command}: {came:?}, not {expected:?}"),
            }
            let state = to_value(sky.universe.state()).unwrap();
            prop_assert_eq!(normalize_numbers(&state), normalize_numbers(&model.0), "{}", command);
            model.check_invariants();
        }
        check_invariants(&sky);
    }

    #[test]
    fn a_journal_gives_the_state_again(commands in proptest::collection::vec(any_command(), 0..60)) {
        let mut sky = UniverseFixture::empty();
        for command in &commands {
            let _ = sky.run(&parse_apply(command));
        }
        let replayed = sky.journal.iter().fold(Universe::default(), |universe, (given, event)| {
            let stored = serde_json::to_string(event).unwrap();
            UniverseRules::evolve(universe, &serde_json::from_str(&stored).unwrap(), given)
        });
        prop_assert_eq!(replayed, sky.universe);
    }

    #[test]
    fn a_stored_state_goes_on_as_if_it_had_not_been(
        commands in proptest::collection::vec(any_command(), 0..60),
        at in 0..60_usize,
    ) {
        let (mut one, mut other) = (UniverseFixture::empty(), UniverseFixture::empty());
        for (number, command) in commands.iter().enumerate() {
            if number == at {
                let stored = serde_json::to_string(&other.universe).unwrap();
                other.universe = serde_json::from_str(&stored).unwrap();
            }
            prop_assert_eq!(one.run(&parse_apply(command)), other.run(&parse_apply(command)));
            prop_assert_eq!(&one.universe, &other.universe);
        }
    }

    #[test]
    fn several_commands_come_to_what_they_come_to_one_by_one(commands in proptest::collection::vec(any_command(), 1..30)) {
        let (mut together, mut alone) = (UniverseFixture::empty(), UniverseFixture::empty());
        let read = commands.iter().map(|command| Arc::new(Command::read(command).unwrap().0));
        let came = together.run(&UniverseCommand::Apply(read.collect()));
        let refused = commands.iter().find_map(|command| alone.run(&parse_apply(command)).err());
        match (came, refused) {
            (Ok(events), None) => {
                prop_assert_eq!(events.len(), commands.len());
                prop_assert_eq!(together.universe.state(), alone.universe.state());
            }
            (Err(refusal), Some(alone)) => {
                prop_assert_eq!(refusal.failure(), alone.failure());
                prop_assert_eq!(together.journal.len(), 1);
            }
            (came, refused) => prop_assert!(false, "{came:?} together, {refused:?} alone"),
        }
    }

    #[test]
    fn any_events_in_any_order_are_taken(events in any_shuffled_events()) {
        let given = DecisionContext { at: jiff::Timestamp::UNIX_EPOCH, by: "local".to_owned() };
        let begun = UniverseFixture::empty().universe;
        let universe = events.iter().fold(begun, |universe, event| UniverseRules::evolve(universe, event, &given));
        let model = UniverseModel(to_value(universe.state()).unwrap());
        model.check_invariants();
        let snapshot = universe.state().snapshot();
        prop_assert_eq!(snapshot.text_bytes, snapshot.count_text_bytes());
    }

    #[test]
    fn any_json_is_read_or_refused(sent in any_json()) {
        match Command::read(&sent) {
            Ok((command, _)) => {
                let shown = to_value(&command).unwrap();
                prop_assert_eq!(Command::read(&shown).unwrap(), (command, Vec::new()));
            }
            Err(failure) => prop_assert!(to_value(&failure).unwrap()["type"].is_string()),
        }
        let _ = SentState::read(&sent);
    }
}

/// Checks that a state round-trips through JSON, and that its indexes, counts and views agree with it.
fn check_invariants(sky: &UniverseFixture) {
    let state = sky.universe.state();
    let text = serde_json::to_string(state).unwrap();
    let again: UniverseState = serde_json::from_str(&text).unwrap();
    assert_eq!(again, *state);
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
    assert_eq!(state.check(), Ok(()));
    let snapshot = state.snapshot();
    let places: usize = snapshot.groups().values().map(|group| group.children.len()).sum();
    assert_eq!(snapshot.group_places.len(), places);
    for group in snapshot.groups().values() {
        for child in group.children.iter() {
            assert!(snapshot.groups_of(child).any(|id| *id == group.id));
        }
    }
    assert_eq!(snapshot.text_bytes, snapshot.count_text_bytes(), "counted as it changes");
    assert_eq!(again.snapshot().text_bytes, snapshot.text_bytes, "and as it is read");
    super::stored_parts::tests::check_round_trip(&sky.universe);
    let summary = state.summary();
    assert!(summary.total_mass.check().is_ok());
    assert_eq!(summary.bodies_by_kind.values().sum::<usize>(), summary.body_count);
    let positions = snapshot.world_positions(state.time());
    assert_eq!(positions.len(), summary.body_count);
    for (id, position) in positions {
        let body = state.body_view(id, None, None, 5).unwrap();
        assert!(position.check().is_ok() && body.world_position.check().is_ok());
        assert!(body.depth < summary.deepest_nesting);
    }
}

/// Events in an order that no commands would produce.
fn any_shuffled_events() -> impl Strategy<Value = Vec<UniverseEvent>> {
    let journal = proptest::collection::vec(any_command(), 0..60).prop_map(|commands| {
        let mut sky = UniverseFixture::empty();
        for command in &commands {
            let _ = sky.run(&parse_apply(command));
        }
        sky.journal.into_iter().map(|(_, event)| event).collect::<Vec<_>>()
    });
    journal.prop_shuffle()
}

/// JSON that looks like a command, with one field set to an arbitrary value.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        id().prop_map(Value::from),
        any_command(),
    ];
    let value = leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((id(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    });
    let key = prop_oneof![
        "[a-z]{1,4}",
        Just("id".to_owned()),
        Just("payload".to_owned()),
        Just("stars".to_owned()),
        Just("type".to_owned())
    ];
    (any_command(), key, value.clone(), any::<bool>()).prop_map(|(mut command, key, value, is_inside)| {
        let place = if is_inside { command.get_mut("payload").filter(|payload| payload.is_object()) } else { None };
        match place {
            Some(payload) => payload[key] = value,
            None => command[key] = value,
        }
        command
    })
}
