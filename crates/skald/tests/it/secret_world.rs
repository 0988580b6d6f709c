//! A world for tests of secrecy: a server with a marker in every field that can hold a secret.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::gate_document::CREATE;
use crate::gate_server::{Gate, Run};
use crate::program_under_test::{Server, StoreKind, Surface, TestClient};
use crate::request_filler::{RequestFiller, text_of};

/// Every marker begins so. No request contains it, so whatever contains it was disclosed.
const MARKER: &str = "qzmarker";
/// A word beside every marker, for searches. A refusal may repeat it.
pub(crate) const PROBE: &str = "qzprobe";

/// A text with a marker of its own.
fn secret(name: &str) -> String {
    format!("{PROBE} {MARKER}{name}")
}

/// The markers in a text.
pub(crate) fn markers_in(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase();
    let found = text.match_indices(MARKER).map(|(at, _)| {
        let rest = &text[at + MARKER.len()..];
        rest.chars().take_while(char::is_ascii_lowercase).collect()
    });
    found.collect()
}

/// A server with a secret in every field that can have one.
pub(crate) struct SecretWorld {
    gate: Gate,
    pub(crate) server: Server,
    pub(crate) values: RequestFiller,
    /// The markers that game masters see, and nobody else.
    pub(crate) planted: BTreeSet<String>,
    /// The markers that Ana sees as well, who plays Mira, and no other player.
    pub(crate) shared_with_ana: BTreeSet<String>,
    /// A campaign without secrets.
    elsewhere: String,
}

impl SecretWorld {
    pub(crate) fn new() -> Self {
        let gate = Gate::new(StoreKind::Sqlite);
        let server = gate.serve_in(gate.world.folder(), &[]);
        let mut world = Self {
            gate,
            server,
            values: RequestFiller::new(PROBE),
            planted: BTreeSet::new(),
            shared_with_ana: BTreeSet::new(),
            elsewhere: String::new(),
        };
        world.plant();
        world
    }

    /// A text with a marker that only game masters may see.
    fn secret(&mut self, name: &str) -> String {
        self.planted.insert(name.to_owned());
        secret(name)
    }

    /// A text with a marker that game masters and Ana may see.
    fn shared(&mut self, name: &str) -> String {
        self.shared_with_ana.insert(name.to_owned());
        secret(name)
    }

