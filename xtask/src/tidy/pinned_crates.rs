//! Finds crates that a manifest pins to one version, so that a test can compare them with the page of dependencies.

/// The names of the crates whose version begins with `=`.
pub(super) fn pinned_crates(manifest: &str) -> Vec<&str> {
    let entries = manifest.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(" = "));
    let is_pinned = |value: &str| value.contains("\"=");
    entries.filter(|(_, value)| is_pinned(value)).map(|(name, _)| name).collect()
}

#[test]
fn a_version_that_begins_with_an_equals_sign_is_pinned() {
    let manifest = "a = \"1\"\n# b = \"=1\"?\nc = \"=1.2\"\nd = { version = \"=3\", features = [] }\n";
    assert_eq!(pinned_crates(manifest), ["c", "d"]);
    assert_eq!(pinned_crates("a = { version = \"1\" }\n"), [""; 0]);
}
