//! Benchmark of the gate: emitting, reading and replaying in runs of 10 to 100,000 events, against the original. The
//! long mode has runs of a million events.
//!
//! The runs are filled by ordinary calls on a store in memory, and first measured there: the disk's latency could hide
//! a cost that grows with the run. Then the store is copied to the disk, where every event waits for a sync.

pub(super) mod agent;
mod calls;
mod gate_folder;
mod judge_results;
mod opening;
mod runs;

use super::BenchOptions;
use super::report::BenchTarget;
use agent::Agent;
use calls::{WARM_UP_ROUNDS, measure};
use gate_folder::GateBench;
use runs::RunGroup;

const SIZES: [u64; 4] = [10, 1_000, 10_000, 100_000];
const SIZE_LONG: u64 = 1_000_000;
const ROUNDS: u64 = 300;
const ROUNDS_LONG: u64 = 1_000;

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    let sizes = SIZES.into_iter().chain(options.long.then_some(SIZE_LONG));
    let events = 2 * (WARM_UP_ROUNDS + rounds);
    let mut all: Vec<RunGroup> = sizes.map(|size| RunGroup::new(size, events, 0)).collect();
    let shared = all.len();
    // All runs are in one file. A small run in a file of its own shows whether the others slow it down. Its server
    // idles while the other one is called, and wakes up more slowly.
    all.push(RunGroup::new(SIZES[0], events, 1));

    let bench = GateBench::build(options)?;
    let (in_memory, alone) = (bench.create_memory_folder("all")?, bench.create_memory_folder("alone")?);
    let mut agents = [bench.start_agent(&in_memory)?, bench.start_agent(&alone)?];
    for group in &mut all {
        group.fill(&mut agents[group.agent])?;
    }
    let without_disk = measure(&mut agents, &mut all, rounds)?;
    agents.into_iter().try_for_each(Agent::close)?;

    let on_disk = bench.copy_to_disk(&in_memory)?;
    let mut agents = [bench.start_agent(&on_disk)?];
    let durable = measure(&mut agents, &mut all[..shared], rounds)?;
    agents.into_iter().try_for_each(Agent::close)?;
    judge_results::print_results(&all, &durable);
    judge_results::print_without_disk(&all, &without_disk);

    opening::compare(&bench, &on_disk, &all[..shared])?;
    let mut gates = judge_results::disk_targets(&all, &durable);
    gates.extend(judge_results::memory_targets(&all, &without_disk));
    Ok(gates)
}
