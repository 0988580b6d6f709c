//! Tests of style rules that a compiler does not check: dependencies, names, heads, links, SQL and limits.

mod architecture;
mod banned_names;
mod declarations;
mod headings;
mod order_by;
mod pinned_crates;
mod quoted_errors;
mod source_rules;
mod tested_limits;
mod type_names;
mod unix_only;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::paths::repository_files;
use crate::{paths, run};

/// Most lines of a file. Longer files are split, by noun or by part.
const LINES_MAX: usize = 700;

fn read_text(path: &Path) -> String {
    fs::read_to_string(path).expect("a text file")
}

/// The dependencies between crates, as `from -> to`; those of tests and examples alone are marked.
fn crate_dependencies() -> BTreeSet<String> {
    let metadata = run::run_captured(&mut run::cargo_command(&["metadata", "--no-deps", "--format-version", "1"]))
        .expect("cargo's metadata");
    let metadata: Value = serde_json::from_str(&metadata).expect("metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let mut arrows = BTreeSet::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let is_own_crate = dependency["path"].is_string();
            if is_own_crate {
                let kind = if dependency["kind"] == "dev" { " (tests)" } else { "" };
                let name =
                    |value: &Value| value.as_str().expect("a name").trim_start_matches("skald-").replace('-', "_");
                arrows.insert(format!("{} -> {}{kind}", name(&package["name"]), name(&dependency["name"])));
            }
        }
    }
    arrows
}

#[test]
fn crates_depend_on_each_other_as_agreed() {
    let agreed = read_text(&paths::root().join("xtask/arrows.txt"));
    let agreed: BTreeSet<String> =
        agreed.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).map(str::to_owned).collect();
    assert_eq!(crate_dependencies(), agreed, "left: what Cargo says, right: xtask/arrows.txt");
    let explained = architecture::named_arrows(&read_text(&paths::root().join("ARCHITECTURE.md")));
    let of_libraries = |arrow: &String| !arrow.starts_with("skald ->") && !arrow.ends_with("(tests)");
    let agreed: BTreeSet<String> = agreed.into_iter().filter(of_libraries).collect();
    assert_eq!(explained, agreed, "left: ARCHITECTURE.md, right: xtask/arrows.txt");
}

#[test]
fn names_say_what_is_inside() {
    let names: Vec<_> = repository_files(".rs")
        .iter()
        .flat_map(|path| banned_names::banned_names_of(&relative_path(path), &read_text(path), is_source(path)))
        .collect();
    let found = banned_names::findings(&names);
    assert!(found.is_empty(), "these need a noun, or a verb and an object: {found:#?}");
}

fn relative_path(path: &Path) -> String {
    path.strip_prefix(paths::root()).expect("a file of the repository").display().to_string()
}

/// Whether a file is code of the product or of xtask, or an example, and no test.
fn is_source(path: &Path) -> bool {
    let path = path.display().to_string();
    let is_test = path.contains("/tests") || path.contains("_tests");
    !is_test && (path.contains("/src/") || path.contains("/examples/"))
}

