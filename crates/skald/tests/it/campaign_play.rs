//! Tests of a campaign as it is played: from draft to archive, lists, history, recap, prompts and completions.

use serde_json::{Value, json};

use crate::documented_campaign::create_campaign;
use crate::program_under_test::{StoreKind, Surface, TestClient, World, code_and_status, on_every_surface};

on_every_surface! {
    a_campaign_goes_from_draft_to_archive_and_back,
    a_session_that_has_ended_ends_again_as_it_is,
    lists_are_read_page_by_page_the_newest_first,
    the_history_is_filtered_and_paged_in_both_orders,
    a_recap_tells_what_was_recorded,
    a_note_is_found_by_its_words,
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().expect("an id").to_owned()
}

fn a_campaign_goes_from_draft_to_archive_and_back(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let update = |method: &str| json!({"campaign_id": campaign_id, "method": method});
    let mut becomes = |method: &str, status: &str| {
        assert_eq!(seat.ok("campaign_update", &update(method))["status"], status, "{method}");
        let uri = format!("campaign://{campaign_id}");
        assert_eq!(seat.read_ok(&uri)["campaign"]["status"], status);
        assert_eq!(seat.read_ok("campaigns://list")["campaigns"][0]["status"], status, "also in the list");
    };
    becomes("archive", "ARCHIVED");
    becomes("restore", "DRAFT");
    let refused = |seat: &mut TestClient, method: &str, code: &str| {
        let fault = seat.call_refused("campaign_update", &update(method));
        assert_eq!(code_and_status(&fault), (code, "FailedPrecondition"), "{method}");
        assert!(fault["hint"].is_string());
        fault
    };
    let fault = refused(seat, "end", "REJECTED");
    assert_eq!((&fault["value"], &fault["allowed"]), (&json!("DRAFT"), &json!(["ACTIVE"])), "{fault}");
    refused(seat, "restore", "REJECTED");
    seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    refused(seat, "end", "ACTIVE_SESSION_EXISTS");
    refused(seat, "archive", "ACTIVE_SESSION_EXISTS");
    seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    let ended = seat.ok("campaign_update", &update("end"));
    assert_eq!((&ended["status"], ended["completed_at"].is_string()), (&json!("COMPLETED"), true));
    for method in ["end", "restore"] {
        refused(seat, method, "REJECTED");
    }
    let closed = [
        ("session_start", json!({"campaign_id": campaign_id})),
        ("actor_create", json!({"campaign_id": campaign_id, "name": "x", "kind": "PC"})),
        ("campaign_update", json!({"campaign_id": campaign_id, "name": "x"})),
    ];
    for (tool, input) in &closed {
        assert_eq!(code_and_status(&seat.call_refused(tool, input)), ("REJECTED", "FailedPrecondition"), "{tool}");
    }
    let archived = seat.ok("campaign_update", &update("archive"));
    assert_eq!((&archived["status"], archived["archived_at"].is_string()), (&json!("ARCHIVED"), true));
    for (tool, input) in &closed {
        assert_eq!(code_and_status(&seat.call_refused(tool, input)), ("REJECTED", "FailedPrecondition"), "{tool}");
    }
    let restored = seat.ok("campaign_update", &update("restore"));
    assert_eq!((restored.get("completed_at"), restored.get("archived_at")), (None, None));
    seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    let mixed = json!({"campaign_id": campaign_id, "method": "archive", "name": "x"});
    assert_eq!(code_and_status(&seat.call_refused("campaign_update", &mixed)), ("INVALID_PARAMS", "InvalidArgument"));
}

fn a_session_that_has_ended_ends_again_as_it_is(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let none = seat.call_refused("session_end", &json!({"campaign_id": campaign_id}));
    assert_eq!(code_and_status(&none), ("REJECTED", "FailedPrecondition"));
    let session = id(&seat.ok("session_start", &json!({"campaign_id": campaign_id})));
    let ended = seat.ok("session_end", &json!({"campaign_id": campaign_id, "session_id": session}));
    let next = id(&seat.ok("session_start", &json!({"campaign_id": campaign_id})));
    for _ in 0..2 {
        let again = seat.ok("session_end", &json!({"campaign_id": campaign_id, "session_id": session}));
        assert_eq!(again, ended);
    }
    let sessions = seat.read_ok(&format!("campaign://{campaign_id}/sessions"));
    assert_eq!(sessions["sessions"][0]["id"], json!(next), "the one that goes on is untouched");
    assert_eq!(sessions["sessions"][0]["status"], "ACTIVE");
    let other = create_campaign(seat);
    let fault = seat.call_refused("session_end", &json!({"campaign_id": other, "session_id": next}));
    assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"), "it belongs elsewhere");
}

