//! Benchmark of universe commands and states, in microseconds. `cargo xtask bench` compares the results with its
//! targets.
//!
//! Every command is decided and evolved while a reader holds the state before it, as in the journal: so each one pays
//! for copying what it changes. The size is the same before every measured command. An argument selects the part:
//! commands or states.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use skald_domain::decider::{Decider, DecisionContext};
use skald_domain::limits::BODIES_MAX;
use skald_domain::universe::{Command, Universe, UniverseCommand, UniverseEvent, UniverseRules, UniverseState};

const SIZES: [usize; 4] = [10, 1_000, 10_000, 100_000];
/// Commands of one measurement; the median counts.
const ROUNDS: usize = 2_001;

fn main() {
    let given = DecisionContext { at: Timestamp::UNIX_EPOCH, by: "local".to_owned() };
    let wanted = std::env::args().nth(1);
    let is_wanted = |part: &str| wanted.as_ref().is_none_or(|wanted| wanted == part);
    if is_wanted("commands") {
        for size in SIZES {
            commands(size, &given);
        }
    }
    if is_wanted("states") {
        for size in SIZES {
            states(size, &given);
        }
    }
}

/// What a command costs.
fn commands(size: usize, given: &DecisionContext) {
    // There must be room for one more.
    let size = size.min(BODIES_MAX - 1);
    let universe = opened(size, given);
    let costs = [
        ("tick", cost(&universe, given, |_| vec![r#"{"type":"tick","dt":1}"#.to_owned()])),
        (
            "addStar",
            cost(&universe, given, |round| vec![add(&format!("new{round}"), "s0"), remove(&format!("new{round}"))]),
        ),
        (
            "removeStar",
            cost(&universe, given, |round| {
                vec![remove(&name(round % (size - 1) + 1)), add(&name(round % (size - 1) + 1), "s0")]
            }),
        ),
        ("attachStar", cost(&universe, given, |round| vec![attach(&name(round % (size - 2) + 2), "s0")])),
        (
            "updateStar",
            cost(&universe, given, |round| {
                let id = name(round % size);
                vec![format!(r#"{{"type":"updateStar","id":"{id}","payload":{{"mass":{round}}}}}"#)]
            }),
        ),
    ];
    for (command, microseconds) in costs {
        print_figure(&format!("{command} at {size}"), microseconds);
    }
}

/// What is done with a whole state.
fn states(size: usize, given: &DecisionContext) {
    let state = json(size);
    let read = || serde_json::from_str::<UniverseState>(&state);
    print_figure(&format!("read a state of {size}"), median(15, read));
    let universe = opened(size, given);
    let stored = serde_json::to_string(&universe).unwrap_or_default();
    let tail = tail(1_000, &universe, given);
    print_figure(&format!("open {size}"), median(7, || open(&stored, &[], given)));
    print_figure(&format!("open {size} with a tail of 1000"), median(7, || open(&stored, &tail, given)));
    print_figure(&format!("write a state of {size}"), median(15, || serde_json::to_string(universe.state())));
    print_figure(&format!("clone a state of {size}"), median(1_001, || universe.clone()));
    print_figure(&format!("sum up {size}"), median(15, || universe.state().summary()));
    let positions = || universe.state().snapshot().world_positions(1e6);
    print_figure(&format!("all positions of {size}"), median(15, positions));
}

fn print_figure(what: &str, microseconds: f64) {
    let _ = writeln!(std::io::stdout(), "{what}: {microseconds:.2}");
}

fn name(number: usize) -> String {
    format!("s{number}")
}

fn payload(parent: &str) -> String {
    format!(
        r##"{{"name":"A body of some name","mass":12.5,"radius":1.25,"color":"#FFD2A1","parentId":{parent},"orbitalDistance":42.75,"orbitalSpeed":1.5,"orbitalPhase":180,"bodyType":"planet"}}"##
    )
}

fn add(id: &str, parent: &str) -> String {
    format!(r#"{{"type":"addStar","id":"{id}","payload":{}}}"#, payload(&format!("\"{parent}\"")))
}

fn remove(id: &str) -> String {
    format!(r#"{{"type":"removeStar","id":"{id}"}}"#)
}

fn attach(child: &str, parent: &str) -> String {
    format!(r#"{{"type":"attachStar","childId":"{child}","parentId":"{parent}"}}"#)
}

/// One root, and all others around it, in the order of ids.
fn json(size: usize) -> String {
    let mut ids: Vec<String> = (1..size).map(name).collect();
    let children: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
    ids.push(name(0));
    ids.sort();
    let mut stars = String::new();
    for (number, id) in ids.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let (parent, children) = if id == "s0" { ("null", children.join(",")) } else { ("\"s0\"", String::new()) };
        let payload = payload(parent);
        let fields = payload.trim_start_matches('{');
        let _ = write!(stars, r#"{comma}"{id}":{{"id":"{id}","children":[{children}],{fields}"#);
    }
    format!(r#"{{"stars":{{{stars}}},"rootIds":["s0"],"time":0}}"#)
}

fn opened(size: usize, given: &DecisionContext) -> Universe {
    let state = serde_json::from_str::<UniverseState>(&json(size)).ok().map(Into::into);
    let create = UniverseCommand::Create { id: "u".to_owned(), name: "U".to_owned(), campaign_id: None, state };
    apply_command(Universe::default(), &create, given).1
}

fn apply_command(
    universe: Universe,
    command: &UniverseCommand,
    given: &DecisionContext,
) -> (Vec<UniverseEvent>, Universe) {
    let events = UniverseRules::decide(&universe, command, given).unwrap_or_else(|refusal| panic!("{refusal}"));
    let after = events.iter().fold(universe, |universe, event| UniverseRules::evolve(universe, event, given));
    (events, after)
}

fn read(command: &str) -> UniverseCommand {
    let command: Command = serde_json::from_str(command).unwrap_or_else(|error| panic!("{command}: {error}"));
    UniverseCommand::Apply(vec![Arc::new(command)])
}

/// The median cost of the first of the round's commands; the others restore the size.
fn cost(universe: &Universe, given: &DecisionContext, commands: impl Fn(usize) -> Vec<String>) -> f64 {
    let mut universe = universe.clone();
    let mut took = Vec::with_capacity(ROUNDS);
    for round in 0..ROUNDS {
        for (number, command) in commands(round).iter().enumerate() {
            let command = read(command);
            let held = universe.clone();
            let began = Instant::now();
            let (events, after) = apply_command(universe, &command, given);
            let elapsed = began.elapsed().as_secs_f64() * 1e6;
            drop((events, held));
            if number == 0 {
                took.push(elapsed);
            }
            universe = after;
        }
    }
    middle(took)
}

/// What the work came to is given back after the clock has stopped.
fn median<T>(rounds: usize, work: impl Fn() -> T) -> f64 {
    let took = (0..rounds).map(|_| {
        let began = Instant::now();
        let came = black_box(work());
        let elapsed = began.elapsed().as_secs_f64() * 1e6;
        drop(came);
        elapsed
    });
    middle(took.collect())
}

fn middle(mut took: Vec<f64>) -> f64 {
    took.sort_by(f64::total_cmp);
    took[took.len() / 2]
}

/// Records as the journal has them.
fn tail(length: usize, universe: &Universe, given: &DecisionContext) -> Vec<String> {
    let mut universe = universe.clone();
    let mut records = Vec::with_capacity(length);
    for number in 0..length {
        let command =
            if number % 2 == 0 { add(&format!("new{number}"), "s0") } else { r#"{"type":"tick"}"#.to_owned() };
        if universe.state().snapshot().bodies().len() >= BODIES_MAX {
            universe = apply_command(universe, &read(&remove("s1")), given).1;
            records.push(r#"[{"type":"universe.commanded.v1","command":{"type":"removeStar","id":"s1"}}]"#.to_owned());
            universe = apply_command(universe, &read(&add("s1", "s0")), given).1;
            records.push(format!(r#"[{{"type":"universe.commanded.v1","command":{}}}]"#, add("s1", "s0")));
            continue;
        }
        let (events, after) = apply_command(universe, &read(&command), given);
        universe = after;
        records.push(serde_json::to_string(&events).unwrap_or_default());
    }
    records.truncate(length);
    records
}

fn open(stored: &str, tail: &[String], given: &DecisionContext) -> Universe {
    let universe: Universe = serde_json::from_str(stored).unwrap_or_default();
    tail.iter().fold(universe, |universe, record| {
        let events: Vec<UniverseEvent> = serde_json::from_str(record).unwrap_or_default();
        events.iter().fold(universe, |universe, event| UniverseRules::evolve(universe, event, given))
    })
}
