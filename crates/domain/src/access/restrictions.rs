//! Restrictions of a token beside its roles: a scope, an expiry, and limits of its own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Moment;

/// What a token may do at most, whatever its roles are. The later ones include the earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TokenScope {
    /// Reads.
    Read,
    /// Also what changes something or rolls, as players do.
    Write,
    /// Also what only game masters do.
    Gm,
}

impl TokenScope {
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Gm];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Gm => "gm",
        }
    }

    /// The scope as an authorization server names it.
    pub fn oauth_name(self) -> &'static str {
        match self {
            Self::Read => "skald:read",
            Self::Write => "skald:write",
            Self::Gm => "skald:gm",
        }
    }

    /// The widest scope in the `scope` claim of an access token. Words that are not ours are skipped.
    pub fn from_oauth_scopes(scopes: &str) -> Option<Self> {
        let of_word = |word| Self::ALL.into_iter().find(|scope| scope.oauth_name() == word);
        scopes.split_ascii_whitespace().filter_map(of_word).max()
    }
}

/// Requests a minute, by class. `None` is the server's figure, 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RateFigures {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lists: Option<u32>,
    /// Pages, parts of pages and forms of the web page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<u32>,
    /// Requests to the Kanka-compatible API.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kanka: Option<u32>,
}

impl RateFigures {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// What restricts a token beside its roles.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TokenRestrictions {
    /// `None` is everything that the roles allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
    /// From then on the token is worth nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Moment>,
    #[serde(default, skip_serializing_if = "RateFigures::is_empty")]
    pub limits: RateFigures,
}

impl TokenRestrictions {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Who somebody is to an authorization server.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct OauthSubject {
    pub issuer: String,
    pub subject: String,
}
