//! Findings of a verification: kinds with a stable name, and what to do about each.

use std::fmt;

/// One thing that is not as it was written.
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
        write!(formatter, "{}: {}: {}", self.kind.word(), self.place, self.what)
    }
}

/// What to do about something that follows from the records.
const REBUILD: &str = "stop Skald, and skald rebuild makes it anew from the records";
/// What to do about something that nothing else says.
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

            /// Its name, which stays the same.
            pub fn word(self) -> &'static str {
                match self { $(Self::$kind => $word),+ }
            }

            /// Whether it is of records up to a head, which nobody changes who writes others.
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
    /// A record is not the one that its hash was made of.
    RecordChanged "record_changed" RESTORE;
    /// A record does not follow the one before it.
    RecordUnchained "record_unchained" RESTORE;
    /// A revision between others is not there.
    RecordMissing "record_missing" RESTORE;
    /// A record's events cannot be read.
    RecordUnreadable "record_unreadable" RESTORE;
    /// There are records after the head.
    RecordHidden "record_hidden" RESTORE;
    /// A stream has records and no head.
    HeadMissing "head_missing" RESTORE;
    /// The head names records that are not there.
    HeadWithoutRecords "head_without_records" RESTORE;
    /// The head has another hash than the last record.
    HeadDiffers "head_differs" RESTORE;
    /// A snapshot is not what the records come to.
    SnapshotDiffers "snapshot_differs" REBUILD;
    /// A snapshot of a stream that has none.
    SnapshotOrphaned "snapshot_orphaned" REBUILD;
    /// A row of a read model is not what the records come to.
    RowDiffers "row_differs" REBUILD;
    RowMissing "row_missing" REBUILD;
    /// A row of a read model that follows from no record.
    RowOrphaned "row_orphaned" REBUILD;
    /// A stored answer is not the one that its record was made with.
    AnswerDiffers "answer_differs" RESTORE;
    AnswerMissing "answer_missing" RESTORE;
    /// An answer under a key of no record.
    AnswerOrphaned "answer_orphaned" RESTORE;
    /// Content is not what its address, its SHA-256, says.
    ContentDiffers "content_differs" RESTORE;
    /// Content that a stream needs is not there.
    ContentMissing "content_missing" RESTORE;
    /// A refused attempt is not as it was kept.
    AttemptDiffers "attempt_differs" RESTORE;
    /// A refused attempt on a record that is not there.
    AttemptOrphaned "attempt_orphaned" RESTORE;
    /// A token that no event speaks of.
    TokenUnrecorded "token_unrecorded" REMOVE_TOKEN;
    /// A stream that was sealed is gone.
    StreamMissing "stream_missing" RESTORE;
    /// A stream ends before where it was sealed.
    StreamCut "stream_cut" RESTORE;
    /// A stream is another one up to where it was sealed.
    StreamRewritten "stream_rewritten" RESTORE;
    /// A row beside the journal is gone or changed since it was sealed.
    SealedRowDiffers "sealed_row_differs" RESTORE;
    /// Answers of records that do not note them are others than those that were sealed.
    SealedAnswersDiffer "sealed_answers_differ" RESTORE;
}
