//! Command line arguments. Every option can also be given by an environment variable.

mod access;
mod campaign;
mod gate;
mod kanka;
mod lore;
mod universe;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context;
use clap::builder::BoolishValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use skald_app::Toolsets;
use skald_page::PublicUrl;

pub(crate) use access::{
    AccessArguments, AuditArgument, AuditArguments, AuditCommand, AuditFilterArguments, InviteArguments, InviteCommand,
    RestrictionArguments, ScopeArgument,
};
pub(crate) use campaign::{
    CampaignArguments, CampaignCreateArguments, CampaignRecapArguments, CampaignSubcommand, RunByArgument,
};
pub(crate) use gate::{
    ChangeArguments, CheckArguments, CreateRunArguments, DiagramArguments, EvidenceArguments, GATE_SERVERS,
    GateArguments, GateCallArguments, GateCommand, HookCommand, ListRunsArguments, PostToolUseArguments,
    PreToolUseArguments, RunArguments, WhenAllowed, WhenNoRun,
};
pub(crate) use kanka::{KankaArguments, KankaCommand, KeepArgument};
pub(crate) use lore::{ExportArguments, ImportArguments};
pub(crate) use universe::{ThemeArgument, UniverseArguments, UniverseMapArguments, UniverseSubcommand};

/// A server that gives an AI game master honest dice and a memory, and the people at the table a page to read along.
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
    /// What is logged to standard error: error, warn, info, debug, or a filter by module. Default: info for serve and mcp,
    /// warn for all other commands.
    #[arg(long = "log", env = "SKALD_LOG", global = true, value_name = "FILTER")]
    pub filter: Option<String>,
    /// Format of the log.
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
    /// Start the server: the web page, MCP, REST and gRPC, until Ctrl-C.
    Serve(ServeArguments),
    /// Serve one MCP client over standard input and output. Clients start this command themselves.
    Mcp(McpArguments),
    /// Roll a dice expression: skald roll 4d6kh3 + 1
    Roll(RollArguments),
    /// Exact odds of a dice expression: skald odds '2d20kh1+5 >= 15'
    Odds(OddsArguments),
    /// List the campaigns, or print the recap of a session.
    Campaign(CampaignArguments),
    /// List the universes, or draw the map of one.
    Universe(UniverseArguments),
    /// Work with processes and runs of the gate, and with hooks for coding agents.
    Gate(GateCallArguments),
    /// Import lore into a campaign: skald import vault --campaign "The Bell of Dunmere"
    Import(ImportArguments),
    /// Write the lore of a campaign to a folder of Markdown files.
    Export(ExportArguments),
    /// Keep the lore of a campaign and a campaign of Kanka in step: skald kanka link 12345 --campaign "The Bell of Dunmere"
    Kanka(KankaArguments),
    /// Make, list and revoke tokens, with which other people and programs sign in.
    Token(TokenArguments),
    /// Invite somebody with a code that they exchange for a token.
    Invite(InviteArguments),
    /// List or export the audit log: who called what.
    Audit(AuditArguments),
    /// Check that nothing in the store was changed after it was written.
    Verify(VerifyArguments),
    /// Sign a list of everything in the store, so that later changes to it can be found.
    Seal(SealArguments),
    /// Make all lists and indexes again from the journal.
    Rebuild(StoreArguments),
    /// Copy everything to a new file. A server may run meanwhile.
    Backup(BackupArguments),
    /// Check this installation, and print the configuration for MCP clients.
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
    /// Address and port for gRPC, or off.
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
    /// Key to seal with. The server then seals when a session of play has ended, and at least once a day.
    #[arg(long, env = "SKALD_SEAL_KEY", value_name = "FILE")]
    pub seal_key: Option<PathBuf>,
    /// Folder for the seals. Default: the folder of the key.
    #[arg(long, env = "SKALD_SEAL_DIR", value_name = "DIR", requires = "seal_key")]
    pub seal_dir: Option<PathBuf>,
}

/// Where everything is kept.
#[derive(Debug, Clone, Args)]
pub(crate) struct StoreArguments {
    /// Where everything is stored: sqlite:PATH, `postgres://…` or memory. Default: a file in your data directory.
    #[arg(long, env = "SKALD_STORE", hide_env_values = true, value_name = "STORE", global = true)]
    pub store: Option<String>,
    /// Default campaign.
    #[arg(long, env = "SKALD_CAMPAIGN", value_name = "ID")]
    pub campaign: Option<String>,
}

