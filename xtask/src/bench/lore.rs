//! Benchmark of the lore: creating 100,000 entities in batches, and searches in a process that has just been started, on
//! SQLite and on PostgreSQL, beside what mcp-kanka took for 2,000 entities.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::BenchOptions;
use super::example_figures::ExampleFigures;
use super::report::{BenchTarget, ReportTable, group_thousands};
use crate::paths;
use crate::postgres::TestPostgres;

const ENTITIES: &str = "100000";
/// The address of a PostgreSQL to use instead of one that is started for the bench.
const POSTGRES_VARIABLE: &str = "SKALD_TEST_POSTGRES";
const CREATED_PER_SECOND_MIN: f64 = 2_000.0;
const FIRST_FIND_MILLISECONDS_MAX: f64 = 150.0;
const MEGABYTES_MAX: f64 = 60.0;
const POSTGRES_MILLISECONDS_MAX: f64 = 20.0;

/// A measured search.
struct Search {
    title: &'static str,
    /// Its figure, as the example calls it.
    figure: &'static str,
    /// The highest median on SQLite.
    milliseconds_max: f64,
    /// The median of the nearest search of mcp-kanka 1.0.1: 2,000 entities of 1.1 KB behind an API on the same machine
    /// that answers at once, measured once and not in this run.
    kanka_milliseconds: f64,
}

const SEARCHES: [Search; 11] = [
    search("by type", "type_ms", 5.0, 2_380.0),
    search("by two tags", "two_tags_ms", 5.0, 2_230.0),
    search("part of a name", "name_part_ms", 5.0, 2_130.0),
    search("fuzzy name", "fuzzy_name_ms", 5.0, 2_020.0),
    search("a word in 0.4 % of the texts", "rare_word_ms", 5.0, 2_550.0),
    search("a word in 32 %", "common_word_ms", 5.0, 2_550.0),
    search("a word in all", "every_word_ms", 5.0, 2_550.0),
    search("two words", "two_words_ms", 5.0, 2_550.0),
    search("a prefix of four letters", "prefix_ms", 15.0, 2_550.0),
    search("a word in all, two tags", "word_tags_ms", 10.0, 2_550.0),
    search("a word in 32 %, a type", "word_type_ms", 10.0, 2_550.0),
];

/// What was measured after posts, relationships, a timeline and revealed entities were added. No promise is made of it.
const EXTENDED: [(&str, &str); 7] = [
    ("a word in 20,000 posts", "posts_ms"),
    ("a word in all, for a player who was shown 1,000 entities", "player_ms"),
    ("dates after a day", "open_dates_ms"),
    ("canon check", "canon_check_ms"),
    ("map of relationships, 3 steps", "map_ms"),
    ("path of relationships", "path_ms"),
    ("first page of the timeline", "timeline_ms"),
];

const fn search(title: &'static str, figure: &'static str, milliseconds_max: f64, kanka_milliseconds: f64) -> Search {
    Search { title, figure, milliseconds_max, kanka_milliseconds }
}

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let folder = BenchFolder::create()?;
    let sqlite = measure(options, &format!("sqlite:{}", folder.0.join("lore.db").display()))?;
    let postgres = match std::env::var(POSTGRES_VARIABLE) {
        Ok(address) if !address.is_empty() => measure(options, &address)?,
        _ => measure(options, &TestPostgres::start()?.address())?,
    };
    print_searches(&sqlite, &postgres)?;
    print_rest(&sqlite, &postgres)?;
    let created = sqlite.figure("created_per_second")?;
    let mut targets = vec![
        BenchTarget::at_least("entities created a second, SQLite", created, CREATED_PER_SECOND_MIN),
        BenchTarget::at_most(
            "first find after a start, SQLite",
            sqlite.figure("first_find_ms")?,
            FIRST_FIND_MILLISECONDS_MAX,
            "ms",
        ),
        BenchTarget::at_most("memory for the lore, SQLite", sqlite.figure("memory_mb")?, MEGABYTES_MAX, "MB"),
    ];
    for search in &SEARCHES {
        let (name, most) = (format!("find: {}, SQLite", search.title), search.milliseconds_max);
        targets.push(BenchTarget::at_most(name, sqlite.figure(search.figure)?, most, "ms"));
    }
    for search in &SEARCHES {
        let (name, most) = (format!("find: {}, PostgreSQL", search.title), POSTGRES_MILLISECONDS_MAX);
        targets.push(BenchTarget::at_most(name, postgres.figure(search.figure)?, most, "ms"));
    }
    Ok(targets)
}

