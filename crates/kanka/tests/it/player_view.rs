//! Tests of what players and guests get: no private row, count, tag, mention or date, and no change.

use serde_json::{Value, json};
use skald_app::{CampaignRole, ToolsetFilter};

use crate::api_server::{ApiServer, ServerSettings, check_error, expect_status};

/// A word that stands in everything that is private.
const SECRET: &str = "Zyx";

/// A campaign with public and private things.
fn campaign_with_secrets() -> ApiServer {
    let server = ApiServer::start();
    server.post("tags", json!({"name": "Elf"}));
    server.post("tags", json!({"name": format!("{SECRET} tag")}));
    server.post("tags", json!({"name": format!("{SECRET} unused")}));
    server.post("characters", json!({"name": "Ann", "entry": "<p>Public</p>", "tags": [1]}));
    let hidden = json!({
        "name": format!("{SECRET} spy"), "entry": format!("<p>{SECRET} [character:1]</p>"), "tags": [1, 2],
        "is_private": true, "parent_id": 1
    });
    server.post("characters", hidden);
    server.post("entities/1/posts", json!({"name": "News", "entry": "<p>n</p>"}));
    let secret = json!({"name": format!("{SECRET} post"), "entry": format!("<p>{SECRET} [character:1]</p>"), "visibility_id": 2});
    server.post("entities/1/posts", secret);
    // A public text names what is private, and its reader must not learn its name.
    server.post("locations", json!({"name": "Port", "entry": "<p>[character:2] was here</p>", "parent_id": 2}));
    server
}

#[test]
fn nothing_private_is_in_any_answer() {
    let server = campaign_with_secrets();
    for role in [CampaignRole::Player, CampaignRole::Guest] {
        let token = server.create_token(role);
        let get = |path: &str| server.send_as(Some(&token), "GET", path, None);
        for below in [
            "characters?related=1",
            "characters/1?related=1",
            "characters?is_private=1",
            "entities?image=1",
            "entities/1?related=1",
            "entities/3?related=1",
            "entities/recent",
            "entities/archived",
            "entities/1/posts",
            "entities/1/mentions",
            "entities/1/entity_tags",
            "locations?related=1",
            "tags",
            "tags/1",
            "search/z",
            "search/Zyx",
            "fulltext-search?term=Zyx",
            "users",
        ] {
            let body = expect_status(&get(&server.path(below)), 200, below).to_string();
            assert!(!body.contains(SECRET), "{below} as {}: {body}", role.as_str());
        }
        for below in ["characters/2", "entities/2", "entities/2/posts", "entities/1/posts/2", "tags/2", "tags/3"] {
            let answer = expect_status(&get(&server.path(below)), 404, below);
            check_error(&answer, 404);
            assert!(!answer.to_string().contains(SECRET), "{answer}");
        }
        let list = |below: &str| get(&server.path(below)).json();
        assert_eq!(list("characters")["meta"]["total"], 1);
        assert_eq!(list("entities")["meta"]["total"], 2);
        assert_eq!(list("tags")["meta"]["total"], 1);
        assert_eq!(list("tags/1")["data"]["entities"], json!([1]));
        assert_eq!(list("entities/1/mentions")["data"], json!([]));
        assert_eq!(list("entities/1/posts")["meta"]["total"], 1);
        assert_eq!(list("characters/1?related=1")["data"]["children"], json!([]));
        assert_eq!(list("locations/1")["data"]["parent_id"], Value::Null);
        assert_eq!(list("locations/1")["data"]["entry_parsed"], "<p>unknown was here</p>");
        assert_eq!(list("locations?parent_id=2")["meta"]["total"], 0);
        assert_eq!(list("characters?tags[]=2")["meta"]["total"], 0);
        assert_eq!(list("search/spy")["data"], json!([]));
    }
    let all = server.get("characters?related=1");
    assert_eq!(all["meta"]["total"], 2, "the game master sees both");
}

/// A private post moves its entity only for those who see it.
#[test]
fn a_private_change_is_not_in_a_players_sync() {
    let server = campaign_with_secrets();
    let token = server.create_token(CampaignRole::Player);
    let get = |below: &str| server.send_as(Some(&token), "GET", &server.path(below), None).json();
    let before = get("entities");
    let sync = before["sync"].as_str().unwrap().to_owned();
    server.patch("entities/1/posts/2", json!({"entry": "<p>more</p>"}));
    server.patch("characters/2", json!({"entry": "<p>more</p>"}));
    assert_eq!(get(&format!("entities?lastSync={sync}"))["meta"]["total"], 0);
    assert_eq!(get("entities/1")["data"]["updated_at"], before["data"][0]["updated_at"]);
    assert_eq!(server.get(&format!("entities?lastSync={sync}"))["meta"]["total"], 2);
}

