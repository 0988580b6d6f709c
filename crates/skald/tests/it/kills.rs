//! Tests of a server killed while many write: acknowledged commands are stored, and a retry adds the others once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use crate::process::{RunningProgram, run};
use crate::rest_client::RestClient;
use crate::test_stores::TestStore;

const WRITERS: usize = 16;
/// The writers share this many campaigns, so that a commit holds more than one stream.
const CAMPAIGNS: usize = 2;
/// A kill comes after a random number of acknowledged commands below this one, and a random delay. Since commands are
/// counted, a slow machine gets as much done before it as a fast one.
const ACKNOWLEDGED: u64 = 200;
const LATER_US: u64 = 10_000;
/// The latest moment of a kill while the server starts.
const STARTING_MS: u64 = 150;
/// After one in this many kills, the server is killed again while it starts.
const KILLS_PER_RESTART_KILL: u64 = 4;
const KILLS_PER_STORE: u64 = 20;
/// Acknowledged commands per writer that are sent once more.
const REPEATED: usize = 2;

#[test]
fn a_killed_server_on_sqlite_loses_nothing() {
    kill_on_fresh_stores(TestStore::sqlite);
}

mod postgres {
    #[test]
    fn a_killed_server_on_postgres_loses_nothing() {
        super::kill_on_fresh_stores(super::TestStore::postgres);
    }
}

/// A sent command, and its answer if one came.
struct IssuedCommand {
    operation: &'static str,
    input: Value,
    key: String,
    answer: Option<Value>,
}

impl IssuedCommand {
    /// Makes commands of three kinds in turn, each with a unique text.
    fn new(campaign_id: &str, text: &str, number: usize) -> Self {
        let (operation, input) = match number % 3 {
            0 => ("actor_create", json!({"name": text, "kind": "NPC"})),
            1 => ("session_note", json!({"text": text})),
            _ => ("participant_create", json!({"display_name": text, "role": "PLAYER"})),
        };
        let mut input = input;
        input["campaign_id"] = campaign_id.into();
        Self { operation, input, key: text.to_owned(), answer: None }
    }

    /// Whether an event is that of this command, as far as its sender can know.
    fn matches_event(&self, event: &Value) -> bool {
        let (kind, id, fields): (_, _, &[&str]) = match self.operation {
            "actor_create" => ("actor.added.v1", "actor_id", &["name", "kind"]),
            "session_note" => ("note.added.v1", "note_id", &["text"]),
            _ => ("participant.added.v1", "participant_id", &["display_name", "role"]),
        };
        let is_same = event["type"] == kind && fields.iter().all(|field| event[*field] == self.input[*field]);
        is_same && self.answer.as_ref().is_none_or(|answer| answer["id"] == event[id])
    }
}

/// As many kills as `SKALD_KILLS` says, on several stores: each check reads everything in the store.
fn kill_on_fresh_stores(place: fn() -> TestStore) {
    let mut left = std::env::var("SKALD_KILLS").map_or(3, |kills| kills.parse().expect("a number"));
    while left > 0 {
        let kills = KILLS_PER_STORE.min(left);
        kill_and_check(&place(), kills, left);
        left -= kills;
    }
}

fn kill_and_check(place: &TestStore, kills: u64, seed: u64) {
    let mut chance = seed;
    let mut below = move |bound: u64| {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % bound
    };
    let start = || RunningProgram::serve(&["--store", &place.address]);
    let (mut running, mut address) = start();
    let mut kept: Vec<(String, usize)> = Vec::new();
    for round in 0..kills {
        let mut rest = RestClient::new(address);
        let campaigns = [(); CAMPAIGNS].map(|()| rest.open_campaign(&format!("round {round}")));
        let (enough, later) = (below(ACKNOWLEDGED), Duration::from_micros(below(LATER_US)));
        let acknowledged = AtomicU64::new(0);
        let mut sent: Vec<Vec<IssuedCommand>> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..WRITERS)
                .map(|writer| {
                    let campaign_id = &campaigns[writer % CAMPAIGNS];
                    // Connect before the kill, so that it interrupts every writer.
                    let (rest, acknowledged) = (RestClient::new(address), &acknowledged);
                    scope.spawn(move || {
                        write_until_killed(rest, campaign_id, &format!("{round}-{writer}"), acknowledged)
                    })
                })
                .collect();
            while acknowledged.load(Ordering::Relaxed) < enough && !writers.iter().any(ScopedJoinHandle::is_finished) {
                std::thread::sleep(Duration::from_micros(100));
            }
            std::thread::sleep(later);
            running.kill();
            writers.into_iter().map(|writer| writer.join().expect("a writer")).collect()
        });
        if round % KILLS_PER_RESTART_KILL == 1 {
            let starting = RunningProgram::start(crate::process::skald_command(&["serve", "--store", &place.address]));
            std::thread::sleep(Duration::from_millis(below(STARTING_MS)));
            starting.kill();
        }
        (running, address) = start();
        let mut rest = RestClient::new(address);
        for (at, campaign_id) in campaigns.iter().enumerate() {
            check_history(&mut rest, campaign_id, &campaign_commands(&sent, at));
            resend_commands(&mut rest, sent.iter_mut().skip(at).step_by(CAMPAIGNS));
            let all = campaign_commands(&sent, at);
            assert_eq!(check_history(&mut rest, campaign_id, &all), all.len(), "every command is there now");
            kept.push((campaign_id.clone(), all.len()));
        }
        let verified = run(&["verify", "--store", &place.address]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
        assert!(verified.stdout.starts_with(b"sound: "), "{}", String::from_utf8_lossy(&verified.stdout));
    }
    // One command per writer and round has no answer. Without many others, the test proves nothing.
    let (writers, commands) = (kills * WRITERS as u64, kept.iter().map(|(_, commands)| *commands as u64).sum::<u64>());
    assert!(commands > 2 * writers, "{commands} commands of {writers} writers");
    let mut rest = RestClient::new(address);
    for (campaign_id, commands) in kept {
        assert_eq!(rest.history(&campaign_id).len(), commands + 2, "{campaign_id} at the end");
    }
}

