//! Notifies other nodes of commits, and listens for theirs, on one connection per node.
//!
//! Notifying inside an append would make all appends wait for one lock, so it is done here, many commits at a time.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::poll_fn;
use tokio::sync::{Notify, mpsc, watch};
use tokio_postgres::{AsyncMessage, Client};

use super::address::Database;
use super::database_error::StatementError;
use super::reconnecting_connection::RECONNECT_PAUSES;
use super::session::{ConnectionTask, DATABASE_TIMEOUT, with_timeout};
use super::sql;

/// Commits within this time share one notification.
const COALESCE: Duration = Duration::from_millis(5);
/// Followers are woken this often even without a notification.
const WAKE_INTERVAL: Duration = Duration::from_secs(1);

pub(super) struct Notifier {
    pub(super) database: Database,
    /// A random name of this node, to recognise its own notifications.
    pub(super) node: String,
    pub(super) news: Arc<Notify>,
    pub(super) wakes: watch::Sender<u64>,
}

/// A connection that listens. The payloads of notifications come through the channel, which ends with the connection.
struct ListenConnection {
    client: Client,
    notifications: mpsc::UnboundedReceiver<String>,
    _connection: ConnectionTask,
}

impl Notifier {
    /// Runs until it is aborted.
    pub(super) async fn run(self) {
        let mut pause = RECONNECT_PAUSES.0;
        loop {
            match self.connect().await {
                Ok(listening) => {
                    pause = RECONNECT_PAUSES.0;
                    // Notifications may have been missed without a connection.
                    self.wake();
                    self.forward_notifications(listening).await;
                }
                Err(trouble) => tracing::debug!(why = trouble.message(), "nobody tells of commits elsewhere"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(RECONNECT_PAUSES.1);
            // Wake followers, so that they find out that the database cannot be reached.
            self.wake();
        }
    }

    async fn connect(&self) -> Result<ListenConnection, StatementError> {
        let (client, mut connection) = with_timeout(DATABASE_TIMEOUT, self.database.connect()).await?;
        let (notification_sender, notifications) = mpsc::unbounded_channel();
        let connection = ConnectionTask::spawn(async move {
            let mut messages = poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(notification) = message {
                    // The notifier may have ended before the connection.
                    let _ = notification_sender.send(notification.payload().to_owned());
                }
            }
        });
        with_timeout(DATABASE_TIMEOUT, client.batch_execute(sql::LISTEN)).await?;
        Ok(ListenConnection { client, notifications, _connection: connection })
    }

    async fn forward_notifications(&self, mut listening: ListenConnection) {
        let mut look = tokio::time::interval(WAKE_INTERVAL);
        loop {
            tokio::select! {
                message = listening.notifications.recv() => match message {
                    Some(node) if node == self.node => {}
                    Some(_) => self.wake(),
                    None => return,
                },
                () = self.news.notified() => {
                    if with_timeout(DATABASE_TIMEOUT, listening.client.execute(sql::NOTIFY, &[&self.node])).await.is_err() {
                        // Notify again once there is a connection.
                        self.news.notify_one();
                        return;
                    }
                    tokio::time::sleep(COALESCE).await;
                }
                _ = look.tick() => self.wake(),
            }
        }
    }

    fn wake(&self) {
        self.wakes.send_modify(|wakes| *wakes += 1);
    }
}
