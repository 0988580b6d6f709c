//! Brace expansion: `a{b,c}` is `ab ac`, `a{1..3}` is `a1 a2 a3`.

use super::lexer::Letter;

/// Maximum number of words that one word may expand to.
const WORDS_MAX: usize = 64;
/// Maximum letters of a word that is expanded: each brace group is one level of recursion.
const LETTERS_MAX: usize = 1024;

/// Expands the braces of a word; `None` if it exceeds a limit.
pub(super) fn expand(word: &[Letter]) -> Option<Vec<Vec<Letter>>> {
    if word.len() > LETTERS_MAX {
        return None;
    }
    let Some((open, close, parts)) = first_group(word) else { return Some(vec![word.to_vec()]) };
    let mut words = Vec::new();
    for part in parts {
        let joined = [&word[..open], &part, &word[close + 1..]].concat();
        words.extend(expand(&joined)?);
        if words.len() > WORDS_MAX {
            return None;
        }
    }
    Some(words)
}

/// The first brace group that expands: the indices of its braces, and its parts.
fn first_group(word: &[Letter]) -> Option<(usize, usize, Vec<Vec<Letter>>)> {
    let is = |at: usize, letter: char| word[at].letter == letter && !word[at].is_quoted;
    for open in (0..word.len()).filter(|at| is(*at, '{')) {
        let (mut depth, mut begin, mut parts) = (0_usize, open + 1, Vec::new());
        for at in open..word.len() {
            if is(at, '{') {
                depth += 1;
            } else if is(at, ',') && depth == 1 {
                parts.push(word[begin..at].to_vec());
                begin = at + 1;
            } else if is(at, '}') {
                depth -= 1;
                if depth == 0 {
                    if parts.is_empty() {
                        parts = expand_range(&word[begin..at]);
                    } else {
                        parts.push(word[begin..at].to_vec());
                    }
                    if parts.is_empty() {
                        break;
                    }
                    return Some((open, at, parts));
                }
            }
        }
    }
    None
}

/// The parts of `1..3` or `a..c`; none if it is no such range.
fn expand_range(inside: &[Letter]) -> Vec<Vec<Letter>> {
    let text: String = inside.iter().map(|letter| letter.letter).collect();
    let Some((from, to)) = text.split_once("..") else { return Vec::new() };
    let plain = |text: String| text.chars().map(|letter| Letter { letter, is_quoted: true }).collect();
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let count = WORDS_MAX + 1;
        let (low, high) = (from.min(to), from.max(to));
        return (low..=high).take(count).map(|number| plain(number.to_string())).collect();
    }
    let (mut first, mut last) = (from.chars(), to.chars());
    match (first.next(), first.next(), last.next(), last.next()) {
        (Some(from), None, Some(to), None) => {
            (from.min(to)..=from.max(to)).take(WORDS_MAX + 1).map(|letter| plain(letter.to_string())).collect()
        }
        _ => Vec::new(),
    }
}
