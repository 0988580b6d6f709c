//! Tests of a full or read-only disk: the server reports it, still answers reads, and resumes by itself.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, initialize};

use crate::faults::{
    assert_note_refused, assert_still_readable, assert_unavailable, idempotency_key, note_texts,
    send_note_until_stored, wait_for_ready_status, wait_until_unready,
};
use crate::process::{RunningProgram, run, skald_command};
use crate::rest_client::RestClient;
use skald_testkit::TemporaryFolder;

/// Runs a program without the special rights of root, so that file permissions hold for it. Ignores SIGXFSZ, so that
/// the limit on file sizes is an error and does not end the process.
const WITHOUT_RIGHTS: &str = "trap '' XFSZ
    if [ \"$(id -u)\" = 0 ]; then set -- setpriv --bounding-set=-dac_override \"$@\"; fi
    exec \"$@\"";

/// What everybody is told. The cause may name files, so it is in the log alone.
const IN_THE_LOG: &str = "the store cannot be written; the log of the server says why";

struct ServerOnDisk {
    server: RunningProgram,
    rest: RestClient,
    campaign_id: String,
    path: PathBuf,
    sent: Vec<String>,
}

impl ServerOnDisk {
    fn new(folder: &TemporaryFolder) -> Self {
        let path = folder.file("disk").join("world.db");
        std::fs::create_dir(folder.file("disk")).expect("a folder");
        let (server, address) =
            RunningProgram::start_server(command_without_rights(&["serve", "--http-addr", "127.0.0.1:0"], &path));
        Self::from_server(server, RestClient::new(address), path)
    }

    fn from_server(server: RunningProgram, mut rest: RestClient, path: PathBuf) -> Self {
        let campaign_id = rest.open_campaign("kept");
        let mut kept = Self { server, rest, campaign_id, path, sent: Vec::new() };
        assert!(!kept.send_note("before"));
        kept
    }

    /// Sends a note until it is stored. Whether it had to be sent more than once.
    fn send_note(&mut self, text: &str) -> bool {
        self.sent.push(text.to_owned());
        send_note_until_stored(&mut self.rest, &self.campaign_id, text)
    }

    /// Sends notes until one is refused, and returns that one, which is not in `sent`.
    fn send_notes_until_refused(&mut self) -> String {
        for number in 0..2_000 {
            let text = format!("{number} {}", "x".repeat(5_000));
            let input = json!({"campaign_id": self.campaign_id, "text": text});
            let (status, answer) = self.rest.send("session_note", &input, &idempotency_key(&text)).expect("an answer");
            if status != 200 {
                assert_eq!(status, 503, "{answer}");
                assert_unavailable(&answer);
                return text;
            }
            self.sent.push(text);
        }
        panic!("the disk takes everything");
    }

    /// Limits the size of the server's files: the only way to run out of space that needs no privileges.
    fn limit_file_size(&self, bytes: &str) {
        let mut command = Command::new("prlimit");
        let limited = command.args(["--pid", &self.server.id().to_string(), &format!("--fsize={bytes}:")]).output();
        let limited = limited.expect("prlimit, which is a part of util-linux");
        assert!(limited.status.success(), "{}", String::from_utf8_lossy(&limited.stderr));
    }

    fn assert_readable(&mut self) {
        assert_still_readable(&mut self.rest, &self.campaign_id, &self.sent);
    }

    /// Asserts that the server has recovered by itself, and that every note is stored once.
    fn assert_recovered(mut self, unsent: &str, path: &Path) {
        wait_for_ready_status(&mut self.rest, 200);
        self.send_note(unsent);
        self.send_note("after");
        self.sent.sort();
        assert!(note_texts(&mut self.rest, &self.campaign_id) == self.sent, "each once");
        let verified = run(&["verify", "--store", &format!("sqlite:{}", path.display())]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
    }
}

fn command_without_rights(arguments: &[&str], path: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-ec", WITHOUT_RIGHTS, "sh"]).arg(skald_command(&[]).get_program()).args(arguments);
    command.arg("--store").arg(format!("sqlite:{}", path.display())).env_remove("SKALD_LOG");
    // Tests run in parallel, so each uses a free port.
    command.env("SKALD_GRPC_ADDR", "127.0.0.1:0");
    command
}

#[test]
fn where_there_is_no_room_nothing_is_written_until_there_is() {
    let folder = TemporaryFolder::new();
    let mut kept = ServerOnDisk::new(&folder);
    let log = kept.path.with_extension("db-wal");
    let length = std::fs::metadata(&log).expect("a log").len();
    // Leaves room for some notes, and then for half of a page.
    kept.limit_file_size(&(length + 50_000).to_string());
    let unsent = kept.send_notes_until_refused();
    wait_until_unready(&mut kept.rest, IN_THE_LOG);
    kept.server.wait_for_stderr("disk I/O error");
    kept.assert_readable();
    // A note of the same length: a shorter one might still fit.
    assert_note_refused(&mut kept.rest, &kept.campaign_id, &unsent);
    kept.limit_file_size("unlimited");
    let path = kept.path.clone();
    kept.assert_recovered(&unsent, &path);
}

/// REQ-MCP-15 and 16, scenario 15: a store that fails under a command is an error result with the universe's id, and
/// the server goes on.
#[test]
fn req_mcp_15_a_failure_of_the_store_is_an_error_and_not_the_end() {
    let folder = TemporaryFolder::new();
    let path = folder.file("disk").join("world.db");
    std::fs::create_dir(folder.file("disk")).expect("a folder");
    let (server, address) =
        RunningProgram::start_server(command_without_rights(&["serve", "--http-addr", "127.0.0.1:0"], &path));
    let kept = ServerOnDisk::from_server(server, RestClient::new(address), path);
    let mut client = Client::connect(address);
    let opened = client.send("POST", "/mcp", &[JSON, ACCEPT_BOTH], initialize("2025-11-25").to_string().as_bytes());
    let session = opened.header("mcp-session-id").expect("a session").to_owned();
    let mut call_so = |tool: &str, arguments: &Value, meta: Value| {
        let headers = [JSON, ACCEPT_BOTH, ("mcp-session-id", session.as_str())];
        let mut message = mcp_messages::tool_call(tool, arguments);
        message["params"]["_meta"] = meta;
        client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json()["result"].take()
    };
    let mut call = |tool: &str, arguments: Value| call_so(tool, &arguments, json!({}));
    call("universe", json!({"method": "create", "universeId": "u-42", "name": "Sol"}));
    let tick = json!({"universeId": "u-42", "command": {"type": "tick"}});
    kept.limit_file_size("0");
    let failed = call("send_universe_command", tick.clone());
    assert_eq!(failed["isError"], true, "{failed}");
    let fault = &failed["_meta"]["skald/error"];
    assert_eq!((&fault["code"], &fault["universeId"]), (&json!("UNAVAILABLE"), &json!("u-42")), "{fault}");
    let text = failed["content"][0]["text"].as_str().expect("a text");
    assert!(text.starts_with("UNAVAILABLE") && !text.contains("panicked"), "{text}");
    assert!(text.contains("u-42") && !text.contains("key"), "no key was sent: {text}");
    let read = call("get_universe_state", json!({"universeId": "u-42"}));
    assert_eq!(read["structuredContent"]["time"], 0, "what is there is told all the same: {read}");
    kept.limit_file_size("unlimited");
    let mut answered = call("send_universe_command", tick.clone());
    for _ in 0..100 {
        if answered["isError"] != true {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
        answered = call("send_universe_command", tick.clone());
    }
    assert_eq!(answered["structuredContent"]["nextState"]["time"], 1, "{answered}");
    kept.limit_file_size("0");
    let failed = call_so("send_universe_command", &tick, json!({"skald/idempotencyKey": "once"}));
    let hint = failed["_meta"]["skald/error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains("same idempotency key"), "{hint}");
}

/// Makes the folder of a file, with everything in it, writable or read-only.
fn set_writable(path: &Path, is_allowed: bool) {
    let folder = path.parent().expect("a folder");
    let mode = if is_allowed { "u+w" } else { "a-w" };
    let done = Command::new("chmod").args(["--recursive", mode]).arg(folder).status();
    assert!(done.is_ok_and(|done| done.success()), "the folder is ours");
}

#[test]
fn a_folder_that_becomes_read_only_is_written_again_once_it_can_be() {
    let folder = TemporaryFolder::new();
    let mut kept = ServerOnDisk::new(&folder);
    let path = kept.path.clone();
    set_writable(&path, false);
    // A process that has the file open goes on; a new one says why it cannot open it.
    assert!(!kept.send_note("open already"));
    wait_for_ready_status(&mut kept.rest, 200);
    for arguments in [&["token", "create", "Alice"][..], &["serve", "--http-addr", "127.0.0.1:0"], &["mcp"]] {
        let output =
            command_without_rights(arguments, &path).stdin(std::process::Stdio::null()).output().expect("an end");
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains("world.db cannot be opened: Permission denied"), "{arguments:?}: {text}");
        assert!(text.contains("--store") && !text.contains("panicked"), "{arguments:?}: {text}");
    }
    // A failed write makes the server open the file anew, which fails because the folder is read-only.
    kept.limit_file_size("0");
    assert_note_refused(&mut kept.rest, &kept.campaign_id, "in between");
    kept.limit_file_size("unlimited");
    kept.server.wait_for_stderr("readonly");
    wait_until_unready(&mut kept.rest, IN_THE_LOG);
    kept.assert_readable();
    assert_note_refused(&mut kept.rest, &kept.campaign_id, "in between");
    set_writable(&path, true);
    kept.assert_recovered("in between", &path);
}

/// Everybody may ask whether the server is ready, also without a token.
#[test]
fn nobody_is_told_the_path_of_a_file_that_cannot_be_opened() {
    let folder = TemporaryFolder::new();
    let mut kept = ServerOnDisk::new(&folder);
    let (path, here, gone) = (kept.path.clone(), folder.file("disk"), folder.file("elsewhere"));
    std::fs::rename(&here, &gone).expect("a folder with another name");
    kept.limit_file_size("0");
    assert_note_refused(&mut kept.rest, &kept.campaign_id, "in between");
    kept.limit_file_size("unlimited");
    kept.server.wait_for_stderr("unable to open database file");
    assert!(kept.server.stderr().contains(here.to_str().expect("UTF-8")), "the log names the file");
    for path in ["/ready", "/mcp/health"] {
        assert_eq!(kept.rest.get(path), (503, json!({"status": "unready", "reason": IN_THE_LOG})), "{path}");
    }
    std::fs::rename(&gone, &here).expect("the folder with its name");
    kept.assert_recovered("in between", &path);
}

/// Tests on a tmpfs in a mount namespace of the server, which ends with it. Where that is forbidden, as in some
/// containers, `cargo xtask test` says that these are not run.
#[cfg(target_os = "linux")]
mod mounted {
    use super::*;

    /// Mounts a tmpfs of some megabytes on the first argument and runs the rest.
    const ON_A_DISK: &str = "mount -t tmpfs -o size=4m none \"$1\" || { echo cannot be mounted here >&2; exit 1; }
        shift; exec \"$@\"";

    #[test]
    fn a_full_disk_stops_writing_until_there_is_room() {
        let folder = TemporaryFolder::new();
        let disk = folder.file("disk");
        std::fs::create_dir(&disk).expect("a folder");
        let path = disk.join("world.db");
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "--mount", "sh", "-ec", ON_A_DISK, "sh"]).arg(&disk);
        command.arg(skald_command(&[]).get_program()).args([
            "serve",
            "--http-addr",
            "127.0.0.1:0",
            "--grpc-addr",
            "off",
        ]);
        command.arg("--store").arg(format!("sqlite:{}", path.display())).env_remove("SKALD_LOG");
        let (server, address) = RunningProgram::start_server(command);
        let inside = |name: &str| PathBuf::from(format!("/proc/{}/root{}/{name}", server.id(), disk.display()));
        let (filler, path) = (inside("filler"), inside("world.db"));
        let mut kept = ServerOnDisk::from_server(server, RestClient::new(address), path.clone());

        // Fill the disk with another file, to the last byte.
        let mut file = std::fs::File::create(&filler).expect("a file");
        while file.write_all(&[0; 4_096]).is_ok() {}
        drop(file);
        let unsent = kept.send_notes_until_refused();
        wait_until_unready(&mut kept.rest, IN_THE_LOG);
        kept.server.wait_for_stderr("disk is full");
        kept.assert_readable();
        assert_note_refused(&mut kept.rest, &kept.campaign_id, "in between");
        std::fs::remove_file(filler).expect("the filler");
        kept.assert_recovered(&unsent, &path);
    }
}
