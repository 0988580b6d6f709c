//! Tests of `lore_history`: versions, differences, restoring, the archive, and what is left when it is emptied.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Code, Engine, Fault, Nouns, RequestControl};
use skald_journal::{Journal, SealStatement, VerifyVerdict, rebuild, verify, verify_with_contents};

use super::{LoreCampaign, fields, keys, rows};
use crate::universe::run;

pub(super) async fn assert_sound(journal: &dyn Journal) {
    let verdict = verify(journal, &Nouns::all().stream_kinds()).await.expect("a verdict");
    assert!(matches!(verdict, VerifyVerdict::Sound(_)), "{verdict:?}");
}

/// The bodies of all texts that are stored for a campaign.
pub(super) async fn stored_texts(lore: &LoreCampaign) -> Vec<String> {
    let kind = format!("lore_text/{}", lore.campaign_id);
    let rows = lore.journal.list(&kind, "", 1_000).await.expect("a store");
    rows.into_iter().map(|(_, body)| body).collect()
}

/// An entity with four versions: created, entry changed, post added, tags changed.
async fn entity_with_history(lore: &LoreCampaign) -> (u64, u64) {
    let entity =
        json!({"entity_type": "character", "name": "Aelysh", "entry": "Line one.\nLine two.", "tags": ["elf"]});
    let entity_id = lore.create_one(entity).await;
    lore.advance(60);
    lore.update(json!({"entity_id": entity_id, "entry": "Line one.\nLine three."})).await;
    lore.advance(60);
    let post_id = lore.create_post(json!({"entity_id": entity_id, "name": "Rumour", "entry": "Sings."})).await;
    lore.advance(60);
    lore.update(json!({"entity_id": entity_id, "tags": ["elf", "warden"], "name": "Aelysh the Warden"})).await;
    (entity_id, post_id)
}

#[test]
fn the_versions_of_an_entity_are_listed() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (entity_id, post_id) = entity_with_history(&lore).await;
        let listed = lore.history(json!({"entity_id": entity_id})).await;
        let version = |number: usize, minute: usize, kind: &str, fields: &[&str]| {
            let mut row =
                json!({"version": number, "at": format!("2026-01-15T12:0{minute}:00Z"), "by": "owner", "kind": kind});
            if !fields.is_empty() {
                row["fields"] = json!(fields);
            }
            row
        };
        let mut of_post = version(3, 2, "post.created.v1", &[]);
        of_post["post_id"] = post_id.into();
        let versions = json!([
            version(4, 3, "entity.updated.v1", &["name", "tags"]),
            of_post,
            version(2, 1, "entity.updated.v1", &["entry"]),
            version(1, 0, "entity.created.v1", &[])
        ]);
        assert_eq!(listed, json!({"entity_id": entity_id, "versions": versions}));
        let page = lore.history(json!({"method": "list", "entity_id": "aelysh the warden", "limit": 3})).await;
        assert_eq!(rows(&page, "versions"), &versions.as_array().unwrap()[..3]);
        let rest = json!({"entity_id": entity_id, "limit": 3, "cursor": page["next_cursor"]});
        let rest = lore.history(rest).await;
        assert_eq!((rows(&rest, "versions").len(), rest.get("next_cursor")), (1, None));
    });
}

#[test]
fn two_versions_are_compared() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (entity_id, post_id) = entity_with_history(&lore).await;
        let diff = async |from: Option<usize>, to: Option<usize>| {
            let compared =
                lore.history(json!({"method": "diff", "entity_id": entity_id, "from": from, "to": to})).await;
            compared["changes"].clone()
        };
        assert_eq!(diff(Some(1), Some(2)).await, json!({"entry": "  Line one.\n- Line two.\n+ Line three.\n"}));
        let renamed = json!({
            "name": {"from": "Aelysh", "to": "Aelysh the Warden"}, "tags": {"from": ["elf"], "to": ["elf", "warden"]}
        });
        assert_eq!(diff(None, None).await, renamed, "the last change");
        let post = format!("post {post_id}: Rumour");
        assert_eq!(diff(None, Some(3)).await, json!({post.clone(): "+ Sings.\n"}));
        assert_eq!(diff(Some(3), Some(2)).await, json!({post: "- Sings.\n"}), "backwards");
        assert_eq!(diff(Some(4), Some(4)).await, json!({}));
        assert_eq!(diff(None, Some(1)).await["name"], json!({"from": "", "to": "Aelysh"}));
        for (from, to, path) in [(0, 2, "/from"), (1, 5, "/to"), (9, 4, "/from")] {
            let input = json!({"method": "diff", "entity_id": entity_id, "from": from, "to": to});
            let fault = lore.refusal("lore_history", input).await;
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some(path)));
        }
    });
}

