//! Tests of universes through the engine: permissions, stored answers, lists and change notifications.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Code, CompletionRequest, CompletionTarget, Conversation, Engine, Fault, Holder, LocalEngine,
    Principal, PrincipalKind, RequestControl, limits,
};

use crate::engine::engine;

pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
}

pub(crate) fn caller_with_roles(roles: &[(&str, CampaignRole)]) -> Caller {
    let roles: BTreeMap<String, CampaignRole> = roles.iter().map(|(id, role)| ((*id).to_owned(), *role)).collect();
    let holder = Holder::new(&format!("token_{roles:?}"), "somebody", PrincipalKind::Human, roles);
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation: Conversation::None }
}

pub(crate) async fn call(engine: &LocalEngine, caller: &Caller, operation: &str, input: Value) -> Result<Value, Fault> {
    engine.call(caller, operation, input, &RequestControl::default()).await
}

pub(crate) async fn call_as_owner(engine: &LocalEngine, operation: &str, input: Value) -> Value {
    call(engine, &Caller::owner(), operation, input).await.expect("it is right")
}

async fn create_universe(engine: &LocalEngine, id: &str, campaign_id: Option<&str>) {
    let mut input = json!({"method": "create", "universeId": id, "name": id});
    if let Some(campaign_id) = campaign_id {
        input["campaignId"] = campaign_id.into();
    }
    call_as_owner(engine, "universe", input).await;
}

pub(crate) fn tick_command(id: &str) -> Value {
    json!({"universeId": id, "command": {"type": "tick"}})
}

/// Reads all pages of the list of universes and returns the ids in order. Between pages it creates universes in
/// `campaigns`.
async fn list_all_pages(engine: &LocalEngine, caller: &Caller, campaigns: &[String], limit: usize) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), Value::Null);
    for number in 0.. {
        let mut input = json!({"limit": limit});
        if cursor.is_string() {
            input["cursor"] = cursor;
        }
        let page = call(engine, caller, "universe_read", input).await.expect("a page");
        let rows = page["universes"].as_array().expect("a list");
        assert!(rows.len() <= limit);
        ids.extend(rows.iter().map(|row| row["id"].as_str().expect("an id").to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        create_universe(engine, &format!("later-{limit}-{number}"), Some(&campaigns[number % campaigns.len()])).await;
    }
    ids
}

#[test]
fn whoever_has_a_role_in_some_campaigns_pages_through_these_alone() {
    run(async {
        let engine = crate::gate::engine();
        let mut campaigns = Vec::new();
        for _ in 0..5 {
            let campaign =
                call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "HUMAN"})).await;
            campaigns.push(campaign["id"].as_str().expect("an id").to_owned());
        }
        for number in 0..23 {
            create_universe(&engine, &format!("u-{number:02}"), campaigns.get(number % 6).map(String::as_str)).await;
        }
        let some = caller_with_roles(&[(&campaigns[1], CampaignRole::Guest), (&campaigns[4], CampaignRole::Gm)]);
        let mut expected: Vec<String> =
            (0..23).filter(|number| matches!(number % 6, 1 | 4)).map(|number| format!("u-{number:02}")).collect();
        let all = call(&engine, &some, "universe_read", json!({"limit": 100})).await.expect("a page");
        let listed: Vec<&str> =
            all["universes"].as_array().expect("a list").iter().filter_map(|row| row["id"].as_str()).collect();
        let order = listed.clone();
        expected.sort_by_key(|id| order.iter().position(|listed| listed == id));
        assert_eq!(listed, expected);
        // Universes that are created between pages, in other campaigns or at the top of the list, shift no page.
        let others = [campaigns[0].clone(), campaigns[2].clone()];
        for limit in [1, 3, 50] {
            assert_eq!(list_all_pages(&engine, &some, &others, limit).await, expected, "by {limit}");
        }
        let none = caller_with_roles(&[("camp_elsewhere", CampaignRole::Gm)]);
        assert_eq!(list_all_pages(&engine, &none, &others, 2).await, Vec::<String>::new());
        let everywhere = caller_with_roles(&[("*", CampaignRole::Guest)]);
        assert!(list_all_pages(&engine, &everywhere, &others, 100).await.len() > 23, "and those of no campaign");
    });
}

fn add_star_command(universe_id: &str, id: &str) -> Value {
    json!({"universeId": universe_id, "command": {"type": "addStar", "id": id, "payload": {
        "name": id, "mass": 1, "radius": 1, "color": "#FFD700", "parentId": null,
        "orbitalDistance": 0, "orbitalSpeed": 0, "orbitalPhase": 0
    }}})
}

