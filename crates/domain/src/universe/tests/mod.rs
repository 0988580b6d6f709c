//! Tests of a universe as a whole, and the helpers of its other tests.

mod bodies;
mod comets;
mod groups;
mod limit_tests;
mod missing_things;
mod regions;
mod repairs;
mod views;

use jiff::Timestamp;
use serde_json::{Value, json, to_value};

use super::*;
use crate::limits;

/// A universe under test. Commands go through JSON and the rules, and each advances the clock by a minute.
pub(super) struct UniverseFixture {
    pub(super) universe: Universe,
    pub(super) journal: Vec<(DecisionContext, UniverseEvent)>,
    clock: Timestamp,
}

impl UniverseFixture {
    /// A universe that is not created yet.
    pub(super) fn uncreated() -> Self {
        let clock = "2025-01-15T10:00:00.25Z".parse().unwrap();
        Self { universe: Universe::default(), journal: Vec::new(), clock }
    }

    pub(super) fn empty() -> Self {
        let mut sky = Self::uncreated();
        sky.run(&create_command(None)).unwrap();
        sky
    }

    /// With the sun, the earth and the moon, Saturn, and a group in a group.
    fn example() -> Self {
        let mut sky = Self::uncreated();
        sky.run(&create_command(Some(serde_json::from_str::<UniverseState>(EXAMPLE_STATE).unwrap().into()))).unwrap();
        sky
    }

    fn given(&self) -> DecisionContext {
        DecisionContext { at: self.clock, by: "local".to_owned() }
    }

    pub(super) fn run(&mut self, command: &UniverseCommand) -> Result<Vec<UniverseEvent>, UniverseRefusal> {
        self.clock += jiff::SignedDuration::from_mins(1);
        let given = self.given();
        let events = UniverseRules::decide(&self.universe, command, &given)?;
        for event in &events {
            self.universe = UniverseRules::evolve(std::mem::take(&mut self.universe), event, &given);
            self.journal.push((given.clone(), event.clone()));
        }
        Ok(events)
    }

    /// Expects that the command is accepted, and returns its events as clients read them.
    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    fn expect_events(&mut self, command: Value) -> Value {
        let (read, repairs) = Command::read(&command).unwrap_or_else(|failure| panic!("{command}: {failure}"));
        assert_eq!(repairs, [], "{command}");
        let events = self
            .run(&UniverseCommand::Apply(vec![Arc::new(read)]))
            .unwrap_or_else(|refusal| panic!("{command}: {refusal}"));
        to_value(events[0].wire_events()).unwrap()
    }

    /// Expects a refusal and an unchanged state, and returns the failure as clients read it.
    #[expect(clippy::needless_pass_by_value, reason = "commands are made where they are given")]
    fn expect_failure(&mut self, command: Value) -> Value {
        let before = self.universe.clone();
        let failure = match Command::read(&command) {
            Err(failure) => failure,
            Ok((read, _)) => {
                let refusal = self.run(&UniverseCommand::Apply(vec![Arc::new(read)])).expect_err("a refusal");
                assert_eq!(refusal.kind(), UniverseRefusalKind::Rejected);
                refusal.failure().unwrap().clone()
            }
        };
        assert!(!failure.to_string().is_empty() && !failure.hint().is_empty());
        assert_eq!(self.universe, before);
        to_value(failure).unwrap()
    }

    fn state_json(&self) -> Value {
        to_value(self.universe.state()).unwrap()
    }

    fn value_at(&self, pointer: &str) -> Value {
        self.state_json().pointer(pointer).cloned().unwrap_or(Value::Null)
    }
}

fn create_command(state: Option<SentState>) -> UniverseCommand {
    UniverseCommand::Create { id: "u-1".to_owned(), name: "Milky Way".to_owned(), campaign_id: None, state }
}

#[expect(clippy::needless_pass_by_value, reason = "parents are made where they are given")]
fn body_json(name: &str, parent: Value) -> Value {
    json!({"name": name, "mass": 1, "radius": 1, "color": "#FFFFFF", "parentId": parent, "orbitalDistance": 5, "orbitalSpeed": 2})
}

