//! Stored values of the journal: records, stream heads, idempotent answers, documents, snapshots and cursors.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::SearchText;

/// The number of shards that a large installation can be split into.
const SHARDS: u64 = 4_096;

/// SHA-256.
pub type Hash = [u8; 32];

/// The name of a stream, noun and id: `universe/u_1`. Names are compared without the shard.
#[derive(Clone)]
pub struct StreamName {
    name: Arc<str>,
    shard: u16,
}

impl StreamName {
    /// A stream whose shard is derived from its own id.
    pub fn new(noun: &str, id: &str) -> Self {
        Self::parse(&format!("{noun}/{id}"))
    }

    /// Parses a stored name: the noun is the part before the first slash.
    pub fn parse(name: &str) -> Self {
        let tenant = name.split_once('/').map_or(name, |(_, id)| id);
        Self { name: name.into(), shard: shard_for_tenant(tenant) }
    }

    /// A stored name with the shard from its row, which was fixed when the stream began.
    pub fn from_stored(name: &str, shard: u16) -> Self {
        Self { name: name.into(), shard }
    }

    /// The same stream with the shard of its tenant, so that all streams of a tenant share a shard. It has an effect
    /// only when the stream begins.
    #[must_use]
    pub fn with_tenant(self, tenant: &str) -> Self {
        Self { shard: shard_for_tenant(tenant), ..self }
    }

    pub fn as_str(&self) -> &str {
        &self.name
    }

    pub fn noun(&self) -> &str {
        self.name.split_once('/').map_or("", |(noun, _)| noun)
    }

    pub fn id(&self) -> &str {
        self.name.split_once('/').map_or(&*self.name, |(_, id)| id)
    }

    pub fn shard(&self) -> u16 {
        self.shard
    }
}

fn shard_for_tenant(tenant: &str) -> u16 {
    let hash = Sha256::digest(tenant.as_bytes());
    let number = hash.iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    u16::try_from(number % SHARDS).unwrap_or_default()
}

impl PartialEq for StreamName {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for StreamName {}

impl PartialOrd for StreamName {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for StreamName {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.name.cmp(&other.name)
    }
}

impl std::hash::Hash for StreamName {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)
    }
}

impl fmt::Debug for StreamName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name, formatter)
    }
}

/// The end of a stream: the revision and the hash of its last record, zeros before the first.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    pub revision: u64,
    pub hash: Hash,
}

impl fmt::Debug for Head {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.revision, hex(&self.hash))
    }
}

/// A hash in hexadecimal digits.
pub fn hex(hash: &Hash) -> String {
    use fmt::Write;
    hash.iter().fold(String::with_capacity(64), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// One accepted command: the events that it produced, hash-chained to the record before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub stream: StreamName,
    /// Dense from 1: it counts accepted commands.
    pub revision: u64,
    /// The kind of its first event.
    pub kind: String,
    /// In whole microseconds, which is what every store keeps.
    pub at: Timestamp,
    pub by: String,
    /// The events, a JSON array.
    pub body: String,
    pub previous: Hash,
    /// The digest of the answer under the command's idempotency key.
    pub answer: AnswerDigest,
    pub hash: Hash,
}

/// A record's digest of its stored answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerDigest {
    /// The record is older than digests of answers.
    NotNoted,
    /// The command had no idempotency key, so that no answer was stored.
    NoAnswer,
    Of(Hash),
}

impl Record {
    /// The next record of a stream.
    pub fn next(stream: &StreamName, head: Head, kind: &str, at: Timestamp, by: &str, body: String) -> Self {
        let mut record = Self {
            stream: stream.clone(),
            revision: head.revision + 1,
            kind: kind.to_owned(),
            at: truncate_to_micros(at),
            by: by.to_owned(),
            body,
            previous: head.hash,
            answer: AnswerDigest::NoAnswer,
            hash: Hash::default(),
        };
        record.hash = record.computed_hash();
        record
    }

    /// The same record with the digest of the answer that is stored with it.
    #[must_use]
    pub fn with_answer(mut self, command: &IdempotentAnswer) -> Self {
        self.answer = AnswerDigest::Of(command.digest());
        self.hash = self.computed_hash();
        self
    }