#[test]
fn a_role_in_its_campaign_opens_a_universe_and_without_one_a_role_in_all() {
    run(async {
        let engine = engine();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "HUMAN"})).await;
        let campaign_id = campaign["id"].as_str().expect("an id");
        create_universe(&engine, "theirs", Some(campaign_id)).await;
        create_universe(&engine, "nobodys", None).await;
        let state = |id: &str| json!({"universeId": id});
        let code = |answer: Result<Value, Fault>| answer.err().map(|fault| fault.code());
        let (guest, gm) = (CampaignRole::Guest, CampaignRole::Gm);
        let refused = |code: Code| Some(code);
        let cases = [
            (
                caller_with_roles(&[(campaign_id, guest)]),
                [None, refused(Code::Forbidden)],
                [refused(Code::NotFound); 2],
            ),
            (
                caller_with_roles(&[(campaign_id, CampaignRole::Player)]),
                [None, refused(Code::Forbidden)],
                [refused(Code::NotFound); 2],
            ),
            (caller_with_roles(&[(campaign_id, gm)]), [None, None], [refused(Code::NotFound); 2]),
            (caller_with_roles(&[("camp_other", gm)]), [refused(Code::NotFound); 2], [refused(Code::NotFound); 2]),
            (caller_with_roles(&[("*", guest)]), [None, refused(Code::Forbidden)], [None, refused(Code::Forbidden)]),
            (caller_with_roles(&[("*", gm)]), [None, None], [None, None]),
        ];
        for (caller, theirs, nobodys) in cases {
            for (id, [read, write]) in [("theirs", theirs), ("nobodys", nobodys)] {
                let what = format!("{id} for {}", caller.id());
                assert_eq!(code(call(&engine, &caller, "get_universe_state", state(id)).await), read, "{what}");
                assert_eq!(code(call(&engine, &caller, "list_universe_commands", state(id)).await), read, "{what}");
                let wrote = code(call(&engine, &caller, "send_universe_command", tick_command(id)).await);
                // A caller who is game master nowhere is refused before the universe is looked up.
                let at_the_door = !caller.has_role_anywhere(gm) && wrote == Some(Code::Forbidden);
                assert!(wrote == write || at_the_door, "{what}: {wrote:?}");
            }
            let listed = call(&engine, &caller, "universe", json!({"method": "list"})).await.expect("a list");
            let count = [theirs[0], nobodys[0]].iter().filter(|read| read.is_none()).count();
            assert_eq!(listed["universes"].as_array().map(Vec::len), Some(count), "{listed}");
        }
        let leader = caller_with_roles(&[(campaign_id, gm)]);
        let made = json!({"method": "create", "name": "New"});
        let fault = call(&engine, &leader, "universe", made).await.expect_err("it is for those who lead all");
        assert_eq!(fault.code(), Code::Forbidden);
        let made = json!({"method": "create", "name": "New", "campaignId": campaign_id});
        assert!(call(&engine, &leader, "universe", made).await.is_ok());
        let made = json!({"method": "create", "name": "New", "campaignId": "camp_other"});
        let fault = call(&engine, &leader, "universe", made).await.expect_err("a campaign that is not there");
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/campaignId")));
    });
}

#[test]
fn a_retry_is_answered_as_before_also_after_the_end() {
    run(async {
        let (engine, owner) = (engine(), Caller::owner());
        create_universe(&engine, "u-1", None).await;
        let keyed = |key: &str| RequestControl { idempotency_key: Some(key.to_owned()), ..RequestControl::default() };
        let first = engine
            .call(&owner, "send_universe_command", add_star_command("u-1", "a"), &keyed("one"))
            .await
            .expect("added");
        assert_eq!(first["nextState"]["rootIds"], json!(["a"]));
        let again = engine
            .call(&owner, "send_universe_command", add_star_command("u-1", "a"), &keyed("one"))
            .await
            .expect("again");
        assert_eq!(again, first, "nothing came after it");
        call_as_owner(&engine, "send_universe_command", tick_command("u-1")).await;
        let later = engine
            .call(&owner, "send_universe_command", add_star_command("u-1", "a"), &keyed("one"))
            .await
            .expect("again");
        assert_eq!((&later["revision"], &later["events"]), (&first["revision"], &first["events"]));
        assert_eq!(later.get("nextState"), None, "the state after it is past");
        let other = engine.call(&owner, "send_universe_command", add_star_command("u-1", "b"), &keyed("one")).await;
        assert_eq!(other.expect_err("another request").code(), Code::IdempotencyMismatch);

        let delete = json!({"method": "delete", "universeId": "u-1"});
        let gone = engine.call(&owner, "universe", delete.clone(), &keyed("two")).await.expect("deleted");
        assert_eq!((&gone["deleted"], &gone["universe"]["name"]), (&json!(true), &json!("u-1")));
        assert_eq!(engine.call(&owner, "universe", delete.clone(), &keyed("two")).await.expect("again"), gone);
        assert_eq!(call(&engine, &owner, "universe", delete).await.expect_err("gone").code(), Code::NotFound);
    });
}

