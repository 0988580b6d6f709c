//! Tests of `events_list`: filters, pages, and the compact form.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use skald_app::{App, Caller, Clock, Code, Entropy, LocalEngine, limits};

use crate::universe::{call, call_as_owner, run};

/// 2026-01-15T12:00:00Z; each call of the clock is one minute later.
#[derive(Default)]
struct MinuteClock(AtomicI64);

impl Clock for MinuteClock {
    fn now(&self) -> jiff::Timestamp {
        let minutes = self.0.fetch_add(1, Ordering::Relaxed);
        jiff::Timestamp::from_second(1_768_478_400 + 60 * minutes).expect("a moment")
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

struct PlayedCampaign {
    engine: Arc<LocalEngine>,
    campaign_id: Value,
    session_id: Value,
    actor_ids: Vec<Value>,
}

/// A campaign with a session and two actors, whose names have 20 characters.
async fn start_campaign() -> PlayedCampaign {
    let (entropy, clock) = (CountingEntropy::default(), MinuteClock::default());
    let engine = LocalEngine::new(App::new(Arc::new(entropy), Arc::new(clock), Arc::new(skald_store::Memory::new())));
    let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Dunmere", "gm_mode": "HUMAN"})).await;
    let campaign_id = campaign["id"].clone();
    let mut actor_ids = Vec::new();
    for name in ["Ilse of the Tideflat", "Borek the Ferryman's"] {
        let input = json!({"campaign_id": campaign_id, "name": name, "kind": "PC"});
        actor_ids.push(call_as_owner(&engine, "actor_create", input).await["id"].clone());
    }
    let session = call_as_owner(&engine, "session_start", json!({"campaign_id": campaign_id})).await;
    PlayedCampaign { engine, campaign_id, session_id: session["id"].clone(), actor_ids }
}

impl PlayedCampaign {
    async fn roll(&self, actor: usize) {
        let (session_id, actor_id) = (&self.session_id, &self.actor_ids[actor]);
        let input = json!({"modifier": 2, "difficulty": 15, "session_id": session_id, "actor_id": actor_id});
        call_as_owner(&self.engine, "duality_action_roll", input).await;
    }

    async fn note(&self, text: &str) {
        let input = json!({"campaign_id": self.campaign_id, "session_id": self.session_id, "text": text});
        call_as_owner(&self.engine, "session_note", input).await;
    }

    async fn list(&self, mut input: Value) -> Value {
        input["campaign_id"] = self.campaign_id.clone();
        call_as_owner(&self.engine, "events_list", input).await
    }

    /// The revisions of all pages, and the number of pages.
    async fn list_revisions(&self, mut input: Value) -> (Vec<u64>, usize) {
        let (mut revisions, mut pages) = (Vec::new(), 0);
        loop {
            let page = self.list(input.clone()).await;
            let events = page["events"].as_array().expect("events").iter();
            revisions.extend(events.map(|logged| logged["revision"].as_u64().expect("a revision")));
            pages += 1;
            let Some(cursor) = page.get("next_cursor") else { return (revisions, pages) };
            input["cursor"] = cursor.clone();
        }
    }
}

#[test]
fn ten_rolls_are_listed_in_few_characters() {
    run(async {
        let campaign = start_campaign().await;
        for number in 0..10 {
            campaign.roll(number % 2).await;
        }
        let answer = campaign.list(json!({"types": ["roll"], "limit": 10, "compact": true})).await;
        let text = answer.to_string();
        assert!(text.chars().count() < 1_500, "{} characters: {text}", text.chars().count());
        let lines: Vec<&str> = answer["lines"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        assert_eq!((lines.len(), answer.get("events")), (10, None));
        // The newest first, with the revision by which the whole event is found.
        assert!(lines[0].starts_with("14 2026-01-1") && lines[9].starts_with("5 2026-01-1"), "{lines:?}");
        assert!(lines[0].contains(" Borek the Ferryman's: duality(+2, dc 15) = "), "{lines:?}");
        let whole = campaign.list(json!({"after_revision": 13, "order": "oldest", "limit": 1})).await;
        assert_eq!(whole["events"][0]["event"]["type"], "roll.recorded.v1");
        let all = campaign.list(json!({"compact": true, "order": "oldest"})).await;
        assert!(all["lines"][1].as_str().unwrap().ends_with("Ilse of the Tideflat (PC) entered the story"), "{all}");
    });
}

#[test]
fn events_are_filtered_by_kind_actor_session_and_time() {
    run(async {
        let campaign = start_campaign().await;
        campaign.roll(0).await;
        campaign.roll(1).await;
        campaign.note("They met a bear.").await;
        campaign.roll(0).await;
        let revisions = async |input: Value| campaign.list_revisions(input).await.0;
        let ilse = &campaign.actor_ids[0];
        assert_eq!(revisions(json!({"actor_id": ilse})).await, [8, 5, 2]);
        assert_eq!(revisions(json!({"actor_id": ilse, "types": ["roll"], "order": "oldest"})).await, [5, 8]);
        assert_eq!(revisions(json!({"session_id": campaign.session_id, "types": ["note", "session"]})).await, [7, 4]);
        assert_eq!(revisions(json!({"actor_id": "actor_unknown"})).await, [0; 0]);
        let all = campaign.list(json!({"order": "oldest"})).await["events"].clone();
        let at = |revision: u64| {
            let mut events = all.as_array().unwrap().iter();
            events.find(|logged| logged["revision"] == revision).unwrap()["at"].clone()
        };
        assert_eq!(revisions(json!({"from": at(5), "to": at(7)})).await, [7, 6, 5], "both ends belong to it");
        assert_eq!(revisions(json!({"from": at(7), "order": "oldest"})).await, [7, 8]);
        assert_eq!(revisions(json!({"to": at(5), "types": ["roll"]})).await, [5]);
        assert_eq!(revisions(json!({"from": "2026-01-15", "to": "2026-01-15", "types": ["roll"]})).await, [8, 6, 5]);
        assert_eq!(revisions(json!({"from": "2026-01-16"})).await, [0; 0]);
        assert_eq!(revisions(json!({"to": "2026-01-14", "order": "oldest"})).await, [0; 0]);
        for (mut input, path) in [
            (json!({"from": "yesterday"}), "/from"),
            (json!({"to": "2026-13-01"}), "/to"),
            (json!({"from": "2026-01-16", "to": "2026-01-15"}), "/to"),
            (json!({"actor_id": " "}), "/actor_id"),
        ] {
            input["campaign_id"] = campaign.campaign_id.clone();
            let fault = call(&campaign.engine, &Caller::owner(), "events_list", input.clone()).await.unwrap_err();
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)), "{input}");
            assert!(fault.body().hint.is_some(), "{input}");
        }
    });
}