#[test]
fn players_change_nothing() {
    let server = campaign_with_secrets();
    let token = server.create_token(CampaignRole::Player);
    let before = server.get("entities").to_string();
    for (method, below, body) in [
        ("POST", "characters", json!({"name": "x"})),
        ("PATCH", "characters/1", json!({"name": "x"})),
        ("PUT", "entities/1", json!({"name": "x"})),
        ("DELETE", "characters/1", json!({})),
        ("POST", "entities/1/posts", json!({"name": "x"})),
        ("PATCH", "entities/1/posts/1", json!({"name": "x"})),
        ("DELETE", "entities/1/posts/1", json!({})),
        ("POST", "tags", json!({"name": "x"})),
        ("DELETE", "tags/1", json!({})),
        ("POST", "entities/1/entity_tags", json!({"tag_id": 1})),
        ("POST", "entities/1/entity_assets", json!({"type_id": 3, "name": "x"})),
        ("POST", "entities/1", json!({"entities": [{"name": "x"}]})),
    ] {
        let reply = server.send_as(Some(&token), method, &server.path(below), Some(&body));
        check_error(&expect_status(&reply, 403, below), 403);
    }
    // What the player may not see is not there, whatever is asked of it.
    for (method, below) in [("PATCH", "characters/2"), ("DELETE", "characters/2"), ("DELETE", "tags/2")] {
        let reply = server.send_as(Some(&token), method, &server.path(below), Some(&json!({"name": "x"})));
        assert_eq!(reply.status, 404, "{method} {below}");
    }
    let data = |text: &str| serde_json::from_str::<Value>(text).unwrap()["data"].clone();
    assert_eq!(data(&server.get("entities").to_string()), data(&before));
}

#[test]
fn another_campaign_is_not_there() {
    let server = ApiServer::start();
    let token = server.create_token(CampaignRole::Gm);
    let other = server.create_campaign("Tides");
    let campaigns = server.call("list_numbered_campaigns", json!({}));
    let number = campaigns["campaigns"][0]["number"].clone();
    for campaign in [number.to_string(), other.clone(), "Tides".to_owned()] {
        for below in ["characters", "entities", "families", "search/a", "users"] {
            let path = format!("campaigns/{campaign}/{below}");
            let answer = expect_status(&server.send_as(Some(&token), "GET", &path, None), 404, &path);
            assert!(!answer.to_string().contains(&other) || campaign == other, "{answer}");
        }
    }
    let own = server.send_as(Some(&token), "GET", "campaigns", None).json();
    assert_eq!(own["data"].as_array().unwrap().len(), 1);
    let profile = server.send_as(Some(&token), "GET", "profile", None).json();
    assert_eq!(profile["data"]["last_campaign_id"], server.number);
}

#[test]
fn whoever_is_not_known_is_refused() {
    let server = ApiServer::with_settings(ServerSettings { is_token_required: true, ..ServerSettings::default() });
    for token in [None, Some("skald_wrong"), Some("")] {
        for path in [server.path("characters"), "profile".to_owned(), "health".to_owned(), "nothing".to_owned()] {
            let reply = server.send_as(token, "GET", &path, None);
            check_error(&expect_status(&reply, 401, &path), 401);
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"));
        }
    }
    let token = server.create_token(CampaignRole::Guest);
    assert_eq!(server.send_as(Some(&token), "GET", &server.path("characters"), None).status, 200);
}

#[test]
fn a_server_that_only_reads_takes_no_changes() {
    let visible = ToolsetFilter { read_only: true, ..ToolsetFilter::EVERYTHING };
    let server = ApiServer::with_settings(ServerSettings { visible, ..ServerSettings::default() });
    assert!(server.rows("characters").is_empty());
    server.refusal("POST", "characters", Some(&json!({"name": "x"})), 403);
}

#[test]
fn the_api_comes_with_the_lore() {
    let with_toolsets = |names: &str| {
        let visible = ToolsetFilter { toolsets: names.parse().unwrap(), ..ToolsetFilter::EVERYTHING };
        ApiServer::with_settings(ServerSettings { visible, ..ServerSettings::default() })
    };
    let lore = with_toolsets("lore");
    lore.post("characters", json!({"name": "Ann"}));
    assert_eq!(lore.names("fulltext-search?term=ann"), ["Ann"]);
    let dice = with_toolsets("dice,campaign");
    dice.refusal("GET", "characters", None, 404);
    dice.refusal("POST", "characters", Some(&json!({"name": "Ann"})), 404);
}
