//! Tests of many agents who edit the lore of one campaign at once: nothing that was acknowledged is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program_under_test::{Server, StoreKind, Surface, TestClient, World};

/// Agents who write at the same time.
const AGENTS: usize = 16;
/// For how long, unless the suite says less or more.
const SECONDS: u64 = 2;
/// The diary has a longest length, so the test does not take longer.
const SECONDS_MAX: u64 = 30;

/// What one agent was told to be stored.
#[derive(Default)]
struct AgentLog {
    entity_ids: Vec<u64>,
    lines: Vec<String>,
    /// Entities of its own, of which each has a life of its own.
    own: BTreeMap<u64, OwnEntity>,
    /// Updates of the counter that were applied, and that came too late.
    counted: usize,
    conflicts: usize,
    /// How often it deleted the lighthouse, less how often it brought it back.
    lighthouse_deletions: i64,
}

/// What an entity must be in the end.
#[derive(Debug, Default, PartialEq)]
struct OwnEntity {
    is_deleted: bool,
    tags: BTreeSet<String>,
    /// Names of its posts with their texts.
    posts: BTreeMap<String, String>,
}

/// Agents on the servers in turn create entities with the same tags in other spellings, add lines to one entity, count in
/// another, delete and restore a third, and change what is theirs.
fn edit_concurrently(world: &World, servers: &[&Server]) {
    let mut owner = servers[0].client(Surface::Session);
    let campaign_id = owner.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}))["id"].clone();
    let shared = json!([
        {"entity_type": "journal", "name": "Diary", "entry": "Begin."},
        {"entity_type": "note", "name": "Counter", "entry": "0"},
        {"entity_type": "location", "name": "Lighthouse", "entry": "It blinks."}
    ]);
    owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": shared}));
    let seconds = std::env::var("SKALD_TOGETHER_SECONDS").map_or(SECONDS, |text| text.parse().expect("a number"));
    let end = Instant::now() + Duration::from_secs(seconds.min(SECONDS_MAX));
    let logs: Vec<AgentLog> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..AGENTS)
            .map(|agent| {
                let mut client = servers[agent % servers.len()].client(Surface::Session);
                let campaign_id = &campaign_id;
                scope.spawn(move || {
                    let mut log = AgentLog::default();
                    for turn in 0.. {
                        if Instant::now() > end {
                            return log;
                        }
                        write_turn(&mut client, campaign_id, agent, turn, &mut log);
                        change_own_entity(&mut client, campaign_id, turn, &mut log);
                        count_up(&mut client, campaign_id, &mut log);
                        switch_lighthouse(&mut client, campaign_id, agent + turn, &mut log);
                    }
                    log
                })
            })
            .collect();
        agents.into_iter().map(|agent| agent.join().expect("an agent that did not panic")).collect()
    });
    let ids: Vec<u64> = logs.iter().flat_map(|log| log.entity_ids.iter().copied()).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "every id is given once");
    assert!(ids.len() > AGENTS, "{} entities", ids.len());
    for server in servers {
        let mut reader = server.client(Surface::Session);
        let diary = reader.ok("get_entities", &json!({"campaign_id": campaign_id, "entity_ids": ["Diary"]}));
        let text = diary["results"][0]["entry"].as_str().expect("a text").to_owned();
        for line in logs.iter().flat_map(|log| &log.lines) {
            assert_eq!(text.matches(line.as_str()).count(), 1, "{line} is there once");
        }
        let found = json!({"campaign_id": campaign_id, "tags": ["WOODS"], "limit": 0, "include_full": false});
        let found = reader.ok("find_entities", &found);
        let deleted = logs.iter().flat_map(|log| log.own.values()).filter(|own| own.is_deleted).count();
        assert_eq!(found["sync_info"]["total_count"], json!(ids.len() - deleted));
        let query = json!({"campaign_id": campaign_id, "query": "lantern", "limit": 1});
        let spelled = reader.ok("find_entities", &query)["entities"][0]["tags"].clone();
        let tags: Vec<String> =
            spelled.as_array().into_iter().flatten().map(|tag| tag.to_string().to_lowercase()).collect();
        let distinct: BTreeSet<&String> = tags.iter().collect();
        assert_eq!(distinct.len(), tags.len(), "a tag is there once, whatever its case: {spelled}");
        check_shared_entities(&mut reader, &campaign_id, &logs);
        for (entity_id, expected) in logs.iter().flat_map(|log| &log.own) {
            assert_eq!(&read_entity(&mut reader, &campaign_id, *entity_id), expected, "entity {entity_id}");
        }
    }
    let verified = world.run(&["verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

fn write_turn(client: &mut TestClient, campaign_id: &Value, agent: usize, turn: usize, log: &mut AgentLog) {
    let tag = if (agent + turn).is_multiple_of(2) { "Woods" } else { "woods" };
    let entity = |part: usize| {
        json!({
            "entity_type": "location", "name": format!("Glade {agent}-{turn}-{part}"), "tags": [tag],
            "entry": "A lantern hangs here.",
        })
    };
    let entities = json!({"campaign_id": campaign_id, "entities": [entity(0), entity(1)]});
    for result in client.ok("create_entities", &entities)["results"].as_array().into_iter().flatten() {
        assert_eq!(result["success"], true, "{result}");
        log.entity_ids.extend(result["entity_id"].as_u64());
    }
    let line = format!("line {agent}.{turn};");
    let update = json!([{"entity_id": "Diary", "entry_append": line}]);
    let done = client.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": update}));
    if done["results"][0]["success"] == true {
        log.lines.push(line);
    } else {
        assert_eq!(done["results"][0]["code"], "REVISION_CONFLICT", "{done}");
    }
}

/// Gives the newest entity of an agent posts and tags, and deletes and restores it, by turns.
fn change_own_entity(client: &mut TestClient, campaign_id: &Value, turn: usize, log: &mut AgentLog) {
    let Some(entity_id) = log.entity_ids.last().copied() else { return };
    let mut own = OwnEntity { tags: BTreeSet::from(["woods".to_owned()]), ..OwnEntity::default() };
    let post = |name: &str| json!({"entity_id": entity_id, "name": name, "entry": "Written once."});
    let posts = json!([post("Kept"), post("Changed"), post("Gone")]);
    let created = results(client, "create_posts", &json!({"campaign_id": campaign_id, "posts": posts}));
    let post_id = |place: usize| created[place]["post_id"].clone();
    let update = json!([{
        "entity_id": entity_id, "post_id": post_id(1), "name": "Changed", "entry": "Written twice.", "expected_revision": 1
    }]);
    results(client, "update_posts", &json!({"campaign_id": campaign_id, "updates": update}));
    let deletion = json!([{"entity_id": entity_id, "post_id": post_id(2)}]);
    results(client, "delete_posts", &json!({"campaign_id": campaign_id, "deletions": deletion}));
    own.posts.insert("Kept".to_owned(), "Written once.".to_owned());
    own.posts.insert("Changed".to_owned(), "Written twice.".to_owned());
    let second = if turn.is_multiple_of(2) { "Fen" } else { "FEN" };
    let update = json!([{"entity_id": entity_id, "tags": ["woods", second], "expected_revision": 1}]);
    results(client, "update_entities", &json!({"campaign_id": campaign_id, "updates": update}));
    own.tags.insert("fen".to_owned());
    if !turn.is_multiple_of(3) {
        results(client, "delete_entities", &json!({"campaign_id": campaign_id, "entity_ids": [entity_id]}));
        own.is_deleted = turn % 3 == 1;
        if !own.is_deleted {
            let undelete = json!({"campaign_id": campaign_id, "method": "undelete", "entity_id": entity_id});
            client.ok("lore_history", &undelete);
        }
    }
    log.own.insert(entity_id, own);
}

/// The results of a batch, which must all have succeeded.
fn results(client: &mut TestClient, operation: &str, input: &Value) -> Vec<Value> {
    let answer = client.ok(operation, input);
    let results = answer["results"].as_array().expect("results");
    assert!(results.iter().all(|result| result["success"] == true), "{operation}: {answer}");
    results.clone()
}

/// Reads a number and writes the next one, if nobody else did meanwhile.
fn count_up(client: &mut TestClient, campaign_id: &Value, log: &mut AgentLog) {
    let read = client.ok("get_entities", &json!({"campaign_id": campaign_id, "entity_ids": ["Counter"]}));
    let counter = &read["results"][0];
    let number: usize = counter["entry"].as_str().and_then(|text| text.parse().ok()).expect("a number");
    let update = json!([{
        "entity_id": "Counter", "entry": (number + 1).to_string(), "expected_revision": counter["revision"]
    }]);
    let done = client.ok("update_entities", &json!({"campaign_id": campaign_id, "updates": update}));
    match &done["results"][0] {
        result if result["success"] == true => log.counted += 1,
        result => {
            assert_eq!(result["code"], "REVISION_CONFLICT", "{result}");
            log.conflicts += 1;
        }
    }
}

/// Deletes what all agents share, or brings it back: whoever is told that it was done, did it.
fn switch_lighthouse(client: &mut TestClient, campaign_id: &Value, number: usize, log: &mut AgentLog) {
    if number.is_multiple_of(2) {
        let deletion = json!({"campaign_id": campaign_id, "entity_ids": ["Lighthouse"]});
        let done = client.ok("delete_entities", &deletion);
        let result = &done["results"][0];
        if result["success"] == true {
            log.lighthouse_deletions += 1;
        } else {
            assert_eq!(result["code"], "NOT_FOUND", "{result}");
        }
    } else {
        let input = json!({"campaign_id": campaign_id, "method": "undelete", "entity_id": "Lighthouse"});
        match client.call("lore_history", &input) {
            Ok(_) => log.lighthouse_deletions -= 1,
            Err(fault) => assert_eq!(fault["code"], "REJECTED", "{fault}"),
        }
    }
}

fn check_shared_entities(reader: &mut TestClient, campaign_id: &Value, logs: &[AgentLog]) {
    let read = reader.ok("get_entities", &json!({"campaign_id": campaign_id, "entity_ids": ["Counter", "Lighthouse"]}));
    let updates: usize = logs.iter().map(|log| log.counted).sum();
    let conflicts: usize = logs.iter().map(|log| log.conflicts).sum();
    let counter = &read["results"][0];
    assert_eq!(counter["entry"], updates.to_string(), "no update is lost, and {conflicts} came too late");
    assert_eq!(counter["revision"], updates + 1);
    assert!(updates > 0, "somebody counts");
    let deletions: i64 = logs.iter().map(|log| log.lighthouse_deletions).sum();
    let is_there = read["results"][1]["success"] == true;
    assert_eq!(deletions, i64::from(!is_there), "{}", read["results"][1]);
}

fn read_entity(reader: &mut TestClient, campaign_id: &Value, entity_id: u64) -> OwnEntity {
    let input = json!({"campaign_id": campaign_id, "entity_ids": [entity_id], "include_posts": true});
    let mut read = reader.ok("get_entities", &input)["results"][0].clone();
    let is_deleted = read["success"] == false;
    if is_deleted {
        // What it was shows when it is back.
        let undelete = json!({"campaign_id": campaign_id, "method": "undelete", "entity_id": entity_id});
        reader.ok("lore_history", &undelete);
        read = reader.ok("get_entities", &input)["results"][0].clone();
        results(reader, "delete_entities", &json!({"campaign_id": campaign_id, "entity_ids": [entity_id]}));
    }
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let posts = read["posts"].as_array().expect("posts").iter();
    OwnEntity {
        is_deleted,
        tags: read["tags"].as_array().expect("tags").iter().map(|tag| text(tag).to_lowercase()).collect(),
        posts: posts.map(|post| (text(&post["name"]), text(&post["entry"]))).collect(),
    }
}

#[test]
fn sixteen_agents_of_two_programs_lose_nothing_on_one_file() {
    let world = World::sqlite();
    edit_concurrently(&world, &[&world.serve(&[]), &world.serve(&[])]);
}

mod postgres {
    use super::*;

    #[test]
    fn sixteen_agents_lose_nothing_on_two_nodes_over_postgres() {
        let world = World::new(StoreKind::Postgres);
        edit_concurrently(&world, &[&world.serve(&[]), &world.serve(&[])]);
    }
}
