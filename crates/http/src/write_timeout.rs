//! Cuts a connection whose client has taken nothing of what it was sent for a while, so that it holds neither memory nor a
//! descriptor. A client that goes on reading, however slowly, is waited for.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection. A write that is taken at once costs one look at an option.
pub(crate) struct WriteTimeout<S> {
    inner: S,
    limit: Duration,
    /// Runs while the client takes nothing.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(inner: S, limit: Duration) -> Self {
        Self { inner, limit, waiting: None }
    }

    fn check<T>(&mut self, context: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.limit)));
        waiting.as_mut().poll(context).map(|()| {
            tracing::debug!(limit = ?self.limit, "a client that takes nothing is cut");
            Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes nothing"))
        })
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
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
    use axum::routing::get;
    use futures::stream::repeat_with;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::mpsc;
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::connections::{ConnectionLimits, accept};

    /// Tells when the last of it is gone.
    struct Endless(mpsc::Sender<Instant>);

    impl Drop for Endless {
        fn drop(&mut self) {
            let _ = self.0.try_send(Instant::now());
        }
    }

    /// A server whose one answer never ends, with this limit, and a client that has asked for it.
    async fn asked(limit: Duration) -> (TcpStream, mpsc::Receiver<Instant>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (sender, ended) = mpsc::channel(1);
        let answer = async move || {
            let endless = Endless(sender.clone());
            Body::from_stream(repeat_with(move || {
                let _ = &endless;
                Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; 10_000]))
            }))
        };
        let router = Router::new().route("/", get(answer));
        let limits = ConnectionLimits { write: limit, ..ConnectionLimits::default() };
        tokio::spawn(accept(listener, router, limits, CancellationToken::new()));
        let mut client = TcpStream::connect(address).await.expect("the server listens");
        client.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("the server reads");
        (client, ended)
    }

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_cut_and_not_before_its_time() {
        let limit = Duration::from_millis(300);
        let began = Instant::now();
        let (mut client, mut ended) = asked(limit).await;
        let cut = tokio::time::timeout(Duration::from_secs(20), ended.recv()).await;
        let cut = cut.expect("the answer is given up").expect("a moment");
        assert!(cut - began >= limit, "cut after {:?}", cut - began);
        // What was sent before can still be read; then there is an end.
        let mut sink = vec![0; 1_000_000];
        while matches!(client.read(&mut sink).await, Ok(read) if read > 0) {}
    }

    #[tokio::test]
    async fn a_client_that_is_slow_is_waited_for() {
        let (mut client, mut ended) = asked(Duration::from_millis(1_500)).await;
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
