//! Attack: reaching the store, the key, the binary or the settings as the agent's user. The server runs as another
//! user, as docs/gate-hooks.md says. Only root can start processes as two users: elsewhere `cargo xtask test` says that
//! these are not run.
#![cfg(target_os = "linux")]

use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use crate::gate_workspace::{BUGFIX, run_with_input, text};
use crate::process::RunningProgram;

/// User ids without an account: that of the server and its operator, and that of the agent.
const KEEPER: u32 = 61_841;
const AGENT: u32 = 61_842;
/// The file with the token that approves runs.
const KEY: &str = "keeper/approver.token";

/// A folder that stands for a machine with two users. It is deleted after the test.
struct Machine {
    folder: PathBuf,
    server: Option<RunningProgram>,
    address: SocketAddr,
    token: String,
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.server.take();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Machine {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        assert!(is_root(), "only root starts processes as two users; `cargo xtask test` leaves this out elsewhere");
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Other tests use a folder below a home that other users may not enter.
        let folder = std::env::temp_dir().join(format!("skald_second_user_{}_{number}", std::process::id()));
        let mut machine =
            Self { folder, server: None, address: SocketAddr::from(([127, 0, 0, 1], 0)), token: String::new() };
        machine.create_folder("", 0, 0o755);
        machine.create_folder("bin", 0, 0o755);
        machine.create_folder("etc", 0, 0o755);
        machine.create_folder("keeper", KEEPER, 0o700);
        machine.create_folder("project", AGENT, 0o755);
        let mut copied = Command::new("cp");
        copied.args([Path::new(env!("CARGO_BIN_EXE_skald")), &machine.path("bin/skald")]);
        assert!(copied.status().expect("cp runs").success());
        fs::set_permissions(machine.path("bin/skald"), fs::Permissions::from_mode(0o755)).expect("permissions");
        machine.write_file("keeper/bugfix.yaml", KEEPER, BUGFIX);
        machine.run_as_keeper(&["gate", "submit", "bugfix.yaml", "--role", "human"]);
        machine.run_as_keeper(&[
            "gate",
            "create-run",
            "--process-id",
            "bugfix",
            "--run-id",
            "run-1",
            "--role",
            "human",
        ]);
        let approver =
            machine.run_as_keeper(&["token", "create", "Ada", "--gate-role", "human", "--role", "gm", "--json"]);
        machine.write_file(KEY, KEEPER, approver["token"].as_str().expect("a token"));
        let agent = ["token", "create", "agent", "--kind", "agent", "--gate-role", "agent", "--role", "gm", "--json"];
        let made = machine.run_as_keeper(&agent);
        made["token"].as_str().expect("a token").clone_into(&mut machine.token);
        machine.serve();
        let settings = machine.agent_command(&["gate", "hook", "config", "--run-id", "run-1"]);
        machine.write_file("etc/managed-settings.json", 0, &text(&run_with_input(settings, "").stdout));
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn create_folder(&self, name: &str, owner: u32, mode: u32) {
        let path = self.path(name);
        fs::create_dir_all(&path).expect("a folder");
        chown(&path, Some(owner), Some(owner)).expect("an owner");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    }

    /// Writes a file that only its owner may write. Nobody else may read a file of the keeper.
    fn write_file(&self, name: &str, owner: u32, content: &str) {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        chown(&path, Some(owner), Some(owner)).expect("an owner");
        let mode = if owner == KEEPER { 0o600 } else { 0o644 };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("permissions");
    }

    fn command(&self, user: u32, folder: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/skald"));
        command.args(arguments).current_dir(self.path(folder)).uid(user).gid(user).env_clear();
        command.env("HOME", self.path(folder)).env("PATH", "/usr/local/bin:/usr/bin:/bin");
        command
    }

    fn store(&self) -> String {
        format!("sqlite:{}", self.path("keeper/world.db").display())
    }

    /// Runs a command as the keeper, on the store.
    fn run_as_keeper(&self, arguments: &[&str]) -> Value {
        let mut command = self.command(KEEPER, "keeper", arguments);
        command.env("SKALD_STORE", self.store());
        let output = run_with_input(command, "");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn serve(&mut self) {
        let store = self.store();
        let arguments =
            ["serve", "--store", &store, "--http-addr", "127.0.0.1:0", "--grpc-addr", "127.0.0.1:0", "--log", "error"];
        let (server, _) = RunningProgram::start_server(self.command(KEEPER, "keeper", &arguments));
        self.address = server.grpc_address();
        self.server = Some(server);
    }

    /// A command of the agent, which calls the server.
    fn agent_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(AGENT, "project", arguments);
        command.env("SKALD_ADDR", self.address.to_string()).env("SKALD_TOKEN", &self.token);
        command
    }

    /// Runs a line in the agent's shell. `BASE` stands for the folder of the machine.
    fn run_agent_shell(&self, line: &str) -> Output {
        let line = line.replace("BASE", &self.folder.display().to_string());
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(self.path("project")).uid(AGENT).gid(AGENT).env_clear();
        shell.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
        run_with_input(shell, "")
    }

    /// The decision of the configured hook, run as the agent's user, on a Bash command.
    fn hook_decision(&self, command: &str) -> String {
        let settings = fs::read_to_string(self.path("etc/managed-settings.json")).expect("settings");
        let settings: Value = serde_json::from_str(&settings).expect("JSON");
        let line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().expect("a line");
        let mut shell = Command::new("sh");
        shell.args(["-c", line]).current_dir(self.path("project")).uid(AGENT).gid(AGENT).env_clear();
        shell.env("PATH", "/usr/bin:/bin").env("SKALD_TOKEN", &self.token);
        let call = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}});
        let output = run_with_input(shell, &call.to_string());
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        printed["hookSpecificOutput"]["permissionDecision"].as_str().expect("a word").to_owned()
    }

    /// The state of the run, as the keeper sees it.
    fn run_state(&self) -> String {
        let state = self.run_as_keeper(&["gate", "get-state", "--run-id", "run-1", "--json"]);
        state["current_state"].as_str().expect("a state").to_owned()
    }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output().expect("id runs");
    text(&output.stdout).trim() == "0"
}

