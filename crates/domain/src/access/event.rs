//! Events of tokens, invitations and page sessions: created, given a role, bound to participants, redeemed, revoked,
//! started, ended. Their shapes are stable: each has a golden file that must always
//! decode.
//!
//! The time and the principal are in the journal's record, next to the event.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::restrictions::TokenRestrictions;
use super::{CampaignRole, OauthSubject, PrincipalKind};
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
    /// The ids of the participants that the holder is.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub participants: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate_role: Option<String>,
    /// SHA-256 of the token, in hexadecimal digits; empty if the holder signs in elsewhere.
    pub secret_hash: String,
    #[serde(default, skip_serializing_if = "TokenRestrictions::is_empty")]
    pub restrictions: TokenRestrictions,
    /// Who the holder is where they sign in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<OauthSubject>,
    /// The program that created it, such as `skald token create`.
    pub program: String,
}

/// Somebody was invited. Whoever has the code gets a token with these roles.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationCreated {
    pub invitation_id: String,
    pub name: String,
    pub person: String,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The participants that the token's holder will be.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub participants: BTreeSet<String>,
    /// SHA-256 of the code, in hexadecimal digits.
    pub code_hash: String,
    /// From then on the code is worth nothing.
    pub expires_at: Moment,
    /// Those of the token.
    #[serde(default, skip_serializing_if = "TokenRestrictions::is_empty")]
    pub restrictions: TokenRestrictions,
    pub program: String,
}

/// An invitation was redeemed for a token, which the next event creates. It cannot be redeemed again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationRedeemed {
    pub invitation_id: String,
    pub token_id: String,
    pub program: String,
}

/// An invitation was revoked before anybody redeemed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvitationRevoked {
    pub invitation_id: String,
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

/// The holder of a token is these participants from now on, and no others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParticipantsBound {
    pub token_id: String,
    pub participants: BTreeSet<String>,
    pub program: String,
}

/// A token was revoked. It cannot be restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRevoked {
    pub token_id: String,
    pub program: String,
}

/// A browser was signed in with a token. Whoever sends the secret is the holder of the token, until the session ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSessionStarted {
    pub session_id: String,
    pub token_id: String,
    /// SHA-256 of the secret, in hexadecimal digits.
    pub secret_hash: String,
    /// What the browser says that it is.
    pub browser: String,
    pub expires_at: Moment,
    pub program: String,
}

/// A page session was ended. Its secret is worth nothing from then on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSessionEnded {
    pub session_id: String,
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
    #[serde(rename = "access.participants_bound.v1")]
    ParticipantsBound(ParticipantsBound),
    #[serde(rename = "access.token_revoked.v1")]
    TokenRevoked(TokenRevoked),
    #[serde(rename = "access.tokens_imported.v1")]
    TokensImported(TokensImported),
    #[serde(rename = "access.invitation_created.v1")]
    InvitationCreated(Box<InvitationCreated>),
    #[serde(rename = "access.invitation_redeemed.v1")]
    InvitationRedeemed(InvitationRedeemed),
    #[serde(rename = "access.invitation_revoked.v1")]
    InvitationRevoked(InvitationRevoked),
    #[serde(rename = "access.page_session_started.v1")]
    PageSessionStarted(Box<PageSessionStarted>),
    #[serde(rename = "access.page_session_ended.v1")]
    PageSessionEnded(PageSessionEnded),
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
    ParticipantsBound = "access.participants_bound.v1",
    TokenRevoked = "access.token_revoked.v1",
    TokensImported = "access.tokens_imported.v1",
    InvitationCreated = "access.invitation_created.v1",
    InvitationRedeemed = "access.invitation_redeemed.v1",
    InvitationRevoked = "access.invitation_revoked.v1",
    PageSessionStarted = "access.page_session_started.v1",
    PageSessionEnded = "access.page_session_ended.v1",
}
