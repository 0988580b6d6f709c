//! `GateFiles`, the port to the file system: process files, artifact folders and `state-gate.json`.

use std::collections::BTreeSet;

use futures::future::{BoxFuture, ready};
use serde_json::Value;
use skald_domain::gate::ContentMeasure;
use tokio::sync::broadcast;

/// Access to the folders of a gate. Artifact paths are normalized, and resolved only below the given folder.
pub trait GateFiles: Send + Sync + 'static {
    /// The ids of the process files, each once, by id. A file's id is its name without `.yaml` or `.yml`.
    fn process_ids(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>>;

    /// The process file of an id. The earliest folder wins, and `.yaml` wins over `.yml`.
    fn process_file<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>>;

    /// The run that `state-gate.json` names, in the working folder or in the nearest folder above that has one.
    fn configured_run_id(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>>;

    /// Creates the folder for the artifacts of a run and returns its path. `None` where several machines serve the same
    /// runs: then only inline content counts.
    fn create_run_folder<'a>(&'a self, run_id: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>>;

    /// Reads a file below a folder, or returns why it is no evidence: not a regular file, empty, too large, or reached
    /// by a link.
    fn read_artifact<'a>(
        &'a self,
        folder: &'a str,
        path: &'a str,
        content_request: ContentRequest,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>>;

    /// Whether a file with this path is below the working folder. It is no evidence there; an error hints at it.
    fn is_in_working_folder<'a>(&'a self, path: &'a str) -> BoxFuture<'a, bool>;

    /// An absolute path relative to the working folder, if it is below it.
    fn relative_to_working_folder(&self, path: &str) -> Option<String>;

    /// The paths whose file is gone or has another SHA-256 than in `held`. A file that was not modified is not read
    /// again.
    fn stale_paths<'a>(&'a self, folder: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>>;

    /// The content of a file for viewing, up to a maximum size.
    fn read_content<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>>;

    /// The ids of runs in whose folders something changed. Watching starts with the first call.
    fn subscribe_run_changes(&self) -> broadcast::Receiver<String>;
}

/// A process file and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFile {
    pub path: String,
    pub source: String,
}

/// An artifact's file as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactFile {
    /// SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
    pub json: Option<Value>,
    pub measure: Option<ContentMeasure>,
}

/// What is wanted of a file's content, besides its size and hash.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentRequest {
    /// The parsed content, if it is JSON.
    pub json: bool,
    /// A measure of the content, with these words searched for.
    pub measured_words: Option<Vec<String>>,
}

/// A folder or file that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct FilesError {
    pub path: String,
    pub why: String,
}

/// A gate without folders: every process is submitted or shipped, and every artifact is sent inline.
pub(crate) struct NoFiles {
    nobody: broadcast::Sender<String>,
}

impl Default for NoFiles {
    fn default() -> Self {
        Self { nobody: broadcast::channel(1).0 }
    }
}

/// Why a path is refused if the run has no folder.
pub(super) const NO_FOLDER: &str = "there is no artifact folder here, hand the content in as text or base64";

impl GateFiles for NoFiles {
    fn process_ids(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn process_file<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn configured_run_id(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn create_run_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn read_artifact<'a>(
        &'a self,
        _: &'a str,
        _: &'a str,
        _: ContentRequest,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>> {
        Box::pin(ready(Err(NO_FOLDER.to_owned())))
    }

    fn is_in_working_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }

    fn relative_to_working_folder(&self, _: &str) -> Option<String> {
        None
    }

    fn stale_paths<'a>(&'a self, _: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>> {
        Box::pin(ready(held.into_iter().map(|(path, _)| path).collect()))
    }

    fn read_content<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(ready(Err(NO_FOLDER.to_owned())))
    }

    fn subscribe_run_changes(&self) -> broadcast::Receiver<String> {
        self.nobody.subscribe()
    }
}
