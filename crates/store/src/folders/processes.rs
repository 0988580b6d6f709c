//! Process files by id, and the file that names a run.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use app::{FilesError, ProcessFile, limits};
use serde_json::Value;

use super::names::is_plain;
use super::reading::{text, unreadable, wrong};

/// How process files end, in order of precedence.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// Where a working folder may name a run, in order of precedence.
const NAMING: [&str; 2] = [".state_gate/state-gate.json", "state-gate.json"];

/// Bytes of a file that names a run.
const NAMING_BYTES_MAX: usize = 65_536;

/// The ids of all process files. A folder that is not there has none.
pub(super) fn list(folders: &[PathBuf]) -> Result<Vec<String>, FilesError> {
    let mut ids = BTreeSet::new();
    for folder in folders {
        let entries = match std::fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(unreadable(folder, &error)),
        };
        for entry in entries {
            let name = entry.map_err(|error| unreadable(folder, &error))?.file_name();
            let id = name.to_str().and_then(|name| ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)));
            ids.extend(id.filter(|id| is_plain(id)).map(str::to_owned));
        }
    }
    Ok(ids.into_iter().collect())
}

/// The process file of an id. An id that is no name of a file has none, and no file is looked at.
pub(super) fn find(folders: &[PathBuf], id: &str) -> Result<Option<ProcessFile>, FilesError> {
    if !is_plain(id) {
        return Ok(None);
    }
    for folder in folders {
        for ending in ENDINGS {
            let path = folder.join(format!("{id}{ending}"));
            if let Some(source) = text(&path, limits::PROCESS_BYTES_MAX)? {
                return Ok(Some(ProcessFile { path: path.display().to_string(), source }));
            }
        }
    }
    Ok(None)
}

/// The run that a working folder names. The role that such a file may also name is the caller's claim, and not taken.
pub(super) fn named_run(working: &Path) -> Result<Option<String>, FilesError> {
    for name in NAMING {
        let path = working.join(name);
        if let Some(source) = text(&path, NAMING_BYTES_MAX)? {
            return run_id(&source).map(Some).map_err(|why| wrong(&path, why));
        }
    }
    Ok(None)
}

fn run_id(source: &str) -> Result<String, String> {
    let named: Value = serde_json::from_str(source).map_err(|error| format!("is not JSON: {error}"))?;
    let run_id = match named.get("run_id") {
        Some(Value::String(run_id)) => run_id.trim(),
        Some(other) => return Err(format!("has the run_id {}, which is no string", app::short(&other.to_string()))),
        None => return Err(r#"names no run; write {"run_id": "…"} into it"#.to_owned()),
    };
    if run_id.is_empty() {
        return Err("has a blank run_id; name a run, or remove the file".to_owned());
    }
    Ok(run_id.to_owned())
}
