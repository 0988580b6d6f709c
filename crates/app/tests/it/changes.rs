//! Tests of resource changes for subscribers.

use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{AnnouncedChange, Caller, Changes, Engine, LocalEngine, RequestControl, ResourceChange};

use crate::engine::{block_on, engine};

#[test]
fn a_burst_of_changes_is_told_once() {
    let engine = engine();
    let mut changes = block_on(engine.changes(&Caller::owner(), None));
    for _ in 0..3 {
        engine.publish(ResourceChange::Resource("a".into()));
        engine.publish(ResourceChange::Resource("b".into()));
    }
    let news = block_on(changes.next()).expect("news");
    let owner = Caller::owner();
    assert_eq!(["a", "b", "c"].map(|uri| news.concerns(&owner, uri)), [true, true, false]);
    assert!(!news.concerns_list(&owner));
    engine.publish(ResourceChange::ResourceList);
    let later = block_on(changes.next()).expect("news");
    assert!(!later.concerns(&owner, "a") && later.concerns_list(&owner), "nothing was left of the burst");
}

#[test]
fn who_lags_is_told_to_look_at_everything() {
    let engine = engine();
    let mut changes = block_on(engine.changes(&Caller::owner(), None));
    for _ in 0..5_000 {
        engine.publish(ResourceChange::Resource("a".into()));
    }
    let news = block_on(changes.next()).expect("news");
    let owner = Caller::owner();
    assert!(news.concerns(&owner, "never heard of") && news.concerns_list(&owner));
    engine.publish(ResourceChange::ResourceList);
    let later = block_on(changes.next()).expect("news");
    assert!(later.concerns_list(&owner) && !later.concerns(&owner, "a"));
}

/// Runs a test on one runtime, so that its actors live until the test ends.
fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
}

async fn next_uris(changes: &mut Changes) -> Vec<String> {
    let news = changes.next().await.expect("news");
    assert!(!news.is_everything(), "{news:?}");
    let uri = |told: AnnouncedChange| match told.change {
        ResourceChange::Resource(uri) => uri.to_string(),
        ResourceChange::ResourceList => "list".to_owned(),
    };
    news.changes_for(&Caller::owner()).map(uri).collect()
}

async fn is_silent(changes: &mut Changes) -> bool {
    tokio::time::timeout(Duration::from_millis(50), changes.next()).await.is_err()
}

/// Creates something with an idempotency key, from which its id is derived.
async fn create(engine: &LocalEngine, operation: &str, key: &str, input: Value) -> String {
    let control = RequestControl { idempotency_key: Some(key.to_owned()), ..RequestControl::default() };
    let created = engine.call(&Caller::owner(), operation, input, &control).await.expect("it is created");
    created["id"].as_str().expect("an id").to_owned()
}

async fn create_campaign(engine: &LocalEngine, key: &str) -> String {
    create(engine, "campaign_create", key, json!({"name": key, "gm_mode": "HUMAN"})).await
}

async fn create_participant(engine: &LocalEngine, campaign_id: &str, name: &str) {
    let input = json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"});
    create(engine, "participant_create", name, input).await;
}

#[test]
fn whoever_comes_back_hears_what_was_missed_and_nothing_twice() {
    run(async {
        let (engine, owner) = (engine(), Caller::owner());
        let id = create_campaign(&engine, "The Hill").await;
        let from = engine.journal_end().await;
        let mut changes = engine.changes(&owner, None).await;
        let begun = changes.place().expect("a place before anything has changed");
        create_participant(&engine, &id, "Ada").await;
        create_participant(&engine, &id, "Bo").await;
        let participants = format!("campaign://{id}/participants");
        // Nothing follows the journal yet: these changes are read from the journal itself.
        let mut back = engine.changes(&owner, Some(&begun)).await;
        assert!(next_uris(&mut back).await.contains(&participants));
        let reached = back.place().expect("a place");
        assert_ne!(begun, reached);

        // From now on the journal is followed, and each watcher continues from its own place.
        let following = engine.clone();
        tokio::spawn(async move { following.follow(from).await });
        assert!(next_uris(&mut changes).await.contains(&participants));
        assert!(is_silent(&mut changes).await && is_silent(&mut back).await, "both have heard all of it");
        assert_eq!(changes.place(), Some(reached.clone()));
        create_participant(&engine, &id, "Cy").await;
        let mut last = engine.changes(&owner, Some(&reached)).await;
        for watcher in [&mut changes, &mut back, &mut last] {
            assert!(next_uris(watcher).await.contains(&participants));
            assert!(is_silent(watcher).await);
        }
    });
}

#[test]
fn a_place_in_another_journal_is_known_for_one() {
    run(async {
        let (here, elsewhere, owner) = (engine(), engine(), Caller::owner());
        let id = create_campaign(&here, "The Hill").await;
        create_participant(&here, &id, "Ada").await;
        create_campaign(&elsewhere, "The Valley").await;
        elsewhere.journal_end().await;
        let place = elsewhere.changes(&owner, None).await.place().expect("a place");
        for wrong in [&*place, "0.99.00", "nonsense"] {
            let mut changes = here.changes(&owner, Some(wrong)).await;
            assert!(changes.next().await.expect("news").is_everything(), "{wrong}");
        }
        let mut from_the_beginning = here.changes(&owner, Some("0.0.0")).await;
        assert!(next_uris(&mut from_the_beginning).await.contains(&"campaigns://list".to_owned()));
    });
}
