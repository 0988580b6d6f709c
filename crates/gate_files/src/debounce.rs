//! Debounce of change notifications per run: the first at once, then a pause; the last change is always reported.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Minimum time between two notifications about the same run.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub(super) struct Debounce {
    last_emitted: HashMap<String, LastEmitted>,
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
        match self.last_emitted.get_mut(run) {
            Some(last_emitted) if now < last_emitted.at + MIN_INTERVAL => {
                last_emitted.has_changed = true;
                false
            }
            Some(last_emitted) => {
                *last_emitted = LastEmitted { at: now, has_changed: false };
                true
            }
            None => {
                self.last_emitted.insert(run.to_owned(), LastEmitted { at: now, has_changed: false });
                true
            }
        }
    }

    /// The runs whose delayed changes are to be reported now.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<String> {
        self.last_emitted.retain(|_, last_emitted| last_emitted.has_changed || now < last_emitted.at + MIN_INTERVAL);
        let mut due = Vec::new();
        for (run, last_emitted) in &mut self.last_emitted {
            if last_emitted.has_changed && now >= last_emitted.at + MIN_INTERVAL {
                *last_emitted = LastEmitted { at: now, has_changed: false };
                due.push(run.clone());
            }
        }
        due
    }

    /// When the next delayed change is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.last_emitted
            .values()
            .filter(|last_emitted| last_emitted.has_changed)
            .map(|last_emitted| last_emitted.at + MIN_INTERVAL)
            .min()
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
        assert!(pace.last_emitted.is_empty(), "nothing is remembered of the quiet");
    }
}
