//! Benchmark of the journal against the same rows written by hand, in one run: medians of five interleaved rounds.
//!
//! `cargo run --release --package store --example journal_speed`, with `SKALD_TEST_POSTGRES` for the last line; behind
//! `--`, the parts that are wanted: many, sixteen, one, long, processes, reads, postgres.
#![expect(clippy::unwrap_used, reason = "a measurement that fails is none")]
#![expect(clippy::print_stdout, reason = "its output is the table")]
#![expect(clippy::cast_precision_loss, reason = "counts of rows are small")]

mod journal_load;
mod postgres;
mod processes;
mod raw;

use std::path::PathBuf;
use std::time::Duration;

pub(crate) const ROUNDS: usize = 5;
pub(crate) const ROUND: Duration = Duration::from_millis(1_500);

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What a ratio is wanted to be.
#[derive(Clone, Copy)]
pub(crate) enum RatioTarget {
    AtLeast(f64),
    AtMost(f64),
    /// Or no more than so much above, in the unit of the line.
    Near(f64, f64),
}

/// A line of the table: what, measured, compared with, their ratio, what is wanted, and whether it is so. The ratio is
/// the median of the rounds' ratios, since the machine's speed drifts from round to round.
pub(crate) fn row(what: &str, ours: Vec<f64>, theirs: Vec<f64>, unit: &str, target: RatioTarget) {
    let ratio = median(ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs).collect());
    let (ours, theirs) = (median(ours), median(theirs));
    let (is_met, target) = match target {
        RatioTarget::AtLeast(least) => (ratio >= least, format!(">= {least:.2}")),
        RatioTarget::AtMost(most) => (ratio <= most, format!("<= {most:.2}")),
        RatioTarget::Near(most, above) => {
            (ratio <= most || ours - theirs <= above, format!("<= {most:.2} or {above} {unit} above"))
        }
    };
    let verdict = if is_met { "ok" } else { "MISS" };
    println!("{what:<58} {ours:>10.2} {theirs:>10.2} {unit:<7} {ratio:>5.2}  {target:<24} {verdict}");
}

fn folder() -> PathBuf {
    let path = std::env::current_exe().unwrap().parent().unwrap().join("journal-speed");
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let target: Vec<String> = std::env::args().skip(1).collect();
    if let [child, path] = target.as_slice()
        && child == "child"
    {
        return runtime.block_on(processes::child(std::path::Path::new(path)));
    }
    let folder = folder();
    println!("{:<58} {:>10} {:>10} {:<7} {:>5}  wanted", "", "journal", "by hand", "", "ratio");
    let is_wanted = |part: &str| target.is_empty() || target.iter().any(|target| target == part);
    runtime.block_on(async {
        if is_wanted("many") {
            many_writers(&folder).await;
        }
        if is_wanted("sixteen") {
            writers_of_one_stream(&folder).await;
        }
        if is_wanted("one") {
            one_writer(&folder).await;
        }
        if is_wanted("long") {
            long_streams(&folder).await;
        }
        if is_wanted("processes") {
            processes::measure(&folder).await;
        }
        if is_wanted("reads") {
            processes::measure_reads(&folder).await;
        }
        if is_wanted("postgres") {
            postgres::measure().await;
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}

async fn many_writers(folder: &std::path::Path) {
    let (mut ours, mut same, mut large, mut batches) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = folder.join(format!("many-{round}.db"));
        let driven = journal_load::drive(journal_load::open(&path).await, 256, 64, ROUND).await;
        ours.push(driven.rows_per_second());
        batches.push(driven.rows_per_commit());
        let written = raw::Written::read(&path);
        same.push(written.rows_per_second(&folder.join(format!("same-{round}.db")), driven.commits).await);
        let commits = written.commits_of(256);
        large.push(written.rows_per_second(&folder.join(format!("large-{round}.db")), commits).await);
    }
    let what = format!("256 writers, 64 streams; the same batches ({:.0} rows)", median(batches));
    row(&what, ours.clone(), same, "rows/s", RatioTarget::AtLeast(0.8));
    row("256 writers, 64 streams; 256 rows a commit", ours, large, "rows/s", RatioTarget::AtLeast(0.6));
}

async fn writers_of_one_stream(folder: &std::path::Path) {
    let (mut ours, mut theirs, mut batches) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = folder.join(format!("one-{round}.db"));
        let driven = journal_load::drive(journal_load::open(&path).await, 16, 1, ROUND).await;
        ours.push(driven.rows_per_second());
        batches.push(driven.rows_per_commit());
        let written = raw::Written::read(&path);
        let commits = written.commits_of(16);
        theirs.push(written.rows_per_second(&folder.join(format!("sixteen-{round}.db")), commits).await);
    }
    let what = format!("16 writers, one stream (batches of {:.0}); 16 rows a commit", median(batches));
    row(&what, ours, theirs, "rows/s", RatioTarget::AtLeast(0.6));
}

async fn one_writer(folder: &std::path::Path) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let path = folder.join(format!("single-{round}.db"));
        ours.push(journal_load::drive(journal_load::open(&path).await, 1, 1, ROUND).await.p50_ms());
        let written = raw::Written::read(&path);
        theirs.push(written.commit_p50_ms(&folder.join(format!("commit-{round}.db")), ROUND).await);
    }
    row("one writer, p50; one durable commit", ours, theirs, "ms", RatioTarget::Near(1.3, 0.2));
}

async fn long_streams(folder: &std::path::Path) {
    const LONG: u64 = 100_000;
    let journal = journal_load::open(&folder.join("long.db")).await;
    journal_load::grow(&journal, "long", LONG).await;
    journal_load::grow(&journal, "short", 10).await;
    let (mut long, mut short, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        short.push(journal_load::command_p50_ms(&journal, &format!("short-{round}")).await);
        long.push(journal_load::command_p50_ms(&journal, "long").await);
        opened.push(journal_load::open_ms(&journal, "long").await);
    }
    row("one command at 100,000 events; at 10 and more", long, short, "ms", RatioTarget::AtMost(1.2));
    row("opening 100,000 events from a snapshot; 50 ms", opened, vec![50.0; ROUNDS], "ms", RatioTarget::AtMost(1.0));
}