/// Whose token is used. It comes from a file or from the variable `SKALD_TOKEN`, never from an argument: every user of a
/// machine sees the arguments of its programs.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct TokenSource {
    /// File with your token. Default: the variable `SKALD_TOKEN`; without either you are the owner.
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
    /// Make a token. It is printed only this once.
    Create(TokenCreateArguments),
    /// List the tokens: whose they are and what they may do, but not their text.
    List,
    /// Set which participants the holder of a token is. The holder then sees what only these participants may see.
    Bind {
        /// The token's id.
        id: String,
        /// Participants, by their names in the token's campaigns or by ids. Default: none.
        #[arg(long = "participant", value_name = "NAME_OR_ID")]
        participants: Vec<String>,
    },
    /// Revoke a token.
    Revoke {
        /// The token's id.
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct TokenCreateArguments {
    /// Name of the person or program that the token is for.
    pub name: String,
    /// Role in the campaigns.
    #[arg(long, default_value = "player")]
    pub role: RoleArgument,
    /// Campaigns that the token is for, by names or ids. Default: all campaigns, later ones too.
    #[arg(long = "for", value_delimiter = ',', value_name = "CAMPAIGNS")]
    pub campaigns: Vec<String>,
    /// Participants that the holder is in these campaigns, by names or ids. The holder sees what only these may see.
    #[arg(long = "participant", value_name = "NAME_OR_ID")]
    pub participants: Vec<String>,
    /// Whether a person or a program holds it.
    #[arg(long, default_value = "human")]
    pub kind: TokenKind,
    /// Role at gates.
    #[arg(long, value_name = "ROLE")]
    pub gate_role: Option<String>,
    /// Person that the token belongs to; `owner` is the person who starts Skald. Two tokens of one person
    /// count as one for approvals. Default: the name.
    #[arg(long, value_name = "PERSON")]
    pub person: Option<String>,
    #[command(flatten)]
    pub restrictions: RestrictionArguments,
    /// Subject (`sub`) at an authorization server, for people who sign in there. No token is printed then.
    #[arg(long, value_name = "SUBJECT", requires = "issuer")]
    pub subject: Option<String>,
    /// Authorization server of the subject, as in skald serve --oauth-issuer.
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
    /// Also compare with this seal. May be given several times.
    #[arg(long, value_name = "FILE")]
    pub seal: Vec<PathBuf>,
    /// Public key with which the seals must be signed: its 64 digits, or a file with them.
    #[arg(long, value_name = "KEY", requires = "seal")]
    pub public_key: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct SealArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    /// Key to sign with.
    #[arg(long, env = "SKALD_SEAL_KEY", value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// File to write; it must not exist yet. Default: a name made of the current time.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Make a key in this file, which must not exist yet, and print it, so that you can write it on paper.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["key", "out"])]
    pub new_key: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// File to write; it must not exist yet.
    pub file: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
}

/// What clients see.
#[derive(Debug, Clone, Args)]
pub(crate) struct ToolsetArguments {
    /// Groups of tools to offer: dice, campaign, lore, canon, gate, universe, or all.
    #[arg(long, env = "SKALD_TOOLSETS", default_value = "all", value_name = "NAMES")]
    pub toolsets: Toolsets,
    /// How names such as `state_gate.get_state` are written: with the dot, or with an underscore for models that do not
    /// accept a dot.
    #[arg(long, env = "SKALD_TOOL_NAMES", default_value = "dotted")]
    pub tool_names: ToolNamesArgument,
    /// Offer only tools that change nothing.
    #[arg(long, env = "SKALD_READ_ONLY", value_parser = BoolishValueParser::new())]
    pub read_only: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ToolNamesArgument {
    Dotted,
    Underscore,
}

/// How HTTP is served.
#[derive(Debug, Clone, Args)]
pub(crate) struct HttpArguments {
    #[command(flatten)]
    pub address: HttpAddressArguments,
    /// Address by which other devices open the page, such as <http://192.168.1.7:8081> or <https://table.example>. Links of
    /// invitations begin with it. If the server requires tokens, its host is one of the server's names, as with
    /// --allowed-hosts.
    #[arg(long, env = "SKALD_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Whether MCP clients of protocol versions before 2026-07-28 get sessions.
    #[arg(long, env = "SKALD_SESSIONS", default_value = "on")]
    pub sessions: Switch,
    /// Web origins whose pages may call the server, besides those of this machine.
    #[arg(long, env = "SKALD_ALLOWED_ORIGINS", value_delimiter = ',', value_name = "ORIGINS")]
    pub allowed_origins: Vec<String>,
    /// Requests a minute that one token may send to the Kanka-compatible API; 0 is no limit. The owner has no limit.
    #[arg(
        long,
        env = "SKALD_KANKA_RATE_LIMIT",
        default_value_t = skald_app::limits::KANKA_REQUESTS_PER_MINUTE,
        value_name = "REQUESTS"
    )]
    pub kanka_rate_limit: u32,
}

