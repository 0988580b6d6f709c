//! Cuts a piece out of a plain text, around the first word that was searched for.

/// At most `chars` letters around the first match of any of the words; cut at word bounds, with `…` where something is left
/// out. Without a match, the start of the text. The words are compared as `fold` writes letters, and are folded already.
pub fn snippet(markdown_plain: &str, words: &[String], chars: usize, fold: impl Fn(&str) -> String) -> String {
    let letters = single_spaced(markdown_plain);
    if letters.len() <= chars {
        return letters.into_iter().collect();
    }
    if chars == 0 {
        return String::new();
    }
    let found = first_match(&letters, words, fold).unwrap_or(0);
    // A third of the room goes to what stands before the match.
    let start = found.saturating_sub(chars / 3).min(letters.len() - chars);
    let end = start + chars;
    let start = if start == 0 || letters[start - 1] == ' ' {
        start
    } else {
        let bound =
            letters[start..end].iter().position(|letter| *letter == ' ').map_or(start, |space| start + space + 1);
        if bound <= found { bound } else { start }
    };
    let end = if end == letters.len() || letters[end] == ' ' {
        end
    } else {
        let bound = letters[start..end].iter().rposition(|letter| *letter == ' ').map_or(end, |space| start + space);
        if bound > found { bound } else { end }
    };
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    text.extend(&letters[start..end]);
    while text.ends_with(' ') {
        text.pop();
    }
    if end < letters.len() {
        text.push('…');
    }
    text
}

fn single_spaced(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = Vec::with_capacity(text.len());
    for letter in text.trim().chars() {
        let letter = if letter.is_whitespace() { ' ' } else { letter };
        if letter != ' ' || letters.last().is_some_and(|last| *last != ' ') {
            letters.push(letter);
        }
    }
    letters
}

/// How a word was found, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordMatch {
    Whole,
    Start,
    Inside,
}

/// The index of the letter where the first match of any word begins, of the best matches that there are.
fn first_match(letters: &[char], words: &[String], fold: impl Fn(&str) -> String) -> Option<usize> {
    let mut folded = String::with_capacity(letters.len());
    // For each byte of the folded text, which letter it comes from.
    let mut origins = Vec::with_capacity(letters.len());
    for (index, letter) in letters.iter().enumerate() {
        if letter.is_ascii() {
            folded.push(letter.to_ascii_lowercase());
        } else {
            folded.push_str(&fold(letter.encode_utf8(&mut [0; 4])));
        }
        origins.resize(folded.len(), index);
    }
    let matches = words.iter().filter(|word| !word.is_empty()).flat_map(|word| {
        folded.match_indices(&**word).map(|(at, found)| {
            let is_in_word = folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let goes_on = folded[at + found.len()..].chars().next().is_some_and(char::is_alphanumeric);
            match (is_in_word, goes_on) {
                (true, _) => (WordMatch::Inside, at),
                (false, true) => (WordMatch::Start, at),
                (false, false) => (WordMatch::Whole, at),
            }
        })
    });
    matches.min().and_then(|(_, at)| origins.get(at).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, words: &[&str], chars: usize) -> String {
        snippet(text, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), chars, str::to_lowercase)
    }

    #[test]
    fn short_texts_are_whole() {
        assert_eq!(cut("A\n\n tavern.", &["x"], 30), "A tavern.");
        assert_eq!(cut("", &["x"], 30), "");
        assert_eq!(cut("abc", &[], 0), "");
    }

    #[test]
    fn cut_at_word_bounds_around_the_match() {
        let text = "The old king sleeps under the hill while his daughter ÄNNE rules the northern valleys alone.";
        assert_eq!(cut(text, &["änne"], 40), "…his daughter ÄNNE rules the northern…");
        assert_eq!(cut(text, &["nothing"], 20), "The old king sleeps…");
        assert_eq!(cut(text, &["alone"], 20), "…valleys alone.");
    }

    #[test]
    fn a_word_longer_than_the_room_is_cut() {
        let text = "x".repeat(100);
        assert_eq!(cut(&text, &["x"], 10), format!("{}…", "x".repeat(10)));
    }

    #[test]
    fn the_start_of_a_word_is_preferred() {
        let text = format!("{} art {}", "party ".repeat(20), "z ".repeat(40));
        assert!(cut(&text, &["art"], 30).contains(" art "));
    }

    #[test]
    fn the_whole_word_is_preferred_and_letters_are_compared_folded() {
        let text = format!("The dragonfly. {} A Dragon, at last. {}", "and on ".repeat(20), "z ".repeat(40));
        assert!(cut(&text, &["dragon"], 30).contains("Dragon, at"));
        let text = format!("{} saw Ælf here. {}", "party ".repeat(20), "z ".repeat(40));
        let fold = |letter: &str| letter.to_lowercase().replace('æ', "ae");
        assert!(snippet(&text, &["aelf".to_owned()], 30, fold).contains("Ælf"));
    }
}
