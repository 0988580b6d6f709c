//! Applies events of tokens, invitations and page sessions to the state.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::event::{AccessEvent, EarlierToken, InvitationCreated, PageSessionStarted, TokenCreated};
use super::restrictions::TokenRestrictions;
use super::state::{AccessState, Invitation, PageSession, Token, TokenChange};
use crate::decider::DecisionContext;

pub(super) fn evolve(mut state: AccessState, event: &AccessEvent, given: &DecisionContext) -> AccessState {
    let change = |program: &str| TokenChange { at: given.at.into(), by: given.by.clone(), program: program.to_owned() };
    state.has_begun = true;
    match event {
        AccessEvent::TokenCreated(created) => {
            let TokenCreated {
                token_id,
                name,
                person,
                kind,
                roles,
                participants,
                gate_role,
                secret_hash,
                restrictions,
                subject,
                program,
            } = (**created).clone();
            let token = Token {
                id: token_id,
                name,
                person,
                kind,
                roles,
                participants,
                gate_role,
                secret_hash,
                restrictions,
                subject,
                made: change(&program),
                earlier: None,
                revoked: None,
            };
            state.tokens.insert(token.id.clone(), Arc::new(token));
        }
        AccessEvent::RoleGiven(given_role) => {
            if let Some(token) = state.tokens.get_mut(&given_role.token_id) {
                Arc::make_mut(token).roles.insert(given_role.campaign_id.clone(), given_role.role);
            }
        }
        AccessEvent::ParticipantsBound(bound) => {
            if let Some(token) = state.tokens.get_mut(&bound.token_id) {
                Arc::make_mut(token).participants.clone_from(&bound.participants);
            }
        }
        AccessEvent::TokenRevoked(revoked) => {
            if let Some(token) = state.tokens.get_mut(&revoked.token_id) {
                Arc::make_mut(token).revoked = Some(change(&revoked.program));
            }
            retain_sessions(&mut state, |session| session.token_id != revoked.token_id);
        }
        AccessEvent::TokensImported(imported) => {
            for earlier in &imported.tokens {
                let token = imported_token(earlier.clone(), change(&imported.program));
                state.tokens.insert(token.id.clone(), Arc::new(token));
            }
        }
        AccessEvent::InvitationCreated(created) => {
            let invitation = new_invitation(created, change(&created.program));
            state.invitations.insert(invitation.id.clone(), Arc::new(invitation));
        }
        AccessEvent::InvitationRedeemed(redeemed) => {
            if let Some(invitation) = state.invitations.get_mut(&redeemed.invitation_id) {
                Arc::make_mut(invitation).token_id = Some(redeemed.token_id.clone());
            }
        }
        AccessEvent::InvitationRevoked(revoked) => {
            if let Some(invitation) = state.invitations.get_mut(&revoked.invitation_id) {
                Arc::make_mut(invitation).revoked = Some(change(&revoked.program));
            }
        }
        AccessEvent::PageSessionStarted(started) => {
            let PageSessionStarted { session_id, token_id, secret_hash, browser, expires_at, program } =
                (**started).clone();
            // Those that have expired are of no use to anybody.
            retain_sessions(&mut state, |known| given.at < known.expires_at.timestamp());
            let started = change(&program);
            let session = PageSession { id: session_id, token_id, secret_hash, browser, expires_at, started };
            state.page_sessions.insert(session.id.clone(), Arc::new(session));
        }
        AccessEvent::PageSessionEnded(ended) => {
            state.page_sessions.remove(&ended.session_id);
        }
    }
    state
}

fn new_invitation(created: &InvitationCreated, made: TokenChange) -> Invitation {
    let InvitationCreated {
        invitation_id,
        name,
        person,
        roles,
        participants,
        code_hash,
        expires_at,
        restrictions,
        program: _,
    } = created.clone();
    Invitation {
        id: invitation_id,
        name,
        person,
        roles,
        participants,
        code_hash,
        expires_at,
        restrictions,
        made,
        token_id: None,
        revoked: None,
    }
}

fn retain_sessions(state: &mut AccessState, is_kept: impl Fn(&PageSession) -> bool) {
    let removed = state.page_sessions().filter(|session| !is_kept(session)).map(|session| session.id.clone());
    for id in removed.collect::<Vec<_>>() {
        state.page_sessions.remove(&id);
    }
}

fn imported_token(earlier: EarlierToken, made: TokenChange) -> Token {
    let EarlierToken { token_id, name, person, kind, roles, gate_role, secret_hash, created_at } = earlier;
    Token {
        id: token_id,
        name,
        person,
        kind,
        roles,
        participants: BTreeSet::new(),
        gate_role,
        secret_hash,
        restrictions: TokenRestrictions::default(),
        subject: None,
        made,
        earlier: Some(created_at),
        revoked: None,
    }
}
