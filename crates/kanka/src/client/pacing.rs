//! Request pacing: sends as many requests per minute as the account may, by our own count and by the limits in answers.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

const WINDOW: Duration = Duration::from_mins(1);
/// The requests per minute that every account has, used until an answer names the limit of this one.
pub(super) const LIMIT_DEFAULT: u32 = 30;
/// The most requests per minute that are counted.
const LIMIT_MAX: u32 = 10_000;

/// The clock for pacing. Tests use one that does not wait.
pub trait PaceClock: Send + Sync + 'static {
    /// Time since some moment.
    fn now(&self) -> Duration;

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The time of this machine.
pub struct SystemPaceClock(Instant);

impl Default for SystemPaceClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl PaceClock for SystemPaceClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

pub(super) struct Pace {
    pub(super) clock: Arc<dyn PaceClock>,
    window: Mutex<RequestWindow>,
}

struct RequestWindow {
    limit: u32,
    /// When requests of the last minute were sent, the oldest first.
    sent: VecDeque<Duration>,
}

impl Pace {
    pub(super) fn new(clock: Arc<dyn PaceClock>) -> Self {
        Self { clock, window: Mutex::new(RequestWindow { limit: LIMIT_DEFAULT, sent: VecDeque::new() }) }
    }

    /// Waits until a request may be sent, and counts it.
    pub(super) async fn wait(&self) {
        while let Some(delay) = self.take() {
            self.clock.sleep(delay).await;
        }
    }

    /// Counts a request, or says how long to wait.
    fn take(&self) -> Option<Duration> {
        let now = self.clock.now();
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        while window.sent.front().is_some_and(|at| now.saturating_sub(*at) >= WINDOW) {
            window.sent.pop_front();
        }
        if window.sent.len() < window.limit as usize {
            window.sent.push_back(now);
            return None;
        }
        let oldest = window.sent.front().copied().unwrap_or(now);
        Some((oldest + WINDOW).saturating_sub(now).max(Duration::from_millis(1)))
    }

    /// Stores the limit in an answer and what is left of it: other programs of the same account use up the same limit.
    pub(super) fn note_limit(&self, limit: Option<u32>, remaining: Option<u32>) {
        let now = self.clock.now();
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(limit) = limit.filter(|limit| *limit > 0) {
            window.limit = limit.min(LIMIT_MAX);
        }
        if let Some(remaining) = remaining {
            let used = window.limit.saturating_sub(remaining) as usize;
            while window.sent.len() < used {
                window.sent.push_back(now);
            }
        }
    }

    /// Waits before the next attempt, such as when the account is past its limit.
    pub(super) async fn pause(&self, duration: Duration) {
        self.clock.sleep(duration).await;
    }

    pub(super) fn limit(&self) -> u32 {
        self.window.lock().unwrap_or_else(PoisonError::into_inner).limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock whose sleeps take no time.
    #[derive(Default, Clone)]
    struct InstantClock(Arc<Mutex<Duration>>);

    impl PaceClock for InstantClock {
        fn now(&self) -> Duration {
            *self.0.lock().unwrap()
        }

        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
            *self.0.lock().unwrap() += duration;
            Box::pin(std::future::ready(()))
        }
    }

    #[tokio::test]
    async fn no_minute_has_more_requests_than_the_account_may_send() {
        let clock = InstantClock::default();
        let pace = Pace::new(Arc::new(clock.clone()));
        let mut sent = Vec::new();
        for _ in 0..95 {
            pace.wait().await;
            sent.push(clock.now());
        }
        for window in sent.windows(LIMIT_DEFAULT as usize + 1) {
            assert!(window[LIMIT_DEFAULT as usize] >= window[0] + WINDOW);
        }
        assert_eq!(sent[94], WINDOW * 3);
        pace.note_limit(Some(90), None);
        assert_eq!(pace.limit(), 90);
        for _ in 0..60 {
            pace.wait().await;
        }
        assert_eq!(clock.now(), WINDOW * 3, "a subscriber sends three times as many");
    }

    #[tokio::test]
    async fn what_other_programs_send_counts() {
        let clock = InstantClock::default();
        let pace = Pace::new(Arc::new(clock.clone()));
        pace.wait().await;
        pace.note_limit(Some(30), Some(1));
        pace.wait().await;
        assert_eq!(clock.now(), Duration::ZERO);
        pace.wait().await;
        assert_eq!(clock.now(), WINDOW);
    }
}
