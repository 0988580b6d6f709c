//! Installs missing tools that tests need: Debian packages for the system, everything else below the target folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use anyhow::Context;

use crate::{paths, print_line, run};

/// Old versions of the Python SDK, each with the newest revision of the protocol that it knows.
pub(crate) const OLD_PYTHON_SDKS: [(&str, &str); 2] = [("1.8.1", "2024-11-05"), ("1.12.4", "2025-06-18")];

/// The environments of programs written for Kanka: each has packages that the other could not have.
pub(crate) const PYTHON_KANKA: &str = "python-kanka";
pub(crate) const MCP_KANKA: &str = "mcp-kanka";
/// The environment of the generator of requests from an OpenAPI file.
pub(crate) const SCHEMATHESIS: &str = "schemathesis";

/// Foreign clients and the programs that run them.
#[derive(Debug, Clone)]
pub(crate) struct ForeignClients {
    folder: PathBuf,
}

impl ForeignClients {
    /// Installs what is missing. It is fast if nothing is.
    pub(crate) fn install() -> anyhow::Result<Self> {
        let foreign = Self { folder: paths::target().join("foreign") };
        install_programs(&[("npm", "npm"), ("node", "nodejs"), ("python3", "python3"), ("curl", "curl")])?;
        foreign.copy_scripts()?;
        foreign.install_npm_packages().context("the npm packages could not be installed")?;
        foreign.install_python_packages().context("the Python packages could not be installed")?;
        Ok(foreign)
    }

    pub(crate) fn script(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A program of the npm packages, run by the Node that npm installed.
    pub(crate) fn node_command(&self, program: &str) -> Command {
        let bin = self.folder.join("node_modules/.bin");
        let mut command = Command::new(bin.join(program));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(bin).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap_or(path));
        // Some programs write to the home folder.
        command.env("HOME", &self.folder).current_dir(&self.folder);
        command
    }

    /// The Node that npm installed.
    pub(crate) fn node_program(&self) -> PathBuf {
        self.folder.join("node_modules/.bin/node")
    }

    pub(crate) fn python_program(&self) -> PathBuf {
        self.environment_program("python")
    }

    /// The Python that has this version of the old SDK.
    pub(crate) fn old_python_program(&self, version: &str) -> PathBuf {
        self.environment_program(&old_environment_name(version))
    }

    /// The Python of an environment.
    pub(crate) fn environment_program(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("bin/python")
    }

    fn copy_scripts(&self) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)?;
        for source in ["xtask/clients", "xtask/peers"] {
            for file in fs::read_dir(paths::root().join(source))? {
                let file = file?;
                fs::copy(file.path(), self.folder.join(file.file_name()))?;
            }
        }
        Ok(())
    }

    fn install_npm_packages(&self) -> anyhow::Result<()> {
        self.install_if_changed("npm", &["package.json"], || {
            print_line(
                "installing Node 22, the Inspector, the TypeScript SDKs, the AI SDK's client and the conformance suite (npm)",
            );
            let install = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
            run::run_captured(Command::new("npm").args(install).current_dir(&self.folder)).map(drop)
        })
    }

    fn install_python_packages(&self) -> anyhow::Result<()> {
        self.install_environment("python", "requirements.txt", &[])?;
        for (version, _) in OLD_PYTHON_SDKS {
            self.install_environment(
                &old_environment_name(version),
                "requirements1.txt",
                &[&format!("mcp=={version}")],
            )?;
        }
        self.install_environment(PYTHON_KANKA, "requirements_python_kanka.txt", &[])?;
        self.install_environment(MCP_KANKA, "requirements_mcp_kanka.txt", &[])?;
        self.install_environment(SCHEMATHESIS, "requirements_schemathesis.txt", &[])?;
        Ok(())
    }

    /// Creates a Python environment with the packages of a requirements file, and with these.
    fn install_environment(&self, name: &str, requirements: &str, packages: &[&str]) -> anyhow::Result<()> {
        self.install_if_changed(name, &[requirements], || {
            let what = [&[requirements], packages].concat().join(" and ");
            print_line(&format!("installing {what} into the environment {name} (pip)"));
            let environment = self.folder.join(name);
            let make =
                |folder: &Path| run::run_captured(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder));
            if make(&environment).is_err() {
                install_packages(&["python3-venv"])?;
                make(&environment)?;
            }
            let pip = ["-m", "pip", "install", "--quiet", "-r", requirements];
            let mut command = Command::new(self.environment_program(name));
            run::run_captured(command.args(pip).args(packages).current_dir(&self.folder)).map(drop)
        })
    }

    /// Runs `install` only if the files that it depends on have changed since the last time.
    fn install_if_changed(
        &self,
        name: &str,
        files: &[&str],
        install: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let wanted =
            files.iter().map(|file| fs::read_to_string(self.folder.join(file))).collect::<Result<String, _>>()?;
        let stamp = self.folder.join(format!("{name}.installed"));
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(());
        }
        install()?;
        fs::write(stamp, wanted)?;
        Ok(())
    }
}

/// The name of the environment of an old Python SDK.
fn old_environment_name(version: &str) -> String {
    format!("python-{version}")
}

/// Installs the Debian packages of those programs that are missing.
pub(crate) fn install_programs(programs: &[(&str, &str)]) -> anyhow::Result<()> {
    let missing = programs.iter().filter(|(program, _)| !run::is_installed(program));
    let missing: Vec<&str> = missing.map(|(_, package)| *package).collect();
    if missing.is_empty() { Ok(()) } else { install_packages(&missing) }
}

pub(crate) fn install_packages(packages: &[&str]) -> anyhow::Result<()> {
    /// Only one apt can run at a time, and foreign clients are installed on another thread than the tools for tests.
    static APT: Mutex<()> = Mutex::new(());
    let _turn = APT.lock().unwrap_or_else(PoisonError::into_inner);
    print_line(&format!("installing {} (apt)", packages.join(", ")));
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run::run_captured(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update"])?;
    apt(&[&["install", "--yes", "--no-install-recommends"], packages].concat())
        .with_context(|| format!("install them yourself if this is not Debian, or not root: {}", packages.join(" ")))?;
    Ok(())
}
