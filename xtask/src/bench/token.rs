//! Benchmark of a token beside the local owner: reads of a campaign over MCP, with roles, redaction, limits and audit.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::{Value, json};

use super::BenchOptions;
use super::call_mode::{CallMode, RepeatedCall};
use super::gate::agent::Agent;
use super::load;
use super::report::{BenchTarget, ReportTable, group_thousands};
use super::server_process::BenchServer;
use super::statistics::median;
use crate::{paths, run};

const ROUNDS: u32 = 5;
const ROUNDS_LONG: u32 = 7;
const CONNECTIONS: u32 = 16;
const WARM_UP_CALLS: u32 = 200;
const CALLS: u32 = 1_500;
/// Secret notes, and private entities.
const SECRETS: usize = 500;
const ENTITIES_PER_CALL: usize = 50;
/// The share of the owner's rate that a token must reach.
const RATIO_MIN: f64 = 0.9;
/// A limit that this benchmark never reaches, but that is counted.
const LIMIT: &str = "1000000000";

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let folder = paths::target().join(format!("token-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let compared = compare_in(options, &format!("sqlite:{}", folder.join("world.db").display()));
    // A failure only leaves a folder behind.
    let _ = fs::remove_dir_all(&folder);
    compared
}

fn compare_in(options: &BenchOptions, store: &str) -> anyhow::Result<Vec<BenchTarget>> {
    let skald = |words: &[&str]| {
        let mut command = Command::new(&options.skald);
        command.args(words).args(["--store", store]);
        command
    };
    let mut owner = Agent::start(&mut skald(&["mcp"]))?;
    let (_, created) = owner.call("campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}))?;
    let campaign_id = created["id"].as_str().context("the campaign has no id")?.to_owned();
    for name in ["Ana", "Ben", "Cleo"] {
        owner
            .call("participant_create", &json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"}))?;
    }
    plant_secrets(&mut owner)?;
    owner.close()?;
    let create = ["token", "create", "Bench", "--json", "--role", "player", "--for", "Bells", "--participant", "Ana"];
    let create = [&create[..], &["--calls", LIMIT]].concat();
    let token: Value = serde_json::from_str(&run::run_captured(&mut skald(&create))?)?;
    let token = token["token"].as_str().context("there is no token")?.to_owned();
    let server = BenchServer::start(
        |port| {
            let mut command = skald(&["serve", "--grpc-addr", "off", "--limit-calls", LIMIT, "--limit-reads", LIMIT]);
            command.args(["--http-addr", &format!("127.0.0.1:{port}")]);
            command
        },
        Stdio::null(),
    )?;
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    let mut table = ReportTable::new(
        format!("Reads over MCP, {CONNECTIONS} connections, medians of {rounds} interleaved rounds"),
        &["read", "caller", "calls/s"],
    );
    let reads = [
        ("campaign_read", json!({"campaign_id": campaign_id}), "Bells"),
        ("find_entities", json!({"campaign_id": campaign_id, "query": "harbour"}), "Harbour"),
    ];
    let mut targets = Vec::new();
    for (tool, arguments, expected_text) in reads {
        let read = |token| RepeatedCall { tool, arguments: arguments.clone(), expected_text, token };
        let callers = [("the owner", read(None)), ("a token", read(Some(token.clone())))];
        let [owner, holder] = rates(&server, &callers.each_ref().map(|(_, call)| call), rounds)?;
        for ((name, _), rate) in callers.iter().zip([owner, holder]) {
            table.add_row([tool.to_owned(), (*name).to_owned(), group_thousands(rate)]);
        }
        let name = format!("{tool} with a token / of the owner");
        targets.push(BenchTarget::at_least(&name, holder / owner, RATIO_MIN));
    }
    table.print();
    Ok(targets)
}

/// The rates of the callers, who take turns at being first.
fn rates(server: &BenchServer, callers: &[&RepeatedCall; 2], rounds: u32) -> anyhow::Result<[f64; 2]> {
    let mut rates = [const { Vec::new() }; 2];
    for round in 0..rounds {
        let order = if round.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        for at in order {
            let mut clients = load::open_clients_for(server.address, CallMode::Session, CONNECTIONS, callers[at])?;
            load::run_clients(&mut clients, WARM_UP_CALLS)?;
            rates[at].push(load::run_clients(&mut clients, CALLS)?.calls_per_second());
        }
    }
    Ok(rates.map(median))
}

/// What redaction has to look through: secret notes and private entities, of which half are revealed to Ana.
fn plant_secrets(owner: &mut Agent) -> anyhow::Result<()> {
    let entity = |number: usize| json!({"entity_type": "note", "name": format!("Secret {number}"), "entry": "Under the harbour.", "is_private": true});
    let harbour = json!({"entity_type": "location", "name": "Harbour", "entry": "A harbour."});
    owner.call("create_entities", &json!({"entities": [harbour]}))?;
    for batch in 0..SECRETS / ENTITIES_PER_CALL {
        let entities: Vec<Value> = (0..ENTITIES_PER_CALL).map(|at| entity(batch * ENTITIES_PER_CALL + at)).collect();
        owner.call("create_entities", &json!({"entities": entities}))?;
    }
    for number in 0..SECRETS {
        let who = if number % 2 == 0 { "Ana" } else { "gm" };
        owner.call("session_note", &json!({"text": format!("Hush {number}."), "visible_to": [who]}))?;
        if number % 2 == 0 {
            let entity = format!("Secret {number}");
            owner.call("visibility", &json!({"method": "reveal", "entity_id": entity, "who": ["Ana"]}))?;
        }
    }
    Ok(())
}
