//! Tests of `skald kanka` with real processes: two servers of which one mirrors the other, killed in between.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::RunningProgram;
use crate::program_under_test::World;
use crate::rest_client::RestClient;

/// How long a write may take to arrive: the longest pause between two attempts, and the lease of a killed process.
const WAIT_MAX: Duration = Duration::from_secs(90);

/// How long a killed process keeps the lease of a mirror.
const LEASE: Duration = Duration::from_secs(16);
/// The mirror is killed so often, or a tenth of `SKALD_KILLS`, since each kill costs the lease.
const KILLS_MIN: u64 = 2;

/// A program with a store of its own, whose server has the same address every time.
struct Skald {
    world: World,
    address: String,
    token_file: String,
}

impl Skald {
    fn new() -> Self {
        let world = World::sqlite();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("an address").to_string();
        let token_file = world.folder().join("kanka-token").display().to_string();
        Self { world, address, token_file }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.world.command(arguments);
        command.env_remove("SKALD_KANKA_TOKEN").env("SKALD_KANKA_TOKEN_FILE", &self.token_file);
        // A proxy that does not answer: what leads to this machine does not go through it.
        command.env("HTTP_PROXY", "http://127.0.0.1:9").env("http_proxy", "http://127.0.0.1:9");
        command
    }

    fn serve(&self) -> (RunningProgram, RestCaller) {
        let (running, address) = RunningProgram::start_server(self.command(&["serve", "--http-addr", &self.address]));
        (running, RestCaller(address))
    }

    fn kanka(&self, arguments: &[&str]) -> Output {
        let command = &mut self.command(&[&["kanka"], arguments, &["--campaign", "Bells", "--json"]].concat());
        command.stdin(Stdio::null()).output().expect("the binary starts")
    }

