//! Similarity of names: the ratio of Python's `difflib.SequenceMatcher`, exactly, and bounds that skip most names.
//!
//! The ratio is 2M/T: M characters in matching blocks, T characters in both texts. The longest block counts first, the
//! earliest in the name and then in the query, then what is left and right of it. It is not symmetric: the first text
//! is the name, the second the query. Texts are compared in lower case after NFC, so that a letter and its mark are one
//! character in whichever way they were typed; Python compares them as they come.

use unicode_normalization::UnicodeNormalization;

/// Names from this ratio on are similar.
pub const SIMILAR_RATIO: f64 = 0.7;

/// From this length of the query on, difflib does not begin a block with its most frequent characters.
const AUTOJUNK_CHARS: usize = 200;
/// Buckets of a bag of characters.
const BAG_SIZE: usize = 32;
/// Bits of the words with which the longest common subsequence is computed.
const WORD_BITS: usize = 64;

/// How often each character occurs in a text; characters share buckets.
type CharacterBag = [u8; BAG_SIZE];

/// The bag of a name in half the memory, since there are many names: a bucket and the one half a bag later share a byte.
#[derive(Debug)]
pub(super) struct PackedBag([u8; BAG_SIZE / 2]);

/// In a packed bag: so many characters or more.
const PACKED_MAX: u8 = 15;

impl PackedBag {
    pub(super) fn new(name: &str) -> Self {
        let (bag, mut packed) = (character_bag(name), [0; BAG_SIZE / 2]);
        let (first, second) = bag.split_at(BAG_SIZE / 2);
        for (byte, (low, high)) in packed.iter_mut().zip(first.iter().zip(second)) {
            *byte = low.min(&PACKED_MAX) | (high.min(&PACKED_MAX) << 4);
        }
        Self(packed)
    }

    /// The most characters that a text with another bag can have in common with the name.
    #[inline]
    fn common_max(&self, other: &CharacterBag) -> u32 {
        let common = |count: u8, other: u8| u32::from(if count == PACKED_MAX { other } else { count.min(other) });
        let (first, second) = other.split_at(BAG_SIZE / 2);
        let pairs = self.0.iter().zip(first.iter().zip(second));
        pairs.map(|(byte, (low, high))| common(byte & PACKED_MAX, *low) + common(byte >> 4, *high)).sum()
    }
}

/// The ratio of a name and a query as they are, in the given case.
pub fn ratio(name: &str, query: &str) -> f64 {
    let index = QueryIndex::new(query.chars().collect());
    let name: Vec<char> = name.chars().collect();
    quotient(index.matching_characters(&name, &mut FuzzyScratch::default()), name.len() + index.characters.len())
}

/// A ratio as it is shown: two decimals, rounded as `format!` does, which is what Python's `round` does too.
pub fn match_score(ratio: f64) -> f64 {
    format!("{ratio:.2}").parse().unwrap_or(ratio)
}

/// The form in which names are compared: NFC, lower case, without spaces around.
pub(super) fn comparable_form(name: &str) -> String {
    if name.is_ascii() {
        name.trim().to_ascii_lowercase()
    } else {
        name.trim().nfc().collect::<String>().to_lowercase()
    }
}

fn character_bag(text: &str) -> CharacterBag {
    let mut bag = [0_u8; BAG_SIZE];
    for character in text.chars() {
        let bucket = &mut bag[character as usize % BAG_SIZE];
        *bucket = bucket.saturating_add(1);
    }
    bag
}

#[expect(clippy::cast_precision_loss, reason = "numbers of characters are small")]
fn quotient(matching: usize, total: usize) -> f64 {
    if total == 0 { 1.0 } else { 2.0 * matching as f64 / total as f64 }
}

/// A query that is compared with many names.
#[derive(Debug)]
pub struct FuzzyQuery {
    index: QueryIndex,
    bag: CharacterBag,
    /// For names of each length, from `shortest` on, how many characters must match at least; longer names cannot be
    /// similar.
    needed: Vec<usize>,
    shortest: usize,
    /// Bits of the query's places for each entry of `index.places`, if the query fits into a word.
    masks: Option<Vec<u64>>,
}

/// Memory that comparisons reuse.
#[derive(Debug, Default)]
pub struct FuzzyScratch {
    /// For each place of the query: the row in which it was written, and the length of the block that ends there.
    rows: [Vec<(usize, usize)>; 2],
    row: usize,
    ranges: Vec<[usize; 4]>,
    name: Vec<char>,
}

