//! `cargo xtask bench`: builds what is compared, and compares it.

use anyhow::bail;

use crate::bench::{self, BenchOptions};
use crate::install::Foreign;
use crate::{paths, run};

pub(crate) fn bench(long: bool) -> anyhow::Result<()> {
    run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "skald"]))?;
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
        journal: paths::built("release", "examples/journal_speed"),
        echo: paths::built("release", "examples/echo"),
        calls: paths::built("release", "examples/calls"),
        typescript: Some((foreign.node_program(), foreign.script("typescript_server.mjs"))),
        python: Some((foreign.python_program(), foreign.script("python_server.py"))),
        long,
    };
    if !bench::run(&options)? {
        bail!("a gate is missed");
    }
    Ok(())
}
