//! The archive: the program with man pages, completions, the systemd unit, licences and the bill of materials.

use std::path::Path;

use super::release::Release;
use super::{Payload, copy, pack, systemd_unit};
use crate::paths;

pub(super) fn write(release: &Release, payload: &Payload, staging: &Path, folder: &Path) -> anyhow::Result<()> {
    let packed = staging.join(release.stem());
    copy(&payload.program, &packed.join("skald"))?;
    for file in pack::files_below(&payload.command_line_files)? {
        copy(&payload.command_line_files.join(&file), &packed.join(file))?;
    }
    copy(&systemd_unit::path(), &packed.join("systemd/skald.service"))?;
    copy(&payload.licence_notices, &packed.join("THIRD-PARTY-LICENSES.txt"))?;
    copy(&payload.sbom, &packed.join("sbom.cdx.json"))?;
    for file in ["CHANGELOG.md", "LICENSE", "README.md"] {
        copy(&paths::root().join(file), &packed.join(file))?;
    }
    pack::write_tar_gz(&packed, &folder.join(release.file_name("tar.gz")), release.epoch)
}
