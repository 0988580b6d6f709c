//! Commands on tokens (create, give a role, revoke, import) and the reasons why they are refused.

use std::collections::BTreeMap;

use super::event::EarlierToken;
use super::{CampaignRole, PrincipalKind};

/// A token to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenToCreate {
    pub id: String,
    pub name: String,
    pub person: String,
    pub kind: PrincipalKind,
    pub roles: BTreeMap<String, CampaignRole>,
    pub gate_role: Option<String>,
    pub secret_hash: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessCommand {
    Create {
        token: Box<TokenToCreate>,
        program: String,
    },
    GiveRole {
        token_id: String,
        campaign_id: String,
        role: CampaignRole,
        program: String,
    },
    Revoke {
        token_id: String,
        program: String,
    },
    /// Imports tokens from before tokens were events. It can happen only once, before any other command.
    Import {
        tokens: Vec<EarlierToken>,
        program: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AccessRefusal {
    #[error("there is a token {token_id:?} already")]
    TokenExists { token_id: String },
    #[error("there is no token {token_id:?}")]
    TokenNotFound { token_id: String },
    #[error("the token {token_id:?} has that role, or a greater one")]
    RoleHeld { token_id: String },
    #[error("tokens from before are taken over only while there are no others")]
    TooLateToImport,
}
