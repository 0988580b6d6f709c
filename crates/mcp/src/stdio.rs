//! The stdio transport of MCP: one client over lines of JSON. It replaces rmcp's own, so that an unreadable line is
//! answered, a handshake is repaired as over HTTP, and the end of the input ends what would otherwise run for ever.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::{RoleServer, serve_server};
use skald_app::{Engine, Principal, limits};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::handler::{Handler, HandlerContext};
use crate::message_scan::{self, INVALID_REQUEST, RefusedMessage};
use crate::{McpOptions, insert_rendered_json};

/// Time to write the last answers.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
/// Time that open requests have once the input has ended.
const GRACE: Duration = Duration::from_secs(limits::SHUTDOWN_GRACE_SECONDS);
/// Answers that can wait to be written.
const OUTPUT_QUEUE: usize = 64;

#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    #[error("the conversation with the client could not begin")]
    Handshake(#[source] Box<ServerInitializeError>),
    #[error("the conversation with the client broke off")]
    Broken(#[source] tokio::task::JoinError),
}

pub(crate) async fn serve(
    engine: Arc<dyn Engine>,
    principal: Principal,
    options: &McpOptions,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), StdioError> {
    let ended = options.stopping.child_token();
    let options = McpOptions { stopping: ended.clone(), ..options.clone() };
    let handler = Handler::over_stdio(Arc::new(HandlerContext::new(engine, options)), principal);
    let (sender, receiver) = mpsc::channel(OUTPUT_QUEUE);
    let writer = tokio::spawn(write_lines(output, receiver, ended.clone()));
    let outcome = match serve_server(handler, LineTransport::new(input, sender, ended)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(StdioError::Broken),
        // A client that closes before its first message is not an error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Handshake(Box::new(error))),
    };
    // The transport is dropped, so the writer ends once its queue is written. A client may not read: hence the timeout.
    if let Ok(written) = tokio::time::timeout(FLUSH_TIMEOUT, writer).await {
        written.map_err(StdioError::Broken)?;
    }
    outcome
}

type Line = (Bytes, Option<oneshot::Sender<io::Result<()>>>);

/// A transport of one JSON-RPC message per line.
struct LineTransport<R> {
    input: BufReader<R>,
    /// The line so far. It is kept here because rmcp may drop the future of `receive` before the line is complete.
    line: Vec<u8>,
    /// Whether the line passed the limit; the rest of it is read and dropped.
    overlong: bool,
    /// An answer to a line that could not be read, not yet handed to the writer.
    refused: Option<Vec<u8>>,
    /// Whether a request has been read. Messages before the first request are dropped.
    opened: bool,
    /// Requests without an answer. rmcp learns of the end of the input only after they are answered: after the end it
    /// sends no notification, and a handler that waits for one would hang.
    under_way: HashSet<RequestId>,
    /// When to stop waiting for open requests. Set at the end of the input.
    deadline: Option<Instant>,
    output: mpsc::Sender<Line>,
    /// Cancelled when the input ends or the server stops.
    ended: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> LineTransport<R> {
    fn new(input: R, output: mpsc::Sender<Line>, ended: CancellationToken) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            overlong: false,
            refused: None,
            opened: false,
            under_way: HashSet::new(),
            deadline: None,
            output,
            ended,
        }
    }

    /// The next line, or `None` at the end. Cancel safe: the bytes read so far stay in `self.line`.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, RefusedMessage>> {
        loop {
            let chunk = self.input.fill_buf().await.ok()?;
            if chunk.is_empty() {
                return (!self.line.is_empty() || self.overlong).then(|| self.take_line());
            }
            let newline = memchr::memchr(b'\n', chunk);
            let end = newline.unwrap_or(chunk.len());
            if self.line.len() + end > limits::BODY_BYTES_MAX {
                self.overlong = true;
                self.line.clear();
            }
            if !self.overlong {
                self.line.extend_from_slice(&chunk[..end]);
            }
            self.input.consume(newline.map_or(end, |end| end + 1));
            if newline.is_some() {
                return Some(self.take_line());
            }
        }
    }

    fn take_line(&mut self) -> Result<Vec<u8>, RefusedMessage> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.overlong) {
            let message = format!("the message is longer than {} bytes", limits::BODY_BYTES_MAX);
            return Err(RefusedMessage::new(INVALID_REQUEST, message));
        }
        Ok(line)
    }

    /// Hands a pending refusal to the writer. Cancel safe: the refusal stays pending until the queue has space.
    async fn flush_refusal(&mut self) {
        if self.refused.is_some()
            && let Ok(permit) = self.output.reserve().await
            && let Some(refused) = self.refused.take()
        {
            permit.send((refused.into(), None));
        }
    }

    fn parse_line(&mut self, line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, RefusedMessage> {
        let admitted = message_scan::admit(line)?;
        let message =
            serde_json::from_slice(&admitted.bytes).map_err(|_| message_scan::explain_refusal(&admitted.bytes))?;
        match &message {
            ClientJsonRpcMessage::Request(request) => {
                let is_read = matches!(request.request, ClientRequest::InitializeRequest(_));
                if admitted.is_initialize && !is_read {
                    return Err(message_scan::invalid_initialize(&admitted.bytes));
                }
                if !self.under_way.insert(request.id.clone()) {
                    let message = "a request with this id is under way: give each request an id of its own";
                    return Err(RefusedMessage::new(INVALID_REQUEST, message).with_id_of(&admitted.bytes));
                }
                self.opened = true;
            }
            ClientJsonRpcMessage::Notification(notification) => {
                // A cancelled request gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.under_way.remove(id);
                }
            }
            ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_) => {}
        }
        Ok(self.opened.then_some(message))
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        match &item {
            ServerJsonRpcMessage::Response(response) => self.under_way.remove(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| self.under_way.remove(id)),
            ServerJsonRpcMessage::Request(_) | ServerJsonRpcMessage::Notification(_) => false,
        };
        let output = self.output.clone();
        async move {
            let line = Bytes::from(serde_json::to_vec(&item)?);
            let line = insert_rendered_json::fill_marks(&line).map_or(line, |pieces| pieces.concat().into());
            let (written, done) = oneshot::channel();
            output.send((line, Some(written))).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
            done.await.map_err(|_| io::ErrorKind::BrokenPipe)?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let ended = self.ended.clone();
        loop {
            self.flush_refusal().await;
            if let Some(deadline) = self.deadline {
                // rmcp calls `receive` again after each answer that it sends.
                if !self.under_way.is_empty() {
                    tokio::time::sleep_until(deadline).await;
                }
                return None;
            }
            let line = tokio::select! {
                line = self.next_line() => line,
                () = ended.cancelled() => None,
            };
            let Some(line) = line else {
                self.ended.cancel();
                self.deadline = Some(Instant::now() + GRACE);
                continue;
            };
            match line.and_then(|line| if line.trim_ascii().is_empty() { Ok(None) } else { self.parse_line(&line) }) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(refused) => self.refused = Some(refused.to_json()),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.flush_refusal().await;
        Ok(())
    }
}

/// Writes lines as they come, and flushes once nothing more is waiting.
async fn write_lines(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>, ended: CancellationToken) {
    let mut batch = Vec::new();
    while lines.recv_many(&mut batch, OUTPUT_QUEUE).await > 0 {
        let mut bytes = Vec::with_capacity(batch.iter().map(|(line, _)| line.len() + 1).sum());
        for (line, _) in &batch {
            bytes.extend_from_slice(line);
            bytes.push(b'\n');
        }
        let written = match output.write_all(&bytes).await {
            Ok(()) => output.flush().await,
            error => error,
        };
        if written.is_err() {
            // The client does not read any more.
            ended.cancel();
        }
        for (_, done) in batch.drain(..) {
            let outcome = written.as_ref().copied().map_err(|error| io::Error::from(error.kind()));
            // The sender may have stopped waiting.
            let _ = done.map(|done| done.send(outcome));
        }
    }
}
