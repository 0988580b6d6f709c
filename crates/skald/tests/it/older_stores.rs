//! Tests of databases of earlier versions: each opens, verifies, can be read and written, and verifies again.
//!
//! The folder `tests/fixtures` has a database for each version of the schema from 5 on, and next to each a JSON file
//! with its expected contents. A version without a fixture fails here; `cargo xtask fixture` writes the one of this
//! version.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::gate_document::CREATE;
use crate::gate_server::Run;
use crate::program_under_test::{Surface, TestClient, World};
use crate::universe::{add_star_command, send_command};

/// The first version of the schema that has a fixture.
const FIRST_VERSION: i64 = 5;
const CLUE: &str = "The bell was cast from a church door.";

fn fixture_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn fixture_path(version: i64, extension: &str) -> PathBuf {
    fixture_folder().join(format!("world-schema-{version}.{extension}"))
}

fn schema_version(path: &Path) -> i64 {
    let file = rusqlite::Connection::open(path).expect("a file");
    file.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a version")
}

/// The version that this program gives to a new file.
fn current_version() -> i64 {
    let world = World::sqlite();
    world.create_token(&["Nobody", "--role", "guest"]);
    schema_version(&database_path(&world))
}

fn database_path(world: &World) -> PathBuf {
    PathBuf::from(world.store().strip_prefix("sqlite:").expect("a file"))
}

/// A world on a copy of a fixture, and its expected contents.
fn copy_fixture(version: i64) -> (World, Value) {
    let world = World::sqlite();
    std::fs::copy(fixture_path(version, "db"), database_path(&world)).expect("the fixture is there");
    let written = std::fs::read_to_string(fixture_path(version, "json")).expect("what was written is there");
    (world, serde_json::from_str(&written).expect("JSON"))
}

