//! The engine in this process: checks who may call, runs operations, and notes each call for the rate limits, the metrics
//! and the audit.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use metrics::Counter;
use serde_json::Value;

use crate::audit::AnsweredCall;
use crate::entered_campaign;
use crate::journal_follower::JournalFollower;
use crate::refused_entries::RefusedToken;
use crate::resource_changes::JournalPlace;
use crate::{
    Administration, Answer, App, Caller, Catalogue, Changes, Code, Completion, CompletionRequest, Conversation, Engine,
    Fault, Holder, ListedPageSession, OperationEntry, Principal, PrincipalKind, RateAllowance, RateClass,
    RedeemedInvitation, RequestControl, RequestOrigin, RequestSurface, StartedPageSession, completion,
};

/// A completion of an argument, in the log and the audit log.
const COMPLETION: &str = "completion";
/// Who failed to come in, in the audit log.
const NOBODY: &str = "nobody";
/// The origin of a request of the page whose address is not passed on.
const ON_THE_PAGE: RequestOrigin = RequestOrigin { surface: RequestSurface::Page, address: None };

/// The engine in this process.
pub struct LocalEngine {
    pub(crate) app: App,
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

    async fn run(
        &self,
        entry: &OperationEntry,
        caller: &Caller,
        input: Value,
        control: &RequestControl,
    ) -> Result<Answer, Fault> {
        entry.check_scope(caller, &input)?;
        if !entry.allowed.admits(caller) {
            let sent = input.get("campaign_id").and_then(Value::as_str);
            if let Some(campaign_id) = sent.filter(|id| caller.has_own_role_in(id)) {
                let _ = control.campaign_id.set(campaign_id.to_owned());
            }
            return Err(Fault::new(Code::Forbidden, format!("{} is for {}", entry.name, entry.allowed.description())));
        }
        self.run_for(control, entry.call(&self.app, caller, control, input)).await
    }

    /// Runs a handler until the caller gives the request up, and records the campaign that it enters.
    async fn run_for<T>(
        &self,
        control: &RequestControl,
        handler: impl Future<Output = Result<T, Fault>> + Send,
    ) -> Result<T, Fault> {
        let run = self.catch_panic(entered_campaign::record_in(Arc::clone(&control.campaign_id), handler).boxed());
        tokio::select! {
            biased;
            answer = run => answer,
            () = control.cancelled.cancelled() => Err(Fault::new(Code::Unavailable, "the caller gave the request up")),
        }
    }

    pub(crate) fn note_answer(
        &self,
        operation: &str,
        caller: &Caller,
        control: &RequestControl,
        fault: Option<&Fault>,
        begun: Instant,
    ) {
        let outcome = fault.map_or("ok", |fault| fault.code().name());
        let request_id = fault.and_then(|fault| fault.body().request_id.as_deref());
        self.app.note_call(&AnsweredCall { operation, caller, control, outcome, request_id, begun });
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
        let control = RequestControl { surface: origin.surface, ..RequestControl::default() };
        self.note_answer(operation, &caller, &control, Some(fault), begun);
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
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Answer, Fault>> {
        Box::pin(async move {
            let at = self.catalogue.operation_index(operation)?;
            let (entry, answered) = (&self.catalogue.operations()[at], &self.answered[at]);
            let with_subjects = self.catalogue.with_subjects_of(&input);
            let begun = Instant::now();
            let class = RateClass::of_request(entry, control);
            let answer = match class.map_or(Ok(()), |class| self.check_rate(caller, class)) {
                Ok(()) => self.run(entry, caller, input, control).await.map_err(with_subjects),
                Err(fault) => Err(fault),
            };
            count_answer(entry, answered, &answer);
            self.note_answer(entry.name, caller, control, answer.as_ref().err(), begun);
            answer
        })
    }

    fn render<'a>(
        &'a self,
        caller: &'a Caller,
        prompt: &'a str,
        arguments: &'a [(String, String)],
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<String, Fault>> {
        Box::pin(async move {
            let entry = self.catalogue.prompt(prompt)?;
            let begun = Instant::now();
            let text = match self.check_rate(caller, RateClass::Call) {
                Ok(()) => self.run_for(control, entry.render(&self.app, caller, arguments)).await,
                Err(fault) => Err(fault),
            };
            self.note_answer(entry.name, caller, control, text.as_ref().err(), begun);
            text.inspect_err(|fault| log_internal_fault(entry.name, fault))
        })
    }

    fn complete<'a>(
        &'a self,
        caller: &'a Caller,
        request: &'a CompletionRequest,
        control: &'a RequestControl,
    ) -> BoxFuture<'a, Result<Completion, Fault>> {
        Box::pin(async move {
            let begun = Instant::now();
            let complete = completion::complete(&self.app, &self.catalogue, caller, request);
            let completion = self.run_for(control, complete).await;
            self.note_answer(COMPLETION, caller, control, completion.as_ref().err(), begun);
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