fn a_note_is_found_by_its_words(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let mut notes: Vec<String> = Vec::new();
    for text in ["The herring war began.", "Herrings again.", "They slept.", "Herring, a secret of game masters."] {
        let visible_to = if text.contains("secret") { "gm" } else { "table" };
        let note = json!({"campaign_id": campaign_id, "text": text, "visible_to": [visible_to]});
        notes.push(id(&seat.ok("session_note", &note)));
    }
    let find = |seat: &mut TestClient, query: Value, limit: u64| {
        let search = json!({"campaign_id": campaign_id, "query": query, "in": ["notes"], "limit": limit});
        let found = seat.ok("entity_search", &search);
        let ids = found["notes"].as_array().expect("notes").iter().map(id_of_note).collect::<Vec<_>>();
        (ids, found["more"] == json!(["notes"]))
    };
    let newest = |numbers: &[usize]| numbers.iter().map(|number| notes[*number].clone()).collect::<Vec<_>>();
    assert_eq!(find(seat, json!("herring"), 20), (newest(&[3, 1, 0]), false));
    assert_eq!(find(seat, json!("war herring"), 20), (newest(&[0]), false));
    assert_eq!(find(seat, json!("herring"), 2), (newest(&[3, 1]), true));
    assert_eq!(find(seat, Value::Null, 20), (newest(&[3, 2, 1, 0]), false));
    let change = json!({"campaign_id": campaign_id, "note_id": notes[2], "text": "They dreamed of herring."});
    seat.ok("session_note", &change);
    seat.ok("session_note", &json!({"campaign_id": campaign_id, "note_id": notes[1], "remove": true}));
    assert_eq!(find(seat, json!("herring"), 20), (newest(&[3, 2, 0]), false));
    assert_eq!(find(seat, json!("slept"), 20), (newest(&[]), false));
}

fn id_of_note(row: &Value) -> String {
    row["note_id"].as_str().expect("an id").to_owned()
}

/// Reads all pages of a list: the values of a field, and how many pages there were.
fn read_pages(seat: &mut TestClient, tool: &str, input: &Value, rows: &str, field: &str) -> (Vec<String>, usize) {
    let (mut found, mut count, mut input) = (Vec::new(), 0, input.clone());
    loop {
        let page = seat.ok(tool, &input);
        count += 1;
        let texts = page[rows].as_array().expect("rows").iter();
        found.extend(texts.map(|row| row.pointer(field).expect("a field").to_string().replace('"', "")));
        match page.get("next_cursor") {
            None => return (found, count),
            Some(cursor) => input["cursor"] = cursor.clone(),
        }
        assert!(count < 100, "it never ends");
    }
}

fn lists_are_read_page_by_page_the_newest_first(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let mut names: Vec<String> = Vec::new();
    for number in 0..53 {
        let name = format!("Player {number}");
        let input = json!({"campaign_id": campaign_id, "display_name": name, "role": "PLAYER"});
        seat.ok("participant_create", &input);
        names.push(name);
    }
    names.reverse();
    let ask = json!({"campaign_id": campaign_id, "view": "participants"});
    assert_eq!(read_pages(seat, "campaign_read", &ask, "participants", "/display_name"), (names.clone(), 2));
    let ask = json!({"campaign_id": campaign_id, "view": "participants", "limit": 10});
    assert_eq!(read_pages(seat, "campaign_read", &ask, "participants", "/display_name"), (names.clone(), 6));
    let ask = json!({"campaign_id": campaign_id, "view": "participants", "limit": 53});
    assert_eq!(read_pages(seat, "campaign_read", &ask, "participants", "/display_name"), (names, 1));
    let first = seat.read_ok(&format!("campaign://{campaign_id}/participants"));
    assert_eq!(first["participants"].as_array().map(Vec::len), Some(50));
    assert!(first["next_cursor"].is_string(), "a resource says that there is more");
    for limit in [json!(0), json!(201), json!(-1), json!("ten")] {
        let fault = seat.call_refused("campaign_read", &json!({"view": "participants", "limit": limit}));
        assert_eq!((code_and_status(&fault).1, &fault["path"]), ("InvalidArgument", &json!("/limit")), "{limit}");
    }
    let fault = seat.call_refused("campaign_read", &json!({"view": "participants", "cursor": "banana"}));
    assert_eq!((code_and_status(&fault).1, &fault["path"]), ("InvalidArgument", &json!("/cursor")));

    // Most of them were created within one second: still none is skipped, and none comes twice.
    let mut ids: Vec<String> = (0..6).map(|_| create_campaign(seat)).chain([campaign_id]).collect();
    for limit in [1, 2, 7] {
        let ask = json!({"view": "campaigns", "limit": limit});
        let (mut listed, _) = read_pages(seat, "campaign_read", &ask, "campaigns", "/id");
        listed.sort();
        ids.sort();
        assert_eq!(listed, ids, "by {limit}");
    }
}

