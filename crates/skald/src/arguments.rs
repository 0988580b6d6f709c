//! Command line arguments. Every option can also be given by an environment variable.

mod access;
mod campaign;
mod gate;
mod kanka;
mod lore;
mod universe;

use std::path::PathBuf;

use anyhow::Context;
use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use skald_app::Toolsets;

pub(crate) use access::{
    AccessArguments, AuditArgument, AuditArguments, AuditCommand, AuditFilterArguments, InviteArguments, InviteCommand,
    RestrictionArguments, ScopeArgument,
};
pub(crate) use campaign::{CampaignArguments, CampaignRecapArguments, CampaignSubcommand};
pub(crate) use gate::{
    ChangeArguments, CheckArguments, CreateRunArguments, DiagramArguments, EvidenceArguments, GATE_SERVERS,
    GateArguments, GateCallArguments, GateCommand, HookCommand, ListRunsArguments, PostToolUseArguments,
    PreToolUseArguments, RunArguments, WhenAllowed, WhenNoRun,
};
pub(crate) use kanka::{KankaArguments, KankaCommand, KeepArgument};
pub(crate) use lore::{ExportArguments, ImportArguments};
pub(crate) use universe::{ThemeArgument, UniverseArguments, UniverseMapArguments, UniverseSubcommand};

/// One server that keeps a tabletop world for an AI game master and the people at the table.
#[derive(Debug, Parser)]
#[command(name = "skald", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub log: LogArguments,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Args)]
pub(crate) struct LogArguments {
    /// What goes to the log on standard error: error, warn, info, debug, or a filter by module.
    #[arg(long = "log", env = "SKALD_LOG", default_value = "info", global = true, value_name = "FILTER")]
    pub filter: String,
    /// How a line of the log looks.
    #[arg(long = "log-format", env = "SKALD_LOG_FORMAT", default_value = "text", global = true)]
    pub format: LogFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve MCP over HTTP, REST and gRPC, until Ctrl-C.
    Serve(ServeArguments),
    /// Serve one MCP client: the command that goes into its configuration.
    Mcp(McpArguments),
    /// Roll a dice expression: skald roll 4d6kh3 + 1
    Roll(RollArguments),
    /// Exact odds of a dice expression: skald odds '2d20kh1+5 >= 15'
    Odds(OddsArguments),
    /// List the campaigns, or tell a session again.
    Campaign(CampaignArguments),
    /// List the universes that are kept, or draw the map of one.
    Universe(UniverseArguments),
    /// Processes and runs of the gate, and hooks for coding agents.
    Gate(GateCallArguments),
    /// Bring lore into a campaign: skald import vault --campaign "The Bell of Dunmere"
    Import(ImportArguments),
    /// Write the lore of a campaign to a folder of Markdown files.
    Export(ExportArguments),
    /// Mirror the lore of a campaign in Kanka: skald kanka link 12345 --campaign "The Bell of Dunmere"
    Kanka(KankaArguments),
    /// Give others a token, list the tokens, or take one back.
    Token(TokenArguments),
    /// Invite somebody, who redeems a code for a token.
    Invite(InviteArguments),
    /// Who called what: list or export the audit log.
    Audit(AuditArguments),
    /// Check that everything kept is as it was written.
    Verify(VerifyArguments),
    /// Sign a statement of all that is kept, so that a later change to it shows.
    Seal(SealArguments),
    /// Make all lists and indexes anew from the journal.
    Rebuild(StoreArguments),
    /// Copy everything to a new file, also while a server runs.
    Backup(BackupArguments),
    /// Check this installation and print ready configuration for MCP clients.
    Doctor(DoctorArguments),
    /// Print the version.
    Version,
    /// Write the generated reference pages and examples.
    #[command(hide = true)]
    Reference(ReferenceArguments),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub toolset_arguments: ToolsetArguments,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub gate: GateArguments,
    #[command(flatten)]
    pub http_arguments: HttpArguments,
    /// Where to listen for gRPC, or off.
    #[arg(long, env = "SKALD_GRPC_ADDR", default_value = DEFAULT_GRPC_ADDR, value_name = "HOST:PORT")]
    pub grpc_addr: String,
    #[command(flatten)]
    pub access: AccessArguments,
    #[command(flatten)]
    pub sealing: SealingArguments,
}

