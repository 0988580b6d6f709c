//! Client connection to a server, with retries: connects when the server is there, reconnects when it was lost.

use std::time::Duration;

use skald_app::{Code, Fault};
use tokio::sync::watch;
use tokio::time::Instant;
use tonic::transport::{Channel, Endpoint};
use tonic::{Response, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::fault;
use crate::proto::skald::DescribeRequest;
use crate::proto::skald::gateway_client::GatewayClient;

/// How long a call is retried after the connection to the server was lost.
const RETRY_MAX: Duration = Duration::from_secs(8);
/// The pauses between attempts grow from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// The first pause between attempts to watch the server's health.
const HEALTH_FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Keep-alive interval and timeout, to detect a server that is gone without closing the connection.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const CONNECT_MAX: Duration = Duration::from_secs(5);
const WINDOW_BYTES: u32 = 1 << 20;
/// Error details arrive as headers.
const HEADER_BYTES_MAX: u32 = 1 << 16;
/// Far above the size of any answer.
const ANSWER_BYTES_MAX: usize = 1 << 28;

pub(crate) type Gateway = GatewayClient<Channel>;

/// The last known state of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ServerHealth {
    /// Not seen healthy yet.
    NotYetHealthy,
    Healthy,
    /// It was healthy before; the text says why it is not now.
    Lost(String),
}

/// The connections to the server at one address.
pub(crate) struct ServerConnection {
    address: String,
    calls: Channel,
    /// Streams have a connection of their own, so that a slow reader of a stream does not delay calls.
    watches: Channel,
    health: watch::Sender<ServerHealth>,
}

/// Exponential backoff between attempts.
pub(crate) struct Backoff(Duration);

impl Backoff {
    pub(crate) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(LAST_PAUSE);
    }
}

impl ServerConnection {
    /// Connects only when the first call is made.
    pub(crate) fn new(address: &str) -> Result<Self, tonic::transport::Error> {
        let url = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let endpoint = Endpoint::from_shared(url)?
            .connect_timeout(CONNECT_MAX)
            .initial_stream_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES * 4)
            .http2_max_header_list_size(HEADER_BYTES_MAX)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(KEEP_ALIVE);
        let (calls, watches) = (endpoint.connect_lazy(), endpoint.keep_alive_while_idle(true).connect_lazy());
        Ok(Self {
            address: address.to_owned(),
            calls,
            watches,
            health: watch::Sender::new(ServerHealth::NotYetHealthy),
        })
    }

    pub(crate) fn subscribe_health(&self) -> watch::Receiver<ServerHealth> {
        self.health.subscribe()
    }

    pub(crate) fn call_client(&self) -> Gateway {
        GatewayClient::new(self.calls.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    pub(crate) fn watch_client(&self) -> Gateway {
        GatewayClient::new(self.watches.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// Waits without a limit until the server has been healthy once.
    pub(crate) async fn wait_until_found(&self) {
        if *self.health.borrow() == ServerHealth::NotYetHealthy {
            // Never fails: `self` owns the sender.
            let _ = self.health.subscribe().wait_for(|health| *health != ServerHealth::NotYetHealthy).await;
        }
    }

    /// Sends a call and retries it while the connection is broken. The call must be safe to repeat: a read, or a
    /// command with an idempotency key.
    pub(crate) async fn call_with_retries<T, F>(&self, send: impl Fn(Gateway) -> F) -> Result<Response<T>, Fault>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.wait_until_found().await;
        let (began, mut pauses) = (Instant::now(), Backoff::new());
        loop {
            let status = match send(self.call_client()).await {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            if let Some(fault) = fault::from_status(&status) {
                return Err(fault);
            }
            if !is_connection_error(&status) || began.elapsed() > RETRY_MAX {
                return Err(self.no_answer_fault(&status));
            }
            pauses.pause().await;
        }
    }

    /// Waits for a future that needs the server, at most as long as a call is retried.
    pub(crate) async fn wait_with_timeout<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        self.wait_until_found().await;
        tokio::time::timeout(RETRY_MAX, wait).await.ok()
    }

    fn no_answer_fault(&self, status: &Status) -> Fault {
        tracing::debug!(code = ?status.code(), "the server gave no answer");
        let fault = Fault::new(Code::Unavailable, format!("the server at {} does not answer", self.address));
        fault.hint("start it with skald serve, or name another with --addr; then ask again")
    }

    /// Follows the server's health, and publishes and logs its changes, for as long as the future is polled.
    pub(crate) async fn follow_health(&self) {
        let mut pause = HEALTH_FIRST_PAUSE;
        loop {
            let why = match self.watch_until_unhealthy().await {
                Ok(()) => "it ended the connection".to_owned(),
                Err(status) => status.message().to_owned(),
            };
            match &*self.health.borrow() {
                ServerHealth::NotYetHealthy if pause == HEALTH_FIRST_PAUSE => {
                    tracing::warn!(address = self.address, why, "waiting for the server");
                }
                ServerHealth::Healthy => {
                    tracing::warn!(address = self.address, why, "the server was lost, looking for it");
                    pause = HEALTH_FIRST_PAUSE;
                }
                ServerHealth::NotYetHealthy | ServerHealth::Lost(_) => {}
            }
            self.health.send_if_modified(|health| {
                let is_news = *health == ServerHealth::Healthy;
                if is_news {
                    *health = ServerHealth::Lost(format!("the server at {} does not answer", self.address));
                }
                is_news
            });
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Watches the server's health until the stream ends or the server does not serve.
    async fn watch_until_unhealthy(&self) -> Result<(), Status> {
        let request = HealthCheckRequest { service: String::new() };
        let mut statuses = HealthClient::new(self.watches.clone()).watch(request).await?.into_inner();
        while let Some(status) = statuses.message().await? {
            if status.status() == ServingStatus::Serving {
                self.compare_versions().await;
                tracing::info!(address = self.address, "the server is there");
                self.health.send_replace(ServerHealth::Healthy);
            } else {
                return Err(Status::unavailable("it does not serve right now"));
            }
        }
        Ok(())
    }

    /// Warns if the server has another version: operations that only one of the two has are answered as unknown.
    async fn compare_versions(&self) {
        // A server that requires a token refuses this call: then the versions are not compared.
        let Ok(described) = self.call_client().describe(DescribeRequest {}).await else { return };
        let (theirs, ours) = (described.into_inner().version, env!("CARGO_PKG_VERSION"));
        if theirs != ours {
            tracing::warn!(server = theirs, bridge = ours, "the server is of another version than this bridge");
        }
    }
}

/// Whether a status is about the connection and is not an answer of the server.
pub(crate) fn is_connection_error(status: &Status) -> bool {
    matches!(
        status.code(),
        tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Internal | tonic::Code::Cancelled
    )
}

/// The version of the server at an address, or why it is unknown.
pub async fn server_version(address: &str) -> Result<String, String> {
    let link = ServerConnection::new(address).map_err(|error| error.to_string())?;
    let described = tokio::time::timeout(CONNECT_MAX, link.call_client().describe(DescribeRequest {})).await;
    match described.map_err(|_| "it does not answer".to_owned())? {
        Ok(described) => Ok(described.into_inner().version),
        Err(status) => match fault::from_status(&status) {
            Some(fault) if fault.code() == Code::Unauthorized => Ok("that wants a token".to_owned()),
            _ => Err(status.message().to_owned()),
        },
    }
}
