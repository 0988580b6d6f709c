//! A client of the gate benchmark: calls a server over its standard input and output, one call after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::super::call_mode;
use super::super::server_process::ServerProcess;

pub(in crate::bench) struct Agent {
    process: ServerProcess,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    next_id: u64,
}

impl Agent {
    /// Starts the server and performs the handshake.
    pub(in crate::bench) fn start(command: &mut Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = ServerProcess::start(command)?;
        let input = process.child().stdin.take().context("there is no input")?;
        let output = BufReader::new(process.child().stdout.take().context("there is no output")?);
        // The handshake has the first id.
        let mut agent = Self { process, input, output, line: String::new(), next_id: 1 };
        agent.exchange(&format!("{}\n", call_mode::initialize_message()))?;
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        agent.input.write_all(format!("{initialized}\n").as_bytes())?;
        Ok(agent)
    }

    /// Calls a tool. Returns the latency and the structured answer.
    pub(in crate::bench) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<(Duration, Value)> {
        let params = json!({"name": tool, "arguments": arguments});
        let request = json!({"jsonrpc": "2.0", "id": self.next_id, "method": "tools/call", "params": params});
        let (time, mut answer) = self.exchange(&format!("{request}\n")).context(tool.to_owned())?;
        let is_answered = answer["result"]["isError"].as_bool() != Some(true);
        ensure!(is_answered && answer["result"].is_object(), "{tool} with {arguments} was answered: {answer}");
        Ok((time, answer["result"]["structuredContent"].take()))
    }

    /// Sends a line, and reads until its answer comes. Notifications before it are skipped.
    fn exchange(&mut self, request: &str) -> anyhow::Result<(Duration, Value)> {
        let id = self.next_id;
        self.next_id += 1;
        let started = Instant::now();
        self.input.write_all(request.as_bytes()).context("the server takes no input")?;
        loop {
            self.line.clear();
            let length = self.output.read_line(&mut self.line)?;
            let took = started.elapsed();
            ensure!(length > 0, "the server left");
            let message: Value = serde_json::from_str(&self.line)?;
            if message["id"].as_u64() == Some(id) {
                return Ok((took, message));
            }
        }
    }

    /// Closes the server's input and waits until it has ended, so that its store is closed cleanly.
    pub(in crate::bench) fn close(self) -> anyhow::Result<()> {
        let Self { mut process, input, output, .. } = self;
        drop(input);
        let status = process.child().wait()?;
        drop(output);
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}
