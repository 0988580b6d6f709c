//! The fault for a command that the journal did not append.

use skald_journal::JournalFailure;

use crate::{App, Code, Fault};

/// When a rate-limited command may be sent again.
const RETRY_AFTER_MS: u64 = 50;

impl App {
    /// The fault for a failed command; `refused` gives the one for a refusal of the noun's rules.
    pub(crate) fn journal_fault<R>(&self, failure: JournalFailure<R>, refused: impl FnOnce(R) -> Fault) -> Fault {
        fault_from_failure(failure, refused, || self.new_request_id())
    }
}

fn fault_from_failure<R>(
    failure: JournalFailure<R>,
    refused: impl FnOnce(R) -> Fault,
    request_id: impl FnOnce() -> String,
) -> Fault {
    match failure {
        JournalFailure::Refused(refusal) => refused(refusal),
        JournalFailure::RevisionConflict { expected, actual } => {
            Fault::new(Code::RevisionConflict, format!("revision {expected} was expected, but it is at {actual}"))
                .hint(format!("read it again, decide again, and expect revision {actual}"))
        }
        JournalFailure::IdempotencyMismatch { key } => Fault::new(
            Code::IdempotencyMismatch,
            format!(
                "the key {:?} was used for another request",
                key.split_once('/').map_or(key.as_str(), |(_, key)| key)
            ),
        )
        .hint("use a new key for a new request"),
        JournalFailure::RateLimited => Fault::new(Code::RateLimited, "too many commands are waiting")
            .retry_after_ms(RETRY_AFTER_MS)
            .hint("send it again a little later"),
        JournalFailure::Unavailable(cause) => {
            unavailable_fault(&cause).hint("read whether it was done, and send it again if it was not")
        }
        JournalFailure::UnavailableUnderKey(cause) => {
            unavailable_fault(&cause).hint("send the same request with the same idempotency key again")
        }
        JournalFailure::Held(cause) => store_locked_fault(&cause),
        JournalFailure::Damaged(cause) => Fault::damaged_store(cause, request_id()),
        JournalFailure::Broken(cause) => Fault::internal(cause, request_id()),
    }
}

fn unavailable_fault(cause: &str) -> Fault {
    tracing::warn!(cause, "the journal is not available");
    Fault::new(Code::Unavailable, "it is not known whether this was stored")
}

/// The fault for an append that is blocked by another program's lock on the store. Nothing was stored.
pub(crate) fn store_locked_fault(cause: &str) -> Fault {
    tracing::warn!(cause, "the journal is held");
    Fault::new(Code::Unavailable, "another program holds the store; nothing was stored").hint(
        "whoever runs Skald should look for another skald on the same file that is stopped or stuck; then send it again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_its_code() {
        let code = |failure: JournalFailure<&str>| {
            let refused = |refusal: &str| Fault::new(Code::Rejected, refusal);
            fault_from_failure(failure, refused, || "req_1".to_owned()).code()
        };
        assert_eq!(code(JournalFailure::Refused("no")), Code::Rejected);
        assert_eq!(code(JournalFailure::RevisionConflict { expected: 1, actual: 2 }), Code::RevisionConflict);
        assert_eq!(code(JournalFailure::IdempotencyMismatch { key: "key".to_owned() }), Code::IdempotencyMismatch);
        assert_eq!(code(JournalFailure::RateLimited), Code::RateLimited);
        assert_eq!(code(JournalFailure::Unavailable("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(JournalFailure::UnavailableUnderKey("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(JournalFailure::Held("cause".to_owned())), Code::Unavailable);
        assert_eq!(code(JournalFailure::Damaged("cause".to_owned())), Code::InternalError);
        assert_eq!(code(JournalFailure::Broken("cause".to_owned())), Code::InternalError);
    }

    #[test]
    fn a_fault_tells_what_to_do_and_not_the_cause() {
        let refused = |refusal: &str| Fault::new(Code::Rejected, refusal);
        let told =
            |failure: JournalFailure<&str>| fault_from_failure(failure, refused, || "req_1".to_owned()).to_string();
        let conflict = "REVISION_CONFLICT: revision 1 was expected, but it is at 2. \
            read it again, decide again, and expect revision 2";
        assert_eq!(told(JournalFailure::RevisionConflict { expected: 1, actual: 2 }), conflict);
        let unavailable = JournalFailure::Unavailable("secret".to_owned());
        assert!(!told(unavailable.clone()).contains("secret"));
        assert!(told(unavailable.clone()).contains("send it again") && !told(unavailable.clone()).contains("key"));
        assert!(told(unavailable.with_idempotency_key()).contains("with the same idempotency key again"));
        assert_eq!(JournalFailure::<&str>::RateLimited.with_idempotency_key(), JournalFailure::RateLimited);
        assert!(!told(JournalFailure::Broken("secret".to_owned())).contains("secret"));
        let damaged = told(JournalFailure::Damaged("secret".to_owned()));
        assert!(damaged.contains("restore a backup") && !damaged.contains("secret"), "{damaged}");
    }
}
