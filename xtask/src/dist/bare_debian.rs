//! A Debian with nothing but its smallest set of packages, made by debootstrap, and programs that run in such a root.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;

use super::empty_folder;
use crate::{install, paths, print_line, run};

/// Mounts `/proc` and the folders of this machine for the program alone, and makes a folder its root. The shell stays: it
/// ends with us, and everything that it started with it, while a program that changes its user would outlive us. The path is
/// that of the program in the root, so `chroot` is called by its own.
const ENTER: &str = "root=$1; user=$2; mounts=$3; shift 3; \
    mount -t proc proc \"$root/proc\"; \
    while [ \"$mounts\" -gt 0 ]; do \
        mkdir -p \"$root$1\"; mount --rbind \"$1\" \"$root$1\"; shift; mounts=$((mounts - 1)); \
    done; \
    /usr/sbin/chroot --userspec=\"$user\" \"$root\" \"$@\" || exit $?";

/// Where a Debian looks for programs.
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A folder that programs take for the whole file system.
pub(super) struct Root {
    pub folder: PathBuf,
    /// Folders of this machine that programs in the root find at the same path.
    pub mounts: Vec<PathBuf>,
}

impl Root {
    /// A fresh copy of the bare Debian.
    pub(super) fn copy_of_bare_debian(name: &str) -> anyhow::Result<Self> {
        let bare = make_bare_debian()?;
        let folder = paths::target().join("roots").join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        run::run_captured(Command::new("cp").args(["-a", "--reflink=auto"]).arg(bare).arg(&folder))?;
        Ok(Self { folder, mounts: Vec::new() })
    }

    /// A program in the root, as this user and group, with this environment.
    pub(super) fn command(&self, user: u32, environment: &[(String, String)], words: &[&str]) -> Command {
        let mut command = Command::new("/usr/bin/unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "/bin/sh", "-ec", ENTER, "sh"]);
        command.arg(&self.folder).arg(format!("{user}:{user}"));
        command.arg(self.mounts.len().to_string()).args(&self.mounts).args(words);
        command.env_clear().env("PATH", PATH).envs(environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The path of a file of the root.
    pub(super) fn join(&self, path: &str) -> PathBuf {
        self.folder.join(path.trim_start_matches('/'))
    }

    pub(super) fn remove(self) -> anyhow::Result<()> {
        fs::remove_dir_all(&self.folder).with_context(|| format!("{} cannot be removed", self.folder.display()))
    }
}

/// The bare Debian of the release that this machine has. It is made once.
fn make_bare_debian() -> anyhow::Result<PathBuf> {
    install::install_programs(&[("debootstrap", "debootstrap"), ("umoci", "umoci"), ("curl", "curl")])?;
    let release = fs::read_to_string("/etc/os-release")?;
    let codename = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let codename = codename.context("this machine does not say which Debian it has")?;
    let folder = paths::target().join(format!("debian-{codename}"));
    let complete = folder.join("etc/debian_version");
    let stamp = folder.with_extension("installed");
    if complete.exists() && stamp.exists() {
        return Ok(folder);
    }
    print_line(&format!("installing a bare Debian {codename} into {} (debootstrap)", folder.display()));
    empty_folder(&folder)?;
    run::run_captured(Command::new("debootstrap").args(["--variant=minbase", codename]).arg(&folder))?;
    fs::write(stamp, "")?;
    Ok(folder)
}

/// Whether this machine lets a process have mounts of its own; in some containers it does not.
pub(super) fn can_enter() -> bool {
    let line = ["--mount", "--pid", "--fork", "/bin/sh", "-ec", "mount -t proc proc /proc"];
    run::run_silently(Command::new("/usr/bin/unshare").args(line)).is_ok()
}
