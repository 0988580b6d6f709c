//! Checks that what only Unix has stands behind `cfg`, and that other systems, for which we cannot build, have a counterpart or
//! a comment that says what they do without it.

use std::collections::BTreeSet;
use std::fs;

use crate::paths;

/// Names that only exist on Unix.
const UNIX_ONLY: [&str; 3] = ["os::unix", "signal::unix", "rustix::"];
/// One of these in the comment above says what holds elsewhere.
const SAYS_WHAT_HOLDS_ELSEWHERE: [&str; 2] = ["ther systems", "nly Unix"];

#[test]
fn what_only_unix_has_stands_behind_cfg() {
    let (mut found, mut problems) = (0, Vec::new());
    for path in paths::repository_files(".rs") {
        let name = path.display().to_string();
        if !name.contains("/crates/")
            || name.contains("/tests/")
            || name.contains("/examples/")
            || name.contains("/testkit/")
        {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a file");
        problems.extend(items_without_counterpart(&text).into_iter().map(|item| format!("{name}: {item}")));
        if !UNIX_ONLY.iter().any(|word| text.contains(word)) {
            continue;
        }
        found += 1;
        // A file called unix.rs is a module behind cfg.
        let is_module = name.ends_with("/unix.rs");
        let is_marked =
            text.contains("cfg(unix)") || text.contains("cfg(target_os") || text.contains("cfg(all(test, unix))");
        assert!(is_module || is_marked, "{name} uses what only Unix has, and is not behind cfg");
    }
    assert!(found > 5, "only {found} files use what only Unix has");
    assert!(problems.is_empty(), "other systems have no counterpart, and no comment says so: {problems:#?}");
}

/// Items and statements of a source that only Unix or Linux has, without a counterpart behind `cfg(not(unix))` and without a
/// comment about other systems.
fn items_without_counterpart(source: &str) -> Vec<String> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let counterparts: BTreeSet<String> = (0..lines.len())
        .filter(|index| lines[*index].starts_with("#[cfg(not(unix))]"))
        .filter_map(|index| item_name(following_item(&lines, index)))
        .collect();
    let mut found = Vec::new();
    for index in 0..lines.len() {
        if !lines[index].starts_with("#[cfg(unix)]") && !lines[index].starts_with("#[cfg(target_os") {
            continue;
        }
        let item = following_item(&lines, index);
        let is_test = lines[index..].iter().take_while(|line| line.starts_with("#[")).any(|line| line.contains("test"));
        let comment = lines[..index].iter().rev().take_while(|line| line.starts_with("//") || line.starts_with("#["));
        let is_explained =
            comment.into_iter().any(|line| SAYS_WHAT_HOLDS_ELSEWHERE.iter().any(|words| line.contains(words)));
        let is_paired = item_name(item).is_some_and(|name| counterparts.contains(&name));
        if !is_test && !is_explained && !is_paired {
            found.push(item.to_owned());
        }
    }
    found
}

/// The line after an attribute and those that follow it.
fn following_item<'a>(lines: &[&'a str], attribute: usize) -> &'a str {
    lines[attribute..]
        .iter()
        .find(|line| !line.starts_with("#[") && !line.starts_with("//"))
        .copied()
        .unwrap_or_default()
}

/// The keyword and name of an item; modules and imports differ in their names from their counterparts.
fn item_name(line: &str) -> Option<String> {
    let mut words = line.split([' ', '(', '<', '{', ';', ':']).filter(|word| !word.is_empty());
    let keyword = words.find(|word| ["fn", "struct", "impl", "const", "mod", "use"].contains(word))?;
    Some(if ["mod", "use"].contains(&keyword) { keyword.to_owned() } else { format!("{keyword} {}", words.next()?) })
}

#[test]
fn a_missing_counterpart_is_found() {
    let paired =
        "#[cfg(unix)]\npub(crate) fn hide(path: &Path) {}\n#[cfg(not(unix))]\npub(crate) fn hide(_: &Path) {}\n";
    assert_eq!(items_without_counterpart(paired), Vec::<String>::new());
    let alone = "#[cfg(unix)]\nfn hide(path: &Path) {}\n#[cfg(not(unix))]\nfn show(_: &Path) {}\n";
    assert_eq!(items_without_counterpart(alone), ["fn hide(path: &Path) {}"]);
    let explained = "// Other systems have no modes.\n    #[cfg(unix)]\n    options.mode(0o600);\n";
    assert_eq!(items_without_counterpart(explained), Vec::<String>::new());
    let statement = "// For the owner alone.\n    #[cfg(unix)]\n    options.mode(0o600);\n";
    assert_eq!(items_without_counterpart(statement), ["options.mode(0o600);"]);
    let test = "#[cfg(unix)]\n#[test]\nfn links() {}\n";
    assert_eq!(items_without_counterpart(test), Vec::<String>::new());
    let modules = "#[cfg(not(unix))]\nmod non_unix;\n#[cfg(unix)]\nmod unix;\n";
    assert_eq!(items_without_counterpart(modules), Vec::<String>::new());
}
