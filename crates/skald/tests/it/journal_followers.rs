//! Tests of followers of a node that is killed and restarted: through the store, and as clients of a second node.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skald_journal::Cursor;

use crate::processes::ChangeDelays;
use crate::program_under_test::{Notifications, Server, StoreKind, Surface, TestClient, World};
use crate::rest_client::RestClient;

/// How often the node that is followed is killed.
const KILLS: usize = 5;
/// Acknowledged notes before each kill.
const ACKNOWLEDGED: usize = 20;
const WRITERS: usize = 4;
/// How long to wait for more before giving up.
const PATIENCE: Duration = Duration::from_secs(30);
/// Changes whose notifications are awaited one by one.
const CHANGES: usize = 204;
/// The text of the last note: a follower that has seen it has seen everything.
const LAST: &str = "the last";

#[test]
fn followers_see_each_revision_once_on_sqlite() {
    follow_while_killed(StoreKind::Sqlite);
}

#[test]
fn changes_of_another_process_are_heard_soon() {
    measure_notification_delay("in another process", StoreKind::Sqlite);
}

mod postgres {
    #[test]
    fn changes_of_another_node_are_heard_soon() {
        super::measure_notification_delay("on another node", super::StoreKind::Postgres);
    }

    #[test]
    fn followers_see_each_revision_once_on_postgres() {
        super::follow_while_killed(super::StoreKind::Postgres);
    }
}

fn follow_while_killed(kind: StoreKind) {
    let world = World::new(kind);
    let mut writing = world.serve(&[]);
    let reading = world.serve(&[]);
    let campaign_id = RestClient::new(writing.address).open_campaign("followed");
    let campaign_id = campaign_id.as_str();
    let (followed, last) = std::thread::scope(|scope| {
        let mut followers = vec![scope.spawn(|| follow_the_store(world.store(), campaign_id))];
        for surface in [Surface::Stateless, Surface::Session] {
            let listener = Listener::new(&reading, surface, campaign_id);
            followers.push(scope.spawn(|| listener.follow()));
        }
        for round in 0..KILLS {
            write_until_killed(writing, campaign_id, round);
            writing = world.serve(&[]);
        }
        let mut rest = RestClient::new(writing.address);
        rest.call("session_note", &json!({"campaign_id": campaign_id, "text": LAST}));
        let last = rest.history(campaign_id).len() as u64;
        (followers.into_iter().map(|follower| follower.join().expect("a follower")).collect::<Vec<_>>(), last)
    });
    for revisions in followed {
        assert_eq!(revisions, (1..=last).collect::<Vec<_>>(), "each revision, once and in order");
    }
}

/// Measures how soon a client of a second process is notified of a write, without polling. The writes alternate between
/// two campaigns, so that one notification is not taken for another.
fn measure_notification_delay(what: &str, kind: StoreKind) {
    let world = World::new(kind);
    let writing = world.serve(&[]);
    let mut rest = RestClient::new(writing.address);
    let campaigns = ["one", "other"].map(|name| rest.open_campaign(name));
    let uris = campaigns.each_ref().map(|campaign_id| format!("campaign://{campaign_id}/events"));
    let listening = world.serve(&[]);
    let mut news = listening.client(Surface::Stateless).watch(&uris.each_ref().map(String::as_str));
    let mut beside = RestClient::new(listening.address);
    let mut waits = ChangeDelays::default();
    for number in 0..CHANGES {
        let turn = number % 2;
        rest.call("session_note", &json!({"campaign_id": campaigns[turn], "text": number.to_string()}));
        let began = Instant::now();
        news.read_until(&uris[turn]);
        // Notifications of earlier changes come with the first ones, so those are not measured.
        if number >= 4 {
            waits.changes.push(began.elapsed());
        }
        let began = Instant::now();
        beside.call("duality_outcome", &json!({"hope": 8, "fear": 5}));
        waits.others.push(began.elapsed());
    }
    waits.assert_short(&format!("heard {what}"));
}

