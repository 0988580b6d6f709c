//! Tests of command line options, their errors, and `skald doctor`.

use skald_testkit::TemporaryFolder;
use std::net::TcpListener;

use crate::process::{RunningProgram, run, skald_command};
use crate::test_stores::TestStore;

fn failing_stderr(arguments: &[&str]) -> String {
    let output = run(arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn wrong_options_are_explained() {
    let toolsets = failing_stderr(&["serve", "--toolsets", "dices"]);
    assert!(
        toolsets.contains("unknown toolset \"dices\", allowed: dice, campaign, lore, canon, gate, universe, all"),
        "{toolsets}"
    );
    assert!(failing_stderr(&["mcp", "--transport", "smoke"]).contains("[possible values: stdio, http]"));
    assert!(failing_stderr(&["serve", "--http-addr", "nowhere"]).contains("try 127.0.0.1:8081"));
    assert!(failing_stderr(&["serve", "--sessions", "maybe"]).contains("[possible values: on, off]"));
}

#[test]
fn the_world_is_not_let_in() {
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refusal = failing_stderr(&["serve", "--http-addr", address]);
        assert!(refusal.contains("refusing to listen") && refusal.contains("127.0.0.1"), "{refusal}");
    }
}

#[test]
fn a_taken_port_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refusal = failing_stderr(&["serve", "--http-addr", &address]);
    assert!(refusal.contains(&address) && refusal.contains("--http-addr"), "{refusal}");
}

