//! Benchmark of lists: the universes and runs of one campaign, and a guard over its facts, with 10 and with 10,000 others.
//! The caller has a token for this campaign alone, or is the owner, who sees all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::BenchOptions;
use super::gate::agent::Agent;
use super::load::Connection;
use super::report::{BenchTarget, ReportTable, group_thousands};
use super::server_process::BenchServer;
use super::statistics::median;
use crate::{paths, run};

/// Universes of other campaigns, and as many runs.
const OTHER_COUNTS: [usize; 2] = [10, 10_000];
/// How many other campaigns they belong to, at most.
const OTHER_CAMPAIGNS: usize = 100;
/// Universes and runs of the measured campaign.
const OWN_COUNT: usize = 20;
const ROUNDS: usize = 200;
const WARM_UP_ROUNDS: usize = 10;
/// The highest ratio of a call's latency beside many others to that beside few.
const RATIO_MAX: f64 = 1.3;
/// A file system in memory, on machines that have one.
const MEMORY_FOLDER: &str = "/dev/shm";
const PROCESS: &str = "\
process: {id: counted, version: '1.0.0', name: Counted, initial_state: working}
states:
  - {name: working}
  - {name: done, is_final: true}
events:
  - {name: finish, allowed_roles: ['*']}
transitions:
  - {from: working, event: finish, to: done, guard: has_universes}
guards:
  has_universes: {type: cel, expression: campaign.universe_count > 0, message: there is no universe}
";

/// A server on a store with the measured campaign and others.
struct ListsServer {
    server: BenchServer,
    token: String,
    campaign_id: String,
    run_id: String,
    folder: PathBuf,
}

