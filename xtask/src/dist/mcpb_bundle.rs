//! The MCPB bundle: a zip archive with the program and a manifest, which desktop clients install by a click.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use serde_json::{Value, json};

use super::pack::{self, ZipContent};
use super::release::Release;
use super::{Payload, pretty};
use crate::paths;

/// Where the program is in the bundle.
const PROGRAM: &str = "server/skald";

pub(super) fn write(release: &Release, payload: &Payload, folder: &Path) -> anyhow::Result<PathBuf> {
    let manifest = render_manifest(release);
    check(&manifest)?;
    let files = [
        ("manifest.json".to_owned(), ZipContent::Text(pretty(&manifest))),
        ("LICENSE".to_owned(), ZipContent::File(paths::root().join("LICENSE"))),
        ("THIRD-PARTY-LICENSES.txt".to_owned(), ZipContent::File(payload.licence_notices.clone())),
        (PROGRAM.to_owned(), ZipContent::Program(payload.program.clone())),
    ];
    let bundle = folder.join(release.file_name("mcpb"));
    pack::write_zip(&files, &bundle)?;
    Ok(bundle)
}

pub(super) fn render_manifest(release: &Release) -> Value {
    json!({
        "manifest_version": "0.4",
        "name": "skald",
        "display_name": "Skald",
        "version": release.version,
        "description": release.description,
        "long_description": "Skald rolls the dice, fairly and for anyone to check. It keeps campaigns, sessions, the lore with \
            its secrets, processes with gates, and universes that move. Everything stays in one folder on this machine.",
        "author": {"name": "The Skald authors", "url": release.repository()},
        "repository": {"type": "git", "url": release.repository()},
        "documentation": release.repository(),
        "license": "Apache-2.0",
        "keywords": ["tabletop", "dice", "game master", "worldbuilding"],
        "server": {
            "type": "binary",
            "entry_point": PROGRAM,
            "mcp_config": {
                "command": format!("${{__dirname}}/{PROGRAM}"),
                "args": ["mcp", "--store", "sqlite:${user_config.data_dir}/skald.db"],
                "env": {},
            },
        },
        "tools_generated": true,
        "prompts_generated": true,
        "compatibility": {"platforms": ["linux"]},
        "user_config": {
            "data_dir": {
                "type": "directory",
                "title": "World folder",
                "description": "Where campaigns, lore and universes are kept: by default where `skald serve` has them too. The folder is created if it is not there.",
                "default": "${HOME}/.local/share/skald",
                "required": true,
            },
        },
    })
}

/// Checks what `mcpb validate` checks and a bundle cannot do without.
pub(super) fn check(manifest: &Value) -> anyhow::Result<()> {
    for field in ["manifest_version", "name", "version", "description"] {
        ensure!(manifest[field].as_str().is_some_and(|text| !text.is_empty()), "the manifest has no {field}");
    }
    ensure!(manifest["author"]["name"].is_string(), "the manifest has no author");
    let server = &manifest["server"];
    let command = server["mcp_config"]["command"].as_str().unwrap_or_default();
    ensure!(server["type"] == "binary" && server["entry_point"] == PROGRAM, "the manifest names another program");
    ensure!(command == format!("${{__dirname}}/{PROGRAM}"), "the command {command} is not the packed program");
    // Every setting that an argument uses is asked for.
    let arguments = server["mcp_config"]["args"].to_string();
    for rest in arguments.split("${user_config.").skip(1) {
        let name = rest.split('}').next().unwrap_or_default();
        ensure!(manifest["user_config"][name]["title"].is_string(), "the setting {name} is not asked for");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_not_asked_for_is_found() {
        let mut manifest = render_manifest(&Release::example());
        check(&manifest).unwrap();
        manifest["server"]["mcp_config"]["args"][1] = json!("${user_config.token}");
        assert!(check(&manifest).unwrap_err().to_string().contains("token"));
    }
}