fn add_star_json(id: &str, parent: Value) -> Value {
    json!({"type": "addStar", "id": id, "payload": body_json(id, parent)})
}

fn with_field(mut value: Value, field: &str, to: Value) -> Value {
    if let Some(place) = value.pointer_mut(field) {
        *place = to;
    } else {
        let (parent, name) = field.rsplit_once('/').unwrap();
        value.pointer_mut(parent).unwrap()[name] = to;
    }
    value
}

#[test]
fn an_empty_universe_has_nine_keys() {
    assert_eq!(
        UniverseFixture::empty().state_json(),
        json!({
            "stars": {}, "rootIds": [], "groups": {}, "rootGroupIds": [], "belts": {}, "smallBodyFields": {},
            "protoplanetaryDisks": {}, "nebulae": {}, "time": 0,
        })
    );
}

#[test]
fn a_universe_is_created_renamed_replaced_and_deleted() {
    let mut sky = UniverseFixture::uncreated();
    let gone = |sky: &mut UniverseFixture, command: UniverseCommand| {
        assert_eq!(sky.run(&command), Err(UniverseRefusal::UniverseNotFound));
    };
    gone(&mut sky, UniverseCommand::Delete);
    gone(&mut sky, UniverseCommand::Rename { name: "x".to_owned() });
    gone(&mut sky, UniverseCommand::Apply(vec![Arc::new(Command::Tick(Tick { dt: Change::Keep }))]));
    sky.run(&UniverseCommand::Create {
        id: "u-1".to_owned(),
        name: " Milky Way ".to_owned(),
        campaign_id: Some("camp_1".to_owned()),
        state: None,
    })
    .unwrap();
    let about = sky.universe.identity().unwrap().clone();
    assert_eq!(
        (about.id.as_str(), about.name.as_str(), about.campaign_id.as_deref()),
        ("u-1", "Milky Way", Some("camp_1"))
    );
    assert_eq!(sky.run(&create_command(None)), Err(UniverseRefusal::UniverseExists { id: "u-1".to_owned() }));
    sky.run(&UniverseCommand::Rename { name: "Andromeda".to_owned() }).unwrap();
    assert_eq!(sky.universe.identity().unwrap().name, "Andromeda");
    assert!(sky.universe.updated_at().unwrap() > about.created_at);

    let state: UniverseState = serde_json::from_value(json!({"time": 7})).unwrap();
    let replace = |state: &Value| {
        let (state, repairs) = SentState::read(state).unwrap();
        assert_eq!(repairs, []);
        UniverseCommand::Replace { name: None, state: Some(state) }
    };
    let events = sky.run(&replace(&json!({"time": 7}))).unwrap();
    assert_eq!((sky.universe.state(), sky.universe.identity().unwrap().name.as_str()), (&state, "Andromeda"));
    assert_eq!(to_value(events[0].wire_events()).unwrap(), json!([{"type": "snapshotReplaced"}]));
    // Without a time in the sent state, the time does not change.
    sky.run(&replace(&json!({"nebulae": {}}))).unwrap();
    assert_eq!(sky.universe.state(), &state);
    sky.run(&UniverseCommand::Replace { name: Some("M31".to_owned()), state: None }).unwrap();
    sky.run(&UniverseCommand::Replace { name: None, state: None }).unwrap();
    assert_eq!((sky.universe.state(), sky.universe.identity().unwrap().name.as_str()), (&state, "M31"));

    sky.run(&UniverseCommand::Delete).unwrap();
    assert_eq!(sky.universe, Universe::default());
    sky.run(&create_command(None)).unwrap();
    assert_eq!(sky.universe.identity().unwrap().name, "Milky Way");
}

