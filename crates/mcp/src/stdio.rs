//! One client over lines of JSON. Written here rather than taken from rmcp, so that a line that cannot be read is answered,
//! a handshake is repaired as over HTTP, and the end of the input ends what would otherwise last for ever.

use std::io;
use std::sync::Arc;

use app::Engine;
use domain::limits;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::service::ServerInitializeError;
use rmcp::transport::Transport;
use rmcp::{RoleServer, serve_server};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::Options;
use crate::entry::{self, INVALID_REQUEST, Refused};
use crate::handler::{Handler, Shared};

/// Answers that may wait to be written.
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
    options: &Options,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) -> Result<(), StdioError> {
    let ended = options.stopping.child_token();
    let options = Options { stopping: ended.clone(), ..options.clone() };
    let handler = Handler::over_stdio(Arc::new(Shared::new(engine, options)));
    let (sender, receiver) = mpsc::channel(OUTPUT_QUEUE);
    let writer = tokio::spawn(write_lines(output, receiver));
    let outcome = match serve_server(handler, Lines::new(input, sender, ended)).await {
        Ok(running) => running.waiting().await.map(drop).map_err(StdioError::Broken),
        // A client that leaves before it says anything is no error.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(StdioError::Handshake(Box::new(error))),
    };
    // The transport is gone, so the writer ends once it has written what it was given.
    writer.await.map_err(StdioError::Broken)?;
    outcome
}

type Line = (Vec<u8>, Option<oneshot::Sender<io::Result<()>>>);

/// A transport of one JSON-RPC message per line.
struct Lines<R> {
    input: BufReader<R>,
    /// The line so far. It outlives a `receive` that is given up half-way.
    line: Vec<u8>,
    /// Whether the line passed the limit; the rest of it is read and dropped.
    overlong: bool,
    /// An answer to a line that could not be read, not yet handed to the writer.
    refused: Option<Vec<u8>>,
    /// Whether a request has come: before one, there is nothing that a notification could concern.
    opened: bool,
    output: mpsc::Sender<Line>,
    /// Cancelled when the input ends or the server stops.
    ended: CancellationToken,
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    fn new(input: R, output: mpsc::Sender<Line>, ended: CancellationToken) -> Self {
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            overlong: false,
            refused: None,
            opened: false,
            output,
            ended,
        }
    }

    /// The next line, or `None` at the end. Safe to give up: what was read stays in `self.line`.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, Refused>> {
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

    fn take_line(&mut self) -> Result<Vec<u8>, Refused> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.overlong) {
            let message = format!("the message is longer than {} bytes", limits::BODY_BYTES_MAX);
            return Err(Refused::new(INVALID_REQUEST, message));
        }
        Ok(line)
    }

    /// Hands a pending refusal to the writer. Given up half-way, it is still pending.
    async fn flush_refusal(&mut self) {
        if self.refused.is_some()
            && let Ok(permit) = self.output.reserve().await
            && let Some(refused) = self.refused.take()
        {
            permit.send((refused, None));
        }
    }

    fn read(&mut self, line: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refused> {
        let admitted = entry::admit(line)?;
        let message = serde_json::from_slice(&admitted.bytes).map_err(|_| entry::explain(&admitted.bytes))?;
        if let ClientJsonRpcMessage::Request(_) = message {
            self.opened = true;
        }
        Ok(self.opened.then_some(message))
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for Lines<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let output = self.output.clone();
        async move {
            let line = serde_json::to_vec(&item)?;
            let (written, done) = oneshot::channel();
            output.send((line, Some(written))).await.map_err(|_| io::ErrorKind::BrokenPipe)?;
            done.await.map_err(|_| io::ErrorKind::BrokenPipe)?
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let ended = self.ended.clone();
        loop {
            self.flush_refusal().await;
            let line = tokio::select! {
                line = self.next_line() => line,
                () = ended.cancelled() => None,
            };
            let Some(line) = line else {
                self.ended.cancel();
                return None;
            };
            match line.and_then(|line| if line.trim_ascii().is_empty() { Ok(None) } else { self.read(&line) }) {
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
async fn write_lines(mut output: impl AsyncWrite + Unpin, mut lines: mpsc::Receiver<Line>) {
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
        for (_, done) in batch.drain(..) {
            let outcome = written.as_ref().copied().map_err(|error| io::Error::from(error.kind()));
            // A sender that stopped waiting does not need to know.
            let _ = done.map(|done| done.send(outcome));
        }
    }
}
