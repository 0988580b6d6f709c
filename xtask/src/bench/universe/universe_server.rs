//! The server of the universe benchmark with its universes, and a plain HTTP client.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::super::BenchOptions;
use super::super::load::Connection;
use super::super::server_process::BenchServer;
use crate::paths;

/// The number of bodies in each universe, which is also its name. The largest leaves room for bodies that writers add.
pub(super) const SIZES: [usize; 4] = [10, 1_000, 10_000, 99_900];
/// Commands that are sent together while a universe is built.
const BATCH_SIZE: usize = 100;

pub(super) struct UniverseServer {
    pub(super) server: BenchServer,
    folder: PathBuf,
}

impl UniverseServer {
    /// Starts a server on a new file, and builds the universes: one root in each, and all others around it.
    pub(super) fn build(options: &BenchOptions) -> anyhow::Result<Self> {
        let folder = paths::target().join("universe-bench");
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let server = Self { server: start_server(options, &folder)?, folder };
        let mut client = BenchClient::open(server.address())?;
        for size in SIZES {
            client.send("POST", "/universes", &json!({"id": universe_id(size), "name": "Bench", "state": {}}))?;
            let bodies: Vec<Value> = (0..size).map(|number| add_star(&body_id(number), number > 0)).collect();
            for some in bodies.chunks(BATCH_SIZE) {
                client.send("POST", &commands_path(size), &json!(some))?;
            }
        }
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.server.address
    }

    /// The same universes on a server that has just started.
    pub(super) fn restart(mut self, options: &BenchOptions) -> anyhow::Result<Self> {
        drop(self.server);
        self.server = start_server(options, &self.folder)?;
        Ok(self)
    }
}

fn start_server(options: &BenchOptions, folder: &Path) -> anyhow::Result<BenchServer> {
    let store = format!("sqlite:{}", folder.join("sky.db").display());
    let mut command = Command::new(&options.skald);
    BenchServer::start(
        |port| {
            command.args(["serve", "--store", &store, "--grpc-addr", "off"]);
            command.args(["--http-addr", &format!("127.0.0.1:{port}")]);
            command
        },
        Stdio::null(),
    )
}

pub(super) fn universe_id(size: usize) -> String {
    format!("u{size}")
}

pub(super) fn body_id(number: usize) -> String {
    format!("s{number}")
}

/// The path for commands, with an option that leaves the whole state out of the answer.
pub(super) fn commands_path(size: usize) -> String {
    format!("/universes/{}/commands?state=none", universe_id(size))
}

/// A body of some 220 bytes, around the first or on its own.
pub(super) fn add_star(id: &str, has_parent: bool) -> Value {
    json!({"type": "addStar", "id": id, "payload": {
        "name": "A body of some name", "mass": 12.5, "radius": 1.25, "color": "#FFD2A1",
        "parentId": has_parent.then(|| body_id(0)), "orbitalDistance": 42.75, "orbitalSpeed": 1.5, "orbitalPhase": 180,
        "bodyType": "planet"
    }})
}

/// One kept-alive connection.
pub(super) struct BenchClient {
    address: SocketAddr,
    pub(super) connection: Connection,
    request: Vec<u8>,
}

impl BenchClient {
    pub(super) fn open(address: SocketAddr) -> anyhow::Result<Self> {
        Ok(Self { address, connection: Connection::open(address)?, request: Vec::new() })
    }

    /// Sends a request and reads the whole answer. Says how long that took.
    pub(super) fn send(&mut self, method: &str, path: &str, message: &Value) -> anyhow::Result<Duration> {
        self.send_with_headers(method, path, "", message)
    }

    pub(super) fn send_with_headers(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        message: &Value,
    ) -> anyhow::Result<Duration> {
        let message = if message.is_null() { String::new() } else { message.to_string() };
        let (host, length) = (self.address, message.len());
        self.request.clear();
        write!(
            self.request,
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\n{headers}content-length: {length}\r\n\r\n{message}"
        )?;
        let started = Instant::now();
        self.connection.exchange(&self.request).with_context(|| format!("{method} {path}"))?;
        Ok(started.elapsed())
    }
}
