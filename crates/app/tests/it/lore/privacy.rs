//! Tests of what players and guests learn of private lore: nothing, by no operation, resource, completion or error.
//!
//! Every private field holds a word that begins with `zq`. The same reads are made in a campaign without the private
//! rows: the answers must be the same bytes.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Changes, Code, CompletionRequest, CompletionTarget, Engine, Fault, RequestControl,
    ResourceChange,
};

use super::{LoreCampaign, ids, names, rows};
use crate::universe::run;

const ROLES: [CampaignRole; 2] = [CampaignRole::Player, CampaignRole::Guest];

/// The words in private fields, by which the game master finds something.
const WORDS: [&str; 10] = [
    "zqnamevx",
    "zqaliasvx",
    "zqtypevx",
    "zqtagvx",
    "zqentryvx",
    "zqpostnamevx",
    "zqpostentryvx",
    "zqchildvx",
    "zqsecretnamevx",
    "zqsecretentryvx",
];

/// A private entity, and an id that no entity has.
const PRIVATE_ID: u64 = 4;
const UNKNOWN_ID: u64 = 77;

/// A campaign with three public entities; the text of the first mentions the entity that will be private.
async fn public_lore() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    let created = lore
        .create(json!([
            {
                "entity_type": "location", "name": "Harbour", "type": "Town", "tags": ["coast"],
                "entry": format!("The harbour lies by [entity:{PRIVATE_ID}] and [[Ferry]].")
            },
            {"entity_type": "item", "name": "Ferry", "entry": "A ferry.", "date": "2025-05-29"},
            {"entity_type": "character", "name": "Mira", "type": "NPC", "aliases": ["Mi"]}
        ]))
        .await;
    assert_eq!(created, [1, 2, 3]);
    lore.create_post(json!({"entity_id": 1, "name": "Prices", "entry": "Fish is cheap."})).await;
    for (source, word, target) in [("Harbour", "contains", "Ferry"), ("Harbour", "knows", "Mira")] {
        let relationship = json!({"method": "add", "entity_id": source, "type": word, "target_id": target});
        lore.call("relationships", relationship).await;
    }
    let event = json!({
        "method": "add", "date": "3rd of Rain, 1204", "sort": "1204-03-03", "description": "The ferry sank, with fish.",
        "entity_ids": ["Ferry"], "is_player_known": true
    });
    lore.call("timeline", event).await;
    lore.advance(60);
    lore
}

/// The same campaign with a private entity and its posts, a private child, a private post, an archived private entity,
/// and a private entity with the name and the alias of public ones.
async fn private_lore() -> LoreCampaign {
    let lore = public_lore().await;
    let secret = json!({
        "entity_type": "location", "name": "zqnamevx", "type": "zqtypevx", "tags": ["zqtagvx", "coast"],
        "aliases": ["zqaliasvx"], "entry": "A zqentryvx near [[Harbour]] and the [[Ferry]].", "date": "zqdatevx",
        "image": "https://example.org/zqimagevx.png", "is_private": true
    });
    assert_eq!(lore.create_one(secret).await, PRIVATE_ID);
    let post = json!({"entity_id": PRIVATE_ID, "name": "zqpostnamevx", "entry": "The zqpostentryvx, by [entity:3]."});
    lore.create_post(post).await;
    let child = json!({
        "entity_type": "note", "name": "zqchildvx", "parent": 1, "entry": "On the [[Ferry]].", "date": "2025-05-30"
    });
    lore.create(json!([child])).await;
    let post = json!({
        "entity_id": 1, "name": "zqsecretnamevx", "entry": "A zqsecretentryvx about [[Mira]] and fish.", "is_private": true
    });
    lore.create_post(post).await;
    let archived = json!({"entity_type": "note", "name": "zqarchivedvx", "entry": "On the [[Ferry]], of fish."});
    let archived = lore.create_one(archived).await;
    lore.delete(archived).await;
    let twin = json!({"entity_type": "character", "name": "Mira", "aliases": ["Ferry", "Mi"], "is_private": true});
    lore.create(json!([twin])).await;
    // By its own words, by an end, and by both.
    for (source, target, visible_to) in [(2, 3, "gm"), (3, PRIVATE_ID, "table"), (PRIVATE_ID, 2, "gm")] {
        let relationship = json!({
            "method": "add", "entity_id": source, "target_id": target, "type": "zqrelatesvx", "inverse": "zqrelatedvx",
            "description": "A zqbondvx.", "visible_to": [visible_to], "tone": "fearful", "strength": 9
        });
        lore.call("relationships", relationship).await;
    }
    let long = format!("Under the zqeventvx of fish. {}", "The zqlongvx goes on. ".repeat(40));
    for (description, date) in [("The zqeventvx of fish.", "1204-03-02"), (long.as_str(), "1204-03-04")] {
        let event = json!({
            "method": "add", "date": "zqrainvx", "sort": date, "description": description, "entity_ids": [2, PRIVATE_ID]
        });
        lore.call("timeline", event).await;
    }
    // An event that everybody knows does not name a private entity.
    let change = json!({"method": "update", "event_id": 1, "entity_ids": [2, PRIVATE_ID]});
    lore.call("timeline", change).await;
    let tag = json!({"campaign_id": lore.campaign_id, "changes": [{"create_tag": {"name": "zqunusedvx"}}]});
    assert_eq!(lore.call("write_lore", tag).await["results"], json!([{"tag_id": 3}]));
    lore
}

