//! Converts between SQLite rows and values of the journal.

use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use skald_journal::{
    Cursor, Document, Hash, Head, IdempotencyKey, IdempotentAnswer, ReadModelChange, ReadPart, Record, SideRow,
    StoredSnapshot, StreamName,
};

use super::sql;
use crate::answer_digest::{answer_column, answer_digest};
use crate::rebase_batch::LockedStore;
use crate::signed_number::{first_page_position, page_limit, to_i64, to_u64};

fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let stream = row.get_ref(1)?.as_str()?;
    let at: i64 = row.get(4)?;
    Ok(Record {
        stream: StreamName::from_stored(stream, row.get(0)?),
        revision: to_u64(row.get(2)?),
        kind: row.get(3)?,
        at: Timestamp::from_microsecond(at).unwrap_or_default(),
        by: row.get(5)?,
        body: row.get(6)?,
        previous: hash(row, 7)?,
        hash: hash(row, 8)?,
        answer: answer_digest(row.get_ref(9)?.as_blob_or_null()?),
    })
}

/// A hash of another length becomes zeros, which match no record.
pub(super) fn hash(row: &Row<'_>, column: usize) -> rusqlite::Result<Hash> {
    Ok(row.get_ref(column)?.as_blob()?.try_into().unwrap_or_default())
}

fn document(row: &Row<'_>) -> rusqlite::Result<Document> {
    Ok(Document {
        collection: row.get(0)?,
        id: row.get(1)?,
        rank: row.get(2)?,
        body: row.get(3)?,
        partition: row.get(4)?,
        search: None,
    })
}

/// A connection in a transaction, or one whose single statements are each a transaction.
pub(super) struct SqliteTables<'a>(pub(super) &'a Connection);

impl LockedStore for SqliteTables<'_> {
    type Error = rusqlite::Error;

    fn head(&self, stream: &StreamName) -> rusqlite::Result<Head> {
        let mut statement = self.0.prepare_cached(sql::HEAD)?;
        let head = |row: &Row<'_>| Ok(Head { revision: to_u64(row.get(0)?), hash: hash(row, 1)? });
        Ok(statement.query_row([stream.as_str()], head).optional()?.unwrap_or_default())
    }

    fn records(&self, stream: &StreamName, after: u64, limit: usize) -> rusqlite::Result<Vec<Record>> {
        let mut statement = self.0.prepare_cached(sql::READ_RECORDS)?;
        statement.query_map(params![stream.as_str(), to_i64(after), page_limit(limit)], record)?.collect()
    }

    fn find_answer(&self, stream: &StreamName, key: &str) -> rusqlite::Result<Option<IdempotentAnswer>> {
        let mut statement = self.0.prepare_cached(sql::FIND_ANSWERS)?;
        let command = |row: &Row<'_>| {
            let key = IdempotencyKey { key: key.to_owned(), request: hash(row, 0)? };
            Ok(IdempotentAnswer { key, revision: to_u64(row.get(1)?), answer: row.get(2)? })
        };
        statement.query_row(params![stream.as_str(), key], command).optional()
    }
}

