//! Checks that what only Unix has stands behind `cfg`, with a counterpart for other systems, which we cannot build.

use std::fs;

use crate::paths;

/// Names that only exist on Unix.
const UNIX_ONLY: [&str; 3] = ["os::unix", "signal::unix", "rustix::"];

#[test]
fn what_only_unix_has_stands_behind_cfg() {
    let mut found = 0;
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
}
