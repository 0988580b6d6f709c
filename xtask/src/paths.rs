//! Paths of the workspace, of the target folder, of built binaries, and of files that git knows.

use std::path::PathBuf;

use crate::run;

/// The workspace.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Cargo's target folder, which also holds what tests install.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The path of a built binary.
pub(crate) fn built_binary(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(name)
}

/// Files that git tracks or would add, by how their names end.
pub(crate) fn repository_files(ending: &str) -> Vec<PathBuf> {
    let mut command = std::process::Command::new("git");
    command.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(root());
    let listed = run::run_captured(&mut command).expect("git lists the files");
    let named = listed.lines().filter(|name| name.ends_with(ending)).map(|name| root().join(name));
    named.filter(|path| path.exists()).collect()
}
