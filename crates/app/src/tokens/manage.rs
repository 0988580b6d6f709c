//! Creates, binds and revokes tokens, and authenticates their holders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use skald_domain::access::{
    AccessCommand, AccessEvent, AccessRefusal, OauthSubject, Token, TokenRestrictions, TokenToCreate, person_of,
};
use skald_domain::{id, limits};
use tokio::time::Instant;

use super::import_earlier_tokens::EARLIER_TOKENS;
use super::stream::{TokenStream, token_stream};
use crate::campaign::{PARTICIPANTS, campaign_stream, is_same_name};
use crate::deceptive_characters::{code_point, first_deceptive};
use crate::refused_entries::RefusedToken;
use crate::sha256::sha256_hex;
use crate::tokens::identify_caller::{constant_time_eq, unauthorized_fault};
use crate::{
    App, Call, Caller, CampaignRole, Code, Conversation, EVERY_CAMPAIGN, Fault, Holder, Principal, PrincipalKind,
    RequestControl,
};
use skald_journal::{JournalFailure, Record, parse_events};

/// The prefix of every token, so that scanners and people recognize one.
pub(crate) const TOKEN_PREFIX: &str = "skald_";
/// The longest time until its token expires that a stream waits for: no stream lives as long.
const LONGEST_WAIT: SignedDuration = SignedDuration::from_hours(24 * 365);

/// A secret that was just made, and is shown once.
pub(crate) struct NewSecret {
    pub short_id: String,
    pub text: String,
}

/// The properties of a new token.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub name: String,
    /// The person it belongs to; derived from the name if none is given.
    pub person: Option<String>,
    pub kind: PrincipalKind,
    pub roles: BTreeMap<String, CampaignRole>,
    /// The participants that the holder is, by ids or names.
    pub participants: Vec<String>,
    pub gate_role: Option<String>,
    pub restrictions: TokenRestrictions,
    /// Who the holder is where they sign in. Such a token has no secret.
    pub subject: Option<OauthSubject>,
    /// The program that creates it.
    pub program: String,
}

impl App {
    /// Creates a token, for campaigns that exist. The secret is not stored, and cannot be shown again.
    pub async fn create_token(&self, new: NewToken) -> Result<(String, Token), Fault> {
        let (name, person) = check_name_and_person(&new.name, new.person.as_deref())?;
        let gate_role = new.gate_role.map(|role| check_name(&role, "/gate_role")).transpose()?;
        let roles = self.resolve_role_campaigns(new.roles).await?;
        let participants = self.find_participants(&new.participants, &roles).await?;
        let secret = self.new_secret(TOKEN_PREFIX);
        let id = format!("token_{}", secret.short_id);
        let secret_hash = if new.subject.is_some() { String::new() } else { sha256_hex(&secret.text) };
        let token = TokenToCreate {
            id: id.clone(),
            name,
            person,
            kind: new.kind,
            roles,
            participants,
            gate_role,
            secret_hash,
            restrictions: new.restrictions,
            subject: new.subject,
        };
        let create = AccessCommand::Create { token: Box::new(token), program: new.program };
        self.change_access(create, "owner").await.map_err(|failure| self.access_fault(failure))?;
        Ok((secret.text, self.read_created_token(&id).await?))
    }

    pub(crate) async fn read_created_token(&self, id: &str) -> Result<Token, Fault> {
        let made = self.read_access_state().await?.state.get(id).cloned();
        made.ok_or_else(|| Fault::internal("a token that was made is not there", self.new_request_id()))
    }

    /// Roles by the ids of campaigns that exist. A campaign may be given by its id, its number or its unique name.
    pub(crate) async fn resolve_role_campaigns(
        &self,
        roles: BTreeMap<String, CampaignRole>,
    ) -> Result<BTreeMap<String, CampaignRole>, Fault> {
        let (owner, control) = (Caller::owner(), RequestControl::default());
        let call = Call { caller: &owner, control: &control, input: &serde_json::Value::Null, misfits: &[] };
        let mut resolved = BTreeMap::new();
        for (given, role) in roles {
            if given == EVERY_CAMPAIGN {
                resolved.insert(given, role);
                continue;
            }
            let campaign_id = self.resolve_campaign_id(&call, &given).await?;
            self.check_campaign_exists(&campaign_id).await?;
            resolved.insert(campaign_id, role);
        }
        Ok(resolved)
    }

    /// A secret of 256 random bits, behind a prefix and a short id by which it is found.
    pub(crate) fn new_secret(&self, prefix: &str) -> NewSecret {
        let (first, second) = (self.entropy.bytes(), self.entropy.bytes());
        let half = |bytes: &[u8]| {
            let mut half = [0; 16];
            half.copy_from_slice(&bytes[..16]);
            id::from_entropy("", half)
        };
        let short_id = half(&first)[..12].to_owned();
        let text = format!("{prefix}{short_id}_{}{}", half(&second), half(&second[16..]));
        NewSecret { short_id, text }
    }