#[test]
fn an_earlier_version_is_restored_with_its_posts() {
    run(async {
        let lore = LoreCampaign::new().await;
        let actor = lore.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await["id"].clone();
        let hall = lore.create_one(json!({"entity_type": "location", "name": "Hall"})).await;
        let entity = json!({
            "entity_type": "character", "name": "Mira", "type": "NPC", "entry": "First text.", "tags": ["elf", "thief"],
            "aliases": ["Mi"], "is_private": true, "parent": hall, "image": "https://example.org/1.png", "date": "2025-05-30",
            "actor_id": actor
        });
        let entity_id = lore.create_one(entity).await;
        let kept = lore.create_post(json!({"entity_id": entity_id, "name": "Kept", "entry": "As it was."})).await;
        let gone = lore.create_post(json!({"entity_id": entity_id, "name": "Gone", "entry": "Not for long."})).await;
        let before = lore.get(entity_id).await;
        let update = json!({
            "entity_id": entity_id, "name": "Mirabel", "type": "", "entry": "Second text.", "tags": ["human"], "aliases": [],
            "is_private": false, "parent": "", "image": "", "date": "", "actor_id": ""
        });
        lore.update(update).await;
        let changed = json!([{"entity_id": entity_id, "post_id": kept, "name": "Changed", "entry": "Otherwise.", "is_private": true}]);
        lore.call("update_posts", json!({"updates": changed})).await;
        lore.call("delete_posts", json!({"deletions": [{"entity_id": entity_id, "post_id": gone}]})).await;
        let later = lore.create_post(json!({"entity_id": entity_id, "name": "Later"})).await;

        let restored = lore.history(json!({"method": "restore", "entity_id": entity_id, "to": 3})).await;
        assert_eq!(restored, json!({"entity_id": entity_id, "revision": 3}));
        let after = lore.get(entity_id).await;
        let own = [
            "id",
            "entity_id",
            "name",
            "entity_type",
            "type",
            "entry",
            "tags",
            "aliases",
            "is_private",
            "parent",
            "image",
            "date",
            "actor_id",
            "created_at",
        ];
        assert_eq!(fields(&after, &own), fields(&before, &own));
        let text = |post: &Value| fields(post, &["id", "name", "entry", "is_private"]);
        let posts: Vec<Value> = rows(&after, "posts").iter().map(text).collect();
        let mut expected: Vec<Value> = rows(&before, "posts").iter().map(text).collect();
        expected.push(json!({"id": later, "name": "Later", "entry": "", "is_private": false}));
        assert_eq!(posts, expected, "what was added since stays");
        assert_eq!(lore.find_names(json!({"query": "first text"})).await, ["Mira"]);
        assert_eq!(lore.find_names(json!({"query": "second text"})).await, [""; 0]);
        // Once more changes nothing.
        let revision = lore.stream_revision().await;
        lore.history(json!({"method": "restore", "entity_id": entity_id, "to": 3})).await;
        assert_eq!(lore.stream_revision().await, revision);
        // Fields and posts come back with one record, so that a restore is never half-done.
        lore.delete(entity_id).await;
        lore.history(json!({"method": "restore", "entity_id": entity_id, "to": 1})).await;
        assert_eq!(lore.stream_revision().await, revision + 2);
        let versions = lore.history(json!({"entity_id": entity_id})).await;
        let newest = &rows(&versions, "versions")[0];
        assert_eq!(newest["kind"], "entity.version_restored.v1", "{newest}");
        assert_sound(&*lore.journal).await;
    });
}

