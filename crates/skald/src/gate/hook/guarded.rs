//! What an agent may not touch in any state, since by it the agent could leave the gate: the file that names its run, the
//! gate's folder but for the artifacts, the store, and the settings that install the hooks.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{paths, pre, shell};
use crate::arguments::{GateCallArguments, PreToolUseArguments};
use crate::world;

/// The folder of a gate, the one folder in it that is the agent's, and the file that names a run.
pub(super) const FOLDER: &str = ".state_gate";
pub(super) const ARTIFACTS: &str = "artifacts";
pub(super) const NAMING: &str = "state-gate.json";
/// Files of a coding agent that say which hooks and which servers it has.
pub(super) const SETTINGS: &str = ".claude";
const SERVERS: [&str; 2] = [".mcp.json", ".claude.json"];
/// Tools that only read.
const READERS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];
/// Longest text that is looked at as a path.
const PATH_BYTES_MAX: usize = 4096;

pub(super) struct Guarded {
    /// Where the agent is.
    pub working: PathBuf,
    /// Where the gate is.
    pub project: PathBuf,
    /// The store's file, as it is written and as the system has it, where it is one.
    store: Vec<PathBuf>,
    /// The file that names the run, where that is another than usual.
    config: Vec<PathBuf>,
}

impl Guarded {
    pub(super) fn new(working: &Path, arguments: &GateCallArguments, pre: &PreToolUseArguments) -> Self {
        let project = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let both = |path: &str| vec![paths::by_letter(&project, path), paths::by_links(&project, path)];
        let address = world::address(&arguments.store).unwrap_or_default();
        let store = address.strip_prefix("sqlite:").map(&both).unwrap_or_default();
        let config = pre.run.config_path.as_deref().and_then(Path::to_str).map(&both).unwrap_or_default();
        Self { working: paths::by_letter(&project, &working.to_string_lossy()), project, store, config }
    }

    /// Why a tool may not be used so, if it touches any of this.
    pub(super) fn refuses(&self, tool: &str, input: &Value) -> Option<String> {
        if READERS.contains(&tool) {
            return None;
        }
        let mut named = Vec::new();
        collect(input, &mut named);
        let touched = named.into_iter().find_map(|path| self.at(path).map(|what| refusal(path, what)));
        touched.or_else(|| pre::command(input).and_then(|command| shell::refuses(&command, self)))
    }

    /// What a path is of this, if it is.
    pub(super) fn at(&self, path: &str) -> Option<&'static str> {
        let ways = [paths::by_letter(&self.working, path), paths::by_links(&self.working, path)];
        ways.iter().find_map(|path| self.what(path))
    }

    fn what(&self, path: &Path) -> Option<&'static str> {
        let parts: Vec<String> =
            path.components().map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase()).collect();
        let name = parts.last().map(String::as_str).unwrap_or_default();
        let above = parts.len().checked_sub(2).map(|index| parts[index].as_str());
        let in_folder = |(index, part): (usize, &String)| {
            part == FOLDER && parts.get(index + 1).is_none_or(|below| below != ARTIFACTS)
        };
        if name == NAMING || self.config.iter().any(|config| config == path) {
            Some("it names the run")
        } else if parts.iter().enumerate().any(in_folder) {
            Some("it is in the folder of the gate")
        } else if self.is_store(path) {
            Some("it is where runs are kept")
        } else if above == Some(SETTINGS) && is_settings(name) {
            Some("it installs the hooks")
        } else if SERVERS.contains(&name) {
            Some("it says as whom the gate is called")
        } else {
            None
        }
    }

    /// Whether it is the store's file or one that lies beside it under its name, as a log does.
    fn is_store(&self, path: &Path) -> bool {
        let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        self.store.iter().any(|store| store.parent() == path.parent() && name(path).starts_with(&name(store)))
    }

    /// The names of the store's file.
    pub(super) fn store_names(&self) -> impl Iterator<Item = String> {
        self.store.iter().filter_map(|store| Some(store.file_name()?.to_string_lossy().into_owned()))
    }

    /// What of this is there, for patterns to be compared with.
    pub(super) fn present(&self) -> Vec<PathBuf> {
        let own = [FOLDER, NAMING, ".claude/settings.json", ".claude/settings.local.json", SERVERS[0]];
        let folders = [&self.working, &self.project];
        let present = folders.iter().flat_map(|folder| own.map(|name| folder.join(name)));
        present.chain(self.store.iter().cloned()).filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

/// Whether a file of an agent's own folder is one of its settings.
fn is_settings(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|stem| stem.starts_with("settings"))
}

pub(super) fn refusal(named: &str, what: &str) -> String {
    format!(
        "{} is not for an agent to touch: {what}. Evidence belongs into {FOLDER}/{ARTIFACTS}; a run moves on by its events",
        app::short(named)
    )
}

/// The paths that an input names, at any depth: tools of other servers name theirs in their own ways.
fn collect<'a>(input: &'a Value, named: &mut Vec<&'a str>) {
    let is_path = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.ends_with("path")
            || name.ends_with("paths")
            || ["file", "files", "filename", "source", "destination", "target", "uri", "dir", "directory"]
                .contains(&name.as_str())
    };
    match input {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(path) if is_path(name) => named.extend(plain(path)),
                    Value::Array(paths) if is_path(name) => {
                        named.extend(paths.iter().filter_map(Value::as_str).filter_map(plain));
                        for value in paths {
                            collect(value, named);
                        }
                    }
                    value => collect(value, named),
                }
            }
        }
        Value::Array(values) => {
            for value in values {
                collect(value, named);
            }
        }
        _ => {}
    }
}

/// A text that may be a path.
fn plain(text: &str) -> Option<&str> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    (text.len() <= PATH_BYTES_MAX && !text.is_empty()).then_some(text)
}
