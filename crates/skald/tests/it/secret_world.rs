//! A world for tests of secrecy: a server with a marker in every field that can hold a secret.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::gate_document::CREATE;
use crate::gate_server::{Gate, Run};
use crate::process::CONTENT_MARKERS;
use crate::program_under_test::{Server, StoreKind, Surface, TestClient};
use crate::request_filler::{RequestFiller, text_of};

/// Every marker begins so. No request of a test contains it but those that plant it, so whatever contains it was
/// disclosed. The log of the server is searched for it as well, at the level that logs the most.
const MARKER: &str = CONTENT_MARKERS[0];
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
    pub(crate) gate: Gate,
    pub(crate) server: Server,
    pub(crate) values: RequestFiller,
    /// The markers that game masters see, and nobody else.
    pub(crate) planted: BTreeSet<String>,
    /// The markers that Ana sees as well, who plays Mira, and no other player.
    pub(crate) shared_with_ana: BTreeSet<String>,
    /// The markers in what every member of the campaign may see, and no stranger.
    pub(crate) for_members: BTreeSet<String>,
    /// The markers in what only game masters may see, of things that have changed or are gone since, or that belong to no
    /// campaign: nobody needs to see them.
    pub(crate) replaced: BTreeSet<String>,
    /// A campaign without secrets.
    elsewhere: String,
}

