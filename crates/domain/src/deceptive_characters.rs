//! Detects and replaces deceptive characters in names: control characters, bidirectional overrides, invisible tags.

/// The flags of England, Scotland and Wales. They are the only emoji that are written with tags, so a name may have
/// these three sequences and no other tag: nothing can be hidden in a fixed sequence that shows a flag.
const TAGGED_FLAGS: [&str; 3] = [
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// Characters of a caller's text that a message repeats.
const QUOTED_CHARS_MAX: usize = 80;

/// A caller's text for use in a message, cut to `QUOTED_CHARS_MAX`.
pub fn truncate_for_message(text: &str) -> String {
    match text.char_indices().nth(QUOTED_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a character is a control character, a line separator, a bidirectional override, or a tag (invisible to
/// people, but read by models). Names must not contain them, except tags in the three flags.
pub fn is_deceptive(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{2028}' | '\u{2029}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character has no width. Some scripts and joined emoji need these, so names may contain them; output to a
/// terminal leaves them out.
pub fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// The first deceptive character of a name.
pub fn first_deceptive(name: &str) -> Option<char> {
    find_deceptive(name).map(|(_, character)| character)
}

/// A name without deceptive characters: white space becomes a space, all others are removed. `None` if the name has
/// none.
pub fn clean_name(name: &str) -> Option<String> {
    find_deceptive(name)?;
    let (mut clean, mut rest) = (String::with_capacity(name.len()), name);
    while let Some((at, character)) = find_deceptive(rest) {
        clean.push_str(&rest[..at]);
        if character.is_whitespace() {
            clean.push(' ');
        }
        rest = &rest[at + character.len_utf8()..];
    }
    clean.push_str(rest);
    Some(clean)
}

/// A character as text for messages, like `U+202E`.
pub fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// The first deceptive character outside of the three flags, with its byte offset.
fn find_deceptive(text: &str) -> Option<(usize, char)> {
    // Fast path: most names are printable ASCII.
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
        return None;
    }
    let mut from = 0;
    while let Some(found) = text[from..].find(is_deceptive) {
        let at = from + found;
        // In a flag, the search stops at the first tag, so look back at the black flag before it.
        let start = text[from..at].char_indices().next_back().map(|(start, _)| from + start);
        let flag = start.and_then(|start| TAGGED_FLAGS.iter().find(|flag| text[start..].starts_with(**flag)));
        match (start, flag) {
            (Some(start), Some(flag)) => from = start + flag.len(),
            _ => return text[at..].chars().next().map(|character| (at, character)),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCOTLAND: &str = TAGGED_FLAGS[1];

    #[test]
    fn a_name_is_one_line_that_reads_as_it_is_written() {
        for name in [
            "Sel",
            "Zoë 🧙\u{200d}♀\u{fe0f}",
            "日本 👋🏽 🇯🇵",
            "نِيلس",
            "Th\u{f3}rin – the 2nd",
            "क\u{94d}\u{200d}ष",
            SCOTLAND,
            &format!("{SCOTLAND}{}x{}", TAGGED_FLAGS[0], TAGGED_FLAGS[2]),
        ] {
            assert_eq!(first_deceptive(name), None, "{name}");
            assert_eq!(clean_name(name), None, "{name}");
        }
        for character in ['\n', '\t', '\u{1b}', '\u{85}', '\u{2028}', '\u{202e}', '\u{2067}', '\u{e0041}'] {
            assert_eq!(first_deceptive(&format!("a{character}b")), Some(character));
            assert_eq!(first_deceptive(&format!("{SCOTLAND}{character}")), Some(character));
        }
        assert_eq!(code_point('\u{202e}'), "U+202E");
    }

    #[test]
    fn tags_stand_only_in_the_three_flags() {
        let (flag, cancel) = ('\u{1f3f4}', '\u{e007f}');
        let unfinished = SCOTLAND.trim_end_matches(cancel);
        let texas = format!("{flag}\u{e0075}\u{e0073}\u{e0074}\u{e0078}{cancel}");
        let longer = format!("{unfinished}\u{e0061}{cancel}");
        let apart = SCOTLAND.replacen(flag, "🏴 ", 1);
        for name in [unfinished, &texas, &longer, &apart, &SCOTLAND[4..]] {
            assert!(first_deceptive(name).is_some(), "{name:?}");
        }
    }

    #[test]
    fn a_cleaned_name_has_nothing_left_to_clean() {
        for (name, clean) in [
            ("a\nb\tc", "a b c"),
            ("a\r\nb", "a  b"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            ("evil\u{202e}txt", "eviltxt"),
            ("\u{e0041}\u{e0042}", ""),
            (&format!("to {SCOTLAND}\u{e0041}!"), &format!("to {SCOTLAND}!")),
            // Removing a character must not create a flag.
            (&SCOTLAND.replacen('\u{1f3f4}', "🏴\u{202e}", 1), "🏴"),
        ] {
            let cleaned = clean_name(name).unwrap();
            assert_eq!(cleaned, clean, "{name:?}");
            assert_eq!(clean_name(&cleaned), None, "{name:?}");
        }
    }
}