/// Reads of programs that keep a copy of what they may see.
fn row_reads(campaign_id: &str) -> Vec<(&'static str, Value)> {
    let page = |number: usize, rows: usize| json!({"number": number, "rows": rows});
    let parts = json!({"entry": true, "posts": true, "relations": true});
    let mut filters = vec![
        json!({}),
        json!({"is_private": true}),
        json!({"archived": true}),
        json!({"ids": [1, 2, 3]}),
        json!({"entity_ids": [1, 2, 3, PRIVATE_ID, 5, 6, 7, UNKNOWN_ID]}),
        json!({"parent": 1}),
        json!({"parent": PRIVATE_ID}),
        json!({"has_posts": true}),
        json!({"has_image": true}),
        json!({"date": [{"is_empty": false}]}),
        json!({"date_from": "2025-05-30"}),
        json!({"tags": {"any_of": [1, 2, 3]}}),
        json!({"tags": "untagged"}),
        json!({"updated_after": "2026-01-15T12:00:30Z"}),
    ];
    for word in WORDS.into_iter().chain(["mira", "zq"]) {
        filters.push(json!({"name": [{"contains": word}]}));
        filters.push(json!({"type": [{"equals": word}]}));
    }
    let mut calls = Vec::new();
    for filter in filters {
        for (page, newest_first) in [(page(1, 45), false), (page(1, 2), true), (page(2, 2), false)] {
            let input = json!({
                "campaign_id": campaign_id, "filter": filter, "page": page, "newest_first": newest_first, "parts": parts
            });
            calls.push(("list_entities", input));
        }
    }
    for filter in [json!({}), json!({"ids": [2, 3]}), json!({"name": [{"contains": "zq"}]})] {
        let mut input = filter;
        input["campaign_id"] = campaign_id.into();
        input["page"] = page(1, 45);
        calls.push(("list_tags", input));
    }
    calls
}

