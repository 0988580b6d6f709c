//! Replaces parts of a text by tokens of private-use letters, which neither Markdown nor HTML gives a meaning, so that
//! a parser passes them on untouched.

use std::borrow::Cow;
use std::ops::Range;

const TOKEN_START: char = '\u{e000}';
const TOKEN_END: char = '\u{e001}';
const TOKEN_DIGITS: [char; 10] = [
    '\u{e010}', '\u{e011}', '\u{e012}', '\u{e013}', '\u{e014}', '\u{e015}', '\u{e016}', '\u{e017}', '\u{e018}',
    '\u{e019}',
];

pub(crate) struct ProtectedText<'a> {
    pub(crate) text: String,
    /// What each token stands for.
    pieces: Vec<Cow<'a, str>>,
    /// How many pieces the caller named; the rest are letters of the text that look like the start of a token.
    pub(crate) piece_count: usize,
}

impl<'a> ProtectedText<'a> {
    /// The pieces come in order, each with what stands for it when the text is restored.
    pub(crate) fn new(text: &'a str, pieces: impl Iterator<Item = (Range<usize>, Cow<'a, str>)>) -> Self {
        let mut protected = Self { text: String::with_capacity(text.len()), pieces: Vec::new(), piece_count: 0 };
        let pieces: Vec<_> = pieces.collect();
        let own_start = pieces.len();
        let mut letters = Vec::new();
        let mut end = 0;
        for (index, (range, piece)) in pieces.into_iter().enumerate() {
            protected.push_plain(&text[end..range.start], own_start, &mut letters);
            protected.push_token(index);
            protected.pieces.push(piece);
            end = range.end;
        }
        protected.push_plain(&text[end..], own_start, &mut letters);
        protected.piece_count = own_start;
        protected.pieces.extend(letters);
        protected
    }

    fn push_plain(&mut self, text: &str, own_start: usize, letters: &mut Vec<Cow<'a, str>>) {
        for (index, part) in text.split(TOKEN_START).enumerate() {
            if index > 0 {
                // All these tokens stand for the same letter.
                letters.truncate(0);
                letters.push(Cow::Borrowed("\u{e000}"));
                self.push_token(own_start);
            }
            self.text.push_str(part);
        }
    }

    fn push_token(&mut self, index: usize) {
        self.text.push(TOKEN_START);
        for digit in index.to_string().bytes() {
            self.text.push(TOKEN_DIGITS[usize::from(digit - b'0')]);
        }
        self.text.push(TOKEN_END);
    }

    /// The text with its tokens replaced by what they stand for.
    pub(crate) fn restore(&self, text: &str) -> Option<String> {
        if !text.contains(TOKEN_START) {
            return None;
        }
        let mut restored = String::with_capacity(text.len());
        let mut end = 0;
        for (range, index) in self.tokens(text) {
            restored.push_str(&text[end..range.start]);
            restored.push_str(&self.pieces[index]);
            end = range.end;
        }
        restored.push_str(&text[end..]);
        Some(restored)
    }

    /// Where tokens stand in a text that a parser passed on, and which piece each stands for.
    pub(crate) fn tokens(&self, text: &str) -> Vec<(Range<usize>, usize)> {
        let mut found = Vec::new();
        for (start, _) in text.match_indices(TOKEN_START) {
            let mut index = Some(0_usize);
            for (offset, letter) in text[start..].char_indices().skip(1) {
                if let Some(digit) = TOKEN_DIGITS.iter().position(|known| *known == letter) {
                    index = index.and_then(|index| index.checked_mul(10)?.checked_add(digit));
                    continue;
                }
                if letter == TOKEN_END
                    && let Some(index) = index.filter(|index| *index < self.pieces.len())
                {
                    found.push((start..start + offset + letter.len_utf8(), index));
                }
                break;
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_with_tokens_of_its_own_comes_back() {
        let text = "a\u{e000}\u{e010}\u{e001} [x] \u{e000}b";
        let start = text.find("[x]").unwrap();
        let protected = ProtectedText::new(text, std::iter::once((start..start + 3, Cow::Borrowed("[x]"))));
        assert!(!protected.text.contains('['));
        assert_eq!(protected.restore(&protected.text).unwrap(), text);
    }
}
