//! Benchmark of the time from a server's start until a run can be read.

use std::time::Instant;

use super::super::report::{ReportTable, group_thousands};
use super::super::statistics::median;
use super::gate_folder::{GateBench, GateFolder};
use super::runs::RunGroup;

const STARTS: usize = 5;
const MILLISECONDS: f64 = 1e3;

/// Measures the time from the server's start to the first `get_state` of a run of each size, which loads the snapshot
/// and the events after it.
#[expect(clippy::cast_precision_loss, reason = "a million at most")]
pub(super) fn compare(bench: &GateBench, folder: &GateFolder, all: &[RunGroup]) -> anyhow::Result<()> {
    let mut times = vec![(Vec::new(), Vec::new()); all.len()];
    for _ in 0..STARTS {
        for (group, (whole, call)) in all.iter().zip(&mut times) {
            let started = Instant::now();
            let mut agent = bench.start_agent(folder)?;
            let took = group.read_state(&mut agent)?;
            whole.push(started.elapsed().as_secs_f64() * MILLISECONDS);
            call.push(took.as_secs_f64() * MILLISECONDS);
            agent.close()?;
        }
    }
    let title = format!("The first get_state after a start, medians of {STARTS} starts, by the events in the run");
    let mut table = ReportTable::new(title, &["events", "from the start", "of it, the call"]);
    for (group, (whole, call)) in all.iter().zip(times) {
        let figures = [whole, call].map(|times| format!("{:.1} ms", median(times)));
        table.add_row([&[group_thousands(group.size as f64)], &figures[..]].concat());
    }
    table.print();
    Ok(())
}
