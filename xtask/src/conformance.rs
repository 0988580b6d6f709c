//! Runs the official MCP conformance suite at both revisions, against fixtures on our stack and against Skald itself.

use std::process::Command;

use anyhow::Context;

use crate::install::ForeignClients;
use crate::server::TestServer;
use crate::{paths, print_line, run};

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

pub(crate) fn test_conformance(foreign: &ForeignClients) -> anyhow::Result<()> {
    let fixtures = TestServer::start(|port| {
        let mut command = Command::new(paths::built_binary("debug", "examples/conformance"));
        command.arg(port.to_string());
        command
    })?;
    for revision in REVISIONS {
        run_suite(foreign, &fixtures, revision, "fixtures", &[])?;
    }
    let skald = TestServer::start(|port| {
        let mut command = Command::new(paths::built_binary("release", "skald"));
        command.args(["serve", "--store", "memory", "--http-addr", &format!("127.0.0.1:{port}"), "--grpc-addr", "off"]);
        command
    })?;
    for revision in REVISIONS {
        let expected = paths::root().join(format!("xtask/conformance/{revision}.yml"));
        run_suite(foreign, &skald, revision, "skald", &["--expected-failures", &expected.to_string_lossy()])?;
    }
    Ok(())
}

/// The suite's exit code is its verdict: it counts the scenarios that the revision requires, and no others.
fn run_suite(
    foreign: &ForeignClients,
    server: &TestServer,
    revision: &str,
    name: &str,
    more: &[&str],
) -> anyhow::Result<()> {
    let results = paths::target().join("conformance").join(format!("{name}-{revision}"));
    let url = format!("{}/mcp", server.url());
    let mut command = foreign.node_command("conformance");
    command.args(["server", "--url", &url, "--requirements", revision, "-o"]).arg(results).args(more);
    let output = run::run_captured(&mut command).with_context(|| format!("{name} does not conform to {revision}"))?;
    let passing = output.lines().filter(|line| line.starts_with('✓')).count();
    print_line(&format!(
        "{name} conforms to {revision}: {passing} scenarios pass, the others are expected not to or not required"
    ));
    Ok(())
}
