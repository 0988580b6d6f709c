//! The search index in PostgreSQL: vectors of words in a GIN index, written as literals, so that the database splits
//! no text by itself.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use skald_journal::search_tokens::is_phrase_character;
use skald_journal::{
    Document, Hash, Head, SearchClass, SearchHit, SearchQuery, SearchTerm, SearchText, SearchWords, StoreError,
    StreamName,
};
use tokio_postgres::types::Type;

use super::reconnecting_connection::ReconnectingConnection;
use super::session::{Parameters, TypedParameters};
use super::sql;
use crate::signed_number::{page_limit, to_i64};

/// Rows that are read at once if the caller wants fewer, and at most.
const PAGE: (usize, usize) = (100, 100_000);
/// How much longer a page is than the one before it.
const PAGE_GROWTH: usize = 4;

/// Rows that are written at once when documents are replaced.
const ROWS_PER_STATEMENT: usize = 500;

/// A text to index, with the side row that has its body.
pub(super) struct TextToIndex {
    collection: String,
    id: String,
    partition: String,
    search: SearchText,
    side_row: Option<String>,
}

impl TextToIndex {
    /// `None` for a document that is not indexed.
    pub(super) fn new(document: &Document) -> Option<Self> {
        Some(Self {
            collection: document.collection.clone(),
            id: document.id.clone(),
            partition: document.partition.clone(),
            search: document.search.clone()?,
            side_row: None,
        })
    }

    /// Kind and key of the side row with the body.
    pub(super) fn side_row_key(&self) -> Option<(&str, &str)> {
        self.search.body.side_row()
    }

    pub(super) fn set_side_row(&mut self, body: Option<String>) {
        self.side_row = body;
    }

    fn into_row(self) -> SearchRow {
        let Self { collection, id, partition, search, side_row } = self;
        let body = search.body.text(side_row.as_deref());
        let words = search.split_words(&body);
        let scope = scope_word(&collection, &partition, search.class);
        SearchRow {
            serial: i64::from(search.serial),
            class: i16::from(search.class.number()),
            words: vector_literal(&scope, &words),
            runs: phrase_characters(&words),
            digest: search.digest(&partition, &body),
            collection,
            id,
            partition,
        }
    }
}

/// A row of the table.
pub(super) struct SearchRow {
    pub(super) collection: String,
    pub(super) id: String,
    pub(super) partition: String,
    pub(super) serial: i64,
    pub(super) class: i16,
    pub(super) words: String,
    pub(super) runs: Option<String>,
    pub(super) digest: Hash,
}

/// Splits texts on a thread that may block: long ones take milliseconds.
pub(super) async fn make_rows(texts: Vec<TextToIndex>) -> Result<Vec<SearchRow>, StoreError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let made = tokio::task::spawn_blocking(|| texts.into_iter().map(TextToIndex::into_row).collect());
    made.await.map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// The columns of rows, for statements that take arrays.
#[derive(Default)]
pub(super) struct SearchColumns<'a> {
    pub(super) collections: Vec<&'a str>,
    pub(super) ids: Vec<&'a str>,
    pub(super) partitions: Vec<&'a str>,
    pub(super) serials: Vec<i64>,
    pub(super) classes: Vec<i16>,
    pub(super) words: Vec<&'a str>,
    pub(super) runs: Vec<Option<&'a str>>,
    pub(super) digests: Vec<&'a [u8]>,
}

impl<'a> SearchColumns<'a> {
    pub(super) fn add_row(&mut self, row: &'a SearchRow) {
        self.collections.push(&row.collection);
        self.ids.push(&row.id);
        self.partitions.push(&row.partition);
        self.serials.push(row.serial);
        self.classes.push(row.class);
        self.words.push(&row.words);
        self.runs.push(row.runs.as_deref());
        self.digests.push(&row.digest);
    }
}

/// The bodies of side rows, by kind and key.
pub(super) type SideRowBodies = HashMap<(String, String), String>;

