//! Finds limits that no test names.

/// The name of a constant in the file of limits, if this line begins one.
fn declared_limit(line: &str) -> Option<&str> {
    line.strip_prefix("pub const ")?.split_once(':').map(|(name, _)| name)
}

/// The part of a source file that is compiled for tests alone: all of a file of tests, else what follows its first
/// `#[cfg(test)]` that begins a module with a body.
pub(super) fn test_part<'a>(path: &str, text: &'a str) -> &'a str {
    let is_of_tests = path.split('/').any(|part| part == "tests" || part == "tests.rs" || part.ends_with("_tests.rs"));
    if is_of_tests {
        return text;
    }
    text.find("#[cfg(test)]\nmod tests {").map_or("", |at| &text[at..])
}

/// Whether a text has a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_of_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(is_of_word) && !after.starts_with(is_of_word)
    })
}

/// The limits that none of these tests names, in the order in which they are declared.
pub(super) fn untested_limits<'a>(limits: &'a str, tests: &[&str]) -> Vec<&'a str> {
    let names = limits.lines().filter_map(declared_limit).filter(|name| *name != "ALL");
    names.filter(|name| !tests.iter().any(|test| has_word(test, name))).collect()
}

#[test]
fn a_limit_without_a_test_is_found() {
    let limits =
        "/// Bytes.\npub const BODY_MAX: usize = 1;\npub const DICE_MAX: u32 = 2;\npub const ALL: &[Limit] = &[];\n";
    assert_eq!(untested_limits(limits, &["assert(limits::DICE_MAX)", "limits::BODY_MAX"]), [""; 0]);
    assert_eq!(untested_limits(limits, &["limits::BODY_MAX_BYTES", "MY_BODY_MAX", "DICE_MAX + 1"]), ["BODY_MAX"]);
    assert_eq!(untested_limits(limits, &[]), ["BODY_MAX", "DICE_MAX"]);
}

#[test]
fn only_tests_count() {
    let source = "use limits::BODY_MAX;\n#[cfg(test)]\nmod tests {\n    DICE_MAX\n}\n";
    assert_eq!(test_part("crates/app/src/input.rs", source), &source[22..]);
    assert_eq!(test_part("crates/app/src/input.rs", "#[cfg(test)]\nmod tests;\nuse limits::BODY_MAX;\n"), "");
    for path in ["crates/app/tests/it/input.rs", "crates/domain/src/dice/tests.rs", "crates/domain/src/limit_tests.rs"]
    {
        assert_eq!(test_part(path, source), source, "{path}");
    }
}