impl Drop for ListsServer {
    fn drop(&mut self) {
        // A failure only leaves a folder behind.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Who makes a timed call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BenchCaller {
    /// With a token for the measured campaign alone.
    Member,
    /// Who sees all campaigns, and names the measured one.
    Owner,
}

/// The timed calls: a name, who makes it, the operation, and a text that the answer must contain at least this often.
const CALLS: [(&str, BenchCaller, &str, &str, usize); 4] = [
    ("universes of one campaign", BenchCaller::Member, "universe_read", "\"createdAt\"", OWN_COUNT),
    ("the same for the owner", BenchCaller::Owner, "universe_read", "\"createdAt\"", OWN_COUNT),
    ("runs of one campaign", BenchCaller::Member, "state_gate.list_runs", "\"run_id\"", OWN_COUNT),
    ("a guard over its facts", BenchCaller::Member, "state_gate.list_events", "\"finish\"", 1),
];

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let mut worlds = Vec::new();
    for others in OTHER_COUNTS {
        worlds.push(ListsServer::build(options, others)?);
    }
    // Connect only now: the server closes idle connections.
    let opened = worlds.iter().map(|world| Connection::open(world.server.address));
    let mut connections: Vec<Connection> = opened.collect::<anyhow::Result<_>>()?;
    let mut times = vec![[const { Vec::new() }; CALLS.len()]; worlds.len()];
    for round in 0..WARM_UP_ROUNDS + ROUNDS {
        // The servers take turns at being first.
        for step in 0..worlds.len() {
            let at = (round + step) % worlds.len();
            for (call, times) in CALLS.iter().zip(&mut times[at]) {
                let took = worlds[at].call(&mut connections[at], call)?;
                if round >= WARM_UP_ROUNDS {
                    times.push(took.as_secs_f64() * 1e3);
                }
            }
        }
    }
    Ok(report(times))
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn report(times: Vec<[Vec<f64>; CALLS.len()]>) -> Vec<BenchTarget> {
    let medians: Vec<[f64; CALLS.len()]> = times.into_iter().map(|of_world| of_world.map(median)).collect();
    let title =
        format!("One campaign of {OWN_COUNT} universes and runs beside those of others, medians of {ROUNDS} calls");
    let headings: Vec<String> =
        OTHER_COUNTS.iter().map(|others| format!("beside {}", group_thousands(*others as f64))).collect();
    let headings: Vec<&str> = [""].into_iter().chain(headings.iter().map(String::as_str)).chain(["ratio"]).collect();
    let mut table = ReportTable::new(title, &headings);
    let mut gates = Vec::new();
    for (number, (name, ..)) in CALLS.iter().enumerate() {
        let [few, many] = [medians[0][number], medians[1][number]];
        let ratio = many / few;
        table.add_row([(*name).to_owned(), format!("{few:.2} ms"), format!("{many:.2} ms"), format!("{ratio:.2}")]);
        gates.push(BenchTarget::ratio_at_most(format!("{name}, beside many / beside few"), ratio, RATIO_MAX));
    }
    table.print();
    gates
}

impl ListsServer {
    fn build(options: &BenchOptions, others: usize) -> anyhow::Result<Self> {
        let memory = Path::new(MEMORY_FOLDER);
        let parent = if memory.is_dir() { memory.to_owned() } else { paths::target() };
        let folder = parent.join(format!("skald-lists-bench-{}-{others}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("processes"))?;
        fs::write(folder.join("processes/counted.yaml"), PROCESS)?;
        let skald = |words: &[&str]| {
            let mut command = Command::new(&options.skald);
            command.args(words).args(["--store", &format!("sqlite:{}", folder.join("world.db").display())]);
            command.current_dir(&folder);
            command
        };
        let gate = ["--process-dir", "processes", "--artifact-dir", "artifacts"];
        let mut owner = Agent::start(skald(&["mcp"]).args(gate))?;
        let campaign_id = create_campaign(&mut owner)?;
        let run_id = create_universes_and_runs(&mut owner, &[&campaign_id], OWN_COUNT)?;
        let mut campaigns = Vec::new();
        for _ in 0..others.min(OTHER_CAMPAIGNS) {
            campaigns.push(create_campaign(&mut owner)?);
        }
        create_universes_and_runs(&mut owner, &campaigns.iter().map(String::as_str).collect::<Vec<_>>(), others)?;
        owner.close()?;
        let token = ["token", "create", "Bench", "--json", "--role", "gm", "--for", &campaign_id];
        let created: Value = serde_json::from_str(&run::run_captured(&mut skald(&token))?)?;
        let token = created["token"].as_str().context("there is no token")?.to_owned();
        let server = BenchServer::start(
            |port| {
                let mut command = skald(&["serve", "--grpc-addr", "off"]);
                command.args(gate).args(["--http-addr", &format!("127.0.0.1:{port}")]);
                // By variables, which an older binary ignores.
                command.envs(["CALLS", "READS", "LISTS"].map(|class| (format!("SKALD_LIMIT_{class}"), "0")));
                command
            },
            Stdio::null(),
        )?;
        Ok(Self { server, token, campaign_id, run_id, folder })
    }

    /// Makes one of the calls over REST. Returns the latency.
    fn call(
        &self,
        connection: &mut Connection,
        (_, caller, operation, word, count): &(&str, BenchCaller, &str, &str, usize),
    ) -> anyhow::Result<Duration> {
        let input = match *operation {
            "universe_read" if *caller == BenchCaller::Owner => json!({"campaignId": self.campaign_id}),
            "universe_read" => json!({}),
            "state_gate.list_runs" => json!({"campaign_id": self.campaign_id}),
            _ => json!({"run_id": self.run_id}),
        };
        let (host, body) = (self.server.address, input.to_string());
        // On loopback a request without a token is the owner's.
        let authorization = match caller {
            BenchCaller::Member => format!("authorization: Bearer {}\r\n", self.token),
            BenchCaller::Owner => String::new(),
        };
        let request = format!(
            "POST /api/v1/{operation} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             {authorization}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let started = Instant::now();
        connection.exchange(request.as_bytes()).context((*operation).to_owned())?;
        let took = started.elapsed();
        let answer = String::from_utf8_lossy(&connection.body);
        ensure!(answer.matches(word).count() >= *count, "{operation} was answered: {answer}");
        Ok(took)
    }
}

fn create_campaign(owner: &mut Agent) -> anyhow::Result<String> {
    let (_, campaign) = owner.call("campaign_create", &json!({"name": "Bench", "gm_mode": "HUMAN"}))?;
    campaign["id"].as_str().map(str::to_owned).context("a campaign has no id")
}

/// Creates universes and runs, spread over campaigns. Returns the id of the last run.
fn create_universes_and_runs(owner: &mut Agent, campaigns: &[&str], count: usize) -> anyhow::Result<String> {
    let mut run_id = Value::Null;
    for campaign_id in campaigns.iter().cycle().take(count) {
        owner.call("universe", &json!({"method": "create", "name": "Bench", "campaignId": campaign_id}))?;
        let input = json!({"process_id": "counted", "campaign_id": campaign_id});
        run_id = owner.call("state_gate.create_run", &input)?.1["run_id"].take();
    }
    run_id.as_str().map(str::to_owned).context("a run has no id")
}
