//! Tries out the README's two commands, and the installation from source, in a Debian that has a Rust toolchain, the packages
//! that the README names, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};

use super::bare_debian::{self, Root};
use super::trial::{check_health, check_stopped};
use crate::server::TestServer;
use crate::{paths, print_line, run};

/// Where the clone is, in the root.
const CLONE: &str = "/srv/skald";
/// The home folder in the root.
const HOME: &str = "/root";
/// What the README says to install.
const PACKAGES: [&str; 2] = ["build-essential", "git"];
/// How this machine reaches the package registries. Files that it does not have are skipped.
const NETWORK_SETTINGS: [&str; 7] = [
    "/etc/apt/apt.conf.d",
    "/etc/apt/sources.list.d/debian.sources",
    "/etc/hosts",
    "/etc/npmrc",
    "/etc/pip.conf",
    "/etc/resolv.conf",
    "/etc/ssl/certs/ca-certificates.crt",
];

/// Clones the repository into a bare Debian, and runs both commands there.
pub(crate) fn try_source() -> anyhow::Result<()> {
    if !bare_debian::can_enter() {
        print_line("NOT RUN: the two commands in a bare Debian. This machine forbids a mount.");
        return Ok(());
    }
    let mut root = Root::copy_of_bare_debian("source")?;
    let home = std::env::home_dir().context("no home folder")?;
    let (cargo, rustup) =
        (tool_folder("CARGO_HOME", &home.join(".cargo")), tool_folder("RUSTUP_HOME", &home.join(".rustup")));
    ensure!(rustup.exists(), "this machine's Rust is not from rustup, so that it cannot be mounted elsewhere");
    let environment = environment(&cargo, &rustup);
    root.mounts = vec![PathBuf::from("/dev"), cargo, rustup];
    copy_network_settings(&root, &home)?;
    let in_root = |words: &[&str]| root.command(0, &environment, words);
    run::run_captured(&mut in_root(&["apt-get", "update"]))?;
    let install = ["apt-get", "install", "--yes", "--no-install-recommends"];
    run::run_captured(&mut in_root(&[&install[..], &PACKAGES].concat()))?;
    run::run_captured(Command::new("git").args(["clone", "--quiet"]).arg(paths::root()).arg(root.join(CLONE)))?;
    let in_clone = |line: &str| in_root(&["/bin/sh", "-ec", &format!("cd {CLONE}; {line}")]);

    run::run_shown(&mut in_clone("cargo run --quiet --release -- version"))?;
    let server = TestServer::start(|port| {
        in_clone(&format!("exec cargo run --quiet --release -- serve --http-addr 127.0.0.1:{port} --grpc-addr off"))
    })?;
    check_health(&server)?;
    check_stopped(server)?;
    // It takes what is built already. The toolchain's own folder is that of this machine, so it installs elsewhere.
    run::run_shown(&mut in_clone("cargo install --quiet --locked --path crates/skald"))?;
    run::run_shown(&mut in_root(&["/usr/local/bin/skald", "version"]))?;
    run::run_shown(&mut in_clone("cargo xtask test"))?;
    print_line("in a bare Debian with Rust, the commands of the README do everything");
    root.remove()
}

/// A folder of the toolchain: what the variable says, or where it is by default.
fn tool_folder(variable: &str, default: &Path) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| default.to_owned(), PathBuf::from)
}

fn environment(cargo: &Path, rustup: &Path) -> Vec<(String, String)> {
    let path = format!("{}:{}", cargo.join("bin").display(), bare_debian::PATH);
    let certificates = "/etc/ssl/certs/ca-certificates.crt".to_owned();
    [
        ("HOME", HOME.to_owned()),
        ("CARGO_HOME", cargo.display().to_string()),
        ("CARGO_INSTALL_ROOT", "/usr/local".to_owned()),
        ("RUSTUP_HOME", rustup.display().to_string()),
        ("DEBIAN_FRONTEND", "noninteractive".to_owned()),
        ("SSL_CERT_FILE", certificates.clone()),
        ("PIP_CERT", certificates),
        ("PATH", path),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn copy_network_settings(root: &Root, home: &Path) -> anyhow::Result<()> {
    for setting in NETWORK_SETTINGS {
        if let Ok(files) = fs::read_dir(setting) {
            for file in files {
                let file = file?.path();
                super::copy(&file, &root.join(&file.to_string_lossy()))?;
            }
        } else if Path::new(setting).exists() {
            super::copy(Path::new(setting), &root.join(setting))?;
        }
    }
    let npm_settings = home.join(".npmrc");
    if npm_settings.exists() {
        super::copy(&npm_settings, &root.join(&format!("{HOME}/.npmrc")))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_name_the_packages_that_the_trial_installs() {
        let line = format!("apt install {}", PACKAGES.join(" "));
        for page in ["README.md", "docs/install.md"] {
            let text = fs::read_to_string(paths::root().join(page)).unwrap();
            assert!(text.contains(&line), "{page} does not say: {line}");
        }
    }
}
