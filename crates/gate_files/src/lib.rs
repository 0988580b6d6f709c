//! The gate's folders on this machine: process files, artifacts, and the file that names a run.
//!
//! Writers of an artifact folder are not trusted: no link below it is followed, and only the content of an ordinary
//! file counts. The other folders are the owner's, and trusted.

mod artifacts;
mod check_file_name;
mod copy_artifact;
mod debounce;
mod file_stamp;
mod hash_cache;
mod process_files;
mod read_file;
mod read_run_file;
mod refusal_texts;
mod untrusted_folder;
mod watch_folders;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::{BoxFuture, ready};
use skald_app::{ArtifactFile, ContentRequest, FilesError, GateFiles, ProcessFile};
use tokio::sync::broadcast;

use hash_cache::HashCache;
use watch_folders::FolderWatcher;

pub use copy_artifact::copy_artifact;
pub use read_run_file::{NAMING_FILES, named_run, run_in_file};

/// Paths of the gate's folders.
#[derive(Debug, Clone)]
pub struct FoldersOptions {
    /// `state-gate.json` is looked for here, and in the folders above.
    pub working: PathBuf,
    /// Folders of process files; of two files with the same id, the one in the earlier folder counts.
    pub process_folders: Vec<PathBuf>,
    /// Parent of the runs' artifact folders; `None` if several machines serve the same runs.
    pub artifacts: Option<PathBuf>,
    /// Parent of artifact folders that came with a backup, used for runs whose own folder is not there.
    pub restored: Option<PathBuf>,
}

/// Process files and artifacts, in folders of this machine.
pub struct Folders {
    working: PathBuf,
    processes: Arc<[PathBuf]>,
    artifacts: Option<PathBuf>,
    restored: Option<PathBuf>,
    cache: Arc<Mutex<HashCache>>,
    watching: FolderWatcher,
}

impl Folders {
    /// Reads no file yet. Relative paths are resolved against the current directory.
    pub fn new(options: FoldersOptions) -> Self {
        let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
        let artifacts = options.artifacts.map(absolute);
        Self {
            working: absolute(options.working),
            processes: options.process_folders.into_iter().map(absolute).collect(),
            watching: FolderWatcher::new(artifacts.clone()),
            artifacts,
            restored: options.restored.map(absolute),
            cache: Arc::default(),
        }
    }
}

impl GateFiles for Folders {
    fn process_ids(&self) -> BoxFuture<'_, Result<Vec<String>, FilesError>> {
        let folders = Arc::clone(&self.processes);
        Box::pin(run_blocking(move || process_files::list(&folders)))
    }

    fn process_file<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<ProcessFile>, FilesError>> {
        let (folders, id) = (Arc::clone(&self.processes), id.to_owned());
        Box::pin(run_blocking(move || process_files::find(&folders, &id)))
    }

    fn configured_run_id(&self) -> BoxFuture<'_, Result<Option<String>, FilesError>> {
        let working = self.working.clone();
        Box::pin(run_blocking(move || read_run_file::named_run(&working)))
    }

    fn create_run_folder<'a>(&'a self, run_id: &'a str) -> BoxFuture<'a, Result<Option<String>, FilesError>> {
        let Some(root) = self.artifacts.clone() else { return Box::pin(ready(Ok(None))) };
        let run_id = run_id.to_owned();
        Box::pin(async move {
            let made = run_blocking(move || artifacts::make_folder(&root, &run_id)).await?;
            self.watching.check_root();
            Ok(Some(made))
        })
    }

    fn read_artifact<'a>(
        &'a self,
        folder: &'a str,
        path: &'a str,
        content_request: ContentRequest,
    ) -> BoxFuture<'a, Result<ArtifactFile, String>> {
        let cache = Arc::clone(&self.cache);
        self.run_below(folder, path, move |below, path| {
            let wants_content = content_request.json || content_request.measured_words.is_some();
            let examined = artifacts::hash_file(below, path, wants_content)?;
            lock_cache(&cache).put(&examined);
            Ok(examined.into_artifact(&content_request))
        })
    }

    fn is_in_working_folder<'a>(&'a self, path: &'a str) -> BoxFuture<'a, bool> {
        let file = self.working.join(path);
        Box::pin(async move {
            let found = tokio::task::spawn_blocking(move || std::fs::symlink_metadata(file)).await;
            matches!(found, Ok(Ok(about)) if about.is_file())
        })
    }

    fn relative_to_working_folder(&self, path: &str) -> Option<String> {
        let below = Path::new(path).strip_prefix(&self.working).ok()?.to_str()?;
        (!below.is_empty()).then(|| below.to_owned())
    }

    fn stale_paths<'a>(&'a self, folder: &'a str, held: Vec<(String, String)>) -> BoxFuture<'a, BTreeSet<String>> {
        let all = held.iter().map(|(path, _)| path.clone()).collect();
        if self.artifacts.is_none() {
            return Box::pin(ready(all));
        }
        let (folder, cache) = (self.present_folder(folder), Arc::clone(&self.cache));
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || artifacts::find_stale(&folder, held, &cache)).await;
            looked.unwrap_or(all)
        })
    }

    fn read_content<'a>(&'a self, folder: &'a str, path: &'a str) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        self.run_below(folder, path, artifacts::read_content)
    }

    fn subscribe_run_changes(&self) -> broadcast::Receiver<String> {
        self.watching.subscribe()
    }
}

impl Folders {
    /// The folder of a run, or the one of the same name that a backup brought if the run's own is not there.
    fn present_folder(&self, folder: &str) -> String {
        let own = Path::new(folder);
        let restored = self.restored.as_ref().zip(own.file_name()).map(|(restored, run_id)| restored.join(run_id));
        match restored.filter(|restored| !own.is_dir() && restored.is_dir()) {
            Some(restored) => restored.to_string_lossy().into_owned(),
            None => folder.to_owned(),
        }
    }

    /// Runs `work` on a file below a folder, in a blocking thread.
    fn run_below<'a, T: Send + 'static>(
        &self,
        folder: &str,
        path: &str,
        work: impl FnOnce(&untrusted_folder::UntrustedFolder, &str) -> Result<T, String> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, String>> {
        if self.artifacts.is_none() {
            return Box::pin(ready(Err(refusal_texts::no_folder_here())));
        }
        let (folder, path) = (self.present_folder(folder), path.to_owned());
        Box::pin(async move {
            let whose = path.clone();
            let done =
                tokio::task::spawn_blocking(move || work(&untrusted_folder::UntrustedFolder::open(&folder)?, &path))
                    .await;
            done.unwrap_or_else(|cut| Err(refusal_texts::unreadable(&whose, &cut)))
        })
    }
}

/// Runs `work` on files of the owner, in a blocking thread.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FilesError> + Send + 'static,
) -> Result<T, FilesError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|cut| Err(FilesError { path: "the folders of the gate".to_owned(), why: cut.to_string() }))
}

/// Locks the cache. A poisoned lock is ignored: the entries are valid at every moment.
fn lock_cache(cache: &Mutex<HashCache>) -> std::sync::MutexGuard<'_, HashCache> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}
