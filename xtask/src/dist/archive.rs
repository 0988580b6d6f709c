//! The archive: the program with man pages, completions, the systemd unit, licences, the bill of materials and all pages that
//! the README leads to.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::release::Release;
use super::{Payload, copy, pack, systemd_unit};
use crate::paths;

/// Folders and files of the repository that are packed as they are. Links of the README and the guides lead to them.
const PACKED_SOURCES: [&str; 13] = [
    ".claude-plugin/",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "SECURITY.md",
    "crates/grpc/proto/",
    "docs/",
    "examples/",
    "plugin/",
    "scenarios/",
    "scripts/",
];

pub(super) fn write(release: &Release, payload: &Payload, staging: &Path, folder: &Path) -> anyhow::Result<()> {
    let packed = staging.join(release.stem());
    copy(&payload.program, &packed.join("skald"))?;
    for file in pack::files_below(&payload.command_line_files)? {
        copy(&payload.command_line_files.join(&file), &packed.join(file))?;
    }
    copy(&systemd_unit::path(), &packed.join("systemd/skald.service"))?;
    copy(&payload.licence_notices, &packed.join("THIRD-PARTY-LICENSES.txt"))?;
    copy(&payload.sbom, &packed.join("sbom.cdx.json"))?;
    for file in packed_sources()? {
        copy(&paths::root().join(&file), &packed.join(file))?;
    }
    pack::write_tar_gz(&packed, &folder.join(release.file_name("tar.gz")), release.epoch)
}

/// The files of `PACKED_SOURCES`, as paths from the workspace.
fn packed_sources() -> anyhow::Result<Vec<PathBuf>> {
    let mut packed = Vec::new();
    for file in paths::repository_files("") {
        let file = file.strip_prefix(paths::root())?.to_owned();
        let name = file.to_str().with_context(|| format!("{} is not text", file.display()))?;
        if PACKED_SOURCES.iter().any(|source| name == *source || source.ends_with('/') && name.starts_with(source)) {
            packed.push(file);
        }
    }
    packed.sort();
    Ok(packed)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn links_of_packed_pages_lead_to_packed_files() {
        let packed: BTreeSet<PathBuf> = packed_sources().unwrap().into_iter().collect();
        assert!(packed.contains(Path::new("docs/install.md")) && packed.contains(Path::new("LICENSE")));
        let root = paths::root().canonicalize().unwrap();
        let is_guide = |page: &&PathBuf| {
            let folder = page.parent().and_then(Path::to_str);
            page.extension().is_some_and(|ending| ending == "md") && matches!(folder, Some("" | "docs"))
        };
        for page in packed.iter().filter(is_guide).filter(|page| page.file_name() != Some("CONTRIBUTING.md".as_ref())) {
            let text = std::fs::read_to_string(root.join(page)).unwrap();
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
            for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
                let file = root.join(page).parent().unwrap().join(target.split('#').next().unwrap());
                let file = file.canonicalize().unwrap_or_else(|error| panic!("{}: {target}: {error}", page.display()));
                let file = file.strip_prefix(&root).unwrap();
                assert!(
                    packed.iter().any(|packed| packed.starts_with(file)),
                    "{} links to {target}, which is not in the archive",
                    page.display()
                );
            }
        }
    }
}
