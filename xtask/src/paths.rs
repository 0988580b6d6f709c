//! Where things are.

use std::path::PathBuf;

/// The workspace.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), PathBuf::from)
}

/// Cargo's target folder, which also holds what tests install.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A binary that a build has left.
pub(crate) fn built(profile: &str, name: &str) -> PathBuf {
    target().join(profile).join(name)
}
