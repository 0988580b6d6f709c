//! Refuses shell commands that change a folder in which, or below which, the gate's files are.

use std::path::{Path, PathBuf};

use skald_tool_calls::shell::{CommandLine, ShellCommand, Word};

use super::command_folder_changes::{
    FolderChange, find_name_pattern, folder_changes, git_folders, is_changing_piped_paths, is_changing_program,
    is_reading, listed_folders,
};
use super::guarded_paths::{GuardedPaths, refusal_text};
use super::match_globs::{is_glob_match, is_name_match};
use super::refuse_command_line::{PATH_PREFIXES, WORD_SEPARATORS};
use super::resolve_paths;

/// Most folders that are tracked in one line: `cd` adds one.
const FOLDERS_MAX: usize = 16;
/// Programs that run code or commands of their own, given in an argument or on standard input.
const CODE_PROGRAMS: &[&str] = &[
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

pub(super) fn refuse_commands(text: &str, line: &CommandLine, guarded: &GuardedPaths) -> Option<String> {
    let all = line.all_commands();
    let is_fed = all.iter().any(|command| is_changing_piped_paths(command));
    // A line that is not fully parsed, or that pipes paths to a program, may change every folder that it names.
    let is_followed = line.is_understood_throughout() && !is_fed;
    if let Some(why) = Some(text).filter(|_| !is_followed).and_then(|text| refuse_named_folder(text, guarded)) {
        return Some(why);
    }
    let is_understood = line.is_understood_throughout();
    if let Some(why) = Some(text).filter(|_| !is_understood).and_then(|text| refuse_possible_change(text, guarded)) {
        return Some(why);
    }
    let mut folders = vec![guarded.working.clone()];
    for command in &all {
        if let Some(why) = folders.iter().find_map(|folder| refuse_command(command, folder, is_fed, guarded)) {
            return Some(why);
        }
        if folders.len() < FOLDERS_MAX {
            folders.extend(folder_after(command, folders.last().unwrap_or(&guarded.working)));
        }
    }
    None
}

/// The working folder after a command, if it is a `cd`.
fn folder_after(command: &ShellCommand, from: &Path) -> Option<PathBuf> {
    let goes = matches!(command.program().as_deref(), Some("cd" | "pushd" | "chdir"));
    let target = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
    let target = target.map_or("~", |word| word.text.as_str());
    goes.then(|| resolve_paths::resolve_lexically(from, target))
}

fn refuse_command(command: &ShellCommand, folder: &Path, is_fed: bool, guarded: &GuardedPaths) -> Option<String> {
    let folder = git_folders(command)
        .iter()
        .fold(folder.to_owned(), |folder, part| resolve_paths::resolve_lexically(&folder, part));
    let is_reader = is_reading(command);
    path_words(command)
        .find_map(|word| {
            let piece = word.text.as_str();
            let named = guarded.path_reason_from(&folder, piece).or_else(|| guarded.program_reason(&folder, piece));
            let held = || {
                if word.has_pattern {
                    guarded.pattern_reason(&folder, piece)
                } else {
                    guarded.folder_reason(&folder, piece)
                }
            };
            named.or_else(|| held().filter(|_| !is_reader)).map(|what| refusal_text(piece, what))
        })
        .or_else(|| refuse_code(command, is_reader, &folder, guarded))
        .or_else(|| refuse_folder_change(command, &folder, guarded))
        .or_else(|| refuse_piped_folder(command, is_fed, &folder, guarded))
}

/// The words of a command that may be paths: whole, and the parts after characters such as `=`. The program is left
/// out.
fn path_words(command: &ShellCommand) -> impl Iterator<Item = Word> {
    let targets = command.redirections.iter().map(|redirection| &redirection.target);
    let words = command.words.iter().skip(1).chain(&command.assignments).chain(targets);
    words.flat_map(|word| {
        let pieces = std::iter::once(word.text.as_str()).chain(word.text.split(PATH_PREFIXES).skip(1));
        let pieces: Vec<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
        pieces.into_iter().map(|piece| Word { text: piece.to_owned(), ..word.clone() }).collect::<Vec<_>>()
    })
}

/// The refusal if code that a command runs names a guarded folder.
fn refuse_code(command: &ShellCommand, is_reader: bool, folder: &Path, guarded: &GuardedPaths) -> Option<String> {
    let runs_code = command.program().is_none_or(|program| CODE_PROGRAMS.contains(&program.as_str()));
    let words = command.words.iter().skip(1).map(|word| word.text.as_str()).filter(|_| runs_code);
    let input = command.input.as_deref().filter(|_| !is_reader);
    words.chain(input).find_map(|text| refuse_named_folder_from(text, folder, guarded))
}

/// The refusal if a text names a guarded folder anywhere.
fn refuse_named_folder(text: &str, guarded: &GuardedPaths) -> Option<String> {
    refuse_named_folder_from(text, &guarded.working, guarded)
}

fn refuse_named_folder_from(text: &str, folder: &Path, guarded: &GuardedPaths) -> Option<String> {
    path_pieces(text).find_map(|piece| guarded.folder_reason(folder, piece).map(|what| refusal_text(piece, what)))
}

/// The refusal if a text names a folder above the gate, and also a program that moves or deletes folders.
fn refuse_possible_change(text: &str, guarded: &GuardedPaths) -> Option<String> {
    let is_program = |piece: &str| is_changing_program(piece.rsplit('/').next().unwrap_or(piece));
    let held = |piece: &str| guarded.contents_reason(&guarded.working, piece).map(|what| refusal_text(piece, what));
    if path_pieces(text).any(is_program) { path_pieces(text).find_map(held) } else { None }
}

/// The pieces of a text that may be paths, split at quotes, brackets and separators.
fn path_pieces(text: &str) -> impl Iterator<Item = &str> {
    let ends = |letter: char| {
        let is_joint = WORD_SEPARATORS.contains(&letter) || PATH_PREFIXES.contains(&letter);
        is_joint || letter.is_whitespace() || "'\"[]+!".contains(letter)
    };
    text.split(ends).filter(|piece| !piece.is_empty())
}

/// The refusal if a command changes a folder above the gate, or overwrites a part of the gate.
fn refuse_folder_change(command: &ShellCommand, folder: &Path, guarded: &GuardedPaths) -> Option<String> {
    let is_kept_to = |name: &str| guarded.guarded_names().iter().any(|guarded| is_name_match(name, guarded));
    if find_name_pattern(command).is_some_and(|name| !is_kept_to(&name)) {
        return None;
    }
    folder_changes(command).into_iter().find_map(|change| match change {
        FolderChange::Whole(name) => guarded.contents_reason(folder, &name).map(|what| refusal_text(&name, what)),
        FolderChange::Entries(name) => {
            let what = guarded.contents_reason(folder, &name).or_else(|| guarded.path_reason_from(folder, &name));
            what.map(|_| {
                refusal_text(&name, "files of unknown names would be put over the gate; use a folder of their own")
            })
        }
        FolderChange::Entry { folder: target, name } => {
            let is_meant = |guarded: &String| is_glob_match(&name, guarded) || name.eq_ignore_ascii_case(guarded);
            let replaced = guarded.guarded_names_in(folder, &target).into_iter().find(is_meant);
            let path = format!("{}/{name}", target.trim_end_matches('/'));
            let what = replaced
                .map(|_| "it is a part of the gate, or holds one")
                .or_else(|| guarded.path_reason_from(folder, &path));
            what.map(|what| refusal_text(&path, what))
        }
    })
}

/// The refusal if a command lists a folder above the gate for a command that changes its input, as in `ls | xargs rm`.
fn refuse_piped_folder(command: &ShellCommand, is_fed: bool, folder: &Path, guarded: &GuardedPaths) -> Option<String> {
    if !is_fed || !is_reading(command) || command.words.is_empty() {
        return None;
    }
    let (names, kept_to) = listed_folders(command);
    let is_meant =
        kept_to.is_none_or(|kept_to| guarded.guarded_names().iter().any(|name| is_name_match(&kept_to, name)));
    names
        .into_iter()
        .filter(|_| is_meant)
        .find_map(|name| guarded.contents_reason(folder, &name).map(|what| refusal_text(&name, what)))
}