#[test]
fn what_was_deleted_lies_in_the_archive_and_comes_back() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (entity_id, post_id) = entity_with_history(&lore).await;
        let other =
            lore.create_one(json!({"entity_type": "location", "name": "Grove", "entry": "A grove of singers."})).await;
        let other_post = lore.create_post(json!({"entity_id": other, "name": "Well", "entry": "A deep well."})).await;
        lore.delete(entity_id).await;
        lore.call("delete_posts", json!({"deletions": [{"entity_id": other, "post_id": other_post}]})).await;
        let archive = lore.history(json!({"method": "archive"})).await;
        let archived = json!([
            {"entity_id": entity_id, "name": "Aelysh the Warden", "archived_at": "2026-01-15T12:03:00Z"},
            {"entity_id": other, "post_id": other_post, "name": "Well", "archived_at": "2026-01-15T12:03:00Z"}
        ]);
        assert_eq!(archive, json!({"archived": archived}));
        let page = lore.history(json!({"method": "archive", "limit": 1})).await;
        assert_eq!((rows(&page, "archived").len(), page["next_cursor"].is_string()), (1, true));
        for query in ["three", "sings", "warden", "deep well"] {
            assert_eq!(lore.find_names(json!({"query": query})).await, [""; 0], "{query}");
        }
        assert_eq!(lore.find_names(json!({})).await, ["Grove"]);
        assert_eq!(lore.find_names(json!({"tags": ["elf"]})).await, [""; 0]);
        assert_eq!(lore.get(entity_id).await["success"], false);
        assert_eq!(lore.update(json!({"entity_id": entity_id, "name": "X"})).await["code"], "NOT_FOUND");
        // Its versions are still there.
        let versions = lore.history(json!({"entity_id": entity_id})).await;
        assert_eq!(versions["versions"][0]["kind"], "entity.archived.v1");

        lore.history(json!({"method": "undelete", "entity_id": "aelysh the warden"})).await;
        lore.history(json!({"method": "undelete", "entity_id": other, "post_id": other_post})).await;
        let read = lore.get(entity_id).await;
        assert_eq!((&read["name"], &read["posts"][0]["id"]), (&json!("Aelysh the Warden"), &json!(post_id)));
        for (query, name) in [("three", "Aelysh the Warden"), ("sings", "Aelysh the Warden"), ("deep well", "Grove")] {
            assert_eq!(lore.find_names(json!({"query": query})).await, [name], "{query}");
        }
        assert_eq!(lore.history(json!({"method": "archive"})).await, json!({"archived": []}));
        let fault = lore.refusal("lore_history", json!({"method": "undelete", "entity_id": entity_id})).await;
        assert_eq!(fault.code(), Code::Rejected);
        assert_sound(&*lore.journal).await;
    });
}

#[test]
fn a_deleted_entity_is_marked_where_it_is_mentioned() {
    run(async {
        let lore = LoreCampaign::new().await;
        let aelysh = lore.create_one(json!({"entity_type": "character", "name": "Aelysh"})).await;
        let hall =
            lore.create_one(json!({"entity_type": "location", "name": "Hall", "entry": "Home of [[Aelysh]]."})).await;
        lore.delete(aelysh).await;
        let read = lore.get(hall).await;
        assert_eq!(read["entry"], format!("Home of [entity:{aelysh}]."));
        assert_eq!(read["mentions"], json!([{"entity_id": aelysh, "deleted": true}]));
        lore.history(json!({"method": "undelete", "entity_id": aelysh})).await;
        assert_eq!(lore.get(hall).await["mentions"], json!([{"entity_id": aelysh, "name": "Aelysh"}]));
        lore.delete(hall).await;
        assert_eq!(lore.get(aelysh).await.get("mentioned_by"), None, "a deleted text mentions nothing");
    });
}

/// Words that only deleted texts have.
const REMOVED: [&str; 4] = ["xqentryonevx", "yqentrytwovx", "zqpostvx", "wqlonepostvx"];

