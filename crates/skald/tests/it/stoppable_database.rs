//! A PostgreSQL that tests may stop and freeze, one test at a time.

use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::test_stores::{TestStore, required_env};

/// The processes of client connections, except the one of this query.
const CLIENTS: &str =
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";

pub(crate) struct StoppablePostgres {
    /// A schema of the test's own.
    pub(crate) place: TestStore,
    server: String,
    /// The shell command that controls the server; an action such as `stop` is appended.
    control: String,
    _turn: MutexGuard<'static, ()>,
}

impl StoppablePostgres {
    pub(crate) fn new() -> Self {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let (server, control) = (required_env("SKALD_TEST_STOPPABLE"), required_env("SKALD_TEST_STOPPABLE_CONTROL"));
        // A test that failed may have left it stopped.
        if !run_control(&control, "status", Stdio::null()).status.success() {
            run_control(&control, "start", Stdio::null());
        }
        Self { place: TestStore::new_schema(&server), server, control, _turn: turn }
    }

    pub(crate) fn start(&self) {
        assert!(run_control(&self.control, "start", Stdio::null()).status.success(), "PostgreSQL does not start");
    }

    /// Stops it in a mode: `fast` or `immediate`.
    pub(crate) fn stop(&self, mode: &str) {
        let stopped = run_control(&self.control, &format!("--mode {mode} stop"), Stdio::null());
        assert!(stopped.status.success(), "PostgreSQL does not stop");
    }

    /// Suspends all its processes: connections stay open, but nothing is answered.
    pub(crate) fn freeze(&self) -> FrozenProcesses {
        let mut frozen = self.freeze_listener();
        let children = child_processes(frozen.0[0]);
        signal("STOP", &children);
        frozen.0.extend(children);
        frozen
    }

    /// Ends all connections and suspends the listener, so that new connections are not answered.
    pub(crate) fn cut_and_freeze(&self) -> FrozenProcesses {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (frozen, clients) = runtime.block_on(async {
            let connected = tokio_postgres::connect(&self.server, tokio_postgres::NoTls).await;
            let (client, connection) = connected.expect("PostgreSQL answers");
            tokio::spawn(connection);
            // From here on there are no new connections.
            let frozen = self.freeze_listener();
            let rows = client.query(CLIENTS, &[]).await.expect("processes");
            (frozen, rows.iter().map(|row| row.get::<_, i32>(0).unsigned_abs()).collect::<Vec<_>>())
        });
        assert!(!clients.is_empty(), "nobody is connected");
        signal("TERM", &clients);
        frozen
    }

    /// Suspends the process that accepts connections, which is the parent of all others.
    fn freeze_listener(&self) -> FrozenProcesses {
        let status = run_control(&self.control, "status", Stdio::piped());
        let text = String::from_utf8_lossy(&status.stdout).into_owned();
        let id = text.split_once("PID: ").and_then(|(_, rest)| rest.split(')').next()?.parse().ok());
        let id = id.unwrap_or_else(|| panic!("no process in {text}"));
        signal("STOP", &[id]);
        FrozenProcesses(vec![id])
    }
}

/// Runs the control command with an action: start, stop or status.
fn run_control(control: &str, action: &str, output: Stdio) -> Output {
    let mut command = Command::new("sh");
    command.arg("-c").arg(format!("{control} {action}")).current_dir("/").stdin(Stdio::null()).stdout(output);
    command.spawn().and_then(Child::wait_with_output).expect("a shell")
}

/// Suspended processes, which continue when this is dropped.
pub(crate) struct FrozenProcesses(Vec<u32>);

impl Drop for FrozenProcesses {
    fn drop(&mut self) {
        signal("CONT", &self.0);
    }
}

/// The child processes of a process.
fn child_processes(parent: u32) -> Vec<u32> {
    let folders = std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let ids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
    let is_child = |id: &u32| {
        let line = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name comes first, in parentheses; then the state, and then the parent.
        let fields = line.rsplit(')').next().unwrap_or_default();
        fields.split_whitespace().nth(1).and_then(|field| field.parse().ok()) == Some(parent)
    };
    ids.filter(is_child).collect()
}

fn signal(name: &str, processes: &[u32]) {
    let ids = processes.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    // A process that has ended meanwhile is no error.
    let _ = Command::new("sh").arg("-c").arg(format!("kill -s {name} {ids}")).stderr(Stdio::null()).status();
}
