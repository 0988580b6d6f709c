//! A gate's folders in memory: process files and files of evidence that a test writes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, ready};
use sha2::{Digest, Sha256};
use skald_app::{ArtifactFile, ContentRequest, FilesError, GateFiles, LocalEngine, ProcessFile};
use skald_domain::gate::ContentMeasure;
use skald_journal::Journal;
use tokio::sync::broadcast;

/// The folder that process files are in, as errors about them name it.
pub(crate) const PROCESS_FOLDER: &str = "/srv/table/.state_gate/processes";

#[derive(Default)]
pub(crate) struct MemoryFolder {
    /// By process id; `Err` is the reason why a file cannot be read.
    pub processes: Mutex<BTreeMap<String, Result<String, String>>>,
    /// Contents by path, for all runs.
    pub artifacts: Mutex<BTreeMap<String, String>>,
}

impl MemoryFolder {
    pub(crate) fn write_process(&self, id: &str, source: &str) {
        self.processes.lock().expect("no panic").insert(id.to_owned(), Ok(source.to_owned()));
    }

    pub(crate) fn write_artifact(&self, path: &str, content: &str) {
        self.artifacts.lock().expect("no panic").insert(path.to_owned(), content.to_owned());
    }

    fn artifact(&self, path: &str) -> Result<String, String> {
        let found = self.artifacts.lock().expect("no panic").get(path).cloned();
        found.ok_or_else(|| format!("there is no file '{path}' below the artifact folder"))
    }
}

fn sha256_hex(content: &str) -> String {
    Sha256::digest(content.as_bytes()).iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"))
}

impl GateFiles for MemoryFolder {
    fn process_ids(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>> {
        let ids = self.processes.lock().expect("no panic").keys().cloned().collect();
        Box::pin(ready(Ok(ids)))
    }

    fn process_file<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>> {
        let path = format!("{PROCESS_FOLDER}/{id}.yaml");
        let found = match self.processes.lock().expect("no panic").get(id).cloned() {
            None => Ok(None),
            Some(Ok(source)) => Ok(Some(ProcessFile { path, source })),
            Some(Err(why)) => Err(FilesError { path, why }),
        };
        Box::pin(ready(found))
    }

    fn configured_run_id(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(None)))
    }

    fn create_run_folder<'a>(&'a self, run_id: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        Box::pin(ready(Ok(Some(format!("/artifacts/{run_id}")))))
    }

    fn read_artifact<'a>(
        &'a self,
        _: &'a str,
        path: &'a str,
        wanted: ContentRequest,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>> {
        let file = self.artifact(path).map(|content| ArtifactFile {
            sha256: sha256_hex(&content),
            bytes: content.len() as u64,
            json: None,
            measure: wanted
                .measured_words
                .map(|words| ContentMeasure::from_content(content.as_bytes(), words.iter().map(String::as_str))),
        });
        Box::pin(ready(file))
    }

    fn is_in_working_folder<'a>(&'a self, _: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(ready(false))
    }

    fn relative_to_working_folder(&self, path: &str) -> Option<String> {
        path.strip_prefix("/srv/table/").map(str::to_owned)
    }

    fn stale_paths<'a>(&'a self, _: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>> {
        let is_stale =
            |path: &str, sha256: &str| self.artifact(path).is_ok_and(|content| sha256_hex(&content) != sha256);
        let stale = held.into_iter().filter(|(path, sha256)| is_stale(path, sha256)).map(|(path, _)| path).collect();
        Box::pin(ready(stale))
    }

    fn read_content<'a>(&'a self, _: &'a str, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(ready(self.artifact(path).map(String::into_bytes)))
    }

    fn subscribe_run_changes(&self) -> broadcast::Receiver<String> {
        broadcast::channel(1).1
    }
}

/// An engine with such folders.
pub(crate) fn engine_with_folder(journal: Arc<dyn Journal>) -> (Arc<LocalEngine>, Arc<MemoryFolder>) {
    let folder = Arc::new(MemoryFolder::default());
    let mut app = super::app_with(journal);
    app.files = Arc::<MemoryFolder>::clone(&folder);
    (LocalEngine::new(app), folder)
}
