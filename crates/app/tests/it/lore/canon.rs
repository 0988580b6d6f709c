//! Canon through the engine: what is held by which operation, who resolves, and that it can be taken back.

use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    App, Caller, CampaignRole, Code, CompletionRequest, CompletionTarget, Engine, ImportOptions, LocalEngine, Nouns,
    PrincipalKind, RequestControl,
};
use skald_journal::{Journal, rebuild};
use skald_lore_files::SourceFile;

use super::history::{assert_sound, stored_texts};
use super::{LoreCampaign, rows};
use crate::gate::{human_caller, token_holder};
use crate::universe::run;

/// A campaign with an authoritative character, its id, and that of a post.
async fn canonical_campaign() -> (LoreCampaign, u64, u64) {
    let lore = LoreCampaign::new().await;
    let ilse = lore.create_one(json!({"entity_type": "character", "name": "Ilse", "entry": "Rings the bells."})).await;
    let post = lore.create_post(json!({"entity_id": ilse, "name": "Secret", "entry": "She drowned."})).await;
    lore.call("canon", json!({"method": "mark", "entity_id": "Ilse", "confidence": "AUTHORITATIVE"})).await;
    (lore, ilse, post)
}

impl LoreCampaign {
    async fn canon(&self, input: Value) -> Value {
        rows(&self.call("canon", input).await, "rows")[0].clone()
    }

    async fn decide_as_person(&self, input: Value) -> Value {
        let answer = self.call_as(&human_caller("Mara"), "canon", self.with_campaign(input)).await;
        rows(&answer.unwrap_or_else(|fault| panic!("{fault}")), "rows")[0].clone()
    }

    fn with_campaign(&self, mut input: Value) -> Value {
        input["campaign_id"] = json!(self.campaign_id);
        input
    }
}

fn assert_held(result: &Value, id: &str) {
    assert_eq!((&result["success"], &result["held"], &result["code"]), (&json!(false), &json!(id), &json!("HELD")));
    let error = result["error"].as_str().unwrap_or_default();
    assert!(error.contains(id) && error.contains("canon"), "{error}");
}

#[test]
fn an_agent_records_no_death_of_what_is_authoritative() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        let died = |date: &str| json!({"method": "mark", "entity_id": ilse, "died": date});
        for date in ["1204-03-15", "1204"] {
            let fault = lore.refusal("canon", died(date)).await;
            assert_eq!(fault.code(), Code::Forbidden);
            assert!(fault.body().value.is_some() && fault.to_string().contains("death"), "{fault}");
        }
        assert_eq!(lore.canon(json!({"method": "list", "confidence": "AUTHORITATIVE"})).await.get("died"), None);
        assert_eq!(lore.decide_as_person(died("1204-03-15")).await["died"], "1204-03-15");
        assert_eq!(lore.refusal("canon", died("")).await.code(), Code::Forbidden);
        assert_eq!(lore.decide_as_person(died("")).await.get("died"), None);
    });
}

