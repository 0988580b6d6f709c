//! Tests of tokens and roles: authentication, permissions of each role, and secrets that no answer reveals.

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{JSON, initialize};

use crate::documented_campaign::create_campaign;
use crate::process::RunningProgram;
use crate::program_under_test::{OVER_HTTP, StoreKind, Surface, TestClient, World, code_and_status, parse_rest_reply};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_token_is_shown_once_and_not_kept() {
    let world = World::sqlite();
    let mut owner = world.stdio_client(&[]);
    let [mut one, mut other] = [(); 2].map(|()| create_campaign(&mut owner));
    if one > other {
        std::mem::swap(&mut one, &mut other);
    }
    let shown = world.run(&["token", "create", "Alice", "--role", "player", "--for", &format!("{other}, {one}")]);
    let shown = text(&shown.stdout);
    let secret = shown.lines().next().expect("a line").to_owned();
    assert!(secret.starts_with("skald_") && secret.len() > 60, "{secret}");
    let listed = text(&world.run(&["token", "list"]).stdout);
    assert!(listed.contains(&format!("Alice  player in {one}, player in {other}")), "{listed}");
    assert!(!listed.contains(&secret));
    let half = secret.rsplit('_').next().expect("a part").as_bytes();
    for file in std::fs::read_dir(world.folder()).expect("a folder") {
        let bytes = std::fs::read(file.expect("a file").path()).expect("bytes");
        assert!(!bytes.windows(half.len()).any(|window| window == half), "the token is in the file");
    }
    let id = listed.split_whitespace().next().expect("an id");
    assert!(world.run(&["token", "revoke", id]).status.success());
    assert!(text(&world.run(&["token", "list"]).stdout).contains("There are no tokens"));
    let again = world.run(&["token", "revoke", id]);
    assert!(!again.status.success() && text(&again.stderr).contains("skald token list"), "{}", text(&again.stderr));
    let nameless = world.run(&["token", "create", " "]);
    assert!(!nameless.status.success());
}

/// Two servers add roles to one token concurrently, and no role is lost. A token that is revoked meanwhile stays
/// revoked.
#[test]
fn roles_are_given_at_once_and_none_to_whom_is_gone() {
    let world = World::sqlite();
    let home = create_campaign(&mut world.stdio_client(&[]));
    let (secret, id) = world.create_token(&["Alice", "--role", "gm", "--for", &home]);
    let servers = [world.serve(&[]), world.serve(&[])];
    let seat = |number: usize| servers[number % 2].client_with(Surface::Rest, Some(&secret), "test");
    let created: Vec<String> = std::thread::scope(|scope| {
        let create = |number| {
            let mut seat = seat(number);
            scope.spawn(move || [(); 3].map(|()| create_campaign(&mut seat)))
        };
        let threads: Vec<_> = (0..8).map(create).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("campaigns")).collect()
    });
    let mut reader = seat(0);
    for campaign_id in &created {
        reader.ok("campaign_read", &json!({"campaign_id": campaign_id}));
    }
    std::thread::scope(|scope| {
        for number in 0..4 {
            let mut seat = seat(number);
            let create = json!({"name": "Until then", "gm_mode": "HUMAN"});
            scope.spawn(move || while seat.call("campaign_create", &create).is_ok() {});
        }
        assert!(world.run(&["token", "revoke", &id]).status.success());
    });
    assert!(text(&world.run(&["token", "list"]).stdout).contains("There are no tokens"));
}

#[test]
fn a_token_for_a_campaign_that_is_not_there_is_refused() {
    let world = World::sqlite();
    let create = |campaigns: &str| {
        let refused = world.run(&["token", "create", "Alice", "--for", campaigns]);
        assert!(!refused.status.success() && refused.stdout.is_empty(), "{}", text(&refused.stdout));
        text(&refused.stderr)
    };
    let words = create("camp_abc123");
    assert!(words.contains("there is no campaign \"camp_abc123\"; there is no campaign yet"), "{words}");
    let campaign_id = create_campaign(&mut world.stdio_client(&[]));
    for campaigns in [format!("{campaign_id},camp_abc123"), "camp_abc123".to_owned()] {
        let words = create(&campaigns);
        assert!(words.contains(&format!("there are {campaign_id} (The Lost Expedition)")), "{words}");
    }
    assert!(create("camp abc").contains("there is no campaign \"camp abc\""));
    assert!(text(&world.run(&["token", "list"]).stdout).contains("There are no tokens"));
}