#[test]
fn names_and_ids_of_universes_have_bounds() {
    let mut sky = UniverseFixture::uncreated();
    let mut refused = |id: &str, name: &str, campaign_id: Option<&str>| {
        let campaign_id = campaign_id.map(str::to_owned);
        let command = UniverseCommand::Create { id: id.to_owned(), name: name.to_owned(), campaign_id, state: None };
        let refusal = sky.run(&command).expect_err("a refusal");
        assert_eq!(refusal.kind(), UniverseRefusalKind::Invalid);
        assert!(!refusal.hint().is_empty());
        refusal.pointer().unwrap()
    };
    assert_eq!(refused("", "x", None), "/id");
    assert_eq!(refused("__proto__", "x", None), "/id");
    assert_eq!(refused(&"x".repeat(limits::ID_CHARS_MAX + 1), "x", None), "/id");
    assert_eq!(refused("u", " ", None), "/name");
    assert_eq!(refused("u", &"x".repeat(limits::UNIVERSE_NAME_CHARS_MAX + 1), None), "/name");
    assert_eq!(refused("u", "x", Some("")), "/campaignId");
    let state = |state: Value| SentState::read(&state).unwrap().0;
    let mut star = with_field(body_json("sun", Value::Null), "/color", json!("red"));
    star["id"] = json!("sun");
    let broken = create_command(Some(state(json!({"stars": {"sun": star}, "rootIds": ["sun"]}))));
    assert_eq!(sky.run(&broken).unwrap_err().pointer().unwrap(), "/state/stars/sun/color");
}

#[test]
fn tick() {
    let mut sky = UniverseFixture::empty();
    assert_eq!(sky.expect_events(json!({"type": "tick", "dt": 2.5})), json!([]));
    assert_eq!(sky.expect_events(json!({"type": "tick"})), json!([]));
    assert_eq!(sky.expect_events(json!({"type": "tick", "dt": -10})), json!([]));
    assert_eq!(sky.universe.state().time().to_string(), "-6.5");
    for dt in [json!("2"), Value::Null, json!([1]), json!(true)] {
        assert_eq!(
            sky.expect_failure(json!({"type": "tick", "dt": dt})),
            json!({"type": "tickFailed", "reason": "unreadable"})
        );
    }
    sky.expect_events(json!({"type": "tick", "dt": f64::MAX}));
    assert_eq!(
        sky.expect_failure(json!({"type": "tick", "dt": f64::MAX})),
        json!({"type": "tickFailed", "reason": "notFinite", "field": "/dt"})
    );
    let infinite = Command::Tick(Tick { dt: Change::Set(Number(f64::NAN)) });
    assert!(sky.run(&UniverseCommand::Apply(vec![Arc::new(infinite)])).is_err());
}

#[test]
fn several_commands_are_done_together_or_not_at_all() {
    let mut sky = UniverseFixture::empty();
    let several = |commands: &[Value]| {
        UniverseCommand::Apply(commands.iter().map(|command| Arc::new(Command::read(command).unwrap().0)).collect())
    };
    let events = sky
        .run(&several(&[
            add_star_json("sun", Value::Null),
            add_star_json("earth", json!("sun")),
            json!({"type": "tick"}),
        ]))
        .unwrap();
    assert_eq!(events.len(), 3);
    assert_eq!(events[1].wire_events(), [WireEvent::StarAdded { id: "earth".into() }]);
    let before = sky.universe.clone();
    let refusal =
        sky.run(&several(&[add_star_json("mars", json!("sun")), add_star_json("moon", json!("terra"))])).unwrap_err();
    assert_eq!(refusal.pointer().unwrap(), "/1/payload/parentId");
    assert_eq!(refusal.to_string(), "command 1: there is no body \"terra\" to move around");
    assert_eq!(sky.universe, before);
    assert_eq!(sky.run(&several(&[])), Err(UniverseRefusal::NoCommand));
    let ticks = vec![json!({"type": "tick"}); limits::COMMANDS_MAX + 1];
    assert_eq!(sky.run(&several(&ticks)).unwrap_err().kind(), UniverseRefusalKind::TooLarge);
    sky.run(&several(&ticks[1..])).unwrap();
}

