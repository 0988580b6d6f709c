//! Makes file names that every operating system takes, each once.

use std::collections::BTreeSet;

use crate::link_index::fold_link;
use crate::source_file::is_markdown;

/// Bytes of a file name without its extension. File systems take 255, and archives of archives need some of them.
const NAME_BYTES_MAX: usize = 120;
/// Names of devices on Windows, with any extension.
const RESERVED_NAMES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Hands out paths, no two of which are the same on a file system that ignores case and composition.
#[derive(Debug, Default)]
pub(crate) struct SafePaths {
    taken: BTreeSet<String>,
}

impl SafePaths {
    /// A path for a name in a folder, without an extension. If it is taken, the number makes it another.
    pub(crate) fn claim_path(&mut self, folder: &str, name: &str, number: u64) -> String {
        let safe = safe_file_name(name);
        let mut path = format!("{folder}/{safe}");
        while !self.taken.insert(fold_path(&path)) {
            path = format!("{path} ({number})");
        }
        path
    }
}

/// Equal for all paths that are equal to links, and for those that differ in letters such as ß, which only their upper
/// case makes equal to others.
fn fold_path(path: &str) -> String {
    fold_link(&fold_link(path).to_uppercase())
}

/// A file name for any text: letters that mean something to a file system or in a link become `_`.
pub(crate) fn safe_file_name(name: &str) -> String {
    let mut safe = String::new();
    for letter in name.trim().chars() {
        let letter = if is_safe(letter) { letter } else { '_' };
        if safe.len() + letter.len_utf8() > NAME_BYTES_MAX {
            break;
        }
        safe.push(letter);
    }
    // Windows drops points and spaces at the end; a point at the start hides a file elsewhere.
    let mut safe = safe.trim_end_matches(['.', ' ']).trim().to_owned();
    if safe.starts_with('.') {
        safe.insert(0, '_');
    }
    if safe.is_empty() {
        safe.push_str("unnamed");
    }
    if is_reserved(&safe) {
        safe.insert(0, '_');
    }
    // The extension follows, and a link may leave it out: one more before it would be taken for it.
    if is_markdown(&safe) {
        safe.push('_');
    }
    safe
}

fn is_safe(letter: char) -> bool {
    // U+200B to U+200F and U+202A to U+202E are invisible or turn the direction of the text around.
    let is_invisible = matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}');
    let is_space = letter != ' ' && letter.is_whitespace();
    !(letter.is_control() || is_invisible || is_space || r#"/\:*?"<>|#^[]%"#.contains(letter))
}

fn is_reserved(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_lowercase();
    let is_port = |prefix: &str| {
        let rest = stem.strip_prefix(prefix).map(|rest| rest.chars().collect::<Vec<_>>());
        matches!(rest.as_deref(), Some(['0'..='9' | '¹' | '²' | '³']))
    };
    RESERVED_NAMES.contains(&stem.as_str()) || is_port("com") || is_port("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_file_name() {
        let cases = [
            ("Inn", "Inn"),
            ("a/b\\c:d*e?f\"g<h>i|j", "a_b_c_d_e_f_g_h_i_j"),
            ("[[x]]#y^z", "__x___y_z"),
            ("..", "unnamed"),
            ("../../etc/passwd", "_.._.._etc_passwd"),
            (".hidden", "_.hidden"),
            ("con", "_con"),
            ("Aux.tar", "_Aux.tar"),
            ("COM¹", "_COM¹"),
            ("Console", "Console"),
            ("  x. . ", "x"),
            ("", "unnamed"),
            ("read me.MD", "read me.MD_"),
            ("🐉 Ærin", "🐉 Ærin"),
            ("a\u{202e}b\n", "a_b"),
        ];
        for (name, expected) in cases {
            assert_eq!(safe_file_name(name), expected, "{name:?}");
        }
        assert_eq!(safe_file_name(&"🐉".repeat(200)), "🐉".repeat(30));
    }

    #[test]
    fn no_two_paths_are_equal_to_a_file_system() {
        let mut paths = SafePaths::default();
        let mut claim = |name: &str, number| paths.claim_path("Notes", name, number);
        assert_eq!(claim("É", 1), "Notes/É");
        assert_eq!(claim("e\u{301}", 2), "Notes/e\u{301} (2)");
        assert_eq!(claim("x (3)", 9), "Notes/x (3)");
        assert_eq!(claim("X", 4), "Notes/X");
        assert_eq!(claim("x", 3), "Notes/x (3) (3)");
        assert_eq!(claim("straße", 5), "Notes/straße");
        assert_eq!(claim("STRASSE", 6), "Notes/STRASSE (6)");
        assert_eq!(claim("STRAẞE", 7), "Notes/STRAẞE (7)");
    }
}
