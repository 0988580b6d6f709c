//! Finds and lists process files by id.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;

use skald_app::{FilesError, ProcessFile};
use skald_domain::limits;

use super::check_file_name::is_plain;
use super::read_file::{read_text, unreadable};

/// Extensions of process files, in order of precedence.
const ENDINGS: [&str; 2] = [".yaml", ".yml"];

/// The ids of all process files. A missing folder has none.
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

/// The process file of an id. For an id that is no plain file name there is none, and no file is opened.
pub(super) fn find(folders: &[PathBuf], id: &str) -> Result<Option<ProcessFile>, FilesError> {
    if !is_plain(id) {
        return Ok(None);
    }
    for folder in folders {
        for ending in ENDINGS {
            let path = folder.join(format!("{id}{ending}"));
            if let Some(source) = read_text(&path, limits::PROCESS_BYTES_MAX)? {
                return Ok(Some(ProcessFile { path: path.display().to_string(), source }));
            }
        }
    }
    Ok(None)
}
