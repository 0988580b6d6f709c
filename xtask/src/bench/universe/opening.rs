//! How soon a universe is open: from what is stored, and by the first command to a server that has just started.

use anyhow::Context;
use serde_json::json;

use super::super::BenchOptions;
use super::super::report::{Gate, Table};
use super::super::statistics::median;
use super::figures;
use super::sky::{Client, SIZES, Sky, commands};

const STARTS: usize = 5;
const MILLISECONDS: f64 = 1e3;
/// What is stored, and how many milliseconds opening it may take.
const PROMISES: [(&str, f64); 2] = [("open 10000 with a tail of 1000", 30.0), ("open 100000", 200.0)];

pub(super) fn compare(mut sky: Sky, options: &BenchOptions) -> anyhow::Result<Vec<Gate>> {
    let mut first = vec![Vec::new(); SIZES.len()];
    for _ in 0..STARTS {
        sky = sky.restarted(options)?;
        let mut client = Client::open(sky.address())?;
        for (at, size) in SIZES.into_iter().enumerate() {
            let took = client.send("POST", &commands(size), &json!({"type": "tick", "dt": 1}))?;
            first[at].push(took.as_secs_f64() * MILLISECONDS);
        }
    }
    let mut table = Table::new(
        format!("The first command to a universe after a start, medians of {STARTS} starts"),
        &["bodies", "answered in"],
    );
    for (size, times) in SIZES.into_iter().zip(&first) {
        table.row([size.to_string(), format!("{:.1} ms", median(times.iter().copied()))]);
    }
    table.print();
    let states = figures(&options.universe, "states")?;
    let promises = PROMISES.into_iter().map(|(name, most)| {
        let microseconds = states.get(name).with_context(|| format!("there is no figure for {name}"))?;
        Ok(Gate::at_most(name, microseconds / MILLISECONDS, most, "ms"))
    });
    promises.collect()
}
