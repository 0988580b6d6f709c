//! Who calls. A token that is sent must be right; without one the caller is the owner, where that is allowed.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use app::{Caller, Engine, Fault, Principal, bearer, is_forwarded, token_required, token_required_of_forwarded};
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use futures::future::BoxFuture;
use pin_project_lite::pin_project;
use tower_service::Service;

use crate::fault;
use crate::metering::{METRICS, Surface};
use crate::write_timeout::AnsweredToken;

/// Whose word is taken.
#[derive(Clone)]
pub struct Access {
    pub engine: Arc<dyn Engine>,
    /// Whether a request without a token is refused: wherever others than the owner can reach the server. One that a proxy
    /// passed on is refused everywhere.
    pub is_token_required: bool,
}

/// Puts the [`Caller`] into every request that needs one. A request without a token costs one header look-up.
#[derive(Clone)]
pub(crate) struct Identify<S> {
    inner: S,
    /// Without it nobody is asked who they are, and everybody is the owner.
    access: Option<Access>,
}

impl<S> Identify<S> {
    pub(crate) fn new(inner: S, access: Option<Access>) -> Self {
        Self { inner, access }
    }
}

/// Whether whoever asks must be known. Health and readiness are for everybody, and so is that something is not there.
fn is_for_the_known(path: &str) -> bool {
    Surface::of(path) != Surface::Other || path == METRICS
}

/// The token of a request, if it sends one.
fn token(headers: &HeaderMap) -> Option<Result<&str, Fault>> {
    bearer(headers.get_all(AUTHORIZATION).iter().map(|value| value.to_str().ok()))
}

impl<S> Service<Request> for Identify<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Identifying<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let access = self.access.as_ref().filter(|_| is_for_the_known(request.uri().path()));
        let Some(access) = access else { return Identifying::Known { answer: self.inner.call(request) } };
        let token = match token(request.headers()) {
            Some(Ok(token)) => token.to_owned(),
            Some(Err(fault)) => return Identifying::refused(request.uri().path(), &fault),
            None if access.is_token_required => {
                return Identifying::refused(request.uri().path(), &token_required());
            }
            None if is_forwarded(request.headers().keys().map(HeaderName::as_str)) => {
                return Identifying::refused(request.uri().path(), &token_required_of_forwarded());
            }
            None => {
                request.extensions_mut().insert(Caller::owner());
                return Identifying::Known { answer: self.inner.call(request) };
            }
        };
        let (mut inner, engine) = (self.inner.clone(), Arc::clone(&access.engine));
        std::mem::swap(&mut inner, &mut self.inner);
        let answer = async move {
            match engine.authenticate(&token).await {
                Ok(caller) => {
                    if let (Principal::Holder(holder), Some(token)) =
                        (&caller.principal, request.extensions().get::<AnsweredToken>())
                    {
                        token.set(Some(holder.revocation.clone()));
                    }
                    request.extensions_mut().insert(caller);
                    inner.call(request).await
                }
                Err(fault) => Ok(fault::response(request.uri().path(), &fault)),
            }
        };
        Identifying::Asking { answer: Box::pin(answer) }
    }
}

pin_project! {
    #[project = IdentifyingProjection]
    pub(crate) enum Identifying<F> {
        Known { #[pin] answer: F },
        Asking { answer: BoxFuture<'static, Result<Response, Infallible>> },
        Refused { response: Option<Box<Response>> },
    }
}

impl<F> Identifying<F> {
    fn refused(path: &str, fault: &Fault) -> Self {
        Self::Refused { response: Some(Box::new(fault::response(path, fault))) }
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for Identifying<F> {
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
