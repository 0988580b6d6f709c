//! A snapshot as every store keeps it: the first of its parts with what is known of it, and the others beside it.

use std::hash::{BuildHasher, RandomState};

use app::journal::{KeptSnapshot, ReadPart, Snapshot, StoreError, StreamName};

/// A snapshot under a mark of its own, and its parts after the first.
pub(crate) fn marked(stream: &StreamName, snapshot: Snapshot) -> (KeptSnapshot, impl Iterator<Item = String> + use<>) {
    let digest = snapshot.digest(stream);
    let Snapshot { version, head, parts } = snapshot;
    // Any number that no other snapshot has, of whichever process.
    let mark = i64::from_ne_bytes(RandomState::new().hash_one(std::process::id()).to_ne_bytes());
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    (KeptSnapshot { version, head, mark, parts: count.max(1), digest, first }, parts)
}

/// Has a part read on a thread that may be busy.
pub(crate) async fn read_apart(read: ReadPart, text: impl AsRef<str> + Send + 'static) -> Result<(), StoreError> {
    let read = tokio::task::spawn_blocking(move || read(text.as_ref())).await;
    read.map_err(|error| StoreError::Unavailable(error.to_string()))
}