#[test]
fn a_revision_is_insisted_on_and_told() {
    run(async {
        let (engine, owner) = (engine(), Caller::owner());
        create_universe(&engine, "u-1", None).await;
        let at = |revision: u64| RequestControl { expected_revision: Some(revision), ..RequestControl::default() };
        let control = at(1);
        engine.call(&owner, "send_universe_command", tick_command("u-1"), &control).await.expect("it stands at 1");
        assert_eq!(control.revision.get(), Some(&2));
        let fault =
            engine.call(&owner, "send_universe_command", tick_command("u-1"), &at(1)).await.expect_err("it is at 2");
        assert_eq!(
            (fault.code(), fault.body().details.get("universeId").and_then(Value::as_str)),
            (Code::RevisionConflict, Some("u-1"))
        );
        let control = RequestControl::default();
        engine.call(&owner, "get_universe_state", json!({"universeId": "u-1"}), &control).await.expect("a state");
        assert_eq!(control.revision.get(), Some(&2));
    });
}

/// REQ-MCP-8, REQ-MCP-9: a large universe answers with its changes, and with the full state on request.
#[test]
fn a_large_universe_answers_what_changed() {
    run(async {
        let engine = engine();
        create_universe(&engine, "u-1", None).await;
        for number in 0..200 {
            let answer =
                call_as_owner(&engine, "send_universe_command", add_star_command("u-1", &format!("s{number}"))).await;
            assert!(answer["nextState"].is_object(), "{number}");
        }
        let answer = call_as_owner(&engine, "send_universe_command", add_star_command("u-1", "one more")).await;
        assert_eq!(answer.get("nextState"), None);
        assert_eq!(answer["changed"], json!({"stars": ["one more"]}));
        assert_eq!(answer["events"], json!([{"type": "starAdded", "id": "one more"}]));
        let full = json!({"universeId": "u-1", "command": {"type": "tick", "dt": 2}, "state": "full"});
        let answer = call_as_owner(&engine, "send_universe_command", full).await;
        assert_eq!(answer["nextState"]["stars"].as_object().map(serde_json::Map::len), Some(201));
        assert_eq!((&answer["changed"], &answer["nextState"]["time"]), (&json!({"time": 2}), &json!(2)));
        let none = json!({"universeId": "u-1", "command": {"type": "removeStar", "id": "s7"}, "state": "none"});
        let answer = call_as_owner(&engine, "send_universe_command", none).await;
        assert_eq!((answer.get("nextState"), &answer["changed"]), (None, &json!({"stars": ["s7"]})));
    });
}

#[test]
fn lists_are_paged_verified_and_made_anew() {
    run(async {
        let engine = engine();
        for id in ["a", "b", "c"] {
            create_universe(&engine, id, None).await;
        }
        call_as_owner(&engine, "universe", json!({"method": "rename", "universeId": "b", "name": "Middle"})).await;
        call_as_owner(&engine, "universe", json!({"method": "delete", "universeId": "c"})).await;
        call_as_owner(&engine, "send_universe_command", tick_command("a")).await;
        let first = call_as_owner(&engine, "universe", json!({"method": "list", "limit": 1})).await;
        let cursor = first["nextCursor"].clone();
        let second = call_as_owner(&engine, "universe", json!({"method": "list", "limit": 1, "cursor": cursor})).await;
        let mut names = [&first, &second].map(|page| page["universes"][0]["name"].as_str().expect("a name").to_owned());
        names.sort();
        assert_eq!((names, second.get("nextCursor")), (["Middle".to_owned(), "a".to_owned()], None));
        let journal = &*engine.app().journal;
        let sound = skald_journal::verify(journal, &skald_app::Nouns::all().stream_kinds()).await.expect("a verdict");
        assert!(matches!(sound, skald_journal::VerifyVerdict::Sound(_)), "{sound:?}");
        assert_eq!(
            skald_journal::rebuild(journal, &skald_app::Nouns::all().stream_kinds()).await.expect("made anew"),
            5,
            "two listed, three places"
        );
        let again = call_as_owner(&engine, "universe", json!({"method": "list", "limit": 1})).await;
        assert_eq!(again, first);
        // Once deleted, an id is free again.
        create_universe(&engine, "c", None).await;
        let target = CompletionTarget::Resource("universe://{universeId}".to_owned());
        let request =
            CompletionRequest { target, argument: "universeId".to_owned(), typed: "c".to_owned(), given: Vec::new() };
        let completion =
            engine.complete(&Caller::owner(), &request, &RequestControl::default()).await.expect("a completion");
        assert_eq!(completion.values, ["c"]);
    });
}

