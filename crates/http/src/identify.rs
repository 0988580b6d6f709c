//! Middleware that identifies the caller by its token. Without a token the caller is the owner, where that is allowed.
//! Only public routes are reached without a [`skald_app::Caller`].

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use futures::future::BoxFuture;
use pin_project_lite::pin_project;
use skald_app::{
    Caller, Engine, Fault, Principal, RequestOrigin, RequestSurface, caller_without_token, parse_bearer_token,
};
use tower_service::Service;

use crate::connections::ClientAddress;
use crate::mounted_routes::{Section, section_of};
use crate::page_routes::{PageHooks, refuse};
use crate::protected_resource::ProtectedResource;
use crate::public_routes::is_public;
use crate::write_timeout::ConnectionRevocation;

/// Who checks tokens, and whether a token is required.
#[derive(Clone)]
pub struct Access {
    pub engine: Arc<dyn Engine>,
    /// Whether a request without a token is refused. Set wherever others than the owner can reach the server. A request
    /// that came through a proxy always needs a token.
    pub is_token_required: bool,
    /// This server as an authorization server knows it, if there is one.
    pub protected_resource: Option<Arc<ProtectedResource>>,
}

/// Puts the [`skald_app::Caller`] into every request except those for public routes. A request without a token costs
/// one header look-up.
#[derive(Clone)]
pub(crate) struct IdentifyHttp<S> {
    inner: S,
    access: Access,
    /// The surfaces by path, for the audit of requests that are refused.
    sections: Arc<[Section]>,
}

impl<S> IdentifyHttp<S> {
    pub(crate) fn new(inner: S, access: Access, sections: Arc<[Section]>) -> Self {
        Self { inner, access, sections }
    }

    fn origin(&self, request: &Request) -> RequestOrigin {
        let section = section_of(&self.sections, request.uri().path());
        let surface = match section.map(|section| section.surface.as_str()) {
            Some("mcp") => RequestSurface::Mcp,
            Some("page") => RequestSurface::Page,
            Some("kanka") => RequestSurface::Kanka,
            _ => RequestSurface::Rest,
        };
        let address = request.extensions().get::<ClientAddress>().map(|ClientAddress(address)| *address);
        RequestOrigin { surface, address }
    }

    /// Refuses a request without a token that can be read.
    fn refuse_without_token<F>(&self, request: &Request, fault: &Fault) -> IdentifyFuture<F> {
        self.access.engine.note_missing_token(self.origin(request), fault);
        IdentifyFuture::refuse(&self.access, request, fault)
    }
}

/// The secret of the page session that a browser sends. Only the page takes it.
fn page_session(request: &Request) -> Option<&str> {
    let hooks = request.extensions().get::<PageHooks>()?;
    (hooks.session_secret)(request.headers())
}

fn insert_caller(request: &mut Request, caller: Caller) {
    if let (Principal::Holder(holder), Some(token)) =
        (&caller.principal, request.extensions().get::<ConnectionRevocation>())
    {
        token.set(Some(holder.revocation.clone()));
    }
    request.extensions_mut().insert(caller);
}

impl<S> IdentifyHttp<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    fn identify_page_session(&mut self, mut request: Request) -> IdentifyFuture<S::Future> {
        let secret = page_session(&request).unwrap_or_default().to_owned();
        let (mut inner, engine) = (self.inner.clone(), Arc::clone(&self.access.engine));
        std::mem::swap(&mut inner, &mut self.inner);
        let answer = async move {
            match engine.authenticate_page_session(&secret).await {
                Ok(caller) => {
                    insert_caller(&mut request, caller);
                    inner.call(request).await
                }
                Err(fault) => Ok(refuse(&request, &fault)),
            }
        };
        IdentifyFuture::Asking { answer: Box::pin(answer) }
    }
}

/// The token of a request, if it sends one.
fn request_token(headers: &HeaderMap) -> Option<Result<&str, Fault>> {
    parse_bearer_token(headers.get_all(AUTHORIZATION).iter().map(|value| value.to_str().ok()))
}

impl<S> Service<Request> for IdentifyHttp<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = IdentifyFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        if is_public(request.method(), request.uri().path()) {
            return IdentifyFuture::Known { answer: self.inner.call(request) };
        }
        let token = match request_token(request.headers()) {
            Some(Ok(token)) => token.to_owned(),
            Some(Err(fault)) => return self.refuse_without_token(&request, &fault),
            None if page_session(&request).is_some() => return self.identify_page_session(request),
            None => {
                let names = request.headers().keys().map(HeaderName::as_str);
                match caller_without_token(self.access.is_token_required, names) {
                    Ok(caller) => request.extensions_mut().insert(caller),
                    Err(fault) => return self.refuse_without_token(&request, &fault),
                };
                return IdentifyFuture::Known { answer: self.inner.call(request) };
            }
        };
        let origin = self.origin(&request);
        let (mut inner, engine) = (self.inner.clone(), Arc::clone(&self.access.engine));
        std::mem::swap(&mut inner, &mut self.inner);
        let challenge =
            self.access.protected_resource.clone().map(|resource| (resource, request.uri().path().to_owned()));
        let answer = async move {
            let answer = match engine.authenticate_request(&token, origin).await {
                Ok(caller) => {
                    insert_caller(&mut request, caller);
                    inner.call(request).await
                }
                Err(fault) => Ok(refuse(&request, &fault)),
            };
            answer.map(|mut response: Response| {
                if let Some((resource, path)) = challenge {
                    resource.complete_challenge(&mut response, &path, true);
                }
                response
            })
        };
        IdentifyFuture::Asking { answer: Box::pin(answer) }
    }
}

pin_project! {
    #[project = IdentifyingProjection]
    pub(crate) enum IdentifyFuture<F> {
        Known { #[pin] answer: F },
        Asking { answer: BoxFuture<'static, Result<Response, Infallible>> },
        Refused { response: Option<Box<Response>> },
    }
}

impl<F> IdentifyFuture<F> {
    fn refuse(access: &Access, request: &Request, fault: &Fault) -> Self {
        let mut response = refuse(request, fault);
        if let Some(resource) = &access.protected_resource {
            let is_token_sent = request.headers().contains_key(AUTHORIZATION);
            resource.complete_challenge(&mut response, request.uri().path(), is_token_sent);
        }
        Self::Refused { response: Some(Box::new(response)) }
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for IdentifyFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            IdentifyingProjection::Known { answer } => answer.poll(context),
            IdentifyingProjection::Asking { answer } => answer.as_mut().poll(context),
            IdentifyingProjection::Refused { response } => {
                Poll::Ready(Ok(*response.take().expect("a future is polled until it is ready")))
            }
        }
    }
}
