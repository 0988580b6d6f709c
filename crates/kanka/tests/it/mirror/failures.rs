//! Failures of the remote place: told apart, survived, and shown.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{App, Code, LocalEngine, SyncScope, mirror_linked_campaigns};
use skald_journal::{Journal, SideRows};
use skald_kanka::{ConnectionTimeouts, KankaConnector};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::kanka_stub::LinkedToStub;
use super::{FixedAnswer, InstantClock, MirrorPair, PaceClock, Side, connector};

/// The failure that the status shows after a sync that failed.
async fn failure_of(pair: &MirrorPair, scope: SyncScope, answer: FixedAnswer) -> (String, Code) {
    *pair.faults.fixed.lock().unwrap() = Some(answer);
    let fault = pair.sync(scope).await.unwrap_err();
    let shown = pair.mirror("status", json!({})).await;
    assert_eq!(shown["stale"], true, "{shown}");
    let message = shown["failure"]["message"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains(super::TOKEN), "{message}");
    (shown["failure"]["kind"].as_str().unwrap().to_owned(), fault.code())
}

fn body(status: u16, text: &str) -> FixedAnswer {
    FixedAnswer::Body(status, text.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_are_told_apart_and_shown() {
    let pair = MirrorPair::linked(30).await;
    pair.pull().await;
    let note = pair.here.create("note", "N", "Old.").await;
    pair.sync(SyncScope::Send).await.unwrap();
    let rows = [
        (body(401, r#"{"message": "Unauthenticated."}"#), "bad_token", Code::Rejected),
        (body(403, r#"{"code": 403, "error": "no"}"#), "forbidden", Code::Rejected),
        (body(404, r#"{"code": 404, "error": "no"}"#), "not_found", Code::Rejected),
        (body(422, r#"{"code": 422, "error": "bad", "fields": {"name": ["too long"]}}"#), "invalid", Code::Rejected),
        (body(429, r#"["Slow down."]"#), "rate_limited", Code::Unavailable),
        (FixedAnswer::RetryAfter(7), "rate_limited", Code::Unavailable),
        (body(500, "{}"), "server_error", Code::Unavailable),
        (body(503, "<html>"), "server_error", Code::Unavailable),
        (body(200, "<html>"), "broken_answer", Code::Unavailable),
        (body(200, r#"{"data": null}"#), "broken_answer", Code::Unavailable),
        (body(200, r#"{"data": [{"name": null}]}"#), "broken_answer", Code::Unavailable),
        (body(302, ""), "broken_answer", Code::Unavailable),
        (FixedAnswer::Torn, "broken_answer", Code::Unavailable),
        (FixedAnswer::Silence, "timeout", Code::Unavailable),
        (FixedAnswer::Slow, "timeout", Code::Unavailable),
    ];
    for scope in [SyncScope::Everything, SyncScope::Changes, SyncScope::Send] {
        for (number, (answer, kind, code)) in rows.iter().enumerate() {
            if scope == SyncScope::Send {
                // Right after a pull a write is sent without another one. That it is refused is a problem of this write.
                *pair.faults.fixed.lock().unwrap() = None;
                pair.sync(SyncScope::Changes).await.unwrap();
                pair.here.update(note, json!({"entry": format!("New {number}.")})).await;
                if matches!(*kind, "forbidden" | "invalid") {
                    *pair.faults.fixed.lock().unwrap() = Some(answer.clone());
                    pair.sync(scope).await.unwrap();
                    let status = pair.mirror("status", json!({})).await;
                    assert_eq!((status.get("failure"), status["problems"].as_array().map(Vec::len)), (None, Some(1)));
                    continue;
                }
            }
            let failure = failure_of(&pair, scope, answer.clone()).await;
            assert_eq!(failure, ((*kind).to_owned(), *code), "{scope:?} {answer:?}");
        }
    }
    assert!(pair.pace.now() > Duration::from_secs(30), "it waited before it tried again");
    *pair.faults.fixed.lock().unwrap() = None;
    pair.sync(SyncScope::Everything).await.unwrap();
    let status = pair.mirror("status", json!({})).await;
    assert_eq!(
        (&status["stale"], status.get("failure"), status.get("problems")),
        (&json!(false), None, None),
        "{status}"
    );
    assert_eq!((pair.here.lore().await, pair.here.ids().await.len()), (pair.there.lore().await, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_that_is_reached_is_waited_for_as_long_as_the_answer_says() {
    for (answer, seconds) in [(FixedAnswer::RetryAfter(7), 7), (body(429, r#"["Slow down."]"#), 15)] {
        let pair = MirrorPair::linked(36).await;
        pair.pull().await;
        let before = pair.pace.now();
        *pair.faults.fixed.lock().unwrap() = Some(answer);
        pair.take_requests();
        pair.sync(SyncScope::Changes).await.unwrap_err();
        let repeated = u32::try_from(pair.take_requests().len() - 1).unwrap();
        assert!(repeated > 0);
        assert_eq!(pair.pace.now(), before + Duration::from_secs(seconds) * repeated);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_is_closed_before_the_answer_is_survived() {
    let mut pair = MirrorPair::linked(37).await;
    pair.pull().await;
    pair.here.create("note", "N", "").await;
    pair.stop_upstream().await;
    let listener = TcpListener::bind(pair.address).await.unwrap();
    let closing = tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            // The request is read and never answered.
            let _ = tokio::io::AsyncReadExt::read(&mut connection, &mut [0; 4096]).await;
        }
    });
    for scope in [SyncScope::Everything, SyncScope::Changes, SyncScope::Send] {
        assert_eq!(pair.sync(scope).await.unwrap_err().code(), Code::Unavailable, "{scope:?}");
        assert_eq!(pair.mirror("status", json!({})).await["failure"]["kind"], "broken_answer", "{scope:?}");
    }
    closing.abort();
    let _ = closing.await;
    pair.start_upstream().await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!((pair.there.ids().await.len(), pair.here.lore().await), (1, pair.there.lore().await));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_that_is_wrong_or_missing_links_nothing() {
    let pair = MirrorPair::new(31).await;
    let with = |remotes| {
        let mut app = App::new(
            Arc::new(super::CountingEntropy(std::sync::atomic::AtomicU64::new(9))),
            Arc::new(super::SystemClock),
            Arc::new(skald_store::Memory::new()),
        );
        app.remotes = remotes;
        Side::new(app)
    };
    let link = json!({"method": "link", "kanka_campaign": pair.number, "base_url": pair.base_url()});
    let wrong = with(Arc::new(connector("another", &InstantClock::default()))).await;
    let fault = wrong.try_call("kanka_mirror", link.clone()).await.unwrap_err();
    assert!(fault.code() == Code::Rejected && fault.to_string().contains("token"), "{fault}");
    assert!(!fault.to_string().contains("another"));
    assert_eq!(wrong.call("kanka_mirror", json!({})).await["linked"], false);
    let missing = skald_kanka::KankaConnector::new(Arc::new(|| Err("there is no token".to_owned())));
    let missing = with(Arc::new(missing)).await;
    let fault = missing.try_call("kanka_mirror", link).await.unwrap_err();
    assert!(fault.to_string().contains("there is no token"), "{fault}");
    let refused = json!({"method": "link", "kanka_campaign": 1, "base_url": "http://kanka.example/1.0"});
    let fault = missing.try_call("kanka_mirror", refused).await.unwrap_err();
    assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/base_url")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_remote_down_reads_work_and_writes_arrive_once_when_it_is_back() {
    let mut pair = MirrorPair::new(32).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.stop_upstream().await;
    assert_eq!(pair.sync(SyncScope::Changes).await.unwrap_err().code(), Code::Unavailable);
    let status = pair.mirror("status", json!({})).await;
    assert_eq!(status["failure"]["kind"], "unreachable", "{status}");

    pair.here.update(inn, json!({"entry": "New."})).await;
    let ann = pair.here.create("character", "Ann", "In [[Inn]].").await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    let wrote = pair.here.call("create_posts", json!({"posts": [post]})).await;
    assert_eq!((&wrote["mirror"]["stale"], &wrote["mirror"]["pending"]), (&json!(true), &json!(2)), "{wrote}");
    let found = pair.here.call("find_entities", json!({"query": "Ann"})).await;
    assert_eq!((found["sync_info"]["total_count"].as_u64(), &found["mirror"]["stale"]), (Some(1), &json!(true)));
    assert!(found["mirror"]["synced_at"].is_string());
    assert!(pair.sync(SyncScope::Send).await.is_err());

    pair.start_upstream().await;
    pair.sync(SyncScope::Send).await.unwrap();
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.here.lore().await, pair.there.lore().await);
    assert_eq!(pair.there.ids().await.len(), 2);
    assert_eq!(pair.mirror("status", json!({})).await["pending"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_whose_answer_is_lost_is_not_repeated() {
    use std::sync::atomic::Ordering;
    // Faults of these seeds lose answers at different requests.
    for seed in 0..12 {
        let pair = MirrorPair::linked(40 + seed).await;
        pair.pull().await;
        for number in 0..4 {
            let entity_type = if number == 3 { "quest" } else { "note" };
            let id = pair.here.create(entity_type, &format!("E{number}"), "Text.").await;
            let post = json!({"entity_id": id, "name": "Post", "entry": "Words."});
            pair.here.batch("create_posts", "posts", post).await;
            pair.here.update(id, json!({"tags": ["red"], "aliases": ["Other"]})).await;
        }
        pair.faults.per_mille.store(500, Ordering::Relaxed);
        for _ in 0..10 {
            let _ = pair.sync(SyncScope::Send).await;
        }
        pair.faults.per_mille.store(0, Ordering::Relaxed);
        pair.sync(SyncScope::SendAgain).await.unwrap();
        assert_eq!(pair.there.ids().await.len(), 4, "seed {seed}");
        assert_eq!(pair.here.lore().await, pair.there.lore().await, "seed {seed}");
        let tags = pair.there.call("list_tags", json!({"page": {"number": 1, "rows": 45}})).await;
        assert_eq!(tags["rows"].as_array().unwrap().len(), 1, "seed {seed}: {tags}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_waits_for_the_one_that_syncs_or_is_told_of_it() {
    let journal = Arc::new(skald_store::Memory::new());
    let pair = MirrorPair::on_journal(50, Arc::clone(&journal) as _).await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    let lease = |until: jiff::Timestamp| json!({"holder": "another", "until": until.to_string()}).to_string();
    let until = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(2);
    journal.put("lore_mirror/leases", &pair.here.campaign_id, lease(until)).await.unwrap();
    let app = pair.here.engine.app();
    let sync =
        async |wait_max| app.sync_mirror(&pair.here.campaign_id, SyncScope::Changes, wait_max, &mut |_, _| {}).await;
    pair.take_requests();
    let fault = sync(Duration::ZERO).await.unwrap_err();
    assert_eq!(fault.code(), Code::Unavailable);
    let hint = fault.body().hint.clone().unwrap();
    assert!(fault.to_string().contains("another process") && hint.contains("status"), "{fault}");
    assert_eq!(pair.take_requests(), [""; 0], "two processes never talk to it at once");
    assert_eq!(pair.mirror("status", json!({})).await.get("failure"), None, "that is no failure of the sync");
    // A process that was killed keeps the lease until it ends; who waits goes on then.
    sync(Duration::from_secs(20)).await.unwrap();
    assert!(jiff::Timestamp::now() >= until && !pair.take_requests().is_empty());
}

/// The whole entries of entities there by their names.
fn entry_there(pair: &LinkedToStub, name: &str) -> Option<String> {
    pair.stub().find(name).1.entry.clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pull_of_everything_goes_on_when_a_write_fails() {
    let new = Some("<p>New.</p>".to_owned());
    for can_be_read in [true, false] {
        let mut ids = [0; 3];
        let pair = LinkedToStub::new(|stub| {
            ids = ["Ann", "Ben", "Cid"].map(|name| stub.create("character", name));
            stub.create("location", "Inn");
        })
        .await;
        pair.pull().await;
        let [ann, ben, cid] = ids;
        for id in ids {
            pair.here.update(id, json!({"entry": "New."})).await;
        }
        pair.here.create("note", "Plan", "").await;
        {
            let mut stub = pair.stub();
            let failing = if can_be_read { &mut stub.failing_writes } else { &mut stub.failing };
            failing.insert(ben);
            stub.create("location", "Mill");
        }
        let failed = pair.sync(SyncScope::Everything).await.err().map(|fault| fault.to_string());
        assert_eq!(failed.is_some(), !can_be_read, "{failed:?}");
        assert!(failed.is_none_or(|fault| fault.contains(&format!("entity {ben}"))));
        assert_eq!([entry_there(&pair, "Ann"), entry_there(&pair, "Cid")], [new.clone(), new.clone()]);
        assert_eq!(entry_there(&pair, "Ben"), None);
        assert_eq!(pair.stub().find("Plan").1.kind.code, "note", "what is new here is sent");
        assert_eq!(pair.here.ids().await.len(), 6, "what is new there is here");
        assert_eq!(pair.status().await["pending"], 0, "{ann} {cid}");

        (pair.stub().failing_writes, pair.stub().failing) = (BTreeSet::new(), BTreeSet::new());
        pair.sync(SyncScope::Send).await.unwrap();
        assert_eq!(entry_there(&pair, "Ben"), new);
        let status = pair.status().await;
        assert_eq!((status.get("problems"), status.get("failure")), (None, None), "{status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_that_cannot_be_read_does_not_have_everything_listed_again() {
    let (mut ann, mut ben) = (0, 0);
    let journal = Arc::new(skald_store::Memory::new());
    let pair = LinkedToStub::on_journal(Arc::clone(&journal) as _, |stub| {
        (ann, ben) = (stub.create("character", "Ann"), stub.create("character", "Ben"));
    })
    .await;
    pair.pull().await;
    pair.stub().sentences.insert(ben, "Invalid child, please contact us".to_owned());
    // All entities were listed half an hour ago.
    let campaign_id = &pair.here.campaign_id;
    let row = journal.get("lore_mirror/links", campaign_id).await.unwrap().unwrap();
    let mut link: Value = serde_json::from_str(&row).unwrap();
    let before: jiff::Timestamp = link["swept_at"].as_str().unwrap().parse().unwrap();
    link["swept_at"] = json!((before - jiff::SignedDuration::from_mins(31)).to_string());
    journal.put("lore_mirror/links", campaign_id, link.to_string()).await.unwrap();

    pair.take_requests();
    let stopping = CancellationToken::new();
    let mirror = tokio::spawn(mirror_linked_campaigns(Arc::clone(&pair.here.engine), stopping.clone()));
    let until = async |is_done: &(dyn Fn(&Value) -> bool + Sync)| {
        let look = async {
            while !is_done(&pair.status().await) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), look).await.expect("a sync in the background");
    };
    until(&|status| status["failure"]["message"].as_str().is_some_and(|message| message.contains("Invalid child")))
        .await;
    for entry in ["One.", "Two.", "Three."] {
        pair.here.update(ann, json!({"entry": entry})).await;
        until(&|status| status["pending"] == 0).await;
        assert_eq!(entry_there(&pair, "Ann"), Some(format!("<p>{entry}</p>")));
    }
    stopping.cancel();
    mirror.await.unwrap();
    let lists: Vec<String> =
        pair.take_requests().into_iter().filter(|line| line.contains("/characters?related=1")).collect();
    assert_eq!(lists.len(), 1, "{lists:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_taken_over_is_a_problem_until_it_is_gone() {
    const TOO_HIGH: u64 = 5_000_000_000;
    let pair = LinkedToStub::new(|stub| {
        let ann = stub.create("character", "Ann");
        let mut far = stub.entities[&ann].clone();
        (far.id, far.name) = (9_000, "Far".to_owned());
        stub.entities.insert(TOO_HIGH, far);
    })
    .await;
    for _ in 0..2 {
        pair.pull().await;
        let status = pair.status().await;
        let problems = status["problems"].as_array().unwrap();
        assert_eq!((problems.len(), &problems[0]["entity_id"]), (1, &json!(TOO_HIGH)), "{status}");
        let reason = problems[0]["reason"].as_str().unwrap();
        assert!(reason.contains("\"Far\" cannot be taken over"), "{reason}");
    }
    pair.stub().entities.remove(&TOO_HIGH);
    pair.pull().await;
    assert_eq!(pair.status().await.get("problems"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_can_be_resolved_while_kanka_does_not_answer() {
    let journal = Arc::new(skald_store::Memory::new());
    let mut pair = MirrorPair::on_journal(51, Arc::clone(&journal) as _).await;
    let inn = pair.there.create("location", "Inn", "Old.").await;
    pair.link(json!({})).await.unwrap();
    pair.pull().await;
    pair.here.update(inn, json!({"entry": "Ours."})).await;
    pair.there.update(inn, json!({"entry": "Theirs."})).await;
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_eq!(pair.conflicts().await.len(), 1);

    pair.stop_upstream().await;
    let listener = TcpListener::bind(pair.address).await.unwrap();
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let silent = tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            sender.send(connection).unwrap();
        }
    });
    // As patient as a real connection is.
    let mut app = App::new(
        Arc::new(super::CountingEntropy(std::sync::atomic::AtomicU64::new(1 << 30))),
        Arc::new(super::SystemClock),
        Arc::clone(&journal) as Arc<dyn Journal>,
    );
    let timeouts = ConnectionTimeouts { connect: Duration::from_secs(5), answer: Duration::from_mins(1) };
    let token = Arc::new(|| Ok(super::TOKEN.to_owned()));
    app.remotes = Arc::new(KankaConnector::with_clock(token, Arc::new(InstantClock::default()), timeouts));
    let patient = Side { engine: LocalEngine::new(app), campaign_id: pair.here.campaign_id.clone() };
    let (engine, campaign_id) = (Arc::clone(&patient.engine), patient.campaign_id.clone());
    let sync = tokio::spawn(async move {
        engine.app().sync_mirror(&campaign_id, SyncScope::Changes, super::LEASE_WAIT_MAX, &mut |_, _| {}).await
    });
    let connection = connections.recv().await.expect("a request");
    let resolve = json!({"method": "resolve", "entity_id": inn, "keep": "ours"});
    let resolved = patient.call("kanka_mirror", resolve).await;
    assert_eq!((&resolved["resolved"], &resolved["conflict_count"]), (&json!(1), &json!(0)), "{resolved}");
    assert_eq!(sync.await.unwrap().unwrap_err().code(), Code::Unavailable);
    drop(connection);
    silent.abort();
    let _ = silent.await;

    pair.start_upstream().await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.there.get(inn).await["entry"], "Ours.");
}
