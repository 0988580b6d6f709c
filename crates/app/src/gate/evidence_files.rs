//! Lists the evidence of all runs that lies in files, for a backup: the store holds only its hashes.

use super::stream::{ListedRun, RUNS, run_stream};
use crate::{App, Caller, Fault, limits};
use skald_journal::Document;

/// A file that was submitted to a run by its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvidenceFile {
    pub run_id: String,
    /// The run's folder.
    pub folder: String,
    /// Its path below the folder.
    pub path: String,
    /// SHA-256 of its content when it was submitted, in hexadecimal digits.
    pub sha256: String,
}

impl App {
    /// All evidence that lies in files, of every run.
    pub async fn evidence_files(&self) -> Result<Vec<EvidenceFile>, Fault> {
        let run_id = |document: &Document| {
            let run: ListedRun =
                serde_json::from_str(&document.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
            Ok(Some(run.run_id))
        };
        let (mut files, mut cursor): (Vec<EvidenceFile>, Option<String>) = (Vec::new(), None);
        loop {
            let page = self.list_documents(&Caller::owner(), RUNS, cursor.as_deref(), limits::PAGE_MAX, run_id).await?;
            for run_id in page.items {
                let committed = self.runs.read(&run_stream(&run_id)).await.map_err(|error| self.store_fault(&error))?;
                let Some(folder) = committed.state.run().and_then(|run| run.folder.clone()) else { continue };
                files.extend(committed.state.evidence().artifacts_in_files().map(|artifact| EvidenceFile {
                    run_id: run_id.clone(),
                    folder: folder.clone(),
                    path: artifact.path.clone(),
                    sha256: artifact.sha256.clone(),
                }));
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(files);
            }
        }
    }
}
