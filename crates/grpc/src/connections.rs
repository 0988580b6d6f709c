//! Limits of gRPC connections: their number, and the time until the HTTP/2 preface.
//!
//! tonic pings a connection to detect whether it is alive, but only once its preface has arrived: a client that sends
//! nothing would hold its connection for ever.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::{Stream, StreamExt};
use skald_app::limits;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tonic::transport::server::{Connected, TcpConnectInfo, TcpIncoming};

/// Bytes of the preface that every HTTP/2 client sends first.
const PREFACE_BYTES: usize = 24;

#[derive(Debug, Clone, Copy)]
pub(crate) struct GrpcConnectionLimits {
    pub count: usize,
    pub handshake: Duration,
}

impl Default for GrpcConnectionLimits {
    fn default() -> Self {
        Self { count: limits::CONNECTIONS_MAX, handshake: Duration::from_secs(limits::HANDSHAKE_SECONDS) }
    }
}

/// The connections of a listener. Those beyond the limit are closed at once.
pub(crate) fn incoming(
    listener: TcpListener,
    limits: GrpcConnectionLimits,
) -> impl Stream<Item = io::Result<LimitedConnection>> {
    let (permits, is_full) = (Arc::new(Semaphore::new(limits.count)), AtomicBool::new(false));
    TcpIncoming::from(listener).with_nodelay(Some(true)).filter_map(move |accepted| {
        let limited = accepted.map(|inner| {
            let permit = Arc::clone(&permits).try_acquire_owned().ok();
            let was_full = is_full.swap(permit.is_none(), Ordering::Relaxed);
            if permit.is_none() && !was_full {
                tracing::warn!(connections = limits.count, "all gRPC connections are taken, new ones are closed");
            }
            let handshake = Some(Box::pin(sleep(limits.handshake)));
            permit.map(|permit| LimitedConnection { inner, missing: PREFACE_BYTES, handshake, _permit: permit })
        });
        std::future::ready(limited.transpose())
    })
}

pub(crate) struct LimitedConnection {
    inner: TcpStream,
    /// Bytes of the preface that have not arrived yet.
    missing: usize,
    /// The timeout of the preface; `None` once it has arrived.
    handshake: Option<Pin<Box<Sleep>>>,
    _permit: OwnedSemaphorePermit,
}

impl Connected for LimitedConnection {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> TcpConnectInfo {
        self.inner.connect_info()
    }
}

impl AsyncRead for LimitedConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let Some(handshake) = &mut self.handshake else { return read };
        if read.is_pending() {
            let too_late = || Err(io::Error::new(io::ErrorKind::TimedOut, "the handshake did not come in time"));
            return handshake.as_mut().poll(context).map(|()| too_late());
        }
        self.missing = self.missing.saturating_sub(buffer.filled().len() - before);
        if self.missing == 0 {
            self.handshake = None;
        }
        read
    }
}

impl AsyncWrite for LimitedConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, buffers)
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

    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn connections(
        limits: GrpcConnectionLimits,
    ) -> (std::net::SocketAddr, impl Stream<Item = io::Result<LimitedConnection>>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        (listener.local_addr().expect("an address"), incoming(listener, limits))
    }

    #[test]
    fn the_limits_are_those_of_the_reference() {
        let default = GrpcConnectionLimits::default();
        assert_eq!(default.count, limits::CONNECTIONS_MAX);
        assert_eq!(default.handshake.as_secs(), limits::HANDSHAKE_SECONDS);
    }

    #[tokio::test]
    async fn a_connection_without_a_handshake_ends() {
        let limits = GrpcConnectionLimits { handshake: Duration::from_millis(100), ..GrpcConnectionLimits::default() };
        let (address, incoming) = connections(limits).await;
        let mut incoming = std::pin::pin!(incoming);
        let mut client = TcpStream::connect(address).await.expect("a listener");
        let mut server = incoming.next().await.expect("a connection").expect("a connection");
        client.write_all(&[b'P'; PREFACE_BYTES - 1]).await.expect("it is read");
        let mut preface = [0; PREFACE_BYTES];
        let ended = server.read_exact(&mut preface).await.expect_err("one byte is missing");
        assert_eq!(ended.kind(), io::ErrorKind::TimedOut);

        let mut client = TcpStream::connect(address).await.expect("a listener");
        let mut server = incoming.next().await.expect("a connection").expect("a connection");
        client.write_all(&[b'P'; PREFACE_BYTES]).await.expect("it is read");
        server.read_exact(&mut preface).await.expect("all of it came");
        let silent = tokio::time::timeout(3 * limits.handshake, server.read_u8()).await;
        assert!(silent.is_err(), "from then on it may be silent");
    }

    #[tokio::test]
    async fn beyond_the_last_connection_there_is_none() {
        let (address, incoming) =
            connections(GrpcConnectionLimits { count: 1, ..GrpcConnectionLimits::default() }).await;
        let mut incoming = std::pin::pin!(incoming);
        let _first = TcpStream::connect(address).await.expect("a listener");
        let first = incoming.next().await.expect("a connection").expect("a connection");
        let mut second = TcpStream::connect(address).await.expect("a listener");
        let _third = TcpStream::connect(address).await.expect("a listener");
        let none = tokio::time::timeout(Duration::from_millis(200), incoming.next()).await;
        assert!(none.is_err(), "one past the limit is not handed over");
        assert_eq!(second.read(&mut [0; 1]).await.expect("it is closed"), 0);
        drop(first);
        let _fourth = TcpStream::connect(address).await.expect("a listener");
        incoming.next().await.expect("a connection").expect("a place is free again");
    }
}
