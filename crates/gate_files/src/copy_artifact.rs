//! Copies evidence that lies in files to another folder, for a backup.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};
use skald_domain::limits;
use skald_journal::{Hash, hex};

use super::untrusted_folder::UntrustedFolder;

const BUFFER_BYTES: usize = 65_536;

/// Copies a file below a run's folder to a new file that only its owner can read. If its content is not the one of
/// this SHA-256 any more, or it is gone, nothing is copied, and the answer is `false`.
pub fn copy_artifact(folder: &str, path: &str, sha256: &str, to: &Path) -> io::Result<bool> {
    let Ok((file, _)) = UntrustedFolder::open(folder).and_then(|below| below.open_file(path)) else { return Ok(false) };
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    // For the owner alone. On other systems a file is as private as its folder.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut copy = options.open(to)?;
    let (mut file, mut hasher, mut buffer) =
        (file.take(limits::ARTIFACT_BYTES_MAX + 1), Sha256::new(), vec![0; BUFFER_BYTES]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                copy.write_all(&buffer[..count])?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let hash: Hash = hasher.finalize().into();
    if hex(&hash) != sha256 {
        drop(copy);
        std::fs::remove_file(to)?;
        return Ok(false);
    }
    copy.sync_all()?;
    Ok(true)
}
