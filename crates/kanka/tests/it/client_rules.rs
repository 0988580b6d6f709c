//! Rules that programs written for Kanka rely on, each named after what would break.

use serde_json::{Value, json};
use skald_app::{CampaignRole, limits};
use skald_testkit::{Client, Reply};

use crate::api_server::{ApiServer, ServerSettings};

fn raw(server: &ApiServer, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
    Client::connect(server.address).send(method, path, headers, b"")
}

/// A client that appends `api/1.0/` to whatever base it is given, and one that refuses links of another base.
#[test]
fn the_base_path_has_aliases_and_links_keep_it() {
    let server = ApiServer::start();
    for number in 0..=limits::KANKA_PAGE_ROWS {
        server.post("items", json!({"name": format!("Item {number}")}));
    }
    for base in ["/api/kanka/1.0", "/api/kanka/api/1.0", "/api/kanka/1.0/api/1.0"] {
        let path = format!("{base}/campaigns/{}/items/", server.number);
        let page = raw(&server, "GET", &path, &[]).json();
        let links =
            [&page["links"]["next"], &page["links"]["first"], &page["meta"]["path"], &page["data"][0]["urls"]["api"]];
        for link in links {
            let start = format!("http://{}{base}/", server.address);
            assert!(link.as_str().unwrap().starts_with(&start), "{link}");
        }
    }
    for path in ["/api/kanka", "/api/kanka/2.0/profile", "/api/kanka/", "/api/kanka/1.0"] {
        let reply = raw(&server, "GET", path, &[]);
        assert_eq!((reply.status, &reply.json()["code"]), (404, &json!(404)), "{path}");
    }
}

/// A page of a browser game table reads the API.
#[test]
fn browsers_may_call_and_read_the_limit() {
    let server = ApiServer::start();
    let origin = "http://localhost:30000";
    let path = format!("/api/kanka/1.0/campaigns/{}/characters", server.number);
    let asked = [
        ("Origin", origin),
        ("Access-Control-Request-Method", "PATCH"),
        ("Access-Control-Request-Headers", "authorization,content-type"),
    ];
    let preflight = raw(&server, "OPTIONS", &path, &asked);
    assert_eq!((preflight.status, preflight.header("access-control-allow-origin")), (204, Some(origin)));
    assert!(preflight.header("access-control-allow-methods").unwrap().contains("PATCH"));
    let allowed = preflight.header("access-control-allow-headers").unwrap();
    assert!(allowed.contains("authorization") && allowed.contains("content-type"), "{allowed}");
    let reply = raw(&server, "GET", &path, &[("Origin", origin)]);
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, Some(origin)));
    let exposed = reply.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("x-ratelimit-limit") && exposed.contains("x-ratelimit-remaining"), "{exposed}");
    let stranger = raw(&server, "GET", &path, &[("Origin", "https://evil.example")]);
    assert_eq!((stranger.status, &stranger.json()["code"]), (403, &json!(403)));
}

/// A client appends its query to the link of the next page, which has it already.
#[test]
fn a_parameter_may_be_sent_twice() {
    let server = ApiServer::start();
    server.post("notes", json!({"name": "Plan"}));
    let page = server.get("notes?related=1&page=1&related=1&name=plan");
    assert_eq!(page["data"][0]["posts"], json!([]));
    assert!(page["links"]["first"].as_str().unwrap().ends_with("?related=1&related=1&name=plan&page=1"), "{page}");
}

/// Clients compare moments as texts, and parse them strictly.
#[test]
fn moments_have_one_width() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    server.post("entities/1/posts", json!({"name": "News"}));
    server.post("tags", json!({"name": "Elf"}));
    let (page, tags) = (server.get("characters?related=1"), server.get("tags"));
    let campaign = server.send_as(None, "GET", &format!("campaigns/{}", server.number), None).json();
    let row = &page["data"][0];
    for moment in [
        &page["sync"],
        &row["created_at"],
        &row["updated_at"],
        &row["posts"][0]["created_at"],
        &row["posts"][0]["updated_at"],
        &tags["data"][0]["created_at"],
        &campaign["data"]["created_at"],
    ] {
        let text = moment.as_str().unwrap();
        assert_eq!((text.len(), text.ends_with('Z')), ("2026-01-15T12:00:00.000000Z".len(), true), "{text}");
        assert!(text.parse::<jiff::Timestamp>().is_ok(), "{text}");
    }
}