/// Calls that read, most of them about what is private.
fn reads(campaign_id: &str) -> Vec<(&'static str, Value)> {
    let mut filters = vec![
        json!({}),
        json!({"limit": 0}),
        json!({"limit": 2}),
        json!({"limit": 2, "page": 2}),
        json!({"include_full": false}),
        json!({"tags": ["coast"]}),
        json!({"query": "coast"}),
        json!({"query": "harbour"}),
        json!({"query": "ferry"}),
        json!({"query": "fish"}),
        json!({"query": "mira"}),
        json!({"query": "location"}),
        json!({"query": "npc"}),
        json!({"name": "i"}),
        json!({"name": "Mira", "name_exact": true}),
        json!({"last_synced": "2026-01-15T11:00:00Z"}),
        json!({"last_synced": "2026-01-15T12:00:30Z"}),
        json!({"date_range": {"start": "2020-01-01"}}),
        json!({"date_range": {"start": "2025-05-30", "end": "2025-05-30"}}),
    ];
    for entity_type in ["character", "location", "note", "item", "journal", "npc"] {
        filters.push(json!({"entity_type": entity_type}));
    }
    for word in WORDS.into_iter().chain(["zqdatevx", "zqimagevx", "zqarchivedvx", "zqna", "zq"]) {
        filters.extend([
            json!({"query": word}),
            json!({"query": word, "include_full": false}),
            json!({"name": word}),
            json!({"name": word, "name_fuzzy": true}),
            json!({"name": word, "name_exact": true}),
            json!({"type": word}),
            json!({"tags": [word]}),
            json!({"query": "fish", "tags": [word]}),
        ]);
    }
    let mut calls: Vec<(&'static str, Value)> = filters.into_iter().map(|filter| ("find_entities", filter)).collect();
    let all_ids: Vec<u64> = (1..=9).chain([UNKNOWN_ID]).collect();
    for since in ["2026-01-15T11:00:00Z", "2026-01-15T12:00:30Z"] {
        calls.push(("check_entity_updates", json!({"entity_ids": all_ids, "last_synced": since})));
    }
    calls.push(("get_entities", json!({"entity_ids": all_ids, "include_posts": true})));
    calls.push((
        "get_entities",
        json!({"entity_ids": ["Mira", "Mi", "Ferry", "harbour", "Harbor"], "include_posts": true}),
    ));
    calls.push(("get_entities", json!({"entity_ids": WORDS})));
    calls.push(("get_entities", json!({"entity_ids": ["zqnamev", "zqarchivedvx", "actor_zq"]})));
    for entity_id in &all_ids {
        calls.push(("read_entity", json!({"campaign_id": campaign_id, "entity_id": entity_id})));
    }
    calls.push(("lore_graph", json!({"campaign_id": campaign_id})));
    calls.push(("kanka_context", json!({})));
    calls.extend(canon_reads(campaign_id));
    calls.extend(row_reads(campaign_id));
    calls
}

/// Reads of relationships, the timeline and what is told in short.
fn canon_reads(campaign_id: &str) -> Vec<(&'static str, Value)> {
    let mut calls = vec![("campaign_overview", json!({})), ("timeline", json!({})), ("relationships", json!({}))];
    for include in ["written", "recorded", "all"] {
        calls.push(("timeline", json!({"include": include})));
    }
    calls.push(("timeline", json!({"start_date": "1204", "end_date": "1204-03"})));
    calls.push(("read_timeline", json!({"campaign_id": campaign_id, "entity_id": "Ferry"})));
    for event_id in [2, 3, UNKNOWN_ID] {
        calls.push(("timeline", json!({"event_id": event_id})));
    }
    for entity_id in [1, 2, 3, PRIVATE_ID, UNKNOWN_ID] {
        calls.push(("relationships", json!({"entity_id": entity_id})));
        calls.push(("relationships", json!({"method": "map", "entity_id": entity_id, "depth": 5})));
        calls.push(("read_relationships", json!({"campaign_id": campaign_id, "entity_id": entity_id})));
        calls.push(("relationships", json!({"method": "path", "entity_id": 2, "target_id": entity_id})));
        calls.push(("entity_compare", json!({"entity_id_1": 2, "entity_id_2": entity_id})));
        calls.push(("timeline", json!({"entity_ids": [entity_id]})));
    }
    let places = json!(["posts", "timeline", "notes"]);
    let words =
        WORDS.into_iter().chain(["fish", "ferry", "zqeventvx", "zqlongvx", "zqrainvx", "zqrelatesvx", "zq", ""]);
    for word in words {
        calls.push(("entity_search", json!({"campaign_id": campaign_id, "query": word, "in": places})));
        calls.push(("relationships", json!({"types": [format!("x{word}")]})));
    }
    calls.push(("relationships", json!({"types": ["zqrelatesvx", "zqrelatedvx", "knows"]})));
    calls
}

/// An answer or an error as its bytes.
fn bytes(answer: Result<Value, Fault>) -> String {
    match answer {
        Ok(answer) => answer.to_string(),
        Err(fault) => format!("{fault} {}", fault.envelope()),
    }
}

#[test]
fn reads_answer_the_same_with_and_without_private_rows() {
    run(async {
        let (without, with) = (public_lore().await, private_lore().await);
        assert_eq!(without.campaign_id, with.campaign_id);
        for role in ROLES {
            let caller = with.caller(role);
            for (operation, input) in reads(&with.campaign_id) {
                let expected = bytes(without.call_as(&caller, operation, input.clone()).await);
                let answer = bytes(with.call_as(&caller, operation, input.clone()).await);
                assert_eq!(answer, expected, "{operation} {input} as {role:?}");
                // An error repeats the name that was asked for, and an answer to a search repeats nothing.
                let is_echo = operation != "find_entities" && input.to_string().contains("zq");
                assert!(is_echo || !answer.contains("zq"), "{operation} {input}: {answer}");
            }
        }
    });
}

#[test]
fn the_game_master_finds_everything_private() {
    run(async {
        let lore = private_lore().await;
        let gm = lore.caller(CampaignRole::Gm);
        for word in WORDS {
            let found = lore.call_as(&gm, "find_entities", json!({"query": word})).await.expect("an answer");
            // Beside it the public entity that mentions it, if it is found by name.
            assert!((1..=2).contains(&rows(&found, "entities").len()), "{word}: {found}");
        }
        let read = json!({"entity_ids": [PRIVATE_ID], "include_posts": true});
        let read = lore.call_as(&gm, "get_entities", read).await.expect("an answer")["results"][0].to_string();
        for word in
            ["zqnamevx", "zqaliasvx", "zqtypevx", "zqtagvx", "zqentryvx", "zqdatevx", "zqimagevx", "zqpostentryvx"]
        {
            assert!(read.contains(word), "{word}: {read}");
        }
        let all = lore.call_as(&gm, "find_entities", json!({"limit": 0})).await.expect("an answer");
        let public = lore.call_as(&lore.caller(CampaignRole::Guest), "find_entities", json!({"limit": 0})).await;
        assert_eq!((ids(&all).len(), ids(&public.expect("an answer"))), (6, vec![1, 2, 3]));
    });
}

#[test]
fn resources_are_the_same_with_and_without_private_rows() {
    run(async {
        let (without, with) = (public_lore().await, private_lore().await);
        let campaign_id = &with.campaign_id;
        let mut uris = vec![
            "kanka://context".to_owned(),
            format!("lore://{campaign_id}/graph.svg"),
            format!("lore://{campaign_id}/entities"),
            format!("lore://{campaign_id}/entities?limit=2"),
            format!("lore://{campaign_id}/entities?entity_type=note"),
            format!("lore://{campaign_id}/entities?query=fish"),
            format!("imagineer://campaigns/{campaign_id}/entities"),
            format!("imagineer://campaigns/{campaign_id}/entities?query=fish"),
            format!("imagineer://campaigns/{campaign_id}/timeline"),
            format!("imagineer://campaigns/{campaign_id}/timeline?include=all"),
        ];
        uris.extend((1..=5).map(|id| format!("lore://{campaign_id}/relationships/{id}?depth=5")));
        uris.extend(WORDS.iter().map(|word| format!("lore://{campaign_id}/entities?query={word}")));
        uris.extend((1..=9).chain([UNKNOWN_ID]).map(|id| format!("lore://{campaign_id}/entity/{id}")));
        for role in ROLES {
            let caller = with.caller(role);
            for uri in &uris {
                let read = async |lore: &LoreCampaign| {
                    let contents = lore.engine.read(&caller, uri, &RequestControl::default()).await;
                    contents.map_or_else(|fault| bytes(Err(fault)), skald_app::ReadContents::into_text)
                };
                let (expected, text) = (read(&without).await, read(&with).await);
                assert_eq!(text, expected, "{uri} as {role:?}");
                assert!(!text.contains("zq"), "{uri} as {role:?}: {text}");
            }
        }
    });
}

#[test]
fn completions_are_the_same_with_and_without_private_rows() {
    run(async {
        let (without, with) = (public_lore().await, private_lore().await);
        let targets = [
            ("lore://{campaign_id}/entity/{entity_id}", &["campaign_id", "entity_id"][..]),
            (
                "lore://{campaign_id}/entities{?entity_type,query,cursor,limit}",
                &["campaign_id", "entity_type", "query", "cursor", "limit"],
            ),
            ("lore://{campaign_id}/graph.svg", &["campaign_id"]),
            ("lore://{campaign_id}/relationships/{entity_id}{?depth,limit}", &["campaign_id", "entity_id"]),
        ];
        for role in ROLES {
            let caller = with.caller(role);
            for (uri, arguments) in targets {
                for (argument, typed) in
                    arguments.iter().flat_map(|argument| ["", "zq", "z", "4", "m"].map(|typed| (argument, typed)))
                {
                    let complete = async |lore: &LoreCampaign| {
                        let request = CompletionRequest {
                            target: CompletionTarget::Resource(uri.to_owned()),
                            argument: (*argument).to_owned(),
                            typed: typed.to_owned(),
                            given: vec![("campaign_id".to_owned(), lore.campaign_id.clone())],
                        };
                        lore.engine.complete(&caller, &request, &RequestControl::default()).await.expect("values")
                    };
                    let (expected, completion) = (complete(&without).await, complete(&with).await);
                    assert_eq!(completion, expected, "{uri} {argument} {typed:?} as {role:?}");
                    assert!(!format!("{completion:?}").contains("zq"), "{completion:?}");
                }
            }
        }
    });
}

#[test]
fn a_private_entity_and_an_unknown_one_are_the_same_error() {
    run(async {
        let lore = private_lore().await;
        for role in ROLES {
            let caller = lore.caller(role);
            let asked = |id: u64| {
                [
                    ("get_entities", json!({"entity_ids": [id], "include_posts": true})),
                    ("get_entities", json!({"entity_ids": [id.to_string()]})),
                    ("read_entity", json!({"campaign_id": lore.campaign_id, "entity_id": id})),
                    ("check_entity_updates", json!({"entity_ids": [id], "last_synced": "2026-01-01"})),
                ]
            };
            for ((operation, private), (_, unknown)) in asked(PRIVATE_ID).into_iter().zip(asked(UNKNOWN_ID)) {
                let private = bytes(lore.call_as(&caller, operation, private).await);
                let unknown = bytes(lore.call_as(&caller, operation, unknown).await);
                assert_eq!(private, unknown.replace(&UNKNOWN_ID.to_string(), &PRIVATE_ID.to_string()), "{operation}");
            }
        }
    });
}

#[test]
fn an_actor_does_not_name_a_private_entity() {
    run(async {
        let lore = private_lore().await;
        lore.call("actor_create", json!({"name": "Mira", "kind": "PC"})).await;
        assert_eq!(lore.update(json!({"entity_id": PRIVATE_ID, "actor_id": "Mira"})).await["success"], true);
        let input = json!({"view": "actors", "campaign_id": lore.campaign_id});
        for role in ROLES {
            let read = lore.call_as(&lore.caller(role), "campaign_read", input.clone()).await.expect("actors");
            assert_eq!(rows(&read, "actors")[0].get("entity_id"), None, "{role:?}");
        }
        assert_eq!(rows(&lore.call("campaign_read", input).await, "actors")[0]["entity_id"], PRIVATE_ID);
    });
}

#[test]
fn a_private_parent_or_child_is_not_named() {
    run(async {
        let lore = private_lore().await;
        assert_eq!(lore.update(json!({"entity_id": 2, "parent": PRIVATE_ID})).await["success"], true);
        for role in ROLES {
            let caller = lore.caller(role);
            for (operation, input) in reads(&lore.campaign_id) {
                let is_echo = operation != "find_entities" && input.to_string().contains("zq");
                let answer = bytes(lore.call_as(&caller, operation, input.clone()).await);
                assert!(is_echo || !answer.contains("zq"), "{operation} {input}: {answer}");
            }
            let read = lore.call_as(&caller, "get_entities", json!({"entity_ids": [1, 2]})).await.expect("an answer");
            let results = rows(&read, "results");
            assert_eq!((results[0].get("children"), results[1].get("parent")), (None, None), "{read}");
        }
        assert_eq!(lore.get(2).await["parent"]["name"], "zqnamevx", "the game master sees it");
    });
}

#[test]
fn what_becomes_private_is_gone_and_what_becomes_public_is_there() {
    run(async {
        let lore = public_lore().await;
        let player = lore.caller(CampaignRole::Player);
        let found = async |query: &str| {
            names(&lore.call_as(&player, "find_entities", json!({"query": query})).await.expect("an answer"))
        };
        assert_eq!(found("fish").await, ["Harbour"]);
        let post = json!([{"entity_id": 1, "post_id": 1, "is_private": true}]);
        lore.call("update_posts", json!({"updates": post})).await;
        assert_eq!(found("fish").await, [""; 0]);
        let post = json!([{"entity_id": 1, "post_id": 1, "is_private": false}]);
        lore.call("update_posts", json!({"updates": post})).await;
        lore.update(json!({"entity_id": 1, "is_private": true})).await;
        assert_eq!(
            (found("fish").await, found("harbour").await),
            (Vec::new(), Vec::new()),
            "its posts are private too"
        );
        lore.update(json!({"entity_id": 1, "is_private": false})).await;
        assert_eq!((found("fish").await, found("harbour").await.len()), (vec!["Harbour".to_owned()], 1));
    });
}

#[test]
fn players_and_guests_write_nothing() {
    run(async {
        let lore = private_lore().await;
        let revision = lore.stream_revision().await;
        for role in ROLES {
            let caller = lore.caller(role);
            for id in [1, PRIVATE_ID, UNKNOWN_ID] {
                for (operation, input) in [
                    ("create_entities", json!({"entities": [{"entity_type": "note", "name": "Mine", "parent": id}]})),
                    ("update_entities", json!({"updates": [{"entity_id": id, "name": "Mine"}]})),
                    ("delete_entities", json!({"entity_ids": [id]})),
                    ("create_posts", json!({"posts": [{"entity_id": id, "name": "Mine"}]})),
                    ("update_posts", json!({"updates": [{"entity_id": id, "post_id": 2, "name": "Mine"}]})),
                    ("delete_posts", json!({"deletions": [{"entity_id": id, "post_id": 2}]})),
                    (
                        "write_lore",
                        json!({"campaign_id": lore.campaign_id, "changes": [{"delete_entity": {"entity_id": id}}]}),
                    ),
                    ("lore_history", json!({"entity_id": id})),
                    ("lore_history", json!({"method": "diff", "entity_id": id})),
                    ("lore_history", json!({"method": "restore", "entity_id": id, "to": 1})),
                    ("lore_history", json!({"method": "undelete", "entity_id": id})),
                    ("lore_history", json!({"method": "empty", "entity_id": id})),
                    ("lore_history", json!({"method": "archive"})),
                    ("lore_history", json!({"method": "empty"})),
                ] {
                    let answer = lore.call_as(&caller, operation, input.clone()).await;
                    let fault = answer.expect_err("it is for game masters");
                    assert_eq!(fault.code(), Code::Forbidden, "{operation} {input}");
                    assert!(!bytes(Err(fault)).contains("zq"), "{operation} {input}");
                }
            }
        }
        assert_eq!(lore.stream_revision().await, revision);
        // Somebody of another campaign finds no campaign at all.
        let stranger = crate::universe::caller_with_roles(&[("camp_elsewhere", CampaignRole::Gm)]);
        for operation in ["find_entities", "lore_graph", "lore_history"] {
            let input = match operation {
                "lore_history" => json!({"campaign_id": lore.campaign_id, "method": "archive"}),
                _ => json!({"campaign_id": lore.campaign_id}),
            };
            let fault = lore.call_as(&stranger, operation, input).await.expect_err("it is not theirs");
            assert_eq!(fault.code(), Code::NotFound, "{operation}");
        }
    });
}

/// The changes of a campaign's lore after a place in the journal.
pub(super) struct ChangeListener<'a> {
    lore: &'a LoreCampaign,
    place: Arc<str>,
}

