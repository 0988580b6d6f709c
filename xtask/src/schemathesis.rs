//! Runs schemathesis over the OpenAPI file against the binary: no 5xx, no answer outside its schema.

use std::process::Command;

use anyhow::ensure;
use serde_json::{Value, json};

use crate::install::{ForeignClients, SCHEMATHESIS};
use crate::server::TestServer;
use crate::suite::SuiteMode;
use crate::{paths, print_line, run};

/// Generated requests for each operation, besides those of its examples and of each constraint of its schema.
const EXAMPLES: &str = "10";
const LONG_EXAMPLES: &str = "100";
/// The campaign of requests that name none.
const CAMPAIGN: &str = "The Drowned Bells";
/// The same requests in every run of a mode.
const SEED: &str = "1";
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance";

pub(crate) fn test_schemas(foreign: &ForeignClients, mode: SuiteMode) -> anyhow::Result<()> {
    let server = TestServer::start(|port| {
        let mut command = Command::new(paths::built_binary("release", "skald"));
        command.args(["serve", "--store", "memory", "--campaign", CAMPAIGN, "--grpc-addr", "off", "--http-addr"]);
        command.arg(format!("127.0.0.1:{port}"));
        // The evidence of runs lies below the target folder, not in the user's.
        command.env("XDG_DATA_HOME", paths::target().join("schemathesis"));
        command
    })?;
    fill(&server)?;
    let examples = if mode == SuiteMode::Long { LONG_EXAMPLES } else { EXAMPLES };
    let mut command = Command::new(foreign.environment_program(SCHEMATHESIS));
    command.args(["-m", "schemathesis.cli", "run", "--phases", "examples,coverage,fuzzing", "--no-shrink"]);
    command.args(["--checks", CHECKS, "--max-examples", examples, "--seed", SEED, "--warnings", "off"]);
    command.arg(format!("{}/api/v1/openapi.json", server.url())).current_dir(foreign.script(""));
    let output = run::run_captured(&mut command)?;
    let count = output.lines().map(str::trim).find(|line| line.contains("generated, ")).unwrap_or_default();
    ensure!(count.ends_with(" passed"), "schemathesis: {output}");
    print_line(&format!("schemathesis: {count}"));
    Ok(())
}

/// Creates things of each noun with all of their parts, so that requests which name a campaign by default, or a small
/// number as an id, find something.
fn fill(server: &TestServer) -> anyhow::Result<()> {
    let call = |operation: &str, input: Value| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail-with-body", "--header", "Content-Type: application/json"]);
        command.arg("--data").arg(input.to_string()).arg(format!("{}/api/v1/{operation}", server.url()));
        run::run_captured(&mut command).map(drop)
    };
    call("campaign_create", json!({"name": CAMPAIGN, "gm_mode": "AI"}))?;
    let ben = json!([{"display_name": "Ben", "role": "PLAYER"}]);
    call("participant_create", json!({"display_name": "Ana", "role": "PLAYER", "participants": ben}))?;
    let duke = json!([{"name": "The duke", "kind": "NPC", "notes": "A vampire.", "notes_visible_to": ["gm"]}]);
    let mira = json!({"name": "Mira", "kind": "PC", "controller": "Ana", "template": "daggerheart", "actors": duke});
    call("actor_create", mira)?;
    // One session is over, and one is being played.
    call("session_start", json!({"name": "The first bell"}))?;
    call("session_note", json!({"text": "The bridge fell.", "tags": ["bridge"]}))?;
    call("session_note", json!({"text": "The duke lies.", "visible_to": ["gm"]}))?;
    call("session_end", json!({}))?;
    call("session_start", json!({"name": "The second bell"}))?;
    let trackers = json!([
        {"name": "The ritual", "value": 2, "max": 6, "ticks": "session_end"},
        {"name": "Doom", "value": 1, "visible_to": ["gm"]}
    ]);
    call("tracker", json!({"method": "set", "trackers": trackers}))?;
    call("roll", json!({"expression": "2d6", "reason": "leaping the chasm"}))?;
    call("roll", json!({"expression": "1d20", "visible_to": ["gm"]}))?;
    call("duality_action_roll", json!({"modifier": 2, "difficulty": 15}))?;
    let entities = json!([
        {"entity_type": "location", "name": "Holm", "entry": "A drowned town, with [[Isa]].", "tags": ["drowned"]},
        {"entity_type": "character", "name": "Isa", "type": "NPC", "entry": "She rows.", "aliases": ["The ferrywoman"]},
        {"entity_type": "note", "name": "The plot", "entry": "The duke drowned Holm.", "is_private": true},
        {"entity_type": "journal", "name": "Old notes", "entry": "Of another year."}
    ]);
    call("create_entities", json!({"entities": entities}))?;
    let posts = json!([
        {"entity_id": 1, "name": "Rumours", "entry": "The bells ring below."},
        {"entity_id": 1, "name": "Truth", "entry": "Nobody rings them.", "is_private": true}
    ]);
    call("create_posts", json!({"posts": posts}))?;
    call("update_entities", json!({"updates": [{"entity_id": 2, "entry_append": "And she fears the bells."}]}))?;
    call("delete_entities", json!({"entity_ids": [4]}))?;
    call("relationships", json!({"method": "add", "entity_id": 2, "target_id": 1, "type": "located_at"}))?;
    let event = json!({
        "method": "add", "date": "3rd of Rain, 1204", "sort": "1204-03-03", "description": "Holm drowned.",
        "entity_ids": [1], "is_player_known": true
    });
    call("timeline", event)?;
    call("timeline", json!({"method": "add", "date": "1205", "description": "The duke came."}))?;
    // A change of it is held, so there is a conflict.
    call("canon", json!({"method": "mark", "entity_id": 1, "confidence": "AUTHORITATIVE"}))?;
    call("update_entities", json!({"updates": [{"entity_id": 1, "name": "Holme"}]}))?;
    call("visibility", json!({"method": "reveal", "entity_id": 3, "who": ["Ana"]}))?;
    call("universe", json!({"method": "create", "universeId": "sol", "name": "Sol"}))?;
    call("send_universe_command", json!({"universeId": "sol", "command": {"type": "tick"}}))?;
    call("state_gate.create_run", json!({"process_id": "exploration-process", "run_id": "run-1"}))
}
