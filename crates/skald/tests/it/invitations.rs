//! Tests of invitations: a code is redeemed once for a token, and a wrong one tells nothing.

use std::net::SocketAddr;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use skald_testkit::{Client, Reply};

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{Server, Surface, World, code_and_status};

const REDEEM: &str = "/api/v1/invitations/redeem";

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Creates an invitation: its code, and its id.
fn invite(world: &World, arguments: &[&str]) -> (String, String) {
    let output = world.run(&[&["invite", "create", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (created["code"].as_str().expect("a code").to_owned(), created["id"].as_str().expect("an id").to_owned())
}

fn redeem(server: &Server, code: &str) -> Reply {
    redeem_at(server.address, code)
}

fn redeem_at(address: SocketAddr, code: &str) -> Reply {
    Client::connect(address).send("POST", REDEEM, &[], json!({"code": code}).to_string().as_bytes())
}

#[test]
fn a_code_is_redeemed_once_for_a_token_with_its_roles() {
    let world = World::sqlite();
    let campaign_id = create_campaign(&mut world.stdio_client(&[]));
    world.create_token(&["Owner", "--role", "gm"]);
    let (code, id) = invite(&world, &["Ana", "--for", &campaign_id, "--scope", "write", "--expires", "30d"]);
    let server = world.serve(&["--require-token"]);
    let redeemed = redeem(&server, &code);
    assert_eq!(redeemed.status, 201, "{}", redeemed.text());
    assert_eq!(redeemed.header("cache-control"), Some("no-store"));
    let redeemed = redeemed.json();
    assert_eq!((&redeemed["name"], &redeemed["scope"]), (&json!("Ana"), &json!("write")));
    assert_eq!(redeemed["roles"], json!({&campaign_id: "player"}));
    let token = redeemed["token"].as_str().expect("a token");
    let mut ana = server.client_with(Surface::Rest, Some(token), "test");
    ana.ok("campaign_read", &json!({"campaign_id": campaign_id}));
    let fault = ana.call_refused("campaign_update", &json!({"campaign_id": campaign_id, "name": "Mine"}));
    assert_eq!(code_and_status(&fault).0, "INSUFFICIENT_SCOPE");
    let again = redeem(&server, &code);
    assert_eq!(again.status, 404, "{}", again.text());
    let listed = text(&world.run(&["invite", "list"]).stdout);
    assert!(listed.contains("REDEEMED for token_") && !listed.contains(&code), "{listed}");
    assert!(!world.run(&["invite", "revoke", &id]).status.success(), "a token is revoked, not its invitation");
    let tokens = text(&world.run(&["token", "list"]).stdout);
    assert!(tokens.contains("Ana  player in") && tokens.contains(&format!("by {id} with POST")), "{tokens}");
    let verified = world.run(&["verify"]);
    assert!(verified.status.success(), "{}", text(&verified.stdout));
}

#[test]
fn of_many_who_redeem_at_once_one_gets_the_token() {
    let world = World::sqlite();
    world.create_token(&["Owner", "--role", "gm"]);
    let (code, _) = invite(&world, &["Ana"]);
    let servers = [world.serve(&["--require-token"]), world.serve(&["--require-token"])];
    let addresses = servers.each_ref().map(|server| server.address);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let redeem = |number: usize| {
            let (address, code) = (addresses[number % 2], &code);
            scope.spawn(move || redeem_at(address, code).status)
        };
        let threads: Vec<_> = (0..8).map(redeem).collect();
        threads.into_iter().map(|thread| thread.join().expect("a status")).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 404).count(), 7, "{statuses:?}");
}

#[test]
fn a_wrong_code_and_one_that_is_over_get_the_same_answer() {
    let world = World::sqlite();
    world.create_token(&["Owner", "--role", "gm"]);
    let (used, _) = invite(&world, &["Ana"]);
    let (revoked, id) = invite(&world, &["Bo"]);
    assert!(world.run(&["invite", "revoke", &id]).status.success());
    let server = world.serve(&["--require-token"]);
    assert_eq!(redeem(&server, &used).status, 201);
    let (stem, _) = used.rsplit_once('_').expect("a code");
    let wrong = [
        used.clone(),
        revoked,
        format!("{used}x"),
        format!("{stem}_{}", "a".repeat(52)),
        "skaldinvite_".to_owned(),
        String::new(),
        "' OR 1=1 --".to_owned(),
    ];
    let answers: Vec<(u16, String)> =
        wrong.iter().map(|code| redeem(&server, code)).map(|reply| (reply.status, reply.text())).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer.0 == 404), "{answers:?}");
    let mut client = Client::connect(server.address);
    for body in ["", "{}", "[]", r#"{"code": 7}"#, r#"{"code": "x", "role": "gm"}"#] {
        assert_eq!(client.send("POST", REDEEM, &[], body.as_bytes()).status, 400, "{body}");
    }
    let refused = world.run(&["invite", "create", "Cy", "--for", "camp_nowhere"]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("there is no campaign"));
}

