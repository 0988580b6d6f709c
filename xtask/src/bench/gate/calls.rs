//! Timed calls of the gate benchmark. Each round makes one call of each kind to a run of each size, in a changing
//! order, so that other load on the machine affects all alike.

use std::time::Duration;

use super::super::statistics::percentile;
use super::agent::Agent;
use super::runs::{RunGroup, pseudorandom};

const MEDIAN: f64 = 0.5;
const TAIL: f64 = 0.99;
const MILLISECONDS: f64 = 1e3;
/// Rounds that are not counted.
pub(super) const WARM_UP_ROUNDS: u64 = 10;

/// The three kinds of calls.
pub(super) const CALLS: [&str; 3] = ["emit_event", "get_state", "replay"];

/// Latencies of the calls of one kind, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallTimes {
    pub(super) p50: f64,
    pub(super) p99: f64,
    pub(super) mean: f64,
}

/// Latencies by the size of the run, then by the kind of call.
pub(super) type Figures = Vec<[CallTimes; CALLS.len()]>;

pub(super) fn measure(agents: &mut [Agent], all: &mut [RunGroup], rounds: u64) -> anyhow::Result<Figures> {
    let mut times = vec![[const { Vec::new() }; CALLS.len()]; all.len()];
    for round in 0..WARM_UP_ROUNDS + rounds {
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|at| pseudorandom((round, at)));
        for at in order {
            let group = &mut all[at];
            let agent = &mut agents[group.agent];
            group.prepare(agent)?;
            let took = [group.emit(agent)?, group.read_state(agent)?, group.replay(agent, round)?];
            if round >= WARM_UP_ROUNDS {
                times[at].iter_mut().zip(took).for_each(|(times, took)| times.push(took));
            }
        }
    }
    Ok(times.into_iter().map(|of_size| of_size.map(summarize_times)).collect())
}

fn summarize_times(mut times: Vec<Duration>) -> CallTimes {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * MILLISECONDS;
    let count = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
    CallTimes {
        p50: milliseconds(percentile(&times, MEDIAN)),
        p99: milliseconds(percentile(&times, TAIL)),
        mean: milliseconds(times.iter().sum::<Duration>() / count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_and_the_mean_are_of_all_calls() {
        let took = summarize_times((1..=100).rev().map(Duration::from_millis).collect());
        assert!((took.p50 - 51.0).abs() < 1e-9 && (took.p99 - 100.0).abs() < 1e-9 && (took.mean - 50.5).abs() < 1e-9);
    }
}
