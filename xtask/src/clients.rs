//! Runs real MCP and gRPC clients against the binary: over stdio, HTTP, gRPC and through a bridge.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::install::{ForeignClients, OLD_PYTHON_SDKS};
use crate::server::{TestServer, free_port};
use crate::{paths, print_line, run};

/// Versions of the TypeScript SDK 1.x, by the name that `package.json` gives them, each with the newest revision of the
/// protocol that it knows.
const TYPESCRIPT_1_SDKS: [(&str, &str); 3] =
    [("sdk-1.10.2", "2024-11-05"), ("sdk-1.17.5", "2025-06-18"), ("@modelcontextprotocol/sdk", "2025-11-25")];

pub(crate) fn test_clients(foreign: &ForeignClients) -> anyhow::Result<()> {
    let skald = paths::built_binary("release", "skald");
    let grpc = format!("127.0.0.1:{}", free_port()?);
    let server = TestServer::start(|port| {
        let mut command = Command::new(&skald);
        command.args(["serve", "--store", "memory", "--http-addr", &format!("127.0.0.1:{port}"), "--grpc-addr", &grpc]);
        command
    })?;
    let url = format!("{}/mcp", server.url());
    let targets: [(&str, &OsStr); 2] = [("stdio", skald.as_os_str()), ("http", OsStr::new(&url))];
    let node = |script: &str| {
        let mut command = foreign.node_command("node");
        command.arg(foreign.script(script));
        command
    };
    let python = |program: PathBuf, script: &str| {
        let mut command = Command::new(program);
        command.arg(foreign.script(script));
        command
    };
    let newest_python = |script: &str| python(foreign.python_program(), script);
    for (transport, target) in targets {
        for (package, revision) in TYPESCRIPT_1_SDKS {
            let mut command = node("typescript1.mjs");
            command.args([package, revision, transport]).arg(target);
            run_script(&format!("TypeScript {package} ({revision})"), transport, &mut command)?;
        }
        run_script("TypeScript SDK 2.x", transport, node("typescript2.mjs").arg(transport).arg(target))?;
        for (version, revision) in OLD_PYTHON_SDKS {
            let mut command = python(foreign.old_python_program(version), "python1_client.py");
            command.args([revision, transport]).arg(target);
            run_script(&format!("Python SDK {version} ({revision})"), transport, &mut command)?;
        }
        run_script("Python SDK 2.x", transport, newest_python("python_client.py").arg(transport).arg(target))?;
        run_inspector(foreign, transport, &skald, &url)?;
    }
    run_script("AI SDK", "http", node("ai_sdk.mjs").args(["http", &url]))?;
    run_script("Python SDK 2.x", "a bridge", newest_python("python_client.py").arg("bridge").arg(&skald).arg(&grpc))?;
    run_script("grpcio", "gRPC", newest_python("grpc_client.py").arg(&grpc).arg(&skald))?;
    run_script("curl", "http", Command::new("bash").arg(foreign.script("walk.sh")).arg(server.url()))
}

/// Runs a script that counts its own checks, and fails unless all of them passed.
pub(crate) fn run_script(name: &str, transport: &str, command: &mut Command) -> anyhow::Result<()> {
    let output = run::run_captured(command).with_context(|| format!("{name} over {transport}"))?;
    let count = output.lines().last().unwrap_or_default();
    ensure!(count.ends_with(", 0 failed") && !count.starts_with('0'), "{name} over {transport}: {output}");
    print_line(&format!("{name} over {transport}: {count}"));
    Ok(())
}

/// Runs the Inspector's command line. A row has a description, the arguments, the exit code and a word of the output.
fn run_inspector(foreign: &ForeignClients, transport: &str, skald: &Path, url: &str) -> anyhow::Result<()> {
    const REFUSED: i32 = 5;
    let dice = ["--method", "tools/call", "--tool-name", "duality_outcome", "--tool-arg", "fear=5"];
    let rows: [(&str, Vec<&str>, i32, &str); 6] = [
        ("lists tools without a warning", vec!["--method", "tools/list", "--strict"], 0, "duality_action_roll"),
        ("calls", [&dice[..], &["--tool-arg", "hope=8"]].concat(), 0, "ROLL_WITH_HOPE"),
        ("is refused", [&dice[..], &["--tool-arg", "hope=13"]].concat(), REFUSED, "INVALID_PARAMS"),
        ("reads", vec!["--method", "resources/read", "--uri", "dice://rules/duality"], 0, "Hope"),
        ("reads a template", vec!["--method", "resources/read", "--uri", "dice://duality/odds/2/15"], 0, "84"),
        (
            "gets a prompt",
            vec!["--method", "prompts/get", "--prompt-name", "explain_odds", "--prompt-args", "difficulty=15"],
            0,
            "62",
        ),
    ];
    for (what, arguments, code, word) in &rows {
        let mut command = foreign.node_command("mcp-inspector");
        command.arg("--cli");
        match transport {
            "stdio" => command.args(["-e", "SKALD_STORE=memory"]).arg(skald).arg("mcp"),
            _ => command.args([url, "--transport", "http"]),
        };
        let output = command.args(arguments).output().context("the Inspector does not start")?;
        let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_quiet = *code != 0 || !errors.to_lowercase().contains("warning");
        if output.status.code() != Some(*code) || !text.contains(word) || !is_quiet {
            bail!("the Inspector {what} over {transport}: {}\n{text}{errors}", output.status);
        }
    }
    print_line(&format!("Inspector over {transport}: {} passed, 0 failed", rows.len()));
    Ok(())
}
