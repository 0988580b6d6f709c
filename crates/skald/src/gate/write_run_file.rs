//! Writes `state-gate.json`, the file that names a run: atomically, and never over the name of an active run.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;
use skald_app::{Code, Fault};

use super::engine_access::EngineAccess;
use super::{GET_STATE, find_run_id};
use crate::arguments::CreateRunArguments;
use crate::open_store;

/// The file to write once the run is created.
pub(super) struct RunFile {
    path: PathBuf,
    is_forced: bool,
}

impl RunFile {
    /// The file that the arguments ask for, if any. Creates its folder first: where there is a `.state_gate`, the run's
    /// artifacts are kept in it.
    pub(super) fn from_arguments(arguments: &CreateRunArguments) -> Result<Option<Self>, Fault> {
        if !arguments.write_config {
            return match &arguments.config_path {
                None => Ok(None),
                Some(path) => {
                    let message = format!("{} is named, but nothing is to be written", path.display());
                    Err(Fault::new(Code::InvalidParams, message).hint("add --write-config, or leave --config-path out"))
                }
            };
        }
        let path = arguments.config_path.clone().unwrap_or_else(find_run_id::default_run_file);
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| write_fault(folder, &error))?;
        }
        Ok(Some(Self { path, is_forced: arguments.force }))
    }

    /// Refuses to overwrite a file whose run is active, or that is no run file. Call it before the run is created, so
    /// that a refusal leaves no run behind.
    pub(super) async fn check_overwrite(&self, engine_access: &EngineAccess) -> Result<(), Fault> {
        if self.is_forced {
            return Ok(());
        }
        let hint = "add --force if that is meant, or name another file with --config-path";
        let refused = |why: String| {
            let message = format!("{} is not overwritten: {why}", self.path.display());
            Fault::new(Code::Rejected, message).hint(hint)
        };
        let named = find_run_id::run_id_in_file(&self.path).map_err(|fault| refused(fault.body().message.clone()))?;
        let Some(run_id) = named else { return Ok(()) };
        match engine_access.call(GET_STATE, json!({"run_id": run_id})).await {
            Ok(state) if state["status"] == "active" => {
                Err(refused(format!("it names run {run_id}, which is in state {}", state["current_state"])))
            }
            Ok(_) => Ok(()),
            Err(fault) if fault.code() == Code::RunNotFound => Ok(()),
            Err(fault) => Err(fault),
        }
    }

    pub(super) fn write(&self, run_id: &str) -> Result<&Path, Fault> {
        let fresh = self.path.with_extension(format!("{}.part", &open_store::random_id()[..12]));
        let write = || {
            let mut file = File::create_new(&fresh)?;
            writeln!(file, "{:#}", json!({"run_id": run_id}))?;
            file.sync_all()?;
            std::fs::rename(&fresh, &self.path)
        };
        write().map_err(|error| {
            let _ = std::fs::remove_file(&fresh);
            let fault = write_fault(&self.path, &error);
            let message = format!("run {run_id} was created, but {}", fault.body().message);
            Fault::new(Code::Unavailable, message).hint("give --run-id to the other commands")
        })?;
        Ok(&self.path)
    }
}

fn write_fault(path: &Path, error: &std::io::Error) -> Fault {
    let fault = Fault::new(Code::Unavailable, format!("{} cannot be written: {error}", path.display()));
    fault.hint("name another file with --config-path")
}