/// Whether a server seals by itself.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct SealingArguments {
    /// Seal with this key when a play session has ended, and at least once a day.
    #[arg(long, env = "SKALD_SEAL_KEY", value_name = "FILE")]
    pub seal_key: Option<PathBuf>,
    /// Where seals are written; beside the key if left out.
    #[arg(long, env = "SKALD_SEAL_DIR", value_name = "DIR", requires = "seal_key")]
    pub seal_dir: Option<PathBuf>,
}

/// Where everything is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArguments {
    /// sqlite:PATH, `postgres://…` or memory; one file in the platform's data directory if left out.
    #[arg(long, env = "SKALD_STORE", hide_env_values = true, value_name = "STORE", global = true)]
    pub store: Option<String>,
    /// The campaign of calls that name none.
    #[arg(long, env = "SKALD_CAMPAIGN", value_name = "ID")]
    pub campaign: Option<String>,
}

/// Whose token is used. It comes from a file or from the variable `SKALD_TOKEN`, never from an argument: every user of a
/// machine sees the arguments of its programs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TokenSource {
    /// The file that holds the token of whoever acts; `SKALD_TOKEN` if left out, and the owner without either.
    #[arg(long, env = "SKALD_TOKEN_FILE", value_name = "FILE", global = true)]
    pub token_file: Option<PathBuf>,
}

impl TokenSource {
    pub(crate) fn read(&self) -> anyhow::Result<Option<String>> {
        let token = match &self.token_file {
            Some(file) => {
                Some(std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?)
            }
            None => std::env::var("SKALD_TOKEN").ok(),
        };
        Ok(token.map(|token| token.trim().to_owned()).filter(|token| !token.is_empty()))
    }
}

