//! Counts the processes that serve requests on one file. Each of them holds the lock of a small file beside it until it
//! ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::private_files::open_private_file;

/// The most processes that are counted. Those beyond count as one.
const NODES_MAX: usize = 16;

/// The lock files of the processes on one database file.
pub(super) struct NodeLocks {
    database: PathBuf,
    /// The number and the locked file of this process, once it has one.
    own: Mutex<Option<(usize, File)>>,
}

impl NodeLocks {
    pub(super) fn new(database: &Path) -> Self {
        Self { database: database.to_owned(), own: Mutex::new(None) }
    }

    /// Takes a lock for this process if it has none, and counts the processes that have one, this one included.
    pub(super) fn join_and_count(&self) -> io::Result<usize> {
        let mut own = self.own.lock().unwrap_or_else(PoisonError::into_inner);
        if own.is_none() {
            *own = self.take_first_free()?;
        }
        let own_number = own.as_ref().map(|(number, _)| *number);
        let mut count = 1;
        for number in (1..=NODES_MAX).filter(|number| Some(*number) != own_number) {
            count += usize::from(self.is_taken(number)?);
        }
        Ok(count)
    }

    fn take_first_free(&self) -> io::Result<Option<(usize, File)>> {
        for number in 1..=NODES_MAX {
            let file = open_private_file(&self.path(number))?;
            match file.try_lock() {
                Ok(()) => return Ok(Some((number, file))),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Whether another process holds a lock. Processes that look at the same time do not see each other: they lock
    /// shared.
    fn is_taken(&self, number: usize) -> io::Result<bool> {
        let file = match OpenOptions::new().read(true).open(self.path(number)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    fn path(&self, number: usize) -> PathBuf {
        let mut path = self.database.clone().into_os_string();
        path.push(format!(".node{number}.lock"));
        path.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_counted_until_they_end() {
        let folder = std::env::temp_dir().join(format!("skald-{}-nodes", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let node = || NodeLocks::new(&folder.join("world.db"));
        let first = node();
        assert_eq!([first.join_and_count().unwrap(), first.join_and_count().unwrap()], [1, 1], "it has one lock");
        let others: Vec<NodeLocks> = (1..NODES_MAX).map(|_| node()).collect();
        for (before, other) in others.iter().enumerate() {
            assert_eq!(other.join_and_count().unwrap(), before + 2);
        }
        assert_eq!(first.join_and_count().unwrap(), NODES_MAX);
        let beyond = node();
        assert_eq!(beyond.join_and_count().unwrap(), NODES_MAX + 1);
        drop(others);
        assert_eq!(first.join_and_count().unwrap(), 1, "those that ended no longer count");
        assert_eq!(beyond.join_and_count().unwrap(), 2);
        assert_eq!(first.join_and_count().unwrap(), 2);
        drop((first, beyond));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
