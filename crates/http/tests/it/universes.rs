//! The list of universes, where it is long.

use futures::StreamExt;
use futures::stream;
use serde_json::{Value, json};
use skald_app::{Caller, Visible, Work, limits};
use std::collections::BTreeSet;

use crate::Server;

impl Server {
    /// Creates universes, many at once.
    fn create_many(&self, numbers: std::ops::Range<usize>) {
        let created = stream::iter(numbers).for_each_concurrent(64, async |number| {
            let input = json!({"method": "create", "universeId": format!("u-{number:05}"), "name": "Sol"});
            let (caller, work) = (Caller::owner(), Work::default());
            self.engine.call(&caller, "universe", input, &work).await.unwrap();
        });
        self.runtime.block_on(created);
    }

    /// The ids of one answer, and where the next begins.
    fn listed(&self, path: &str) -> (BTreeSet<String>, Option<String>) {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{}", reply.text());
        let listed: Vec<Value> = serde_json::from_slice(&reply.body).expect("a bare array");
        let ids: BTreeSet<String> = listed.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect();
        assert_eq!(ids.len(), listed.len(), "none twice");
        let next = reply.header("link").map(|link| {
            let link = link.strip_prefix('<').and_then(|link| link.strip_suffix(">; rel=\"next\""));
            link.expect("a link to the next page").to_owned()
        });
        (ids, next)
    }
}

/// Clients of the original show what one request answers, and know no pages.
#[test]
fn all_universes_are_listed_at_once_up_to_a_limit() {
    let server = Server::start(Visible::EVERYTHING);
    server.create_many(0..205);
    let (ids, next) = server.listed("/universes");
    assert_eq!((ids.len(), next), (205, None), "more than a page");
    assert_eq!(server.listed("/universes?limit=200").0.len(), 200);
    server.create_many(205..limits::UNIVERSES_LISTED_MAX);
    let (ids, next) = server.listed("/universes");
    assert_eq!((ids.len(), next), (limits::UNIVERSES_LISTED_MAX, None), "at the limit");
    server.create_many(limits::UNIVERSES_LISTED_MAX..limits::UNIVERSES_LISTED_MAX + 2);
    let (ids, next) = server.listed("/universes");
    assert_eq!(ids.len(), limits::UNIVERSES_LISTED_MAX, "past the limit");
    let (rest, next) = server.listed(&next.expect("a link to the rest"));
    assert_eq!((rest.len(), next), (2, None));
    assert!(ids.is_disjoint(&rest));
}
