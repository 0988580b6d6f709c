//! Arguments that several commands about a run share.

use std::path::PathBuf;

use clap::Args;

/// Which run is meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArguments {
    /// The run; if left out, the one that state-gate.json here names.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// The file that names the run; state-gate.json here, in `.state_gate` or in a folder above, if left out.
    #[arg(long, value_name = "FILE")]
    pub config_path: Option<PathBuf>,
}

/// An event, and what is handed in with it.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArguments {
    /// The event.
    #[arg(long, alias = "event-name", value_name = "NAME")]
    pub event: String,
    /// What it says: a JSON object.
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
    /// Files below the artifact folder of the run, with ; between them.
    #[arg(long, value_name = "PATHS")]
    pub artifact_paths: Vec<String>,
    /// One file below the artifact folder of the run.
    #[arg(long, value_name = "PATH")]
    pub artifact: Vec<String>,
    /// A file here, whose content is handed in.
    #[arg(long, value_name = "PATH")]
    pub inline: Vec<PathBuf>,
}

/// On what terms a run is changed.
#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// The revision that you have seen; the one it has now if this and the key are left out.
    #[arg(long, value_name = "REVISION")]
    pub expected_revision: Option<u64>,
    /// Under which a retry gets the same answer, given with the revision; one is made and printed if left out.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
}
