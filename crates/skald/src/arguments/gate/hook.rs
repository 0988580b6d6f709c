//! Arguments of `skald gate hook`.

use clap::{Args, Subcommand, ValueEnum};

use super::RunArguments;

/// The default names of MCP servers that have a gate.
pub(crate) const GATE_SERVERS: [&str; 2] = ["skald", "state-gate"];

#[derive(Debug, Clone, Args)]
pub(crate) struct HookArguments {
    #[command(subcommand)]
    pub command: HookCommand,
}

#[derive(Debug, Clone, Subcommand)]
pub(crate) enum HookCommand {
    /// Whether a tool may be used: JSON on standard input, a decision on standard output.
    PreToolUse(PreToolUseArguments),
    /// What to do next, after an event was emitted.
    PostToolUse(PostToolUseArguments),
    /// Where the run stands, for an agent that begins or has forgotten.
    SessionStart(RunArguments),
    /// Print the settings that install these hooks.
    Config(PreToolUseArguments),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PreToolUseArguments {
    #[command(flatten)]
    pub run: RunArguments,
    /// The tool, in place of standard input.
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,
    /// What it is used with, as JSON.
    #[arg(long, value_name = "JSON", requires = "tool_name")]
    pub tool_input: Option<String>,
    /// A server whose gate the agent uses, as the agent calls it: the gate's tools of this server are always allowed.
    #[arg(long = "server", value_name = "NAME", default_values = GATE_SERVERS)]
    pub servers: Vec<String>,
    /// What is decided where no run is named.
    #[arg(long, default_value = "deny")]
    pub when_no_run: WhenNoRun,
    /// What is said of a tool that may be used: allow, or nothing, so that the agent's own settings decide.
    #[arg(long, default_value = "allow")]
    pub when_allowed: WhenAllowed,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PostToolUseArguments {
    /// The tool, in place of standard input.
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,
    /// What it answered, as JSON.
    #[arg(long, value_name = "JSON", alias = "tool-result", requires = "tool_name")]
    pub tool_response: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenNoRun {
    Allow,
    Ask,
    Deny,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WhenAllowed {
    Allow,
    Nothing,
}
