//! Memory budget of large gRPC messages: a request waits for room to be read, an answer for room to be written.
//!
//! In gRPC a message is one buffer that is not shared with other calls, so requests and answers are both counted.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures::StreamExt;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use skald_app::{Code, Fault, Reservation, limits, reserve_answer, reserve_bytes};
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::http::{Request, Response};
use tonic::codegen::{Body as HttpBody, Bytes};

/// The prefix of a gRPC message: a flag and the length.
const PREFIX_BYTES: usize = 5;
/// The method that carries inputs of any operation, as JSON. No other has use for a large message.
const GATEWAY_CALL_PATH: &str = "/skald.v1.Gateway/Call";
/// The path prefix of tonic's own services. Their messages are short, and a client may wait for an answer before it
/// sends a message.
const TONIC_SERVICES_PREFIX: &str = "/grpc.";
/// An answer is handed to the connection in pieces of this size, as the client takes them.
const PIECE_BYTES: usize = 65_536;
/// How long a client may take to receive a large answer.
const ANSWER_MAX: Duration = Duration::from_secs(limits::ANSWER_SECONDS);

/// Reads the length of a request's message and reserves memory if it is large. `None` if it is small.
pub(crate) async fn reserve_request(request: Request<Body>) -> Result<(Request<Body>, Option<Reservation>), Fault> {
    let path = request.uri().path();
    if path.starts_with(TONIC_SERVICES_PREFIX) {
        return Ok((request, None));
    }
    let most = if path == GATEWAY_CALL_PATH { limits::BODY_BYTES_MAX } else { limits::TYPED_MESSAGE_BYTES_MAX };
    let (parts, mut body) = request.into_parts();
    let Some(Ok(first)) = body.frame().await else {
        // The body is empty or the connection broke: the service that reads the body reports it.
        return Ok((Request::from_parts(parts, body), None));
    };
    // A length that is split over several frames counts as unknown, so the maximum is reserved.
    let length = first.data_ref().and_then(|data| data.get(1..PREFIX_BYTES)?.try_into().ok()).map(u32::from_be_bytes);
    let length = length.map(u64::from);
    if let Some(length) = length.filter(|length| *length > most as u64) {
        return Err(too_large_fault(length, most));
    }
    let is_small = length.is_some_and(|length| length <= limits::SMALL_BODY_BYTES_MAX as u64);
    let reserved = if is_small { None } else { Some(reserve_bytes(length).await?) };
    let frames = futures::stream::iter([Ok(first)]).chain(BodyStream::new(body));
    Ok((Request::from_parts(parts, Body::new(StreamBody::new(frames))), reserved))
}

fn too_large_fault(length: u64, most: usize) -> Fault {
    let message = format!("the message has {length} bytes, at most {most} are read");
    Fault::new(Code::TooLarge, message).hint("send less at once")
}

/// The reserved memory of a large answer, which the service puts into the extensions of its response.
#[derive(Clone)]
pub(crate) struct AnswerReservation {
    /// Held by the response until its body is made, and then by the body.
    _reserved: Arc<Reservation>,
}

impl AnswerReservation {
    /// Waits until memory for an answer is reserved. `None` if the answer is small.
    pub(crate) async fn reserve(length: usize) -> Result<Option<Self>, Fault> {
        if length <= limits::SMALL_BODY_BYTES_MAX {
            return Ok(None);
        }
        Ok(Some(Self { _reserved: Arc::new(reserve_answer(length).await?) }))
    }
}

/// Moves the reservation of a large answer into its body, which holds it until the client has received everything or
/// has taken too long.
pub(crate) fn hold_reservation(mut response: Response<Body>) -> Response<Body> {
    match response.extensions_mut().remove::<AnswerReservation>() {
        None => response,
        Some(room) => response.map(|body| Body::new(LargeAnswer::new(body, room, ANSWER_MAX))),
    }
}

/// The body of a large answer.
struct LargeAnswer(Arc<Mutex<Option<Unsent>>>);

struct Unsent {
    body: Body,
    /// The rest of the body's last frame.
    rest: Bytes,
    _room: AnswerReservation,
}

impl LargeAnswer {
    fn new(body: Body, room: AnswerReservation, most: Duration) -> Self {
        let unsent = Arc::new(Mutex::new(Some(Unsent { body, rest: Bytes::new(), _room: room })));
        let late = Arc::downgrade(&unsent);
        // If the client reads nothing, nobody polls the body, so a task of its own has to enforce the timeout.
        tokio::spawn(async move {
            tokio::time::sleep(most).await;
            if let Some(unsent) = late.upgrade() {
                lock(&unsent).take();
            }
        });
        Self(unsent)
    }
}

