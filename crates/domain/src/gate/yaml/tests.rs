use std::fmt::Write;

use serde_json::{Value, json};

use super::super::finding::{Finding, Rule};
use super::read;
use crate::limits;

fn read_json(source: &str) -> Value {
    read(source).unwrap_or_else(|finding| panic!("{finding}")).json()
}

fn read_error(source: &str) -> Finding {
    read(source).expect_err("a file that is refused")
}

#[test]
fn scalars_mean_what_the_core_schema_says() {
    let source = "[a, 'a', \"1\", !!str 1, 1, -1, +1, 0o17, 0xff, 1.5, 1e3, .5, 007, true, False, null, ~, yes, 0x, 1.2.0, 1e, ., '']";
    let expected = json!([
        "a", "a", "1", "1", 1, -1, 1, 15, 255, 1.5, 1000.0, 0.5, 7, true, false, null, null, "yes", "0x", "1.2.0",
        "1e", ".", ""
    ]);
    assert_eq!(read_json(source), expected);
    assert_eq!(read_json("a:\nb: |\n  two\n  lines\n"), json!({"a": null, "b": "two\nlines\n"}));
    for source in ["[.inf]", "[-.INF]", "[.nan]", "[99999999999999999999]", "[1e999]"] {
        assert_eq!(read_error(source).code, Rule::InvalidYaml, "{source}");
    }
}

#[test]
fn everything_knows_its_place() {
    let node = read("a: 1\nb:\n  - x\n  - {c: 日本, d: 5}\n").unwrap();
    let place = |pointer: &str| {
        let place = node.place_of(pointer);
        (place.line, place.column)
    };
    assert_eq!(place(""), (1, 1));
    assert_eq!(place("/a"), (1, 4));
    assert_eq!(place("/b/0"), (3, 5));
    assert_eq!(place("/b/1/d"), (4, 16), "columns count characters, not bytes");
    assert_eq!(place("/b/1/missing"), (4, 5), "the last thing on the way");
}

#[test]
fn an_alias_is_what_it_names() {
    assert_eq!(
        read_json("{a: &x [1, 2], b: *x, c: [*x, *x]}"),
        json!({"a": [1, 2], "b": [1, 2], "c": [[1, 2], [1, 2]]})
    );
    assert_eq!(read_json("{&k key: 1, b: *k}"), json!({"key": 1, "b": "key"}));
    assert_eq!(read_error("a: &x [1, *x]").code, Rule::InvalidYaml);
    assert_eq!(read_error("a: *nowhere").code, Rule::InvalidYaml);
}

#[test]
fn an_alias_bomb_is_refused_before_it_is_built() {
    let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..30 {
        let before = level - 1;
        let row = vec![format!("*a{before}"); 10].join(", ");
        writeln!(bomb, "a{level}: &a{level} [{row}]").unwrap();
    }
    let finding = read_error(&bomb);
    assert_eq!((finding.code, finding.line), (Rule::TooLarge, 5), "{finding}");
}

#[test]
fn aliases_cannot_nest_deeper_than_what_is_written_out() {
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for level in 1..100 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    assert_eq!(read_error(&chain).code, Rule::TooDeep);
}

#[test]
fn depth_nodes_and_bytes_are_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&nested(limits::PROCESS_DEPTH_MAX)).is_ok());
    assert_eq!(read_error(&nested(limits::PROCESS_DEPTH_MAX + 1)).code, Rule::TooDeep);
    assert!(read(&nested(100_000)).is_err());
    assert_eq!(read_error(&"- ".repeat(100_000)).code, Rule::TooDeep);
    let many = |count: usize| format!("[{}]", "x,".repeat(count));
    assert!(read(&many(limits::PROCESS_NODES_MAX - 1)).is_ok());
    assert_eq!(read_error(&many(limits::PROCESS_NODES_MAX)).code, Rule::TooLarge);
    let long = |bytes: usize| format!("a: {}", "x".repeat(bytes - 3));
    assert!(read(&long(limits::PROCESS_BYTES_MAX)).is_ok());
    assert_eq!(read_error(&long(limits::PROCESS_BYTES_MAX + 1)).code, Rule::TooLarge);
}

#[test]
fn what_is_no_single_plain_document_is_refused_with_its_place() {
    let cases = [
        ("a: 1\na: 2", Rule::DuplicateKey, (2, 1)),
        ("a: 1\n---\nb: 2", Rule::InvalidYaml, (2, 1)),
        ("", Rule::InvalidYaml, (1, 1)),
        ("a: !mine 1", Rule::InvalidYaml, (1, 4)),
        ("? [a, b]\n: 1", Rule::InvalidYaml, (1, 3)),
        ("a: {<<: {b: 1}}", Rule::InvalidYaml, (1, 5)),
        ("a: 'open", Rule::InvalidYaml, (1, 4)),
        ("a: [1, 2\nb: 3", Rule::InvalidYaml, (2, 2)),
    ];
    for (source, rule, place) in cases {
        let finding = read_error(source);
        assert_eq!((finding.code, (finding.line, finding.column)), (rule, place), "{source:?}: {finding}");
        assert!(!finding.hint.is_empty());
    }
}
