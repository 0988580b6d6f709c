//! Write timeout: closes a connection whose client accepts no bytes for a while, to free its memory and descriptor. A
//! client that goes on reading, however slowly, is waited for, unless its token is revoked: then what waits to be sent
//! is dropped.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// The revocation of the token whose request a connection answers. It travels as an extension of the request, and
/// `identify` sets it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConnectionRevocation(Arc<Mutex<Option<CancellationToken>>>);

impl ConnectionRevocation {
    pub(crate) fn set(&self, revocation: Option<CancellationToken>) {
        *self.lock() = revocation;
    }

    fn lock(&self) -> MutexGuard<'_, Option<CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection with a write timeout. A write that does not block only checks an option.
pub(crate) struct WriteTimeout {
    inner: TcpStream,
    limit: Duration,
    token: ConnectionRevocation,
    /// Set while a write is blocked.
    waiting: Option<WriteWait>,
}

struct WriteWait {
    timeout: Pin<Box<Sleep>>,
    revoked: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
}

impl WriteTimeout {
    pub(crate) fn new(inner: TcpStream, limit: Duration, token: ConnectionRevocation) -> Self {
        Self { inner, limit, token, waiting: None }
    }

    fn check<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| WriteWait {
            timeout: Box::pin(sleep(self.limit)),
            revoked: self.token.lock().clone().map(|revocation| Box::pin(revocation.cancelled_owned())),
        });
        if let Some(revoked) = &mut waiting.revoked
            && revoked.as_mut().poll(context).is_ready()
        {
            // Otherwise the operating system goes on sending its buffer.
            if let Err(error) = self.inner.set_zero_linger() {
                tracing::debug!(%error, "what was not sent yet could not be thrown away");
            }
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionAborted, "the token was revoked")));
        }
        waiting.timeout.as_mut().poll(context).map(|()| {
            tracing::debug!(limit = ?self.limit, "a client that takes nothing is cut");
            Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing"))
        })
    }
}

impl AsyncRead for WriteTimeout {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for WriteTimeout {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, buffers);
        self.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Instant;

    use axum::Router;
    use axum::body::{Body, Bytes};
    use axum::extract::Request;
    use axum::routing::get;
    use futures::stream::repeat_with;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio::sync::mpsc;

    use super::*;
    use crate::connections::{HttpConnectionLimits, accept};

    /// Sends the time when it is dropped.
    struct Endless(mpsc::Sender<Instant>);

    impl Drop for Endless {
        fn drop(&mut self) {
            let _ = self.0.try_send(Instant::now());
        }
    }

    /// A server with an endless answer and this limit, and a client that has requested it with a token.
    async fn request_endless_answer(
        limit: Duration,
        revocation: CancellationToken,
    ) -> (TcpStream, mpsc::Receiver<Instant>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, ended) = mpsc::channel(1);
        let answer = async move |request: Request| {
            request.extensions().get::<ConnectionRevocation>().expect("a connection").set(Some(revocation.clone()));
            let endless = Endless(sender.clone());
            Body::from_stream(repeat_with(move || {
                let _ = &endless;
                Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; 10_000]))
            }))
        };
        let router = Router::new().route("/", get(answer));
        let limits = HttpConnectionLimits { write: limit, ..HttpConnectionLimits::default() };
        tokio::spawn(accept(listener, router, limits, CancellationToken::new()));
        let mut client = TcpStream::connect(address).await.expect("the server listens");
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("the server reads");
        (client, ended)
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_cut_and_not_before_its_time() {
        let limit = Duration::from_millis(300);
        let began = Instant::now();
        let (mut client, mut ended) = request_endless_answer(limit, CancellationToken::new()).await;
        let cut = tokio::time::timeout(Duration::from_secs(20), ended.recv()).await;
        let cut = cut.expect("the answer is given up").expect("a moment");
        assert!(cut - began >= limit, "cut after {:?}", cut - began);
        // The bytes sent before can still be read; then the connection ends.
        let mut sink = vec![0; 1_000_000];
        while matches!(client.read(&mut sink).await, Ok(read) if read > 0) {}
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_cut_when_its_token_is_revoked() {
        let (an_hour, revocation) = (Duration::from_hours(1), CancellationToken::new());
        let (mut client, mut ended) = request_endless_answer(an_hour, revocation.clone()).await;
        let mut sink = vec![0; 100_000];
        client.read_exact(&mut sink).await.expect("the answer begins");
        revocation.cancel();
        let cut = tokio::time::timeout(Duration::from_secs(20), ended.recv()).await;
        cut.expect("the answer is given up").expect("a moment");
        // The connection ends, though the answer is endless.
        while matches!(client.read(&mut sink).await, Ok(read) if read > 0) {}
    }

    #[tokio::test]
    async fn a_client_that_is_slow_is_waited_for() {
        let (mut client, mut ended) =
            request_endless_answer(Duration::from_millis(1_500), CancellationToken::new()).await;
        let mut sink = vec![0; 4_000_000];
        let began = Instant::now();
        // Each pause is shorter than the limit, all of them are longer.
        while began.elapsed() < Duration::from_secs(4) {
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert!(client.read(&mut sink).await.expect("the connection stands") > 0);
            assert!(ended.try_recv().is_err(), "the client was cut after {:?}", began.elapsed());
        }
    }
}