#[test]
fn pages_of_a_filtered_list_are_the_list() {
    run(async {
        let campaign = start_campaign().await;
        for number in 0..12 {
            campaign.roll(number % 2).await;
            campaign.note("A note.").await;
        }
        for filter in [
            json!({}),
            json!({"types": ["note"]}),
            json!({"actor_id": campaign.actor_ids[1]}),
            json!({"session_id": campaign.session_id, "types": ["roll"]}),
        ] {
            for order in ["newest", "oldest"] {
                let mut input = filter.clone();
                input["order"] = order.into();
                let (whole, pages) = campaign.list_revisions(input.clone()).await;
                assert_eq!(pages, 1);
                for limit in 1..8 {
                    input["limit"] = limit.into();
                    let (revisions, pages) = campaign.list_revisions(input.clone()).await;
                    assert_eq!(revisions, whole, "{input}");
                    // Every command here has one event but the start of the session, so no page is empty.
                    assert!(pages <= whole.len().div_ceil(limit), "{input}: {pages} pages");
                }
            }
        }
    });
}

#[test]
fn a_page_ends_before_it_is_too_long_to_read() {
    run(async {
        let campaign = start_campaign().await;
        let text = "x".repeat(limits::EVENTS_PAGE_BYTES_MAX / 8);
        for _ in 0..20 {
            campaign.note(&text).await;
        }
        let page = campaign.list(json!({"types": ["note"]})).await;
        let listed = page["events"].as_array().unwrap().len();
        assert_eq!(listed, 7, "an eighth of the page each, and what is around it");
        assert!(page["events"].to_string().len() <= limits::EVENTS_PAGE_BYTES_MAX);
        let (revisions, pages) = campaign.list_revisions(json!({"types": ["note"]})).await;
        assert_eq!((revisions.len(), pages), (20, 3));
    });
}

#[test]
fn one_call_looks_through_a_bounded_part_of_the_history() {
    run(async {
        let campaign = start_campaign().await;
        // The start of the session is the last event before the notes. Every note is one record.
        let needle = campaign.list(json!({"limit": 1})).await["revision"].as_u64().unwrap();
        let sessions = json!({"types": ["session.started"]});
        for number in 1..=limits::EVENTS_SCANNED_MAX {
            campaign.note("Hay.").await;
            if number == limits::EVENTS_SCANNED_MAX - 1 {
                let recent = json!({"types": ["session.started"], "after_revision": needle - 1});
                assert_eq!(campaign.list_revisions(recent).await, (vec![needle], 1));
            }
        }
        let first = campaign.list(sessions.clone()).await;
        assert_eq!((&first["events"], &first["next_cursor"]), (&json!([]), &json!(needle.to_string())));
        assert_eq!(campaign.list_revisions(sessions).await, (vec![needle], 2));
        // Who asks for a time does not read through what is long past.
        let last = campaign.list(json!({"limit": 1})).await["events"][0]["at"].clone();
        let recent = json!({"types": ["session.started"], "from": last.as_str().unwrap()[..10]});
        assert_eq!(campaign.list_revisions(recent).await, (Vec::new(), 1));
    });
}
