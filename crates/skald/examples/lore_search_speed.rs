//! Benchmark of a campaign's lore through the engine: `create` stores entities in batches, `search` measures searches in
//! a process that has just been started. `extend` adds posts, relationships, a timeline and revealed entities, and
//! `search-extended` measures what reads them. All print lines of a name and a number.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use skald_app::{
    App, Caller, CampaignRole, Clock, Conversation, Engine, Entropy, Holder, LocalEngine, Principal, PrincipalKind,
    RequestControl,
};
use skald_journal::Limits;

type SearchFailure = Box<dyn Error + Send + Sync>;

const USAGE: &str =
    "usage: lore_search_speed create STORE [ENTITIES] | search STORE | extend STORE | search-extended STORE";
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
/// Calls of a measurement whose calls take longer.
const SLOW_ROUNDS: usize = 5;
/// Posts on the first entities, each with the word below.
const POSTS: u64 = 20_000;
const POST_WORD: &str = "quartzmoth";
const RELATIONSHIPS: u64 = 1_000;
const TIMELINE_EVENTS: u64 = 1_000;
/// Private entities that one player may see.
const REVEALED: u64 = 1_000;
const PLAYER: &str = "Bench player";
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
        ["extend", store] => extend(store).await,
        ["search-extended", store] => search_extended(store).await,
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
        self.call_as(&Caller::owner(), operation, input).await
    }

    async fn call_as(&self, caller: &Caller, operation: &str, input: Value) -> Result<Value, SearchFailure> {
        let answer = self.0.call(caller, operation, input, &RequestControl::default()).await;
        answer.map_err(|fault| format!("{operation}: {fault}").into())
    }

    async fn campaign_id(&self) -> Result<String, SearchFailure> {
        let campaigns = self.call("campaign_read", json!({"view": "campaigns"})).await?;
        let campaigns = campaigns["campaigns"].as_array().map_or(&[][..], Vec::as_slice);
        let campaign =
            campaigns.iter().find(|campaign| campaign["name"] == CAMPAIGN).ok_or("nothing was created yet")?;
        Ok(campaign["id"].as_str().unwrap_or_default().to_owned())
    }

    /// The player to whom entities were revealed.
    async fn player(&self, campaign_id: &str) -> Result<Caller, SearchFailure> {
        let read = json!({"view": "participants", "campaign_id": campaign_id});
        let answer = self.call("campaign_read", read).await?;
        let participants = answer["participants"].as_array().map_or(&[][..], Vec::as_slice);
        let found = participants.iter().find(|participant| participant["display_name"] == PLAYER);
        let id = found.and_then(|participant| participant["id"].as_str()).ok_or("there is no player yet")?;
        let roles = BTreeMap::from([(campaign_id.to_owned(), CampaignRole::Player)]);
        let holder = Holder::new("bench", PLAYER, PrincipalKind::Human, roles);
        let holder = Holder { participants: BTreeSet::from([id.to_owned()]), ..holder };
        Ok(Caller { principal: Principal::Holder(Arc::new(holder)), conversation: Conversation::None })
    }

    /// Prints the median of several calls. A search has to find something.
    async fn measure(
        &self,
        name: &str,
        caller: &Caller,
        (operation, campaign_id, input): (&str, &str, &Value),
        rounds: usize,
    ) -> Result<(), SearchFailure> {
        let mut input = input.clone();
        input["campaign_id"] = campaign_id.into();
        let is_search = operation == "find_entities" && input.get("date_range").is_none();
        let mut times = Vec::with_capacity(rounds);
        for round in 0..WARM_UP_ROUNDS.min(rounds) + rounds {
            let sent = input.clone();
            let start = Instant::now();
            let found = self.call_as(caller, operation, sent).await?;
            let took = start.elapsed().as_secs_f64() * 1e3;
            if is_search && found["entities"].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("{input} found nothing").into());
            }
            if round >= WARM_UP_ROUNDS.min(rounds) {
                times.push(took);
            }
        }
        times.sort_by(f64::total_cmp);
        print_figure(&format!("{name}_ms"), times[rounds / 2])
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
    let campaign_id = engine.campaign_id().await?;
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
        ("word_tags", json!({"query": EVERY_WORD, "tags": ["tag 3", "tag 21"]})),
        ("word_type", json!({"query": COMMON_WORD, "entity_type": "character"})),
    ] {
        engine.measure(name, &Caller::owner(), ("find_entities", &campaign_id, &filter), ROUNDS).await?;
    }
    print_figure("memory_mb", resident_megabytes()? - before)
}