#[test]
fn every_way_to_write_holds_what_contradicts() {
    run(async {
        let (lore, ilse, post) = canonical_campaign().await;
        let before = lore.get(ilse).await;
        assert_held(&lore.update(json!({"entity_id": ilse, "name": "Ilsa", "tags": ["dead"]})).await, "c1");
        assert_held(&lore.update(json!({"entity_id": ilse, "entry": "Hates the bells."})).await, "c2");
        assert_held(&lore.update(json!({"entity_id": ilse, "entry_append": "And more."})).await, "c3");
        let deleted = lore.results("delete_entities", json!({"entity_ids": [ilse]})).await;
        assert_held(&deleted[0], "c4");
        let updates = json!({"updates": [{"entity_id": ilse, "post_id": post, "entry": "She lives."}]});
        assert_held(&lore.results("update_posts", updates).await[0], "c5");
        let deletions = json!({"deletions": [{"entity_id": ilse, "post_id": post}]});
        assert_held(&lore.results("delete_posts", deletions).await[0], "c6");
        // Programs that speak Kanka's dialect are told as well.
        let changes = json!([{"update_entity": {"entity_id": ilse, "entry": "<p>Other</p>"}}]);
        let written = lore.call("write_lore", lore.with_campaign(json!({"changes": changes}))).await;
        assert_eq!(
            (&written["results"][0]["error"]["code"], &written["results"][0]["error"]["value"]),
            (&json!("HELD"), &json!("c7"))
        );
        let changes = json!([{"delete_entity": {"entity_id": ilse}}, {"create_tag": {"name": "sea"}}]);
        let all = lore.with_campaign(json!({"changes": changes, "all_or_nothing": true}));
        let refused = lore.call("write_lore", all).await;
        assert_eq!(refused["results"][0]["error"]["code"], "HELD", "the deletion is held already");
        assert_eq!(lore.get(ilse).await, before, "nothing of it was changed");
        let overview = lore.call("campaign_overview", json!({})).await;
        assert!(overview["stats"]["open_conflicts"].as_u64() >= Some(7), "{overview}");
        // Names, texts, and what else is authoritative are as they were; what is not changes.
        let tagged = lore.update(json!({"entity_id": ilse, "tags": ["sea"]})).await;
        assert_eq!(tagged["success"], true);
        assert!(lore.create_post(json!({"entity_id": ilse, "name": "Rumour"})).await > post);
        let open = lore.call("canon", json!({})).await;
        let ids: Vec<&str> = rows(&open, "rows").iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["c7", "c6", "c5", "c4", "c3", "c2", "c1"]);
        assert_eq!(open["rows"][6]["tool"], "update_entities");
        assert_eq!(open["rows"][6]["what"], "change name, tags");
    });
}

#[test]
fn the_same_proposal_is_held_once() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        let update = json!({"entity_id": ilse, "entry": "Hates the bells."});
        assert_held(&lore.update(update.clone()).await, "c1");
        assert_held(&lore.update(update.clone()).await, "c1");
        // Under a key the same answer comes again, and nothing more is held.
        let batch = json!({"updates": [{"entity_id": ilse, "name": "Ilsa"}]});
        for _ in 0..2 {
            let again = lore.call_with_key("key-1", "update_entities", batch.clone()).await;
            assert_held(&again["results"][0], "c2");
        }
        assert_eq!(rows(&lore.call("canon", json!({})).await, "rows").len(), 2);
    });
}

#[test]
fn an_earlier_version_is_held() {
    run(async {
        let lore = LoreCampaign::new().await;
        let ilse = lore.create_one(json!({"entity_type": "character", "name": "Ilse"})).await;
        lore.update(json!({"entity_id": ilse, "name": "Ilsa"})).await;
        lore.call("canon", json!({"method": "mark", "entity_id": ilse, "confidence": "AUTHORITATIVE"})).await;
        let restore = json!({"method": "restore", "entity_id": ilse, "to": 1});
        let held = lore.call("lore_history", restore.clone()).await;
        assert_eq!((&held["success"], &held["held"]), (&json!(false), &json!("c1")));
        assert_eq!(lore.call("lore_history", restore).await["held"], "c1");
        assert_eq!(lore.get(ilse).await["name"], "Ilsa");
        lore.decide_as_person(json!({"method": "resolve", "id": "c1", "choice": "proposed", "reason": "her old name"}))
            .await;
        assert_eq!(lore.get(ilse).await["name"], "Ilse");
        let history = lore.call("lore_history", json!({"entity_id": ilse})).await;
        let kinds: Vec<&str> = rows(&history, "versions").iter().map(|row| row["kind"].as_str().unwrap()).collect();
        let expected =
            ["conflict.resolved.v1", "change.held.v1", "entity.marked.v1", "entity.updated.v1", "entity.created.v1"];
        assert_eq!(kinds, expected);
    });
}

