//! The journal: what happened, in order, for good.
//!
//! A stream is one thing that changes: a campaign, a universe, a run. Its history is a chain of [`Record`]s, one for each
//! command that was accepted. This room owns the port to whatever keeps them ([`Journal`]) and the one way to write
//! ([`Streams`]); it knows no SQL. Everything else that is stored is derived from the records and can be made again,
//! except what lies on the [`SideRows`].

mod actor;
mod port;
mod record;
mod row_sum;
mod seal;
mod snapshot_part;
mod snapshots;
mod stream_kind;
mod streams;
mod turn;
mod verify;

pub use port::{
    Append, Batch, ConcurrentAppends, Health, Journal, ReadPart, Redecide, SideRow, SideRows, StoreError, SummingUp,
};
pub use record::{
    AnswerDigest, Cursor, Document, Hash, Head, IdempotentAnswer, Key, Partitions, ReadModelChange, Record, Snapshot,
    StoredSnapshot, StreamName, hex, to_micros,
};
pub use row_sum::RowSum;
pub use seal::{SealComparison, SealStatement};
pub use snapshot_part::{SnapshotPart, WholeSnapshot};
pub use stream_kind::{
    CommandOf, EventOf, RefusalOf, RegisteredKind, StateOf, StreamFold, StreamKind, StreamKinds, events,
};
pub use streams::{Limits, Streams};
pub use turn::{AnswerBuilder, Applied, CommittedState, Failure, RefusedOn, Submission};
pub use verify::{
    CheckRow, Contents, Finding, FindingKind, Report, RowCheck, SideRowCheck, Verdict, rebuild, rebuild_with_progress,
    verify, verify_with_contents, verify_with_progress,
};
