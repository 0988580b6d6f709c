//! Benchmark of lore: what searches, changes and loading take at 100,000 entities, and how much memory the heads need.

#![expect(clippy::disallowed_methods, reason = "this measures time")]
#![expect(clippy::cast_precision_loss, reason = "sizes are shown in megabytes")]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Instant;

use jiff::Timestamp;
use skald_domain::decider::{Decider, DecisionContext};
use skald_domain::lore::{
    EntityChange, EntityFilter, EntityType, LoreCommand, LoreRules, LoreState, LoreStatePart, NameFilter, NewEntity,
    TextKey, TextRef,
};

const ENTITIES: u64 = 100_000;
/// Rounds of one measurement; the median counts.
const ROUNDS: usize = 21;
const SYLLABLES: [&str; 24] = [
    "ael", "ysh", "thor", "in", "mir", "dra", "gon", "el", "ven", "kar", "oth", "bri", "sil", "na", "ru", "fal", "wyn",
    "gar", "eth", "os", "lu", "ma", "quen", "zor",
];

fn main() {
    let given = DecisionContext { at: Timestamp::UNIX_EPOCH, by: "local".to_owned() };
    if let Some(path) = std::env::args().nth(1) {
        return print_memory(&path);
    }
    let start = Instant::now();
    let mut state = LoreState::default();
    let mut random = 1_u64;
    for number in 1..=ENTITIES {
        let command = LoreCommand::CreateEntity(Box::new(new_entity(number, &mut random)));
        state = execute(state, &command, &given);
    }
    print("100,000 created", "ms", start.elapsed().as_secs_f64() * 1e3);
    let parts: Vec<String> =
        state.to_parts().iter().map(|part| serde_json::to_string(part).unwrap_or_default()).collect();
    print("snapshot", "MB", parts.iter().map(String::len).sum::<usize>() as f64 / 1e6);
    print("parts", "", parts.len() as f64);
    drop(state);
    loading(&parts);
    memory_of_heads(&parts);
    let state = load(&parts);
    let filter = EntityFilter { sees_private: true, ..EntityFilter::default() };
    let start = Instant::now();
    let first = EntityFilter { query: Some("thorin".to_owned()), ..filter.clone() };
    black_box(state.find(&first));
    print("first query", "ms", start.elapsed().as_secs_f64() * 1e3);
    let start = Instant::now();
    black_box(state.find(&EntityFilter { name: Some(NameFilter::Fuzzy("thorin".to_owned())), ..filter.clone() }));
    print("first fuzzy", "ms", start.elapsed().as_secs_f64() * 1e3);
    searches(&state, &filter);
    changes(&state, &given);
}

/// Loads on one processor, without what dropping takes, and on two.
fn loading(parts: &[String]) {
    let (mut reading, mut joining, mut both) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let start = cpu_seconds();
        let read_parts = read(parts);
        let read_at = cpu_seconds();
        let state = LoreState::from_parts(read_parts);
        reading.push((read_at - start) * 1e3);
        joining.push((cpu_seconds() - read_at) * 1e3);
        black_box(state);
        let start = Instant::now();
        let (one, other) = parts.split_at(parts.len() / 2);
        let read_parts = std::thread::scope(|scope| {
            let other = scope.spawn(|| read(other));
            let mut one = read(one);
            one.extend(other.join().unwrap_or_default());
            one
        });
        let state = LoreState::from_parts(read_parts);
        both.push(start.elapsed().as_secs_f64() * 1e3);
        black_box(state);
    }
    print("parse all parts, processor time", "ms", median(reading));
    print("join them, processor time", "ms", median(joining));
    both.sort_by(f64::total_cmp);
    print("both on two processors, fastest", "ms", both[0]);
}

/// Memory is measured in a process that has loaded one state and nothing else.
fn memory_of_heads(parts: &[String]) {
    let path = std::env::temp_dir().join(format!("skald-lore-speed-{}", std::process::id()));
    let _ = std::fs::write(&path, parts.join("\n"));
    let child = std::env::current_exe().and_then(|program| std::process::Command::new(program).arg(&path).status());
    let _ = std::fs::remove_file(&path);
    child.expect("the program starts itself");
}

fn print_memory(path: &str) {
    let before = resident_bytes();
    let mut read_parts = Vec::new();
    for part in BufReader::new(File::open(path).expect("the file of the parts")).lines() {
        read_parts.extend(serde_json::from_str::<LoreStatePart>(&part.unwrap_or_default()).ok());
    }
    let state = LoreState::from_parts(read_parts).unwrap_or_default();
    print("heads in memory", "MB", (resident_bytes() - before) / 1e6);
    let filter = EntityFilter { sees_private: true, query: Some("thorin".to_owned()), ..EntityFilter::default() };
    black_box(state.find(&filter));
    print("heads and index in memory", "MB", (resident_bytes() - before) / 1e6);
    black_box(state.similar_names("thorin", true, 5));
    print("heads, index and fuzzy index in memory", "MB", (resident_bytes() - before) / 1e6);
}

