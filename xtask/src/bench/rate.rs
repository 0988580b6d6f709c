//! Benchmark of calls per second with many connections, against other SDKs. Printed with aims, not judged.

use std::time::Duration;

use super::BenchOptions;
use super::call_mode::CallMode;
use super::peer::{Peer, PeerPlan, Sample, measure};
use super::report::{ReportTable, group_thousands};
use super::statistics::median;

const ROUNDS: u32 = 3;
const CONNECTIONS: u32 = 16;
const MILLISECONDS: f64 = 1e3;
const TYPESCRIPT_AIM: f64 = 5.0;
const PYTHON_AIM: f64 = 10.0;

/// A server and its samples.
struct MeasuredServer {
    peer: Peer,
    samples: Vec<Sample>,
}

impl MeasuredServer {
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
        let servers = measure_all(mode, options)?;
        let skald =
            servers.iter().find(|server| server.peer == Peer::Skald).map_or(f64::NAN, MeasuredServer::calls_per_second);
        for server in &servers {
            table.add_row(table_row(mode, server, skald));
        }
    }
    table.print();
    Ok(())
}

fn measure_all(mode: CallMode, options: &BenchOptions) -> anyhow::Result<Vec<MeasuredServer>> {
    let mut servers: Vec<MeasuredServer> = Peer::ALL
        .into_iter()
        .filter(|peer| peer.can_serve(mode, options))
        .map(|peer| MeasuredServer { peer, samples: Vec::new() })
        .collect();
    for round in 0..ROUNDS {
        // Every other round goes backwards, so that no server is always first.
        if !round.is_multiple_of(2) {
            servers.reverse();
        }
        for server in &mut servers {
            server.samples.push(measure(server.peer, mode, load_plan(server.peer), options)?);
        }
        if !round.is_multiple_of(2) {
            servers.reverse();
        }
    }
    Ok(servers)
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

fn table_row(mode: CallMode, server: &MeasuredServer, skald: f64) -> Vec<String> {
    let rate = server.calls_per_second();
    let aim = match server.peer {
        Peer::Skald | Peer::Bare => None,
        Peer::TypeScript => Some(TYPESCRIPT_AIM),
        Peer::Python => Some(PYTHON_AIM),
    };
    let processor_time = median(server.samples.iter().map(Sample::microseconds_per_call));
    vec![
        format!("{}, {}", mode.name(), server.peer.name()),
        group_thousands(rate),
        format!("{:.2}x", skald / rate),
        aim.map_or_else(String::new, |aim| format!("{aim:.0}x")),
        server.milliseconds(|sample| sample.load.p50),
        server.milliseconds(|sample| sample.load.p99),
        format!("{processor_time:.1}"),
    ]
}
