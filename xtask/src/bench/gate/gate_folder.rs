//! Files of the gate benchmark: its process and the store with all runs, in memory and then on the disk.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::super::BenchOptions;
use super::agent::Agent;
use super::runs::pseudorandom;
use crate::paths;

pub(super) const PROCESS_ID: &str = "loop";
/// A state that every event leads back to, and one that ends it, since a process must have an end.
const PROCESS: &str = "\
process: {id: loop, version: '1.0.0', name: Loop, initial_state: working}
states:
  - {name: working}
  - {name: done, is_final: true}
events:
  - {name: work, allowed_roles: ['*']}
  - {name: finish, allowed_roles: ['*']}
transitions:
  - {from: working, event: work, to: working}
  - {from: working, event: finish, to: done}
";
/// A file system in memory, on machines that have one.
const MEMORY_FOLDER: &str = "/dev/shm";
const STORE: &str = "runs.db";
/// SQLite's write-ahead log.
const WAL: &str = "runs.db-wal";

pub(super) struct GateBench {
    skald: PathBuf,
    folder: PathBuf,
}

/// A folder that is removed on drop.
pub(super) struct GateFolder(PathBuf);

impl Drop for GateFolder {
    fn drop(&mut self) {
        // If this fails, the next run removes it.
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl GateBench {
    /// Prepares the folder with the process, without runs.
    pub(super) fn build(options: &BenchOptions) -> anyhow::Result<Self> {
        let bench = Self { skald: options.skald.clone(), folder: paths::target().join("gate-bench") };
        let processes = bench.folder.join("processes");
        let _ = fs::remove_dir_all(&bench.folder);
        fs::create_dir_all(&processes)?;
        fs::write(processes.join(format!("{PROCESS_ID}.yaml")), PROCESS)?;
        Ok(bench)
    }

    /// A new folder in memory, if the machine has such a file system.
    pub(super) fn create_memory_folder(&self, name: &str) -> anyhow::Result<GateFolder> {
        let memory = Path::new(MEMORY_FOLDER);
        let folder = if memory.is_dir() { memory } else { &self.folder };
        // The name has a hash of the workspace, so that two workspaces do not collide and leftovers are found again.
        create_folder(folder.join(format!("skald-gate-bench-{:x}-{name}", pseudorandom(&self.folder))))
    }

    /// Copies the store to the disk. No server may have it open.
    pub(super) fn copy_to_disk(&self, from: &GateFolder) -> anyhow::Result<GateFolder> {
        let folder = create_folder(self.folder.join("runs"))?;
        for name in [STORE, WAL] {
            let file = from.0.join(name);
            if file.exists() {
                fs::copy(&file, folder.0.join(name)).with_context(|| format!("{name} cannot be copied"))?;
                fs::File::open(folder.0.join(name))?.sync_all()?;
            }
        }
        Ok(folder)
    }

    /// Starts a server on the store in a folder. Returns its client.
    pub(super) fn start_agent(&self, folder: &GateFolder) -> anyhow::Result<Agent> {
        let mut command = Command::new(&self.skald);
        command.args(["mcp", "--store", &format!("sqlite:{}", folder.0.join(STORE).display())]);
        command.arg("--process-dir").arg(self.folder.join("processes"));
        command.arg("--artifact-dir").arg(self.folder.join("artifacts"));
        // The folder in which the bench runs may have a gate of its own.
        Agent::start(command.current_dir(&self.folder))
    }
}

fn create_folder(folder: PathBuf) -> anyhow::Result<GateFolder> {
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    Ok(GateFolder(folder))
}
