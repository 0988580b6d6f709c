//! Which run is meant: the one that is named, or the one that a `state-gate.json` names.

use std::io;
use std::path::{Path, PathBuf};

use app::{Code, Fault, short};
use serde_json::Value;

use crate::arguments::RunArguments;

/// Where a folder may name its run, in order of precedence.
pub(super) const NAMING: [&str; 2] = [".state_gate/state-gate.json", "state-gate.json"];
/// Bytes of a file that names a run.
const NAMING_BYTES_MAX: u64 = 65_536;

/// The run that is meant, or that none is named.
pub(super) fn run_id(arguments: &RunArguments) -> Result<String, Fault> {
    found(arguments)?.ok_or_else(|| {
        Fault::new(Code::InvalidParams, "no run is named, and no state-gate.json here names one").at("/run_id").hint(
            "give --run-id; `skald gate list-runs` has the runs, `skald gate create-run --write-config` names one here",
        )
    })
}

/// The run that is meant, if any is named. A file that should name one and does not is an error.
pub(super) fn found(arguments: &RunArguments) -> Result<Option<String>, Fault> {
    if let Some(run_id) = &arguments.run_id {
        return Ok(Some(run_id.clone()));
    }
    if let Some(path) = &arguments.config_path {
        let missing = || unfit(path, "is not there", "create the run with --write-config, or give --run-id");
        return in_file(path)?.ok_or_else(missing).map(Some);
    }
    let here = std::env::current_dir().map_err(|error| {
        let fault = Fault::new(Code::Unavailable, format!("the working folder cannot be read: {error}"));
        fault.hint("go to another folder, or give --run-id")
    })?;
    for folder in here.ancestors() {
        for name in NAMING {
            if let Some(run_id) = in_file(&folder.join(name))? {
                return Ok(Some(run_id));
            }
        }
    }
    Ok(None)
}

/// The run that a file names, if there is such a file.
pub(super) fn in_file(path: &Path) -> Result<Option<String>, Fault> {
    let length = match std::fs::metadata(path) {
        Ok(found) => found.len(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unfit(path, &format!("cannot be read: {error}"), MEND)),
    };
    if length > NAMING_BYTES_MAX {
        return Err(unfit(path, &format!("has {length} bytes, too many for a file that names a run"), MEND));
    }
    let source =
        std::fs::read_to_string(path).map_err(|error| unfit(path, &format!("cannot be read: {error}"), MEND))?;
    let named: Value =
        serde_json::from_str(&source).map_err(|error| unfit(path, &format!("is not JSON: {error}"), MEND))?;
    match named.get("run_id") {
        Some(Value::String(run_id)) if !run_id.trim().is_empty() => Ok(Some(run_id.trim().to_owned())),
        Some(other) => Err(unfit(path, &format!("has the run_id {}, which is no id", short(&other.to_string())), MEND)),
        None => Err(unfit(path, "names no run", MEND)),
    }
}

const MEND: &str = r#"write {"run_id": "…"} into it, remove it, or give --run-id"#;

fn unfit(path: &Path, why: &str, hint: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("{} {why}", path.display())).at("/run_id").hint(hint)
}

/// The file that names the run of the working folder.
pub(super) fn default_path() -> PathBuf {
    PathBuf::from(NAMING[0])
}
