//! The writer of one stream: takes the waiting commands, decides them as a batch, and appends it in one commit.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use arc_swap::ArcSwapOption;
use tokio::sync::mpsc;

use super::decide_batch::{BatchDecision, PendingSubmission, ReplayedRecord};
use super::stream_kind::{parse_events, replay_record};
use super::streams::Limits;
use super::{Append, CommittedState, Journal, JournalFailure, StoreError, StreamKind, StreamName, snapshots};

/// Records read at once when a stream is opened or caught up.
const PAGE: usize = 1_000;
/// How often a batch is decided again after conflicts before it fails.
const ATTEMPTS: usize = 16;
/// How often a reader lets the writer run before it loads a record that the writer is about to publish.
const PUBLISH_YIELDS: usize = 32;
/// A value that is no version of a store: the published state must be compared with the store before it is served.
const UNCHECKED: u64 = u64::MAX;

/// The state that readers and the writer of one stream share.
pub(super) struct StreamCell<K: StreamKind> {
    pub(super) stream: StreamName,
    journal: Arc<dyn Journal>,
    published: ArcSwapOption<CommittedState<K>>,
    /// The store's version when the published state was last known to be the newest.
    version: AtomicU64,
    /// How often the published state was invalidated. A load that began before that must not mark its state as checked.
    forgotten: AtomicU64,
    /// Only one caller loads at a time; the others wait and use its result.
    loading: tokio::sync::Mutex<()>,
    /// The number of loads started, and the number of the last load that finished.
    loads: (AtomicU64, AtomicU64),
    /// How many loads failed, and the error of the last one.
    failed_loads: Mutex<(u64, Option<StoreError>)>,
    used: Mutex<Instant>,
    /// The revision of the newest snapshot, and how many bytes it has.
    snapshot: (AtomicU64, AtomicU64),
    is_snapshotting: AtomicBool,
}

impl<K: StreamKind> StreamCell<K> {
    pub(super) fn new(stream: StreamName, journal: Arc<dyn Journal>) -> Self {
        Self {
            stream,
            journal,
            published: ArcSwapOption::empty(),
            version: AtomicU64::new(UNCHECKED),
            forgotten: AtomicU64::new(0),
            loading: tokio::sync::Mutex::new(()),
            loads: (AtomicU64::new(0), AtomicU64::new(0)),
            failed_loads: Mutex::default(),
            used: Mutex::new(Instant::now()),
            snapshot: (AtomicU64::new(0), AtomicU64::new(0)),
            is_snapshotting: AtomicBool::new(false),
        }
    }

    /// The newest committed state.
    pub(super) async fn newest_state(&self) -> Result<Arc<CommittedState<K>>, StoreError> {
        *lock(&self.used) = Instant::now();
        let begun = self.loads.0.load(Ordering::Acquire);
        let failed = lock(&self.failed_loads).0;
        if let Some(committed) = self.published_if_newest().await? {
            return Ok(committed);
        }
        let _loading = self.loading.lock().await;
        // If a load failed while this caller waited, fail with it. Otherwise the waiting callers would try one after
        // the other, each waiting longer than the one before.
        if let (count, Some(error)) = &*lock(&self.failed_loads)
            && *count > failed
        {
            return Err(error.clone());
        }
        // A load that started after this call is new enough. If each waiting caller loaded again, they would query the
        // database one after the other.
        if self.loads.1.load(Ordering::Acquire) > begun
            && let Some(committed) = self.published.load_full()
        {
            return Ok(committed);
        }
        let loaded = self.load().await;
        if let Err(error) = &loaded {
            let mut failed = lock(&self.failed_loads);
            *failed = (failed.0 + 1, Some(error.clone()));
        }
        loaded
    }

