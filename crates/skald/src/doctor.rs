//! `skald doctor`: checks the installation, and prints the configuration for MCP clients.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, ToSocketAddrs};
use std::path::Path;
use std::process::{Child, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use tokio::net::lookup_host;

use crate::arguments::{DoctorArguments, HttpAddressArguments, LISTEN_OFF, StoreArguments};
use crate::client_configurations::{CLIENTS, StdioCommand};
use crate::output::print_lines;
use crate::reachable_server::{ReachableServer, TOKEN_PLACEHOLDER};
use crate::running_server::{http_get, http_version};
use crate::{open_files_limit, open_store};

/// How long a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) async fn run(arguments: &DoctorArguments) -> anyhow::Result<ExitCode> {
    let binary = std::env::current_exe().context("this program does not know where it is")?;
    let binary = binary.canonicalize().unwrap_or(binary);
    let address = arguments.address.http_addr.clone();
    let running = {
        let address = address.clone();
        tokio::task::spawn_blocking(move || running_server_requires_token(&address)).await?
    };
    let is_token_required = arguments.address.is_token_required() || running == Some(true);
    let server = reachable_server(arguments, is_token_required).await;
    print_version();
    let named_store = arguments.store.store.as_deref().map(open_store::absolute_address);
    print_configurations(&StdioCommand::new(&binary, named_store.as_deref()), &server);

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
    if running == Some(false) {
        print_lines(&format!(
            "warn  tokens: {} takes every caller without a token for the owner. Behind a proxy or a tunnel anybody could be \
             that caller: start it with --require-token",
            arguments.address.http_addr
        ));
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The server that listens at the address of the options, or will. An address that cannot be resolved stays as it is
/// written: the check of the port says what is wrong with it.
async fn reachable_server(arguments: &DoctorArguments, is_token_required: bool) -> ReachableServer {
    let HttpAddressArguments { http_addr, allowed_hosts, .. } = &arguments.address;
    match lookup_host(http_addr).await.ok().and_then(|mut found| found.next()) {
        Some(address) => ReachableServer::new(address, allowed_hosts, is_token_required),
        None => ReachableServer { authority: http_addr.clone(), is_https: false, is_token_required },
    }
}

/// Says which version this is, and where to read what is new. Skald itself never looks for a newer one.
fn print_version() {
    print_lines(&format!("# Skald {}\n", env!("CARGO_PKG_VERSION")));
    print_lines(
        "What is new in a version is in CHANGELOG.md, in the folder of the source and in the archive of a release; the Debian \
         package has it as /usr/share/doc/skald/changelog.gz. Skald does not look for newer versions, and connects only to \
         addresses that you gave it.\n",
    );
}

fn print_configurations(command: &StdioCommand, server: &ReachableServer) {
    print_lines("# Configuration for MCP clients\n");
    print_lines("With stdio the client starts Skald itself. With HTTP start Skald first: skald serve");
    print_lines(
        "If the world is on another machine, add --addr HOST:8080 to the arguments of mcp, and put your token into \
         SKALD_TOKEN. Start the server there with --grpc-addr 0.0.0.0:8080.\n",
    );
    if command.is_masked() {
        print_lines("Put the password of the database in place of … in SKALD_STORE. It is not printed here.\n");
    }
    if server.is_token_required {
        print_lines(&format!(
            "The server requires a token: put one in place of {TOKEN_PLACEHOLDER} or $TOKEN. This makes one: skald token \
             create NAME --role gm\n"
        ));
    }
    for client in &CLIENTS {
        print_lines(&format!("## {}: {}\n", client.name, client.file));
        for command in (client.commands)(command, server) {
            print_lines(&format!("$ {command}"));
        }
        print_lines(&format!("stdio:\n{}\nHTTP:\n{}\n", client.stdio(command), client.http(server)));
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
    let what = open_store::describe_store(arguments)?;
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
    match http_version(address) {
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

/// Whether the Skald that runs there requires a token on this machine too. `None` if none runs there.
fn running_server_requires_token(address: &str) -> Option<bool> {
    http_version(address).ok()?;
    let answer = http_get(address, "/api/v1/context").ok()?;
    Some(!answer.starts_with("HTTP/1.1 200"))
}

/// Variables of this terminal that a client does not pass on, and that would make the child process a bridge, or a caller that
/// its empty store does not know.
const VARIABLES_OF_A_CALLER: [&str; 4] = ["SKALD_TOKEN", "SKALD_TOKEN_FILE", "SKALD_ADDR", "SKALD_CAMPAIGN"];

/// Starts this binary as a client would and counts the tools that it offers.
fn check_handshake(binary: &Path) -> anyhow::Result<String> {
    let began = Instant::now();
    let mut command = std::process::Command::new(binary);
    for name in VARIABLES_OF_A_CALLER {
        command.env_remove(name);
    }
    let mut child = command
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
