//! Refuses shell commands that change a folder in which, or below which, the gate's files are.

use std::path::{Path, PathBuf};

use skald_tool_calls::shell::{CommandLine, ShellCommand, Word};

use super::folder_changes::{
    FolderChange, changes, changes_more, find_name, git_folders, is_changing, is_reader, listed,
};
use super::guarded_paths::{Guarded, refusal};
use super::paths;
use super::patterns::{is_like, stands_for};
use super::shell::{BEFORE_PATHS, JOINTS};

/// Most folders that are tracked in one line: `cd` adds one.
const FOLDERS_MAX: usize = 16;
/// Programs that run code or commands of their own, given in an argument or on standard input.
const RUNS_CODE: &[&str] = &[
    "python",
    "python2",
    "python3",
    "pypy",
    "pypy3",
    "perl",
    "ruby",
    "node",
    "nodejs",
    "deno",
    "bun",
    "php",
    "lua",
    "luajit",
    "osascript",
    "rscript",
    "julia",
    "tclsh",
    "expect",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "gsed",
    "ed",
    "ex",
    "vi",
    "vim",
    "nvim",
    "view",
    "emacs",
    "nano",
    "sqlite3",
    "gdb",
    "lldb",
    "make",
    "m4",
    "bc",
    "dc",
    "jshell",
    "ghci",
    "irb",
    "psql",
];

pub(super) fn refuses(text: &str, line: &CommandLine, guarded: &Guarded) -> Option<String> {
    let all = line.all();
    let is_fed = all.iter().any(|command| changes_more(command));
    // A line that is not fully parsed, or that pipes paths to a program, may change every folder that it names.
    let is_followed = line.is_understood_throughout() && !is_fed;
    if let Some(why) = Some(text).filter(|_| !is_followed).and_then(|text| names_folder(text, guarded)) {
        return Some(why);
    }
    let is_understood = line.is_understood_throughout();
    if let Some(why) = Some(text).filter(|_| !is_understood).and_then(|text| may_change(text, guarded)) {
        return Some(why);
    }
    let mut folders = vec![guarded.working.clone()];
    for command in &all {
        if let Some(why) = folders.iter().find_map(|folder| refuses_command(command, folder, is_fed, guarded)) {
            return Some(why);
        }
        if folders.len() < FOLDERS_MAX {
            folders.extend(goes_to(command, folders.last().unwrap_or(&guarded.working)));
        }
    }
    None
}

/// The working folder after a command, if it is a `cd`.
fn goes_to(command: &ShellCommand, from: &Path) -> Option<PathBuf> {
    let goes = matches!(command.program().as_deref(), Some("cd" | "pushd" | "chdir"));
    let target = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
    let target = target.map_or("~", |word| word.text.as_str());
    goes.then(|| paths::by_letter(from, target))
}

fn refuses_command(command: &ShellCommand, folder: &Path, is_fed: bool, guarded: &Guarded) -> Option<String> {
    let folder = git_folders(command).iter().fold(folder.to_owned(), |folder, part| paths::by_letter(&folder, part));
    let is_reader = is_reader(command);
    named_words(command)
        .find_map(|word| {
            let piece = word.text.as_str();
            let named = guarded.at_from(&folder, piece).or_else(|| guarded.program_at(&folder, piece));
            let held = || {
                if word.has_pattern { guarded.folders_like(&folder, piece) } else { guarded.folder_at(&folder, piece) }
            };
            named.or_else(|| held().filter(|_| !is_reader)).map(|what| refusal(piece, what))
        })
        .or_else(|| code_names(command, is_reader, &folder, guarded))
        .or_else(|| changed(command, &folder, guarded))
        .or_else(|| fed(command, is_fed, &folder, guarded))
}

/// The words of a command that may be paths: whole, and the parts after characters such as `=`. The program is left
/// out.
fn named_words(command: &ShellCommand) -> impl Iterator<Item = Word> {
    let targets = command.redirections.iter().map(|redirection| &redirection.target);
    let words = command.words.iter().skip(1).chain(&command.assignments).chain(targets);
    words.flat_map(|word| {
        let pieces = std::iter::once(word.text.as_str()).chain(word.text.split(BEFORE_PATHS).skip(1));
        let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
        pieces.into_iter().map(|piece| Word { text: piece.to_owned(), ..word.clone() }).collect::<Vec<_>>()
    })
}

