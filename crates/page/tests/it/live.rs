//! The stream of a table: each event on every screen soon, and none missed by whoever comes back.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::Request;
use futures::StreamExt;
use serde_json::json;
use skald_app::{Caller, CampaignRole, Engine};

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

impl World {
    /// A player with a participant of their own, to whom a note is visible.
    async fn player_with_secret(&self, campaign: &str) -> Caller {
        let owner = Caller::owner();
        let participant = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
        let ana = self.call(&owner, "participant_create", participant).await["id"].as_str().unwrap().to_owned();
        let (caller, secret) = self.holder("Ana", campaign, CampaignRole::Player).await;
        self.engine.app().bind_participants(caller.id(), &[ana], "a test").await.unwrap();
        let note = json!({"campaign_id": campaign, "text": "Ana hears a voice.", "visible_to": ["Ana"]});
        self.call(&owner, "session_note", note).await;
        self.engine.authenticate(&secret).await.unwrap()
    }

    async fn note(&self, campaign: &str, text: &str) {
        self.call(&Caller::owner(), "session_note", json!({"campaign_id": campaign, "text": text})).await;
    }
}

/// What a stream shows are the rights of now, not of when it was opened.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_shows_what_its_reader_may_see_now() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let mut stream = open(&world, &ana, &format!("/c/{campaign}/live"), None).await;
    world.note(&campaign, "The tide turns.").await;
    assert!(next(&mut stream).await.contains("Ana hears a voice."));
    world.engine.app().bind_participants(ana.id(), &[], "a test").await.unwrap();
    world.note(&campaign, "The tide is out.").await;
    let event = next(&mut stream).await;
    assert!(event.contains("The tide is out.") && !event.contains("Ana hears a voice."), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_of_changes_tells_what_its_reader_may_know_now() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let owner = Caller::owner();
    let entity = json!({"entity_type": "note", "name": "Diary", "entry": "Mine.", "is_private": true});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [entity]})).await;
    let reveal = json!({"campaign_id": campaign, "method": "reveal", "entity_id": 1, "who": ["Ana"]});
    world.call(&owner, "visibility", reveal).await;
    let append = async || {
        let update = json!({"entity_id": 1, "entry_append": "More."});
        world.call(&owner, "update_entities", json!({"campaign_id": campaign, "updates": [update]})).await;
    };
    let request = Request::builder().uri(format!("/c/{campaign}/lore/1/events")).body(Body::empty()).unwrap();
    let response = world.send(request, Some(&ana)).await;
    assert_eq!(response.status(), 200);
    let mut stream = response.into_body().into_data_stream();
    append().await;
    assert!(next(&mut stream).await.contains("changed"));
    while tokio::time::timeout(Duration::from_millis(300), stream.next()).await.is_ok() {}
    world.engine.app().bind_participants(ana.id(), &[], "a test").await.unwrap();
    append().await;
    assert!(tokio::time::timeout(Duration::from_millis(500), stream.next()).await.is_err(), "Ana knows nothing of it");
}

/// Whoever signs a browser out ends what it still shows.
#[tokio::test(flavor = "multi_thread")]
async fn a_stream_ends_with_its_page_session() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let (_, token) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let mut streams = Vec::new();
    for _ in 0..2 {
        let session = world.engine.start_page_session(&token, "Firefox", "a test").await.unwrap();
        let caller = world.engine.authenticate_page_session(&session.secret).await.unwrap();
        let stream = open(&world, &caller, &format!("/c/{campaign}/live"), None).await;
        streams.push((session, caller, stream));
    }
    let (session, caller, mut ended) = streams.remove(0);
    world.engine.end_page_session(&caller, &session.id, "a test").await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(10), ended.next()).await.unwrap().is_none());
    let (_, _, other) = &mut streams[0];
    world.note(&campaign, "The tide turns.").await;
    assert!(next(other).await.contains("The tide turns."), "the other browser goes on");
}

/// The view of somebody else goes on, and ends with the rights of the game master who looks.
#[tokio::test(flavor = "multi_thread")]
async fn the_view_of_a_player_stays_open() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let (game_master, _) = world.holder("Gil", &campaign, CampaignRole::Gm).await;
    let chosen = world.post(Some(&game_master), &format!("/c/{campaign}/view-as"), "who=Ana").await;
    let cookie = chosen.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    let request = Request::builder().uri(format!("/c/{campaign}/live")).header("cookie", cookie);
    let response = world.send(request.body(Body::empty()).unwrap(), Some(&game_master)).await;
    let mut stream = response.into_body().into_data_stream();
    next(&mut stream).await;
    for text in ["The tide turns.", "The tide is out."] {
        world.note(&campaign, text).await;
        let event = next(&mut stream).await;
        assert!(event.contains(text) && event.contains("Ana hears a voice."), "{event}");
    }
    world.engine.app().revoke_token(game_master.id(), "a test").await.unwrap();
    assert!(tokio::time::timeout(Duration::from_secs(10), stream.next()).await.unwrap().is_none());
    drop(ana);
}