/// Lines by which the agent's user tries to reach the files.
const ATTEMPTS: &[&str] = &[
    "cat BASE/keeper/world.db",
    "ls BASE/keeper",
    "stat BASE/keeper/world.db",
    "echo x > BASE/keeper/world.db",
    "echo x > BASE/keeper/world.db-wal",
    "rm -f BASE/keeper/world.db",
    "mv BASE/keeper BASE/other",
    "chmod 777 BASE/keeper",
    "ln BASE/keeper/world.db BASE/project/x",
    "cp -r BASE/keeper BASE/project/x",
    "cat BASE/keeper/approver.token",
    "cp BASE/keeper/approver.token x",
    "echo x > BASE/bin/skald",
    "cp /bin/true BASE/bin/skald",
    "mv BASE/bin/skald BASE/bin/x",
    "rm -f BASE/bin/skald",
    "chmod -x BASE/bin/skald",
    "ln -sf /bin/true BASE/bin/skald",
    "mv BASE/bin BASE/x",
    "echo x > BASE/bin/other",
    "echo {} > BASE/etc/managed-settings.json",
    "mv BASE/etc BASE/x",
    "rm -rf BASE/etc/managed-settings.json",
];

#[test]
fn the_agents_user_reaches_neither_store_nor_key_nor_binary() {
    let machine = Machine::new();
    for line in ATTEMPTS {
        let output = machine.run_agent_shell(line);
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{line}: {output:?}");
        let is_refused = told.contains("ermission denied") || told.contains("not permitted");
        assert!(is_refused, "{line}: {told}");
    }
    // The agent's user may neither signal nor inspect the server process.
    let server = machine.server.as_ref().expect("a server").id();
    for line in [format!("kill -9 {server}"), format!("kill -STOP {server}"), format!("cat /proc/{server}/environ")] {
        let output = machine.run_agent_shell(&line);
        assert!(!output.status.success(), "{line}: {output:?}");
    }
    // The program cannot open the store for the agent's user either.
    for arguments in [
        &["gate", "cancel", "--run-id", "run-1", "--role", "human"][..],
        &["gate", "get-state", "--run-id", "run-1"],
        &["token", "create", "me", "--gate-role", "human"],
        &["backup", "copy.db"],
    ] {
        let mut command = machine.command(AGENT, "project", arguments);
        command.env("SKALD_STORE", machine.store());
        let output = run_with_input(command, "");
        assert!(!output.status.success(), "{arguments:?}: {output:?}");
        assert!(text(&output.stderr).contains("skald"), "{output:?}");
    }
    assert_eq!(machine.run_state(), "triage");
}

#[test]
fn the_agent_works_with_the_server_and_decides_nothing() {
    let machine = Machine::new();
    // The hook asks the server, which decides by the state of the run.
    assert_eq!(machine.hook_decision("git status"), "allow");
    assert_eq!(machine.hook_decision("touch x"), "deny");
    fs::write(machine.path("project/repro.md"), "Press the button twice.").expect("a file");
    let submit = ["gate", "emit-event", "--run-id", "run-1", "--event", "submit_repro", "--inline", "repro.md"];
    let output = run_with_input(machine.agent_command(&submit), "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.run_state(), "fix");
    assert_eq!(machine.hook_decision("touch x"), "allow", "the next state says nothing of tools");
    let approve = ["gate", "emit-event", "--run-id", "run-1", "--event", "approve"];
    let refused = |command: Command, expected: &str| {
        let output = run_with_input(command, "");
        let told = text(&output.stderr) + &text(&output.stdout);
        assert!(!output.status.success() && told.contains(expected), "{expected}: {output:?}");
        assert_eq!(machine.run_state(), "fix");
    };
    refused(machine.agent_command(&approve), "may not emit 'approve'");
    let mut nobody = machine.agent_command(&approve);
    nobody.env_remove("SKALD_TOKEN");
    refused(nobody, "may not emit 'approve'");
    refused(machine.agent_command(&[&approve[..], &["--role", "human"]].concat()), "is not told by --role human");
    let mut guessed = machine.agent_command(&approve);
    guessed.env("SKALD_TOKEN", "skald_guessed");
    refused(guessed, "token");
    for arguments in [
        &["gate", "cancel", "--run-id", "run-1", "--reason", "x"][..],
        &["gate", "override", "--run-id", "run-1", "--event", "approve", "--reason", "x"],
    ] {
        refused(machine.agent_command(arguments), "agent");
    }
    // The holder of the approver's token may decide, through the server.
    let key = fs::read_to_string(machine.path(KEY)).expect("the key");
    let mut person = machine.command(KEEPER, "keeper", &approve);
    person.env("SKALD_ADDR", machine.address.to_string()).env("SKALD_TOKEN", key);
    let output = run_with_input(person, "");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(machine.run_state(), "closed");
}

/// Without the server, the hook denies every tool.
#[test]
fn a_server_that_is_gone_denies() {
    let mut machine = Machine::new();
    machine.server.take();
    assert_eq!(machine.hook_decision("git status"), "deny");
}
