//! Lookup of processes: files in folders, submitted ones, and shipped ones, with a cache by content hash.
//!
//! A file hides a submitted process of the same id, and either hides a shipped one. A run is pinned to the content of
//! its process, which is stored by its hash from the first run on, whatever happens to the file.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::Moment;
use skald_domain::gate::{Finding, Process, load};

use super::path_redaction::PathRedaction;
use super::shipped_processes::shipped_processes;
use crate::sha256::sha256_hex;
use crate::{App, Code, Fault, FaultField, FilesError, json_schema, limits, truncate_for_message};
use skald_journal::{FindingKind, RowCheck};

/// Kind of the side rows with sources of processes, by hash.
pub(super) const SOURCES: &str = "process";
/// Kind of the side rows with submitted processes, by process id.
pub(super) const SUBMITTED_PROCESSES: &str = "process_submitted";
/// Side rows that are read at once.
const ROWS_READ_AT_ONCE: usize = 200;
/// Maximum number of processes in the cache.
const CACHED_PROCESSES_MAX: usize = 256;

/// Cache of parsed processes, by hash.
#[derive(Default)]
pub(crate) struct ProcessCache(Mutex<HashMap<String, Arc<Process>>>);

impl ProcessCache {
    fn get(&self, hash: &str) -> Option<Arc<Process>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    fn put(&self, process: Process) -> Arc<Process> {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ready.len() >= CACHED_PROCESSES_MAX {
            ready.clear();
        }
        let process = Arc::new(process);
        ready.insert(process.hash.clone(), Arc::clone(&process));
        process
    }
}

/// Where a process comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ProcessOrigin {
    File,
    Submitted,
    Shipped,
}

/// A process that was found.
pub(super) struct KnownProcess {
    pub process: Arc<Process>,
    pub source: String,
    pub origin: ProcessOrigin,
}

/// The version of a process that was submitted last under an id.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct SubmittedProcess {
    pub hash: String,
    pub by: String,
    pub at: Moment,
}

/// A source, and where it comes from.
struct ProcessSource {
    text: String,
    origin: ProcessOrigin,
}

impl App {
    /// The current process of an id, which new runs get.
    pub(super) async fn find_process(&self, id: &str) -> Result<KnownProcess, Fault> {
        let Some(ProcessSource { text, origin }) = self.find_source(id).await? else {
            return Err(self.process_not_found_fault(id).await);
        };
        let invalid = |findings: Vec<Finding>| {
            let errors: Vec<Finding> = findings.into_iter().filter(Finding::is_error).collect();
            invalid_process_fault(&format!("process '{id}'"), &errors).hint(ASK_PROCESS_OWNER)
        };
        let process = self.parse_process(&text).map_err(invalid)?;
        if process.id != id {
            let message = format!("what is kept as process '{id}' is '{}'", truncate_for_message(&process.id));
            let fault = Fault::new(Code::InvalidProcess, message).with_path("/process_id").value(&id.into());
            return Err(fault.hint(ASK_PROCESS_OWNER));
        }
        Ok(KnownProcess { process, source: text, origin })
    }

    async fn find_source(&self, id: &str) -> Result<Option<ProcessSource>, Fault> {
        if id.is_empty() || limits::is_longer_than_id(id) {
            return Ok(None);
        }
        if let Some(file) = self.files.process_file(id).await.map_err(|error| unreadable_process_fault(&error))? {
            return Ok(Some(ProcessSource { text: file.source, origin: ProcessOrigin::File }));
        }
        if let Some(submission) = self.stored_submission(id).await?
            && let Some(text) = self.stored_source(&submission.hash).await?
        {
            return Ok(Some(ProcessSource { text, origin: ProcessOrigin::Submitted }));
        }
        let shipped = shipped_processes().into_iter().find(|(shipped, _)| *shipped == id);
        Ok(shipped.map(|(_, text)| ProcessSource { text: text.to_owned(), origin: ProcessOrigin::Shipped }))
    }

    async fn process_not_found_fault(&self, id: &str) -> Fault {
        let known = self.process_ids().await.unwrap_or_default();
        Fault::new(Code::ProcessNotFound, format!("Process '{}' not found", truncate_for_message(id)))
            .with_path("/process_id")
            .value(&id.into())
            .hint(format!("known: {}", known.join(", ")))
            .allowed(known)
    }

    /// The ids of all processes, sorted.
    pub(super) async fn process_ids(&self) -> Result<Vec<String>, Fault> {
        let mut ids: BTreeSet<String> = shipped_processes().into_iter().map(|(id, _)| id.to_owned()).collect();
        let files = self.files.process_ids().await;
        ids.extend(files.map_err(|error| unreadable_process_fault(&error))?);
        let mut after = String::new();
        loop {
            let rows = self.journal.list(SUBMITTED_PROCESSES, &after, ROWS_READ_AT_ONCE).await;
            let rows = rows.map_err(|error| self.store_fault(&error))?;
            let is_last = rows.len() < ROWS_READ_AT_ONCE;
            for (id, _) in rows {
                after.clone_from(&id);
                ids.insert(id);
            }
            if is_last {
                return Ok(ids.into_iter().collect());
            }
        }
    }

