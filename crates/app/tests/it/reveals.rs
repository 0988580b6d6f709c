//! Tests of reveals: whoever may read something hears of it and nobody else, one command reveals, and a retry under a
//! key is answered as before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Changes, Code, Engine, Holder, Principal, PrincipalKind, RequestControl};
use skald_app::{ResourceChange, TokenScope};

use crate::secrets::{Table, member, owner};

pub(super) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
}

/// The changes of a campaign after a place in the journal, as each caller hears them.
pub(super) struct Listener<'a> {
    table: &'a Table,
    place: Arc<str>,
}

impl<'a> Listener<'a> {
    pub(super) async fn new(table: &'a Table) -> Self {
        table.engine.journal_end().await;
        let changes: Changes = table.engine.changes(&owner(), None).await;
        Self { table, place: changes.place().expect("a place") }
    }

    /// Who hears of each URI, by name, since the last call.
    pub(super) async fn heard(&mut self) -> BTreeMap<String, Vec<&'static str>> {
        let mut changes = self.table.engine.changes(&owner(), Some(&self.place)).await;
        let news = changes.next().await.expect("news");
        assert!(!news.is_everything(), "{news:?}");
        self.place = changes.place().expect("a place");
        let table = self.table;
        let callers = [("gm", owner()), ("Ana", table.ana.clone()), ("Ben", table.ben.clone())];
        let others = [("unbound", table.unbound.clone()), ("guest", table.guest.clone())];
        let mut heard: BTreeMap<String, Vec<&'static str>> = BTreeMap::new();
        for (name, caller) in callers.into_iter().chain(others) {
            let uris: BTreeSet<String> = news.changes_for(&caller).filter_map(|told| resource(told.change)).collect();
            for uri in uris {
                assert!(news.concerns(&caller, &uri), "{name} {uri}: both ways to ask agree");
                let short = uri.replace(&table.campaign_id, "c");
                heard.entry(short).or_default().push(name);
            }
        }
        heard
    }
}

fn resource(change: ResourceChange) -> Option<String> {
    match change {
        ResourceChange::Resource(uri) => Some(uri.to_string()),
        ResourceChange::ResourceList => None,
    }
}

/// A note and a roll are announced to the one who may see them, also where that is by the actor that they play.
#[test]
fn named_people_hear_of_what_they_may_see() {
    run(async {
        let table = Table::new().await;
        let mut listener = Listener::new(&table).await;
        for who in ["Ana", "Mira"] {
            table.call(&owner(), "session_note", json!({"text": "Hush.", "visible_to": [who]})).await;
            let heard = listener.heard().await;
            assert_eq!(heard["campaign://c/sessions"], ["gm", "Ana"], "{who}: {heard:?}");
            assert!(heard.values().all(|names| *names == ["gm", "Ana"]), "{who}: {heard:?}");
        }
        table.call(&owner(), "roll_dice", json!({"dice": [{"sides": 6, "count": 1}], "visible_to": ["Ben"]})).await;
        assert_eq!(listener.heard().await["campaign://c/sessions"], ["gm", "Ben"]);
        let note = |method: &str, who: &str| json!({"method": method, "note_id": table.note_id, "who": [who]});
        table.call(&owner(), "visibility", note("reveal", "Ben")).await;
        assert_eq!(listener.heard().await["campaign://c/sessions"], ["gm", "Ben"]);
        // It is gone for Ben, who had read it, so he is told to read again.
        table.call(&owner(), "visibility", note("hide", "Ben")).await;
        assert_eq!(listener.heard().await["campaign://c/sessions"], ["gm", "Ben"]);
        table.call(&owner(), "visibility", json!({"method": "reveal", "note_id": table.note_id})).await;
        assert_eq!(listener.heard().await["campaign://c/sessions"], ["gm", "Ana", "Ben", "unbound", "guest"]);
    });
}

