//! File watcher of the artifact folders: reports the runs whose files changed.
//!
//! Nothing is watched, and no thread runs, before the first subscription.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RenameMode};
use notify::{Config, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::broadcast;

use super::debounce::Debounce;
use super::plain_names::is_plain;

/// Interval of checks whether a missing root has appeared.
const LOOK: Duration = Duration::from_millis(500);

/// Capacity of the channel: run ids by which a receiver may fall behind.
const BEHIND_MAX: usize = 1_024;

pub(super) struct FolderWatcher {
    root: Option<PathBuf>,
    touched: broadcast::Sender<String>,
    /// Sends to the watcher thread, once it is started.
    thread: Mutex<Option<Sender<Signal>>>,
}

enum Signal {
    /// The root may have been created.
    Look,
    /// Something changed at a path below the root.
    Changed(PathBuf),
    /// A folder appeared at a path below the root, and something may be in it already.
    Folder(PathBuf),
    /// Events were lost, so any run may have changed.
    Everything,
    /// The root is gone.
    Gone,
    End,
}

impl FolderWatcher {
    pub(super) fn new(root: Option<PathBuf>) -> Self {
        Self { root, touched: broadcast::channel(BEHIND_MAX).0, thread: Mutex::default() }
    }

    /// Subscribes to changes from now on. The first call returns once the folders are watched, so that no change is
    /// missed.
    pub(super) fn touched(&self) -> broadcast::Receiver<String> {
        let receiver = self.touched.subscribe();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(root)) = (&*thread, &self.root) {
            *thread = start(root.clone(), self.touched.clone());
        }
        receiver
    }

    /// Tells the thread that the root may have been created.
    pub(super) fn look(&self) {
        self.send(Signal::Look);
    }

    fn send(&self, signal: Signal) {
        if let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            // Fails only if the thread has ended.
            let _ = thread.send(signal);
        }
    }
}

impl Drop for FolderWatcher {
    fn drop(&mut self) {
        self.send(Signal::End);
    }
}

fn start(root: PathBuf, touched: broadcast::Sender<String>) -> Option<Sender<Signal>> {
    let (sender, signals) = channel();
    let mut watch = WatchedFolders { root, sender: sender.clone(), touched, pace: Debounce::default(), watched: None };
    watch.begin();
    let spawned = std::thread::Builder::new().name("artifacts".to_owned()).spawn(move || watch.run(&signals));
    if let Err(error) = &spawned {
        tracing::warn!(%error, "the artifact folders cannot be watched");
    }
    spawned.ok().map(|_| sender)
}

struct WatchedFolders {
    root: PathBuf,
    /// Passed to the watcher's callback.
    sender: Sender<Signal>,
    touched: broadcast::Sender<String>,
    pace: Debounce,
    watched: Option<Watched>,
}

struct Watched {
    watcher: RecommendedWatcher,
    /// The canonical path, as events report it.
    root: PathBuf,
}

impl WatchedFolders {
    fn run(mut self, signals: &Receiver<Signal>) {
        loop {
            match self.next(signals) {
                Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Signal::Changed(path)) => self.changed(&path),
                Ok(Signal::Folder(path)) => self.appeared(&path),
                Ok(Signal::Everything) => self.everything(),
                Ok(Signal::Gone) => self.watched = None,
                Ok(Signal::Look) | Err(RecvTimeoutError::Timeout) => {}
            }
            for run in self.pace.due(Instant::now()) {
                self.tell(run);
            }
            if self.watched.is_none() && self.begin() {
                // Report all runs: a root that has just appeared may already contain files.
                self.everything();
            }
        }
    }

    fn next(&self, signals: &Receiver<Signal>) -> Result<Signal, RecvTimeoutError> {
        let due = self.pace.next().map(|due| due.saturating_duration_since(Instant::now()));
        let wait = if self.watched.is_none() { Some(due.map_or(LOOK, |due| due.min(LOOK))) } else { due };
        match wait {
            Some(wait) => signals.recv_timeout(wait),
            None => signals.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Starts watching the root, if it exists. Returns whether it did.
    fn begin(&mut self) -> bool {
        let Ok(root) = std::fs::canonicalize(&self.root) else { return false };
        match watcher(&root, self.sender.clone()) {
            Ok(watcher) => {
                self.watched = Some(Watched { watcher, root });
                true
            }
            Err(error) => {
                tracing::debug!(%error, "the artifact folders cannot be watched yet");
                false
            }
        }
    }

    /// Watches a new folder before reporting its run, so that a client that then reads the folder misses no later
    /// change.
    fn appeared(&mut self, path: &Path) {
        if let Some(watched) = &mut self.watched
            && std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
            && let Err(error) = watched.watcher.watch(path, RecursiveMode::Recursive)
        {
            tracing::debug!(%error, path = %path.display(), "a folder of artifacts cannot be watched");
        }
        self.changed(path);
    }

    fn changed(&mut self, path: &Path) {
        let Some(watched) = &self.watched else { return };
        let run = path.strip_prefix(&watched.root).ok().and_then(|below| below.iter().next()?.to_str());
        let Some(run) = run.filter(|run| is_plain(run)).map(str::to_owned) else { return };
        if self.pace.changed(&run, Instant::now()) {
            self.tell(run);
        }
    }

    fn everything(&mut self) {
        let Some(watched) = &self.watched else { return };
        let Ok(entries) = std::fs::read_dir(&watched.root) else { return };
        for entry in entries.filter_map(Result::ok) {
            self.changed(&entry.path());
        }
    }

    fn tell(&self, run: String) {
        // Fails if there is no receiver just now.
        let _ = self.touched.send(run);
    }
}

fn watcher(root: &Path, sender: Sender<Signal>) -> notify::Result<RecommendedWatcher> {
    let of_root = root.to_owned();
    let see = move |event: notify::Result<Event>| match event {
        Ok(event) => {
            for signal in signals(event, &of_root) {
                // Fails only if the thread has ended.
                let _ = sender.send(signal);
            }
        }
        Err(error) => tracing::warn!(%error, "not every change of artifacts is seen"),
    };
    // Do not follow links: a link in an artifact folder could lead anywhere.
    let mut watcher = RecommendedWatcher::new(see, Config::default().with_follow_symlinks(false))?;
    watcher.watch(root, RecursiveMode::Recursive)?;
    Ok(watcher)
}

/// The signals for an event. Opening or reading a file gives none.
fn signals(event: Event, root: &Path) -> Vec<Signal> {
    if event.need_rescan() {
        return vec![Signal::Everything];
    }
    let of_path: fn(PathBuf) -> Signal = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Signal::Changed,
        EventKind::Access(_) => return Vec::new(),
        EventKind::Create(CreateKind::Folder)
        | EventKind::Modify(ModifyKind::Name(RenameMode::To | RenameMode::Both | RenameMode::Any)) => Signal::Folder,
        EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From))
            if event.paths.iter().any(|path| path == root) =>
        {
            return vec![Signal::Gone];
        }
        _ => Signal::Changed,
    };
    event.paths.into_iter().map(of_path).collect()
}