#[test]
fn a_person_resolves_with_reasons_and_takes_it_back() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        lore.update(json!({"entity_id": ilse, "name": "Ilsa", "entry": "Hates the bells.", "tags": ["sea"]})).await;
        let shown = lore.canon(json!({"method": "get", "id": "c1"})).await;
        assert_eq!(
            shown["values"]["entry"],
            json!({
                "current": {"value": "Rings the bells.", "confidence": "AUTHORITATIVE"},
                "proposed": {"value": "Hates the bells.", "confidence": "DRAFT"},
            })
        );
        assert_eq!(shown["values"]["tags"]["current"]["confidence"], "DRAFT");
        assert_eq!((&shown["status"], &shown["fields"]), (&json!("DETECTED"), &json!(["name", "entry"])));

        let resolve = json!({"method": "resolve", "id": "c1", "choice": "proposed", "reason": "seen in session 4"});
        // The owner's programs act as agents, and so does a token without a role of a person.
        let agents = [
            Caller::owner(),
            token_holder("bot", PrincipalKind::Agent, Some("human"), CampaignRole::Gm),
            token_holder("person", PrincipalKind::Human, None, CampaignRole::Gm),
        ];
        for agent in &agents {
            let refused = lore.call_as(agent, "canon", lore.with_campaign(resolve.clone())).await.unwrap_err();
            assert_eq!(refused.code(), Code::Forbidden, "{refused}");
            assert!(refused.body().hint.as_deref().unwrap().contains("person"), "{refused}");
        }
        let acknowledged = lore.canon(json!({"method": "acknowledge", "id": "c1"})).await;
        assert_eq!(acknowledged["status"], "ACKNOWLEDGED");
        let resolved = lore.decide_as_person(resolve).await;
        assert_eq!(resolved["status"], "RESOLVED");
        let decision = &resolved["log"][1];
        assert_eq!(
            (&decision["reason"], &decision["choice"], &decision["by"]),
            (&json!("seen in session 4"), &json!("proposed"), &json!("token_Mara"))
        );
        let now = lore.get(ilse).await;
        assert_eq!(
            (&now["name"], &now["entry"], &now["tags"]),
            (&json!("Ilsa"), &json!("Hates the bells."), &json!(["sea"]))
        );
        let shown = lore.canon(json!({"method": "get", "id": "c1"})).await;
        assert_eq!(shown["values"]["name"]["current"], json!({"value": "Ilse", "confidence": "SUPERSEDED"}));
        assert_eq!(shown["values"]["name"]["proposed"], json!({"value": "Ilsa", "confidence": "AUTHORITATIVE"}));
        assert!(rows(&lore.call("canon", json!({})).await, "rows").is_empty());
        assert_eq!(rows(&lore.call("canon", json!({"status": "resolved"})).await, "rows").len(), 1);

        let refused = lore.refusal("canon", json!({"method": "reopen", "id": "c1", "reason": "no"})).await;
        assert_eq!(refused.code(), Code::Forbidden);
        lore.decide_as_person(json!({"method": "reopen", "id": "c1", "reason": "misremembered"})).await;
        let back = lore.get(ilse).await;
        assert_eq!((&back["name"], &back["entry"]), (&json!("Ilse"), &json!("Rings the bells.")));
        assert_eq!(lore.find_names(json!({"query": "Hates"})).await, [""; 0], "the search follows");
    });
}

#[test]
fn a_person_gives_a_value() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        let harbour = lore.create_one(json!({"entity_type": "location", "name": "Harbour"})).await;
        lore.update(json!({"entity_id": ilse, "entry": "One.", "parent": harbour})).await;
        let resolve = |value: &str, fields: Value| json!({"method": "resolve", "id": "c1", "choice": "value", "value": value, "fields": fields, "reason": "so"});
        let person = human_caller("Mara");
        for (input, path) in [
            (json!({"method": "resolve", "id": "c1", "choice": "value", "value": "x", "reason": "so"}), "/fields"),
            (resolve("x", json!(["name"])), "/value"),
            (json!({"method": "resolve", "id": "c1", "choice": "value", "reason": "so"}), "/value"),
            (json!({"method": "resolve", "id": "c1", "choice": "current", "value": "x", "reason": "so"}), "/value"),
            (json!({"method": "resolve", "id": "c1", "choice": "current"}), "/reason"),
            (json!({"method": "resolve", "id": "7", "choice": "current", "reason": "so"}), "/id"),
        ] {
            let fault = lore.call_as(&person, "canon", lore.with_campaign(input.clone())).await.unwrap_err();
            assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        }
        lore.decide_as_person(resolve("Neither, see [[Harbour]].", json!(["entry"]))).await;
        let entity = lore.get(ilse).await;
        assert_eq!(entity["entry"], format!("Neither, see [entity:{harbour}]."));
        assert_eq!(entity.get("parent"), None);
    });
}

