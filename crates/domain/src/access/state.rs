//! The state of all tokens and invitations, revoked ones included, since histories still name them, and of the page
//! sessions that have not ended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::restrictions::TokenRestrictions;
use super::{CampaignRole, OWNER, OauthSubject, PrincipalKind};
use crate::Moment;

/// A change to a token: the time, the principal and the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenChange {
    pub at: Moment,
    pub by: String,
    pub program: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Token {
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
    /// Its creation; for a token from before tokens were events, its import.
    pub made: TokenChange,
    /// Its time of creation, if that was before tokens were events.
    pub earlier: Option<Moment>,
    pub revoked: Option<TokenChange>,
}

impl Token {
    /// Whether it can be used at a time: it is not revoked and has not expired.
    pub fn is_valid_at(&self, at: Timestamp) -> bool {
        self.revoked.is_none() && self.restrictions.expires_at.is_none_or(|expiry| at < expiry.timestamp())
    }
}

/// A code that whoever has it redeems once for a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    pub id: String,
    pub name: String,
    pub person: String,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The ids of the participants that the holder is.
    pub participants: BTreeSet<String>,
    pub code_hash: String,
    pub expires_at: Moment,
    pub restrictions: TokenRestrictions,
    pub made: TokenChange,
    /// The token that it was redeemed for.
    pub token_id: Option<String>,
    pub revoked: Option<TokenChange>,
}

impl Invitation {
    pub fn is_unused(&self) -> bool {
        self.token_id.is_none() && self.revoked.is_none()
    }

    /// Whether it can be redeemed at a time.
    pub fn is_open(&self, at: Moment) -> bool {
        self.is_unused() && at < self.expires_at
    }
}

/// A browser that is signed in with a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageSession {
    pub id: String,
    pub token_id: String,
    pub secret_hash: String,
    /// What the browser says that it is.
    pub browser: String,
    pub expires_at: Moment,
    pub started: TokenChange,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AccessState {
    pub(super) tokens: OrdMap<String, Arc<Token>>,
    #[serde(default)]
    pub(super) invitations: OrdMap<String, Arc<Invitation>>,
    #[serde(default)]
    pub(super) page_sessions: OrdMap<String, Arc<PageSession>>,
    pub(super) has_begun: bool,
}

impl AccessState {
    /// An invitation, also one that was redeemed or revoked.
    pub fn invitation(&self, invitation_id: &str) -> Option<&Invitation> {
        self.invitations.get(invitation_id).map(|invitation| &**invitation)
    }

    /// All invitations in order of ids.
    pub fn invitations(&self) -> impl Iterator<Item = &Invitation> {
        self.invitations.values().map(|invitation| &**invitation)
    }

    /// A page session that was not ended; it may have expired.
    pub fn page_session(&self, session_id: &str) -> Option<&PageSession> {
        self.page_sessions.get(session_id).map(|session| &**session)
    }

    /// All page sessions that were not ended, in order of ids.
    pub fn page_sessions(&self) -> impl Iterator<Item = &PageSession> {
        self.page_sessions.values().map(|session| &**session)
    }

    /// The token of somebody who signs in elsewhere, unless it was revoked.
    pub fn token_of_subject(&self, subject: &OauthSubject) -> Option<&Token> {
        self.tokens().find(|token| token.subject.as_ref() == Some(subject) && token.revoked.is_none())
    }

    /// A token, unless it was revoked.
    pub fn valid_token(&self, token_id: &str) -> Option<&Token> {
        self.get(token_id).filter(|token| token.revoked.is_none())
    }

    /// A token, even if it was revoked.
    pub fn get(&self, token_id: &str) -> Option<&Token> {
        self.tokens.get(token_id).map(|token| &**token)
    }

    /// All tokens in order of ids, including revoked ones.
    pub fn tokens(&self) -> impl Iterator<Item = &Token> {
        self.tokens.values().map(|token| &**token)
    }

    /// The other principals that belong to the same person: tokens, and the owner.
    pub fn principals_of_same_person(&self, principal: &str) -> Vec<String> {
        let person = match self.get(principal) {
            Some(token) => token.person.as_str(),
            None if principal == OWNER => OWNER,
            None => return Vec::new(),
        };
        let owner = (person == OWNER).then_some(OWNER);
        let tokens = self.tokens().filter(|token| token.person == person).map(|token| token.id.as_str());
        owner.into_iter().chain(tokens).filter(|other| *other != principal).map(str::to_owned).collect()
    }
}
