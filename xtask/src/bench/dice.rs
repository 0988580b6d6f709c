//! Benchmark of exact odds, and of the most expensive expression within the limits.

use std::process::Command;

use super::BenchOptions;
use super::example_figures::ExampleFigures;
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
    let speed = ExampleFigures::read(&mut Command::new(&options.speed))?;
    let mut bounds = Command::new(&options.bounds);
    bounds.arg(if options.long { EXPRESSION_COUNT_LONG } else { EXPRESSION_COUNT });
    let bounds = ExampleFigures::read(&mut bounds)?;
    let mut table = ReportTable::new("Exact odds, medians", &["expression", "µs"]);
    for (name, microseconds) in speed.all() {
        table.add_row([name.clone(), format!("{microseconds:.1}")]);
    }
    table.print();
    let mut gates = Vec::new();
    for (expression, most) in EXPRESSIONS {
        gates.push(BenchTarget::at_most(format!("odds of {expression}"), speed.figure(expression)?, most, "µs"));
    }
    let tried = if options.long { EXPRESSION_COUNT_LONG } else { EXPRESSION_COUNT };
    let longest = bounds.figure("longest_ms")?;
    gates.push(BenchTarget::at_most(format!("longest of {tried} odds"), longest, LONGEST_MILLISECONDS_MAX, "ms"));
    gates.push(BenchTarget::at_most(format!("most for {tried} odds"), bounds.figure("peak_mb")?, MEGABYTES_MAX, "MB"));
    Ok(gates)
}
