//! Checks that the errors which the page for troubleshooting quotes are errors of the product: their words are in its source.

use std::fs;

use crate::paths;

const PAGE: &str = "docs/troubleshooting.md";
/// Errors of other programs, which the page quotes too.
const OTHER_PROGRAMS: [&str; 3] = ["command not found: skald", "linker `cc` not found", "connection refused"];
/// Shorter parts of a quotation are in every source.
const PART_LETTERS_MIN: usize = 4;

#[test]
fn quoted_errors_are_errors_of_the_product() {
    let page = fs::read_to_string(paths::root().join(PAGE)).expect("the page");
    let quoted = quoted_errors(&page);
    assert!(quoted.len() > 25, "only {} errors are quoted", quoted.len());
    for error in OTHER_PROGRAMS {
        assert!(quoted.iter().any(|quoted| quoted == error), "{error} is not quoted any more");
    }
    let sources = product_sources();
    let unknown: Vec<&String> = quoted
        .iter()
        .filter(|error| !OTHER_PROGRAMS.contains(&error.as_str()))
        .filter(|error| fixed_parts(error).iter().any(|part| !sources.contains(part)))
        .collect();
    assert!(unknown.is_empty(), "{PAGE} quotes what no source of the product has: {unknown:#?}");
}

/// The sources of the product in lower case, without the line breaks in their texts.
fn product_sources() -> String {
    let is_product = |name: &str| name.contains("/src/") && name.contains("/crates/") && !name.contains("/testkit/");
    let is_tested = |name: &str| !name.ends_with("/tests.rs") && !name.contains("/tests/");
    let sources = paths::repository_files(".rs").into_iter().filter(|path| {
        let name = path.display().to_string();
        is_product(&name) && is_tested(&name)
    });
    sources.map(|path| join_lines(&fs::read_to_string(path).expect("a source"))).collect()
}

fn join_lines(source: &str) -> String {
    let joined = source.replace("\\\"", "\"").replace("\\\n", " ");
    joined.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The quotations in the first column of tables with the head "it says", at the beginning of a paragraph, and between quotation
/// marks at the beginning of an item.
fn quoted_errors(page: &str) -> Vec<String> {
    let (mut quoted, mut is_in_table) = (Vec::new(), false);
    for line in page.lines() {
        if let Some(row) = line.strip_prefix("| ") {
            let cell = row.split(" | ").next().unwrap_or_default();
            if cell == "it says" {
                is_in_table = true;
            } else if is_in_table {
                quoted.extend(code_spans(cell));
            }
        } else {
            is_in_table = is_in_table && line.starts_with('|');
            if line.starts_with('`') && !line.starts_with("```") && line.contains("`:") {
                quoted.extend(code_spans(line).into_iter().take(1));
            }
            if let Some((text, _)) = line.strip_prefix("- \"").and_then(|rest| rest.split_once('"')) {
                quoted.push(text.to_owned());
            }
        }
    }
    quoted
}

/// The texts between backticks, one or two of them.
fn code_spans(text: &str) -> Vec<String> {
    let (mut spans, mut rest) = (Vec::new(), text);
    while let Some(start) = rest.find('`') {
        let marks = if rest[start..].starts_with("``") { "``" } else { "`" };
        let begun = &rest[start + marks.len()..];
        let Some((span, after)) = begun.split_once(marks) else { break };
        spans.push(span.to_owned());
        rest = after;
    }
    spans
}

/// The parts of an error that are the same each time, in lower case: without `…`, and without words that have a digit, which are
/// examples.
fn fixed_parts(error: &str) -> Vec<String> {
    let fixed = error.split_whitespace().map(|word| {
        let is_example = word.contains(|letter: char| letter.is_ascii_digit());
        if is_example { "…" } else { word }
    });
    let fixed = fixed.collect::<Vec<_>>().join(" ").to_lowercase();
    let parts = fixed.split('…').map(|part| part.trim_matches([' ', '"']).to_owned());
    parts.filter(|part| part.len() >= PART_LETTERS_MIN).collect()
}

#[test]
fn errors_are_taken_from_a_page() {
    let page = "| it says | what to do |\n|---|---|\n| `… is taken` | Stop `it`. |\n| ``no `cc` `` or `GONE` | |\n\n\
                `the store is locked`: wait.\n\n| code | cause |\n|---|---|\n| `OTHER` | |\n- \"Not for you\": ask.\n";
    assert_eq!(quoted_errors(page), ["… is taken", "no `cc` ", "GONE", "the store is locked", "Not for you"]);
    assert_eq!(fixed_parts("127.0.0.1:8081 is taken by \"…\" here"), ["is taken by", "here"]);
    let source = "let text = format!(\n    \"the file {file:?} is taken \\\n     by others\"\n);";
    assert!(join_lines(source).contains("is taken by others"));
}
