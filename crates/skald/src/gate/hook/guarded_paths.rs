//! Guarded paths: files that an agent may not touch in any state, since it could bypass the gate with them. These are
//! the file that names its run, the gate's folder except for the artifacts, the store, the processes, the settings that
//! install the hooks, and the hook's own program. Folders above them may be used, but not moved, deleted, locked or
//! overwritten.

use std::path::{Path, PathBuf};

use serde_json::Value;
use skald_tool_calls::call_strings::{self, CallString};

use super::match_globs::{is_path_match, path_parts};
use super::{hook_program_paths, refuse_command_line, resolve_paths};
use crate::arguments::{GateCallArguments, PreToolUseArguments};
use crate::gate_folders::{data_folder, gate_folders};
use crate::open_store;

/// The gate's folder, the one folder in it that agents may write to, and the file that names a run.
pub(super) const GATE_FOLDER: &str = ".state_gate";
pub(super) const ARTIFACT_FOLDER: &str = "artifacts";
pub(super) const RUN_FILE: &str = "state-gate.json";
/// The folder of a coding agent's settings, and the files that configure its MCP servers and hooks.
pub(super) const AGENT_FOLDER: &str = ".claude";
const SERVER_FILES: [&str; 2] = [".mcp.json", ".claude.json"];
const MANAGED_SETTINGS_FILE: &str = "managed-settings.json";
/// The environment variable that moves the folder of the agent's settings.
const AGENT_FOLDER_VARIABLE: &str = "CLAUDE_CONFIG_DIR";
/// Tools that only read.
const READING_TOOLS: [&str; 5] = ["Read", "Grep", "Glob", "LS", "NotebookRead"];
/// Words in the names of other tools: of those that only read, and of those that change files.
const READING_WORDS: [&str; 9] = ["read", "list", "get", "search", "stat", "info", "view", "show", "tree"];
const CHANGING_WORDS: [&str; 18] = [
    "move", "rename", "delete", "remove", "unlink", "trash", "chmod", "chown", "write", "create", "copy", "extract",
    "unpack", "unzip", "replace", "clean", "sync", "link",
];
/// The longest text that is checked as a path.
const PATH_BYTES_MAX: usize = 4096;

pub(super) struct GuardedPaths {
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

impl GuardedPaths {
    pub(super) fn new(working: &Path, arguments: &GateCallArguments, pre: &PreToolUseArguments) -> Self {
        let project = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let both = |path: &str| {
            vec![resolve_paths::resolve_lexically(&project, path), resolve_paths::resolve_links(&project, path)]
        };
        // With `--addr` the runs are in a server's store, not in a local file.
        let address =
            open_store::store_address(&arguments.store).ok().filter(|_| arguments.addr.is_none()).unwrap_or_default();
        let store = address.strip_prefix("sqlite:").map(&both).unwrap_or_default();
        let config = pre.run.config_path.as_deref().and_then(Path::to_str).map(&both).unwrap_or_default();
        let processes = gate_folders(&arguments.gate, &project, data_folder().as_deref(), false).process_folders;
        let processes = processes.iter().flat_map(|folder| both(&folder.to_string_lossy())).collect();
        let working = resolve_paths::resolve_lexically(&project, &working.to_string_lossy());
        let mut usual = usual_files(&[&project, &resolve_paths::resolve_links(&project, ".")]);
        let elsewhere = usual_files(&[&working]);
        usual.extend(elsewhere.into_iter().filter(|path| path.symlink_metadata().is_ok()));
        let program = hook_program_paths::program_paths(&project);
        Self { working, project, store, config, processes, program, usual }
    }

    /// The refusal if a tool call touches a guarded path.
    pub(super) fn refuse_call(&self, tool: &str, input: &Value) -> Option<String> {
        if READING_TOOLS.contains(&tool) {
            return None;
        }
        let strings = call_strings::strings(tool, input);
        let is_line = |string: &&CallString| string.is_command() || !call_strings::is_known_tool(tool);
        let is_one_line = |string: &&CallString| tool == "Bash" && string.is_top && string.field == "command";
        let touched = strings
            .iter()
            .filter(|string| !is_one_line(string))
            .filter_map(|string| as_path(string.text))
            .find_map(|path| Some(refusal_text(path, self.tool_path_reason(tool, path)?)));
        let lines = strings.iter().filter(is_line).map(|string| string.text.to_owned());
        let mut lines = lines.chain(call_strings::joined_commands(input));
        touched.or_else(|| lines.find_map(|line| refuse_command_line::refuse_command_line(&line, self)))
    }

