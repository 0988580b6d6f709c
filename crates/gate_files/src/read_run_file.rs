//! Reads `state-gate.json`, the file that names a run, in a working folder or in a folder above it.

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use skald_app::FilesError;

use super::read_file::{files_error, open, read_opened, unreadable};

/// Files in which a folder may name its run, in order of precedence.
pub const NAMING_FILES: [&str; 2] = [".state_gate/state-gate.json", "state-gate.json"];

/// Maximum bytes of a file that names a run.
const NAMING_BYTES_MAX: usize = 65_536;

/// The run that a working folder names, or the nearest folder above that names one.
pub fn named_run(working: &Path) -> Result<Option<String>, FilesError> {
    for folder in ancestors_up_to_home(working, std::env::home_dir().as_deref()) {
        for name in NAMING_FILES {
            if let Some(run_id) = run_in_file(&folder.join(name))? {
                return Ok(Some(run_id));
            }
        }
    }
    Ok(None)
}

/// The run that a file names; `None` if the file does not exist. A role in the file is ignored: it is only the caller's
/// claim.
pub fn run_in_file(path: &Path) -> Result<Option<String>, FilesError> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(path, &error)),
    };
    let source = read_opened(path, file, NAMING_BYTES_MAX)?;
    parse_run_id(&source).map(Some).map_err(|why| files_error(path, why))
}

/// A folder and its ancestors, up to the home folder: folders above it belong to others, and their files are ignored.
fn ancestors_up_to_home<'a>(working: &'a Path, home: Option<&Path>) -> Vec<&'a Path> {
    let homes: Vec<PathBuf> =
        home.into_iter().flat_map(|home| [Some(home.to_owned()), home.canonicalize().ok()]).flatten().collect();
    let mut folders = Vec::new();
    for folder in working.ancestors() {
        folders.push(folder);
        if homes.iter().any(|home| home == folder) {
            break;
        }
    }
    folders
}

fn parse_run_id(source: &str) -> Result<String, String> {
    let named: Value = serde_json::from_str(source).map_err(|error| format!("is not JSON: {error}"))?;
    let run_id = match named.get("run_id") {
        Some(Value::String(run_id)) => run_id.trim(),
        Some(other) => {
            return Err(format!(
                "has the run_id {}, which is no string",
                skald_domain::deceptive_characters::truncate_for_message(&other.to_string())
            ));
        }
        None => return Err(r#"names no run; write {"run_id": "…"} into it"#.to_owned()),
    };
    if run_id.is_empty() {
        return Err("has a blank run_id; name a run, or remove the file".to_owned());
    }
    Ok(run_id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_up_ends_at_home_or_at_the_root() {
        let way = |home: Option<&str>| {
            let folders = ancestors_up_to_home(Path::new("/home/ada/project/src"), home.map(Path::new));
            folders.into_iter().map(Path::to_string_lossy).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(way(Some("/home/ada")), "/home/ada/project/src /home/ada/project /home/ada");
        let whole = "/home/ada/project/src /home/ada/project /home/ada /home /";
        assert_eq!((way(None), way(Some("/home/eve"))), (whole.to_owned(), whole.to_owned()));
    }
}
