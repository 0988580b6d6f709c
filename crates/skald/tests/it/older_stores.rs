//! Tests of databases of earlier versions: each opens, verifies, can be read and written, and verifies again.
//!
//! The folder `tests/fixtures` has databases of each version of the schema from 5 on, and next to each a JSON file with
//! its expected contents. A version without a fixture fails here; `cargo xtask fixture` writes the one of this version.
//! The versions are SQLite files; their rows are copied to a PostgreSQL whose schema has the same version.

use std::path::{Path, PathBuf};
use std::process::Command;

use rusqlite::types::ValueRef;
use serde_json::{Value, json};
use skald_testkit::Client;

use crate::fixture_world::{WORLD_EDITION, write_access, write_world};
use crate::gate_server::Run;
use crate::program_under_test::{StoreKind, Surface, TestClient, World};
use crate::universe::{add_star_command, send_command};

/// The first version of the schema that has a fixture.
const FIRST_VERSION: i64 = 5;
/// The first version whose fixture has lore.
const FIRST_WITH_LORE: i64 = 7;
/// The tables of the journal. The index of the search is made anew from them.
const TABLES: [&str; 7] = ["heads", "records", "commands", "documents", "snapshots", "snapshot_parts", "shelf"];

/// A database that a program wrote: the version of its schema, and the edition of the world in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fixture {
    version: i64,
    edition: u32,
}

impl Fixture {
    fn path(self, extension: &str) -> PathBuf {
        let Self { version, edition } = self;
        let name = match edition {
            1 => format!("world-schema-{version}.{extension}"),
            edition => format!("world-schema-{version}-edition-{edition}.{extension}"),
        };
        fixture_folder().join(name)
    }

    /// The fixture of a database's file name.
    fn from_file_name(name: &str) -> Self {
        let numbers = name.strip_prefix("world-schema-").and_then(|name| name.strip_suffix(".db")).expect(name);
        let (version, edition) = numbers.split_once("-edition-").unwrap_or((numbers, "1"));
        Self { version: version.parse().expect(name), edition: edition.parse().expect(name) }
    }

    /// All that are there, the oldest first.
    fn all() -> Vec<Self> {
        let names = std::fs::read_dir(fixture_folder()).expect("a folder");
        let names = names.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
        let databases = names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "db"));
        let mut all: Vec<Self> = databases.map(|name| Self::from_file_name(&name)).collect();
        all.sort_unstable();
        all
    }

    /// The expected contents.
    fn written(self) -> Value {
        let written = std::fs::read_to_string(self.path("json")).expect("what was written is there");
        serde_json::from_str(&written).expect("JSON")
    }
}

fn fixture_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
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