impl SqliteTables<'_> {
    pub(super) fn follow(&self, after: Cursor, limit: usize) -> rusqlite::Result<Vec<(Cursor, Record)>> {
        let mut statement = self.0.prepare_cached(sql::FOLLOW)?;
        let followed = |row: &Row<'_>| Ok((Cursor { transaction: 0, position: to_u64(row.get(10)?) }, record(row)?));
        statement.query_map(params![to_i64(after.position), page_limit(limit)], followed)?.collect()
    }

    pub(super) fn end_cursor(&self) -> rusqlite::Result<Cursor> {
        let mut statement = self.0.prepare_cached(sql::END_CURSOR)?;
        statement.query_row([], |row| Ok(Cursor { transaction: 0, position: to_u64(row.get(0)?) }))
    }

    pub(super) fn streams(&self, after: &str, limit: usize) -> rusqlite::Result<Vec<(StreamName, Head)>> {
        let mut statement = self.0.prepare_cached(sql::STREAMS)?;
        let stream = |row: &Row<'_>| {
            let stream = StreamName::from_stored(row.get_ref(0)?.as_str()?, row.get(1)?);
            Ok((stream, Head { revision: to_u64(row.get(2)?), hash: hash(row, 3)? }))
        };
        statement.query_map(params![after, page_limit(limit)], stream)?.collect()
    }

    pub(super) fn stream_names(&self, after: &str, limit: usize) -> rusqlite::Result<Vec<StreamName>> {
        let mut statement = self.0.prepare_cached(sql::STREAM_NAMES)?;
        let name = |row: &Row<'_>| Ok(StreamName::parse(row.get_ref(0)?.as_str()?));
        statement.query_map(params![after, page_limit(limit)], name)?.collect()
    }

    pub(super) fn answers(
        &self,
        stream: &StreamName,
        after: &str,
        limit: usize,
    ) -> rusqlite::Result<Vec<IdempotentAnswer>> {
        let mut statement = self.0.prepare_cached(sql::LIST_ANSWERS)?;
        let command = |row: &Row<'_>| {
            let key = IdempotencyKey { key: row.get(0)?, request: hash(row, 1)? };
            Ok(IdempotentAnswer { key, revision: to_u64(row.get(2)?), answer: row.get(3)? })
        };
        statement.query_map(params![stream.as_str(), after, page_limit(limit)], command)?.collect()
    }

    pub(super) fn snapshot(&self, stream: &StreamName) -> rusqlite::Result<Option<StoredSnapshot>> {
        let mut statement = self.0.prepare_cached(sql::SNAPSHOT)?;
        let snapshot = |row: &Row<'_>| {
            let head = Head { revision: to_u64(row.get(1)?), hash: hash(row, 2)? };
            let (mark, parts, first) = (row.get(3)?, row.get(4)?, row.get(5)?);
            Ok(StoredSnapshot { version: row.get(0)?, head, mark, parts, digest: hash(row, 6)?, first })
        };
        statement.query_row([stream.as_str()], snapshot).optional()
    }

    /// Calls `read` with the text in SQLite's buffer, without a copy.
    pub(super) fn snapshot_part(
        &self,
        stream: &StreamName,
        (mark, part): (i64, u32),
        revision: u64,
        read: ReadPart,
    ) -> rusqlite::Result<()> {
        let mut statement = self.0.prepare_cached(sql::SNAPSHOT_PART)?;
        let mut found = statement.query(params![stream.as_str(), mark, part, to_i64(revision)])?;
        if let Some(row) = found.next()? {
            read(row.get_ref(0)?.as_str()?);
        }
        Ok(())
    }

    pub(super) fn insert_snapshot_parts(
        &self,
        stream: &StreamName,
        mark: i64,
        revision: u64,
        parts: &[(u32, String)],
    ) -> rusqlite::Result<()> {
        let mut statement = self.0.prepare_cached(sql::INSERT_SNAPSHOT_PART)?;
        for (part, body) in parts {
            statement.execute(params![stream.as_str(), mark, part, stream.shard(), to_i64(revision), body])?;
        }
        Ok(())
    }

    /// Replaces the snapshot of a stream, if all parts but the first are stored.
    pub(super) fn store_snapshot(&self, stream: &StreamName, snapshot: &StoredSnapshot) -> rusqlite::Result<()> {
        let StoredSnapshot { version, head, mark, parts, digest, first } = snapshot;
        let (name, revision) = (stream.as_str(), to_i64(head.revision));
        let mut keep = self.0.prepare_cached(sql::STORE_SNAPSHOT)?;
        if keep.execute(params![name, stream.shard(), version, revision, head.hash, mark, parts, first, digest])? > 0 {
            self.0.prepare_cached(sql::DELETE_OTHER_SNAPSHOT_PARTS)?.execute(params![name, mark, revision])?;
        }
        Ok(())
    }

    pub(super) fn drop_snapshots(&self) -> rusqlite::Result<()> {
        self.0.execute(sql::DROP_SNAPSHOTS, [])?;
        self.0.execute(sql::DROP_SNAPSHOT_PARTS, []).map(drop)
    }

    pub(super) fn document(&self, collection: &str, id: &str) -> rusqlite::Result<Option<Document>> {
        self.0.prepare_cached(sql::DOCUMENT)?.query_row(params![collection, id], document).optional()
    }

    /// `partitions` is a JSON array of names; without it, all partitions are counted.
    pub(super) fn count_documents(&self, collection: &str, partitions: Option<&str>) -> rusqlite::Result<u64> {
        let count = |row: &Row<'_>| row.get(0).map(to_u64);
        match partitions {
            Some(names) => {
                let mut statement = self.0.prepare_cached(sql::COUNT_DOCUMENTS_IN_PARTITIONS)?;
                statement.query_row(params![collection, names], count)
            }
            None => self.0.prepare_cached(sql::COUNT_DOCUMENTS)?.query_row([collection], count),
        }
    }

    /// `partitions` is a JSON array of names; without it, all partitions are listed.
    pub(super) fn documents(
        &self,
        collection: &str,
        partitions: Option<&str>,
        after: Option<(i64, String)>,
        limit: usize,
    ) -> rusqlite::Result<Vec<Document>> {
        let (rank, id) = after.unwrap_or_else(first_page_position);
        if let Some(names) = partitions {
            let mut statement = self.0.prepare_cached(sql::DOCUMENTS_IN_PARTITIONS)?;
            return statement.query_map(params![collection, names, rank, id, page_limit(limit)], document)?.collect();
        }
        let mut statement = self.0.prepare_cached(sql::DOCUMENTS)?;
        statement.query_map(params![collection, rank, id, page_limit(limit)], document)?.collect()
    }

    pub(super) fn owned_documents(
        &self,
        stream: &str,
        after: &(String, String),
        limit: usize,
    ) -> rusqlite::Result<Vec<Document>> {
        let mut statement = self.0.prepare_cached(sql::OWNED_DOCUMENTS)?;
        statement.query_map(params![stream, after.0, after.1, page_limit(limit)], document)?.collect()
    }

    pub(super) fn delete_documents(&self, stream: &StreamName) -> rusqlite::Result<()> {
        self.delete_stream_from_index(stream)?;
        self.0.prepare_cached(sql::DELETE_DOCUMENTS)?.execute([stream.as_str()]).map(drop)
    }

    pub(super) fn side_row(&self, kind: &str, key: &str) -> rusqlite::Result<Option<String>> {
        self.0.prepare_cached(sql::GET_SIDE_ROW)?.query_row([kind, key], |row| row.get(0)).optional()
    }

    fn put_document(&self, stream: &StreamName, shard: u16, document: &Document) -> rusqlite::Result<()> {
        let mut statement = self.0.prepare_cached(sql::PUT_DOCUMENT)?;
        let Document { collection, partition, id, rank, body, search: _ } = document;
        statement.execute(params![collection, id, shard, stream.as_str(), rank, body, partition]).map(drop)
    }

    /// Replaces all documents of a stream.
    pub(super) fn replace_documents(&self, stream: &StreamName, documents: &[Document]) -> rusqlite::Result<()> {
        self.delete_documents(stream)?;
        for document in documents {
            self.put_document(stream, stream.shard(), document)?;
            self.index_document((stream, stream.shard()), document, &[])?;
        }
        Ok(())
    }

    /// Stores a batch and returns true. If the head is not the expected one, it changes nothing and returns false.
    pub(super) fn store_batch(&self, stream: &StreamName, batch: &skald_journal::Batch) -> rusqlite::Result<bool> {
        let Some(last) = batch.records.last() else { return Ok(true) };
        let Some(shard) = self.move_head(stream, batch.expected, last.head())? else { return Ok(false) };
        let mut add_record = self.0.prepare_cached(sql::INSERT_RECORD)?;
        for record in &batch.records {
            add_record.execute(params![
                shard,
                stream.as_str(),
                to_i64(record.revision),
                record.kind,
                record.at.as_microsecond(),
                record.by,
                record.body,
                record.previous,
                record.hash,
                answer_column(&record.answer)
            ])?;
        }
        for IdempotentAnswer { key, revision, answer } in &batch.answers {
            let mut add_command = self.0.prepare_cached(sql::INSERT_ANSWER)?;
            add_command.execute(params![stream.as_str(), key.key, shard, key.request, to_i64(*revision), answer])?;
        }
        for SideRow { kind, key, body } in &batch.side_rows {
            self.0.prepare_cached(sql::PUT_SIDE_ROW)?.execute(params![kind, key, &**body])?;
        }
        for (kind, key) in &batch.removed_side_rows {
            self.0.prepare_cached(sql::DELETE_SIDE_ROW)?.execute([kind, key])?;
        }
        for change in &batch.changes {
            match change {
                ReadModelChange::Put(document) => self.put_document(stream, shard, document)?,
                ReadModelChange::Delete { collection, id } => {
                    self.0.prepare_cached(sql::DELETE_DOCUMENT)?.execute(params![collection, id])?;
                }
            }
            self.index_change((stream, shard), change, &batch.side_rows)?;
        }
        Ok(true)
    }

    /// Moves the head if it is the expected one. Returns the shard that the stream began with.
    fn move_head(&self, stream: &StreamName, expected: Head, head: Head) -> rusqlite::Result<Option<u16>> {
        let (revision, hash) = (to_i64(head.revision), head.hash);
        if expected.revision == 0 {
            if self.head(stream)?.revision > 0 {
                return Ok(None);
            }
            let mut begin = self.0.prepare_cached(sql::INSERT_HEAD)?;
            begin.execute(params![stream.as_str(), stream.shard(), revision, hash])?;
            return Ok(Some(stream.shard()));
        }
        let expected_revision = to_i64(expected.revision);
        let mut move_known_head = self.0.prepare_cached(sql::MOVE_KNOWN_HEAD)?;
        let parameters = params![stream.as_str(), expected_revision, expected.hash, revision, hash, stream.shard()];
        if move_known_head.execute(parameters)? > 0 {
            return Ok(Some(stream.shard()));
        }
        let mut move_head = self.0.prepare_cached(sql::MOVE_HEAD)?;
        let parameters = params![stream.as_str(), expected_revision, expected.hash, revision, hash];
        move_head.query_row(parameters, |row| row.get(0)).optional()
    }
}
