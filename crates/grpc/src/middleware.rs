//! Middleware of all gRPC services: enforces deadlines, limits memory for large messages, and answers after panics.

use std::convert::Infallible;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::BoxFuture;
use skald_app::{Code, Fault, LargeRequests};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{HeaderMap, Request, Response};
use tower_layer::Layer;
use tower_service::Service;

use crate::{fault, message_budget};

const DEADLINE: &str = "grpc-timeout";
/// The gRPC protocol allows no more.
const DEADLINE_DIGITS_MAX: usize = 8;
/// tonic also ends a request at its deadline, but with the status `Cancelled`: this middleware ends it slightly earlier
/// with `DeadlineExceeded`.
const DEADLINE_MARGIN: Duration = Duration::from_millis(2);

/// The message for a call that panicked.
const PANIC_MESSAGE: &str = "the server failed on this request";

#[derive(Clone)]
pub(crate) struct RequestLimitsLayer {
    pub large: LargeRequests,
}

impl<S> Layer<S> for RequestLimitsLayer {
    type Service = RequestLimits<S>;

    fn layer(&self, inner: S) -> RequestLimits<S> {
        RequestLimits { inner, large: self.large.clone() }
    }
}

#[derive(Clone)]
pub(crate) struct RequestLimits<S> {
    inner: S,
    large: LargeRequests,
}

impl<S> Service<Request<Body>> for RequestLimits<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let deadline = deadline(request.headers());
        let large = self.large.clone();
        // Call the instance that `poll_ready` found ready, and leave the clone for the next request.
        let next = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, next);
        Box::pin(async move {
            let answer = async {
                match message_budget::reserve_request(request).await {
                    Ok((request, None)) => inner.call(request).await,
                    Ok((request, Some(reserved))) => {
                        let call = async move {
                            // Reserved as long as the message exists, even if the client does not wait for the answer.
                            let _reserved = reserved;
                            inner.call(request).await
                        };
                        let failed = || Ok(fault::status(&Fault::new(Code::InternalError, PANIC_MESSAGE)).into_http());
                        large.run(call).await.unwrap_or_else(failed)
                    }
                    Err(fault) => Ok(fault::status(&fault).into_http()),
                }
            };
            let answer = match deadline {
                None => answer.await,
                Some(deadline) => match tokio::time::timeout(deadline, answer).await {
                    Ok(answer) => answer,
                    Err(_) => {
                        return Ok(Status::deadline_exceeded("the deadline of the request has passed").into_http());
                    }
                },
            };
            answer.map(message_budget::hold_reservation)
        })
    }
}

/// The deadline of a request from its `grpc-timeout` header: up to eight digits and a unit.
fn deadline(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(DEADLINE)?.to_str().ok()?;
    let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if number.len() > DEADLINE_DIGITS_MAX {
        return None;
    }
    let number: u64 = number.parse().ok()?;
    let deadline = match unit {
        "H" => Duration::from_hours(number),
        "M" => Duration::from_mins(number),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    };
    Some(deadline.saturating_sub(DEADLINE_MARGIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A service that never answers.
    #[derive(Clone)]
    struct Silent;

    impl Service<Request<Body>> for Silent {
        type Response = Response<Body>;
        type Error = Infallible;
        type Future = std::future::Pending<Result<Response<Body>, Infallible>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, _: Request<Body>) -> Self::Future {
            std::future::pending()
        }
    }

    #[test]
    fn a_deadline_that_has_passed_is_called_so() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let request = Request::builder().header(DEADLINE, "20m").body(Body::empty()).unwrap();
        let answer = runtime.block_on(async {
            let large = LargeRequests::start().unwrap();
            RequestLimitsLayer { large }.layer(Silent).call(request).await
        });
        let status = Status::from_header_map(answer.unwrap().headers()).unwrap();
        assert_eq!(status.code(), tonic::Code::DeadlineExceeded);
    }

    #[test]
    fn deadlines_are_read() {
        let read = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(DEADLINE, text.parse().unwrap());
            deadline(&headers)
        };
        assert_eq!(read("5S"), Some(Duration::from_millis(4_998)));
        assert_eq!(read("100m"), Some(Duration::from_millis(98)));
        assert_eq!(read("99999999H"), Some(Duration::from_hours(99_999_999).saturating_sub(DEADLINE_MARGIN)));
        assert_eq!(read("1n"), Some(Duration::ZERO));
        for nonsense in ["", "S", "5", "-5S", "5s", "é", "123456789H"] {
            let mut headers = HeaderMap::new();
            headers.insert(DEADLINE, nonsense.as_bytes().try_into().unwrap());
            assert_eq!(deadline(&headers), None, "{nonsense}");
        }
    }
}
