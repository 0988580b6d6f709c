//! `SortedIndex`, a persistent set of small keys: a sorted list that clones share, and what came and went since.
//!
//! A loaded state has all its keys in the list, which takes no more memory than they do and is made at once. Changes go
//! to persistent sets beside it.

use std::fmt;
use std::sync::Arc;

use imbl::OrdSet;

#[derive(Clone)]
pub(super) struct SortedIndex<K> {
    base: Arc<[K]>,
    /// Keys that are not in `base`.
    added: OrdSet<K>,
    /// Keys that are in `base` and do not count any more.
    removed: OrdSet<K>,
}

impl<K: Ord + Copy> SortedIndex<K> {
    pub(super) fn insert(&mut self, key: K) {
        if self.base.binary_search(&key).is_ok() {
            self.removed.remove(&key);
        } else {
            self.added.insert(key);
        }
    }

    pub(super) fn remove(&mut self, key: K) {
        if self.base.binary_search(&key).is_ok() {
            self.removed.insert(key);
        } else {
            self.added.remove(&key);
        }
    }

    /// The keys from the first to the second, both included, in order.
    pub(super) fn between(&self, first: K, last: K) -> Vec<K> {
        let start = self.base.partition_point(|key| *key < first);
        let stored = self.base[start..].iter().take_while(|key| **key <= last);
        let mut keys: Vec<K> = stored.filter(|key| !self.removed.contains(*key)).copied().collect();
        let stored_count = keys.len();
        keys.extend(self.added.range(first..=last));
        if stored_count > 0 && keys.len() > stored_count {
            keys.sort_unstable();
        }
        keys
    }

    /// All keys in order.
    fn keys(&self) -> Vec<K> {
        let stored = self.base.iter().filter(|key| !self.removed.contains(*key));
        let mut keys: Vec<K> = stored.chain(self.added.iter()).copied().collect();
        keys.sort_unstable();
        keys
    }
}

impl<K> Default for SortedIndex<K> {
    fn default() -> Self {
        Self { base: Arc::default(), added: OrdSet::default(), removed: OrdSet::default() }
    }
}

/// From keys in any order, which may be repeated.
impl<K: Ord + Copy> From<Vec<K>> for SortedIndex<K> {
    fn from(mut keys: Vec<K>) -> Self {
        // Parts of a snapshot are sorted already, and this sort makes use of it.
        keys.sort();
        keys.dedup();
        Self { base: keys.into(), ..Self::default() }
    }
}

impl<K: Ord + Copy> PartialEq for SortedIndex<K> {
    fn eq(&self, other: &Self) -> bool {
        self.keys() == other.keys()
    }
}

impl<K: Ord + Copy + fmt::Debug> fmt::Debug for SortedIndex<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn an_index_is_a_set(
            stored in proptest::collection::vec(0..20_u8, 0..20),
            changes in proptest::collection::vec((0..20_u8, any::<bool>()), 0..30),
            first in 0..20_u8,
            last in 0..20_u8,
        ) {
            let (mut index, mut set) = (SortedIndex::from(stored.clone()), BTreeSet::from_iter(stored));
            for (key, is_added) in changes {
                if is_added {
                    index.insert(key);
                    set.insert(key);
                } else {
                    index.remove(key);
                    set.remove(&key);
                }
            }
            let expected: Vec<u8> = set.iter().copied().filter(|key| (first..=last).contains(key)).collect();
            prop_assert_eq!(if first <= last { index.between(first, last) } else { Vec::new() }, expected);
            prop_assert_eq!(index.keys(), set.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(&index, &SortedIndex::from(index.keys()));
            prop_assert_eq!(format!("{index:?}"), format!("{set:?}"));
        }
    }
}
