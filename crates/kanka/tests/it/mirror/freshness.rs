//! Every answer about a linked campaign's lore says how fresh it is, and counts what waits for game masters alone.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::sync::Arc;

use axum::{Extension, Router};
use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Engine, NewToken, PrincipalKind, RequestControl, SyncScope, TokenRestrictions, Toolset,
    ToolsetFilter,
};
use skald_kanka::{ApiOptions, api_handler};
use skald_testkit::Client;
use tokio::net::TcpListener;

use super::{MirrorPair, kanka_stub::LinkedToStub};

/// Operations of the toolsets of lore that are about no campaign, or not about its lore.
const WITHOUT_LORE: [&str; 4] = ["kanka_context", "game_system", "list_numbered_campaigns", "visibility"];

/// An input for every other operation of these toolsets; those that change something come last.
fn inputs(inn: u64, mill: u64) -> Vec<(&'static str, Value)> {
    let page = json!({"number": 1, "rows": 10});
    vec![
        ("find_entities", json!({})),
        ("get_entities", json!({"entity_ids": [inn]})),
        ("read_entity", json!({"entity_id": inn})),
        ("check_entity_updates", json!({"entity_ids": [inn], "last_synced": "2026-01-01T00:00:00Z"})),
        ("lore_history", json!({"entity_id": inn})),
        ("canon", json!({"entity_id": inn})),
        ("lore_graph", json!({})),
        ("read_mention_graph", json!({})),
        ("read_article", json!({"entity_id": inn, "link_prefix": "/"})),
        ("preview_entry", json!({"entry": "A text.", "link_prefix": "/"})),
        ("browse_lore", json!({})),
        ("list_entities", json!({"page": page})),
        ("list_tags", json!({"page": page})),
        ("entity_search", json!({"query": "Inn"})),
        ("read_relationships", json!({})),
        ("read_timeline", json!({})),
        ("entity_compare", json!({"entity_id_1": inn, "entity_id_2": mill})),
        ("campaign_overview", json!({})),
        ("kanka_mirror", json!({})),
        ("relationships", json!({"method": "list"})),
        ("timeline", json!({"method": "query"})),
        ("write_lore", json!({"changes": [{"create_tag": {"name": "wet"}}]})),
        ("create_entities", json!({"entities": [{"entity_type": "note", "name": "N"}]})),
        ("update_entities", json!({"updates": [{"entity_id": inn, "entry": "New."}]})),
        ("create_posts", json!({"posts": [{"entity_id": inn, "name": "P", "entry": "A"}]})),
        ("update_posts", json!({"updates": [{"entity_id": inn, "post_id": 1, "entry": "B"}]})),
        ("delete_posts", json!({"deletions": [{"entity_id": inn, "post_id": 1}]})),
        ("delete_entities", json!({"entity_ids": [mill]})),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_operation_of_the_lore_says_how_fresh_its_answer_is() {
    let pair = MirrorPair::new(70).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    let mill = pair.there.create("location", "Mill", "").await;
    let unlinked = pair.here.call("find_entities", json!({})).await;
    assert_eq!(unlinked.get("mirror"), None);
    pair.link(json!({})).await.unwrap();
    pair.pull().await;

    let inputs = inputs(inn, mill);
    let known: BTreeSet<&str> = inputs.iter().map(|(name, _)| *name).chain(WITHOUT_LORE).collect();
    let engine = &pair.here.engine;
    let of_lore = |toolset: Toolset| matches!(toolset, Toolset::Lore | Toolset::Canon);
    let operations = engine.catalogue().operations().iter().filter(|entry| of_lore(entry.toolset));
    let unknown: Vec<&str> = operations.map(|entry| entry.name).filter(|name| !known.contains(name)).collect();
    assert_eq!(unknown, [""; 0], "each operation of the lore is called below");
    for (operation, input) in inputs {
        let answer = pair.here.call(operation, input).await;
        let mirror = &answer["mirror"];
        assert!(mirror["synced_at"].is_string() && mirror["pending"].is_u64(), "{operation}: {answer}");
        assert_eq!(mirror["stale"], false, "{operation}");
    }
    let uri = format!("lore://{}/entity/{inn}", pair.here.campaign_id);
    let read = engine.read(&Caller::owner(), &uri, &RequestControl::default()).await.unwrap();
    let read: Value = serde_json::from_str(&read.into_text()).unwrap();
    assert!(read["mirror"]["synced_at"].is_string(), "{read}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entities_are_counted_that_wait_and_players_are_not_told() {
    let pair = MirrorPair::new(71).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    let mill = pair.there.create("location", "Mill", "").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    let pending = async || pair.here.call("find_entities", json!({})).await["mirror"]["pending"].clone();
    assert_eq!(pending().await, 0, "what the mirror wrote does not wait");
    pair.here
        .call("canon", json!({"method": "mark", "entity_id": inn, "confidence": "authoritative", "fields": ["name"]}))
        .await;
    let between = json!({"method": "add", "entity_id": inn, "target_id": mill, "type": "near", "inverse": "near"});
    pair.here.call("relationships", between).await;
    let event = json!({"method": "add", "date": "1204-03", "description": "A fire.", "entity_ids": [inn]});
    pair.here.call("timeline", event).await;
    assert_eq!(pending().await, 0, "marks, relationships and timelines stay here");
    for entry in ["One.", "Two.", "Three."] {
        pair.here.update(inn, json!({"entry": entry})).await;
    }
    assert_eq!(pending().await, 1, "one entity is one, however often it was written");
    pair.here.create("note", "N", "").await;
    assert_eq!(pending().await, 2);

    let new = NewToken {
        name: "player".to_owned(),
        person: None,
        kind: PrincipalKind::Human,
        roles: BTreeMap::from([(pair.here.campaign_id.clone(), CampaignRole::Player)]),
        participants: Vec::new(),
        gate_role: None,
        restrictions: TokenRestrictions::default(),
        subject: None,
        program: "test".to_owned(),
    };
    let engine = &pair.here.engine;
    let token = engine.app().create_token(new).await.unwrap().0;
    let player = engine.authenticate(&token).await.unwrap();
    let input = json!({"campaign_id": pair.here.campaign_id});
    let found = engine.call(&player, "find_entities", input, &RequestControl::default()).await.unwrap();
    assert!(found["mirror"]["synced_at"].is_string(), "{found}");
    assert_eq!(found["mirror"].get("pending"), None, "it counts private writes");

    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pending().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kanka_compatible_api_says_it_in_headers() {
    let mut inn = 0;
    let pair = LinkedToStub::new(|stub| inn = stub.create("location", "Inn")).await;
    pair.pull().await;
    let engine: Arc<dyn Engine> = Arc::clone(&pair.here.engine) as _;
    let options = ApiOptions { visible: ToolsetFilter::EVERYTHING };
    let router =
        Router::new().route("/api/kanka/{*rest}", api_handler(engine, &options)).layer(Extension(Caller::owner()));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(super::serve(listener, router));
    let campaigns = pair.here.call("list_numbered_campaigns", json!({})).await;
    let number = campaigns["campaigns"][0]["number"].clone();
    let get = async |below: &str| {
        let path = format!("/api/kanka/1.0/campaigns/{number}/{below}");
        let reply =
            tokio::task::spawn_blocking(move || Client::connect(address).send("GET", &path, &[], b"")).await.unwrap();
        let header = |name: &str| reply.header(name).map(ToOwned::to_owned);
        (reply.status, header("x-skald-synced-at").is_some(), header("x-skald-stale"))
    };
    for below in ["entities", "locations", "tags", &format!("entities/{inn}"), &format!("entities/{inn}/posts")] {
        assert_eq!(get(below).await, (200, true, Some("false".to_owned())), "{below}");
    }
    "another".clone_into(&mut pair.stub().token);
    pair.sync(SyncScope::Changes).await.unwrap_err();
    assert_eq!(get("entities").await, (200, true, Some("true".to_owned())));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_do_not_wait_for_the_end_of_a_pull_and_nothing_pulled_counts_as_waiting() {
    let mut first = 0;
    let pair = LinkedToStub::new(|stub| {
        first = stub.create("character", "First");
        for number in 0..500 {
            stub.create("note", &format!("N{number}"));
        }
    })
    .await;
    let app = pair.here.engine.app();
    let (mut pages, mut seen) = (0, Vec::new());
    let mut progress = |done: usize, total: usize| {
        pages += 1;
        seen.push((done, total));
        tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(async {
                let pending = pair.here.call("find_entities", json!({"limit": 1})).await["mirror"]["pending"].clone();
                match pages {
                    1 => assert_eq!(pending, 0, "in the middle of a first pull"),
                    2 => drop(pair.here.update(first, json!({"entry": "Written meanwhile."})).await),
                    4 => {
                        let there = pair.stub().find("First").1.entry.clone();
                        assert_eq!(
                            there.as_deref(),
                            Some("<p>Written meanwhile.</p>"),
                            "it was sent between two pages"
                        );
                    }
                    _ => {}
                }
            });
        });
    };
    app.sync_mirror(&pair.here.campaign_id, SyncScope::Everything, super::LEASE_WAIT_MAX, &mut progress).await.unwrap();
    assert!(pages > 4 && seen.iter().all(|(_, total)| *total == 501), "{seen:?}");
    assert_eq!(pair.here.get(first).await["entry"], "Written meanwhile.");
    assert_eq!(pair.status().await["pending"], 0);
}
