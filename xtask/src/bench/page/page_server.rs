//! The server that the page benchmark measures: a campaign with a session that goes on, a timeline and a large lore, and
//! as many other campaigns as Home shows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::super::BenchOptions;
use super::super::gate::agent::Agent;
use super::super::load::Connection;
use super::super::server_process::BenchServer;
use crate::{paths, run};

const ENTITIES: usize = 100_000;
const BATCH: usize = 100;
/// Words of an entry: with these words it has about 1 KB.
const ENTRY_WORDS: usize = 160;
/// Entities that mention the first one.
const MENTIONS: usize = 20;
/// Rolls and notes of the session before anything is measured: as many as the log shows.
const LOG_ROWS: usize = 60;
/// Events of the timeline: more than a page shows.
const EVENTS: usize = 200;
/// Campaigns beside the large one, each with a session that goes on: Home reads the session and the scene of each that it
/// shows, and shows 24.
const OTHER_CAMPAIGNS: usize = 23;
/// Players of the campaign. The table is rendered once per player, since redaction differs.
pub(super) const PLAYERS: usize = 5;
/// A file system in memory, on machines that have one.
const MEMORY_FOLDER: &str = "/dev/shm";
const TYPES: [&str; 5] = ["character", "location", "organization", "item", "note"];
const WORDS: [&str; 24] = [
    "bell", "tide", "harbour", "abbess", "flood", "lantern", "oath", "drowned", "keeper", "salt", "stone", "ferry",
    "winter", "market", "widow", "tower", "rope", "fog", "candle", "debt", "crown", "silver", "raven", "gate",
];

pub(super) struct PageServer {
    pub server: BenchServer,
    pub campaign_id: String,
    /// An entity that others mention.
    pub entity_id: u64,
    /// A token of each player.
    pub tokens: Vec<String>,
    folder: PathBuf,
}

