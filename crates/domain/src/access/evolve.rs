//! Applies events of tokens to the state.

use std::sync::Arc;

use super::event::{AccessEvent, EarlierToken, TokenCreated};
use super::state::{AccessState, Token, TokenChange};
use crate::decider::DecisionContext;

pub(super) fn evolve(mut state: AccessState, event: &AccessEvent, given: &DecisionContext) -> AccessState {
    let change = |program: &str| TokenChange { at: given.at.into(), by: given.by.clone(), program: program.to_owned() };
    state.has_begun = true;
    match event {
        AccessEvent::TokenCreated(created) => {
            let TokenCreated { token_id, name, person, kind, roles, gate_role, secret_hash, program } =
                (**created).clone();
            let (made, revoked) = (change(&program), None);
            let token =
                Token { id: token_id, name, person, kind, roles, gate_role, secret_hash, made, earlier: None, revoked };
            state.tokens.insert(token.id.clone(), Arc::new(token));
        }
        AccessEvent::RoleGiven(given_role) => {
            if let Some(token) = state.tokens.get_mut(&given_role.token_id) {
                Arc::make_mut(token).roles.insert(given_role.campaign_id.clone(), given_role.role);
            }
        }
        AccessEvent::TokenRevoked(revoked) => {
            if let Some(token) = state.tokens.get_mut(&revoked.token_id) {
                Arc::make_mut(token).revoked = Some(change(&revoked.program));
            }
        }
        AccessEvent::TokensImported(imported) => {
            for earlier in &imported.tokens {
                let EarlierToken { token_id, name, person, kind, roles, gate_role, secret_hash, created_at } =
                    earlier.clone();
                let (made, earlier) = (change(&imported.program), Some(created_at));
                let token = Token {
                    id: token_id,
                    name,
                    person,
                    kind,
                    roles,
                    gate_role,
                    secret_hash,
                    made,
                    earlier,
                    revoked: None,
                };
                state.tokens.insert(token.id.clone(), Arc::new(token));
            }
        }
    }
    state
}
