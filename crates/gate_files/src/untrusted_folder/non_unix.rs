//! Opens files below an untrusted folder where there are no folder handles: the resolved path must be the requested
//! one.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use super::{FileKind, check_evidence, is_below};
use crate::file_stamp::FileStamp;
use crate::refusal_texts;

pub(crate) struct UntrustedFolder {
    /// The canonical path.
    root: PathBuf,
    folder: String,
}

impl UntrustedFolder {
    pub(crate) fn open(folder: &str) -> Result<Self, String> {
        let is_folder = Path::new(folder).is_absolute()
            && std::fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir() && !about.is_symlink());
        let root = std::fs::canonicalize(folder).ok().filter(|_| is_folder);
        Ok(Self { root: root.ok_or_else(|| refusal_texts::folder_gone(folder))?, folder: folder.to_owned() })
    }

    pub(crate) fn stamp(&self, path: &str) -> Result<FileStamp, String> {
        let place = self.resolve(path)?;
        let about = std::fs::symlink_metadata(&place).map_err(|error| self.refusal(path, &error))?;
        checked_stamp(path, &about)
    }

    pub(crate) fn open_file(&self, path: &str) -> Result<(File, FileStamp), String> {
        self.stamp(path)?;
        let opened = File::open(self.resolve(path)?).map_err(|error| self.refusal(path, &error))?;
        let stamp = checked_stamp(path, &opened.metadata().map_err(|error| self.refusal(path, &error))?)?;
        Ok((opened, stamp))
    }

    fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        if !is_below(path) {
            return Err(refusal_texts::outside(path));
        }
        let place = path.split('/').fold(self.root.clone(), |place, part| place.join(part));
        let resolved = std::fs::canonicalize(&place).map_err(|error| self.refusal(path, &error))?;
        if resolved == place { Ok(place) } else { Err(refusal_texts::link(path)) }
    }

    fn refusal(&self, path: &str, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => refusal_texts::missing(&self.folder, path),
            _ => refusal_texts::unreadable(path, error),
        }
    }
}

fn checked_stamp(path: &str, about: &Metadata) -> Result<FileStamp, String> {
    let kind = about.file_type();
    let found = match () {
        () if kind.is_symlink() => FileKind::Link,
        () if kind.is_dir() => FileKind::Folder,
        () if kind.is_file() => FileKind::File,
        () => FileKind::Special,
    };
    check_evidence(path, found, about.len()).map(|()| FileStamp::from_metadata(about))
}
