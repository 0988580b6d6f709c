//! The world of the fixtures: what `cargo xtask fixture` writes into a store, for later versions to open.

use serde_json::{Value, json};
use skald_testkit::Client;

use crate::gate_document::CREATE;
use crate::gate_server::Run;
use crate::program_under_test::{Surface, TestClient, World};
use crate::universe::{add_star_command, send_command};

/// The edition of this world, which is in the name of a fixture from 2 on. Raise it when a world has more in it: the
/// current version of the schema gets a further fixture then.
pub(crate) const WORLD_EDITION: u32 = 2;
/// Enough commands for one stream that its state is stored as a snapshot.
const COMMANDS_FOR_A_SNAPSHOT: u32 = 1_001;
const CLUE: &str = "The bell was cast from a church door.";

/// Writes a small world with something of every kind, and returns its ids.
pub(crate) fn write_world(owner: &mut TestClient) -> Value {
    let campaign = owner.ok("campaign_create", &json!({"name": "The Bell of Dunmere", "gm_mode": "HUMAN"}));
    let campaign_id = &campaign["id"];
    let of = |fields: Value| {
        let mut input = fields;
        input["campaign_id"] = campaign_id.clone();
        input
    };
    let participant = owner.ok("participant_create", &of(json!({"display_name": "Nora", "role": "PLAYER"})));
    let actor = owner.ok("actor_create", &of(json!({"name": "Wren", "kind": "PC"})));
    owner.ok("actor_create", &of(json!({"name": "The Abbot", "kind": "NPC"})));
    let control = json!({"actor_id": actor["id"], "controller": participant["id"]});
    owner.ok("actor_control_set", &of(control));
    let session = owner.ok("session_start", &of(json!({"name": "The First Evening"})));
    owner.ok("session_note", &of(json!({"text": "They found a door."})));
    let roll = json!({"session_id": session["id"], "actor_id": actor["id"], "modifier": 2, "difficulty": 14});
    owner.ok("duality_action_roll", &roll);
    let universe = owner.ok("universe", &json!({"method": "create", "name": "Dunmere", "campaignId": campaign_id}));
    let universe_id = universe["universe"]["id"].as_str().expect("an id");
    send_command(owner, universe_id, &add_star_command("sol", None));
    for planet in ["ember", "frost"] {
        send_command(owner, universe_id, &add_star_command(planet, Some("sol")));
    }
    owner.ok("universe", &json!({"method": "create", "name": "Of no campaign"}));
    let entities = json!([
        {"entity_type": "location", "name": "The foundry", "entry": "Where [[The bell]] was cast.", "tags": ["town"]},
        {"entity_type": "item", "name": "The bell", "is_private": true},
    ]);
    owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": entities}));
    let quest = json!({"process_id": "quest", "campaign_id": campaign_id, "context": {"quest": "Find the bell"}});
    let run = Run::from_answer(&owner.ok(CREATE, &quest));
    run.emit_accepted(owner, "accept_quest", &json!({"payload": {"terms": "ten silver"}}));
    let clue = |name: &str, text: &str| {
        let artifacts = json!([{"path": name, "text": text}]);
        json!({"payload": {"summary": "a clue", "source": "place"}, "artifacts": artifacts})
    };
    run.emit_accepted(owner, "submit_clue", &clue("clue-door.md", CLUE));
    let foundry = "The foundry closed in the year in which the bell was lost.";
    run.emit_accepted(owner, "submit_clue", &clue("clue-foundry.md", foundry));
    run.emit_accepted(
        owner,
        "submit_clue",
        &clue("clue-rope.md", "The rope was cut with a knife and did not tear by itself."),
    );
    let (code, _) =
        run.emit_refused(owner, "submit_outcome", &json!({"payload": {"outcome": "victory", "summary": "x"}}));
    assert_eq!(code, "INVALID_EVENT");
    write_table(owner, campaign_id, &actor["id"]);
    write_lore(owner, campaign_id);
    let many_changes = write_snapshot(owner, campaign_id);
    let closed_run = write_closed_run(owner, campaign_id);
    json!({
        "campaign_id": campaign_id, "session_id": session["id"], "universe_id": universe_id, "run_id": run.id,
        "snapshot_universe_id": many_changes, "closed_run_id": closed_run,
    })
}

/// Trackers, a secret actor and note, and rolls of several.
fn write_table(owner: &mut TestClient, campaign_id: &Value, actor_id: &Value) {
    let other = owner.ok("actor_create", &json!({"campaign_id": campaign_id, "name": "Bram", "kind": "PC"}));
    let trackers = json!([
        {"name": "Dread", "value": 2, "max": 6}, {"actor_id": actor_id, "name": "Rope", "value": 1, "visible_to": ["gm"]}
    ]);
    owner.ok("tracker", &json!({"campaign_id": campaign_id, "method": "set", "trackers": trackers}));
    let change = json!([{"name": "Dread", "by": 1, "reason": "the bell rang"}]);
    owner.ok("tracker", &json!({"campaign_id": campaign_id, "method": "change", "trackers": change}));
    owner.ok("visibility", &json!({"campaign_id": campaign_id, "method": "hide", "actor_id": other["id"]}));
    let note = json!({"campaign_id": campaign_id, "text": "The abbot knows.", "tags": ["abbot"], "visible_to": ["gm"]});
    owner.ok("session_note", &note);
    let rolls = json!({"difficulty": 13, "rolls": [{"actor_id": actor_id}, {"actor_id": other["id"], "modifier": 1}]});
    owner.ok("group_roll", &rolls);
    owner.ok("roll", &json!({"expression": "2d6+1", "reason": "the rope", "visible_to": ["gm"]}));
}

