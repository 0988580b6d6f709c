//! Home: who sees how to connect a program to this server.

use axum::body::Body;
use axum::extract::Request;
use serde_json::json;
use skald_app::{Caller, CampaignRole};

use crate::World;

#[tokio::test]
async fn only_the_owner_on_this_machine_sees_its_paths() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let owner = Caller::owner();
    let home = async |caller: &Caller, host: &str| {
        let request = Request::builder().uri("/").header("host", host).body(Body::empty()).unwrap();
        world.answer(request, Some(caller)).await.body
    };
    for host in ["localhost:8081", "127.0.0.1:8081", "[::1]:8081", "localhost"] {
        let page = home(&owner, host).await;
        assert!(page.contains("/srv/skald") && page.contains(&format!("http://{host}/mcp")), "{host}: {page}");
        let page = home(&player, host).await;
        assert!(!page.contains("/srv/skald") && page.contains("/mcp"), "{host}: {page}");
    }
    for host in ["table.example", "192.168.0.9:8081", "127.0.0.1.evil.example", "localhost.evil.example:80"] {
        assert!(!home(&owner, host).await.contains("/srv/skald"), "{host}");
    }
}

#[tokio::test]
async fn home_says_where_somebody_plays_and_what_the_scene_is() {
    let world = World::new().await;
    let owner = Caller::owner();
    let (bells, ..) = world.campaign("Bells").await;
    let (sea, ..) = world.campaign("Open Sea").await;
    let quiet = world.call(&owner, "campaign_create", json!({"name": "Quiet", "gm_mode": "AI"})).await;
    assert!(quiet["id"].is_string());
    world.call(&owner, "session_note", json!({"campaign_id": bells, "scene": "The <drowned> tower"})).await;
    world.call(&owner, "session_end", json!({"campaign_id": sea})).await;
    let page = world.get(&owner, "/").await.body;
    let card = |name: &str| page.split("<li class=\"card\">").find(|card| card.contains(name)).unwrap().to_owned();
    let playing = card(">Bells</a>");
    assert!(playing.contains("badge-live\">going on</span>") && playing.contains("The first bell"), "{playing}");
    assert!(playing.contains("Scene: <bdi>The &lt;drowned&gt; tower</bdi>"), "{playing}");
    for name in [">Open Sea</a>", ">Quiet</a>"] {
        assert!(!card(name).contains("going on"), "{page}");
    }
    let place = |name: &str| page.find(name).unwrap();
    assert!(place(">Bells</a>") < place(">Open Sea</a>"), "where somebody plays comes first: {page}");
    let (stranger, _) = world.holder("Sam", &sea, CampaignRole::Player).await;
    let theirs = world.get(&stranger, "/").await.body;
    assert!(!theirs.contains("drowned") && !theirs.contains("Bells"), "{theirs}");
}

#[tokio::test]
async fn a_campaign_is_created_on_home_by_those_who_may() {
    let world = World::new().await;
    let owner = Caller::owner();
    let form = |page: &str| page.find("id=\"new-campaign\"");
    let empty = world.get(&owner, "/").await.body;
    assert!(form(&empty) < empty.find("No campaign yet") && empty.contains("id=\"new-campaign\" open>"), "{empty}");
    let sent = "name=+The+Drowned+Bells+&gm_mode=HYBRID&theme_prompt=Bells+below+the+water.";
    let made = world.post(Some(&owner), "/", sent).await;
    assert_eq!(made.status, 303, "{}", made.body);
    let path = made.headers["location"].to_str().unwrap().to_owned();
    let campaign = path.strip_prefix("/c/").unwrap().to_owned();
    let view = json!({"campaign_id": campaign, "view": "campaign"});
    let stored = world.call(&owner, "campaign_read", view).await["campaign"].clone();
    let field = |name: &str| stored[name].as_str().unwrap_or_default().to_owned();
    assert_eq!([field("name"), field("gm_mode")], ["The Drowned Bells", "HYBRID"], "{stored}");
    assert_eq!(field("theme_prompt"), "Bells below the water.", "{stored}");
    let table = world.get(&owner, &path).await.body;
    assert!(table.contains("Start one below") && table.contains("docs/campaign.md"), "{table}");

    let home = world.get(&owner, "/").await.body;
    assert!(home.find(">The Drowned Bells</a>") < form(&home) && home.contains("id=\"new-campaign\">"), "{home}");
    let (master, _) = world.holder("Gil", &campaign, CampaignRole::Gm).await;
    assert!(form(&world.get(&master, "/").await.body).is_some());
    let made = world.post(Some(&master), "/", "name=Fog&gm_mode=HUMAN").await;
    let path = made.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(world.get(&master, &path).await.status, 200, "who creates a campaign leads it");
    for role in [CampaignRole::Player, CampaignRole::Guest] {
        let (caller, _) = world.holder("Ana", &campaign, role).await;
        assert!(form(&world.get(&caller, "/").await.body).is_none());
        let refused = world.post(Some(&caller), "/", "name=Mine&gm_mode=HUMAN").await;
        assert_eq!((refused.status.as_u16(), form(&refused.body)), (403, None), "{}", refused.body);
    }
}

#[tokio::test]
async fn a_campaign_that_is_refused_keeps_what_was_typed() {
    let world = World::new().await;
    let owner = Caller::owner();
    world.campaign("Bells").await;
    let refused = world.post(Some(&owner), "/", "name=+&gm_mode=AI&theme_prompt=Bells+%3Cbelow%3E").await;
    assert_eq!(refused.status, 400, "{}", refused.body);
    for part in [
        "id=\"new-campaign\" open>",
        "id=\"name-fault\"",
        "<option value=\"AI\" selected>",
        "Bells &lt;below&gt;</textarea>",
        ">Bells</a>",
    ] {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    let refused = world.post(Some(&owner), "/", "name=Fog&gm_mode=NOBODY").await;
    assert!(
        refused.body.contains("id=\"gm_mode-fault\"") && refused.body.contains("value=\"Fog\""),
        "{}",
        refused.body
    );
    let listed = world.call(&owner, "campaign_read", json!({"view": "campaigns"})).await;
    assert_eq!(listed["campaigns"].as_array().unwrap().len(), 1, "{listed}");
}
