//! Finds the types, functions and fields that a source file declares, line by line. What is compiled for tests alone is
//! left out, and so are comments.

/// What a line declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeclarationKind {
    Type,
    Function,
    Field,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declaration<'a> {
    pub kind: DeclarationKind,
    pub name: &'a str,
}

/// The declarations of a source file, in its order. `rustfmt` has formatted it: one declaration in a line, and a block
/// ends where a line is indented no more than the one that opened it. An alias counts at the begin of a line alone, since
/// `type` elsewhere is that of a trait.
pub(super) fn declarations(source: &str) -> Vec<Declaration<'_>> {
    let source = source.find("#[cfg(test)]\nmod tests {").map_or(source, |begin| &source[..begin]);
    // The indentation of the type whose fields follow.
    let (mut found, mut type_with_fields) = (Vec::new(), None);
    for line in source.lines() {
        let Some(code) = code_of(line) else { continue };
        let indentation = line.len() - line.trim_start().len();
        type_with_fields = type_with_fields.filter(|opened_at| indentation > *opened_at);
        let rest = without_modifiers(code);
        if let Some(name) = rest.strip_prefix("fn ").map(first_word) {
            found.push(Declaration { kind: DeclarationKind::Function, name });
        } else if let Some((keyword, name)) = type_name(rest).filter(|(word, _)| *word != "type" || indentation == 0) {
            let has_fields = ["struct", "enum"].contains(&keyword) && code.ends_with('{');
            type_with_fields = has_fields.then_some(indentation);
            found.push(Declaration { kind: DeclarationKind::Type, name });
        } else if let Some(name) = field_name(rest).filter(|_| type_with_fields.is_some()) {
            found.push(Declaration { kind: DeclarationKind::Field, name });
        }
    }
    found
}

/// A line without its comment; `None` if there is nothing else in it.
fn code_of(line: &str) -> Option<&str> {
    let code = line.split("//").next().unwrap_or_default().trim();
    (!code.is_empty()).then_some(code)
}

/// What follows `pub(crate)`, `const`, `async`, `unsafe` and `extern` at the begin of a declaration.
fn without_modifiers(code: &str) -> &str {
    let mut rest = code;
    loop {
        let next = match rest.strip_prefix("pub(").and_then(|scope| scope.split_once(')')) {
            Some((_, next)) => Some(next.trim_start()),
            None => ["pub ", "const ", "async ", "unsafe "].iter().find_map(|modifier| rest.strip_prefix(modifier)),
        };
        match next {
            Some(next) => rest = next,
            None => return rest,
        }
    }
}

fn type_name(rest: &str) -> Option<(&str, &str)> {
    let (keyword, name) = rest.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type"].contains(&keyword) && name.starts_with(char::is_uppercase);
    is_type.then(|| (keyword, first_word(name)))
}

fn field_name(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix("r#").unwrap_or(rest);
    let name = first_word(rest);
    (!name.is_empty() && rest[name.len()..].starts_with(": ")).then_some(name)
}

fn first_word(text: &str) -> &str {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default()
}

/// The words of a `snake_case` or `CamelCase` name, in lower case.
pub(super) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut last = '_';
    for letter in name.chars() {
        let begins = !letter.is_alphanumeric() || (letter.is_uppercase() && !last.is_uppercase()) || last == '_';
        if begins {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        last = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_functions_and_fields_are_found() {
        let source = "/// struct Comment\npub(crate) struct Chart<'a> {\n    /// of: it\n    pub(super) sky: &'a str,\n    \
                      r#type: u8,\n}\n\nimpl Chart<'_> {\n    pub async fn told(&self) {} // it is said\n}\n\nenum Way {\n    \
                      Up { seen: bool },\n    Down {\n        kept: u8,\n    },\n}\n\nfn draw(\n    place: u8,\n) {\n    \
                      let place: u8 = 1;\n}\n#[cfg(test)]\nmod tests {\n    fn heard() {}\n}\n";
        let found = declarations(source);
        let names = |kind| found.iter().filter(|found| found.kind == kind).map(|found| found.name).collect::<Vec<_>>();
        assert_eq!(names(DeclarationKind::Type), ["Chart", "Way"]);
        assert_eq!(names(DeclarationKind::Function), ["told", "draw"]);
        assert_eq!(names(DeclarationKind::Field), ["sky", "type", "kept"]);
    }

    #[test]
    fn indented_types_and_their_fields_are_found() {
        let source = "macro_rules! kinds {\n    () => {\n        pub enum Deed {\n            Kept { seen: u8 },\n        }\n    \
                      };\n}\n\nfn read() {\n    struct Rows {\n        known: u8,\n    }\n    let input = Rows {\n        \
                      asked: 1,\n    };\n}\n\nimpl Read for Rows {\n    type Input = u8;\n\n    fn ask(\n        look: u8,\n    \
                      ) {\n    }\n}\n\nfn text() {\n    let sql = \"\n        type of\n    \";\n}\n";
        let found = declarations(source);
        let names = |kind| found.iter().filter(|found| found.kind == kind).map(|found| found.name).collect::<Vec<_>>();
        assert_eq!(names(DeclarationKind::Type), ["Deed", "Rows"]);
        assert_eq!(names(DeclarationKind::Field), ["known"]);
    }

    #[test]
    fn a_name_is_taken_apart_at_underscores_and_capitals() {
        assert_eq!(words_of("sky_page"), ["sky", "page"]);
        assert_eq!(words_of("SkyReading"), ["sky", "reading"]);
        assert_eq!(words_of("to_json_rpc_2"), ["to", "json", "rpc", "2"]);
        assert_eq!(words_of("SSEWriter"), ["ssewriter"]);
        assert_eq!(words_of("UPPER_CASE"), ["upper", "case"]);
    }
}
