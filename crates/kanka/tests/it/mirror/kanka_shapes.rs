//! The mirror of a Kanka as it really answers, which is not always as another Skald does.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Code, LocalEngine, SyncScope};

use super::kanka_stub::LinkedToStub;
use super::{InstantClock, PaceClock, Side};

/// The fields of an entity here.
async fn fields(side: &Side, entity_id: u64) -> Value {
    let row = side.get(entity_id).await;
    json!({
        "entry": row["entry"], "type": row["type"], "tags": row["tags"], "aliases": row["aliases"],
        "is_private": row["is_private"], "parent": row["parent"]["entity_id"],
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_that_is_gone_is_no_empty_campaign() {
    let (mut ann, mut inn) = (0, 0);
    let pair = LinkedToStub::new(|stub| {
        (ann, inn) = (stub.create("character", "Ann"), stub.create("location", "Inn"));
        stub.is_gone = false;
    })
    .await;
    pair.stub().is_gone = true;
    assert_eq!(pair.sync(SyncScope::Everything).await.unwrap_err().code(), Code::Rejected);
    assert_eq!(pair.status().await["failure"]["kind"], "not_found");
    assert_eq!(pair.status().await.get("synced_at"), None);

    for scope in [SyncScope::Everything, SyncScope::Changes, SyncScope::Send] {
        pair.stub().is_gone = false;
        pair.pull().await;
        pair.here.update(ann, json!({"entry": format!("Written before {scope:?}.")})).await;
        let synced_at = pair.status().await["synced_at"].clone();
        pair.stub().is_gone = true;
        let fault = pair.sync(scope).await.unwrap_err();
        assert_eq!(fault.code(), Code::Rejected, "{scope:?}: {fault}");
        let status = pair.status().await;
        assert_eq!(
            (&status["failure"]["kind"], &status["stale"]),
            (&json!("not_found"), &json!(true)),
            "{scope:?}: {status}"
        );
        assert_eq!((&status["synced_at"], &status["pending"]), (&synced_at, &json!(1)), "{scope:?}: {status}");
        assert_eq!((status["conflict_count"].as_u64(), pair.here.ids().await.len()), (Some(0), 2), "{scope:?}");
    }
    // A deletion that is answered with 404 is not done.
    pair.stub().is_gone = false;
    pair.pull().await;
    pair.here.call("delete_entities", json!({"entity_ids": [inn]})).await;
    pair.stub().is_gone = true;
    assert!(pair.sync(SyncScope::Send).await.is_err());
    pair.stub().is_gone = false;
    assert!(pair.stub().entities.contains_key(&inn));
    pair.sync(SyncScope::Send).await.unwrap();
    assert!(!pair.stub().entities.contains_key(&inn));
    assert_eq!(pair.stub().find("Ann").1.entry.as_deref(), Some("<p>Written before Send.</p>"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_token_is_read_without_a_restart() {
    let pair = LinkedToStub::new(|stub| {
        stub.create("note", "N");
    })
    .await;
    pair.pull().await;
    "second-token".clone_into(&mut pair.stub().token);
    assert!(pair.sync(SyncScope::Changes).await.is_err());
    assert_eq!(pair.status().await["failure"]["kind"], "bad_token");
    "second-token".clone_into(&mut pair.token.lock().unwrap());
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_eq!(pair.status().await.get("failure"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_creation_in_bulk_that_answers_ids_alone_loses_no_field() {
    let pair = LinkedToStub::new(|_| {}).await;
    pair.pull().await;
    let note = |name: &str| json!({"entity_type": "note", "name": name, "entry": "A text.", "type": "Rumour", "tags": ["red"], "is_private": true});
    let created = pair.here.call("create_entities", json!({"entities": [note("A"), note("B"), note("C")]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    for (name, row) in ["A", "B", "C"].iter().zip(created["results"].as_array().unwrap()) {
        let (entity_id, there) = {
            let stub = pair.stub();
            let (id, there) = stub.find(name);
            (id, there.clone())
        };
        assert_eq!(
            (there.entry.as_deref(), there.subtype.as_deref()),
            (Some("<p>A text.</p>"), Some("Rumour")),
            "{name}"
        );
        assert_eq!((there.is_private, there.tags.len()), (true, 1), "{name}");
        let here = pair.here.get(row["entity_id"].as_u64().unwrap()).await;
        assert_eq!(
            (&here["entity_id"], &here["entry"], &here["tags"]),
            (&json!(entity_id), &json!("A text."), &json!(["red"]))
        );
        assert_eq!(here["is_private"], true, "a secret stays one");
    }
    assert_eq!(pair.stub().entities.len(), 3);
    assert_eq!(pair.status().await["conflict_count"], 0);
    // Now that it is known, one request for each costs less.
    pair.take_requests();
    pair.here.call("create_entities", json!({"entities": [note("D"), note("E")]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let requests = pair.take_requests();
    assert_eq!(requests, ["POST /campaigns/77/notes", "POST /campaigns/77/notes"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_that_cannot_be_shown_stays_here() {
    let mut ids = [0; 3];
    let pair = LinkedToStub::new(|stub| {
        ids = ["Ann", "Ben", "Cid"].map(|name| stub.create("character", name));
    })
    .await;
    pair.pull().await;
    let [ann, ben, cid] = ids;
    {
        let mut stub = pair.stub();
        stub.sentences.insert(ann, "permission issue".to_owned());
        stub.sentences.insert(ben, "Invalid child, please contact us".to_owned());
        for id in ids {
            stub.touch(id);
        }
        stub.entities.get_mut(&cid).unwrap().entry = Some("<p>New.</p>".to_owned());
    }
    for scope in [SyncScope::Changes, SyncScope::Everything] {
        let fault = pair.sync(scope).await.unwrap_err();
        assert!(fault.to_string().contains("Invalid child"), "{scope:?}: {fault}");
        assert_eq!(pair.status().await["failure"]["kind"], "broken_answer", "{scope:?}");
        assert_eq!((pair.here.ids().await.len(), &pair.here.get(cid).await["entry"]), (3, &json!("New.")), "{scope:?}");
    }
    pair.stub().sentences.clear();
    pair.pull().await;
    assert_eq!((pair.here.ids().await.len(), pair.status().await.get("failure")), (3, None));
    pair.stub().entities.remove(&ben);
    pair.pull().await;
    assert_eq!(pair.here.ids().await, [ann, cid], "404 alone means gone");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_field_that_an_answer_does_not_have_is_not_cleared() {
    let (mut inn, mut cellar) = (0, 0);
    let pair = LinkedToStub::new(|stub| {
        stub.tags.insert(500, ("wet".to_owned(), false));
        cellar = stub.create("location", "Cellar");
        inn = stub.create("location", "Inn");
        let parent = stub.entities[&inn].id;
        let entity = stub.entities.get_mut(&cellar).unwrap();
        (entity.parent, entity.subtype, entity.entry) =
            (Some(parent), Some("Room".to_owned()), Some("<p>Dark.</p>".to_owned()));
        (entity.tags, entity.is_private) = (vec![500], true);
    })
    .await;
    pair.pull().await;
    let full =
        json!({"entry": "Dark.", "type": "Room", "tags": ["wet"], "aliases": null, "is_private": true, "parent": inn});
    assert_eq!(fields(&pair.here, cellar).await, full, "the parent is named by its number within the kind");
    for key in ["entry", "type", "tags", "is_private", "location_id"] {
        pair.stub().omitted = vec![key];
        pair.stub().touch(cellar);
        pair.sync(SyncScope::Changes).await.unwrap();
        pair.pull().await;
        assert_eq!(fields(&pair.here, cellar).await, full, "{key}");
    }
    // The answer to a write counts the same, and a key that is there and empty clears.
    pair.here.update(cellar, json!({"name": "Vault"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(fields(&pair.here, cellar).await, full);
    {
        let mut stub = pair.stub();
        stub.omitted.clear();
        let entity = stub.entities.get_mut(&cellar).unwrap();
        (entity.parent, entity.subtype, entity.entry) = (None, None, None);
        entity.tags.clear();
        stub.touch(cellar);
    }
    pair.pull().await;
    let cleared = fields(&pair.here, cellar).await;
    assert_eq!((&cleared["parent"], cleared["entry"].as_str().unwrap_or_default()), (&Value::Null, ""), "{cleared}");
    assert!(cleared["tags"].as_array().is_none_or(Vec::is_empty), "{cleared}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secret_aliases_and_tags_stay_in_kanka() {
    let mut ann = 0;
    let pair = LinkedToStub::new(|stub| {
        stub.tags.insert(500, ("npc".to_owned(), false));
        stub.tags.insert(501, ("traitor".to_owned(), true));
        ann = stub.create("character", "Ann");
        let entity = stub.entities.get_mut(&ann).unwrap();
        entity.tags = vec![500, 501];
        entity.aliases = [(600, ("Annie".to_owned(), 1)), (601, ("The Spy".to_owned(), 2))].into();
    })
    .await;
    pair.pull().await;
    let here = fields(&pair.here, ann).await;
    assert_eq!((&here["tags"], &here["aliases"]), (&json!(["npc"]), &json!(["Annie"])));
    pair.here.update(ann, json!({"tags": ["smith"], "aliases": ["Anna"]})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    pair.pull().await;
    let here = fields(&pair.here, ann).await;
    assert_eq!((&here["tags"], &here["aliases"]), (&json!(["smith"]), &json!(["Anna"])));
    let stub = pair.stub();
    let keys: BTreeSet<&String> = stub.keys.iter().collect();
    assert!(keys.len() > 2 && keys.len() == stub.keys.len() && keys.iter().all(|key| !key.is_empty()), "{keys:?}");
    let there = stub.find("Ann").1;
    let names: Vec<&str> = there.tags.iter().map(|id| stub.tags[id].0.as_str()).collect();
    assert_eq!(names, ["smith", "traitor"], "a list of tags does not remove those that are not shown here");
    let aliases: BTreeSet<&str> = there.aliases.values().map(|(name, _)| name.as_str()).collect();
    assert_eq!(aliases, BTreeSet::from(["Anna", "The Spy"]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_that_no_list_has_is_asked_for_once() {
    let pair = LinkedToStub::new(|stub| {
        for number in 0..100 {
            let id = stub.create("note", &format!("N{number}"));
            stub.entities.get_mut(&id).unwrap().tags = vec![999];
        }
    })
    .await;
    pair.pull().await;
    let requests = pair.take_requests();
    assert_eq!(requests.iter().filter(|line| line.contains("/tags?")).count(), 1, "{requests:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_write_that_is_refused_does_not_keep_the_others_back() {
    let pair = LinkedToStub::new(|stub| stub.refused_name = Some("Admin".to_owned())).await;
    pair.pull().await;
    let refused = pair.here.create("note", "Admin", "A text.").await;
    pair.here.create("note", "Short", "A text.").await;
    pair.here.create("location", "Inn", "").await;
    pair.sync(SyncScope::Send).await.unwrap();
    let names: Vec<String> = pair.stub().entities.values().map(|entity| entity.name.clone()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
    let status = pair.status().await;
    let problem = &status["problems"][0];
    assert_eq!((status["problems"].as_array().unwrap().len(), &problem["entity_id"]), (1, &json!(refused)), "{status}");
    assert!(problem["reason"].as_str().unwrap().contains("name: The name is reserved."), "{status}");
    // A change that is refused stays here, is listed, and leaves the other entities alone.
    let short = pair.stub().find("Short").0;
    pair.here.update(short, json!({"name": "Admin"})).await;
    let inn = pair.stub().find("Inn").0;
    pair.here.update(inn, json!({"entry": "Warm."})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("Inn").1.entry.as_deref(), Some("<p>Warm.</p>"));
    assert_eq!(pair.status().await["problems"].as_array().unwrap().len(), 2);
    assert_eq!(pair.here.get(short).await["name"], "Admin");
    // Other names are sent, and nothing is refused any more.
    pair.here.update(refused, json!({"name": "Clerk"})).await;
    pair.here.update(short, json!({"name": "Shorter"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let mut names: Vec<String> = pair.stub().entities.values().map(|entity| entity.name.clone()).collect();
    names.sort();
    assert_eq!(names, ["Clerk", "Inn", "Shorter"]);
    assert_eq!(pair.status().await.get("problems"), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_process_begins_with_the_pace_of_the_profile() {
    let journal = Arc::new(skald_store::Memory::new());
    let pair = LinkedToStub::on_journal(Arc::clone(&journal) as _, |stub| {
        for number in 0..45 * 50 {
            stub.create("note", &format!("N{number}"));
        }
    })
    .await;
    assert_eq!(pair.status().await["requests_per_minute"], 90);
    let pace = InstantClock::default();
    let engine = LocalEngine::new(LinkedToStub::app(journal, &pair.token, &pace));
    let other = Side { engine, campaign_id: pair.here.campaign_id.clone() };
    let app = other.engine.app();
    app.sync_mirror(&other.campaign_id, SyncScope::Everything, super::LEASE_WAIT_MAX, &mut |_, _| {}).await.unwrap();
    assert!(pair.take_requests().len() > 60);
    assert_eq!(pace.now(), std::time::Duration::ZERO, "90 requests in a minute need no pause");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kind_that_the_lore_does_not_have_is_only_read() {
    let mut family = 0;
    let pair = LinkedToStub::new(|stub| family = stub.create("family", "The Harks")).await;
    pair.pull().await;
    let here = pair.here.get(family).await;
    assert_eq!(
        (&here["entity_type"], &here["type"], &here["name"]),
        (&json!("other"), &json!("Family"), &json!("The Harks"))
    );
    pair.stub().entities.get_mut(&family).unwrap().entry = Some("<p>Old money.</p>".to_owned());
    pair.stub().touch(family);
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_eq!(pair.here.get(family).await["entry"], "Old money.");
    pair.take_requests();
    pair.here.update(family, json!({"name": "The Harkens"})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests(), [""; 0]);
    let status = pair.status().await;
    assert!(status["problems"][0]["reason"].as_str().unwrap().contains("only read"), "{status}");
    assert_eq!(pair.stub().find("The Harks").0, family);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_during_a_long_push_is_not_overwritten() {
    let mut ids = Vec::new();
    let pair = LinkedToStub::new(|stub| {
        stub.rate_limit = 30;
        ids = (0..60).map(|number| stub.create("note", &format!("N{number}"))).collect();
    })
    .await;
    pair.pull().await;
    pair.take_requests();
    for id in &ids {
        pair.here.update(*id, json!({"entry": "From here."})).await;
    }
    // 60 requests need two minutes. In the first one somebody edits the last entity there.
    pair.stub().later_edit = Some((10, ids[59], "<p>From there.</p>".to_owned()));
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("N59").1.entry.as_deref(), Some("<p>From there.</p>"));
    assert_eq!(pair.stub().find("N58").1.entry.as_deref(), Some("<p>From here.</p>"));
    let conflicts = pair.here.call("kanka_mirror", json!({"method": "conflicts"})).await;
    assert_eq!(conflicts["conflicts"][0]["entity_id"], ids[59], "{conflicts}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_kanka_that_wants_the_name_with_every_change_gets_it() {
    let mut ids = [0; 2];
    let pair = LinkedToStub::new(|stub| {
        ids = ["Ann", "Ben"].map(|name| stub.create("character", name));
        stub.wants_names = true;
    })
    .await;
    pair.pull().await;
    pair.take_requests();
    pair.here.update(ids[0], json!({"entry": "New."})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.take_requests().len(), 2, "once more with the name");
    let post = json!({"entity_id": ids[1], "name": "Past", "entry": "Long ago."});
    let post = pair.here.batch("create_posts", "posts", post).await;
    pair.here.update(ids[1], json!({"entry": "New."})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let change = json!({"entity_id": ids[1], "post_id": post["post_id"], "entry": "Yesterday."});
    pair.here.batch("update_posts", "updates", change).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let requests = pair.take_requests();
    assert_eq!(requests.len(), 3, "it is known from then on: {requests:?}");
    {
        let stub = pair.stub();
        for name in ["Ann", "Ben"] {
            assert_eq!(stub.find(name).1.entry.as_deref(), Some("<p>New.</p>"));
        }
        let post = stub.find("Ben").1.posts.values().next().unwrap().clone();
        let entry = post["entry"].as_str().unwrap().trim();
        assert_eq!((&post["name"], entry), (&json!("Past"), "<p>Yesterday.</p>"), "{post}");
    }
    let status = pair.status().await;
    assert_eq!((status.get("problems"), &status["conflict_count"]), (None, &json!(0)), "{status}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_alias_whose_answer_is_lost_is_not_created_twice() {
    let mut ann = 0;
    let pair = LinkedToStub::new(|stub| ann = stub.create("character", "Ann")).await;
    pair.pull().await;
    pair.here.update(ann, json!({"aliases": ["Annie", "Anna"]})).await;
    pair.stub().loses_creation_answers = true;
    for _ in 0..3 {
        pair.sync(SyncScope::Send).await.unwrap();
        assert!(pair.stub().find("Ann").1.aliases.len() < 3);
    }
    pair.stub().loses_creation_answers = false;
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.status().await.get("problems"), None);
    let mut names: Vec<String> = pair.stub().find("Ann").1.aliases.values().map(|(name, _)| name.clone()).collect();
    names.sort();
    assert_eq!(names, ["Anna", "Annie"]);
    // Both are known with their numbers there.
    pair.here.update(ann, json!({"aliases": []})).await;
    pair.sync(SyncScope::Send).await.unwrap();
    assert!(pair.stub().find("Ann").1.aliases.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_entity_about_which_kanka_fails_does_not_keep_the_others_back() {
    let mut ids = [0; 3];
    let pair = LinkedToStub::new(|stub| {
        ids = ["Ann", "Ben", "Cid"].map(|name| stub.create("character", name));
        stub.failing_name = Some("Cursed".to_owned());
    })
    .await;
    pair.pull().await;
    let [ann, ben, cid] = ids;
    pair.stub().failing.insert(ben);
    for id in ids {
        pair.here.update(id, json!({"entry": "New."})).await;
    }
    let cursed = pair.here.create("note", "Cursed", "").await;
    pair.here.create("note", "Blessed", "").await;
    pair.here.create("location", "Inn", "").await;
    for _ in 0..2 {
        pair.sync(SyncScope::Send).await.unwrap();
        let status = pair.status().await;
        let problems = status["problems"].as_array().unwrap();
        let reason = |id: u64| {
            let found = problems.iter().find(|problem| problem["entity_id"] == id);
            found.map(|problem| problem["reason"].as_str().unwrap().to_owned()).unwrap_or_default()
        };
        assert!(reason(ben).contains("500 Whoops.") && reason(ben).contains("sent again"), "{status}");
        assert!(reason(cursed).contains("failed"), "{status}");
        assert_eq!(status.get("failure"), None, "{status}");
    }
    {
        let stub = pair.stub();
        let entry = |name: &str| stub.find(name).1.entry.clone();
        assert_eq!([entry("Ann"), entry("Cid")], [Some("<p>New.</p>".to_owned()), Some("<p>New.</p>".to_owned())]);
        assert_eq!(entry("Ben"), None);
        let names: BTreeSet<&str> = stub.entities.values().map(|entity| entity.name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(["Ann", "Ben", "Cid", "Blessed", "Inn"]));
    }
    // What is read fails alone too: the changes of the others arrive, and the status says which one it was.
    pair.stub().touch(ben);
    {
        let mut stub = pair.stub();
        stub.entities.get_mut(&ann).unwrap().entry = Some("<p>From there.</p>".to_owned());
        stub.touch(ann);
    }
    pair.here.update(cid, json!({"entry": "Newer."})).await;
    let fault = pair.sync(SyncScope::Changes).await.unwrap_err();
    assert!(fault.to_string().contains(&format!("entity {ben}")), "{fault}");
    assert_eq!(pair.here.get(ann).await["entry"], "From there.");
    assert_eq!(pair.stub().find("Cid").1.entry.as_deref(), Some("<p>Newer.</p>"));

    (pair.stub().failing, pair.stub().failing_name) = (BTreeSet::new(), None);
    pair.sync(SyncScope::Send).await.unwrap();
    assert_eq!(pair.stub().find("Ben").1.entry.as_deref(), Some("<p>New.</p>"));
    assert_eq!(pair.status().await.get("problems"), None);
    assert_eq!(pair.stub().entities.len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tag_that_is_renamed_here_is_renamed_there_with_one_request() {
    let pair = LinkedToStub::new(|stub| {
        stub.tags.insert(500, ("npc".to_owned(), false));
        stub.tags.insert(501, ("smith".to_owned(), false));
        for number in 0..12 {
            let id = stub.create("character", &format!("C{number}"));
            stub.entities.get_mut(&id).unwrap().tags = if number == 0 { vec![500, 501] } else { vec![500] };
        }
    })
    .await;
    pair.pull().await;
    let tags = pair.here.call("list_tags", json!({"page": {"number": 1, "rows": 45}})).await;
    let tag_id =
        |name: &str| tags["rows"].as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["id"].clone();
    let rename = |tag_id: Value, name: &str| json!({"changes": [{"rename_tag": {"tag_id": tag_id, "name": name}}]});
    pair.here.call("write_lore", rename(tag_id("npc"), "figure")).await;
    // An entity that lost the tag here before loses it there under its new name.
    let first = pair.stub().find("C1").0;
    pair.here.update(first, json!({"tags": []})).await;
    pair.take_requests();
    pair.sync(SyncScope::Send).await.unwrap();
    let writes: Vec<String> = pair.take_requests().into_iter().filter(|line| !line.starts_with("GET")).collect();
    assert_eq!(writes.len(), 2, "{writes:?}");
    assert_eq!(writes[0], "PATCH /campaigns/77/tags/500");
    {
        let stub = pair.stub();
        assert_eq!(stub.tags[&500].0, "figure");
        assert_eq!((stub.find("C0").1.tags.clone(), stub.find("C1").1.tags.len()), (vec![500, 501], 0));
    }
    pair.pull().await;
    let last = pair.stub().find("C11").0;
    assert_eq!(pair.here.get(last).await["tags"], json!(["figure"]));
    assert_eq!(pair.status().await["conflict_count"], 0);
    // A name that another tag there has: then each entity is sent with its own tags.
    pair.stub().tags.insert(502, ("villager".to_owned(), false));
    pair.pull().await;
    pair.here.call("write_lore", rename(tag_id("smith"), "villager")).await;
    pair.sync(SyncScope::Send).await.unwrap();
    let stub = pair.stub();
    assert_eq!((stub.tags[&501].0.as_str(), stub.find("C0").1.tags.clone()), ("smith", vec![500, 502]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn entities_of_a_module_of_ones_own_are_only_read() {
    let mut zeus = 0;
    let pair = LinkedToStub::new(|stub| {
        zeus = stub.create("god", "Zeus");
        let hera = stub.create("god", "Hera");
        stub.entities.get_mut(&hera).unwrap().subtype = Some("Queen".to_owned());
        let entity = stub.entities.get_mut(&zeus).unwrap();
        entity.entry = Some("<p>Loud.</p>".to_owned());
        entity.posts.insert(900, json!({"id": 900, "name": "Affairs", "entry": "<p>Many.</p>", "visibility_id": 1}));
        stub.create("character", "Ann");
    })
    .await;
    pair.pull().await;
    let here = pair.here.get(zeus).await;
    assert_eq!(
        (&here["entity_type"], &here["type"], &here["name"], &here["entry"], &here["posts"][0]["name"]),
        (&json!("other"), &json!("God"), &json!("Zeus"), &json!("Loud."), &json!("Affairs"))
    );
    assert_eq!(pair.here.ids().await.len(), 3);
    let queen_id = pair.stub().find("Hera").0;
    assert_eq!(pair.here.get(queen_id).await["type"], "Queen");
    // Changes and deletions there arrive, and nothing is written there.
    pair.stub().entities.get_mut(&zeus).unwrap().entry = Some("<p>Quiet.</p>".to_owned());
    pair.stub().touch(zeus);
    pair.sync(SyncScope::Changes).await.unwrap();
    assert_eq!(
        (&pair.here.get(zeus).await["entry"], &pair.here.get(zeus).await["type"]),
        (&json!("Quiet."), &json!("God"))
    );
    pair.here.update(zeus, json!({"name": "Jupiter"})).await;
    pair.take_requests();
    pair.sync(SyncScope::Send).await.unwrap();
    assert!(pair.take_requests().iter().all(|line| line.starts_with("GET ")));
    assert!(pair.status().await["problems"][0]["reason"].as_str().unwrap().contains("only read"));
    pair.stub().entities.remove(&queen_id);
    pair.pull().await;
    assert_eq!(pair.here.ids().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_link_says_what_the_user_of_the_token_may_not_do() {
    let pair = LinkedToStub::new(|stub| {
        stub.denied_actions = Some((1..=20).flat_map(|kind| [(kind, 4), (3, 2)]).collect());
    })
    .await;
    let summary = pair.status().await["summary"].as_str().unwrap().to_owned();
    assert!(summary.contains("no right to edit locations; delete anything."), "{summary}");
    for denied in [Some(Vec::new()), None] {
        let pair = LinkedToStub::new(|stub| stub.denied_actions = denied).await;
        let summary = pair.status().await["summary"].as_str().unwrap().to_owned();
        assert!(!summary.contains("right"), "{summary}");
    }
}