#[derive(Debug, Args)]
pub(crate) struct TokenArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token. It is shown once.
    Create(TokenCreateArguments),
    /// List the tokens, without themselves.
    List,
    /// Say which participants the holder is from now on: they see what only these may see.
    Bind {
        /// The token's id.
        id: String,
        /// The participants, by names in the token's campaigns or by ids; none if left out.
        #[arg(long = "participant", value_name = "NAME_OR_ID")]
        participants: Vec<String>,
    },
    /// Take a token back.
    Revoke {
        /// The token's id.
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArguments {
    /// Whose token it is.
    pub name: String,
    /// What they are in the campaigns.
    #[arg(long, default_value = "player")]
    pub role: RoleArgument,
    /// The campaigns; every one if left out.
    #[arg(long = "for", value_delimiter = ',', value_name = "CAMPAIGNS")]
    pub campaigns: Vec<String>,
    /// The participants that they are in the campaigns, by names or ids: they see what only these may see.
    #[arg(long = "participant", value_name = "NAME_OR_ID")]
    pub participants: Vec<String>,
    /// Whether somebody or something holds it.
    #[arg(long, default_value = "human")]
    pub kind: TokenKind,
    /// What they are to a gate.
    #[arg(long, value_name = "ROLE")]
    pub gate_role: Option<String>,
    /// Whose it is: two tokens of one person are one person to an approval. The name, unless you say otherwise; `owner`
    /// is whoever starts Skald.
    #[arg(long, value_name = "PERSON")]
    pub person: Option<String>,
    #[command(flatten)]
    pub restrictions: RestrictionArguments,
    /// Who they are to an authorization server (`sub`), if they sign in there. No token is shown then.
    #[arg(long, value_name = "SUBJECT", requires = "issuer")]
    pub subject: Option<String>,
    /// The authorization server, as with skald serve --oauth-issuer.
    #[arg(long, value_name = "URL", requires = "subject")]
    pub issuer: Option<String>,
    /// Print the token as JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleArgument {
    Gm,
    Player,
    Guest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TokenKind {
    Human,
    Agent,
}

#[derive(Debug, Args)]
pub(crate) struct VerifyArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Compare with what was sealed, too. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub seal: Vec<PathBuf>,
    /// The key that seals have to be signed with: its 64 digits, or a file with them.
    #[arg(long, value_name = "KEY", requires = "seal")]
    pub public_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SealArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// The key to sign with.
    #[arg(long, env = "SKALD_SEAL_KEY", value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The file to write, which must not be there yet; one named after the moment if left out.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Make a key in a file, which must not be there yet, and print it for paper.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "out"])]
    pub new_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// The file to write, which must not be there yet.
    pub file: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
}

/// What clients see.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsetArguments {
    /// The toolsets to offer: dice, campaign, lore, canon, gate, universe, or all.
    #[arg(long, env = "SKALD_TOOLSETS", default_value = "all", value_name = "NAMES")]
    pub toolsets: Toolsets,
    /// How MCP tools are called whose names have parts: `state_gate.get_state`, or with an underscore for clients whose
    /// models take no dot.
    #[arg(long, env = "SKALD_TOOL_NAMES", default_value = "dotted")]
    pub tool_names: ToolNamesArgument,
    /// Offer only what changes nothing.
    #[arg(long, env = "SKALD_READ_ONLY", value_parser = BoolishValueParser::new())]
    pub read_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolNamesArgument {
    Dotted,
    Underscore,
}

/// Where and for whom HTTP is served.
#[derive(Debug, Clone, Args)]
pub(crate) struct HttpArguments {
    /// Where to listen for HTTP.
    #[arg(long, env = "SKALD_HTTP_ADDR", default_value = DEFAULT_HTTP_ADDR, value_name = "HOST:PORT")]
    pub http_addr: String,
    /// Whether MCP clients before 2026-07-28 get sessions.
    #[arg(long, env = "SKALD_SESSIONS", default_value = "on")]
    pub sessions: Switch,
    /// Refuse whoever sends no token, on this machine too. Implied where --allowed-hosts is given: then a proxy stands
    /// before the server, and every request seems to come from this machine.
    #[arg(long, env = "SKALD_REQUIRE_TOKEN", value_parser = BoolishValueParser::new())]
    pub require_token: bool,
    /// Names, beside loopback's, under which the server may be called.
    #[arg(long, env = "SKALD_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    pub allowed_hosts: Vec<String>,
    /// Origins, beside loopback's, whose web pages may call the server.
    #[arg(long, env = "SKALD_ALLOWED_ORIGINS", value_delimiter = ',', value_name = "ORIGINS")]
    pub allowed_origins: Vec<String>,
    /// Requests that one token may send to the Kanka-compatible API in a minute; 0 for no limit. The owner has none.
    #[arg(
        long,
        env = "SKALD_KANKA_RATE_LIMIT",
        default_value_t = skald_app::limits::KANKA_REQUESTS_PER_MINUTE,
        value_name = "REQUESTS"
    )]
    pub kanka_rate_limit: u32,
}

impl HttpArguments {
    /// Whether every request needs a token, also from this machine.
    pub(crate) fn is_token_required(&self) -> bool {
        self.require_token || !self.allowed_hosts.is_empty()
    }
}