impl FuzzyQuery {
    pub fn new(query: &str) -> Self {
        let query = comparable_form(query);
        let index = QueryIndex::new(query.chars().collect());
        let length = index.characters.len();
        let is_possible = |matching: usize, other: usize| quotient(matching, other + length) >= SIMILAR_RATIO;
        let shortest = (0..=length).find(|other| is_possible(*other, *other)).unwrap_or(length);
        let lengths = (shortest..).take_while(|other| is_possible(length.min(*other), *other));
        let needed = lengths.map(|other| {
            let first = (other + length) * 35 / 100;
            (first.saturating_sub(1)..=length).find(|matching| is_possible(*matching, other)).unwrap_or(length)
        });
        let needed = if length == 0 { vec![0] } else { needed.collect() };
        let masks = (length <= WORD_BITS).then(|| {
            let mask = |places: &Vec<usize>| places.iter().fold(0, |mask, place| mask | 1_u64 << place);
            index.places.iter().map(mask).collect()
        });
        Self { bag: character_bag(&query), index, needed, shortest, masks }
    }

    /// The ratio with a name, if it is at least [`SIMILAR_RATIO`].
    pub fn similarity(&self, name: &str, scratch: &mut FuzzyScratch) -> Option<f64> {
        let name = comparable_form(name);
        let count = name.chars().count();
        self.may_match(count, &PackedBag::new(&name)).then(|| self.prepared_similarity(&name, count, scratch))?
    }

    /// Whether a name of so many characters can be similar. A bag counts to 255, so that of a longer name says nothing.
    #[inline]
    pub(super) fn may_match(&self, characters: usize, bag: &PackedBag) -> bool {
        let Some(needed) = characters.checked_sub(self.shortest).and_then(|place| self.needed.get(place)) else {
            return false;
        };
        if characters > usize::from(u8::MAX) {
            return true;
        }
        bag.common_max(&self.bag) as usize >= *needed
    }

    /// The same for a name in its comparable form, whose length and bag were looked at.
    pub(super) fn prepared_similarity(&self, name: &str, characters: usize, scratch: &mut FuzzyScratch) -> Option<f64> {
        let needed = *self.needed.get(characters.checked_sub(self.shortest)?)?;
        if self.masks.as_ref().is_some_and(|masks| self.common_subsequence(name, masks) < needed) {
            return None;
        }
        let mut letters = std::mem::take(&mut scratch.name);
        letters.clear();
        letters.extend(name.chars());
        let matching = self.index.matching_characters(&letters, scratch);
        scratch.name = letters;
        let ratio = quotient(matching, characters + self.index.characters.len());
        (ratio >= SIMILAR_RATIO).then_some(ratio)
    }

    /// The length of the longest common subsequence, which is never below the characters in matching blocks. One word
    /// holds a row of the usual table: a bit is unset where the row is larger than to its left (Hyyrö 2004).
    fn common_subsequence(&self, name: &str, masks: &[u64]) -> usize {
        let mut row = u64::MAX;
        for character in name.chars() {
            let mask = self.index.entry(character).map_or(0, |entry| masks[entry]);
            let common = row & mask;
            row = row.wrapping_add(common) | row.wrapping_sub(common);
        }
        row.count_zeros() as usize
    }
}

/// The places of each character in a query.
#[derive(Debug)]
struct QueryIndex {
    characters: Vec<char>,
    places: Vec<Vec<usize>>,
    /// Entries of `places` by character, in order; popular characters of a long query have none.
    entries: Vec<(char, usize)>,
    /// The same for ASCII, one more than the entry; 0 stands for none.
    ascii: [usize; 128],
}

impl QueryIndex {
    fn new(characters: Vec<char>) -> Self {
        let mut order: Vec<(char, usize)> =
            characters.iter().enumerate().map(|(place, character)| (*character, place)).collect();
        order.sort_unstable();
        let (mut places, mut entries): (Vec<Vec<usize>>, Vec<(char, usize)>) = (Vec::new(), Vec::new());
        for group in order.chunk_by(|one, other| one.0 == other.0) {
            let is_popular = characters.len() >= AUTOJUNK_CHARS && group.len() > characters.len() / 100 + 1;
            if !is_popular {
                entries.push((group[0].0, places.len()));
                places.push(group.iter().map(|(_, place)| *place).collect());
            }
        }
        let mut ascii = [0; 128];
        for (character, entry) in entries.iter().filter(|(character, _)| character.is_ascii()) {
            ascii[*character as usize] = entry + 1;
        }
        Self { characters, places, entries, ascii }
    }

    fn entry(&self, character: char) -> Option<usize> {
        if character.is_ascii() {
            return self.ascii[character as usize].checked_sub(1);
        }
        let found = self.entries.binary_search_by_key(&character, |(known, _)| *known).ok()?;
        Some(self.entries[found].1)
    }

