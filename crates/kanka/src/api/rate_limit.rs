//! The rate limit of the API: a token bucket for each principal, filled evenly over a minute. The owner is not limited.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use skald_app::Principal;

/// What callers without a limit are told, since every answer names one: clients pace themselves by it.
const UNLIMITED_PER_MINUTE: u32 = 60_000;
/// Buckets that are kept before full ones, which say nothing, are dropped.
const BUCKETS_MAX: usize = 10_000;

pub(super) struct RateLimit {
    per_minute: Option<u32>,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    requests_left: f64,
    filled_at: Instant,
}

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

impl RateLimit {
    pub(super) fn new(per_minute: Option<u32>) -> Self {
        Self { per_minute: per_minute.filter(|limit| *limit > 0), buckets: Mutex::default() }
    }

    /// Counts a request of a principal.
    pub(super) fn take(&self, principal: &Principal) -> RequestAllowance {
        match (self.per_minute, principal) {
            (Some(limit), Principal::Holder(holder)) => self.take_at(limit, &holder.id, Instant::now()),
            _ => RequestAllowance { limit: UNLIMITED_PER_MINUTE, remaining: UNLIMITED_PER_MINUTE, retry_after: None },
        }
    }

    fn take_at(&self, limit: u32, id: &str, now: Instant) -> RequestAllowance {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, bucket| bucket.refill(limit, now).requests_left < f64::from(limit));
        }
        let full = Bucket { requests_left: f64::from(limit), filled_at: now };
        let mut bucket = buckets.get(id).map_or(full, |bucket| bucket.refill(limit, now));
        let retry_after = (bucket.requests_left < 1.0)
            .then(|| Duration::from_secs_f64((1.0 - bucket.requests_left) * 60.0 / f64::from(limit)));
        if retry_after.is_none() {
            bucket.requests_left -= 1.0;
        }
        buckets.insert(id.to_owned(), bucket);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the limit")]
        RequestAllowance { limit, remaining: bucket.requests_left as u32, retry_after }
    }
}

impl Bucket {
    fn refill(self, limit: u32, now: Instant) -> Self {
        let seconds = now.saturating_duration_since(self.filled_at).as_secs_f64();
        let requests_left = (self.requests_left + seconds * f64::from(limit) / 60.0).min(f64::from(limit));
        Self { requests_left, filled_at: now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_emptied_by_requests_and_filled_by_time() {
        let (limits, now) = (RateLimit::new(Some(30)), Instant::now());
        for remaining in (0..30).rev() {
            let allowance = limits.take_at(30, "ada", now);
            assert_eq!((allowance.remaining, allowance.is_refused()), (remaining, false));
        }
        let refused = limits.take_at(30, "ada", now);
        assert_eq!(refused.retry_after, Some(Duration::from_secs(2)));
        assert!(!limits.take_at(30, "ben", now).is_refused(), "each principal has its own");
        assert!(!limits.take_at(30, "ada", now + Duration::from_secs(2)).is_refused());
        assert!(limits.take_at(30, "ada", now + Duration::from_secs(3)).is_refused());
        assert_eq!(limits.take_at(30, "ada", now + Duration::from_mins(10)).remaining, 29);
    }

    #[test]
    fn the_owner_and_a_server_without_a_limit_are_not_counted() {
        for limits in [RateLimit::new(Some(1)), RateLimit::new(None), RateLimit::new(Some(0))] {
            for _ in 0..3 {
                assert!(!limits.take(&Principal::Owner).is_refused());
            }
        }
    }
}