/// The figures of one store.
struct StoreFigures {
    created: ExampleFigures,
    searched: ExampleFigures,
    extended: ExampleFigures,
}

impl StoreFigures {
    fn figure(&self, name: &str) -> anyhow::Result<f64> {
        let figure = self.created.figure(name).or_else(|_| self.searched.figure(name));
        figure.or_else(|_| self.extended.figure(name))
    }
}

/// Creates the entities in one process, and searches in another. Then it adds to them, and measures again.
fn measure(options: &BenchOptions, store: &str) -> anyhow::Result<StoreFigures> {
    let created = ExampleFigures::read(Command::new(&options.lore).args(["create", store, ENTITIES]))?;
    let searched = ExampleFigures::read(Command::new(&options.lore).args(["search", store]))?;
    ExampleFigures::read(Command::new(&options.lore).args(["extend", store]))?;
    let extended = ExampleFigures::read(Command::new(&options.lore).args(["search-extended", store]))?;
    Ok(StoreFigures { created, searched, extended })
}

fn print_searches(sqlite: &StoreFigures, postgres: &StoreFigures) -> anyhow::Result<()> {
    let title = "find_entities in 100,000 entities of 1 KB, medians; mcp-kanka in 2,000, and how many times as long it \
                 took as SQLite (aim: 1,000)";
    let mut table = ReportTable::new(title, &["", "SQLite", "PostgreSQL", "mcp-kanka", "ratio"]);
    for search in &SEARCHES {
        let (ours, theirs) = (sqlite.figure(search.figure)?, search.kanka_milliseconds);
        table.add_row([
            search.title.to_owned(),
            format!("{ours:.2} ms"),
            format!("{:.2} ms", postgres.figure(search.figure)?),
            format!("{} ms", group_thousands(theirs)),
            group_thousands(theirs / ours),
        ]);
    }
    table.print();
    Ok(())
}

fn print_rest(sqlite: &StoreFigures, postgres: &StoreFigures) -> anyhow::Result<()> {
    let mut table = ReportTable::new("The same lore, created and opened", &["", "SQLite", "PostgreSQL"]);
    for (title, figure, unit) in [
        ("entities created a second, in batches of 100", "created_per_second", ""),
        ("first find after a start", "first_find_ms", " ms"),
        ("memory over that before the first find", "memory_mb", " MB"),
    ] {
        let cell = |figures: &StoreFigures| Ok::<_, anyhow::Error>(format!("{:.0}{unit}", figures.figure(figure)?));
        table.add_row([title.to_owned(), cell(sqlite)?, cell(postgres)?]);
    }
    table.print();
    let title = "The same lore with posts, relationships, a timeline and revealed entities, medians";
    let mut table = ReportTable::new(title, &["", "SQLite", "PostgreSQL"]);
    for (title, figure) in EXTENDED {
        let cell = |figures: &StoreFigures| Ok::<_, anyhow::Error>(format!("{:.2} ms", figures.figure(figure)?));
        table.add_row([title.to_owned(), cell(sqlite)?, cell(postgres)?]);
    }
    table.print();
    Ok(())
}

/// A folder for the database, which is removed on drop.
struct BenchFolder(PathBuf);

impl BenchFolder {
    fn create() -> anyhow::Result<Self> {
        let folder = paths::target().join(format!("skald-lore-bench-{}", std::process::id()));
        remove_folder(&folder);
        fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }
}

impl Drop for BenchFolder {
    fn drop(&mut self) {
        remove_folder(&self.0);
    }
}

fn remove_folder(folder: &Path) {
    // A failure only leaves a folder behind.
    let _ = fs::remove_dir_all(folder);
}