    /// The number of characters in matching blocks.
    fn matching_characters(&self, name: &[char], scratch: &mut FuzzyScratch) -> usize {
        for row in &mut scratch.rows {
            row.clear();
            row.resize(self.characters.len() + 1, (0, 0));
        }
        scratch.row = 0;
        scratch.ranges.clear();
        scratch.ranges.push([0, name.len(), 0, self.characters.len()]);
        let mut matching = 0;
        while let Some(range) = scratch.ranges.pop() {
            let [name_from, name_to, query_from, query_to] = range;
            let (name_at, query_at, size) = self.longest_block(name, range, scratch);
            if size == 0 {
                continue;
            }
            matching += size;
            if name_from < name_at && query_from < query_at {
                scratch.ranges.push([name_from, name_at, query_from, query_at]);
            }
            if name_at + size < name_to && query_at + size < query_to {
                scratch.ranges.push([name_at + size, name_to, query_at + size, query_to]);
            }
        }
        matching
    }

    /// The longest matching block in a range of both texts, the earliest in the name and then in the query: its places
    /// and its length.
    fn longest_block(
        &self,
        name: &[char],
        [name_from, name_to, query_from, query_to]: [usize; 4],
        scratch: &mut FuzzyScratch,
    ) -> (usize, usize, usize) {
        let (mut name_at, mut query_at, mut size) = (name_from, query_from, 0);
        // A row of another range must not count as the row before.
        scratch.row += 1;
        for (place, character) in name.iter().enumerate().take(name_to).skip(name_from) {
            scratch.row += 1;
            let row = scratch.row;
            let [before, current] = &mut scratch.rows;
            if let Some(entry) = self.entry(*character) {
                for query_place in &self.places[entry] {
                    if *query_place < query_from {
                        continue;
                    }
                    if *query_place >= query_to {
                        break;
                    }
                    // Shifted by one, so that the place before the first is there too.
                    let (written, length) = before[*query_place];
                    let length = if written + 1 == row { length + 1 } else { 1 };
                    current[query_place + 1] = (row, length);
                    if length > size {
                        (name_at, query_at, size) = (place + 1 - length, query_place + 1 - length, length);
                    }
                }
            }
            scratch.rows.swap(0, 1);
        }
        // Popular characters begin no block, but belong to one that they touch.
        while name_at > name_from && query_at > query_from && name[name_at - 1] == self.characters[query_at - 1] {
            (name_at, query_at, size) = (name_at - 1, query_at - 1, size + 1);
        }
        while name_at + size < name_to
            && query_at + size < query_to
            && name[name_at + size] == self.characters[query_at + size]
        {
            size += 1;
        }
        (name_at, query_at, size)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Names, queries, matching characters and all characters, as Python 3.11 counts them.
    fn vectors() -> Vec<(String, String, usize, usize)> {
        let text = |name: &str, query: &str| (name.to_owned(), query.to_owned());
        let rows = [
            (text("aelysh", "aylysh"), 5, 12),
            (text("aelysh", "ailish"), 4, 12),
            (text("aelysh", "alesh"), 4, 11),
            (text("thorin ironforge", "thorin"), 6, 22),
            (text("goblin king", "king goblin"), 6, 22),
            (text("tide", "diet"), 1, 8),
            (text("uk torno", "uk nono"), 5, 15),
            (text("mirtorda wa", "mirtho la"), 6, 20),
            (text("mirtho la", "mirtorda wa"), 7, 20),
            (text("ael eltorben", "el aelben"), 6, 21),
            (text("el aelben", "ael eltorben"), 8, 21),
            (text("private thread", "private volatile"), 10, 30),
            (text("private volatile", "private thread"), 9, 30),
            (
                (format!("{}{}", "x".repeat(29), "a".repeat(11)), format!("{}{}", "x".repeat(29), "b".repeat(11))),
                29,
                80,
            ),
            ((format!("x{}", "ab".repeat(100)), "ab".repeat(100)), 0, 401),
            ((format!("x{}", "ab".repeat(99)), format!("{}a", "ab".repeat(99))), 198, 398),
            (text("東京都庁", "京都府庁"), 3, 8),
            (("İstanbul".to_lowercase(), "istanbul".to_owned()), 8, 17),
            (text("e\u{301}lan", "élan"), 3, 9),
            (text("", ""), 0, 0),
            (text("a", ""), 0, 1),
            (text("", "a"), 0, 1),
        ];
        rows.map(|((name, query), matching, total)| (name, query, matching, total)).into()
    }

    #[test]
    fn a_packed_bag_never_counts_too_few() {
        let name = format!("{}{}p", "a".repeat(40), "b".repeat(14));
        let bag = PackedBag::new(&name);
        for (text, common) in [("a".repeat(60), 60), ("b".repeat(60), 14), ("pq0 ".to_owned(), 1), (String::new(), 0)] {
            assert_eq!(bag.common_max(&character_bag(&text)), common, "{text}");
        }
    }

    #[test]
    fn the_ratio_is_that_of_difflib() {
        for (name, query, matching, total) in vectors() {
            let index = QueryIndex::new(query.chars().collect());
            let letters: Vec<char> = name.chars().collect();
            let found = index.matching_characters(&letters, &mut FuzzyScratch::default());
            assert_eq!((found, letters.len() + index.characters.len()), (matching, total), "{name} {query}");
            assert_eq!(ratio(&name, &query).to_bits(), quotient(matching, total).to_bits(), "{name} {query}");
        }
    }

    /// 384 pairs of a name and a query, with the sum of the sizes of `get_matching_blocks` in Python 3.11.
    #[test]
    fn random_names_match_as_in_difflib() {
        let rows: Vec<&str> = include_str!("golden_ratios.tsv").lines().collect();
        assert_eq!(rows.len(), 384);
        for row in rows {
            let [name, query, matching] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
            let total = name.chars().count() + query.chars().count();
            let expected = quotient(matching.parse().unwrap(), total);
            assert_eq!(ratio(name, query).to_bits(), expected.to_bits(), "{row}");
            let similarity = FuzzyQuery::new(query).similarity(name, &mut FuzzyScratch::default());
            assert_eq!(similarity, (expected >= SIMILAR_RATIO).then_some(expected), "{row}");
        }
    }

    #[test]
    fn scores_have_two_decimals_as_python_rounds_them() {
        let score = |name: &str, query: &str| match_score(ratio(name, query)).to_string();
        assert_eq!(score("aelysh", "aylysh"), "0.83");
        assert_eq!(score("tide", "diet"), "0.25");
        assert_eq!(score("uk torno", "uk nono"), "0.67");
        assert_eq!(score("ael eltorben", "el aelben"), "0.57");
        // 29/40 is 0.725, which is stored a little below.
        assert_eq!(match_score(quotient(29, 80)).to_string(), "0.72");
        assert_eq!(score("東京都庁", "京都府庁"), "0.75");
        assert_eq!(score("", ""), "1");
    }

    #[test]
    fn a_query_is_compared_in_lower_case_and_composed() {
        let similarity =
            |name: &str, query: &str| FuzzyQuery::new(query).similarity(name, &mut FuzzyScratch::default());
        assert_eq!(similarity("  AELYSH ", "aylysh"), Some(10.0 / 12.0));
        assert_eq!(similarity("e\u{301}lan", "ÉLAN"), Some(1.0));
        assert_eq!(similarity("Élan", "elan"), Some(0.75));
        assert_eq!(similarity("İstanbul", "istanbul"), Some(16.0 / 17.0));
        assert_eq!(similarity("Aelysh", "Ailish"), None);
        assert_eq!(similarity("mirtorda wa", "mirtho la"), None);
        assert_eq!(similarity("mirtho la", "mirtorda wa"), Some(0.7));
        assert_eq!((similarity("", " "), similarity("", "a"), similarity("a", "")), (Some(1.0), None, None));
        let long = "ab".repeat(150);
        assert_eq!(similarity(&format!("x{long}"), &long), None, "popular characters begin no block");
        assert_eq!(similarity(&long, &long), Some(1.0), "but belong to one at the beginning of both");
        let long: String = ('a'..='z').cycle().take(64).collect();
        assert_eq!(similarity(&long, &long), Some(1.0));
        assert_eq!(similarity(&format!("{long}a"), &long), Some(128.0 / 129.0));
        assert_eq!(similarity(&long, &format!("{long}a")), Some(128.0 / 129.0));
    }

    proptest! {
        #[test]
        fn bounds_skip_no_similar_name(name in "[ab]{0,40}|[a-e é]{0,70}", query in "[ab]{0,40}|[a-e é]{0,70}") {
            let (name, query) = (comparable_form(&name), comparable_form(&query));
            let exact = ratio(&name, &query);
            let found = FuzzyQuery::new(&query).similarity(&name, &mut FuzzyScratch::default());
            prop_assert_eq!(found, (exact >= SIMILAR_RATIO).then_some(exact));
        }

        #[test]
        fn a_scratch_leaves_no_trace(names in proptest::collection::vec("[a-c]{0,9}", 1..6), query in "[a-c]{0,9}") {
            let (fuzzy, mut scratch) = (FuzzyQuery::new(&query), FuzzyScratch::default());
            for name in &names {
                prop_assert_eq!(
                    fuzzy.similarity(name, &mut scratch),
                    fuzzy.similarity(name, &mut FuzzyScratch::default())
                );
            }
        }
    }
}
