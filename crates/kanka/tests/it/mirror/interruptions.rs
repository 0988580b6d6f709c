//! A sync that ends at any moment, as if its process were killed: another process goes on with it.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{LocalEngine, SyncScope};
use skald_journal::{Journal, SideRows};
use skald_store::SqliteSettings;

use super::kanka_stub::LinkedToStub;
use super::{InstantClock, LEASE_WAIT_MAX, Side};

/// Polls a future so often, and drops it then. `None` if it did not end.
async fn poll_times<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = times;
    poll_fn(|context| match future.as_mut().poll(context) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}

/// Another process on the same store, an hour later: its clock stands still while it waits for a lease, and a lease that was
/// taken in the moment of the end has to have run out.
fn restart(pair: &LinkedToStub, journal: Arc<dyn Journal>) -> Side {
    let later = InstantClock(Arc::new(Mutex::new(Duration::from_hours(1))));
    let app = LinkedToStub::app(journal, &pair.token, &later);
    Side { engine: LocalEngine::new(app), campaign_id: pair.here.campaign_id.clone() }
}

async fn sync(side: &Side, scope: SyncScope) {
    let app = side.engine.app();
    let synced = app.sync_mirror(&side.campaign_id, scope, LEASE_WAIT_MAX, &mut |_, _| {}).await;
    synced.unwrap_or_else(|fault| panic!("{scope:?}: {fault}"));
}

