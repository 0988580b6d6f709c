//! The crates that are in the shipped program, with their licences, sources and checksums.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use serde_json::Value;

use super::release::Release;
use crate::{paths, run};

/// The name and the version of a crate.
pub(super) type CrateKey = (String, String);

pub(super) struct ShippedCrate {
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: String,
    pub authors: Vec<String>,
    pub repository: Option<String>,
    /// The source, with licence files.
    pub folder: PathBuf,
    /// The licence file that the manifest names, if it names one.
    pub licence_file: Option<PathBuf>,
    /// Of the packed crate in the registry. Our own crates have none.
    pub checksum: Option<String>,
    pub dependencies: Vec<CrateKey>,
}

impl ShippedCrate {
    pub(super) fn is_ours(&self) -> bool {
        self.checksum.is_none()
    }
}

/// Reads the crates that the program is built of on the release's machine, sorted by name and version. Crates that only
/// run while it is built, and those of tests, are not among them.
pub(super) fn read(release: &Release) -> anyhow::Result<Vec<ShippedCrate>> {
    let target = release.target();
    let edges = ["--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}", "--target", &target];
    let tree = run::run_captured(run::cargo_command(&["tree", "--locked", "--package", "skald"]).args(edges))?;
    let shipped: BTreeSet<CrateKey> = tree.lines().filter_map(parse_tree_line).collect();
    let metadata = ["metadata", "--locked", "--format-version", "1", "--filter-platform", &target];
    let metadata: Value = serde_json::from_str(&run::run_captured(&mut run::cargo_command(&metadata))?)?;
    let checksums = parse_checksums(&fs::read_to_string(paths::root().join("Cargo.lock"))?);
    let packages = metadata["packages"].as_array().context("cargo's metadata has no packages")?;
    let nodes = metadata["resolve"]["nodes"].as_array().context("cargo's metadata has no graph")?;
    let keys: BTreeMap<&str, CrateKey> =
        packages.iter().filter_map(|package| Some((package["id"].as_str()?, key_of_package(package)?))).collect();
    let mut crates = Vec::new();
    for package in packages {
        let Some(key) = key_of_package(package).filter(|key| shipped.contains(key)) else { continue };
        let node = nodes.iter().find(|node| node["id"] == package["id"]).context("a crate that is not in the graph")?;
        let dependencies = node["deps"].as_array().into_iter().flatten();
        let dependencies = dependencies.filter_map(|dependency| keys.get(dependency["pkg"].as_str()?));
        let mut dependencies: Vec<CrateKey> = dependencies.filter(|key| shipped.contains(key)).cloned().collect();
        dependencies.sort();
        crates.push(read_crate(package, key, dependencies, &checksums)?);
    }
    crates.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    Ok(crates)
}

fn read_crate(
    package: &Value,
    key: CrateKey,
    dependencies: Vec<CrateKey>,
    checksums: &BTreeMap<CrateKey, String>,
) -> anyhow::Result<ShippedCrate> {
    let text = |field: &str| package[field].as_str().map(str::to_owned);
    let manifest = PathBuf::from(text("manifest_path").context("a crate without a manifest")?);
    let folder = manifest.parent().context("a manifest without a folder")?.to_owned();
    let licence_file = text("license_file").map(|file| folder.join(file));
    // Old manifests separate alternatives by a slash.
    let licence = text("license").map(|licence| licence.replace(" / ", " OR ").replace('/', " OR "));
    let licence = licence.or_else(|| licence_file.as_ref().map(|_| "LicenseRef-in-its-file".to_owned()));
    let authors = package["authors"].as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    Ok(ShippedCrate {
        licence: licence.with_context(|| format!("{} {} has no licence", key.0, key.1))?,
        authors: authors.collect(),
        repository: text("repository"),
        folder,
        licence_file,
        checksum: checksums.get(&key).cloned(),
        dependencies,
        name: key.0,
        version: key.1,
    })
}

fn key_of_package(package: &Value) -> Option<CrateKey> {
    Some((package["name"].as_str()?.to_owned(), package["version"].as_str()?.to_owned()))
}

/// Name and version of a line such as `bytes v1.10.0 (*)`.
fn parse_tree_line(line: &str) -> Option<CrateKey> {
    let mut words = line.split_whitespace();
    let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
    Some((name.to_owned(), version.to_owned()))
}

/// The checksums in a `Cargo.lock`.
fn parse_checksums(lock: &str) -> BTreeMap<CrateKey, String> {
    let blocks = lock.split("[[package]]\n").skip(1);
    let entry = |block: &str| {
        let value = |field: &str| {
            let line = block.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(" = \""))?;
            line.strip_suffix('"').map(str::to_owned)
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    };
    blocks.filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_tree_and_blocks_of_a_lock_are_read() {
        let key = |name: &str, version: &str| (name.to_owned(), version.to_owned());
        assert_eq!(parse_tree_line("bytes v1.10.0 (*)"), Some(key("bytes", "1.10.0")));
        assert_eq!(parse_tree_line("skald v0.1.0 (/a/b)"), Some(key("skald", "0.1.0")));
        assert_eq!(parse_tree_line(""), None);
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1\"\nchecksum = \"ff\"\ndependencies = [\n \"b\",\n]\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"2\"\n";
        assert_eq!(parse_checksums(lock), BTreeMap::from([(key("a", "1"), "ff".to_owned())]));
    }

    #[test]
    fn what_is_shipped_has_what_the_program_needs_and_nothing_of_tests() {
        let crates = read(&Release::read().unwrap()).unwrap();
        let names: BTreeSet<&str> = crates.iter().map(|found| found.name.as_str()).collect();
        assert!(["skald", "skald-domain", "rusqlite", "rmcp", "ring"].iter().all(|name| names.contains(name)));
        let absent =
            ["skald-testkit", "proptest", "insta", "clap_complete", "clap_mangen", "serde_derive", "windows-sys"];
        assert!(absent.iter().all(|name| !names.contains(name)));
        for found in &crates {
            assert_eq!(found.is_ours(), found.name.starts_with("skald"), "{}", found.name);
        }
    }
}
