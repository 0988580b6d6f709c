//! `GateFiles`, the port to the file system: process files, artifact folders and `state-gate.json`.

use std::collections::BTreeSet;

use futures::future::{BoxFuture, ready};
use serde_json::Value;
use tokio::sync::broadcast;

/// The folders of a gate. Paths of artifacts come in their plain form, and are taken below one folder and nowhere else.
pub trait GateFiles: Send + Sync + 'static {
    /// The ids of the process files, each once, by id. A file's id is its name without `.yaml` or `.yml`.
    fn processes(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>>;

    /// The process file of an id. Of several, that of the earliest folder; `.yaml` before `.yml`.
    fn process<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>>;

    /// The run that `state-gate.json` names, in the working folder or in the nearest folder above that has one.
    fn named_run(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>>;

    /// Makes the folder for the artifacts of a run, and says where it is. `None` where several machines serve the same
    /// runs: then only content that is handed in counts.
    fn make_folder<'a>(&'a self, run_id: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>>;

    /// What a file below a folder holds, or why it is no evidence: no ordinary file, empty, too large, or reached by a
    /// link. `wants_json` asks for its content where that is JSON.
    fn artifact<'a>(
        &'a self,
        folder: &'a str,
        path: &'a str,
        wants_json: bool,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>>;

    /// Whether a file of this path lies below the working folder. Nothing there is evidence, but it may be what was meant.
    fn is_in_working_folder<'a>(&'a self, path: &'a str) -> BoxFuture<'a, bool>;

    /// A path of this machine as it is reached from the working folder, if it lies below that.
    fn relative_to_working_folder(&self, path: &str) -> Option<String>;

    /// Those of the paths whose file is gone, or no longer holds what it held, by path and SHA-256. A file that was not
    /// touched since is not read again.
    fn stale<'a>(&'a self, folder: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>>;

    /// What a file holds, up to a size, for somebody who wants to look at it.
    fn content<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>>;

    /// The ids of runs in whose folders something changed. Watching begins with the first who asks.
    fn touched(&self) -> broadcast::Receiver<String>;
}

/// A process file as it lies there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessFile {
    pub path: String,
    pub source: String,
}

/// An artifact's file, as it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct ArtifactFile {
    /// Of its content, in hexadecimal digits.
    pub sha256: String,
    pub bytes: u64,
    pub json: Option<Value>,
}

/// A folder or file that should be readable and is not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct FilesError {
    pub path: String,
    pub why: String,
}

/// No folders at all: every process is submitted or shipped, and every artifact handed in.
pub(crate) struct NoFiles {
    nobody: broadcast::Sender<String>,
}

impl Default for NoFiles {
    fn default() -> Self {
        Self { nobody: broadcast::channel(1).0 }
    }
}

/// Why a path is no evidence where there is no folder.
pub(super) const NO_FOLDER: &str = "there is no artifact folder here, hand the content in as text or base64";

impl GateFiles for NoFiles {
    fn processes(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    fn process<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn named_run(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn make_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn artifact<'a>(&'a self, _: &'a str, _: &'a str, _: bool) -> BoxFuture<'a, Result<ArtifactFile, String>> {
        Box::pin(ready(Err(NO_FOLDER.to_owned())))
    }

    fn is_in_working_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }

    fn relative_to_working_folder(&self, _: &str) -> Option<String> {
        None
    }

    fn stale<'a>(&'a self, _: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>> {
        Box::pin(ready(held.into_iter().map(|(path, _)| path).collect()))
    }

    fn content<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(ready(Err(NO_FOLDER.to_owned())))
    }

    fn touched(&self) -> broadcast::Receiver<String> {
        self.nobody.subscribe()
    }
}
