//! What changed, for whoever watches.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError, error::TryRecvError};

/// A change that a subscriber may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The resource at this URI reads differently now.
    Resource(Arc<str>),
    /// The list of resources is another one.
    ResourceList,
}

/// What changed since the watcher last looked, each thing once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct News {
    pub resources: BTreeSet<Arc<str>>,
    pub resource_list: bool,
    /// The watcher was too slow and missed some: everything it watches may have changed.
    pub everything: bool,
}

impl News {
    pub fn concerns(&self, uri: &str) -> bool {
        self.everything || self.resources.contains(uri)
    }

    pub fn concerns_list(&self) -> bool {
        self.everything || self.resource_list
    }

    fn add(&mut self, change: Change) {
        match change {
            Change::Resource(uri) => {
                self.resources.insert(uri);
            }
            Change::ResourceList => self.resource_list = true,
        }
    }
}

/// A stream of changes from now on.
pub struct Changes(Receiver<Change>);

impl Changes {
    pub fn new(receiver: Receiver<Change>) -> Self {
        Self(receiver)
    }

    /// Waits for a change and takes with it all that have gathered meanwhile. `None` once there will be no more.
    pub async fn next(&mut self) -> Option<News> {
        let mut news = News::default();
        match self.0.recv().await {
            Ok(change) => news.add(change),
            Err(RecvError::Lagged(_)) => news.everything = true,
            Err(RecvError::Closed) => return None,
        }
        loop {
            match self.0.try_recv() {
                Ok(change) => news.add(change),
                Err(TryRecvError::Lagged(_)) => news.everything = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(news),
            }
        }
    }
}