/// The next event of a stream of changes, if one comes soon; comments that keep it open are none.
async fn change(stream: &mut Stream) -> bool {
    let wait = async {
        while let Some(piece) = stream.next().await {
            if String::from_utf8_lossy(&piece.unwrap()).contains("event: changed") {
                return true;
            }
        }
        false
    };
    tokio::time::timeout(Duration::from_millis(700), wait).await.unwrap_or(false)
}

/// Home follows the sessions and scenes of each campaign, also of one that is new.
#[tokio::test(flavor = "multi_thread")]
async fn home_follows_what_is_going_on() {
    let world = World::new().await;
    let owner = Caller::owner();
    let (bells, ..) = world.campaign("Bells").await;
    let (player, _) = world.holder("Ana", &bells, CampaignRole::Player).await;
    let mut owners = open_changes(&world, &owner, "/changes").await;
    let mut players = open_changes(&world, &player, "/changes").await;
    world.call(&owner, "session_note", json!({"campaign_id": bells, "scene": "The tower"})).await;
    assert!(change(&mut owners).await && change(&mut players).await, "a new scene");
    world.call(&owner, "session_end", json!({"campaign_id": bells})).await;
    assert!(change(&mut owners).await && change(&mut players).await, "the end of a session");
    while change(&mut owners).await || change(&mut players).await {}
    let (sea, ..) = world.campaign("Open Sea").await;
    assert!(change(&mut owners).await, "a new campaign");
    while change(&mut owners).await {}
    world.call(&owner, "session_note", json!({"campaign_id": sea, "scene": "The storm"})).await;
    assert!(change(&mut owners).await, "a scene in the new campaign");
    assert!(!change(&mut players).await, "Ana has no part in the new campaign");
}

/// No stream of changes tells a player that a secret exists.
#[tokio::test(flavor = "multi_thread")]
async fn streams_of_changes_are_silent_about_secrets() {
    let world = World::new().await;
    let owner = Caller::owner();
    let (campaign, _, session) = world.campaign("Bells").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let pages = ["sessions", "evening", "timeline", "lore", "graph"];
    let mut streams = vec![("home", open_changes(&world, &player, "/changes").await)];
    for page in pages {
        streams.push((page, open_changes(&world, &player, &format!("/c/{campaign}/changes/{page}")).await));
    }
    let note = json!({"campaign_id": campaign, "text": "MARKER", "visible_to": ["gm"]});
    world.call(&owner, "session_note", note).await;
    let entity = json!({"entity_type": "note", "name": "MARKER", "entry": "MARKER", "is_private": true});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [entity]})).await;
    let roll = json!({"session_id": session, "expression": "2d6", "reason": "MARKER", "visible_to": ["gm"]});
    world.call(&owner, "roll", roll).await;
    for (page, stream) in &mut streams {
        assert!(!change(stream).await, "{page} tells a player of a secret");
    }
    world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
    let entity = json!({"entity_type": "location", "name": "Known"});
    let other = json!({"entity_type": "location", "name": "Also known", "entry": "See [[Known]]."});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [entity, other]})).await;
    for (page, stream) in &mut streams {
        assert!(change(stream).await, "{page} follows nothing, so its silence says nothing");
    }
}

/// What is revealed to a player while the table is open appears there, and goes when it is hidden.
#[tokio::test(flavor = "multi_thread")]
async fn a_handout_appears_on_an_open_table() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let owner = Caller::owner();
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    let letter = json!({"entity_type": "document", "name": "The letter", "entry": "Come alone.", "is_private": true});
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [letter]})).await;
    let path = format!("/c/{campaign}/live");
    let (mut hers, mut his) = (open(&world, &ana, &path, None).await, open(&world, &bo, &path, None).await);
    let visibility = async |method: &str| {
        let input = json!({"campaign_id": campaign, "method": method, "entity_id": 1, "who": ["Ana"]});
        world.call(&owner, "visibility", input).await;
    };
    visibility("reveal").await;
    while !next(&mut hers).await.contains("The letter") {}
    visibility("hide").await;
    while next(&mut hers).await.contains("The letter") {}
    world.note(&campaign, "The tide turns.").await;
    loop {
        let event = next(&mut his).await;
        assert!(!event.contains("letter"), "{event}");
        if event.contains("The tide turns.") {
            break;
        }
    }
}

