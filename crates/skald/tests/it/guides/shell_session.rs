//! Runs the blocks of one page in one shell, in a home folder of its own.

use std::fmt::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use skald_testkit::TemporaryFolder;

use super::page::GuidePage;
use super::sample_shape::missing_lines;

const PAGE_TIMEOUT: Duration = Duration::from_mins(2);

/// Printed between blocks.
const BLOCK_MARK: &str = "----- block at line ";

/// `skald`: a server is started in the background, after the one before it was stopped, and awaited. `rebuild` stops it, as
/// its page says.
const SKALD: &str = r#"#!/bin/sh
case "$1" in
  serve) "$GUIDE_STATE/bin/stop-server" ;;
  rebuild) "$GUIDE_STATE/bin/stop-server"; exec "$GUIDE_BINARY" "$@" ;;
  *) exec "$GUIDE_BINARY" "$@" ;;
esac
: > "$GUIDE_STATE/served"
"$GUIDE_BINARY" "$@" > "$GUIDE_STATE/served" 2> "$GUIDE_STATE/log" < /dev/null &
echo $! > "$GUIDE_STATE/pid"
tries=0
until grep -q 'is ready' "$GUIDE_STATE/served"; do
  tries=$((tries + 1))
  if [ $tries -gt 400 ] || ! kill -0 "$(cat "$GUIDE_STATE/pid")" 2> /dev/null; then
    cat "$GUIDE_STATE/log" >&2
    exit 1
  fi
  sleep 0.05
done
cat "$GUIDE_STATE/served"
"#;

const STOP_SERVER: &str = r#"#!/bin/sh
if [ -f "$GUIDE_STATE/pid" ]; then
  kill "$(cat "$GUIDE_STATE/pid")" 2> /dev/null
  while kill -0 "$(cat "$GUIDE_STATE/pid")" 2> /dev/null; do sleep 0.05; done
  rm "$GUIDE_STATE/pid"
fi
exit 0
"#;

/// `curl`: a refusal is a failure, also one in an answer with the status 200 (a failed item, a failed tool of MCP, an error of
/// JSON-RPC), and a stream is read for two seconds.
const CURL: &str = r#"#!/bin/sh
case " $* " in
  *' -N '*) /usr/bin/curl --max-time 2 "$@"; test $? = 28; exit ;;
esac
answer=$(mktemp "$GUIDE_STATE/answer.XXXXXX")
/usr/bin/curl --fail-with-body "$@" > "$answer"
status=$?
cat "$answer"
test $status = 0 || exit $status
if jq --exit-status --slurp 'any(.[] | .. | objects;
    (.success == false and has("error")) or .isError == true or (has("jsonrpc") and has("error")))' \
    "$answer" > /dev/null 2>&1; then
  echo 'the answer above is a failure' >&2
  exit 22
fi
"#;

/// `cargo run -- serve` and `cargo install` with the binary that is built already.
const CARGO: &str = r#"#!/bin/sh
case "$*" in
  'run --release -- '*) shift 3; exec skald "$@" ;;
  'install --locked --path crates/skald') exit 0 ;;
esac
echo "no such command in this test: cargo $*" >&2
exit 1
"#;

/// `sudo` that keeps the store if it is told to, as the user of this test.
const SUDO: &str = r#"#!/bin/sh
case "$1" in
  -u) shift 2; exec "$@" ;;
  --preserve-env=SKALD_STORE) shift; exec "$@" ;;
  skald) exec env -u SKALD_STORE "$@" ;;
esac
echo "no such command in this test: sudo $*" >&2
exit 1
"#;