fn the_history_is_filtered_and_paged_in_both_orders(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    seat.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"}));
    let first = id(&seat.ok("session_start", &json!({"campaign_id": campaign_id})));
    for number in 0..4 {
        seat.ok("session_note", &json!({"campaign_id": campaign_id, "text": format!("Note {number}")}));
    }
    seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    let second = id(&seat.ok("session_start", &json!({"campaign_id": campaign_id})));
    seat.ok("roll", &json!({"expression": "1d6", "session_id": second}));
    let kinds = [
        "campaign.created.v1",
        "actor.added.v1",
        "session.started.v1",
        "campaign.activated.v1",
        "note.added.v1",
        "note.added.v1",
        "note.added.v1",
        "note.added.v1",
        "session.ended.v1",
        "session.started.v1",
        "roll.recorded.v1",
    ];
    let mut listed = |more: Value| {
        let mut ask = json!({"campaign_id": campaign_id});
        ask.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
        read_pages(seat, "events_list", &ask, "events", "/event/type").0
    };
    let oldest = listed(json!({"order": "oldest"}));
    let mut sorted = oldest.clone();
    sorted.sort();
    let mut expected = kinds.to_vec();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(
        (&oldest[..2], oldest[10].as_str()),
        (&["campaign.created.v1", "actor.added.v1"].map(str::to_owned)[..], kinds[10])
    );
    for limit in 1..6 {
        assert_eq!(listed(json!({"order": "oldest", "limit": limit})), oldest, "by {limit}");
        assert_eq!(listed(json!({"limit": limit})), listed(json!({})), "by {limit}");
    }
    assert_eq!(listed(json!({}))[..2], ["roll.recorded.v1", "session.started.v1"]);
    assert_eq!(listed(json!({"types": ["note"], "limit": 3})), ["note.added.v1"; 4]);
    assert_eq!(listed(json!({"types": ["session.", "roll"]})).len(), 4);
    assert_eq!(listed(json!({"session_id": first, "order": "oldest"})).len(), 6);
    assert_eq!(listed(json!({"session_id": second, "limit": 1})), ["roll.recorded.v1", "session.started.v1"]);
    assert_eq!(listed(json!({"by": "owner"})).len(), kinds.len());
    assert_eq!(listed(json!({"by": "nobody"})), Vec::<String>::new());
    assert_eq!(listed(json!({"after_revision": 8})), ["roll.recorded.v1", "session.started.v1"]);
    let fault = seat.call_refused("events_list", &json!({"campaign_id": campaign_id, "types": ["dragon"]}));
    assert_eq!((code_and_status(&fault).1, &fault["path"]), ("InvalidArgument", &json!("/types/0")));
    let resource = seat.read_ok(&format!("campaign://{campaign_id}/events"));
    assert_eq!(resource["events"][0]["event"]["type"], "roll.recorded.v1");
}

