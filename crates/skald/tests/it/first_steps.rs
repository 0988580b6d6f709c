//! Tests of what people type first, and of what they are told: on a terminal, on a taken port, with another store, and
//! after a backup was restored.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use skald_testkit::TemporaryFolder;
use skald_testkit::mcp_messages::{initialize, request};

use crate::gate_workspace::{GateWorkspace, text};
use crate::process::{RunningProgram, run, skald_command};
use crate::program_under_test::{Surface, World};

fn stdout(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

fn stderr_of_failure(mut command: Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("the binary starts");
    assert!(!output.status.success(), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn an_expression_needs_no_quotes() {
    let whole = stdout(&["roll", "2d6+3", "--seed", "42"]);
    assert_eq!(stdout(&["roll", "2d6", "+", "3", "--seed", "42"]), whole);
    assert_eq!(stdout(&["roll", "--seed", "42", "2d6", "+3"]), whole);
    assert_eq!(stdout(&["roll", "d20", "-1", "--seed", "42"]), stdout(&["roll", "d20-1", "--seed", "42"]));
    assert_eq!(stdout(&["roll", "2d6", "-1d4", "--seed", "42"]), stdout(&["roll", "2d6-1d4", "--seed", "42"]));
    assert!(stderr_of_failure(skald_command(&["roll", "2d6", "--sede", "42"])).contains("--sede"));
    assert_eq!(stdout(&["odds", "4d6", "drop", "lowest"]), stdout(&["odds", "4d6 drop lowest"]));
    assert!(stderr_of_failure(skald_command(&["roll"])).contains("EXPRESSION"));
}

#[test]
fn the_version_is_a_command_too() {
    assert_eq!(stdout(&["version"]), stdout(&["--version"]));
    assert_eq!(stdout(&["version"]), format!("skald {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn before_the_first_world_a_list_says_how_to_begin() {
    let home = TemporaryFolder::new();
    for arguments in [&["campaign", "list"][..], &["campaign", "recap"], &["universe", "list"]] {
        let mut command = skald_command(arguments);
        command.env("HOME", home.file("")).env_remove("XDG_DATA_HOME").env_remove("SKALD_STORE");
        let error = stderr_of_failure(command);
        assert!(error.contains("there is no world yet at ") && error.contains("start `skald serve`"), "{error}");
    }
    let file = home.file("notes.md");
    std::fs::write(&file, "no folder").expect("a file");
    let below = format!("sqlite:{}/skald.db", file.display());
    let error = stderr_of_failure(skald_command(&["campaign", "list", "--store", &below]));
    assert!(error.contains("notes.md/skald.db cannot be read: "), "{error}");
}

#[test]
fn campaigns_are_listed_and_told_again_in_a_terminal() {
    let world = World::sqlite();
    let (mut client, server) = world.client(Surface::Rest);
    assert!(text(&world.run(&["campaign", "list"]).stdout).starts_with("There are no campaigns yet."));
    client.ok("campaign_create", &json!({"name": "The Drowned Bells", "gm_mode": "AI"}));
    client.ok("session_start", &json!({"name": "The first bell"}));
    client.ok("session_note", &json!({"text": "Something below counted her steps."}));
    let listed = text(&world.run(&["campaign", "list"]).stdout);
    let head: Vec<&str> = listed.lines().next().unwrap_or_default().split_whitespace().collect();
    assert_eq!(head, ["ID", "NAME", "STATUS", "CREATED"], "{listed}");
    assert!(listed.lines().nth(1).is_some_and(|row| row.contains("The Drowned Bells") && row.contains("ACTIVE")));
    for arguments in [&["campaign", "recap"][..], &["campaign", "recap", "the drowned bells"]] {
        let recap = text(&world.run(arguments).stdout);
        assert!(recap.starts_with("# The first bell\n"), "{recap}");
        assert!(recap.contains("Something below counted her steps."), "{recap}");
    }
    let unknown = stderr_of_failure(world.command(&["campaign", "recap", "The Salt Road"]));
    assert!(
        unknown.contains("there is no campaign \"The Salt Road\"; there are The Drowned Bells (camp_"),
        "{unknown}"
    );
    let session = stderr_of_failure(world.command(&["campaign", "recap", "--session", "sess_nowhere"]));
    assert!(session.contains("sess_nowhere") && !session.contains("there are The Drowned Bells"), "{session}");
    client.ok("campaign_create", &json!({"name": "Open Sea", "gm_mode": "AI"}));
    let missing = stderr_of_failure(world.command(&["campaign", "recap"]));
    assert!(missing.contains("more than one campaign") && missing.contains("Open Sea (camp_"), "{missing}");
    for error in [unknown, missing] {
        assert!(!error.contains("campaign_read") && !error.contains("set_context"), "{error}");
    }
    drop(server);
}

#[test]
fn a_campaign_is_created_in_a_terminal_before_there_is_a_store() {
    let folder = TemporaryFolder::new();
    let command = |arguments: &[&str]| {
        let mut command = skald_command(arguments);
        command.env("HOME", folder.file(".")).env("XDG_DATA_HOME", folder.file("data")).env_remove("SKALD_STORE");
        command.stdin(Stdio::null());
        command
    };
    let output = |arguments: &[&str]| {
        let output = command(arguments).output().expect("the binary starts");
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    };
    let told = output(&["campaign", "create", "The Drowned Bells", "--about", "Bells below the water."]);
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(told.starts_with("Created The Drowned Bells (camp_") && told.contains("start `skald serve` and"), "{told}");
    assert!(told.trim_end().contains("open http://127.0.0.1:8081/c/camp_"), "{told}");
    assert!(output(&["campaign", "list"]).contains("The Drowned Bells"));
    let created = output(&["campaign", "create", "Open Sea", "--run-by", "hybrid", "--json"]);
    let created: Value = serde_json::from_str(&created).expect("JSON");
    let id = created["id"].as_str().expect("an id");
    assert_eq!(created, json!({"id": id, "name": "Open Sea", "page": format!("http://127.0.0.1:8081/c/{id}")}));
    let refused = stderr_of_failure(command(&["campaign", "create", " "]));
    assert!(refused.contains("name"), "{refused}");
    let refused = stderr_of_failure(command(&["campaign", "create", "Fog", "--run-by", "nobody"]));
    assert!(refused.contains("human, ai, hybrid"), "{refused}");
    // On a store that is named, the next step says so.
    let store = format!("sqlite:{}", folder.file("other.db").display());
    let told = output(&["campaign", "create", "Fog", "--store", &store]);
    assert!(told.contains("start `skald serve` with the same store"), "{told}");
    let empty = format!("sqlite:{}", folder.file("empty.db").display());
    output(&["token", "create", "Ada", "--store", &empty]);
    let none = stderr_of_failure(command(&["campaign", "recap", "--store", &empty]));
    assert!(none.contains("there is no campaign yet; `skald campaign create NAME` makes one"), "{none}");
}

#[test]
fn a_second_server_is_told_who_is_there() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let http = server.address.to_string();
    let told = stderr_of_failure(world.command(&["serve", "--http-addr", &http]));
    let version = env!("CARGO_PKG_VERSION");
    assert!(told.contains(&format!("a Skald is there already: version {version} serves {http}")), "{told}");
    assert!(told.contains("--http-addr"), "{told}");
    let grpc = server.grpc.to_string();
    let told = stderr_of_failure(world.command(&["serve", "--http-addr", "127.0.0.1:0", "--grpc-addr", &grpc]));
    assert!(told.contains("a Skald is there already") && told.contains("--grpc-addr"), "{told}");
}

#[test]
fn a_bridge_to_the_http_port_is_told_so() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let http = server.address.to_string();
    for transport in [&["--transport", "stdio"][..], &["--transport", "http", "--http-addr", "127.0.0.1:0"]] {
        let command = world.command(&[&["mcp", "--addr", &http], transport].concat());
        let running = RunningProgram::start(command);
        let (status, _, told) = running.wait_for_exit();
        assert!(!status.success());
        assert!(told.contains(&format!("{http} is the HTTP port of Skald")) && told.contains("gRPC"), "{told}");
    }
}

#[test]
fn a_gate_command_to_the_http_port_is_told_so() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let http = server.address.to_string();
    let told = stderr_of_failure(world.command(&["gate", "list-runs", "--addr", &http]));
    assert!(told.contains(&format!("{http} is the HTTP port of Skald")) && told.contains("gRPC"), "{told}");
}

#[test]
fn an_empty_toolset_is_refused() {
    let told = stderr_of_failure(skald_command(&["mcp", "--toolsets", ""]));
    assert!(told.contains("no toolset is named"), "{told}");
    // Whatever toolset a client names, it sees something of it, also where nothing may change.
    for toolset in ["dice", "campaign", "lore", "canon", "gate", "universe"] {
        for read_only in [&[][..], &["--read-only"]] {
            let arguments = [&["mcp", "--toolsets", toolset], read_only].concat();
            let mut running = RunningProgram::start(skald_command(&arguments));
            running.send_and_receive(&initialize("2025-11-25"));
            let listed = running.send_and_receive(&request(2, "tools/list", &json!({})));
            let tools = listed["result"]["tools"].as_array().expect("tools");
            assert!(!tools.is_empty(), "{arguments:?}");
        }
    }
}

#[test]
fn the_doctor_speaks_of_the_store_that_is_named() {
    let folder = TemporaryFolder::new();
    let file = folder.file("evening.db");
    let mut command = skald_command(&["doctor", "--http-addr", "127.0.0.1:0", "--store", "sqlite:evening.db"]);
    let output = command.current_dir(folder.file(".")).stdin(Stdio::null()).output().expect("the binary starts");
    let told = text(&output.stdout);
    let file = file.canonicalize().expect("the doctor has opened it");
    let named = format!("sqlite:{}", file.display());
    // Six clients over stdio, and the command of one of them.
    assert_eq!(told.matches(&named).count(), 7, "{told}");
    assert!(told.contains(&format!("ok    store: {} opens, nothing is in it yet", file.display())), "{told}");
    assert!(told.starts_with(&format!("# Skald {}\n", env!("CARGO_PKG_VERSION"))), "{told}");
    assert!(told.contains("CHANGELOG.md") && told.contains("--grpc-addr 0.0.0.0:8080"), "{told}");
    let mut command = skald_command(&["doctor", "--http-addr", "127.0.0.1:0"]);
    command.env_remove("SKALD_STORE").env("XDG_DATA_HOME", folder.file("data")).env("HOME", folder.file("."));
    let told = text(&command.stdin(Stdio::null()).output().expect("the binary starts").stdout);
    assert!(!told.contains("--store"), "{told}");
    assert!(told.contains(&format!("ok    store: {} opens", folder.file("data/skald/skald.db").display())), "{told}");
}

/// A client passes none of these on, and the store of the check knows no token and no campaign.
#[test]
fn the_doctor_starts_skald_as_a_client_would() {
    for (name, value) in [
        ("SKALD_TOKEN", "skald_7ny22y6dntku_unknown"),
        ("SKALD_TOKEN_FILE", "/no/such/file"),
        ("SKALD_ADDR", "127.0.0.1:1"),
        ("SKALD_CAMPAIGN", "no such campaign"),
    ] {
        let mut command = skald_command(&["doctor", "--http-addr", "127.0.0.1:0"]);
        let output = command.env(name, value).stdin(Stdio::null()).output().expect("the binary starts");
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(output.status.success() && printed.contains("ok    handshake: skald answered"), "{name}: {printed}");
    }
}

#[test]
fn the_doctor_prints_no_password() {
    let store = "postgres://nils:hush@127.0.0.1:1/skald?password=hush";
    let output = run(&["doctor", "--http-addr", "127.0.0.1:0", "--store", store]);
    let told = text(&output.stdout) + &text(&output.stderr);
    assert!(!told.contains("hush"), "{told}");
    let shown = "postgres://nils:…@127.0.0.1:1/skald?password=…";
    assert!(told.contains(&format!("\"SKALD_STORE\": \"{shown}\"")), "{told}");
    assert!(told.contains("FAIL  store") && told.contains("Put the password of the database"), "{told}");
}

#[test]
fn the_doctor_prints_an_address_that_answers_and_the_token_that_it_needs() {
    let open = stdout(&["doctor", "--http-addr", "0.0.0.0:0", "--allowed-hosts", "table.example"]);
    assert!(open.contains("http://table.example:0/mcp") && !open.contains("http://0.0.0.0"), "{open}");
    assert!(open.contains("--header \"Authorization: Bearer $TOKEN\"") && open.contains("Bearer skald_…"), "{open}");
    let private = stdout(&["doctor", "--http-addr", "127.0.0.1:0"]);
    assert!(private.contains("http://127.0.0.1:0/mcp") && !private.contains("Bearer"), "{private}");
    // A server that runs says itself whether it requires a token.
    let world = World::sqlite();
    world.create_token(&["Ada", "--role", "gm"]);
    let server = world.serve(&["--require-token"]);
    let told = stdout(&["doctor", "--http-addr", &server.address.to_string()]);
    assert!(told.contains(&format!("http://{}/mcp --header", server.address)), "{told}");
}

#[test]
fn the_banner_of_an_open_server_names_an_address_that_answers() {
    let world = World::sqlite();
    let (token, _) = world.create_token(&["Nils", "--role", "gm"]);
    let command = world.command(&["serve", "--http-addr", "0.0.0.0:0"]);
    let (running, address) = RunningProgram::start_server(command);
    assert!(address.ip().is_loopback(), "{address}");
    let mut client = skald_testkit::Client::connect(address);
    let host = address.to_string();
    let authorization = format!("Bearer {token}");
    let headers = [("Host", host.as_str()), ("Authorization", authorization.as_str())];
    let answer = client.send("GET", "/api/v1/campaigns", &headers, b"");
    assert_eq!(answer.status, 200, "{}", answer.text());
    let rest: Vec<String> = std::iter::from_fn(|| running.next_line()).take(12).collect();
    let rest = rest.join("\n");
    assert!(rest.contains("--allowed-hosts NAME") && rest.contains("--grpc-addr 0.0.0.0:"), "{rest}");
    assert!(rest.contains(&format!("store    {}", world.store().trim_start_matches("sqlite:"))), "{rest}");
}

/// `script` gives a program a terminal.
#[cfg(target_os = "linux")]
#[test]
fn on_a_terminal_it_says_what_it_waits_for() {
    let binary = env!("CARGO_BIN_EXE_skald");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("'{binary}' mcp --store memory"), "/dev/null"]).env_remove("SKALD_ADDR");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("script");
    let output = child.stdout.take().expect("an output");
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(output)).map_while(Result::ok);
    let told = lines.find(|line| line.contains("waits for an MCP client"));
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    assert!(told.is_some());
    // A client, whose input is a pipe, reads nothing of it.
    let quiet = run(&["mcp"]);
    assert!(quiet.stdout.is_empty() && !text(&quiet.stderr).contains("waits for"), "{quiet:?}");
}