fn read(parts: &[String]) -> Vec<LoreStatePart> {
    parts.iter().filter_map(|part| serde_json::from_str(part).ok()).collect()
}

fn load(parts: &[String]) -> LoreState {
    LoreState::from_parts(read(parts)).unwrap_or_default()
}

fn searches(state: &LoreState, filter: &EntityFilter) {
    let name = |name| EntityFilter { name: Some(name), ..filter.clone() };
    let query = |query: &str| EntityFilter { query: Some(query.to_owned()), ..filter.clone() };
    for (what, filter) in [
        ("all", filter.clone()),
        ("type", EntityFilter { entity_type: Some(EntityType::Quest), ..filter.clone() }),
        ("two tags", EntityFilter { tags: vec!["tag 3".to_owned(), "tag 17".to_owned()], ..filter.clone() }),
        ("subtype", EntityFilter { subtype: Some("kind 3".to_owned()), ..filter.clone() }),
        ("name part of 5 letters", name(NameFilter::Contains("thori".to_owned()))),
        ("name part of 1 letter", name(NameFilter::Contains("e".to_owned()))),
        ("exact name", name(NameFilter::Exactly("aelyshthor".to_owned()))),
        ("query of 6 letters", query("dragon")),
        ("query of 1 letter", query("e")),
        ("fuzzy, 6 letters", name(NameFilter::Fuzzy("Aelysh".to_owned()))),
        ("fuzzy, 10 letters", name(NameFilter::Fuzzy("thorinaels".to_owned()))),
        ("fuzzy, 21 letters", name(NameFilter::Fuzzy("thorin draguon elvenka".to_owned()))),
        ("updated after", EntityFilter { updated_after: Some(Timestamp::UNIX_EPOCH), ..filter.clone() }),
    ] {
        let found = state.find(&filter).len();
        measure(&format!("find: {what} ({found})"), || {
            black_box(state.find(&filter));
        });
    }
    measure("entities_named, 1,000 times", || {
        for _ in 0..1_000 {
            black_box(state.entities_named("aelyshthor", true));
        }
    });
    measure("similar_names", || {
        black_box(state.similar_names("Aelyshtor", true, 5));
    });
}

fn changes(state: &LoreState, given: &DecisionContext) {
    let mut number = 0;
    measure("1,000 updates with a reader", || {
        let mut state = state.clone();
        for _ in 0..1_000 {
            number += 1;
            let reader = state.clone();
            let change = EntityChange { name: Some(format!("Renamed {number}")), ..EntityChange::default() };
            let entity_id = number * 7_919 % ENTITIES + 1;
            let command = LoreCommand::UpdateEntity { entity_id, expected_revision: None, change: Box::new(change) };
            state = execute(state, &command, given);
            black_box(reader);
        }
    });
    let mut changed = state.clone();
    measure("create and similar_names", || {
        let mut random = 9;
        let command = LoreCommand::CreateEntity(Box::new(new_entity(0, &mut random)));
        changed = execute(changed.clone(), &command, given);
        black_box(changed.similar_names("Aelyshtor", true, 5));
    });
}

fn execute(state: LoreState, command: &LoreCommand, given: &DecisionContext) -> LoreState {
    let events = LoreRules::decide(&state, command, given).unwrap_or_default();
    events.iter().fold(state, |state, event| LoreRules::evolve(state, event, given))
}

fn new_entity(number: u64, random: &mut u64) -> NewEntity {
    let mut next = |below: u64| {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        *random % below
    };
    let mut name = String::new();
    for word in 0..=next(2) {
        if word > 0 {
            name.push(' ');
        }
        for _ in 0..2 + next(3) {
            name.push_str(SYLLABLES[usize::try_from(next(24)).unwrap_or_default()]);
        }
    }
    let mut key = [0; 32];
    key[..8].copy_from_slice(&number.to_le_bytes());
    key[8..16].copy_from_slice(&next(u64::MAX).to_le_bytes());
    let mentions = (0..next(3)).map(|_| 1 + next(ENTITIES)).collect();
    NewEntity {
        subtype: format!("kind {}", next(30)),
        tags: (0..next(4)).map(|_| format!("tag {}", next(300))).collect(),
        aliases: if next(10) == 0 { vec![format!("Alias {number}")] } else { Vec::new() },
        is_private: next(4) == 0,
        parent: (next(3) == 0 && number > 10).then(|| 1 + next(number - 1)),
        text: Some(TextRef { key: TextKey::from(key), mentions }),
        ..NewEntity::new(EntityType::ALL[usize::try_from(next(13)).unwrap_or_default()], &name)
    }
}

fn measure(what: &str, mut run: impl FnMut()) {
    let times = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64() * 1e3
    });
    print(what, "ms", median(times.collect()));
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Processor time of this thread, where the system tells it.
fn cpu_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    status.split(' ').next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or_default() / 1e9
}

fn print(what: &str, unit: &str, value: f64) {
    let _ = writeln!(std::io::stdout(), "{what}: {value:.3} {unit}");
}

/// Memory of this process, where the system tells it.
fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = status.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok()).unwrap_or_default();
    pages * 4_096.0
}
