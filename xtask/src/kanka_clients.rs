//! Runs published programs that were written for Kanka, unmodified, against the Kanka-compatible API of the binary.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, anyhow};
use serde_json::Value;

use crate::clients::run_script;
use crate::install::{ForeignClients, MCP_KANKA, PYTHON_KANKA};
use crate::server::TestServer;
use crate::{paths, run};

/// A server with a file as its store, and a token for it: the clients send one always.
pub(crate) struct KankaServer {
    server: TestServer,
    token: String,
    store: String,
}

impl KankaServer {
    /// Starts the binary of a profile on a new store in this folder.
    pub(crate) fn start(skald: &Path, folder: &Path) -> anyhow::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        fs::create_dir_all(folder)?;
        let store = format!("sqlite:{}", folder.join("skald.db").display());
        let created = run::run_captured(
            Command::new(skald)
                .args(["token", "create", "Ada", "--role", "gm", "--calls", "0", "--json", "--store", &store]),
        )?;
        let created: Value = serde_json::from_str(created.trim()).context("a token as JSON")?;
        let token = created["token"].as_str().ok_or_else(|| anyhow!("no token in {created}"))?.to_owned();
        let server = TestServer::start(|port| {
            let mut command = Command::new(skald);
            command.args([
                "serve",
                "--store",
                &store,
                "--http-addr",
                &format!("127.0.0.1:{port}"),
                "--grpc-addr",
                "off",
            ]);
            // The clients wait when they meet a limit.
            command.args(["--kanka-rate-limit", "0"]);
            command
        })?;
        Ok(Self { server, token, store })
    }

    /// A Python script of an environment, which finds the token, and whose SDK of Kanka finds the server.
    pub(crate) fn script(&self, foreign: &ForeignClients, environment: &str, script: &str) -> Command {
        let mut command = Command::new(foreign.environment_program(environment));
        let url = self.server.url();
        command
            .arg(foreign.script(script))
            .arg(&url)
            .env("SKALD_TOKEN", &self.token)
            .env("SKALD_STORE", &self.store)
            .env("KANKA_BASE_URL", format!("{url}/api/kanka/1.0"))
            .env("PYTHONPATH", foreign.script(""));
        command
    }
}

pub(crate) fn test_kanka_clients(foreign: &ForeignClients) -> anyhow::Result<()> {
    let skald = paths::built_binary("release", "skald");
    let kanka = KankaServer::start(&skald, &paths::target().join("kanka-clients"))?;
    for (environment, script) in [(PYTHON_KANKA, "python_kanka_client.py"), (MCP_KANKA, "mcp_kanka_client.py")] {
        run_script(environment, "the Kanka-compatible API", &mut kanka.script(foreign, environment, script))?;
    }
    Ok(())
}
