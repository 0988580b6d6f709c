//! Tests of `skald kanka` with real processes: two servers of which one mirrors the other, killed in between.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::RunningProgram;
use crate::program_under_test::World;
use crate::rest_client::RestClient;

/// How long a write may take to arrive: the longest pause between two attempts, and the lease of a killed process.
const PATIENCE: Duration = Duration::from_secs(90);

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
        assert!(began.elapsed() < PATIENCE, "{what}");
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
        found["mirror"]["stale"] == true && found["mirror"]["pending"].as_u64() > Some(1)
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
    for file in fs::read_dir(here.world.folder()).expect("a folder") {
        let path = file.expect("a file").path();
        if path.is_file() && path.file_name().is_some_and(|name| name != "kanka-token") {
            let bytes = fs::read(&path).expect("a file");
            assert!(!bytes.windows(token.len()).any(|part| part == token.as_bytes()), "{}", path.display());
        }
    }
    let verified = here.world.run(&["verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