    /// Reads the stored records, and publishes the state. The caller holds the `loading` lock.
    async fn load(&self) -> Result<Arc<CommittedState<K>>, StoreError> {
        let number = self.loads.0.fetch_add(1, Ordering::AcqRel) + 1;
        // Read both before the records: the next read then notices a change in between.
        let forgotten = self.forgotten.load(Ordering::Acquire);
        let version = self.journal.data_version()?;
        let known = match self.published.load_full() {
            Some(committed) => committed,
            None => self.load_snapshot().await?,
        };
        let committed = self.catch_up(known).await?;
        self.publish(&committed);
        self.loads.1.store(number, Ordering::Release);
        self.version.store(version.unwrap_or(UNCHECKED), Ordering::Release);
        if self.forgotten.load(Ordering::Acquire) != forgotten {
            self.version.store(UNCHECKED, Ordering::Release);
        }
        Ok(committed)
    }

    /// Returns once the published state has this revision. The writer is about to publish it; if it does not, because
    /// another process wrote the record, the state is loaded.
    pub(super) async fn wait_for_revision(&self, revision: u64) -> Result<(), StoreError> {
        let is_published = || self.published.load().as_ref().is_none_or(|committed| committed.revision() >= revision);
        for _ in 0..PUBLISH_YIELDS {
            if is_published() {
                return Ok(());
            }
            tokio::task::yield_now().await;
        }
        let _loading = self.loading.lock().await;
        if !is_published() {
            self.load().await?;
        }
        Ok(())
    }

    /// A committed state, perhaps outdated: good enough to decide on, since the append detects a conflict.
    async fn last_known_state(&self) -> Result<Arc<CommittedState<K>>, StoreError> {
        *lock(&self.used) = Instant::now();
        match self.published.load_full() {
            Some(committed) => Ok(committed),
            None => self.newest_state().await,
        }
    }

    /// The published state, if it is the newest.
    async fn published_if_newest(&self) -> Result<Option<Arc<CommittedState<K>>>, StoreError> {
        let checked = self.version.load(Ordering::Acquire);
        let Some(committed) = self.published.load_full() else { return Ok(None) };
        let is_fresh = match self.journal.data_version()? {
            Some(version) => version == checked,
            None => self.journal.head(&self.stream).await? == committed.head,
        };
        Ok(is_fresh.then_some(committed))
    }

    /// Publishes a state, unless a newer one is published.
    fn publish(&self, committed: &Arc<CommittedState<K>>) {
        self.published.rcu(|current| match current {
            Some(current) if current.revision() >= committed.revision() => Some(Arc::clone(current)),
            _ => Some(Arc::clone(committed)),
        });
    }

    /// Drops the published state after an append whose outcome is unknown.
    fn invalidate(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.version.store(UNCHECKED, Ordering::Release);
        self.published.store(None);
    }

    async fn load_snapshot(&self) -> Result<Arc<CommittedState<K>>, StoreError> {
        let Some(opened) = snapshots::load_state::<K>(&*self.journal, &self.stream).await? else {
            return Ok(Arc::default());
        };
        self.snapshot.0.store(opened.head.revision, Ordering::Relaxed);
        self.snapshot.1.store(opened.bytes, Ordering::Relaxed);
        Ok(Arc::new(CommittedState::new(opened.state, opened.head)))
    }

    async fn catch_up(&self, known: Arc<CommittedState<K>>) -> Result<Arc<CommittedState<K>>, StoreError> {
        let (mut state, mut head, mut is_changed) = (None, known.head, false);
        loop {
            let page = self.journal.read(&self.stream, head.revision, PAGE).await?;
            for record in &page {
                let before = state.take().unwrap_or_else(|| known.state.clone());
                let (next, next_head) = replay_record::<K>(before, head, record).map_err(StoreError::Damaged)?;
                (state, head, is_changed) = (Some(next), next_head, true);
            }
            if page.len() < PAGE {
                break;
            }
        }
        Ok(match state {
            Some(state) if is_changed => Arc::new(known.next_state(state, head)),
            _ => known,
        })
    }
}

