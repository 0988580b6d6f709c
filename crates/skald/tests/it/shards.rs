//! Tests of shards: all streams of one campaign have the same shard, so that they can be moved to another database.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::gate_document::CREATE;
use crate::gate_server::Run;
use crate::program_under_test::{TestClient, World};
use crate::universe::{add_star_command, send_command};

/// The tables whose rows have a shard.
const TABLES: [(&str, &str); 6] = [
    ("heads", "stream, shard, revision, hash"),
    ("commands", "stream, key, shard, request, revision, answer"),
    ("documents", "collection, id, shard, stream, rank, body, partition"),
    ("snapshots", "stream, shard, version, revision, hash, body, mark, parts, digest"),
    ("snapshot_parts", "stream, mark, part, shard, revision, body"),
    // Without the position, which each database assigns anew.
    ("records", "shard, stream, revision, kind, at, by, body, previous, hash, answer"),
];

fn database_path(world: &World) -> PathBuf {
    PathBuf::from(world.store().strip_prefix("sqlite:").expect("a file"))
}

fn assert_sound(world: &World) {
    let output = world.run(&["verify"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("sound: "), "{said}");
}

/// A campaign with a session that has a note, an entity with a text, a universe, and a run that has evidence and a
/// refused attempt.
struct PlayedCampaign {
    name: String,
    campaign_id: String,
    universe_id: String,
    run: Run,
}

impl PlayedCampaign {
    fn new(owner: &mut TestClient, name: &str) -> Self {
        let id = |answer: &Value| answer["id"].as_str().expect("an id").to_owned();
        let campaign_id = id(&owner.ok("campaign_create", &json!({"name": name, "gm_mode": "HUMAN"})));
        owner.ok("session_start", &json!({"campaign_id": campaign_id}));
        owner.ok(
            "session_note",
            &json!({"campaign_id": campaign_id, "text": format!("The lantern of {name} went out.")}),
        );
        let entity = json!({"entity_type": "location", "name": "Holm", "entry": format!("A harbour that {name}.")});
        owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": [entity]}));
        let universe = json!({"method": "create", "name": name, "campaignId": campaign_id});
        let universe_id = id(&owner.ok("universe", &universe)["universe"]);
        send_command(owner, &universe_id, &add_star_command("sol", None));
        let run = Run::from_answer(&owner.ok(CREATE, &json!({"process_id": "quest", "campaign_id": campaign_id})));
        run.emit_accepted(owner, "accept_quest", &json!({"payload": {"terms": "ten silver"}}));
        let played = Self { name: name.to_owned(), campaign_id, universe_id, run };
        played.submit_clue(owner, name);
        played.run.emit_refused(owner, "decline_quest", &json!({}));
        played
    }

    fn submit_clue(&self, owner: &mut TestClient, text: &str) {
        let artifacts = json!([{"path": format!("clue-{text}.md"), "text": text}]);
        let fields = json!({"payload": {"summary": "a clue", "source": "place"}, "artifacts": artifacts});
        self.run.emit_accepted(owner, "submit_clue", &fields);
    }

    /// Finds the text of the entity and the note of the session by their words, and reads them.
    fn find_texts(&self, owner: &mut TestClient) {
        let (campaign_id, name) = (&self.campaign_id, &self.name);
        let found = owner.ok("find_entities", &json!({"campaign_id": campaign_id, "query": "harbour"}));
        assert_eq!(found["entities"][0]["entry"], json!(format!("A harbour that {name}.")), "{found}");
        let in_notes = json!({"campaign_id": campaign_id, "query": "lantern", "in": ["notes"]});
        let found = owner.ok("entity_search", &in_notes);
        assert_eq!(found["notes"][0]["description"], json!(format!("The lantern of {name} went out.")), "{found}");
    }

    /// Reads the campaign and continues it, in the database where it is.
    fn continue_campaign(&self, owner: &mut TestClient) {
        let campaigns = owner.read_ok("campaigns://list");
        let ids: Vec<&Value> = campaigns["campaigns"].as_array().expect("a list").iter().map(|c| &c["id"]).collect();
        assert_eq!(ids, [&json!(self.campaign_id)], "only this one is here");
        assert_eq!(owner.read_ok("universes://list")["universes"][0]["id"], json!(self.universe_id));
        self.find_texts(owner);
        owner.ok("session_note", &json!({"campaign_id": self.campaign_id, "text": "They went on."}));
        send_command(owner, &self.universe_id, &add_star_command("ember", Some("sol")));
        self.submit_clue(owner, "second");
        assert_eq!(self.run.history(owner).len(), 5, "with the attempt that was refused");
    }
}

#[test]
fn the_streams_of_a_shard_move_to_a_second_database() {
    let (first, second) = (World::sqlite(), World::sqlite());
    let mut owner = first.stdio_client(&[]);
    let [stays, moves] = ["stays", "moves"].map(|name| PlayedCampaign::new(&mut owner, name));
    owner.close_and_wait();
    // Creates a database with empty tables.
    second.stdio_client(&[]).close_and_wait();
    let file = rusqlite::Connection::open(database_path(&first)).expect("a file");
    let shard_of = |stream: String| -> i64 {
        file.query_row("SELECT shard FROM heads WHERE stream = ?1", [stream], |row| row.get(0)).expect("a stream")
    };
    let shard = shard_of(format!("campaign/{}", moves.campaign_id));
    assert_eq!(shard_of(format!("lore/{}", moves.campaign_id)), shard);
    assert_eq!(shard_of(format!("universe/{}", moves.universe_id)), shard);
    assert_eq!(shard_of(format!("run/{}", moves.run.id)), shard);
    assert_ne!(shard_of(format!("campaign/{}", stays.campaign_id)), shard);
    file.execute("ATTACH ?1 AS second", [database_path(&second).display().to_string()]).expect("the second file");
    // Rows without a shard: those of a run or a campaign move with it, and rows that runs of both sides need are copied.
    let run_id = &moves.run.id;
    let campaign_id = &moves.campaign_id;
    let beside = format!(
        "kind IN ('attempt/{run_id}', 'lore_text/{campaign_id}', 'lore_mirror/agreed/{campaign_id}',
            'lore_mirror/created/{campaign_id}', 'lore_mirror/open/{campaign_id}')
        OR (kind = 'attempts-summed' AND key = '{run_id}')
        OR (kind = 'inline-bytes' AND key IN ('run/{run_id}', 'campaign/{campaign_id}'))
        OR (kind = 'lore_mirror/links' AND key = '{campaign_id}')"
    );
    let copied = format!("{beside} OR kind IN ('artifact', 'process', 'process_submitted')");
    let side_rows = format!(
        "INSERT INTO second.shelf SELECT * FROM shelf WHERE {copied};
        DELETE FROM shelf WHERE {beside};"
    );
    let of_shard = TABLES.map(|(table, columns)| {
        let order = if table == "records" { "ORDER BY position" } else { "" };
        format!(
            "INSERT INTO second.{table} ({columns}) SELECT {columns} FROM {table} WHERE shard = {shard} {order};
            DELETE FROM {table} WHERE shard = {shard};"
        )
    });
    file.execute_batch(&format!("BEGIN; {side_rows} {} COMMIT;", of_shard.concat())).expect("rows that move");
    drop(file);
    for (world, played) in [(&first, &stays), (&second, &moves)] {
        // Rows of the search index do not move: each side makes its own.
        assert!(world.run(&["rebuild"]).status.success());
        assert_sound(world);
        let mut owner = world.stdio_client(&[]);
        played.continue_campaign(&mut owner);
        owner.close_and_wait();
        assert_sound(world);
    }
}
