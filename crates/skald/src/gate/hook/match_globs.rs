//! Matches shell file patterns (globs) against names and paths.

use std::path::Path;

/// The parts of a path.
pub(super) fn path_parts(path: &Path) -> Vec<String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

/// Whether the parts of a pattern match those of a path, up to the end of the shorter one.
pub(super) fn is_path_match(pattern: &[String], path: &[String]) -> bool {
    pattern.iter().zip(path).all(|(pattern, name)| is_glob_match(pattern, name))
}

/// Whether a part of a pattern matches a name, as in a shell: a leading dot is matched only by a leading dot.
pub(super) fn is_glob_match(pattern: &str, name: &str) -> bool {
    (pattern.starts_with('.') || !name.starts_with('.')) && is_name_match(pattern, name)
}

/// Whether a pattern matches a name, as in `find -name`. A character class, such as `[ab]`, matches any character.
pub(super) fn is_name_match(pattern: &str, name: &str) -> bool {
    let mut letters = Vec::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '[' => {
                rest.by_ref().find(|letter| *letter == ']');
                letters.push('?');
            }
            letter => letters.push(letter),
        }
    }
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while place < name.len() {
        match (letters.get(at), back) {
            (Some('*'), _) => {
                back = Some((at + 1, place));
                at += 1;
            }
            (Some(letter), _) if *letter == '?' || *letter == name[place] => {
                at += 1;
                place += 1;
            }
            (_, Some((after, seen))) => {
                back = Some((after, seen + 1));
                (at, place) = (after, seen + 1);
            }
            (_, None) => return false,
        }
    }
    letters[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names_as_in_a_shell() {
        let (folder, file) = (".state_gate", "state-gate.json");
        for (pattern, name) in [(".st*", folder), ("state-*", file), ("s?ate*json", file), (".[rst]tate_gate", folder)]
        {
            assert!(is_glob_match(pattern, name), "{pattern}");
        }
        for (pattern, name) in [("*", folder), ("*.rs", file), ("state", file), (".?", folder)] {
            assert!(!is_glob_match(pattern, name), "{pattern}");
        }
    }
}
