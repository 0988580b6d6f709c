//! Invitations: a code that somebody redeems once for a token. The code is shown once; only its hash is stored.

use std::collections::BTreeMap;

use futures::future::BoxFuture;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::Moment;
use skald_domain::access::{AccessCommand, Invitation, InvitationToCreate, OWNER, TokenRestrictions, TokenScope};
use skald_journal::JournalFailure;

use crate::sha256::sha256_hex;
use crate::tokens::identify_caller::constant_time_eq;
use crate::tokens::{TOKEN_PREFIX, check_name_and_person};
use crate::{App, CampaignRole, Code, Fault};

/// The prefix of every code, so that scanners and people recognize one.
const CODE_PREFIX: &str = "skaldinvite_";

/// The properties of a new invitation, and of the token that it is redeemed for.
#[derive(Debug, Clone)]
pub struct NewInvitation {
    pub name: String,
    pub person: Option<String>,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The participants that the holder will be, by ids or names.
    pub participants: Vec<String>,
    pub restrictions: TokenRestrictions,
    pub expires_at: Timestamp,
    /// The program that creates it.
    pub program: String,
}

/// The token that a code was redeemed for. It is shown once.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RedeemedInvitation {
    /// It is shown once: keep it now.
    pub token: String,
    /// The id of the token.
    pub id: String,
    /// Whose it is.
    pub name: String,
    /// By campaign; `*` is every campaign.
    pub roles: BTreeMap<String, CampaignRole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<TokenScope>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Moment>,
}

/// A wrong code, and one that was used, was revoked or has expired, are refused in the same words: a guess learns nothing.
fn not_open_fault() -> Fault {
    Fault::new(Code::NotFound, "the code is not known here, or was redeemed, was revoked, or has expired")
        .hint("ask the game master for another invitation")
}

/// The fault of an engine that keeps no invitations.
pub(crate) fn no_invitations_here<'a>() -> BoxFuture<'a, Result<RedeemedInvitation, Fault>> {
    let fault = Fault::new(Code::NotFound, "a bridge redeems no invitations");
    Box::pin(async move { Err(fault.hint("send the code to the server that the invitation is of")) })
}

impl App {
    /// Creates an invitation to campaigns that exist. The code cannot be shown again.
    pub async fn create_invitation(&self, new: NewInvitation) -> Result<(String, Invitation), Fault> {
        let (name, person) = check_name_and_person(&new.name, new.person.as_deref())?;
        let roles = self.resolve_role_campaigns(new.roles).await?;
        let participants = self.find_participants(&new.participants, &roles).await?;
        let code = self.new_secret(CODE_PREFIX);
        let id = format!("invitation_{}", code.short_id);
        let invitation = InvitationToCreate {
            id: id.clone(),
            name,
            person,
            roles,
            participants,
            code_hash: sha256_hex(&code.text),
            expires_at: new.expires_at.into(),
            restrictions: new.restrictions,
        };
        let invite = AccessCommand::Invite { invitation: Box::new(invitation), program: new.program };
        self.change_access(invite, OWNER).await.map_err(|failure| self.access_fault(failure))?;
        let made = self.read_access_state().await?.state.invitation(&id).cloned();
        let missing = || Fault::internal("an invitation that was made is not there", self.new_request_id());
        Ok((code.text, made.ok_or_else(missing)?))
    }

    /// All invitations, also those that were redeemed or revoked, by id.
    pub async fn all_invitations(&self) -> Result<Vec<Invitation>, Fault> {
        Ok(self.read_access_state().await?.state.invitations().cloned().collect())
    }

    /// Revokes an invitation that nobody redeemed. Returns whether there was one.
    pub async fn revoke_invitation(&self, id: &str, program: &str) -> Result<bool, Fault> {
        let revoke = AccessCommand::RevokeInvitation { invitation_id: id.to_owned(), program: program.to_owned() };
        match self.change_access(revoke, OWNER).await {
            Ok(()) => Ok(true),
            Err(JournalFailure::Refused(_)) => Ok(false),
            Err(failure) => Err(self.access_fault(failure)),
        }
    }

    /// Redeems a code for a token. Of several at once, one gets it.
    pub(crate) async fn redeem_invitation(&self, code: &str, program: &str) -> Result<RedeemedInvitation, Fault> {
        let code = code.trim();
        let short_id = code.strip_prefix(CODE_PREFIX).and_then(|rest| rest.split_once('_')).map(|(id, _)| id);
        let invitation_id = format!("invitation_{}", short_id.ok_or_else(not_open_fault)?);
        let access = self.read_access_state().await?;
        let invitation = access.state.invitation(&invitation_id).ok_or_else(not_open_fault)?;
        if !constant_time_eq(&invitation.code_hash, &sha256_hex(code)) {
            return Err(not_open_fault());
        }
        let secret = self.new_secret(TOKEN_PREFIX);
        let token_id = format!("token_{}", secret.short_id);
        let redeem = AccessCommand::Redeem {
            invitation_id: invitation_id.clone(),
            token_id: token_id.clone(),
            secret_hash: sha256_hex(&secret.text),
            program: program.to_owned(),
        };
        match self.change_access(redeem, &invitation_id).await {
            Ok(()) => {}
            Err(JournalFailure::Refused(_)) => return Err(not_open_fault()),
            Err(failure) => return Err(self.access_fault(failure)),
        }
        let token = self.read_created_token(&token_id).await?;
        Ok(RedeemedInvitation {
            token: secret.text,
            id: token.id,
            name: token.name,
            roles: token.roles,
            scope: token.restrictions.scope,
            expires_at: token.restrictions.expires_at,
        })
    }
}
