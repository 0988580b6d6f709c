//! Finds the files and functions that ARCHITECTURE.md names, so that a test can compare them with the code.

use std::path::Path;

/// Lines that the page may have.
pub(crate) const LINES_MAX: usize = 250;

/// Paths of source files that the text names: words in backticks that contain `/src/` and end with `.rs` or a slash.
pub(crate) fn named_paths(text: &str) -> Vec<&str> {
    code_words(text).filter(|word| word.contains("/src/") && (is_source(word) || word.ends_with('/'))).collect()
}

/// Functions that the text names right after a file: "`path.rs`, `one` and `two`".
pub(crate) fn named_functions(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut parts = text.split('`').peekable();
    let mut file = None;
    while let (Some(between), Some(word)) = (parts.next(), parts.next()) {
        let between = between.trim();
        match file {
            Some(path) if [",", "and"].contains(&between) && is_function(word) => found.push((path, word)),
            _ => file = is_source(word).then_some(word),
        }
    }
    found
}

fn code_words(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_source(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|extension| extension == "rs")
}

fn is_function(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_belong_to_the_file_before_them() {
        let text = "1. `a/src/b.rs`, `one` and `two`: x `three`. `a/src/c.rs`, `four`; `Five`, `six`.";
        let expected = [("a/src/b.rs", "one"), ("a/src/b.rs", "two"), ("a/src/c.rs", "four")];
        assert_eq!(named_functions(text), expected);
        assert_eq!(named_paths(text), ["a/src/b.rs", "a/src/c.rs"]);
    }
}
