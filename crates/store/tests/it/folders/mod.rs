//! The folders of a gate: what is found in them, and what cannot be passed off as evidence.

mod artifacts;
mod evidence;
mod processes;
mod watching;

use std::path::{Path, PathBuf};

use app::GateFiles;
use store::{Folders, FoldersOptions};

use crate::places::Folder;

/// Fresh folders, and the artifact folder of one run.
struct Gate {
    files: Folders,
    run: String,
    place: Folder,
}

impl Gate {
    async fn new() -> Self {
        let place = Folder::new();
        let files = folders(&place);
        let run = files.make_folder("run-1").await.unwrap().unwrap();
        Self { files, run, place }
    }

    /// A path below the folder of the run.
    fn at(&self, path: &str) -> PathBuf {
        Path::new(&self.run).join(path)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.at(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Why a file is no evidence.
    async fn refusal(&self, path: &str) -> String {
        let (artifact, content) =
            (self.files.artifact(&self.run, path, true).await, self.files.content(&self.run, path).await);
        let refusal = artifact.unwrap_err();
        assert_eq!(content.unwrap_err(), refusal);
        assert!(self.is_stale(path, &"0".repeat(64)).await);
        refusal
    }

    async fn sha256(&self, path: &str) -> String {
        self.files.artifact(&self.run, path, false).await.unwrap().sha256
    }

    async fn is_stale(&self, path: &str, sha256: &str) -> bool {
        let stale = self.files.stale(&self.run, vec![(path.to_owned(), sha256.to_owned())]).await;
        stale.contains(path)
    }
}

fn folders(place: &Folder) -> Folders {
    Folders::new(FoldersOptions {
        working: place.file("work"),
        process_folders: vec![place.file("first"), place.file("second")],
        artifacts: Some(place.file("artifacts")),
    })
}
