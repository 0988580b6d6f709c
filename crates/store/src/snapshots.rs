//! Stored form of a snapshot in every store: the first part with its metadata, and the other parts separately.

use skald_journal::{ReadPart, Snapshot, StoreError, StoredSnapshot, StreamName};

use crate::random_mark::random_mark;

/// A snapshot with a new random mark, and its parts after the first.
pub(crate) fn assign_mark(
    stream: &StreamName,
    snapshot: Snapshot,
) -> (StoredSnapshot, impl Iterator<Item = String> + use<>) {
    let digest = snapshot.digest(stream);
    let Snapshot { version, head, parts } = snapshot;
    let mark = random_mark().cast_signed();
    let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    (StoredSnapshot { version, head, mark, parts: count.max(1), digest, first }, parts)
}

/// Calls `read` with the text of a part, on a thread that may block.
pub(crate) async fn read_on_blocking_thread(
    read: ReadPart,
    text: impl AsRef<str> + Send + 'static,
) -> Result<(), StoreError> {
    let read = tokio::task::spawn_blocking(move || read(text.as_ref())).await;
    read.map_err(|error| StoreError::Unavailable(error.to_string()))
}
