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

/// How long a call waits for a server that was there and is not now.
const PATIENCE: Duration = Duration::from_secs(8);
/// The pauses between attempts grow from the first to the last.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
const LAST_PAUSE: Duration = Duration::from_secs(1);
/// The same while the server has not been found yet.
const SEEKING_PAUSE: Duration = Duration::from_millis(200);
/// A server that has gone without a word is found out within this time.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
const CONNECT_MAX: Duration = Duration::from_secs(5);
const WINDOW_BYTES: u32 = 1 << 20;
/// The details of an error are headers.
const HEADER_BYTES_MAX: u32 = 1 << 16;
/// No answer comes near.
const ANSWER_BYTES_MAX: usize = 1 << 28;

pub(crate) type Gateway = GatewayClient<Channel>;

/// What is known of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ConnectionView {
    /// It has never been healthy, as far as is known.
    Sought,
    Healthy,
    /// It was healthy once.
    Lost(String),
}

/// A server by its address.
pub(crate) struct ServerConnection {
    address: String,
    calls: Channel,
    /// What lasts has a connection of its own, so that a slow reader of news holds up no call.
    watches: Channel,
    sight: watch::Sender<ConnectionView>,
}

/// Pauses that grow.
pub(crate) struct Pauses(Duration);

impl Pauses {
    pub(crate) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    pub(crate) async fn pause(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(LAST_PAUSE);
    }
}

impl ServerConnection {
    /// Does not connect yet.
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
        Ok(Self { address: address.to_owned(), calls, watches, sight: watch::Sender::new(ConnectionView::Sought) })
    }

    pub(crate) fn sight(&self) -> watch::Receiver<ConnectionView> {
        self.sight.subscribe()
    }

    pub(crate) fn calls(&self) -> Gateway {
        GatewayClient::new(self.calls.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    pub(crate) fn watches(&self) -> Gateway {
        GatewayClient::new(self.watches.clone()).max_decoding_message_size(ANSWER_BYTES_MAX)
    }

    /// Waits until the server has been found once, however long that takes.
    pub(crate) async fn found(&self) {
        if *self.sight.borrow() == ConnectionView::Sought {
            // The sender is ours, so that there is always one.
            let _ = self.sight.subscribe().wait_for(|sight| *sight != ConnectionView::Sought).await;
        }
    }

    /// Asks until there is an answer. What is asked must be safe to ask again: a read, or a command under a key.
    pub(crate) async fn ask<T, F>(&self, send: impl Fn(Gateway) -> F) -> Result<Response<T>, Fault>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        self.found().await;
        let (began, mut pauses) = (Instant::now(), Pauses::new());
        loop {
            let status = match send(self.calls()).await {
                Ok(response) => return Ok(response),
                Err(status) => status,
            };
            if let Some(fault) = fault::fault(&status) {
                return Err(fault);
            }
            if !is_broken(&status) || began.elapsed() > PATIENCE {
                return Err(self.unanswered(&status));
            }
            pauses.pause().await;
        }
    }

    /// Waits for something that needs the server, but not longer than a call would.
    pub(crate) async fn patiently<T>(&self, wait: impl Future<Output = T>) -> Option<T> {
        self.found().await;
        tokio::time::timeout(PATIENCE, wait).await.ok()
    }

    fn unanswered(&self, status: &Status) -> Fault {
        tracing::debug!(code = ?status.code(), "the server gave no answer");
        let fault = Fault::new(Code::Unavailable, format!("the server at {} does not answer", self.address));
        fault.hint("start it with skald serve, or name another with --addr; then ask again")
    }

    /// Watches whether the server is healthy, and says so in the log, for as long as it is polled.
    pub(crate) async fn attend(&self) {
        let mut pause = SEEKING_PAUSE;
        loop {
            let why = match self.healthy().await {
                Ok(()) => "it ended the connection".to_owned(),
                Err(status) => status.message().to_owned(),
            };
            match &*self.sight.borrow() {
                ConnectionView::Sought if pause == SEEKING_PAUSE => {
                    tracing::warn!(address = self.address, why, "waiting for the server");
                }
                ConnectionView::Healthy => {
                    tracing::warn!(address = self.address, why, "the server was lost, looking for it");
                    pause = SEEKING_PAUSE;
                }
                ConnectionView::Sought | ConnectionView::Lost(_) => {}
            }
            self.sight.send_if_modified(|sight| {
                let is_news = *sight == ConnectionView::Healthy;
                if is_news {
                    *sight = ConnectionView::Lost(format!("the server at {} does not answer", self.address));
                }
                is_news
            });
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
        }
    }

    /// Listens to how the server is, until it says no more.
    async fn healthy(&self) -> Result<(), Status> {
        let request = HealthCheckRequest { service: String::new() };
        let mut statuses = HealthClient::new(self.watches.clone()).watch(request).await?.into_inner();
        while let Some(status) = statuses.message().await? {
            if status.status() == ServingStatus::Serving {
                self.compare_versions().await;
                tracing::info!(address = self.address, "the server is there");
                self.sight.send_replace(ConnectionView::Healthy);
            } else {
                return Err(Status::unavailable("it does not serve right now"));
            }
        }
        Ok(())
    }

    /// Says so if the server is of another version: what one has and the other has not is answered as unknown.
    async fn compare_versions(&self) {
        // A server that wants a token tells nobody else what it is.
        let Ok(described) = self.calls().describe(DescribeRequest {}).await else { return };
        let (theirs, ours) = (described.into_inner().version, env!("CARGO_PKG_VERSION"));
        if theirs != ours {
            tracing::warn!(server = theirs, bridge = ours, "the server is of another version than this bridge");
        }
    }
}

/// Whether a status is about the way to the server, and not an answer of it.
pub(crate) fn is_broken(status: &Status) -> bool {
    matches!(
        status.code(),
        tonic::Code::Unavailable | tonic::Code::Unknown | tonic::Code::Internal | tonic::Code::Cancelled
    )
}

/// What a server at an address says that it is: its version, or why it does not say so.
pub async fn describe(address: &str) -> Result<String, String> {
    let link = ServerConnection::new(address).map_err(|error| error.to_string())?;
    let described = tokio::time::timeout(CONNECT_MAX, link.calls().describe(DescribeRequest {})).await;
    match described.map_err(|_| "it does not answer".to_owned())? {
        Ok(described) => Ok(described.into_inner().version),
        Err(status) => match fault::fault(&status) {
            Some(fault) if fault.code() == Code::Unauthorized => Ok("that wants a token".to_owned()),
            _ => Err(status.message().to_owned()),
        },
    }
}
