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