    pub fn head(&self) -> Head {
        Head { revision: self.revision, hash: self.hash }
    }

    /// The hash computed from the record's content. It differs from `hash` if the record was changed.
    pub fn computed_hash(&self) -> Hash {
        let content = self.content_hash();
        let answer = match &self.answer {
            AnswerDigest::NotNoted => return content,
            AnswerDigest::NoAnswer => &[][..],
            AnswerDigest::Of(digest) => digest,
        };
        let mut hash = Sha256::new();
        hash.update(content);
        hash.update(answer);
        hash.finalize().into()
    }

    /// A hash of the record without its answer, so that the answer can contain it. Every text is preceded by its
    /// length, so that different records never hash the same bytes.
    pub fn content_hash(&self) -> Hash {
        let mut hash = Sha256::new();
        hash.update(self.previous);
        hash.update(self.revision.to_be_bytes());
        hash.update(self.at.as_microsecond().to_be_bytes());
        for text in [self.stream.as_str(), &self.kind, &self.by, &self.body] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
        hash.finalize().into()
    }

    /// Whether the record directly follows this head and its hash is correct.
    pub fn follows(&self, head: Head) -> bool {
        self.revision == head.revision + 1 && self.previous == head.hash && self.hash == self.computed_hash()
    }
}

/// Truncates a timestamp to microseconds, the precision of the stores.
pub fn truncate_to_micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// The caller's idempotency key, and a hash of the request, to detect a key that is reused for another request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub request: Hash,
}

impl IdempotencyKey {
    /// A key for a request, which is given as the parts that identify it.
    pub fn new(key: impl Into<String>, request: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in request {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self { key: key.into(), request: hash.finalize().into() }
    }
}

/// The stored answer under an idempotency key, for retries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotentAnswer {
    pub key: IdempotencyKey,
    pub revision: u64,
    pub answer: String,
}

impl IdempotentAnswer {
    /// SHA-256 of the key, the request and the answer.
    pub fn digest(&self) -> Hash {
        let mut hash = Sha256::new();
        for part in [self.key.key.as_bytes(), &self.key.request, self.answer.as_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// A row of a read model, which belongs to the stream that it is derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub collection: String,
    /// The part of the collection that it is listed with: the id of its campaign, empty if it has none.
    pub partition: String,
    pub id: String,
    /// Lists run from the highest rank to the lowest.
    pub rank: i64,
    /// JSON.
    pub body: String,
    /// How the document is found by its words. `None` for a document that was read: the index keeps no texts.
    pub search: Option<SearchText>,
}

/// Which partitions of a collection are listed or counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partitions<'a> {
    All,
    /// Only these, each named once.
    Of(&'a [String]),
}

impl Partitions<'_> {
    pub fn contains(&self, partition: &str) -> bool {
        match self {
            Self::All => true,
            Self::Of(names) => names.iter().any(|name| name == partition),
        }
    }
}

/// A change of a read model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadModelChange {
    Put(Document),
    Delete { collection: String, id: String },
}

impl ReadModelChange {
    pub fn key(&self) -> (&str, &str) {
        match self {
            Self::Put(document) => (&document.collection, &document.id),
            Self::Delete { collection, id } => (collection, id),
        }
    }
}

/// A serialised state, so that opening a stream need not replay all records. It is a cache: the records alone are
/// authoritative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// The version of the state's format. A snapshot of another version is ignored.
    pub version: u32,
    pub head: Head,
    /// At least one; a large state has several, which are read in parallel.
    pub parts: Vec<String>,
}

impl Snapshot {
    /// The digest that is stored with the snapshot, so that a changed snapshot is not used.
    pub fn digest(&self, stream: &StreamName) -> Hash {
        let parts = self.parts.iter().map(|part| part_digest(part));
        snapshot_digest(stream, self.version, self.head, parts)
    }
}

/// SHA-256 of a snapshot part, or of a side row's body.
pub(super) fn part_digest(text: &str) -> Hash {
    Sha256::digest(text.as_bytes()).into()
}

