//! Whether the database can be reached, as all connections see it that read and write.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use skald_journal::Health;
use tokio::sync::watch;

pub(super) struct Status {
    down: Mutex<BTreeMap<usize, String>>,
    health: watch::Sender<Health>,
}

impl Status {
    pub(super) fn new() -> Self {
        Self { down: Mutex::default(), health: watch::Sender::new(Health::Ready) }
    }

    pub(super) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    pub(super) fn is_down(&self, number: usize, why: &str) {
        self.change(|down| drop(down.insert(number, why.to_owned())));
    }

    pub(super) fn is_up(&self, number: usize) {
        self.change(|down| drop(down.remove(&number)));
    }

    fn change(&self, change: impl FnOnce(&mut BTreeMap<usize, String>)) {
        let mut down = self.down.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut down);
        let health = down.values().next().map_or(Health::Ready, |why| Health::Unready(why.clone()));
        match (&*self.health.borrow(), &health) {
            (Health::Ready, Health::Unready(why)) => tracing::error!(why, "the database cannot be reached"),
            (Health::Unready(_), Health::Ready) => tracing::info!("the database can be reached again"),
            (Health::Ready, Health::Ready) | (Health::Unready(_), Health::Unready(_)) => {}
        }
        self.health.send_replace(health);
    }
}