/// `createuser`, which asks its terminal for a password if it has one.
const CREATEUSER: &str = r#"#!/bin/sh
PATH=${PATH#*:}
printf 'PASSWORD\nPASSWORD\n' | setsid --wait createuser "$@"
"#;

/// The folder of the service on a page, which is a folder of the test here.
const SERVICE_FOLDER: &str = "/var/lib/skald";

/// Runs a page by a shell, and returns what went wrong.
pub(super) fn run_page(shell: &str, root: &Path, page: &GuidePage) -> Option<String> {
    let folder = TemporaryFolder::new();
    for name in ["bin", "home", "work"] {
        std::fs::create_dir_all(folder.file(name)).expect("a folder");
    }
    for (name, text) in [
        ("skald", SKALD),
        ("stop-server", STOP_SERVER),
        ("curl", CURL),
        ("cargo", CARGO),
        ("sudo", SUDO),
        ("createuser", CREATEUSER),
    ] {
        let path = folder.file("bin").join(name);
        std::fs::write(&path, text).expect("a script");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    for name in ["docs", "examples", "scenarios"] {
        std::os::unix::fs::symlink(root.join(name), folder.file("work").join(name)).expect("a link");
    }
    let (http, grpc) = (free_port(), free_port());
    let script = script_of(page, http, grpc).replace(SERVICE_FOLDER, &folder.file("service").to_string_lossy());
    std::fs::write(folder.file("page"), &script).expect("a script");
    let printed = std::fs::File::create(folder.file("printed")).expect("a file");
    let mut command = Command::new(shell);
    // No start-up files of this machine.
    if shell == "zsh" {
        command.arg("-f");
    } else {
        command.args(["--noprofile", "--norc"]);
    }
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SKALD_") || name.starts_with("XDG_")) {
        command.env_remove(name);
    }
    let path = std::env::var("PATH").expect("a path");
    command
        .arg(folder.file("page"))
        .current_dir(folder.file("work"))
        .env("PATH", format!("{}:{path}", folder.file("bin").display()))
        .env("HOME", folder.file("home"))
        .env("GUIDE_STATE", folder.file("."))
        .env("GUIDE_BINARY", env!("CARGO_BIN_EXE_skald"))
        .env("SKALD_HTTP_ADDR", format!("127.0.0.1:{http}"))
        .env("SKALD_GRPC_ADDR", format!("127.0.0.1:{grpc}"))
        .env("SKALD_LOG", "warn")
        .env("SKALD_LIMIT_CALLS", "0")
        .stdin(Stdio::null())
        .stdout(printed.try_clone().expect("a file"))
        .stderr(printed);
    let mut child = command.spawn().unwrap_or_else(|error| panic!("{shell} cannot be started: {error}"));
    let began = Instant::now();
    let ended = loop {
        match child.try_wait().expect("a child") {
            Some(status) => break Some(status),
            None if began.elapsed() > PAGE_TIMEOUT => break None,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    if ended.is_none() {
        child.kill().expect("a child");
        child.wait().expect("a child");
    }
    let stop = folder.file("bin/stop-server");
    Command::new(stop).env("GUIDE_STATE", folder.file(".")).status().expect("the server is stopped");
    let printed = String::from_utf8_lossy(&std::fs::read(folder.file("printed")).expect("a file")).into_owned();
    let last = printed.rsplit(BLOCK_MARK).next().unwrap_or_default();
    match ended {
        None => Some(format!("{}: it does not end; the last block: {last}", page.name)),
        Some(status) if !status.success() => Some(format!("{}: {status}; the last block: {last}", page.name)),
        Some(_) => compare_samples(page, &printed),
    }
}

/// The blocks of a page as one script, with the ports of this test, that ends at the first failure.
fn script_of(page: &GuidePage, http: u16, grpc: u16) -> String {
    let mut script = String::from("set -e\nset -o pipefail\n");
    for block in page.blocks.iter().filter(|block| block.is_run()) {
        let text = if block.is_refused() {
            format!("if {{\n{}}}; then echo 'it is not refused'; exit 1; fi\n", block.text)
        } else {
            block.text.clone()
        };
        let _ = write!(script, "echo '{BLOCK_MARK}{}'\n{text}\n", block.line);
    }
    script.replace(":8081", &format!(":{http}")).replace(":8080", &format!(":{grpc}"))
}

fn compare_samples(page: &GuidePage, printed: &str) -> Option<String> {
    let mut problems = Vec::new();
    for (index, sample) in page.blocks.iter().enumerate().filter(|(_, block)| block.is_sample()) {
        let Some(source) = page.blocks[..index].iter().rev().find(|block| block.is_run()) else {
            problems.push(format!("{}:{}: a sample without a block before it", page.name, sample.line));
            continue;
        };
        let mark = format!("{BLOCK_MARK}{}\n", source.line);
        let output = printed.split(&mark).nth(1).and_then(|rest| rest.split(BLOCK_MARK).next()).unwrap_or_default();
        let missing = missing_lines(&sample.text, output);
        if !missing.is_empty() {
            let (name, line) = (&page.name, sample.line);
            problems.push(format!("{name}:{line}: these lines are not printed: {missing:#?}\nbut\n{output}"));
        }
    }
    (!problems.is_empty()).then(|| problems.join("\n"))
}

/// A port that is free, and stays so between two servers of a page: below those that the system gives to others.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let first = u16::try_from(std::process::id() % 10_000).expect("it fits");
    loop {
        let port = 20_000 + (first + NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}
