//! Temporary folders for tests, removed afterwards.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder that is removed after the test. It is in cargo's target folder, on a real disk, where commits are synced.
pub struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// # Panics
    /// If the folder cannot be made.
    #[expect(clippy::new_without_default, reason = "a default value that makes a folder would surprise")]
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("skald_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = target_folder().join("tmp").join(name);
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Test programs are in `target/PROFILE/deps`.
fn target_folder() -> PathBuf {
    let program = std::env::current_exe().expect("the test program has a path");
    program.ancestors().nth(3).expect("it is in the target folder").to_owned()
}
