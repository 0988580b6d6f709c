//! Events of tokens: created, given a role, revoked. Their shapes are stable: each has a golden file that must always
//! decode.
//!
//! The time and the principal are in the journal's record, next to the event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CampaignRole, PrincipalKind};
use crate::Moment;

/// A token was created.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCreated {
    pub token_id: String,
    pub name: String,
    /// In an approval, all tokens of one person count as one.
    pub person: String,
    pub kind: PrincipalKind,
    /// By campaign; `*` is every campaign.
    pub roles: BTreeMap<String, CampaignRole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_role: Option<String>,
    /// SHA-256 of the token, in hexadecimal digits.
    pub secret_hash: String,
    /// The program that created it, such as `skald token create`.
    pub program: String,
}

/// A token was given a role in a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleGiven {
    pub token_id: String,
    pub campaign_id: String,
    pub role: CampaignRole,
    pub program: String,
}

/// A token was revoked. It cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    pub token_id: String,
    pub program: String,
}

/// Tokens from before tokens were events were imported. Their creators are not known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokensImported {
    pub tokens: Vec<EarlierToken>,
    pub program: String,
}

/// A token from before tokens were events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierToken {
    pub token_id: String,
    pub name: String,
    pub person: String,
    pub kind: PrincipalKind,
    pub roles: BTreeMap<String, CampaignRole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_role: Option<String>,
    pub secret_hash: String,
    pub created_at: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum AccessEvent {
    #[serde(rename = "access.token_created.v1")]
    TokenCreated(Box<TokenCreated>),
    #[serde(rename = "access.role_given.v1")]
    RoleGiven(RoleGiven),
    #[serde(rename = "access.token_revoked.v1")]
    TokenRevoked(TokenRevoked),
    #[serde(rename = "access.tokens_imported.v1")]
    TokensImported(TokensImported),
}

macro_rules! kinds {
    ($($variant:ident = $kind:literal),+ $(,)?) => {
        impl AccessEvent {
            /// The types of all events that are written today.
            pub const KINDS: &'static [&'static str] = &[$($kind),+];

            /// The type under which the event is stored.
            pub fn kind(&self) -> &'static str {
                match self { $(Self::$variant(_) => $kind),+ }
            }
        }
    };
}

kinds! {
    TokenCreated = "access.token_created.v1",
    RoleGiven = "access.role_given.v1",
    TokenRevoked = "access.token_revoked.v1",
    TokensImported = "access.tokens_imported.v1",
}
