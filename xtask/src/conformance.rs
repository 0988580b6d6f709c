//! Runs the official MCP conformance suite at both revisions, against fixtures on our stack and against Skald itself.

use std::process::Command;

use anyhow::Context;

use crate::install::Foreign;
use crate::server::TestServer;
use crate::{paths, run, say};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub(crate) fn test(foreign: &Foreign) -> anyhow::Result<()> {
    let fixtures = TestServer::start(|port| {
        let mut command = Command::new(paths::built("debug", "examples/conformance"));
        command.arg(port.to_string());
        command
    })?;
    for revision in REVISIONS {
        judge(foreign, &fixtures, revision, "fixtures", &[])?;
    }
    let skald = TestServer::start(|port| {
        let mut command = Command::new(paths::built("release", "skald"));
        command.args(["serve", "--store", "memory", "--http-addr", &format!("127.0.0.1:{port}"), "--grpc-addr", "off"]);
        command
    })?;
    for revision in REVISIONS {
        let expected = paths::root().join(format!("xtask/conformance/{revision}.yml"));
        judge(foreign, &skald, revision, "skald", &["--expected-failures", &expected.to_string_lossy()])?;
    }
    Ok(())
}

/// The suite's exit code is its verdict: it counts the scenarios that the revision requires, and no others.
fn judge(foreign: &Foreign, server: &TestServer, revision: &str, name: &str, more: &[&str]) -> anyhow::Result<()> {
    let results = paths::target().join("conformance").join(format!("{name}-{revision}"));
    let url = format!("{}/mcp", server.url());
    let mut command = foreign.node("conformance");
    command.args(["server", "--url", &url, "--requirements", revision, "-o"]).arg(results).args(more);
    let output = run::captured(&mut command).with_context(|| format!("{name} does not conform to {revision}"))?;
    let passing = output.lines().filter(|line| line.starts_with('✓')).count();
    say(&format!(
        "{name} conforms to {revision}: {passing} scenarios pass, the others are expected not to or not required"
    ));
    Ok(())
}
