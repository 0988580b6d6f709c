//! Reads a source from the file system into a bounded list of files. No other file of this crate opens anything.

use std::fs::{self, File, Metadata};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::read_zip::read_zip;
use crate::source_file::{DEPTH_MAX, check_path, file_extension, is_content_read, is_ignored_name};
use crate::{ImportError, ReadLimits, SourceFile};

/// Reads a folder, an archive, or a single file, in the order of the paths.
pub(crate) fn read_source(path: &Path, limits: &ReadLimits) -> Result<Vec<SourceFile>, ImportError> {
    let unreadable = |error| ImportError::Unreadable { path: path.to_owned(), error };
    // The path that is given may be a link: its owner chose it.
    let root = fs::canonicalize(path).map_err(unreadable)?;
    let metadata = fs::metadata(&root).map_err(unreadable)?;
    if metadata.is_dir() {
        let mut reader = FolderReader { root: root.clone(), limits, entries: 0, total: 0, files: Vec::new() };
        reader.read_folder(&root, "", 0)?;
        reader.files.sort_by(|one, other| one.path.cmp(&other.path));
        return Ok(reader.files);
    }
    let unsupported = || ImportError::UnsupportedFile { path: path.to_owned() };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(unsupported)?;
    if !metadata.is_file() {
        return Err(unsupported());
    }
    if file_extension(name) == "zip" {
        if metadata.len() > limits.total_bytes {
            return Err(ImportError::TotalTooLarge { entry: name.to_owned(), limit: limits.total_bytes });
        }
        return read_zip(BufReader::new(File::open(&root).map_err(unreadable)?), limits);
    }
    if !is_content_read(name) {
        return Err(unsupported());
    }
    let mut reader = FolderReader { root: root.clone(), limits, entries: 0, total: 0, files: Vec::new() };
    reader.read_file(&root, check_path(name, name)?, &metadata)?;
    Ok(reader.files)
}

struct FolderReader<'a> {
    root: PathBuf,
    limits: &'a ReadLimits,
    /// Files and folders so far.
    entries: usize,
    /// Bytes read so far.
    total: u64,
    files: Vec<SourceFile>,
}

impl FolderReader<'_> {
    fn read_folder(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), ImportError> {
        let unreadable = |error| ImportError::Unreadable { path: folder.to_owned(), error };
        if depth >= DEPTH_MAX {
            return Err(ImportError::TooDeep { entry: prefix.to_owned(), limit: DEPTH_MAX });
        }
        for entry in fs::read_dir(folder).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let name = entry.file_name();
            if name.to_str().is_some_and(is_ignored_name) {
                continue;
            }
            self.entries += 1;
            if self.entries > self.limits.files {
                return Err(ImportError::TooManyFiles { limit: self.limits.files });
            }
            let Some(name) = name.to_str() else {
                return Err(ImportError::NameNotUtf8 { entry: format!("{prefix}{}", name.to_string_lossy()) });
            };
            let relative = format!("{prefix}{name}");
            let relative = check_path(&relative, &relative)?;
            let path = entry.path();
            let metadata =
                fs::symlink_metadata(&path).map_err(|error| ImportError::Unreadable { path: path.clone(), error })?;
            if metadata.is_symlink() {
                self.check_link(&path, &relative)?;
            } else if metadata.is_dir() {
                self.read_folder(&path, &format!("{relative}/"), depth + 1)?;
            } else {
                self.read_file(&path, relative, &metadata)?;
            }
        }
        Ok(())
    }

    /// A link to a file of the folder is left out: that file is read where it is.
    fn check_link(&self, path: &Path, entry: &str) -> Result<(), ImportError> {
        match fs::canonicalize(path) {
            Ok(target) if target.starts_with(&self.root) => Ok(()),
            _ => Err(ImportError::LinkLeavesFolder { entry: entry.to_owned() }),
        }
    }

    fn read_file(&mut self, path: &Path, entry: String, metadata: &Metadata) -> Result<(), ImportError> {
        if !metadata.is_file() {
            return Err(ImportError::SpecialFile { entry });
        }
        if !is_content_read(&entry) {
            self.files.push(SourceFile { path: entry, content: None });
            return Ok(());
        }
        let unreadable = |error| ImportError::Unreadable { path: path.to_owned(), error };
        let file = File::open(path).map_err(unreadable)?;
        // Between the look at it and this the file may have become a link to another.
        if !is_same_file(metadata, &file.metadata().map_err(unreadable)?) {
            return Err(ImportError::ChangedFile { entry });
        }
        let limit = self.limits.file_bytes;
        let mut content = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut content).map_err(unreadable)?;
        let length = content.len() as u64;
        if length > limit {
            return Err(ImportError::FileTooLarge { entry, limit });
        }
        self.total += length;
        if self.total > self.limits.total_bytes {
            return Err(ImportError::TotalTooLarge { entry, limit: self.limits.total_bytes });
        }
        self.files.push(SourceFile { path: entry, content: Some(content) });
        Ok(())
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.is_file() && other.is_file()
}
