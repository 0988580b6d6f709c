//! Rate limits: token buckets by principal and class of request. The owner has none.
//!
//! Several processes on one store, called nodes, do not count together. Each allows a share of every figure, so that all
//! of them together stay within [`NODES_SUM`] of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use jiff::Timestamp;
use skald_domain::access::RateFigures;
use skald_domain::limits;

use crate::{Code, Fault, Holder, OperationEntry, RequestControl, RequestSurface};

const MINUTE_US: i64 = 60_000_000;
/// All nodes together allow 1.5 times the configured rate, so that a client that stays at one of two nodes gets 75 % of
/// it.
const NODES_SUM: f64 = 1.5;
/// How many principals are remembered before those without a debt are forgotten.
const PRINCIPALS_REMEMBERED: usize = 4_096;

/// The classes of requests, which are counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateClass {
    /// A call of an operation, or a prompt.
    Call,
    /// A resource, a `GET` of REST, or a completion.
    Read,
    /// A `*/list` method of MCP, or an operation that lists.
    List,
    /// A request of the web page, however many operations it takes.
    Page,
    /// A request to the Kanka-compatible API, likewise.
    Kanka,
}

impl RateClass {
    /// The class of a request; `None` if its surface counts requests itself, or has counted this one. What lists is a list however it is asked
    /// for.
    pub(crate) fn of_request(entry: &OperationEntry, control: &RequestControl) -> Option<Self> {
        if control.is_counted || matches!(control.surface, RequestSurface::Page | RequestSurface::Kanka) {
            return None;
        }
        Some(match (entry.lists, control.is_read) {
            (true, _) => Self::List,
            (false, true) => Self::Read,
            (false, false) => Self::Call,
        })
    }

    /// The class in words, as errors name it.
    fn plural(self) -> &'static str {
        match self {
            Self::Call => "calls",
            Self::Read => "reads",
            Self::List => "lists",
            Self::Page => "requests of the page",
            Self::Kanka => "requests",
        }
    }

    fn figure(self, figures: RateFigures) -> Option<u32> {
        match self {
            Self::Call => figures.calls,
            Self::Read => figures.reads,
            Self::List => figures.lists,
            Self::Page => figures.page,
            Self::Kanka => figures.kanka,
        }
    }

    /// How far a principal may run ahead: the requests of so long a time may come at once. A client that connects sends
    /// several lists together.
    fn burst_us(self) -> i64 {
        match self {
            Self::Call | Self::Read | Self::Page | Self::Kanka => MINUTE_US,
            Self::List => MINUTE_US * i64::from(limits::LIST_BURST / limits::LISTS_PER_MINUTE),
        }
    }
}

/// The figures of a server for tokens that have none of their own: requests a minute, 0 for no limit.
pub const DEFAULT_RATE_FIGURES: RateFigures = RateFigures {
    calls: Some(limits::CALLS_PER_MINUTE),
    reads: Some(limits::READS_PER_MINUTE),
    lists: Some(limits::LISTS_PER_MINUTE),
    page: Some(limits::PAGE_REQUESTS_PER_MINUTE),
    kanka: Some(limits::KANKA_REQUESTS_PER_MINUTE),
};

/// The buckets of all principals. Without figures there are no limits.
#[derive(Debug, Default)]
pub struct RateLimits {
    figures: OnceLock<RateFigures>,
    /// How many nodes share the figures; 0 is not known yet.
    nodes: AtomicUsize,
    buckets: Mutex<HashMap<String, [Bucket; 5]>>,
}

/// When the bucket will be full again, in microseconds since 1970.
type Bucket = i64;

impl RateLimits {
    pub fn new(figures: RateFigures) -> Self {
        Self { figures: figures.into(), ..Self::default() }
    }

    /// Sets the figures of tokens that have none of their own. Only the first call counts: a server does it when it
    /// starts.
    pub fn set_figures(&self, figures: RateFigures) {
        let _ = self.figures.set(figures);
    }

    /// Sets how many nodes share the figures.
    pub fn set_nodes(&self, nodes: usize) {
        self.nodes.store(nodes, Ordering::Relaxed);
        metrics::gauge!("skald_nodes").set(f64::from(u32::try_from(nodes).unwrap_or(u32::MAX)));
    }

