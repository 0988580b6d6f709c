//! The `Engine` trait, all that a surface sees of Skald: catalogue, calls, completions, changes, authentication.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use metrics::Counter;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::audit::AnsweredCall;
use crate::campaign_lookup::DocumentOwner;
use crate::journal_follower::{JournalFollower, RECORDS_PER_READ, announcements_of, place_at};
use crate::page_sessions::no_page_sessions_fault;
use crate::refused_entries::RefusedToken;
use crate::resource_changes::{Announcement, ChangeAudience, JournalPlace};
use crate::{
    Administration, Answer, App, Caller, CampaignEffect, Catalogue, ChangeReaders, Changes, Code, Completion,
    CompletionRequest, Conversation, Fault, Holder, LinkedLore, ListedPageSession, News, OperationEntry, Principal,
    PrincipalKind, RateAllowance, RateClass, RedeemedInvitation, RenderedJson, RequestOrigin, RequestSurface,
    ResourceChange, StartedPageSession, answer_bytes, completion, input_from_text,
};
use crate::{entered_campaign, invitations};
use skald_journal::{Cursor, Record, StoreError};

/// A completion of an argument, in the log and the audit log.
const COMPLETION: &str = "completion";
/// Who failed to come in, in the audit log.
const NOBODY: &str = "nobody";
/// The origin of a request of the page whose address is not passed on.
const ON_THE_PAGE: RequestOrigin = RequestOrigin { surface: RequestSurface::Page, address: None };
/// How long the follower of the journal waits after a failure.
const FOLLOW_RETRY_DELAY: Duration = Duration::from_millis(500);

/// One request in progress, which its sender can cancel.
#[derive(Debug, Clone, Default)]
pub struct RequestControl {
    pub cancelled: CancellationToken,
    /// A retry of the same request under this key gets the same answer.
    pub idempotency_key: Option<String>,
    /// The revision that the caller has read; another one is a conflict.
    pub expected_revision: Option<u64>,
    /// The surface that the request came by.
    pub surface: RequestSurface,
    /// Whether it reads a resource or is a `GET`: reads have a rate limit of their own.
    pub is_read: bool,
    /// Whether ids may not be replaced by names: fields of a URI are ids.
    pub takes_only_ids: bool,
    /// The revision of the stream after this operation, set by the operation: the caller can expect it in the next
    /// request without reading first.
    pub revision: OnceLock<u64>,
    /// The campaign that the caller entered, for the log and the audit.
    pub campaign_id: Arc<OnceLock<String>>,
    /// The lore that the caller entered, if it is linked to Kanka: the answer says how fresh it is.
    pub linked_lore: OnceLock<LinkedLore>,
}

