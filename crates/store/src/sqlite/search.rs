//! The search index in SQLite: an FTS5 table without texts, whose row numbers say partition, class and serial.

use rusqlite::{CachedStatement, OptionalExtension, Row, Rows, params};
use skald_journal::search_tokens::is_phrase_character;
use skald_journal::{
    Document, Hash, ReadModelChange, SearchClass, SearchHit, SearchQuery, SearchTerm, SideRow, StoredSearchRow,
    StreamName,
};

use super::sql;
use super::table_queries::{SqliteTables, hash};
use crate::signed_number::page_limit;

/// The bits of a place that hold the serial, and those that hold the class.
const SERIAL_BITS: u32 = 32;
const CLASS_BITS: u32 = 2;
/// What a frequent word begins with, so that it is a word of its own in the index: with the same word in all rows, FTS5
/// would read every one of them to find those that have it in one column. No token begins with this and goes on.
const FREQUENT_MARK: char = '\u{e000}';

/// The number of a row in the index.
fn index_place(partition: i64, class: SearchClass, serial: u32) -> i64 {
    (partition << CLASS_BITS | i64::from(class.number())) << SERIAL_BITS | i64::from(serial)
}

fn place_serial(place: i64) -> u32 {
    u32::try_from(place & i64::from(u32::MAX)).unwrap_or_default()
}

fn place_class(place: i64) -> SearchClass {
    SearchClass::from_number(place >> SERIAL_BITS & ((1 << CLASS_BITS) - 1))
}

