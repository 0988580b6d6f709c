//! The search index of the in-memory store: compares the words of every row, one after the other.

use std::collections::BTreeMap;

use skald_journal::{Document, SearchHit, SearchQuery, SearchTerm, SearchWords, StoredSearchRow, StreamName};

/// All rows, by collection and id of the document.
#[derive(Default)]
pub(crate) struct MemorySearchIndex {
    rows: BTreeMap<(String, String), MemorySearchRow>,
}

struct MemorySearchRow {
    stream: StreamName,
    stored: StoredSearchRow,
    words: SearchWords,
}

impl MemorySearchIndex {
    /// Replaces the row of a document. `side_row` is the body of the side row with its text.
    pub(crate) fn put(&mut self, stream: &StreamName, document: &Document, side_row: Option<&str>) {
        let key = (document.collection.clone(), document.id.clone());
        let Some(search) = &document.search else {
            self.rows.remove(&key);
            return;
        };
        let body = search.body.text(side_row);
        let stored = StoredSearchRow {
            collection: key.0.clone(),
            id: key.1.clone(),
            partition: document.partition.clone(),
            serial: search.serial,
            class: search.class,
            digest: search.digest(&document.partition, &body),
            is_indexed: true,
        };
        self.rows.insert(key, MemorySearchRow { stream: stream.clone(), stored, words: search.split_words(&body) });
    }

    pub(crate) fn remove(&mut self, key: &(String, String)) {
        self.rows.remove(key);
    }

    pub(crate) fn remove_stream(&mut self, stream: &StreamName) {
        self.rows.retain(|_, row| row.stream != *stream);
    }

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    pub(crate) fn streams(&self) -> impl Iterator<Item = &StreamName> {
        self.rows.values().map(|row| &row.stream)
    }

    pub(crate) fn owned_rows(&self, stream: &StreamName, after: (&str, &str), limit: usize) -> Vec<StoredSearchRow> {
        let owned = self.rows.values().filter(|row| row.stream == *stream).map(|row| &row.stored);
        owned.filter(|row| (row.collection.as_str(), row.id.as_str()) > after).take(limit).cloned().collect()
    }

    pub(crate) fn search(&self, query: &SearchQuery) -> Vec<SearchHit> {
        if query.terms.is_empty() {
            return Vec::new();
        }
        let is_in_scope = |row: &StoredSearchRow| {
            row.collection == query.collection
                && row.partition == query.partition
                && query.classes.contains(&row.class)
                && query.below.is_none_or(|below| row.serial < below)
        };
        let in_scope = self.rows.values().filter(|row| is_in_scope(&row.stored));
        let found = in_scope.filter(|row| query.terms.iter().all(|term| is_met(term, &row.words)));
        let mut hits: Vec<SearchHit> = found
            .filter(|row| query.accepts_serial(row.stored.serial))
            .map(|row| SearchHit {
                serial: row.stored.serial,
                is_frequent: query.terms.iter().all(|term| is_frequent(term, &row.words.frequent)),
            })
            .collect();
        hits.sort_unstable_by_key(|hit| std::cmp::Reverse(hit.serial));
        hits.truncate(query.limit);
        hits
    }
}

fn is_met(term: &SearchTerm, words: &SearchWords) -> bool {
    [&words.name, &words.extra, &words.body].into_iter().any(|words| match term {
        SearchTerm::Word(wanted) => words.contains(wanted),
        SearchTerm::Prefix(begin) => words.iter().any(|word| word.starts_with(begin)),
        SearchTerm::Phrase(characters) => words.windows(characters.len()).any(|window| window == characters),
    })
}

fn is_frequent(term: &SearchTerm, frequent: &[String]) -> bool {
    match term {
        SearchTerm::Word(wanted) => frequent.contains(wanted),
        SearchTerm::Prefix(begin) => frequent.iter().any(|word| word.starts_with(begin)),
        SearchTerm::Phrase(characters) => characters.iter().all(|character| frequent.contains(character)),
    }
}