/// Deletes an entity with two texts and a post, and a post of another entity, then empties the archive.
async fn check_emptied_archive(lore: &LoreCampaign) {
    let entity = json!({"entity_type": "note", "name": "Traitor", "entry": "The xqentryonevx is near."});
    let entity_id = lore.create_one(entity).await;
    lore.update(json!({"entity_id": entity_id, "entry": "The yqentrytwovx is near."})).await;
    lore.create_post(json!({"entity_id": entity_id, "name": "Proof", "entry": "A zqpostvx was found."})).await;
    let hall = json!({"entity_type": "location", "name": "Hall", "parent": entity_id, "entry": "A hall stays, by [[Traitor]]."});
    let hall = lore.create_one(hall).await;
    let post = json!({"entity_id": hall, "name": "Cellar", "entry": "The wqlonepostvx lies here."});
    let post_id = lore.create_post(post).await;
    let texts = stored_texts(lore).await;
    assert!(REMOVED.iter().all(|word| texts.iter().any(|text| text.contains(word))), "{texts:?}");
    lore.delete(entity_id).await;
    lore.call("delete_posts", json!({"deletions": [{"entity_id": hall, "post_id": post_id}]})).await;
    assert_sound(&*lore.journal).await;

    let emptied = lore.history(json!({"method": "empty"})).await;
    assert_eq!(emptied, json!({"removed": 2}));
    let texts = stored_texts(lore).await;
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("A hall stays"), "{texts:?}");
    for word in REMOVED {
        assert_eq!(lore.find_names(json!({"query": word})).await, [""; 0], "{word}");
    }
    assert_eq!(lore.history(json!({"method": "archive"})).await, json!({"archived": []}));
    let fault = lore.refusal("lore_history", json!({"entity_id": entity_id})).await;
    assert_eq!(fault.code(), Code::NotFound);
    let versions = lore.history(json!({"entity_id": hall})).await;
    let diff = lore.history(json!({"method": "diff", "entity_id": hall, "from": 1})).await;
    let told = format!("{versions} {diff}");
    assert!(!REMOVED.iter().any(|word| told.contains(word)), "{told}");
    let read = lore.get(hall).await;
    assert_eq!((read.get("parent"), &read["posts"]), (None, &json!([])));
    assert_eq!(lore.history(json!({"method": "empty"})).await, json!({"removed": 0}), "once more");

    assert_sound(&*lore.journal).await;
    rebuild(&*lore.journal, &Nouns::all().stream_kinds()).await.expect("it is rebuilt");
    assert_sound(&*lore.journal).await;
    assert_eq!(lore.find_names(json!({"query": "hall stays"})).await, ["Hall"]);
    // Numbers are not given again.
    let next = lore.create_one(json!({"entity_type": "note", "name": "Next"})).await;
    assert!(next > hall && hall > entity_id);
}

#[test]
fn an_emptied_archive_leaves_no_text_behind() {
    run(async { check_emptied_archive(&LoreCampaign::new().await).await });
}

#[test]
fn an_emptied_archive_leaves_no_text_behind_in_a_file() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("lore_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let words_on_disk = || {
        let files = ["world.db", "world.db-wal"].map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
        let has = |word: &&str| files.iter().any(|file| file.windows(word.len()).any(|part| part == word.as_bytes()));
        REMOVED.iter().copied().filter(has).collect::<Vec<&str>>()
    };
    runtime.block_on(async {
        let address = format!("sqlite:{}", folder.join("world.db").display());
        let journal = skald_store::open(&address).await.expect("a store");
        let lore = LoreCampaign::on_journal(Arc::clone(&journal)).await;
        check_emptied_archive(&lore).await;
        assert_eq!(words_on_disk(), [""; 0], "while it is open");
        // Between many others, so that pages are split and the search index is merged before they are removed.
        let note = |number: usize| {
            json!({"entity_type": "note", "name": format!("Note {number}"), "entry": format!("A {} note. ", REMOVED[number % 4]).repeat(40)})
        };
        let mut created = Vec::new();
        for round in 0..8 {
            created.extend(lore.create((0..50).map(|number| note(round * 50 + number)).collect()).await);
            let others = (0..50).map(|number| json!({"entity_type": "note", "name": format!("Other {round}.{number}"), "entry": format!("Stays w{round}x{number}. ").repeat(60)}));
            lore.create(others.collect()).await;
        }
        assert_eq!(words_on_disk(), REMOVED);
        for ids in created.chunks(100) {
            lore.call("delete_entities", json!({"entity_ids": ids})).await;
        }
        assert_eq!(lore.history(json!({"method": "empty"})).await, json!({"removed": 400}));
        assert_eq!(words_on_disk(), [""; 0], "while it is open");
        assert_eq!(lore.find_names(json!({"query": "w3x7"})).await, ["Other 3.7"]);
        assert_sound(&*journal).await;
    });
    drop(runtime);
    assert_eq!(words_on_disk(), [""; 0], "after it was closed");
    let _ = std::fs::remove_dir_all(&folder);
}