#[test]
fn the_doctor_prints_configuration_and_checks_itself() {
    let output = run(&["doctor", "--http-addr", "127.0.0.1:0"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    let binary = std::fs::canonicalize(env!("CARGO_BIN_EXE_skald")).unwrap();
    for client in ["Claude Desktop", "Claude Code", "Cursor", "VS Code", "OpenCode", "LM Studio"] {
        assert!(text.contains(&format!("## {client}: ")), "{client} is missing");
    }
    assert!(text.matches(&binary.display().to_string()).count() >= 7, "{text}");
    assert_eq!(text.matches("\nok    ").count(), 6, "{text}");
    let told = text.split_once("skald answered over stdio with ").expect("a handshake").1;
    let tools: usize = told.split(' ').next().and_then(|count| count.parse().ok()).expect("a number of tools");
    let snapshots = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/tools")).unwrap();
    assert_eq!(tools, snapshots.count(), "as many as the reference has");
}

#[test]
fn the_doctor_sees_who_has_the_port() {
    let (running, address) = RunningProgram::serve(&[]);
    let grpc = running.grpc_address().to_string();
    let output = run(&["doctor", "--http-addr", &address.to_string(), "--grpc-addr", &grpc]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text.matches("is served by Skald").count(), 2, "{text}");
    assert!(text.contains(&format!("a bridge: skald mcp --addr {grpc}")), "{text}");
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = stranger.local_addr().unwrap().to_string();
    std::thread::spawn(move || stranger.incoming().for_each(drop));
    let output = run(&["doctor", "--http-addr", &address]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("FAIL  port"));
}

#[test]
fn options_come_from_the_environment_too() {
    let mut command = skald_command(&["mcp"]);
    command.env("SKALD_READ_ONLY", "true").env("SKALD_TOOLSETS", "dice");
    let mut running = RunningProgram::start(command);
    running.send_and_receive(&skald_testkit::mcp_messages::initialize("2025-11-25"));
    let listed =
        running.send_and_receive(&skald_testkit::mcp_messages::request(2, "tools/list", &serde_json::json!({})));
    assert_eq!(listed["result"]["tools"].as_array().map(Vec::len), Some(3));
}

#[test]
fn dice_are_rolled_and_weighed_in_a_terminal() {
    let shown = |arguments: &[&str]| String::from_utf8_lossy(&run(arguments).stdout).into_owned();
    let rolled = shown(&["roll", "4d6kh3+1", "--seed", "42"]);
    assert!(rolled.starts_with("4d6kh3+1 = 16\n  4d6kh3: 6 3 6 (2)\n  chance of this or better: 23.1 %\n"), "{rolled}");
    let weighed = shown(&["odds", "2d20kh1+5 >= 15", "--target", "0.8"]);
    assert!(weighed.contains("success: 79.8 % (319/400)\nneeded: +1 more (84.0 %)\n"), "{weighed}");
    assert_eq!(weighed.lines().filter(|line| line.contains('█')).count(), 20, "{weighed}");
    let json: serde_json::Value = serde_json::from_str(&shown(&["odds", "1d6", "--json"])).expect("JSON");
    assert_eq!(json["mean"]["fraction"], "7/2");
    let repeated = shown(&["roll", "3x(1d20 >= 11)", "--seed", "42"]);
    assert_eq!(repeated.matches("chance of this or better").count(), 0, "a comparison has its own: {repeated}");
    assert_eq!(repeated.matches("chance of success: 50.0 %").count(), 1, "{repeated}");
    let unknown = shown(&["roll", "1d1000000", "--seed", "42"]);
    assert!(unknown.contains("chance unknown: exact odds of this would need"), "{unknown}");
    let tail = shown(&["odds", "100d6", "--from", "590", "--to", "592"]);
    assert!(tail.lines().count() == 4 && !tail.contains("more values"), "{tail}");
    let guessed = shown(&["odds", "1d20 >= 11", "--simulate", "1000"]);
    assert!(guessed.contains(" of 1000 rolls)"), "{guessed}");
    assert!(shown(&["odds", "2d6 = 7", "--target", "0.5"]).contains("needed: no answer, for "));
    assert!(failing_stderr(&["odds", "2d6", "--target", "NaN"]).contains("from 0 to 1"));
    let refused = failing_stderr(&["roll", "4d6kh3 ? 2"]);
    assert!(refused.contains("4d6kh3 ? 2\n       ^\n"), "{refused}");
}

#[test]
fn a_universe_is_listed_and_drawn_while_a_server_runs() {
    let place = TestStore::sqlite();
    let store = ["--store", &place.address];
    let (_running, address) = RunningProgram::serve(&store);
    let state = include_str!("../../../../docs/solar-system.json");
    let universe = format!(r#"{{"method": "create", "universeId": "sol", "name": "Sol", "state": {state}}}"#);
    let mut client = skald_testkit::Client::connect(address);
    let created = client.send("POST", "/api/v1/universe", &[skald_testkit::mcp_messages::JSON], universe.as_bytes());
    assert_eq!(created.json()["universe"]["id"], "sol", "{}", created.text());
    let picture = client.send("GET", "/api/v1/universes/sol/map.svg?t=5&theme=light", &[], b"");
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    assert!(picture.text().contains("time 5 ·"), "{}", picture.text());
    let ran = |arguments: &[&str]| run(&[arguments, &store].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let listed = text(&ran(&["universe", "list"]).stdout);
    let lines: Vec<Vec<&str>> = listed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["ID", "NAME", "CAMPAIGN", "CREATED"], "{listed}");
    assert_eq!(lines[1][..3], ["sol", "Sol", "-"], "{listed}");
    let folder = TemporaryFolder::new();
    let file = folder.file("sol.svg");
    let path = file.to_str().expect("a path");
    let drawn = ran(&["universe", "map", "sol", "--svg", path, "--theme", "dark", "--time", "-12.5"]);
    assert!(drawn.status.success() && drawn.stdout.is_empty(), "{drawn:?}");
    let svg = std::fs::read_to_string(&file).expect("a file");
    assert!(svg.starts_with("<svg ") && svg.contains("time −12.5 ·") && !svg.contains("<style>"), "{svg}");
    let printed = text(&ran(&["universe", "map", "sol", "--svg", "-"]).stdout);
    assert!(printed.starts_with("<svg ") && printed.ends_with("</svg>") && printed.contains("<style>"));
    let missing = ran(&["universe", "map", "luna", "--svg", path]);
    assert!(!missing.status.success());
    assert!(text(&missing.stderr).contains("there is no universe \"luna\"; there is: sol"), "{missing:?}");
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), svg, "what was there stays");
    assert!(failing_stderr(&["universe", "map", "sol", "--svg", "-", "--time", "noon"]).contains("simulated seconds"));
    let nowhere = folder.file("none.db");
    let nowhere = format!("sqlite:{}", nowhere.display());
    let absent = run(&["universe", "list", "--store", &nowhere]);
    assert!(!absent.status.success() && text(&absent.stderr).contains("there is no file"), "{absent:?}");
}
