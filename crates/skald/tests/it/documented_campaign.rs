//! Tests of the documented campaign tools and resources, example by example. Inputs are as printed, outputs are
//! compared by shape, errors by name; on every surface and every store.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::program_under_test::{TestClient, code_and_status, on_every_surface};

on_every_surface! {
    the_examples_are_answered_as_printed,
    words_are_read_in_any_case,
    unknown_words_are_refused_with_those_allowed,
    what_is_not_there_is_not_found,
    empty_texts_are_refused,
    what_belongs_elsewhere_is_refused,
    a_second_active_session_is_refused,
    uris_are_taken_as_they_are_printed_only,
}

/// The fields that every command answers beside the printed ones.
const COMMAND_FIELDS: [&str; 3] = ["context", "went_to", "note"];

/// An answer without the fields that every command has.
fn without_command_fields(mut answer: Value) -> Value {
    answer.as_object_mut().expect("an object").retain(|key, _| !COMMAND_FIELDS.contains(&key.as_str()));
    answer
}

/// Asserts that an object has exactly the printed fields and those in `beside`.
fn assert_fields(answer: &Value, printed: &[&str], beside: &[&str]) {
    let keys = answer.as_object().expect("an object").keys().map(String::as_str);
    let keys: BTreeSet<&str> = keys.filter(|key| !COMMAND_FIELDS.contains(key)).collect();
    assert_eq!(keys, printed.iter().chain(beside).copied().collect(), "{answer}");
    for field in ["created_at", "updated_at", "started_at", "ended_at"] {
        if let Some(moment) = answer.get(field) {
            assert!(is_timestamp(moment), "{field} is {moment}");
        }
    }
}

/// Whether a value is a time as printed: `2025-01-15T10:30:00Z`.
fn is_timestamp(value: &Value) -> bool {
    let text = value.as_str().unwrap_or_default();
    let shape: String = text.chars().map(|letter| if letter.is_ascii_digit() { '0' } else { letter }).collect();
    shape == "0000-00-00T00:00:00Z"
}

/// Asserts that each printed field has the printed value.
fn assert_values(answer: &Value, printed: &Value) {
    for (field, value) in printed.as_object().expect("an object") {
        assert_eq!(&answer[field], value, "{field} of {answer}");
    }
}

fn id(answer: &Value) -> String {
    answer["id"].as_str().expect("an id").to_owned()
}

const CAMPAIGN: [&str; 6] = ["id", "name", "gm_mode", "participant_count", "actor_count", "theme_prompt"];
const CAMPAIGN_LISTED: [&str; 8] =
    ["id", "name", "gm_mode", "participant_count", "actor_count", "theme_prompt", "created_at", "updated_at"];
const PARTICIPANT: [&str; 7] = ["id", "campaign_id", "display_name", "role", "controller", "created_at", "updated_at"];
const ACTOR: [&str; 7] = ["id", "campaign_id", "name", "kind", "notes", "created_at", "updated_at"];
const SESSION: [&str; 6] = ["id", "campaign_id", "name", "status", "started_at", "updated_at"];

pub(crate) fn create_campaign(seat: &mut TestClient) -> String {
    let input = json!({
        "name": "The Lost Expedition",
        "gm_mode": "HUMAN",
        "theme_prompt": "A dark fantasy campaign set in a cursed forest"
    });
    id(&seat.ok("campaign_create", &input))
}

fn the_examples_are_answered_as_printed(seat: &mut TestClient) {
    assert_eq!(seat.read_ok("campaigns://list"), json!({"campaigns": []}), "an empty list is a list");
    let input = json!({
        "name": "The Lost Expedition",
        "gm_mode": "HUMAN",
        "theme_prompt": "A dark fantasy campaign set in a cursed forest"
    });
    let campaign = seat.ok("campaign_create", &input);
    assert_fields(&campaign, &CAMPAIGN, &["status", "created_at", "updated_at"]);
    assert_values(&campaign, &input);
    assert_values(&campaign, &json!({"participant_count": 0, "actor_count": 0}));
    let campaign_id = id(&campaign);

    let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "PLAYER", "controller": "HUMAN"});
    let participant = seat.ok("participant_create", &input);
    assert_fields(&participant, &PARTICIPANT, &[]);
    assert_values(&participant, &input);
    let participant_id = id(&participant);

    let input = json!({
        "campaign_id": campaign_id,
        "name": "Thorin Ironforge",
        "kind": "PC",
        "notes": "Dwarf warrior with a mysterious past"
    });
    let actor = seat.ok("actor_create", &input);
    assert_fields(&actor, &ACTOR, &[]);
    assert_values(&actor, &input);
    let actor_id = id(&actor);

    let input = json!({"campaign_id": campaign_id, "actor_id": actor_id, "controller": participant_id});
    assert_eq!(without_command_fields(seat.ok("actor_control_set", &input)), input);

    let input = json!({"campaign_id": campaign_id, "name": "Session 1: The Journey Begins"});
    let session = seat.ok("session_start", &input);
    assert_fields(&session, &SESSION, &["note_count", "roll_count"]);
    assert_values(&session, &input);
    assert_values(&session, &json!({"status": "ACTIVE"}));
    let session_id = id(&session);

    let input = json!({"campaign_id": campaign_id, "session_id": session_id, "participant_id": participant_id});
    assert_eq!(seat.ok("set_context", &input)["context"], input);
    let cleared = json!({"campaign_id": campaign_id});
    assert_eq!(seat.ok("set_context", &cleared)["context"], cleared);

    let [participant, session] = [participant, session].map(without_command_fields);
    the_resources_read_as_printed(seat, &campaign_id, &participant, &actor_id, &session);
}