    /// The reason why a tool may not have this path in its input, if there is one.
    fn tool_path_reason(&self, tool: &str, path: &str) -> Option<&'static str> {
        let tool = tool.to_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| tool.contains(word));
        let folder = || self.folder_reason(&self.working, path).filter(|_| !has(&READING_WORDS));
        let above = || self.contents_reason(&self.working, path).filter(|_| has(&CHANGING_WORDS));
        self.path_reason(path).or_else(|| self.program_reason(&self.working, path)).or_else(folder).or_else(above)
    }

    /// The reason why a path is guarded, if it is a guarded file or lies in a guarded folder.
    pub(super) fn path_reason(&self, path: &str) -> Option<&'static str> {
        self.path_reason_from(&self.working, path)
    }

    pub(super) fn path_reason_from(&self, folder: &Path, path: &str) -> Option<&'static str> {
        resolve_both(folder, path).iter().find_map(|path| self.resolved_path_reason(path))
    }

    /// The reason why a path is guarded, if it is the hook's own program.
    pub(super) fn program_reason(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let is_program = |path: &PathBuf| self.program.iter().any(|program| is_same_path(program, path));
        resolve_both(folder, path).iter().any(is_program).then_some("it is the program of the hook")
    }

    /// The reason why a folder is guarded: it is the settings folder, the store's own folder, or a folder of the
    /// project with a guarded path below it.
    pub(super) fn folder_reason(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let found = resolve_both(folder, path);
        let is_settings = |path: &PathBuf| file_name(path).eq_ignore_ascii_case(AGENT_FOLDER);
        if found.iter().any(is_settings) {
            Some("it holds the settings that install the hooks")
        } else if found.iter().any(|path| self.is_store_folder(path)) {
            Some("it is the folder where runs are kept")
        } else if found.iter().any(|path| self.is_in_project(path) && self.is_above_guarded(path)) {
            Some("a part of the gate lies in it")
        } else {
            None
        }
    }

    /// The reason why a folder is guarded, for a folder that a glob pattern matches.
    pub(super) fn pattern_reason(&self, folder: &Path, pattern: &str) -> Option<&'static str> {
        let pattern = path_parts(&resolve_paths::resolve_lexically(folder, pattern));
        let meant = self.all_paths().map(|path| path_parts(path)).filter(|path| pattern.len() < path.len());
        let mut meant = meant.filter(|path| is_path_match(&pattern, path));
        meant.find_map(|path| {
            let path: PathBuf = path[..pattern.len()].iter().collect();
            self.folder_reason(folder, &path.to_string_lossy())
        })
    }

    /// The reason if a guarded path is, or lies below, this folder or one that this pattern matches.
    pub(super) fn contents_reason(&self, folder: &Path, path: &str) -> Option<&'static str> {
        let is_above = if path.contains(['*', '?', '[']) {
            let pattern = path_parts(&resolve_paths::resolve_lexically(folder, path));
            self.all_paths()
                .map(|path| path_parts(path))
                .any(|path| pattern.len() <= path.len() && is_path_match(&pattern, &path))
        } else {
            resolve_both(folder, path).iter().any(|path| self.is_above_guarded(path))
        };
        is_above.then_some("the gate lies below it")
    }

    /// The names of a folder's entries that are guarded, or have a guarded path below them.
    pub(super) fn guarded_names_in(&self, folder: &Path, path: &str) -> Vec<String> {
        let found = resolve_both(folder, path);
        let below = |folder: &PathBuf| {
            let depth = path_parts(folder).len();
            let all = self.all_paths().filter(|path| is_below(path, folder));
            all.filter_map(|path| path_parts(path).into_iter().nth(depth)).collect::<Vec<_>>()
        };
        found.iter().flat_map(below).collect()
    }

    /// The names of guarded files and folders, and of the folders above them in the project.
    pub(super) fn guarded_names(&self) -> Vec<String> {
        let depth = self.project_depth();
        self.all_paths().flat_map(|path| path_parts(path).split_off(depth.min(path_parts(path).len() - 1))).collect()
    }

    fn resolved_path_reason(&self, path: &Path) -> Option<&'static str> {
        let parts: Vec<String> = path_parts(path).iter().map(|part| part.to_ascii_lowercase()).collect();
        let name = parts.last().map(String::as_str).unwrap_or_default();
        let above = parts.len().checked_sub(2).map(|index| parts[index].as_str());
        let in_folder = |(index, part): (usize, &String)| {
            part == GATE_FOLDER && parts.get(index + 1).is_none_or(|below| below != ARTIFACT_FOLDER)
        };
        let is_settings = (above == Some(AGENT_FOLDER) && is_settings_file(name)) || name == MANAGED_SETTINGS_FILE;
        if name == RUN_FILE || self.config.iter().any(|config| is_same_path(config, path)) {
            Some("it names the run")
        } else if parts.iter().enumerate().any(in_folder) {
            Some("it is in the folder of the gate")
        } else if self.is_store_file(path) {
            Some("it is where runs are kept")
        } else if self.processes.iter().any(|folder| is_below(path, folder)) {
            Some("processes are read from there")
        } else if SERVER_FILES.contains(&name) {
            Some("it says as whom the gate is called")
        } else if is_settings || self.usual.iter().any(|usual| is_same_path(usual, path)) {
            Some("it installs the hooks")
        } else {
            None
        }
    }

    /// Whether a path is the store's file, or a file next to it whose name begins with the same name, such as its WAL.
    fn is_store_file(&self, path: &Path) -> bool {
        let is_beside = |store: &PathBuf| match (store.parent(), path.parent()) {
            (Some(store), Some(path)) => is_same_path(store, path),
            _ => false,
        };
        let is_named = |store: &PathBuf| file_name(path).to_lowercase().starts_with(&file_name(store).to_lowercase());
        self.store.iter().any(|store| is_beside(store) && is_named(store))
    }

    /// Whether a path is the store's folder, and the folder is for the store alone: not above the project, the home or
    /// the temporary folder.
    fn is_store_folder(&self, path: &Path) -> bool {
        let others = [Some(self.project.clone()), std::env::home_dir(), Some(std::env::temp_dir())];
        let is_shared = others.iter().flatten().any(|other| is_below(other, path));
        !is_shared && self.store.iter().filter_map(|store| store.parent()).any(|folder| is_same_path(folder, path))
    }

    fn is_in_project(&self, path: &Path) -> bool {
        let projects = [self.project.clone(), resolve_paths::resolve_links(&self.project, ".")];
        projects.iter().any(|project| is_below(path, project) && !is_same_path(path, project))
    }

    fn is_above_guarded(&self, path: &Path) -> bool {
        self.all_paths().any(|guarded| is_below(guarded, path))
    }

    fn all_paths(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.store, &self.config, &self.processes, &self.program, &self.usual].into_iter().flatten()
    }

    /// How many parts the path of the project has.
    fn project_depth(&self) -> usize {
        path_parts(&self.project).len()
    }

    /// The names of the store's file.
    pub(super) fn store_names(&self) -> impl Iterator<Item = String> {
        self.store.iter().map(|store| file_name(store)).filter(|name| !name.is_empty())
    }

    /// The names of the program.
    pub(super) fn program_names(&self) -> impl Iterator<Item = String> {
        self.program.iter().map(|program| file_name(program))
    }

    /// The guarded files that exist, to match patterns against.
    pub(super) fn existing_files(&self) -> Vec<&PathBuf> {
        let files = [&self.store, &self.config, &self.usual].into_iter().flatten();
        files.filter(|path| path.symlink_metadata().is_ok()).collect()
    }
}