    /// The tokens that are not revoked and have not expired, by id.
    pub async fn valid_tokens(&self) -> Result<Vec<Token>, Fault> {
        let now = self.clock.now();
        Ok(self.all_tokens().await?.into_iter().filter(|token| token.is_valid_at(now)).collect())
    }

    /// All tokens, revoked ones included, by id.
    pub async fn all_tokens(&self) -> Result<Vec<Token>, Fault> {
        Ok(self.read_access_state().await?.state.tokens().cloned().collect())
    }

    /// Says which participants the holder of a token is from now on: ids, or names in the token's campaigns.
    pub async fn bind_participants(&self, id: &str, given: &[String], program: &str) -> Result<Token, Fault> {
        let access = self.read_access_state().await?;
        let roles = access.state.valid_token(id).map(|token| token.roles.clone()).unwrap_or_default();
        let participants = self.find_participants(given, &roles).await?;
        let (token_id, program) = (id.to_owned(), program.to_owned());
        let bind = AccessCommand::BindParticipants { token_id, participants, program };
        self.change_access(bind, "owner").await.map_err(|failure| self.access_fault(failure))?;
        self.read_created_token(id).await
    }

    /// The ids of participants that are given by ids, or by names that are unique in the campaigns of these roles.
    pub(crate) async fn find_participants(
        &self,
        given: &[String],
        roles: &BTreeMap<String, CampaignRole>,
    ) -> Result<BTreeSet<String>, Fault> {
        let mut ids = BTreeSet::new();
        for text in given {
            ids.insert(self.find_participant(text.trim(), roles).await?);
        }
        Ok(ids)
    }

    async fn find_participant(&self, text: &str, roles: &BTreeMap<String, CampaignRole>) -> Result<String, Fault> {
        let campaigns = roles.keys().filter(|campaign_id| *campaign_id != EVERY_CAMPAIGN);
        let fault = |message: String| {
            let fault = Fault::new(Code::NotFound, message).with_path("/participants").value(&text.into());
            fault.hint("name a participant of the token's campaigns, or send an id; `campaign_read` lists them")
        };
        if text.starts_with(id::PARTICIPANT) {
            let campaign_id = self.campaign_of_document(&Caller::owner(), PARTICIPANTS, text).await?;
            let is_entered = |id: &String| roles.contains_key(id) || roles.contains_key(EVERY_CAMPAIGN);
            return match campaign_id.filter(is_entered) {
                Some(_) => Ok(text.to_owned()),
                None => Err(fault(format!("there is no participant {text:?} in the token's campaigns"))),
            };
        }
        let mut found = Vec::new();
        for campaign_id in campaigns {
            let committed = self.campaigns.read(&campaign_stream(campaign_id)).await;
            let state = &committed.map_err(|error| self.store_fault(&error))?.state;
            let people = state.participants().oldest_first();
            let same = people.filter(|participant| is_same_name(&participant.display_name, text));
            found.extend(same.map(|participant| participant.id.clone()));
        }
        match &found[..] {
            [one] => Ok(one.clone()),
            [] => Err(fault(format!("nobody in the token's campaigns is called {text:?}"))),
            several => Err(fault(format!("{text:?} is the name of several: {}", several.join(", ")))),
        }
    }

    /// Revokes a token. Returns whether there was one.
    pub async fn revoke_token(&self, id: &str, program: &str) -> Result<bool, Fault> {
        // Another program may have inserted a row.
        let was_row = self.journal.remove(EARLIER_TOKENS, id).await.map_err(|error| self.store_fault(&error))?;
        let revoke = AccessCommand::Revoke { token_id: id.to_owned(), program: program.to_owned() };
        match self.change_access(revoke, "owner").await {
            Ok(()) => Ok(true),
            Err(JournalFailure::Refused(_)) => Ok(was_row),
            Err(failure) => Err(self.access_fault(failure)),
        }
    }

    /// The caller that a token belongs to.
    pub(crate) async fn authenticate(&self, secret: &str) -> Result<Caller, RefusedToken> {
        // A secret read from a file often ends with a line break.
        let secret = secret.trim();
        if !secret.starts_with(TOKEN_PREFIX) {
            return self.authenticate_access_token(secret).await;
        }
        let id = secret.strip_prefix(TOKEN_PREFIX).and_then(|rest| rest.split_once('_')).map(|(id, _)| id);
        let id = format!("token_{}", id.ok_or_else(unauthorized_fault)?);
        let (access, now) = (self.read_access_state().await?, self.clock.now());
        let token = access.state.get(&id).ok_or_else(unauthorized_fault)?;
        if !constant_time_eq(&token.secret_hash, &sha256_hex(secret)) {
            return Err(unauthorized_fault().into());
        }
        if !token.is_valid_at(now) {
            return Err(RefusedToken { fault: unauthorized_fault(), token_id: Some(token.id.clone()) });
        }
        Ok(Caller { principal: self.principal_from_token(token), conversation: Conversation::None })
    }

