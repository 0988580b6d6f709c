//! Results of the gate benchmark: compared with the original, and judged against their targets.

use super::super::report::{Gate, ReportTable, grouped};
use super::calls::{CALLS, Figures, Took};
use super::runs::RunGroup;

/// The highest ratio of a call's latency in the largest run to that in the smallest.
const FLAT_MAX: f64 = 1.2;
/// The largest run in which the original was measured, and how many times as fast Skald must be there.
const COMPARED_AT: u64 = 10_000;
const TIMES_MIN: f64 = 200.0;

/// Latencies of the original in milliseconds, over stdio, one call after the other, on two cores like these that were
/// busy with other work: by events in the run, the median of each kind of call and the 99th percentile of `emit_event`.
/// The original does not wait for the disk.
struct Original {
    events: u64,
    medians: [f64; CALLS.len()],
    emit_tail: f64,
}

const ORIGINALS: [Original; 3] = [
    Original { events: 10, medians: [7.6, 3.9, 2.1], emit_tail: 41.0 },
    Original { events: 1_000, medians: [23.4, 23.2, 11.3], emit_tail: 75.0 },
    Original { events: COMPARED_AT, medians: [1_898.0, 1_059.0, 511.0], emit_tail: 4_386.0 },
];

fn original(events: u64) -> Option<&'static Original> {
    ORIGINALS.iter().find(|original| original.events == events)
}

#[expect(clippy::cast_precision_loss, reason = "a million at most")]
fn count(events: u64) -> String {
    grouped(events as f64)
}

pub(super) fn print(all: &[RunGroup], figures: &Figures) {
    for (kind, name) in CALLS.into_iter().enumerate() {
        let title =
            format!("{name} over stdio, on the disk, by the events in the run; the original where it was measured");
        let headings = ["events", "p50", "p99", "mean", "original, p50", "original, p99", "times its p50"];
        let mut table = ReportTable::new(title, &headings);
        for (group, of_size) in all.iter().zip(figures) {
            let Took { p50, p99, mean } = of_size[kind];
            let was = original(group.size);
            let median = was.map(|was| was.medians[kind]);
            table.row([
                count(group.size),
                format!("{p50:.3} ms"),
                format!("{p99:.3} ms"),
                format!("{mean:.3} ms"),
                median.map(|was| format!("{was} ms")).unwrap_or_default(),
                was.filter(|_| kind == 0).map(|was| format!("{} ms", was.emit_tail)).unwrap_or_default(),
                median.map(|was| grouped(was / p50)).unwrap_or_default(),
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
        let events =
            if group.agent == 0 { count(group.size) } else { format!("{}, alone in a file", count(group.size)) };
        table.row([&[events], &medians[..]].concat());
    }
    table.print();
}

/// The median latency of a kind of call in each large run, divided by that in the smallest run.
fn flat(all: &[RunGroup], figures: &Figures, kind: usize, from: u64) -> Vec<(u64, f64)> {
    let Some(smallest) = figures.first() else { return Vec::new() };
    let large = all.iter().zip(figures).filter(|(group, _)| group.size >= from);
    large.map(|(group, of_size)| (group.size, of_size[kind].p50 / smallest[kind].p50)).collect()
}

/// From this many events on a run counts as large.
const LARGE: u64 = 100_000;

pub(super) fn durable(all: &[RunGroup], figures: &Figures) -> Vec<Gate> {
    let mut gates = Vec::new();
    for (kind, name) in CALLS.into_iter().enumerate() {
        for (size, ratio) in flat(all, figures, kind, LARGE) {
            let name = format!("{name} at {} events, of that at {}", count(size), count(all[0].size));
            gates.push(Gate::ratio_at_most(name, ratio, FLAT_MAX));
        }
        let compared = all.iter().zip(figures).find(|(group, _)| group.size == COMPARED_AT);
        if let (Some((_, of_size)), Some(was)) = (compared, original(COMPARED_AT)) {
            let times = was.medians[kind] / of_size[kind].p50;
            let name = format!("{name} at {} events, of the original", count(COMPARED_AT));
            gates.push(Gate::at_least(name, times, TIMES_MIN));
        }
    }
    gates
}

/// The same targets without the disk, whose latency could hide a cost that grows with the run.
pub(super) fn without_disk(all: &[RunGroup], figures: &Figures) -> Vec<Gate> {
    let mut gates = Vec::new();
    for (kind, name) in CALLS.into_iter().enumerate() {
        for (size, ratio) in flat(all, figures, kind, LARGE) {
            let name = format!("{name} at {} events, without the disk", count(size));
            gates.push(Gate::ratio_at_most(name, ratio, FLAT_MAX));
        }
    }
    gates
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gates_at(large: f64) -> Vec<(String, bool)> {
        let all = [10, COMPARED_AT, LARGE].map(|size| RunGroup::new(size, 1, 0));
        let figures = [1.0, 3.0, large].map(|p50| [Took { p50, p99: p50, mean: p50 }; CALLS.len()]).to_vec();
        let gates = durable(&all, &figures).into_iter().chain(without_disk(&all, &figures));
        gates.map(|gate| (gate.name, gate.met)).collect()
    }

    #[test]
    fn a_call_that_grows_with_the_run_misses_its_gates() {
        let (flat, grown) = (gates_at(1.1), gates_at(1.3));
        let missed = |gates: &[(String, bool)]| -> Vec<String> {
            gates.iter().filter(|(_, is_met)| !is_met).map(|(name, _)| name.clone()).collect()
        };
        // A replay of three milliseconds is not 200 times as fast as the original's.
        assert_eq!(missed(&flat), ["replay at 10,000 events, of the original"]);
        assert_eq!(missed(&grown).len(), 1 + 2 * CALLS.len());
        assert_eq!(missed(&grown)[0], "emit_event at 100,000 events, of that at 10");
    }
}
