//! Tests that a server that requires tokens answers only the listed public routes without one, with any method.

use serde_json::Value;
use skald_testkit::Client;

use crate::process::RunningProgram;
use crate::program_under_test::World;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// The log message that lists the mounted routes.
const MOUNTED: &str = "routes mounted";

#[test]
fn only_the_public_routes_answer_without_a_token() {
    let world = World::sqlite();
    // Without any token the server would not start.
    world.create_token(&["Ada", "--role", "gm"]);
    let mut command =
        world.command(&["serve", "--http-addr", "127.0.0.1:0", "--require-token", "--log-format", "json"]);
    command.env("SKALD_LOG", "skald_http=debug");
    let (server, address) = RunningProgram::start_server(command);
    server.wait_for_stderr(MOUNTED);
    let said = server.stderr();
    let mounted = said.lines().find(|line| line.contains(MOUNTED)).expect("the routes");
    let mounted: Value = serde_json::from_str(mounted).expect("a line of JSON");
    let mut paths: Vec<&str> = mounted["fields"]["paths"].as_str().expect("paths").split(' ').collect();
    for path in [
        "/mcp",
        "/metrics",
        "/api/v1/openapi.json",
        "/api/v1/roll",
        "/universes/{id}/events",
        "/api/kanka/{*below}",
        "/",
        "/browsers",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    for (_, path) in &skald_http::PUBLIC_ROUTES {
        assert!(paths.contains(path), "{path} is public, and not mounted");
    }
    paths.extend(["/nowhere", "/assets", "/join/x/y", "/health/", "/mcp/health/x", "//health"]);

    let mut client = Client::connect(address);
    for template in paths {
        let path: String = template.split_inclusive('/').map(fill_parameter).collect();
        for method in METHODS {
            let is_public = method.parse().is_ok_and(|method| skald_http::is_public(&method, &path));
            let status = client.send(method, &path, &[], b"").status;
            if is_public {
                // A code has to be sent to redeem an invitation, and no authorization server is configured.
                // Nor has any asset the name `x`.
                let is_absent = path.starts_with("/.well-known/") || path.starts_with("/assets/");
                let expected = if method == "POST" {
                    400
                } else if is_absent {
                    404
                } else {
                    200
                };
                assert_eq!(status, expected, "{method} {path} is public");
            } else {
                assert_eq!(status, 401, "{method} {path} is not public");
            }
        }
    }
}

/// A path segment, with a value in place of a parameter.
fn fill_parameter(part: &str) -> &str {
    match (part.starts_with('{'), part.ends_with('/')) {
        (true, true) => "x/",
        (true, false) => "x",
        (false, _) => part,
    }
}
