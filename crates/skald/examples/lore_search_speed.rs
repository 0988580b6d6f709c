//! Benchmark of a campaign's lore through the engine: `create` stores entities in batches, `search` measures searches in
//! a process that has just been started. Both print lines of a name and a number.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use skald_app::{App, Caller, Clock, Engine, Entropy, LocalEngine, RequestControl};
use skald_journal::Limits;

type SearchFailure = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: lore_search_speed create STORE [ENTITIES] | search STORE";
const CAMPAIGN: &str = "Bench of the lore";
/// Entities of one call.
const BATCH: u64 = 100;
/// Words of the vocabulary. The first is the most frequent; the frequency of the nth is 1/n of that.
const WORDS: u64 = 30_000;
const ENTRY_BYTES: usize = 1_000;
const TAGS: u64 = 300;
/// Words that are in a known share of all entries, and in no name.
const RARE_WORD: &str = "bellfrost";
const COMMON_WORD: &str = "hollowjet";
const EVERY_WORD: &str = "jadeglyph";
/// The rare word is in one of so many entries: 0.4 %.
const RARE_IN: u64 = 250;
/// The common word is in so many of 25 entries: 32 %.
const COMMON_IN_25: u64 = 8;
/// Calls of one measurement; the median counts.
const ROUNDS: usize = 51;
const WARM_UP_ROUNDS: usize = 5;
const TYPES: [&str; 13] = [
    "character",
    "creature",
    "location",
    "organization",
    "race",
    "note",
    "journal",
    "quest",
    "item",
    "clue",
    "event",
    "document",
    "other",
];
const SYLLABLES: [&str; 24] = [
    "ael", "ysh", "thor", "in", "mir", "dra", "gon", "el", "ven", "kar", "oth", "bri", "sil", "na", "ru", "fal", "wyn",
    "gar", "eth", "os", "lu", "ma", "quen", "zor",
];

struct BenchEntropy;

impl Entropy for BenchEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        bytes
    }
}

struct BenchClock;

impl Clock for BenchClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}

#[tokio::main]
async fn main() -> Result<(), SearchFailure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["create", store] => create(store, 100_000).await,
        ["create", store, count] => create(store, count.parse()?).await,
        ["search", store] => search(store).await,
        _ => Err(USAGE.into()),
    }
}

/// An engine on a store, and calls as its owner.
struct BenchEngine(Arc<LocalEngine>);

impl BenchEngine {
    async fn open(store: &str) -> Result<Self, SearchFailure> {
        let journal = skald_store::open(store).await?;
        Ok(Self(LocalEngine::new(App::new(Arc::new(BenchEntropy), Arc::new(BenchClock), journal))))
    }

    async fn call(&self, operation: &str, input: Value) -> Result<Value, SearchFailure> {
        let answer = self.0.call(&Caller::owner(), operation, input, &RequestControl::default()).await;
        answer.map_err(|fault| format!("{operation}: {fault}").into())
    }
}

async fn create(store: &str, count: u64) -> Result<(), SearchFailure> {
    let engine = BenchEngine::open(store).await?;
    let campaign = engine.call("campaign_create", json!({"name": CAMPAIGN, "gm_mode": "HUMAN"})).await?;
    let mut texts = TextSource::new();
    let mut seconds = 0.0;
    for first in (1..=count).step_by(usize::try_from(BATCH)?) {
        let entities: Vec<Value> = (first..(first + BATCH).min(count + 1)).map(|number| texts.entity(number)).collect();
        let sent = entities.len();
        let input = json!({"campaign_id": campaign["id"], "entities": entities});
        // Inventing the texts does not count.
        let start = Instant::now();
        let answer = engine.call("create_entities", input).await?;
        seconds += start.elapsed().as_secs_f64();
        let results = answer["results"].as_array().map_or(&[][..], Vec::as_slice);
        let stored = results.iter().filter(|result| result["success"] == true).count();
        if stored != sent {
            return Err(format!("{stored} of {sent} entities were stored: {answer}").into());
        }
    }
    // A server goes on for a while after its last write. In that pause it writes a snapshot of what came since the last.
    tokio::time::sleep(2 * Limits::default().pause).await;
    #[expect(clippy::cast_precision_loss, reason = "the count is small")]
    let rate = count as f64 / seconds;
    print_figure("created_per_second", rate)
}