impl SqliteTables<'_> {
    /// Brings the index up to date with a change of a document. `side_rows` are stored in the same transaction.
    pub(super) fn index_change(
        &self,
        (stream, shard): (&StreamName, u16),
        change: &ReadModelChange,
        side_rows: &[SideRow],
    ) -> rusqlite::Result<()> {
        match change {
            ReadModelChange::Put(document) => self.index_document((stream, shard), document, side_rows),
            ReadModelChange::Delete { collection, id } => self.delete_from_index(collection, id),
        }
    }

    pub(super) fn index_document(
        &self,
        (stream, shard): (&StreamName, u16),
        document: &Document,
        side_rows: &[SideRow],
    ) -> rusqlite::Result<()> {
        let Document { collection, partition, id, search, .. } = document;
        let Some(search) = search else { return self.delete_from_index(collection, id) };
        let side_row = match search.body.side_row() {
            Some((kind, key)) => match side_rows.iter().rev().find(|row| row.kind == kind && row.key == key) {
                Some(row) => Some(row.body.to_string()),
                None => self.side_row(kind, key)?,
            },
            None => None,
        };
        let body = search.body.text(side_row.as_deref());
        let digest = search.digest(partition, &body);
        let place = index_place(self.partition_number_or_new(collection, partition)?, search.class, search.serial);
        let old = self.search_row(collection, id)?;
        // Most changes of a document leave its texts as they were.
        if old == Some((place, digest)) {
            return Ok(());
        }
        if let Some((old, _)) = old {
            self.0.prepare_cached(sql::DELETE_SEARCH_WORDS)?.execute([old])?;
        }
        let words = search.split_words(&body);
        let frequent: Vec<String> = words.frequent.iter().map(|word| format!("{FREQUENT_MARK}{word}")).collect();
        let [name, extra, frequent, body] =
            [words.name, words.extra, frequent, words.body].map(|words| words.join(" "));
        let mut put_row = self.0.prepare_cached(sql::PUT_SEARCH_ROW)?;
        put_row.execute(params![collection, id, shard, stream.as_str(), place, digest])?;
        let mut insert = self.0.prepare_cached(sql::INSERT_SEARCH_WORDS)?;
        insert.execute(params![place, name, extra, frequent, body]).map(drop)
    }

    fn delete_from_index(&self, collection: &str, id: &str) -> rusqlite::Result<()> {
        if let Some((place, _)) = self.search_row(collection, id)? {
            self.0.prepare_cached(sql::DELETE_SEARCH_WORDS)?.execute([place])?;
            self.0.prepare_cached(sql::DELETE_SEARCH_ROW)?.execute([collection, id])?;
        }
        Ok(())
    }

    /// Deletes the rows of a stream from the index.
    pub(super) fn delete_stream_from_index(&self, stream: &StreamName) -> rusqlite::Result<()> {
        self.0.prepare_cached(sql::DELETE_OWNED_SEARCH_WORDS)?.execute([stream.as_str()])?;
        self.0.prepare_cached(sql::DELETE_OWNED_SEARCH_ROWS)?.execute([stream.as_str()]).map(drop)
    }

    pub(super) fn clear_index(&self) -> rusqlite::Result<()> {
        self.0.execute(sql::CLEAR_SEARCH_WORDS, [])?;
        self.0.execute(sql::CLEAR_SEARCH_ROWS, []).map(drop)
    }

    /// What is wrong with the index by itself.
    pub(super) fn check_index(&self) -> rusqlite::Result<Vec<String>> {
        let mut check = self.0.prepare(sql::CHECK_SEARCH_WORDS)?;
        let said: Vec<String> = check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let mut wrong: Vec<String> = said.into_iter().filter(|line| line != "ok").collect();
        let unlisted: i64 = self.0.query_row(sql::COUNT_UNLISTED_SEARCH_WORDS, [], |row| row.get(0))?;
        if unlisted > 0 {
            wrong.push(format!("it has {unlisted} entries that belong to no document"));
        }
        Ok(wrong)
    }

    pub(super) fn owned_search_rows(
        &self,
        stream: &str,
        after: &(String, String),
        limit: usize,
    ) -> rusqlite::Result<Vec<StoredSearchRow>> {
        let mut statement = self.0.prepare_cached(sql::OWNED_SEARCH_ROWS)?;
        let stored = |row: &Row<'_>| {
            let place: i64 = row.get(3)?;
            Ok(StoredSearchRow {
                collection: row.get(0)?,
                id: row.get(1)?,
                partition: row.get(2)?,
                serial: place_serial(place),
                class: place_class(place),
                digest: hash(row, 4)?,
                is_indexed: row.get(5)?,
            })
        };
        statement.query_map(params![stream, after.0, after.1, page_limit(limit)], stored)?.collect()
    }

    /// Place and digest of a document in the index.
    fn search_row(&self, collection: &str, id: &str) -> rusqlite::Result<Option<(i64, Hash)>> {
        let mut statement = self.0.prepare_cached(sql::SEARCH_ROW)?;
        statement.query_row([collection, id], |row| Ok((row.get(0)?, hash(row, 1)?))).optional()
    }

    fn partition_number(&self, collection: &str, partition: &str) -> rusqlite::Result<Option<i64>> {
        let mut statement = self.0.prepare_cached(sql::SEARCH_PARTITION)?;
        statement.query_row([collection, partition], |row| row.get(0)).optional()
    }

    fn partition_number_or_new(&self, collection: &str, partition: &str) -> rusqlite::Result<i64> {
        match self.partition_number(collection, partition)? {
            Some(number) => Ok(number),
            None => self
                .0
                .prepare_cached(sql::INSERT_SEARCH_PARTITION)?
                .query_row([collection, partition], |row| row.get(0)),
        }
    }

    /// The newest rows that meet all terms. Each class is one range of the index, read from its end until there are
    /// enough.
    pub(super) fn search(&self, query: &SearchQuery) -> rusqlite::Result<Vec<SearchHit>> {
        let Some(serial_max) = query.below.map_or(Some(u32::MAX), |below| below.checked_sub(1)) else {
            return Ok(Vec::new());
        };
        let (serial_min, serial_max) = match query.within.as_deref() {
            None => (0, serial_max),
            Some([first, .., last]) => (*first, serial_max.min(*last)),
            Some([only]) => (*only, serial_max.min(*only)),
            Some([]) => return Ok(Vec::new()),
        };
        let Some(partition) = self.partition_number(&query.collection, &query.partition)? else {
            return Ok(Vec::new());
        };
        if query.terms.is_empty() || query.limit == 0 {
            return Ok(Vec::new());
        }
        let mut classes = query.classes.clone();
        classes.sort_unstable();
        classes.dedup();
        let range = |class| (index_place(partition, class, serial_min), index_place(partition, class, serial_max));
        let expression = match_expression(&query.terms);
        let mut statements = self.search_statements(classes.len())?;
        let mut ranges = statements
            .iter_mut()
            .zip(&classes)
            .map(|(statement, class)| {
                let (first, last) = range(*class);
                PlacesDescending::new(statement.query(params![expression, first, last])?)
            })
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut places = Vec::new();
        while places.len() < query.limit {
            let newest = ranges.iter_mut().filter(|range| range.next.is_some());
            let Some(newest) = newest.max_by_key(|range| range.next.map(place_serial)) else { break };
            let Some(place) = newest.take_next()? else { break };
            if query.accepts_serial(place_serial(place)) {
                places.push(place);
            }
        }
        drop(ranges);
        drop(statements);
        self.mark_frequent(&query.terms, places, &classes)
    }

    fn search_statements(&self, count: usize) -> rusqlite::Result<Vec<CachedStatement<'_>>> {
        (0..count).map(|_| self.0.prepare_cached(sql::SEARCH)).collect()
    }

    /// Finds out in which of these rows all terms are frequent.
    ///
    /// One statement goes on through several classes, and there is a new one only where rows lie between that are not asked
    /// for.
    fn mark_frequent(
        &self,
        terms: &[SearchTerm],
        places: Vec<i64>,
        classes: &[SearchClass],
    ) -> rusqlite::Result<Vec<SearchHit>> {
        let expression = frequent_expression(terms);
        let mut ranges: Vec<(i64, i64)> = classes
            .iter()
            .filter_map(|class| {
                let mut of_class = places.iter().filter(|place| place_class(**place) == *class);
                let last = *of_class.next()?;
                Some((*of_class.next_back().unwrap_or(&last), last))
            })
            .collect();
        let lowest = ranges.first().map_or(0, |(first, _)| *first);
        let mut found = Vec::new();
        let mut statement = self.0.prepare_cached(sql::SEARCH)?;
        while let Some((_, highest)) = ranges.last().copied() {
            let mut rows = statement.query(params![expression, lowest, highest])?;
            loop {
                let Some(row) = rows.next()? else {
                    ranges.clear();
                    break;
                };
                let place: i64 = row.get(0)?;
                ranges.retain(|(first, _)| *first <= place);
                if ranges.last().is_none_or(|(_, last)| *last < place) {
                    break;
                }
                found.push(place);
            }
        }
        found.sort_unstable();
        let is_frequent = |place: &i64| found.binary_search(place).is_ok();
        let hit = |place: i64| SearchHit { serial: place_serial(place), is_frequent: is_frequent(&place) };
        Ok(places.into_iter().map(hit).collect())
    }
}