impl<'a> ChangeListener<'a> {
    pub(super) async fn new(lore: &'a LoreCampaign) -> Self {
        lore.engine.journal_end().await;
        let changes: Changes = lore.engine.changes(&Caller::owner(), None).await;
        Self { lore, place: changes.place().expect("a place") }
    }

    /// The URIs of the lore that changed since the last call, as a game master and as a player hear them.
    pub(super) async fn heard(&mut self) -> (BTreeSet<String>, BTreeSet<String>) {
        let mut changes = self.lore.engine.changes(&Caller::owner(), Some(&self.place)).await;
        let news = changes.next().await.expect("news");
        assert!(!news.is_everything(), "{news:?}");
        self.place = changes.place().expect("a place");
        let [gm, player] = [CampaignRole::Gm, CampaignRole::Player].map(|role| {
            let caller = self.lore.caller(role);
            let uris = news.changes_for(&caller).filter_map(|told| match told.change {
                ResourceChange::Resource(uri) => Some(uri.to_string()),
                ResourceChange::ResourceList => None,
            });
            uris.collect::<BTreeSet<String>>()
        });
        (gm, player)
    }

    /// What changes with an entity that has links to and from others.
    fn linked_uris(&self, entity_id: u64, others: &[u64]) -> BTreeSet<String> {
        let page = |id: &u64| format!("lore://{}/entity/{id}", self.lore.campaign_id);
        self.uris(entity_id).into_iter().chain(others.iter().map(page)).collect()
    }

