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

/// The owner's role at gates, and where files of gates are.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct GateArguments {
    /// The owner's role at gates. Default: agent. A token has its own role.
    #[arg(long, env = "SKALD_ROLE", value_name = "ROLE", global = true)]
    pub role: Option<String>,
    /// Folders with process files. If two have the same process, the first folder counts. Default: `.state_gate/processes`
    /// in the working folder, then `processes` in your data directory.
    #[arg(long = "process-dir", env = "SKALD_PROCESS_DIR", value_delimiter = ',', value_name = "DIRS", global = true)]
    pub process_dirs: Vec<PathBuf>,
    /// Folder in which each run has a folder for its evidence. Default: `.state_gate/artifacts` if the working folder has a
    /// `.state_gate`, otherwise `artifacts` in your data directory; none with PostgreSQL.
    #[arg(long, env = "SKALD_ARTIFACT_DIR", value_name = "DIR", global = true)]
    pub artifact_dir: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GateCallArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub gate: GateArguments,
    /// gRPC address of a server that has the runs. Without it this program opens the store itself.
    #[arg(long, env = "SKALD_ADDR", value_name = "HOST:PORT", global = true)]
    pub addr: Option<String>,
    #[command(flatten)]
    pub token: TokenSource,
    /// Print the whole answer as JSON, errors too.
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
    /// Check process files, and print what is wrong with line and column.
    Check(CheckArguments),
    /// List the processes that new runs can use.
    Processes,
    /// Store a process for new runs. The role agent may not do this.
    Submit {
        /// File of the process, or - for standard input.
        file: PathBuf,
    },
    /// Start a run of a process.
    CreateRun(CreateRunArguments),
    /// List the runs, the newest first.
    ListRuns(ListRunsArguments),
    /// Print the state of a run, what to do, and what is missing.
    GetState(RunArguments),
    /// List the events that are possible in the current state.
    ListEvents {
        #[command(flatten)]
        run: RunArguments,
        /// Also list blocked events, and why they are blocked.
        #[arg(long, num_args = 0..=1, action = Set, default_value_t = false, default_missing_value = "true", value_name = "BOOL")]
        include_blocked: bool,
    },
    /// Submit an event with its evidence, to move the run on.
    EmitEvent {
        #[command(flatten)]
        run: RunArguments,
        #[command(flatten)]
        evidence: EvidenceArguments,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// Say what an event would do, without submitting it.
    CheckEvent {
        #[command(flatten)]
        run: RunArguments,
        #[command(flatten)]
        evidence: EvidenceArguments,
    },
    /// List every attempt, accepted or refused, the oldest first.
    History(RunArguments),
    /// Print the shortest way to a state, or to each final state, and what is missing.
    Plan {
        #[command(flatten)]
        run: RunArguments,
        /// State to reach. Default: every final state.
        #[arg(long, alias = "to-state", value_name = "STATE")]
        to: Option<String>,
    },
    /// Take a transition although its guard is not satisfied. Only people may do this.
    Override {
        #[command(flatten)]
        run: RunArguments,
        /// Event of the transition.
        #[arg(long, alias = "event-name", value_name = "NAME")]
        event: String,
        /// State that the transition leads to, if the event has several transitions.
        #[arg(long, alias = "to-state", value_name = "STATE")]
        to: Option<String>,
        /// Why. The history records it.
        #[arg(long)]
        reason: String,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// Cancel a run. The role agent may not do this.
    Cancel {
        #[command(flatten)]
        run: RunArguments,
        /// Why. The history records it.
        #[arg(long)]
        reason: Option<String>,
        #[command(flatten)]
        change: ChangeArguments,
    },
    /// Print the diagram of a process, or of a run with its current state: as Mermaid, or as a picture.
    Diagram(DiagramArguments),
    /// Hooks for a coding agent, which allow or refuse its tools by the state of its run.
    Hook(HookArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// Files to check, or - for standard input.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Fail on warnings too.
    #[arg(long)]
    pub strict: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CreateRunArguments {
    /// Id of the process.
    #[arg(long, value_name = "ID")]
    pub process_id: String,
    /// Variables to set at the start, as a JSON object. They replace those of the process.
    #[arg(long, value_name = "JSON")]
    pub context: Option<String>,
    /// Id for the run. Default: Skald chooses one.
    #[arg(long, value_name = "ID")]
    pub run_id: Option<String>,
    /// Campaign that the run belongs to.
    #[arg(long, value_name = "ID")]
    pub campaign_id: Option<String>,
    /// Write the run's id into a file, so that other commands and the hooks in this folder need no --run-id.
    #[arg(long, num_args = 0..=1, action = Set, default_value_t = false, default_missing_value = "true", value_name = "BOOL")]
    pub write_config: bool,
    /// File to write. Default: `.state_gate/state-gate.json`.
    #[arg(long, value_name = "FILE")]
    pub config_path: Option<PathBuf>,
    /// Overwrite the file even if it names another active run, or is something else.
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
    /// Only runs with this status: active, finished or cancelled.
    #[arg(long)]
    pub status: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiagramArguments {
    #[command(flatten)]
    pub run: RunArguments,
    /// Id of a process, in the version that new runs use.
    #[arg(long, value_name = "ID", conflicts_with_all = ["run_id", "config_path"])]
    pub process_id: Option<String>,
    /// Write a picture (SVG) to this file, or - for standard output.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Colours of the picture; auto is light, or dark if the reader's system is.
    #[arg(long, default_value = "auto", requires = "svg")]
    pub theme: ThemeArgument,
}
