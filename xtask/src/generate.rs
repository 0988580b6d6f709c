//! Generated files: writes them, or compares them with what is committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use crate::{code_map, paths, print_line, run};

/// Runs the binary with Cargo, which builds it if needed.
const CARGO_RUN: &[&str] = &["run", "--quiet", "--package", "skald", "--"];
/// Folders that hold generated files and nothing else.
const FOLDERS: [&str; 3] = ["docs/reference", "docs/pictures", "examples"];

pub(crate) fn write_generated() -> anyhow::Result<()> {
    for folder in FOLDERS {
        let folder = paths::root().join(folder);
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
    }
    render(run::cargo_command(CARGO_RUN), &paths::root())?;
    print_line("generated docs/reference, docs/pictures and examples");
    Ok(())
}

pub(crate) fn check_generated() -> anyhow::Result<()> {
    compare_with_committed(run::cargo_command(CARGO_RUN))
}

/// The same with the binary that the tests have built, to save another build.
pub(crate) fn check_with_tested_binary() -> anyhow::Result<()> {
    compare_with_committed(Command::new(paths::built_binary("debug", "skald")))
}

fn compare_with_committed(skald: Command) -> anyhow::Result<()> {
    let fresh = paths::target().join("generated");
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    render(skald, &fresh)?;
    let (committed, rendered) = (read_generated_files(&paths::root())?, read_generated_files(&fresh)?);
    let differs = |path: &&PathBuf| committed.get(*path) != rendered.get(*path);
    let mut names: Vec<&PathBuf> = committed.keys().chain(rendered.keys()).collect();
    names.sort();
    names.dedup();
    let different: Vec<String> = names.into_iter().filter(differs).map(|path| path.display().to_string()).collect();
    if !different.is_empty() {
        bail!("these are not what the code renders; run `cargo xtask generate`: {}", different.join(", "));
    }
    print_line(&format!("{} generated files are what the code renders", rendered.len()));
    Ok(())
}

fn render(mut skald: Command, root: &Path) -> anyhow::Result<()> {
    run::run_captured(skald.arg("reference").arg(root)).map(drop)?;
    fs::write(root.join(code_map::PAGE), code_map::render())?;
    Ok(())
}

fn read_generated_files(root: &Path) -> anyhow::Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut folders: Vec<PathBuf> =
        FOLDERS.iter().map(|folder| root.join(folder)).filter(|folder| folder.exists()).collect();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path.strip_prefix(root)?.to_owned(), fs::read(&path)?);
            }
        }
    }
    Ok(found)
}
