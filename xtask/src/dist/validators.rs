//! Runs the public validators of the formats of a release: MCPB, Claude Code plugins, skills, `CycloneDX` and systemd.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{claude_plugin, empty_folder, systemd_unit};
use crate::{install, paths, print_line, run};

/// The most that `systemd-analyze security` may find, in tenths: 0 is locked up, 100 is open.
const EXPOSURE_MAX: &str = "20";

/// The validators, installed below the target folder.
pub(super) struct Validators {
    folder: PathBuf,
}

impl Validators {
    /// Installs what is missing. It is fast if nothing is.
    pub(super) fn install() -> anyhow::Result<Self> {
        let (source, folder) = (paths::root().join("xtask/validators"), paths::target().join("validators"));
        install::install_programs(&[("npm", "npm"), ("python3", "python3"), ("systemd-analyze", "systemd")])?;
        let mut wanted = String::new();
        for file in ["package.json", "requirements.txt", "check_sbom.py"] {
            wanted += &fs::read_to_string(source.join(file))?;
        }
        let stamp = folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            return Ok(Self { folder });
        }
        print_line("installing mcpb, Claude Code, skills-ref and the schemas of CycloneDX (npm, pip)");
        empty_folder(&folder)?;
        for file in ["package.json", "requirements.txt", "check_sbom.py"] {
            fs::copy(source.join(file), folder.join(file))?;
        }
        let npm = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
        run::run_captured(Command::new("npm").args(npm).current_dir(&folder))?;
        let environment = ["-m", "venv", "--clear", "python"];
        if run::run_captured(Command::new("python3").args(environment).current_dir(&folder)).is_err() {
            install::install_packages(&["python3-venv"])?;
            run::run_captured(Command::new("python3").args(environment).current_dir(&folder))?;
        }
        let pip = ["-m", "pip", "install", "--quiet", "-r", "requirements.txt"];
        run::run_captured(Command::new(folder.join("python/bin/python")).args(pip).current_dir(&folder))?;
        fs::write(stamp, wanted)?;
        Ok(Self { folder })
    }

    /// Checks the manifest of an unpacked bundle.
    pub(super) fn check_bundle(&self, manifest: &Path) -> anyhow::Result<()> {
        run::run_captured(self.node_command("node_modules/.bin/mcpb").arg("validate").arg(manifest)).map(drop)
    }

    /// Checks the plugin, the marketplace that lists it, and the skills of the plugin.
    pub(super) fn check_plugin(&self) -> anyhow::Result<()> {
        for path in [paths::root(), claude_plugin::source()] {
            run::run_captured(self.claude_command().args(["plugin", "validate", "--strict"]).arg(path))?;
        }
        for skill in claude_plugin::skills(&claude_plugin::source())? {
            let mut command = Command::new(self.folder.join("python/bin/agentskills"));
            run::run_captured(command.arg("validate").arg(skill))?;
        }
        Ok(())
    }

    /// Installs an unpacked plugin as its guide says, and removes it again.
    pub(super) fn install_plugin(&self, plugin: &Path) -> anyhow::Result<()> {
        let folder = plugin.to_string_lossy().into_owned();
        let config = format!("data_dir={folder}/world");
        for arguments in [
            &["plugin", "marketplace", "add", &folder][..],
            &["plugin", "install", "skald@skald", "--config", &config],
            &["plugin", "uninstall", "skald@skald"],
            &["plugin", "marketplace", "remove", "skald"],
        ] {
            run::run_captured(self.claude_command().args(arguments))?;
        }
        Ok(())
    }

    /// Claude Code. npm may not have been allowed to run the script that puts the program in its place.
    fn claude_command(&self) -> Command {
        self.node_command(&format!("node_modules/@anthropic-ai/claude-code-linux-{}/claude", node_machine()))
    }

    pub(super) fn check_sbom(&self, sbom: &Path) -> anyhow::Result<()> {
        let mut command = Command::new(self.folder.join("python/bin/python"));
        run::run_captured(command.arg(self.folder.join("check_sbom.py")).arg(sbom)).map(drop)
    }

    /// A program of the npm packages, with a home folder of its own.
    fn node_command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join(program));
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.join("node_modules/.bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).unwrap_or(path)).env("HOME", &self.folder);
        command
    }
}

/// Checks how much the service could do if somebody took it over.
pub(super) fn check_unit() -> anyhow::Result<()> {
    let mut command = Command::new("systemd-analyze");
    command.args(["security", "--offline=true", "--no-pager", "--threshold", EXPOSURE_MAX]);
    run::run_captured(command.arg(systemd_unit::path())).map(drop)
}

/// What Node calls this machine.
fn node_machine() -> &'static str {
    if std::env::consts::ARCH == "aarch64" { "arm64" } else { "x64" }
}
