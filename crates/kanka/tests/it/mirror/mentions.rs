//! Mentions of entities that the remote place does not have yet: texts wait until it has given them a number.

use serde_json::json;
use skald_app::SyncScope;

use super::kanka_stub::LinkedToStub;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_waits_until_what_it_mentions_is_there() {
    let mut inn = 0;
    let pair = LinkedToStub::new(|stub| {
        inn = stub.create("location", "Inn");
        stub.entities.get_mut(&inn).unwrap().entry = Some("<p>Old.</p>".to_owned());
        stub.refused_name = Some("Admin".to_owned());
    })
    .await;
    pair.pull().await;
    let admin = pair.here.create("character", "Admin", "").await;
    // A text and a post of an entity that is there, and an entity that is new with one of each.
    let mention = format!("Ask [entity:{admin}|the clerk].");
    pair.here.update(inn, json!({"entry": mention, "type": "Tavern"})).await;
    let post = json!({"entity_id": inn, "name": "Rumour", "entry": mention});
    pair.here.batch("create_posts", "posts", post).await;
    let plan = pair.here.create("note", "Plan", &mention).await;
    pair.here.batch("create_posts", "posts", json!({"entity_id": plan, "name": "First", "entry": mention})).await;
    for scope in [SyncScope::Send, SyncScope::SendAgain, SyncScope::Everything] {
        pair.sync(scope).await.unwrap();
        {
            let stub = pair.stub();
            let there = stub.find("Inn").1;
            assert_eq!((there.entry.as_deref(), there.posts.len()), (Some("<p>Old.</p>"), 0), "{scope:?}");
            assert_eq!(there.subtype.as_deref(), Some("Tavern"), "the other fields are sent");
            let there = stub.find("Plan").1;
            assert_eq!((there.entry.as_deref().unwrap_or_default(), there.posts.len()), ("", 0), "{scope:?}");
        }
        let problems = pair.status().await["problems"].clone();
        assert_eq!(problems.as_array().unwrap().len(), 3, "{problems}");
        assert!(problems.to_string().contains(&format!("a text mentions entity {admin}")), "{problems}");
    }
    assert_eq!(pair.here.get(inn).await["entry"], mention, "here it is as it was written");

    // Under another name it is taken, and what mentions it follows, with the number that it has there.
    pair.here.update(admin, json!({"name": "Clerk"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let clerk = pair.stub().find("Clerk").0;
    let sent = format!("<p>Ask [entity:{clerk}|the clerk].</p>");
    {
        let stub = pair.stub();
        for name in ["Inn", "Plan"] {
            let there = stub.find(name).1;
            assert_eq!(there.entry.as_deref().map(str::trim), Some(&*sent), "{name}");
            let posts: Vec<&str> = there.posts.values().map(|post| post["entry"].as_str().unwrap().trim()).collect();
            assert_eq!(posts, [&*sent], "{name}");
        }
    }
    let status = pair.status().await;
    assert_eq!((status.get("problems"), &status["conflict_count"]), (None, &json!(0)), "{status}");
    // Nothing is sent twice.
    pair.take_requests();
    pair.sync(SyncScope::SendAgain).await.unwrap();
    let writes: Vec<String> = pair.take_requests().into_iter().filter(|line| !line.starts_with("GET")).collect();
    assert_eq!(writes, [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_text_is_sent_when_what_it_mentions_is_deleted_before_it_was_there() {
    let mut inn = 0;
    let pair = LinkedToStub::new(|stub| {
        inn = stub.create("location", "Inn");
        stub.refused_name = Some("Admin".to_owned());
    })
    .await;
    pair.pull().await;
    let admin = pair.here.create("character", "Admin", "").await;
    pair.here.update(inn, json!({"entry": format!("[entity:{admin}|A clerk] was here.")})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("Inn").1.entry, None);
    pair.here.call("delete_entities", json!({"entity_ids": [admin]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let there = pair.stub().find("Inn").1.entry.clone();
    assert!(there.as_deref().is_some_and(|html| html.contains("was here.")), "{there:?}");
    assert_eq!(pair.status().await.get("problems"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_text_does_not_end_a_conflict() {
    let mut inn = 0;
    let pair = LinkedToStub::new(|stub| {
        inn = stub.create("location", "Inn");
        stub.refused_name = Some("Admin".to_owned());
    })
    .await;
    pair.pull().await;
    let admin = pair.here.create("character", "Admin", "").await;
    pair.here.update(inn, json!({"entry": format!("[entity:{admin}] was here."), "type": "Tavern"})).await;
    {
        let mut stub = pair.stub();
        stub.entities.get_mut(&inn).unwrap().entry = Some("<p>From there.</p>".to_owned());
        stub.touch(inn);
    }
    for scope in [SyncScope::Changes, SyncScope::SendAgain, SyncScope::Everything] {
        pair.sync(scope).await.unwrap();
        assert_eq!(pair.status().await["conflict_count"], 1, "{scope:?}");
    }
    pair.here.update(admin, json!({"name": "Clerk"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("Inn").1.entry.as_deref(), Some("<p>From there.</p>"));
    pair.here.call("kanka_mirror", json!({"method": "resolve", "entity_id": inn, "keep": "ours"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let clerk = pair.stub().find("Clerk").0;
    let there = pair.stub().find("Inn").1.entry.clone().unwrap();
    assert!(there.contains(&format!("[entity:{clerk}")), "{there}");
}
