//! Checks that an id is a plain file name: not hidden, no path, nothing that a system treats specially.

/// The longest name of a file that every common file system takes, with room for an extension.
const NAME_BYTES_MAX: usize = 200;

/// Whether an id can be the name of a file: not hidden, no path, nothing that some system reads as one.
pub(super) fn is_plain(name: &str) -> bool {
    let is_odd = |letter: char| letter.is_control() || matches!(letter, '/' | '\\') || (cfg!(windows) && letter == ':');
    !name.is_empty() && name.len() <= NAME_BYTES_MAX && !name.starts_with('.') && !name.contains(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_plain() {
        for name in ["bugfix", "run-1", "a.b", "a..b", "notes (2)", "調査", &"x".repeat(200)] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["", ".", "..", ".hidden", "a/b", "/a", "a\\b", "../a", "a\0b", "a\nb", &"x".repeat(201)] {
            assert!(!is_plain(name), "{name:?}");
        }
    }
}