/// The digest of a snapshot, from the digests of its parts in order.
pub(super) fn snapshot_digest(
    stream: &StreamName,
    version: u32,
    head: Head,
    parts: impl Iterator<Item = Hash>,
) -> Hash {
    let mut hash = Sha256::new();
    hash.update((stream.as_str().len() as u64).to_be_bytes());
    hash.update(stream.as_str());
    hash.update(version.to_be_bytes());
    hash.update(head.revision.to_be_bytes());
    hash.update(head.hash);
    parts.for_each(|part| hash.update(part));
    hash.finalize().into()
}

/// A stored snapshot with its first part; the others are read one by one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    pub version: u32,
    pub head: Head,
    /// A random number of this snapshot, so that parts of two snapshots are never mixed.
    pub mark: i64,
    /// The number of parts, including the first.
    pub parts: u32,
    /// The digest from when the snapshot was stored. Zeros mean that it has none.
    pub digest: Hash,
    pub first: String,
}

/// A position in the order of all records of one store. Reading on from it skips nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash)]
pub struct Cursor {
    /// The transaction id, for stores whose transactions may commit in another order than they wrote; otherwise 0.
    pub transaction: u64,
    pub position: u64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.transaction, self.position)
    }
}

impl FromStr for Cursor {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (transaction, position) = text.split_once('.').unwrap_or(("0", text));
        Ok(Self { transaction: transaction.parse()?, position: position.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(stream: &str, kind: &str, by: &str, body: &str) -> Record {
        let head = Head { revision: 41, hash: [9; 32] };
        let at = Timestamp::new(1_700_000_000, 123_456_789).unwrap();
        Record::next(&StreamName::parse(stream), head, kind, at, by, body.to_owned())
    }

    /// Stored hashes and shards are promises: if this changes, no journal verifies any more.
    #[test]
    fn hashes_and_shards_stay_what_they_are() {
        let record = record("universe/u_1", "star_added", "local", r#"[{"type":"star_added"}]"#);
        assert_eq!(record.revision, 42);
        assert_eq!(hex(&record.hash), "d9eea85d1d82b4d621ea0dfc8d998cd4cbc778b81dab0d07d4441328a075d385");
        let older = Record { answer: AnswerDigest::NotNoted, ..record.clone() };
        let without_answer = "43a05c1e8dad9d562c54b5282395b8245d48d144ffafbf47878c1f34aae28f8c";
        assert_eq!([older.computed_hash(), record.content_hash()].map(|hash| hex(&hash)), [without_answer; 2]);
        let command =
            IdempotentAnswer { key: IdempotencyKey::new("key", &[b"a"]), revision: 42, answer: "{}".to_owned() };
        assert_eq!(
            hex(&record.with_answer(&command).hash),
            "59556dbd455d78580ef32dfb6f66b1b3e3ffd58f39c079da2d0f71b8395d968e"
        );
        let stream = StreamName::new("universe", "u_1");
        assert_eq!((stream.shard(), stream.with_tenant("camp_1").shard()), (3357, 3955));
        assert_eq!(
            hex(&IdempotencyKey::new("key", &[b"a", b"bc"]).request),
            "3fafa1cf2f19a7c1129beb20cf0983f73a489a221fc0dd2f16d1be292d089205"
        );
    }

    #[test]
    fn no_two_records_read_alike() {
        let hashes = [
            record("a/b", "c", "d", "e"),
            record("a/bc", "", "d", "e"),
            record("a/b", "cd", "", "e"),
            record("a/b", "c", "de", ""),
        ]
        .map(|record| record.hash);
        assert!((1..hashes.len()).all(|at| !hashes[at..].contains(&hashes[at - 1])));
        assert_ne!(IdempotencyKey::new("key", &[b"a", b"bc"]), IdempotencyKey::new("key", &[b"ab", b"c"]));
    }

    #[test]
    fn a_cursor_reads_back() {
        let cursor = Cursor { transaction: 12, position: 345 };
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        assert!("x.1".parse::<Cursor>().is_err());
    }
}
