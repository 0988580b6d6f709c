//! Several processes that write the same streams of one file, and readers beside a writer.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use app::journal::{StreamName, Streams};

use crate::engine::{self, Counter, ask};

const WRITERS: usize = 16;
const STREAMS: usize = 8;
const TIME: Duration = Duration::from_secs(3);

/// In the child: writes for a while, then says how much, and how long the longest wait was.
pub(crate) async fn child(path: &Path) {
    let driven = engine::drive(engine::open(path).await, WRITERS, STREAMS, TIME).await;
    println!("{} {}", driven.rows_per_second(), driven.worst_ms());
}

pub(crate) async fn measure(folder: &Path) {
    for processes in [1, 2] {
        let path = folder.join(format!("processes-{processes}.db"));
        drop(engine::open(&path).await);
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

/// How long a read takes while 16 writers are busy with the same stream.
pub(crate) async fn measure_reads(folder: &Path) {
    let journal = engine::open(&folder.join("reads.db")).await;
    let open = Arc::new(Streams::<Counter>::new(journal));
    let stream = StreamName::new("counter", "0");
    let began = Instant::now();
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let (open, stream) = (Arc::clone(&open), stream.clone());
            tokio::spawn(async move {
                while began.elapsed() < TIME {
                    open.execute(&stream, ask()).await.map_err(|_| "failed").unwrap();
                }
            })
        })
        .collect();
    let mut waits = Vec::new();
    while began.elapsed() < TIME {
        let asked = Instant::now();
        open.read(&stream).await.unwrap();
        waits.push(asked.elapsed().as_secs_f64() * 1e6);
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    waits.sort_by(f64::total_cmp);
    let (p50, p99) = (waits[waits.len() / 2], waits[waits.len() * 99 / 100]);
    println!("a read beside 16 writers: p50 {p50:.1} us, p99 {p99:.1} us");
}
