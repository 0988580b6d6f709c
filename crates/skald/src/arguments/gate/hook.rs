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
    /// Decide whether the agent may use a tool. Reads JSON from standard input, prints the decision.
    PreToolUse(PreToolUseArguments),
    /// Tell the agent what to do next, after it submitted an event.
    PostToolUse(PostToolUseArguments),
    /// Tell an agent that starts, or has forgotten, which state its run is in.
    SessionStart(RunArguments),
    /// Print the settings that install these hooks.
    Config(PreToolUseArguments),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PreToolUseArguments {
    #[command(flatten)]
    pub run: RunArguments,
    /// Name of the tool, instead of standard input.
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,
    /// Input of the tool, as JSON.
    #[arg(long, value_name = "JSON", requires = "tool_name")]
    pub tool_input: Option<String>,
    /// Name that the agent has for the MCP server with the gate. Its gate tools are always allowed.
    #[arg(long = "server", value_name = "NAME", default_values = GATE_SERVERS)]
    pub servers: Vec<String>,
    /// Decision if no run is named.
    #[arg(long, default_value = "deny")]
    pub when_no_run: WhenNoRun,
    /// Answer for a tool that the run permits: allow, or nothing, which leaves it to the agent's own settings.
    #[arg(long, default_value = "allow")]
    pub when_allowed: WhenAllowed,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PostToolUseArguments {
    /// Name of the tool, instead of standard input.
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,
    /// Answer of the tool, as JSON.
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
