//! `skald doctor`: checks the installation, and prints the configuration for MCP clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Child, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tokio::net::lookup_host;

use crate::arguments::{DoctorArguments, LISTEN_OFF, StoreArguments};
use crate::client_configurations::CLIENTS;
use crate::output::print_lines;
use crate::{open_files_limit, open_store};

/// How long a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: &DoctorArguments) -> anyhow::Result<ExitCode> {
    let binary = std::env::current_exe().context("this program does not know where it is")?;
    let binary = binary.canonicalize().unwrap_or(binary);
    let url = format!("http://{}/mcp", arguments.http_addr);
    print_configurations(&binary, &url);

    let address = arguments.http_addr.clone();
    let store = check_store(&arguments.store).await;
    let grpc = check_grpc(&arguments.grpc_addr).await;
    let checks = tokio::task::spawn_blocking(move || run_checks(&binary, &address, store, grpc)).await?;
    print_lines("# Checks\n");
    let mut sound = true;
    for (name, outcome) in checks {
        match outcome {
            Ok(found) => print_lines(&format!("ok    {name}: {found}")),
            Err(error) => {
                sound = false;
                print_lines(&format!("FAIL  {name}: {error:#}"));
            }
        }
    }
    if is_owner_without_token(&arguments.http_addr) {
        print_lines(&format!(
            "warn  tokens: whoever reaches {} without a token is the owner. Behind a proxy or a tunnel that is everybody: \
             start it with --require-token",
            arguments.http_addr
        ));
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print_configurations(binary: &Path, url: &str) {
    print_lines("# Configuration for MCP clients\n");
    print_lines("Over stdio the client starts Skald itself. Over HTTP start it first: skald serve");
    print_lines(
        "For a world that a server keeps elsewhere, give mcp the option --addr HOST:PORT, and SKALD_TOKEN if it asks.\n",
    );
    for client in &CLIENTS {
        print_lines(&format!("## {}: {}\n", client.name, client.file));
        for command in (client.commands)(&binary.to_string_lossy(), url) {
            print_lines(&format!("$ {command}"));
        }
        print_lines(&format!("stdio:\n{}\nHTTP:\n{}\n", client.stdio(binary), client.http(url)));
    }
}

fn run_checks(
    binary: &Path,
    address: &str,
    store: anyhow::Result<String>,
    grpc: anyhow::Result<String>,
) -> Vec<(&'static str, anyhow::Result<String>)> {
    vec![
        ("binary", check_binary(binary)),
        ("store", store),
        ("port", check_port(address)),
        ("gRPC", grpc),
        ("open files", Ok(describe_open_files_limit())),
        ("handshake", check_handshake(binary)),
    ]
}

/// Opens the store as a server would.
async fn check_store(arguments: &StoreArguments) -> anyhow::Result<String> {
    let journal = open_store::open_journal(arguments).await?;
    let streams = journal.streams("", 1).await.context("the store cannot be read")?;
    let what =
        arguments.store.as_deref().map_or("the default file", |store| store.split("://").next().unwrap_or(store));
    Ok(format!("{what} opens{}", if streams.is_empty() { ", nothing is in it yet" } else { "" }))
}

fn check_binary(binary: &Path) -> anyhow::Result<String> {
    let metadata = binary.metadata().with_context(|| format!("{} cannot be read", binary.display()))?;
    ensure!(metadata.is_file(), "{} is not a file", binary.display());
    Ok(format!("{}, version {}", binary.display(), env!("CARGO_PKG_VERSION")))
}

/// The limit of open files. `skald serve` needs one for each client, and a few more.
fn describe_open_files_limit() -> String {
    match open_files_limit::hard_limit() {
        Some(most) => format!("up to {most} at once, each client of skald serve is one"),
        None => "as many as there are clients".to_owned(),
    }
}

/// Checks that the HTTP port is free, or that a running Skald has it.
fn check_port(address: &str) -> anyhow::Result<String> {
    let resolved = address.to_socket_addrs().with_context(|| format!("{address} is not an address"))?;
    let resolved: Vec<_> = resolved.collect();
    if TcpListener::bind(&*resolved).is_ok() {
        return Ok(format!("{address} is free for skald serve"));
    }
    match running_version(address) {
        Ok(version) => Ok(format!("{address} is served by Skald {version}")),
        Err(_) => bail!("{address} is taken by another program; choose another port with --http-addr 127.0.0.1:PORT"),
    }
}

/// Checks the same of the gRPC port.
async fn check_grpc(address: &str) -> anyhow::Result<String> {
    if address == LISTEN_OFF {
        return Ok("off".to_owned());
    }
    let resolved = lookup_host(address).await.with_context(|| format!("{address} is not an address"))?;
    if TcpListener::bind(&*resolved.collect::<Vec<_>>()).is_ok() {
        return Ok(format!("{address} is free for skald serve"));
    }
    match skald_grpc::server_version(address).await {
        Ok(version) => Ok(format!("{address} is served by Skald {version}; a bridge: skald mcp --addr {address}")),
        Err(_) => bail!("{address} is taken by another program; choose another port with --grpc-addr 127.0.0.1:PORT"),
    }
}

/// Whether a running server treats callers without a token as the owner.
fn is_owner_without_token(address: &str) -> bool {
    running_version(address).is_ok()
        && http_get(address, "/api/v1/context").is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

/// The beginning of a running server's response, with its head.
fn http_get(address: &str, path: &str) -> anyhow::Result<String> {
    let resolved = address.to_socket_addrs()?.next().context("no address")?;
    let mut stream = TcpStream::connect_timeout(&resolved, CHECK_TIMEOUT)?;
    stream.set_read_timeout(Some(CHECK_TIMEOUT))?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(10_000).read_to_string(&mut answer)?;
    Ok(answer)
}

/// The version of a running Skald.
fn running_version(address: &str) -> anyhow::Result<String> {
    let answer = http_get(address, "/health")?;
    let body = answer.split_once("\r\n\r\n").context("no answer")?.1;
    let health: Value = serde_json::from_str(body)?;
    ensure!(health["name"] == "skald", "the answer is not Skald's");
    health["version"].as_str().map(str::to_owned).context("no version in the answer")
}

/// Starts this binary as a client would and counts the tools that it offers.
fn check_handshake(binary: &Path) -> anyhow::Result<String> {
    let began = Instant::now();
    let mut child = std::process::Command::new(binary)
        .args(["mcp", "--transport", "stdio", "--store", "memory"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} cannot be started", binary.display()))?;
    let outcome = list_tools(&mut child);
    // The child ends when its input is closed. Kill it if it does not.
    let _ = child.kill();
    let _ = child.wait();
    let outcome = outcome.with_context(|| {
        let mut errors = String::new();
        let _ = child.stderr.take().map(|mut stderr| stderr.read_to_string(&mut errors));
        format!("no handshake with {} mcp: {}", binary.display(), errors.trim())
    });
    let (server, tools) = outcome?;
    Ok(format!("{server} answered over stdio with {tools} tools in {} ms", began.elapsed().as_millis()))
}

fn list_tools(child: &mut Child) -> anyhow::Result<(String, usize)> {
    let mut input = child.stdin.take().context("no input")?;
    let output = child.stdout.take().context("no output")?;
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.take_while(|line| sender.send(line.clone()).is_ok()).for_each(drop);
    });
    let mut ask = |message: Value| -> anyhow::Result<Value> {
        writeln!(input, "{message}")?;
        let line = lines.recv_timeout(CHECK_TIMEOUT).context("no answer in time")?;
        Ok(serde_json::from_str(&line)?)
    };
    let initialized = ask(json!({
        "jsonrpc": "2.0", "id": 1, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "skald-doctor", "version": env!("CARGO_PKG_VERSION")}
        }
    }))?;
    let server = initialized["result"]["serverInfo"]["name"].as_str().context("no server name in the answer")?;
    let listed = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}))?;
    let tools = listed["result"]["tools"].as_array().context("no tools in the answer")?;
    Ok((server.to_owned(), tools.len()))
}
