//! Parts of the program that are no crates (SQLite, scripts of the page, fonts), with their licences.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use super::pack;
use super::shipped_crates::ShippedCrate;
use crate::paths;

/// How names of asset files end that somebody else has written.
const FOREIGN_ENDINGS: [&str; 5] = [".min.js", ".ttf", ".otf", ".woff2", ".wasm"];

/// The crate that has the source of SQLite, and where its version stands in it.
const SQLITE_CRATE: &str = "libsqlite3-sys";
const SQLITE_HEADER: &str = "sqlite3/sqlite3.h";

/// Somebody else's files in this repository.
struct ForeignAssets {
    name: &'static str,
    version: &'static str,
    /// An SPDX expression.
    licence: &'static str,
    source: &'static str,
    licence_file: &'static str,
    files: &'static [&'static str],
}

const FOREIGN_ASSETS: [ForeignAssets; 2] = [
    ForeignAssets {
        name: "htmx",
        version: "4.0.0",
        licence: "0BSD",
        source: "https://github.com/bigskysoftware/htmx",
        licence_file: "crates/page/assets/LICENSE-htmx.txt",
        files: &["crates/page/assets/htmx.min.js"],
    },
    ForeignAssets {
        name: "DejaVu Sans",
        version: "2.37",
        licence: "Bitstream-Vera",
        source: "https://dejavu-fonts.github.io",
        licence_file: "crates/mcp/assets/DejaVu-LICENSE.txt",
        files: &["crates/mcp/assets/DejaVuSans.subset.ttf", "crates/mcp/assets/DejaVuSans-Bold.subset.ttf"],
    },
];

/// Something that is in the program and is not a crate.
pub(super) struct BundledPart {
    pub name: String,
    pub version: String,
    /// An SPDX expression.
    pub licence: String,
    pub source: String,
    pub licence_text: String,
    /// Names of its files, with their SHA-256.
    pub files: Vec<(String, String)>,
}

/// Reads all parts, and fails if there is an asset that no part names.
pub(super) fn read(crates: &[ShippedCrate]) -> anyhow::Result<Vec<BundledPart>> {
    let found: Vec<String> = FOREIGN_ENDINGS.iter().flat_map(|ending| assets_with(ending)).collect();
    check_assets(&found, &assets_with(".txt"))?;
    let mut parts = vec![sqlite(crates)?];
    for assets in &FOREIGN_ASSETS {
        let hash = |file: &&str| Ok(((*file).to_owned(), pack::sha256_of_file(&paths::root().join(file))?));
        let licence_file = paths::root().join(assets.licence_file);
        parts.push(BundledPart {
            name: assets.name.to_owned(),
            version: assets.version.to_owned(),
            licence: assets.licence.to_owned(),
            source: assets.source.to_owned(),
            licence_text: fs::read_to_string(&licence_file)
                .with_context(|| format!("{} cannot be read", licence_file.display()))?,
            files: assets.files.iter().map(hash).collect::<anyhow::Result<_>>()?,
        });
    }
    Ok(parts)
}

/// Files of folders called `assets`, as paths from the workspace.
fn assets_with(ending: &str) -> Vec<String> {
    let files = paths::repository_files(ending).into_iter();
    let names = files.filter_map(|file| Some(file.strip_prefix(paths::root()).ok()?.to_str()?.to_owned()));
    names.filter(|name| name.contains("/assets/")).collect()
}

/// Fails for an asset without a licence, and for a licence that no part has.
fn check_assets(foreign: &[String], texts: &[String]) -> anyhow::Result<()> {
    let known: Vec<&str> = FOREIGN_ASSETS.iter().flat_map(|assets| assets.files.iter().copied()).collect();
    for file in foreign {
        ensure!(
            known.contains(&file.as_str()),
            "{file} is somebody else's file without a licence: name it in FOREIGN_ASSETS of bundled_parts.rs"
        );
    }
    for file in texts.iter().filter(|file| file.contains("LICENSE")) {
        let is_known = FOREIGN_ASSETS.iter().any(|assets| assets.licence_file == file);
        ensure!(is_known, "{file} is the licence of nothing: name it in FOREIGN_ASSETS of bundled_parts.rs");
    }
    Ok(())
}

fn sqlite(crates: &[ShippedCrate]) -> anyhow::Result<BundledPart> {
    let shipped = crates.iter().find(|shipped| shipped.name == SQLITE_CRATE).context("SQLite is not in the program")?;
    Ok(BundledPart {
        name: "SQLite".to_owned(),
        version: sqlite_version(&shipped.folder.join(SQLITE_HEADER))?,
        licence: "blessing".to_owned(),
        source: "https://sqlite.org".to_owned(),
        licence_text: "The authors of SQLite disclaim copyright to it. It is in the public domain.\n".to_owned(),
        files: Vec::new(),
    })
}

fn sqlite_version(header: &Path) -> anyhow::Result<String> {
    let text = fs::read_to_string(header).with_context(|| format!("{} cannot be read", header.display()))?;
    let version = text.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION ")).map(str::trim);
    let version = version.and_then(|version| version.strip_prefix('"')?.strip_suffix('"'));
    version.map(str::to_owned).with_context(|| format!("{} names no version", header.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::release::Release;
    use crate::dist::shipped_crates;

    #[test]
    fn the_parts_are_those_of_the_repository() {
        let parts = read(&shipped_crates::read(&Release::read().unwrap()).unwrap()).unwrap();
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["SQLite", "htmx", "DejaVu Sans"]);
        assert!(parts[0].version.starts_with("3."), "{}", parts[0].version);
        assert!(parts[1].licence_text.starts_with("Zero-Clause BSD"));
        let script = fs::read_to_string(paths::root().join(&parts[1].files[0].0)).unwrap();
        assert!(script.contains(&format!("version=\"{}\"", parts[1].version)), "htmx says another version");
        assert!(parts.iter().flat_map(|part| &part.files).all(|(_, hash)| hash.len() == 64));
    }

    #[test]
    fn an_asset_without_a_licence_is_refused() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        check_assets(&names(&["crates/page/assets/htmx.min.js"]), &names(&["crates/page/assets/notes.txt"])).unwrap();
        let error = check_assets(&names(&["crates/page/assets/three.min.js"]), &[]).unwrap_err().to_string();
        assert!(error.starts_with("crates/page/assets/three.min.js is somebody else's"), "{error}");
        assert!(check_assets(&[], &names(&["crates/page/assets/three-LICENSE.txt"])).is_err());
    }
}