#[test]
fn an_expired_code_is_not_found_and_the_answer_says_what_may_be_wrong() {
    let world = World::sqlite();
    world.create_token(&["Owner", "--role", "gm"]);
    let soon = (Timestamp::now() + SignedDuration::from_secs(2)).to_string();
    let (code, _) = invite(&world, &["Ana", "--valid", &soon]);
    let (open, _) = invite(&world, &["Bo"]);
    let server = world.serve(&["--require-token"]);
    std::thread::sleep(std::time::Duration::from_millis(2_100));
    let expired = redeem(&server, &code);
    let fault = expired.json()["error"].clone();
    assert_eq!((expired.status, code_and_status(&fault)), (404, ("NOT_FOUND", "NotFound")));
    let words = "the code is not known here, or was redeemed, was revoked, or has expired";
    assert_eq!(
        (&fault["message"], &fault["hint"]),
        (&json!(words), &json!("ask the game master for another invitation"))
    );
    assert!(!expired.text().contains(&code));
    assert_eq!(redeem(&server, &open).status, 201, "another one is still open");
}

/// `REDEEM_BODY_BYTES_MAX`: nobody is known there, so little is read.
#[test]
fn a_long_body_is_refused() {
    let world = World::sqlite();
    world.create_token(&["Owner", "--role", "gm"]);
    let server = world.serve(&["--require-token"]);
    let padded = |length: usize| {
        let frame = json!({"code": ""}).to_string().len();
        redeem(&server, &"x".repeat(length - frame)).status
    };
    let most = skald_app::limits::REDEEM_BODY_BYTES_MAX;
    assert_eq!((padded(most), padded(most + 1)), (404, 413));
}

/// The page answers a request as the phone of an invited person sends it, and as the server's proxy passes it on.
fn open_link(server: &Server, link: &str, host: &str) -> Reply {
    let path = link.splitn(4, '/').nth(3).expect("a path");
    let headers = [("Host", host), ("Accept", "text/html")];
    Client::connect(server.address).send("GET", &format!("/{path}"), &headers, b"")
}

/// The host of the public URL is a name of the server, so that the link opens without --allowed-hosts.
#[test]
fn the_link_of_an_invitation_opens_at_the_public_url() {
    let world = World::sqlite();
    world.create_token(&["Owner", "--role", "gm"]);
    for (url, host) in [("http://192.168.1.7:8081", "192.168.1.7:8081"), ("https://Table.example/", "table.example")] {
        let output = world.run(&["invite", "create", "Ana", "--json", "--public-url", url]);
        let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let (link, code) = (created["link"].as_str().expect("a link"), created["code"].as_str().expect("a code"));
        assert_eq!(link, format!("{}/join/{code}", url.to_lowercase().trim_end_matches('/')));
        let server = world.serve(&["--require-token", "--public-url", url]);
        let shown = open_link(&server, link, host);
        assert!(shown.status == 200 && shown.text().contains(code), "{}: {}", shown.status, shown.text());
        let origin = format!("{}://{host}", url.split(':').next().expect("a scheme"));
        let headers =
            [("Host", host), ("Origin", origin.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
        let joined = Client::connect(server.address).send("POST", "/join", &headers, format!("code={code}").as_bytes());
        assert_eq!(joined.status, 303, "{}", joined.text());
        let cookie = joined.header("set-cookie").and_then(|cookie| cookie.split(';').next()).expect("a cookie");
        let headers = [("Host", host), ("Cookie", cookie), ("Accept", "text/html")];
        let home = Client::connect(server.address).send("GET", "/", &headers, b"");
        assert!(home.status == 200 && home.text().contains("Ana"), "{}: {}", home.status, home.text());
        assert_eq!(open_link(&server, link, "other.example").status, 403, "no other name is let in");
    }
}

/// A server without tokens must not answer under a name that others know: they would be its owner.
#[test]
fn a_public_url_opens_no_server_without_tokens() {
    let world = World::sqlite();
    let server = world.serve(&["--public-url", "http://192.168.1.7:8091"]);
    let get = |host: &str| Client::connect(server.address).send("GET", "/keeping", &[("Host", host)], b"");
    assert_eq!(get("192.168.1.7:8091").status, 403);
    let keeping = get("localhost");
    assert_eq!(keeping.status, 200);
    assert!(keeping.text().contains("value=\"http://192.168.1.7:8091\""), "{}", keeping.text());
}

#[test]
fn the_command_line_prints_the_link_and_a_code_for_a_phone() {
    let world = World::sqlite();
    let create = |arguments: &[&str]| world.run(&[&["invite", "create", "Ana"], arguments].concat());
    let plain = text(&create(&[]).stdout);
    assert!(plain.contains("\n  http://127.0.0.1:8081/join/skaldinvite_"), "{plain}");
    assert!(plain.contains("Only this machine can open it.") && plain.contains("--public-url"), "{plain}");
    let drawn = text(&create(&["--qr", "--public-url", "http://192.168.1.7:8081"]).stdout);
    assert!(drawn.contains("\n  http://192.168.1.7:8081/join/skaldinvite_") && drawn.contains('▀'), "{drawn}");
    assert!(!drawn.contains("Only this machine"), "{drawn}");
    for wrong in ["table.example", "http://table.example/skald", "http://a:b@table.example", "http://0.0.0.0:8081"] {
        for command in [&["invite", "create", "Ana", "--public-url", wrong][..], &["serve", "--public-url", wrong]] {
            let refused = world.run(command);
            let said = text(&refused.stderr);
            assert!(!refused.status.success() && said.contains("http://192.168.1.7:8081"), "{wrong}: {said}");
        }
    }
    assert!(!create(&["--qr", "--json"]).status.success(), "a program reads no QR code");
    assert_eq!(text(&world.run(&["invite", "list"]).stdout).lines().count(), 2, "what was refused made nothing");
}