#[test]
fn methods_take_what_is_theirs() {
    run(async {
        let engine = engine();
        create_universe(&engine, "u-1", None).await;
        let cases = [
            (json!({"method": "create"}), Code::InvalidParams, "/name"),
            (json!({"method": "create", "name": " "}), Code::InvalidParams, "/name"),
            (json!({"method": "create", "name": "x", "universeId": "u-1"}), Code::Rejected, "/universeId"),
            (json!({"method": "create", "name": "x", "universeId": "__proto__"}), Code::InvalidParams, "/universeId"),
            (json!({"method": "create", "name": "x", "state": {"star": {}}}), Code::InvalidParams, "/state/star"),
            (
                json!({"method": "create", "name": "x", "state": {"rootIds": ["a"]}}),
                Code::InvalidParams,
                "/state/rootIds",
            ),
            (json!({"method": "rename", "universeId": "u-1"}), Code::InvalidParams, "/name"),
            (json!({"method": "delete"}), Code::InvalidParams, "/universeId"),
            (json!({"method": "delete", "universeId": "u-1", "name": "x"}), Code::InvalidParams, "/name"),
            (json!({"method": "delete", "universeId": "u-2"}), Code::NotFound, "/universeId"),
            (json!({"method": "list", "universeId": "u-1"}), Code::InvalidParams, "/universeId"),
            (json!({"method": "remove", "universeId": "u-1"}), Code::InvalidParams, "/method"),
        ];
        for (input, code, path) in cases {
            let fault = call(&engine, &Caller::owner(), "universe", input.clone()).await.expect_err("it is refused");
            assert_eq!((fault.code(), fault.body().path.as_deref()), (code, Some(path)), "{input}: {fault}");
            assert!(fault.body().hint.is_some(), "{input}: {fault}");
        }
    });
}

#[test]
fn a_map_is_drawn_of_what_is_there_at_a_time() {
    run(async {
        let engine = engine();
        let state: Value = serde_json::from_str(include_str!("../../../../docs/solar-system.json")).expect("JSON");
        let input = json!({"method": "create", "universeId": "sol", "name": "Sol & <b>", "state": state});
        call_as_owner(&engine, "universe", input).await;
        let map = async |extra: Value| {
            let mut input = json!({"universeId": "sol"});
            input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            call_as_owner(&engine, "universe_map", input).await["text"].as_str().expect("a text").to_owned()
        };
        let now = map(json!({})).await;
        assert!(now.starts_with("<svg ") && now.contains("Sol &amp; &lt;b&gt;"), "{now}");
        for name in ["Sun", "Earth", "Callisto", "Kuiper belt", "Halley", "Jupiter L4"] {
            assert!(now.contains(&format!(">{name}</text>")), "{name} has no label");
        }
        assert_eq!(now, map(json!({"t": 0})).await, "the universe stands at 0");
        let later = map(json!({"t": 90})).await;
        assert!(later.contains("time 90 ·") && now != later);
        assert!(map(json!({"theme": "dark"})).await.contains("#0a0e17"));
        // As a resource it is the same text.
        let read = engine
            .read(&Caller::owner(), "universe://sol/map.svg", &RequestControl::default())
            .await
            .expect("it is there");
        assert_eq!((read.mime_type, read.into_text()), ("image/svg+xml", now));
        let missing =
            call(&engine, &Caller::owner(), "universe_map", json!({"universeId": "nowhere"})).await.unwrap_err();
        assert_eq!((missing.code(), missing.body().path.as_deref()), (Code::NotFound, Some("/universeId")));
        let stranger = caller_with_roles(&[("camp_other", CampaignRole::Gm)]);
        let hidden = call(&engine, &stranger, "universe_map", json!({"universeId": "sol"})).await.unwrap_err();
        assert_eq!(hidden.code(), Code::NotFound);
    });
}