/// Clients index these keys without asking whether they are there.
#[test]
fn keys_are_there_even_when_they_are_empty() {
    let server = ApiServer::start();
    let keys: [(&str, &[&str]); 10] = [
        ("characters", &["title", "age", "races", "families", "traits", "organisations", "is_dead"]),
        ("locations", &["parent_location_id", "map", "is_map_private"]),
        ("organisations", &["members", "organisation_id"]),
        ("races", &["race_id", "locations"]),
        ("creatures", &["creature_id", "locations"]),
        ("notes", &["is_pinned"]),
        ("journals", &["date", "author_id"]),
        ("quests", &["date", "instigator_id", "elements", "is_completed"]),
        ("items", &["price", "size", "weight"]),
        ("events", &["date"]),
    ];
    let shared = [
        "id",
        "entity_id",
        "name",
        "entry",
        "entry_parsed",
        "type",
        "image",
        "image_full",
        "image_thumb",
        "header_image",
        "tags",
        "is_private",
        "is_template",
        "created_at",
        "created_by",
        "updated_at",
        "updated_by",
        "urls",
        "is_pinned",
    ];
    let related = [
        "posts",
        "attributes",
        "relations",
        "inventory",
        "entity_abilities",
        "entity_events",
        "reminders",
        "entity_assets",
        "entity_files",
        "parents",
        "children",
    ];
    for (plural, own) in keys {
        server.post(plural, json!({"name": "First"}));
        let row = server.rows(&format!("{plural}?related=1"))[0].clone();
        for key in shared.iter().chain(own).chain(&related) {
            assert!(row.get(key).is_some(), "{plural} has no {key}");
        }
        // Strict clients read neither of these as null.
        assert!(row["created_by"].is_u64() && row["entry"].is_string() && row["tags"].is_array(), "{row}");
    }
}

/// A bot takes no other content type, and a client reads the limit from every answer.
#[test]
fn every_answer_is_plain_json_with_its_limit() {
    let server = ApiServer::start();
    for (method, below, status) in
        [("GET", "characters", 200), ("GET", "characters/9", 404), ("POST", "characters", 422), ("DELETE", "tags", 405)]
    {
        let reply = server.send(method, below, Some(&json!({})));
        assert_eq!((reply.status, reply.header("content-type")), (status, Some("application/json")), "{below}");
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining"] {
            assert!(reply.header(header).is_some_and(|value| value.parse::<u32>().is_ok()), "{header} of {below}");
        }
    }
    let reply = server.send("DELETE", "tags", None);
    assert_eq!(reply.header("allow"), Some("GET, POST"));
    assert_eq!(server.send("HEAD", "characters", None).status, 200);
}

#[test]
fn a_token_has_a_limit_and_the_owner_has_none() {
    let per_minute = Some(limits::KANKA_REQUESTS_PER_MINUTE);
    let server =
        ApiServer::with_settings(ServerSettings { requests_per_minute: per_minute, ..ServerSettings::default() });
    let token = server.create_token(CampaignRole::Gm);
    let profile = server.send_as(Some(&token), "GET", "profile", None);
    assert_eq!(profile.json()["data"]["rate_limit"], limits::KANKA_REQUESTS_PER_MINUTE);
    let mut refused = None;
    for _ in 0..limits::KANKA_REQUESTS_PER_MINUTE + 30 {
        let reply = server.send_as(Some(&token), "GET", "health", None);
        if reply.status == 429 {
            refused = Some(reply);
            break;
        }
    }
    let refused = refused.expect("a request too many");
    assert!(refused.json().as_array().is_some_and(|list| list.len() == 1 && list[0].is_string()), "{}", refused.text());
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    assert_eq!(refused.header("x-ratelimit-remaining"), Some("0"));
    for _ in 0..3 {
        assert_eq!(server.send("GET", "characters", None).status, 200);
    }
}

/// A value that a client may take for a row's own.
#[test]
fn fields_can_be_chosen() {
    let server = ApiServer::start();
    server.post("characters", json!({"name": "Ann"}));
    assert_eq!(server.get("characters/1?fields=name,entity_id")["data"], json!({"name": "Ann", "entity_id": 1}));
    assert_eq!(server.get("characters?fields=name")["data"], json!([{"name": "Ann"}]));
    assert_eq!(server.get("characters/1?fields=")["data"]["name"], Value::from("Ann"));
}