    fn kanka_ok(&self, arguments: &[&str]) -> Value {
        let output = self.kanka(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// What a command prints for people.
    fn kanka_text(&self, arguments: &[&str]) -> String {
        let command = &mut self.command(&[&["kanka"], arguments, &["--campaign", "Bells"]].concat());
        let output = command.stdin(Stdio::null()).output().expect("the binary starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Whether no file below a folder has the text.
    fn assert_nowhere(folder: &Path, text: &str) {
        for file in fs::read_dir(folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.is_dir() {
                Self::assert_nowhere(&path, text);
            } else if path.file_name().is_some_and(|name| name != "kanka-token") {
                let bytes = fs::read(&path).expect("a file");
                assert!(!bytes.windows(text.len()).any(|part| part == text.as_bytes()), "{}", path.display());
            }
        }
    }

    fn write_token(&self, token: &str, mode: u32) {
        fs::write(&self.token_file, token).expect("a file");
        fs::set_permissions(&self.token_file, fs::Permissions::from_mode(mode)).expect("a mode");
    }
}

/// Calls a server, each time over a new connection: the server may be another one by then.
struct RestCaller(SocketAddr);

impl RestCaller {
    fn ok(&self, operation: &str, input: &Value) -> Value {
        RestClient::new(self.0).call(operation, input)
    }
}

fn names(client: &RestCaller, campaign_id: &str) -> Vec<String> {
    let found = client.ok("find_entities", &json!({"campaign_id": campaign_id, "limit": 0}));
    let rows = found["entities"].as_array().expect("entities").clone();
    let mut names: Vec<String> = rows.iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect();
    names.sort();
    names
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < WAIT_MAX, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_mirror_that_is_killed_while_the_other_place_is_down_loses_nothing_and_repeats_nothing() {
    let (there, here) = (Skald::new(), Skald::new());
    let (upstream, remote) = there.serve();
    let remote_id = remote.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "HUMAN"}))["id"].clone();
    let remote_id = remote_id.as_str().expect("an id").to_owned();
    let (status, campaigns) = RestClient::new(remote.0).get("/api/kanka/1.0/campaigns");
    assert_eq!(status, 200, "{campaigns}");
    let number = campaigns["data"][0]["id"].to_string();
    let create = |client: &RestCaller, id: &str, name: &str| {
        let entity = json!({"entity_type": "location", "name": name, "entry": "Text.", "is_private": false});
        client.ok("create_entities", &json!({"campaign_id": id, "entities": [entity]}))["results"][0].clone()
    };
    create(&remote, &remote_id, "Inn");
    let (token, _) = there.world.create_token(&["mirror", "--role", "gm"]);

    let (server, local) = here.serve();
    let id = local.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "HUMAN"}))["id"].clone();
    let id = id.as_str().expect("an id").to_owned();
    let base_url = format!("http://{}/api/kanka/1.0", there.address);
    here.write_token(&token, 0o644);
    let refused = here.kanka(&["link", &number, "--base-url", &base_url]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && said.contains("chmod 600") && !said.contains(&token), "{said}");
    here.write_token(&token, 0o600);
    let linked = here.kanka_ok(&["link", &number, "--base-url", &base_url]);
    assert_eq!((&linked["linked"], &linked["pulled"]), (&json!(true), &json!(1)), "{linked}");
    assert_eq!(names(&local, &id), ["Inn"]);

    // The server sends by itself what is written.
    create(&local, &id, "Gate");
    wait_until("a write does not arrive", || names(&remote, &remote_id).len() == 2);

    // With the other place down, reads work and say that they are stale; writes wait, also for a killed process.
    upstream.kill();
    let written = create(&local, &id, "Harbour");
    let post = json!({"entity_id": written["entity_id"], "name": "Rumour", "entry": "Smugglers."});
    local.ok("create_posts", &json!({"campaign_id": id, "posts": [post]}));
    wait_until("it is not noticed that the other place is down", || {
        let found = local.ok("find_entities", &json!({"campaign_id": id}));
        assert_eq!(found["sync_info"]["total_count"], 3);
        found["mirror"]["stale"] == true && found["mirror"]["pending"] == 1
    });
    server.kill();
    let (server, local) = here.serve();
    assert_eq!(names(&local, &id), ["Gate", "Harbour", "Inn"]);
    create(&local, &id, "Mill");
    let (upstream, remote) = there.serve();
    wait_until("what waited does not arrive", || names(&remote, &remote_id).len() == 4);
    wait_until("something still waits", || {
        let status = local.ok("kanka_mirror", &json!({"campaign_id": id}));
        status["pending"] == 0 && status["stale"] == false
    });
    assert_eq!(names(&remote, &remote_id), ["Gate", "Harbour", "Inn", "Mill"], "each once");
    let old = json!({"campaign_id": id, "entity_ids": [written["entity_id"]], "include_posts": true});
    let harbour = local.ok("get_entities", &old)["results"][0].clone();
    assert_eq!((&harbour["name"], harbour["posts"].as_array().map(Vec::len)), (&json!("Harbour"), Some(1)));
    let same = json!({"campaign_id": remote_id, "entity_ids": [harbour["entity_id"]], "include_posts": true});
    let same = remote.ok("get_entities", &same)["results"][0].clone();
    assert_eq!((&same["name"], &same["posts"][0]["entry"]), (&json!("Harbour"), &json!("Smugglers.")));

    // The token is in no log and in nothing that is stored.
    for program in [&server, &upstream] {
        assert!(!program.stderr().contains(&token));
    }
    server.kill();
    Skald::assert_nowhere(here.world.folder(), &token);
    let verified = here.world.run(&["verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

/// A campaign there with a token for it, and one of the same name here that is linked to it.
struct LinkedPair {
    there: Skald,
    here: Skald,
    remote_id: String,
    id: String,
    token: String,
}

impl LinkedPair {
    /// Links the two, with the servers of neither running afterwards. `names` are locations there.
    fn new(names: &[String]) -> Self {
        let (there, here) = (Skald::new(), Skald::new());
        let (upstream, remote) = there.serve();
        let (server, local) = here.serve();
        let new = json!({"name": "Bells", "gm_mode": "HUMAN"});
        let id_of = |client: &RestCaller| client.ok("campaign_create", &new)["id"].as_str().expect("an id").to_owned();
        let (remote_id, id) = (id_of(&remote), id_of(&local));
        server.kill();
        let location =
            |name: &String| json!({"entity_type": "location", "name": name, "entry": "Text.", "is_private": false});
        for part in names.chunks(50) {
            let entities: Vec<Value> = part.iter().map(location).collect();
            remote.ok("create_entities", &json!({"campaign_id": remote_id, "entities": entities}));
        }
        let (_, campaigns) = RestClient::new(remote.0).get("/api/kanka/1.0/campaigns");
        let (token, _) = there.world.create_token(&["mirror", "--role", "gm"]);
        here.write_token(&token, 0o600);
        let base_url = format!("http://{}/api/kanka/1.0", there.address);
        let linked = here.kanka_ok(&["link", &campaigns["data"][0]["id"].to_string(), "--base-url", &base_url]);
        assert_eq!(linked["pulled"], names.len(), "{linked}");
        upstream.kill();
        Self { there, here, remote_id, id, token }
    }
}

/// Writes an entry into all locations of a campaign.
fn write_entries(client: &RestCaller, campaign_id: &str, entry: &str) {
    let found = client.ok("find_entities", &json!({"campaign_id": campaign_id, "limit": 0, "include_full": false}));
    let update = |row: &Value| json!({"entity_id": row["entity_id"], "entry": entry});
    let updates: Vec<Value> = found["entities"].as_array().expect("rows").iter().map(update).collect();
    for part in updates.chunks(50) {
        client.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": part}));
    }
}

#[test]
fn the_commands_sync_list_resolve_and_unlink() {
    let names: Vec<String> = (0..60).map(|number| format!("Place {number}")).collect();
    let pair = LinkedPair::new(&names);
    let (here, there) = (&pair.here, &pair.there);
    let status = here.kanka_text(&["status"]);
    assert!(status.contains("it is up to date") && status.contains("synced at: 20"), "{status}");

    // Written here while the other place is down, and there while nothing syncs.
    let (server, local) = here.serve();
    write_entries(&local, &pair.id, "Ours.");
    server.kill();
    assert!(!here.kanka(&["push"]).status.success(), "the other place is down");
    let status = here.kanka_text(&["status"]);
    assert!(status.contains("60 changed entities wait") && status.contains("unreachable at 20"), "{status}");
    let (upstream, remote) = there.serve();
    write_entries(&remote, &pair.remote_id, "Theirs.");
    let pulled = here.kanka_ok(&["pull"]);
    assert_eq!((&pulled["conflict_count"], pulled.get("failure")), (&json!(60), None), "{pulled}");
    let listed = here.kanka_ok(&["conflicts"]);
    assert_eq!((listed["conflicts"].as_array().map(Vec::len), listed.get("next_cursor")), (Some(60), None));
    let text = here.kanka_text(&["conflicts"]);
    assert!(names.iter().all(|name| text.contains(&format!("{name} ("))), "{text}");
    assert!(text.contains("here:  Ours.") && text.contains("there: Theirs."), "{text}");

    let first = listed["conflicts"][0]["entity_id"].to_string();
    let entry = |client: &RestCaller, id: &str| {
        let input = json!({"campaign_id": id, "entity_ids": [first.parse::<u64>().expect("an id")]});
        client.ok("get_entities", &input)["results"][0]["entry"].clone()
    };
    let resolved = here.kanka_ok(&["resolve", &first, "--keep", "ours", "--field", "entry"]);
    assert_eq!(
        (&resolved["conflict_count"], entry(&remote, &pair.remote_id)),
        (&json!(59), json!("Ours.")),
        "{resolved}"
    );
    // While the other place is down it is resolved here, and sent later. What is no conflict is refused.
    let second = listed["conflicts"][1]["entity_id"].to_string();
    let upstream = {
        upstream.kill();
        let resolved = here.kanka_ok(&["resolve", &second, "--keep", "ours"]);
        assert_eq!(resolved["conflict_count"], 58, "{resolved}");
        assert!(!here.kanka(&["resolve", &second, "--keep", "ours"]).status.success(), "it is resolved already");
        assert!(!here.kanka(&["resolve", "999999", "--keep", "ours"]).status.success());
        there.serve().0
    };
    here.kanka_ok(&["push"]);
    let pushed = here.kanka_ok(&["push"]);
    assert_eq!((&pushed["pending"], &pushed["sent"]), (&json!(0), &json!(0)), "{pushed}");

    let unlinked = here.kanka_ok(&["unlink"]);
    assert_eq!(unlinked["linked"], false, "{unlinked}");
    write_entries(&remote, &pair.remote_id, "Later.");
    assert!(!here.kanka(&["pull"]).status.success(), "it is not linked any more");

    // The token is in no backup, in no export and on no page.
    let folder = here.world.folder();
    let (backup, export) = (folder.join("copy.db"), folder.join("export"));
    let (backup, export) = (backup.display().to_string(), export.display().to_string());
    assert!(here.world.run(&["backup", &backup]).status.success());
    assert!(here.world.run(&["export", &export, "--campaign", "Bells"]).status.success());
    Skald::assert_nowhere(folder, &pair.token);
    let (server, local) = here.serve();
    for path in [format!("/c/{}/kanka", pair.id), format!("/c/{}/lore", pair.id)] {
        let reply = skald_testkit::Client::connect(local.0).send("GET", &path, &[], b"");
        assert!(!reply.text().contains(&pair.token), "{path}");
    }
    server.kill();
    upstream.kill();
}

#[test]
fn a_mirror_that_is_killed_at_any_moment_sends_each_write_once() {
    let kills = std::env::var("SKALD_KILLS").map_or(0, |kills| kills.parse::<u64>().expect("a number") / 10);
    let kills = kills.max(KILLS_MIN);
    let pair = LinkedPair::new(&[]);
    let (upstream, remote) = pair.there.serve();
    let mut expected = Vec::new();
    for kill in 0..kills {
        let (server, local) = pair.here.serve();
        for number in 0..4 {
            let name = format!("E{kill}-{number}");
            let entity = json!({"entity_type": "note", "name": name, "entry": "Text."});
            let created = local.ok("create_entities", &json!({"campaign_id": pair.id, "entities": [entity]}));
            let post = json!({"entity_id": created["results"][0]["entity_id"], "name": "Rumour", "entry": "Heard."});
            local.ok("create_posts", &json!({"campaign_id": pair.id, "posts": [post]}));
            expected.push(name);
        }
        // Somewhere between the first request and the last answer.
        std::thread::sleep(Duration::from_millis(kill * 67 % 311));
        server.kill();
        std::thread::sleep(LEASE);
    }
    expected.sort();
    let (server, local) = pair.here.serve();
    wait_until("what waited does not arrive", || {
        let status = local.ok("kanka_mirror", &json!({"campaign_id": pair.id}));
        status["pending"] == 0 && status["stale"] == false && names(&remote, &pair.remote_id).len() >= expected.len()
    });
    assert_eq!(names(&remote, &pair.remote_id), expected, "each once");
    let found = remote.ok("find_entities", &json!({"campaign_id": pair.remote_id, "limit": 0}));
    for row in found["entities"].as_array().expect("rows") {
        let input = json!({"campaign_id": pair.remote_id, "entity_ids": [row["entity_id"]], "include_posts": true});
        let posts = remote.ok("get_entities", &input)["results"][0]["posts"].as_array().map(Vec::len);
        assert_eq!(posts, Some(1), "{row}");
    }
    assert_eq!(names(&local, &pair.id), expected);
    server.kill();
    upstream.kill();
}