impl SecretWorld {
    pub(crate) fn new() -> Self {
        let gate = Gate::new(StoreKind::Sqlite);
        let server = gate.serve_in(gate.world.folder(), &["--log", "trace", "--role", "human"]);
        let mut world = Self {
            gate,
            server,
            values: RequestFiller::new(PROBE),
            planted: BTreeSet::new(),
            shared_with_ana: BTreeSet::new(),
            for_members: BTreeSet::new(),
            replaced: BTreeSet::new(),
            elsewhere: String::new(),
        };
        world.plant();
        // Its hash is a secret of the store, before anybody asks for a token.
        world.token("gm");
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

    /// The names and values of the fields that a noun declares secret, from the records of the store. Fails for a declared
    /// field that no record has: no answer could disclose it, and a test of that would prove nothing.
    pub(crate) fn secret_fields(&self) -> Vec<String> {
        let path = self.gate.world.store().strip_prefix("sqlite:").expect("a file");
        let file = rusqlite::Connection::open(path).expect("the store");
        let mut statement = file.prepare("SELECT body FROM records").expect("a statement");
        let bodies = statement.query_map([], |row| row.get::<_, String>(0)).expect("rows");
        let bodies: Vec<Value> =
            bodies.map(|body| serde_json::from_str(&body.expect("a body")).expect("JSON")).collect();
        let mut secrets = Vec::new();
        for field in skald_app::Nouns::all().iter().flat_map(|noun| noun.secret_fields()) {
            let values: Vec<String> = bodies.iter().flat_map(|body| values_of_field(body, field)).collect();
            assert!(!values.is_empty(), "{field} is declared a secret field, and no record has it");
            secrets.extend(values);
            secrets.push((*field).to_owned());
        }
        assert!(secrets.iter().all(|secret| secret.len() > 8), "a shorter one may occur anywhere: {secrets:?}");
        secrets
    }

    /// A text with a marker that every member of the campaign may see.
    fn public(&mut self, name: &str) -> String {
        self.for_members.insert(name.to_owned());
        secret(name)
    }

    /// A text with a marker that only game masters may see, and that something replaces later.
    fn replaced(&mut self, name: &str) -> String {
        self.replaced.insert(name.to_owned());
        secret(name)
    }

    fn plant(&mut self) {
        let mut owner = self.server.client(Surface::Rest);
        let named = json!({
            "name": self.public("campaignname"), "gm_mode": "HUMAN", "theme_prompt": self.public("theme")
        });
        let campaign = owner.ok("campaign_create", &named);
        let campaign_id = campaign["id"].clone();
        let elsewhere = owner.ok("campaign_create", &json!({"name": "Elsewhere", "gm_mode": "HUMAN"}));
        self.elsewhere = text_of(&elsewhere["id"]);
        self.values.add(&["campaign_id", "campaign", "campaignId"], &campaign_id);
        self.plant_lore(&mut owner, &campaign_id);
        self.plant_campaign(&mut owner, &campaign_id);
        self.plant_gate(&mut owner, &campaign_id);
        self.plant_for_ana(&mut owner, &campaign_id);
        self.change_campaign(&mut owner, &campaign_id);
        self.change_people(&mut owner, &campaign_id);
        self.change_lore(&mut owner, &campaign_id);
        self.change_canon(&mut owner, &campaign_id);
        self.change_tags(&campaign_id);
        self.change_runs(&mut owner, &campaign_id);
        self.replace_and_reveal(&mut owner, &campaign_id);
        self.plant_run_without_campaign(&mut owner);
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
        let session = owner.ok("session_start", &of_campaign(json!({"name": self.public("session")})));
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

    /// A change of each kind of record of a campaign, with a marker in each of its texts.
    fn change_campaign(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let names = json!({"name": self.public("newcampaignname"), "theme_prompt": self.public("newtheme")});
        owner.ok("campaign_update", &of_campaign(names));
        let note = json!({
            "text": self.replaced("oldnote"), "tags": [self.replaced("oldnotetag")], "visible_to": ["gm"]
        });
        let note = owner.ok("session_note", &of_campaign(note));
        let changed = json!({
            "note_id": note["id"], "text": self.secret("changednote"), "tags": [self.secret("changednotetag")]
        });
        owner.ok("session_note", &of_campaign(changed));
        owner.ok("session_note", &of_campaign(json!({"scene": self.public("scene")})));
        let tracker = |name: &str| json!({"name": name, "value": 1, "max": 3, "visible_to": ["gm"]});
        let (changed, removed) = (self.replaced("changedtracker"), self.replaced("removedtracker"));
        let trackers = json!([tracker(&changed), tracker(&removed)]);
        owner.ok("tracker", &of_campaign(json!({"method": "set", "trackers": trackers})));
        let change = json!([{"name": changed, "by": 1, "reason": self.replaced("changereason")}]);
        owner.ok("tracker", &of_campaign(json!({"method": "change", "trackers": change})));
        owner.ok("tracker", &of_campaign(json!({"method": "remove", "trackers": [{"name": removed}]})));
        let shown = self.public("shownname");
        let public = json!([{"name": shown, "value": 1}]);
        owner.ok("tracker", &of_campaign(json!({"method": "set", "trackers": public})));
        owner.ok("visibility", &of_campaign(json!({"method": "hide", "tracker": shown})));
    }

    fn change_people(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let person = json!({"display_name": self.public("participant"), "role": "PLAYER"});
        let person = owner.ok("participant_create", &of_campaign(person));
        let renamed = json!({"participant_id": person["id"], "display_name": self.public("newparticipant")});
        owner.ok("participant_update", &of_campaign(renamed));
        let removed = json!({"participant_id": person["id"], "method": "remove"});
        owner.ok("participant_update", &of_campaign(removed));
        let actor = json!({
            "name": self.public("actor"), "kind": "NPC", "notes": self.public("story"),
            "traits": {"ancestry": self.public("trait")}, "trackers": {self.public("sheettracker"): 3}
        });
        let actor = owner.ok("actor_create", &of_campaign(actor));
        let renamed =
            json!({"actor_id": actor["id"], "name": self.public("newactor"), "notes": self.public("newstory")});
        owner.ok("actor_update", &of_campaign(renamed));
        owner.ok("actor_update", &of_campaign(json!({"actor_id": actor["id"], "method": "remove"})));
    }

    fn change_lore(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let old = json!({"entity_type": "note", "name": self.replaced("oldname"), "is_private": true});
        let created = owner.ok("create_entities", &of_campaign(json!({"entities": [old]})));
        let entity_id = created["results"][0]["entity_id"].clone();
        let update = json!({
            "entity_id": entity_id, "name": self.replaced("newname"), "type": self.replaced("newtype"),
            "tags": [self.replaced("newtag")], "aliases": [self.replaced("newalias")],
            "image": "https://example.org/qzmarkernewimage.png"
        });
        self.replaced.insert("newimage".to_owned());
        owner.ok("update_entities", &of_campaign(json!({"updates": [update]})));
        let restore = json!({"method": "restore", "entity_id": entity_id, "to": 1});
        owner.ok("lore_history", &of_campaign(restore));
        let post = json!({"entity_id": entity_id, "name": self.replaced("oldpostname"), "entry": "Gone."});
        let post = owner.ok("create_posts", &of_campaign(json!({"posts": [post]})))["results"][0]["post_id"].clone();
        let update = json!({"entity_id": entity_id, "post_id": post, "name": self.replaced("newpostname")});
        owner.ok("update_posts", &of_campaign(json!({"updates": [update]})));
        let deletion = json!({"entity_id": entity_id, "post_id": post});
        owner.ok("delete_posts", &of_campaign(json!({"deletions": [deletion]})));
        let relationship = json!({
            "method": "add", "entity_id": entity_id, "target_id": self.values.of("entity_id")[1],
            "type": "qzmarkerbetrays", "inverse": "qzmarkerbetrayed", "description": self.replaced("oldrelationship"),
            "visible_to": ["gm"]
        });
        self.replaced.extend(["betrays", "betrayed"].map(str::to_owned));
        let added = owner.ok("relationships", &of_campaign(relationship));
        let relationship_id = &added["relationships"][0]["relationship_id"];
        let update = json!({
            "method": "update", "relationship_id": relationship_id, "description": self.replaced("newrelationship")
        });
        owner.ok("relationships", &of_campaign(update));
        let event = json!({"method": "add", "date": "1206", "description": self.replaced("oldevent")});
        let event = owner.ok("timeline", &of_campaign(event));
        let update = json!({
            "method": "update", "event_id": event["events"][0]["id"], "date": self.replaced("neweventdate"), "sort": "1207",
            "description": self.replaced("newevent")
        });
        owner.ok("timeline", &of_campaign(update));
        owner.ok("delete_entities", &of_campaign(json!({"entity_ids": [entity_id]})));
    }

    fn change_canon(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let mut hidden = |world: &mut Self, name: &str| {
            let entity = json!({"entity_type": "note", "name": world.replaced(name), "is_private": true});
            let created = owner.ok("create_entities", &of_campaign(json!({"entities": [entity]})));
            let entity_id = created["results"][0]["entity_id"].clone();
            let mark = json!({
                "method": "mark", "entity_id": entity_id, "confidence": "AUTHORITATIVE",
                "reason": world.replaced("markreason")
            });
            owner.ok("canon", &of_campaign(mark));
            entity_id
        };
        let (renamed, deleted) = (hidden(self, "canonname"), hidden(self, "deletedname"));
        let update =
            json!({"entity_id": renamed, "name": self.replaced("heldname"), "tags": [self.replaced("heldtag")]});
        let held = owner.ok("update_entities", &of_campaign(json!({"updates": [update]})));
        let conflict_id = held["results"][0]["held"].clone();
        owner.ok("delete_entities", &of_campaign(json!({"entity_ids": [deleted]})));
        for (method, choice, reason) in [
            ("acknowledge", Value::Null, "acknowledgereason"),
            ("resolve", json!("proposed"), "resolvereason"),
            ("reopen", Value::Null, "reopenreason"),
        ] {
            let mut step = json!({"method": method, "id": conflict_id, "reason": self.replaced(reason)});
            if choice.is_string() {
                step["choice"] = choice;
            }
            owner.ok("canon", &of_campaign(step));
        }
        let twins = [self.public("similarname"), format!("{}s", self.public("similarname"))];
        let twins = twins.map(|name| json!({"entity_type": "location", "name": name}));
        owner.ok("create_entities", &of_campaign(json!({"entities": twins})));
        let checked = owner.ok("canon", &of_campaign(json!({"method": "check", "limit": 100})));
        let findings = checked["rows"].as_array().expect("findings");
        let mut ids = findings.iter().filter_map(|finding| finding["id"].as_str());
        let finding = ids.rfind(|id| id.starts_with("near_name")).expect("names that are alike");
        let review = json!({"method": "acknowledge", "id": finding, "reason": self.replaced("reviewreason")});
        owner.ok("canon", &of_campaign(review));
        self.for_members.insert("similarnames".to_owned());
    }

    /// Tags are renamed and deleted by the Kanka-compatible API alone.
    fn change_tags(&mut self, campaign_id: &Value) {
        let mut client = Client::connect(self.server.address);
        let listed = client.send("GET", "/api/kanka/1.0/campaigns", &[], b"").json();
        let rows = listed["data"].as_array().expect("campaigns");
        let is_named = |row: &&Value| row["name"].as_str().is_some_and(|name| name.contains("newcampaignname"));
        let number = rows.iter().find(is_named).unwrap_or_else(|| panic!("{campaign_id}: {listed}"))["id"].clone();
        self.values.add(&["kanka_campaign"], &number);
        let path = format!("/api/kanka/1.0/campaigns/{number}/tags");
        let body = json!({"name": self.public("tag")}).to_string();
        let created = client.send("POST", &path, &[JSON], body.as_bytes()).json();
        let path = format!("{path}/{}", created["data"]["id"]);
        let renamed = json!({"name": self.public("newtagname")}).to_string();
        assert_eq!(client.send("PATCH", &path, &[JSON], renamed.as_bytes()).status, 200, "{created}");
        assert!(client.send("DELETE", &path, &[], b"").status < 300, "{path}");
    }

    fn change_runs(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let context = json!({"note": self.replaced("context")});
        let create = json!({"process_id": "proof", "campaign_id": campaign_id, "context": context});
        let run = Run::from_answer(&owner.ok(CREATE, &create));
        let payload = json!({"finding": self.replaced("payload")});
        run.write("note.md", &self.replaced("oldevidence"));
        run.emit_accepted(owner, "submit_note", &json!({"artifact_paths": ["note.md"], "payload": payload}));
        let revision = owner.ok("state_gate.get_state", &json!({"run_id": run.id}))["revision"].clone();
        let forced = json!({
            "method": "override", "run_id": run.id, "event_name": "finish", "reason": self.replaced("overridereason"),
            "expected_revision": revision
        });
        owner.ok("state_gate.run", &forced);
        let cancelled = json!({"method": "cancel", "run_id": run.id, "reason": self.replaced("cancelreason")});
        owner.ok("state_gate.run", &cancelled);
    }

    /// What a game master corrects before they reveal it, and one roll of a secret group.
    fn replace_and_reveal(&mut self, owner: &mut TestClient, campaign_id: &Value) {
        let of_campaign = |input: Value| merge(&json!({"campaign_id": campaign_id}), &input);
        let reveal = |subject: Value| of_campaign(merge(&json!({"method": "reveal"}), &subject));
        let note = json!({
            "text": self.replaced("unrevealednote"), "tags": [self.replaced("unrevealedtag")], "visible_to": ["gm"]
        });
        let note_id = owner.ok("session_note", &of_campaign(note))["id"].clone();
        let corrected =
            json!({"note_id": note_id, "text": self.public("revealednote"), "tags": [self.public("revealedtag")]});
        owner.ok("session_note", &of_campaign(corrected));
        owner.ok("visibility", &reveal(json!({"note_id": note_id})));
        let widow = json!({
            "name": "Widow", "kind": "NPC", "notes": self.replaced("unrevealednotes"), "notes_visible_to": ["gm"]
        });
        let widow = owner.ok("actor_create", &of_campaign(widow))["id"].clone();
        let shown = json!({"actor_id": widow, "notes": self.public("revealednotes"), "notes_visible_to": ["table"]});
        owner.ok("actor_update", &of_campaign(shown));
        let tracker = |meaning: String, reason: String| {
            let tracker = json!({"name": "Doom", "max": 6, "meaning": meaning, "reason": reason, "visible_to": ["gm"]});
            of_campaign(json!({"method": "set", "trackers": [tracker]}))
        };
        let set = tracker(self.replaced("unrevealedmeaning"), self.replaced("unrevealedreason"));
        owner.ok("tracker", &set);
        let change = json!([{"name": "Doom", "by": 1, "reason": self.replaced("unrevealedchange")}]);
        owner.ok("tracker", &of_campaign(json!({"method": "change", "trackers": change})));
        let set = tracker(self.public("revealedmeaning"), self.replaced("anotherreason"));
        owner.ok("tracker", &set);
        owner.ok("visibility", &reveal(json!({"tracker": "Doom"})));
        let entity = json!({
            "entity_type": "note", "name": self.replaced("unrevealedname"), "entry": self.replaced("unrevealedentry"),
            "is_private": true
        });
        let created = owner.ok("create_entities", &of_campaign(json!({"entities": [entity]})));
        let entity_id = created["results"][0]["entity_id"].clone();
        let corrected = json!({
            "entity_id": entity_id, "name": self.public("revealedname"), "entry": self.public("revealedentry")
        });
        owner.ok("update_entities", &of_campaign(json!({"updates": [corrected]})));
        owner.ok("visibility", &reveal(json!({"entity_id": entity_id})));
        self.values.add(&["entity_id", "id", "entity"], &entity_id);
        let hidden = format!("1d20 # {}", self.replaced("grouproll"));
        let group = json!({
            "rolls": [{"actor_id": "Mira"}, {"actor_id": "Widow", "expression": hidden}], "visible_to": ["gm"],
            "session_id": self.values.of("session_id")[0]
        });
        let rolled = owner.ok("group_roll", &group);
        let roll_id = &rolled["recorded"]["roll_ids"][0];
        owner.ok("visibility", &reveal(json!({"roll_id": roll_id})));
        self.values.add(&["roll_id"], roll_id);
    }

    /// A run without a campaign is not for everybody who plays in every campaign.
    fn plant_run_without_campaign(&mut self, owner: &mut TestClient) {
        let run = Run::from_answer(&owner.ok(CREATE, &json!({"process_id": "proof"})));
        run.write("note.md", &self.replaced("looseevidence"));
        let payload = json!({"finding": self.replaced("loosepayload")});
        run.emit_accepted(owner, "submit_note", &json!({"artifact_paths": ["note.md"], "payload": payload}));
        self.values.add(&["run_id", "run"], &json!(run.id));
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

    /// A token with a role in the campaign; in another one for a stranger, and in all for the player.
    pub(crate) fn token(&self, role: &str) -> String {
        let campaign_id = text_of(&self.values.of("campaign_id")[0]);
        let participant_id = text_of(&self.values.of("participant_id")[0]);
        let of = |role: &str, campaign_id: &str, more: &[&str]| {
            let arguments = ["Ada", "--role", role, "--calls", "0", "--reads", "0", "--lists", "0"];
            let campaign = ["--for", campaign_id];
            let campaign = if campaign_id.is_empty() { &[][..] } else { &campaign };
            let arguments = [&arguments[..], campaign, &["--page", "0", "--kanka", "0"]].concat();
            self.gate.world.create_token(&[&arguments[..], more].concat()).0
        };
        match role {
            "stranger" => of("gm", &self.elsewhere, &[]),
            "Ana" => of("player", &campaign_id, &["--participant", &participant_id]),
            "player" => of("player", "", &[]),
            _ => of(role, &campaign_id, &[]),
        }
    }
}

/// The texts of all fields of this name, at any depth.
fn values_of_field(value: &Value, name: &str) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let here = fields.get(name).and_then(Value::as_str).map(str::to_owned);
            here.into_iter().chain(fields.values().flat_map(|field| values_of_field(field, name))).collect()
        }
        Value::Array(items) => items.iter().flat_map(|item| values_of_field(item, name)).collect(),
        _ => Vec::new(),
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
