//! Finds what ARCHITECTURE.md says of the code, files, functions, arrows and the grid, so that tests can compare it.

use std::collections::BTreeSet;
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

/// Dependencies that the text names: "`a, b -> c -> d`" is `a -> c`, `b -> c` and `c -> d`.
pub(super) fn named_arrows(text: &str) -> BTreeSet<String> {
    let chains = code_words(text).filter(|word| word.contains(" -> "));
    let groups = chains.map(|chain| chain.split(" -> ").map(|group| group.split(", ").collect()).collect());
    let arrows = |groups: Vec<Vec<&str>>| {
        let pairs =
            groups.windows(2).flat_map(|pair| pair[0].iter().flat_map(|from| pair[1].iter().map(move |to| (from, to))));
        pairs.map(|(from, to)| format!("{from} -> {to}")).collect::<Vec<_>>()
    };
    groups.flat_map(arrows).collect()
}

/// The files and folders of one noun in the grid: the words in backticks of its column.
pub(super) fn grid_files<'a>(text: &'a str, noun: &str) -> BTreeSet<&'a str> {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    let Some(header) = rows.iter().position(|row| row.get(1) == Some(&"part")) else { return BTreeSet::new() };
    let Some(column) = rows[header].iter().position(|cell| *cell == noun) else { return BTreeSet::new() };
    let cells = rows[header..].iter().take_while(|row| row.len() == rows[header].len()).map(|row| row[column]);
    cells.flat_map(code_words).collect()
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

    #[test]
    fn a_chain_names_an_arrow_from_each_to_each() {
        let found = named_arrows("`a, b -> c -> d` and `d -> e, f`, not `g`");
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, ["a -> c", "b -> c", "c -> d", "d -> e", "d -> f"]);
    }

    #[test]
    fn a_column_of_the_grid_has_its_files() {
        let text = "| x | `no.rs` |\n|---|---|\n\n| part | dice | gate |\n|---|---|---|\n| a | `b.rs`, `c/` | `d.rs` |\n\
                    | e | | `f.rs` |\n\n| x | `no.rs` |\n";
        assert_eq!(grid_files(text, "dice").into_iter().collect::<Vec<_>>(), ["b.rs", "c/"]);
        assert_eq!(grid_files(text, "gate").into_iter().collect::<Vec<_>>(), ["d.rs", "f.rs"]);
        assert!(grid_files(text, "lore").is_empty());
    }
}
