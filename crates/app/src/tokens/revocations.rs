//! Revocation signals: end the open streams and sessions of a token once it is revoked, and those of a page session once
//! it has ended.
//!
//! The follower of the journal reports here which token was revoked, by whichever process. Every caller carries the
//! signal of its token, so a surface waits for [`crate::Caller::wait_for_revocation`] while it sends.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

/// A signal for each token and page session that was used here or revoked. There are never more than there are of these.
#[derive(Debug, Default)]
pub struct Revocations(Mutex<HashMap<Arc<str>, CancellationToken>>);

impl Revocations {
    /// The signal of a token. It is cancelled once the token is revoked, and stays cancelled.
    pub fn signal(&self, token_id: &str) -> CancellationToken {
        let mut signals = self.lock();
        match signals.get(token_id) {
            Some(signal) => signal.clone(),
            None => signals.entry(token_id.into()).or_default().clone(),
        }
    }

    /// Ends the open streams and sessions of the token, and all that it opens later.
    pub fn revoke(&self, token_id: &str) {
        self.signal(token_id).cancel();
    }

    /// Ends the open streams and sessions of the token. It may connect again if it is still valid.
    pub fn interrupt(&self, token_id: &str) {
        let signal = self.lock().remove(token_id);
        if let Some(signal) = signal {
            signal.cancel();
        }
    }

    /// Interrupts every token that is not revoked, for when it is unknown which token a record is about.
    pub fn interrupt_all(&self) {
        let mut interrupted = Vec::new();
        self.lock().retain(|_, signal| {
            if !signal.is_cancelled() {
                interrupted.push(signal.clone());
            }
            signal.is_cancelled()
        });
        interrupted.iter().for_each(CancellationToken::cancel);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Arc<str>, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revoked_token_stays_revoked_and_an_interrupted_one_may_come_back() {
        let revocations = Revocations::default();
        let [ada, bo, cy] = ["ada", "bo", "cy"].map(|id| revocations.signal(id));
        revocations.revoke("ada");
        revocations.interrupt("bo");
        assert!(ada.is_cancelled() && bo.is_cancelled() && !cy.is_cancelled());
        assert!(revocations.signal("ada").is_cancelled() && !revocations.signal("bo").is_cancelled());
        revocations.interrupt_all();
        assert!(cy.is_cancelled() && !revocations.signal("cy").is_cancelled());
        assert!(revocations.signal("ada").is_cancelled(), "what was revoked is not forgotten");
    }

    #[test]
    fn a_token_that_was_revoked_before_anybody_asked_is_known_as_revoked() {
        let revocations = Revocations::default();
        revocations.revoke("ada");
        assert!(revocations.signal("ada").is_cancelled());
    }
}
