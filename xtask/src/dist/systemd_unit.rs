//! The systemd unit, which is a file of the repository, and what it has to restrict.

use std::fs;
use std::path::PathBuf;

use anyhow::ensure;

use crate::paths;

/// Lines without which the service could do more than it needs.
const RESTRICTIONS: [&str; 22] = [
    "CapabilityBoundingSet=",
    "DynamicUser=yes",
    "LockPersonality=yes",
    "MemoryDenyWriteExecute=yes",
    "NoNewPrivileges=yes",
    "PrivateDevices=yes",
    "PrivateTmp=yes",
    "ProtectClock=yes",
    "ProtectControlGroups=yes",
    "ProtectHome=yes",
    "ProtectHostname=yes",
    "ProtectKernelLogs=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelTunables=yes",
    "ProtectProc=invisible",
    "ProtectSystem=strict",
    "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX",
    "RestrictNamespaces=yes",
    "RestrictSUIDSGID=yes",
    "StateDirectory=skald",
    "SystemCallFilter=@system-service",
    "UMask=0077",
];

pub(super) fn path() -> PathBuf {
    paths::root().join("packaging/skald.service")
}

pub(super) fn check() -> anyhow::Result<()> {
    let unit = fs::read_to_string(path())?;
    for line in RESTRICTIONS.iter().chain(&["ExecStart=skald serve", "WantedBy=multi-user.target"]) {
        ensure!(unit.lines().any(|found| found == *line), "packaging/skald.service lacks the line {line}");
    }
    Ok(())
}