/// Adds what an evening of play leaves behind: posts, relationships, a timeline, and entities that a player was shown.
async fn extend(store: &str) -> Result<(), SearchFailure> {
    let engine = BenchEngine::open(store).await?;
    let campaign_id = engine.campaign_id().await?;
    let call = async |operation: &str, mut input: Value| {
        input["campaign_id"] = campaign_id.as_str().into();
        engine.call(operation, input).await
    };
    for first in (1..=POSTS).step_by(usize::try_from(BATCH)?) {
        let post =
            |entity_id: u64| json!({"entity_id": entity_id, "name": "News", "entry": format!("The {POST_WORD} came.")});
        let posts: Vec<Value> = (first..first + BATCH).map(post).collect();
        call("create_posts", json!({"posts": posts})).await?;
    }
    for number in 1..=RELATIONSHIPS {
        // Each knows the next one, and the first ones know many.
        let from = if number % 4 == 0 { 1 + number % 10 } else { number };
        let link = json!({"method": "add", "entity_id": from, "target_id": number + 1, "type": "knows"});
        // The same one twice is refused.
        let _ = call("relationships", link).await;
    }
    for number in 1..=TIMELINE_EVENTS {
        let date = format!("{}-{:02}-{:02}", 1_200 + number / 300, 1 + number % 12, 1 + number % 28);
        let event = json!({"method": "add", "date": date, "description": "A feast was held", "entity_ids": [number]});
        call("timeline", event).await?;
    }
    call("participant_create", json!({"display_name": PLAYER, "role": "PLAYER"})).await?;
    for first in (1..=REVEALED).step_by(usize::try_from(BATCH)?) {
        let entity = |number: u64| json!({"entity_type": "clue", "name": format!("Clue {number}"), "entry": EVERY_WORD, "is_private": true});
        let entities: Vec<Value> = (first..first + BATCH).map(entity).collect();
        let created = call("create_entities", json!({"entities": entities})).await?;
        for row in created["results"].as_array().into_iter().flatten() {
            call("visibility", json!({"method": "reveal", "entity_id": row["entity_id"], "who": [PLAYER]})).await?;
        }
    }
    tokio::time::sleep(2 * Limits::default().pause).await;
    print_figure("posts", f64::from(u32::try_from(POSTS)?))
}

async fn search_extended(store: &str) -> Result<(), SearchFailure> {
    let engine = BenchEngine::open(store).await?;
    let campaign_id = engine.campaign_id().await?;
    let player = engine.player(&campaign_id).await?;
    let owner = Caller::owner();
    let find = |filter: Value| ("find_entities", filter);
    for (name, caller, (operation, input), rounds) in [
        ("posts", &owner, find(json!({"query": POST_WORD})), ROUNDS),
        ("player", &player, find(json!({"query": EVERY_WORD})), ROUNDS),
        ("open_dates", &owner, find(json!({"date_range": {"start": "1900-01-01"}})), SLOW_ROUNDS),
        ("canon_check", &owner, ("canon", json!({"method": "check"})), SLOW_ROUNDS),
        ("map", &owner, ("relationships", json!({"method": "map", "entity_id": 1, "depth": 3})), ROUNDS),
        ("path", &owner, ("relationships", json!({"method": "path", "entity_id": 1, "target_id": 900})), ROUNDS),
        ("timeline", &owner, ("timeline", json!({"method": "query"})), ROUNDS),
    ] {
        engine.measure(name, caller, (operation, &campaign_id, &input), rounds).await?;
    }
    Ok(())
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
