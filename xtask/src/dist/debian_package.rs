//! The Debian package: the program, its unit, man pages, completions and licences, packed by `dpkg-deb`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use super::release::Release;
use super::{Payload, copy, pack, systemd_unit, write as write_text};
use crate::{paths, run};

/// Where Debian's shells look for completions.
const COMPLETIONS: [(&str, &str); 3] = [
    ("skald.bash", "usr/share/bash-completion/completions/skald"),
    ("_skald", "usr/share/zsh/vendor-completions/_skald"),
    ("skald.fish", "usr/share/fish/vendor_completions.d/skald.fish"),
];

/// The service is not started by an installation: over stdio nobody needs it. One that runs is restarted by an upgrade.
const AFTER_INSTALLATION: &str = "#!/bin/sh
set -e
if [ \"$1\" = configure ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl try-restart skald.service
fi
";
const BEFORE_REMOVAL: &str = "#!/bin/sh
set -e
if [ \"$1\" = remove ] && [ -d /run/systemd/system ]; then
    systemctl disable --now skald.service
fi
";

pub(super) fn write(release: &Release, payload: &Payload, staging: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let root = staging.join("debian-root");
    copy(&payload.program, &root.join("usr/bin/skald"))?;
    copy(&systemd_unit::path(), &root.join("usr/lib/systemd/system/skald.service"))?;
    for (file, place) in COMPLETIONS {
        copy(&payload.command_line_files.join("completions").join(file), &root.join(place))?;
    }
    let man = payload.command_line_files.join("man");
    for file in pack::files_below(&man)? {
        let page = root.join("usr/share/man").join(&file);
        copy(&man.join(&file), &page)?;
        pack::gzip(&page)?;
    }
    let documents = root.join("usr/share/doc/skald");
    write_text(&documents.join("copyright"), &render_copyright(release, &payload.licence_notices)?)?;
    copy(&paths::root().join("CHANGELOG.md"), &documents.join("changelog"))?;
    pack::gzip(&documents.join("changelog"))?;

    let files = pack::files_below(&root)?;
    let sums = run::run_captured(Command::new("md5sum").args(&files).current_dir(&root))?;
    let bytes: u64 = files.iter().map(|file| fs::metadata(root.join(file)).map_or(0, |metadata| metadata.len())).sum();
    let depends = find_dependencies(&root.join("usr/bin/skald"), staging)?;
    write_text(&root.join("DEBIAN/control"), &render_control(release, &depends, bytes))?;
    write_text(&root.join("DEBIAN/md5sums"), &sums)?;
    for (name, script) in [("postinst", AFTER_INSTALLATION), ("prerm", BEFORE_REMOVAL)] {
        let script = write_text(&root.join("DEBIAN").join(name), script)?;
        run::run_captured(Command::new("chmod").arg("+x").arg(script))?;
    }
    // The modes must not depend on the umask of the process.
    run::run_captured(Command::new("chmod").args(["-R", "u=rwX,go=rX"]).arg(&root))?;

    let package = folder.join(file_name(release));
    let mut command = Command::new("dpkg-deb");
    command.args(["--root-owner-group", "-Zxz", "--threads-max=1", "--build"]).arg(&root).arg(&package);
    run::run_captured(command.env("SOURCE_DATE_EPOCH", release.epoch.to_string()))?;
    Ok(package)
}

pub(super) fn file_name(release: &Release) -> String {
    format!("skald_{}_{}.deb", release.version, release.machine.debian)
}

fn render_control(release: &Release, depends: &str, bytes: u64) -> String {
    let Release { version, description, owner, .. } = release;
    let summary = description.trim_end_matches('.');
    format!(
        "Package: skald\nVersion: {version}\nArchitecture: {}\nMaintainer: {owner} <{owner}@users.noreply.github.com>\n\
         Installed-Size: {}\nDepends: {depends}\nRecommends: ca-certificates\nSection: games\nPriority: optional\n\
         Homepage: {}\nDescription: {summary}\n \
         It rolls dice, keeps campaigns, lore, gates and universes, and speaks the Model\n \
         Context Protocol, REST and gRPC. Clients start it over stdio; as a service it\n \
         runs with: systemctl enable --now skald\n",
        release.machine.debian,
        bytes.div_ceil(1024),
        release.repository(),
    )
}

/// In Debian's format, with the licences of everything that is in the program.
fn render_copyright(release: &Release, notices: &Path) -> anyhow::Result<String> {
    let notices = fs::read_to_string(notices)?;
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: Skald\nSource: {}\n\n\
         Files: *\nCopyright: The Skald authors\nLicense: Apache-2.0\n On Debian systems its text is in \
         /usr/share/common-licenses/Apache-2.0\n .\n The licences of everything that the program contains:\n{}",
        release.repository(),
        notices.lines().fold(String::new(), |text, line| text + if line.is_empty() { " ." } else { " " } + line + "\n")
    ))
}

/// The libraries of Debian that the program needs, as `dpkg-shlibdeps` finds them.
fn find_dependencies(program: &Path, staging: &Path) -> anyhow::Result<String> {
    let folder = staging.join("dependencies");
    write_text(&folder.join("debian/control"), "Source: skald\n\nPackage: skald\nArchitecture: any\n")?;
    let mut command = Command::new("dpkg-shlibdeps");
    let found = run::run_captured(command.arg("-O").arg(format!("-e{}", program.display())).current_dir(&folder))?;
    let found = found.trim().strip_prefix("shlibs:Depends=").map(str::to_owned);
    found.context("dpkg-shlibdeps names no libraries")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_control_file_has_a_field_on_each_line() {
        let control = render_control(&Release::example(), "libc6 (>= 2.34)", 2049);
        for line in ["Version: 1.2.3", "Architecture: amd64", "Installed-Size: 3", "Depends: libc6 (>= 2.34)"] {
            assert!(control.lines().any(|found| found == line), "{line} is not in:\n{control}");
        }
        assert!(control.lines().all(|line| line.starts_with(' ') || line.contains(": ")), "{control}");
    }
}
