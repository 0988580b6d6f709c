//! The binary under test as a process that ends with the test. Its log is searched for secrets when it ends.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Texts that tests put into secrets and into everything else that a client can send. No log may have one.
pub(crate) const CONTENT_MARKERS: [&str; 2] = ["qzmarker", "Zyzzyva-Marker-7531"];
/// How every token, page session and code of an invitation begins.
const SECRET_PREFIXES: [&str; 3] = ["skald_", "skaldpage_", "skaldinvite_"];
/// The least characters of the secret part of each of these.
const SECRET_CHARS: usize = 40;

/// The first line of a log with content of a call, or with a secret of a token.
fn line_with_content(log: &str) -> Option<&str> {
    log.lines().find(|line| {
        let lower = line.to_lowercase();
        CONTENT_MARKERS.iter().any(|marker| lower.contains(&marker.to_lowercase())) || has_secret(line)
    })
}

fn has_secret(line: &str) -> bool {
    SECRET_PREFIXES.iter().flat_map(|prefix| line.match_indices(prefix)).any(|(at, prefix)| {
        let mut parts = line[at + prefix.len()..].splitn(2, '_');
        let is_id = parts.next().is_some_and(|id| id.chars().all(|character| character.is_ascii_alphanumeric()));
        let secret = parts.next().unwrap_or_default();
        is_id && secret.chars().take_while(char::is_ascii_alphanumeric).count() >= SECRET_CHARS
    })
}

/// Servers log each call, so that their logs can be searched for content. The command line logs little, and tests read
/// what it prints.
fn log_filter(arguments: &[&str]) -> Option<&'static str> {
    matches!(arguments.first(), Some(&("serve" | "mcp"))).then_some("info,skald::calls=debug")
}

pub(crate) fn skald_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skald"));
    command.args(arguments).env_remove("SKALD_LOG").env("SKALD_STORE", "memory");
    command.envs(log_filter(arguments).map(|filter| ("SKALD_LOG", filter)));
    // Tests call faster than people. Those of the limits name them.
    for class in ["CALLS", "READS", "LISTS"] {
        command.env(format!("SKALD_LIMIT_{class}"), "0");
    }
    // Tests run in parallel, and another program may have the default port.
    command.env("SKALD_GRPC_ADDR", "127.0.0.1:0");
    // Use no data folder of the user: runs would leave their folders there.
    command.env("XDG_DATA_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/data"));
    command
}

/// Runs a command that ends by itself.
pub(crate) fn run(arguments: &[&str]) -> Output {
    skald_command(arguments).stdin(Stdio::null()).output().expect("the binary starts")
}

pub(crate) struct RunningProgram {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Standard error so far. A thread reads it continuously: a full pipe would block the program.
    errors: Arc<Mutex<String>>,
    errors_reader: Option<JoinHandle<()>>,
    /// Notifications that came before an answer.
    heard: VecDeque<Value>,
}

