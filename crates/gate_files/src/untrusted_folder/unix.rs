//! Opens files below an untrusted folder on Unix: by folder handles, one path component at a time, without links.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, open, openat, statat};
use rustix::io::Errno;

use super::{Found, is_below, judge};
use crate::file_stamp::Stamp;
use crate::refusal_texts;

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const FILE: OFlags =
    OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

pub(crate) struct Below {
    handle: OwnedFd,
    folder: String,
}

impl Below {
    /// Opens the folder. The path to it is the owner's and may contain links; the folder itself must not be one.
    pub(crate) fn open(folder: &str) -> Result<Self, String> {
        if !folder.starts_with('/') {
            return Err(refusal_texts::folder_gone(folder));
        }
        let handle = open(folder, FOLDER, Mode::empty()).map_err(|_| refusal_texts::folder_gone(folder))?;
        Ok(Self { handle, folder: folder.to_owned() })
    }

    /// The stamp of an ordinary file, without opening it.
    pub(crate) fn stamp(&self, path: &str) -> Result<Stamp, String> {
        let (parent, name) = self.way(path)?;
        self.look(path, parent.as_ref(), name)
    }

    /// An ordinary file, opened, and its stamp.
    pub(crate) fn file(&self, path: &str) -> Result<(File, Stamp), String> {
        let (parent, name) = self.way(path)?;
        // Check the type by name first: opening a device or a pipe can have side effects.
        self.look(path, parent.as_ref(), name)?;
        let opened = openat(parent.as_ref().unwrap_or(&self.handle), name, FILE, Mode::empty());
        let opened = opened.map_err(|errno| self.why(path, errno))?;
        let stamp = stamp_of(path, &fstat(&opened).map_err(|errno| self.why(path, errno))?)?;
        Ok((opened.into(), stamp))
    }

    /// Opens the parent folder of a file, `None` if it is this folder, and returns the file's name in it.
    fn way<'a>(&self, path: &'a str) -> Result<(Option<OwnedFd>, &'a str), String> {
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
                Err(errno) => match statat(parent, part, AtFlags::SYMLINK_NOFOLLOW).map(|stat| found(&stat)) {
                    Ok(Found::Link) => return Err(refusal_texts::link(&path[..end])),
                    Ok(Found::File | Found::Special) => return Err(refusal_texts::missing(&self.folder, path)),
                    Ok(Found::Folder) | Err(_) => return Err(self.why(path, errno)),
                },
            }
        }
        Ok((at, name))
    }

    fn look(&self, path: &str, parent: Option<&OwnedFd>, name: &str) -> Result<Stamp, String> {
        let stat = statat(parent.unwrap_or(&self.handle), name, AtFlags::SYMLINK_NOFOLLOW);
        stamp_of(path, &stat.map_err(|errno| self.why(path, errno))?)
    }

    fn why(&self, path: &str, errno: Errno) -> String {
        match errno {
            Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => refusal_texts::missing(&self.folder, path),
            Errno::LOOP => refusal_texts::link(path),
            errno => refusal_texts::unreadable(path, &errno),
        }
    }
}

fn stamp_of(path: &str, stat: &Stat) -> Result<Stamp, String> {
    let stamp = Stamp::of(stat);
    judge(path, found(stat), stamp.size()).map(|()| stamp)
}

fn found(stat: &Stat) -> Found {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Found::File,
        FileType::Directory => Found::Folder,
        FileType::Symlink => Found::Link,
        _ => Found::Special,
    }
}