#[test]
fn a_token_is_bound_to_participants_by_name_or_id() {
    let world = World::sqlite();
    let mut owner = world.stdio_client(&[]);
    let campaign_id = create_campaign(&mut owner);
    let add = |owner: &mut TestClient, name: &str| {
        let participant = json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"});
        let added = owner.ok("participant_create", &participant);
        added["id"].as_str().expect("an id").to_owned()
    };
    let (ana, ben) = (add(&mut owner, "Ana"), add(&mut owner, "Ben"));
    let (_, token) = world.create_token(&["Ana", "--for", &campaign_id, "--participant", "ana", "--participant", &ben]);
    let listed = || text(&world.run(&["token", "list"]).stdout);
    let (first, second) = if ana < ben { (&ana, &ben) } else { (&ben, &ana) };
    assert!(listed().contains(&format!(", is {first} and {second}")), "{}", listed());
    assert!(world.run(&["token", "bind", &token, "--participant", "Ben"]).status.success());
    assert!(listed().contains(&format!(", is {ben}  person")), "{}", listed());
    for nobody in ["Cleo", "part_none"] {
        let refused = world.run(&["token", "bind", &token, "--participant", nobody]);
        assert!(!refused.status.success() && text(&refused.stderr).contains(nobody), "{}", text(&refused.stderr));
    }
    assert!(world.run(&["token", "bind", &token]).status.success());
    assert!(!listed().contains(", is part_"), "{}", listed());
    let invited = world.run(&["invite", "create", "Ben", "--for", &campaign_id, "--participant", "Ben"]);
    assert!(text(&invited.stdout).contains(&format!(", is {ben}")), "{}", text(&invited.stdout));
    assert!(world.run(&["verify"]).status.success());
}

/// Sends one request over REST and one over MCP with these headers: both statuses, and the REST reply.
fn request_with_headers(address: std::net::SocketAddr, headers: &[(&str, &str)]) -> (u16, u16, skald_testkit::Reply) {
    let mut client = Client::connect(address);
    let sent = [&[JSON], headers].concat();
    let by_mcp = client.send("POST", "/mcp", &sent, initialize("2025-11-25").to_string().as_bytes());
    let by_rest = client.send("GET", "/api/v1/campaigns", headers, b"");
    if by_mcp.status == 401 {
        assert_eq!(by_mcp.header("www-authenticate"), Some("Bearer"));
    }
    (by_rest.status, by_mcp.status, by_rest)
}

