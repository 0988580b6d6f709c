//! `InsertionOrderedMap`, a persistent map by id that keeps the order of insertion.

use std::fmt;
use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An entry of the map.
pub trait HasId {
    fn id(&self) -> &str;

    /// Bytes of its texts, for the limit on a campaign's texts.
    fn text_bytes(&self) -> usize;
}

/// Cheap to clone, looked up by id, listed by age. Entry numbers only grow and are never reused, so page cursors stay
/// valid while entries are added and removed.
#[derive(Clone, PartialEq)]
pub struct InsertionOrderedMap<T> {
    next: u64,
    entries: OrdMap<u64, Arc<T>>,
    numbers: OrdMap<Arc<str>, u64>,
    /// Of all entries. Recomputed from them on load, so it is not stored.
    text_bytes: usize,
}

impl<T> InsertionOrderedMap<T> {
    pub fn get(&self, id: &str) -> Option<&T> {
        self.entries.get(self.numbers.get(id)?).map(AsRef::as_ref)
    }

    pub fn contains(&self, id: &str) -> bool {
        self.numbers.contains_key(id)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes of the texts of all entries.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    pub fn newest_first(&self) -> impl Iterator<Item = &T> {
        self.entries.values().rev().map(AsRef::as_ref)
    }

    pub fn oldest_first(&self) -> impl Iterator<Item = &T> {
        self.entries.values().map(AsRef::as_ref)
    }

    /// Entries with a lower number, newest first: the next page of a list.
    pub fn older_than(&self, number: u64) -> impl Iterator<Item = (u64, &T)> {
        self.entries.range(..number).rev().map(|(number, entry)| (*number, entry.as_ref()))
    }
}

impl<T: HasId + Clone> InsertionOrderedMap<T> {
    /// Adds at the end, or replaces the entry with the same id in its place.
    pub(super) fn put(&mut self, entry: T) {
        let number = self.numbers.get(entry.id()).copied().unwrap_or(self.next);
        self.next = self.next.max(number + 1);
        self.numbers.insert(entry.id().into(), number);
        self.text_bytes += entry.text_bytes();
        if let Some(before) = self.entries.insert(number, Arc::new(entry)) {
            self.text_bytes = self.text_bytes.saturating_sub(before.text_bytes());
        }
    }

    /// Changes one entry. An unknown id changes nothing.
    pub(super) fn change(&mut self, id: &str, change: impl FnOnce(&mut T)) {
        if let Some(entry) = self.numbers.get(id).and_then(|number| self.entries.get_mut(number)) {
            let before = entry.text_bytes();
            change(Arc::make_mut(entry));
            self.text_bytes = (self.text_bytes + entry.text_bytes()).saturating_sub(before);
        }
    }

    pub(super) fn remove(&mut self, id: &str) -> Option<Arc<T>> {
        let removed = self.numbers.remove(id).and_then(|number| self.entries.remove(&number));
        self.text_bytes = self.text_bytes.saturating_sub(removed.as_ref().map_or(0, |entry| entry.text_bytes()));
        removed
    }
}

impl<T> Default for InsertionOrderedMap<T> {
    fn default() -> Self {
        Self { next: 0, entries: OrdMap::new(), numbers: OrdMap::new(), text_bytes: 0 }
    }
}

impl<T: fmt::Debug> fmt::Debug for InsertionOrderedMap<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.entries.iter()).finish()
    }
}

/// The stored form. `numbers` is rebuilt from the entries.
#[derive(Serialize, Deserialize)]
struct StoredMap<T> {
    next: u64,
    entries: Vec<(u64, Arc<T>)>,
}

impl<T: Serialize> Serialize for InsertionOrderedMap<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.entries.iter().map(|(number, entry)| (*number, Arc::clone(entry))).collect();
        StoredMap { next: self.next, entries }.serialize(serializer)
    }
}

impl<'de, T: HasId + Deserialize<'de>> Deserialize<'de> for InsertionOrderedMap<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let StoredMap { next, entries } = StoredMap::<T>::deserialize(deserializer)?;
        let numbers = entries.iter().map(|(number, entry)| (Arc::from(entry.id()), *number)).collect();
        let text_bytes = entries.iter().map(|(_, entry)| entry.text_bytes()).sum();
        Ok(Self { next, entries: entries.into_iter().collect(), numbers, text_bytes })
    }
}
