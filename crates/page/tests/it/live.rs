//! The stream of a table: each event on every screen soon, and none missed by whoever comes back.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use futures::StreamExt;
use serde_json::json;
use skald_app::{Caller, CampaignRole};

use crate::World;

/// How soon an event has to be on all screens.
const SOON: Duration = Duration::from_millis(200);

type Stream = axum::body::BodyDataStream;

async fn open(world: &World, caller: &Caller, path: &str, last: Option<&str>) -> Stream {
    let mut request = Request::builder().uri(path);
    if let Some(last) = last {
        request = request.header("last-event-id", last);
    }
    let response = world.send(request.body(Body::empty()).unwrap(), Some(caller)).await;
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"text/event-stream".parse().unwrap())
    );
    let mut stream = response.into_body().into_data_stream();
    next(&mut stream).await;
    stream
}

async fn next(stream: &mut Stream) -> String {
    let piece = tokio::time::timeout(Duration::from_secs(10), stream.next()).await.expect("an event in time");
    String::from_utf8(piece.expect("the stream goes on").unwrap().into()).unwrap()
}

fn event_id(event: &str) -> String {
    event.lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_on_every_screen_soon() {
    let world = World::new().await;
    let (campaign, actor, session) = world.campaign("The Drowned Bells").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let path = format!("/c/{campaign}/live");
    let owner = Caller::owner();
    let mut screens = Vec::new();
    for at in 0..50 {
        screens.push(open(&world, if at % 2 == 0 { &owner } else { &player }, &path, None).await);
    }
    let mut slowest = Duration::ZERO;
    for number in 0..5 {
        let reason = format!("Leap number {number}");
        let roll = json!({"session_id": session, "actor_id": actor, "expression": "2d6", "reason": reason});
        world.call(&player, "roll", roll).await;
        let stored = Instant::now();
        for screen in &mut screens {
            // News that come together are one event.
            while !next(screen).await.contains(&reason) {}
        }
        slowest = slowest.max(stored.elapsed());
    }
    assert!(slowest < SOON, "{slowest:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_comes_back_misses_nothing() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let path = format!("/c/{campaign}/live");
    let note = |text: &str| json!({"campaign_id": campaign, "text": text});
    let mut stream = open(&world, &owner, &path, None).await;
    world.call(&owner, "session_note", note("before")).await;
    let id = event_id(&next(&mut stream).await);
    drop(stream);
    world.call(&owner, "session_note", note("while nobody listened")).await;
    let mut stream = open(&world, &owner, &path, Some(&id)).await;
    let event = next(&mut stream).await;
    assert!(event.contains("while nobody listened") && event.contains("before"), "{event}");
    assert!(
        event.lines().all(|line| line.is_empty() || line.starts_with("data: ") || line.starts_with("id: ")),
        "{event}"
    );
    // The page itself says where it was rendered.
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    let after = page.split("/live?after=").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned();
    world.call(&owner, "session_note", note("after the page")).await;
    let mut stream = open(&world, &owner, &format!("{path}?after={after}"), None).await;
    assert!(next(&mut stream).await.contains("after the page"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_table_follows_the_end_of_a_session_and_new_characters() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let mut stream = open(&world, &player, &format!("/c/{campaign}/live"), None).await;
    world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
    while !next(&mut stream).await.contains("data-session=\"ended\"") {}
    // The forms are there before the session is: the style sheet shows them by that mark.
    let page = world.get(&player, &format!("/c/{campaign}")).await.body;
    assert!(page.contains("id=\"roll-box\"") && page.contains("data-session=\"ended\""), "{page}");
    world.call(&owner, "session_start", json!({"campaign_id": campaign})).await;
    while !next(&mut stream).await.contains("data-session=\"active\"") {}
    world.call(&owner, "actor_create", json!({"campaign_id": campaign, "name": "Isolde", "kind": "PC"})).await;
    loop {
        let event = next(&mut stream).await;
        let options =
            event.split_once("hx-target=\"#actor-options\"").unwrap().1.split("</hx-partial>").next().unwrap();
        if options.contains(">Isolde</option>") {
            break;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_say_when_they_have_changed() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let path = |page: &str| format!("/c/{campaign}/changes/{page}");
    let mut streams = Vec::new();
    for page in ["sessions", "evening", "timeline"] {
        streams.push(open_changes(&world, &player, &path(page)).await);
    }
    streams.push(open_changes(&world, &owner, "/changes").await);
    world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
    for stream in &mut streams {
        while !next(stream).await.contains("event: changed") {}
    }
    let mut streams = Vec::new();
    for page in ["lore", "graph"] {
        streams.push(open_changes(&world, &player, &path(page)).await);
    }
    let entity = json!({"entity_type": "note", "name": "Bell", "is_private": false});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [entity]})).await;
    for stream in &mut streams {
        while !next(stream).await.contains("event: changed") {}
    }
    assert_eq!(world.get(&player, &path("nothing")).await.status, 404);
    let (stranger, _) = world.holder("Bo", &world.campaign("Another").await.0, CampaignRole::Gm).await;
    assert_eq!(world.get(&stranger, &path("sessions")).await.status, 404);
}

/// A stream that has nothing to say at first.
async fn open_changes(world: &World, caller: &Caller, path: &str) -> Stream {
    let response = world.send(Request::builder().uri(path).body(Body::empty()).unwrap(), Some(caller)).await;
    assert_eq!(response.status().as_u16(), 200, "{path}");
    response.into_body().into_data_stream()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_token_and_with_the_server() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (ana, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let path = format!("/c/{campaign}/live");
    let mut hers = open(&world, &ana, &path, None).await;
    world.engine.app().revoke_token(ana.id(), "a test").await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(10), hers.next()).await.unwrap().is_none());
    let mut owners = open(&world, &Caller::owner(), &path, None).await;
    world.stopping.cancel();
    assert!(tokio::time::timeout(Duration::from_secs(10), owners.next()).await.unwrap().is_none());
}
