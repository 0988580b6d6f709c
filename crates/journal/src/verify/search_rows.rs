//! Compares the rows of the search index with those that a replay gives. The index keeps no texts, so digests of them
//! are compared.

use std::collections::{BTreeMap, HashMap};

use super::super::{Document, Journal, StoreError, StoredSearchRow, StreamName};
use super::{FindingKind, PAGE, VerifyFinding};

/// Texts that are read at once, which may be long.
pub(super) const TEXTS_PAGE: usize = 100;

/// Takes the search texts out of derived documents, as they are not in stored ones, and returns the rows that the
/// search index must have. Both are in the same order.
pub(super) async fn take_rows(
    journal: &dyn Journal,
    documents: &mut [Document],
) -> Result<Vec<StoredSearchRow>, StoreError> {
    let mut rows = Vec::new();
    for page in documents.chunks_mut(TEXTS_PAGE) {
        let texts = read_side_rows(journal, page).await?;
        for document in page {
            let Some(search) = document.search.take() else { continue };
            let side_row = search.body.side_row().and_then(|(kind, key)| texts.get(&(kind.to_owned(), key.to_owned())));
            let body = search.body.text(side_row.map(String::as_str));
            rows.push(StoredSearchRow::new(document, &search, &body));
        }
    }
    Ok(rows)
}

/// The bodies of the side rows that the search texts of these documents name, by kind and key.
async fn read_side_rows(
    journal: &dyn Journal,
    documents: &[Document],
) -> Result<HashMap<(String, String), String>, StoreError> {
    let mut keys: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (kind, key) in documents.iter().filter_map(|document| document.search.as_ref()?.body.side_row()) {
        keys.entry(kind).or_default().push(key.to_owned());
    }
    let mut bodies = HashMap::new();
    for (kind, keys) in keys {
        let found = journal.get_many(kind, keys).await?;
        bodies.extend(found.into_iter().map(|(key, body)| ((kind.to_owned(), key), body)));
    }
    Ok(bodies)
}

/// Compares the stored rows of a stream with the derived ones. Returns kinds and texts of findings.
pub(super) async fn compare(
    journal: &dyn Journal,
    stream: &StreamName,
    expected: Vec<StoredSearchRow>,
    is_unfoldable: bool,
) -> Result<Vec<(FindingKind, String)>, StoreError> {
    let (mut findings, mut expected) = (Vec::new(), expected.into_iter().peekable());
    let mut add = |kind, row: &StoredSearchRow, what: &str| {
        findings.push((kind, format!("{} {:?} {what}", row.collection, row.id)));
    };
    let mut after = (String::new(), String::new());
    loop {
        let page = journal.owned_search_rows(stream, (&after.0, &after.1), PAGE).await?;
        let Some(last) = page.last() else { break };
        after = (last.collection.clone(), last.id.clone());
        for row in &page {
            while let Some(missing) = expected.next_if(|expected| row_key(expected) < row_key(row)) {
                add(FindingKind::RowMissing, &missing, "is missing from the search index");
            }
            match expected.next_if(|expected| row_key(expected) == row_key(row)) {
                Some(expected) if expected == *row => {}
                Some(_) => add(FindingKind::RowDiffers, row, "is not in the search index as the records come to"),
                // Without a replayed state, the expected rows are unknown.
                None if is_unfoldable => {}
                None => add(FindingKind::RowOrphaned, row, "is in the search index and follows from no record"),
            }
        }
    }
    for missing in expected {
        add(FindingKind::RowMissing, &missing, "is missing from the search index");
    }
    Ok(findings)
}

/// Has the store check the index by itself.
pub(super) async fn check_index(journal: &dyn Journal) -> Result<Vec<VerifyFinding>, StoreError> {
    let wrong = journal.check_search_index().await?;
    Ok(wrong.into_iter().map(|what| VerifyFinding::new(FindingKind::RowDiffers, "the search index", what)).collect())
}

fn row_key(row: &StoredSearchRow) -> (&str, &str) {
    (&row.collection, &row.id)
}
