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

/// Creates one thing of each noun, so that requests which name a campaign by default find something.
fn fill(server: &TestServer) -> anyhow::Result<()> {
    let call = |operation: &str, input: Value| {
        let mut command = Command::new("curl");
        command.args(["--silent", "--show-error", "--fail-with-body", "--header", "Content-Type: application/json"]);
        command.arg("--data").arg(input.to_string()).arg(format!("{}/api/v1/{operation}", server.url()));
        run::run_captured(&mut command).map(drop)
    };
    call("campaign_create", json!({"name": CAMPAIGN, "gm_mode": "AI"}))?;
    call("participant_create", json!({"display_name": "Ana", "role": "PLAYER"}))?;
    call("actor_create", json!({"name": "Mira", "kind": "PC"}))?;
    call("session_start", json!({"name": "The first bell"}))?;
    call(
        "create_entities",
        json!({"entities": [{"entity_type": "location", "name": "Holm", "entry": "A drowned town."}]}),
    )?;
    call("universe", json!({"method": "create", "universeId": "sol", "name": "Sol"}))
}