#[test]
fn a_wrong_token_is_not_let_in() {
    let world = World::sqlite();
    let (secret, id) = world.create_token(&["Alice", "--role", "gm"]);
    let server = world.serve(&[]);
    let bearer = format!("Bearer {secret}");
    let lower = format!("bearer  {secret}");
    for right in [&bearer, &lower] {
        let (by_rest, by_mcp, _) = request_with_headers(server.address, &[("Authorization", right)]);
        assert_eq!((by_rest, by_mcp), (200, 200), "{right}");
    }
    assert_eq!(request_with_headers(server.address, &[]).0, 200, "on loopback the owner needs none");
    assert_eq!(Client::connect(server.address).send("GET", "/metrics", &[], b"").status, 200);
    let (stem, _) = secret.rsplit_once('_').expect("a token");
    let wrong = [
        format!("{bearer}x"),
        bearer[..bearer.len() - 1].to_owned(),
        format!("Bearer {stem}_{}", "a".repeat(52)),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer skald_".to_owned(),
        "Bearer x".to_owned(),
        format!("Basic {secret}"),
        secret.clone(),
    ];
    for wrong in &wrong {
        let (by_rest, by_mcp, reply) = request_with_headers(server.address, &[("Authorization", wrong)]);
        assert_eq!((by_rest, by_mcp), (401, 401), "{wrong}");
        assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        assert_eq!(
            code_and_status(&parse_rest_reply(&reply).expect_err("a fault")),
            ("UNAUTHORIZED", "Unauthenticated")
        );
        assert!(!reply.text().contains(&secret[10..]), "what was sent is not repeated");
    }
    let twice = [("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(request_with_headers(server.address, &twice).0, 401);
    // A revocation takes effect without a restart of the server.
    let mut seat = server.client_with(Surface::Session, Some(&secret), "test");
    assert!(world.run(&["token", "revoke", &id]).status.success());
    assert_eq!(request_with_headers(server.address, &[("Authorization", &bearer)]).0, 401);
    assert_eq!(
        seat.request("tools/list", &json!({}))["error"]["code"],
        "UNAUTHORIZED",
        "an open session is no way around"
    );
}

#[test]
fn roles_bound_what_may_be_done() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let campaign_id = create_campaign(&mut owner);
    let session = owner.ok("session_start", &json!({"campaign_id": campaign_id}));
    let of = |mut input: Value| {
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let token = |role: &str| world.create_token(&[role, "--role", role, "--for", &campaign_id]).0;
    let (gm, player, guest) = (token("gm"), token("player"), token("guest"));
    let changes = [
        ("participant_create", of(json!({"display_name": "Alice", "role": "PLAYER"}))),
        ("actor_create", of(json!({"name": "Thorin", "kind": "PC"}))),
        ("campaign_update", of(json!({"name": "Mine"}))),
    ];
    let play = [
        ("session_note", of(json!({"text": "They set out."}))),
        ("duality_action_roll", json!({"session_id": session["id"]})),
    ];
    let reads = [("campaign_read", of(json!({}))), ("events_list", of(json!({}))), ("session_recap", of(json!({})))];
    for surface in OVER_HTTP {
        let seat = |token: &str| server.client_with(surface, Some(token), "test");
        let (mut gm, mut player, mut guest) = (seat(&gm), seat(&player), seat(&guest));
        for (tool, input) in &changes {
            gm.ok(tool, input);
            for seat in [&mut player, &mut guest] {
                let fault = seat.call_refused(tool, input);
                assert_eq!(code_and_status(&fault), ("FORBIDDEN", "PermissionDenied"), "{tool}");
            }
        }
        for (tool, input) in &play {
            gm.ok(tool, input);
            player.ok(tool, input);
            assert_eq!(code_and_status(&guest.call_refused(tool, input)), ("FORBIDDEN", "PermissionDenied"), "{tool}");
        }
        for (tool, input) in &reads {
            for seat in [&mut gm, &mut player, &mut guest] {
                seat.ok(tool, input);
            }
        }
    }
    let by = owner.ok("events_list", &of(json!({"types": ["roll"], "by": "owner"})));
    assert_eq!(by["events"], json!([]), "whoever rolled is named");
}

/// The refusals of every call and resource that names the campaign or session, with placeholders for the ids.
fn collect_refusals(seat: &mut TestClient, campaign_id: &str, session_id: &str) -> Vec<String> {
    let calls = [
        ("campaign_read", json!({"campaign_id": campaign_id})),
        ("events_list", json!({"campaign_id": campaign_id})),
        ("session_recap", json!({"campaign_id": campaign_id})),
        ("session_note", json!({"campaign_id": campaign_id, "text": "x"})),
        ("session_start", json!({"campaign_id": campaign_id})),
        ("set_context", json!({"campaign_id": campaign_id})),
        ("roll_dice", json!({"dice": [{"sides": 6, "count": 1}], "session_id": session_id})),
    ];
    let mut seen: Vec<String> = calls.iter().map(|(tool, input)| seat.call_refused(tool, input).to_string()).collect();
    for part in ["", "/participants", "/actors", "/sessions", "/events"] {
        seen.push(seat.read(&format!("campaign://{campaign_id}{part}")).expect_err("a fault").to_string());
    }
    seen.iter().map(|text| text.replace(campaign_id, "CAMPAIGN").replace(session_id, "SESSION")).collect()
}

#[test]
fn what_is_not_theirs_is_not_there() {
    let world = World::sqlite();
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let (theirs, other) = (create_campaign(&mut owner), create_campaign(&mut owner));
    let session = owner.ok("session_start", &json!({"campaign_id": other}));
    let session = session["id"].as_str().expect("an id");
    let input = json!({"campaign_id": other, "display_name": "Bob", "role": "PLAYER"});
    let bob = owner.ok("participant_create", &input)["id"].clone();
    let (gm, _) = world.create_token(&["Alice", "--role", "gm", "--for", &theirs]);
    for surface in OVER_HTTP {
        let mut seat = server.client_with(surface, Some(&gm), "test");
        assert_eq!(
            collect_refusals(&mut seat, &other, session),
            collect_refusals(&mut seat, "camp_abc123", "sess_ghi789"),
            "{surface:?}"
        );
        // The session and the participant of the other campaign look as if they did not exist, too.
        for (field, there, nowhere) in
            [("session_id", session, "sess_ghi789"), ("participant_id", bob.as_str().unwrap_or_default(), "part_1")]
        {
            let mut refusal = |id: &str| {
                let fault = seat.call_refused("set_context", &json!({"campaign_id": theirs, field: id}));
                fault.to_string().replace(id, "ID")
            };
            assert_eq!(refusal(there), refusal(nowhere), "{field}");
        }
        let listed = seat.read_ok("campaigns://list");
        let listed: Vec<&Value> =
            listed["campaigns"].as_array().expect("a list").iter().map(|one| &one["id"]).collect();
        assert_eq!(listed, [&json!(theirs)]);
        assert_eq!(seat.ok("campaign_read", &json!({}))["campaign"]["id"], json!(theirs), "the only one there is");
        if surface != Surface::Rest {
            let uri = json!({"type": "ref/resource", "uri": "campaign://{campaign_id}"});
            let ask = json!({"ref": uri, "argument": {"name": "campaign_id", "value": "camp_"}});
            let completed = seat.request("completion/complete", &ask);
            assert_eq!(completed["result"]["completion"]["values"], json!([theirs]), "{completed}");
        }
    }
}

#[test]
fn whoever_creates_a_campaign_runs_it() {
    let world = World::sqlite();
    let first = create_campaign(&mut world.stdio_client(&[]));
    let (secret, _) = world.create_token(&["Alice", "--role", "gm", "--for", &first]);
    let server = world.serve(&[]);
    let mut command = world.command(&["mcp"]);
    command.env("SKALD_TOKEN", &secret);
    let on_stdio = TestClient::over_stdio(command);
    let over_http = OVER_HTTP.map(|surface| server.client_with(surface, Some(&secret), "test"));
    for mut seat in over_http.into_iter().chain([on_stdio]) {
        let campaign_id = create_campaign(&mut seat);
        seat.ok("participant_create", &json!({"campaign_id": campaign_id, "display_name": "Bob", "role": "PLAYER"}));
    }
    let mut seat = server.client_with(Surface::Rest, Some(&secret), "test");
    assert_eq!(seat.read_ok("campaigns://list")["campaigns"].as_array().map(Vec::len), Some(5));
    let (player, _) = world.create_token(&["Bob", "--role", "player"]);
    let fault = server
        .client_with(Surface::Rest, Some(&player), "test")
        .call_refused("campaign_create", &json!({"name": "x", "gm_mode": "AI"}));
    assert_eq!(code_and_status(&fault), ("FORBIDDEN", "PermissionDenied"));
}

#[test]
fn a_client_on_stdio_is_whoever_its_token_says() {
    let world = World::sqlite();
    let campaign_id = create_campaign(&mut world.stdio_client(&[]));
    let (secret, id) = world.create_token(&["Alice", "--role", "player", "--for", &campaign_id]);
    let with = |token: &str| {
        let mut command = world.command(&["mcp"]);
        command.env("SKALD_TOKEN", token);
        command
    };
    let mut seat = TestClient::over_stdio(with(&secret));
    seat.ok("campaign_read", &json!({}));
    let input = json!({"campaign_id": campaign_id, "display_name": "Bob", "role": "PLAYER"});
    assert_eq!(code_and_status(&seat.call_refused("participant_create", &input)), ("FORBIDDEN", "PermissionDenied"));
    assert!(world.run(&["token", "revoke", &id]).status.success());
    let after = seat.request("tools/call", &json!({"name": "campaign_read", "arguments": {}}));
    assert_eq!(after["error"]["data"]["error"]["code"], "UNAUTHORIZED", "{after}");
    let (status, _, errors) = RunningProgram::start(with(&secret)).wait_for_exit();
    assert!(!status.success() && errors.contains("SKALD_TOKEN"), "{errors}");
}

#[test]
fn others_need_a_token() {
    let world = World::sqlite();
    let open = ["serve", "--http-addr", "0.0.0.0:0"];
    let refused = world.run(&open);
    let words = text(&refused.stderr);
    assert!(!refused.status.success() && words.contains("skald token create NAME --role gm"), "{words}");
    let (secret, _) = world.create_token(&["Alice", "--role", "gm"]);
    let (_running, mut address) = RunningProgram::start_server(world.command(&open));
    address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    let (by_rest, by_mcp, reply) = request_with_headers(address, &[]);
    assert_eq!((by_rest, by_mcp), (401, 401));
    let fault = parse_rest_reply(&reply).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("UNAUTHORIZED", "Unauthenticated"));
    assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("skald token create")), "{fault}");
    assert_eq!(request_with_headers(address, &[("Authorization", &format!("Bearer {secret}"))]).0, 200);
    let bearer = format!("Bearer {secret}");
    let page = |path: &str, headers: &[(&str, &str)]| Client::connect(address).send("GET", path, headers, b"");
    for path in ["/health", "/ready", "/mcp/health"] {
        assert_eq!(page(path, &[]).status, 200, "{path} is for everybody");
    }
    let refused = page("/metrics", &[]);
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, Some("Bearer")));
    assert_eq!(page("/metrics", &[("Authorization", "Bearer skald_wrong")]).status, 401);
    assert_eq!(page("/metrics", &[("Authorization", &bearer)]).status, 200);
    let (player, _) = world.create_token(&["Ben", "--role", "player"]);
    assert_eq!(page("/metrics", &[("Authorization", &format!("Bearer {player}"))]).status, 403);
    assert!(!World::new(StoreKind::Memory).run(&open).status.success());
}
