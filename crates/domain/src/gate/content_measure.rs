//! Measures the content of an artifact for guards: how much text it has, and which words and headings are in it.
//!
//! The measure is taken once, where the content is read, and stored with the artifact. A guard decides by it alone, so
//! it needs neither the file nor the content again.

use serde::{Deserialize, Serialize};

use crate::deceptive_characters::{is_deceptive, is_zero_width};
use crate::limits::ARTIFACT_CONTENT_BYTES_MAX;

/// What guards know of a content. Content that is not UTF-8 has bytes, but no lines and no words.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ContentMeasure {
    /// Bytes of text. White space counts as one byte between two words, and as none elsewhere.
    pub bytes: u64,
    /// Lines that have more than white space.
    pub lines: u64,
    /// Which of the words and headings that the process asks for are in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contains: Vec<String>,
}

impl ContentMeasure {
    /// Measures a content, or the beginning of one that is longer than `ARTIFACT_CONTENT_BYTES_MAX`.
    pub fn from_content<'a>(content: &[u8], words: impl IntoIterator<Item = &'a str>) -> Self {
        let most = usize::try_from(ARTIFACT_CONTENT_BYTES_MAX).unwrap_or(usize::MAX);
        let content = &content[..content.len().min(most)];
        let Some(text) = decode(content) else {
            return Self { bytes: content.len() as u64, ..Self::default() };
        };
        let lines: Vec<String> = text.lines().map(plain_line).filter(|line| !line.is_empty()).collect();
        let bytes = lines.iter().map(|line| line.len() as u64 + 1).sum::<u64>().saturating_sub(1);
        let searched = SearchedText::new(&lines);
        let contains = words.into_iter().filter(|word| searched.contains(word)).map(str::to_owned).collect();
        Self { bytes, lines: lines.len() as u64, contains }
    }
}

/// The text of a content; `None` if it is not UTF-8. A character that was cut off at the end is left out.
fn decode(content: &[u8]) -> Option<&str> {
    match std::str::from_utf8(content) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&content[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// A line without invisible characters and with single spaces, so that padding does not count.
fn plain_line(line: &str) -> String {
    let visible: String = line.chars().filter(|character| !is_invisible(*character)).collect();
    let words = visible.split(|character: char| character.is_whitespace() || character.is_control());
    words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Characters that show nothing and are no white space, including the blank letters of Hangul and Braille.
fn is_invisible(character: char) -> bool {
    let is_blank_letter = matches!(character, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    let is_separator = character.is_whitespace() || character.is_control();
    is_blank_letter || is_zero_width(character) || (is_deceptive(character) && !is_separator)
}

/// A text in lower case, as one line and by its headings.
struct SearchedText {
    text: String,
    headings: Vec<String>,
}

impl SearchedText {
    fn new(lines: &[String]) -> Self {
        let lines: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
        let headings = lines.iter().filter_map(|line| heading_text(line)).map(str::to_owned).collect();
        Self { text: lines.join(" "), headings }
    }

    /// Whether it has a heading, if the word begins with `#`, or else the word anywhere. Case does not matter.
    fn contains(&self, word: &str) -> bool {
        let word = plain_line(word).to_lowercase();
        match heading_text(&word) {
            Some(heading) => self.headings.iter().any(|found| found == heading),
            None => self.text.match_indices(&word).any(|(at, found)| is_whole_word(&self.text, at, found)),
        }
    }
}

/// The text of a Markdown heading of any level: `## Ways out` is "Ways out".
fn heading_text(line: &str) -> Option<&str> {
    let text = line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ')?;
    Some(text.trim_end_matches('#').trim_end())
}

/// Whether what was found at a place is no part of a longer word: "now" is not in "know".
fn is_whole_word(text: &str, at: usize, found: &str) -> bool {
    let is_joined = |one: Option<char>, other: Option<char>| one.is_some_and(is_spaced) && other.is_some_and(is_spaced);
    let before = text[..at].chars().next_back();
    let after = text[at + found.len()..].chars().next();
    !found.is_empty() && !is_joined(before, found.chars().next()) && !is_joined(found.chars().next_back(), after)
}

/// Whether a character belongs to words that spaces part. Chinese, Japanese, Korean and Thai words are found without
/// spaces around them.
fn is_spaced(character: char) -> bool {
    let is_unspaced = matches!(character,
        '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{d7ff}'
        | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{20000}'..='\u{3ffff}');
    character.is_alphanumeric() && !is_unspaced
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str, words: &[&str]) -> ContentMeasure {
        ContentMeasure::from_content(text.as_bytes(), words.iter().copied())
    }

    fn size(text: &str) -> (u64, u64) {
        let measure = measure(text, &[]);
        (measure.bytes, measure.lines)
    }

    #[test]
    fn white_space_and_invisible_characters_are_no_substance() {
        assert_eq!(size("A white raven."), (14, 1));
        assert_eq!(size("  A white \t raven.\r\n\r\n\n"), (14, 1));
        assert_eq!(size("one\ntwo\n"), (7, 2));
        for blank in
            [" ", "\n\n\n", "\u{a0}\u{3000}", "\u{200b}\u{feff}\u{2060}", "\0\0\0", "\u{2800}\u{3164}", "\u{e0041}"]
        {
            assert_eq!(size(&blank.repeat(500)), (0, 0), "{blank:?}");
        }
        assert_eq!(size("観察"), (6, 1));
    }

    #[test]
    fn content_that_is_no_text_has_bytes_alone() {
        let measure = ContentMeasure::from_content(b"\x89PNG\n\xff\n word", ["word"]);
        assert_eq!(measure, ContentMeasure { bytes: 12, lines: 0, contains: Vec::new() });
    }

    #[test]
    fn a_long_content_is_measured_by_its_beginning() {
        let most = usize::try_from(ARTIFACT_CONTENT_BYTES_MAX).unwrap();
        let content = format!("{}é end", "x".repeat(most - 1));
        let measure = ContentMeasure::from_content(content.as_bytes(), ["end"]);
        assert_eq!(measure, ContentMeasure { bytes: most as u64 - 1, lines: 1, contains: Vec::new() });
    }

    #[test]
    fn words_are_found_whole_in_any_case_and_over_the_end_of_a_line() {
        let text = "Everybody KNOWS the\nold   mill. **Place:** the ford. It ends when it rains\u{200b}.";
        let words = ["now", "knows", "OLD MILL", "the old mill", "place", "ford", "for", "rains", "rain", "mill ford"];
        assert_eq!(measure(text, &words).contains, ["knows", "OLD MILL", "the old mill", "place", "ford", "rains"]);
        assert_eq!(measure("事実と解釈を分ける", &["解釈", "仮説"]).contains, ["解釈"]);
    }

    #[test]
    fn a_heading_is_a_line_of_its_own_at_any_level() {
        let text = "# The mill\n\n  ### Ways  out ###\nBy boat.\n#tag\nSee # Place.\n";
        let words = ["# The Mill", "## ways out", "# Way", "# tag", "#tag", "# Place", "Place"];
        assert_eq!(measure(text, &words).contains, ["# The Mill", "## ways out", "#tag", "Place"]);
    }
}