fn the_resources_read_as_printed(
    seat: &mut TestClient,
    campaign_id: &str,
    participant: &Value,
    actor_id: &str,
    session: &Value,
) {
    let campaigns = seat.read_ok("campaigns://list");
    assert_fields(&campaigns, &["campaigns"], &[]);
    let listed = &campaigns["campaigns"][0];
    assert_fields(listed, &CAMPAIGN_LISTED, &["status"]);
    assert_values(listed, &json!({"id": campaign_id, "participant_count": 1, "actor_count": 1, "status": "ACTIVE"}));

    let read = seat.read_ok(&format!("campaign://{campaign_id}"));
    assert_fields(&read, &["campaign"], &["revision"]);
    assert_eq!(&read["campaign"], listed);

    let participants = seat.read_ok(&format!("campaign://{campaign_id}/participants"));
    assert_fields(&participants, &["participants"], &["revision"]);
    assert_eq!(participants["participants"], json!([participant]));

    let actors = seat.read_ok(&format!("campaign://{campaign_id}/actors"));
    assert_fields(&actors, &["actors"], &["revision"]);
    assert_fields(&actors["actors"][0], &ACTOR, &["controller"]);
    assert_values(&actors["actors"][0], &json!({"id": actor_id, "controller": participant["id"]}));

    let uri = format!("campaign://{campaign_id}/sessions");
    let sessions = seat.read_ok(&uri);
    assert_fields(&sessions, &["sessions"], &["revision"]);
    assert_eq!(sessions["sessions"], json!([session]), "ended_at is there only once it has ended");
    seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    let ended = &seat.read_ok(&uri)["sessions"][0];
    assert_fields(ended, &SESSION, &["note_count", "roll_count", "ended_at"]);
    assert_values(ended, &json!({"status": "ENDED"}));
}

fn words_are_read_in_any_case(seat: &mut TestClient) {
    for (given, meant) in [("human", "HUMAN"), (" Ai ", "AI"), ("hYbRiD", "HYBRID")] {
        let campaign = seat.ok("campaign_create", &json!({"name": "x", "gm_mode": given}));
        assert_eq!((&campaign["gm_mode"], &campaign["theme_prompt"]), (&json!(meant), &json!("")));
    }
    let campaign_id = create_campaign(seat);
    let input = json!({"campaign_id": campaign_id, "display_name": "Gwen", "role": "gm", "controller": "ai"});
    assert_values(&seat.ok("participant_create", &input), &json!({"role": "GM", "controller": "AI"}));
    let input = json!({"campaign_id": campaign_id, "display_name": "Alice", "role": "Player"});
    assert_values(&seat.ok("participant_create", &input), &json!({"role": "PLAYER", "controller": "HUMAN"}));
    let actor = seat.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "nPc"}));
    assert_values(&actor, &json!({"kind": "NPC", "notes": ""}));
    let input = json!({"campaign_id": campaign_id, "actor_id": actor["id"], "controller": "gm"});
    assert_values(&seat.ok("actor_control_set", &input), &json!({"controller": "GM"}));
}

fn unknown_words_are_refused_with_those_allowed(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let cases = [
        ("campaign_create", json!({"name": "x", "gm_mode": "ROBOT"}), "/gm_mode", json!(["HUMAN", "AI", "HYBRID"])),
        (
            "participant_create",
            json!({"campaign_id": campaign_id, "display_name": "x", "role": "GUEST"}),
            "/role",
            json!(["GM", "PLAYER"]),
        ),
        (
            "participant_create",
            json!({"campaign_id": campaign_id, "display_name": "x", "role": "GM", "controller": "DOG"}),
            "/controller",
            json!(["HUMAN", "AI"]),
        ),
        (
            "actor_create",
            json!({"campaign_id": campaign_id, "name": "x", "kind": "MONSTER"}),
            "/kind",
            json!(["PC", "NPC"]),
        ),
    ];
    for (tool, input, path, allowed) in cases {
        let fault = seat.call_refused(tool, &input);
        assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"));
        assert_eq!((&fault["path"], &fault["allowed"]), (&json!(path), &allowed), "{fault}");
    }
    for missing in [json!({"name": "x"}), json!({"gm_mode": "AI"})] {
        assert_eq!(
            code_and_status(&seat.call_refused("campaign_create", &missing)),
            ("INVALID_PARAMS", "InvalidArgument")
        );
    }
}

