//! Remembers that the SQLite file is damaged, until it is replaced. Intact data is still read, and every write is
//! refused, since it could make the damage worse.

use std::sync::atomic::{AtomicBool, Ordering};

use skald_journal::{StoreError, StoreHealth};
use tokio::sync::watch;

use super::open_database::is_damage;
use super::writer::to_store_error;

pub(super) struct Damage {
    is_found: AtomicBool,
    health: watch::Sender<StoreHealth>,
}

impl Damage {
    pub(super) fn new(health: watch::Sender<StoreHealth>) -> Self {
        Self { is_found: AtomicBool::new(false), health }
    }

    pub(super) fn is_found(&self) -> bool {
        self.is_found.load(Ordering::Acquire)
    }

    /// Converts an error for the caller, and remembers damage.
    pub(super) fn record_error(&self, error: &rusqlite::Error) -> StoreError {
        if is_damage(error) && !self.is_found.swap(true, Ordering::AcqRel) {
            tracing::error!(%error, "the file is damaged; nothing more is written to it");
            self.health.send_replace(StoreHealth::Damaged);
        }
        to_store_error(error)
    }

    /// The error for writes to a damaged file.
    pub(super) fn refusal_error() -> StoreError {
        StoreError::Damaged("nothing is written to a damaged file".to_owned())
    }
}
