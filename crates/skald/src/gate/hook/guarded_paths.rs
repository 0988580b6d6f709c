//! Guarded paths: files that an agent may not touch in any state, since it could bypass the gate with them. These are
//! the file that names its run, the gate's folder except for the artifacts, the store, the processes, the settings that
//! install the hooks, and the hook's own program. Folders above them may be used, but not moved, deleted, locked or
//! overwritten.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skald_tool_calls::call_strings::{self, CallString};

use super::patterns::{parts, stand_for};
use super::{paths, program, shell};
use crate::arguments::{GateCallArguments, PreToolUseArguments};
use crate::gate_folders::{data, folders};
use crate::open_store;

/// The gate's folder, the one folder in it that agents may write to, and the file that names a run.
pub(super) const FOLDER: &str = ".state_gate";
pub(super) const ARTIFACTS: &str = "artifacts";
pub(super) const NAMING: &str = "state-gate.json";
/// The folder of a coding agent's settings, and the files that configure its MCP servers and hooks.
pub(super) const SETTINGS: &str = ".claude";
const SERVERS: [&str; 2] = [".mcp.json", ".claude.json"];
const MANAGED: &str = "managed-settings.json";
/// The environment variable that moves the folder of the agent's settings.
const SETTINGS_FOLDER: &str = "CLAUDE_CONFIG_DIR";
/// Tools that only read.
const READERS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];
/// Words in the names of other tools: of those that only read, and of those that change files.
const READING: [&str; 9] = ["read", "list", "get", "search", "stat", "info", "view", "show", "tree"];
const CHANGING: [&str; 18] = [
    "move", "rename", "delete", "remove", "unlink", "trash", "chmod", "chown", "write", "create", "copy", "extract",
    "unpack", "unzip", "replace", "clean", "sync", "link",
];
/// The longest text that is checked as a path.
const PATH_BYTES_MAX: usize = 4096;

pub(super) struct Guarded {
    /// The agent's working folder.
    pub working: PathBuf,
    /// The project folder, which has the gate.
    pub project: PathBuf,
    /// The store's file, as written and with links followed. Empty if the store is not a local file.
    store: Vec<PathBuf>,
    /// The file that names the run, if `--config-path` gives one.
    config: Vec<PathBuf>,
    /// Folders from which processes are read.
    processes: Vec<PathBuf>,
    program: Vec<PathBuf>,
    /// The usual paths of the gate's files and of the agent's settings.
    usual: Vec<PathBuf>,
}

impl Guarded {
    pub(super) fn new(working: &Path, arguments: &GateCallArguments, pre: &PreToolUseArguments) -> Self {
        let project = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let both = |path: &str| vec![paths::by_letter(&project, path), paths::by_links(&project, path)];
        // With `--addr` the runs are in a server's store, not in a local file.
        let address =
            open_store::address(&arguments.store).ok().filter(|_| arguments.addr.is_none()).unwrap_or_default();
        let store = address.strip_prefix("sqlite:").map(&both).unwrap_or_default();
        let config = pre.run.config_path.as_deref().and_then(Path::to_str).map(&both).unwrap_or_default();
        let processes = folders(&arguments.gate, &project, data().as_deref(), false).process_folders;
        let processes = processes.iter().flat_map(|folder| both(&folder.to_string_lossy())).collect();
        let working = paths::by_letter(&project, &working.to_string_lossy());
        let mut usual = usual_files(&[&project, &paths::by_links(&project, ".")]);
        let elsewhere = usual_files(&[&working]);
        usual.extend(elsewhere.into_iter().filter(|path| path.symlink_metadata().is_ok()));
        let program = program::paths_of_program(&project);
        Self { working, project, store, config, processes, program, usual }
    }

    /// The refusal if a tool call touches a guarded path.
    pub(super) fn refuses(&self, tool: &str, input: &Value) -> Option<String> {
        if READERS.contains(&tool) {
            return None;
        }
        let strings = call_strings::strings(tool, input);
        let is_line = |string: &&CallString| string.is_command() || !call_strings::is_known(tool);
        let is_one_line = |string: &&CallString| tool == "Bash" && string.is_top && string.field == "command";
        let touched = strings
            .iter()
            .filter(|string| !is_one_line(string))
            .filter_map(|string| plain(string.text))
            .find_map(|path| Some(refusal(path, self.named_by_tool(tool, path)?)));
        let lines = strings.iter().filter(is_line).map(|string| string.text.to_owned());
        let mut lines = lines.chain(call_strings::joined_commands(input));
        touched.or_else(|| lines.find_map(|line| shell::refuses(&line, self)))
    }

