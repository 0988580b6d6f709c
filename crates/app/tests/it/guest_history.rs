//! Tests of what guests read of a campaign's history: everything that they may see, page by page, and nothing by which they
//! could count hidden commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use skald_app::{App, Caller, CampaignRole, Clock, Code, Engine, Entropy, LocalEngine, RequestControl, limits};

use crate::secrets::{member, owner};
use crate::universe::run;

/// A clock that moves on after a few calls: some commands have the same moment.
#[derive(Default)]
struct SlowClock(AtomicI64);

impl Clock for SlowClock {
    fn now(&self) -> jiff::Timestamp {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed) / 7;
        jiff::Timestamp::from_second(1_768_478_400 + seconds).expect("a moment")
    }
}

#[derive(Default)]
struct CountingEntropy(AtomicI64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

struct WatchedCampaign {
    engine: Arc<LocalEngine>,
    campaign_id: String,
    player: Caller,
    guest: Caller,
}

impl WatchedCampaign {
    async fn new() -> Self {
        let app = App::new(
            Arc::new(CountingEntropy::default()),
            Arc::new(SlowClock::default()),
            Arc::new(skald_store::Memory::new()),
        );
        let engine = LocalEngine::new(app);
        let created = json!({"name": "Bells", "gm_mode": "HUMAN"});
        let created = engine.call(&owner(), "campaign_create", created, &RequestControl::default()).await;
        let campaign_id = created.expect("a campaign")["id"].as_str().expect("an id").to_owned();
        let player = member("Ana", &campaign_id, CampaignRole::Player, &[]);
        let guest = member("Gil", &campaign_id, CampaignRole::Guest, &[]);
        let campaign = Self { engine, campaign_id, player, guest };
        campaign.call(&owner(), "session_start", json!({"name": "Low tide"})).await;
        campaign
    }

    /// The answer, and the revision that came with it.
    async fn call(&self, caller: &Caller, operation: &str, mut input: Value) -> (Value, Option<u64>) {
        input["campaign_id"] = json!(self.campaign_id);
        let control = RequestControl::default();
        let answer = self.engine.call(caller, operation, input.clone(), &control).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"));
        (answer, control.revision.get().copied())
    }

    async fn note(&self, text: &str, visible_to: &str) {
        self.call(&owner(), "session_note", json!({"text": text, "visible_to": [visible_to]})).await;
    }

    /// The answers of all pages of the history.
    async fn pages(&self, caller: &Caller, query: Value) -> Vec<Value> {
        let (mut pages, mut query) = (Vec::new(), query);
        loop {
            let (page, _) = self.call(caller, "events_list", query.clone()).await;
            query["cursor"] = page["next_cursor"].clone();
            let is_last = page.get("next_cursor").is_none();
            pages.push(page);
            assert!(pages.len() < 1_000, "the pages have an end");
            if is_last {
                return pages;
            }
        }
    }
}

/// The texts of the notes on some pages, in their order.
fn note_texts(pages: &[Value]) -> Vec<&str> {
    let events = pages.iter().flat_map(|page| page["events"].as_array().expect("events"));
    events.filter_map(|logged| logged["event"]["text"].as_str()).collect()
}

#[test]
fn a_guest_reads_the_whole_history_page_by_page() {
    run(async {
        let campaign = WatchedCampaign::new().await;
        let texts: Vec<String> = (0..60).map(|number| format!("note {number}")).collect();
        for (number, text) in texts.iter().enumerate() {
            campaign.note(text, "table").await;
            for _ in 0..number % 4 {
                campaign.note("hush", "gm").await;
            }
        }
        for limit in [1, 2, 7, 50] {
            for (order, is_reversed) in [("oldest", false), ("newest", true)] {
                for types in [json!([]), json!(["note"])] {
                    let query = json!({"order": order, "limit": limit, "types": types});
                    let pages = campaign.pages(&campaign.guest, query).await;
                    let mut read = note_texts(&pages);
                    if is_reversed {
                        read.reverse();
                    }
                    assert_eq!(read, texts, "{order}, {limit} a page, types {types}");
                }
            }
        }
        let newest = limits::PAGE_MAX;
        let (answer, _) =
            campaign.call(&campaign.guest, "events_list", json!({"limit": newest, "compact": true})).await;
        let line = answer["lines"][0].as_str().expect("a line");
        assert!(line.starts_with("2026-01-15 12:") && line.contains("note 59"), "no revision: {line}");
    });
}

#[test]
fn a_guest_cannot_count_hidden_commands() {
    run(async {
        let campaign = WatchedCampaign::new().await;
        for number in 0..12 {
            campaign.note(&format!("note {number}"), "table").await;
        }
        let reads = || {
            let views =
                ["campaign", "participants", "actors", "sessions"].map(|view| ("campaign_read", json!({"view": view})));
            let others = [
                ("session_recap", json!({})),
                ("events_list", json!({"limit": 5})),
                ("events_list", json!({"limit": 5, "order": "oldest", "compact": true})),
                ("set_context", json!({})),
            ];
            views.into_iter().chain(others)
        };
        let answers = async |caller: &Caller| {
            let mut answers = Vec::new();
            for (operation, input) in reads() {
                answers.push(campaign.call(caller, operation, input).await);
            }
            let pages = campaign.pages(caller, json!({"limit": 5})).await;
            (answers, pages)
        };
        let before = answers(&campaign.guest).await;
        assert!(before.0.iter().all(|(_, revision)| revision.is_none()), "{before:?}");
        let text = format!("{before:?}");
        assert!(!text.contains("revision"), "{text}");
        for _ in 0..9 {
            campaign.note("hush", "gm").await;
        }
        assert_eq!(answers(&campaign.guest).await, before);
        // Who writes sends the revision back, so that nothing newer is overwritten.
        let (answer, revision) = campaign.call(&campaign.player, "campaign_read", json!({})).await;
        assert_eq!((answer["revision"].as_u64(), revision.is_some()), (revision, true));
        let (answer, _) =
            campaign.call(&campaign.player, "events_list", json!({"after_revision": 2, "limit": 1})).await;
        assert_eq!((answer["revision"].as_u64(), answer["events"][0]["revision"].is_u64()), (revision, true));
    });
}

/// A timeline ends with so many events. Hidden commands do not push those out that a guest sees.
#[test]
fn a_timeline_of_a_guest_does_not_count_hidden_commands() {
    run(async {
        let campaign = WatchedCampaign::new().await;
        for scene in ["The quay", "The bridge"] {
            campaign.call(&owner(), "session_note", json!({"scene": scene})).await;
        }
        let timeline = async || campaign.call(&campaign.guest, "timeline", json!({"include": "all"})).await;
        let before = timeline().await;
        assert_eq!((&before.0["total"], before.0.get("truncated")), (&json!(3), None), "{before:?}");
        for _ in 0..limits::EVENTS_SCANNED_MAX {
            campaign.note("hush", "gm").await;
        }
        assert_eq!(timeline().await, before);
        let (of_player, _) = campaign.call(&campaign.player, "timeline", json!({"include": "all"})).await;
        assert_eq!(of_player["truncated"], true, "players know the revision");
    });
}

/// By asking what comes after each revision, or by making up cursors, a guest would find the gaps.
#[test]
fn a_guest_cannot_ask_by_revision() {
    run(async {
        let campaign = WatchedCampaign::new().await;
        campaign.note("note", "table").await;
        let refusal = async |caller: &Caller, mut input: Value| {
            input["campaign_id"] = json!(campaign.campaign_id);
            let answer = campaign.engine.call(caller, "events_list", input, &RequestControl::default()).await;
            answer.expect_err("a refusal")
        };
        let fault = refusal(&campaign.guest, json!({"after_revision": 1})).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::Forbidden, Some("/after_revision")));
        assert!(fault.body().value.is_some() && fault.body().hint.is_some(), "{fault}");
        for cursor in ["1", "", "x", "1.", ".1", "1.-1", "1.2.3", "99999999999999999999.0", "9223372036854775807.0"] {
            let fault = refusal(&campaign.guest, json!({"cursor": cursor})).await;
            assert_eq!(
                (fault.code(), fault.body().path.as_deref()),
                (Code::InvalidParams, Some("/cursor")),
                "{cursor}"
            );
        }
        let fault = refusal(&campaign.player, json!({"cursor": "1768478400000000.0"})).await;
        assert_eq!(fault.code(), Code::InvalidParams, "cursors of guests are for guests");
        // A moment before and after everything.
        for (order, cursor, count) in [
            ("newest", "0.0", 0),
            ("oldest", "0.0", 4),
            ("newest", "4102444800000000.0", 4),
            ("oldest", "4102444800000000.0", 0),
        ] {
            let query = json!({"order": order, "cursor": cursor});
            let (answer, _) = campaign.call(&campaign.guest, "events_list", query).await;
            assert_eq!(answer["events"].as_array().map(Vec::len), Some(count), "{order} {cursor}");
        }
    });
}
