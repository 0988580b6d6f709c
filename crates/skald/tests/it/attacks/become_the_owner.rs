//! Attack: acting as the owner from another machine, through a proxy on the owner's machine.

use std::net::SocketAddr;

use skald_testkit::Client;
use skald_testkit::mcp_messages::{ACCEPT_BOTH, JSON, initialize};

use crate::process::{RunningProgram, run};
use crate::program_under_test::World;

const CLOSED: [&str; 4] = ["/api/v1/context", "/universes", "/metrics", "/api/v1/openapi.json"];

fn get(address: SocketAddr, path: &str, headers: &[(&str, &str)]) -> u16 {
    Client::connect(address).send("GET", path, headers, b"").status
}

fn open_session(address: SocketAddr, headers: &[(&str, &str)]) -> u16 {
    let body = initialize("2025-11-25").to_string();
    Client::connect(address).send("POST", "/mcp", &[&[JSON, ACCEPT_BOTH], headers].concat(), body.as_bytes()).status
}

#[test]
fn what_a_proxy_passes_on_is_not_the_owners() {
    let world = World::sqlite();
    let (token, _) = world.create_token(&["Ada", "--role", "gm"]);
    let bearer = format!("Bearer {token}");
    let server = world.serve(&[]);
    let forwarding = [
        ("Forwarded", "for=192.0.2.60"),
        ("Via", "1.1 proxy"),
        ("X-Forwarded-For", "192.0.2.60"),
        ("X-Forwarded-Proto", "https"),
        ("X-Real-IP", "192.0.2.60"),
        ("CF-Connecting-IP", "192.0.2.60"),
        ("x-envoy-external-address", "192.0.2.60"),
    ];
    for header in forwarding {
        for path in CLOSED {
            assert_eq!(get(server.address, path, &[header]), 401, "{path} with {header:?}");
        }
        assert_eq!(open_session(server.address, &[header]), 401, "{header:?}");
        let known = [header, ("Authorization", bearer.as_str())];
        assert_eq!(get(server.address, CLOSED[0], &known), 200, "a token counts through a proxy too");
    }
    assert_eq!(get(server.address, CLOSED[0], &[]), 200, "who is on this machine is the owner");
    assert_eq!(get(server.address, "/health", &[forwarding[0]]), 200, "its health is for everybody");
}

#[test]
fn where_a_token_is_required_nobody_is_the_owner() {
    for option in [["--require-token"].as_slice(), &["--allowed-hosts", "table.example"]] {
        let world = World::sqlite();
        let refused = world.run(&[&["serve", "--http-addr", "127.0.0.1:0"], option].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("skald token create NAME"), "{option:?}: {said}");
        let (token, _) = world.create_token(&["Ada", "--role", "gm"]);
        let server = world.serve(option);
        for path in CLOSED {
            assert_eq!(get(server.address, path, &[]), 401, "{option:?} {path}");
        }
        assert_eq!(open_session(server.address, &[]), 401, "{option:?}");
        assert_eq!(get(server.address, CLOSED[0], &[("Authorization", &format!("Bearer {token}"))]), 200);
        // A bridge without a token calls gRPC without one, and is refused.
        let bridge = RunningProgram::start(server.bridge_command(&[]));
        let (status, _, said) = bridge.wait_for_exit();
        assert!(!status.success() && said.contains("a token is required"), "{option:?}: {said}");
    }
}

#[test]
fn the_doctor_warns_of_a_server_without_tokens() {
    let (_running, address) = RunningProgram::serve(&[]);
    let output = run(&["doctor", "--http-addr", &address.to_string()]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("warn  tokens: ") && said.contains("--require-token"), "{said}");
    let world = World::sqlite();
    world.create_token(&["Ada", "--role", "gm"]);
    let server = world.serve(&["--require-token"]);
    let output = run(&["doctor", "--http-addr", &server.address.to_string()]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("warn"));
}
