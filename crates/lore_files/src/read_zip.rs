//! Reads a zip archive into a bounded list of files. An archive with one entry that is not safe is refused whole.
//!
//! The directory of the archive is walked entry by entry, so that its length is bounded before anything is allocated,
//! and so that two entries of one name are seen. Sizes are counted while an entry is inflated: what the archive says
//! about them proves nothing. Only the directory is believed about names; nothing is unpacked to disk.

use std::collections::BTreeSet;
use std::io::{Read, Seek, SeekFrom};

use zip::read::{Config, ZipFileEntry};
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, ZipReadOptions};

use crate::entity_types::recognise_folder;
use crate::source_file::{check_archive_path, is_content_read, is_ignored_name};
use crate::{ImportError, ReadLimits, SourceFile};

/// Prose shrinks to a third, repetitive JSON to a fiftieth; deflate could do a thousandth.
const RATIO_MAX: u64 = 200;
/// An entry may always have this many bytes: a few lines of the same letter are not an attack.
const RATIO_FREE_BYTES: u64 = 1 << 20;
/// The bits of a Unix file mode that say what an entry is, and their values for files and folders.
const MODE_KIND: u32 = 0o170_000;
const MODE_FILE: u32 = 0o100_000;
const MODE_FOLDER: u32 = 0o040_000;

/// Reads the files of an archive, in the order of their paths. If all lie in one folder, that is left out.
pub fn read_zip<R: Read + Seek>(mut reader: R, limits: &ReadLimits) -> Result<Vec<SourceFile>, ImportError> {
    let length = reader.seek(SeekFrom::End(0)).map_err(|error| broken_archive(&error))?;
    let mut archive = ZipIterable::try_new(reader, Config::default()).map_err(|error| broken_archive(&error))?;
    if archive.len() > limits.files {
        return Err(ImportError::TooManyFiles { limit: limits.files });
    }
    let entries = archive.files().map_err(|error| broken_archive(&error))?;
    let mut budget = InflateBudget { limits, archive_bytes: length, total: 0 };
    let mut names = BTreeSet::new();
    let mut files = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|error| broken_archive(&error))?;
        let path = check_entry(&entry)?;
        if !names.insert(path.clone()) {
            return Err(ImportError::DuplicateName { entry: path });
        }
        if entry.is_dir() || path.split('/').any(is_ignored_name) {
            continue;
        }
        let is_read = is_content_read(&path);
        let content = is_read.then(|| budget.inflate(&path, entry, entries.reader_mut())).transpose()?;
        files.push(SourceFile { path, content });
    }
    remove_common_folder(&mut files);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// Removes a folder that all files lie in, as in an archive of a folder. A folder that names a type stays.
fn remove_common_folder(files: &mut [SourceFile]) {
    let first = files.first().and_then(|file| file.path.split_once('/')).map(|(folder, _)| format!("{folder}/"));
    let Some(folder) = first else { return };
    let is_common = files.iter().all(|file| file.path.starts_with(&folder));
    if is_common && recognise_folder(&folder).is_none() {
        for file in files {
            file.path.drain(..folder.len());
        }
    }
}

/// The path of an entry, if it is a file or folder that may be read.
fn check_entry(entry: &ZipFileEntry<'_>) -> Result<String, ImportError> {
    let name = str::from_utf8(entry.name_raw())
        .map_err(|_| ImportError::NameNotUtf8 { entry: String::from_utf8_lossy(entry.name_raw()).into_owned() })?;
    let path = check_archive_path(name)?;
    if entry.is_symlink() {
        return Err(ImportError::LinkInArchive { entry: path });
    }
    let kind = entry.unix_mode().unwrap_or_default() & MODE_KIND;
    if ![0, MODE_FILE, MODE_FOLDER].contains(&kind) {
        return Err(ImportError::SpecialFile { entry: path });
    }
    if entry.encrypted() {
        return Err(ImportError::Encrypted { entry: path });
    }
    Ok(path)
}

/// Counts what was inflated from one archive.
struct InflateBudget<'a> {
    limits: &'a ReadLimits,
    archive_bytes: u64,
    total: u64,
}

impl InflateBudget<'_> {
    fn inflate<R: Read + Seek>(
        &mut self,
        path: &str,
        entry: ZipFileEntry<'_>,
        reader: &mut R,
    ) -> Result<Vec<u8>, ImportError> {
        let name = || path.to_owned();
        let method = entry.compression();
        if ![CompressionMethod::Stored, CompressionMethod::Deflated].contains(&method) {
            return Err(ImportError::UnsupportedCompression { entry: name(), method: method.to_string() });
        }
        let ratio_bytes = largest_by_ratio(entry.compressed_size());
        // Entries that share their packed bytes are within their own ratio, and not within that of the archive.
        let ratio_left = largest_by_ratio(self.archive_bytes).saturating_sub(self.total);
        let total_left = self.limits.total_bytes.saturating_sub(self.total);
        let limit = self.limits.file_bytes.min(ratio_bytes).min(ratio_left).min(total_left);
        let file = entry.with_reader(reader, ZipReadOptions::new()).map_err(|error| damaged_entry(path, &error))?;
        let mut content = Vec::new();
        let read = file.take(limit.saturating_add(1)).read_to_end(&mut content);
        let length = content.len() as u64;
        if length > self.limits.file_bytes {
            return Err(ImportError::FileTooLarge { entry: name(), limit: self.limits.file_bytes });
        }
        if length > ratio_bytes || length > ratio_left {
            return Err(ImportError::CompressionRatio { entry: name(), limit: RATIO_MAX });
        }
        if length > total_left {
            return Err(ImportError::TotalTooLarge { entry: name(), limit: self.limits.total_bytes });
        }
        read.map_err(|error| damaged_entry(path, &error))?;
        self.total += length;
        Ok(content)
    }
}

fn largest_by_ratio(packed_bytes: u64) -> u64 {
    packed_bytes.saturating_mul(RATIO_MAX).max(RATIO_FREE_BYTES)
}

fn broken_archive(error: &(impl std::fmt::Display + ?Sized)) -> ImportError {
    ImportError::BrokenArchive { reason: error.to_string() }
}

fn damaged_entry(path: &str, error: &dyn std::fmt::Display) -> ImportError {
    ImportError::DamagedEntry { entry: path.to_owned(), reason: error.to_string() }
}