/// Writes of every sort here, and a change there that is a conflict. The sync of them ends after so many polls, and another
/// process goes on. Whether it ended before that.
async fn interrupted_sync(polls: usize, scope: SyncScope) -> bool {
    // A store whose writes take time, so that the sync ends between two of them as well.
    let folder = std::env::temp_dir().join(format!("skald-interruptions-{}-{polls}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let journal = skald_store::Sqlite::open(&folder.join("skald.db"), SqliteSettings::default()).await.unwrap();
    let (mut ann, mut ben, mut cid) = (0, 0, 0);
    let pair = LinkedToStub::on_journal(Arc::clone(&journal) as _, |stub| {
        (ann, ben) = (stub.create("character", "Ann"), stub.create("character", "Ben"));
        cid = stub.create("character", "Cid");
    })
    .await;
    pair.pull().await;
    pair.here.update(ann, json!({"entry": "From here.", "aliases": ["Annie"], "tags": ["npc"]})).await;
    pair.here.call("delete_entities", json!({"entity_ids": [ben]})).await;
    let inn = pair.here.create("location", "Inn", "Old.").await;
    let plan = pair.here.create("note", "Plan", &format!("See [entity:{inn}].")).await;
    pair.here.update(inn, json!({"entry": format!("For [entity:{plan}].")})).await;
    for entity_id in [plan, cid] {
        let post = json!({"entity_id": entity_id, "name": "Rumour", "entry": format!("In [entity:{inn}].")});
        pair.here.batch("create_posts", "posts", post).await;
    }
    {
        let mut stub = pair.stub();
        stub.entities.get_mut(&ann).unwrap().entry = Some("<p>From there.</p>".to_owned());
        stub.touch(ann);
        let dora = stub.create("character", "Dora");
        stub.entities.get_mut(&dora).unwrap().entry = Some("<p>New.</p>".to_owned());
    }
    let app = pair.here.engine.app();
    let mut progress = |_, _| {};
    let synced = app.sync_mirror(&pair.here.campaign_id, scope, LEASE_WAIT_MAX, &mut progress);
    let ended = Box::pin(poll_times(synced, polls)).await;
    let is_whole = ended.is_some();
    if let Some(synced) = ended {
        synced.unwrap();
    }

    let other = restart(&pair, Arc::clone(&journal) as _);
    let what = format!("{scope:?}, {polls} polls");
    for scope in [SyncScope::Changes, SyncScope::Send, SyncScope::Everything] {
        sync(&other, scope).await;
    }
    let listed = other.call("kanka_mirror", json!({"method": "conflicts"})).await;
    let conflicts: Vec<Value> =
        listed["conflicts"].as_array().unwrap().iter().map(|row| row["field"].clone()).collect();
    assert_eq!((conflicts, &listed["conflict_count"]), (vec![json!("entry")], &json!(1)), "{what}: {listed}");
    assert_eq!((&listed["pending"], listed.get("problems")), (&json!(0), None), "{what}: {listed}");
    {
        let stub = pair.stub();
        let mut names: Vec<&str> = stub.entities.values().map(|entity| entity.name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["Ann", "Cid", "Dora", "Inn", "Plan"], "{what}: each once");
        let aliases: Vec<&str> = stub.find("Ann").1.aliases.values().map(|(name, _)| name.as_str()).collect();
        assert_eq!((aliases, stub.find("Ann").1.tags.len(), stub.tags.len()), (vec!["Annie"], 1, 1), "{what}");
        assert_eq!(stub.find("Ann").1.entry.as_deref(), Some("<p>From there.</p>"), "{what}");
        let (inn, plan) = (stub.find("Inn").0, stub.find("Plan").0);
        let text = |name: &str| stub.find(name).1.entry.clone().unwrap_or_default();
        assert_eq!(text("Plan"), format!("<p>See [entity:{inn}].</p>"), "{what}");
        assert_eq!(text("Inn"), format!("<p>For [entity:{plan}].</p>"), "{what}");
        for name in ["Plan", "Cid"] {
            let posts: Vec<String> = stub
                .find(name)
                .1
                .posts
                .values()
                .map(|post| post["entry"].as_str().unwrap().trim().to_owned())
                .collect();
            assert_eq!(posts, [format!("<p>In [entity:{inn}].</p>")], "{what}: {name}");
        }
    }
    assert_eq!(other.ids().await.len(), 5, "{what}");
    assert_eq!(other.get(ann).await["entry"], "From here.", "{what}");
    std::fs::remove_dir_all(&folder).unwrap();
    is_whole
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sync_that_ends_at_any_moment_is_gone_on_with() {
    let mut polls = 0;
    while !Box::pin(interrupted_sync(polls, SyncScope::Changes)).await {
        polls += 3 + polls / 12;
    }
    assert!(polls > 40, "{polls} polls");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conflict_whose_process_was_killed_is_listed_and_what_was_created_is_not_bound_twice() {
    let journal = Arc::new(skald_store::Memory::new());
    let mut ann = 0;
    let pair = LinkedToStub::on_journal(Arc::clone(&journal) as _, |stub| ann = stub.create("character", "Ann")).await;
    pair.pull().await;
    pair.here.update(ann, json!({"entry": "From here."})).await;
    pair.stub().entities.get_mut(&ann).unwrap().entry = Some("<p>From there.</p>".to_owned());
    pair.stub().touch(ann);
    pair.pull().await;
    let inn = pair.here.create("location", "Inn", "").await;
    pair.sync(SyncScope::Send).await.unwrap();
    let campaign_id = &pair.here.campaign_id;

    // What a process leaves that was killed between two rows.
    let key = format!("{ann:010}");
    assert!(journal.remove(&format!("lore_mirror/open/{campaign_id}"), &key).await.unwrap(), "it was listed");
    let left = json!({"kind": "location", "name": "Inn"}).to_string();
    journal.put(&format!("lore_mirror/created/{campaign_id}"), &format!("{inn:010}"), left).await.unwrap();
    // Somebody creates another inn there.
    pair.stub().create("location", "Inn");

    let other = restart(&pair, Arc::clone(&journal) as _);
    sync(&other, SyncScope::Changes).await;
    sync(&other, SyncScope::Everything).await;
    let status = other.call("kanka_mirror", json!({})).await;
    assert_eq!(status["conflict_count"], 1, "{status}");
    assert_eq!((other.ids().await.len(), pair.stub().entities.len()), (3, 3));
}
