//! Benchmark of several processes that write the same streams of one file, and of reads during writes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use skald_journal::{StreamName, Streams};

use crate::journal_load::{self, CounterStream, submission};
use crate::{ROUND, ROUNDS, RatioTarget, median, row};

const WRITERS: usize = 16;
const STREAMS: usize = 8;
const TIME: Duration = Duration::from_secs(3);

/// In the child: writes for a while, then says how much, and how long the longest wait was.
pub(crate) async fn child(path: &Path) {
    let driven = journal_load::drive(journal_load::open(path).await, WRITERS, STREAMS, TIME).await;
    println!("{} {}", driven.rows_per_second(), driven.worst_ms());
}

pub(crate) async fn measure(folder: &Path) {
    for processes in [1, 2] {
        let path = folder.join(format!("processes-{processes}.db"));
        drop(journal_load::open(&path).await);
        let start = || {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.arg("child").arg(&path).stdout(Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..processes).map(|_| start()).collect();
        let (mut rows, mut worst) = (0.0, 0.0_f64);
        for child in children {
            let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
            let figures: Vec<f64> = output.split_whitespace().map(|figure| figure.parse().unwrap()).collect();
            rows += figures[0];
            worst = worst.max(figures[1]);
        }
        println!(
            "{processes} processes of 16 writers on 8 streams: {rows:.0} rows/s in all, longest wait {worst:.0} ms"
        );
    }
}

/// How long a read takes while 16 writers are busy with the same stream, and while nobody is.
pub(crate) async fn measure_reads(folder: &Path) {
    let journal = journal_load::open(&folder.join("reads.db")).await;
    let open = Arc::new(Streams::<CounterStream>::new(journal));
    let stream = StreamName::new("counter", "0");
    let (mut busy, mut quiet, mut slowest) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        quiet.push(median(reads(&open, &stream).await));
        let is_over = Arc::new(AtomicBool::new(false));
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (open, stream, is_over) = (Arc::clone(&open), stream.clone(), Arc::clone(&is_over));
                tokio::spawn(async move {
                    while !is_over.load(Ordering::Relaxed) {
                        open.execute(&stream, submission()).await.map_err(|_| "failed").unwrap();
                    }
                })
            })
            .collect();
        let mut waits = reads(&open, &stream).await;
        is_over.store(true, Ordering::Relaxed);
        for writer in writers {
            writer.await.unwrap();
        }
        waits.sort_by(f64::total_cmp);
        slowest.push(waits[waits.len() * 99 / 100]);
        busy.push(median(waits));
    }
    let what = format!("a read beside 16 writers, p50 (p99 {:.2} ms); beside none", median(slowest));
    row(&what, busy, quiet, "ms", RatioTarget::Near(1.3, 0.05));
}

/// How long each of many reads takes.
async fn reads(open: &Streams<CounterStream>, stream: &StreamName) -> Vec<f64> {
    let (began, mut waits) = (Instant::now(), Vec::new());
    while began.elapsed() < ROUND {
        let asked = Instant::now();
        open.read(stream).await.unwrap();
        waits.push(asked.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    waits
}