impl Drop for PageServer {
    fn drop(&mut self) {
        // A failure only leaves a folder behind.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl PageServer {
    pub(super) fn build(options: &BenchOptions) -> anyhow::Result<Self> {
        let memory = Path::new(MEMORY_FOLDER);
        let parent = if memory.is_dir() { memory.to_owned() } else { paths::target() };
        let folder = parent.join(format!("skald-page-bench-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let skald = |words: &[&str]| {
            let mut command = Command::new(&options.skald);
            command.args(words).args(["--store", &format!("sqlite:{}", folder.join("world.db").display())]);
            command.current_dir(&folder);
            command
        };
        let mut owner = Agent::start(&mut skald(&["mcp"]))?;
        let (campaign_id, participants) = create_table(&mut owner)?;
        let entity_id = create_lore(&mut owner, &campaign_id)?;
        create_timeline(&mut owner, &campaign_id, entity_id)?;
        create_other_campaigns(&mut owner)?;
        owner.close()?;
        let mut tokens = Vec::new();
        for participant in &participants {
            let words = ["token", "create", "Player", "--json", "--role", "player", "--for", &campaign_id];
            let options = ["--participant", participant, "--page", "0"];
            let created: Value = serde_json::from_str(&run::run_captured(skald(&words).args(options))?)?;
            tokens.push(created["token"].as_str().context("there is no token")?.to_owned());
        }
        let server = BenchServer::start(
            |port| {
                let mut command = skald(&["serve", "--grpc-addr", "off"]);
                command.args(["--http-addr", &format!("127.0.0.1:{port}")]);
                command
            },
            Stdio::null(),
        )?;
        Ok(Self { server, campaign_id, entity_id, tokens, folder })
    }

    /// The request for a page or a file, as the owner's browser on this machine sends it.
    pub(super) fn get_request(&self, path: &str, accepted_encodings: &str) -> String {
        let host = self.server.address;
        format!("GET {path} HTTP/1.1\r\nhost: {host}\r\naccept-encoding: {accepted_encodings}\r\n\r\n")
    }

    /// Stores a note in the session that goes on, over REST.
    pub(super) fn take_note(&self, connection: &mut Connection, text: &str) -> anyhow::Result<()> {
        let (host, body) = (self.server.address, json!({"campaign_id": self.campaign_id, "text": text}).to_string());
        let request = format!(
            "POST /api/v1/session_note HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        connection.exchange(request.as_bytes()).context("a note cannot be stored")
    }
}

fn text_field(answer: &Value, field: &str) -> anyhow::Result<String> {
    answer[field].as_str().map(str::to_owned).with_context(|| format!("there is no {field} in {answer}"))
}

/// A campaign with players, characters, and a session with a full log. Returns its id and those of the players.
fn create_table(owner: &mut Agent) -> anyhow::Result<(String, Vec<String>)> {
    let (_, created) = owner.call("campaign_create", &json!({"name": "The Drowned Bells", "gm_mode": "AI"}))?;
    let campaign_id = text_field(&created, "id")?;
    let (mut participants, mut actors) = (Vec::new(), Vec::new());
    for number in 0..PLAYERS {
        let player = json!({"campaign_id": campaign_id, "display_name": format!("Player {number}"), "role": "PLAYER"});
        let player = text_field(&owner.call("participant_create", &player)?.1, "id")?;
        let actor = json!({"campaign_id": campaign_id, "name": format!("Character {number}"), "kind": "PC",
            "controller": player, "template": "daggerheart"});
        actors.push(text_field(&owner.call("actor_create", &actor)?.1, "id")?);
        participants.push(player);
    }
    let session = json!({"campaign_id": campaign_id, "name": "The first bell"});
    let session = text_field(&owner.call("session_start", &session)?.1, "id")?;
    for (number, actor) in actors.iter().cycle().take(LOG_ROWS).enumerate() {
        let reason = format!("Deed number {number}");
        owner.call(
            "duality_action_roll",
            &json!({"session_id": session, "actor_id": actor, "modifier": 2, "difficulty": 14, "reason": reason}),
        )?;
    }
    Ok((campaign_id, participants))
}

/// Creates the entities. Returns the id of the first one, which some others mention.
fn create_lore(owner: &mut Agent, campaign_id: &str) -> anyhow::Result<u64> {
    let mut words = PseudoRandomWords(1);
    let mut first = None;
    for batch in 0..ENTITIES / BATCH {
        let mention = first.filter(|_| batch <= MENTIONS).map(|id| format!(" [entity:{id}]")).unwrap_or_default();
        let entities: Vec<Value> = (0..BATCH)
            .map(|at| {
                let number = batch * BATCH + at;
                json!({
                    "entity_type": TYPES[number % TYPES.len()],
                    "name": format!("{} {number}", words.text(2)),
                    "entry": format!("{}{}", words.text(ENTRY_WORDS), if at == 0 { &mention } else { "" }),
                    "tags": [words.text(1)],
                })
            })
            .collect();
        let (_, answer) = owner.call("create_entities", &json!({"campaign_id": campaign_id, "entities": entities}))?;
        let created = answer["results"].as_array().context("there are no results")?;
        let is_created = |result: &Value| result["success"] == json!(true);
        ensure!(created.len() == BATCH && created.iter().all(is_created), "a batch was answered: {answer}");
        first = first.or(created[0]["entity_id"].as_u64());
    }
    first.context("no entity was created")
}

/// Events about the entity.
fn create_timeline(owner: &mut Agent, campaign_id: &str, entity_id: u64) -> anyhow::Result<()> {
    for number in 1..=EVENTS {
        let event = json!({"campaign_id": campaign_id, "method": "add", "date": format!("Year {number}"),
            "sort": format!("{number:04}-01-01"), "description": format!("Bell number {number} rang."),
            "entity_ids": [entity_id]});
        owner.call("timeline", &event)?;
    }
    Ok(())
}

fn create_other_campaigns(owner: &mut Agent) -> anyhow::Result<()> {
    for number in 1..=OTHER_CAMPAIGNS {
        let campaign = json!({"name": format!("Another table {number}"), "gm_mode": "AI"});
        let campaign_id = text_field(&owner.call("campaign_create", &campaign)?.1, "id")?;
        owner.call("session_start", &json!({"campaign_id": campaign_id, "name": "The first bell"}))?;
        owner.call("session_note", &json!({"campaign_id": campaign_id, "scene": "The drowned square"}))?;
    }
    Ok(())
}

/// Words in an order that is the same in every run.
struct PseudoRandomWords(usize);

impl PseudoRandomWords {
    fn text(&mut self, count: usize) -> String {
        let words = (0..count).map(|_| {
            // The multiplier and the increment of a well-known generator of 31 bits; its higher bits are the better ones.
            self.0 = (self.0 * 1_103_515_245 + 12_345) % (1 << 31);
            WORDS[(self.0 >> 16) % WORDS.len()]
        });
        words.collect::<Vec<_>>().join(" ")
    }
}
