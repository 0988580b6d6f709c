//! Arguments of `skald gate`, and the gate options that servers take too.

use std::path::PathBuf;

use clap::ArgAction::Set;
use clap::{Args, Subcommand};

use super::{StoreArguments, ThemeArgument, TokenSource};

use hook::HookArguments;
pub(crate) use hook::{GATE_SERVERS, HookCommand, PostToolUseArguments, PreToolUseArguments, WhenAllowed, WhenNoRun};
pub(crate) use run::{ChangeArguments, EvidenceArguments, RunArguments};

mod hook;
mod run;

/// As whom the owner acts at a gate, and where the files of gates lie.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GateArguments {
    /// What the owner is to a gate; agent if left out. A token has a role of its own.
    #[arg(long, env = "SKALD_ROLE", value_name = "ROLE", global = true)]
    pub role: Option<String>,
    /// Folders with process files, the first counts most; `.state_gate/processes` here, then `processes` in the
    /// platform's data directory, if left out.
    #[arg(long = "process-dir", env = "SKALD_PROCESS_DIR", value_delimiter = ',', value_name = "DIRS", global = true)]
    pub process_dirs: Vec<PathBuf>,
    /// The folder below which each run has a folder for its artifacts; if left out, `.state_gate/artifacts` where there is
    /// a `.state_gate` here, otherwise `artifacts` in the platform's data directory, and none with PostgreSQL.
    #[arg(long, env = "SKALD_ARTIFACT_DIR", value_name = "DIR", global = true)]
    pub artifact_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GateCallArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub gate: GateArguments,
    /// The gRPC address of a server that keeps the runs; without it they are in a store that this process opens.
    #[arg(long, env = "SKALD_ADDR", value_name = "HOST:PORT", global = true)]
    pub addr: Option<String>,
    #[command(flatten)]
    pub token: TokenSource,
    /// Print the whole answer as JSON, an error too.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: GateCommand,
}

impl GateCallArguments {
    pub(crate) fn is_hook(&self) -> bool {
        matches!(self.command, GateCommand::Hook(_))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Check process files: what is wrong, with line and column.
    Check(CheckArguments),
    /// List the processes that runs can be made of.
    Processes,
    /// Keep a process for new runs. Not for the role agent.
    Submit {
        /// The file, or - for standard input.
        file: PathBuf,
    },
    /// Begin a run of a process.
    CreateRun(CreateRunArguments),
    /// List the runs, the newest first.
    ListRuns(ListRunsArguments),
    /// Where a run stands, what to do there and what is missing.
    GetState(RunArguments),
    /// The events that may be emitted now.
    ListEvents {
        #[command(flatten)]
        run: RunArguments,
        /// Also events that are blocked, and why.
        #[arg(long, num_args = 0..=1, action = Set, default_value_t = false, default_missing_value = "true", value_name = "BOOL")]
        include_blocked: bool,
    },
    /// Emit an event, with its evidence.
    EmitEvent {
        #[command(flatten)]
        run: RunArguments,
        #[command(flatten)]
        evidence: EvidenceArguments,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// What an event would come to, without emitting it.
    CheckEvent {
        #[command(flatten)]
        run: RunArguments,
        #[command(flatten)]
        evidence: EvidenceArguments,
    },
    /// Every attempt, accepted or refused, the oldest first.
    History(RunArguments),
    /// The shortest way to a state, or to each final one, and what is missing on it.
    Plan {
        #[command(flatten)]
        run: RunArguments,
        /// The state; every final one if left out.
        #[arg(long, alias = "to-state", value_name = "STATE")]
        to: Option<String>,
    },
    /// Take a guarded transition although its guard is not satisfied. For people only.
    Override {
        #[command(flatten)]
        run: RunArguments,
        /// The event of the transition.
        #[arg(long, alias = "event-name", value_name = "NAME")]
        event: String,
        /// Where it leads, if the event has several transitions.
        #[arg(long, alias = "to-state", value_name = "STATE")]
        to: Option<String>,
        /// Why; it is kept in the history.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// Give a run up. Not for the role agent.
    Cancel {
        #[command(flatten)]
        run: RunArguments,
        /// Why; it is kept in the history.
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// The diagram of a process, or of a run with where it stands: Mermaid, or a picture.
    Diagram(DiagramArguments),
    /// Hooks of a coding agent: what it may do in the state that its run is in.
    Hook(HookArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// The files, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Fail for warnings too.
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateRunArguments {
    /// The process that it goes through.
    #[arg(long, value_name = "ID")]
    pub process_id: String,
    /// Variables over the initial context of the process: a JSON object.
    #[arg(long, value_name = "JSON")]
    pub context: Option<String>,
    /// An id of your own choice.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// The campaign it belongs to.
    #[arg(long, value_name = "ID")]
    pub campaign_id: Option<String>,
    /// Name the run in a file, so that other commands and the hooks here need no --run-id.
    #[arg(long, num_args = 0..=1, action = Set, default_value_t = false, default_missing_value = "true", value_name = "BOOL")]
    pub write_config: bool,
    /// Which file that is; `.state_gate/state-gate.json` if left out.
    #[arg(long, value_name = "FILE")]
    pub config_path: Option<PathBuf>,
    /// Write the file although it names another run that goes on, or is no such file.
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ListRunsArguments {
    /// Only runs of this process.
    #[arg(long, value_name = "ID")]
    pub process_id: Option<String>,
    /// Only runs of this campaign.
    #[arg(long, value_name = "ID")]
    pub campaign_id: Option<String>,
    /// Only runs that stand so: active, finished or cancelled.
    #[arg(long)]
    pub status: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiagramArguments {
    #[command(flatten)]
    pub run: RunArguments,
    /// A process, as new runs get it.
    #[arg(long, value_name = "ID", conflicts_with_all = ["run_id", "config_path"])]
    pub process_id: Option<String>,
    /// Draw a picture into this file, or - for standard output.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// The colours of the picture; auto is light, or dark where the reader prefers that.
    #[arg(long, default_value = "auto", requires = "svg")]
    pub theme: ThemeArgument,
}
