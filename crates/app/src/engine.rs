//! The `Engine` trait, all that a surface sees of Skald: catalogue, calls, completions, changes, authentication.

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use serde_json::Value;

use crate::tokens::invitations;
use crate::tokens::page_sessions::no_page_sessions_fault;
use crate::{
    Administration, Answer, Caller, Catalogue, Changes, Completion, CompletionRequest, Conversation, Fault,
    ListedPageSession, News, RateAllowance, RateClass, RedeemedInvitation, RenderedJson, RequestControl, RequestOrigin,
    StartedPageSession, answer_bytes, input_from_text,
};

/// The contents of a resource.
#[derive(Debug, Clone)]
pub struct ReadContents {
    pub mime_type: &'static str,
    pub text: ContentsText,
}

#[derive(Debug, Clone)]
pub enum ContentsText {
    Text(String),
    /// Cached JSON: a surface sends its pieces, which are shared between readers.
    Prepared(RenderedJson),
}

impl ReadContents {
    /// Bytes of the text.
    pub fn text_len(&self) -> usize {
        match &self.text {
            ContentsText::Text(text) => text.len(),
            ContentsText::Prepared(prepared) => prepared.json_len(),
        }
    }

    /// The text as one string. A document in several pieces is copied.
    pub fn into_text(self) -> String {
        match self.text {
            ContentsText::Text(text) => text,
            ContentsText::Prepared(prepared) => Answer::Prepared(prepared).into_text(),
        }
    }
}

