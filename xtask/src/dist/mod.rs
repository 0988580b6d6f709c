//! `cargo xtask dist`: makes everything that a release needs, into `target/dist/artifacts`. Two runs from one commit with the
//! same order of functions, which is one of the files, write the same bytes.

mod archive;
mod bare_debian;
mod build_program;
mod bundled_parts;
mod checksums;
mod claude_plugin;
mod debian_package;
mod licence_notices;
mod mcpb_bundle;
mod oci_image;
mod pack;
mod registry_entry;
mod release;
mod sbom;
mod service_trial;
mod shipped_crates;
mod source_trial;
mod systemd_unit;
mod trial;
mod validators;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

use crate::{install, paths, print_line, run};
use release::Release;

pub(crate) use build_program::{ensure_function_order, set_release_flags};
pub(crate) use source_trial::try_source;
pub(crate) use trial::{check_packed_again, try_artifacts};

/// The programs that pack a release, and the Debian packages that have them.
const PACKERS: [(&str, &str); 6] = [
    ("dpkg-deb", "dpkg"),
    ("dpkg-shlibdeps", "dpkg-dev"),
    ("gzip", "gzip"),
    ("ldd", "libc-bin"),
    ("strip", "binutils"),
    ("tar", "tar"),
];

/// The owner in the workspace's manifest as long as nobody has set one.
const OWNER_PLACEHOLDER: &str = "OWNER";

/// The arguments of `cargo xtask dist`.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DistArguments {
    /// A binary that is packed instead of the one that would be built.
    pub binary: Option<PathBuf>,
    /// The order of functions of an earlier release, for the same bytes.
    pub function_order: Option<PathBuf>,
    /// Also install and start every artifact, each in a Debian that has nothing else.
    pub is_tried: bool,
    /// Also pack files that differ from the last commit.
    pub is_dirty_allowed: bool,
}

impl DistArguments {
    pub(crate) fn parse(mut words: &[&str]) -> anyhow::Result<Self> {
        let mut arguments = Self::default();
        loop {
            words = match words {
                [] => return Ok(arguments),
                ["--binary", file, rest @ ..] => {
                    arguments.binary = Some(std::path::absolute(file)?);
                    rest
                }
                ["--function-order", file, rest @ ..] => {
                    arguments.function_order = Some(std::path::absolute(file)?);
                    rest
                }
                ["--try", rest @ ..] => {
                    arguments.is_tried = true;
                    rest
                }
                ["--dirty", rest @ ..] => {
                    arguments.is_dirty_allowed = true;
                    rest
                }
                [other, ..] => bail!(
                    "dist knows no {other:?}; it takes --binary FILE, --function-order FILE, --try and --dirty, or --check \
                     alone"
                ),
            }
        }
    }
}

/// What the artifacts are made of. All of it is in one folder that is removed before each run.
struct Payload {
    /// The stripped program.
    program: PathBuf,
    /// Has `man/man1` and `completions`.
    command_line_files: PathBuf,
    licence_notices: PathBuf,
    sbom: PathBuf,
}

/// Where the artifacts are written: beside what Cargo builds with the profile of the same name.
pub(crate) fn folder() -> PathBuf {
    paths::target().join("dist/artifacts")
}

/// Builds the program unless one is given, and writes all artifacts. Refuses files that differ from the last commit before it
/// builds, since the artifacts have the time of that commit.
pub(crate) fn make_release(arguments: &DistArguments) -> anyhow::Result<()> {
    let changes = describe_changes(&run::run_captured(
        Command::new("git").args(["status", "--porcelain"]).current_dir(paths::root()),
    )?);
    if let Some(refusal) = refuse_changes(changes.as_deref(), arguments) {
        bail!("{refusal}");
    }
    if let Some(binary) = &arguments.binary {
        write_artifacts(binary, &folder(), None)?;
    } else {
        build_program::forget_function_order();
        if let Some(order) = &arguments.function_order {
            build_program::take_function_order(order)?;
        }
        let program = build_program::build(&paths::target())?;
        write_artifacts(&program, &folder(), Some(&build_program::function_order_file()))?;
    }
    let warnings =
        [changes.map(|changes| format!("do not publish this. {changes}")), describe_owner(&Release::read()?.owner)];
    for warning in warnings.into_iter().flatten() {
        print_line(&format!("WARNING: {warning}"));
    }
    if arguments.is_tried { try_artifacts(&folder()) } else { Ok(()) }
}