fn what_is_not_there_is_not_found(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let actor = seat.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"}));
    let nowhere = [
        ("set_context", json!({"campaign_id": "camp_abc123"}), "/campaign_id"),
        ("set_context", json!({"campaign_id": campaign_id, "session_id": "sess_ghi789"}), "/session_id"),
        ("set_context", json!({"campaign_id": campaign_id, "participant_id": "part_xyz789"}), "/participant_id"),
        (
            "participant_create",
            json!({"campaign_id": "camp_abc123", "display_name": "A", "role": "GM"}),
            "/campaign_id",
        ),
        ("actor_create", json!({"campaign_id": "camp_abc123", "name": "A", "kind": "PC"}), "/campaign_id"),
        (
            "actor_control_set",
            json!({"campaign_id": campaign_id, "actor_id": "actor_def456", "controller": "GM"}),
            "/actor_id",
        ),
        (
            "actor_control_set",
            json!({"campaign_id": campaign_id, "actor_id": actor["id"], "controller": "part_xyz789"}),
            "/controller",
        ),
        (
            "actor_control_set",
            json!({"campaign_id": "camp_abc123", "actor_id": actor["id"], "controller": "GM"}),
            "/campaign_id",
        ),
        ("session_start", json!({"campaign_id": "camp_abc123", "name": "One"}), "/campaign_id"),
        ("session_end", json!({"campaign_id": campaign_id, "session_id": "sess_ghi789"}), "/session_id"),
    ];
    for (tool, input, path) in nowhere {
        let fault = seat.call_refused(tool, &input);
        assert_eq!(code_and_status(&fault), ("NOT_FOUND", "NotFound"), "{tool} {input}");
        assert_eq!(fault["path"], path, "{fault}");
        assert!(fault["hint"].is_string(), "{fault}");
    }
    for part in ["", "/participants", "/actors", "/sessions", "/events"] {
        let fault = seat.read(&format!("campaign://camp_abc123{part}")).expect_err("a fault");
        assert_eq!(code_and_status(&fault), ("NOT_FOUND", "NotFound"), "{part}");
    }
}

fn empty_texts_are_refused(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let of = |campaign: &str| json!(campaign);
    let cases = [
        ("set_context", json!({"campaign_id": ""}), "/campaign_id"),
        ("set_context", json!({"campaign_id": of(&campaign_id), "session_id": ""}), "/session_id"),
        ("set_context", json!({"campaign_id": of(&campaign_id), "participant_id": " "}), "/participant_id"),
        ("campaign_create", json!({"name": " ", "gm_mode": "AI"}), "/name"),
        (
            "participant_create",
            json!({"campaign_id": of(&campaign_id), "display_name": "", "role": "GM"}),
            "/display_name",
        ),
        ("participant_create", json!({"campaign_id": "", "display_name": "A", "role": "GM"}), "/campaign_id"),
        ("actor_create", json!({"campaign_id": of(&campaign_id), "name": "\n", "kind": "PC"}), "/name"),
        ("actor_create", json!({"campaign_id": " ", "name": "A", "kind": "PC"}), "/campaign_id"),
        ("actor_control_set", json!({"campaign_id": "", "actor_id": "actor_1", "controller": "GM"}), "/campaign_id"),
        (
            "actor_control_set",
            json!({"campaign_id": of(&campaign_id), "actor_id": "", "controller": "GM"}),
            "/actor_id",
        ),
        ("session_start", json!({"campaign_id": "", "name": "One"}), "/campaign_id"),
    ];
    for (tool, input, path) in cases {
        let fault = seat.call_refused(tool, &input);
        assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"), "{tool} {input}");
        assert_eq!(fault["path"], path, "{fault}");
    }
    let actor = seat.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Thorin", "kind": "PC"}));
    let input = json!({"campaign_id": campaign_id, "actor_id": actor["id"], "controller": ""});
    let fault = seat.call_refused("actor_control_set", &input);
    assert_eq!(
        (code_and_status(&fault), &fault["path"]),
        (("INVALID_PARAMS", "InvalidArgument"), &json!("/controller"))
    );
    let session = seat.ok("session_start", &json!({"campaign_id": campaign_id}));
    assert_eq!(session["name"], "", "a session needs no name");
}