async fn with_key_and_revision(
    lore: &LoreCampaign,
    (key, revision): (Option<&str>, Option<u64>),
    input: Value,
) -> Result<Value, Fault> {
    let idempotency_key = key.map(str::to_owned);
    let control = RequestControl { idempotency_key, expected_revision: revision, ..RequestControl::default() };
    lore.engine.call(&Caller::owner(), "lore_history", input, &control).await
}

#[test]
fn a_retry_of_emptying_gets_the_first_answer() {
    run(async {
        let lore = LoreCampaign::new().await;
        let note = |name: &str| json!({"entity_type": "note", "name": name, "entry": "Gone soon."});
        let created = lore.create(json!([note("One"), note("Two"), note("Three")])).await;
        lore.delete(created[0]).await;
        lore.delete(created[1]).await;
        let one = json!({"method": "empty", "entity_id": "One"});
        for _ in 0..2 {
            let emptied = with_key_and_revision(&lore, (Some("one"), None), one.clone()).await;
            assert_eq!(emptied.expect("it is emptied"), json!({"removed": 1}));
        }
        for attempt in 0..2 {
            let emptied = with_key_and_revision(&lore, (Some("all"), None), json!({"method": "empty"})).await;
            assert_eq!(emptied.expect("it is emptied"), json!({"removed": 1}), "{attempt}");
            if attempt == 0 {
                lore.delete(created[2]).await;
            }
        }
        assert_eq!(
            rows(&lore.history(json!({"method": "archive"})).await, "archived").len(),
            1,
            "what came since stays"
        );
        let other = with_key_and_revision(&lore, (Some("all"), None), one).await.expect_err("another request");
        assert_eq!(other.code(), Code::IdempotencyMismatch);
    });
}

#[test]
fn emptying_at_a_revision_that_has_passed_removes_nothing() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore.create_one(json!({"entity_type": "note", "name": "One", "entry": "Still there."})).await;
        lore.delete(created).await;
        let seen = lore.stream_revision().await;
        lore.create_one(json!({"entity_type": "note", "name": "Two"})).await;
        for key in [None, Some("key")] {
            for revision in [seen, seen + 2] {
                let refused = with_key_and_revision(&lore, (key, Some(revision)), json!({"method": "empty"})).await;
                let fault = refused.expect_err("a conflict");
                assert_eq!(fault.code(), Code::RevisionConflict, "{fault}");
            }
        }
        assert_eq!(stored_texts(&lore).await.len(), 1);
        let now = lore.stream_revision().await;
        for _ in 0..2 {
            let emptied = with_key_and_revision(&lore, (Some("now"), Some(now)), json!({"method": "empty"})).await;
            assert_eq!(emptied.expect("it is emptied"), json!({"removed": 1}));
        }
        assert_eq!(stored_texts(&lore).await, [""; 0]);
    });
}

#[test]
fn a_retry_of_going_back_gets_the_first_answer() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (entity_id, _) = entity_with_history(&lore).await;
        let seen = lore.stream_revision().await;
        let input = json!({"method": "restore", "entity_id": "Aelysh the Warden", "to": 1});
        let passed = with_key_and_revision(&lore, (None, Some(seen - 1)), input.clone()).await;
        assert_eq!(passed.expect_err("a conflict").code(), Code::RevisionConflict);
        for _ in 0..2 {
            // After the first one it has its old name again.
            let restored = with_key_and_revision(&lore, (Some("back"), Some(seen)), input.clone()).await;
            assert_eq!(restored.expect("it is restored"), json!({"entity_id": entity_id, "revision": 4}));
        }
        assert_eq!(lore.stream_revision().await, seen + 1);
        lore.delete(entity_id).await;
        let undelete = json!({"method": "undelete", "entity_id": entity_id});
        for _ in 0..2 {
            let undeleted = with_key_and_revision(&lore, (Some("again"), None), undelete.clone()).await;
            assert_eq!(undeleted.expect("it is there again"), json!({"entity_id": entity_id}));
        }
    });
}