/// A roll that everybody sees and a secret tracker that it moves are one record: each part has its own listeners.
#[test]
fn what_is_secret_in_part_is_announced_in_part() {
    run(async {
        let table = Table::new().await;
        let mut listener = Listener::new(&table).await;
        let one = |name: &str, who: &str| json!({"name": name, "max": 4, "visible_to": [who]});
        let trackers = json!({"method": "set", "trackers": [one("Dread", "Ana"), one("Light", "table")]});
        table.call(&owner(), "tracker", trackers).await;
        let heard = listener.heard().await;
        assert_eq!(heard["campaign://c"], ["gm", "Ana", "Ben", "unbound", "guest"], "{heard:?}");
        table.call(&owner(), "tracker", json!({"method": "change", "trackers": [{"name": "Dread", "by": 1}]})).await;
        let heard = listener.heard().await;
        assert!(heard.values().all(|names| *names == ["gm", "Ana"]), "{heard:?}");
    });
}

#[test]
fn whom_lore_was_revealed_to_hears_of_its_changes() {
    run(async {
        let table = Table::new().await;
        let mut listener = Listener::new(&table).await;
        let entry = |entity_id: u64| json!({"updates": [{"entity_id": entity_id, "entry_append": "More."}]});
        table.call(&owner(), "update_entities", entry(table.entity_id)).await;
        let heard = listener.heard().await;
        assert!(heard.values().all(|names| *names == ["gm"]), "{heard:?}");
        // Entity 2 was revealed to Ana.
        table.call(&owner(), "update_entities", entry(2)).await;
        let heard = listener.heard().await;
        assert_eq!(heard["lore://c/entity/2"], ["gm", "Ana"], "{heard:?}");
        assert!(heard.values().all(|names| *names == ["gm", "Ana"]), "{heard:?}");
        let entity = |who: Value| json!({"method": "reveal", "entity_id": table.entity_id, "who": who});
        table.call(&owner(), "visibility", entity(json!(["Ben"]))).await;
        let heard = listener.heard().await;
        assert_eq!(heard[&format!("lore://c/entity/{}", table.entity_id)], ["gm", "Ben"], "{heard:?}");
        table.call(&owner(), "visibility", entity(json!([]))).await;
        let heard = listener.heard().await;
        assert!(heard.values().all(|names| names.len() == 5), "{heard:?}");
        // A batch is one record for each entity; what is public is heard by all.
        let batch = json!({"updates": [{"entity_id": 2, "entry": "New."}, {"entity_id": 3, "entry": "New."}]});
        table.call(&owner(), "update_entities", batch).await;
        let heard = listener.heard().await;
        assert_eq!(heard["lore://c/entity/2"], ["gm", "Ana"], "{heard:?}");
        assert_eq!(heard["lore://c/entity/3"].len(), 5, "{heard:?}");
        let link = json!({"method": "add", "entity_id": 2, "target_id": 3, "type": "knows"});
        let relationship_id =
            table.call(&owner(), "relationships", link).await["relationships"][0]["relationship_id"].clone();
        let heard = listener.heard().await;
        assert_eq!(heard["lore://c/relationships/3"], ["gm", "Ana"], "{heard:?}");
        table.call(&owner(), "relationships", json!({"method": "remove", "relationship_id": relationship_id})).await;
        let heard = listener.heard().await;
        assert_eq!(heard["lore://c/relationships/3"], ["gm", "Ana"], "{heard:?}");
        let event = json!({"method": "add", "description": "The betrayal", "visible_to": ["Mira"]});
        let event_id = table.call(&owner(), "timeline", event).await["events"][0]["id"].clone();
        let timeline = |heard: BTreeMap<String, Vec<&'static str>>| heard["imagineer://campaigns/c/timeline"].clone();
        assert_eq!(timeline(listener.heard().await), ["gm", "Ana"]);
        table.call(&owner(), "visibility", json!({"method": "reveal", "event_id": event_id, "who": ["Ben"]})).await;
        assert_eq!(timeline(listener.heard().await), ["gm", "Ana", "Ben"]);
        table.call(&owner(), "timeline", json!({"method": "remove", "event_id": event_id})).await;
        assert_eq!(timeline(listener.heard().await), ["gm", "Ana", "Ben"]);
    });
}

