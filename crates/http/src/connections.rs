//! Accepts connections within limits: their number, how long one may be silent, and how long it may accept nothing.
//!
//! hyper's own server is driven here because axum's has no such limits: a client that sends half a header, or nothing,
//! would hold its connection for ever, before it is even identified.

use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use skald_app::limits;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_service::Service;

use crate::write_timeout::{ConnectionRevocation, WriteTimeout};

/// The other end of a connection, as an extension of its requests: the client, or a proxy before the server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub IpAddr);

/// How long the accept loop waits when the process has no file descriptor left.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(crate) struct HttpConnectionLimits {
    pub count: usize,
    /// From the connection, or the end of an answer, to the end of the next request's headers.
    pub headers: Duration,
    /// Bytes of the headers, and of the read buffer.
    pub buffer: usize,
    /// How long a client may read nothing of an answer.
    pub write: Duration,
}

impl Default for HttpConnectionLimits {
    fn default() -> Self {
        Self {
            count: limits::CONNECTIONS_MAX,
            headers: Duration::from_secs(limits::HEADERS_READ_SECONDS),
            buffer: limits::HEADERS_BYTES_MAX,
            write: Duration::from_secs(limits::STALLED_SECONDS),
        }
    }
}

/// Serves until `closing` is cancelled and every answer under way has been sent.
pub(crate) async fn accept<S>(
    listener: TcpListener,
    service: S,
    limits: HttpConnectionLimits,
    closing: CancellationToken,
) -> io::Result<()>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.headers).max_buf_size(limits.buffer);
    let (connections, permits) = (TaskTracker::new(), Arc::new(Semaphore::new(limits.count)));
    let mut is_full = false;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = closing.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                pause_after_error(&error).await;
                continue;
            }
        };
        let Ok(permit) = Arc::clone(&permits).try_acquire_owned() else {
            if !is_full {
                tracing::warn!(connections = limits.count, "all connections are taken, new ones are closed at once");
            }
            is_full = true;
            continue;
        };
        is_full = false;
        let served = serve_connection(http.clone(), stream, service.clone(), limits.write, closing.clone());
        connections.spawn(async move {
            served.await;
            drop(permit);
        });
    }
    connections.close();
    connections.wait().await;
    Ok(())
}

/// Waits after an accept error that is not of a single connection: without file descriptors, accepting again at once
/// would spin.
async fn pause_after_error(error: &io::Error) {
    let is_of_one = matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
    );
    if !is_of_one {
        tracing::error!(%error, "no connection can be accepted right now");
        tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
    }
}

async fn serve_connection<S>(
    http: http1::Builder,
    stream: TcpStream,
    service: S,
    write: Duration,
    closing: CancellationToken,
) where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    // Without TCP_NODELAY, an answer in several small writes waits 40 ms for the client's acknowledgement.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let address = stream.peer_addr().ok().map(|address| ClientAddress(address.ip()));
    let token = ConnectionRevocation::default();
    let stream = WriteTimeout::new(stream, write, token.clone());
    // The router is always ready.
    let service = service_fn(move |mut request: Request<Incoming>| {
        // The previous request may have had a token.
        token.set(None);
        request.extensions_mut().insert(token.clone());
        if let Some(address) = address {
            request.extensions_mut().insert(address);
        }
        service.clone().call(request.map(Body::new))
    });
    let connection = http.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        () = closing.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended");
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, SocketAddr};

    use axum::Router;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

    async fn start_server(limits: HttpConnectionLimits) -> SocketAddr {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = Router::new().route("/", get(async || "here"));
        tokio::spawn(accept(listener, router, limits, CancellationToken::new()));
        address
    }

    async fn connect(address: SocketAddr) -> TcpStream {
        TcpStream::connect(address).await.expect("the server listens")
    }

    /// Whether a request on this connection is answered.
    async fn is_answered(client: &mut TcpStream) -> bool {
        let mut answer = [0; 1_000];
        client.write_all(REQUEST).await.is_ok() && matches!(client.read(&mut answer).await, Ok(read) if read > 0)
    }

    /// Waits until the server has closed the connection.
    async fn wait_for_end(client: &mut TcpStream) {
        let mut rest = [0; 1_000];
        let end = async { while matches!(client.read(&mut rest).await, Ok(read) if read > 0) {} };
        tokio::time::timeout(Duration::from_secs(20), end).await.expect("the server ends the connection");
    }

    #[test]
    fn the_limits_are_those_of_the_reference() {
        let default = HttpConnectionLimits::default();
        assert_eq!((default.count, default.buffer), (limits::CONNECTIONS_MAX, limits::HEADERS_BYTES_MAX));
        assert_eq!(default.headers.as_secs(), limits::HEADERS_READ_SECONDS);
        assert_eq!(default.write.as_secs(), limits::STALLED_SECONDS);
    }

    #[tokio::test]
    async fn half_a_header_and_silence_end() {
        let limits = HttpConnectionLimits { headers: Duration::from_millis(200), ..HttpConnectionLimits::default() };
        let address = start_server(limits).await;
        let mut silent = connect(address).await;
        let mut slow = connect(address).await;
        slow.write_all(b"GET / HTTP/1.1\r\nHost: local").await.expect("the server reads");
        let mut served = connect(address).await;
        assert!(is_answered(&mut served).await);
        for client in [&mut silent, &mut slow, &mut served] {
            wait_for_end(client).await;
        }
        let mut drip = connect(address).await;
        // Single bytes do not extend the timeout: it is for the whole header.
        let dripping = async {
            for byte in REQUEST.iter().cycle() {
                if *byte == b'\n' || drip.write_all(&[*byte]).await.is_err() {
                    continue;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
                if drip.try_read(&mut [0; 100]).is_ok_and(|read| read == 0) {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), dripping).await.expect("the server ends the connection");
    }

    #[tokio::test]
    async fn headers_have_a_most() {
        let address = start_server(HttpConnectionLimits::default()).await;
        let request = |length: usize| {
            let (start, end) = ("GET / HTTP/1.1\r\nHost: localhost\r\nX-Padding: ", "\r\n\r\n");
            format!("{start}{}{end}", "p".repeat(length - start.len() - end.len()))
        };
        for (length, status) in [(limits::HEADERS_BYTES_MAX - 1, "200"), (limits::HEADERS_BYTES_MAX + 1, "431")] {
            let mut client = connect(address).await;
            client.write_all(request(length).as_bytes()).await.expect("the server reads");
            let mut answer = [0; 12];
            client.read_exact(&mut answer).await.expect("an answer");
            assert_eq!(&answer[9..], status.as_bytes(), "{length} bytes");
        }
    }

    #[tokio::test]
    async fn beyond_the_last_connection_there_is_none() {
        let address = start_server(HttpConnectionLimits { count: 2, ..HttpConnectionLimits::default() }).await;
        let (mut first, mut second) = (connect(address).await, connect(address).await);
        assert!(is_answered(&mut first).await && is_answered(&mut second).await);
        let mut third = connect(address).await;
        assert!(!is_answered(&mut third).await, "one past the limit");
        assert!(is_answered(&mut first).await && is_answered(&mut second).await, "the others are not disturbed");
        drop(first);
        let again = async {
            while !is_answered(&mut connect(address).await).await {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), again).await.expect("a place is free again");
    }
}
