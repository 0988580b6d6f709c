//! An event stream that the server can detach from its connection.
//!
//! rmcp sends a session's notifications to one GET stream, and keeps every further one silent for as long as that one
//! is open. A connection that broke silently stays open for minutes, and the client that reconnects would get nothing.
//! So a client that resumes replaces the stream before it.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures::Stream;
use futures::stream::BoxStream;

/// The stream as its connection holds it.
pub(crate) struct ReplaceableStream<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

struct Slot<T> {
    /// `None` once the server has ended the stream.
    events: Option<BoxStream<'static, T>>,
    waker: Option<Waker>,
}

/// The server's handle to end the stream. It does not keep the stream open.
pub(crate) struct StreamHandle<T> {
    slot: Weak<Mutex<Slot<T>>>,
}

impl<T> ReplaceableStream<T> {
    pub(crate) fn new(events: impl Stream<Item = T> + Send + 'static) -> (Self, StreamHandle<T>) {
        let slot = Arc::new(Mutex::new(Slot { events: Some(Box::pin(events)), waker: None }));
        let handle = StreamHandle { slot: Arc::downgrade(&slot) };
        (Self { slot }, handle)
    }
}

impl<T> StreamHandle<T> {
    /// Whether a connection still holds the stream.
    pub(crate) fn is_open(&self) -> bool {
        self.slot.strong_count() > 0
    }

    /// Ends the stream at once and wakes its connection.
    pub(crate) fn end(&self) {
        let Some(slot) = self.slot.upgrade() else { return };
        let (events, waker) = {
            let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
            (slot.events.take(), slot.waker.take())
        };
        drop(events);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl<T> Stream for ReplaceableStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(events) = &mut slot.events else { return Poll::Ready(None) };
        let polled = events.as_mut().poll_next(context);
        if polled.is_pending() {
            slot.waker = Some(context.waker().clone());
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;
    use futures::stream;

    use super::*;

    #[tokio::test]
    async fn a_stream_that_is_ended_ends_for_whoever_waits_on_it() {
        let (mut open, handle) = ReplaceableStream::new(stream::iter([1, 2]).chain(stream::pending()));
        assert_eq!((open.next().await, open.next().await), (Some(1), Some(2)));
        let waiting = tokio::spawn(async move { open.next().await });
        tokio::task::yield_now().await;
        handle.end();
        assert_eq!(waiting.await.unwrap(), None);
        handle.end();
    }

    #[test]
    fn its_events_are_dropped_at_once_though_nobody_polls_it() {
        let held = Arc::new(());
        let watched = Arc::downgrade(&held);
        let (open, handle) = ReplaceableStream::new(stream::pending::<()>().map(move |()| drop(Arc::clone(&held))));
        handle.end();
        assert!(watched.upgrade().is_none());
        drop(open);
    }
}
