//! One connection per node that tells other nodes of commits, and hears of theirs.
//!
//! Notifying inside an append would make all appends wait for one lock, so it is done here, many commits at a time.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::poll_fn;
use tokio::sync::{Notify, mpsc, watch};
use tokio_postgres::{AsyncMessage, Client};

use super::address::Database;
use super::link::explain;
use super::sql;

/// Commits within this time are told of together.
const COALESCE: Duration = Duration::from_millis(5);
/// Followers look this often even if they hear nothing.
const LOOK: Duration = Duration::from_secs(1);
/// The first and the longest pause between attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));

pub(super) struct Notifier {
    pub(super) database: Database,
    /// This node among those on the database.
    pub(super) node: String,
    pub(super) news: Arc<Notify>,
    pub(super) wakes: watch::Sender<u64>,
}

impl Notifier {
    /// Runs until it is aborted.
    pub(super) async fn run(self) {
        let mut pause = PAUSES.0;
        loop {
            match self.connect().await {
                Ok((client, heard)) => {
                    pause = PAUSES.0;
                    // Whatever was said while nobody listened.
                    self.wake();
                    self.pass_on(&client, heard).await;
                }
                Err(error) => tracing::debug!(error = explain(&error), "nobody tells of commits elsewhere"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSES.1);
            // Followers still look, and learn that the database cannot be reached.
            self.wake();
        }
    }

    /// Listens. What is heard comes through the channel, which ends with the connection.
    async fn connect(&self) -> Result<(Client, mpsc::UnboundedReceiver<String>), tokio_postgres::Error> {
        let (client, mut connection) = self.database.connect().await?;
        let (hear, heard) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut messages = poll_fn(move |context| connection.poll_message(context));
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(notification) = message {
                    // The notifier may have ended before the connection.
                    let _ = hear.send(notification.payload().to_owned());
                }
            }
        });
        client.batch_execute(sql::LISTEN).await?;
        Ok((client, heard))
    }

    async fn pass_on(&self, client: &Client, mut heard: mpsc::UnboundedReceiver<String>) {
        let mut look = tokio::time::interval(LOOK);
        loop {
            tokio::select! {
                message = heard.recv() => match message {
                    Some(node) if node == self.node => {}
                    Some(_) => self.wake(),
                    None => return,
                },
                () = self.news.notified() => {
                    if client.execute(sql::NOTIFY, &[&self.node]).await.is_err() {
                        // It is told of again once there is a connection.
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
