//! Access tokens of an authorization server: the port that checks them, and how the token of Skald is found whose roles
//! they give.
//!
//! The authorization server says who somebody is, and what their client may do. What they are in which campaign is said
//! here, by a token that names them as its subject and has no secret.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use skald_domain::access::{OauthSubject, TokenScope};

use crate::refused_entries::RefusedToken;
use crate::{App, Caller, Code, Conversation, Fault, Holder, Principal};

/// An access token whose signature, issuer, audience and times are right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedAccessToken {
    pub subject: OauthSubject,
    /// The widest of its scopes that are ours.
    pub scope: Option<TokenScope>,
    pub expires_at: Timestamp,
}

/// Checks access tokens.
pub trait AccessTokenVerifier: Send + Sync + 'static {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<VerifiedAccessToken, Fault>>;
}

/// The fault for every access token that is not accepted: it does not say what is wrong with it.
pub fn invalid_token_fault() -> Fault {
    Fault::new(Code::Unauthorized, "the access token is expired, is for somebody else, or is not of the issuer here")
        .hint("get a new access token, with this server as its resource")
}

impl App {
    /// Lets holders of access tokens in. Only the first call counts: a server does it when it starts.
    pub fn set_access_token_verifier(&self, verifier: Arc<dyn AccessTokenVerifier>) {
        let _ = self.access_token_verifier.set(verifier);
    }

    /// The caller that an access token stands for.
    pub(crate) async fn authenticate_access_token(&self, token: &str) -> Result<Caller, RefusedToken> {
        let verifier = self.access_token_verifier.get().ok_or_else(crate::unauthorized_fault)?;
        let VerifiedAccessToken { subject, scope, expires_at } = verifier.verify(token).await?;
        let access = self.read_access_state().await?;
        let now = self.clock.now();
        let known = access.state.token_of_subject(&subject);
        let refuse = |fault| RefusedToken { fault, token_id: known.map(|token| token.id.clone()) };
        let valid = known.filter(|token| token.is_valid_at(now));
        let known = valid.ok_or_else(|| refuse(unlinked_subject_fault(&subject)))?;
        let scope = scope.ok_or_else(|| refuse(missing_scope_fault()))?;
        let principal = match self.principal_from_token(known) {
            Principal::Owner => Principal::Owner,
            Principal::Holder(holder) => {
                let expiry = self.instant_of(expires_at);
                Principal::Holder(Arc::new(Holder {
                    scope: Some(holder.scope.map_or(scope, |own| own.min(scope))),
                    expires: Some(holder.expires.map_or(expiry, |own| own.min(expiry))),
                    ..Holder::clone(&holder)
                }))
            }
        };
        Ok(Caller { principal, conversation: Conversation::None })
    }
}

/// The fault for a valid token whose subject has no token of Skald. Only its holder gets it.
fn unlinked_subject_fault(subject: &OauthSubject) -> Fault {
    let (issuer, subject) = (&subject.issuer, crate::truncate_for_message(&subject.subject));
    Fault::new(Code::Forbidden, format!("nobody here is {subject:?} of {issuer}")).hint(format!(
        "ask whoever runs the server for skald token create NAME --role player --issuer {issuer:?} --subject {subject:?}"
    ))
}

fn missing_scope_fault() -> Fault {
    let scopes = TokenScope::ALL.map(TokenScope::oauth_name).join(", ");
    Fault::new(Code::InsufficientScope, format!("the access token has none of the scopes {scopes}"))
        .hint("ask the authorization server for one of them")
        .detail("scope", TokenScope::Read.oauth_name().into())
}