/// Writes the rows of documents, and returns whether the stream's head was still this one. In parts, since the index of a
/// large campaign takes longer to write than one statement may take.
pub(super) async fn put_rows(
    link: &ReconnectingConnection,
    stream: &StreamName,
    head: Head,
    documents: &[Document],
) -> Result<bool, StoreError> {
    let mut texts = documents.iter().filter_map(TextToIndex::new).peekable();
    while texts.peek().is_some() {
        let mut part: Vec<TextToIndex> = texts.by_ref().take(ROWS_PER_STATEMENT).collect();
        let (kinds, keys): (Vec<&str>, Vec<&str>) = part.iter().filter_map(TextToIndex::side_row_key).unzip();
        let found = link.query(sql::FIND_SIDE_ROWS, &[&kinds, &keys]).await?;
        let bodies: SideRowBodies = found.iter().map(|row| ((row.get(0), row.get(1)), row.get(2))).collect();
        for text in &mut part {
            let key = text.side_row_key().map(|(kind, key)| (kind.to_owned(), key.to_owned()));
            text.set_side_row(key.and_then(|key| bodies.get(&key).cloned()));
        }
        let rows = make_rows(part).await?;
        let mut columns = SearchColumns::default();
        for row in &rows {
            columns.add_row(row);
        }
        let (stream, hash, revision) = (stream.as_str(), head.hash.as_slice(), to_i64(head.revision));
        let SearchColumns { collections, ids, partitions, serials, classes, words, runs, digests } = &columns;
        let parameters: Parameters<'_> =
            &[&stream, &hash, &revision, collections, ids, partitions, serials, classes, words, runs, digests];
        let put = link.query(sql::PUT_SEARCH_ROWS, parameters).await?;
        if !put.iter().any(|row| row.get::<_, i64>(0) == 1) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The newest rows that meet all terms, read in pages until there are enough.
pub(super) async fn search(link: &ReconnectingConnection, query: &SearchQuery) -> Result<Vec<SearchHit>, StoreError> {
    if query.within.as_ref().is_some_and(|within| within.is_empty()) {
        return Ok(Vec::new());
    }
    let statement = SearchStatement::new(query);
    let mut highest = query.below.map_or(i64::from(u32::MAX), |below| i64::from(below) - 1);
    // What lies within given rows is read at once.
    let mut page = if query.within.is_some() { usize::MAX } else { query.limit.clamp(PAGE.0, PAGE.1) };
    let mut serials: Vec<i64> = Vec::new();
    while serials.len() < query.limit {
        let found = statement.run(link, &statement.terms, &statement.phrases, (0, highest), page).await?;
        let accepted = found.iter().filter(|serial| query.accepts_serial(to_serial(**serial)));
        serials.extend(accepted.take(query.limit - serials.len()));
        match found.last() {
            Some(last) if found.len() == page => highest = last - 1,
            _ => break,
        }
        // Each page runs the statement again, so that a page after many rejected rows is longer.
        page = page.saturating_mul(PAGE_GROWTH).min(PAGE.1);
    }
    let (Some(first), Some(last)) = (serials.last(), serials.first()) else { return Ok(Vec::new()) };
    let mut frequent = statement.run(link, &statement.frequent, &[], (*first, *last), usize::MAX).await?;
    frequent.sort_unstable();
    let hit =
        |serial: &i64| SearchHit { serial: to_serial(*serial), is_frequent: frequent.binary_search(serial).is_ok() };
    Ok(serials.iter().map(hit).collect())
}

fn to_serial(number: i64) -> u32 {
    u32::try_from(number).unwrap_or_default()
}

/// The parameters of a search that are the same for all pages.
struct SearchStatement<'a> {
    query: &'a SearchQuery,
    classes: Vec<i16>,
    within: Option<Vec<i64>>,
    terms: String,
    frequent: String,
    /// Patterns for phrases, which are compared after the index has found their characters.
    phrases: Vec<String>,
}

impl<'a> SearchStatement<'a> {
    fn new(query: &'a SearchQuery) -> Self {
        let scope = |class: &SearchClass| quote("", &scope_word(&query.collection, &query.partition, *class));
        let scopes = query.classes.iter().map(scope).collect::<Vec<_>>().join(" | ");
        let phrase = |term: &SearchTerm| match term {
            SearchTerm::Phrase(characters) => Some(format!("%{}%", characters.concat())),
            SearchTerm::Word(_) | SearchTerm::Prefix(_) => None,
        };
        Self {
            query,
            classes: query.classes.iter().map(|class| i16::from(class.number())).collect(),
            within: query.within.as_ref().map(|within| within.iter().copied().map(i64::from).collect()),
            terms: query_literal("", &query.terms, &scopes),
            frequent: query_literal(FREQUENT_MARK, &query.terms, &scopes),
            phrases: query.terms.iter().filter_map(phrase).collect(),
        }
    }

    /// The serials of a range that match, from the highest.
    async fn run(
        &self,
        link: &ReconnectingConnection,
        words: &str,
        phrases: &[String],
        (first, last): (i64, i64),
        limit: usize,
    ) -> Result<Vec<i64>, StoreError> {
        let limit = page_limit(limit);
        let parameters: TypedParameters<'_> = &[
            (&self.query.collection, Type::TEXT),
            (&self.query.partition, Type::TEXT),
            (&self.classes, Type::INT2_ARRAY),
            (&first, Type::INT8),
            (&last, Type::INT8),
            (&words, Type::TEXT),
            (&phrases, Type::TEXT_ARRAY),
            (&limit, Type::INT8),
            (&self.within, Type::INT8_ARRAY),
        ];
        let found = link.query_once(sql::SEARCH, parameters).await?;
        Ok(found.iter().map(|row| row.get(0)).collect())
    }
}