/// The system behind a surface. Object-safe, so that a surface works with the engine in this process or a remote one.
pub trait Engine: Send + Sync + 'static {
    fn catalogue(&self) -> &Catalogue;

    fn answer<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
        input: Value,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Answer, Fault>>;

    /// Like `answer`, as a JSON value.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
        input: Value,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move { self.answer(caller, operation, input, control).await.map(Answer::into_value) })
    }

    fn render<'a>(
        &'a self,
        caller: &'a Caller,
        prompt: &'a str,
        arguments: &'a [(String, String)],
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<String, Fault>>;

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CompletionRequest,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Completion, Fault>>;

    /// Changes from now on, or after a journal place from earlier news, restricted to what this caller may know.
    fn changes<'a>(&'a self, caller: &'a Caller, after: Option<&'a str>) -> BoxFuture<'a, Changes>;

    /// The caller that a token belongs to.
    fn authenticate<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Caller, Fault>> {
        self.authenticate_request(token, RequestOrigin::default())
    }

    /// The caller that the token of a request belongs to. A refused token is noted in the audit log.
    fn authenticate_request<'a>(
        &'a self,
        token: &'a str,
        origin: RequestOrigin,
    ) -> BoxFuture<'a, Result<Caller, Fault>>;

    /// Notes a request that was refused because it has no token, or none that can be read. A bridge has no audit log.
    fn note_missing_token(&self, _origin: RequestOrigin, _fault: &Fault) {}

    /// Reads a known caller again, with the roles given since; UNAUTHORIZED if the token was revoked.
    fn refresh_caller<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Caller, Fault>>;

    /// Counts a request that is not a call of an operation, such as a list of the protocol, or refuses it. A bridge lets
    /// the server count.
    fn check_rate(&self, caller: &Caller, class: RateClass) -> Result<(), Fault> {
        self.take_rate(caller, class).check(class)
    }

    /// Counts a request that is not a call of an operation, and says what is left.
    fn take_rate(&self, _caller: &Caller, _class: RateClass) -> RateAllowance {
        RateAllowance::UNLIMITED
    }

    /// Redeems the code of an invitation for a token. `program` is recorded as the source.
    fn redeem_invitation<'a>(
        &'a self,
        _code: &'a str,
        _program: &'a str,
    ) -> BoxFuture<'a, Result<RedeemedInvitation, Fault>> {
        invitations::no_invitations_here()
    }

    /// Signs a browser in to the page with a token. `browser` is what it says that it is.
    fn start_page_session<'a>(
        &'a self,
        _token: &'a str,
        _browser: &'a str,
        _program: &'a str,
    ) -> BoxFuture<'a, Result<StartedPageSession, Fault>> {
        Box::pin(ready(Err(no_page_sessions_fault())))
    }

    /// The caller that the secret of a page session belongs to.
    fn authenticate_page_session<'a>(&'a self, _secret: &'a str) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(ready(Err(no_page_sessions_fault())))
    }

    /// The page sessions that a caller may end.
    fn list_page_sessions<'a>(&'a self, _caller: &'a Caller) -> BoxFuture<'a, Result<Vec<ListedPageSession>, Fault>> {
        Box::pin(ready(Err(no_page_sessions_fault())))
    }

    /// Signs a browser out.
    fn end_page_session<'a>(
        &'a self,
        _caller: &'a Caller,
        _session_id: &'a str,
        _program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(ready(Err(no_page_sessions_fault())))
    }

    /// The caller who sees a campaign as somebody else does: a participant, an actor, `player` or `guest`. For game masters.
    fn caller_viewing_as<'a>(
        &'a self,
        _caller: &'a Caller,
        _campaign_id: &'a str,
        _who: &'a str,
    ) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(ready(Err(no_page_sessions_fault())))
    }

    /// The tasks of the store's owner; `None` where the store is elsewhere.
    fn administration(&self) -> Option<&dyn Administration> {
        None
    }

    /// Drops what was stored for a conversation that has ended.
    fn end_session(&self, conversation: &Conversation);

    /// Whether a caller may subscribe to changes of a resource. One that they may not see is answered as one that is not
    /// there.
    fn can_subscribe<'a>(&'a self, caller: &'a Caller, uri: &'a str) -> BoxFuture<'a, bool> {
        ready(self.has_role_for(caller, uri)).boxed()
    }

    /// Whether there is such a resource, and the caller has a role in the campaign that its URI names.
    fn has_role_for(&self, caller: &Caller, uri: &str) -> bool {
        self.catalogue().resolve(uri).is_ok_and(|(_, fields)| {
            let campaign = fields.iter().find(|(name, _)| *name == "campaign_id");
            campaign.is_none_or(|(_, id)| caller.role_in(id).is_some())
        })
    }

    /// Whether the news announce a change, visible to this caller, of the resource or of the resource that contains it.
    fn is_changed(&self, news: &News, caller: &Caller, uri: &str) -> bool {
        news.concerns(caller, uri)
            || self.catalogue().containing_resource(uri).is_some_and(|containing| news.concerns(caller, &containing))
    }

    /// Reads a resource: its operation, called with the fields of the URI.
    fn read<'a>(
        &'a self,
        caller: &'a Caller,
        uri: &'a str,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<ReadContents, Fault>> {
        Box::pin(async move {
            let (resource, fields) = self.catalogue().resolve(uri)?;
            let entry = self.catalogue().operation(resource.operation)?;
            let fields = fields.iter().map(|(name, text)| (*name, text.as_str()));
            let by_uri = RequestControl { takes_only_ids: true, is_read: true, ..control.clone() };
            let answer = self.answer(caller, entry.name, input_from_text(&entry.full_input, fields), &by_uri).await;
            if let Some(revision) = by_uri.revision.get() {
                control.set_revision(*revision);
            }
            let answer = answer?;
            Ok(ReadContents { mime_type: resource.mime_type, text: contents_text(answer, resource.mime_type) })
        })
    }
}

/// An answer as the contents of a resource. Bytes that are not UTF-8 become an empty text.
fn contents_text(answer: Answer, mime_type: &str) -> ContentsText {
    match answer {
        Answer::Prepared(prepared) => ContentsText::Prepared(prepared),
        answer @ (Answer::Value(_) | Answer::Object(_) | Answer::Feed(_)) => {
            ContentsText::Text(String::from_utf8(answer_bytes(answer, mime_type).concat()).unwrap_or_default())
        }
    }
}