    fn uris(&self, entity_id: u64) -> BTreeSet<String> {
        let campaign_id = &self.lore.campaign_id;
        let lore = ["entities".to_owned(), "graph.svg".to_owned(), format!("entity/{entity_id}")];
        let lore = lore.map(|end| format!("lore://{campaign_id}/{end}"));
        lore.into_iter().chain([format!("imagineer://campaigns/{campaign_id}/entities")]).collect()
    }
}

#[test]
fn only_game_masters_hear_of_private_changes() {
    run(async {
        let lore = public_lore().await;
        let mut listener = ChangeListener::new(&lore).await;
        let secret = json!({"entity_type": "location", "name": "zqnamevx", "is_private": true});
        assert_eq!(lore.create_one(secret).await, PRIVATE_ID);
        let nothing = BTreeSet::new;
        assert_eq!(listener.heard().await, (listener.uris(PRIVATE_ID), nothing()), "created");
        lore.update(json!({"entity_id": PRIVATE_ID, "entry": "zqentryvx"})).await;
        assert_eq!(listener.heard().await, (listener.uris(PRIVATE_ID), nothing()), "updated");
        let post_id = lore.create_post(json!({"entity_id": PRIVATE_ID, "name": "zqpostnamevx"})).await;
        assert_eq!(listener.heard().await, (listener.uris(PRIVATE_ID), nothing()), "a post of it");
        let updates = json!([{"entity_id": PRIVATE_ID, "post_id": post_id, "entry": "zqpostentryvx"}]);
        lore.call("update_posts", json!({"updates": updates})).await;
        assert_eq!(listener.heard().await, (listener.uris(PRIVATE_ID), nothing()), "an update of its post");
        lore.delete(PRIVATE_ID).await;
        assert_eq!(listener.heard().await, (listener.linked_uris(PRIVATE_ID, &[1]), nothing()), "deleted");
        let post = json!({"entity_id": 1, "name": "zqsecretnamevx", "is_private": true});
        let post_id = lore.create_post(post).await;
        assert_eq!(listener.heard().await, (listener.uris(1), nothing()), "a private post of a public entity");
        lore.call("delete_posts", json!({"deletions": [{"entity_id": 1, "post_id": post_id}]})).await;
        assert_eq!(listener.heard().await, (listener.uris(1), nothing()), "deleted");
        lore.history(json!({"method": "empty"})).await;
        let (_, player) = listener.heard().await;
        assert_eq!(player, nothing(), "the archive is emptied");
        lore.update(json!({"entity_id": 1, "entry": "News for all."})).await;
        // It mentioned the ferry. The private entity is gone for good.
        let uris = listener.linked_uris(1, &[2]);
        assert_eq!(listener.heard().await, (uris.clone(), uris), "a public change");
    });
}