#[cfg(unix)]
fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_backup_has_the_evidence_that_lies_in_files() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let folder = desk.gate_json(&["get-state"])["artifact_base_path"].as_str().expect("a folder").to_owned();
    std::fs::create_dir_all(format!("{folder}/notes")).expect("a folder");
    std::fs::write(format!("{folder}/notes/repro.md"), "Ring the bell twice.").expect("a file");
    desk.gate_output(&["emit-event", "--event", "submit_repro", "--artifact-paths", "notes/repro.md"]);
    let backup = desk.run_with_input(&["backup", "evening.db"], "");
    let told = text(&backup.stdout);
    assert!(backup.status.success() && told.contains("evening.db.evidence: 1 files of evidence"), "{backup:?}");
    let copy = desk.file("evening.db.evidence/run-1/notes/repro.md");
    assert_eq!((mode(&copy), mode(&desk.file("evening.db"))), (0o600, 0o600));

    // Restored on another machine: other paths, nothing of the old folder, and a mode that everybody can read.
    std::fs::remove_dir_all(&folder).expect("a folder");
    let state = |store: &str| -> Value {
        let mut command = desk.command(&["gate", "get-state", "--run-id", "run-1", "--json"]);
        let output = command.env("SKALD_STORE", store).stdin(Stdio::null()).output().expect("the binary starts");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    };
    let old = format!("sqlite:{}", desk.file("world.db").display());
    assert_eq!(state(&old)["stale_artifacts"], json!(["notes/repro.md"]), "its file is gone");
    std::fs::create_dir(desk.file("elsewhere")).expect("a folder");
    for (from, to) in [("evening.db", "elsewhere/skald.db"), ("evening.db.evidence", "elsewhere/skald.db.evidence")] {
        std::fs::rename(desk.file(from), desk.file(to)).expect("a copy");
    }
    let restored = desk.file("elsewhere/skald.db");
    let evidence = desk.file("elsewhere/skald.db.evidence");
    let evidence_file = evidence.join("run-1/notes/repro.md");
    for (path, mode) in
        [(&restored, 0o644), (&evidence, 0o755), (&evidence.join("run-1"), 0o755), (&evidence_file, 0o644)]
    {
        std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).expect("a mode");
    }
    let new = format!("sqlite:{}", restored.display());
    assert_eq!(state(&new)["stale_artifacts"], Value::Null, "the evidence came along");
    assert_eq!(mode(&restored), 0o600, "a restored store is private again");
    assert_eq!((mode(&evidence), mode(&evidence_file)), (0o700, 0o600), "and so is its evidence");

    // A backup that would replace something is refused, and so is evidence that was changed.
    std::fs::write(desk.file("elsewhere/skald.db.evidence/run-1/notes/repro.md"), "Ring it once.").expect("a file");
    assert_eq!(state(&new)["stale_artifacts"], json!(["notes/repro.md"]));
    std::fs::create_dir(desk.file("again.db.evidence")).expect("a folder");
    let refused = desk.run_with_input(&["backup", "again.db"], "");
    assert!(!refused.status.success() && text(&refused.stderr).contains("a backup replaces nothing"), "{refused:?}");
}
