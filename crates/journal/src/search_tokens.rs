//! The tokenizer of the search index: splits texts and queries into folded words. Every store indexes these tokens and
//! no others, so that all stores give the same answers. Any text is safe; none can become part of a query's syntax.

use skald_domain::text_fold::fold_text;
use unicode_normalization::char::is_combining_mark;

/// Terms of a query that are searched for; further ones are ignored. Also the longest phrase.
pub const QUERY_TERMS_MAX: usize = 32;
/// Letters from which on the last word of a query also finds longer words that begin with it. Shorter prefixes would
/// match too many words.
pub const PREFIX_LETTERS_MIN: usize = 4;
/// Letters of a word that are indexed; the rest of a longer one makes no difference.
const WORD_LETTERS_MAX: usize = 64;

/// One condition of a query. A row is found if it meets all of them, in any of its texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    Word(String),
    /// A word that begins with this.
    Prefix(String),
    /// Characters of a script without spaces, one directly after the other; at least two.
    Phrase(Vec<String>),
}

/// The tokens of a text, in order: words of letters and digits, characters of scripts without spaces, and emoji.
pub fn tokens(text: &str) -> Vec<String> {
    split_text(text).into_iter().map(|token| token.text).collect()
}

/// The terms of a query. None are left of a text without letters, digits and emoji; there is nothing to search for then.
pub fn query_terms(text: &str) -> Vec<SearchTerm> {
    let mut terms: Vec<SearchTerm> = Vec::new();
    let mut phrase: Vec<String> = Vec::new();
    let found = split_text(text);
    let last = found.len().saturating_sub(1);
    for (number, token) in found.into_iter().enumerate() {
        let is_continued = token.kind == SearchTokenKind::Character && token.is_adjacent;
        if !is_continued {
            add_phrase(&mut terms, &mut phrase);
        }
        match token.kind {
            SearchTokenKind::Character if phrase.len() < QUERY_TERMS_MAX => phrase.push(token.text),
            SearchTokenKind::Character => {}
            SearchTokenKind::Word if number == last && token.text.chars().count() >= PREFIX_LETTERS_MIN => {
                terms.push(SearchTerm::Prefix(token.text));
            }
            SearchTokenKind::Word | SearchTokenKind::Symbol => add_term(&mut terms, SearchTerm::Word(token.text)),
        }
    }
    add_phrase(&mut terms, &mut phrase);
    terms.truncate(QUERY_TERMS_MAX);
    terms
}

fn add_phrase(terms: &mut Vec<SearchTerm>, phrase: &mut Vec<String>) {
    let mut characters = std::mem::take(phrase);
    match characters.len() {
        0 => {}
        1 => characters.pop().into_iter().for_each(|character| add_term(terms, SearchTerm::Word(character))),
        _ => add_term(terms, SearchTerm::Phrase(characters)),
    }
}

/// Adds a term unless it is there. Only the first terms are used, so later ones need not be compared.
fn add_term(terms: &mut Vec<SearchTerm>, term: SearchTerm) {
    if terms.len() <= QUERY_TERMS_MAX && !terms.contains(&term) {
        terms.push(term);
    }
}

