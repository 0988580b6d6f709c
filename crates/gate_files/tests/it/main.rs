//! Tests of the gate's folders: what is found in them, and what is refused as evidence.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod artifacts;
mod evidence;
mod processes;
mod watch_folders;

use std::path::{Path, PathBuf};

use skald_app::{ContentRequest, GateFiles};
use skald_gate_files::{Folders, FoldersOptions};

use skald_testkit::TemporaryFolder;

/// Fresh folders, and the artifact folder of one run.
struct Gate {
    files: Folders,
    run: String,
    place: TemporaryFolder,
}

impl Gate {
    async fn new() -> Self {
        let place = TemporaryFolder::new();
        let files = folders(&place);
        let run = files.create_run_folder("run-1").await.unwrap().unwrap();
        Self { files, run, place }
    }

    /// A path below the folder of the run.
    fn path(&self, path: &str) -> PathBuf {
        Path::new(&self.run).join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The reason why a file is refused as evidence; asserts that all methods agree.
    async fn refusal(&self, path: &str) -> String {
        let (artifact, content) = (
            self.files.read_artifact(&self.run, path, json_request()).await,
            self.files.read_content(&self.run, path).await,
        );
        let refusal = artifact.unwrap_err();
        assert_eq!(content.unwrap_err(), refusal);
        assert!(self.is_stale(path, &"0".repeat(64)).await);
        refusal
    }

    async fn sha256(&self, path: &str) -> String {
        self.files.read_artifact(&self.run, path, ContentRequest::default()).await.unwrap().sha256
    }

    async fn is_stale(&self, path: &str, sha256: &str) -> bool {
        let stale = self.files.stale_paths(&self.run, vec![(path.to_owned(), sha256.to_owned())]).await;
        stale.contains(path)
    }
}

/// Asks for the content as JSON.
fn json_request() -> ContentRequest {
    ContentRequest { json: true, ..ContentRequest::default() }
}

fn folders(place: &TemporaryFolder) -> Folders {
    Folders::new(FoldersOptions {
        working: place.file("work"),
        process_folders: vec![place.file("first"), place.file("second")],
        artifacts: Some(place.file("artifacts")),
        restored: None,
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(future)
}