    fn plant(&mut self) {
        let mut owner = self.server.client(Surface::Rest);
        let campaign = owner.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "HUMAN"}));
        let campaign_id = campaign["id"].clone();
        let elsewhere = owner.ok("campaign_create", &json!({"name": "Elsewhere", "gm_mode": "HUMAN"}));
        self.elsewhere = text_of(&elsewhere["id"]);
        self.values.add(&["campaign_id", "campaign", "campaignId"], &campaign_id);
        self.plant_lore(&mut owner, &campaign_id);
        self.plant_campaign(&mut owner, &campaign_id);
        self.plant_gate(&mut owner, &campaign_id);
        self.plant_for_ana(&mut owner, &campaign_id);
        let universe = json!({"method": "create", "universeId": "sol", "name": "Sol", "campaignId": campaign_id});
        owner.ok("universe", &universe);
        self.values.add(&["universeId", "universe_id", "universe"], &json!("sol"));
        for word in ["query", "q", "name", "name_fuzzy", "search", "text"] {
            self.values.add(&[word], &json!(PROBE));
        }
        self.values.add(&["tags"], &json!([PROBE]));
    }

    fn plant_lore(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let holm = json!({"entity_type": "location", "name": "Holm", "entry": "A drowned town, with [[Isa]]."});
        let isa = json!({"entity_type": "character", "name": "Isa", "entry": "She rows."});
        let hidden = json!({
            "entity_type": "character", "name": self.secret("entityname"), "type": self.secret("entitytype"),
            "entry": format!("{} mentions [[Holm]].", self.secret("entityentry")), "tags": [self.secret("entitytag")],
            "aliases": [self.secret("entityalias")], "is_private": true, "image": "https://example.org/qzmarkerimage.png"
        });
        self.planted.insert("image".to_owned());
        let entities = json!({"campaign_id": campaign_id, "entities": [isa, holm, hidden]});
        let created = owner.ok("create_entities", &entities);
        let ids: Vec<Value> = (0..3).map(|at| created["results"][at]["entity_id"].clone()).collect();
        let post = json!({
            "entity_id": ids[1], "name": self.secret("postname"), "entry": self.secret("postentry"), "is_private": true
        });
        let post = owner.ok("create_posts", &json!({"campaign_id": campaign_id, "posts": [post]}));
        let was_private = json!({"entity_id": ids[0], "entry": self.secret("oldentry")});
        // What was written while an entity was private stays in its history.
        for update in [json!({"entity_id": ids[0], "is_private": true}), was_private] {
            owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [update]}));
        }
        let public = json!({"entity_id": ids[0], "entry": "She rows.", "is_private": false});
        owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [public]}));
        for id in &ids {
            self.values.add(&["entity_id", "id", "entity", "id_1", "id_2", "entity_id_1", "entity_id_2"], id);
        }
        let hidden_event = json!({
            "method": "add", "date": self.secret("eventdate"), "sort": "1204-03-03", "description": self.secret("event"),
            "entity_ids": [ids[1]], "is_player_known": false
        });
        owner.ok("timeline", &merge(&json!({"campaign_id": campaign_id}), &hidden_event));
        let hidden_relationship = json!({
            "method": "add", "entity_id": ids[0], "target_id": ids[1], "type": "owns", "tone": "hostile",
            "description": self.secret("relationship"), "visible_to": ["gm"]
        });
        owner.ok("relationships", &merge(&json!({"campaign_id": campaign_id}), &hidden_relationship));
        let mark =
            json!({"campaign_id": campaign_id, "method": "mark", "entity_id": ids[1], "confidence": "AUTHORITATIVE"});
        owner.ok("canon", &mark);
        let proposal = json!({"entity_id": ids[1], "entry": self.secret("heldentry")});
        let held = owner.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": [proposal]}));
        assert!(held["results"][0]["held"].is_string(), "{held}");
        self.values.add(&["conflict_id", "conflict"], &held["results"][0]["held"]);
        self.values.add(&["entity_ids"], &json!(ids));
        self.values.add(&["post_id"], &post["results"][0]["post_id"]);
    }

    fn plant_campaign(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |mut input: Value| {
            input["campaign_id"] = campaign_id.clone();
            input
        };
        let participant =
            owner.ok("participant_create", &of_campaign(json!({"display_name": "Ana", "role": "PLAYER"})));
        let actor = json!({"name": "Mira", "kind": "PC", "controller": participant["id"]});
        let actor = owner.ok("actor_create", &of_campaign(actor));
        let session = owner.ok("session_start", &of_campaign(json!({"name": "Low tide"})));
        self.values.add(&["participant_id"], &participant["id"]);
        self.values.add(&["actor_id", "as", "who"], &actor["id"]);
        self.values.add(&["session_id"], &session["id"]);
        self.values.add(&["n", "session", "number"], &json!(1));
        for page in ["sessions", "evening", "timeline", "lore", "graph", "universes", "runs"] {
            self.values.add(&["page"], &json!(page));
        }
        let hidden_actor = json!({"name": "Isolde", "kind": "NPC", "notes": self.secret("actornotes")});
        let hidden_actor = owner.ok("actor_create", &of_campaign(hidden_actor));
        let hide = |subject: Value| of_campaign(merge(&json!({"method": "hide"}), &subject));
        owner.ok("visibility", &hide(json!({"actor_id": hidden_actor["id"]})));
        let note =
            of_campaign(json!({"text": self.secret("note"), "tags": [self.secret("notetag")], "visible_to": ["gm"]}));
        let note = owner.ok("session_note", &note);
        self.values.add(&["note_id"], &note["id"]);
        let tracker = json!({
            "name": self.secret("tracker"), "value": 2, "max": 6, "visible_to": ["gm"],
            "reason": self.secret("trackerreason"), "meaning": self.secret("trackermeaning")
        });
        let of_actor = json!({
            "actor_id": actor["id"], "name": self.secret("actortracker"), "value": 1, "visible_to": ["gm"]
        });
        let of_participant = json!({
            "participant_id": participant["id"], "name": self.secret("participanttracker"), "value": 1,
            "visible_to": ["gm"]
        });
        let trackers = json!([tracker, of_actor, of_participant]);
        owner.ok("tracker", &of_campaign(json!({"method": "set", "trackers": trackers})));
        let roll = json!({"expression": "2d6", "reason": self.secret("rollreason"), "visible_to": ["gm"]});
        let roll = owner.ok("roll", &merge(&roll, &json!({"session_id": session["id"]})));
        self.values.add(&["roll_id"], &roll["roll_id"]);
    }

    /// Evidence of a run is for game masters and for whoever created the run.
    fn plant_gate(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let run = owner.ok(CREATE, &json!({"process_id": "proof", "campaign_id": campaign_id}));
        let run = Run::from_answer(&run);
        run.write("note.md", &self.secret("evidence"));
        run.emit_accepted(owner, "submit_note", &json!({"artifact_paths": ["note.md"], "payload": {}}));
        self.values.add(&["run_id", "run"], &json!(run.id));
        self.values.add(&["path"], &json!("note.md"));
        self.values.add(&["process_id"], &json!("proof"));
    }

    /// One secret of each kind that is shared with Ana.
    fn plant_for_ana(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let note = json!({"text": self.shared("anasnote"), "visible_to": ["Ana"]});
        owner.ok("session_note", &of_campaign(note));
        let tracker = json!({"name": self.shared("anastracker"), "value": 1, "visible_to": ["Ana"]});
        owner.ok("tracker", &of_campaign(json!({"method": "set", "trackers": [tracker]})));
        let roll = json!({
            "expression": "2d6", "reason": self.shared("anasroll"), "visible_to": ["Ana"],
            "session_id": self.values.of("session_id")[0]
        });
        owner.ok("roll", &roll);
        let event =
            json!({"method": "add", "date": "1204", "description": self.shared("anasevent"), "visible_to": ["Ana"]});
        owner.ok("timeline", &of_campaign(event));
        let hidden = json!({
            "entity_type": "note", "name": self.shared("anasentity"), "entry": self.shared("anasentry"),
            "is_private": true
        });
        let hidden = owner.ok("create_entities", &of_campaign(json!({"entities": [hidden]})));
        let entity_id = hidden["results"][0]["entity_id"].clone();
        owner.ok("visibility", &of_campaign(json!({"method": "reveal", "entity_id": entity_id, "who": ["Ana"]})));
        let holm = self.values.of("entity_id")[1].clone();
        let post = json!({
            "entity_id": holm, "name": self.shared("anaspost"), "entry": self.shared("anasposttext"), "is_private": true
        });
        let post = owner.ok("create_posts", &of_campaign(json!({"posts": [post]})));
        let post_id = post["results"][0]["post_id"].clone();
        let reveal = json!({"method": "reveal", "entity_id": holm, "post_id": post_id, "who": ["Mira"]});
        owner.ok("visibility", &of_campaign(reveal));
        let relationship = json!({
            "method": "add", "entity_id": self.values.of("entity_id")[1], "target_id": self.values.of("entity_id")[0],
            "type": "fears", "description": self.shared("anasrelationship"), "visible_to": ["Ana"]
        });
        owner.ok("relationships", &of_campaign(relationship));
        self.values.add(&["entity_id", "id", "entity"], &entity_id);
        self.values.add(&["post_id", "post"], &post_id);
    }

    /// Changes secrets of every noun again, while others watch. Each round is another.
    pub(crate) fn change_secrets(&self, owner: &mut TestClient, round: usize) {
        let campaign_id = &self.values.of("campaign_id")[0];
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let hidden_entity = &self.values.of("entity_id")[2];
        owner.ok("session_note", &of_campaign(json!({"text": secret("later"), "visible_to": ["gm"]})));
        let roll = json!({
            "expression": "2d6", "reason": secret("later"), "visible_to": ["gm"],
            "session_id": self.values.of("session_id")[0]
        });
        owner.ok("roll", &roll);
        let change = json!({"name": secret("tracker"), "by": 1, "reason": secret("later")});
        owner.ok("tracker", &of_campaign(json!({"method": "change", "trackers": [change]})));
        let update = json!({"entity_id": hidden_entity, "entry": secret("later")});
        owner.ok("update_entities", &of_campaign(json!({"updates": [update]})));
        let post = json!({"entity_id": hidden_entity, "name": "Later", "entry": secret("later")});
        owner.ok("create_posts", &of_campaign(json!({"posts": [post]})));
        let event = json!({"method": "add", "date": "1205", "description": secret("later"), "is_player_known": false});
        owner.ok("timeline", &of_campaign(event));
        let relationship = json!({
            "method": "add", "entity_id": self.values.of("entity_id")[0], "target_id": hidden_entity,
            "type": format!("seeks {round}"), "inverse": format!("sought {round}"),
            "description": secret("later")
        });
        owner.ok("relationships", &of_campaign(relationship));
        owner.ok(CREATE, &json!({"process_id": "proof", "campaign_id": campaign_id}));
    }

    /// A token with a role in the campaign; in another one for a stranger.
    pub(crate) fn token(&self, role: &str) -> String {
        let campaign_id = text_of(&self.values.of("campaign_id")[0]);
        let participant_id = text_of(&self.values.of("participant_id")[0]);
        let of = |role: &str, campaign_id: &str, more: &[&str]| {
            let arguments =
                ["Ada", "--role", role, "--for", campaign_id, "--calls", "0", "--reads", "0", "--lists", "0"];
            self.gate.world.create_token(&[&arguments, more].concat()).0
        };
        match role {
            "stranger" => of("gm", &self.elsewhere, &[]),
            "Ana" => of("player", &campaign_id, &["--participant", &participant_id]),
            _ => of(role, &campaign_id, &[]),
        }
    }
}

/// One object with the fields of another.
fn merge(one: &Value, other: &Value) -> Value {
    let mut merged = one.clone();
    for (name, value) in other.as_object().into_iter().flatten() {
        merged[name] = value.clone();
    }
    merged
}
