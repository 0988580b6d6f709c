//! News for those who watch.

use app::{Caller, Change, Engine};

use crate::engine::{block_on, engine};

#[test]
fn a_burst_of_changes_is_told_once() {
    let engine = engine();
    let mut changes = engine.changes();
    for _ in 0..3 {
        engine.publish(Change::Resource("a".into()));
        engine.publish(Change::Resource("b".into()));
    }
    let news = block_on(changes.next()).expect("news");
    let owner = Caller::owner();
    assert_eq!(["a", "b", "c"].map(|uri| news.concerns(&owner, uri)), [true, true, false]);
    assert!(!news.concerns_list(&owner));
    engine.publish(Change::ResourceList);
    let later = block_on(changes.next()).expect("news");
    assert!(!later.concerns(&owner, "a") && later.concerns_list(&owner), "nothing was left of the burst");
}

#[test]
fn who_lags_is_told_to_look_at_everything() {
    let engine = engine();
    let mut changes = engine.changes();
    for _ in 0..5_000 {
        engine.publish(Change::Resource("a".into()));
    }
    let news = block_on(changes.next()).expect("news");
    let owner = Caller::owner();
    assert!(news.concerns(&owner, "never heard of") && news.concerns_list(&owner));
    engine.publish(Change::ResourceList);
    let later = block_on(changes.next()).expect("news");
    assert!(later.concerns_list(&owner) && !later.concerns(&owner, "a"));
}