#[test]
fn one_post_has_a_history_of_its_own() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (entity_id, post_id) = entity_with_history(&lore).await;
        let other = lore.create_post(json!({"entity_id": entity_id, "name": "Other", "entry": "Of no account."})).await;
        let change = json!([{"entity_id": entity_id, "post_id": post_id, "name": "Truth", "entry": "Weeps.", "is_private": true}]);
        lore.call("update_posts", json!({"updates": change})).await;
        lore.update(json!({"entity_id": entity_id, "entry": "All new."})).await;
        let of_post = |method: &str| json!({"method": method, "entity_id": entity_id, "post_id": post_id});
        let listed = lore.history(of_post("list")).await;
        let numbers: Vec<(u64, u64)> = rows(&listed, "versions")
            .iter()
            .map(|row| (row["version"].as_u64().expect("a number"), row["post_id"].as_u64().expect("an id")))
            .collect();
        assert_eq!((numbers, listed.get("next_cursor")), (vec![(6, post_id), (3, post_id)], None));
        let mut first = of_post("list");
        first["limit"] = 1.into();
        let page = lore.history(first.clone()).await;
        first["cursor"] = page["next_cursor"].clone();
        let rest = lore.history(first).await;
        assert_eq!((&rest["versions"][0]["version"], rest.get("next_cursor")), (&json!(3), None));

        let changes = json!({
            "name": {"from": "Rumour", "to": "Truth"}, "is_private": {"from": false, "to": true}, "entry": "- Sings.\n+ Weeps.\n"
        });
        assert_eq!(lore.history(of_post("diff")).await["changes"], changes, "its last change");
        let mut back = of_post("restore");
        back["to"] = 3.into();
        assert_eq!(lore.history(back.clone()).await, json!({"entity_id": entity_id, "revision": 3}));
        let read = lore.get(entity_id).await;
        assert_eq!((&read["entry"], &read["posts"][0]["entry"]), (&json!("All new."), &json!("Sings.")));
        assert_eq!((&read["posts"][0]["name"], &read["posts"][0]["is_private"]), (&json!("Rumour"), &json!(false)));
        assert_eq!(lore.history(of_post("list")).await["versions"][0]["post_id"], post_id, "a restored post");
        back["to"] = 1.into();
        let fault = lore.refusal("lore_history", back).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::InvalidParams, Some("/to")), "not there yet");
        for method in ["list", "diff", "empty"] {
            let input = json!({"method": method, "entity_id": entity_id, "post_id": 999});
            let fault = lore.refusal("lore_history", input).await;
            assert_eq!(fault.code(), Code::NotFound, "{fault}");
        }

        // One deleted post is removed alone.
        let fault = lore.refusal("lore_history", of_post("empty")).await;
        assert_eq!(fault.code(), Code::Rejected, "it is not deleted");
        for post_id in [post_id, other] {
            lore.call("delete_posts", json!({"deletions": [{"entity_id": entity_id, "post_id": post_id}]})).await;
        }
        assert_eq!(lore.history(of_post("empty")).await, json!({"removed": 1}));
        let texts = stored_texts(&lore).await;
        assert!(!texts.iter().any(|text| text.contains("Sings") || text.contains("Weeps")), "{texts:?}");
        assert!(
            texts.iter().any(|text| text.contains("Of no account"))
                && texts.iter().any(|text| text.contains("All new"))
        );
        let archive = lore.history(json!({"method": "archive"})).await;
        assert_eq!((rows(&archive, "archived").len(), &archive["archived"][0]["post_id"]), (1, &json!(other)));
        assert_sound(&*lore.journal).await;
    });
}

