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

/// The lines of a Markdown text around the line with the best match of any of the words, about so many bytes; a short text
/// whole. Without a match, its first lines. The words are compared as in [`snippet`].
pub fn lines_around_match<'a>(
    markdown: &'a str,
    words: &[String],
    bytes: usize,
    fold: impl Fn(&str) -> String,
) -> &'a str {
    if markdown.len() <= bytes {
        return markdown;
    }
    // The best match, where its line begins, and its place in the folded line.
    let mut best: Option<(WordMatch, &str, usize, usize)> = None;
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let folded = if line.is_ascii() { line.to_ascii_lowercase() } else { fold(line) };
        if let Some((kind, place)) = matches_in(&folded, words).min()
            && best.is_none_or(|(known, ..)| kind < known)
        {
            best = Some((kind, line, at, place));
            if kind == WordMatch::Whole {
                break;
            }
        }
        at += line.len();
    }
    let found = best.map_or(0, |(_, line, start, place)| start + unfolded_place(line, place, &fold));
    // A third of the room goes to what stands before the match, and begins with a line if one begins there.
    let start = markdown.floor_char_boundary(found.saturating_sub(bytes / 3));
    let start = match markdown[start..found.max(start)].find('\n') {
        _ if start == 0 => 0,
        Some(line_end) => start + line_end + 1,
        None => start,
    };
    let end = markdown.floor_char_boundary((start + bytes).min(markdown.len()));
    &markdown[start..end]
}

/// Where a place of a folded line is in the line.
fn unfolded_place(line: &str, folded_place: usize, fold: impl Fn(&str) -> String) -> usize {
    if line.is_ascii() {
        return folded_place;
    }
    let mut folded_bytes = 0;
    for (at, letter) in line.char_indices() {
        folded_bytes += if letter.is_ascii() { 1 } else { fold(letter.encode_utf8(&mut [0; 4])).len() };
        if folded_bytes > folded_place {
            return at;
        }
    }
    line.len()
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
    matches_in(&folded, words).min().and_then(|(_, at)| origins.get(at).copied())
}

/// How and where the words occur in a folded text.
fn matches_in<'a>(folded: &'a str, words: &'a [String]) -> impl Iterator<Item = (WordMatch, usize)> + 'a {
    words.iter().filter(|word| !word.is_empty()).flat_map(move |word| {
        folded.match_indices(&**word).map(move |(at, found)| {
            let is_in_word = folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
            let goes_on = folded[at + found.len()..].chars().next().is_some_and(char::is_alphanumeric);
            match (is_in_word, goes_on) {
                (true, _) => (WordMatch::Inside, at),
                (false, true) => (WordMatch::Start, at),
                (false, false) => (WordMatch::Whole, at),
            }
        })
    })
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

    #[test]
    fn of_a_long_text_only_the_lines_around_the_best_match_are_taken() {
        let around = |text: &'static str, words: &[&str], bytes: usize| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            lines_around_match(text, &words, bytes, str::to_lowercase)
        };
        assert_eq!(around("short", &["x"], 10), "short");
        let text = "first line\nthe dragonfly\nthe old Dragon sleeps\nafter it\nand the end of it all";
        assert_eq!(around(text, &["dragon"], 30), "the old Dragon sleeps\nafter it");
        assert_eq!(around(text, &["nothing"], 12), "first line\nt");
        assert_eq!(around(text, &["end"], 20), "d the end of it all");
        let long: &'static str = Box::leak(format!("{}Ä dragon{}", "ä".repeat(500), "ö".repeat(500)).into_boxed_str());
        let cut = around(long, &["dragon"], 100);
        assert!(cut.contains("dragon") && cut.len() <= 100, "{cut}");
    }
}