/// Whether a token is a character of a script without spaces, so that a phrase may hold it.
pub fn is_phrase_character(token: &str) -> bool {
    token.chars().next().is_some_and(|letter| classify(letter) == LetterKind::Character)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SearchTokenKind {
    Word,
    /// A character of a script without spaces.
    Character,
    /// An emoji or a similar sign.
    Symbol,
}

struct SearchToken {
    text: String,
    kind: SearchTokenKind,
    /// Whether nothing lies between it and a character of the same kind before it.
    is_adjacent: bool,
}

fn split_text(text: &str) -> Vec<SearchToken> {
    let mut splitter = TextSplitter::default();
    for letter in fold_text(text).chars() {
        match classify(letter) {
            LetterKind::Word => splitter.add_letter(letter),
            LetterKind::Mark if splitter.letters > 0 => splitter.add_letter(letter),
            LetterKind::Mark | LetterKind::Ignored => {}
            LetterKind::Character => splitter.add_sign(letter, SearchTokenKind::Character),
            LetterKind::Symbol => splitter.add_sign(letter, SearchTokenKind::Symbol),
            LetterKind::Separator => {
                splitter.end_word();
                splitter.is_after_character = false;
            }
        }
    }
    splitter.end_word();
    splitter.tokens
}

#[derive(Default)]
struct TextSplitter {
    tokens: Vec<SearchToken>,
    /// The word that is being read, and how many letters it has.
    word: String,
    letters: usize,
    is_after_character: bool,
}

impl TextSplitter {
    fn add_letter(&mut self, letter: char) {
        self.letters += 1;
        if self.letters <= WORD_LETTERS_MAX {
            self.word.push(letter);
        }
    }

    fn end_word(&mut self) {
        if self.letters > 0 {
            let text = std::mem::take(&mut self.word);
            self.tokens.push(SearchToken { text, kind: SearchTokenKind::Word, is_adjacent: false });
            self.letters = 0;
            self.is_after_character = false;
        }
    }

    fn add_sign(&mut self, letter: char, kind: SearchTokenKind) {
        self.end_word();
        self.tokens.push(SearchToken { text: letter.into(), kind, is_adjacent: self.is_after_character });
        self.is_after_character = kind == SearchTokenKind::Character;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LetterKind {
    /// Invisible inside of words and emoji.
    Ignored,
    Word,
    /// Part of a word if it follows a letter.
    Mark,
    Character,
    Symbol,
    Separator,
}

fn classify(letter: char) -> LetterKind {
    if letter.is_ascii() {
        return if letter.is_ascii_alphanumeric() { LetterKind::Word } else { LetterKind::Separator };
    }
    if is_ignored(letter) {
        return LetterKind::Ignored;
    }
    let is_mark = is_combining_mark(letter);
    let is_letter = letter.is_alphanumeric();
    match letter {
        // Two of these are a flag, so they are searched as a phrase.
        '\u{1f1e6}'..='\u{1f1ff}' => LetterKind::Character,
        _ if (is_letter || is_mark) && is_written_without_spaces(letter) => LetterKind::Character,
        _ if is_letter => LetterKind::Word,
        _ if is_mark => LetterKind::Mark,
        _ if is_symbol(letter) => LetterKind::Symbol,
        _ => LetterKind::Separator,
    }
}

/// Soft hyphens, joiners, variation selectors, skin tones and tags.
fn is_ignored(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}'
            | '\u{200c}'..='\u{200d}'
            | '\u{2060}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{1f3fb}'..='\u{1f3ff}'
            | '\u{e0000}'..='\u{e01ef}'
    )
}

/// Scripts in which spaces do not part words: Thai, Lao, Tibetan, Burmese, Khmer, kana, bopomofo and Han.
fn is_written_without_spaces(letter: char) -> bool {
    matches!(
        letter,
        '\u{e00}'..='\u{109f}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{312f}'
            | '\u{31a0}'..='\u{31ff}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{aa60}'..='\u{aa7f}'
            | '\u{f900}'..='\u{faff}'
            | '\u{1aff0}'..='\u{1b16f}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

/// The blocks that hold emoji and dingbats.
fn is_symbol(letter: char) -> bool {
    matches!(
        letter,
        '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole_word(text: &str) -> SearchTerm {
        SearchTerm::Word(text.to_owned())
    }

    fn prefix(text: &str) -> SearchTerm {
        SearchTerm::Prefix(text.to_owned())
    }

    fn phrase(text: &str) -> SearchTerm {
        SearchTerm::Phrase(text.chars().map(String::from).collect())
    }

    #[test]
    fn texts_are_split_into_folded_words() {
        for (text, expected) in [
            ("The Dragon's *hoard*, at 3 p.m.", "the dragon s hoard at 3 p m"),
            ("Ævar & Éowyn — STRASSE/Straße", "aevar eowyn strasse strasse"),
            ("snake_case well-known so\u{ad}ft", "snake case well known soft"),
            ("東京tower 大阪。", "東 京 tower 大 阪"),
            ("カフェ", "カ フ ェ"),
            ("🐉🔥 fire 👍🏽 1\u{fe0f}\u{20e3}", "🐉 🔥 fire 👍 1"),
            ("👨\u{200d}👩\u{200d}👧", "👨 👩 👧"),
            ("🇩🇪", "🇩 🇪"),
            ("한국어 слово", "한국어 слово"),
            ("\0\u{1}'\"*()^ \u{301}", ""),
            ("", ""),
        ] {
            assert_eq!(tokens(text).join(" "), expected, "{text}");
        }
        assert_eq!(tokens("กา").len(), 2);
    }

    #[test]
    fn a_mark_inside_of_a_word_does_not_end_it() {
        assert_eq!(tokens("क्या है").len(), 2);
        assert_eq!(tokens("می\u{200c}خواهم").len(), 1);
    }

    #[test]
    fn the_last_word_of_a_query_is_a_prefix_from_four_letters_on() {
        assert_eq!(query_terms("red drag"), [whole_word("red"), prefix("drag")]);
        assert_eq!(query_terms("dragon red"), [whole_word("dragon"), whole_word("red")]);
        assert_eq!(query_terms("Ævar!"), [prefix("aevar")]);
        assert_eq!(query_terms("dragon 🐉"), [whole_word("dragon"), whole_word("🐉")]);
        assert_eq!(query_terms("x"), [whole_word("x")]);
    }

    #[test]
    fn adjacent_characters_are_a_phrase() {
        assert_eq!(query_terms("京都"), [phrase("京都")]);
        assert_eq!(query_terms("京 都"), [whole_word("京"), whole_word("都")]);
        assert_eq!(query_terms("京"), [whole_word("京")]);
        assert_eq!(query_terms("the東京tower"), [whole_word("the"), phrase("東京"), prefix("tower")]);
        assert_eq!(query_terms("🇩🇪"), [phrase("🇩🇪")]);
        assert_eq!(query_terms("東京🐉東京"), [phrase("東京"), whole_word("🐉")]);
    }

    #[test]
    fn nothing_is_left_of_a_query_without_words() {
        for text in ["", " ", "\"\"", "* - ( ) ^ : \0", "\u{200d}", "\u{301}", "…"] {
            assert_eq!(query_terms(text), [], "{text:?}");
        }
    }

    #[test]
    fn a_query_has_at_most_32_terms_of_limited_length() {
        let numbers = (100..300).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
        let terms = query_terms(&numbers);
        assert_eq!((terms.len(), &terms[0], &terms[31]), (QUERY_TERMS_MAX, &whole_word("100"), &whole_word("131")));
        assert_eq!(query_terms(&"dragon ".repeat(1_000)), [whole_word("dragon"), prefix("dragon")]);
        let long = "京".repeat(5_000);
        assert_eq!(query_terms(&long), [phrase(&"京".repeat(QUERY_TERMS_MAX))]);
        assert_eq!(query_terms(&"é".repeat(5_000)), [prefix(&"e".repeat(WORD_LETTERS_MAX))]);
        assert_eq!(tokens(&"x".repeat(5_000)), ["x".repeat(WORD_LETTERS_MAX)]);
    }
}