/// Posts, a reveal, a relationship, events of the timeline, a mark of canon, a held change, and an archived entity.
fn write_lore(owner: &mut TestClient, campaign_id: &Value) {
    let of = |fields: Value| {
        let mut input = fields;
        input["campaign_id"] = campaign_id.clone();
        input
    };
    let entities = json!([
        {"entity_type": "character", "name": "Abbot Ferrin", "type": "abbot", "aliases": ["The Abbot"], "entry": "He keeps the key."},
        {"entity_type": "location", "name": "The crypt", "entry": "Below the foundry."},
        {"entity_type": "note", "name": "A draft", "entry": "To be deleted."},
    ]);
    let created = owner.ok("create_entities", &of(json!({"entities": entities})));
    let id = |at: usize| created["results"][at]["entity_id"].clone();
    let posts = json!([
        {"entity_id": id(0), "name": "What he said", "entry": "Nobody has the key."},
        {"entity_id": id(0), "name": "What he hides", "entry": "The key is in the crypt.", "is_private": true},
    ]);
    let posts = owner.ok("create_posts", &of(json!({"posts": posts})));
    let secret =
        json!({"method": "reveal", "entity_id": id(0), "post_id": posts["results"][1]["post_id"], "who": ["Nora"]});
    owner.ok("visibility", &of(secret));
    let relationship = json!({
        "method": "add", "entity_id": id(0), "target_id": id(1), "type": "guards", "tone": "hostile", "visible_to": ["gm"]
    });
    owner.ok("relationships", &of(relationship));
    let event = json!({
        "method": "add", "date": "3 March 1204", "sort": "1204-03-03", "description": "The bell was lost.",
        "entity_ids": [id(1)]
    });
    owner.ok("timeline", &of(event));
    let mark = json!({"method": "mark", "entity_id": id(1), "confidence": "AUTHORITATIVE"});
    owner.ok("canon", &of(mark));
    let held = owner.ok("update_entities", &of(json!({"updates": [{"entity_id": id(1), "entry": "It is empty."}]})));
    assert!(held["results"][0]["held"].is_string(), "{held}");
    owner.ok("update_entities", &of(json!({"updates": [{"entity_id": id(0), "entry": "He keeps two keys."}]})));
    owner.ok("delete_entities", &of(json!({"entity_ids": [id(2)]})));
}

/// A universe with so many changes that its state is stored as a snapshot, and one that was deleted.
fn write_snapshot(owner: &mut TestClient, campaign_id: &Value) -> Value {
    let universe =
        owner.ok("universe", &json!({"method": "create", "name": "Of many days", "campaignId": campaign_id}));
    let id = universe["universe"]["id"].as_str().expect("an id");
    send_command(owner, id, &add_star_command("sol", None));
    for day in 0..COMMANDS_FOR_A_SNAPSHOT {
        send_command(owner, id, &json!({"type": "updateStar", "id": "sol", "payload": {"mass": 1 + day % 7}}));
    }
    let deleted = owner.ok("universe", &json!({"method": "create", "name": "Of no use"}));
    owner.ok("universe", &json!({"method": "delete", "universeId": deleted["universe"]["id"]}));
    universe["universe"]["id"].clone()
}

/// A run that is at its end.
fn write_closed_run(owner: &mut TestClient, campaign_id: &Value) -> Value {
    let quest = json!({"process_id": "quest", "campaign_id": campaign_id, "context": {"quest": "Find the rope"}});
    let declined = Run::from_answer(&owner.ok(CREATE, &quest));
    declined.emit_accepted(owner, "decline_quest", &json!({}));
    json!(declined.id)
}

/// Tokens of several kinds, invitations, a page session, and rows of the audit log. Returns the secrets.
pub(crate) fn write_access(world: &World, campaign_id: &str) -> Value {
    let token = |arguments: &[&str]| world.create_token(&[arguments, &["--for", campaign_id]].concat());
    let (reader, _) = token(&["Reader", "--role", "gm", "--scope", "read"]);
    let (agent, _) = token(&["Program", "--role", "player", "--kind", "agent", "--gate-role", "agent"]);
    let (revoked, revoked_id) = token(&["Gone", "--role", "gm"]);
    assert!(world.run(&["token", "revoke", &revoked_id]).status.success());
    let invite = |name: &str| {
        let output = world.run(&["invite", "create", "--json", name, "--for", campaign_id, "--expires", "36500d"]);
        let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        created["code"].as_str().expect("a code").to_owned()
    };
    let (open, redeemed) = (invite("Later"), invite("Now"));
    let server = world.serve(&[]);
    let input = json!({"campaign_id": campaign_id});
    server.client_with(Surface::Rest, Some(&reader), "test").ok("campaign_read", &input);
    server.client_with(Surface::Rest, Some(&reader), "test").call_refused("session_note", &input);
    let mut client = Client::connect(server.address);
    let code = json!({"code": redeemed}).to_string();
    assert_eq!(client.send("POST", "/api/v1/invitations/redeem", &[], code.as_bytes()).status, 201);
    let form = format!("token={reader}");
    let headers = [("Content-Type", "application/x-www-form-urlencoded"), ("Sec-Fetch-Site", "same-origin")];
    let signed_in = client.send("POST", "/sign-in", &headers, form.as_bytes());
    let cookie = signed_in.header("set-cookie").expect("a cookie").split(';').next().expect("a pair").to_owned();
    server.stop();
    json!({"reader": reader, "agent": agent, "revoked": revoked, "invitation": open, "cookie": cookie})
}
