//! What changed, for whoever watches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError, error::TryRecvError};

use crate::Caller;

/// A change that a subscriber may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The resource at this URI reads differently now.
    Resource(Arc<str>),
    /// The list of resources is another one.
    ResourceList,
}

/// A change, and whom it concerns: those who are in the campaign, or everybody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Happened {
    pub change: Change,
    pub campaign_id: Option<Arc<str>>,
}

/// Whom something concerns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Audience {
    everybody: bool,
    campaign_ids: BTreeSet<Arc<str>>,
}

impl Audience {
    fn add(&mut self, campaign_id: Option<Arc<str>>) {
        match campaign_id {
            Some(id) => {
                self.campaign_ids.insert(id);
            }
            None => self.everybody = true,
        }
    }

    fn has(&self, caller: &Caller) -> bool {
        self.everybody || self.campaign_ids.iter().any(|id| caller.role_in(id).is_some())
    }
}

/// What changed since the watcher last looked, each thing once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct News {
    resources: BTreeMap<Arc<str>, Audience>,
    resource_list: Audience,
    /// The watcher was too slow and missed some: everything it watches may have changed.
    everything: bool,
}

impl News {
    /// Whether a resource reads differently for this caller now.
    pub fn concerns(&self, caller: &Caller, uri: &str) -> bool {
        self.everything || self.resources.get(uri).is_some_and(|audience| audience.has(caller))
    }

    pub fn concerns_list(&self, caller: &Caller) -> bool {
        self.everything || self.resource_list.has(caller)
    }

    fn add(&mut self, happened: Happened) {
        let audience = match happened.change {
            Change::Resource(uri) => self.resources.entry(uri).or_default(),
            Change::ResourceList => &mut self.resource_list,
        };
        audience.add(happened.campaign_id);
    }
}

/// A stream of changes from now on.
pub struct Changes(Receiver<Happened>);

impl Changes {
    pub(crate) fn new(receiver: Receiver<Happened>) -> Self {
        Self(receiver)
    }

    /// Waits for a change and takes with it all that have gathered meanwhile. `None` once there will be no more.
    pub async fn next(&mut self) -> Option<News> {
        let mut news = News::default();
        match self.0.recv().await {
            Ok(happened) => news.add(happened),
            Err(RecvError::Lagged(_)) => news.everything = true,
            Err(RecvError::Closed) => return None,
        }
        loop {
            match self.0.try_recv() {
                Ok(happened) => news.add(happened),
                Err(TryRecvError::Lagged(_)) => news.everything = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(news),
            }
        }
    }
}