fn a_recap_tells_what_was_recorded(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let of = |mut input: Value| {
        input["campaign_id"] = json!(campaign_id);
        input
    };
    let alice = id(&seat.ok("participant_create", &of(json!({"display_name": "Alice", "role": "PLAYER"}))));
    let thorin = id(&seat.ok("actor_create", &of(json!({"name": "Thorin Ironforge", "kind": "PC"}))));
    seat.ok("actor_control_set", &of(json!({"actor_id": thorin, "controller": alice})));
    let fault = seat.call_refused("session_recap", &of(json!({})));
    assert_eq!(code_and_status(&fault), ("NOT_FOUND", "NotFound"), "there is nothing to tell yet");
    let session = seat.ok("session_start", &of(json!({"name": "Session 1: The Journey Begins"})));
    seat.ok("session_note", &of(json!({"text": "The bridge burned down."})));
    let roll = json!({"modifier": 2, "difficulty": 15, "session_id": session["id"], "actor_id": thorin});
    seat.ok("duality_action_roll", &roll);
    seat.ok("actor_create", &of(json!({"name": "The Ferryman", "kind": "NPC"})));
    seat.ok("session_end", &of(json!({})));
    let recap = seat.ok("session_recap", &of(json!({"session_id": session["id"]})));
    let text = recap["text"].as_str().expect("a text");
    for words in [
        "# Session 1: The Journey Begins",
        "The Lost Expedition",
        "Alice",
        "Thorin Ironforge (Alice)",
        "The bridge burned down.",
        "## Dice",
        "The Ferryman",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert_eq!(recap["session"]["status"], "ENDED");
    assert_eq!(seat.ok("session_recap", &of(json!({})))["text"], json!(text), "the last one if none is named");
}

/// The text of a prompt.
fn prompt_text(seat: &mut TestClient, name: &str, arguments: &Value) -> String {
    let answer = seat.request("prompts/get", &json!({"name": name, "arguments": arguments}));
    let text = answer["result"]["messages"][0]["content"]["text"].as_str();
    text.unwrap_or_else(|| panic!("{name}: {answer}")).to_owned()
}

fn completions(seat: &mut TestClient, reference: &Value, argument: &str, typed: &str) -> Value {
    let ask = json!({"ref": reference, "argument": {"name": argument, "value": typed}});
    seat.request("completion/complete", &ask)["result"]["completion"]["values"].clone()
}

#[test]
fn prompts_and_completions_know_the_campaign() {
    for surface in [Surface::Stdio, Surface::Session, Surface::Stateless] {
        let world = World::new(StoreKind::Memory);
        let (mut seat, _server) = world.client(surface);
        let seat = &mut seat;
        let text = prompt_text(seat, "start_campaign", &json!({"theme": "a drowned city", "players": "4"}));
        assert!(text.contains("about a drowned city for 4 players") && text.contains("campaign_create"), "{text}");
        let campaign_id = create_campaign(seat);
        let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "PLAYER"});
        let alice = id(&seat.ok("participant_create", &input));
        let input = json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC", "notes": "afraid of water"});
        let thorin = id(&seat.ok("actor_create", &input));
        seat.ok("actor_control_set", &json!({"actor_id": thorin, "controller": alice}));
        let asked = json!({"campaign_id": campaign_id});
        let text = prompt_text(seat, "prepare_session", &asked);
        for words in ["The Lost Expedition", "cursed forest", "Alice", "played by Alice", "afraid of water"] {
            assert!(text.contains(words), "{words:?} is not in\n{text}");
        }
        assert!(text.contains("Nothing was played yet"), "{text}");
        let session = id(&seat.ok("session_start", &json!({"campaign_id": campaign_id, "name": "One"})));
        seat.ok("session_note", &json!({"campaign_id": campaign_id, "text": "The bridge burned down."}));
        let text = prompt_text(seat, "run_scene", &json!({"campaign_id": campaign_id, "scene": "a storm"}));
        assert!(text.contains("It begins so: a storm") && text.contains(&session), "{text}");
        let recap = json!({"campaign_id": campaign_id, "session_id": session});
        assert!(prompt_text(seat, "write_recap", &recap).contains("The bridge burned down."));
        assert!(
            prompt_text(seat, "prepare_session", &json!({})).contains("The bridge burned down."),
            "the only campaign"
        );
        let missing =
            seat.request("prompts/get", &json!({"name": "run_scene", "arguments": {"campaign_id": "camp_1"}}));
        assert_eq!(missing["error"]["data"]["error"]["code"], "NOT_FOUND", "{missing}");

        seat.ok("set_context", &json!({"campaign_id": campaign_id}));
        let of_prompt = |name: &str| json!({"type": "ref/prompt", "name": name});
        let template = json!({"type": "ref/resource", "uri": "campaign://{campaign_id}/actors"});
        assert_eq!(completions(seat, &template, "campaign_id", ""), json!([campaign_id]));
        assert_eq!(completions(seat, &template, "campaign_id", &campaign_id[..8]), json!([campaign_id]));
        assert_eq!(completions(seat, &template, "campaign_id", "zzz"), json!([]));
        assert_eq!(completions(seat, &of_prompt("run_scene"), "campaign_id", "camp"), json!([campaign_id]));
        assert_eq!(completions(seat, &of_prompt("write_recap"), "session_id", "sess"), json!([session]));
    }
}