/// A participant's id is worth nothing without a role in the campaign.
#[test]
fn a_participant_without_a_role_hears_nothing() {
    run(async {
        let table = Table::new().await;
        let Principal::Holder(ana) = &table.ana.principal else { panic!("a holder") };
        let participants: Vec<&str> = ana.participants.iter().map(String::as_str).collect();
        let stranger = member("Eve", "camp_other", CampaignRole::Gm, &participants);
        let place = Listener::new(&table).await.place;
        table.call(&owner(), "session_note", json!({"text": "Hush.", "visible_to": ["Ana"]})).await;
        let mut changes = table.engine.changes(&owner(), Some(&place)).await;
        let news = changes.next().await.expect("news");
        assert_eq!(news.changes_for(&stranger).count(), 0, "{news:?}");
        assert!(news.changes_for(&table.ana).count() > 0, "{news:?}");
    });
}

async fn revisions(table: &Table) -> [u64; 2] {
    let mut revisions = [0; 2];
    for (at, operation) in ["campaign_read", "find_entities"].into_iter().enumerate() {
        let control = RequestControl::default();
        let input = json!({"campaign_id": table.campaign_id});
        table.engine.call(&owner(), operation, input, &control).await.expect("an answer");
        revisions[at] = *control.revision.get().expect("a revision");
    }
    revisions
}

#[test]
fn lore_is_revealed_to_all_by_one_record() {
    run(async {
        let table = Table::new().await;
        let subjects = [json!({"entity_id": table.entity_id}), json!({"post_id": 1})];
        for subject in subjects {
            for (method, who) in [("reveal", json!(["Ana"])), ("reveal", json!([])), ("hide", json!([]))] {
                let [campaign, lore] = revisions(&table).await;
                let mut input = subject.clone();
                input["method"] = json!(method);
                input["who"] = who;
                table.call(&owner(), "visibility", input.clone()).await;
                assert_eq!(revisions(&table).await, [campaign, lore + 1], "{input}");
            }
            let mut asked = subject.clone();
            asked["method"] = json!("who_knows");
            let known = table.call(&owner(), "visibility", asked).await;
            assert_eq!(known["visible_to"], json!(["gm"]), "{known}");
            assert_eq!(known["secrets"][0]["known_by"][0]["who"], json!("gm"), "{known}");
        }
        let asked = json!({"campaign_id": table.campaign_id, "include": "recorded"});
        let timeline = table.call(&owner(), "timeline", asked.clone()).await.to_string();
        assert!(timeline.contains("is revealed to the table") && timeline.contains("is revealed to Ana"), "{timeline}");
        let timeline = table.call(&table.ana, "timeline", asked).await.to_string();
        assert!(!timeline.contains("is revealed to"), "who else knows is the game masters': {timeline}");
    });
}

#[test]
fn a_reveal_under_a_key_happens_once() {
    run(async {
        let table = Table::new().await;
        let subjects = [json!({"note_id": table.note_id}), json!({"entity_id": table.entity_id})];
        for (at, subject) in subjects.into_iter().enumerate() {
            let keyed = || RequestControl { idempotency_key: Some(format!("key-{at}")), ..RequestControl::default() };
            let mut input = subject;
            (input["method"], input["who"]) = (json!("reveal"), json!(["Ben"]));
            let call = async |input: &Value| table.engine.call(&owner(), "visibility", input.clone(), &keyed()).await;
            let first = call(&input).await.expect("revealed");
            let before = revisions(&table).await;
            assert_eq!(call(&input).await.expect("the stored answer"), first);
            assert_eq!(revisions(&table).await, before, "nothing is recorded twice");
            let mut other = input.clone();
            other["who"] = json!(["Ana"]);
            assert_eq!(call(&other).await.expect_err("another request").code(), Code::IdempotencyMismatch);
            let fault = table.try_call(&owner(), "visibility", input.clone()).await.expect_err("it is so already");
            assert_eq!(fault.code(), Code::Rejected);
            let other_key = RequestControl { idempotency_key: Some("new".to_owned()), ..RequestControl::default() };
            let again = table.engine.call(&owner(), "visibility", input, &other_key).await;
            assert_eq!(again.expect_err("under another key too").to_string(), fault.to_string());
        }
    });
}

