//! The audit log: notes who called what, when, and how it ended, without content, and stores it in the background.
//!
//! A call never waits for it. What was noted in the last moments before a process is killed is lost; a process that
//! stops in order stores it.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use skald_journal::AuditRow;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{App, Caller, Principal, RequestControl};

/// Rows that may wait to be stored. More than that are dropped, and the log and a metric say so.
const QUEUE: usize = 16_384;
/// Rows of one transaction: more would delay commands of the same store.
const ROWS_PER_WRITE: usize = 256;
/// How long rows are gathered. It bounds what a killed process loses.
const GATHER: Duration = Duration::from_millis(200);
/// The pause after a write that failed. Rows wait meanwhile.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// When rows that are too old are deleted first: not while a server starts.
const FIRST_PRUNE: Duration = Duration::from_mins(1);
/// Interval of deleting what is too old.
const PRUNE_INTERVAL: Duration = Duration::from_hours(1);

/// Whose calls are noted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditScope {
    /// Calls with a token. The owner of the process has no one to account to.
    Tokens,
    /// Also the owner's.
    Everyone,
}

/// The queue before the audit log. Nothing is noted before [`App::keep_audit`] runs.
#[derive(Debug, Default)]
pub(crate) struct AuditQueue {
    started: OnceLock<(AuditScope, mpsc::Sender<AuditRow>)>,
    /// Whether rows were dropped since the log said so.
    is_dropping: AtomicBool,
}

/// One call that was answered.
pub(crate) struct AnsweredCall<'a> {
    pub operation: &'a str,
    pub caller: &'a Caller,
    pub control: &'a RequestControl,
    pub outcome: &'static str,
    pub request_id: Option<&'a str>,
    pub begun: Instant,
}

impl App {
    /// Notes a call in the log, and for the audit.
    pub(crate) fn note_call(&self, call: &AnsweredCall<'_>) {
        let is_logged = tracing::enabled!(target: "skald::calls", tracing::Level::DEBUG);
        let audit = self.audit.started.get().filter(|(scope, _)| match scope {
            AuditScope::Everyone => true,
            AuditScope::Tokens => call.caller.principal != Principal::Owner,
        });
        if !is_logged && audit.is_none() {
            return;
        }
        let AnsweredCall { operation, caller, control, outcome, request_id, begun } = *call;
        let (user, surface) = (caller.id(), control.surface.as_str());
        let campaign = control.campaign_id.get().map(String::as_str).unwrap_or_default();
        let request_id = request_id.map_or_else(|| self.next_request_id(), str::to_owned);
        let duration_us = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::debug!(
            target: "skald::calls", operation, campaign, user, surface, outcome, duration_us, request_id, "answered"
        );
        let Some((_, queue)) = audit else { return };
        let row = AuditRow {
            number: 0,
            at: self.clock.now(),
            request_id,
            surface: surface.to_owned(),
            operation: operation.to_owned(),
            principal: user.to_owned(),
            campaign_id: campaign.to_owned(),
            outcome: outcome.to_owned(),
            duration_us,
        };
        if queue.try_send(row).is_err() {
            metrics::counter!("skald_audit_dropped_total").increment(1);
            if !self.audit.is_dropping.swap(true, Ordering::Relaxed) {
                tracing::error!("the audit log cannot be written as fast as calls come; rows are missing from it");
            }
        }
    }

    /// A request id that costs no system call. The first part is random for each process.
    fn next_request_id(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let process = self.request_id_prefix.get_or_init(|| self.new_request_id());
        format!("{process}-{:x}", COUNT.fetch_add(1, Ordering::Relaxed))
    }

    /// Stores what is noted until `stopping` is cancelled, and then what is left. Deletes rows that are older than
    /// `days`; 0 keeps them all.
    pub async fn keep_audit(&self, scope: AuditScope, days: u32, stopping: CancellationToken) {
        let (sender, mut rows) = mpsc::channel(QUEUE);
        if self.audit.started.set((scope, sender)).is_err() {
            tracing::warn!("the audit log is kept already");
            return;
        }
        let mut next_prune = tokio::time::Instant::now() + FIRST_PRUNE;
        let mut waiting = Vec::new();
        loop {
            if tokio::time::Instant::now() >= next_prune {
                self.prune_audit(days).await;
                next_prune = tokio::time::Instant::now() + PRUNE_INTERVAL;
            }
            let is_stopping = tokio::select! {
                () = stopping.cancelled() => true,
                () = tokio::time::sleep(GATHER) => false,
            };
            if is_stopping {
                // Close the queue first, so that no row comes after the last look.
                rows.close();
            }
            while waiting.len() < QUEUE
                && let Ok(row) = rows.try_recv()
            {
                waiting.push(row);
            }
            let is_stored = self.store_audit(&mut waiting).await;
            if is_stopping {
                if !is_stored {
                    tracing::error!(rows = waiting.len(), "the last rows of the audit log could not be stored");
                }
                return;
            }
        }
    }

    /// Stores the rows that wait. Those that cannot be stored stay. Returns whether none is left.
    async fn store_audit(&self, waiting: &mut Vec<AuditRow>) -> bool {
        while !waiting.is_empty() {
            let some = waiting[..waiting.len().min(ROWS_PER_WRITE)].to_vec();
            let count = some.len();
            match self.journal.append_audit(some).await {
                Ok(()) => {
                    waiting.drain(..count);
                }
                Err(error) => {
                    tracing::warn!(%error, "the audit log cannot be written right now");
                    tokio::time::sleep(RETRY_DELAY).await;
                    return false;
                }
            }
        }
        self.audit.is_dropping.store(false, Ordering::Relaxed);
        true
    }

    async fn prune_audit(&self, days: u32) {
        if days == 0 {
            return;
        }
        let age = SignedDuration::from_hours(24 * i64::from(days));
        let oldest = self.clock.now().checked_sub(age).unwrap_or(Timestamp::MIN);
        if let Err(error) = self.journal.delete_audit_before(oldest).await {
            tracing::warn!(%error, "old rows of the audit log cannot be deleted right now");
        }
    }
}
