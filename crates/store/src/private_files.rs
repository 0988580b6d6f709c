//! Creates files and folders that only their owner can read: they contain the story, and the hashes of tokens.
//!
//! In a folder that others can write to, somebody may have put a link where a file will be created. So a file is
//! created anew or not at all, and no link is followed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Creates a folder and its missing parents.
pub fn create_private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    // Other systems have no modes: a folder is as private as the one that it is in.
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates a file that must not exist. A symbolic link of that name counts as existing, wherever it leads.
pub(crate) fn create_private_file(path: &Path) -> io::Result<File> {
    with_private_mode(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Writes a file that must not exist, and returns when it is on the disk.
pub fn write_private_file(path: &Path, text: &str) -> io::Result<()> {
    let mut file = create_private_file(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

/// Writes a file, and replaces the one of that name at once. A symbolic link of that name is replaced, not followed.
pub fn replace_private_file(path: &Path, text: &str) -> io::Result<()> {
    let partial = create_partial_file(path)?;
    let replaced = std::fs::write(&partial, text).and_then(|()| std::fs::rename(&partial, path));
    if replaced.is_err() {
        let _ = std::fs::remove_file(&partial);
    }
    replaced
}

/// Opens a file for writing, or creates it.
pub(crate) fn open_private_file(path: &Path) -> io::Result<File> {
    match create_private_file(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if std::fs::symlink_metadata(path)?.is_symlink() {
                return Err(io::Error::new(error.kind(), "it is a link, and is not followed; remove it"));
            }
            OpenOptions::new().write(true).open(path)
        }
        created => created,
    }
}

/// Takes the permissions of all others away from a file that everybody can read, such as a backup that came over a
/// stick. A file that only a group can read is left alone: somebody chose that.
#[cfg(unix)]
pub(crate) fn hide_from_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(about) = std::fs::metadata(path) else { return };
    let (others, nothing) = (about.permissions().mode() % 0o10, 0);
    if others == nothing {
        return;
    }
    match std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)) {
        Ok(()) => tracing::info!(path = %path.display(), "everybody could read the file; now only its owner can"),
        Err(error) => tracing::warn!(%error, path = %path.display(), "everybody can read the file"),
    }
}

/// Does the same with a folder and everything in it, such as the evidence of a backup. Links are left alone. In a folder that
/// others cannot enter, they reach nothing, so nothing is looked at.
#[cfg(unix)]
pub fn hide_folder_from_others(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let Ok(about) = std::fs::symlink_metadata(folder) else { return };
    if !about.is_dir() || about.permissions().mode() % 0o10 == 0 {
        return;
    }
    hide_everything_in(folder);
    // The folder last: if this is interrupted, the next start does it again.
    set_private_folder(folder);
}

/// Only Unix calls it.
#[cfg(unix)]
fn hide_everything_in(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => {
                hide_everything_in(&entry.path());
                set_private_folder(&entry.path());
            }
            Ok(kind) if kind.is_file() => hide_from_others(&entry.path()),
            _ => {}
        }
    }
}

/// Only Unix calls it.
#[cfg(unix)]
fn set_private_folder(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    if let Err(error) = std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700)) {
        tracing::warn!(%error, path = %folder.display(), "everybody can read the folder");
    }
}

/// Other systems have no such permissions; a file is as private as its folder.
#[cfg(not(unix))]
pub(crate) fn hide_from_others(_: &Path) {}

#[cfg(not(unix))]
pub fn hide_folder_from_others(_: &Path) {}

/// Creates an empty file in the folder of `path`, under a name that nobody can guess.
pub(crate) fn create_partial_file(path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{:016x}.partial", u64::from_be_bytes(random)));
    let beside = path.with_file_name(name);
    create_private_file(&beside)?;
    Ok(beside)
}

/// Renames a file without replacing another.
pub(crate) fn rename_without_replacing(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => std::fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Without hard links in the file system, create the new name first, and then replace it.
        Err(_) => create_private_file(to).and_then(|_| std::fs::rename(from, to)),
    }
}

fn with_private_mode(options: &mut OpenOptions) -> &mut OpenOptions {
    // Other systems have no modes.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}