/// A world on a copy of a fixture.
fn copy_fixture(fixture: Fixture) -> World {
    let world = World::sqlite();
    std::fs::copy(fixture.path("db"), database_path(&world)).expect("the fixture is there");
    world
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
    let of_campaign = json!({"campaign_id": campaign});
    let mut lore = json!({
        "entities": seat.read_ok(&format!("lore://{}/entities", campaign.as_str().expect("an id"))),
        "found": seat.ok("find_entities", &json!({"campaign_id": campaign, "include_full": true})),
        "relationships": seat.ok("relationships", &of_campaign),
        "timeline": seat.ok("timeline", &json!({"campaign_id": campaign, "include": "all"})),
        "conflicts": seat.ok("canon", &json!({"campaign_id": campaign, "method": "list"})),
    });
    // It has the time of the request.
    for answer in lore.as_object_mut().expect("an object").values_mut() {
        answer.as_object_mut().expect("an object").remove("sync_info");
    }
    let more = ids.get("snapshot_universe_id").map(|universe| {
        json!({
            "universe": seat.ok("get_universe_state", &json!({"universeId": universe})),
            "run": seat.ok("state_gate.run", &json!({"method": "history", "run_id": ids["closed_run_id"]})),
        })
    });
    json!({
        "lore": lore,
        "more": more,
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
    let fixtures = Fixture::all();
    for version in FIRST_VERSION..=current_version() {
        let is_there = fixtures.iter().any(|fixture| fixture.version == version);
        assert!(is_there, "the fixture of version {version} is missing: cargo xtask fixture");
    }
    for fixture in fixtures {
        let world = copy_fixture(fixture);
        assert_eq!(schema_version(&database_path(&world)), fixture.version);
        assert_goes_on(&world, fixture);
        assert_eq!(schema_version(&database_path(&world)), current_version(), "the file is of this version now");
    }
}

/// Opens a store with the contents of a fixture, reads everything, writes to everything, and verifies before and after.
fn assert_goes_on(world: &World, fixture: Fixture) {
    let written = fixture.written();
    let ids = &written["ids"];
    assert_sound(world);
    {
        let server = world.serve(&[]);
        let token = written["token"].as_str().expect("a token");
        let mut player = server.client_with(Surface::Rest, Some(token), "test");
        let seen = player.read_ok("campaigns://list");
        assert_eq!(seen["campaigns"][0]["id"], ids["campaign_id"], "the token of before is let in: {seen}");
    }
    let mut owner = world.stdio_client(&[]);
    let read = read_all(&mut owner, ids);
    assert_has(&read, &written["read"], &format!("{fixture:?}"));
    if fixture.version >= FIRST_WITH_LORE {
        let entities = read["lore"]["found"].to_string();
        assert!(entities.contains("The foundry") && entities.contains("The bell"), "{fixture:?}: {entities}");
    }
    if let Some(access) = written.get("access") {
        assert_access(&world.serve(&[]).address, access, &ids["campaign_id"]);
    }
    continue_world(&mut owner, ids);
    owner.close_and_wait();
    assert_sound(world);
}

/// Tokens, invitations and a page session of before have the rights that they had.
fn assert_access(address: &std::net::SocketAddr, access: &Value, campaign_id: &Value) {
    let mut client = Client::connect(*address);
    let mut status = |path: &str, header: (&str, &str), body: &Value| {
        let headers = [("Content-Type", "application/json"), header];
        client.send("POST", path, &headers, body.to_string().as_bytes()).status
    };
    let bearer = |name: &str| format!("Bearer {}", access[name].as_str().expect("a token"));
    let (read, note) = ("/api/v1/campaign_read", "/api/v1/session_note");
    let (of_campaign, text) = (json!({"campaign_id": campaign_id}), json!({"campaign_id": campaign_id, "text": "x"}));
    assert_eq!(status(read, ("Authorization", &bearer("reader")), &of_campaign), 200, "the reader reads");
    assert_eq!(status(note, ("Authorization", &bearer("reader")), &text), 403, "and does nothing else");
    assert_eq!(status(note, ("Authorization", &bearer("agent")), &text), 200, "the program plays");
    assert_eq!(status(read, ("Authorization", &bearer("revoked")), &of_campaign), 401, "a revoked token is none");
    let code = json!({"code": access["invitation"]});
    assert_eq!(status("/api/v1/invitations/redeem", ("Accept", "*/*"), &code), 201, "the invitation is open");
    let cookie = access["cookie"].as_str().expect("a cookie");
    let page = client.send("GET", "/", &[("Cookie", cookie)], b"");
    assert_eq!(page.status, 200, "the browser is signed in: {}", page.text());
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
    let universes_before = owner.read_ok("universes://list");
    owner.ok("universe", &json!({"method": "create", "name": "Another", "campaignId": campaign}));
    let listed = owner.read_ok("universes://list");
    let count = |listed: &Value| listed["universes"].as_array().map_or(0, Vec::len);
    assert_eq!(count(&listed), count(&universes_before) + 1, "{listed}");
    let lore = json!([{"entity_type": "item", "name": "The third key", "entry": "It opens [[The crypt]]."}]);
    owner.ok("create_entities", &json!({"campaign_id": campaign, "entities": lore}));
    let found = owner.ok("find_entities", &json!({"campaign_id": campaign, "query": "third key"}));
    assert!(found.to_string().contains("The third key"), "{found}");
    if let Some(universe) = ids["snapshot_universe_id"].as_str() {
        send_command(owner, universe, &add_star_command("dawn", Some("sol")));
    }
}

/// An existing fixture is never overwritten: it must stay as that version of the program wrote it.
#[test]
fn this_version_has_a_fixture() {
    let fixture = Fixture { version: current_version(), edition: WORLD_EDITION };
    let (file, text) = (fixture.path("db"), fixture.path("json"));
    if std::env::var_os("SKALD_WRITE_FIXTURE").is_some() && !file.exists() {
        write_fixture(&file, &text);
    }
    assert!(file.exists() && text.exists(), "run cargo xtask fixture");
    let database = rusqlite::Connection::open(&file).expect("the fixture");
    // A snapshot has parts only if it is large.
    let tables = TABLES.into_iter().filter(|table| *table != "snapshot_parts");
    for table in tables.chain(["audit", "search_rows"]) {
        let rows: i64 =
            database.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect(table);
        assert!(rows > 0, "the fixture has nothing in {table}");
    }
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
    let access = write_access(&world, campaign);
    // Snapshots are stored in the background otherwise.
    assert!(world.run(&["rebuild"]).status.success());
    let mut log = database_path(&world).into_os_string();
    log.push("-wal");
    assert!(!Path::new(&log).exists(), "all is in the one file");
    std::fs::create_dir_all(fixture_folder()).expect("a folder");
    std::fs::copy(database_path(&world), file).expect("a copy");
    let written = json!({"ids": ids, "token": token, "access": access, "read": read});
    std::fs::write(text, serde_json::to_string_pretty(&written).expect("JSON") + "\n").expect("a file");
    let _ = std::fs::remove_dir_all(artifacts);
}

/// A PostgreSQL schema of an earlier version, with the rows of a fixture.
mod postgres {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn schemas_of_earlier_versions_are_migrated_with_their_rows() {
        for fixture in Fixture::all() {
            let world = World::new(StoreKind::Postgres);
            copy_rows(&world, fixture);
            if fixture.version >= FIRST_WITH_LORE {
                // The index of the search has another form in each store, and is made anew from the documents.
                let rebuilt = world.run(&["rebuild"]);
                assert!(rebuilt.status.success(), "{}", String::from_utf8_lossy(&rebuilt.stderr));
            }
            assert_goes_on(&world, fixture);
            let versions = query_texts(&world, "SELECT max(version)::text FROM skald_schema");
            assert_eq!(versions, [current_version().to_string()], "{fixture:?}");
        }
    }

    /// Runs the migrations up to the version of the fixture, and copies its rows.
    fn copy_rows(world: &World, fixture: Fixture) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/sql/postgres/migrations");
        let migrations = (1..=fixture.version)
            .map(|number| std::fs::read_to_string(folder.join(format!("{number:03}.sql"))).expect("a migration"));
        let mut script: String = migrations.collect();
        script.push_str("CREATE TABLE skald_schema (version bigint NOT NULL);\n");
        let _ = writeln!(script, "INSERT INTO skald_schema (version) VALUES ({});", fixture.version);
        let database = rusqlite::Connection::open(fixture.path("db")).expect("the fixture");
        for table in TABLES {
            script.push_str(&inserts(&database, table));
        }
        // The head of a stream in PostgreSQL also has the hash before its own.
        script.push_str(
            "SELECT setval(pg_get_serial_sequence('records', 'position'), (SELECT max(position) FROM records));\n",
        );
        query_texts(world, &script);
    }

    /// The rows of a table as statements.
    fn inserts(database: &rusqlite::Connection, table: &str) -> String {
        let columns = match table {
            // The head of a stream in PostgreSQL also has the hash before its own.
            "heads" => {
                "stream, shard, revision, hash, (SELECT previous FROM records \
                        WHERE records.stream = heads.stream AND records.revision = heads.revision) AS previous"
            }
            _ => "*",
        };
        let mut statement = database.prepare(&format!("SELECT {columns} FROM {table}")).expect(table);
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).expect(table);
        let mut script = String::new();
        while let Some(row) = rows.next().expect(table) {
            let values: Vec<String> = (0..names.len()).map(|at| literal(row.get_ref(at).expect(table))).collect();
            let (names, values) = (names.join(", "), values.join(", "));
            let _ = writeln!(script, "INSERT INTO {table} ({names}) OVERRIDING SYSTEM VALUE VALUES ({values});");
        }
        script
    }

    fn literal(value: ValueRef<'_>) -> String {
        match value {
            ValueRef::Null => "NULL".to_owned(),
            ValueRef::Integer(number) => number.to_string(),
            ValueRef::Real(number) => number.to_string(),
            ValueRef::Text(text) => format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''")),
            ValueRef::Blob(bytes) => {
                let digits = bytes.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
                format!("'\\x{digits}'::bytea")
            }
        }
    }

    /// Runs a script, and returns the first column of its rows.
    fn query_texts(world: &World, script: &str) -> Vec<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let connected = tokio_postgres::connect(world.store(), tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("PostgreSQL answers");
            tokio::spawn(connection);
            let messages = client.simple_query(script).await.expect("the script");
            let rows = messages.into_iter().filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            });
            rows.collect()
        })
    }
}
