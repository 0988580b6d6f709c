//! Arguments about who may call, how often, and what is noted of it: limits, audit, tokens.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use skald_app::limits;
use skald_http::ProtectedResource;

use super::{RoleArgument, StoreArguments};

/// How often tokens may call a server, and what it notes of their calls.
#[derive(Debug, Clone, Args)]
pub(crate) struct AccessArguments {
    /// Calls a minute of each token that has no figure of its own; 0 is no limit. The owner has none.
    #[arg(long, env = "SKALD_LIMIT_CALLS", default_value_t = limits::CALLS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_calls: u32,
    /// Reads of resources, and GET requests, a minute of each token.
    #[arg(long, env = "SKALD_LIMIT_READS", default_value_t = limits::READS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_reads: u32,
    /// Lists a minute of each token; three times as many may come at once.
    #[arg(long, env = "SKALD_LIMIT_LISTS", default_value_t = limits::LISTS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_lists: u32,
    /// Requests of the web page a minute of each token.
    #[arg(long, env = "SKALD_LIMIT_PAGE", default_value_t = limits::PAGE_REQUESTS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_page: u32,
    /// The authorization server whose access tokens are accepted, as its tokens name it (`iss`). Every request needs a token
    /// then.
    #[arg(long, env = "SKALD_OAUTH_ISSUER", value_name = "URL", requires = "oauth_resource")]
    pub oauth_issuer: Option<String>,
    /// Where clients reach this server, such as <https://skald.example>: access tokens have to be for it (`aud`), or for its
    /// /mcp.
    #[arg(long, env = "SKALD_OAUTH_RESOURCE", value_name = "URL", requires = "oauth_issuer")]
    pub oauth_resource: Option<String>,
    /// Where the keys of the authorization server are (JWKS); asked of it if left out.
    #[arg(long, env = "SKALD_OAUTH_JWKS", value_name = "URL", requires = "oauth_issuer")]
    pub oauth_jwks: Option<String>,
    /// Whose calls are noted in the audit log: those of tokens, those of the owner too, or none.
    #[arg(long, env = "SKALD_AUDIT", default_value = "tokens")]
    pub audit: AuditArgument,
    /// After how many days rows of the audit log are deleted; 0 keeps them.
    #[arg(long, env = "SKALD_AUDIT_DAYS", default_value_t = 90, value_name = "DAYS")]
    pub audit_days: u32,
}

