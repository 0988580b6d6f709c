//! Servers as processes: starts and stops them, and reads their processor time and memory from the kernel.

use std::fs;
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};

/// The interpreters among the servers need seconds on a busy machine.
const START_MAX: Duration = Duration::from_mins(1);
const START_POLL: Duration = Duration::from_millis(1);
/// The prefix of Skald's environment variables. They are removed, since they would change what is measured.
const SETTINGS_PREFIX: &str = "SKALD_";
/// Linux reports the times in `/proc/PID/stat` in hundredths of a second on every architecture.
const TICK: Duration = Duration::from_millis(10);
/// The index of `utime` among the fields after the name of the command; `stime` is next.
const USER_TIME_FIELD: usize = 11;
/// Two readings that each lag by a tick may differ by this much although no thread has ended.
const LAG_MAX: Duration = Duration::from_millis(30);
const BYTES_PER_KIBIBYTE: u64 = 1024;

/// A process that is killed on drop.
pub(crate) struct ServerProcess(Child);

impl ServerProcess {
    /// Starts a program without Skald's environment variables.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(SETTINGS_PREFIX) {
                command.env_remove(name);
            }
        }
        let child = command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?;
        Ok(Self(child))
    }

    pub(crate) fn child(&mut self) -> &mut Child {
        &mut self.0
    }

    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends SIGTERM, and returns everything that the process wrote to its log until it ended.
    pub(crate) fn terminate(mut self) -> anyhow::Result<String> {
        let mut log = self.0.stderr.take().context("the log was not kept")?;
        let asked = Command::new("kill").args(["-TERM", &self.id().to_string()]).status()?;
        ensure!(asked.success(), "the process cannot be asked to end");
        let mut text = String::new();
        log.read_to_string(&mut text)?;
        Ok(text)
    }

    /// The processor time that the process has used.
    pub(crate) fn processor_time(&self) -> anyhow::Result<Duration> {
        let of_threads = thread_time(self.id())?;
        let of_process = process_time(self.id())?;
        // The times of threads are exact to the nanosecond, but those of ended threads are missing. The time of the
        // process includes them, in ticks.
        Ok(if of_process > of_threads + LAG_MAX { of_process } else { of_threads })
    }

    /// The memory of the process that is resident now, in bytes.
    pub(crate) fn resident_bytes(&self) -> anyhow::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()))?;
        let kibibytes = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .and_then(|value| value.split_whitespace().next())
            .context("the kernel tells no resident memory")?;
        Ok(kibibytes.parse::<u64>()? * BYTES_PER_KIBIBYTE)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // An error means that it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn thread_time(process: u32) -> anyhow::Result<Duration> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{process}/task")).context("the server is gone")? {
        // A thread may end between the listing and the reading.
        let Ok(statistics) = fs::read_to_string(thread?.path().join("schedstat")) else {
            continue;
        };
        let running = statistics.split(' ').next().context("schedstat is empty")?;
        nanoseconds += running.parse::<u64>().context("schedstat holds no time")?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

fn process_time(process: u32) -> anyhow::Result<Duration> {
    let statistics = fs::read_to_string(format!("/proc/{process}/stat")).context("the server is gone")?;
    let ticks = parse_ticks(&statistics).context("the kernel tells no processor time")?;
    Ok(TICK * ticks)
}

/// User and system time in a line of `/proc/PID/stat`. The name of the command may contain anything, and ends at the
/// last `)`.
fn parse_ticks(statistics: &str) -> Option<u32> {
    let (_, fields) = statistics.rsplit_once(") ")?;
    let mut times = fields.split(' ').skip(USER_TIME_FIELD);
    let user: u32 = times.next()?.parse().ok()?;
    let system: u32 = times.next()?.parse().ok()?;
    user.checked_add(system)
}

/// A server that accepts connections.
pub(crate) struct BenchServer {
    pub process: ServerProcess,
    pub address: SocketAddr,
}

impl BenchServer {
    /// Starts a server on a free port, and waits until it accepts connections.
    pub(crate) fn start(command: impl FnOnce(u16) -> Command, log: Stdio) -> anyhow::Result<Self> {
        let address = free_address()?;
        let mut command = command(address.port());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let mut process = ServerProcess::start(&mut command)?;
        let started = Instant::now();
        while TcpStream::connect(address).is_err() {
            let name = command.get_program().display();
            if let Some(status) = process.child().try_wait()? {
                bail!("{name} ended before it served: {status}");
            }
            if started.elapsed() > START_MAX {
                bail!("{name} did not serve within {START_MAX:?}");
            }
            thread::sleep(START_POLL);
        }
        Ok(Self { process, address })
    }
}

/// A loopback address whose port is free at this moment.
fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("no port is free")?;
    Ok(listener.local_addr()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ticks_behind_any_name() {
        let line = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 0 0 20 0 1 0";
        assert_eq!(parse_ticks(line), Some(42));
        assert_eq!(parse_ticks("7 (a) S"), None);
    }
}