/// The holder of a token fills a campaign with universes up to the limit; the owner is not bound by it.
#[test]
fn universes_of_a_campaign_have_an_end_for_tokens() {
    run(async {
        let engine = engine();
        let campaign = call_as_owner(&engine, "campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await;
        let campaign_id = campaign["id"].as_str().unwrap();
        let leader = caller_with_roles(&[(campaign_id, CampaignRole::Gm)]);
        let input = json!({"method": "create", "name": "U", "campaignId": campaign_id});
        for number in 1..limits::UNIVERSES_PER_CAMPAIGN_MAX {
            create_universe(&engine, &format!("u{number}"), Some(campaign_id)).await;
        }
        let keyed = RequestControl { idempotency_key: Some("last".to_owned()), ..RequestControl::default() };
        let made = engine.call(&leader, "universe", input.clone(), &keyed).await.expect("the last one fits");
        let again = engine.call(&leader, "universe", input.clone(), &keyed).await.expect("a retry is no further one");
        assert_eq!(made, again);
        let refused = call(&engine, &leader, "universe", input.clone()).await.unwrap_err();
        assert_eq!(refused.code(), Code::TooLarge);
        assert_eq!(refused.body().message, "a campaign has at most 1000 universes; there are 1000");
        create_universe(&engine, "u0", Some(campaign_id)).await;
        for number in [0, 7] {
            call_as_owner(&engine, "universe", json!({"method": "delete", "universeId": format!("u{number}")})).await;
        }
        call(&engine, &leader, "universe", input).await.expect("there is room again");
    });
}

#[test]
fn campaigns_that_a_token_leads_have_an_end() {
    run(async {
        let engine = engine();
        let ids: Vec<String> = (0..limits::CAMPAIGNS_PER_TOKEN_MAX).map(|number| format!("camp_{number}")).collect();
        let roles: Vec<(&str, CampaignRole)> = ids.iter().map(|id| (id.as_str(), CampaignRole::Gm)).collect();
        let input = json!({"name": "One more", "gm_mode": "AI"});
        let refused = call(&engine, &caller_with_roles(&roles), "campaign_create", input.clone()).await.unwrap_err();
        assert_eq!((refused.code(), refused.body().hint.is_some()), (Code::TooLarge, true), "{refused}");
        call(&engine, &caller_with_roles(&roles[1..]), "campaign_create", input).await.expect("the last one fits");
    });
}

#[test]
fn a_completion_has_only_so_many_values() {
    run(async {
        let engine = engine();
        create_universe(&engine, "u", None).await;
        let complete = async || {
            let target =
                CompletionTarget::Resource("universe://{universeId}/body/{bodyId}{?t,cursor,limit}".to_owned());
            let (argument, typed) = ("bodyId".to_owned(), "s".to_owned());
            let given = vec![("universeId".to_owned(), "u".to_owned())];
            let request = CompletionRequest { target, argument, typed, given };
            let completion =
                engine.complete(&Caller::owner(), &request, &RequestControl::default()).await.expect("values");
            (completion.values.len(), completion.total)
        };
        let most = limits::COMPLETIONS_MAX;
        for number in 0..most {
            call_as_owner(&engine, "send_universe_command", add_star_command("u", &format!("s{number}"))).await;
        }
        assert_eq!(complete().await, (most, most));
        call_as_owner(&engine, "send_universe_command", add_star_command("u", "s-more")).await;
        assert_eq!(complete().await, (most, most + 1));
    });
}

#[test]
fn a_small_universe_is_answered_whole() {
    run(async {
        let engine = engine();
        create_universe(&engine, "u", None).await;
        for number in 1..limits::ANSWERED_STATE_MAX {
            call_as_owner(&engine, "send_universe_command", add_star_command("u", &format!("s{number}"))).await;
        }
        let last = call_as_owner(&engine, "send_universe_command", add_star_command("u", "last")).await;
        assert_eq!(last["nextState"]["rootIds"].as_array().map(Vec::len), Some(limits::ANSWERED_STATE_MAX));
        let past = call_as_owner(&engine, "send_universe_command", add_star_command("u", "past")).await;
        assert_eq!(past.get("nextState"), None);
        assert!(past["hint"].as_str().is_some_and(|hint| hint.contains("more than 200")), "{past}");
    });
}
