//! Benchmark of a token beside the local owner: reads of a campaign over MCP, with roles, redaction, limits and audit.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::Context;
use serde_json::{Value, json};

use super::BenchOptions;
use super::call_mode::{CallMode, RepeatedCall};
use super::gate::agent::Agent;
use super::load;
use super::process::BenchServer;
use super::report::{BenchTarget, ReportTable, group_thousands};
use super::statistics::median;
use crate::{paths, run};

const ROUNDS: u32 = 5;
const ROUNDS_LONG: u32 = 11;
const CONNECTIONS: u32 = 16;
const WARM_UP_CALLS: u32 = 200;
const CALLS: u32 = 1_500;
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
    owner.close()?;
    let create = ["token", "create", "Bench", "--json", "--role", "player", "--calls", LIMIT];
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
    let arguments = json!({"campaign_id": campaign_id});
    let read =
        |token| RepeatedCall { tool: "campaign_read", arguments: arguments.clone(), expected_text: "Bells", token };
    let callers = [("the owner", read(None)), ("a token", read(Some(token)))];
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    let mut rates = [const { Vec::new() }; 2];
    for round in 0..rounds {
        // The two take turns at being first.
        let order = if round.is_multiple_of(2) { [0, 1] } else { [1, 0] };
        for at in order {
            let mut clients = load::open_clients_for(server.address, CallMode::Session, CONNECTIONS, &callers[at].1)?;
            load::run_clients(&mut clients, WARM_UP_CALLS)?;
            rates[at].push(load::run_clients(&mut clients, CALLS)?.calls_per_second());
        }
    }
    let [owner, holder] = rates.map(median);
    let mut table = ReportTable::new(
        format!("Reads of a campaign over MCP, {CONNECTIONS} connections, medians of {rounds} interleaved rounds"),
        &["caller", "calls/s"],
    );
    for ((name, _), rate) in callers.iter().zip([owner, holder]) {
        table.add_row([(*name).to_owned(), group_thousands(rate)]);
    }
    table.print();
    Ok(vec![BenchTarget::at_least("reads with a token / reads of the owner", holder / owner, RATIO_MIN)])
}