pub(crate) const DEFAULT_HTTP_ADDR: &str = "127.0.0.1:8081";
pub(crate) const DEFAULT_GRPC_ADDR: &str = "127.0.0.1:8080";
/// Given in place of an address, to not listen at all.
pub(crate) const LISTEN_OFF: &str = "off";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct McpArguments {
    /// How the client talks to this process.
    #[arg(long, env = "SKALD_TRANSPORT", default_value = "stdio")]
    pub transport: Transport,
    /// The gRPC address of a server whose world this is; without it the world is in this process.
    #[arg(long, env = "SKALD_ADDR", value_name = "HOST:PORT")]
    pub addr: Option<String>,
    #[command(flatten)]
    pub toolset_arguments: ToolsetArguments,
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(flatten)]
    pub gate: GateArguments,
    #[command(flatten)]
    pub token: TokenSource,
    #[command(flatten)]
    pub access: AccessArguments,
    #[command(flatten)]
    pub http_arguments: HttpArguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Transport {
    Stdio,
    Http,
}

impl McpArguments {
    pub(crate) fn to_serve_arguments(&self) -> ServeArguments {
        ServeArguments {
            toolset_arguments: self.toolset_arguments.clone(),
            store: self.store.clone(),
            gate: self.gate.clone(),
            http_arguments: self.http_arguments.clone(),
            grpc_addr: LISTEN_OFF.to_owned(),
            access: self.access.clone(),
            sealing: SealingArguments::default(),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct ExpressionArguments {
    /// Dice notation. Put it in single quotes if it has a character that your shell reads itself: > < * ! ( ) { }
    #[arg(required = true, num_args = 1.., allow_negative_numbers = true, value_name = "EXPRESSION")]
    words: Vec<String>,
    /// Whose habits it is written in: auto, foundry, roll20 or avrae.
    #[arg(long)]
    pub dialect: Option<String>,
    /// Print the whole answer as JSON.
    #[arg(long)]
    pub json: bool,
}

impl ExpressionArguments {
    /// The expression, also if it came as several words.
    pub(crate) fn expression(&self) -> String {
        self.words.join(" ")
    }
}

#[derive(Debug, Args)]
pub(crate) struct RollArguments {
    #[command(flatten)]
    pub expression: ExpressionArguments,
    /// Repeat the roll of this seed: an integer, or 64 hexadecimal digits.
    #[arg(long)]
    pub seed: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OddsArguments {
    #[command(flatten)]
    pub expression: ExpressionArguments,
    /// A chance from 0 to 1: also say what difficulty or modifier gives it.
    #[arg(long, value_parser = parse_chance)]
    pub target: Option<f64>,
    /// The first value to list.
    #[arg(long, allow_negative_numbers = true)]
    pub from: Option<i64>,
    /// The last value to list.
    #[arg(long, allow_negative_numbers = true)]
    pub to: Option<i64>,
    /// Estimate by so many rolls instead of counting.
    #[arg(long, value_name = "ROLLS")]
    pub simulate: Option<u32>,
    /// Also write a picture to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// What the bars stand for.
    #[arg(long, default_value = "exactly")]
    pub mode: OddsMode,
    /// A second expression, to compare with in the picture.
    #[arg(long, requires = "svg", value_name = "EXPRESSION")]
    pub against: Option<String>,
}

fn parse_chance(text: &str) -> Result<f64, String> {
    let chance = text.parse::<f64>().ok().filter(|chance| (0.0..=1.0).contains(chance));
    chance.ok_or_else(|| "a chance is a number from 0 to 1, as in 0.6 for 60 %".to_owned())
}

/// What a bar stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum OddsMode {
    Exactly,
    AtLeast,
    AtMost,
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Where `skald serve` listens, or will.
    #[arg(long, env = "SKALD_HTTP_ADDR", default_value = DEFAULT_HTTP_ADDR, value_name = "HOST:PORT")]
    pub http_addr: String,
    /// Where it listens for gRPC, or will.
    #[arg(long, env = "SKALD_GRPC_ADDR", default_value = DEFAULT_GRPC_ADDR, value_name = "HOST:PORT")]
    pub grpc_addr: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// The folder below which `docs/reference` and `examples` are written.
    pub root: PathBuf,
}
