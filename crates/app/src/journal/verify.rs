//! Going through the whole journal: is it what was written, and is what was derived still true.

use sha2::{Digest, Sha256};

use super::{Document, Fold, Hash, Head, Journal, Nouns, StoreError, StreamName};

/// Rows read at once.
const PAGE: usize = 500;

/// What was found in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub streams: u64,
    pub records: u64,
    pub documents: u64,
    /// A hash of all heads. A chain cannot show that its end was cut off; comparing this with an earlier note can.
    pub root: Hash,
}

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Sound(Report),
    /// The first fault, in the order of the streams' names.
    Fault {
        stream: StreamName,
        revision: u64,
        what: String,
    },
}

/// Checks every chain, its head, and that the read models are what the records make of them.
pub async fn verify(journal: &dyn Journal, nouns: &Nouns) -> Result<Verdict, StoreError> {
    verify_telling(journal, nouns, |_, _| {}).await
}

/// As [`verify`]; `tell` hears after every stream how many streams and records were looked at.
pub async fn verify_telling(
    journal: &dyn Journal,
    nouns: &Nouns,
    tell: impl Fn(u64, u64),
) -> Result<Verdict, StoreError> {
    let mut report = Report { streams: 0, records: 0, documents: 0, root: Hash::default() };
    let mut root = Sha256::new();
    let mut after = String::new();
    loop {
        let page = journal.streams(&after, PAGE).await?;
        for (stream, head) in &page {
            let mut fold = nouns.fold(stream);
            if let Err((revision, what)) = walk(journal, stream, *head, &mut fold, &mut report.records).await? {
                return Ok(Verdict::Fault { stream: stream.clone(), revision, what });
            }
            if let Some(fold) = fold {
                let wanted = fold.documents();
                report.documents += wanted.len() as u64;
                let difference = differing(journal, stream, wanted).await?;
                // Somebody may write while we read.
                if let Some(what) = difference
                    && journal.head(stream).await? == *head
                {
                    return Ok(Verdict::Fault { stream: stream.clone(), revision: head.revision, what });
                }
            }
            report.streams += 1;
            tell(report.streams, report.records);
            root.update((stream.as_str().len() as u64).to_be_bytes());
            root.update(stream.as_str());
            root.update(head.revision.to_be_bytes());
            root.update(head.hash);
        }
        match page.last() {
            Some((last, _)) => last.as_str().clone_into(&mut after),
            None => break,
        }
    }
    report.root = root.finalize().into();
    Ok(Verdict::Sound(report))
}

/// Makes all read models anew, stream by stream. Answers how many documents there are.
pub async fn rebuild(journal: &dyn Journal, nouns: &Nouns) -> Result<u64, StoreError> {
    rebuild_telling(journal, nouns, |_, _| {}).await
}

/// As [`rebuild`]; `tell` hears after every stream how many streams were read and documents made.
pub async fn rebuild_telling(journal: &dyn Journal, nouns: &Nouns, tell: impl Fn(u64, u64)) -> Result<u64, StoreError> {
    let (mut after, mut documents, mut streams) = (String::new(), 0, 0);
    loop {
        let page = journal.streams(&after, PAGE).await?;
        for (stream, _) in &page {
            documents += rebuild_one(journal, nouns, stream).await?;
            streams += 1;
            tell(streams, documents);
        }
        match page.last() {
            Some((last, _)) => last.as_str().clone_into(&mut after),
            None => return Ok(documents),
        }
    }
}

async fn rebuild_one(journal: &dyn Journal, nouns: &Nouns, stream: &StreamName) -> Result<u64, StoreError> {
    loop {
        let head = journal.head(stream).await?;
        let Some(fold) = nouns.fold(stream) else { return Ok(0) };
        let mut fold = Some(fold);
        if let Err((revision, what)) = walk(journal, stream, head, &mut fold, &mut 0).await? {
            return Err(StoreError::Damaged(format!("{stream} at revision {revision}: {what}")));
        }
        let documents = fold.map(Fold::documents).unwrap_or_default();
        let count = documents.len() as u64;
        match journal.replace_documents(stream, head, documents).await {
            Ok(()) => return Ok(count),
            // Somebody wrote meanwhile.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error),
        }
    }
}

type Walked = Result<(), (u64, String)>;

/// Checks a stream up to its head, and folds it.
async fn walk(
    journal: &dyn Journal,
    stream: &StreamName,
    head: Head,
    fold: &mut Option<Box<dyn Fold>>,
    records: &mut u64,
) -> Result<Walked, StoreError> {
    let mut at = Head::default();
    while at.revision < head.revision {
        let page = journal.read(stream, at.revision, PAGE).await?;
        if page.is_empty() {
            return Ok(Err((at.revision, format!("the head is at {}, the records end here", head.revision))));
        }
        for record in page {
            let revision = record.revision;
            if revision != at.revision + 1 {
                return Ok(Err((revision, format!("revision {} is missing", at.revision + 1))));
            }
            if record.previous != at.hash {
                return Ok(Err((revision, "the record does not follow the one before".to_owned())));
            }
            if record.hash != record.computed_hash() {
                return Ok(Err((revision, "the record was changed".to_owned())));
            }
            if let Some(Err(error)) = fold.as_mut().map(|fold| fold.record(&record)) {
                return Ok(Err((revision, format!("the events cannot be read: {error}"))));
            }
            *records += 1;
            at = record.head();
            if at.revision == head.revision {
                break;
            }
        }
    }
    if at.hash != head.hash {
        return Ok(Err((at.revision, "the head has another hash than the last record".to_owned())));
    }
    // A head that was set back hides records.
    let hidden = journal.read(stream, at.revision, 1).await?;
    if !hidden.is_empty() && journal.head(stream).await? == head {
        return Ok(Err((at.revision + 1, "the head is behind the records".to_owned())));
    }
    Ok(Ok(()))
}

/// Where the stored documents of a stream differ from those that they should be.
async fn differing(
    journal: &dyn Journal,
    stream: &StreamName,
    wanted: Vec<Document>,
) -> Result<Option<String>, StoreError> {
    let mut wanted = wanted.into_iter();
    let mut after = (String::new(), String::new());
    loop {
        let page = journal.owned_documents(stream, (&after.0, &after.1), PAGE).await?;
        for document in &page {
            if wanted.next().as_ref() != Some(document) {
                return Ok(Some(format!("{} {:?} is not what was rebuilt", document.collection, document.id)));
            }
        }
        match page.last() {
            Some(last) => after = (last.collection.clone(), last.id.clone()),
            None => {
                return Ok(wanted
                    .next()
                    .map(|document| format!("{} {:?} is missing", document.collection, document.id)));
            }
        }
    }
}