/// The usual paths of the gate's files and of the agent's settings, in these folders and in the user's home.
fn usual_files(folders: &[&PathBuf]) -> Vec<PathBuf> {
    let in_settings = ["settings.json", "settings.local.json"];
    let mut files = Vec::new();
    for folder in folders {
        files.extend([GATE_FOLDER, RUN_FILE, SERVER_FILES[0]].map(|name| folder.join(name)));
        files.extend(in_settings.map(|name| folder.join(AGENT_FOLDER).join(name)));
    }
    if let Some(home) = std::env::home_dir() {
        files.extend(in_settings.map(|name| home.join(AGENT_FOLDER).join(name)));
        files.push(home.join(SERVER_FILES[1]));
    }
    if let Some(folder) = std::env::var_os(AGENT_FOLDER_VARIABLE).filter(|folder| !folder.is_empty()).map(PathBuf::from)
    {
        files.extend(in_settings.map(|name| folder.join(name)));
        files.push(folder.join(SERVER_FILES[1]));
    }
    files.push(Path::new("/etc/claude-code").join(MANAGED_SETTINGS_FILE));
    files.sort();
    files.dedup();
    files
}

/// A path resolved lexically, and with links followed.
fn resolve_both(folder: &Path, path: &str) -> [PathBuf; 2] {
    [resolve_paths::resolve_lexically(folder, path), resolve_paths::resolve_links(folder, path)]
}

fn file_name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A path in lower case, since some file systems ignore case.
fn to_lowercase_path(path: &Path) -> PathBuf {
    PathBuf::from(path.to_string_lossy().to_lowercase())
}

fn is_same_path(one: &Path, other: &Path) -> bool {
    to_lowercase_path(one) == to_lowercase_path(other)
}

/// Whether a path is a folder or lies below it.
fn is_below(path: &Path, folder: &Path) -> bool {
    to_lowercase_path(path).starts_with(to_lowercase_path(folder))
}

/// Whether a file in the agent's folder is a settings file.
fn is_settings_file(name: &str) -> bool {
    name.strip_suffix(".json").is_some_and(|stem| stem.starts_with("settings"))
}

pub(super) fn refusal_text(named: &str, what: &str) -> String {
    format!(
        "{} is not for an agent to touch: {what}. Evidence belongs into {GATE_FOLDER}/{ARTIFACT_FOLDER}; a run moves on by its events",
        skald_app::truncate_for_message(named)
    )
}

/// A text as a path, unless it is empty or too long to be one.
fn as_path(text: &str) -> Option<&str> {
    let text = text.strip_prefix("file://").unwrap_or(text).trim();
    (text.len() <= PATH_BYTES_MAX && !text.is_empty()).then_some(text)
}
