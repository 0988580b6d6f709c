//! Cache of file hashes by the file's identity, not its name. An entry is valid as long as the file's stamp is
//! unchanged.

use std::collections::HashMap;

use skald_journal::Hash;

use super::artifacts::HashedFile;
use super::file_stamp::FileStamp;

/// Files of one generation. Two are kept, which is enough for all artifacts of the largest run.
const GENERATION_FILES_MAX: usize = 65_536;

/// Recently used entries are in the young generation; when that is full, it becomes the old one.
#[derive(Debug, Default)]
pub(super) struct HashCache {
    young: HashMap<(u64, u64), (FileStamp, Hash)>,
    old: HashMap<(u64, u64), (FileStamp, Hash)>,
}

impl HashCache {
    /// The hash of a file that has not changed since it was read.
    pub(super) fn get(&mut self, stamp: &FileStamp) -> Option<Hash> {
        let file = stamp.file_id();
        if let Some((known, hash)) = self.young.get(&file) {
            return (known == stamp).then_some(*hash);
        }
        let (known, hash) = self.old.remove(&file)?;
        if known != *stamp {
            return None;
        }
        self.insert(known, hash);
        Some(hash)
    }

    /// Stores the hash of a file, unless a later change might not show in its stamp.
    pub(super) fn put(&mut self, examined: &HashedFile) {
        if examined.is_stable {
            self.insert(examined.stamp, examined.hash);
        }
    }

    fn insert(&mut self, stamp: FileStamp, hash: Hash) {
        if self.young.len() >= GENERATION_FILES_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(stamp.file_id(), (stamp, hash));
    }
}
