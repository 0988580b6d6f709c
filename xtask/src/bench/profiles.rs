//! Benchmark of the `release` build, which is fast to build, against `dist`, which is shipped. Also checks the shipped
//! binary's size and its memory after the first answer.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::BenchOptions;
use super::call_mode::CallMode;
use super::peer::{Peer, PeerPlan, measure};
use super::report::{BenchTarget, ReportTable};
use super::startup::{MILLISECONDS, RESIDENT_MEGABYTES_MAX, measure_first_answer, to_megabytes};
use super::statistics::median;
use crate::{paths, run};

const ROUNDS: u32 = 7;
const PLAN: PeerPlan = PeerPlan { connections: 4, warm_up_calls: 500, calls: 2_000, counts_instructions: false };
const BINARY_MEGABYTES_MAX: f64 = 30.0;

/// One build of Skald, and its figures of all rounds.
struct Build {
    name: &'static str,
    options: BenchOptions,
    binary_megabytes: f64,
    start_milliseconds: Vec<f64>,
    resident_megabytes: Vec<f64>,
    call_microseconds: Vec<f64>,
}

impl Build {
    fn new(name: &'static str, skald: PathBuf, options: &BenchOptions) -> anyhow::Result<Self> {
        // What is shipped has no symbols.
        let stripped = skald.with_extension("stripped");
        run::run_captured(Command::new("strip").args(["--strip-all", "-o"]).arg(&stripped).arg(&skald))?;
        let bytes = stripped.metadata().with_context(|| format!("there is no {}", stripped.display()))?.len();
        Ok(Self {
            name,
            options: BenchOptions { skald, ..options.clone() },
            binary_megabytes: to_megabytes(bytes)?,
            start_milliseconds: Vec::new(),
            resident_megabytes: Vec::new(),
            call_microseconds: Vec::new(),
        })
    }

    fn measure_round(&mut self) -> anyhow::Result<()> {
        let (took, bytes) = measure_first_answer(&self.options)?;
        self.start_milliseconds.push(took.as_secs_f64() * MILLISECONDS);
        self.resident_megabytes.push(to_megabytes(bytes)?);
        let sample = measure(Peer::Skald, CallMode::Session, PLAN, &self.options)?;
        self.call_microseconds.push(sample.microseconds_per_call());
        Ok(())
    }

    fn medians(&self) -> [f64; 4] {
        let middle = |values: &[f64]| median(values.iter().copied());
        [
            self.binary_megabytes,
            middle(&self.start_milliseconds),
            middle(&self.resident_megabytes),
            middle(&self.call_microseconds),
        ]
    }
}

/// Compares both builds in rounds that take turns.
pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let mut dist = Build::new("dist", options.skald.clone(), options)?;
    let mut release = Build::new("release", paths::built_binary("release", "skald"), options)?;
    for _ in 0..ROUNDS {
        dist.measure_round()?;
        release.measure_round()?;
    }
    let mut table = ReportTable::new(
        format!("The build of `cargo run --release` beside the shipped one, medians of {ROUNDS} interleaved rounds"),
        &["", "binary MB", "start ms", "resident MB", "CPU µs a call"],
    );
    for build in [&dist, &release] {
        let figures = build.medians().map(|value| format!("{value:.1}"));
        table.add_row([&[build.name.to_owned()], &figures[..]].concat());
    }
    let ratios: Vec<String> = release
        .medians()
        .iter()
        .zip(dist.medians())
        .map(|(release, dist)| format!("{:.2} x", release / dist))
        .collect();
    table.add_row([&["release / dist".to_owned()], &ratios[..]].concat());
    table.print();
    let [binary, _, resident, _] = dist.medians();
    Ok(vec![
        BenchTarget::at_most("shipped binary", binary, BINARY_MEGABYTES_MAX, "MB"),
        BenchTarget::at_most("resident after the first stdio answer", resident, RESIDENT_MEGABYTES_MAX, "MB"),
    ])
}
