//! Tests of many agents who edit the lore of one campaign at once: nothing that was acknowledged is lost.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::program_under_test::{Server, StoreKind, Surface, World};

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
}

/// Agents on the servers in turn create entities with the same tags in other spellings, and add lines to one entity.
fn edit_concurrently(world: &World, servers: &[&Server]) {
    let mut owner = servers[0].client(Surface::Session);
    let campaign_id = owner.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "AI"}))["id"].clone();
    let diary = json!([{"entity_type": "journal", "name": "Diary", "entry": "Begin."}]);
    owner.ok("create_entities", &json!({"campaign_id": campaign_id, "entities": diary}));
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
        assert_eq!(found["sync_info"]["total_count"], json!(ids.len()));
        let query = json!({"campaign_id": campaign_id, "query": "lantern", "limit": 1});
        let spelled = reader.ok("find_entities", &query)["entities"][0]["tags"].clone();
        assert_eq!(spelled.as_array().map(Vec::len), Some(1), "a tag is there once, whatever its case: {spelled}");
    }
    let verified = world.run(&["verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

fn write_turn(
    client: &mut crate::program_under_test::TestClient,
    campaign_id: &Value,
    agent: usize,
    turn: usize,
    log: &mut AgentLog,
) {
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