fn assert_sound(world: &World) {
    let output = world.run(&["verify"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("sound: "), "{said}");
}

/// Everything that a reader sees of the fixture's world.
fn read_all(seat: &mut TestClient, ids: &Value) -> Value {
    let [campaign, universe, run] = ["campaign_id", "universe_id", "run_id"].map(|field| ids[field].clone());
    let campaign_uri = format!("campaign://{}", campaign.as_str().expect("an id"));
    let mut state = seat.ok("state_gate.get_state", &json!({"run_id": run}));
    // The artifact folder depends on the process that answers.
    state.as_object_mut().expect("an object").remove("artifact_base_path");
    json!({
        "campaigns": seat.read_ok("campaigns://list"),
        "campaign": seat.read_ok(&campaign_uri),
        "participants": seat.read_ok(&format!("{campaign_uri}/participants")),
        "actors": seat.read_ok(&format!("{campaign_uri}/actors")),
        "sessions": seat.read_ok(&format!("{campaign_uri}/sessions")),
        "events": seat.read_ok(&format!("{campaign_uri}/events")),
        "universes": seat.read_ok("universes://list"),
        "universe": seat.ok("get_universe_state", &json!({"universeId": universe})),
        "runs": seat.ok("state_gate.list_runs", &json!({})),
        "run": state,
        "history": seat.ok("state_gate.run", &json!({"method": "history", "run_id": run})),
        "artifact": seat.ok("state_gate.run", &json!({"method": "artifact", "run_id": run, "path": "clue-door.md"})),
    })
}

#[test]
fn databases_of_earlier_versions_open_verify_and_go_on() {
    for version in FIRST_VERSION..=current_version() {
        assert!(
            fixture_path(version, "db").exists(),
            "the fixture of version {version} is missing: cargo xtask fixture"
        );
        let (world, written) = copy_fixture(version);
        assert_eq!(schema_version(&database_path(&world)), version);
        assert_sound(&world);
        let ids = &written["ids"];
        {
            let server = world.serve(&[]);
            let token = written["token"].as_str().expect("a token");
            let mut player = server.client_with(Surface::Rest, Some(token), "test");
            let seen = player.read_ok("campaigns://list");
            assert_eq!(seen["campaigns"][0]["id"], ids["campaign_id"], "the token of before is let in: {seen}");
            let mut owner = world.stdio_client(&[]);
            assert_has(&read_all(&mut owner, ids), &written["read"], &format!("schema {version}"));
            continue_world(&mut owner, ids);
        }
        assert_sound(&world);
        assert_eq!(schema_version(&database_path(&world)), current_version(), "the file is of this version now");
    }
}

/// Asserts that a value has everything that was read before. Later versions may answer further fields.
fn assert_has(value: &Value, before: &Value, place: &str) {
    match (value, before) {
        (Value::Object(fields), Value::Object(before)) => {
            for (name, before) in before {
                assert_has(fields.get(name).unwrap_or(&Value::Null), before, &format!("{place}/{name}"));
            }
        }
        (Value::Array(items), Value::Array(before)) => {
            assert_eq!(items.len(), before.len(), "{place}");
            items.iter().zip(before).for_each(|(item, before)| assert_has(item, before, place));
        }
        (value, before) => assert_eq!(value, before, "{place}"),
    }
}

/// Writes to everything in the fixture, and creates new things.
fn continue_world(owner: &mut TestClient, ids: &Value) {
    let campaign = &ids["campaign_id"];
    owner.ok("session_note", &json!({"campaign_id": campaign, "text": "They went on."}));
    // The note of before is found as well as the new one.
    for word in ["door", "went"] {
        let search = json!({"campaign_id": campaign, "query": word, "in": ["notes"]});
        let found = owner.ok("entity_search", &search);
        assert_eq!(found["notes"].as_array().map(Vec::len), Some(1), "{word}: {found}");
    }
    owner.ok("duality_action_roll", &json!({"session_id": ids["session_id"]}));
    owner.ok("session_end", &json!({"campaign_id": campaign}));
    let recap = owner.ok("session_recap", &json!({"campaign_id": campaign, "session_id": ids["session_id"]}));
    assert!(recap.to_string().contains("They found a door.") && recap.to_string().contains("They went on."), "{recap}");
    let universe = ids["universe_id"].as_str().expect("an id");
    let before = owner.ok("get_universe_state", &json!({"universeId": universe}));
    send_command(owner, universe, &add_star_command("comet", Some("sol")));
    let after = owner.ok("get_universe_state", &json!({"universeId": universe}));
    assert_ne!(before, after);
    let run = Run::from_answer(&json!({"run_id": ids["run_id"]}));
    let clue = json!({"path": "clue-third.md", "text": "The abbot lied when he said that nobody has the key."});
    let fields = json!({"payload": {"summary": "a lie", "source": "witness"}, "artifacts": [clue]});
    let moved = run.emit_accepted(owner, "submit_clue", &fields);
    assert_eq!(moved["transition"]["to_state"], "confrontation", "the evidence of before counts: {moved}");
    let next = Run::create(owner, "quest");
    next.emit_accepted(owner, "decline_quest", &json!({}));
    owner.ok("universe", &json!({"method": "create", "name": "Another", "campaignId": campaign}));
    let listed = owner.read_ok("universes://list");
    assert_eq!(listed["universes"].as_array().map(Vec::len), Some(3), "{listed}");
}

/// Writes a small world with something of every kind, and returns its ids.
fn write_world(owner: &mut TestClient) -> Value {
    let campaign = owner.ok("campaign_create", &json!({"name": "The Bell of Dunmere", "gm_mode": "HUMAN"}));
    let campaign_id = &campaign["id"];
    let of = |fields: Value| {
        let mut input = fields;
        input["campaign_id"] = campaign_id.clone();
        input
    };
    let participant = owner.ok("participant_create", &of(json!({"display_name": "Nora", "role": "PLAYER"})));
    let actor = owner.ok("actor_create", &of(json!({"name": "Wren", "kind": "PC"})));
    owner.ok("actor_create", &of(json!({"name": "The Abbot", "kind": "NPC"})));
    let control = json!({"actor_id": actor["id"], "controller": participant["id"]});
    owner.ok("actor_control_set", &of(control));
    let session = owner.ok("session_start", &of(json!({"name": "The First Evening"})));
    owner.ok("session_note", &of(json!({"text": "They found a door."})));
    let roll = json!({"session_id": session["id"], "actor_id": actor["id"], "modifier": 2, "difficulty": 14});
    owner.ok("duality_action_roll", &roll);
    let universe = owner.ok("universe", &json!({"method": "create", "name": "Dunmere", "campaignId": campaign_id}));
    let universe_id = universe["universe"]["id"].as_str().expect("an id");
    send_command(owner, universe_id, &add_star_command("sol", None));
    for planet in ["ember", "frost"] {
        send_command(owner, universe_id, &add_star_command(planet, Some("sol")));
    }
    owner.ok("universe", &json!({"method": "create", "name": "Of no campaign"}));
    let entities = json!([
        {"entity_type": "location", "name": "The foundry", "entry": "Where [[The bell]] was cast.", "tags": ["town"]},
        {"entity_type": "item", "name": "The bell", "is_private": true},
    ]);
    owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": entities}));
    let quest = json!({"process_id": "quest", "campaign_id": campaign_id, "context": {"quest": "Find the bell"}});
    let run = Run::from_answer(&owner.ok(CREATE, &quest));
    run.emit_accepted(owner, "accept_quest", &json!({"payload": {"terms": "ten silver"}}));
    let clue = |name: &str, text: &str| {
        let artifacts = json!([{"path": name, "text": text}]);
        json!({"payload": {"summary": "a clue", "source": "place"}, "artifacts": artifacts})
    };
    run.emit_accepted(owner, "submit_clue", &clue("clue-door.md", CLUE));
    let foundry = "The foundry closed in the year in which the bell was lost.";
    run.emit_accepted(owner, "submit_clue", &clue("clue-foundry.md", foundry));
    run.emit_accepted(
        owner,
        "submit_clue",
        &clue("clue-rope.md", "The rope was cut with a knife and did not tear by itself."),
    );
    let (code, _) =
        run.emit_refused(owner, "submit_outcome", &json!({"payload": {"outcome": "victory", "summary": "x"}}));
    assert_eq!(code, "INVALID_EVENT");
    json!({
        "campaign_id": campaign_id, "session_id": session["id"], "universe_id": universe_id, "run_id": run.id,
    })
}

/// An existing fixture is never overwritten: it must stay as that version of the program wrote it.
#[test]
fn this_version_has_a_fixture() {
    let version = current_version();
    let (file, text) = (fixture_path(version, "db"), fixture_path(version, "json"));
    if std::env::var_os("SKALD_WRITE_FIXTURE").is_some() && !file.exists() {
        write_fixture(&file, &text);
    }
    assert!(file.exists() && text.exists(), "run cargo xtask fixture");
}

fn write_fixture(file: &Path, text: &Path) {
    let world = World::sqlite();
    // The run stores its artifact folder: use one that reveals nothing of this machine.
    let artifacts = std::env::temp_dir().join("skald-fixture");
    let mut command: Command = world.command(&["mcp", "--artifact-dir"]);
    command.arg(&artifacts);
    let mut owner = TestClient::over_stdio(command);
    let ids = write_world(&mut owner);
    let campaign = ids["campaign_id"].as_str().expect("an id");
    let (token, _) = world.create_token(&["Nora", "--role", "player", "--for", campaign]);
    let read = read_all(&mut owner, &ids);
    owner.close_and_wait();
    let mut log = database_path(&world).into_os_string();
    log.push("-wal");
    assert!(!Path::new(&log).exists(), "all is in the one file");
    std::fs::create_dir_all(fixture_folder()).expect("a folder");
    std::fs::copy(database_path(&world), file).expect("a copy");
    let written = json!({"ids": ids, "token": token, "read": read});
    std::fs::write(text, serde_json::to_string_pretty(&written).expect("JSON") + "\n").expect("a file");
    let _ = std::fs::remove_dir_all(artifacts);
}
