//! Posts that one side cannot take, and posts and entities whose creation was not answered: none is lost or doubled.

use serde_json::{Value, json};
use skald_app::{SyncScope, limits};

use super::kanka_stub::LinkedToStub;

fn remote_post(id: u64, name: &str, entry: &str) -> Value {
    json!({"id": id, "name": name, "entry": entry, "visibility_id": 1})
}

/// The entries of the posts of an entity there.
fn entries_there(pair: &LinkedToStub, name: &str) -> Vec<String> {
    let stub = pair.stub();
    stub.find(name).1.posts.values().map(|post| post["entry"].as_str().unwrap().trim().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn posts_that_are_too_many_here_stay_there() {
    let mut diary = 0;
    let pair = LinkedToStub::new(|stub| {
        diary = stub.create("journal", "Diary");
        let posts = (0..limits::LORE_ENTITY_POSTS_MAX as u64 + 3)
            .map(|number| (5_000 + number, remote_post(5_000 + number, &format!("Day {number}"), "<p>Rain.</p>")));
        stub.entities.get_mut(&diary).unwrap().posts = posts.collect();
    })
    .await;
    pair.pull().await;
    let problems = |status: &Value| -> Vec<Value> { status["problems"].as_array().cloned().unwrap_or_default() };
    for scope in [SyncScope::Send, SyncScope::SendAgain, SyncScope::Everything] {
        pair.here.update(diary, json!({"type": format!("{scope:?}")})).await;
        pair.sync(scope).await.unwrap();
        let deleted: Vec<String> = pair.take_requests().into_iter().filter(|line| line.starts_with("DELETE")).collect();
        assert_eq!(deleted, [""; 0], "{scope:?}");
        let status = pair.status().await;
        let problems = problems(&status);
        assert_eq!((problems.len(), &problems[0]["entity_id"]), (1, &json!(diary)), "{scope:?}: {status}");
        assert!(problems[0]["reason"].as_str().unwrap().contains("cannot be taken over"), "{status}");
    }
    assert_eq!(pair.stub().find("Diary").1.posts.len(), limits::LORE_ENTITY_POSTS_MAX + 3);
    // With fewer of them all are here, and nothing is left to tell.
    pair.stub().entities.get_mut(&diary).unwrap().posts.retain(|id, _| *id < 5_100);
    pair.stub().touch(diary);
    pair.pull().await;
    let status = pair.status().await;
    assert_eq!(problems(&status), [Value::Null; 0], "{status}");
    assert_eq!(pair.here.get(diary).await["posts"].as_array().unwrap().len(), 100);
    assert_eq!(pair.stub().find("Diary").1.posts.len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_post_whose_creation_was_not_answered_is_not_doubled_by_an_edit() {
    let mut ann = 0;
    let pair = LinkedToStub::new(|stub| ann = stub.create("character", "Ann")).await;
    pair.pull().await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "First."});
    let post = pair.here.batch("create_posts", "posts", post).await;
    pair.stub().loses_creation_answers = true;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(entries_there(&pair, "Ann"), ["<p>First.</p>"]);

    let change = json!({"entity_id": ann, "post_id": post["post_id"], "name": "Youth", "entry": "Second."});
    pair.here.batch("update_posts", "updates", change).await;
    pair.stub().loses_creation_answers = false;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(entries_there(&pair, "Ann"), ["<p>Second.</p>"]);
    pair.pull().await;
    let here = pair.here.get(ann).await;
    let posts = here["posts"].as_array().unwrap();
    assert_eq!((posts.len(), &posts[0]["name"], &posts[0]["entry"]), (1, &json!("Youth"), &json!("Second.")));
    let status = pair.status().await;
    assert_eq!((&status["conflict_count"], status.get("problems")), (&json!(0), None), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_post_whose_creation_was_refused_is_sent_with_its_text() {
    let mut ann = 0;
    let pair = LinkedToStub::new(|stub| {
        ann = stub.create("character", "Ann");
        stub.refused_name = Some("Past".to_owned());
    })
    .await;
    pair.pull().await;
    let post = json!({"entity_id": ann, "name": "Past", "entry": "Long ago."});
    pair.here.batch("create_posts", "posts", post).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(entries_there(&pair, "Ann"), [""; 0]);
    pair.stub().refused_name = None;
    pair.sync(SyncScope::SendAgain).await.unwrap();
    assert_eq!(entries_there(&pair, "Ann"), ["<p>Long ago.</p>"]);
    assert_eq!(pair.status().await.get("problems"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_change_of_a_post_that_is_taken_back_is_no_problem() {
    let mut ann = 0;
    let pair = LinkedToStub::new(|stub| {
        ann = stub.create("character", "Ann");
        stub.entities.get_mut(&ann).unwrap().posts = [(5_000, remote_post(5_000, "Past", "<p>Long ago.</p>"))].into();
        stub.refused_name = Some("Admin".to_owned());
    })
    .await;
    pair.pull().await;
    for (name, problem_count) in [("Admin", 1), ("Past", 0)] {
        let change = json!({"entity_id": ann, "post_id": 5_000, "name": name});
        pair.here.batch("update_posts", "updates", change).await;
        pair.sync(SyncScope::Send).await.unwrap();
        let status = pair.status().await;
        assert_eq!(status["problems"].as_array().map_or(0, Vec::len), problem_count, "{name}: {status}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_whose_creation_was_not_answered_is_edited_without_a_conflict() {
    let pair = LinkedToStub::new(|_| {}).await;
    pair.pull().await;
    pair.stub().loses_creation_answers = true;
    let plan = pair.here.create("note", "Plan", "First.").await;
    pair.here.update(plan, json!({"tags": ["red"]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("Plan").1.entry.as_deref(), Some("<p>First.</p>"));

    pair.here.update(plan, json!({"entry": "Second.", "tags": ["blue"]})).await;
    pair.stub().loses_creation_answers = false;
    pair.sync(SyncScope::Send).await.unwrap();
    let status = pair.status().await;
    assert_eq!((&status["conflict_count"], status.get("problems")), (&json!(0), None), "{status}");
    let stub = pair.stub();
    let there = stub.find("Plan").1;
    let tags: Vec<&str> = there.tags.iter().map(|id| stub.tags[id].0.as_str()).collect();
    assert_eq!((stub.entities.len(), there.entry.as_deref(), tags), (1, Some("<p>Second.</p>"), vec!["blue"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_elses_entity_of_that_name_is_a_conflict() {
    let pair = LinkedToStub::new(|_| {}).await;
    pair.pull().await;
    pair.stub().loses_creation_answers = true;
    pair.here.create("note", "Plan", "First.").await;
    pair.sync(SyncScope::Send).await.unwrap();
    {
        let mut stub = pair.stub();
        stub.loses_creation_answers = false;
        let plan = stub.find("Plan").0;
        stub.entities.get_mut(&plan).unwrap().entry = Some("<p>Theirs.</p>".to_owned());
    }
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.status().await["conflict_count"], 1);
    assert_eq!(pair.stub().find("Plan").1.entry.as_deref(), Some("<p>Theirs.</p>"));
}
