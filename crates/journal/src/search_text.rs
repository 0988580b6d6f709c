//! Values of the search index: what is indexed of a document, how it is asked for, and what is found.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::search_tokens::{SearchTerm, tokens};
use super::{Document, Hash};

/// The version of the tokenizer, which is part of every digest: if a later version splits texts differently, `verify`
/// finds the rows of this one, and `rebuild` makes them anew. Raise it with every such change.
const TOKENIZER_VERSION: u32 = 1;
/// How often a word occurs in a body that is frequent in it.
const FREQUENT_MIN: usize = 3;
/// Bytes of different words of one row that are indexed. PostgreSQL takes less than a megabyte for a row, in which the
/// frequent words stand twice. Further words of a longer text are not found.
const WORDS_BYTES_MAX: usize = 400_000;

/// Who may find a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchClass {
    Public = 0,
    Members = 1,
    GameMaster = 2,
    NamedPeople = 3,
}

impl SearchClass {
    pub const ALL: [Self; 4] = [Self::Public, Self::Members, Self::GameMaster, Self::NamedPeople];

    /// The class with this number; a number that none has becomes the one that fewest may see.
    pub fn from_number(number: i64) -> Self {
        Self::ALL.into_iter().find(|class| i64::from(class.number()) == number).unwrap_or(Self::NamedPeople)
    }

    /// The number in stored rows.
    pub fn number(self) -> u8 {
        self as u8
    }
}

/// What is indexed of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchText {
    /// Unique within the collection and the partition. The highest is the newest, and found first.
    pub serial: u32,
    pub class: SearchClass,
    pub name: String,
    /// Other short texts, such as aliases.
    pub extra: String,
    pub body: SearchBody,
}

/// The long text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchBody {
    None,
    Text(String),
    /// The text in the first of these fields that a side row has, which is a JSON object. The store reads it. A missing
    /// row is an empty text.
    SideRow {
        kind: String,
        key: String,
        fields: &'static [&'static str],
    },
}

impl SearchBody {
    /// Kind and key of the side row with the text.
    pub fn side_row(&self) -> Option<(&str, &str)> {
        match self {
            Self::SideRow { kind, key, .. } => Some((kind, key)),
            Self::None | Self::Text(_) => None,
        }
    }

    /// The text, given the body of the side row.
    pub fn text(&self, side_row: Option<&str>) -> Cow<'_, str> {
        match self {
            Self::None => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::SideRow { fields: names, .. } => {
                let mut fields: BTreeMap<Cow<'_, str>, serde_json::Value> =
                    side_row.and_then(|row| serde_json::from_str(row).ok()).unwrap_or_default();
                match names.iter().find_map(|name| fields.remove(*name)) {
                    Some(serde_json::Value::String(text)) => Cow::Owned(text),
                    _ => Cow::Borrowed(""),
                }
            }
        }
    }
}

impl SearchText {
    /// A digest of all that decides how the row is found.
    pub fn digest(&self, partition: &str, body: &str) -> Hash {
        let mut hash = Sha256::new();
        hash.update(TOKENIZER_VERSION.to_be_bytes());
        hash.update([self.class.number()]);
        hash.update(self.serial.to_be_bytes());
        for text in [partition, &self.name, &self.extra, body] {
            hash.update((text.len() as u64).to_be_bytes());
            hash.update(text.as_bytes());
        }
        hash.finalize().into()
    }

    /// The words to index.
    pub fn split_words(&self, body: &str) -> SearchWords {
        let mut texts = [&self.name, &self.extra, body].map(tokens);
        if texts.iter().flatten().map(String::len).sum::<usize>() > WORDS_BYTES_MAX {
            drop_excess_words(&mut texts);
        }
        let [name, extra, body] = texts;
        let mut counts: HashMap<&str, usize> = HashMap::with_capacity(body.len());
        for word in &body {
            *counts.entry(word).or_default() += 1;
        }
        let frequent = counts.into_iter().filter(|(_, count)| *count >= FREQUENT_MIN);
        let mut frequent: Vec<String> = frequent.map(|(word, _)| word.to_owned()).collect();
        frequent.sort_unstable();
        SearchWords { name, extra, body, frequent }
    }
}

/// The tokens of a row, in the order of its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchWords {
    pub name: Vec<String>,
    pub extra: Vec<String>,
    pub body: Vec<String>,
    /// The words that are frequent in the body, each once.
    pub frequent: Vec<String>,
}

/// Keeps the different words that come first, up to the limit, wherever they occur.
fn drop_excess_words(texts: &mut [Vec<String>; 3]) {
    let (mut words, mut bytes, mut is_full) = (HashSet::new(), 0, false);
    for text in texts {
        text.retain(|word| {
            if words.contains(word) {
                return true;
            }
            is_full |= bytes + word.len() > WORDS_BYTES_MAX;
            if !is_full {
                bytes += word.len();
                words.insert(word.clone());
            }
            !is_full
        });
    }
}