impl AccessArguments {
    /// This server as an authorization server knows it, if there is one.
    pub(crate) fn protected_resource(&self) -> anyhow::Result<Option<ProtectedResource>> {
        let (Some(issuer), Some(url)) = (&self.oauth_issuer, &self.oauth_resource) else { return Ok(None) };
        let origin = url.trim_end_matches('/');
        let host = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
        let is_plain = |host: &str| {
            let is_host = |letter: char| letter.is_ascii_alphanumeric() || ".-:[]".contains(letter);
            !host.is_empty() && host.chars().all(is_host)
        };
        if !host.is_some_and(is_plain) {
            bail!("--oauth-resource {url:?} is not an origin; write https://HOST without a path");
        }
        Ok(Some(ProtectedResource { url: origin.to_owned(), issuer: issuer.clone() }))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditArgument {
    Tokens,
    All,
    Off,
}

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(subcommand)]
    pub command: AuditCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Print the newest rows.
    List {
        #[command(flatten)]
        filter: AuditFilterArguments,
        /// How many.
        #[arg(long, default_value_t = 50, value_name = "NUMBER")]
        limit: usize,
    },
    /// Write all rows as lines of JSON, the oldest first.
    Export {
        #[command(flatten)]
        filter: AuditFilterArguments,
        /// The file to write, which must not be there yet; standard output if left out.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Which rows of the audit log.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditFilterArguments {
    /// From then on: a time such as 2026-01-31T20:00:00Z, or how long ago, such as 2h or 7d.
    #[arg(long, value_parser = parse_past, value_name = "TIME")]
    pub since: Option<Timestamp>,
    /// Before then.
    #[arg(long, value_parser = parse_past, value_name = "TIME")]
    pub until: Option<Timestamp>,
    /// The id of a token, or owner.
    #[arg(long, value_name = "ID")]
    pub user: Option<String>,
    /// The id of a campaign.
    #[arg(long = "in", value_name = "CAMPAIGN")]
    pub campaign_id: Option<String>,
    /// The name of an operation.
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,
    /// ok, or the code of an error.
    #[arg(long, value_name = "CODE")]
    pub outcome: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InviteArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(subcommand)]
    pub command: InviteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum InviteCommand {
    /// Make an invitation. Its code is shown once, and redeemed once.
    Create(InviteCreateArguments),
    /// List the invitations, without their codes.
    List,
    /// Take back an invitation that nobody redeemed.
    Revoke {
        /// The invitation's id.
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InviteCreateArguments {
    /// Who is invited.
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
    /// Until when the code can be redeemed: how long from now, or a time.
    #[arg(long, value_parser = parse_future, default_value = "7d", value_name = "TIME")]
    pub valid: Timestamp,
    /// Whose the token is, as with skald token create.
    #[arg(long, value_name = "PERSON")]
    pub person: Option<String>,
    #[command(flatten)]
    pub restrictions: RestrictionArguments,
    /// Print the code as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What restricts a token, beside its roles.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestrictionArguments {
    /// What it may do at most, whatever the role allows: read, write (what players do) or gm.
    #[arg(long)]
    pub scope: Option<ScopeArgument>,
    /// When the token expires: how long from now, such as 12h or 30d, or a time such as 2026-12-31T00:00:00Z; never if left
    /// out.
    #[arg(long, value_parser = parse_future, value_name = "TIME")]
    pub expires: Option<Timestamp>,
    /// Calls a minute; 0 is no limit, and the server's figure holds if left out.
    #[arg(long, value_name = "NUMBER")]
    pub calls: Option<u32>,
    /// Reads of resources a minute.
    #[arg(long, value_name = "NUMBER")]
    pub reads: Option<u32>,
    /// Lists a minute.
    #[arg(long, value_name = "NUMBER")]
    pub lists: Option<u32>,
    /// Requests of the web page a minute.
    #[arg(long, value_name = "NUMBER")]
    pub page: Option<u32>,
    /// Requests to the Kanka-compatible API a minute.
    #[arg(long, value_name = "NUMBER")]
    pub kanka: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeArgument {
    Read,
    Write,
    Gm,
}

/// A duration such as 90m, 12h, 30d or 2w.
fn parse_duration(text: &str) -> Option<SignedDuration> {
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let number: i64 = number.parse().ok().filter(|number| (1..=100_000).contains(number))?;
    match unit {
        "m" => Some(SignedDuration::from_mins(number)),
        "h" => Some(SignedDuration::from_hours(number)),
        "d" => Some(SignedDuration::from_hours(24 * number)),
        "w" => Some(SignedDuration::from_hours(7 * 24 * number)),
        _ => None,
    }
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    text.parse().map_err(|_| format!("{text:?} is no time; write 12h, 30d or 2026-12-31T00:00:00Z"))
}

fn parse_past(text: &str) -> Result<Timestamp, String> {
    let ago = parse_duration(text).and_then(|duration| Timestamp::now().checked_sub(duration).ok());
    ago.map_or_else(|| parse_time(text), Ok)
}

pub(crate) fn parse_future(text: &str) -> Result<Timestamp, String> {
    let later = parse_duration(text).and_then(|duration| Timestamp::now().checked_add(duration).ok());
    let at = later.map_or_else(|| parse_time(text), Ok)?;
    if at <= Timestamp::now() { Err(format!("{at} is past; name a time to come")) } else { Ok(at) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_durations_or_dates() {
        let now = Timestamp::now();
        assert!(parse_future("30d").is_ok_and(|at| at > now + SignedDuration::from_hours(29 * 24)));
        assert!(parse_past("2h").is_ok_and(|at| at < now));
        assert_eq!(parse_past("2026-01-31T20:00:00Z"), Ok("2026-01-31T20:00:00Z".parse().expect("a time")));
        for wrong in ["", "d", "0d", "-1d", "30", "30y", "soon", "é", "9999999999999d"] {
            assert!(parse_future(wrong).is_err(), "{wrong}");
        }
        assert!(parse_future("2020-01-01T00:00:00Z").is_err_and(|error| error.contains("is past")));
    }
}
