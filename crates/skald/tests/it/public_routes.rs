//! Tests that a server that requires tokens answers only the listed public routes without one, with any method.

use skald_testkit::Client;

use crate::process::RunningProgram;
use crate::program_under_test::World;
use crate::secrecy_matrix::logged_routes;

const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// Paths of the Kanka-compatible API, which is mounted as one route and finds its own way below it. Those that tell
/// nothing of a campaign are closed as well.
const KANKA_PATHS: [&str; 24] = [
    "/api/kanka",
    "/api/kanka/",
    "/api/kanka/1.0",
    "/api/kanka/1.0/",
    "/api/kanka/1.0/health",
    "/api/kanka/1.0/version",
    "/api/kanka/1.0/profile",
    "/api/kanka/1.0/visibilities",
    "/api/kanka/1.0/entity-types",
    "/api/kanka/1.0/campaigns",
    "/api/kanka/1.0/campaigns/1",
    "/api/kanka/1.0/campaigns/1/entities",
    "/api/kanka/1.0/campaigns/1/entities/1",
    "/api/kanka/1.0/campaigns/1/entities/1/posts",
    "/api/kanka/1.0/campaigns/1/entities/1/posts/1",
    "/api/kanka/1.0/campaigns/1/entities/1/entity_tags",
    "/api/kanka/1.0/campaigns/1/entities/1/entity_assets",
    "/api/kanka/1.0/campaigns/1/characters",
    "/api/kanka/1.0/campaigns/1/characters/1",
    "/api/kanka/1.0/campaigns/1/tags",
    "/api/kanka/1.0/campaigns/1/search/x",
    "/api/kanka/1.0/campaigns/1/fulltext-search",
    "/api/kanka/1.0/campaigns/1/users",
    "/api/kanka/2.0/campaigns",
];

#[test]
fn only_the_public_routes_answer_without_a_token() {
    let world = World::sqlite();
    // Without any token the server would not start.
    world.create_token(&["Ada", "--role", "gm"]);
    let mut command =
        world.command(&["serve", "--http-addr", "127.0.0.1:0", "--require-token", "--log-format", "json"]);
    command.env("SKALD_LOG", "skald_http=debug");
    let (server, address) = RunningProgram::start_server(command);
    let mounted = logged_routes(&server);
    let mut paths: Vec<&str> = mounted.iter().map(String::as_str).collect();
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
    paths.extend(KANKA_PATHS);

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

/// A browser gets a page at a wrong address, a program JSON; and the session of a browser counts for no route of a program.
#[test]
fn a_browser_gets_a_page_at_a_wrong_address() {
    let world = World::sqlite();
    let (token, _) = world.create_token(&["Ada", "--role", "gm"]);
    let server = world.serve(&["--require-token"]);
    let mut client = Client::connect(server.address);
    let host = server.address.to_string();
    let signed_in = client.send(
        "POST",
        "/sign-in",
        &[("Origin", &format!("http://{host}")), ("Content-Type", "application/x-www-form-urlencoded")],
        format!("token={token}").as_bytes(),
    );
    assert_eq!(signed_in.status, 303, "{}", signed_in.text());
    let cookie =
        signed_in.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie").to_owned();
    let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    for path in ["/keepin", "/nowhere/at/all", "/c/x/y/z/w", "/mcpx"] {
        let mut get = |headers: &[(&str, &str)]| {
            let reply = client.send("GET", path, headers, b"");
            (reply.status, reply.header("content-type").unwrap_or_default().to_owned(), reply.text())
        };
        let (status, kind, text) = get(&[("Accept", browser), ("Cookie", &cookie)]);
        assert_eq!((status, kind.as_str()), (404, "text/html; charset=utf-8"), "{path}: {text}");
        assert!(text.contains("href=\"/\">Home</a>") && text.contains("Ada"), "{path}: {text}");
        let (status, kind, text) = get(&[("Accept", browser)]);
        assert_eq!((status, kind.as_str()), (401, "text/html; charset=utf-8"), "{path}: {text}");
        let bearer = format!("Bearer {token}");
        for accept in [None, Some("*/*"), Some("application/json")] {
            let headers: Vec<(&str, &str)> = [("Authorization", bearer.as_str())]
                .into_iter()
                .chain(accept.map(|accept| ("Accept", accept)))
                .collect();
            let (status, kind, text) = get(&headers);
            assert_eq!((status, kind.as_str()), (404, "application/json"), "{path} {accept:?}: {text}");
            assert!(text.contains("NOT_FOUND") && text.contains("openapi.json"), "{path}: {text}");
        }
    }
    for path in ["/metrics", "/api/v1/nothing", "/api/v1/campaigns"] {
        let reply = client.send("GET", path, &[("Accept", browser), ("Cookie", &cookie)], b"");
        assert_eq!(reply.status, 401, "{path} takes no session of a browser: {}", reply.text());
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