/// How many files differ from the last commit, by the output of `git status --porcelain`.
fn describe_changes(status: &str) -> Option<String> {
    let first = status.lines().next()?;
    Some(format!(
        "{} files differ from the last commit, such as {}",
        status.lines().count(),
        first.get(3..).unwrap_or(first)
    ))
}

/// Why nothing is packed. Whoever gives a binary works on the packing itself and has changed files.
fn refuse_changes(changes: Option<&str>, arguments: &DistArguments) -> Option<String> {
    let changes = changes?;
    (!arguments.is_dirty_allowed && arguments.binary.is_none()).then(|| {
        format!("{changes}. A release is made of a commit: commit or stash them, or give --dirty for artifacts that you do not publish")
    })
}

/// What to do if nobody has said who publishes the release.
fn describe_owner(owner: &str) -> Option<String> {
    (owner == OWNER_PLACEHOLDER).then(|| {
        format!(
            "the artifacts name no publisher: the owner is still {OWNER_PLACEHOLDER}, in server.json, in the plugin's and the \
             image's labels and in all addresses. Before you publish, write the account that you publish under into \
             [workspace.metadata.release] of Cargo.toml, as in owner = \"ana\", and commit it"
        )
    })
}

/// Packs a program into all artifacts, in a folder that is emptied first. The order of its functions joins them, if it is
/// known: it may not be in that folder.
fn write_artifacts(program: &Path, folder: &Path, function_order: Option<&Path>) -> anyhow::Result<()> {
    install::install_programs(&PACKERS)?;
    let release = Release::read()?;
    let staging = folder.with_extension("staging");
    for folder in [folder, &staging] {
        empty_folder(folder)?;
    }
    let crates = shipped_crates::read(&release)?;
    let parts = bundled_parts::read(&crates)?;
    let payload = Payload {
        program: build_program::strip(program, &staging)?,
        command_line_files: build_program::write_command_line_files(&staging.join("command-line"))?,
        licence_notices: write(
            &staging.join("THIRD-PARTY-LICENSES.txt"),
            &licence_notices::render(&release, &crates, &parts)?,
        )?,
        sbom: write(&folder.join(release.file_name("cdx.json")), &pretty(&sbom::render(&release, &crates, &parts)))?,
    };
    archive::write(&release, &payload, &staging, folder)?;
    debian_package::write(&release, &payload, &staging, folder)?;
    let bundle = mcpb_bundle::write(&release, &payload, folder)?;
    oci_image::write(&release, &payload, &staging, folder)?;
    claude_plugin::write(&release, folder)?;
    let entry = registry_entry::render(&release, &pack::sha256_of_file(&bundle)?);
    registry_entry::check(&entry)?;
    write(&folder.join("server.json"), &pretty(&entry))?;
    if let Some(order) = function_order {
        copy(order, &folder.join(release.file_name("function-order.txt")))?;
    }
    for (name, bytes) in checksums::write(folder)? {
        print_line(&format!("{:>9} kB  {name}", bytes.div_ceil(1000)));
    }
    print_line(&format!("written to {}", folder.display()));
    Ok(())
}

/// Checks the shapes of all manifests, with neither a build nor a network.
pub(crate) fn check_shapes() -> anyhow::Result<()> {
    let release = Release::read()?;
    registry_entry::check(&registry_entry::render(&release, &"0".repeat(64)))?;
    mcpb_bundle::check(&mcpb_bundle::render_manifest(&release))?;
    oci_image::check(&release)?;
    claude_plugin::check(&release)?;
    systemd_unit::check()?;
    print_line("server.json, the bundle's manifest, the image, the plugin and the unit are as they have to be");
    Ok(())
}

