//! Commands on tokens, invitations and page sessions (create, give a role, bind to participants, redeem, revoke, import,
//! start, end) and the reasons why they are refused.

use std::collections::{BTreeMap, BTreeSet};

use super::event::EarlierToken;
use super::restrictions::TokenRestrictions;
use super::{CampaignRole, OauthSubject, PrincipalKind};
use crate::Moment;

/// A token to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenToCreate {
    pub id: String,
    pub name: String,
    pub person: String,
    pub kind: PrincipalKind,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The ids of the participants that the holder is.
    pub participants: BTreeSet<String>,
    pub gate_role: Option<String>,
    /// Empty if the holder signs in elsewhere.
    pub secret_hash: String,
    pub restrictions: TokenRestrictions,
    pub subject: Option<OauthSubject>,
}

/// An invitation to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvitationToCreate {
    pub id: String,
    pub name: String,
    pub person: String,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The ids of the participants that the holder is.
    pub participants: BTreeSet<String>,
    pub code_hash: String,
    pub expires_at: Moment,
    pub restrictions: TokenRestrictions,
}

/// A page session to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSessionToStart {
    pub id: String,
    pub token_id: String,
    pub secret_hash: String,
    pub browser: String,
    pub expires_at: Moment,
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
    /// Says which participants the holder is from now on.
    BindParticipants {
        token_id: String,
        participants: BTreeSet<String>,
        program: String,
    },
    Revoke {
        token_id: String,
        program: String,
    },
    Invite {
        invitation: Box<InvitationToCreate>,
        program: String,
    },
    /// Creates a token of an invitation. The caller has compared the code.
    Redeem {
        invitation_id: String,
        token_id: String,
        secret_hash: String,
        program: String,
    },
    RevokeInvitation {
        invitation_id: String,
        program: String,
    },
    /// Signs a browser in with a token. The caller has compared the token.
    StartPageSession {
        session: Box<PageSessionToStart>,
        program: String,
    },
    EndPageSession {
        session_id: String,
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
    #[error("somebody has the subject {subject:?} already: {token_id}")]
    SubjectTaken { subject: String, token_id: String },
    #[error("there is an invitation {invitation_id:?} already")]
    InvitationExists { invitation_id: String },
    /// It never was, was redeemed or revoked, or has expired.
    #[error("there is no open invitation {invitation_id:?}")]
    InvitationNotOpen { invitation_id: String },
    #[error("the token {token_id:?} has that role, or a greater one")]
    RoleHeld { token_id: String },
    #[error("there is a page session {session_id:?} already")]
    PageSessionExists { session_id: String },
    #[error("there is no page session {session_id:?}")]
    PageSessionNotFound { session_id: String },
    #[error("tokens from before are taken over only while there are no others")]
    TooLateToImport,
}