/// The names in the strip of handouts of a table, and the number beside them.
async fn handouts(world: &World, caller: &Caller, campaign: &str) -> (Vec<String>, Option<String>) {
    let page = world.get(caller, &format!("/c/{campaign}")).await.body;
    let Some((_, strip)) = page.split_once("class=\"revealed handout-strip\"") else { return (Vec::new(), None) };
    let strip = strip.split_once("</section>").unwrap().0;
    let names = strip.split("<bdi>").skip(1).map(|rest| rest.split_once('<').unwrap().0.to_owned());
    let all = strip.split_once(">All ").map(|(_, rest)| rest.split_once('<').unwrap().0.to_owned());
    (names.collect(), all)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_newest_handouts_are_on_the_table_and_all_of_them_in_the_lore() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let owner = Caller::owner();
    for from in [1, 8] {
        let letter =
            |number: i32| json!({"entity_type": "document", "name": format!("Letter {number}"), "is_private": true});
        let letters: Vec<_> = (from..from + 7).map(letter).collect();
        world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": letters})).await;
    }
    let reveal = async |number: u64| {
        world.clock.0.fetch_add(60, std::sync::atomic::Ordering::Relaxed);
        let input = json!({"campaign_id": campaign, "method": "reveal", "entity_id": number, "who": ["Ana"]});
        world.call(&owner, "visibility", input).await;
    };
    for number in [2, 3, 4, 5, 6, 1] {
        reveal(number).await;
    }
    let names = |numbers: [u64; 4]| numbers.map(|number| format!("Letter {number}")).to_vec();
    assert_eq!(handouts(&world, &ana, &campaign).await, (names([1, 6, 5, 4]), Some("6".to_owned())));
    for number in 7..=13 {
        reveal(number).await;
    }
    assert_eq!(handouts(&world, &ana, &campaign).await, (names([13, 12, 11, 10]), Some("13".to_owned())));
    let list = world.get(&ana, &format!("/c/{campaign}/lore")).await.body;
    let cards = |page: &str| page.matches("class=\"card handout\"").count();
    assert!(cards(&list) == 12 && list.contains("The newest 12 of 13 are shown."), "{list}");
    let all = world.get(&ana, &format!("/c/{campaign}/lore?revealed=all")).await.body;
    assert!(cards(&all) == 13 && !all.contains("are shown."), "{all}");
    // Somebody else who learns of it does not make it new.
    let both = json!({"campaign_id": campaign, "display_name": "Bo", "role": "PLAYER"});
    world.call(&owner, "participant_create", both).await;
    let input = json!({"campaign_id": campaign, "method": "reveal", "entity_id": 2, "who": ["Bo"]});
    world.call(&owner, "visibility", input).await;
    assert_eq!(handouts(&world, &ana, &campaign).await.0, names([13, 12, 11, 10]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_revealed_to_all_is_on_every_table_for_some_days() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    let (guest, _) = world.holder("Gil", &campaign, CampaignRole::Guest).await;
    let owner = Caller::owner();
    let letters = json!([
        {"entity_type": "document", "name": "The letter", "is_private": true},
        {"entity_type": "document", "name": "The map", "is_private": false},
    ]);
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": letters})).await;
    let mut his = open(&world, &bo, &format!("/c/{campaign}/live"), None).await;
    world.call(&owner, "visibility", json!({"campaign_id": campaign, "method": "reveal", "entity_id": 1})).await;
    while !next(&mut his).await.contains("The letter") {}
    for caller in [&bo, &guest] {
        assert_eq!(handouts(&world, caller, &campaign).await, (vec!["The letter".to_owned()], None));
    }
    assert_eq!(handouts(&world, &owner, &campaign).await.0, [""; 0]);
    world.clock.0.fetch_add(9 * 86_400, std::sync::atomic::Ordering::Relaxed);
    assert_eq!(handouts(&world, &bo, &campaign).await.0, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revealed_post_is_a_handout_too() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let ana = world.player_with_secret(&campaign).await;
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    let owner = Caller::owner();
    let towers = json!([
        {"entity_type": "location", "name": "Tower", "is_private": false},
        {"entity_type": "location", "name": "Hidden tower", "is_private": true},
    ]);
    world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": towers})).await;
    for entity in [1, 2] {
        let post = json!({"entity_id": entity, "name": format!("Cellar {entity}"), "entry": "A trapdoor.", "is_private": true});
        let made = world.call(&owner, "create_posts", json!({"campaign_id": campaign, "posts": [post]})).await;
        let post_id = made["results"][0]["post_id"].as_u64().unwrap_or_else(|| panic!("{made}"));
        let input = json!({"campaign_id": campaign, "method": "reveal", "post_id": post_id, "who": ["Ana"]});
        world.call(&owner, "visibility", input).await;
    }
    // The other one belongs to an entry that Ana does not see.
    assert_eq!(handouts(&world, &ana, &campaign).await.0, ["Cellar 1"]);
    assert_eq!(handouts(&world, &bo, &campaign).await.0, [""; 0]);
    let table = world.get(&ana, &format!("/c/{campaign}")).await.body;
    let list = world.get(&ana, &format!("/c/{campaign}/lore")).await.body;
    let link = format!("href=\"/c/{campaign}/lore/1#post-");
    assert!(table.contains(&link) && list.contains(&link), "{table} {list}");
}
