//! The evidence of a run: submitted artifacts by path, identified by the hash of their content.
//!
//! Guards count distinct contents of a type. The cost of a count depends on the number of stale paths, not of
//! artifacts.

use std::collections::BTreeSet;

use imbl::{OrdMap, OrdSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content_measure::ContentMeasure;
use crate::deceptive_characters::first_deceptive;

/// One artifact of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Artifact {
    /// Below the run's artifact folder, in its plain form.
    pub path: String,
    /// Of its content, in hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
    /// The types that it counts as.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Whether its content was handed in, rather than found in the artifact folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inline: bool,
    /// What guards know of its content; stored if a guard asks for the substance of one of its types.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    pub measure: Option<ContentMeasure>,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Evidence {
    by_path: OrdMap<String, Artifact>,
    /// Type to content hash to the paths with that content.
    by_type: OrdMap<String, OrdMap<String, OrdSet<String>>>,
    /// Paths of artifacts that are files on disk, which may change. Inline artifacts are not among them.
    in_files: OrdSet<String>,
}

impl Evidence {
    pub fn len(&self) -> usize {
        self.by_path.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty()
    }

    pub fn get(&self, path: &str) -> Option<&Artifact> {
        self.by_path.get(path)
    }

    /// All artifacts, by path.
    pub fn iter(&self) -> impl Iterator<Item = &Artifact> {
        self.by_path.values()
    }

    /// The artifacts of a type, ordered by content hash.
    pub fn of_type<'a>(&'a self, artifact_type: &str) -> impl Iterator<Item = &'a Artifact> {
        let contents = self.by_type.get(artifact_type);
        let paths = contents.into_iter().flat_map(OrdMap::values).flat_map(OrdSet::iter);
        paths.filter_map(|path| self.by_path.get(path))
    }

    /// The artifacts that are files on disk, by path.
    pub fn artifacts_in_files(&self) -> impl Iterator<Item = &Artifact> {
        self.in_files.iter().filter_map(|path| self.by_path.get(path))
    }

    /// Adds an artifact, or replaces the one at its path.
    pub(super) fn put(&mut self, artifact: Artifact) {
        if let Some(before) = self.by_path.remove(&artifact.path) {
            for name in &before.types {
                self.remove_type(name, &before);
            }
        }
        for name in &artifact.types {
            let contents = self.by_type.entry(name.clone()).or_default();
            contents.entry(artifact.sha256.clone()).or_default().insert(artifact.path.clone());
        }
        if artifact.inline {
            self.in_files.remove(&artifact.path);
        } else {
            self.in_files.insert(artifact.path.clone());
        }
        self.by_path.insert(artifact.path.clone(), artifact);
    }

    fn remove_type(&mut self, name: &str, artifact: &Artifact) {
        let Some(contents) = self.by_type.get_mut(name) else { return };
        let Some(paths) = contents.get_mut(&artifact.sha256) else { return };
        paths.remove(&artifact.path);
        if paths.is_empty() {
            contents.remove(&artifact.sha256);
        }
    }

    /// Number of distinct contents of a type. A content counts as long as one of its copies is not stale.
    pub fn count_distinct(&self, artifact_type: &str, stale: &BTreeSet<String>) -> u64 {
        let Some(contents) = self.by_type.get(artifact_type) else { return 0 };
        let touched: BTreeSet<&str> =
            self.stale_artifacts(artifact_type, stale).map(|found| found.sha256.as_str()).collect();
        let is_lost =
            |sha256: &&&str| contents.get(**sha256).is_some_and(|paths| paths.iter().all(|path| stale.contains(path)));
        (contents.len() - touched.iter().filter(is_lost).count()) as u64
    }

    /// Number of distinct contents of a type that a test accepts, counted up to `enough`.
    pub(super) fn count_accepted(
        &self,
        artifact_type: &str,
        stale: &BTreeSet<String>,
        enough: u64,
        accepts: impl Fn(&Artifact) -> bool,
    ) -> u64 {
        let is_accepted = |path: &String| !stale.contains(path) && self.by_path.get(path).is_some_and(&accepts);
        let contents = self.by_type.get(artifact_type).into_iter().flat_map(OrdMap::values);
        let accepted = contents.filter(|paths| paths.iter().any(is_accepted));
        accepted.take(usize::try_from(enough).unwrap_or(usize::MAX)).count() as u64
    }

    /// The stale paths of a type.
    pub fn stale_paths<'a>(
        &'a self,
        artifact_type: &'a str,
        stale: &'a BTreeSet<String>,
    ) -> impl Iterator<Item = &'a str> {
        self.stale_artifacts(artifact_type, stale).map(|artifact| artifact.path.as_str())
    }

    fn stale_artifacts<'a>(&'a self, name: &'a str, stale: &'a BTreeSet<String>) -> impl Iterator<Item = &'a Artifact> {
        let found = stale.iter().filter_map(|path| self.by_path.get(path));
        found.filter(move |artifact| artifact.types.iter().any(|known| known == name))
    }
}

/// Whether a file counts as an artifact of a type by its name: the name without its last extension equals the type, or
/// begins or ends with it, separated by `_` or `-`. Case is ignored.
pub fn name_matches(path: &str, artifact_type: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = match name.rsplit_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem,
        _ => name,
    };
    let (stem, artifact_type) = (stem.to_lowercase(), artifact_type.to_lowercase());
    let is_cut = |rest: Option<&str>, cut: fn(&str) -> bool| rest.is_some_and(cut);
    stem == artifact_type
        || is_cut(stem.strip_prefix(&artifact_type), |rest| rest.starts_with(['_', '-']))
        || is_cut(stem.strip_suffix(&artifact_type), |rest| rest.ends_with(['_', '-']))
}

/// Normalizes a path: `./a//b` becomes `a/b`. A path that could lead out of the artifact folder is refused with a
/// reason.
pub fn normalize_artifact_path(path: &str) -> Result<String, &'static str> {
    let is_drive = path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic();
    if path.trim().is_empty() {
        return Err("Empty artifact path");
    }
    if path.starts_with(['/', '\\', '~']) || is_drive {
        return Err("Absolute path not allowed");
    }
    if path.len() > crate::limits::ARTIFACT_PATH_BYTES_MAX {
        return Err("Artifact path too long");
    }
    if path.chars().any(char::is_control) {
        return Err("Control character in artifact path");
    }
    if first_deceptive(path).is_some() {
        return Err("Invisible or reordering character in artifact path");
    }
    if path.contains('\\') {
        return Err("Backslash not allowed in artifact path, use '/'");
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err("Path traversal detected");
    }
    if parts.is_empty() || path.ends_with('/') {
        return Err("Artifact path names a folder");
    }
    let plain = parts.join("/");
    // Check again without `./`, which may hide a forbidden start: `./~x` is refused like `~x`.
    if plain == path { Ok(plain) } else { normalize_artifact_path(&plain) }
}
