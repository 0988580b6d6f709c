//! Reads and writes snapshots: opens a stream at its newest one, with the parts parsed on all processors.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures::future::{join, try_join_all};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

use super::stored_values::{part_digest, snapshot_digest};
use super::stream_kind::StateOf;
use super::{
    CommittedState, Hash, Head, Journal, Snapshot, SnapshotPart, StoreError, StoredSnapshot, StreamKind, StreamName,
};

/// Attempts to read a snapshot that another process may replace meanwhile.
const ATTEMPTS: usize = 3;

/// A state that was read from a snapshot.
pub(super) struct SnapshotState<K: StreamKind> {
    pub(super) state: StateOf<K>,
    pub(super) head: Head,
    pub(super) bytes: u64,
}

/// The state in the newest snapshot. `None` if there is no usable one.
pub(super) async fn load_state<K: StreamKind>(
    journal: &dyn Journal,
    stream: &StreamName,
) -> Result<Option<SnapshotState<K>>, StoreError> {
    if !K::USES_SNAPSHOTS {
        return Ok(None);
    }
    for _ in 0..ATTEMPTS {
        let Some(snapshot) = journal.snapshot(stream).await? else { break };
        // A snapshot without a digest, from an older version, cannot be checked for changes.
        let has_digest = snapshot.digest != Hash::default();
        if snapshot.version != K::SNAPSHOT_VERSION || snapshot.head.revision == 0 || !has_digest {
            break;
        }
        // A snapshot whose head is not among the stored records belongs to another history.
        let last = journal.read(stream, snapshot.head.revision - 1, 1).await?;
        if last.first().is_none_or(|record| record.head() != snapshot.head) {
            break;
        }
        if let Some(opened) = read_snapshot::<K>(journal, stream, snapshot).await? {
            return Ok(Some(opened));
        }
    }
    Ok(None)
}

/// A parsed part, its length in bytes, and its digest.
struct ParsedPart<K: StreamKind> {
    part: K::Parts,
    bytes: u64,
    digest: Hash,
}

fn parse_part<K: StreamKind>(text: &str, is_first: bool) -> Option<ParsedPart<K>> {
    // The parsed part takes about three times the memory of its text. Allocating and freeing that much at once makes
    // the allocator get the memory before many small pieces are needed: page by page, the threads would wait for each
    // other.
    drop(std::hint::black_box(Vec::<u8>::with_capacity(3 * text.len())));
    Some(ParsedPart { part: K::Parts::read(text, is_first).ok()?, bytes: text.len() as u64, digest: part_digest(text) })
}

async fn read_snapshot<K: StreamKind>(
    journal: &dyn Journal,
    stream: &StreamName,
    mut snapshot: StoredSnapshot,
) -> Result<Option<SnapshotState<K>>, StoreError> {
    let StoredSnapshot { version, head, digest, .. } = snapshot;
    let first = std::mem::take(&mut snapshot.first);
    let first = spawn_blocking(move || parse_part::<K>(&first, true));
    let (first, others) = join(first, read_other_parts::<K>(journal, stream, &snapshot)).await;
    let (Ok(Some(first)), Some(others)) = (first, others?) else { return Ok(None) };
    let parts: Vec<ParsedPart<K>> = [first].into_iter().chain(others).collect();
    if snapshot_digest(stream, version, head, parts.iter().map(|part| part.digest)) != digest {
        tracing::warn!(stream = stream.as_str(), "a snapshot is not as it was kept, and is not used; see skald verify");
        return Ok(None);
    }
    let joined = spawn_blocking(move || {
        let bytes = parts.iter().map(|part| part.bytes).sum();
        let parts = parts.into_iter().map(|part| part.part).collect();
        Some(SnapshotState { state: K::Parts::join(parts)?, head, bytes })
    });
    // If joining the parts panics, the snapshot is not used.
    Ok(joined.await.unwrap_or_default())
}

/// All parts after the first, in order, read in parallel by one task per processor.
async fn read_other_parts<K: StreamKind>(
    journal: &dyn Journal,
    stream: &StreamName,
    snapshot: &StoredSnapshot,
) -> Result<Option<Vec<ParsedPart<K>>>, StoreError> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU32::new(1);
    let readers = (0..processors).map(|_| async {
        let mut read = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= snapshot.parts {
                return Ok(Some(read));
            }
            let (found, part_found) = oneshot::channel();
            let read_part = Box::new(move |text: &str| {
                // The receiver is gone if another part is missing.
                let _ = found.send(parse_part::<K>(text, false));
            });
            journal.snapshot_part(stream, snapshot, number, read_part).await?;
            let Ok(Some(part)) = part_found.await else { return Ok(None) };
            read.push((number, part));
        }
    });
    let Some(read) = try_join_all(readers).await?.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let mut read: Vec<_> = read.into_iter().flatten().collect();
    read.sort_by_key(|(number, _)| *number);
    Ok(Some(read.into_iter().map(|(_, part)| part).collect()))
}

/// Stores a snapshot of a state, and returns its length in bytes.
pub(super) async fn store_state<K: StreamKind>(
    journal: &dyn Journal,
    stream: &StreamName,
    committed: &Arc<CommittedState<K>>,
) -> Result<u64, StoreError> {
    let state = Arc::clone(committed);
    let parts = spawn_blocking(move || K::Parts::write(&state.state)).await;
    let parts = match parts {
        Ok(Ok(parts)) => parts,
        Ok(Err(error)) => return Err(StoreError::Refused(error.to_string())),
        Err(error) => return Err(StoreError::Refused(error.to_string())),
    };
    let bytes = parts.iter().map(|part| part.len() as u64).sum();
    journal.store_snapshot(stream, Snapshot { version: K::SNAPSHOT_VERSION, head: committed.head, parts }).await?;
    Ok(bytes)
}
