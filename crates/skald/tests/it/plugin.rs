//! Tests of the plugin for Claude Code: the shape of its files, and that the server they name answers.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skald_testkit::TemporaryFolder;
use skald_testkit::mcp_messages::{initialize, request};

use crate::process::{RunningProgram, skald_command};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read_json(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn the_marketplace_leads_to_the_plugin() {
    let marketplace = read_json(".claude-plugin/marketplace.json");
    assert!(marketplace["name"] == "skald" && marketplace["owner"]["name"].is_string(), "{marketplace}");
    let [listed] = &marketplace["plugins"].as_array().expect("plugins")[..] else { panic!("{marketplace}") };
    let source = listed["source"].as_str().expect("a source");
    assert!(source.starts_with("./"), "{source}");
    let plugin = read_json(&format!("{source}/.claude-plugin/plugin.json"));
    assert_eq!((&plugin["name"], &listed["name"]), (&json!("skald"), &json!("skald")));
    assert_eq!(plugin["version"], env!("CARGO_PKG_VERSION"));
    for (name, option) in plugin["userConfig"].as_object().expect("options") {
        for field in ["type", "title", "description"] {
            assert!(option[field].is_string(), "{name} has no {field}");
        }
    }
    assert_eq!(plugin["userConfig"]["token"]["sensitive"], true);
    assert!(!root().join(source).join("bin").exists(), "a folder bin keeps the plugin from being installed in places");
    assert!(root().join(source).join("skills/game-master/SKILL.md").is_file());
}

#[test]
fn the_server_of_the_plugin_answers() {
    let folder = TemporaryFolder::new();
    let options = &read_json("plugin/.claude-plugin/plugin.json")["userConfig"];
    let server = &read_json("plugin/.mcp.json")["mcpServers"]["skald"];
    assert_eq!(server["command"], "skald");
    let arguments: Vec<&str> = server["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
    let mut command = skald_command(&arguments);
    for (name, value) in server["env"].as_object().expect("variables") {
        let mut value = value.as_str().expect("a text").to_owned();
        for option in options.as_object().expect("options").keys() {
            let given = if option == "data_dir" { folder.file(".").display().to_string() } else { String::new() };
            value = value.replace(&format!("${{user_config.{option}}}"), &given);
        }
        assert!(!value.contains("${"), "{name} names an option that there is not: {value}");
        command.env(name, value);
    }
    let mut running = RunningProgram::start(command);
    let answer = running.request(&initialize("2025-11-25"));
    assert_eq!(answer["result"]["serverInfo"]["name"], "skald", "{answer}");
    let skills = running.request(&request(2, "skills/list", &json!({})));
    assert_eq!(skills["result"]["skills"][0]["frontmatter"]["name"], "game-master", "{skills}");
    assert!(folder.file("skald.db").is_file(), "the world lies in the folder that was chosen");
}
