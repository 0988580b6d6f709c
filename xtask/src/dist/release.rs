//! The names of a release: version, description, owner, machine and time, from the manifests and from git.

use std::process::Command;

use anyhow::Context;
use jiff::Timestamp;
use serde_json::Value;

use crate::{paths, run};

pub(super) struct Release {
    pub version: String,
    pub description: String,
    /// Who publishes it, as in `github.com/OWNER`.
    pub owner: String,
    /// Seconds since 1970 of the commit: the time of every file in every artifact.
    pub epoch: i64,
    pub machine: Machine,
}

/// What the machine that the program runs on is called.
#[derive(Debug, Clone, Copy)]
pub(super) struct Machine {
    /// As Rust and GNU say.
    pub rust: &'static str,
    /// As Debian and container registries say.
    pub debian: &'static str,
}

impl Release {
    pub(super) fn read() -> anyhow::Result<Self> {
        let metadata = ["metadata", "--no-deps", "--format-version", "1"];
        let metadata: Value = serde_json::from_str(&run::run_captured(&mut run::cargo_command(&metadata))?)?;
        let packages = metadata["packages"].as_array().context("cargo's metadata has no packages")?;
        let package =
            packages.iter().find(|package| package["name"] == "skald").context("there is no package skald")?;
        let text = |value: &Value, what: &str| value.as_str().map(str::to_owned).with_context(|| format!("no {what}"));
        Ok(Self {
            version: text(&package["version"], "version")?,
            description: text(&package["description"], "description")?,
            owner: text(&metadata["metadata"]["release"]["owner"], "owner in workspace.metadata.release")?,
            epoch: read_epoch()?,
            machine: Machine::of_this_one()?,
        })
    }

    /// The name of a program, of the public repository and of the server in the registry.
    pub(super) fn server_name(&self) -> String {
        format!("io.github.{}/skald", self.owner)
    }

    pub(super) fn repository(&self) -> String {
        format!("https://github.com/{}/skald", self.owner)
    }

    /// Where a file of this release is downloaded.
    pub(super) fn download(&self, file_name: &str) -> String {
        format!("{}/releases/download/v{}/{file_name}", self.repository(), self.version)
    }

    pub(super) fn image(&self) -> String {
        format!("ghcr.io/{}/skald:{}", self.owner, self.version)
    }

    /// The name of an artifact for this machine, without its ending.
    pub(super) fn stem(&self) -> String {
        format!("skald-{}-{}-linux", self.version, self.machine.rust)
    }

    pub(super) fn file_name(&self, ending: &str) -> String {
        format!("{}.{ending}", self.stem())
    }

    pub(super) fn target(&self) -> String {
        format!("{}-unknown-linux-gnu", self.machine.rust)
    }

    /// The time of the release, as in `2026-11-18T05:00:00Z`.
    pub(super) fn time(&self) -> anyhow::Result<String> {
        Ok(Timestamp::from_second(self.epoch)?.to_string())
    }
}

impl Machine {
    fn of_this_one() -> anyhow::Result<Self> {
        let known = [("x86_64", "amd64"), ("aarch64", "arm64")];
        let found = known.into_iter().find(|(rust, _)| *rust == std::env::consts::ARCH);
        let (rust, debian) = found.with_context(|| format!("no release is made for {}", std::env::consts::ARCH))?;
        Ok(Self { rust, debian })
    }
}

/// The time of the commit, unless `SOURCE_DATE_EPOCH` says another.
fn read_epoch() -> anyhow::Result<i64> {
    let seconds = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(seconds) => seconds,
        Err(_) => {
            run::run_captured(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(paths::root()))?
        }
    };
    seconds.trim().parse().with_context(|| format!("{seconds:?} is no time in seconds"))
}

#[cfg(test)]
impl Release {
    /// A release for tests.
    pub(super) fn example() -> Self {
        Self {
            version: "1.2.3".to_owned(),
            description: "A server.".to_owned(),
            owner: "ana".to_owned(),
            epoch: 1_700_000_000,
            machine: Machine { rust: "x86_64", debian: "amd64" },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_derived_from_the_owner_and_the_version() {
        let release = Release::example();
        assert_eq!(release.file_name("mcpb"), "skald-1.2.3-x86_64-linux.mcpb");
        assert_eq!(release.server_name(), "io.github.ana/skald");
        assert_eq!(release.image(), "ghcr.io/ana/skald:1.2.3");
        assert_eq!(release.download("a"), "https://github.com/ana/skald/releases/download/v1.2.3/a");
        assert_eq!(release.time().unwrap(), "2023-11-14T22:13:20Z");
    }
}