/// Kills a node while writers write to it, once enough notes are acknowledged.
fn write_until_killed(node: Server, campaign_id: &str, round: usize) {
    let acknowledged = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (rest, acknowledged) = (RestClient::new(node.address), &acknowledged);
            scope.spawn(move || write_notes(rest, campaign_id, &format!("{round}-{writer}"), acknowledged));
        }
        let began = Instant::now();
        while acknowledged.load(Ordering::SeqCst) < ACKNOWLEDGED && began.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
        node.kill();
    });
    assert!(acknowledged.into_inner() >= ACKNOWLEDGED, "hardly anything was written before kill {round}");
}

fn write_notes(mut rest: RestClient, campaign_id: &str, name: &str, acknowledged: &AtomicUsize) {
    for number in 0.. {
        let text = format!("{name}-{number}");
        if rest.send("session_note", &json!({"campaign_id": campaign_id, "text": text}), &text).is_err() {
            return;
        }
        acknowledged.fetch_add(1, Ordering::SeqCst);
    }
}

/// The revisions of a campaign in the order in which a follower of the store gets them, until the last note.
fn follow_the_store(store: &str, campaign_id: &str) -> Vec<u64> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let journal = skald_store::open(store).await.expect("the store");
        let mut wakes = journal.subscribe_appends();
        let (mut cursor, mut revisions, mut is_last) = (Cursor::default(), Vec::new(), false);
        while !is_last {
            for (place, record) in journal.follow(cursor, 1_000).await.expect("records") {
                if record.stream.as_str().ends_with(campaign_id) {
                    revisions.push(record.revision);
                    is_last |= record.body.contains(LAST);
                }
                cursor = place;
            }
            if !is_last {
                tokio::time::timeout(PATIENCE, wakes.changed()).await.expect("more to come").expect("an open store");
            }
        }
        revisions
    })
}

/// A client that reads new events only after a notification.
struct Listener<'a> {
    seat: TestClient,
    news: Notifications,
    campaign_id: &'a str,
    revisions: Vec<u64>,
}

impl<'a> Listener<'a> {
    fn new(node: &Server, surface: Surface, campaign_id: &'a str) -> Self {
        let mut seat = node.client(surface);
        let news = seat.watch(&[&format!("campaign://{campaign_id}/events")]);
        let mut listener = Self { seat, news, campaign_id, revisions: Vec::new() };
        // Read what was there before it subscribed.
        listener.read_new_events();
        listener
    }

    /// The revisions in the order in which they were read, until the last note.
    fn follow(mut self) -> Vec<u64> {
        let (mut told, mut is_last) = (0, false);
        while !is_last {
            self.news.next_subject();
            told += 1;
            is_last = self.read_new_events();
        }
        // One notification comes right after subscribing, and at most one for each revision; more are duplicates.
        let heard = 1 + self.revisions.len();
        assert!(told <= heard, "told {told} times of {heard} changes");
        self.revisions
    }

    /// Reads the events after the last known revision, page by page. Whether the last note is among them.
    fn read_new_events(&mut self) -> bool {
        let after = self.revisions.last().copied().unwrap_or(0);
        let mut input = json!({
            "campaign_id": self.campaign_id, "after_revision": after, "order": "oldest", "limit": 50
        });
        loop {
            let page = self.seat.ok("events_list", &input);
            let events = page["events"].as_array().expect("events");
            for logged in events {
                let revision = logged["revision"].as_u64().expect("a revision");
                // The first command of a session has two events.
                if self.revisions.last() != Some(&revision) {
                    self.revisions.push(revision);
                }
            }
            if page["next_cursor"] == Value::Null {
                return events.last().is_some_and(|logged| logged["event"]["text"] == LAST);
            }
            input["cursor"] = page["next_cursor"].clone();
        }
    }
}