#[test]
fn one_entity_is_removed_alone() {
    run(async {
        let lore = LoreCampaign::new().await;
        let note = |name: &str| json!({"entity_type": "note", "name": name, "entry": format!("Text of {name}.")});
        let created = lore.create(json!([note("One"), note("Two"), note("Three")])).await;
        lore.delete(created[0]).await;
        lore.delete(created[1]).await;
        let fault = lore.refusal("lore_history", json!({"method": "empty", "entity_id": created[2]})).await;
        assert_eq!(fault.code(), Code::Rejected, "it is not in the archive");
        assert_eq!(lore.history(json!({"method": "empty", "entity_id": created[0]})).await, json!({"removed": 1}));
        let texts = stored_texts(&lore).await;
        assert!(texts.len() == 2 && !texts.iter().any(|text| text.contains("One")), "{texts:?}");
        lore.history(json!({"method": "undelete", "entity_id": created[1]})).await;
        assert_eq!(lore.get(created[1]).await["entry"], "Text of Two.");
        assert_sound(&*lore.journal).await;
    });
}

/// A seal from before reported every removed text as a row that is gone.
#[test]
fn an_earlier_seal_allows_that_the_archive_was_emptied() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = lore
            .create(json!([
                {"entity_type": "note", "name": "One", "entry": "To be removed."},
                {"entity_type": "note", "name": "Two", "entry": "To stay."}
            ]))
            .await;
        let kinds = Nouns::all().stream_kinds();
        let (verdict, contents) = verify_with_contents(&*lore.journal, &kinds, |_, _| {}).await.expect("a verdict");
        let VerifyVerdict::Sound(report) = verdict else { panic!("{verdict:?}") };
        let at = jiff::Timestamp::from_second(super::BEGIN_SECOND + 1).expect("a moment");
        let seal = SealStatement::new(at, &report, contents);
        lore.advance(60);
        lore.delete(created[0]).await;
        lore.history(json!({"method": "empty"})).await;
        let (_, contents) = verify_with_contents(&*lore.journal, &kinds, |_, _| {}).await.expect("a verdict");
        let comparison = seal.compare(&*lore.journal, &kinds, &contents).await.expect("a comparison");
        assert!(comparison.findings.is_empty(), "{:?}", comparison.findings);
    });
}

#[test]
fn each_method_takes_its_own_fields() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id = lore.create_one(json!({"entity_type": "note", "name": "One"})).await;
        for (input, path) in [
            (json!({}), "/entity_id"),
            (json!({"method": "diff"}), "/entity_id"),
            (json!({"method": "restore", "entity_id": entity_id}), "/to"),
            (json!({"method": "archive", "entity_id": entity_id}), "/entity_id"),
            (json!({"method": "list", "entity_id": entity_id, "to": 1}), "/to"),
            (json!({"method": "empty", "post_id": 1}), "/entity_id"),
            (json!({"method": "archive", "post_id": 1}), "/post_id"),
            (json!({"entity_id": entity_id, "limit": 0}), "/limit"),
            (json!({"entity_id": entity_id, "cursor": "x"}), "/cursor"),
            (json!({"method": "restore", "entity_id": entity_id, "to": 7}), "/to"),
        ] {
            let fault = lore.refusal("lore_history", input.clone()).await;
            assert_eq!(
                (fault.code(), fault.body().path.as_deref()),
                (Code::InvalidParams, Some(path)),
                "{input}: {fault}"
            );
        }
        let missing = lore.refusal("lore_history", json!({"entity_id": 999})).await;
        assert_eq!((missing.code(), missing.body().path.as_deref()), (Code::NotFound, Some("/entity_id")));
        let listed = lore.history(json!({"entity_id": "one"})).await;
        assert_eq!(keys(&listed).into_iter().collect::<Vec<_>>(), ["entity_id", "versions"]);
    });
}

