//! Commit tasks of PostgreSQL: each has a connection, and stores the batches of its streams in one statement.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use skald_journal::{Append, ConcurrentAppends, Head, IdempotentAnswer, ReadModelChange, StoreError};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_postgres::Row;

use super::database_error::StatementError;
use super::reconnecting_connection::ReconnectingConnection;
use super::rows;
use super::search::{SearchColumns, SearchRow, SideRowBodies, TextToIndex, make_rows};
use super::search_statistics::SearchStatistics;
use super::session::{DATABASE_TIMEOUT, DatabaseSession, Parameters};
use super::sql;
use crate::answer_digest::answer_column;
use crate::rebase_batch::MISSED_MAX;
use crate::signed_number::to_i64;

/// How long a commit waits for more jobs, and only while there are fewer than in the last one.
const GATHER_WAIT: Duration = Duration::from_micros(150);
/// Rows after which a commit takes no more.
const ROWS_MAX: usize = 1_024;
/// How often a batch is decided again because another node was faster.
const ATTEMPTS: usize = 64;

pub(super) struct CommitJob {
    pub(super) append: Append,
    pub(super) answer: oneshot::Sender<Result<(), StoreError>>,
    pub(super) attempts: usize,
}

impl CommitJob {
    fn row_count(&self) -> usize {
        self.append.batch.records.len()
    }

    fn send_answer(self, answer: Result<(), StoreError>) {
        // The receiver is gone if the caller gave up.
        let _ = self.answer.send(answer);
    }
}

pub(super) struct Committer {
    pub(super) link: ReconnectingConnection,
    pub(super) jobs: mpsc::Receiver<CommitJob>,
    pub(super) wakes: watch::Sender<u64>,
    /// Wakes the notifier after every commit, to notify other nodes.
    pub(super) news: Arc<Notify>,
    pub(super) search_statistics: Arc<SearchStatistics>,
}

impl Committer {
    /// Runs until all senders are dropped.
    pub(super) async fn run(mut self) {
        let (mut last, mut waiting) = (0, VecDeque::new());
        while let Some(group) = self.gather_group(&mut waiting, last).await {
            last = group.len();
            if group.is_empty() {
                continue;
            }
            match self.link.session(Instant::now() + DATABASE_TIMEOUT).await {
                Ok(session) => self.store_group(&session, group, &mut waiting).await,
                Err(error) => answer_all(group, &error),
            }
        }
    }

    /// Collects the next group of jobs: each stream once, since one statement can move a head only once.
    async fn gather_group(&mut self, waiting: &mut VecDeque<CommitJob>, last: usize) -> Option<Vec<CommitJob>> {
        if waiting.is_empty() {
            waiting.push_back(self.jobs.recv().await?);
        }
        let mut rows: usize = waiting.iter().map(CommitJob::row_count).sum();
        let deadline = Instant::now() + GATHER_WAIT;
        while rows < ROWS_MAX {
            if let Ok(job) = self.jobs.try_recv() {
                rows += job.row_count();
                waiting.push_back(job);
            } else if waiting.len() < last && Instant::now() < deadline {
                // Yield instead of sleeping: the runtime's timers are too coarse for so short a wait.
                tokio::task::yield_now().await;
            } else {
                break;
            }
        }
        // Drop jobs whose callers have timed out: they were told that the outcome is unknown, and retry.
        waiting.retain(|job| !job.answer.is_closed());
        let mut streams = HashSet::new();
        let (now, later): (Vec<_>, Vec<_>) =
            waiting.drain(..).partition(|job| streams.insert(job.append.stream.clone()));
        *waiting = later.into();
        Some(now)
    }