    /// Counts one request, and says what is left.
    pub(crate) fn take(&self, holder: &Holder, class: RateClass, now: Timestamp) -> RateAllowance {
        let own = class.figure(holder.limits);
        let figure = own.or_else(|| class.figure(*self.figures.get()?)).unwrap_or_default();
        if figure == 0 {
            return RateAllowance::UNLIMITED;
        }
        let interval = self.interval_us(figure);
        let burst = class.burst_us().max(interval);
        let now = now.as_microsecond();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= PRINCIPALS_REMEMBERED && !buckets.contains_key(&holder.id) {
            buckets.retain(|_, buckets| buckets.iter().any(|full_at| *full_at > now));
        }
        let bucket = match buckets.get_mut(&holder.id) {
            Some(buckets) => &mut buckets[class as usize],
            None => &mut buckets.entry(holder.id.clone()).or_default()[class as usize],
        };
        // The upper bound only counts after the clock was set back.
        let full_at = (*bucket).clamp(now, now + burst) + interval;
        let missing_us = full_at - burst - now;
        if missing_us > 0 {
            let retry_after_ms = Some(missing_us.unsigned_abs().div_ceil(1_000));
            return RateAllowance { figure: Some(figure), remaining: 0, retry_after_ms };
        }
        *bucket = full_at;
        let remaining = u32::try_from(-missing_us / interval).unwrap_or(u32::MAX);
        RateAllowance { figure: Some(figure), remaining, retry_after_ms: None }
    }

    /// Microseconds between two requests at the figure, or at this node's share of it; at least one, since it divides.
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "a few minutes at most")]
    fn interval_us(&self, figure: u32) -> i64 {
        let nodes = self.nodes.load(Ordering::Relaxed).max(1);
        let share = (NODES_SUM / nodes as f64).min(1.0);
        ((MINUTE_US as f64 / (f64::from(figure) * share)) as i64).max(1)
    }
}

/// What a principal may send now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateAllowance {
    /// Requests a minute; `None` for no limit.
    pub figure: Option<u32>,
    pub remaining: u32,
    /// How long to wait, if this request is one too many.
    pub retry_after_ms: Option<u64>,
}

impl RateAllowance {
    pub const UNLIMITED: Self = Self { figure: None, remaining: u32::MAX, retry_after_ms: None };

    /// Refuses a request that is one too many.
    pub(crate) fn check(self, class: RateClass) -> Result<(), Fault> {
        let (Some(figure), Some(wait_ms)) = (self.figure, self.retry_after_ms) else { return Ok(()) };
        let message = format!("this token has used up its {figure} {} a minute", class.plural());
        let fault = Fault::new(Code::RateLimited, message).retry_after_ms(wait_ms);
        Err(fault.hint(format!("wait {wait_ms} ms; whoever runs the server can give the token another limit")))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::PrincipalKind;

    fn holder(id: &str, own: RateFigures) -> Holder {
        Holder { limits: own, ..Holder::new(id, id, PrincipalKind::Human, BTreeMap::new()) }
    }

    fn check(limits: &RateLimits, holder: &Holder, class: RateClass, now: Timestamp) -> Result<(), Fault> {
        limits.take(holder, class, now).check(class)
    }

    fn moment(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_000_000_000_000 + milliseconds).expect("a time")
    }

    /// How many of a thousand requests at one time are taken.
    fn count_taken(limits: &RateLimits, holder: &Holder, class: RateClass, now: Timestamp) -> usize {
        (0..1_000).filter(|_| check(limits, holder, class, now).is_ok()).count()
    }

    /// More requests than microseconds: the interval between two of them must not become zero.
    #[test]
    fn the_largest_figure_is_a_limit_like_others() {
        let limits = RateLimits::default();
        let most = holder("Bot", RateFigures { calls: Some(u32::MAX), ..RateFigures::default() });
        for _ in 0..3 {
            assert_eq!(limits.take(&most, RateClass::Call, Timestamp::UNIX_EPOCH).retry_after_ms, None);
        }
    }

