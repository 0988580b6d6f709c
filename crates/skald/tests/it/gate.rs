//! Tests of `skald gate` on the command line: checking processes, walking runs, reading the history.

use serde_json::{Value, json};

use crate::gate_workspace::{BUGFIX, GateWorkspace, run_with_input, text};

#[test]
fn a_broken_process_is_told_by_line_and_column() {
    let desk = GateWorkspace::new();
    desk.write("good.yaml", BUGFIX);
    desk.write("bad.yaml", &BUGFIX.replace("guard: has_repro", "guards: has_repro"));
    desk.write("lost.yaml", &BUGFIX.replace("to: fix,", "to: fixx,"));
    desk.write("odd.yaml", &BUGFIX.replace("roles:\n", "roles:\n  - {name: guest, allowed_events: [approve]}\n"));
    let good = desk.gate_output(&["check", "good.yaml"]);
    assert_eq!(good, "good.yaml: bugfix 1.2.0 has no errors\n");

    let several = desk.run_gate(&["check", "good.yaml", "bad.yaml", "lost.yaml", "none.yaml"]);
    assert_eq!(several.status.code(), Some(1));
    let several = text(&several.stdout);
    let lines: Vec<&str> = several.lines().collect();
    assert_eq!(lines[0], "good.yaml: bugfix 1.2.0 has no errors");
    let unknown = r#"bad.yaml:26:50: error UNKNOWN_KEY: /transitions/0 has no key "guards"; did you mean "guard"?"#;
    assert_eq!(lines[1], unknown);
    assert!(lines[2].starts_with("lost.yaml:26:45: error INVALID_TRANSITION_TO: "), "{several}");
    assert!(lines[2].ends_with("; did you mean \"fix\"?"), "{several}");
    assert!(lines.iter().any(|line| line.starts_with("none.yaml cannot be read: ")), "{several}");

    let odd = desk.run_gate(&["check", "odd.yaml"]);
    assert!(odd.status.success() && text(&odd.stdout).contains(": warning ROLE_DISAGREES: "), "{odd:?}");
    assert_eq!(desk.run_gate(&["check", "odd.yaml", "--strict"]).status.code(), Some(1));

    let piped = desk.run_with_input(&["gate", "check", "-", "--json"], "process: 7");
    let answer: Value = serde_json::from_slice(&piped.stdout).expect("JSON");
    let first = &answer["files"][0];
    assert_eq!(
        (piped.status.code(), &first["valid"], &first["file"]),
        (Some(1), &json!(false), &json!("standard input"))
    );
    assert_eq!(first["error"]["findings"][0]["line"], 1, "{answer}");
    assert!(!desk.file("world.db").exists(), "whoever checks keeps nothing");
}

