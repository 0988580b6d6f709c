//! Tests of many concurrent writers to one universe: no acknowledged command is lost.

use serde_json::json;

use crate::program_under_test::{Server, StoreKind, Surface, World};
use crate::universe::{TOOLS, add_star_command};
use crate::universe_rest::UniversesClient;

/// Concurrent writers, and how many bodies each adds.
const WRITERS: usize = 16;
const EACH: usize = 625;

/// Half of the writers use REST and half MCP, on the servers in turn. Every acknowledged body is stored.
fn write_concurrently(servers: &[&Server]) {
    UniversesClient::connect(servers[0]).create_universe("u-1");
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let server = servers[writer % servers.len()];
            let (mut program, mut agent) = (UniversesClient::connect(server), server.client(Surface::Session));
            scope.spawn(move || {
                for number in 0..EACH {
                    let command = add_star_command(&format!("s-{writer}-{number}"), None);
                    if writer < WRITERS / 2 {
                        let reply = program.send("POST", "/universes/u-1/commands?state=none", &command);
                        assert_eq!(reply.status, 200, "{}", reply.text());
                    } else {
                        agent.ok(TOOLS[2], &json!({"universeId": "u-1", "command": command, "state": "none"}));
                    }
                }
            });
        }
    });
    for server in servers {
        let universe = UniversesClient::connect(server).get("/universes/u-1").json();
        assert_eq!(universe["revision"], json!(1 + WRITERS * EACH));
        let stars = universe["state"]["stars"].as_object().expect("bodies");
        let there = |writer: usize, number: usize| stars.contains_key(&format!("s-{writer}-{number}"));
        assert!((0..WRITERS).all(|writer| (0..EACH).all(|number| there(writer, number))), "every one of them");
        assert_eq!((stars.len(), universe["state"]["rootIds"].as_array().map(Vec::len)), (10_000, Some(10_000)));
    }
}

#[test]
fn sixteen_writers_lose_nothing_on_one_file() {
    let world = World::sqlite();
    write_concurrently(&[&world.serve(&[])]);
}

mod postgres {
    use super::*;

    #[test]
    fn sixteen_writers_lose_nothing_on_two_nodes_over_postgres() {
        let world = World::new(StoreKind::Postgres);
        write_concurrently(&[&world.serve(&[]), &world.serve(&[])]);
    }
}
