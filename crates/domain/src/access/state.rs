//! The state of all tokens, revoked ones included, since histories still name them.

use std::collections::BTreeMap;
use std::sync::Arc;

use imbl::OrdMap;
use serde::{Deserialize, Serialize};

use super::{CampaignRole, OWNER, PrincipalKind};
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
    pub gate_role: Option<String>,
    pub secret_hash: String,
    /// Its creation; for a token from before tokens were events, its import.
    pub made: TokenChange,
    /// Its time of creation, if that was before tokens were events.
    pub earlier: Option<Moment>,
    pub revoked: Option<TokenChange>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AccessState {
    pub(super) tokens: OrdMap<String, Arc<Token>>,
    pub(super) has_begun: bool,
}

impl AccessState {
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