fn lock(unsent: &Mutex<Option<Unsent>>) -> MutexGuard<'_, Option<Unsent>> {
    unsent.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HttpBody for LargeAnswer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Status>>> {
        let mut unsent = lock(&self.0);
        let Some(Unsent { body, rest, .. }) = &mut *unsent else {
            return Poll::Ready(Some(Err(Status::deadline_exceeded("the client took too long for this answer"))));
        };
        if rest.is_empty() {
            match ready!(Pin::new(body).poll_frame(context)).transpose()? {
                Some(frame) => match frame.into_data() {
                    Ok(data) => *rest = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                None => return Poll::Ready(None),
            }
        }
        let piece = rest.split_to(rest.len().min(PIECE_BYTES));
        Poll::Ready(Some(Ok(http_body::Frame::data(piece))))
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::Full;

    use super::*;

    fn request(path: &str, length: usize, sent: usize) -> Request<Body> {
        let mut message = vec![0];
        message.extend_from_slice(&u32::try_from(length).expect("a length").to_be_bytes());
        message.resize(PREFIX_BYTES + length, b' ');
        message.truncate(sent);
        Request::builder().uri(path).body(Body::new(Full::from(message))).expect("a request")
    }

    async fn is_reserved(path: &str, length: usize) -> Result<bool, Fault> {
        let (request, reserved) = reserve_request(request(path, length, usize::MAX)).await?;
        let whole = request.into_body().collect().await.expect("a body").to_bytes();
        assert_eq!(whole.len(), PREFIX_BYTES + length, "nothing of it is lost");
        Ok(reserved.is_some())
    }

    #[tokio::test]
    async fn large_messages_are_counted_and_larger_ones_refused() {
        let (small, typed, most) =
            (limits::SMALL_BODY_BYTES_MAX, limits::TYPED_MESSAGE_BYTES_MAX, limits::BODY_BYTES_MAX);
        assert!(!is_reserved(GATEWAY_CALL_PATH, small).await.expect("it is read"));
        assert!(is_reserved(GATEWAY_CALL_PATH, small + 1).await.expect("it is read"));
        assert!(is_reserved(GATEWAY_CALL_PATH, most).await.expect("it is read"));
        assert_eq!(is_reserved(GATEWAY_CALL_PATH, most + 1).await.expect_err("one past").code(), Code::TooLarge);
        let other = "/daggerheart.CampaignService/CreateCampaign";
        assert!(is_reserved(other, typed).await.expect("it is read"));
        assert_eq!(is_reserved(other, typed + 1).await.expect_err("one past").code(), Code::TooLarge);
    }

    #[tokio::test]
    async fn a_length_that_comes_in_pieces_counts_as_the_largest() {
        let (_, reserved) = reserve_request(request(GATEWAY_CALL_PATH, 10, 3)).await.expect("it is read");
        assert!(reserved.is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_has_only_so_long_for_a_large_answer() {
        let first_frame_after = async |seconds: u64| {
            let room = AnswerReservation::reserve(1_000_000).await.expect("room").expect("it is large");
            let mut response = Response::new(Body::new(Full::from(vec![b'x'; PIECE_BYTES])));
            response.extensions_mut().insert(room);
            let mut body = hold_reservation(response).into_body();
            tokio::time::sleep(Duration::from_secs(seconds)).await;
            body.frame().await.expect("a frame")
        };
        assert!(first_frame_after(limits::ANSWER_SECONDS - 1).await.is_ok());
        let late = first_frame_after(limits::ANSWER_SECONDS + 1).await.expect_err("the time is up");
        assert_eq!(late.code(), tonic::Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn a_large_answer_comes_in_pieces_until_its_time_is_up() {
        let room = || async { AnswerReservation::reserve(1_000_000).await.expect("room").expect("it is large") };
        let body = || Body::new(Full::from(vec![b'x'; 3 * PIECE_BYTES]));
        let whole = LargeAnswer::new(body(), room().await, ANSWER_MAX).collect().await.expect("all of it").to_bytes();
        assert_eq!(whole.len(), 3 * PIECE_BYTES);

        let mut slow = LargeAnswer::new(body(), room().await, Duration::from_millis(50));
        let unsent = Arc::downgrade(&slow.0);
        let first = slow.frame().await.expect("a frame").expect("data").into_data().expect("data");
        assert_eq!(first.len(), PIECE_BYTES);
        while unsent.upgrade().is_some_and(|unsent| lock(&unsent).is_some()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let late = slow.frame().await.expect("a frame").expect_err("the time is up");
        assert_eq!(late.code(), tonic::Code::DeadlineExceeded);
    }
}