#[test]
fn versions_have_the_names_that_tags_have_now() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity_id =
            lore.create_one(json!({"entity_type": "character", "name": "Ann", "tags": ["Elf", "North"]})).await;
        let other = lore.create_one(json!({"entity_type": "character", "name": "Ben", "tags": ["Elf"]})).await;
        lore.update(json!({"entity_id": entity_id, "tags": ["Elf"]})).await;
        let rename =
            json!({"campaign_id": lore.campaign_id, "changes": [{"rename_tag": {"tag_id": 1, "name": "Elves"}}]});
        lore.call("write_lore", rename).await;
        lore.advance(60);
        lore.update(json!({"entity_id": entity_id, "tags": ["Elves", "South"]})).await;
        let changes = lore.history(json!({"method": "diff", "entity_id": entity_id, "from": 2, "to": 3})).await;
        assert_eq!(changes["changes"]["tags"], json!({"from": ["Elves"], "to": ["Elves", "South"]}));
        // The name was given up, so that it may be that of another tag since.
        lore.update(json!({"entity_id": other, "tags": ["Elf"]})).await;
        lore.history(json!({"method": "restore", "entity_id": entity_id, "to": 1})).await;
        assert_eq!(lore.get("Ann").await["tags"], json!(["Elves", "North"]));
        lore.update(json!({"entity_id": other, "tags": []})).await;
        lore.history(json!({"method": "restore", "entity_id": other, "to": 2})).await;
        assert_eq!(lore.get("Ben").await["tags"], json!(["Elf"]), "the later tag of that name");
        assert_sound(&*lore.journal).await;
    });
}

#[test]
fn a_mention_of_what_was_removed_for_good_is_marked() {
    run(async {
        let lore = LoreCampaign::new().await;
        let gone = lore.create_one(json!({"entity_type": "character", "name": "Gone"})).await;
        lore.create_one(
            json!({"entity_type": "location", "name": "Inn", "entry": format!("[entity:{gone}], [entity:99]")}),
        )
        .await;
        let marked = json!([{"entity_id": gone, "deleted": true}]);
        lore.delete(gone).await;
        assert_eq!(lore.get("Inn").await["mentions"], marked);
        lore.history(json!({"method": "empty"})).await;
        assert_eq!(lore.get("Inn").await["mentions"], marked);
        let player = lore.caller(CampaignRole::Player);
        let seen = lore.call_as(&player, "get_entities", json!({"entity_ids": ["Inn"]})).await.unwrap();
        assert!(seen["results"][0]["mentions"].as_array().is_none_or(Vec::is_empty), "{seen}");
    });
}

/// The whole version was refused for one field that others have taken since.
#[test]
fn a_restored_version_leaves_out_what_others_have_taken_since() {
    run(async {
        let lore = LoreCampaign::new().await;
        let actor = lore.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await["id"].clone();
        let place = |name: &str| json!({"entity_type": "location", "name": name});
        let created = lore.create(json!([place("City"), place("Realm"), place("Gone")])).await;
        let [city, realm, gone] = created[..] else { panic!("{created:?}") };
        let first = json!({"entity_id": city, "entry": "Old.", "parent": realm, "actor_id": actor});
        lore.update(first).await;
        lore.update(json!({"entity_id": city, "entry": "New.", "parent": gone, "actor_id": ""})).await;
        lore.update(json!({"entity_id": realm, "parent": city, "actor_id": actor})).await;
        let restore = json!({"method": "restore", "entity_id": city, "to": 2});
        let restored = with_key_and_revision(&lore, (Some("back"), None), restore.clone()).await.expect("an answer");
        let parent = format!("parent: entity {realm} lies below it now; the present parent stays");
        let taken = format!("actor_id: {} is entity {realm} now", actor.as_str().unwrap());
        assert_eq!(restored["left_out"], json!([parent, taken]), "{restored}");
        let now = lore.get(city).await;
        assert_eq!((&now["entry"], &now["parent"]["entity_id"]), (&json!("Old."), &json!(gone)));
        assert_eq!(now.get("actor_id"), None);
        let again = with_key_and_revision(&lore, (Some("back"), None), restore).await.expect("an answer");
        assert_eq!(again["left_out"], restored["left_out"]);
        // A parent that is not there any more is said as well.
        lore.delete(gone).await;
        let restored = lore.history(json!({"method": "restore", "entity_id": city, "to": 3})).await;
        assert_eq!(restored["left_out"], json!([format!("parent: entity {gone} is not there any more")]));
        assert_eq!(lore.get(city).await.get("parent"), None);
        // Of an archived entity too.
        lore.delete(city).await;
        let restored = lore.history(json!({"method": "restore", "entity_id": city, "to": 2})).await;
        assert_eq!(restored["left_out"].as_array().map(Vec::len), Some(2), "{restored}");
        assert_sound(&*lore.journal).await;
    });
}
