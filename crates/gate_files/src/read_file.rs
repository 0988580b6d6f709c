//! Reads whole files of the owner, up to a size limit, without blocking on pipes or devices.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use skald_app::FilesError;

/// The text of a file; `None` if it does not exist.
pub(super) fn read_text(path: &Path, bytes_max: usize) -> Result<Option<String>, FilesError> {
    match open(path) {
        Ok(file) => read_opened(path, file, bytes_max).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// The text of an opened file, which may have been reached by a link. A pipe or a device is an error, and is not read.
pub(super) fn read_opened(path: &Path, file: File, bytes_max: usize) -> Result<String, FilesError> {
    let about = file.metadata().map_err(|error| unreadable(path, &error))?;
    if !about.is_file() {
        return Err(files_error(path, "is no ordinary file"));
    }
    let mut bytes = Vec::new();
    // Read one byte more than allowed, to detect a larger file.
    file.take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    if bytes.len() > bytes_max {
        return Err(files_error(path, format!("is larger than {bytes_max} bytes")));
    }
    let text = String::from_utf8(bytes);
    text.map_err(|error| files_error(path, format!("is not UTF-8 from byte {} on", error.utf8_error().valid_up_to())))
}

/// Opens a file without blocking, as a pipe without a writer would.
#[cfg(unix)]
pub(super) fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?.into())
}

#[cfg(not(unix))]
pub(super) fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(super) fn files_error(path: &Path, why: impl Into<String>) -> FilesError {
    FilesError { path: path.display().to_string(), why: why.into() }
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> FilesError {
    files_error(path, format!("cannot be read: {error}"))
}