/// Processes the mailbox until the stream has been idle for a while. `leave` removes the cell from the map.
pub(super) async fn run<K: StreamKind>(
    cell: Arc<StreamCell<K>>,
    mut requests: mpsc::Receiver<PendingSubmission<K>>,
    limits: Limits,
    leave: impl Fn(&Arc<StreamCell<K>>) + Send + 'static,
) {
    // The state may have been loaded with many records after its snapshot, so there is a pause at the beginning too.
    let mut wait = limits.pause;
    loop {
        let mut batch = Vec::new();
        match tokio::time::timeout(wait, requests.recv_many(&mut batch, limits.commands_per_commit)).await {
            Ok(0) => return,
            Ok(_) => {
                process_batch(&cell, batch, &mut requests).await;
                // The larger the last snapshot was, the later comes the next.
                let bytes = cell.snapshot.1.load(Ordering::Relaxed);
                store_snapshot_if_due(&cell, limits.records_per_snapshot.max(bytes / 1_024));
                yield_to_senders(&requests).await;
                wait = limits.pause;
            }
            Err(_) if wait < limits.idle => {
                store_snapshot_if_due(&cell, limits.records_per_snapshot);
                wait = limits.idle;
            }
            Err(_) if !requests.is_closed() && lock(&cell.used).elapsed() >= limits.idle => {
                // Commands sent before the close are still processed. A new writer of the stream may run at the same
                // time, which is as safe as a writer in another process.
                requests.close();
                leave(&cell);
            }
            Err(_) => {}
        }
    }
}

/// Yields until no more commands arrive, so that callers just answered can join the next commit.
async fn yield_to_senders<K: StreamKind>(requests: &mpsc::Receiver<PendingSubmission<K>>) {
    let mut waiting_before = None;
    while waiting_before != Some(requests.len()) {
        waiting_before = Some(requests.len());
        tokio::task::yield_now().await;
    }
}

/// Decides and stores one batch, and answers all its commands.
async fn process_batch<K: StreamKind>(
    cell: &Arc<StreamCell<K>>,
    batch: Vec<PendingSubmission<K>>,
    waiting: &mut mpsc::Receiver<PendingSubmission<K>>,
) {
    let turn = match cell.last_known_state().await {
        Ok(committed) => BatchDecision::new(cell.stream.clone(), committed, batch),
        Err(error) => {
            fail_batch(&mut BatchDecision::new(cell.stream.clone(), Arc::default(), batch), waiting, &error);
            return;
        }
    };
    let turn = Arc::new(Mutex::new(turn));
    if let Err(error) = append_batch(cell, &turn).await {
        if error != StoreError::Full {
            cell.invalidate();
        }
        fail_batch(&mut lock(&turn), waiting, &error);
        return;
    }
    cell.publish(lock(&turn).state_after());
    match read_replays(cell, &turn).await {
        Ok(replayed) => lock(&turn).send_replies(&replayed),
        Err(error) => fail_batch(&mut lock(&turn), waiting, &error),
    }
}

/// Answers all commands of a batch with the error. If the store is unavailable, commands still in the mailbox get the
/// same error: they have waited as long as the batch took, and would have to wait as long again.
fn fail_batch<K: StreamKind>(
    turn: &mut BatchDecision<K>,
    waiting: &mut mpsc::Receiver<PendingSubmission<K>>,
    error: &StoreError,
) {
    // Drain the mailbox before answering, or it would include retries of the commands answered here.
    let mut behind = Vec::new();
    if matches!(error, StoreError::Unavailable(_) | StoreError::Held(_)) {
        behind.extend(std::iter::from_fn(|| waiting.try_recv().ok()));
    }
    turn.fail_all(|| to_journal_failure(error));
    for request in behind {
        // The receiver is gone if the caller gave up.
        let _ = request.reply.send(Err(to_journal_failure(error)));
    }
}

