//! The journal: what happened, in order, for good.
//!
//! A stream is one thing that changes: a campaign, a universe, a run. Its history is a chain of [`Record`]s, one for each
//! command that was accepted. This room owns the port to whatever keeps them ([`Journal`]) and the one way to write
//! ([`Streams`]); it knows no SQL. Everything else that is stored is derived from the records and can be made again,
//! except what lies on the [`Shelf`].

mod actor;
mod noun;
mod parted;
mod port;
mod record;
mod row_sum;
mod seal;
mod snapshots;
mod streams;
mod turn;
mod verify;

pub(crate) use noun::events;
pub use noun::{Fold, Noun, Nouns};
pub use parted::{Parted, Whole};
pub use port::{Again, Append, Batch, Health, Journal, Missed, ReadPart, Shelf, StoreError, SummingUp};
pub use record::{
    AnswerDigest, Change, Command, Cursor, Document, Hash, Head, KeptSnapshot, Key, Record, Snapshot, StreamName, hex,
    to_micros,
};
pub use row_sum::RowSum;
pub use seal::{SealComparison, SealStatement};
pub use streams::{Limits, Streams};
pub(crate) use turn::held;
pub use turn::{Answer, Ask, Done, Failure, Kept};
pub use verify::{
    BesideCheck, CheckRow, Contents, Finding, FindingKind, Report, RowCheck, Verdict, rebuild, rebuild_telling, verify,
    verify_telling, verify_with_contents,
};
