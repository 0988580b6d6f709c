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