#[test]
fn type_names_have_one_meaning() {
    let sources: Vec<(String, String)> = repository_files(".rs")
        .iter()
        .filter(|path| is_source(path))
        .map(|path| (relative_path(path), read_text(path)))
        .collect();
    let found = type_names::bad_type_names(&sources);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn files_stay_readable() {
    for path in repository_files(".rs") {
        let lines = read_text(&path).lines().count();
        assert!(lines <= LINES_MAX, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_file_says_what_it_owns() {
    for path in repository_files(".rs") {
        let is_test_module = path.file_name().is_some_and(|name| name == "tests.rs");
        let text = read_text(&path);
        assert!(is_test_module || text.starts_with("//! "), "{} has no head", path.display());
        assert!(!text.starts_with("//! What "), "the head of {} names no thing: begin with a noun", path.display());
    }
}

/// Files that ARCHITECTURE.md names are there, and the functions that it names with them are in them.
#[test]
fn the_architecture_is_what_the_code_is() {
    let page = read_text(&paths::root().join("ARCHITECTURE.md"));
    let lines = page.lines().count();
    assert!(lines <= architecture::LINES_MAX, "ARCHITECTURE.md has {lines} lines");
    let crates = paths::root().join("crates");
    for path in architecture::named_paths(&page).into_iter().filter(|path| !path.contains('<')) {
        assert!(crates.join(path).exists() || paths::root().join(path).exists(), "ARCHITECTURE.md names {path}");
    }
    let functions = architecture::named_functions(&page);
    assert!(functions.len() > 30, "the walks name functions");
    for (path, function) in functions {
        let source = read_text(&crates.join(path));
        let is_there = source.contains(&format!("fn {function}(")) || source.contains(&format!("fn {function}<"));
        assert!(is_there, "{path} has no function {function}, which ARCHITECTURE.md names");
    }
}

/// The grid of ARCHITECTURE.md names every file with an operation in it, or its folder, and no file that is not there.
#[test]
fn the_grid_has_every_operation() {
    let page = read_text(&paths::root().join("ARCHITECTURE.md"));
    let crates = paths::root().join("crates");
    for noun in ["dice", "campaign", "lore", "universe", "gate", "tokens"] {
        let grid = architecture::grid_files(&page, noun);
        assert!(grid.len() > 3, "the grid has a column {noun}");
        let folder = crates.join("app/src").join(noun);
        let folders = [folder.clone(), crates.clone(), crates.join("app/src"), crates.join("grpc/src")];
        let is_file = |word: &&&str| word.ends_with('/') || Path::new(word).extension().is_some_and(|end| end == "rs");
        for file in grid.iter().filter(is_file) {
            assert!(folders.iter().any(|folder| folder.join(file).exists()), "the grid names {file} of {noun}");
        }
        for path in repository_files(".rs").iter().filter(|path| is_source(path)) {
            let Ok(file) = path.strip_prefix(&folder) else { continue };
            let file = file.display().to_string();
            let is_named = grid.iter().any(|named| *named == file || (named.ends_with('/') && file.starts_with(named)));
            let is_operation = read_text(path).contains("impl Operation for ");
            assert!(is_named || !is_operation, "the grid of ARCHITECTURE.md has no {file} of {noun}");
        }
    }
}

/// Each of these libraries is a dependency of one crate only.
#[test]
fn libraries_stay_in_the_crate_that_wraps_them() {
    let owners = [
        ("rmcp", "mcp"),
        ("maud", "page"),
        ("tonic", "grpc"),
        ("rusqlite", "store"),
        ("tokio-postgres", "store"),
        ("axum", "http"),
    ];
    for path in repository_files("Cargo.toml") {
        let manifest = read_text(&path);
        let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
        let dependencies = dependencies.split("[dev-dependencies]").next().unwrap_or_default();
        let folder = path.parent().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        for (library, owner) in owners {
            // MCP over HTTP, the page and the Kanka-compatible API are axum handlers, which `http` mounts.
            let is_mounted = library == "axum" && ["mcp", "kanka", "page"].contains(&folder);
            let is_owner = folder == owner || folder == "xtask" || is_mounted;
            let is_used = dependencies
                .lines()
                .any(|line| line.starts_with(&format!("{library}.")) || line.starts_with(&format!("{library} =")));
            assert!(is_owner || !is_used, "{} uses {library}", path.display());
        }
    }
}

/// A pinned crate is updated by hand, so the page says why and what to look at.
#[test]
fn every_pinned_crate_has_its_reason() {
    let manifest = read_text(&paths::root().join("Cargo.toml"));
    let page = read_text(&paths::root().join("docs/dependencies.md"));
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`')).map(|(name, _)| name);
    let (pinned, explained) = (pinned_crates::pinned_crates(&manifest), rows.collect::<BTreeSet<_>>());
    assert_eq!(pinned.into_iter().collect::<BTreeSet<_>>(), explained, "left: Cargo.toml, right: docs/dependencies.md");
}

#[test]
fn links_between_documents_lead_somewhere() {
    for path in repository_files(".md") {
        let folder = path.parent().expect("a folder");
        let text = read_text(&path);
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
        for target in targets.filter(|target| !target.contains("://")) {
            let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
            let linked = if file.is_empty() { path.clone() } else { folder.join(file) };
            assert!(linked.exists(), "{} links to {target}", path.display());
            let has_anchor = anchor.is_none_or(|anchor| headings::anchors(&read_text(&linked)).contains(anchor));
            assert!(has_anchor, "{} links to {target}, but no heading there has that name", path.display());
        }
    }
}

#[test]
fn no_test_is_left_out() {
    let banned = ["#[ignore", "#[should_panic"];
    for path in repository_files(".rs").iter().filter(|path| !path.ends_with("tidy.rs")) {
        assert!(!banned.iter().any(|word| read_text(path).contains(word)), "{}", path.display());
    }
}

#[test]
fn no_conflict_is_swallowed() {
    for path in repository_files(".sql") {
        let text = read_text(&path).to_uppercase();
        assert!(!text.contains("DO NOTHING"), "{} would lose an update without a word", path.display());
    }
}

#[test]
fn statements_order_by_columns() {
    for path in repository_files(".sql") {
        let names = order_by::ambiguous_names(&read_text(&path));
        assert!(names.is_empty(), "{}: {names:?} is what is selected, not the column; name its table", path.display());
    }
}

#[test]
fn every_statement_is_used() {
    let rust: String = repository_files(".rs").iter().map(|path| read_text(path)).collect();
    for path in repository_files(".sql") {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_used = rust.contains(&format!("\"{name}\";")) || rust.contains(&format!("migrations/{name}.sql"));
        assert!(is_used, "{} is not used", path.display());
    }
}

#[test]
fn every_limit_is_named_in_a_test() {
    let root = paths::root();
    let limits = read_text(&root.join("crates/domain/src/limits.rs"));
    let sources: Vec<(PathBuf, String)> =
        repository_files(".rs").into_iter().map(|path| (path.clone(), read_text(&path))).collect();
    let of_crates = sources.iter().filter_map(|(path, text)| Some((path.strip_prefix(&root).ok()?.to_str()?, text)));
    let of_crates = of_crates.filter(|(path, _)| path.starts_with("crates/"));
    let tests: Vec<&str> = of_crates.map(|(path, text)| tested_limits::test_part(path, text)).collect();
    let untested = tested_limits::untested_limits(&limits, &tests);
    assert!(untested.is_empty(), "no test names {untested:?}: write one that takes the limit and refuses one past it");
}

/// The pictures differ by fonts and by what was rolled, so only their presence, form and size are compared.
#[test]
fn the_guide_of_the_page_has_its_pictures() {
    for name in ["table-dark", "table-phone", "lore", "dice", "run", "sky"] {
        let path = paths::root().join(format!("docs/screenshots/{name}.png"));
        let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(bytes.starts_with(b"\x89PNG"), "{} is no PNG", path.display());
        assert!((10_000..400_000).contains(&bytes.len()), "{} has {} bytes", path.display(), bytes.len());
    }
}