#[test]
fn timeline_events_and_relationships_are_revealed_and_hidden() {
    run(async {
        let table = Table::new().await;
        let event = json!({"method": "add", "description": "zqbetrayal"});
        let event_id = table.call(&owner(), "timeline", event).await["events"][0]["id"].clone();
        table
            .call(&owner(), "create_entities", json!({"entities": [{"entity_type": "character", "name": "Ilse"}]}))
            .await;
        let link = json!({"method": "add", "entity_id": 3, "target_id": 4, "type": "knows", "description": "zqlink", "visible_to": ["gm"]});
        let relationship_id =
            table.call(&owner(), "relationships", link).await["relationships"][0]["relationship_id"].clone();
        for (field, id, operation, word) in [
            ("event_id", event_id, "timeline", "zqbetrayal"),
            ("relationship_id", relationship_id, "relationships", "zqlink"),
        ] {
            let sees = async |caller: &Caller| {
                let read = table.call(caller, operation, json!({"campaign_id": table.campaign_id})).await;
                read.to_string().contains(word)
            };
            let change = |method: &str, who: &[&str]| json!({"method": method, field: id, "who": who});
            assert!(!sees(&table.ana).await, "{field}");
            let knows = table.call(&owner(), "visibility", change("who_knows", &[])).await;
            assert_eq!(knows["visible_to"], json!(["gm"]), "{knows}");
            assert_eq!(knows["secrets"][0]["known_by"][0]["who"], json!("gm"), "since it was written: {knows}");
            table.call(&owner(), "visibility", change("reveal", &["Ana"])).await;
            assert!(sees(&table.ana).await && !sees(&table.ben).await, "{field}");
            let knows = table.call(&owner(), "visibility", change("who_knows", &[])).await;
            let known_by = &knows["secrets"][0]["known_by"][0];
            assert_eq!((&known_by["who"], known_by["session_id"].is_string()), (&json!("Ana"), true), "{knows}");
            let of_ana = table.call(&owner(), "visibility", json!({"method": "who_knows", "who": ["Ana"]})).await;
            assert!(of_ana["secrets"].to_string().contains(&format!("\"{field}\":{id}")), "{of_ana}");
            table.call(&owner(), "visibility", change("reveal", &[])).await;
            assert!(sees(&table.ben).await, "{field}");
            table.call(&owner(), "visibility", change("hide", &["Ben"])).await;
            assert!(sees(&table.ana).await && !sees(&table.ben).await, "{field}: the other players see it");
            table.call(&owner(), "visibility", change("hide", &[])).await;
            assert!(!sees(&table.ana).await, "{field}");
            let missing = json!({"method": "reveal", field: 99});
            let fault = table.try_call(&owner(), "visibility", missing).await.expect_err("it is not there");
            assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some(&*format!("/{field}"))));
        }
    });
}

/// An entity is named by its number or its name, and a post with its entity or without it.
#[test]
fn lore_is_named_as_everywhere() {
    run(async {
        let table = Table::new().await;
        let entities = json!({"entities": [{"entity_type": "character", "name": "Ilse", "is_private": true}]});
        table.call(&owner(), "create_entities", entities).await;
        let posts = json!({"posts": [{"entity_id": "Ilse", "name": "Debt", "entry": "Old.", "is_private": true}]});
        let post_id = table.call(&owner(), "create_posts", posts).await.pointer("/results/0/post_id").cloned();
        let post_id = post_id.expect("a post");
        table.call(&owner(), "visibility", json!({"method": "reveal", "entity_id": "ilse", "who": ["Ana"]})).await;
        let seen = json!({"method": "view_as", "entity_id": "Ilse", "who": ["Ana"]});
        let view = table.call(&owner(), "visibility", seen.clone()).await;
        assert!(view.to_string().contains("Ilse") && !view.to_string().contains("Debt"), "{view}");
        let of_other = json!({"method": "reveal", "entity_id": 3, "post_id": post_id, "who": ["Ana"]});
        let fault = table.try_call(&owner(), "visibility", of_other).await.expect_err("a post of another entity");
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/post_id")));
        let both = json!({"method": "reveal", "entity_id": "Ilse", "post_id": post_id, "who": ["Ana"]});
        table.call(&owner(), "visibility", both).await;
        assert!(table.call(&owner(), "visibility", seen).await.to_string().contains("Debt"));
        let nobody = json!({"method": "reveal", "entity_id": "Ilze"});
        let fault = table.try_call(&owner(), "visibility", nobody).await.expect_err("nobody is called so");
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/entity_id")));
        assert!(fault.to_string().contains("Ilse"), "{fault}");
    });
}

