//! `cargo xtask bench`: builds what is compared, and compares it.

use anyhow::bail;

use crate::bench::{self, BenchOptions};
use crate::install::Foreign;
use crate::{paths, run};

/// Runs the whole bench, or the part that is named.
pub(crate) fn bench(long: bool, only: Option<&str>) -> anyhow::Result<()> {
    if let Some(part) = only.filter(|part| !bench::PARTS.contains(part)) {
        bail!("there is no part {part:?}; there are {}", bench::PARTS.join(", "));
    }
    run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "skald", "--bins", "--examples"]))?;
    run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "mcp", "--example", "bare"]))?;
    run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "domain", "--examples"]))?;
    run::shown(&mut run::cargo(&[
        "build",
        "--quiet",
        "--release",
        "--package",
        "store",
        "--example",
        "journal_speed",
    ]))?;
    run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "grpc", "--examples"]))?;
    let foreign = Foreign::install()?;
    let options = BenchOptions {
        skald: paths::built("release", "skald"),
        bare: paths::built("release", "examples/bare"),
        speed: paths::built("release", "examples/speed"),
        bounds: paths::built("release", "examples/bounds"),
        universe: paths::built("release", "examples/universe_speed"),
        readers: paths::built("release", "examples/universe_readers"),
        journal: paths::built("release", "examples/journal_speed"),
        echo: paths::built("release", "examples/echo"),
        calls: paths::built("release", "examples/calls"),
        typescript: Some((foreign.node_program(), foreign.script("typescript_server.mjs"))),
        python: Some((foreign.python_program(), foreign.script("python_server.py"))),
        long,
        only: only.map(str::to_owned),
    };
    if !bench::run(&options)? {
        bail!("a gate is missed");
    }
    Ok(())
}