    /// Stores a group, and answers the jobs that are stored or cannot be. The others go back to `waiting`.
    async fn store_group(&self, session: &DatabaseSession, group: Vec<CommitJob>, waiting: &mut VecDeque<CommitJob>) {
        let indexed = match index_group(session, &group).await {
            Ok(indexed) => indexed,
            Err(error) => return answer_all(group, &error),
        };
        match append_group(session, &group, &indexed).await {
            Ok(stored) => {
                if !stored.is_empty() {
                    self.wakes.send_modify(|wakes| *wakes += 1);
                    self.news.notify_one();
                    self.search_statistics.count_written(indexed.iter().map(Vec::len).sum());
                }
                let (done, missed): (Vec<_>, Vec<_>) =
                    group.into_iter().partition(|job| stored.contains(job.append.stream.as_str()));
                for job in done {
                    job.send_answer(Ok(()));
                }
                for job in missed {
                    waiting.extend(decide_again(session, job).await);
                }
            }
            Err(trouble) if trouble.is_transaction_rollback() => waiting.extend(group),
            // Store the jobs one by one, so that a job that can never be stored does not fail the others.
            Err(trouble) if trouble.is_refusal() && group.len() > 1 => {
                for job in group {
                    Box::pin(self.store_group(session, vec![job], waiting)).await;
                }
            }
            // If the connection is lost, whether the group was stored is unknown.
            Err(trouble) => answer_all(group, &trouble.to_store_error()),
        }
    }
}

fn answer_all(group: Vec<CommitJob>, error: &StoreError) {
    for job in group {
        job.send_answer(Err(error.clone()));
    }
}

/// Runs a statement with the full timeout.
async fn query_with_timeout(
    session: &DatabaseSession,
    text: &'static str,
    parameters: Parameters<'_>,
) -> Result<Vec<Row>, StatementError> {
    session.query(text, parameters, Instant::now() + DATABASE_TIMEOUT).await
}

/// The rows of the search index for the documents of each job.
async fn index_group(session: &DatabaseSession, group: &[CommitJob]) -> Result<Vec<Vec<SearchRow>>, StoreError> {
    let mut indexed = Vec::with_capacity(group.len());
    for job in group {
        let batch = &job.append.batch;
        let mut texts: Vec<TextToIndex> = batch.changes.iter().filter_map(text_to_index).collect();
        if texts.is_empty() {
            indexed.push(Vec::new());
            continue;
        }
        let own = batch.side_rows.iter().map(|row| ((&*row.kind, row.key.as_str()), &*row.body));
        let own: HashMap<(&str, &str), &str> = own.collect();
        let missing = texts.iter().filter_map(TextToIndex::side_row_key).filter(|key| !own.contains_key(key));
        let stored = find_side_rows(session, missing.collect()).await.map_err(|trouble| trouble.to_store_error())?;
        for text in &mut texts {
            let body = text.side_row_key().and_then(|(kind, key)| match own.get(&(kind, key)) {
                Some(body) => Some((*body).to_owned()),
                None => stored.get(&(kind.to_owned(), key.to_owned())).cloned(),
            });
            text.set_side_row(body);
        }
        indexed.push(make_rows(texts).await?);
    }
    Ok(indexed)
}

fn text_to_index(change: &ReadModelChange) -> Option<TextToIndex> {
    match change {
        ReadModelChange::Put(document) => TextToIndex::new(document),
        ReadModelChange::Delete { .. } => None,
    }
}

async fn find_side_rows(session: &DatabaseSession, wanted: Vec<(&str, &str)>) -> Result<SideRowBodies, StatementError> {
    if wanted.is_empty() {
        return Ok(SideRowBodies::new());
    }
    let (kinds, keys): (Vec<&str>, Vec<&str>) = wanted.into_iter().unzip();
    let found = query_with_timeout(session, sql::FIND_SIDE_ROWS, &[&kinds, &keys]).await?;
    Ok(found.iter().map(|row| ((row.get(0), row.get(1)), row.get(2))).collect())
}

