//! Checks a batch against its stream's current head, while the stream is locked, and has it decided again if outdated.

use skald_journal::{Append, ConcurrentAppends, Head, IdempotentAnswer, Record, StoreError, StreamName};

/// The most concurrent records with which the store has a batch decided again at once; with more, the append is a
/// conflict.
pub(crate) const MISSED_MAX: usize = 1_024;

/// A store that is locked for writing.
pub(crate) trait LockedStore {
    type Error;

    fn head(&self, stream: &StreamName) -> Result<Head, Self::Error>;
    fn records(&self, stream: &StreamName, after: u64, limit: usize) -> Result<Vec<Record>, Self::Error>;
    fn find_answer(&self, stream: &StreamName, key: &str) -> Result<Option<IdempotentAnswer>, Self::Error>;
}

/// What to do with an append.
pub(crate) enum RebaseOutcome {
    /// The batch fits the head of its stream.
    Store,
    /// Deciding again left nothing to store.
    Nothing,
    SendBack(StoreError),
}

/// Compares a batch with the store, and has it decided again until it fits.
pub(crate) fn rebase<L: LockedStore>(store: &L, append: &mut Append) -> Result<RebaseOutcome, L::Error> {
    loop {
        let (stream, batch) = (&append.stream, &append.batch);
        let mut missed = ConcurrentAppends::default();
        for command in &batch.answers {
            missed.answered.extend(store.find_answer(stream, &command.key.key)?);
        }
        let head = store.head(stream)?;
        if head == batch.expected && missed.answered.is_empty() {
            return Ok(if batch.records.is_empty() { RebaseOutcome::Nothing } else { RebaseOutcome::Store });
        }
        let conflict = Ok(RebaseOutcome::SendBack(StoreError::Conflict { head }));
        let Some(again) = &mut append.again else { return conflict };
        if head != batch.expected {
            missed.records = store.records(stream, batch.expected.revision, MISSED_MAX + 1)?;
            // Too many concurrent records, or a head that no record leads to: the batch cannot be decided again here.
            if missed.records.is_empty() || missed.records.len() > MISSED_MAX {
                return conflict;
            }
        }
        match again(missed) {
            Some(batch) => append.batch = batch,
            None => return Ok(RebaseOutcome::Nothing),
        }
    }
}
