//! Debounce of change notifications per run: the first at once, then a pause; the last change is always reported.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Minimum time between two notifications about the same run.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct Debounce {
    told: HashMap<String, LastEmitted>,
}

#[derive(Debug)]
struct LastEmitted {
    at: Instant,
    /// Whether the run changed since.
    has_changed: bool,
}

impl Debounce {
    /// Records a change. Returns whether to report it now; otherwise it will be due later.
    pub(super) fn record_change(&mut self, run: &str, now: Instant) -> bool {
        match self.told.get_mut(run) {
            Some(told) if now < told.at + MIN_INTERVAL => {
                told.has_changed = true;
                false
            }
            Some(told) => {
                *told = LastEmitted { at: now, has_changed: false };
                true
            }
            None => {
                self.told.insert(run.to_owned(), LastEmitted { at: now, has_changed: false });
                true
            }
        }
    }

    /// The runs whose delayed changes are to be reported now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<String> {
        self.told.retain(|_, told| told.has_changed || now < told.at + MIN_INTERVAL);
        let mut due = Vec::new();
        for (run, told) in &mut self.told {
            if told.has_changed && now >= told.at + MIN_INTERVAL {
                *told = LastEmitted { at: now, has_changed: false };
                due.push(run.clone());
            }
        }
        due
    }

    /// When the next delayed change is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.told.values().filter(|told| told.has_changed).map(|told| told.at + MIN_INTERVAL).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_told_at_its_begin_and_at_its_end() {
        let (mut pace, start) = (Debounce::default(), Instant::now());
        let after = |millis| start + Duration::from_millis(millis);
        assert!(pace.record_change("a", start));
        assert_eq!(pace.next_due(), None);
        assert!(!pace.record_change("a", after(1)));
        assert!(!pace.record_change("a", after(99)));
        assert!(pace.record_change("b", after(99)), "others are told as ever");
        assert_eq!(pace.next_due(), Some(after(100)));
        assert!(pace.take_due(after(99)).is_empty());
        assert_eq!(pace.take_due(after(100)), ["a"]);
        assert!(!pace.record_change("a", after(101)), "what is told late is told");
        assert_eq!(pace.take_due(after(200)), ["a"]);
        assert!(pace.take_due(after(300)).is_empty());
        assert!(pace.told.is_empty(), "nothing is remembered of the quiet");
    }
}
