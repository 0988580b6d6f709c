//! What changed, for whoever watches.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use tokio::sync::broadcast::{Receiver, error::RecvError, error::TryRecvError};

use crate::{Caller, Conversation};

/// A change that a subscriber may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The resource at this URI reads differently now.
    Resource(Arc<str>),
    /// The list of resources is another one.
    ResourceList,
}

/// A change, and whom it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Happened {
    pub change: Change,
    pub whom: Whom,
}

/// Whom a change concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Whom {
    Everybody,
    /// Those who have a role in this campaign.
    InCampaign(Arc<str>),
    /// One conversation of the principal with this id.
    Conversation(Arc<str>, Conversation),
}

/// All whom something concerns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Audience {
    everybody: bool,
    campaign_ids: BTreeSet<Arc<str>>,
    conversations: HashSet<(Arc<str>, Conversation)>,
}

impl Audience {
    fn add(&mut self, whom: Whom) {
        match whom {
            Whom::Everybody => self.everybody = true,
            Whom::InCampaign(id) => drop(self.campaign_ids.insert(id)),
            Whom::Conversation(id, conversation) => drop(self.conversations.insert((id, conversation))),
        }
    }

    fn has(&self, caller: &Caller) -> bool {
        self.everybody
            || self.conversations.iter().any(|(id, of)| **id == *caller.id() && *of == caller.conversation)
            || self.campaign_ids.iter().any(|id| caller.role_in(id).is_some())
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
        audience.add(happened.whom);
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