    /// Reads a caller's token again: it may have new roles, or be revoked.
    pub(crate) async fn refresh_caller(&self, caller: &Caller) -> Result<Caller, Fault> {
        let Principal::Holder(known) = &caller.principal else { return Ok(caller.clone()) };
        let (access, now) = (self.read_access_state().await?, self.clock.now());
        let token =
            access.state.get(&known.id).filter(|token| token.is_valid_at(now)).ok_or_else(unauthorized_fault)?;
        let principal = match self.principal_from_token(token) {
            Principal::Owner => Principal::Owner,
            // Keep the narrower scope and the earlier expiry of the access token.
            Principal::Holder(holder) => Principal::Holder(Arc::new(Holder {
                scope: known.scope.or(holder.scope).map(|scope| holder.scope.map_or(scope, |own| own.min(scope))),
                expires: [known.expires, holder.expires].into_iter().flatten().min(),
                session_end: known.session_end.clone(),
                ..Holder::clone(&holder)
            })),
        };
        Ok(Caller { principal, conversation: caller.conversation.clone() })
    }

    pub(crate) fn principal_from_token(&self, token: &Token) -> Principal {
        let revocation = self.revocations.signal(&token.id);
        let expires = token.restrictions.expires_at.map(|expiry| self.instant_of(expiry.timestamp()));
        Principal::Holder(Arc::new(Holder { expires, revocation, ..holder_from_token(token) }))
    }

    /// The instant of a timestamp; now if it has passed.
    pub(crate) fn instant_of(&self, at: Timestamp) -> Instant {
        let left = at.duration_since(self.clock.now()).max(SignedDuration::ZERO).min(LONGEST_WAIT);
        Instant::now() + left.unsigned_abs()
    }

    /// Ends the streams and sessions of tokens that a record revokes and of page sessions that it ends, whichever process
    /// wrote it.
    pub(crate) fn apply_revocations(&self, record: &Record) {
        if record.stream != token_stream() {
            return;
        }
        match parse_events::<TokenStream>(record) {
            Ok(events) => {
                for event in events {
                    match event {
                        AccessEvent::TokenRevoked(revoked) => self.revocations.revoke(&revoked.token_id),
                        AccessEvent::PageSessionEnded(ended) => self.revocations.revoke(&ended.session_id),
                        _ => {}
                    }
                }
            }
            Err(error) => {
                tracing::error!(revision = record.revision, error, "a change of tokens cannot be read");
                self.revocations.interrupt_all();
            }
        }
    }

    /// Gives the caller a role in a campaign, unless they have an equal or higher one. `program` is recorded as the
    /// source.
    pub(crate) async fn give_role(
        &self,
        caller: &Caller,
        campaign_id: &str,
        role: CampaignRole,
        program: &str,
    ) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        if caller.role_in(campaign_id).is_some_and(|given| given >= role) {
            return Ok(());
        }
        let (token_id, campaign_id) = (holder.id.clone(), campaign_id.to_owned());
        let give =
            AccessCommand::GiveRole { token_id, campaign_id: campaign_id.clone(), role, program: program.to_owned() };
        match self.change_access(give, &holder.id).await {
            Ok(()) | Err(JournalFailure::Refused(AccessRefusal::RoleHeld { .. })) => {
                holder.roles.give_role(&campaign_id, role);
            }
            // A token that was revoked meanwhile gets no role.
            Err(JournalFailure::Refused(_)) => {}
            Err(failure) => return Err(self.access_fault(failure)),
        }
        Ok(())
    }
}

/// The holder that a token describes.
pub fn holder_from_token(token: &Token) -> Holder {
    Holder {
        participants: token.participants.clone(),
        gate_role: token.gate_role.clone(),
        scope: token.restrictions.scope,
        limits: token.restrictions.limits,
        ..Holder::new(&token.id, &token.name, token.kind, token.roles.clone())
    }
}

/// The checked name, and the person: as given, or of that name.
pub(crate) fn check_name_and_person(name: &str, person: Option<&str>) -> Result<(String, String), Fault> {
    let name = check_name(name, "/name")?;
    let person = match person {
        Some(person) => person_of(&check_name(person, "/person")?),
        None => person_of(&name),
    };
    Ok((name, person))
}

fn check_name(text: &str, pointer: &str) -> Result<String, Fault> {
    let (name, most) = (text.trim(), limits::NAME_CHARS_MAX);
    if name.is_empty() || name.chars().count() > most {
        return Err(Fault::new(Code::InvalidParams, format!("a name has 1 to {most} characters")).with_path(pointer));
    }
    if let Some(character) = first_deceptive(name) {
        let message =
            format!("the name has the character {}, and is one line of plain characters", code_point(character));
        return Err(Fault::new(Code::InvalidParams, message).with_path(pointer).hint("leave that character out"));
    }
    Ok(name.to_owned())
}
