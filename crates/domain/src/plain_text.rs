//! Characters that make a text read as something else than it is.

/// Whether a character breaks a line, moves a cursor, or turns the order of what stands beside it; and the tags, which
/// nobody sees and a model reads. None of them stands in a name.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character takes no room. Some scripts and joined emoji need it, so a name may have it; a terminal does not
/// show it.
pub fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The first character of a name that cannot be in one.
pub fn deceptive_in(name: &str) -> Option<char> {
    name.chars().find(|character| is_deceptive(*character))
}

/// A character as a message names it.
pub fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_line_that_reads_as_it_is_written() {
        for name in ["Sel", "Zoë 🧙\u{200d}♀\u{fe0f}", "نِيلس", "Th\u{f3}rin – the 2nd", "क\u{94d}\u{200d}ष"]
        {
            assert_eq!(deceptive_in(name), None, "{name}");
        }
        for character in ['\n', '\t', '\u{1b}', '\u{85}', '\u{2028}', '\u{202e}', '\u{2067}', '\u{e0041}'] {
            assert_eq!(deceptive_in(&format!("a{character}b")), Some(character));
        }
        assert_eq!(code_point('\u{202e}'), "U+202E");
    }
}
