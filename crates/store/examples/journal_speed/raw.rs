//! The same rows, written by hand to the same table with the same durability, and nothing else.

use std::path::Path;
use std::time::Instant;

use rusqlite::{Connection, params};

use crate::{ROUND, engine};

pub(crate) const BODY_BYTES: usize = 180;
const INSERT: &str = "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
    VALUES (7, ?1, ?2, 'counted', 0, 'local', ?3, ?4, ?4)";
const STREAMS: u64 = 64;

/// The table as the journal makes it.
async fn connect(path: &Path) -> Connection {
    drop(engine::open(path).await);
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "synchronous", "full").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 4_000).unwrap();
    connection
}

/// Commits one batch whose rows belong to as many streams as the journal's would.
fn commit(connection: &mut Connection, written: &mut u64, batch: usize) {
    let body = "x".repeat(BODY_BYTES + 14);
    let transaction = connection.transaction().unwrap();
    for _ in 0..batch {
        let stream = format!("counter/{}", *written % STREAMS);
        let revision = i64::try_from(*written / STREAMS + 1).unwrap();
        transaction.prepare_cached(INSERT).unwrap().execute(params![stream, revision, body, [7_u8; 32]]).unwrap();
        *written += 1;
    }
    transaction.commit().unwrap();
}

pub(crate) async fn rows_per_second(path: &Path, batch: usize) -> f64 {
    let mut connection = connect(path).await;
    let (mut written, began) = (0, Instant::now());
    while began.elapsed() < ROUND {
        commit(&mut connection, &mut written, batch.max(1));
    }
    written as f64 / began.elapsed().as_secs_f64()
}

pub(crate) async fn commit_p50_ms(path: &Path) -> f64 {
    let mut connection = connect(path).await;
    let (mut written, began, mut waits) = (0, Instant::now(), Vec::new());
    while began.elapsed() < ROUND {
        let sent = Instant::now();
        commit(&mut connection, &mut written, 1);
        waits.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    crate::median(waits)
}