/// What a frequent word begins with. No token begins with it.
const FREQUENT_MARK: &str = "+";

/// A word that all rows of a partition and class have, and no other row. No token has a slash.
fn scope_word(collection: &str, partition: &str, class: SearchClass) -> String {
    let mut hash = Sha256::new();
    hash.update((collection.len() as u64).to_be_bytes());
    hash.update(collection);
    hash.update(partition);
    let hash = skald_journal::hex(&hash.finalize().into());
    format!("/{}/{}", &hash[..16], class.number())
}

/// The words of a row as a `tsvector` literal, without positions. The database sorts them and drops repeated ones.
fn vector_literal(scope: &str, words: &SearchWords) -> String {
    let mut literal = String::new();
    push_quoted(&mut literal, "", scope);
    for word in [&words.name, &words.extra, &words.body].into_iter().flatten() {
        literal.push(' ');
        push_quoted(&mut literal, "", word);
    }
    for word in &words.frequent {
        literal.push(' ');
        push_quoted(&mut literal, FREQUENT_MARK, word);
    }
    literal
}

/// The terms, and one of the scopes, as a `tsquery` literal. Of a phrase it has the characters. `mark` begins every
/// word.
fn query_literal(mark: &str, terms: &[SearchTerm], scopes: &str) -> String {
    let words = terms.iter().flat_map(|term| match term {
        SearchTerm::Word(word) => vec![quote(mark, word)],
        SearchTerm::Prefix(word) => vec![format!("{}:*", quote(mark, word))],
        SearchTerm::Phrase(characters) => characters.iter().map(|character| quote(mark, character)).collect(),
    });
    format!("{} & ({scopes})", words.collect::<Vec<_>>().join(" & "))
}

/// A word in a literal, after a mark.
fn quote(mark: &str, word: &str) -> String {
    let mut literal = String::with_capacity(mark.len() + word.len() + 2);
    push_quoted(&mut literal, mark, word);
    literal
}

fn push_quoted(literal: &mut String, mark: &str, word: &str) {
    literal.push('\'');
    literal.push_str(mark);
    for letter in word.chars().filter(|letter| *letter != '\0') {
        if matches!(letter, '\'' | '\\') {
            literal.push(letter);
        }
        literal.push(letter);
    }
    literal.push('\'');
}

/// The characters of scripts without spaces, in order, with a space wherever another token or the end of a text lies
/// between two of them. `None` if there are none.
fn phrase_characters(words: &SearchWords) -> Option<String> {
    let mut runs = String::new();
    for text in [&words.name, &words.extra, &words.body] {
        for token in text {
            if is_phrase_character(token) {
                runs.push_str(token);
            } else if !runs.is_empty() && !runs.ends_with(' ') {
                runs.push(' ');
            }
        }
        if !runs.is_empty() && !runs.ends_with(' ') {
            runs.push(' ');
        }
    }
    (!runs.is_empty()).then_some(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_words(texts: [&str; 3]) -> SearchWords {
        let [name, extra, body] = texts.map(|text| text.split(' ').map(str::to_owned).collect());
        SearchWords { name, extra, body, frequent: vec!["x".to_owned()] }
    }

    #[test]
    fn words_are_quoted() {
        assert_eq!(quote("+", "it's \\ a\0"), r"'+it''s \\ a'");
        assert_eq!(vector_literal("/s/1", &test_words(["a", "b", "c x"])), "'/s/1' 'a' 'b' 'c' 'x' '+x'");
        let terms = [
            SearchTerm::Word("and".to_owned()),
            SearchTerm::Phrase(vec!["京".to_owned(), "都".to_owned()]),
            SearchTerm::Prefix("drag".to_owned()),
        ];
        assert_eq!(query_literal("", &terms, "'/s/1' | '/s/2'"), "'and' & '京' & '都' & 'drag':* & ('/s/1' | '/s/2')");
        assert_eq!(query_literal("+", &terms[2..], "'/s/1'"), "'+drag':* & ('/s/1')");
    }

    #[test]
    fn only_neighbours_are_a_run() {
        let runs = |texts| phrase_characters(&test_words(texts));
        assert_eq!(runs(["東 京", "都", "x 大 阪 y 京 都"]).as_deref(), Some("東京 都 大阪 京都 "));
        assert_eq!(runs(["a", "b", "c"]), None);
    }

    #[test]
    fn scopes_differ() {
        let scopes = [("a", "b"), ("ab", ""), ("", "ab"), ("a", "c")]
            .map(|(collection, partition)| SearchClass::ALL.map(|class| scope_word(collection, partition, class)));
        let different: std::collections::BTreeSet<&String> = scopes.iter().flatten().collect();
        assert_eq!(different.len(), 16);
    }
}