/// Checks all that can be checked with what the tests have built.
pub(crate) fn check_with_tested_binary() -> anyhow::Result<()> {
    check_shapes()?;
    build_program::check_command_line_files()
}

fn empty_folder(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))
}

/// Writes a text file, with the folders above it, and returns its path.
fn write(path: &Path, text: &str) -> anyhow::Result<PathBuf> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(path.to_owned())
}

/// Copies a file, with the folders above it.
fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(parent) = to.parent() {
        fs::create_dir_all(parent)?;
    }
    fs::copy(from, to).with_context(|| format!("{} cannot be copied to {}", from.display(), to.display()))?;
    Ok(())
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_in_any_order() {
        let expected = DistArguments {
            binary: Some(PathBuf::from("/a/skald")),
            function_order: Some(PathBuf::from("/a/order")),
            is_tried: true,
            is_dirty_allowed: true,
        };
        for words in [
            ["--try", "--binary", "/a/skald", "--dirty", "--function-order", "/a/order"],
            ["--function-order", "/a/order", "--binary", "/a/skald", "--dirty", "--try"],
        ] {
            assert_eq!(DistArguments::parse(&words).unwrap(), expected);
        }
        for wrong in [&["--binary"][..], &["--long"], &["archive"]] {
            assert!(DistArguments::parse(wrong).unwrap_err().to_string().contains("--binary FILE"), "{wrong:?}");
        }
    }

    #[test]
    fn changed_files_are_refused_unless_they_are_allowed() {
        assert_eq!(describe_changes(""), None);
        let changes = describe_changes(" M README.md\n?? notes.txt\n").unwrap();
        assert!(changes.contains("2 files") && changes.ends_with("README.md"), "{changes}");
        let refused = refuse_changes(Some(&changes), &DistArguments::default()).unwrap();
        assert!(refused.contains("README.md") && refused.contains("--dirty"), "{refused}");
        assert_eq!(refuse_changes(None, &DistArguments::default()), None);
        let allowed = [&["--dirty"][..], &["--binary", "/a/skald"]];
        for words in allowed {
            assert_eq!(refuse_changes(Some(&changes), &DistArguments::parse(words).unwrap()), None, "{words:?}");
        }
    }

    /// Whoever raises the version changes the names of the files in these pages as well.
    #[test]
    fn the_pages_name_the_files_of_this_release() {
        let release = Release::read().unwrap();
        let read = |page: &str| fs::read_to_string(paths::root().join("docs").join(page)).unwrap();
        let (install, plugin) = (read("install.md"), read("plugin.md"));
        for name in [
            debian_package::file_name(&release),
            release.file_name("tar.gz"),
            release.file_name("oci.tar"),
            oci_image::local_name(&release),
        ] {
            assert!(install.contains(&name), "docs/install.md does not name {name}");
        }
        let name = claude_plugin::file_name(&release);
        assert!(plugin.contains(&name), "docs/plugin.md does not name {name}");
        // Addresses have four numbers, versions three.
        let is_version = |word: &&str| word.split('.').filter(|part| !part.is_empty()).count() == 3;
        for page in [&install, &plugin] {
            let words = page.split(|c: char| !c.is_ascii_digit() && c != '.').map(|word| word.trim_matches('.'));
            let versions: Vec<&str> = words.filter(is_version).collect();
            assert!(!versions.is_empty() && versions.iter().all(|version| *version == release.version), "{versions:?}");
        }
    }

    #[test]
    fn an_owner_that_nobody_has_set_is_warned_of() {
        let warning = describe_owner(OWNER_PLACEHOLDER).unwrap();
        assert!(warning.contains("[workspace.metadata.release] of Cargo.toml"), "{warning}");
        assert_eq!(describe_owner("ana"), None);
    }

    #[test]
    fn the_manifests_have_the_shapes_that_are_asked_for() {
        check_shapes().unwrap();
    }
}
