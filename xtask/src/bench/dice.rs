//! Benchmark of exact odds, and of the most expensive expression within the limits.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, ensure};

use super::BenchOptions;
use super::report::{BenchTarget, ReportTable};

/// Expressions and the microseconds that their odds may take; the last is refused in that time.
const EXPRESSIONS: [(&str, f64); 5] =
    [("100d6", 1_500.0), ("4d6kh3", 10.0), ("20d20kh10", 10_000.0), ("10d10!", 10_000.0), ("1000d1000kh500", 1_000.0)];
/// Most milliseconds for the slowest of many generated expressions.
const LONGEST_MILLISECONDS_MAX: f64 = 2_000.0;
const MEGABYTES_MAX: f64 = 100.0;
/// How many expressions are generated.
const EXPRESSION_COUNT: &str = "500";
const EXPRESSION_COUNT_LONG: &str = "10000";

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let speed = read_figures(&mut Command::new(&options.speed))?;
    let mut bounds = Command::new(&options.bounds);
    bounds.arg(if options.long { EXPRESSION_COUNT_LONG } else { EXPRESSION_COUNT });
    let bounds = read_figures(&mut bounds)?;
    let mut table = ReportTable::new("Exact odds, medians", &["expression", "µs"]);
    for (name, microseconds) in &speed {
        table.add_row([name.clone(), format!("{microseconds:.1}")]);
    }
    table.print();
    let figure = |figures: &BTreeMap<String, f64>, name: &str| {
        figures.get(name).copied().with_context(|| format!("there is no figure for {name}"))
    };
    let mut gates = Vec::new();
    for (expression, most) in EXPRESSIONS {
        gates.push(BenchTarget::at_most(format!("odds of {expression}"), figure(&speed, expression)?, most, "µs"));
    }
    let tried = if options.long { EXPRESSION_COUNT_LONG } else { EXPRESSION_COUNT };
    let longest = figure(&bounds, "longest_ms")?;
    gates.push(BenchTarget::at_most(format!("longest of {tried} odds"), longest, LONGEST_MILLISECONDS_MAX, "ms"));
    gates.push(BenchTarget::at_most(
        format!("most for {tried} odds"),
        figure(&bounds, "peak_mb")?,
        MEGABYTES_MAX,
        "MB",
    ));
    Ok(gates)
}

/// Runs an example, and parses those lines of its output that are a name and a number.
fn read_figures(command: &mut Command) -> anyhow::Result<BTreeMap<String, f64>> {
    let output = command.output().context("the example cannot be started")?;
    ensure!(output.status.success(), "the example failed: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout)?;
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.filter_map(|(name, figure)| Some((name.to_owned(), figure.parse().ok()?))).collect())
}