impl RequestControl {
    /// Only the first call counts: an operation is about one stream.
    pub fn set_revision(&self, revision: u64) {
        let _ = self.revision.set(revision);
    }
}

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
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Answer, Fault>>;

    /// Like `answer`, as a JSON value.
    fn call<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
        input: Value,
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Box::pin(async move { self.answer(caller, operation, input, work).await.map(Answer::into_value) })
    }

    fn render<'a>(
        &'a self,
        caller: &'a Caller,
        prompt: &'a str,
        arguments: &'a [(String, String)],
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<String, Fault>>;

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CompletionRequest,
        work: &'a RequestControl,
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
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<ReadContents, Fault>> {
        Box::pin(async move {
            let (resource, fields) = self.catalogue().resolve(uri)?;
            let entry = self.catalogue().operation(resource.operation)?;
            let fields = fields.iter().map(|(name, text)| (*name, text.as_str()));
            let by_uri = RequestControl { takes_only_ids: true, is_read: true, ..work.clone() };
            let answer = self.answer(caller, entry.name, input_from_text(&entry.full_input, fields), &by_uri).await;
            if let Some(revision) = by_uri.revision.get() {
                work.set_revision(*revision);
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

/// The engine in this process.
pub struct LocalEngine {
    app: App,
    catalogue: Catalogue,
    answered: Vec<Counter>,
}

impl LocalEngine {
    pub fn new(app: App) -> Arc<Self> {
        let catalogue = Catalogue::from_nouns(&app.nouns);
        Self::with_catalogue(app, catalogue)
    }

    /// An engine with another catalogue, for tests.
    pub fn with_catalogue(app: App, catalogue: Catalogue) -> Arc<Self> {
        let answered = catalogue
            .operations()
            .iter()
            .map(|entry| metrics::counter!("skald_operations_total", "operation" => entry.name, "outcome" => "ok"))
            .collect();
        Arc::new(Self { app, catalogue, answered })
    }

    pub fn app(&self) -> &App {
        &self.app
    }

    /// The current end of the journal, where subscribers start; `None` if the store cannot be read.
    pub async fn journal_end(&self) -> Option<Cursor> {
        let end = self.app.journal.end_cursor().await.ok()?;
        self.start_broadcast_at(end).await.ok()?;
        Some(end)
    }

    async fn start_broadcast_at(&self, cursor: Cursor) -> Result<(), StoreError> {
        let place = place_at(&*self.app.journal, cursor).await?;
        self.app.change_broadcast.start_at(place);
        Ok(())
    }

    /// Publishes the changes of every record that is appended after a cursor, by any process. Runs until it is dropped.
    pub async fn follow(&self, from: Option<Cursor>) {
        tokio::join!(self.follow_journal(from), self.app.watch_files());
    }

    async fn follow_journal(&self, from: Option<Cursor>) {
        let journal = &self.app.journal;
        let mut wakes = journal.subscribe_appends();
        let mut cursor = from;
        loop {
            match self.publish_new_records(&mut cursor).await {
                Ok(()) => {
                    if wakes.changed().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "changes cannot be followed right now");
                    tokio::time::sleep(FOLLOW_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Publishes the changes of records appended since the cursor. Without one it starts at the end of the journal.
    async fn publish_new_records(&self, cursor: &mut Option<Cursor>) -> Result<(), StoreError> {
        let journal = &self.app.journal;
        let mut after = match *cursor {
            Some(cursor) => cursor,
            None => *cursor.insert(journal.end_cursor().await?),
        };
        if !self.app.change_broadcast.has_started() {
            self.start_broadcast_at(after).await?;
        }
        let states = self.app.campaign_states();
        loop {
            let records = journal.follow(after, RECORDS_PER_READ).await?;
            let is_last = records.len() < RECORDS_PER_READ;
            // Nouns update their own state before subscribers, who read it, are notified.
            for (_, record) in &records {
                self.app.wait_for_published_state(record).await?;
                self.app.nouns.iter().for_each(|noun| noun.record_appended(&self.app, record));
            }
            let all = announcements_of(&**journal, &self.app.nouns, &states, &records).await?;
            for ((place, record), announcement) in records.into_iter().zip(all) {
                if let Some(announcement) = announcement {
                    self.publish_campaign_effects(&record, &announcement);
                    self.app.change_broadcast.publish(announcement);
                }
                after = place;
                *cursor = Some(place);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Publishes changes in other nouns that follow from a record of a campaign.
    fn publish_campaign_effects(&self, record: &Record, announcement: &Announcement) {
        let (mut campaign, mut is_secret) = (None, true);
        for (_, audience) in announcement.changes.iter() {
            match audience {
                // If everybody may know of a part of it, whoever sees what follows may know of it.
                ChangeAudience::InCampaign(campaign_id) => (campaign, is_secret) = (Some(campaign_id), false),
                ChangeAudience::GameMastersAnd(campaign_id, _) => campaign = campaign.or(Some(campaign_id)),
                _ => {}
            }
        }
        let Some(campaign_id) = campaign else { return };
        let nouns = self.app.nouns.iter();
        let effects = nouns.flat_map(|noun| noun.changed_by_campaign(&self.app, record, campaign_id));
        let changes = effects.map(|CampaignEffect { change, created_by }| {
            let owner = DocumentOwner { campaign_id: Some(Arc::clone(campaign_id)), created_by };
            let game_masters = || ChangeReaders::GAME_MASTERS.audience_in(campaign_id);
            (change, if is_secret { game_masters() } else { ChangeAudience::RunReaders(owner) })
        });
        let changes: Arc<[_]> = changes.collect();
        if !changes.is_empty() {
            self.app.change_broadcast.publish(Announcement { changes, place: None });
        }
    }

    /// Publishes a change to all subscribers.
    pub fn publish(&self, change: ResourceChange) {
        self.app.publish_change(change, &ChangeAudience::Everybody);
    }

    async fn run(
        &self,
        entry: &OperationEntry,
        caller: &Caller,
        input: Value,
        work: &RequestControl,
    ) -> Result<Answer, Fault> {
        entry.check_scope(caller, &input)?;
        if !entry.allowed.admits(caller) {
            let sent = input.get("campaign_id").and_then(Value::as_str);
            if let Some(campaign_id) = sent.filter(|id| caller.has_own_role_in(id)) {
                let _ = work.campaign_id.set(campaign_id.to_owned());
            }
            return Err(Fault::new(Code::Forbidden, format!("{} is for {}", entry.name, entry.allowed.description())));
        }
        self.run_for(work, entry.call(&self.app, caller, work, input)).await
    }

    /// Runs a handler until the caller gives the request up, and records the campaign that it enters.
    async fn run_for<T>(
        &self,
        work: &RequestControl,
        handler: impl Future<Output = Result<T, Fault>> + Send,
    ) -> Result<T, Fault> {
        let run = self.catch_panic(entered_campaign::record_in(Arc::clone(&work.campaign_id), handler).boxed());
        tokio::select! {
            biased;
            answer = run => answer,
            () = work.cancelled.cancelled() => Err(Fault::new(Code::Unavailable, "the caller gave the request up")),
        }
    }

    pub(crate) fn note_answer(
        &self,
        operation: &str,
        caller: &Caller,
        work: &RequestControl,
        fault: Option<&Fault>,
        begun: Instant,
    ) {
        let outcome = fault.map_or("ok", |fault| fault.code().name());
        let request_id = fault.and_then(|fault| fault.body().request_id.as_deref());
        self.app.note_call(&AnsweredCall { operation, caller, work, outcome, request_id, begun });
    }

    /// Notes an attempt to come in that failed, without the secret that was tried: by a known token that is no longer
    /// valid, or by nobody known. Every attempt is counted in a metric; the log and the audit log have so many a minute.
    fn note_refused_entry(
        &self,
        operation: &'static str,
        origin: RequestOrigin,
        token_id: Option<&str>,
        fault: &Fault,
        begun: Instant,
    ) {
        let outcome = fault.code().name();
        let labels = [("operation", operation), ("outcome", outcome)];
        metrics::counter!("skald_entries_refused_total", &labels).increment(1);
        if !self.app.refused_entries.admit(operation, origin, token_id, self.app.clock.now()) {
            return;
        }
        tracing::info!(target: "skald::calls", operation, outcome, surface = origin.surface.as_str(), "refused");
        let who = token_id.unwrap_or(NOBODY);
        let refused = Holder::new(who, who, PrincipalKind::Human, BTreeMap::new());
        let caller = Caller { principal: Principal::Holder(Arc::new(refused)), conversation: Conversation::None };
        let work = RequestControl { surface: origin.surface, ..RequestControl::default() };
        self.note_answer(operation, &caller, &work, Some(fault), begun);
        log_internal_fault(operation, fault);
    }

    /// A panic in a handler is this request's failure, not the server's.
    pub(crate) async fn catch_panic<T>(&self, run: BoxFuture<'_, Result<T, Fault>>) -> Result<T, Fault> {
        let outcome = AssertUnwindSafe(run).catch_unwind().await;
        // The message of a panic may contain input, so it is dropped; the panic hook has logged the location.
        outcome.unwrap_or_else(|_| Err(Fault::internal("a panic", self.app.new_request_id())))
    }
}

impl Engine for LocalEngine {
    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn answer<'a>(
        &'a self,
        caller: &'a Caller,
        operation: &'a str,
        input: Value,
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Answer, Fault>> {
        Box::pin(async move {
            let at = self.catalogue.operation_index(operation)?;
            let (entry, answered) = (&self.catalogue.operations()[at], &self.answered[at]);
            let with_subjects = self.catalogue.with_subjects_of(&input);
            let begun = Instant::now();
            let class = RateClass::of_request(entry, work);
            let answer = match class.map_or(Ok(()), |class| self.check_rate(caller, class)) {
                Ok(()) => self.run(entry, caller, input, work).await.map_err(with_subjects),
                Err(fault) => Err(fault),
            };
            count_answer(entry, answered, &answer);
            self.note_answer(entry.name, caller, work, answer.as_ref().err(), begun);
            answer
        })
    }

    fn render<'a>(
        &'a self,
        caller: &'a Caller,
        prompt: &'a str,
        arguments: &'a [(String, String)],
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<String, Fault>> {
        Box::pin(async move {
            let entry = self.catalogue.prompt(prompt)?;
            let begun = Instant::now();
            let text = match self.check_rate(caller, RateClass::Call) {
                Ok(()) => self.run_for(work, entry.render(&self.app, caller, arguments)).await,
                Err(fault) => Err(fault),
            };
            self.note_answer(entry.name, caller, work, text.as_ref().err(), begun);
            text.inspect_err(|fault| log_internal_fault(entry.name, fault))
        })
    }

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CompletionRequest,
        work: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let complete = completion::complete(&self.app, &self.catalogue, caller, request);
            let completion = self.run_for(work, complete).await;
            self.note_answer(COMPLETION, caller, work, completion.as_ref().err(), begun);
            completion.inspect_err(|fault| log_internal_fault(COMPLETION, fault))
        })
    }

    fn changes<'a>(&'a self, _: &'a Caller, after: Option<&'a str>) -> BoxFuture<'a, Changes> {
        let (receiver, now) = self.app.change_broadcast.subscribe();
        let (journal, nouns) = (Arc::clone(&self.app.journal), self.app.nouns.clone());
        let states = self.app.campaign_states();
        let following = match after {
            None => JournalFollower::new(journal, nouns, states, now),
            Some(after) => JournalFollower::resume_after(journal, nouns, states, JournalPlace::parse(after), now),
        };
        Box::pin(ready(Changes::from_broadcast(receiver, following)))
    }

    fn can_subscribe<'a>(&'a self, caller: &'a Caller, uri: &'a str) -> BoxFuture<'a, bool> {
        Box::pin(async move { self.has_role_for(caller, uri) && self.app.can_see_run_at(caller, uri).await })
    }

    fn authenticate_request<'a>(
        &'a self,
        token: &'a str,
        origin: RequestOrigin,
    ) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let caller = self.catch_panic(Box::pin(async { Ok(self.app.authenticate(token).await) })).await;
            let caller = caller.unwrap_or_else(|fault| Err(fault.into()));
            caller.map_err(|RefusedToken { fault, token_id }| {
                let outcome = fault.code().name();
                metrics::counter!("skald_authentications_refused_total", "outcome" => outcome).increment(1);
                self.note_refused_entry("authenticate", origin, token_id.as_deref(), &fault, begun);
                fault
            })
        })
    }

    fn note_missing_token(&self, origin: RequestOrigin, fault: &Fault) {
        self.note_refused_entry("missing_token", origin, None, fault, Instant::now());
    }

    fn refresh_caller<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Caller, Fault>> {
        self.catch_panic(Box::pin(self.app.refresh_caller(caller))).boxed()
    }

    fn redeem_invitation<'a>(
        &'a self,
        code: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<RedeemedInvitation, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let redeemed = self.catch_panic(Box::pin(self.app.redeem_invitation(code, program))).await;
            let origin = RequestOrigin { surface: RequestSurface::Rest, address: None };
            redeemed.inspect_err(|fault| self.note_refused_entry("redeem_invitation", origin, None, fault, begun))
        })
    }

    fn start_page_session<'a>(
        &'a self,
        token: &'a str,
        browser: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<StartedPageSession, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let started = self.catch_panic(Box::pin(self.app.start_page_session(token, browser, program))).await;
            started.inspect_err(|fault| self.note_refused_entry("start_page_session", ON_THE_PAGE, None, fault, begun))
        })
    }

    fn authenticate_page_session<'a>(&'a self, secret: &'a str) -> BoxFuture<'a, Result<Caller, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let caller = self.catch_panic(Box::pin(self.app.authenticate_page_session(secret))).await;
            let operation = "authenticate_page_session";
            caller.inspect_err(|fault| self.note_refused_entry(operation, ON_THE_PAGE, None, fault, begun))
        })
    }

    fn list_page_sessions<'a>(&'a self, caller: &'a Caller) -> BoxFuture<'a, Result<Vec<ListedPageSession>, Fault>> {
        self.catch_panic(Box::pin(self.app.list_page_sessions(caller))).boxed()
    }

    fn caller_viewing_as<'a>(
        &'a self,
        caller: &'a Caller,
        campaign_id: &'a str,
        who: &'a str,
    ) -> BoxFuture<'a, Result<Caller, Fault>> {
        self.catch_panic(Box::pin(self.app.caller_viewing_as(caller, campaign_id, who))).boxed()
    }

    fn end_page_session<'a>(
        &'a self,
        caller: &'a Caller,
        session_id: &'a str,
        program: &'a str,
    ) -> BoxFuture<'a, Result<(), Fault>> {
        self.catch_panic(Box::pin(self.app.end_page_session(caller, session_id, program))).boxed()
    }

    fn take_rate(&self, caller: &Caller, class: RateClass) -> RateAllowance {
        match &caller.principal {
            Principal::Owner => RateAllowance::UNLIMITED,
            Principal::Holder(holder) => self.app.rate_limits.take(holder, class, self.app.clock.now()),
        }
    }

    fn administration(&self) -> Option<&dyn Administration> {
        Some(self)
    }

    fn end_session(&self, conversation: &Conversation) {
        self.app.remove_context(conversation);
    }
}

fn count_answer(entry: &OperationEntry, answered: &Counter, answer: &Result<Answer, Fault>) {
    match answer {
        Ok(_) => answered.increment(1),
        Err(fault) => {
            let code = fault.code().name();
            metrics::counter!("skald_operations_total", "operation" => entry.name, "outcome" => code).increment(1);
            log_internal_fault(entry.name, fault);
        }
    }
}

/// Logs the cause of an internal error, under the id that the caller was told; never input or output.
fn log_internal_fault(name: &str, fault: &Fault) {
    if let (Some(cause), Some(request_id)) = (fault.cause(), &fault.body().request_id) {
        tracing::error!(operation = name, request_id, cause, "an operation failed");
    }
}