#[test]
fn a_run_is_walked_as_text() {
    let desk = GateWorkspace::new();
    desk.write("bugfix.yaml", BUGFIX);
    let forbidden = desk.gate_error(&["submit", "bugfix.yaml"]);
    assert!(forbidden.starts_with("skald: FORBIDDEN: the gate role agent may not submit a process\n"), "{forbidden}");
    assert!(
        desk.gate_output(&["submit", "bugfix.yaml", "--role", "human"])
            .starts_with("bugfix 1.2.0 is stored for new runs, as ")
    );
    let processes = desk.gate_output(&["processes"]);
    assert!(
        processes.lines().any(|line| line.starts_with("bugfix") && line.ends_with("triage, fix, closed")),
        "{processes}"
    );

    let created = desk.gate_output(&["create-run", "--process-id", "bugfix", "--run-id", "run-1", "--write-config"]);
    assert!(created.contains("run-1") && created.contains("triage, revision 1"), "{created}");
    assert!(created.contains("\nWhat to do:\n  Reproduce the bug, which is low, and hand in repro.md\n"), "{created}");
    let state = desk.gate_output(&["get-state"]);
    for part in [
        " triage (active), revision 1\n",
        "\nUpdated ",
        "\nArtifacts:\n  missing  repro  Reproduction steps\n",
        "\nMissing:\n  has_repro: Guard for transition to 'fix'\n    Artifact 'repro' does not exist\n",
        "\nEvents:\n  submit_repro: The bug can be reproduced\n    payload {",
        "\nContext:\n  severity = \"low\"\n",
    ] {
        assert!(state.contains(part), "{part:?} is not in\n{state}");
    }
    let none = desk.gate_output(&["list-events"]);
    assert!(
        none.contains("\nAs things stand, without new evidence or payload, no event would be accepted; "),
        "{none}"
    );
    let blocked = desk.gate_output(&["list-events", "--include-blocked"]);
    assert!(
        blocked.contains("\n  -> fix, guard has_repro: unsatisfied\n       Artifact 'repro' does not exist\n"),
        "{blocked}"
    );
    assert!(blocked.contains("approve [blocked: "), "{blocked}");
    let plan = desk.gate_output(&["plan"]);
    assert!(
        plan.starts_with("From triage to closed: 2 events\n1. submit_repro: triage -> fix, by agent, human\n"),
        "{plan}"
    );
    assert!(plan.contains("2. approve: fix -> closed, by human\n"), "{plan}");

    let early = desk.emit(&[]);
    assert_eq!((early.status.code(), early.stdout.len()), (Some(1), 0));
    let early = text(&early.stderr);
    assert!(early.contains("idempotency key: cli-") && early.contains("skald: GUARD_FAILED: "), "{early}");
    assert!(early.contains("\n  has_repro: Artifact 'repro' does not exist\n"), "{early}");

    desk.write("repro.md", "Press the button twice.");
    let dry = desk.gate_output(&["check-event", "--event", "submit_repro", "--inline", "repro.md"]);
    assert_eq!(dry, "would be accepted: triage -> fix\n");
    let moved = desk.emit(&["--inline", "repro.md", "--payload", r#"{"severity": "high"}"#]);
    let moved = text(&moved.stdout);
    assert!(moved.starts_with("accepted: triage -> fix, revision 2, evt-"), "{moved}");
    assert!(moved.ends_with("\nWhat to do:\n  Mend it\n"), "{moved}");

    let agent = desk.gate_error(&["emit-event", "--event-name", "approve"]);
    assert!(agent.contains("skald: FORBIDDEN: "), "{agent}");
    let history = desk.gate_output(&["history"]);
    let lines: Vec<&str> = history.lines().filter(|line| !line.starts_with("      ")).map(str::trim_start).collect();
    assert_eq!(lines.len(), 4, "{history}");
    for (line, part) in lines.iter().zip([
        "created: in triage, by owner as agent",
        "submit_repro: in triage [refused], by owner as agent",
        "submit_repro: triage -> fix, by owner as agent",
        "approve: in fix [refused], by owner as agent",
    ]) {
        assert!(line.ends_with(part), "{line}");
    }
    assert!(
        history.contains("      guard has_repro satisfied\n")
            && history.contains("      artifact repro.md as repro, 23 bytes")
    );
    assert!(
        history.contains("      GUARD_FAILED: ") && history.contains(r#"      payload {"severity":"high"}"#),
        "{history}"
    );
    assert!(
        desk.gate_output(&["list-runs"]).lines().any(|line| line.starts_with("run-1  bugfix 1.2.0  fix    active"))
    );
    let cancelled = desk.gate_output(&["cancel", "--reason", "not a bug", "--role", "human"]);
    assert_eq!(cancelled, "cancelled: run run-1 in state fix, revision 3\n");
    assert!(desk.gate_output(&["history"]).ends_with("      reason: not a bug\n"));
}

#[test]
fn a_run_is_walked_as_json() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let created = desk.gate_json(&["create-run", "--process-id", "bugfix", "--context", r#"{"severity": "high"}"#]);
    assert_eq!((&created["success"], &created["revision"]), (&json!(true), &json!(1)));
    let other = created["run_id"].as_str().expect("an id");
    assert_eq!(desk.gate_json(&["get-state", "--run-id", other])["context"], json!({"severity": "high"}));
    let listed = desk.gate_json(&["list-runs"]);
    assert_eq!(listed["runs"].as_array().map(Vec::len), Some(2));
    assert_eq!(desk.gate_json(&["list-runs", "--status", "cancelled"]), json!({"runs": []}));

    let refused = desk.gate_error_json(&["emit-event", "--event", "submit_repro", "--expected-revision", "1"]);
    assert_eq!((&refused["success"], &refused["error"]["code"]), (&json!(false), &json!("GUARD_FAILED")), "{refused}");
    assert!(refused["idempotency_key"].as_str().is_some_and(|key| key.starts_with("cli-")), "{refused}");
    desk.write("repro.md", "Press the button twice.");
    let terms = ["--expected-revision", "1", "--idempotency-key", "k-1", "--inline", "repro.md"];
    let emit = [&["emit-event", "--event", "submit_repro"], terms.as_slice()].concat();
    let accepted = desk.gate_json(&emit);
    assert_eq!(accepted["result"]["transition"], json!({"from_state": "triage", "to_state": "fix"}));
    let again = desk.gate_json(&emit);
    assert_eq!(
        (&again["result"]["replayed"], &again["result"]["event_id"]),
        (&json!(true), &accepted["result"]["event_id"])
    );
    let late =
        desk.gate_error_json(&["emit-event", "--event", "approve", "--expected-revision", "1", "--role", "human"]);
    assert_eq!(late["error"]["details"]["current_revision"], 2, "{late}");
    let history = desk.gate_json(&["history"]);
    let codes: Vec<&Value> =
        history["history"].as_array().expect("a list").iter().map(|entry| &entry["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!("GUARD_FAILED"), &Value::Null, &json!("REVISION_CONFLICT")]);
    let dry = desk.gate_error_json(&["check-event", "--event", "submit_repro"]);
    assert_eq!(dry["check"]["would_be_accepted"], false);
    assert_eq!(desk.gate_json(&["plan", "--to", "closed"])["plan"]["steps"][0]["event_name"], "approve");
    let own = desk.gate_error_json(&["emit-event", "--event", "approve", "--role", "human"]);
    assert_eq!(own["error"]["code"], "FORBIDDEN", "who submitted does not approve, in whatever role: {own}");
    let (token, _) = desk.create_token("Ada");
    desk.write("token", &token);
    let closed = desk.gate_json(&["emit-event", "--event", "approve", "--token-file", "token"]);
    assert_eq!(closed["result"]["new_revision"], 3);
    assert_eq!(desk.gate_json(&["get-state"])["status"], "finished");
}

#[test]
fn a_person_overrides_and_an_agent_does_not() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let over = ["override", "--event", "submit_repro", "--reason", "seen it myself"];
    assert!(desk.gate_error(&over).contains("skald: FORBIDDEN: "));
    let done = desk.gate_output(&[&over[..], &["--role", "human"]].concat());
    assert!(done.starts_with("accepted: triage -> fix, revision 2, evt-"), "{done}");
    assert!(desk.gate_error(&["cancel", "--reason", "tired"]).contains("role 'agent' may not cancel a run"));
}

#[test]
fn a_token_says_who_calls_whatever_the_role() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let (token, id) = desk.create_token("Ada");
    desk.write("token", &format!("{token}\n"));
    let token = "token";
    let over = ["override", "--event", "submit_repro", "--reason", "seen it", "--token-file", token, "--role", "agent"];
    assert!(desk.gate_output(&over).starts_with("accepted: "));
    let history = desk.gate_json(&["history", "--token-file", token]);
    assert_eq!((&history["history"][1]["by"], &history["history"][1]["role"]), (&json!(id), &json!("human")));
    desk.write("wrong", "skald_wrong_token");
    assert!(desk.gate_error(&["get-state", "--token-file", "wrong"]).starts_with("skald: UNAUTHORIZED: "));
    let missing = desk.gate_error(&["get-state", "--token-file", "nowhere"]);
    assert!(missing.contains("nowhere cannot be read"), "{missing}");
    let mut command = desk.command(&["gate", "history", "--json"]);
    command.env("SKALD_TOKEN", std::fs::read_to_string(desk.file("token")).expect("a file"));
    assert!(run_with_input(command, "").status.success(), "a variable does as well");
    let argument = desk.run_with_input(&["gate", "get-state", "--token", "x"], "");
    assert_eq!(argument.status.code(), Some(2), "every user of the machine would see it");
}

#[test]
fn the_file_that_names_a_run_is_not_lost() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let named = || std::fs::read_to_string(desk.file(".state_gate/state-gate.json")).expect("a file");
    assert_eq!(serde_json::from_str::<Value>(&named()).expect("JSON"), json!({"run_id": "run-1"}));
    let another = ["create-run", "--process-id", "bugfix", "--run-id", "run-2", "--write-config"];
    let refused = desk.gate_error(&another);
    assert!(
        refused.contains("it names run run-1, which is in state \"triage\"") && refused.contains("--force"),
        "{refused}"
    );
    assert_eq!(desk.gate_json(&["list-runs"])["runs"].as_array().map(Vec::len), Some(1), "no run is left over");
    desk.gate_output(&[&another[..], &["--force"]].concat());
    assert!(named().contains("run-2"));
    desk.gate_output(&["cancel", "--role", "human"]);
    desk.gate_output(&["create-run", "--process-id", "bugfix", "--run-id", "run-3", "--write-config", "true"]);
    assert!(named().contains("run-3"), "a run that is over may be replaced");
    let files = std::fs::read_dir(desk.file(".state_gate")).expect("a folder");
    let left: Vec<String> =
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect();
    assert!(!left.iter().any(|name| name.contains(".part")), "{left:?}");

    desk.write("precious.txt", "not for you");
    let elsewhere = ["create-run", "--process-id", "bugfix", "--write-config", "--config-path", "precious.txt"];
    assert!(desk.gate_error(&elsewhere).contains("precious.txt is not overwritten: precious.txt is not JSON"));
    assert_eq!(std::fs::read_to_string(desk.file("precious.txt")).expect("a file"), "not for you");
    assert!(
        desk.gate_error(&["create-run", "--process-id", "bugfix", "--config-path", "a.json"])
            .contains("--write-config")
    );
    desk.gate_output(&[
        "create-run",
        "--process-id",
        "bugfix",
        "--run-id",
        "run-4",
        "--write-config",
        "--config-path",
        "at/four.json",
    ]);
    assert_eq!(desk.gate_json(&["get-state", "--config-path", "at/four.json"])["run_id"], "run-4");
    let mut below = desk.command(&["gate", "get-state", "--json"]);
    below.current_dir(desk.file("at"));
    assert!(text(&run_with_input(below, "").stdout).contains("run-3"), "the folder above names it");
}

#[test]
fn bad_input_is_explained_and_changes_nothing() {
    let desk = GateWorkspace::new();
    let absent = desk.gate_error(&["get-state", "--run-id", "run-1"]);
    assert!(absent.contains("skald: UNAVAILABLE: there is no file ") && absent.contains("create-run"), "{absent}");
    assert!(!desk.file("world.db").exists(), "whoever only looks makes no store");
    desk.begin_run();
    let unnamed = desk.gate_error_json(&["get-state", "--run-id", "run-9"]);
    assert_eq!((&unnamed["error"]["code"], &unnamed["error"]["value"]), (&json!("RUN_NOT_FOUND"), &json!("run-9")));
    assert!(desk.gate_error(&["create-run", "--process-id", "bugfux"]).contains("skald: PROCESS_NOT_FOUND: "));
    let payload = ["emit-event", "--event", "submit_repro", "--payload", "severity=high"];
    assert!(desk.gate_error(&payload).contains("--payload is not JSON"), "{payload:?}");
    let paths = |option: &str| {
        let refused = desk.gate_error_json(&["check-event", "--event", "submit_repro", option, "../a;../b"]);
        refused["check"]["error"]["details"]["validation_errors"].as_array().map(Vec::len)
    };
    assert_eq!((paths("--artifact-paths"), paths("--artifact")), (Some(2), Some(1)), "only one of them is a list");
    let absent = desk.gate_error(&["emit-event", "--event", "submit_repro", "--inline", "none.md"]);
    assert!(absent.contains("none.md cannot be read"), "{absent}");
    desk.write(".state_gate/state-gate.json", "{}");
    let broken = desk.gate_error(&["get-state"]);
    assert!(broken.contains("state-gate.json names no run") && broken.contains("--run-id"), "{broken}");
    std::fs::remove_file(desk.file(".state_gate/state-gate.json")).expect("a file");
    assert!(desk.gate_error(&["get-state"]).contains("no run is named, and no state-gate.json here names one"));
}

#[test]
fn a_diagram_is_printed_or_drawn() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    let of_run = desk.gate_output(&["diagram"]);
    assert!(of_run.starts_with("stateDiagram-v2\n") && of_run.contains("class s0 current"), "{of_run}");
    let of_process = desk.gate_output(&["diagram", "--process-id", "bugfix"]);
    assert!(
        of_process.contains("s0 --> s1 : submit_repro [has_repro]") && !of_process.contains("current"),
        "{of_process}"
    );
    desk.gate_output(&["diagram", "--run-id", "run-1", "--svg", "run.svg"]);
    let drawn = std::fs::read_to_string(desk.file("run.svg")).expect("a file");
    assert_eq!(desk.gate_output(&["diagram", "--svg", "-"]).trim_end(), drawn.trim_end());
    let both = desk.run_gate(&["diagram", "--run-id", "run-1", "--process-id", "bugfix"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}

#[test]
fn a_path_counts_from_the_artifact_folder_and_a_file_elsewhere_is_told() {
    let desk = GateWorkspace::new();
    desk.begin_run();
    desk.write("evidence/repro.md", "two clicks");
    let missing = ["--artifact-paths", "./evidence/repro.md", "--expected-revision", "1", "--idempotency-key", "k1"];
    let refused = desk.gate_error_json(&[&["emit-event", "--event", "submit_repro"], missing.as_slice()].concat());
    let error = &refused["error"]["details"]["validation_errors"][0];
    let folder = desk.gate_json(&["get-state"])["artifact_base_path"].as_str().expect("a folder").to_owned();
    assert_eq!(error["path"], "/artifact_paths/0", "{refused}");
    let why = error["message"].as_str().expect("a reason");
    assert!(why.contains(&format!("{folder}/evidence/repro.md")), "where it is looked for: {why}");
    assert!(why.contains("lies in the working folder"), "where it is: {why}");
    desk.write("elsewhere.md", "not what is asked for");
    let refused = desk.gate_error_json(&[
        "emit-event",
        "--event",
        "submit_repro",
        "--artifact-paths",
        "./evidence/other.md",
        "--expected-revision",
        "1",
        "--idempotency-key",
        "k2",
    ]);
    assert!(!refused.to_string().contains("working folder"), "nothing of that name lies there: {refused}");
    std::fs::create_dir_all(format!("{folder}/evidence")).expect("a folder");
    std::fs::copy(desk.file("evidence/repro.md"), format!("{folder}/evidence/repro.md")).expect("a copy");
    let taken = ["--artifact-paths", "./evidence/repro.md", "--expected-revision", "1", "--idempotency-key", "k3"];
    let taken = desk.gate_json(&[&["emit-event", "--event", "submit_repro"], taken.as_slice()].concat());
    assert_eq!(taken["result"]["transition"]["to_state"], "fix", "{taken}");
}
