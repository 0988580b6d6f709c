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

use super::check_file_name::is_plain;
use super::debounce::Debounce;

/// Interval of checks whether a missing root has appeared.
const ROOT_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Capacity of the channel: run ids by which a receiver may fall behind.
const CHANNEL_CAPACITY: usize = 1_024;

pub(super) struct FolderWatcher {
    root: Option<PathBuf>,
    changed_runs: broadcast::Sender<String>,
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
        Self { root, changed_runs: broadcast::channel(CHANNEL_CAPACITY).0, thread: Mutex::default() }
    }

    /// Subscribes to changes from now on. The first call returns once the folders are watched, so that no change is
    /// missed.
    pub(super) fn subscribe(&self) -> broadcast::Receiver<String> {
        let receiver = self.changed_runs.subscribe();
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let (None, Some(root)) = (&*thread, &self.root) {
            *thread = start_thread(root.clone(), self.changed_runs.clone());
        }
        receiver
    }

    /// Tells the thread that the root may have been created.
    pub(super) fn check_root(&self) {
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

fn start_thread(root: PathBuf, changed_runs: broadcast::Sender<String>) -> Option<Sender<Signal>> {
    let (sender, signals) = channel();
    let mut watch =
        WatcherThread { root, sender: sender.clone(), changed_runs, pace: Debounce::default(), watched: None };
    watch.watch_root();
    let spawned = std::thread::Builder::new().name("artifacts".to_owned()).spawn(move || watch.run(&signals));
    if let Err(error) = &spawned {
        tracing::warn!(%error, "the artifact folders cannot be watched");
    }
    spawned.ok().map(|_| sender)
}

struct WatcherThread {
    root: PathBuf,
    /// Passed to the watcher's callback.
    sender: Sender<Signal>,
    changed_runs: broadcast::Sender<String>,
    pace: Debounce,
    watched: Option<ActiveWatcher>,
}

struct ActiveWatcher {
    watcher: RecommendedWatcher,
    /// The canonical path, as events report it.
    root: PathBuf,
}

impl WatcherThread {
    fn run(mut self, signals: &Receiver<Signal>) {
        loop {
            match self.next_signal(signals) {
                Ok(Signal::End) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Signal::Changed(path)) => self.report_change(&path),
                Ok(Signal::Folder(path)) => self.watch_new_folder(&path),
                Ok(Signal::Everything) => self.report_all(),
                Ok(Signal::Gone) => self.watched = None,
                Ok(Signal::Look) | Err(RecvTimeoutError::Timeout) => {}
            }
            for run in self.pace.take_due(Instant::now()) {
                self.publish_run(run);
            }
            if self.watched.is_none() && self.watch_root() {
                // Report all runs: a root that has just appeared may already contain files.
                self.report_all();
            }
        }
    }

    fn next_signal(&self, signals: &Receiver<Signal>) -> Result<Signal, RecvTimeoutError> {
        let due = self.pace.next_due().map(|due| due.saturating_duration_since(Instant::now()));
        let wait = if self.watched.is_none() {
            Some(due.map_or(ROOT_CHECK_INTERVAL, |due| due.min(ROOT_CHECK_INTERVAL)))
        } else {
            due
        };
        match wait {
            Some(wait) => signals.recv_timeout(wait),
            None => signals.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Starts watching the root, if it exists. Returns whether it did.
    fn watch_root(&mut self) -> bool {
        let Ok(root) = std::fs::canonicalize(&self.root) else { return false };
        match new_watcher(&root, self.sender.clone()) {
            Ok(watcher) => {
                self.watched = Some(ActiveWatcher { watcher, root });
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
    fn watch_new_folder(&mut self, path: &Path) {
        if let Some(watched) = &mut self.watched
            && std::fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
            && let Err(error) = watched.watcher.watch(path, RecursiveMode::Recursive)
        {
            tracing::debug!(%error, path = %path.display(), "a folder of artifacts cannot be watched");
        }
        self.report_change(path);
    }

    fn report_change(&mut self, path: &Path) {
        let Some(watched) = &self.watched else { return };
        let run = path.strip_prefix(&watched.root).ok().and_then(|below| below.iter().next()?.to_str());
        let Some(run) = run.filter(|run| is_plain(run)).map(str::to_owned) else { return };
        if self.pace.record_change(&run, Instant::now()) {
            self.publish_run(run);
        }
    }

    fn report_all(&mut self) {
        let Some(watched) = &self.watched else { return };
        let Ok(entries) = std::fs::read_dir(&watched.root) else { return };
        for entry in entries.filter_map(Result::ok) {
            self.report_change(&entry.path());
        }
    }

    fn publish_run(&self, run: String) {
        // Fails if there is no receiver just now.
        let _ = self.changed_runs.send(run);
    }
}

fn new_watcher(root: &Path, sender: Sender<Signal>) -> notify::Result<RecommendedWatcher> {
    let of_root = root.to_owned();
    let see = move |event: notify::Result<Event>| match event {
        Ok(event) => {
            for signal in signals_for_event(event, &of_root) {
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
fn signals_for_event(event: Event, root: &Path) -> Vec<Signal> {
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
