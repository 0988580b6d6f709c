//! Finds the run of a command: named on the command line, or in a `state-gate.json`.

use std::path::{Path, PathBuf};

use skald_app::{Code, Fault, FilesError};

use crate::arguments::RunArguments;

/// The run of a command. An error if none is named.
pub(super) fn require_run_id(arguments: &RunArguments) -> Result<String, Fault> {
    find_run_id(arguments)?.ok_or_else(|| {
        Fault::new(Code::InvalidParams, "no run is named, and no state-gate.json here names one").with_path("/run_id").hint(
            "give --run-id; `skald gate list-runs` has the runs, `skald gate create-run --write-config` names one here",
        )
    })
}

/// The run of a command, if one is named. A file that should name a run and does not is an error.
pub(super) fn find_run_id(arguments: &RunArguments) -> Result<Option<String>, Fault> {
    if let Some(run_id) = &arguments.run_id {
        return Ok(Some(run_id.clone()));
    }
    if let Some(path) = &arguments.config_path {
        let missing = || {
            let path = path.display().to_string();
            run_file_fault(&path, "is not there", "create the run with --write-config, or give --run-id")
        };
        return run_id_in_file(path)?.ok_or_else(missing).map(Some);
    }
    let here = std::env::current_dir().map_err(|error| {
        let fault = Fault::new(Code::Unavailable, format!("the working folder cannot be read: {error}"));
        fault.hint("go to another folder, or give --run-id")
    })?;
    skald_gate_files::named_run(&here).map_err(|error| unreadable_file_fault(&error))
}

/// The run that a file names, if there is such a file.
pub(super) fn run_id_in_file(path: &Path) -> Result<Option<String>, Fault> {
    skald_gate_files::run_in_file(path).map_err(|error| unreadable_file_fault(&error))
}

fn unreadable_file_fault(error: &FilesError) -> Fault {
    run_file_fault(&error.path, &error.why, "mend the file or remove it, or give --run-id")
}

fn run_file_fault(path: &str, why: &str, hint: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("{path} {why}")).with_path("/run_id").hint(hint)
}

/// The file that names the run of the working folder.
pub(super) fn default_run_file() -> PathBuf {
    PathBuf::from(skald_gate_files::NAMING_FILES[0])
}
