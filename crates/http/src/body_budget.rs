//! Middleware that holds large requests back until there is memory for them, and parses them on a separate thread. A
//! small request, which is almost every one, is passed on unchanged.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::response::Response;
use futures::future::BoxFuture;
use http_body_util::LengthLimitError;
use pin_project_lite::pin_project;
use skald_app::{Code, Fault, LargeRequests, limits, reserve_bytes, reserve_values};
use tower_service::Service;

use crate::fault;

#[derive(Clone)]
pub(crate) struct BodyBudget<S> {
    inner: S,
    large: LargeRequests,
}

impl<S> BodyBudget<S> {
    pub(crate) fn new(inner: S, large: LargeRequests) -> Self {
        Self { inner, large }
    }
}

impl<S> Service<Request> for BodyBudget<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BodyBudgetFuture<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let length = request.body().size_hint().exact();
        let is_refused_anyway = length.is_some_and(|length| length > limits::BODY_BYTES_MAX as u64);
        if is_refused_anyway || length.is_some_and(|length| length <= limits::SMALL_BODY_BYTES_MAX as u64) {
            return BodyBudgetFuture::Small { answer: self.inner.call(request) };
        }
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        let (shape, large) = (fault::fault_shape(request.extensions()), self.large.clone());
        let answer = async move {
            let answered = async {
                let (parts, body) = request.into_parts();
                let bytes = reserve_bytes(length).await?;
                let body = read_bytes(body).await?;
                let call = async move {
                    // Both permits live as long as the body and its parsed values, even if the client has left.
                    let (_bytes, _values) = (bytes, reserve_values(&body).await?);
                    Ok(inner.call(Request::from_parts(parts, body.into())).await)
                };
                large
                    .run(call)
                    .await
                    .unwrap_or_else(|| Err(Fault::new(Code::InternalError, "the server failed on this request")))
            };
            answered.await.unwrap_or_else(|fault| Ok(fault::response(shape, &fault)))
        };
        BodyBudgetFuture::Large { answer: Box::pin(answer) }
    }
}

/// Reads a body, within the limits of size and time.
pub(crate) async fn read_bytes(body: Body) -> Result<Bytes, Fault> {
    let limit = Duration::from_secs(limits::BODY_READ_SECONDS);
    let read = tokio::time::timeout(limit, to_bytes(body, limits::BODY_BYTES_MAX)).await.map_err(|_| {
        let message = format!("the body did not come within {} seconds", limits::BODY_READ_SECONDS);
        Fault::new(Code::InvalidParams, message)
    })?;
    read.map_err(|error| {
        let mut cause: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = cause {
            if error.is::<LengthLimitError>() {
                let message = format!("the body is larger than {} bytes", limits::BODY_BYTES_MAX);
                return Fault::new(Code::TooLarge, message);
            }
            cause = error.source();
        }
        Fault::new(Code::InvalidParams, "the body could not be read")
    })
}

pin_project! {
    #[project = BudgetedProjection]
    pub(crate) enum BodyBudgetFuture<F> {
        Small { #[pin] answer: F },
        Large { answer: BoxFuture<'static, Result<Response, Infallible>> },
    }
}

impl<F: Future<Output = Result<Response, Infallible>>> Future for BodyBudgetFuture<F> {
    type Output = Result<Response, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            BudgetedProjection::Small { answer } => answer.poll(context),
            BudgetedProjection::Large { answer } => answer.as_mut().poll(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_body_must_come_in_time() {
        let body_after = |seconds: u64| {
            Body::from_stream(futures::stream::once(async move {
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                Ok::<_, Infallible>("late")
            }))
        };
        assert_eq!(read_bytes(body_after(limits::BODY_READ_SECONDS - 1)).await.expect("in time"), "late");
        let began = Instant::now();
        let refused = read_bytes(body_after(limits::BODY_READ_SECONDS + 1)).await.expect_err("too late");
        assert_eq!(refused.code(), Code::InvalidParams);
        assert_eq!(began.elapsed().as_secs(), limits::BODY_READ_SECONDS);
    }
}
