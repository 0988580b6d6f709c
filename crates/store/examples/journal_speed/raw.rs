//! Writes the rows of the journal again by hand, to the same tables with the same durability, for comparison.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

use crate::journal_load;

const ROWS: &str = "SELECT shard, stream, revision, kind, at, by, body, previous, hash FROM records ORDER BY position";
const ADD_RECORD: &str = "INSERT INTO records (shard, stream, revision, kind, at, by, body, previous, hash)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
const MOVE_HEAD: &str = "UPDATE heads SET revision = ?2, hash = ?3 WHERE stream = ?1";
const BEGIN_HEAD: &str = "INSERT INTO heads (stream, shard, revision, hash) VALUES (?1, ?2, ?3, ?4)";

struct Row {
    shard: i64,
    stream: String,
    revision: i64,
    kind: String,
    at: i64,
    by: String,
    body: String,
    previous: [u8; 32],
    hash: [u8; 32],
}

/// What a journal wrote.
pub(crate) struct Written(Vec<Row>);

impl Written {
    pub(crate) fn read(path: &Path) -> Self {
        let connection = Connection::open(path).unwrap();
        let mut statement = connection.prepare(ROWS).unwrap();
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Row {
                shard: row.get(0)?,
                stream: row.get(1)?,
                revision: row.get(2)?,
                kind: row.get(3)?,
                at: row.get(4)?,
                by: row.get(5)?,
                body: row.get(6)?,
                previous: row.get(7)?,
                hash: row.get(8)?,
            })
        };
        Self(statement.query_map([], row).unwrap().map(Result::unwrap).collect())
    }

    /// Writes all of it to a new file, in so many commits of equal size.
    pub(crate) async fn rows_per_second(&self, path: &Path, commits: usize) -> f64 {
        let mut connection = connect(path).await;
        let (began, mut written) = (Instant::now(), 0);
        for commit in 1..=commits {
            let until = self.0.len() * commit / commits;
            write(&mut connection, &self.0[written..until]);
            written = until;
        }
        self.0.len() as f64 / began.elapsed().as_secs_f64()
    }

    /// Commits of so many rows.
    pub(crate) fn commits_of(&self, rows: usize) -> usize {
        self.0.len().div_ceil(rows)
    }

    /// How long one durable commit of one row takes.
    pub(crate) async fn commit_p50_ms(&self, path: &Path, time: Duration) -> f64 {
        let mut connection = connect(path).await;
        let (began, mut waits) = (Instant::now(), Vec::new());
        for row in self.0.chunks(1).take_while(|_| began.elapsed() < time) {
            let sent = Instant::now();
            write(&mut connection, row);
            waits.push(sent.elapsed().as_secs_f64() * 1e3);
        }
        crate::median(waits)
    }
}

/// The tables as the journal makes them.
async fn connect(path: &Path) -> Connection {
    drop(journal_load::open(path).await);
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection.pragma_update(None, "synchronous", "full").unwrap();
    connection.pragma_update(None, "wal_autocheckpoint", 4_000).unwrap();
    connection
}

/// One commit. A stream's head moves once for each run of its rows.
fn write(connection: &mut Connection, rows: &[Row]) {
    let transaction = connection.transaction().unwrap();
    for run in rows.chunk_by(|one, next| one.stream == next.stream) {
        let last = run.last().unwrap();
        let mut move_head = transaction.prepare_cached(MOVE_HEAD).unwrap();
        if move_head.execute(params![last.stream, last.revision, last.hash]).unwrap() == 0 {
            let mut begin_head = transaction.prepare_cached(BEGIN_HEAD).unwrap();
            begin_head.execute(params![last.stream, last.shard, last.revision, last.hash]).unwrap();
        }
        let mut add_record = transaction.prepare_cached(ADD_RECORD).unwrap();
        for row in run {
            let Row { shard, stream, revision, kind, at, by, body, previous, hash } = row;
            add_record.execute(params![shard, stream, revision, kind, at, by, body, previous, hash]).unwrap();
        }
    }
    transaction.commit().unwrap();
}
