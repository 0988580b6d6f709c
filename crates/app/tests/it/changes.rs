//! News for those who watch.

use app::{Change, Engine, News};

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
    let resources = ["a", "b"].map(Into::into).into();
    assert_eq!(news, News { resources, resource_list: false, everything: false });
    assert!(news.concerns("a") && !news.concerns("c") && !news.concerns_list());
}

#[test]
fn who_lags_is_told_to_look_at_everything() {
    let engine = engine();
    let mut changes = engine.changes();
    for _ in 0..5_000 {
        engine.publish(Change::Resource("a".into()));
    }
    let news = block_on(changes.next()).expect("news");
    assert!(news.everything && news.concerns("never heard of") && news.concerns_list());
    engine.publish(Change::ResourceList);
    let later = block_on(changes.next()).expect("news");
    assert!(!later.everything && later.concerns_list() && !later.concerns("a"));
}
