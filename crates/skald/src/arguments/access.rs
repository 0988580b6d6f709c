//! Arguments about who may call, how often, and what is noted of it: limits, audit, tokens.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use skald_app::limits;
use skald_http::ProtectedResource;
use skald_page::PublicUrl;

use super::{RoleArgument, StoreArguments};

/// How often tokens may call a server, and what it notes of their calls.
#[derive(Debug, Clone, Args)]
pub(crate) struct AccessArguments {
    /// Calls a minute that each token may make, unless the token has its own limit; 0 is no limit. The owner has no limit.
    #[arg(long, env = "SKALD_LIMIT_CALLS", default_value_t = limits::CALLS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_calls: u32,
    /// Reads of resources, and GET requests, a minute for each token.
    #[arg(long, env = "SKALD_LIMIT_READS", default_value_t = limits::READS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_reads: u32,
    /// Lists a minute for each token; three times as many may come at once.
    #[arg(long, env = "SKALD_LIMIT_LISTS", default_value_t = limits::LISTS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_lists: u32,
    /// Requests of the web page a minute of each token.
    #[arg(long, env = "SKALD_LIMIT_PAGE", default_value_t = limits::PAGE_REQUESTS_PER_MINUTE, value_name = "NUMBER")]
    pub limit_page: u32,
    /// Authorization server whose access tokens are accepted, as in their field `iss`. Every request then needs a token.
    #[arg(long, env = "SKALD_OAUTH_ISSUER", value_name = "URL", requires = "oauth_resource")]
    pub oauth_issuer: Option<String>,
    /// Address by which clients reach this server, such as <https://skald.example>. Access tokens must be for it, or for
    /// its /mcp (field `aud`).
    #[arg(long, env = "SKALD_OAUTH_RESOURCE", value_name = "URL", requires = "oauth_issuer")]
    pub oauth_resource: Option<String>,
    /// Address of the authorization server's keys (JWKS). Default: the server is asked for it.
    #[arg(long, env = "SKALD_OAUTH_JWKS", value_name = "URL", requires = "oauth_issuer")]
    pub oauth_jwks: Option<String>,
    /// Whose calls the audit log records: those with tokens, all (the owner's too), or none.
    #[arg(long, env = "SKALD_AUDIT", default_value = "tokens")]
    pub audit: AuditArgument,
    /// Days after which rows of the audit log are deleted; 0 keeps them.
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
        /// Number of rows.
        #[arg(long, default_value_t = 50, value_name = "NUMBER")]
        limit: usize,
    },
    /// Write all rows as lines of JSON, the oldest first.
    Export {
        #[command(flatten)]
        filter: AuditFilterArguments,
        /// File to write; it must not exist yet. Default: standard output.
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Which rows of the audit log.
#[derive(Debug, Clone, Args)]
pub(crate) struct AuditFilterArguments {
    /// Only calls since this time: 2026-01-31T20:00:00Z, or how long ago, such as 2h or 7d.
    #[arg(long, value_parser = parse_past, value_name = "TIME")]
    pub since: Option<Timestamp>,
    /// Only calls before this time.
    #[arg(long, value_parser = parse_past, value_name = "TIME")]
    pub until: Option<Timestamp>,
    /// Only calls of this caller: the id of a token, or owner.
    #[arg(long, value_name = "ID")]
    pub user: Option<String>,
    /// Only calls in this campaign: its id.
    #[arg(long = "in", value_name = "CAMPAIGN")]
    pub campaign_id: Option<String>,
    /// Only calls of this operation.
    #[arg(long, value_name = "NAME")]
    pub operation: Option<String>,
    /// Only calls that ended so: ok, or the code of an error.
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
    /// Make an invitation. Its code is printed only this once, and can be used once.
    Create(InviteCreateArguments),
    /// List the invitations, without their codes.
    List,
    /// Revoke an invitation that nobody has used.
    Revoke {
        /// The invitation's id.
        id: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InviteCreateArguments {
    /// Name of the person who is invited.
    pub name: String,
    /// Role in the campaigns.
    #[arg(long, default_value = "player")]
    pub role: RoleArgument,
    /// Campaigns that the token is for, by names or ids. Default: all campaigns, later ones too.
    #[arg(long = "for", value_delimiter = ',', value_name = "CAMPAIGNS")]
    pub campaigns: Vec<String>,
    /// Participants that the person is in these campaigns, by names or ids. They see what only these may see.
    #[arg(long = "participant", value_name = "NAME_OR_ID")]
    pub participants: Vec<String>,
    /// How long the code can be used, such as 7d, or until when.
    #[arg(long, value_parser = parse_future, default_value = "7d", value_name = "TIME")]
    pub valid: Timestamp,
    /// Person that the token belongs to, as in skald token create. Default: the name.
    #[arg(long, value_name = "PERSON")]
    pub person: Option<String>,
    /// Address by which the person opens the page, such as <http://192.168.1.7:8081> or <https://table.example>. The link
    /// begins with it.
    #[arg(long, env = "SKALD_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<PublicUrl>,
    /// Also print the link as a QR code for a phone.
    #[arg(long, conflicts_with = "json")]
    pub qr: bool,
    #[command(flatten)]
    pub restrictions: RestrictionArguments,
    /// Print the code and the link as JSON.
    #[arg(long)]
    pub json: bool,
}

/// What restricts a token, beside its roles.
#[derive(Debug, Clone, Args)]
pub(crate) struct RestrictionArguments {
    /// Upper limit on what the token may do, whatever its role: read, write (what players do) or gm.
    #[arg(long)]
    pub scope: Option<ScopeArgument>,
    /// When the token expires: in how long, such as 12h or 30d, or at a time such as 2026-12-31T00:00:00Z. Default: never.
    #[arg(long, value_parser = parse_future, value_name = "TIME")]
    pub expires: Option<Timestamp>,
    /// Calls a minute; 0 is no limit. Default: the server's limit.
    #[arg(long, value_name = "NUMBER")]
    pub calls: Option<u32>,
    /// Reads of resources a minute; 0 is no limit. Default: the server's limit.
    #[arg(long, value_name = "NUMBER")]
    pub reads: Option<u32>,
    /// Lists a minute; 0 is no limit. Default: the server's limit.
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
