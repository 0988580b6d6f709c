//! Benchmark of calls per second with many connections, against other SDKs. Printed with aims, not judged.

use std::time::Duration;

use super::BenchOptions;
use super::mode::CallMode;
use super::peer::{Peer, PeerPlan, Sample, measure};
use super::report::{ReportTable, group_thousands};
use super::statistics::median;

const ROUNDS: u32 = 3;
const CONNECTIONS: u32 = 16;
const MILLISECONDS: f64 = 1e3;
const TYPESCRIPT_AIM: f64 = 5.0;
const PYTHON_AIM: f64 = 10.0;

/// A server and its samples.
struct Entrant {
    peer: Peer,
    samples: Vec<Sample>,
}

impl Entrant {
    fn calls_per_second(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.load.calls_per_second()))
    }

    fn milliseconds(&self, of: fn(&Sample) -> Duration) -> String {
        let times = self.samples.iter().map(|sample| of(sample).as_secs_f64() * MILLISECONDS);
        format!("{:.2}", median(times))
    }
}

/// Compares the rates in every mode.
pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<()> {
    let mut table = ReportTable::new(
        format!("Calls a second, {CONNECTIONS} connections, medians of {ROUNDS} interleaved rounds"),
        &["mode, server", "calls/s", "skald is", "aim", "p50 ms", "p99 ms", "cpu µs/call"],
    );
    for mode in CallMode::ALL {
        let entrants = measure_all(mode, options)?;
        let skald =
            entrants.iter().find(|entrant| entrant.peer == Peer::Skald).map_or(f64::NAN, Entrant::calls_per_second);
        for entrant in &entrants {
            table.add_row(table_row(mode, entrant, skald));
        }
    }
    table.print();
    Ok(())
}

fn measure_all(mode: CallMode, options: &BenchOptions) -> anyhow::Result<Vec<Entrant>> {
    let mut entrants: Vec<Entrant> = Peer::ALL
        .into_iter()
        .filter(|peer| peer.can_serve(mode, options))
        .map(|peer| Entrant { peer, samples: Vec::new() })
        .collect();
    for round in 0..ROUNDS {
        // Every other round goes backwards, so that no server is always first.
        if !round.is_multiple_of(2) {
            entrants.reverse();
        }
        for entrant in &mut entrants {
            entrant.samples.push(measure(entrant.peer, mode, load_plan(entrant.peer), options)?);
        }
        if !round.is_multiple_of(2) {
            entrants.reverse();
        }
    }
    Ok(entrants)
}

/// The slow servers get fewer calls, enough for their compilers to warm up, so that all run for about as long.
fn load_plan(peer: Peer) -> PeerPlan {
    let (warm_up_calls, calls) = match peer {
        Peer::Skald | Peer::Bare => (200, 1_500),
        Peer::TypeScript => (150, 250),
        Peer::Python => (20, 80),
    };
    PeerPlan { connections: CONNECTIONS, warm_up_calls, calls, counts_instructions: false }
}

fn table_row(mode: CallMode, entrant: &Entrant, skald: f64) -> Vec<String> {
    let rate = entrant.calls_per_second();
    let aim = match entrant.peer {
        Peer::Skald | Peer::Bare => None,
        Peer::TypeScript => Some(TYPESCRIPT_AIM),
        Peer::Python => Some(PYTHON_AIM),
    };
    let processor_time = median(entrant.samples.iter().map(Sample::microseconds_per_call));
    vec![
        format!("{}, {}", mode.name(), entrant.peer.name()),
        group_thousands(rate),
        format!("{:.2}x", skald / rate),
        aim.map_or_else(String::new, |aim| format!("{aim:.0}x")),
        entrant.milliseconds(|sample| sample.load.p50),
        entrant.milliseconds(|sample| sample.load.p99),
        format!("{processor_time:.1}"),
    ]
}
