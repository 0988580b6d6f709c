//! Counts the instructions of a running process with `perf`, where the processor and the kernel allow it.
//!
//! Counts hardly vary between runs, so they are judged in place of processor time where they are available.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, ensure};

use super::server_process::ServerProcess;

const EVENT: &str = "instructions:u";
/// Counting begins and ends on command: read from standard input, acknowledged on standard output.
const CONTROL: &str = "--control=fd:0,1";
const FIELD_SEPARATOR: &str = "-x,";
const START_DISABLED: &str = "--delay=-1";
const ACKNOWLEDGED: &str = "ack";

/// Whether instructions can be counted here.
pub(crate) fn can_count() -> bool {
    let counted =
        Command::new("perf").args(["stat", FIELD_SEPARATOR, "-e", EVENT, "true"]).stdin(Stdio::null()).output();
    counted.is_ok_and(|output| parse_count(&String::from_utf8_lossy(&output.stderr)).is_some())
}

/// A count under way.
pub(crate) struct InstructionCounter {
    perf: ServerProcess,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl InstructionCounter {
    /// Begins to count what a process executes from now on.
    pub(crate) fn start(process: u32) -> anyhow::Result<Self> {
        let mut command = Command::new("perf");
        command
            .args(["stat", FIELD_SEPARATOR, "-e", EVENT, START_DISABLED, CONTROL, "-p"])
            .arg(process.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut perf = ServerProcess::start(&mut command)?;
        let commands = perf.child().stdin.take().context("perf has no input")?;
        let answers = perf.child().stdout.take().context("perf has no output")?;
        let mut counter = Self { perf, commands, answers: BufReader::new(answers) };
        counter.send_command("enable")?;
        Ok(counter)
    }

    /// Ends the count and the counted process: `perf` reports only after that has ended.
    pub(crate) fn finish(mut self, counted: ServerProcess) -> anyhow::Result<f64> {
        self.send_command("disable")?;
        drop(counted);
        let mut report = String::new();
        let mut errors = self.perf.child().stderr.take().context("perf has no report")?;
        errors.read_to_string(&mut report)?;
        parse_count(&report).with_context(|| format!("perf counted nothing: {report}"))
    }

    fn send_command(&mut self, command: &str) -> anyhow::Result<()> {
        writeln!(self.commands, "{command}").context("perf has ended")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        // The acknowledgements carry the zero byte of a C string.
        ensure!(answer.trim_matches(['\0', '\n']) == ACKNOWLEDGED, "perf answered {answer:?} to {command:?}");
        Ok(())
    }
}

/// The count in the report of `perf stat -x,`: the first field of the line that names the event.
fn parse_count(report: &str) -> Option<f64> {
    let line = report.lines().find(|line| line.contains(EVENT))?;
    line.split(',').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_count_and_not_its_absence() {
        assert_eq!(parse_count("120411,,instructions:u,501,100.00,,\n"), Some(120_411.0));
        assert_eq!(parse_count("<not supported>,,instructions:u,0,100.00,,\n"), None);
        assert_eq!(parse_count(""), None);
    }
}
