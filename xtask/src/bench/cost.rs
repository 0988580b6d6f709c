//! Benchmark of a call's cost on the server, compared with a bare rmcp server.

use super::BenchOptions;
use super::call_mode::CallMode;
use super::peer::{Peer, PeerPlan, Sample, measure};
use super::report::{BenchTarget, ReportTable, group_thousands};
use super::statistics::{extremes, median};
use super::{cachegrind, instructions};

const ROUNDS: u32 = 7;
const ROUNDS_LONG: u32 = 15;
/// Counts of the same server differ by a few percent, depending on which timers fire during a run.
const CACHEGRIND_ROUNDS: u32 = 3;
const CONNECTIONS: u32 = 4;
const WARM_UP_CALLS: u32 = 500;
const CALLS: u32 = 2_000;
/// The lowest ratio of the bare server's cost to Skald's, which does more and may cost more.
const RATIO_MIN: f64 = 0.9;
const ABSENT: &str = "-";

/// The measure that decides. Processor time varies with other load on the machine; instructions hardly vary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostMeasure {
    HardwareCounter,
    Cachegrind,
    ProcessorTime,
}

impl CostMeasure {
    /// The steadiest measure that this machine has.
    fn best() -> Self {
        if instructions::can_count() {
            Self::HardwareCounter
        } else if cachegrind::is_installed() {
            Self::Cachegrind
        } else {
            Self::ProcessorTime
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::HardwareCounter => "instructions (perf)",
            Self::Cachegrind => "instructions (cachegrind)",
            Self::ProcessorTime => "CPU time",
        }
    }
}

/// A figure of both servers, measured in the same round.
#[derive(Debug, Clone, Copy)]
struct Pair {
    skald: f64,
    bare: f64,
}

impl Pair {
    fn ratio(self) -> f64 {
        self.bare / self.skald
    }
}

/// The figures of all rounds in one mode.
struct Findings {
    microseconds: Vec<Pair>,
    /// Empty where instructions cannot be counted.
    instructions: Vec<Pair>,
}

/// Compares the cost of a call in every mode.
pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let rounds = if options.long { ROUNDS_LONG } else { ROUNDS };
    let measure_kind = CostMeasure::best();
    let title = format!(
        "Server cost of a tools/call: {CONNECTIONS} connections x {} calls, medians of {rounds} interleaved rounds; \
         judged by {}",
        group_thousands(f64::from(CALLS)),
        measure_kind.name()
    );
    let headings =
        ["mode", "skald µs", "bare µs", "bare/skald", "min", "max", "skald instr", "bare instr", "bare/skald"];
    let mut table = ReportTable::new(title, &headings);
    let mut gates = Vec::new();
    for mode in CallMode::ALL {
        let findings = measure_rounds(mode, rounds, measure_kind, options)?;
        table.add_row(table_row(mode, &findings));
        let judged = match measure_kind {
            CostMeasure::HardwareCounter | CostMeasure::Cachegrind => &findings.instructions,
            CostMeasure::ProcessorTime => &findings.microseconds,
        };
        let name = format!("{}: bare/skald, {}", mode.name(), measure_kind.name());
        gates.push(BenchTarget::at_least(name, median_ratio(judged), RATIO_MIN));
    }
    table.print();
    Ok(gates)
}

fn measure_rounds(
    mode: CallMode,
    rounds: u32,
    measure_kind: CostMeasure,
    options: &BenchOptions,
) -> anyhow::Result<Findings> {
    let mut findings = Findings { microseconds: Vec::new(), instructions: Vec::new() };
    let plan = PeerPlan {
        connections: CONNECTIONS,
        warm_up_calls: WARM_UP_CALLS,
        calls: CALLS,
        counts_instructions: measure_kind == CostMeasure::HardwareCounter,
    };
    for round in 0..rounds {
        let (skald, bare) = measure_both(round, |peer| measure(peer, mode, plan, options))?;
        findings.microseconds.push(Pair { skald: skald.microseconds_per_call(), bare: bare.microseconds_per_call() });
        findings.instructions.extend(instruction_pair(&skald, &bare));
    }
    if measure_kind == CostMeasure::Cachegrind {
        for round in 0..CACHEGRIND_ROUNDS {
            let (skald, bare) = measure_both(round, |peer| cachegrind::instructions_per_call(peer, mode, options))?;
            findings.instructions.push(Pair { skald, bare });
        }
    }
    Ok(findings)
}

/// Measures both servers. They take turns at being first, since that may be an advantage.
fn measure_both<T>(round: u32, measure: impl Fn(Peer) -> anyhow::Result<T>) -> anyhow::Result<(T, T)> {
    if round.is_multiple_of(2) {
        let bare = measure(Peer::Bare)?;
        Ok((measure(Peer::Skald)?, bare))
    } else {
        Ok((measure(Peer::Skald)?, measure(Peer::Bare)?))
    }
}

fn instruction_pair(skald: &Sample, bare: &Sample) -> Option<Pair> {
    Some(Pair { skald: skald.instructions_per_call()?, bare: bare.instructions_per_call()? })
}

fn median_ratio(pairs: &[Pair]) -> f64 {
    median(pairs.iter().map(|pair| pair.ratio()))
}

fn table_row(mode: CallMode, findings: &Findings) -> Vec<String> {
    let time = |side: fn(&Pair) -> f64| format!("{:.1}", median(findings.microseconds.iter().map(side)));
    let (low, high) = extremes(findings.microseconds.iter().map(|pair| pair.ratio()));
    let counted = |figure: String| {
        if findings.instructions.is_empty() { ABSENT.to_owned() } else { figure }
    };
    let count = |side: fn(&Pair) -> f64| counted(group_thousands(median(findings.instructions.iter().map(side))));
    vec![
        mode.name().to_owned(),
        time(|pair| pair.skald),
        time(|pair| pair.bare),
        format!("{:.3}", median_ratio(&findings.microseconds)),
        format!("{low:.3}"),
        format!("{high:.3}"),
        count(|pair| pair.skald),
        count(|pair| pair.bare),
        counted(format!("{:.3}", median_ratio(&findings.instructions))),
    ]
}
