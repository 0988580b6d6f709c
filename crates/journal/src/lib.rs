//! The journal: event streams, append-only and hash-chained, with one writer per stream and a port to the stores.
//!
//! A stream is one thing that changes: a campaign, a universe, a run. Its history is a chain of [`Record`]s, one for
//! each command that was accepted. This crate owns the port to the stores ([`Journal`]) and the one way to write
//! ([`Streams`]); it knows no SQL. Everything else that is stored is derived from the records and can be rebuilt,
//! except [`SideRows`] and the [`AuditLog`].

mod audit;
mod decide_batch;
mod pruned_rows_hash;
mod seal;
mod search_text;
pub mod search_tokens;
mod snapshot_part;
mod snapshots;
mod store_port;
mod stored_values;
mod stream_kind;
mod stream_writer;
mod streams;
mod verify;

pub use audit::{AuditFilter, AuditLog, AuditRow};
pub use decide_batch::{AnswerBuilder, Applied, CommittedState, JournalFailure, RefusedOn, Submission};
pub use pruned_rows_hash::RowSum;
pub use seal::{SealComparison, SealStatement};
pub use search_text::{SearchBody, SearchClass, SearchHit, SearchQuery, SearchText, SearchWords, StoredSearchRow};
pub use search_tokens::SearchTerm;
pub use snapshot_part::{SnapshotPart, WholeSnapshot};
pub use store_port::{
    Append, Batch, ConcurrentAppends, Journal, ReadPart, Redecide, RowsToSumUp, SideRow, SideRows, StoreError,
    StoreFuture, StoreHealth,
};
pub use stored_values::{
    AnswerDigest, Cursor, Document, Hash, Head, IdempotencyKey, IdempotentAnswer, Partitions, ReadModelChange, Record,
    Snapshot, StoredSnapshot, StreamName, hex, truncate_to_micros,
};
pub use stream_kind::{
    CommandOf, EventOf, RefusalOf, RegisteredKind, StateOf, StreamFold, StreamKind, StreamKinds, parse_events,
};
pub use streams::{Limits, Streams};
pub use verify::{
    CheckRow, FindingKind, RowCheck, SideRowCheck, StoredContents, VerifyFinding, VerifyReport, VerifyVerdict, rebuild,
    rebuild_stream, rebuild_with_progress, verify, verify_with_contents, verify_with_progress,
};