/// Asks for the rows of one partition that meet all terms.
#[derive(Clone)]
pub struct SearchQuery {
    pub collection: String,
    pub partition: String,
    /// Rows of other classes are not read.
    pub classes: Vec<SearchClass>,
    /// Without terms, nothing is found.
    pub terms: Vec<SearchTerm>,
    /// Only serials below this one, to read on after a page.
    pub below: Option<u32>,
    /// Only these serials, ascending. A store that can reads no other row.
    pub within: Option<Arc<[u32]>>,
    pub limit: usize,
    /// Rows that it rejects are neither answered nor counted to the limit. It is called on threads of the store.
    pub accepts: Arc<dyn Fn(u32) -> bool + Send + Sync>,
}

impl SearchQuery {
    /// Whether a row may be answered, as far as its serial says.
    pub fn accepts_serial(&self, serial: u32) -> bool {
        self.within.as_ref().is_none_or(|within| within.binary_search(&serial).is_ok()) && (self.accepts)(serial)
    }
}

/// A row that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchHit {
    pub serial: u32,
    /// Whether all terms are frequent in the body. Of a phrase, every character is.
    pub is_frequent: bool,
}

/// A row of the search index as it is stored, for `verify`. The texts cannot be read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSearchRow {
    pub collection: String,
    pub id: String,
    pub partition: String,
    pub serial: u32,
    pub class: SearchClass,
    pub digest: Hash,
    /// Whether the index has the words that were stored with the row, as far as the store can tell.
    pub is_indexed: bool,
}

impl StoredSearchRow {
    /// The row that a document must have, given the text of its body.
    pub(super) fn new(document: &Document, search: &SearchText, body: &str) -> Self {
        Self {
            collection: document.collection.clone(),
            id: document.id.clone(),
            partition: document.partition.clone(),
            serial: search.serial,
            class: search.class,
            digest: search.digest(&document.partition, body),
            is_indexed: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    fn text(name: &str, body: SearchBody) -> SearchText {
        SearchText { serial: 7, class: SearchClass::Members, name: name.to_owned(), extra: String::new(), body }
    }

    #[test]
    fn words_that_occur_three_times_in_a_body_are_frequent() {
        let words =
            text("The dragon", SearchBody::None).split_words("Dragon, dragon! The DRAGON and the owl; the 京京京");
        assert_eq!(words.name, ["the", "dragon"]);
        assert_eq!(words.frequent, ["dragon", "the", "京"]);
        assert_eq!(words.body.len(), 11);
    }

    #[test]
    fn a_text_with_too_many_different_words_is_indexed_in_part() {
        let body = (0..100_000).map(|number| format!("word{number:06}")).collect::<Vec<_>>().join(" ");
        let words = text("name", SearchBody::None).split_words(&format!("{body} name name word000000"));
        let bytes: usize = words.body.iter().map(String::len).sum();
        assert!((WORDS_BYTES_MAX - 10..=WORDS_BYTES_MAX + 18).contains(&bytes), "{bytes}");
        assert_eq!(words.body.last().map(String::as_str), Some("word000000"), "known words are still taken");
    }

    #[test]
    fn the_text_is_a_field_of_the_side_row() {
        let body =
            SearchBody::SideRow { kind: "texts".to_owned(), key: "k".to_owned(), fields: &["plain", "markdown"] };
        assert_eq!(body.text(Some(r#"{"salt":"x","markdown":"A \"dragon\"","html":null}"#)), "A \"dragon\"");
        for row in [None, Some(""), Some("[]"), Some(r#"{"markdown":7}"#), Some(r#"{"html":"x"}"#)] {
            assert_eq!(body.text(row), "", "{row:?}");
        }
        assert_eq!(body.side_row(), Some(("texts", "k")));
        assert_eq!(SearchBody::Text("x".to_owned()).text(Some("{}")), "x");
    }

    /// Stored digests are compared by later versions: if this changes, every index is rebuilt.
    #[test]
    fn digests_stay_what_they_are() {
        let digest = text("name", SearchBody::None).digest("camp", "body");
        assert_eq!(hex(&digest), "0ce549bd4c1fedcb8c30959d7569d1ea2dcab8eacfe43b23f97112e073735fe3");
        let others = [
            text("name", SearchBody::None).digest("camp", "bod"),
            text("nam", SearchBody::None).digest("camp", "ebody"),
            text("name", SearchBody::None).digest("cam", "body"),
            SearchText { serial: 8, ..text("name", SearchBody::None) }.digest("camp", "body"),
            SearchText { class: SearchClass::Public, ..text("name", SearchBody::None) }.digest("camp", "body"),
        ];
        assert!(!others.contains(&digest));
    }
}
