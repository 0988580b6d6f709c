//! Decides commands on tokens, invitations and page sessions into events or a refusal.

use super::command::{AccessCommand, AccessRefusal, PageSessionToStart, TokenToCreate};
use super::event::{
    AccessEvent, InvitationCreated, InvitationRedeemed, InvitationRevoked, PageSessionEnded, PageSessionStarted,
    ParticipantsBound, RoleGiven, TokenCreated, TokenRevoked, TokensImported,
};
use super::state::AccessState;
use super::{InvitationToCreate, PrincipalKind};
use crate::{Moment, limits};

/// `at` is the time of the decision: an invitation expires.
pub(super) fn decide(
    state: &AccessState,
    command: &AccessCommand,
    at: Moment,
) -> Result<Vec<AccessEvent>, AccessRefusal> {
    Ok(vec![match command {
        AccessCommand::Redeem { invitation_id, token_id, secret_hash, program } => {
            return redeem(state, invitation_id, (token_id, secret_hash), program, at);
        }
        AccessCommand::StartPageSession { session, program } => {
            return start_page_session(state, session, program, at);
        }
        AccessCommand::Create { token, program } => create_token(state, token, program)?,
        AccessCommand::GiveRole { token_id, campaign_id, role, program } => {
            let token = state.valid_token(token_id).ok_or_else(|| token_not_found(token_id))?;
            if token.roles.get(campaign_id).is_some_and(|held| held >= role) {
                return Err(AccessRefusal::RoleHeld { token_id: token_id.clone() });
            }
            AccessEvent::RoleGiven(RoleGiven {
                token_id: token_id.clone(),
                campaign_id: campaign_id.clone(),
                role: *role,
                program: program.clone(),
            })
        }
        AccessCommand::BindParticipants { token_id, participants, program } => {
            state.valid_token(token_id).ok_or_else(|| token_not_found(token_id))?;
            AccessEvent::ParticipantsBound(ParticipantsBound {
                token_id: token_id.clone(),
                participants: participants.clone(),
                program: program.clone(),
            })
        }
        AccessCommand::Revoke { token_id, program } => {
            state.valid_token(token_id).ok_or_else(|| token_not_found(token_id))?;
            AccessEvent::TokenRevoked(TokenRevoked { token_id: token_id.clone(), program: program.clone() })
        }
        AccessCommand::Invite { invitation, program } => invite(state, invitation, program)?,
        AccessCommand::RevokeInvitation { invitation_id, program } => {
            let unused = state.invitation(invitation_id).filter(|invitation| invitation.is_unused());
            unused.ok_or_else(|| invitation_not_open(invitation_id))?;
            let (invitation_id, program) = (invitation_id.clone(), program.clone());
            AccessEvent::InvitationRevoked(InvitationRevoked { invitation_id, program })
        }
        AccessCommand::EndPageSession { session_id, program } => {
            let session_id = session_id.clone();
            if state.page_session(&session_id).is_none() {
                return Err(AccessRefusal::PageSessionNotFound { session_id });
            }
            AccessEvent::PageSessionEnded(PageSessionEnded { session_id, program: program.clone() })
        }
        AccessCommand::Import { tokens, program } => {
            if state.has_begun {
                return Err(AccessRefusal::TooLateToImport);
            }
            AccessEvent::TokensImported(TokensImported { tokens: tokens.clone(), program: program.clone() })
        }
    }])
}

fn invite(state: &AccessState, invitation: &InvitationToCreate, program: &str) -> Result<AccessEvent, AccessRefusal> {
    let InvitationToCreate { id, name, person, roles, participants, code_hash, expires_at, restrictions } =
        invitation.clone();
    if state.invitation(&id).is_some() {
        return Err(AccessRefusal::InvitationExists { invitation_id: id });
    }
    Ok(AccessEvent::InvitationCreated(Box::new(InvitationCreated {
        invitation_id: id,
        name,
        person,
        roles,
        participants,
        code_hash,
        expires_at,
        restrictions,
        program: program.to_owned(),
    })))
}

/// Both events are in one record, so that no invitation is used up without a token.
fn redeem(
    state: &AccessState,
    invitation_id: &str,
    (token_id, secret_hash): (&str, &str),
    program: &str,
    at: Moment,
) -> Result<Vec<AccessEvent>, AccessRefusal> {
    let open = state.invitation(invitation_id).filter(|invitation| invitation.is_open(at));
    let invitation = open.ok_or_else(|| invitation_not_open(invitation_id))?;
    let token = TokenToCreate {
        id: token_id.to_owned(),
        name: invitation.name.clone(),
        person: invitation.person.clone(),
        kind: PrincipalKind::Human,
        roles: invitation.roles.clone(),
        participants: invitation.participants.clone(),
        gate_role: None,
        secret_hash: secret_hash.to_owned(),
        restrictions: invitation.restrictions.clone(),
        subject: None,
    };
    let redeemed = InvitationRedeemed {
        invitation_id: invitation_id.to_owned(),
        token_id: token_id.to_owned(),
        program: program.to_owned(),
    };
    Ok(vec![AccessEvent::InvitationRedeemed(redeemed), create_token(state, &token, program)?])
}

fn create_token(state: &AccessState, token: &TokenToCreate, program: &str) -> Result<AccessEvent, AccessRefusal> {
    let TokenToCreate { id, name, person, kind, roles, participants, gate_role, secret_hash, restrictions, subject } =
        token.clone();
    if state.get(&id).is_some() {
        return Err(AccessRefusal::TokenExists { token_id: id });
    }
    if let Some(subject) = &subject
        && let Some(other) = state.token_of_subject(subject)
    {
        let (subject, token_id) = (subject.subject.clone(), other.id.clone());
        return Err(AccessRefusal::SubjectTaken { subject, token_id });
    }
    let program = program.to_owned();
    Ok(AccessEvent::TokenCreated(Box::new(TokenCreated {
        token_id: id,
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
    })))
}

/// Past the limit, the oldest session of the token ends, so that nobody is locked out by browsers that are gone.
fn start_page_session(
    state: &AccessState,
    session: &PageSessionToStart,
    program: &str,
    at: Moment,
) -> Result<Vec<AccessEvent>, AccessRefusal> {
    let PageSessionToStart { id, token_id, secret_hash, browser, expires_at } = session.clone();
    state.valid_token(&token_id).ok_or_else(|| token_not_found(&token_id))?;
    if state.page_session(&id).is_some() {
        return Err(AccessRefusal::PageSessionExists { session_id: id });
    }
    let mut open: Vec<_> =
        state.page_sessions().filter(|known| known.token_id == token_id && at < known.expires_at).collect();
    open.sort_by_key(|session| session.started.at);
    let surplus = (open.len() + 1).saturating_sub(limits::PAGE_SESSIONS_PER_TOKEN_MAX);
    let ended = open.iter().take(surplus).map(|oldest| {
        let (session_id, program) = (oldest.id.clone(), program.to_owned());
        AccessEvent::PageSessionEnded(PageSessionEnded { session_id, program })
    });
    let started =
        PageSessionStarted { session_id: id, token_id, secret_hash, browser, expires_at, program: program.to_owned() };
    Ok(ended.chain([AccessEvent::PageSessionStarted(Box::new(started))]).collect())
}

fn token_not_found(token_id: &str) -> AccessRefusal {
    AccessRefusal::TokenNotFound { token_id: token_id.to_owned() }
}

fn invitation_not_open(invitation_id: &str) -> AccessRefusal {
    AccessRefusal::InvitationNotOpen { invitation_id: invitation_id.to_owned() }
}
