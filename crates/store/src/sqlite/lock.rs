//! Advisory lock that a writing process takes before SQLite's own. Unlike SQLite's busy wait, it is fair and wakes at
//! once.
//!
//! The system waits for a lock without a timeout, so a thread waits in the writer's place, and the writer gives up
//! after a while. A lock that comes after that belongs to the next attempt.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// Nothing was written.
    #[error(
        "another program holds {name} and did not let go within {} ms; look for a skald on this file that is stopped \
         or stuck",
        .lock_timeout.as_millis()
    )]
    Held { name: String, lock_timeout: Duration },
    #[error(transparent)]
    Failed(#[from] io::Error),
}

pub(super) struct Lock {
    file: Arc<File>,
    name: String,
    waiter: Option<Waiter>,
}

/// A thread that waits for the lock on request. It is started at the first wait.
struct Waiter {
    lock_requests: Sender<()>,
    lock_results: Receiver<io::Result<()>>,
    is_waiting: bool,
}

/// Holds the lock until it is dropped.
pub(super) struct LockGuard<'a>(&'a File);

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // If unlocking fails, the lock still ends with the process.
        let _ = self.0.unlock();
    }
}

impl Lock {
    /// `name` is the name of the file in errors.
    pub(super) fn new(file: File, name: String) -> Self {
        Self { file: Arc::new(file), name, waiter: None }
    }

    /// Takes the lock. If it is free, no thread is involved.
    pub(super) fn acquire(&mut self, lock_timeout: Duration) -> Result<LockGuard<'_>, LockError> {
        let is_waiting = self.waiter.as_ref().is_some_and(|waiter| waiter.is_waiting);
        if !is_waiting {
            match self.file.try_lock() {
                Ok(()) => return Ok(LockGuard(&self.file)),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
        }
        let waiter = match &mut self.waiter {
            Some(waiter) => waiter,
            none => none.insert(Waiter::start(&self.file)?),
        };
        if waiter.wait(lock_timeout)? {
            return Ok(LockGuard(&self.file));
        }
        Err(LockError::Held { name: self.name.clone(), lock_timeout })
    }
}

impl Waiter {
    fn start(file: &Arc<File>) -> io::Result<Self> {
        let ((lock_requests, requests), (results, lock_results)) = (channel(), channel());
        let file = Arc::clone(file);
        let wait = move || {
            while requests.recv().is_ok() {
                if results.send(file.lock()).is_err() {
                    let _ = file.unlock();
                }
            }
        };
        std::thread::Builder::new().name("journal lock".to_owned()).spawn(wait)?;
        Ok(Self { lock_requests, lock_results, is_waiting: false })
    }

    /// Waits for the lock. Returns whether it was acquired in time.
    fn wait(&mut self, lock_timeout: Duration) -> io::Result<bool> {
        let gone = || io::Error::other("the thread that waits for the lock has ended");
        if !self.is_waiting {
            self.lock_requests.send(()).map_err(|_| gone())?;
            self.is_waiting = true;
        }
        match self.lock_results.recv_timeout(lock_timeout) {
            Ok(result) => {
                self.is_waiting = false;
                result.map(|()| true)
            }
            Err(RecvTimeoutError::Timeout) => Ok(false),
            Err(RecvTimeoutError::Disconnected) => Err(gone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    const SOON: Duration = Duration::from_millis(30);
    const LATE: Duration = Duration::from_secs(10);

    fn open_two_locks(name: &str) -> [Lock; 2] {
        let path = std::env::temp_dir().join(format!("skald-{}-{name}.lock", std::process::id()));
        let open = || File::options().create(true).truncate(false).write(true).open(&path).unwrap();
        let both = [open(), open()].map(|file| Lock::new(file, "world.db.lock".to_owned()));
        std::fs::remove_file(&path).unwrap();
        both
    }

    #[test]
    fn one_has_it_at_a_time() {
        let [mut one, mut other] = open_two_locks("one");
        for _ in 0..3 {
            let turn = one.acquire(LATE).unwrap();
            let refused = other.acquire(SOON).err().unwrap().to_string();
            assert!(refused.starts_with("another program holds world.db.lock"), "{refused}");
            drop(turn);
            drop(other.acquire(LATE).unwrap());
        }
    }

    #[test]
    fn whoever_waits_has_it_as_soon_as_it_is_free() {
        let [mut one, mut other] = open_two_locks("waits");
        let turn = one.acquire(LATE).unwrap();
        std::thread::scope(|scope| {
            let waited = scope.spawn(move || {
                let began = Instant::now();
                drop(other.acquire(LATE).unwrap());
                began.elapsed()
            });
            std::thread::sleep(SOON);
            drop(turn);
            assert!(waited.join().unwrap() < LATE / 2);
        });
    }

    #[test]
    fn a_lock_that_comes_when_nobody_waits_any_more_is_let_go() {
        let [mut one, mut other] = open_two_locks("late");
        let turn = one.acquire(LATE).unwrap();
        assert!(other.acquire(SOON).is_err());
        drop(other);
        drop(turn);
        drop(one.acquire(LATE).unwrap());
    }
}
