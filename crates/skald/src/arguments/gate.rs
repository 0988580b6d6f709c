//! The arguments about gates.

use std::path::PathBuf;

use clap::Args;

/// Where the files of gates lie.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GateArguments {
    /// Folders with process files, the first counts most; `.state_gate/processes` here, then `processes` in the
    /// platform's data directory, if left out.
    #[arg(long = "process-dir", env = "SKALD_PROCESS_DIR", value_delimiter = ',', value_name = "DIRS")]
    pub process_dirs: Vec<PathBuf>,
    /// The folder below which each run has a folder for its artifacts; if left out, `.state_gate/artifacts` where there is
    /// a `.state_gate` here, otherwise `artifacts` in the platform's data directory, and none with PostgreSQL.
    #[arg(long, env = "SKALD_ARTIFACT_DIR", value_name = "DIR")]
    pub artifact_dir: Option<PathBuf>,
}