/// Whoever watches the list of entities would not look again, though there is one more or one fewer.
#[test]
fn players_hear_of_what_becomes_public_or_private() {
    run(async {
        let lore = public_lore().await;
        let mut listener = ChangeListener::new(&lore).await;
        for is_private in [true, false] {
            lore.update(json!({"entity_id": 1, "is_private": is_private})).await;
            let uris = listener.linked_uris(1, &[2]);
            assert_eq!(listener.heard().await, (uris.clone(), uris), "is_private: {is_private}");
        }
    });
}

/// A tag that only hidden entities have does not take the place of one with other accents.
#[test]
fn a_secret_tag_does_not_hide_one_with_other_accents() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create_one(json!({"entity_type": "item", "name": "Lamp", "tags": ["Öl"]})).await;
        let found = async |caller: &Caller| {
            let asked = json!({"campaign_id": lore.campaign_id, "tags": ["ol"]});
            names(&lore.call_as(caller, "find_entities", asked).await.expect("an answer"))
        };
        let callers = ROLES.map(|role| lore.caller(role));
        for caller in &callers {
            assert_eq!(found(caller).await, ["Lamp"]);
        }
        let hidden = json!({"entity_type": "item", "name": "Jar", "tags": ["Ol"], "is_private": true});
        let hidden = lore.create_one(hidden).await;
        for caller in &callers {
            assert_eq!(found(caller).await, ["Lamp"]);
        }
        assert_eq!(found(&Caller::owner()).await, ["Jar"], "game masters see the tag that is meant");
        lore.update(json!({"entity_id": hidden, "is_private": false})).await;
        for caller in &callers {
            assert_eq!(found(caller).await, ["Jar"]);
        }
    });
}
