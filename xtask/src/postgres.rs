//! Starts a PostgreSQL for tests: on a free port of this machine, in a folder of its own, removed afterwards.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::server::free_port;
use crate::{install, print_line, run};

/// Where Debian keeps the programs that are not on the path.
const DEBIAN_FOLDER: &str = "/usr/lib/postgresql";
/// The user of the server if we are root, since PostgreSQL refuses to run as root. Debian's package creates this user.
const USER: &str = "postgres";

/// A PostgreSQL server. It is stopped, and its folder removed, on drop.
pub(crate) struct TestPostgres {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    is_root: bool,
}

/// Whether the server accepts TLS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encryption {
    Off,
    On,
}

/// The configuration of openssl: a certificate authority, and a server certificate for an IP address.
const OPENSSL_CONFIG: &str = "[req]\ndistinguished_name = name\nprompt = no\n[name]\nCN = Skald tests\n\
    [authority]\nbasicConstraints = critical, CA:TRUE\n\
    [server]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = IP:127.0.0.1\n";

impl TestPostgres {
    /// Finds PostgreSQL or installs it, and starts an empty server.
    pub(crate) fn start() -> anyhow::Result<Self> {
        Self::start_with(Encryption::Off)
    }

    /// The same, with TLS.
    pub(crate) fn start_encrypted() -> anyhow::Result<Self> {
        install::install_programs(&[("openssl", "openssl")])?;
        Self::start_with(Encryption::On)
    }

    fn start_with(encryption: Encryption) -> anyhow::Result<Self> {
        if find_programs().is_none() {
            install::install_packages(&["postgresql"])?;
        }
        let programs = find_programs().context("the programs of PostgreSQL are not found")?;
        let port = free_port()?;
        let folder = std::env::temp_dir().join(format!("skald-postgres-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let is_root = run::run_captured(Command::new("id").arg("-u"))?.trim() == "0";
        if is_root {
            run::run_captured(Command::new("chown").arg(USER).arg(&folder))?;
        }
        let postgres = Self { programs, folder, port, is_root };
        print_line(&format!("starting PostgreSQL on port {}", postgres.port));
        let arguments = ["--auth=trust", "--username=skald", "--encoding=UTF8", "--no-locale", "--no-sync"];
        run::run_captured(
            postgres.postgres_command("initdb").args(arguments).arg("--pgdata").arg(postgres.data_folder()),
        )?;
        postgres.configure()?;
        if encryption == Encryption::On {
            postgres.enable_tls().context("the server's certificate could not be made")?;
        }
        // The server must not inherit our pipes, or their readers would wait until it ends.
        run::run_silently(postgres.pg_ctl_command().arg("start")).with_context(|| {
            std::fs::read_to_string(postgres.folder.join("log")).unwrap_or_else(|_| "it left no log".to_owned())
        })?;
        Ok(postgres)
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://skald@127.0.0.1:{}/postgres", self.port)
    }

    /// The `pg_ctl` command of this server for a shell. Append `stop` or `start`.
    pub(crate) fn pg_ctl_line(&self) -> String {
        let control = self.pg_ctl_command();
        let words = std::iter::once(control.get_program()).chain(control.get_args());
        words.map(|word| format!("'{}'", word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    /// Writes the settings to the server's file rather than the command line, so that a restart keeps them.
    fn configure(&self) -> anyhow::Result<()> {
        let mut file = File::options().append(true).open(self.data_folder().join("postgresql.conf"))?;
        let port = self.port;
        writeln!(file, "port = {port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''")?;
        writeln!(file, "max_connections = 300")?;
        Ok(())
    }

    /// The folder with the certificates: of the server, of the authority that signed it, and of another authority.
    pub(crate) fn certificates(&self) -> &Path {
        &self.folder
    }

    fn enable_tls(&self) -> anyhow::Result<()> {
        std::fs::write(self.folder.join("openssl.conf"), OPENSSL_CONFIG)?;
        let signed = |name: &str, extensions: &str, by: &[&str]| {
            let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
            let mut command = self.command_as_user("openssl");
            command.args(["req", "-x509", "-config", "openssl.conf", "-extensions", extensions, "-days", "7"]);
            command.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
            command.args(["-keyout", &key, "-out", &certificate]).args(by);
            run::run_captured(&mut command).map(drop)
        };
        signed("root", "authority", &[])?;
        signed("stranger", "authority", &[])?;
        signed("server", "server", &["-CA", "root.crt", "-CAkey", "root.key"])?;
        let mut file = File::options().append(true).open(self.data_folder().join("postgresql.conf"))?;
        for (setting, name) in [("ssl_cert_file", "server.crt"), ("ssl_key_file", "server.key")] {
            writeln!(file, "{setting} = '{}'", self.folder.join(name).display())?;
        }
        writeln!(file, "ssl = on")?;
        Ok(())
    }

    fn data_folder(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn pg_ctl_command(&self) -> Command {
        let mut command = self.postgres_command("pg_ctl");
        command.arg("--pgdata").arg(self.data_folder()).arg("--log").arg(self.folder.join("log")).arg("--wait");
        command
    }

    fn postgres_command(&self, name: &str) -> Command {
        self.command_as_user(self.programs.join(name))
    }

    /// A command that runs as the server's user, in its folder.
    fn command_as_user(&self, program: impl AsRef<OsStr>) -> Command {
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

impl Drop for TestPostgres {
    fn drop(&mut self) {
        // It may never have started.
        let _ = run::run_silently(self.pg_ctl_command().args(["--mode", "immediate", "stop"]));
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folder of the programs: on the path, or the newest that Debian has installed.
fn find_programs() -> Option<PathBuf> {
    let has_all = |folder: &Path| folder.join("initdb").is_file() && folder.join("pg_ctl").is_file();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).find(|folder| has_all(folder));
    on_path.or_else(|| {
        let versions = std::fs::read_dir(DEBIAN_FOLDER).ok()?.filter_map(Result::ok);
        let numbered =
            versions.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path())));
        let installed = numbered.map(|(version, path)| (version, path.join("bin"))).filter(|(_, path)| has_all(path));
        installed.max_by_key(|(version, _)| *version).map(|(_, path)| path)
    })
}
