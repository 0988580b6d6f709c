//! Findings of a verification: kinds with a stable name, and what to do about each.

use std::fmt;

/// A difference between what is stored and what was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyFinding {
    pub kind: FindingKind,
    /// The stream or the row.
    pub place: String,
    pub what: String,
}

impl VerifyFinding {
    pub(crate) fn new(kind: FindingKind, place: impl Into<String>, what: impl Into<String>) -> Self {
        Self { kind, place: place.into(), what: what.into() }
    }
}

impl fmt::Display for VerifyFinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}: {}", self.kind.name(), self.place, self.what)
    }
}

/// The remedy for what can be derived from the records.
const REBUILD: &str = "stop Skald, then run skald rebuild, which makes it again from the records";
/// The remedy for what cannot be derived from anything else.
const RESTORE: &str = "find out who can write to the store, and restore a backup from before";
const REMOVE_TOKEN: &str = "skald token revoke ID removes it; find out who put it there";

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $word:literal $remedy:expr;)+) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum FindingKind {
            $($(#[$doc])* $kind,)+
        }

        impl FindingKind {
            /// All of them, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$kind),+];

            /// The stable name of the finding.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $word),+ }
            }

            /// Whether the finding is about records up to the head, which concurrent writes do not change.
            pub(super) fn is_of_records(self) -> bool {
                use FindingKind::{HeadDiffers, HeadWithoutRecords};
                use FindingKind::{RecordChanged, RecordMissing, RecordUnchained, RecordUnreadable};
                matches!(
                    self,
                    RecordChanged | RecordUnchained | RecordMissing | RecordUnreadable | HeadDiffers | HeadWithoutRecords
                )
            }

            /// What to do about it.
            pub fn remedy(self) -> &'static str {
                match self { $(Self::$kind => $remedy),+ }
            }
        }
    };
}

kinds! {
    /// A record does not match its hash.
    RecordChanged "record_changed" RESTORE;
    /// A record does not follow the one before it.
    RecordUnchained "record_unchained" RESTORE;
    /// A revision is missing between others.
    RecordMissing "record_missing" RESTORE;
    /// A record's events cannot be read.
    RecordUnreadable "record_unreadable" RESTORE;
    /// There are records after the head.
    RecordHidden "record_hidden" RESTORE;
    /// A stream has records and no head.
    HeadMissing "head_missing" RESTORE;
    /// The head is at a revision without a record.
    HeadWithoutRecords "head_without_records" RESTORE;
    /// The head has another hash than the last record.
    HeadDiffers "head_differs" RESTORE;
    /// A snapshot differs from the replayed state.
    SnapshotDiffers "snapshot_differs" REBUILD;
    /// A snapshot of a stream that never began, or whose kind uses no snapshots.
    SnapshotOrphaned "snapshot_orphaned" REBUILD;
    /// A row of a read model differs from the one derived from the records.
    RowDiffers "row_differs" REBUILD;
    RowMissing "row_missing" REBUILD;
    /// A row of a read model that follows from no record.
    RowOrphaned "row_orphaned" REBUILD;
    /// A stored answer does not match the digest in its record.
    AnswerDiffers "answer_differs" RESTORE;
    AnswerMissing "answer_missing" RESTORE;
    /// An answer that belongs to no record.
    AnswerOrphaned "answer_orphaned" RESTORE;
    /// Content does not match its address, which is its SHA-256.
    ContentDiffers "content_differs" RESTORE;
    /// Content that a stream needs is missing.
    ContentMissing "content_missing" RESTORE;
    /// A refused attempt was changed after it was stored.
    AttemptDiffers "attempt_differs" RESTORE;
    /// A refused attempt on a missing record.
    AttemptOrphaned "attempt_orphaned" RESTORE;
    /// A token in a row without an event.
    TokenUnrecorded "token_unrecorded" REMOVE_TOKEN;
    /// A stream that was sealed is gone.
    StreamMissing "stream_missing" RESTORE;
    /// A stream ends before the revision that was sealed.
    StreamCut "stream_cut" RESTORE;
    /// A stream differs from the sealed one, at or before the sealed revision.
    StreamRewritten "stream_rewritten" RESTORE;
    /// A side row is gone or was changed since it was sealed.
    SealedRowDiffers "sealed_row_differs" RESTORE;
    /// Answers of records from before answer digests differ from those that were sealed.
    SealedAnswersDiffer "sealed_answers_differ" RESTORE;
}
