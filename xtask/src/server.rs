//! Starts a server under test on a free port, and stops it afterwards.

use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A server process that is killed on drop.
pub(crate) struct TestServer {
    child: Child,
    pub(crate) port: u16,
}

impl TestServer {
    /// Starts the command for a free port, and waits until it listens.
    pub(crate) fn start(command: impl FnOnce(u16) -> Command) -> anyhow::Result<Self> {
        let port = free_port()?;
        let mut command = command(port);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let child = child.with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let mut server = Self { child, port };
        server.wait_until_listening()?;
        Ok(server)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn wait_until_listening(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the server ended with {status} before it listened");
            }
            if began.elapsed() > START_TIMEOUT {
                bail!("the server does not listen on port {}", self.port);
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Ok(())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}