#[test]
fn marks_are_listed_and_only_a_person_takes_them_back() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        let marked = lore.call("canon", json!({"confidence": "authoritative"})).await;
        assert_eq!(marked["rows"][0]["entities"], json!([{"entity_id": ilse, "name": "Ilse"}]));
        assert_eq!(rows(&marked["rows"][0], "fields").len(), 7);
        let draft = json!({"method": "mark", "entity_id": ilse, "confidence": "DRAFT", "fields": ["entry"]});
        assert_eq!(lore.refusal("canon", draft.clone()).await.code(), Code::Forbidden);
        let row = lore.decide_as_person(draft).await;
        assert_eq!(row["fields"], json!(["name", "type", "aliases", "parent", "date", "posts"]));
        assert_eq!(lore.update(json!({"entity_id": ilse, "entry": "New."})).await["success"], true);
        // What is superseded is kept and not found.
        lore.decide_as_person(json!({"method": "mark", "entity_id": ilse, "confidence": "SUPERSEDED"})).await;
        assert_eq!(lore.find_names(json!({"query": "Ilse"})).await, [""; 0]);
        assert_eq!(lore.find_names(json!({"query": "New"})).await, [""; 0]);
        assert_eq!(lore.get(ilse).await["name"], "Ilse");
        lore.call("canon", json!({"method": "mark", "entity_id": ilse, "confidence": "DRAFT"})).await;
        assert_eq!(lore.find_names(json!({"query": "New"})).await, ["Ilse"]);
    });
}

#[test]
fn what_is_superseded_is_in_no_list_and_no_count() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entities = json!([
            {"entity_type": "location", "name": "Harbour", "entry": "Beside the [[Mill]].", "tags": ["coast"]},
            {"entity_type": "note", "name": "Mill", "entry": "At the [[Harbour]].", "tags": ["wheel"]},
            {"entity_type": "location", "name": "Ferry", "entry": "To the [[Harbour]]."}
        ]);
        let ids = lore.create(entities).await;
        let bond = json!({"method": "add", "entity_id": ids[0], "type": "owns", "target_id": ids[1]});
        lore.call("relationships", bond).await;
        let views = async || {
            let browsed = lore.call("browse_lore", lore.with_campaign(json!({}))).await;
            let overview =
                lore.call("campaign_overview", lore.with_campaign(json!({}))).await["stats"]["entities"].clone();
            let graph = lore.call("read_mention_graph", lore.with_campaign(json!({}))).await.to_string();
            let target = CompletionTarget::Resource("lore://{campaign_id}/entity/{entity_id}".to_owned());
            let given = vec![("campaign_id".to_owned(), lore.campaign_id.clone())];
            let typed = ids[1].to_string();
            let request = CompletionRequest { target, argument: "entity_id".to_owned(), typed, given };
            let completed = lore.engine.complete(&Caller::owner(), &request, &RequestControl::default()).await;
            let count = completed.expect("a completion").total;
            let names = rows(&browsed, "rows").iter().map(|row| row["name"].clone());
            (names.collect::<Vec<_>>(), browsed["types"].clone(), browsed["tags"].clone(), overview, graph, count)
        };
        let (rows, types, tags, overview, graph, count) = views().await;
        assert_eq!(rows, ["Ferry", "Mill", "Harbour"]);
        assert_eq!((types, tags), (json!(["location", "note"]), json!(["coast", "wheel"])));
        assert_eq!(overview, json!({"location": 2, "note": 1}));
        assert!(graph.contains("Mill") && count == 1, "{graph}");
        lore.decide_as_person(json!({"method": "mark", "entity_id": ids[1], "confidence": "SUPERSEDED"})).await;
        let (rows, types, tags, overview, graph, count) = views().await;
        assert_eq!(rows, ["Ferry", "Harbour"]);
        assert_eq!((types, tags), (json!(["location"]), json!(["coast"])));
        assert_eq!(overview, json!({"location": 2}));
        assert!(!graph.contains("Mill") && graph.contains("Ferry") && count == 0, "{graph}");
    });
}