#[test]
fn a_secret_roll_of_pools_is_for_those_it_names() {
    run(async {
        let table = Table::new().await;
        let roll = json!({"dice": [{"sides": 97, "count": 2}], "visible_to": ["Ana"]});
        table.call(&owner(), "roll_dice", roll).await;
        for (caller, is_seen) in [(&table.ana, true), (&table.ben, false), (&table.guest, false)] {
            let events = table.call(caller, "events_list", json!({"campaign_id": table.campaign_id})).await;
            assert_eq!(events.to_string().contains("2d97"), is_seen, "{events}");
        }
        let nobody = json!({"dice": [{"sides": 6, "count": 1}], "visible_to": ["Cleo"]});
        let fault = table.try_call(&owner(), "roll_dice", nobody).await.expect_err("nobody is called so");
        assert_eq!(fault.body().path.as_deref(), Some("/visible_to/0"));
    });
}

/// Luck is read aloud: without `audience` it counts what the whole table saw, whoever asks.
#[test]
fn luck_counts_secret_rolls_for_those_who_ask_for_their_own() {
    run(async {
        let table = Table::new().await;
        let luck = async |caller: &Caller, audience: Option<&str>| {
            let mut input = json!({"campaign_id": table.campaign_id});
            if let Some(audience) = audience {
                input["audience"] = json!(audience);
            }
            table.call(caller, "luck", input).await
        };
        let before = luck(&owner(), None).await;
        let secret = json!({"actor_id": "Mira", "visible_to": ["gm"], "modifier": 2, "difficulty": 12});
        table.call(&owner(), "duality_action_roll", secret).await;
        assert_eq!(luck(&owner(), None).await, before);
        assert_eq!(luck(&owner(), Some("table")).await, before);
        let own = luck(&owner(), Some("mine")).await;
        assert_ne!(own, before, "{own}");
        assert_eq!(luck(&table.ben, Some("mine")).await, luck(&table.ben, None).await, "he knows of none");
    });
}

/// The writes of these two are lore writes: a token for what players do cannot make them, whatever its role is.
#[test]
fn writes_of_relationships_and_the_timeline_need_the_scope_of_lore_writes() {
    run(async {
        let table = Table::new().await;
        let scoped = |scope: TokenScope| {
            let roles = BTreeMap::from([(table.campaign_id.clone(), CampaignRole::Gm)]);
            let holder = Holder::new("token_gm", "Gm", PrincipalKind::Agent, roles);
            Caller { principal: Principal::Holder(Arc::new(Holder { scope: Some(scope), ..holder })), ..owner() }
        };
        let event = json!({"campaign_id": table.campaign_id, "method": "add", "description": "A storm."});
        let link =
            json!({"campaign_id": table.campaign_id, "method": "add", "entity_id": 1, "target_id": 3, "type": "knows"});
        for (operation, write) in [("timeline", event), ("relationships", link)] {
            let read = json!({"campaign_id": table.campaign_id});
            table.call(&scoped(TokenScope::Write), operation, read).await;
            for method in ["add", "update", "remove", " Add"] {
                let mut write = write.clone();
                write["method"] = json!(method);
                let fault = table.try_call(&scoped(TokenScope::Write), operation, write).await;
                let fault = fault.expect_err("it needs a wider scope");
                assert_eq!(fault.code(), Code::InsufficientScope, "{operation} {method}");
            }
            table.call(&scoped(TokenScope::Gm), operation, write).await;
        }
    });
}
