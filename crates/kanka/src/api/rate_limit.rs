//! Rate-limit figures in every API answer.

use std::time::Duration;

use skald_app::RateAllowance;

/// What callers without a limit are told.
const UNLIMITED_PER_MINUTE: u32 = 60_000;

/// What a principal may send now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct RequestAllowance {
    /// A minute.
    pub limit: u32,
    pub remaining: u32,
    /// How long to wait, if this request is one too many.
    pub retry_after: Option<Duration>,
}

impl RequestAllowance {
    pub(super) fn is_refused(&self) -> bool {
        self.retry_after.is_some()
    }
}

impl From<RateAllowance> for RequestAllowance {
    fn from(allowance: RateAllowance) -> Self {
        match allowance.figure {
            None => Self { limit: UNLIMITED_PER_MINUTE, remaining: UNLIMITED_PER_MINUTE, retry_after: None },
            Some(limit) => {
                let retry_after = allowance.retry_after_ms.map(Duration::from_millis);
                Self { limit, remaining: allowance.remaining, retry_after }
            }
        }
    }
}
