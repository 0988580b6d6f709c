//! Page sessions: browsers that are signed in to the page with a token. A session has a secret of its own, so that no
//! browser keeps the token; only the secret's hash is stored.

use std::sync::Arc;

use jiff::SignedDuration;
use serde::Serialize;
use skald_domain::Moment;
use skald_domain::access::{AccessCommand, PageSession, PageSessionToStart};
use skald_journal::JournalFailure;

use crate::deceptive_characters::first_deceptive;
use crate::sha256::sha256_hex;
use crate::tokens::TOKEN_PREFIX;
use crate::tokens::identify_caller::{constant_time_eq, unauthorized_fault};
use crate::{App, Caller, Code, Conversation, Fault, Holder, Principal, limits};

/// The prefix of every secret of a page session. It is not a token: no surface but the page takes it.
const SECRET_PREFIX: &str = "skaldpage_";
/// Maximum characters of a browser's name that are stored.
const BROWSER_CHARS_MAX: usize = 60;

/// A page session that was just started. The secret is for the browser alone.
#[derive(Debug, Clone)]
pub struct StartedPageSession {
    pub secret: String,
    pub id: String,
    pub max_age_seconds: u64,
}

/// A page session as the page lists it.
#[derive(Debug, Clone, Serialize)]
pub struct ListedPageSession {
    pub id: String,
    pub token_id: String,
    /// Whose token it is.
    pub name: String,
    pub browser: String,
    pub started_at: Moment,
    pub expires_at: Moment,
}

fn page_session_fault() -> Fault {
    Fault::new(Code::Unauthorized, "this browser is no longer signed in").hint("sign in again")
}

/// The id in a secret.
fn session_id(secret: &str) -> Option<String> {
    let (short_id, _) = secret.strip_prefix(SECRET_PREFIX)?.split_once('_')?;
    Some(format!("page_{short_id}"))
}

impl App {
    /// Signs a browser in with a token of this store.
    pub(crate) async fn start_page_session(
        &self,
        token: &str,
        browser: &str,
        program: &str,
    ) -> Result<StartedPageSession, Fault> {
        if !token.trim().starts_with(TOKEN_PREFIX) {
            return Err(unauthorized_fault());
        }
        let caller = self.authenticate(token).await.map_err(|refused| refused.fault)?;
        let secret = self.new_secret(SECRET_PREFIX);
        let lifetime = SignedDuration::from_hours(24 * i64::try_from(limits::PAGE_SESSION_DAYS).unwrap_or(1));
        let mut expires_at = self.clock.now() + lifetime;
        if let Some(expiry) =
            self.read_access_state().await?.state.get(caller.id()).and_then(|token| token.restrictions.expires_at)
        {
            expires_at = expires_at.min(expiry.timestamp());
        }
        let browser = browser
            .trim()
            .chars()
            .take(BROWSER_CHARS_MAX)
            .filter(|character| first_deceptive(character.encode_utf8(&mut [0; 4])).is_none());
        let session = PageSessionToStart {
            id: format!("page_{}", secret.short_id),
            token_id: caller.id().to_owned(),
            secret_hash: sha256_hex(&secret.text),
            browser: browser.collect(),
            expires_at: expires_at.into(),
        };
        let id = session.id.clone();
        let start = AccessCommand::StartPageSession { session: Box::new(session), program: program.to_owned() };
        self.change_access(start, caller.id()).await.map_err(|failure| self.access_fault(failure))?;
        let seconds = expires_at.duration_since(self.clock.now()).as_secs();
        Ok(StartedPageSession { secret: secret.text, id, max_age_seconds: u64::try_from(seconds).unwrap_or_default() })
    }

    /// The caller that the secret of a page session belongs to.
    pub(crate) async fn authenticate_page_session(&self, secret: &str) -> Result<Caller, Fault> {
        let id = session_id(secret).ok_or_else(page_session_fault)?;
        let (access, now) = (self.read_access_state().await?, self.clock.now());
        let open = access.state.page_session(&id).filter(|session| now < session.expires_at.timestamp());
        let session = open.ok_or_else(page_session_fault)?;
        if !constant_time_eq(&session.secret_hash, &sha256_hex(secret)) {
            return Err(page_session_fault());
        }
        let token = access.state.get(&session.token_id).filter(|token| token.is_valid_at(now));
        let principal = match self.principal_from_token(token.ok_or_else(page_session_fault)?) {
            Principal::Owner => Principal::Owner,
            // Open streams end when the session or the token expires, whichever is first.
            Principal::Holder(holder) => {
                let ends = self.instant_of(session.expires_at.timestamp());
                Principal::Holder(Arc::new(Holder {
                    expires: Some(holder.expires.map_or(ends, |expires| expires.min(ends))),
                    session_end: self.revocations.signal(&id),
                    ..Holder::clone(&holder)
                }))
            }
        };
        Ok(Caller { principal, conversation: Conversation::None })
    }

    /// The page sessions that a caller may end: their own, and all of them for the owner. The newest first.
    pub(crate) async fn list_page_sessions(&self, caller: &Caller) -> Result<Vec<ListedPageSession>, Fault> {
        let (access, now) = (self.read_access_state().await?, self.clock.now());
        let open = access.state.page_sessions().filter(|session| now < session.expires_at.timestamp());
        let mut listed: Vec<ListedPageSession> = open
            .filter(|session| may_end(caller, session))
            .map(|session| ListedPageSession {
                id: session.id.clone(),
                token_id: session.token_id.clone(),
                name: access.state.get(&session.token_id).map(|token| token.name.clone()).unwrap_or_default(),
                browser: session.browser.clone(),
                started_at: session.started.at,
                expires_at: session.expires_at,
            })
            .collect();
        listed.sort_by_key(|session| std::cmp::Reverse(session.started_at));
        Ok(listed)
    }

    /// Signs a browser out. A session of somebody else looks as if it were not there.
    pub(crate) async fn end_page_session(&self, caller: &Caller, id: &str, program: &str) -> Result<(), Fault> {
        let missing = || {
            let fault =
                Fault::new(Code::NotFound, format!("there is no page session {:?}", crate::truncate_for_message(id)));
            fault.hint("the page lists those that you may end")
        };
        let access = self.read_access_state().await?;
        access.state.page_session(id).filter(|session| may_end(caller, session)).ok_or_else(missing)?;
        let end = AccessCommand::EndPageSession { session_id: id.to_owned(), program: program.to_owned() };
        match self.change_access(end, caller.id()).await {
            Ok(()) => Ok(()),
            Err(JournalFailure::Refused(_)) => Err(missing()),
            Err(failure) => Err(self.access_fault(failure)),
        }
    }
}

fn may_end(caller: &Caller, session: &PageSession) -> bool {
    caller.principal == Principal::Owner || session.token_id == caller.id()
}

/// The id of the session that a secret belongs to, to mark it in a list.
pub fn page_session_id(secret: &str) -> Option<String> {
    session_id(secret)
}

/// The fault of an engine that keeps no page sessions.
pub(crate) fn no_page_sessions_fault() -> Fault {
    Fault::new(Code::NotFound, "a bridge signs nobody in").hint("open the page of the server that keeps the world")
}
