//! The plugin for Claude Code: the folder `plugin` of the repository, packed with a marketplace that lists it, and checks of its
//! files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde_json::Value;

use super::pack::{self, ZipContent};
use super::pretty;
use super::release::Release;
use crate::paths;

const MANIFEST: &str = ".claude-plugin/plugin.json";
const SERVERS: &str = ".mcp.json";
/// Lists the plugin, so that Claude Code can install it: in the repository beside the plugin's folder, in the packed plugin
/// within it.
const MARKETPLACE: &str = ".claude-plugin/marketplace.json";

pub(super) fn source() -> PathBuf {
    paths::root().join("plugin")
}

/// The folders of the skills in a plugin.
pub(super) fn skills(plugin: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let folder = plugin.join("skills");
    let mut skills = Vec::new();
    if folder.exists() {
        for entry in fs::read_dir(folder)? {
            skills.push(entry?.path());
        }
    }
    skills.sort();
    Ok(skills)
}

/// The name of the packed plugin.
pub(super) fn file_name(release: &Release) -> String {
    format!("skald-{}-claude-plugin.zip", release.version)
}

pub(super) fn write(release: &Release, folder: &Path) -> anyhow::Result<()> {
    check(release)?;
    let files = pack::files_below(&source())?.into_iter().map(|file| {
        let name = file.to_str().context("a name that is not text")?.to_owned();
        Ok((name, ZipContent::File(source().join(&file))))
    });
    let mut files: Vec<_> = files.collect::<anyhow::Result<_>>()?;
    let marketplace = render_packed_marketplace(&read_json(&paths::root().join(MARKETPLACE))?);
    files.push((MARKETPLACE.to_owned(), ZipContent::Text(pretty(&marketplace))));
    pack::write_zip(&files, &folder.join(file_name(release)))
}

/// The marketplace of the repository, in which the plugin is the marketplace's own folder.
fn render_packed_marketplace(marketplace: &Value) -> Value {
    let mut packed = marketplace.clone();
    packed["plugins"][0]["source"] = Value::from("./");
    packed
}

/// Checks the manifests of the plugin and of the marketplace, and the heads of the skills.
pub(super) fn check(release: &Release) -> anyhow::Result<()> {
    let plugin = read_json(&source().join(MANIFEST))?;
    ensure!(plugin["name"] == "skald" && plugin["description"].is_string(), "{MANIFEST} has no name or description");
    ensure!(plugin["version"] == release.version, "{MANIFEST} has another version than {}", release.version);
    let servers = read_json(&source().join(SERVERS))?;
    let server = &servers["mcpServers"]["skald"];
    ensure!(server["command"] == "skald" && server["args"][0] == "mcp", "{SERVERS} does not start skald mcp");
    // A folder of programs keeps a plugin from being installed on the web.
    ensure!(!source().join("bin").exists(), "a plugin must not have a folder bin");
    let marketplace = read_json(&paths::root().join(MARKETPLACE))?;
    ensure!(!source().join(MARKETPLACE).exists(), "{MARKETPLACE} of the packed plugin is written by dist");
    let listed = &marketplace["plugins"][0];
    ensure!(listed["name"] == plugin["name"] && listed["source"] == "./plugin", "the marketplace lists another plugin");
    for skill in skills(&source())? {
        let name = skill.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let page =
            fs::read_to_string(skill.join("SKILL.md")).with_context(|| format!("the skill {name} has no page"))?;
        check_skill(&name, &page)?;
    }
    Ok(())
}

fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}

/// Checks the head of a skill: its name is that of its folder, and the description has at most 1,024 characters.
fn check_skill(folder: &str, page: &str) -> anyhow::Result<()> {
    let head = page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map(|(head, _)| head);
    let head = head.with_context(|| format!("the skill {folder} has no head between two lines of ---"))?;
    let value = |field: &str| head.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(": "));
    ensure!(value("name") == Some(folder), "the skill {folder} has the name {:?}", value("name"));
    ensure!(folder.len() <= 64, "the name {folder} is too long");
    let description = value("description").with_context(|| format!("the skill {folder} has no description"))?;
    ensure!(description.chars().count() <= 1024, "the description of the skill {folder} is too long");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_packed_plugin_is_a_marketplace_of_itself() {
        let folder = std::env::temp_dir().join(format!("skald-claude-plugin-{}", std::process::id()));
        super::super::empty_folder(&folder).unwrap();
        let mut release = Release::read().unwrap();
        write(&release, &folder).unwrap();
        let mut archive = zip::ZipArchive::new(fs::File::open(folder.join(file_name(&release))).unwrap()).unwrap();
        archive.extract(folder.join("plugin")).unwrap();
        let marketplace = read_json(&folder.join("plugin").join(MARKETPLACE)).unwrap();
        let listed = &marketplace["plugins"][0];
        assert_eq!((&listed["name"], &listed["source"]), (&Value::from("skald"), &Value::from("./")));
        assert_eq!(read_json(&folder.join("plugin").join(MANIFEST)).unwrap()["name"], "skald");
        assert!(folder.join("plugin/skills/game-master/SKILL.md").is_file());
        release.version = "9.9.9".to_owned();
        assert!(write(&release, &folder).unwrap_err().to_string().contains("another version"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_skill_has_the_name_of_its_folder_and_a_description() {
        check_skill("game-master", "---\nname: game-master\ndescription: Runs an evening.\n---\n# Page\n").unwrap();
        let wrong = [
            ("# Page\n", "no head"),
            ("---\nname: other\ndescription: x\n---\n", "the name"),
            ("---\nname: game-master\n---\n", "no description"),
        ];
        for (page, expected) in wrong {
            assert!(check_skill("game-master", page).unwrap_err().to_string().contains(expected), "{page}");
        }
    }
}