    #[test]
    fn each_class_has_its_figure_and_lists_a_burst() {
        let (limits, ana) = (RateLimits::new(DEFAULT_RATE_FIGURES), holder("ana", RateFigures::default()));
        let counts = [RateClass::Call, RateClass::Read, RateClass::List]
            .map(|class| count_taken(&limits, &ana, class, moment(0)));
        assert_eq!(counts, [60, 100, 30]);
        let counts = [RateClass::Page, RateClass::Kanka].map(|class| count_taken(&limits, &ana, class, moment(0)));
        assert_eq!(
            counts,
            [limits::PAGE_REQUESTS_PER_MINUTE as usize, 90],
            "the page and the Kanka-compatible API are counted apart"
        );
        let bo = holder("bo", RateFigures::default());
        assert_eq!(count_taken(&limits, &bo, RateClass::Call, moment(0)), 60, "each principal has buckets of its own");
        assert_eq!(count_taken(&limits, &ana, RateClass::Call, moment(30_000)), 30);
        assert_eq!(count_taken(&limits, &ana, RateClass::List, moment(60_000)), 10);
    }

    #[test]
    fn an_allowance_says_what_is_left() {
        let (limits, ana) = (RateLimits::new(DEFAULT_RATE_FIGURES), holder("ana", RateFigures::default()));
        for remaining in (0..90).rev() {
            let allowance = limits.take(&ana, RateClass::Kanka, moment(0));
            assert_eq!((allowance.figure, allowance.remaining, allowance.retry_after_ms), (Some(90), remaining, None));
        }
        let refused = limits.take(&ana, RateClass::Kanka, moment(0));
        assert_eq!((refused.remaining, refused.retry_after_ms), (0, Some(667)));
    }

    #[test]
    fn a_refusal_says_when_there_is_room_again() {
        let (limits, ana) = (RateLimits::new(DEFAULT_RATE_FIGURES), holder("ana", RateFigures::default()));
        count_taken(&limits, &ana, RateClass::List, moment(0));
        let fault = check(&limits, &ana, RateClass::List, moment(1_000)).expect_err("refused");
        assert_eq!((fault.code(), fault.body().retry_after_ms), (Code::RateLimited, Some(5_000)));
        assert!(check(&limits, &ana, RateClass::List, moment(5_999)).is_err());
        assert!(check(&limits, &ana, RateClass::List, moment(6_000)).is_ok());
    }

    #[test]
    fn a_token_may_have_figures_of_its_own_and_none() {
        let limits = RateLimits::new(DEFAULT_RATE_FIGURES);
        let own = RateFigures { calls: Some(2), reads: Some(0), ..RateFigures::default() };
        let ana = holder("ana", own);
        let counts = [RateClass::Call, RateClass::Read, RateClass::List]
            .map(|class| count_taken(&limits, &ana, class, moment(0)));
        assert_eq!(counts, [2, 1_000, 30]);
        assert_eq!(count_taken(&RateLimits::default(), &holder("bo", own), RateClass::List, moment(0)), 1_000);
    }

    #[test]
    fn nodes_together_stay_within_half_more_than_the_figure() {
        for nodes in 1..=5 {
            let ana = holder("ana", RateFigures::default());
            for (class, figure) in [(RateClass::Call, 60), (RateClass::Page, 600), (RateClass::Kanka, 90)] {
                let each = (0..nodes).map(|_| {
                    let limits = RateLimits::new(DEFAULT_RATE_FIGURES);
                    limits.set_nodes(nodes);
                    count_taken(&limits, &ana, class, moment(0))
                });
                let sum: usize = each.sum();
                assert!((figure * 9 / 10..=figure * 3 / 2).contains(&sum), "{nodes} nodes allow {sum} of {figure}");
            }
        }
        let one_a_minute = holder("bo", RateFigures { calls: Some(1), ..RateFigures::default() });
        let limits = RateLimits::default();
        limits.set_nodes(10);
        assert_eq!(count_taken(&limits, &one_a_minute, RateClass::Call, moment(0)), 1, "a small share is still one");
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let (limits, ana) = (RateLimits::new(DEFAULT_RATE_FIGURES), holder("ana", RateFigures::default()));
        count_taken(&limits, &ana, RateClass::Call, moment(3_600_000));
        let fault = check(&limits, &ana, RateClass::Call, moment(0)).expect_err("refused");
        assert_eq!(fault.body().retry_after_ms, Some(1_000));
    }
}
