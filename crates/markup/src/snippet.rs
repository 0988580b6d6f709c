//! Cuts a piece out of a plain text, around the first word that was searched for.

/// At most `chars` letters around the first match of any of the words, in any case; cut at word bounds, with `…` where
/// something is left out. Without a match, the start of the text.
pub fn snippet(markdown_plain: &str, words: &[String], chars: usize) -> String {
    let letters = single_spaced(markdown_plain);
    if letters.len() <= chars {
        return letters.into_iter().collect();
    }
    if chars == 0 {
        return String::new();
    }
    let found = first_match(&letters, words).unwrap_or(0);
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

/// The index of the letter where the first match of any word begins. A match at the start of a word comes before one
/// inside of a word.
fn first_match(letters: &[char], words: &[String]) -> Option<usize> {
    let mut folded = String::new();
    // For each byte of the folded text, which letter it comes from.
    let mut origins = Vec::new();
    for (index, letter) in letters.iter().enumerate() {
        folded.extend(letter.to_lowercase());
        origins.resize(folded.len(), index);
    }
    let is_word_start = |at: usize| !folded[..at].chars().next_back().is_some_and(char::is_alphanumeric);
    let mut best: Option<(bool, usize)> = None;
    for word in words {
        let word = word.to_lowercase();
        if word.is_empty() {
            continue;
        }
        let at_start = folded.match_indices(&word).map(|(at, _)| at).find(|at| is_word_start(*at));
        let found = at_start.map(|at| (false, at)).or_else(|| folded.find(&word).map(|at| (true, at)));
        best = [best, found].into_iter().flatten().min();
    }
    best.map(|(_, at)| origins[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, words: &[&str], chars: usize) -> String {
        snippet(text, &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), chars)
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
}