/// Appends the batches of all jobs in one statement, with their rows of the search index. Returns the streams whose
/// batches were stored.
async fn append_group(
    session: &DatabaseSession,
    group: &[CommitJob],
    indexed: &[Vec<SearchRow>],
) -> Result<HashSet<String>, StatementError> {
    let mut columns = AppendColumns::default();
    for (job, rows) in group.iter().zip(indexed) {
        columns.add_append(&job.append);
        columns.add_search_rows(&job.append, rows);
    }
    let AppendColumns { heads, records, commands, puts, deletes, side_rows, removed_side_rows, .. } = &columns;
    let (search, unindexed) = (&columns.search.1, &columns.unindexed);
    let rows = query_with_timeout(
        session,
        sql::APPEND,
        &[
            &heads.0,
            &heads.1,
            &heads.2,
            &heads.3,
            &heads.4,
            &heads.5,
            &records.0,
            &records.1,
            &records.2,
            &records.3,
            &records.4,
            &records.5,
            &records.6,
            &records.7,
            &commands.0,
            &commands.1,
            &commands.2,
            &commands.3,
            &commands.4,
            &puts.0,
            &puts.1,
            &puts.2,
            &puts.3,
            &puts.4,
            &deletes.0,
            &deletes.1,
            &deletes.2,
            &records.8,
            &puts.5,
            &side_rows.0,
            &side_rows.1,
            &side_rows.2,
            &side_rows.3,
            &removed_side_rows.0,
            &removed_side_rows.1,
            &removed_side_rows.2,
            &columns.search.0,
            &search.collections,
            &search.ids,
            &search.partitions,
            &search.serials,
            &search.classes,
            &search.words,
            &search.runs,
            &search.digests,
            &unindexed.0,
            &unindexed.1,
            &unindexed.2,
        ],
    )
    .await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

type TextColumn<'a> = Vec<&'a str>;
type Bytes<'a> = Vec<&'a [u8]>;
type OptionalBytes<'a> = Vec<Option<&'a [u8]>>;

/// The parameters of the statement, column by column.
#[derive(Default)]
struct AppendColumns<'a> {
    heads: (TextColumn<'a>, Vec<i32>, Vec<i64>, Bytes<'a>, Vec<i64>, Bytes<'a>),
    records: (
        TextColumn<'a>,
        Vec<i64>,
        TextColumn<'a>,
        Vec<i64>,
        TextColumn<'a>,
        TextColumn<'a>,
        Bytes<'a>,
        Bytes<'a>,
        OptionalBytes<'a>,
    ),
    commands: (TextColumn<'a>, TextColumn<'a>, Bytes<'a>, Vec<i64>, TextColumn<'a>),
    puts: (TextColumn<'a>, TextColumn<'a>, TextColumn<'a>, Vec<i64>, TextColumn<'a>, TextColumn<'a>),
    deletes: (TextColumn<'a>, TextColumn<'a>, TextColumn<'a>),
    side_rows: (TextColumn<'a>, TextColumn<'a>, TextColumn<'a>, TextColumn<'a>),
    removed_side_rows: (TextColumn<'a>, TextColumn<'a>, TextColumn<'a>),
    search: (TextColumn<'a>, SearchColumns<'a>),
    /// Documents that are not in the search index any more.
    unindexed: (TextColumn<'a>, TextColumn<'a>, TextColumn<'a>),
}

impl<'a> AppendColumns<'a> {
    fn add_append(&mut self, append: &'a Append) {
        let (stream, batch) = (append.stream.as_str(), &append.batch);
        let Some(last) = batch.records.last() else { return };
        self.heads.0.push(stream);
        self.heads.1.push(i32::from(append.stream.shard()));
        self.heads.2.push(to_i64(batch.expected.revision));
        self.heads.3.push(&batch.expected.hash);
        self.heads.4.push(to_i64(last.revision));
        self.heads.5.push(&last.hash);
        for record in &batch.records {
            self.records.0.push(stream);
            self.records.1.push(to_i64(record.revision));
            self.records.2.push(&record.kind);
            self.records.3.push(record.at.as_microsecond());
            self.records.4.push(&record.by);
            self.records.5.push(&record.body);
            self.records.6.push(&record.previous);
            self.records.7.push(&record.hash);
            self.records.8.push(answer_column(&record.answer));
        }
        for IdempotentAnswer { key, revision, answer } in &batch.answers {
            self.commands.0.push(stream);
            self.commands.1.push(&key.key);
            self.commands.2.push(&key.request);
            self.commands.3.push(to_i64(*revision));
            self.commands.4.push(answer);
        }
        for row in &batch.side_rows {
            self.side_rows.0.push(stream);
            self.side_rows.1.push(&row.kind);
            self.side_rows.2.push(&row.key);
            self.side_rows.3.push(&row.body);
        }
        for (kind, key) in &batch.removed_side_rows {
            self.removed_side_rows.0.push(stream);
            self.removed_side_rows.1.push(kind);
            self.removed_side_rows.2.push(key);
        }
        for change in &batch.changes {
            match change {
                ReadModelChange::Put(document) => {
                    self.puts.0.push(stream);
                    self.puts.1.push(&document.collection);
                    self.puts.2.push(&document.id);
                    self.puts.3.push(document.rank);
                    self.puts.4.push(&document.body);
                    self.puts.5.push(&document.partition);
                }
                ReadModelChange::Delete { collection, id } => {
                    self.deletes.0.push(stream);
                    self.deletes.1.push(collection);
                    self.deletes.2.push(id);
                }
            }
        }
    }
}

impl<'a> AppendColumns<'a> {
    fn add_search_rows(&mut self, append: &'a Append, rows: &'a [SearchRow]) {
        let stream = append.stream.as_str();
        for row in rows {
            self.search.0.push(stream);
            self.search.1.add_row(row);
        }
        for change in &append.batch.changes {
            if matches!(change, ReadModelChange::Put(document) if document.search.is_some()) {
                continue;
            }
            let (collection, id) = change.key();
            self.unindexed.0.push(stream);
            self.unindexed.1.push(collection);
            self.unindexed.2.push(id);
        }
    }
}

/// Decides a batch again after a conflict, or answers its job. Returns the job if its batch is to be stored next.
async fn decide_again(session: &DatabaseSession, mut job: CommitJob) -> Option<CommitJob> {
    job.attempts += 1;
    let (head, missed) = match read_concurrent_appends(session, &job.append).await {
        Ok(found) => found,
        Err(trouble) => {
            job.send_answer(Err(trouble.to_store_error()));
            return None;
        }
    };
    let is_stuck = missed.records.is_empty() && missed.answered.is_empty();
    let is_too_much = missed.records.len() > MISSED_MAX || job.attempts > ATTEMPTS;
    let Some(again) = job.append.again.as_mut().filter(|_| !is_stuck && !is_too_much) else {
        job.send_answer(Err(StoreError::Conflict { head }));
        return None;
    };
    if let Some(batch) = again(missed) {
        job.append.batch = batch;
        return Some(job);
    }
    job.send_answer(Ok(()));
    None
}

async fn read_concurrent_appends(
    session: &DatabaseSession,
    append: &Append,
) -> Result<(Head, ConcurrentAppends), StatementError> {
    let (stream, batch) = (append.stream.as_str(), &append.batch);
    let keys: Vec<&str> = batch.answers.iter().map(|command| command.key.key.as_str()).collect();
    // Read the records before the answers: a key that is answered later is found in the next attempt.
    let limit = crate::signed_number::page_limit(MISSED_MAX + 1);
    let records =
        query_with_timeout(session, sql::READ_RECORDS, &[&stream, &to_i64(batch.expected.revision), &limit]).await?;
    let answered = query_with_timeout(session, sql::FIND_ANSWERS, &[&stream, &keys]).await?;
    let head = query_with_timeout(session, sql::HEAD, &[&stream]).await?;
    let missed = ConcurrentAppends {
        records: records.iter().map(rows::record).collect(),
        answered: answered.iter().map(rows::answer).collect(),
    };
    Ok((head.first().map(rows::head).unwrap_or_default(), missed))
}
