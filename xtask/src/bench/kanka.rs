//! Benchmark of mcp-kanka over the Kanka-compatible API against our own `find_entities`, on the same 2,000 characters.

use anyhow::Context;

use super::BenchOptions;
use super::example_figures::ExampleFigures;
use super::report::{BenchTarget, ReportTable, group_thousands};
use crate::install::MCP_KANKA;
use crate::kanka_clients::KankaServer;
use crate::paths;

/// How many times as long mcp-kanka takes, at least.
const RATIO_MIN: f64 = 1_000.0;
const SEARCHES: [(&str, &str); 6] = [
    ("by type", "type"),
    ("by two tags", "two_tags"),
    ("part of a name", "name_part"),
    ("fuzzy name", "fuzzy_name"),
    ("a word in 0.4 % of the texts", "word"),
    ("part of a name, names only", "names_only"),
];

pub(crate) fn compare(options: &BenchOptions) -> anyhow::Result<Vec<BenchTarget>> {
    let foreign = options.foreign.as_ref().context("mcp-kanka is not installed")?;
    let kanka = KankaServer::start(&options.skald, &paths::target().join("kanka-bench"))?;
    let mut script = kanka.script(foreign, MCP_KANKA, "mcp_kanka_bench.py");
    script.arg(&options.skald).arg(if options.long { "9" } else { "3" });
    let figures = ExampleFigures::read(&mut script)?;
    let title = "find_entities in 2,000 characters of 1 KB over stdio, medians: mcp-kanka over the Kanka-compatible API, \
                 and skald (aim: 1,000)";
    let mut table = ReportTable::new(title, &["", "mcp-kanka", "skald", "ratio"]);
    let mut targets = Vec::new();
    for (title, name) in SEARCHES {
        let (theirs, ours) =
            (figures.figure(&format!("kanka_{name}_ms"))?, figures.figure(&format!("skald_{name}_ms"))?);
        let ratio = theirs / ours;
        let times = [format!("{} ms", group_thousands(theirs)), format!("{ours:.2} ms"), group_thousands(ratio)];
        table.add_row([vec![title.to_owned()], times.to_vec()].concat());
        targets.push(BenchTarget::at_least(format!("mcp-kanka's time to ours: {title}"), ratio, RATIO_MIN));
    }
    table.print();
    Ok(targets)
}
