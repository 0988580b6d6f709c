//! Reads artifacts: creates their folders, hashes their content, and detects changes since they were submitted.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use skald_app::{ArtifactFile, ContentRequest, FilesError};
use skald_domain::gate::ContentMeasure;
use skald_domain::limits;
use skald_journal::{Hash, hex};

use super::check_file_name::is_plain;
use super::file_stamp::FileStamp;
use super::hash_cache::HashCache;
use super::read_file::files_error;
use super::untrusted_folder::UntrustedFolder;
use super::{lock_cache, refusal_texts};

/// Attempts to read a file that changes while it is read.
const ATTEMPTS: usize = 3;

const BUFFER_BYTES: usize = 65_536;

/// Bytes of a file's content that are returned.
#[expect(clippy::cast_possible_truncation, reason = "it fits 32 bits")]
const CONTENT_BYTES_MAX: usize = limits::ARTIFACT_CONTENT_BYTES_MAX as usize;

/// The hash, stamp and content of a file that was read.
pub(super) struct HashedFile {
    pub(super) hash: Hash,
    pub(super) stamp: FileStamp,
    /// Whether a change after reading would show in the stamp.
    pub(super) is_stable: bool,
    /// Its beginning, up to `ARTIFACT_CONTENT_BYTES_MAX`, if that was asked for.
    content: Option<Vec<u8>>,
}

impl HashedFile {
    pub(super) fn into_artifact(self, content_request: &ContentRequest) -> ArtifactFile {
        let (sha256, bytes) = (hex(&self.hash), self.stamp.size());
        let measured = self.content.as_ref().zip(content_request.measured_words.as_ref());
        let measure =
            measured.map(|(content, words)| ContentMeasure::from_content(content, words.iter().map(String::as_str)));
        let whole = self.into_whole_content().filter(|_| content_request.json);
        ArtifactFile { sha256, bytes, json: whole.and_then(|content| skald_app::parse_json(&content).ok()), measure }
    }

    /// Its content, unless it is too large.
    fn into_whole_content(self) -> Option<Vec<u8>> {
        self.content.filter(|_| self.stamp.size() <= limits::ARTIFACT_CONTENT_BYTES_MAX)
    }
}

/// Creates the folder of a run and returns its path.
pub(super) fn make_folder(root: &Path, run_id: &str) -> Result<String, FilesError> {
    let folder = root.join(run_id);
    if !is_plain(run_id) {
        return Err(files_error(
            root,
            format!("can have no folder for a run of the id {run_id:?}, which is no plain name"),
        ));
    }
    let unmade = |path: &Path, error: &io::Error| files_error(path, format!("cannot be made: {error}"));
    std::fs::create_dir_all(root).map_err(|error| unmade(root, &error))?;
    match std::fs::create_dir(&folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let about = std::fs::symlink_metadata(&folder).map_err(|error| unmade(&folder, &error))?;
            if !about.is_dir() {
                return Err(files_error(
                    &folder,
                    "is no folder, so the run cannot have its artifacts there; move it away",
                ));
            }
        }
        Err(error) => return Err(unmade(&folder, &error)),
    }
    let text =
        folder.to_str().ok_or_else(|| files_error(&folder, "has a name that is not UTF-8; choose another folder"))?;
    Ok(text.to_owned())
}

/// Reads and hashes a file, again if it changed meanwhile. The beginning of its content is returned if asked for.
pub(super) fn hash_file(below: &UntrustedFolder, path: &str, wants_content: bool) -> Result<HashedFile, String> {
    for _ in 0..ATTEMPTS {
        let at = SystemTime::now();
        let (file, stamp) = below.open_file(path)?;
        // Flush to disk before reading, so that later writes through a memory mapping change the stamp.
        let is_stable = stamp.is_stable(at) && (stamp.is_written(at) || file.sync_data().is_ok());
        let (hash, bytes, content) =
            read_and_hash(file, wants_content).map_err(|error| refusal_texts::unreadable(path, &error))?;
        if bytes == stamp.size() && below.stamp(path)? == stamp {
            return Ok(HashedFile { hash, stamp, is_stable, content });
        }
    }
    Err(refusal_texts::changed_while_read(path))
}

/// Reads to the end, but only just past the size limit if the file keeps growing.
fn read_and_hash(file: File, keeps_content: bool) -> io::Result<(Hash, u64, Option<Vec<u8>>)> {
    let mut file = file.take(limits::ARTIFACT_BYTES_MAX + 1);
    let (mut hasher, mut bytes, mut content) = (Sha256::new(), 0, keeps_content.then(Vec::new));
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let count = match file.read(&mut buffer) {
            Ok(0) => return Ok((hasher.finalize().into(), bytes, content)),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&buffer[..count]);
        bytes += count as u64;
        if let Some(content) = &mut content {
            let room = CONTENT_BYTES_MAX.saturating_sub(content.len());
            content.extend_from_slice(&buffer[..count.min(room)]);
        }
    }
}

/// The paths whose file is gone or has other content.
pub(super) fn find_stale(folder: &str, held: Vec<(String, String)>, cache: &Mutex<HashCache>) -> BTreeSet<String> {
    let Ok(below) = UntrustedFolder::open(folder) else { return held.into_iter().map(|(path, _)| path).collect() };
    let holds = |path: &str, sha256: &str| cached_hash(&below, path, cache).is_ok_and(|hash| hex(&hash) == sha256);
    held.into_iter().filter(|(path, sha256)| !holds(path, sha256)).map(|(path, _)| path).collect()
}

fn cached_hash(below: &UntrustedFolder, path: &str, cache: &Mutex<HashCache>) -> Result<Hash, String> {
    let stamp = below.stamp(path)?;
    if let Some(hash) = lock_cache(cache).get(&stamp) {
        return Ok(hash);
    }
    let examined = hash_file(below, path, false)?;
    lock_cache(cache).put(&examined);
    Ok(examined.hash)
}

/// The content of a file, if it is small enough to show.
pub(super) fn read_content(below: &UntrustedFolder, path: &str) -> Result<Vec<u8>, String> {
    let examined = match below.stamp(path)?.size() {
        bytes if bytes > limits::ARTIFACT_CONTENT_BYTES_MAX => return Err(content_too_large(path, bytes)),
        _ => hash_file(below, path, true)?,
    };
    // The file may have grown since.
    let bytes = examined.stamp.size();
    examined.into_whole_content().ok_or_else(|| content_too_large(path, bytes))
}

fn content_too_large(path: &str, bytes: u64) -> String {
    refusal_texts::too_large(path, bytes, limits::ARTIFACT_CONTENT_BYTES_MAX)
}
