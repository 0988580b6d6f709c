//! Converts PostgreSQL rows to values of the journal.

use jiff::Timestamp;
use skald_journal::{
    Cursor, Document, Hash, Head, IdempotencyKey, IdempotentAnswer, Record, SearchClass, StoredSearchRow,
    StoredSnapshot, StreamName,
};
use tokio_postgres::Row;

use crate::answer_digest::answer_digest;
use crate::signed_number::to_u64;

fn hash(row: &Row, column: usize) -> Hash {
    let bytes: &[u8] = row.get(column);
    // A hash of another length becomes zeros, which match no record.
    bytes.try_into().unwrap_or_default()
}

fn number(row: &Row, column: usize) -> u64 {
    to_u64(row.get(column))
}

fn shard(row: &Row, column: usize) -> u16 {
    u16::try_from(row.get::<_, i32>(column)).unwrap_or_default()
}

pub(super) fn head(row: &Row) -> Head {
    Head { revision: number(row, 0), hash: hash(row, 1) }
}

pub(super) fn record(row: &Row) -> Record {
    Record {
        stream: StreamName::from_stored(row.get(1), shard(row, 0)),
        revision: number(row, 2),
        kind: row.get(3),
        at: Timestamp::from_microsecond(row.get(4)).unwrap_or_default(),
        by: row.get(5),
        body: row.get(6),
        previous: hash(row, 7),
        hash: hash(row, 8),
        answer: answer_digest(row.get(9)),
    }
}

pub(super) fn record_with_cursor(row: &Row) -> (Cursor, Record) {
    (cursor_at(row, 10), record(row))
}

pub(super) fn cursor(row: &Row) -> Cursor {
    cursor_at(row, 0)
}

fn cursor_at(row: &Row, column: usize) -> Cursor {
    let transaction: &str = row.get(column);
    Cursor { transaction: transaction.parse().unwrap_or_default(), position: number(row, column + 1) }
}

pub(super) fn answer(row: &Row) -> IdempotentAnswer {
    IdempotentAnswer {
        key: IdempotencyKey { key: row.get(0), request: hash(row, 1) },
        revision: number(row, 2),
        answer: row.get(3),
    }
}

pub(super) fn stream(row: &Row) -> (StreamName, Head) {
    (StreamName::from_stored(row.get(0), shard(row, 1)), Head { revision: number(row, 2), hash: hash(row, 3) })
}

pub(super) fn snapshot(row: &Row) -> StoredSnapshot {
    let unsigned = |column: usize| u32::try_from(row.get::<_, i32>(column)).unwrap_or_default();
    StoredSnapshot {
        version: unsigned(0),
        head: Head { revision: number(row, 1), hash: hash(row, 2) },
        mark: row.get(3),
        parts: unsigned(4),
        first: row.get(5),
        digest: hash(row, 6),
    }
}

/// A row with the text of a snapshot part, which is read without a copy.
pub(super) struct PartRow(pub(super) Row);

impl AsRef<str> for PartRow {
    fn as_ref(&self) -> &str {
        self.0.get(0)
    }
}

pub(super) fn document(row: &Row) -> Document {
    Document {
        collection: row.get(0),
        id: row.get(1),
        rank: row.get(2),
        body: row.get(3),
        partition: row.get(4),
        search: None,
    }
}

pub(super) fn search_row(row: &Row) -> StoredSearchRow {
    StoredSearchRow {
        collection: row.get(0),
        id: row.get(1),
        partition: row.get(2),
        serial: u32::try_from(row.get::<_, i64>(3)).unwrap_or_default(),
        class: SearchClass::from_number(row.get::<_, i16>(4).into()),
        digest: hash(row, 5),
        is_indexed: row.get(6),
    }
}
