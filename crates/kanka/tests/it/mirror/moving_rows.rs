//! Lists whose rows move to pages that were read already: nothing is missed, and nothing that was missed is overwritten.

use serde_json::json;
use skald_app::SyncScope;

use super::kanka_stub::LinkedToStub;

/// A Kanka with notes `N0` to `N99`, and their ids.
async fn hundred_notes() -> (LinkedToStub, Vec<u64>) {
    let mut ids = Vec::new();
    let pair =
        LinkedToStub::new(|stub| ids = (0..100).map(|number| stub.create("note", &format!("N{number}"))).collect())
            .await;
    (pair, ids)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_moves_while_a_list_is_read_is_not_missed() {
    let (pair, ids) = hundred_notes().await;
    pair.stub().later_deletion = Some(("notes?related=1&page=2".to_owned(), ids[3]));
    pair.pull().await;
    assert_eq!(pair.stub().entities.len(), 99);
    let here = pair.here.ids().await;
    let missing: Vec<&u64> = ids.iter().filter(|id| **id != ids[3] && !here.contains(id)).collect();
    assert_eq!(missing, [&0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_moves_while_changes_are_read_is_not_missed_and_not_overwritten() {
    let (pair, ids) = hundred_notes().await;
    pair.pull().await;
    for id in &ids {
        pair.stub().entities.get_mut(id).unwrap().entry = Some("<p>From there.</p>".to_owned());
        pair.stub().touch(*id);
    }
    pair.stub().later_deletion = Some(("&page=2".to_owned(), ids[3]));
    pair.take_requests();
    pair.sync(SyncScope::Changes).await.unwrap();
    for id in ids.iter().filter(|id| **id != ids[3]) {
        assert_eq!(pair.here.get(*id).await["entry"], "From there.", "{id}");
    }
    // A write to any of them is an edit of what is there.
    pair.here.update(ids[45], json!({"entry": "From here."})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let status = pair.status().await;
    assert_eq!((&status["conflict_count"], &status["stale"]), (&json!(0), &json!(false)), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_that_stay_incomplete_are_asked_for_again() {
    let (pair, ids) = hundred_notes().await;
    pair.pull().await;
    for id in &ids {
        pair.stub().touch(*id);
    }
    let lists = |requests: Vec<String>| -> Vec<String> {
        requests.into_iter().filter(|line| line.contains("lastSync=") && line.ends_with("&page=1")).collect()
    };
    pair.stub().uncounted_rows = 1;
    pair.take_requests();
    pair.sync(SyncScope::Changes).await.unwrap();
    let first = lists(pair.take_requests());
    assert!(first.len() > 1, "it is read again: {first:?}");
    pair.stub().uncounted_rows = 0;
    pair.sync(SyncScope::Changes).await.unwrap();
    let second = lists(pair.take_requests());
    assert_eq!(second[..], first[..1], "from the same moment, once");
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_ne!(lists(pair.take_requests())[..], first[..1], "all of them are known now");
}
