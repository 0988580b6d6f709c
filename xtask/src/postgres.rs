//! A PostgreSQL for tests: on a free port of this machine, in a folder of its own, gone afterwards.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::server::free_port;
use crate::{install, run, say};

/// Where Debian keeps the programs that are not on the path.
const DEBIAN: &str = "/usr/lib/postgresql";
/// Whom the server runs as if we are root, which it refuses to be; Debian's package makes this user.
const USER: &str = "postgres";

/// Ends with its owner.
pub(crate) struct Postgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    is_root: bool,
}

impl Postgres {
    /// Finds PostgreSQL or installs it, and starts an empty server.
    pub(crate) fn start() -> anyhow::Result<Self> {
        if programs().is_none() {
            install::debian_packages(&["postgresql"])?;
        }
        let programs = programs().context("the programs of PostgreSQL are not found")?;
        let port = free_port()?;
        let folder = std::env::temp_dir().join(format!("skald-postgres-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let is_root = run::captured(Command::new("id").arg("-u"))?.trim() == "0";
        if is_root {
            run::captured(Command::new("chown").arg(USER).arg(&folder))?;
        }
        let postgres = Self { programs, folder, port, is_root };
        say(&format!("starting PostgreSQL on port {}", postgres.port));
        let arguments = ["--auth=trust", "--username=skald", "--encoding=UTF8", "--no-locale", "--no-sync"];
        run::captured(postgres.program("initdb").args(arguments).arg("--pgdata").arg(postgres.data()))?;
        postgres.configure()?;
        // The server must not keep our pipes: whoever reads them would wait for its end.
        run::silent(postgres.control().arg("start")).with_context(|| {
            std::fs::read_to_string(postgres.folder.join("log")).unwrap_or_else(|_| "it left no log".to_owned())
        })?;
        Ok(postgres)
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://skald@127.0.0.1:{}/postgres", self.port)
    }

    /// What a shell runs, with a word after it, to stop this server or start it again.
    pub(crate) fn control_line(&self) -> String {
        let control = self.control();
        let words = std::iter::once(control.get_program()).chain(control.get_args());
        words.map(|word| format!("'{}'", word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// In its file rather than on the command line, so that whoever starts it again need not know.
    fn configure(&self) -> anyhow::Result<()> {
        let mut file = File::options().append(true).open(self.data().join("postgresql.conf"))?;
        let port = self.port;
        writeln!(file, "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''")?;
        writeln!(file, "max_connections = 300")?;
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn control(&self) -> Command {
        let mut command = self.program("pg_ctl");
        command.arg("--pgdata").arg(self.data()).arg("--log").arg(self.folder.join("log")).arg("--wait");
        command
    }

    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = if self.is_root {
            let mut command = Command::new("setpriv");
            command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(&self.folder);
        command
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // It may never have started.
        let _ = run::silent(self.control().args(["--mode", "immediate", "stop"]));
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folder of the programs: on the path, or the newest that Debian has installed.
fn programs() -> Option<PathBuf> {
    let has_all = |folder: &Path| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(|folder| has_all(folder));
    on_path.or_else(|| {
        let versions = std::fs::read_dir(DEBIAN).ok()?.filter_map(Result::ok);
        let numbered =
            versions.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())));
        let installed = numbered.map(|(version, path)| (version, path.join("bin"))).filter(|(_, path)| has_all(path));
        installed.max_by_key(|(version, _)| *version).map(|(_, path)| path)
    })
}