/// The refusal if code that a command runs names a guarded folder.
fn code_names(command: &ShellCommand, is_reader: bool, folder: &Path, guarded: &Guarded) -> Option<String> {
    let runs_code = command.program().is_none_or(|program| RUNS_CODE.contains(&program.as_str()));
    let words = command.words.iter().skip(1).map(|word| word.text.as_str()).filter(|_| runs_code);
    let input = command.input.as_deref().filter(|_| !is_reader);
    words.chain(input).find_map(|text| names_folder_in(text, folder, guarded))
}

/// The refusal if a text names a guarded folder anywhere.
fn names_folder(text: &str, guarded: &Guarded) -> Option<String> {
    names_folder_in(text, &guarded.working, guarded)
}

fn names_folder_in(text: &str, folder: &Path, guarded: &Guarded) -> Option<String> {
    pieces(text).find_map(|piece| guarded.folder_at(folder, piece).map(|what| refusal(piece, what)))
}

/// The refusal if a text names a folder above the gate, and also a program that moves or deletes folders.
fn may_change(text: &str, guarded: &Guarded) -> Option<String> {
    let is_program = |piece: &str| is_changing(piece.rsplit('/').next().unwrap_or(piece));
    let held = |piece: &str| guarded.holds(&guarded.working, piece).map(|what| refusal(piece, what));
    if pieces(text).any(is_program) { pieces(text).find_map(held) } else { None }
}

/// The pieces of a text that may be paths, split at quotes, brackets and separators.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| {
        let is_joint = JOINTS.contains(&letter) || BEFORE_PATHS.contains(&letter);
        is_joint || letter.is_whitespace() || "'\"[]+!".contains(letter)
    };
    text.split(ends).filter(|piece| !piece.is_empty())
}

/// The refusal if a command changes a folder above the gate, or overwrites a part of the gate.
fn changed(command: &ShellCommand, folder: &Path, guarded: &Guarded) -> Option<String> {
    let is_kept_to = |name: &str| guarded.names().iter().any(|guarded| is_like(name, guarded));
    if find_name(command).is_some_and(|name| !is_kept_to(&name)) {
        return None;
    }
    changes(command).into_iter().find_map(|change| match change {
        FolderChange::Whole(name) => guarded.holds(folder, &name).map(|what| refusal(&name, what)),
        FolderChange::Entries(name) => {
            let what = guarded.holds(folder, &name).or_else(|| guarded.at_from(folder, &name));
            what.map(|_| refusal(&name, "files of unknown names would be put over the gate; use a folder of their own"))
        }
        FolderChange::Entry { folder: target, name } => {
            let is_meant = |guarded: &String| stands_for(&name, guarded) || name.eq_ignore_ascii_case(guarded);
            let replaced = guarded.names_below(folder, &target).into_iter().find(is_meant);
            let path = format!("{}/{name}", target.trim_end_matches('/'));
            let what =
                replaced.map(|_| "it is a part of the gate, or holds one").or_else(|| guarded.at_from(folder, &path));
            what.map(|what| refusal(&path, what))
        }
    })
}

/// The refusal if a command lists a folder above the gate for a command that changes its input, as in `ls | xargs rm`.
fn fed(command: &ShellCommand, is_fed: bool, folder: &Path, guarded: &Guarded) -> Option<String> {
    if !is_fed || !is_reader(command) || command.words.is_empty() {
        return None;
    }
    let (names, kept_to) = listed(command);
    let is_meant = kept_to.is_none_or(|kept_to| guarded.names().iter().any(|name| is_like(&kept_to, name)));
    names
        .into_iter()
        .filter(|_| is_meant)
        .find_map(|name| guarded.holds(folder, &name).map(|what| refusal(&name, what)))
}
