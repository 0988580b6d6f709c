//! Writes the files of an export into a folder: a new or empty one, or one with an earlier export. Of that it replaces
//! the files that its manifest names, and touches no others.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use skald_lore_files::{MANIFEST_PATH, exported_paths};

/// Writes files that only their owner can read. Whatever speaks against it is found before the first is written.
pub(crate) fn write_export_folder(folder: &Path, files: &[(String, String)]) -> anyhow::Result<()> {
    let earlier = earlier_paths(folder)?;
    let paths: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    for path in earlier.iter().map(String::as_str).chain(paths.iter().copied()) {
        check_parent_folders(folder, path)?;
        let file = folder.join(path);
        if !earlier.contains(path) && fs::symlink_metadata(&file).is_ok() {
            bail!("{} is in the way: it is not from an export; move it away, or name another folder", file.display());
        }
    }
    for path in earlier.iter().filter(|path| !paths.contains(path.as_str())) {
        remove_file(&folder.join(path))?;
    }
    // The manifest is the last of the files, and is written first: it names all of them to a later export, even if this
    // one is interrupted.
    for (path, text) in files.iter().rev() {
        let file = folder.join(path);
        let parent = file.parent().unwrap_or(folder);
        skald_store::create_private_folder(parent)
            .with_context(|| format!("cannot make the folder {}", parent.display()))?;
        skald_store::replace_private_file(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

/// The files of an earlier export. A folder with anything else in it is refused.
fn earlier_paths(folder: &Path) -> anyhow::Result<BTreeSet<String>> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == ErrorKind::NotFound => true,
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", folder.display())),
    };
    if is_empty {
        return Ok(BTreeSet::new());
    }
    let manifest = fs::read(folder.join(MANIFEST_PATH)).ok();
    let Some(paths) = manifest.and_then(|manifest| exported_paths(&manifest)) else {
        bail!("{} is not empty, and is no earlier export; name another folder", folder.display());
    };
    Ok(paths.into_iter().chain([MANIFEST_PATH.to_owned()]).collect())
}

/// Refuses to write or remove through a link inside of the folder, which may lead anywhere.
fn check_parent_folders(folder: &Path, path: &str) -> anyhow::Result<()> {
    let mut place = folder.to_owned();
    for part in Path::new(path).parent().into_iter().flat_map(Path::components) {
        place.push(part);
        if fs::symlink_metadata(&place).is_ok_and(|metadata| metadata.is_symlink()) {
            bail!("{} is a link, and is not followed; remove it, or name another folder", place.display());
        }
    }
    Ok(())
}

/// Removes a file that may be gone already.
fn remove_file(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", file.display()))
        }
        _ => Ok(()),
    }
}
