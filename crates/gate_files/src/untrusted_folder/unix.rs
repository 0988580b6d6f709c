//! Opens files below an untrusted folder on Unix: by folder handles, one path component at a time, without links.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;

use super::{FileKind, check_evidence, is_below};
use crate::file_stamp::FileStamp;
use crate::refusal_texts;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

pub(crate) struct UntrustedFolder {
    handle: OwnedFd,
    folder: String,
}

impl UntrustedFolder {
    /// Opens the folder. The path to it is the owner's and may contain links; the folder itself must not be one.
    pub(crate) fn open(folder: &str) -> Result<Self, String> {
        if !folder.starts_with('/') {
            return Err(refusal_texts::folder_gone(folder));
        }
        let handle = open(folder, FOLDER, Mode::empty()).map_err(|_| refusal_texts::folder_gone(folder))?;
        Ok(Self { handle, folder: folder.to_owned() })
    }

    /// The stamp of an ordinary file, without opening it.
    pub(crate) fn stamp(&self, path: &str) -> Result<FileStamp, String> {
        let (parent, name) = self.open_parent(path)?;
        self.stat_file(path, parent.as_ref(), name)
    }

    /// An ordinary file, opened, and its stamp.
    pub(crate) fn open_file(&self, path: &str) -> Result<(File, FileStamp), String> {
        let (parent, name) = self.open_parent(path)?;
        // Check the type by name first: opening a device or a pipe can have side effects.
        self.stat_file(path, parent.as_ref(), name)?;
        let opened = openat(parent.as_ref().unwrap_or(&self.handle), name, FILE, Mode::empty());
        let opened = opened.map_err(|errno| self.refusal(path, errno))?;
        let stamp = checked_stamp(path, &fstat(&opened).map_err(|errno| self.refusal(path, errno))?)?;
        Ok((opened.into(), stamp))
    }

    /// Opens the parent folder of a file, `None` if it is this folder, and returns the file's name in it.
    fn open_parent<'a>(&self, path: &'a str) -> Result<(Option<OwnedFd>, &'a str), String> {
        if !is_below(path) {
            return Err(refusal_texts::outside(path));
        }
        let (folders, name) = path.rsplit_once('/').map_or((None, path), |(folders, name)| (Some(folders), name));
        let (mut at, mut end) = (None, 0);
        for part in folders.into_iter().flat_map(|folders| folders.split('/')) {
            end += part.len() + usize::from(end > 0);
            let parent = at.as_ref().unwrap_or(&self.handle);
            match openat(parent, part, FOLDER, Mode::empty()) {
                Ok(next) => at = Some(next),
                // A link is refused with an error that differs between systems.
                Err(errno) => match statat(parent, part, AtFlags::SYMLINK_NOFOLLOW).map(|stat| file_kind(&stat)) {
                    Ok(FileKind::Link) => return Err(refusal_texts::link(&path[..end])),
                    Ok(FileKind::File | FileKind::Special) => return Err(refusal_texts::missing(&self.folder, path)),
                    Ok(FileKind::Folder) | Err(_) => return Err(self.refusal(path, errno)),
                },
            }
        }
        Ok((at, name))
    }

    fn stat_file(&self, path: &str, parent: Option<&OwnedFd>, name: &str) -> Result<FileStamp, String> {
        let stat = statat(parent.unwrap_or(&self.handle), name, AtFlags::SYMLINK_NOFOLLOW);
        checked_stamp(path, &stat.map_err(|errno| self.refusal(path, errno))?)
    }

    fn refusal(&self, path: &str, errno: Errno) -> String {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => refusal_texts::missing(&self.folder, path),
            Errno::LOOP => refusal_texts::link(path),
            errno => refusal_texts::unreadable(path, &errno),
        }
    }
}

fn checked_stamp(path: &str, stat: &Stat) -> Result<FileStamp, String> {
    let stamp = FileStamp::from_metadata(stat);
    check_evidence(path, file_kind(stat), stamp.size()).map(|()| stamp)
}

fn file_kind(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Folder,
        FileType::Symlink => FileKind::Link,
        _ => FileKind::Special,
    }
}
