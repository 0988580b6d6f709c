//! Benchmark of the journal against the same rows written by hand.

use std::process::Command;

use anyhow::{Context, ensure};

use super::BenchOptions;
use super::report::BenchTarget;
use crate::postgres::TestPostgres;
use crate::print_line;

/// Runs the store's own measurement, which prints a table with a verdict at the end of each line.
pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let postgres = TestPostgres::start()?;
    let mut command = Command::new(&options.journal);
    command.env("SKALD_TEST_POSTGRES", postgres.address());
    let output = command.output().context("the store's example cannot be started")?;
    ensure!(output.status.success(), "the store's example failed: {}", String::from_utf8_lossy(&output.stderr));
    let table = String::from_utf8(output.stdout)?;
    print_line(&format!("\nThe journal, medians of five interleaved rounds\n{table}"));
    Ok(table.lines().filter_map(parse_target).collect())
}

/// A line that has a verdict, as a gate.
fn parse_target(line: &str) -> Option<BenchTarget> {
    let (rest, verdict) = line.trim_end().rsplit_once(' ')?;
    let met = match verdict {
        "ok" => true,
        "MISS" => false,
        _ => return None,
    };
    let at = rest.find(['>', '<'])?;
    let (measured, target) = rest.split_at(at);
    let name = measured.split("  ").next().unwrap_or_default().trim().to_owned();
    let figure = measured.split_whitespace().last().unwrap_or_default().to_owned();
    Some(BenchTarget { name, figure, target: target.trim().to_owned(), met })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_a_verdict_is_a_gate() {
        let line = "16 writers, one stream; 16 rows a commit      9876.54   10000.00 rows/s   0.99  >= 0.60    ok";
        let read = parse_target(line).expect("a gate");
        assert_eq!((read.name.as_str(), read.figure.as_str()), ("16 writers, one stream; 16 rows a commit", "0.99"));
        assert_eq!((read.target.as_str(), read.met), (">= 0.60", true));
        assert!(parse_target("two processes, 16 writers each  9000 rows/s").is_none());
    }
}