/// The places that a statement finds, from the highest.
struct PlacesDescending<'a> {
    rows: Rows<'a>,
    next: Option<i64>,
}

impl<'a> PlacesDescending<'a> {
    fn new(rows: Rows<'a>) -> rusqlite::Result<Self> {
        let mut places = Self { rows, next: None };
        places.take_next()?;
        Ok(places)
    }

    /// Returns the next place, and reads the one after it.
    fn take_next(&mut self) -> rusqlite::Result<Option<i64>> {
        let next = self.rows.next()?.map(|row| row.get(0)).transpose()?;
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// The terms in the syntax of FTS5. Every token is quoted, so that none is an operator.
fn match_expression(terms: &[SearchTerm]) -> String {
    let is_phrase = |term: &SearchTerm| matches!(term, SearchTerm::Phrase(_));
    let all = terms.iter().map(quote_term).collect::<Vec<_>>().join(" AND ");
    // Frequent words have a mark, so that words need no columns; but neighbours among them are no phrase.
    if terms.iter().any(is_phrase) { format!("{{name extra body}} : ({all})") } else { all }
}

/// The terms, each among the words that are frequent.
fn frequent_expression(terms: &[SearchTerm]) -> String {
    let marked = |word: &str| quote(&format!("{FREQUENT_MARK}{word}"));
    let words = terms.iter().flat_map(|term| match term {
        SearchTerm::Phrase(characters) => characters.iter().map(|character| marked(character)).collect(),
        SearchTerm::Word(word) => vec![marked(word)],
        SearchTerm::Prefix(word) => vec![format!("{}*", marked(word))],
    });
    words.collect::<Vec<_>>().join(" AND ")
}

fn quote_term(term: &SearchTerm) -> String {
    match term {
        SearchTerm::Word(word) => quote(word),
        SearchTerm::Prefix(word) => format!("{}*", quote(word)),
        SearchTerm::Phrase(characters) => {
            debug_assert!(characters.iter().all(|character| is_phrase_character(character)), "{characters:?}");
            quote(&characters.join(" "))
        }
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\0', "").replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_holds_partition_class_and_serial() {
        for class in SearchClass::ALL {
            let place = index_place(1 << 28, class, u32::MAX - 1);
            assert_eq!((place_class(place), place_serial(place), place >> 34), (class, u32::MAX - 1, 1 << 28));
        }
        assert!(index_place(1, SearchClass::NamedPeople, u32::MAX) < index_place(2, SearchClass::Public, 0));
    }

    #[test]
    fn terms_are_quoted() {
        let word = |text: &str| SearchTerm::Word(text.to_owned());
        assert_eq!(
            match_expression(&[word("and"), SearchTerm::Prefix("a\"b\0".to_owned())]),
            "\"and\" AND \"a\"\"b\"*"
        );
        let phrase = SearchTerm::Phrase(vec!["京".to_owned(), "都".to_owned()]);
        assert_eq!(match_expression(&[phrase.clone(), word("x")]), "{name extra body} : (\"京 都\" AND \"x\")");
        assert_eq!(
            frequent_expression(&[phrase, word("x"), SearchTerm::Prefix("long".to_owned())]),
            "\"\u{e000}京\" AND \"\u{e000}都\" AND \"\u{e000}x\" AND \"\u{e000}long\"*"
        );
    }
}
