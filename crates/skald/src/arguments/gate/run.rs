//! Arguments that several commands about a run share.

use std::path::PathBuf;

use clap::Args;

/// Which run is meant.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct RunArguments {
    /// Id of the run. Default: the run that state-gate.json names.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// File that names the run. Default: state-gate.json in the working folder, in its `.state_gate`, or in a folder above.
    #[arg(long, value_name = "FILE")]
    pub config_path: Option<PathBuf>,
}

/// An event and its evidence.
#[derive(Debug, Args)]
pub(crate) struct EvidenceArguments {
    /// Name of the event.
    #[arg(long, alias = "event-name", value_name = "NAME")]
    pub event: String,
    /// Payload of the event: a JSON object.
    #[arg(long, value_name = "JSON")]
    pub payload: Option<String>,
    /// Files in the artifact folder of the run, with ; between them.
    #[arg(long, value_name = "PATHS")]
    pub artifact_paths: Vec<String>,
    /// One file in the artifact folder of the run.
    #[arg(long, value_name = "PATH")]
    pub artifact: Vec<String>,
    /// A file in the working folder, whose content is submitted.
    #[arg(long, value_name = "PATH")]
    pub inline: Vec<PathBuf>,
}

/// The revision and the key with which a run is changed.
#[derive(Debug, Args)]
pub(crate) struct ChangeArguments {
    /// Revision of the run that you have read. Default: the current one, if you give no key either.
    #[arg(long, value_name = "REVISION")]
    pub expected_revision: Option<u64>,
    /// Idempotency key: a retry with the same key gets the same answer. Needs the revision. Default: one is made and
    /// printed.
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
}
