//! Decides commands on tokens into an event or a refusal.

use super::command::{AccessCommand, AccessRefusal, TokenToCreate};
use super::event::{AccessEvent, RoleGiven, TokenCreated, TokenRevoked, TokensImported};
use super::state::AccessState;

pub(super) fn decide(state: &AccessState, command: &AccessCommand) -> Result<AccessEvent, AccessRefusal> {
    match command {
        AccessCommand::Create { token, program } => {
            let TokenToCreate { id, name, person, kind, roles, gate_role, secret_hash } = (**token).clone();
            if state.get(&id).is_some() {
                return Err(AccessRefusal::TokenExists { token_id: id });
            }
            let program = program.clone();
            let created = TokenCreated { token_id: id, name, person, kind, roles, gate_role, secret_hash, program };
            Ok(AccessEvent::TokenCreated(Box::new(created)))
        }
        AccessCommand::GiveRole { token_id, campaign_id, role, program } => {
            let token = state.valid_token(token_id).ok_or_else(|| token_not_found(token_id))?;
            if token.roles.get(campaign_id).is_some_and(|held| held >= role) {
                return Err(AccessRefusal::RoleHeld { token_id: token_id.clone() });
            }
            Ok(AccessEvent::RoleGiven(RoleGiven {
                token_id: token_id.clone(),
                campaign_id: campaign_id.clone(),
                role: *role,
                program: program.clone(),
            }))
        }
        AccessCommand::Revoke { token_id, program } => {
            state.valid_token(token_id).ok_or_else(|| token_not_found(token_id))?;
            Ok(AccessEvent::TokenRevoked(TokenRevoked { token_id: token_id.clone(), program: program.clone() }))
        }
        AccessCommand::Import { tokens, program } => {
            if state.has_begun {
                return Err(AccessRefusal::TooLateToImport);
            }
            Ok(AccessEvent::TokensImported(TokensImported { tokens: tokens.clone(), program: program.clone() }))
        }
    }
}

fn token_not_found(token_id: &str) -> AccessRefusal {
    AccessRefusal::TokenNotFound { token_id: token_id.to_owned() }
}
