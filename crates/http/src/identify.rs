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
use skald_app::{Engine, Fault, Principal, caller_without_token, parse_bearer_token};
use tower_service::Service;

use crate::fault;
use crate::public_routes::is_public;
use crate::write_timeout::ConnectionRevocation;

/// Who checks tokens, and whether a token is required.
#[derive(Clone)]
pub struct Access {
    pub engine: Arc<dyn Engine>,
    /// Whether a request without a token is refused. Set wherever others than the owner can reach the server. A request
    /// that came through a proxy always needs a token.
    pub is_token_required: bool,
}

/// Puts the [`skald_app::Caller`] into every request except those for public routes. A request without a token costs
/// one header look-up.
#[derive(Clone)]
pub(crate) struct IdentifyHttp<S> {
    inner: S,
    access: Access,
}

impl<S> IdentifyHttp<S> {
    pub(crate) fn new(inner: S, access: Access) -> Self {
        Self { inner, access }
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
            Some(Err(fault)) => return IdentifyFuture::refuse(&request, &fault),
            None => {
                let names = request.headers().keys().map(HeaderName::as_str);
                match caller_without_token(self.access.is_token_required, names) {
                    Ok(caller) => request.extensions_mut().insert(caller),
                    Err(fault) => return IdentifyFuture::refuse(&request, &fault),
                };
                return IdentifyFuture::Known { answer: self.inner.call(request) };
            }
        };
        let (mut inner, engine) = (self.inner.clone(), Arc::clone(&self.access.engine));
        std::mem::swap(&mut inner, &mut self.inner);
        let answer = async move {
            match engine.authenticate(&token).await {
                Ok(caller) => {
                    if let (Principal::Holder(holder), Some(token)) =
                        (&caller.principal, request.extensions().get::<ConnectionRevocation>())
                    {
                        token.set(Some(holder.revocation.clone()));
                    }
                    request.extensions_mut().insert(caller);
                    inner.call(request).await
                }
                Err(fault) => Ok(fault::response(fault::fault_shape(request.extensions()), &fault)),
            }
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
    fn refuse(request: &Request, fault: &Fault) -> Self {
        let shape = fault::fault_shape(request.extensions());
        Self::Refused { response: Some(Box::new(fault::response(shape, fault))) }
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
