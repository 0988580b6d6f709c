//! The root hash: one hash of everything stored that must not change unnoticed.
//!
//! It does not depend on the store: it includes neither positions in the order of all streams nor snapshots, which are
//! taken at any time and are compared with the records instead.

use sha2::{Digest, Sha256};

use super::super::{Document, Hash, IdempotentAnswer, StreamName};
use super::stream::StreamCheckResult;

/// The number of rows, and a running hash of them in order.
#[derive(Clone, Default)]
pub(super) struct RowsDigest {
    pub(super) rows: u64,
    hash: Sha256,
}

impl RowsDigest {
    pub(super) fn add_document(&mut self, document: &Document) {
        // The partition and the row of the search index are verified against the records. They are left out of the
        // root, so that roots from before them stay valid.
        let Document { collection, partition: _, id, rank, body, search: _ } = document;
        self.add_row(&[collection.as_bytes(), id.as_bytes(), &rank.to_be_bytes(), body.as_bytes()]);
    }

    pub(super) fn add_answer(&mut self, command: &IdempotentAnswer) {
        self.add_row(&[&command.digest(), &command.revision.to_be_bytes()]);
    }

    /// The hash of the rows so far.
    pub(super) fn hash(&self) -> Hash {
        self.hash.clone().finalize().into()
    }

    fn add_row(&mut self, parts: &[&[u8]]) {
        self.rows += 1;
        for part in parts {
            hash_part(&mut self.hash, part);
        }
    }
}

#[derive(Default)]
pub(super) struct RootHash(Sha256);

impl RootHash {
    pub(super) fn add_stream(&mut self, name: &StreamName, checked: &StreamCheckResult) {
        hash_part(&mut self.0, b"stream");
        hash_part(&mut self.0, name.as_str().as_bytes());
        self.0.update(checked.head.revision.to_be_bytes());
        self.0.update(checked.head.hash);
        for digest in [&checked.documents, &checked.answers] {
            self.0.update(digest.rows.to_be_bytes());
            self.0.update(digest.hash());
        }
    }

    pub(super) fn add_side_row(&mut self, kind: &str, key: &str, body: &str) {
        for part in ["beside", kind, key, body] {
            hash_part(&mut self.0, part.as_bytes());
        }
    }

    pub(super) fn finish(self) -> Hash {
        self.0.finalize().into()
    }
}

/// Hashes a part after its length, so that different sequences never hash the same bytes.
fn hash_part(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_be_bytes());
    hash.update(part);
}