#[test]
fn players_know_nothing_of_it() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        lore.update(json!({"entity_id": ilse, "entry": "XYZZY is the killer."})).await;
        for role in [CampaignRole::Player, CampaignRole::Guest] {
            let caller = lore.caller(role);
            for input in [json!({}), json!({"method": "get", "id": "c1"}), json!({"method": "get", "id": "c9"})] {
                let refused = lore.call_as(&caller, "canon", lore.with_campaign(input)).await.unwrap_err();
                assert_eq!(refused.code(), Code::Forbidden);
            }
            let searched = lore.call_as(&caller, "find_entities", lore.with_campaign(json!({"query": "XYZZY"}))).await;
            assert!(!searched.unwrap().to_string().contains("XYZZY"));
            let read = json!({"entity_ids": [ilse], "include_posts": true});
            let read = lore.call_as(&caller, "get_entities", lore.with_campaign(read)).await.unwrap().to_string();
            assert!(!["XYZZY", "AUTHORITATIVE", "c1\""].iter().any(|secret| read.contains(secret)), "{read}");
        }
    });
}

/// Everything that is stored fits together, also after all that is derived was made anew.
async fn assert_sound_after_rebuild(journal: &dyn Journal) {
    assert_sound(journal).await;
    rebuild(journal, &Nouns::all().stream_kinds()).await.expect("a rebuild");
    assert_sound(journal).await;
}

#[test]
fn held_texts_survive_a_restart_and_are_verified_rebuilt_and_removed() {
    run(async {
        let (lore, ilse, _) = canonical_campaign().await;
        lore.update(json!({"entity_id": ilse, "entry": "XYZZY is the killer."})).await;
        lore.decide_as_person(json!({"method": "resolve", "id": "c1", "choice": "proposed", "reason": "so"})).await;
        lore.update(json!({"entity_id": ilse, "entry": "PLUGH did it."})).await;
        let shown = lore.canon(json!({"method": "get", "id": "c2"})).await;

        // Another process on the same journal knows the same.
        let clock = lore.clock.clone();
        let app = App::new(Arc::new(super::CountingEntropy::default()), clock.clone(), lore.journal.clone());
        let again = LoreCampaign {
            engine: LocalEngine::new(app),
            journal: lore.journal.clone(),
            clock,
            campaign_id: lore.campaign_id.clone(),
        };
        let get = again.with_campaign(json!({"method": "get", "id": "c2"}));
        assert_eq!(again.canon(get).await, shown);
        assert_sound_after_rebuild(&*lore.journal).await;

        // What is removed for good takes the texts of its conflicts with it.
        lore.results("delete_entities", json!({"entity_ids": [ilse]})).await;
        lore.decide_as_person(json!({"method": "resolve", "id": "c3", "choice": "proposed", "reason": "so"})).await;
        lore.call("lore_history", json!({"method": "empty", "entity_id": ilse})).await;
        assert!(rows(&lore.call("canon", json!({"status": "resolved"})).await, "rows").is_empty());
        assert_sound_after_rebuild(&*lore.journal).await;
        for text in ["XYZZY", "PLUGH", "Rings the bells"] {
            assert!(!stored_texts(&lore).await.iter().any(|stored| stored.contains(text)), "{text} is still stored");
        }
    });
}

