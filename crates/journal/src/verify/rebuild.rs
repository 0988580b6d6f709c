//! Rebuilds read models and snapshots from the records, and removes rows that follow from none.

use super::super::{Head, Journal, Limits, StoreError, StreamFold, StreamKinds, StreamName};
use super::{PAGE, STREAM_NAMES_PAGE};

/// Rebuilds all read models and snapshots, stream by stream. Returns the number of documents.
pub async fn rebuild(journal: &dyn Journal, nouns: &StreamKinds) -> Result<u64, StoreError> {
    rebuild_with_progress(journal, nouns, |_, _| {}).await
}

/// Like [`rebuild`]. `tell` is called after every stream with the number of streams and documents so far.
pub async fn rebuild_with_progress(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    tell: impl Fn(u64, u64),
) -> Result<u64, StoreError> {
    journal.drop_snapshots().await?;
    journal.clear_search_index().await?;
    let (mut after, mut documents, mut streams) = (String::new(), 0, 0);
    loop {
        let names = journal.stream_names(&after, STREAM_NAMES_PAGE).await?;
        for stream in &names {
            documents += rebuild_stream(journal, nouns, stream).await?;
            streams += 1;
            tell(streams, documents);
        }
        match names.last() {
            Some(last) => last.as_str().clone_into(&mut after),
            None => return Ok(documents),
        }
    }
}

/// Rebuilds what is derived from one stream. Returns the number of its documents.
pub async fn rebuild_stream(
    journal: &dyn Journal,
    nouns: &StreamKinds,
    stream: &StreamName,
) -> Result<u64, StoreError> {
    loop {
        let head = journal.head(stream).await?;
        let Some(mut fold) = nouns.begin_fold(stream).filter(|_| head.revision > 0) else {
            journal.delete_documents(stream).await?;
            return Ok(0);
        };
        replay_stream(journal, stream, head, &mut *fold).await?;
        let snapshot = (head.revision >= Limits::default().records_per_snapshot).then(|| fold.snapshot(head)).flatten();
        let documents = fold.into_documents();
        let count = documents.len() as u64;
        match journal.replace_documents(stream, head, documents).await {
            Ok(()) => {
                if let Some(snapshot) = snapshot {
                    journal.store_snapshot(stream, snapshot).await?;
                }
                return Ok(count);
            }
            // The stream was appended to meanwhile, so try again.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

/// Replays a stream up to its head. Fails on a record that was changed, so that nothing is derived from it.
async fn replay_stream(
    journal: &dyn Journal,
    stream: &StreamName,
    head: Head,
    fold: &mut dyn StreamFold,
) -> Result<(), StoreError> {
    let damaged = |revision: u64, what: &str| StoreError::Damaged(format!("{stream} at revision {revision}: {what}"));
    let mut at = Head::default();
    while at.revision < head.revision {
        let page = journal.read(stream, at.revision, PAGE).await?;
        if page.first().is_none_or(|record| record.revision > head.revision) {
            return Err(damaged(at.revision, &format!("the head is at {}, the records end here", head.revision)));
        }
        for record in page.into_iter().take_while(|record| record.revision <= head.revision) {
            if !record.follows(at) {
                return Err(damaged(record.revision, "the record is not what was written, see skald verify"));
            }
            fold.apply_record(&record).map_err(|error| damaged(record.revision, &error))?;
            at = record.head();
        }
    }
    if at == head { Ok(()) } else { Err(damaged(at.revision, "the head has another hash than the last record")) }
}
