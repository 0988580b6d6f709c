//! The file of checksums of all artifacts, as `sha256sum --check` reads it.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::Context;

use super::pack;

const FILE: &str = "SHA256SUMS";

/// Writes the checksums, and returns the names and sizes of the artifacts.
pub(super) fn write(folder: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let (mut lines, mut sizes) = (String::new(), Vec::new());
    for file in pack::files_below(folder)? {
        let name = file.to_str().context("a name that is not text")?.to_owned();
        writeln!(lines, "{}  {name}", pack::sha256_of_file(&folder.join(&file))?)?;
        sizes.push((name, fs::metadata(folder.join(&file))?.len()));
    }
    fs::write(folder.join(FILE), lines)?;
    Ok(sizes)
}
