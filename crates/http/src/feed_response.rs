//! A feed as server-sent events.
//!
//! `app` renders the JSON of an event once for all readers. This file adds heartbeats, checks whether the caller may
//! still read, and ends the stream when the token is revoked or the server stops.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{once, unfold};
use skald_app::{Caller, Code, Engine, Fault, Feed, FeedItem, Principal};

use crate::routes::Rest;
use crate::sse::{FIRST_BYTES, HEARTBEAT, encode};

/// Bytes handed to the connection at once. These are sent even if the token is revoked meanwhile.
const PIECE_BYTES_MAX: usize = 64 * 1024;
/// The message of the last event after a revocation.
const REVOKED: &str = "the token was revoked, or may not read this universe any more";
/// A standard header that the `http` crate has no constant for.
const LAST_EVENT_ID: &str = "last-event-id";
/// The input field for the header. A page cannot set headers on its first request, so the query may have it too.
pub(crate) const LAST_EVENT_ID_FIELD: &str = "lastEventId";

/// Events as they happen, until the feed ends, the caller may not read on, or the server stops.
pub(crate) fn response(rest: &Rest, caller: Caller, feed: Feed) -> Response {
    let reading =
        FeedStream { feed, caller, engine: Arc::clone(&rest.engine), unsent: VecDeque::new(), is_over: false };
    let events = unfold(reading, async |mut reading| reading.next().await.map(|bytes| (bytes, reading)));
    let bytes = once(async { Bytes::from_static(FIRST_BYTES) }).chain(events).map(Ok::<_, Infallible>);
    let mut response = Response::new(Body::from_stream(bytes.take_until(rest.readiness.wait_until_stopped())));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // A proxy that buffers answers would never pass on an endless one.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

/// The id of the last event that the client has, from the header. The header wins over the query: a browser reconnects
/// with the first URL but a newer header. An empty header counts as none.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<String>, Fault> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let text = value.to_str().map_err(|_| {
        let fault = Fault::new(Code::InvalidParams, "the header last-event-id is not the id of an event");
        fault.hint("send the id of the last event that came")
    })?;
    Ok(Some(text.to_owned()).filter(|text| !text.is_empty()))
}

/// The state of a reader's stream.
struct FeedStream {
    feed: Feed,
    caller: Caller,
    engine: Arc<dyn Engine>,
    /// Encoded bytes that are not sent yet.
    unsent: VecDeque<Bytes>,
    is_over: bool,
}

impl FeedStream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let revoked = self.caller.wait_for_revocation();
        tokio::select! {
            biased;
            () = revoked => self.end_revoked(),
            piece = self.next_piece() => piece,
        }
    }

    /// Ends the stream of a revoked token with a last event. In the middle of an event none can be sent; the client
    /// drops the partial event.
    fn end_revoked(&mut self) -> Option<Bytes> {
        self.is_over = true;
        let mut last = encode(&[self.feed.end_with_reason(REVOKED)]);
        if self.unsent.is_empty() { last.pop_front() } else { None }
    }

    async fn next_piece(&mut self) -> Option<Bytes> {
        if self.unsent.is_empty() {
            self.unsent = self.read_encoded().await?;
        }
        let next = self.unsent.front_mut()?;
        if next.len() > PIECE_BYTES_MAX {
            return Some(next.split_to(PIECE_BYTES_MAX));
        }
        self.unsent.pop_front()
    }

    async fn read_encoded(&mut self) -> Option<VecDeque<Bytes>> {
        Some(match self.feed.next().await? {
            FeedItem::Events(events) => encode(events.iter()),
            FeedItem::Dropped(last) => encode(&[last]),
            FeedItem::Beat if self.can_read_on().await => VecDeque::from([Bytes::from_static(HEARTBEAT)]),
            FeedItem::Beat => encode(&[self.feed.end_with_reason(REVOKED)]),
        })
    }

    /// Whether the caller's token is valid and has its role. If the engine cannot say, it is asked again at the next
    /// beat.
    async fn can_read_on(&mut self) -> bool {
        if self.caller.principal == Principal::Owner {
            return true;
        }
        match self.engine.refresh_caller(&self.caller).await {
            Ok(current) => self.caller = current,
            Err(fault) => return fault.code() != Code::Unauthorized,
        }
        self.feed.can_read(&self.caller)
    }
}