fn what_belongs_elsewhere_is_refused(seat: &mut TestClient) {
    let (here, there) = (create_campaign(seat), create_campaign(seat));
    let session = seat.ok("session_start", &json!({"campaign_id": there, "name": "Elsewhere"}));
    let input = json!({"campaign_id": there, "display_name": "Bob", "role": "PLAYER"});
    let participant = seat.ok("participant_create", &input);
    for (field, id) in [("session_id", &session["id"]), ("participant_id", &participant["id"])] {
        let fault = seat.call_refused("set_context", &json!({"campaign_id": here, field: id}));
        assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"), "{field}");
        assert_eq!((&fault["path"], &fault["value"]), (&json!(format!("/{field}")), id), "{fault}");
    }
    let unchanged = json!({"campaign_id": there, "session_id": session["id"], "participant_id": null});
    assert_eq!(seat.read_ok("context://current")["context"], unchanged, "nothing changes on an error");
    // A campaign has no access to the participants and actors of another.
    let mine = seat.ok("actor_create", &json!({"campaign_id": here, "name": "Thorin", "kind": "PC"}));
    let foreign = seat.ok("actor_create", &json!({"campaign_id": there, "name": "Balin", "kind": "PC"}));
    for (actor, controller, path) in [(&mine, &participant["id"], "/controller"), (&foreign, &json!("GM"), "/actor_id")]
    {
        let input = json!({"campaign_id": here, "actor_id": actor["id"], "controller": controller});
        let fault = seat.call_refused("actor_control_set", &input);
        assert_eq!((code_and_status(&fault), &fault["path"]), (("NOT_FOUND", "NotFound"), &json!(path)), "{fault}");
    }
    // A participant who has left the other campaign is not found.
    let input = json!({"campaign_id": there, "participant_id": participant["id"], "method": "remove"});
    seat.ok("participant_update", &input);
    let fault = seat.call_refused("set_context", &json!({"campaign_id": here, "participant_id": participant["id"]}));
    assert_eq!(code_and_status(&fault), ("NOT_FOUND", "NotFound"));
}

fn a_second_active_session_is_refused(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    let start = json!({"campaign_id": campaign_id, "name": "Session 1: The Journey Begins"});
    let first = seat.ok("session_start", &start);
    let fault = seat.call_refused("session_start", &start);
    assert_eq!(code_and_status(&fault), ("ACTIVE_SESSION_EXISTS", "FailedPrecondition"));
    assert_eq!(fault["value"], first["id"], "{fault}");
    assert!(fault["hint"].as_str().is_some_and(|hint| hint.contains("end it")), "{fault}");
    assert_eq!(
        seat.read_ok(&format!("campaign://{campaign_id}/sessions"))["sessions"],
        json!([without_command_fields(first.clone())])
    );
    let other = create_campaign(seat);
    seat.ok("session_start", &json!({"campaign_id": other}));
    let ended = seat.ok("session_end", &json!({"campaign_id": campaign_id}));
    assert_eq!((&ended["id"], &ended["status"]), (&first["id"], &json!("ENDED")));
    let second = seat.ok("session_start", &start);
    let sessions = seat.read_ok(&format!("campaign://{campaign_id}/sessions"))["sessions"].clone();
    let both = [second, ended].map(without_command_fields);
    assert_eq!(sessions, json!(both), "the newest first");
}

fn uris_are_taken_as_they_are_printed_only(seat: &mut TestClient) {
    let campaign_id = create_campaign(seat);
    for odd in ["a%20b", "..%2Fx", "%C3%A4"] {
        for part in ["", "/participants", "/actors", "/sessions"] {
            let fault = seat.read(&format!("campaign://{odd}{part}")).expect_err("a fault");
            assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"), "{odd}{part}");
        }
    }
    let long = "x".repeat(1_000);
    let fault = seat.read(&format!("campaign://{long}")).expect_err("a fault");
    assert_eq!(code_and_status(&fault), ("INVALID_PARAMS", "InvalidArgument"));
    let odd = ["/", "/dragons", "/participants/x", "/participants/", "?view=actors", "/actors?limit=0"];
    // Over REST, a fragment never leaves the client.
    let fragments: &[&str] = if seat.is_rest() { &[] } else { &["#top", "/actors#top"] };
    for uri in odd.iter().chain(fragments) {
        let refused = seat.read(&format!("campaign://{campaign_id}{uri}"));
        let fault = refused.expect_err("a fault");
        assert!(["NotFound", "InvalidArgument"].contains(&code_and_status(&fault).1), "{uri}: {fault}");
    }
    for uri in ["campaigns://list/", "campaigns://all"] {
        assert!(seat.read(uri).is_err(), "{uri}");
    }
}
