//! Tests of what ARCHITECTURE.md says never happens in source files: SQL outside of its folder, `anyhow` outside of the
//! programs, `async` in the rules.

use crate::paths;
use crate::tidy::read_text;

/// Begins of SQL statements, as they are written in this repository.
const SQL_BEGINS: [&str; 14] = [
    "SELECT ",
    "INSERT INTO ",
    "UPDATE ",
    "DELETE FROM ",
    "CREATE TABLE ",
    "CREATE INDEX ",
    "CREATE UNIQUE INDEX ",
    "CREATE VIRTUAL TABLE ",
    "ALTER TABLE ",
    "DROP TABLE ",
    "DROP INDEX ",
    "PRAGMA ",
    "WITH RECURSIVE ",
    "TRUNCATE ",
];

/// Lines with a text that begins like an SQL statement. What is compiled for tests alone is left out.
fn sql_lines(source: &str) -> Vec<&str> {
    let source = source.find("#[cfg(test)]\nmod tests {").map_or(source, |begin| &source[..begin]);
    let is_sql = |line: &&str| {
        let mut texts = line.split('"').skip(1).map(str::trim_start);
        let begins_here = texts.any(|text| SQL_BEGINS.iter().any(|begin| text.starts_with(begin)));
        // A text over several lines begins a line with the statement.
        begins_here || SQL_BEGINS.iter().any(|begin| line.trim_start().starts_with(begin))
    };
    source.lines().filter(|line| !line.trim_start().starts_with("//")).filter(is_sql).collect()
}

/// Files of code of the product, by their path in the repository.
fn product_sources() -> impl Iterator<Item = (String, String)> {
    paths::repository_files(".rs").into_iter().filter_map(|path| {
        let name = path.strip_prefix(paths::root()).ok()?.display().to_string();
        let is_product = name.starts_with("crates/") && name.contains("/src/") && !name.contains("/tests");
        is_product.then(|| (name, read_text(&path)))
    })
}

#[test]
fn sql_is_found_in_texts_and_not_in_words() {
    for statement in ["let a = \"SELECT 1\";", "    run(r#\"UPDATE t SET a = 1\"#)", "    DELETE FROM t\";"] {
        assert_eq!(sql_lines(statement), [statement]);
    }
    for other in ["// SELECT it", "let a = \"select one\";", "\"Create a campaign\"", "const UPDATE: u8 = 1;"] {
        assert_eq!(sql_lines(other), [""; 0], "{other}");
    }
}

#[test]
fn sql_stands_in_its_own_files() {
    for (name, source) in product_sources() {
        let lines = sql_lines(&source);
        assert!(lines.is_empty(), "{name} has SQL, which belongs to crates/store/sql: {lines:?}");
    }
}

#[test]
fn only_programs_use_anyhow() {
    for path in paths::repository_files("Cargo.toml") {
        let folder =
            path.parent().and_then(std::path::Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        let is_used = read_text(&path).lines().any(|line| line.starts_with("anyhow"));
        let may_use = path == paths::root().join("Cargo.toml") || ["skald", "xtask"].contains(&folder);
        assert!(may_use || !is_used, "{} uses anyhow: a caller could not tell errors apart", path.display());
    }
}

#[test]
fn rules_are_never_async() {
    let rules = product_sources().filter(|(name, _)| name.starts_with("crates/domain/"));
    for (name, source) in rules {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        let is_async =
            |line: &str| ["async fn", "async {", "async move", ".await"].iter().any(|word| line.contains(word));
        assert!(!code.into_iter().any(is_async), "{name} is async, and rules wait for nothing");
    }
}