impl RunningProgram {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let (sender, lines) = channel();
        let output = BufReader::new(child.stdout.take().expect("an output"));
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(line);
            }
        });
        let mut output = BufReader::new(child.stderr.take().expect("an error output"));
        let errors = Arc::new(Mutex::new(String::new()));
        let said = Arc::clone(&errors);
        let reader = std::thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                said.lock().expect("a text").push_str(&String::from_utf8_lossy(&line));
                line.clear();
            }
        });
        let input = child.stdin.take();
        Self { input, child, lines, errors, errors_reader: Some(reader), heard: VecDeque::new() }
    }

    /// Starts `skald serve` on a free port, and returns its HTTP address.
    pub(crate) fn serve(arguments: &[&str]) -> (Self, SocketAddr) {
        Self::start_server(skald_command(&[&["serve", "--http-addr", "127.0.0.1:0"], arguments].concat()))
    }

    /// Starts a server, and returns the HTTP address that it prints.
    pub(crate) fn start_server(command: Command) -> (Self, SocketAddr) {
        let running = Self::start(command);
        let address = running.address();
        (running, address)
    }

    /// Waits for the HTTP address that a server prints when it is ready.
    pub(crate) fn address(&self) -> SocketAddr {
        loop {
            let line = self.next_line().expect("a greeting");
            if let Some((_, rest)) = line.split_once("http://")
                && let Some(address) = rest.strip_suffix("/mcp")
            {
                return address.parse().expect("an address");
            }
        }
    }

    /// Waits until standard error contains this text.
    pub(crate) fn wait_for_stderr(&self, words: &str) {
        let began = Instant::now();
        while !self.errors.lock().expect("a text").contains(words) {
            assert!(began.elapsed() < PATIENCE, "it does not say {words:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Standard error so far.
    pub(crate) fn stderr(&self) -> String {
        self.errors.lock().expect("a text").clone()
    }

    /// Waits for the gRPC address, which a server prints after the HTTP address.
    pub(crate) fn grpc_address(&self) -> SocketAddr {
        loop {
            let line = self.next_line().expect("the rest of the greeting");
            if let Some(address) = line.trim().strip_prefix("gRPC") {
                return address.trim().parse().expect("an address");
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn next_line(&self) -> Option<String> {
        self.lines.recv_timeout(PATIENCE).ok()
    }

    pub(crate) fn write_line(&mut self, line: &str) {
        writeln!(self.input.as_mut().expect("the input is open"), "{line}").expect("the process reads");
    }

    /// Sends a message, and returns the next one that comes, which may be a notification.
    pub(crate) fn send_and_receive(&mut self, message: &Value) -> Value {
        self.write_line(&message.to_string());
        serde_json::from_str(&self.next_line().expect("an answer")).expect("the answer is JSON")
    }

    /// Sends a request, and returns its answer. Notifications that come before it are queued.
    pub(crate) fn request(&mut self, request: &Value) -> Value {
        let mut next = self.send_and_receive(request);
        while next.get("method").is_some() {
            self.heard.push_back(next);
            next = serde_json::from_str(&self.next_line().expect("an answer")).expect("the answer is JSON");
        }
        next
    }

    /// The next notification.
    pub(crate) fn next_notification(&mut self) -> Option<Value> {
        let next = self.heard.pop_front();
        next.or_else(|| serde_json::from_str(&self.next_line()?).ok())
    }

    /// Whether a notification comes within a moment.
    pub(crate) fn has_notification(&mut self) -> bool {
        self.heard.pop_front().is_some() || self.lines.recv_timeout(Duration::from_millis(300)).is_ok()
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
    }

    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("sh").arg("-c").arg(format!("kill -s {name} {}", self.child.id())).status();
        assert!(status.is_ok_and(|status| status.success()), "the process is there");
    }

    /// Kills the process at once, whatever it is doing.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("the process is ours");
        self.child.wait().expect("a child");
        // Dropping it searches its log.
    }

    /// Waits for the process to end: its status, how long that took, and its standard error.
    pub(crate) fn wait_for_exit(mut self) -> (ExitStatus, Duration, String) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            assert!(began.elapsed() < PATIENCE, "the process does not end");
            std::thread::sleep(Duration::from_millis(1));
        };
        let took = began.elapsed();
        (status, took, self.final_stderr())
    }

    /// All of standard error, after the process has ended.
    fn final_stderr(&mut self) -> String {
        if let Some(reader) = self.errors_reader.take() {
            let _ = reader.join();
        }
        self.errors.lock().map(|errors| errors.clone()).unwrap_or_default()
    }
}

#[test]
fn content_and_secrets_in_a_log_are_found() {
    let harmless = "INFO skald::calls: refused operation=\"authenticate\" user=\"token_4k2j\" skald_operations_total";
    assert_eq!(line_with_content(harmless), None);
    let secret = format!("skald_0123456789ab_{}", "x".repeat(52));
    for line in ["a QZMarkernote", "Zyzzyva-Marker-7531 name", &format!("Bearer {secret}"), &format!("a={secret}\"")] {
        assert_eq!(line_with_content(&format!("{harmless}\n{line}\n{harmless}")), Some(line));
    }
}

impl Drop for RunningProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let log = self.final_stderr();
        // Print standard error only if the test fails.
        if std::thread::panicking() {
            let _ = writeln!(std::io::stderr(), "process {} said:\n{log}", self.child.id());
        } else if let Some(line) = line_with_content(&log) {
            panic!("content in the log of process {}: {line}", self.child.id());
        }
    }
}