impl HttpArguments {
    /// The names of the server beside those of this machine. The host of the public URL is one only if tokens are required:
    /// a server without tokens must not answer under a name that others know.
    pub(crate) fn server_names(&self, is_token_required: bool) -> Vec<String> {
        let public = self.public_url.iter().filter(|_| is_token_required).map(|url| url.host().to_owned());
        self.address.allowed_hosts.iter().cloned().chain(public).collect()
    }
}

/// Where HTTP is served, under which names, and whether callers need a token.
#[derive(Debug, Clone, Args)]
pub(crate) struct HttpAddressArguments {
    /// Address and port for HTTP. Any address but this machine's own 127.0.0.1 requires tokens.
    #[arg(long, env = "SKALD_HTTP_ADDR", default_value = DEFAULT_HTTP_ADDR, value_name = "HOST:PORT")]
    pub http_addr: String,
    /// Require a token, on this machine too. Implied by --allowed-hosts: behind a proxy every request seems to come from
    /// this machine.
    #[arg(long, env = "SKALD_REQUIRE_TOKEN", value_parser = BoolishValueParser::new())]
    pub require_token: bool,
    /// Host names of this server, besides 127.0.0.1 and localhost. Requests under any other name are refused.
    #[arg(long, env = "SKALD_ALLOWED_HOSTS", value_delimiter = ',', value_name = "HOSTS")]
    pub allowed_hosts: Vec<String>,
}

impl HttpAddressArguments {
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
    /// How the client talks to this program.
    #[arg(long, env = "SKALD_TRANSPORT", default_value = "stdio")]
    pub transport: Transport,
    /// gRPC address of the server that has the world. Without it this program opens the store itself.
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
    /// Notation to read it as: auto, foundry, roll20 or avrae.
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

/// The words of the command line. A word of an expression such as `-1d4` looks like an option, so its minus becomes a word
/// of its own.
pub(crate) fn command_line_words(given: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    for word in given {
        let is_expression = words.iter().any(|before| before == "roll" || before == "odds");
        match word.to_str().and_then(|text| text.strip_prefix('-')) {
            Some(rest) if is_expression && is_dice_pool(rest) => words.extend(["-".into(), rest.into()]),
            _ => words.push(word),
        }
    }
    words
}

/// Whether a text begins as `1d4` or `d6` does.
fn is_dice_pool(text: &str) -> bool {
    let sides = text.trim_start_matches(|letter: char| letter.is_ascii_digit()).strip_prefix('d');
    sides.is_some_and(|sides| sides.starts_with(|letter: char| letter.is_ascii_digit()))
}

#[derive(Debug, Args)]
pub(crate) struct RollArguments {
    #[command(flatten)]
    pub expression: ExpressionArguments,
    /// Repeat the roll with this seed: an integer, or 64 hexadecimal digits.
    #[arg(long)]
    pub seed: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct OddsArguments {
    #[command(flatten)]
    pub expression: ExpressionArguments,
    /// Chance from 0 to 1. Also print the difficulty or modifier that gives this chance.
    #[arg(long, value_parser = parse_chance)]
    pub target: Option<f64>,
    /// First value to list.
    #[arg(long, allow_negative_numbers = true)]
    pub from: Option<i64>,
    /// Last value to list.
    #[arg(long, allow_negative_numbers = true)]
    pub to: Option<i64>,
    /// Estimate with this number of rolls instead of counting exactly.
    #[arg(long, value_name = "ROLLS")]
    pub simulate: Option<u32>,
    /// Also write a picture (SVG) to this file.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// What the bars show: the chance of exactly a value, of at least it, or of at most it.
    #[arg(long, default_value = "exactly")]
    pub mode: OddsMode,
    /// Second expression, to compare with in the picture.
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
    #[command(flatten)]
    pub address: HttpAddressArguments,
    /// Address and port for gRPC, or off.
    #[arg(long, env = "SKALD_GRPC_ADDR", default_value = DEFAULT_GRPC_ADDR, value_name = "HOST:PORT")]
    pub grpc_addr: String,
}

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// The folder below which `docs/reference` and `examples` are written.
    pub root: PathBuf,
}
