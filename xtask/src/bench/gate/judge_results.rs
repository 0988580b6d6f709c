//! Results of the gate benchmark: compared with the original, and judged against their targets.

use super::super::report::{BenchTarget, ReportTable, group_thousands};
use super::calls::{CALLS, CallTimes, Figures};
use super::runs::RunGroup;

/// The highest ratio of a call's latency in the largest run to that in the smallest.
const GROWTH_MAX: f64 = 1.2;
/// The largest run in which the original was measured, and how many times as fast Skald must be there.
const COMPARED_EVENTS: u64 = 10_000;
const SPEEDUP_MIN: f64 = 200.0;

/// Latencies of the original in milliseconds, over stdio, one call after the other, on two cores like these that were
/// busy with other work: by events in the run, the median of each kind of call and the 99th percentile of `emit_event`.
/// The original does not wait for the disk.
struct OriginalLatency {
    events: u64,
    medians: [f64; CALLS.len()],
    emit_tail: f64,
}

const ORIGINAL_LATENCIES: [OriginalLatency; 3] = [
    OriginalLatency { events: 10, medians: [7.6, 3.9, 2.1], emit_tail: 41.0 },
    OriginalLatency { events: 1_000, medians: [23.4, 23.2, 11.3], emit_tail: 75.0 },
    OriginalLatency { events: COMPARED_EVENTS, medians: [1_898.0, 1_059.0, 511.0], emit_tail: 4_386.0 },
];

fn find_original(events: u64) -> Option<&'static OriginalLatency> {
    ORIGINAL_LATENCIES.iter().find(|original| original.events == events)
}

#[expect(clippy::cast_precision_loss, reason = "a million at most")]
fn format_count(events: u64) -> String {
    group_thousands(events as f64)
}

pub(super) fn print_results(all: &[RunGroup], figures: &Figures) {
    for (kind, name) in CALLS.into_iter().enumerate() {
        let title =
            format!("{name} over stdio, on the disk, by the events in the run; the original where it was measured");
        let headings = ["events", "p50", "p99", "mean", "original, p50", "original, p99", "times its p50"];
        let mut table = ReportTable::new(title, &headings);
        for (group, of_size) in all.iter().zip(figures) {
            let CallTimes { p50, p99, mean } = of_size[kind];
            let was = find_original(group.size);
            let median = was.map(|was| was.medians[kind]);
            table.add_row([
                format_count(group.size),
                format!("{p50:.3} ms"),
                format!("{p99:.3} ms"),
                format!("{mean:.3} ms"),
                median.map(|was| format!("{was} ms")).unwrap_or_default(),
                was.filter(|_| kind == 0).map(|was| format!("{} ms", was.emit_tail)).unwrap_or_default(),
                median.map(|was| group_thousands(was / p50)).unwrap_or_default(),
            ]);
        }
        table.print();
    }
}

pub(super) fn print_without_disk(all: &[RunGroup], figures: &Figures) {
    let title = "The same where a commit costs no disk, p50, by the events in the run";
    let mut table = ReportTable::new(title, &[&["events"], &CALLS[..]].concat());
    for (group, of_size) in all.iter().zip(figures) {
        let medians = of_size.map(|took| format!("{:.3} ms", took.p50));
        let events = if group.agent == 0 {
            format_count(group.size)
        } else {
            format!("{}, alone in a file", format_count(group.size))
        };
        table.add_row([&[events], &medians[..]].concat());
    }
    table.print();
}

/// The median latency of a kind of call in each large run, divided by that in the smallest run.
fn growth_ratios(all: &[RunGroup], figures: &Figures, kind: usize, from: u64) -> Vec<(u64, f64)> {
    let Some(smallest) = figures.first() else { return Vec::new() };
    let large = all.iter().zip(figures).filter(|(group, _)| group.size >= from);
    large.map(|(group, of_size)| (group.size, of_size[kind].p50 / smallest[kind].p50)).collect()
}

/// From this many events on a run counts as large.
const LARGE_RUN_EVENTS: u64 = 100_000;

pub(super) fn disk_targets(all: &[RunGroup], figures: &Figures) -> Vec<BenchTarget> {
    let mut gates = Vec::new();
    for (kind, name) in CALLS.into_iter().enumerate() {
        for (size, ratio) in growth_ratios(all, figures, kind, LARGE_RUN_EVENTS) {
            let name = format!("{name} at {} events, of that at {}", format_count(size), format_count(all[0].size));
            gates.push(BenchTarget::ratio_at_most(name, ratio, GROWTH_MAX));
        }
        let compared = all.iter().zip(figures).find(|(group, _)| group.size == COMPARED_EVENTS);
        if let (Some((_, of_size)), Some(was)) = (compared, find_original(COMPARED_EVENTS)) {
            let times = was.medians[kind] / of_size[kind].p50;
            let name = format!("{name} at {} events, of the original", format_count(COMPARED_EVENTS));
            gates.push(BenchTarget::at_least(name, times, SPEEDUP_MIN));
        }
    }
    gates
}

/// The same targets without the disk, whose latency could hide a cost that grows with the run.
pub(super) fn memory_targets(all: &[RunGroup], figures: &Figures) -> Vec<BenchTarget> {
    let mut gates = Vec::new();
    for (kind, name) in CALLS.into_iter().enumerate() {
        for (size, ratio) in growth_ratios(all, figures, kind, LARGE_RUN_EVENTS) {
            let name = format!("{name} at {} events, without the disk", format_count(size));
            gates.push(BenchTarget::ratio_at_most(name, ratio, GROWTH_MAX));
        }
    }
    gates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets_at(large: f64) -> Vec<(String, bool)> {
        let all = [10, COMPARED_EVENTS, LARGE_RUN_EVENTS].map(|size| RunGroup::new(size, 1, 0));
        let figures = [1.0, 3.0, large].map(|p50| [CallTimes { p50, p99: p50, mean: p50 }; CALLS.len()]).to_vec();
        let gates = disk_targets(&all, &figures).into_iter().chain(memory_targets(&all, &figures));
        gates.map(|gate| (gate.name, gate.met)).collect()
    }

    #[test]
    fn a_call_that_grows_with_the_run_misses_its_gates() {
        let (flat, grown) = (targets_at(1.1), targets_at(1.3));
        let missed = |gates: &[(String, bool)]| -> Vec<String> {
            gates.iter().filter(|(_, is_met)| !is_met).map(|(name, _)| name.clone()).collect()
        };
        // A replay of three milliseconds is not 200 times as fast as the original's.
        assert_eq!(missed(&flat), ["replay at 10,000 events, of the original"]);
        assert_eq!(missed(&grown).len(), 1 + 2 * CALLS.len());
        assert_eq!(missed(&grown)[0], "emit_event at 100,000 events, of that at 10");
    }
}