    /// The process that a run is pinned to.
    pub(super) async fn pinned_process(&self, hash: &str) -> Result<Arc<Process>, Fault> {
        if let Some(process) = self.processes.get(hash) {
            return Ok(process);
        }
        let lost = |why: &str| {
            let message = format!("the process of this run, {}, {why}", &hash[..hash.len().min(12)]);
            Fault::new(Code::ProcessNotFound, message).hint("create another run; what happened in this one can be read")
        };
        let source = self.stored_source(hash).await?.ok_or_else(|| lost("is not kept any more"))?;
        if sha256_hex(&source) != hash {
            return Err(lost("is not kept as it was written"));
        }
        self.parse_process(&source).map_err(|_| lost("cannot be read by this version of Skald"))
    }

    /// Parses a process, or returns the findings.
    pub(super) fn parse_process(&self, source: &str) -> Result<Arc<Process>, Vec<Finding>> {
        if let Some(process) = self.processes.get(&sha256_hex(source)) {
            return Ok(process);
        }
        let loaded = load(source);
        loaded.process.map(|process| self.processes.put(process)).ok_or(loaded.findings)
    }

    /// Stores the source of a process. It is never removed, since runs are pinned to it.
    pub(super) async fn store_source(&self, process: &Process, source: &str) -> Result<(), Fault> {
        if self.stored_source(&process.hash).await?.is_none() {
            let committed = self.journal.put(SOURCES, &process.hash, source.to_owned()).await;
            committed.map_err(|error| self.store_fault(&error))?;
        }
        Ok(())
    }

    pub(super) async fn stored_source(&self, hash: &str) -> Result<Option<String>, Fault> {
        self.journal.get(SOURCES, hash).await.map_err(|error| self.store_fault(&error))
    }

    pub(super) async fn stored_submission(&self, id: &str) -> Result<Option<SubmittedProcess>, Fault> {
        let committed = self.journal.get(SUBMITTED_PROCESSES, id).await.map_err(|error| self.store_fault(&error))?;
        let read =
            |text: String| serde_json::from_str(&text).map_err(|error| Fault::internal(error, self.new_request_id()));
        committed.map(read).transpose()
    }

    pub(super) async fn store_submission(&self, id: &str, submission: &SubmittedProcess) -> Result<(), Fault> {
        let body = serde_json::to_string(submission).expect("a submission is JSON");
        self.journal.put(SUBMITTED_PROCESSES, id, body).await.map_err(|error| self.store_fault(&error))
    }
}

/// Checks the source of a process against its hash.
pub(super) fn check_source(_kind: &str, hash: &str, source: &str) -> RowCheck {
    if sha256_hex(source) == hash {
        return RowCheck::Sound;
    }
    RowCheck::Wrong(FindingKind::ContentDiffers, "the process is not the one that its hash was made of".to_owned())
}

/// Checks that the source of a submitted process is stored.
pub(super) fn check_submission(_kind: &str, _id: &str, body: &str) -> RowCheck {
    match serde_json::from_str::<SubmittedProcess>(body) {
        Ok(submission) => RowCheck::Needs(SOURCES, submission.hash),
        Err(error) => RowCheck::Wrong(FindingKind::ContentDiffers, format!("it cannot be read: {error}")),
    }
}

const FINDINGS: &str = "findings";

/// The fields that only errors about processes have.
pub(super) const FAULT_FIELDS: &[FaultField] = &[FaultField {
    name: FINDINGS,
    description: "What is wrong with a process file, each with its line and column.",
    schema: json_schema::inline_schema::<Vec<Finding>>,
    subject: None,
}];

/// The hint does not say where a process is stored or how it is changed: a refused agent could use that to change it.
const ASK_PROCESS_OWNER: &str = "ask whoever keeps this process to mend it, or create a run of another one";

/// The fault for a process with errors.
pub(super) fn invalid_process_fault(name: &str, findings: &[Finding]) -> Fault {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let first = findings.iter().find(|finding| finding.is_error());
    let first = first.map(ToString::to_string).unwrap_or_default();
    let many = if errors == 1 { "1 error".to_owned() } else { format!("{errors} errors") };
    Fault::new(Code::InvalidProcess, format!("{name} has {many}: {first}"))
        .hint("mend what findings lists, and send it again")
        .detail(FINDINGS, json!(findings))
}

/// The fault for a process, or for all of them, that cannot be read. Only the log says which file it is.
pub(super) fn unreadable_process_fault(error: &FilesError) -> Fault {
    tracing::warn!(%error, "a process cannot be read");
    Fault::new(Code::InvalidProcess, format!("a process cannot be read: it {}", error.why)).hint(ASK_PROCESS_OWNER)
}

/// The fault for an artifact folder that cannot be used.
pub(super) fn unreadable_file_fault(paths: &PathRedaction, error: &FilesError) -> Fault {
    tracing::warn!(%error, "a file of the gate cannot be read");
    Fault::new(Code::InvalidProcess, paths.redact_error(error)).hint("mend it, then try again")
}
