//! `skald audit` lists and exports the audit log, and servers keep it in the background.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

use anyhow::Context;
use serde_json::{Value, json};
use skald_app::{AuditScope, LocalEngine};
use skald_journal::{AuditFilter, AuditRow};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::arguments::{AccessArguments, AuditArgument, AuditArguments, AuditCommand, AuditFilterArguments};
use crate::open_store;
use crate::output::{print_lines, to_printable};

/// Rows that are read at once.
const ROWS_PER_READ: usize = 1_000;

/// The task of a server that stores the audit log.
pub(crate) struct AuditTask {
    stopping: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl AuditTask {
    pub(crate) fn start(local: &Arc<LocalEngine>, arguments: &AccessArguments) -> Self {
        let stopping = CancellationToken::new();
        let scope = match arguments.audit {
            AuditArgument::Tokens => AuditScope::Tokens,
            AuditArgument::All => AuditScope::Everyone,
            AuditArgument::Off => return Self { stopping, task: None },
        };
        let (local, days, stop) = (Arc::clone(local), arguments.audit_days, stopping.clone());
        let task = tokio::spawn(async move { local.app().keep_audit(scope, days, stop).await });
        Self { stopping, task: Some(task) }
    }

    /// Stores what was noted last. Call it once all requests are answered.
    pub(crate) async fn finish(self) {
        self.stopping.cancel();
        if let Some(task) = self.task {
            // A panic of the task is in the log already.
            let _ = task.await;
        }
    }
}

pub(crate) async fn run(arguments: &AuditArguments) -> anyhow::Result<()> {
    let journal = open_store::open_existing(&arguments.store).await?;
    match &arguments.command {
        AuditCommand::List { filter, limit } => {
            let rows = journal.audit_latest(&audit_filter(filter), *limit).await?;
            if rows.is_empty() {
                print_lines("There are no such rows. Calls with a token are noted while a server runs.");
            }
            for row in &rows {
                print_lines(&to_printable(&row_line(row)));
            }
        }
        AuditCommand::Export { filter, out } => {
            let mut target: Box<dyn Write> = match out {
                Some(path) => {
                    let file = File::create_new(path);
                    Box::new(BufWriter::new(file.with_context(|| format!("cannot write {}", path.display()))?))
                }
                None => Box::new(BufWriter::new(std::io::stdout())),
            };
            let (filter, mut after) = (audit_filter(filter), 0);
            loop {
                let rows = journal.audit_after(&filter, after, ROWS_PER_READ).await?;
                let Some(last) = rows.last() else { break };
                after = last.number;
                for row in &rows {
                    writeln!(target, "{}", row_json(row))?;
                }
            }
            target.flush()?;
        }
    }
    Ok(())
}

fn audit_filter(arguments: &AuditFilterArguments) -> AuditFilter {
    let AuditFilterArguments { since, until, user, campaign_id, operation, outcome } = arguments.clone();
    AuditFilter { since, until, principal: user, campaign_id, operation, outcome }
}

fn row_line(row: &AuditRow) -> String {
    let AuditRow { at, surface, operation, principal, campaign_id, outcome, request_id, .. } = row;
    let campaign = if campaign_id.is_empty() { "-" } else { campaign_id };
    let milliseconds = row.duration_us.div_ceil(1_000);
    format!("{at:.3}  {principal}  {surface}  {operation}  {campaign}  {outcome}  {milliseconds} ms  {request_id}")
}

fn row_json(row: &AuditRow) -> Value {
    let campaign_id = Some(&row.campaign_id).filter(|id| !id.is_empty());
    json!({
        "number": row.number,
        "at": row.at.to_string(),
        "user": row.principal,
        "surface": row.surface,
        "operation": row.operation,
        "campaign_id": campaign_id,
        "outcome": row.outcome,
        "duration_us": row.duration_us,
        "request_id": row.request_id,
    })
}