async fn append_batch<K: StreamKind>(
    cell: &Arc<StreamCell<K>>,
    turn: &Arc<Mutex<BatchDecision<K>>>,
) -> Result<(), StoreError> {
    let mut batch = lock(turn).decide();
    if batch.is_none() {
        // No command was accepted, perhaps because the state is outdated, so decide again on the newest.
        let newest = cell.newest_state().await?;
        batch = lock(turn).decide_on(newest);
    }
    for _ in 0..ATTEMPTS {
        let Some(decided) = batch else { return Ok(()) };
        let shared = Arc::clone(turn);
        let again = Box::new(move |missed| lock(&shared).decide_again(missed));
        let append = Append { stream: cell.stream.clone(), batch: decided, again: Some(again) };
        match cell.journal.append(append).await {
            Ok(()) => {
                return lock(turn).damage().map_or(Ok(()), |damage| Err(StoreError::Damaged(damage.to_owned())));
            }
            Err(StoreError::Conflict { .. }) => {
                let after = lock(turn).base_revision();
                let records = cell.journal.read(&cell.stream, after, PAGE).await?;
                batch = lock(turn).decide_again(super::ConcurrentAppends { records, answered: Vec::new() });
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Unavailable(format!("{} could not be caught up with", cell.stream)))
}

/// Looks up the stored answers of retries, and reads the events of their records.
async fn read_replays<K: StreamKind>(
    cell: &Arc<StreamCell<K>>,
    turn: &Arc<Mutex<BatchDecision<K>>>,
) -> Result<BTreeMap<u64, ReplayedRecord<K>>, StoreError> {
    let doubtful = lock(turn).refused_keys();
    if !doubtful.is_empty() {
        let answered = cell.journal.find_answers(&cell.stream, doubtful).await?;
        lock(turn).resolve_retries(answered);
    }
    let revisions = lock(turn).replayed_revisions();
    let mut replayed = BTreeMap::new();
    for revision in revisions {
        if let Some(record) = cell.journal.read(&cell.stream, revision.saturating_sub(1), 1).await?.first() {
            let events = parse_events::<K>(record).map_err(StoreError::Damaged)?.into();
            replayed.insert(revision, (events, record.content_hash()));
        }
    }
    Ok(replayed)
}

/// Writes a snapshot in the background if there are so many records since the last one.
fn store_snapshot_if_due<K: StreamKind>(cell: &Arc<StreamCell<K>>, records: u64) {
    let Some(committed) = cell.published.load_full() else { return };
    let is_due = K::USES_SNAPSHOTS && committed.revision() >= cell.snapshot.0.load(Ordering::Relaxed) + records;
    if !is_due || cell.is_snapshotting.swap(true, Ordering::AcqRel) {
        return;
    }
    let cell = Arc::clone(cell);
    tokio::spawn(async move {
        match snapshots::store_state(&*cell.journal, &cell.stream, &committed).await {
            Ok(bytes) => {
                cell.snapshot.0.store(committed.revision(), Ordering::Relaxed);
                cell.snapshot.1.store(bytes, Ordering::Relaxed);
            }
            Err(error) => tracing::debug!(stream = cell.stream.as_str(), %error, "a snapshot was not kept"),
        }
        cell.is_snapshotting.store(false, Ordering::Release);
    });
}

pub(super) fn to_journal_failure<R>(error: &StoreError) -> JournalFailure<R> {
    match error {
        StoreError::Full => JournalFailure::RateLimited,
        StoreError::Unavailable(cause) => JournalFailure::Unavailable(cause.clone()),
        StoreError::Held(cause) => JournalFailure::Held(cause.clone()),
        StoreError::Damaged(cause) => JournalFailure::Damaged(cause.clone()),
        StoreError::Conflict { .. } | StoreError::Refused(_) | StoreError::Unsupported(_) => {
            JournalFailure::Broken(error.to_string())
        }
    }
}

/// Ignores poisoning: a panic never leaves a value behind these locks half changed.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