    /// The reason why a tool may not have this path in its input, if there is one.
    fn named_by_tool(&self, tool: &str, path: &str) -> Option<&'static str> {
        let tool = tool.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
        let folder = || self.folder_at(&self.working, path).filter(|_| !has(&READING));
        let above = || self.holds(&self.working, path).filter(|_| has(&CHANGING));
        self.at(path).or_else(|| self.program_at(&self.working, path)).or_else(folder).or_else(above)
    }

    /// The reason why a path is guarded, if it is a guarded file or lies in a guarded folder.
    pub(super) fn at(&self, path: &str) -> Option<&'static str> {
        self.at_from(&self.working, path)
    }

    pub(super) fn at_from(&self, folder: &Path, path: &str) -> Option<&'static str> {
        ways(folder, path).iter().find_map(|path| self.what(path))
    }

    /// The reason why a path is guarded, if it is the hook's own program.
    pub(super) fn program_at(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let is_program = |path: &PathBuf| self.program.iter().any(|program| is_same(program, path));
        ways(folder, path).iter().any(is_program).then_some("it is the program of the hook")
    }

    /// The reason why a folder is guarded: it is the settings folder, the store's own folder, or a folder of the
    /// project with a guarded path below it.
    pub(super) fn folder_at(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let found = ways(folder, path);
        let is_settings = |path: &PathBuf| name_of(path).eq_ignore_ascii_case(SETTINGS);
        if found.iter().any(is_settings) {
            Some("it holds the settings that install the hooks")
        } else if found.iter().any(|path| self.is_stores_folder(path)) {
            Some("it is the folder where runs are kept")
        } else if found.iter().any(|path| self.is_in_project(path) && self.is_above(path)) {
            Some("a part of the gate lies in it")
        } else {
            None
        }
    }

    /// The reason why a folder is guarded, for a folder that a glob pattern matches.
    pub(super) fn folders_like(&self, folder: &Path, pattern: &str) -> Option<&'static str> {
        let pattern = parts(&paths::by_letter(folder, pattern));
        let meant = self.all().map(|path| parts(path)).filter(|path| pattern.len() < path.len());
        let mut meant = meant.filter(|path| stand_for(&pattern, path));
        meant.find_map(|path| {
            let path: PathBuf = path[..pattern.len()].iter().collect();
            self.folder_at(folder, &path.to_string_lossy())
        })
    }

    /// The reason if a guarded path is, or lies below, this folder or one that this pattern matches.
    pub(super) fn holds(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let is_above = if path.contains(['*', '?', '[']) {
            let pattern = parts(&paths::by_letter(folder, path));
            self.all().map(|path| parts(path)).any(|path| pattern.len() <= path.len() && stand_for(&pattern, &path))
        } else {
            ways(folder, path).iter().any(|path| self.is_above(path))
        };
        is_above.then_some("the gate lies below it")
    }

    /// The names of a folder's entries that are guarded, or have a guarded path below them.
    pub(super) fn names_below(&self, folder: &Path, path: &str) -> Vec<String> {
        let found = ways(folder, path);
        let below = |folder: &PathBuf| {
            let depth = parts(folder).len();
            let all = self.all().filter(|path| is_below(path, folder));
            all.filter_map(|path| parts(path).into_iter().nth(depth)).collect::<Vec<_>>()
        };
        found.iter().flat_map(below).collect()
    }

    /// The names of guarded files and folders, and of the folders above them in the project.
    pub(super) fn names(&self) -> Vec<String> {
        let depth = self.depth();
        self.all().flat_map(|path| parts(path).split_off(depth.min(parts(path).len() - 1))).collect()
    }

    fn what(&self, path: &Path) -> Option<&'static str> {
        let parts: Vec<String> = parts(path).iter().map(|part| part.to_ascii_lowercase()).collect();
        let name = parts.last().map(String::as_str).unwrap_or_default();
        let above = parts.len().checked_sub(2).map(|index| parts[index].as_str());
        let in_folder = |(index, part): (usize, &String)| {
            part == FOLDER && parts.get(index + 1).is_none_or(|below| below != ARTIFACTS)
        };
        let is_settings = (above == Some(SETTINGS) && is_settings(name)) || name == MANAGED;
        if name == NAMING || self.config.iter().any(|config| is_same(config, path)) {
            Some("it names the run")
        } else if parts.iter().enumerate().any(in_folder) {
            Some("it is in the folder of the gate")
        } else if self.is_store(path) {
            Some("it is where runs are kept")
        } else if self.processes.iter().any(|folder| is_below(path, folder)) {
            Some("processes are read from there")
        } else if SERVERS.contains(&name) {
            Some("it says as whom the gate is called")
        } else if is_settings || self.usual.iter().any(|usual| is_same(usual, path)) {
            Some("it installs the hooks")
        } else {
            None
        }
    }

    /// Whether a path is the store's file, or a file next to it whose name begins with the same name, such as its WAL.
    fn is_store(&self, path: &Path) -> bool {
        let is_beside = |store: &PathBuf| match (store.parent(), path.parent()) {
            (Some(store), Some(path)) => is_same(store, path),
            _ => false,
        };
        let is_named = |store: &PathBuf| name_of(path).to_lowercase().starts_with(&name_of(store).to_lowercase());
        self.store.iter().any(|store| is_beside(store) && is_named(store))
    }

    /// Whether a path is the store's folder, and the folder is for the store alone: not above the project, the home or
    /// the temporary folder.
    fn is_stores_folder(&self, path: &Path) -> bool {
        let others = [Some(self.project.clone()), std::env::home_dir(), Some(std::env::temp_dir())];
        let is_shared = others.iter().flatten().any(|other| is_below(other, path));
        !is_shared && self.store.iter().filter_map(|store| store.parent()).any(|folder| is_same(folder, path))
    }

    fn is_in_project(&self, path: &Path) -> bool {
        let projects = [self.project.clone(), paths::by_links(&self.project, ".")];
        projects.iter().any(|project| is_below(path, project) && !is_same(path, project))
    }

    fn is_above(&self, path: &Path) -> bool {
        self.all().any(|guarded| is_below(guarded, path))
    }

    fn all(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.store, &self.config, &self.processes, &self.program, &self.usual].into_iter().flatten()
    }

    /// How many parts the path of the project has.
    fn depth(&self) -> usize {
        parts(&self.project).len()
    }

    /// The names of the store's file.
    pub(super) fn store_names(&self) -> impl Iterator<Item = String> {
        self.store.iter().map(|store| name_of(store)).filter(|name| !name.is_empty())
    }

    /// The names of the program.
    pub(super) fn program_names(&self) -> impl Iterator<Item = String> {
        self.program.iter().map(|program| name_of(program))
    }

    /// The guarded files that exist, to match patterns against.
    pub(super) fn present(&self) -> Vec<&PathBuf> {
        let files = [&self.store, &self.config, &self.usual].into_iter().flatten();
        files.filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

/// The usual paths of the gate's files and of the agent's settings, in these folders and in the user's home.
fn usual_files(folders: &[&PathBuf]) -> Vec<PathBuf> {
    let in_settings = ["settings.json", "settings.local.json"];
    let mut files = Vec::new();
    for folder in folders {
        files.extend([FOLDER, NAMING, SERVERS[0]].map(|name| folder.join(name)));
        files.extend(in_settings.map(|name| folder.join(SETTINGS).join(name)));
    }
    if let Some(home) = std::env::home_dir() {
        files.extend(in_settings.map(|name| home.join(SETTINGS).join(name)));
        files.push(home.join(SERVERS[1]));
    }
    if let Some(folder) = std::env::var_os(SETTINGS_FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from) {
        files.extend(in_settings.map(|name| folder.join(name)));
        files.push(folder.join(SERVERS[1]));
    }
    files.push(Path::new("/etc/claude-code").join(MANAGED));
    files.sort();
    files.dedup();
    files
}

/// A path resolved lexically, and with links followed.
fn ways(folder: &Path, path: &str) -> [PathBuf; 2] {
    [paths::by_letter(folder, path), paths::by_links(folder, path)]
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path in lower case, since some file systems ignore case.
fn lowered(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

fn is_same(one: &Path, other: &Path) -> bool {
    lowered(one) == lowered(other)
}

/// Whether a path is a folder or lies below it.
fn is_below(path: &Path, folder: &Path) -> bool {
    lowered(path).starts_with(lowered(folder))
}

/// Whether a file in the agent's folder is a settings file.
fn is_settings(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|stem| stem.starts_with("settings"))
}

pub(super) fn refusal(named: &str, what: &str) -> String {
    format!(
        "{} is not for an agent to touch: {what}. Evidence belongs into {FOLDER}/{ARTIFACTS}; a run moves on by its events",
        skald_app::short(named)
    )
}

/// A text as a path, unless it is empty or too long to be one.
fn plain(text: &str) -> Option<&str> {
    let text = text.strip_prefix("file://").unwrap_or(text).trim();
    (text.len() <= PATH_BYTES_MAX && !text.is_empty()).then_some(text)
}