async fn search(store: &str) -> Result<(), SearchFailure> {
    let engine = BenchEngine::open(store).await?;
    let campaigns = engine.call("campaign_read", json!({"view": "campaigns"})).await?;
    let campaigns = campaigns["campaigns"].as_array().map_or(&[][..], Vec::as_slice);
    let campaign = campaigns.iter().find(|campaign| campaign["name"] == CAMPAIGN).ok_or("nothing was created yet")?;
    let campaign_id = &campaign["id"];
    let before = resident_megabytes()?;
    let start = Instant::now();
    engine.call("find_entities", json!({"campaign_id": campaign_id, "name": "thori"})).await?;
    print_figure("first_find_ms", start.elapsed().as_secs_f64() * 1e3)?;
    for (name, filter) in [
        ("type", json!({"entity_type": "character"})),
        ("two_tags", json!({"tags": ["tag 3", "tag 21"]})),
        ("name_part", json!({"name": "thori"})),
        ("fuzzy_name", json!({"name": "Aylysh", "name_fuzzy": true})),
        ("rare_word", json!({"query": RARE_WORD})),
        ("common_word", json!({"query": COMMON_WORD})),
        ("every_word", json!({"query": EVERY_WORD})),
        ("two_words", json!({"query": format!("{COMMON_WORD} {RARE_WORD}")})),
        // Begins 52 words of the vocabulary.
        ("prefix", json!({"query": "mird"})),
    ] {
        let mut input = filter;
        input["campaign_id"] = campaign_id.clone();
        let mut times = Vec::with_capacity(ROUNDS);
        for round in 0..WARM_UP_ROUNDS + ROUNDS {
            let sent = input.clone();
            let start = Instant::now();
            let found = engine.call("find_entities", sent).await?;
            let took = start.elapsed().as_secs_f64() * 1e3;
            if found["entities"].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("{input} found nothing").into());
            }
            if round >= WARM_UP_ROUNDS {
                times.push(took);
            }
        }
        times.sort_by(f64::total_cmp);
        print_figure(&format!("{name}_ms"), times[ROUNDS / 2])?;
    }
    print_figure("memory_mb", resident_megabytes()? - before)
}

/// Invents entities, the same ones in every run.
struct TextSource {
    random: u64,
    /// For each word, the sum of its frequency and of those before it.
    frequencies: Vec<u64>,
}

impl TextSource {
    fn new() -> Self {
        let mut sum = 0;
        let frequencies = (1..=WORDS).map(|rank| {
            sum += (1 << 32) / rank;
            sum
        });
        Self { random: 1, frequencies: frequencies.collect() }
    }

    /// A number below another one.
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random % end
    }

    fn entity(&mut self, number: u64) -> Value {
        // Entities that have "tag 3" have "tag 21" as well: one of 300.
        let tags = [number % TAGS, number * 7 % TAGS, number / TAGS % TAGS].map(|tag| format!("tag {tag}"));
        json!({
            "entity_type": TYPES[usize::try_from(self.below(13)).unwrap_or_default()],
            "name": self.name(),
            "type": format!("kind {}", self.below(30)),
            "tags": tags,
            "is_private": self.below(4) == 0,
            "entry": self.entry(number),
        })
    }

    fn name(&mut self) -> String {
        let mut words = Vec::new();
        for _ in 0..=self.below(2) {
            let count = 2 + self.below(3);
            let word: String = (0..count).map(|_| syllable(self.below(24))).collect();
            words.push(word[..1].to_uppercase() + &word[1..]);
        }
        words.join(" ")
    }

    fn entry(&mut self, number: u64) -> String {
        let mut entry = EVERY_WORD.to_owned();
        if number.is_multiple_of(RARE_IN) {
            entry.extend([" ", RARE_WORD]);
        }
        if number % 25 < COMMON_IN_25 {
            entry.extend([" ", COMMON_WORD]);
        }
        let mut words = 0;
        while entry.len() < ENTRY_BYTES {
            words += 1;
            entry.push_str(if words % 12 == 0 { ".\n\n" } else { " " });
            entry.push_str(&self.pick_word());
        }
        entry
    }

    /// A word, by how frequent it is.
    fn pick_word(&mut self) -> String {
        let sum = self.frequencies.last().copied().unwrap_or(1);
        let picked = self.below(sum);
        let rank = self.frequencies.partition_point(|frequency| *frequency <= picked) as u64;
        // The multiplier has no divisor in common with the number of words, so every word has a spelling of its own.
        let spelled = rank * 7_919 % WORDS;
        let mut word = String::new();
        for digit in [spelled % 24, spelled / 24 % 24, spelled / 576 % 24] {
            word.push_str(syllable(digit));
        }
        if let Some(digit) = (spelled / 13_824).checked_sub(1) {
            word.push_str(syllable(digit));
        }
        word
    }
}

fn syllable(number: u64) -> &'static str {
    SYLLABLES[usize::try_from(number).unwrap_or_default() % SYLLABLES.len()]
}

fn print_figure(name: &str, figure: f64) -> Result<(), SearchFailure> {
    Ok(writeln!(std::io::stdout(), "{name} {figure:.3}")?)
}

/// The memory of this process, where the system tells it.
fn resident_megabytes() -> Result<f64, SearchFailure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("the kernel tells no memory")?;
    let kibibytes: f64 = line.trim().trim_end_matches("kB").trim().parse()?;
    Ok(kibibytes * 1_024.0 / 1e6)
}