/// What is stored and broadcast has the fields of the original.
#[test]
fn units_for_people_are_stored_as_seconds_and_speeds() {
    let stored = |sent: Value| serde_json::to_value(Command::read(&sent).unwrap().0).unwrap();
    assert_eq!(stored(json!({"type": "tick", "days": 1, "hours": 6})), json!({"type": "tick", "dt": 108_000}));
    let mut sky = UniverseFixture::example();
    sky.expect_events(json!({"type": "tick", "years": 2}));
    assert_eq!(sky.value_at("/time"), 63_115_200);
    let speed = 360.0 / (365.25 * 86_400.0);
    let mut star = add_star_json("terra", json!("sun"));
    let payload = star["payload"].as_object_mut().unwrap();
    payload.shift_remove("orbitalSpeed");
    payload.insert("orbitalPeriodDays".to_owned(), json!(365.25));
    assert_eq!(stored(star.clone())["payload"]["orbitalSpeed"], json!(speed));
    assert_eq!(stored(star.clone())["payload"].get("orbitalPeriodDays"), None);
    sky.expect_events(star);
    assert_eq!(sky.value_at("/stars/terra/orbitalSpeed"), json!(speed));
    assert_eq!(sky.value_at("/stars/terra/orbitalPeriodDays"), Value::Null);
    let terra = BodyRow::new(sky.universe.state().snapshot().body("terra").unwrap(), 1);
    assert_eq!(terra.orbital_period_days, Some(Number(365.25)));
    // A row of a view, without what a view adds to it, changes nothing if it is sent back.
    let mut row = to_value(terra).unwrap();
    for added in ["kind", "childCount"] {
        row.as_object_mut().unwrap().shift_remove(added);
    }
    sky.expect_events(json!({"type": "updateStar", "id": "terra", "payload": row}));
    assert_eq!(sky.value_at("/stars/terra/orbitalSpeed"), json!(speed));
    sky.expect_events(json!({"type": "updateStar", "id": "terra", "payload": {"orbitalPeriodDays": -1}}));
    assert_eq!(sky.value_at("/stars/terra/orbitalSpeed"), json!(-360.0 / 86_400.0));
    for payload in [json!({"orbitalPeriodDays": 0}), json!({"orbitalPeriodDays": 1, "orbitalSpeed": 1})] {
        let failure = sky.expect_failure(json!({"type": "updateStar", "id": "terra", "payload": payload}));
        assert_eq!(failure["field"], "/payload/orbitalPeriodDays");
    }
    let state = json!({"stars": {"sun": body_json("sun", Value::Null)}, "rootIds": ["sun"]});
    let state = with_field(with_field(state, "/stars/sun/id", json!("sun")), "/stars/sun/orbitalPeriodDays", json!(2));
    let misfit = SentState::read(&state).unwrap_err();
    assert_eq!((misfit.reason, misfit.pointer.as_str()), (Reason::Unreadable, "/stars/sun/orbitalPeriodDays"));
}

/// Followers of a universe get the command as it was sent, without defaults filled in.
#[test]
fn a_command_is_kept_as_it_was_sent() {
    let star =
        json!({"name": "x", "mass": 1, "radius": 1, "color": "#FFFFFF", "orbitalDistance": 1.5, "orbitalSpeed": 0});
    let with = |field: &str, value: Value| {
        let mut star = star.clone();
        star[field] = value;
        star
    };
    for command in [
        json!({"type": "tick"}),
        json!({"type": "addStar", "id": "a", "payload": star}),
        json!({"type": "addStar", "id": "a", "payload": with("parentId", Value::Null)}),
        json!({"type": "addStar", "id": "a", "payload": with("orbitalPhase", json!(0))}),
        json!({"type": "addGroup", "id": "g", "payload": {"name": "g"}}),
        json!({"type": "addGroup", "id": "g", "payload": {"name": "g", "children": [], "parentGroupId": null}}),
        json!({"type": "updateStar", "id": "a", "payload": {"ring": null}}),
        json!({"type": "moveToGroup", "childId": "a", "childType": "system", "targetGroupId": null}),
    ] {
        assert_eq!(serde_json::to_value(Command::read(&command).unwrap().0).unwrap(), command);
    }
}