#[test]
fn a_check_finds_contradictions_and_a_person_says_what_is_meant_so() {
    run(async {
        let lore = LoreCampaign::new().await;
        let created = json!([
            {"entity_type": "character", "name": "Ilse Torn"},
            {"entity_type": "character", "name": "Ilse Thorn"},
            {"entity_type": "location", "name": "Harbour"},
            {"entity_type": "location", "name": "The hills"},
        ]);
        let ids = lore.create(created).await;
        for (place, date) in [("Harbour", "1204-03-15"), ("The hills", "1204-03-15"), ("Harbour", "1204-03-20")] {
            let event = json!({"method": "add", "date": date, "description": "Seen", "entity_ids": [ids[0], place]});
            lore.call("timeline", event).await;
        }
        lore.update(json!({"entity_id": ids[3], "entry": "Above."})).await;
        lore.call("canon", json!({"method": "mark", "entity_id": ids[3], "confidence": "AUTHORITATIVE"})).await;
        lore.update(json!({"entity_id": ids[3], "entry": "Below."})).await;
        let died = lore.canon(json!({"method": "mark", "entity_id": ids[0], "died": "1204-03-16"})).await;
        assert_eq!(died["died"], "1204-03-16");
        let fault = lore.refusal("canon", json!({"method": "mark", "entity_id": ids[0], "died": "long ago"})).await;
        assert_eq!(fault.body().path.as_deref(), Some("/died"));
        let checked = lore.call("canon", json!({"method": "check"})).await;
        let found: Vec<(&str, &str)> = rows(&checked, "rows")
            .iter()
            .map(|row| (row["id"].as_str().unwrap(), row["severity"].as_str().unwrap()))
            .collect();
        assert_eq!(
            found,
            [
                ("acts_after_death:1:t3", "critical"),
                ("two_places:1:t1:t2", "critical"),
                ("c1", "major"),
                ("near_name:1:2", "minor")
            ]
        );
        assert_eq!(checked["summary"], json!({"critical": 2, "major": 1, "minor": 1}));
        // Page by page it is the same.
        let (mut cursor, mut paged) = (Value::Null, Vec::new());
        loop {
            let mut input = json!({"method": "check", "limit": 1});
            if cursor.is_string() {
                input["cursor"] = cursor;
            }
            let page = lore.call("canon", input).await;
            paged.extend(rows(&page, "rows").iter().map(|row| row["id"].as_str().unwrap().to_owned()));
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        assert_eq!(paged, found.iter().map(|(id, _)| *id).collect::<Vec<_>>());
        let about = lore.call("canon", json!({"method": "check", "entity_id": ids[1]})).await;
        assert_eq!(rows(&about, "rows").len(), 1);

        let meant = json!({"method": "resolve", "id": "near_name:1:2", "reason": "sisters"});
        assert_eq!(lore.refusal("canon", meant.clone()).await.code(), Code::Forbidden);
        let seen = lore.canon(json!({"method": "acknowledge", "id": "near_name:1:2"})).await;
        assert_eq!(seen["status"], "ACKNOWLEDGED");
        assert_eq!(lore.decide_as_person(meant).await["log"][0]["reason"], "sisters");
        let checked = lore.call("canon", json!({"method": "check"})).await;
        assert_eq!(checked["summary"]["minor"], 0);
        let resolved = lore.call("canon", json!({"method": "check", "status": "RESOLVED"})).await;
        assert_eq!(resolved["rows"][0]["id"], "near_name:1:2");
        let unknown = json!({"method": "acknowledge", "id": "near_name:1:9"});
        assert_eq!(lore.refusal("canon", unknown).await.code(), Code::NotFound);
        lore.decide_as_person(json!({"method": "reopen", "id": "near_name:1:2", "reason": "not sure"})).await;
        assert_eq!(lore.call("canon", json!({"method": "check"})).await["summary"]["minor"], 1);
    });
}

#[test]
fn an_import_is_held_once_and_says_so() {
    run(async {
        let lore = LoreCampaign::new().await;
        let import = |text: &str| {
            let file = SourceFile { path: "Ilse.md".to_owned(), content: Some(text.as_bytes().to_vec()) };
            skald_lore_files::import_files(&[file]).expect("an import")
        };
        let app = lore.engine.app();
        let take = async |text: &str| {
            let report = app
                .import_lore(
                    &Caller::owner(),
                    &lore.campaign_id,
                    &import(text),
                    ImportOptions::default(),
                    &mut |_, _| {},
                )
                .await;
            report.expect("a report")
        };
        assert_eq!(take("Rings the bells.").await.created, 1);
        lore.call("canon", json!({"method": "mark", "entity_id": "Ilse", "confidence": "AUTHORITATIVE"})).await;
        for _ in 0..2 {
            let report = take("Hates the bells.").await;
            assert_eq!((report.created, report.updated), (0, 0));
            assert!(report.losses.iter().any(|loss| loss.what.contains("c1")), "{:?}", report.losses);
            assert_eq!(rows(&lore.call("canon", json!({})).await, "rows").len(), 1);
        }
        assert_eq!(lore.get("Ilse").await["entry"], "Rings the bells.");
        lore.decide_as_person(json!({"method": "resolve", "id": "c1", "choice": "proposed", "reason": "so"})).await;
        assert_eq!(lore.get("Ilse").await["entry"], "Hates the bells.");
        let report = take("Hates the bells.").await;
        assert!(report.losses.is_empty(), "{:?}", report.losses);
    });
}
