//! Cache of file hashes by the file's identity, not its name. An entry is valid as long as the file's stamp is
//! unchanged.

use std::collections::HashMap;

use skald_journal::Hash;

use super::artifacts::Examined;
use super::file_stamp::Stamp;

/// Files of one generation. Two are kept, which is enough for all artifacts of the largest run.
const GENERATION: usize = 65_536;

/// Recently used entries are in the young generation; when that is full, it becomes the old one.
#[derive(Debug, Default)]
pub(super) struct Cache {
    young: HashMap<(u64, u64), (Stamp, Hash)>,
    old: HashMap<(u64, u64), (Stamp, Hash)>,
}

impl Cache {
    /// The hash of a file that has not changed since it was read.
    pub(super) fn get(&mut self, stamp: &Stamp) -> Option<Hash> {
        let file = stamp.file();
        if let Some((known, hash)) = self.young.get(&file) {
            return (known == stamp).then_some(*hash);
        }
        let (known, hash) = self.old.remove(&file)?;
        if known != *stamp {
            return None;
        }
        self.keep(known, hash);
        Some(hash)
    }

    /// Stores the hash of a file, unless a later change might not show in its stamp.
    pub(super) fn put(&mut self, examined: &Examined) {
        if examined.is_settled {
            self.keep(examined.stamp, examined.hash);
        }
    }

    fn keep(&mut self, stamp: Stamp, hash: Hash) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(stamp.file(), (stamp, hash));
    }
}
