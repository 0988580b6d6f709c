//! Tests of `skald mcp` as a client's child process on stdio.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_testkit::mcp_messages::{self, initialize, request, tool_call};

use crate::process::{RunningProgram, skald_command};

#[test]
fn nothing_but_the_protocol_is_on_standard_output() {
    let mut command = skald_command(&["mcp"]);
    command.env("SKALD_LOG", "trace");
    let mut running = RunningProgram::start(command);
    running.write_line("nonsense");
    running.write_line(&initialize("2025-11-25").to_string());
    running.write_line(&tool_call("duality_rules_version", &json!({})).to_string());
    let lines: Vec<Value> =
        (0..3).map(|_| serde_json::from_str(&running.next_line().unwrap()).expect("JSON")).collect();
    assert_eq!(lines.iter().map(|line| line["id"].clone()).collect::<Vec<_>>(), [json!(null), json!(1), json!(2)]);
    running.close_input();
    assert_eq!(running.next_line(), None, "nothing follows");
}

#[test]
fn it_ends_soon_after_its_input() {
    let (mut starting, mut ending) = (Duration::ZERO, Duration::ZERO);
    // The listener still gets its first notifications when the input ends, now sooner and now later.
    for listens in [false, true].repeat(10) {
        let began = Instant::now();
        let mut running = RunningProgram::start(skald_command(&["mcp"]));
        if listens {
            let filter = json!({"notifications": {"resourceSubscriptions": ["dice://rules/duality"]}});
            let listen = mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter));
            assert_eq!(running.send_and_receive(&listen)["method"], "notifications/subscriptions/acknowledged");
        } else {
            running.send_and_receive(&initialize("2025-11-25"));
        }
        starting += began.elapsed();
        running.close_input();
        let (status, took, _) = running.wait_for_exit();
        assert!(status.success());
        ending += took;
    }
    // If the process waited for a client that is gone, that would take a second at least.
    assert!(ending < 3 * starting, "20 starts took {starting:?}, the ends {ending:?}");
}

#[test]
fn a_signal_ends_it_while_its_input_is_open() {
    for signal in ["TERM", "INT"] {
        let mut running = RunningProgram::start(skald_command(&["mcp"]));
        running.send_and_receive(&initialize("2025-11-25"));
        running.signal(signal);
        let (status, took, _) = running.wait_for_exit();
        assert!(status.success() && took < Duration::from_secs(1), "{signal}: {status} after {took:?}");
    }
}

#[test]
fn a_client_that_says_nothing_is_no_error() {
    let mut running = RunningProgram::start(skald_command(&["mcp"]));
    running.close_input();
    assert!(running.wait_for_exit().0.success());
}
