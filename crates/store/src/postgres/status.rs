//! Health of the database: which of the reading and writing connections are down.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use skald_journal::StoreHealth;
use tokio::sync::watch;

pub(super) struct Status {
    down: Mutex<BTreeMap<usize, String>>,
    health: watch::Sender<StoreHealth>,
}

impl Status {
    pub(super) fn new() -> Self {
        Self { down: Mutex::default(), health: watch::Sender::new(StoreHealth::Ready) }
    }

    pub(super) fn health(&self) -> watch::Receiver<StoreHealth> {
        self.health.subscribe()
    }

    pub(super) fn set_down(&self, number: usize, why: &str) {
        self.update(|down| drop(down.insert(number, why.to_owned())));
    }

    pub(super) fn set_up(&self, number: usize) {
        self.update(|down| drop(down.remove(&number)));
    }

    fn update(&self, change: impl FnOnce(&mut BTreeMap<usize, String>)) {
        let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut down);
        let health = down.values().next().map_or(StoreHealth::Ready, |why| StoreHealth::Unready(why.clone()));
        match (&*self.health.borrow(), &health) {
            (StoreHealth::Ready, StoreHealth::Unready(why)) => tracing::error!(why, "the database cannot be reached"),
            (StoreHealth::Unready(_), StoreHealth::Ready) => tracing::info!("the database can be reached again"),
            _ => {}
        }
        self.health.send_replace(health);
    }
}