/// The commands of the writers of one campaign.
fn campaign_commands(sent: &[Vec<IssuedCommand>], campaign: usize) -> Vec<&IssuedCommand> {
    sent.iter().skip(campaign).step_by(CAMPAIGNS).flatten().collect()
}

/// Sends command after command until the server is gone. Only the last may be without an answer.
fn write_until_killed(
    mut rest: RestClient,
    campaign_id: &str,
    name: &str,
    acknowledged: &AtomicU64,
) -> Vec<IssuedCommand> {
    let mut all = Vec::new();
    loop {
        let mut sent = IssuedCommand::new(campaign_id, &format!("{name}-{}", all.len()), all.len());
        let answer = rest.send(sent.operation, &sent.input, &sent.key);
        if let Ok((status, answer)) = answer {
            assert_eq!(status, 200, "{answer}");
            sent.answer = Some(answer);
            all.push(sent);
            acknowledged.fetch_add(1, Ordering::Relaxed);
        } else {
            all.push(sent);
            return all;
        }
    }
}

/// Asserts that the history has every acknowledged command, and nothing twice, in part, or never sent. Returns how many
/// commands it has.
fn check_history(rest: &mut RestClient, campaign_id: &str, sent: &[&IssuedCommand]) -> usize {
    let history = rest.history(campaign_id);
    let kinds = |events: &[Value]| events.iter().map(|event| event["type"].clone()).collect::<Vec<_>>();
    assert_eq!(kinds(&history[0]), ["campaign.created.v1"]);
    assert_eq!(kinds(&history[1]), ["campaign.activated.v1", "session.started.v1"], "all of a command");
    let mut counts = std::collections::BTreeMap::new();
    let mut told = vec![0; sent.len()];
    for events in &history[2..] {
        let [event] = &events[..] else { panic!("one command has one event here: {events:?}") };
        let at = sent.iter().position(|sent| sent.matches_event(event));
        told[at.unwrap_or_else(|| panic!("nobody sent {event}"))] += 1;
        *counts.entry(event["type"].as_str().unwrap_or_default().to_owned()).or_insert(0) += 1;
    }
    for (sent, told) in sent.iter().zip(told) {
        assert!(told == 1 || (told == 0 && sent.answer.is_none()), "{} is there {told} times", sent.input);
    }
    let mut count = |kind: &str| json!(counts.remove(kind).unwrap_or(0));
    let campaign = rest.call("campaign_read", &json!({"campaign_id": campaign_id}));
    assert_eq!(campaign["campaign"]["actor_count"], count("actor.added.v1"));
    assert_eq!(campaign["campaign"]["participant_count"], count("participant.added.v1"));
    let sessions = rest.call("campaign_read", &json!({"campaign_id": campaign_id, "view": "sessions"}));
    assert_eq!(sessions["sessions"][0]["note_count"], count("note.added.v1"));
    history.len() - 2
}

/// Sends the unanswered commands again, and some answered ones, which must get the same answer.
fn resend_commands<'a>(rest: &mut RestClient, writers: impl Iterator<Item = &'a mut Vec<IssuedCommand>>) {
    for writer in writers {
        for sent in writer.iter_mut().rev().take(1 + REPEATED) {
            let (status, answer) = rest.send(sent.operation, &sent.input, &sent.key).expect("an answer");
            assert_eq!(status, 200, "{answer}");
            assert!(sent.answer.as_ref().is_none_or(|before| *before == answer), "{answer}, not {:?}", sent.answer);
            sent.answer = Some(answer);
        }
    }
}
