//! Folder changes by a shell command: moved or deleted folders, changed permissions, and files put into folders.

use skald_tool_calls::shell::{ShellCommand, Word};

/// A change of a folder by a command. Names are as written in the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FolderChange {
    /// The folder is moved, deleted, replaced or gets other permissions, with everything below it.
    Whole(String),
    /// A file or folder of this name, which may be a pattern, is put into the folder.
    Entry { folder: String, name: String },
    /// Files are put into the folder, under names that are not in the command.
    Entries(String),
}

/// Programs that move, delete or replace their arguments, or change their permissions.
const CHANGING_PROGRAMS: &[&str] = &[
    "rm",
    "rmdir",
    "unlink",
    "shred",
    "srm",
    "trash",
    "trash-put",
    "gio",
    "chmod",
    "chown",
    "chgrp",
    "chattr",
    "chflags",
    "setfacl",
    "chcon",
    "setfattr",
    "xattr",
    "truncate",
    "rename",
    "prename",
    "mount",
    "umount",
    "gzip",
    "bzip2",
    "xz",
    "zstd",
    "compress",
    "remove-item",
    "rename-item",
    "move-item",
    "del",
    "erase",
    "rd",
    "ren",
    "icacls",
    "takeown",
];
/// Programs that move, copy or link their first arguments into, or over, the last one.
const PLACING_PROGRAMS: [&str; 12] =
    ["mv", "gmv", "cp", "gcp", "ln", "gln", "install", "ginstall", "rsync", "scp", "ditto", "link"];
/// Those of them that move the first arguments, or make a link to them.
const MOVING_PROGRAMS: [&str; 5] = ["mv", "gmv", "ln", "gln", "link"];
/// Programs that leave existing folders as they are, so that they may name any.
const READING_PROGRAMS: &[&str] = &[
    "ls",
    "ll",
    "dir",
    "cat",
    "head",
    "tail",
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "rg",
    "ag",
    "find",
    "fd",
    "tree",
    "du",
    "df",
    "stat",
    "file",
    "test",
    "[",
    "[[",
    "cd",
    "pushd",
    "popd",
    "pwd",
    "echo",
    "printf",
    "diff",
    "cmp",
    "realpath",
    "readlink",
    "basename",
    "dirname",
    "mkdir",
    "true",
    "false",
    ":",
    "sort",
    "uniq",
    "md5sum",
    "sha256sum",
    "jq",
    "less",
    "more",
    "exa",
    "eza",
    "bat",
    "export",
];
/// Subcommands of git that leave the working files as they are.
const READING_GIT_COMMANDS: [&str; 14] = [
    "status",
    "diff",
    "log",
    "show",
    "add",
    "commit",
    "ls-files",
    "blame",
    "check-ignore",
    "grep",
    "branch",
    "fetch",
    "push",
    "rev-parse",
];

/// Whether a command leaves the folders that it names as they are.
pub(super) fn is_reading(command: &ShellCommand) -> bool {
    let Some(program) = command.program() else { return false };
    let actions = ["-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprintf", "-fls", "-x", "-X"];
    let acts = |word: &Word| actions.contains(&word.text.as_str());
    match program.as_str() {
        "git" => {
            git_subcommand(command).is_some_and(|at| READING_GIT_COMMANDS.contains(&command.words[at].text.as_str()))
        }
        "find" | "fd" => !command.words.iter().any(acts),
        program => READING_PROGRAMS.contains(&program),
    }
}

/// The folder changes of a command, for programs that are known here.
pub(super) fn folder_changes(command: &ShellCommand) -> Vec<FolderChange> {
    let Some(program) = command.program() else { return whole_changes(positional_arguments(command, 1, &[])) };
    match program.as_str() {
        name if CHANGING_PROGRAMS.contains(&name) => whole_changes(positional_arguments(command, 1, &[])),
        name if PLACING_PROGRAMS.contains(&name) => placing_changes(command, name),
        "tar" | "bsdtar" | "gtar" => tar_changes(command),
        "unzip" | "unar" | "7z" | "7za" | "7zr" | "7zz" | "unrar" | "rar" | "cpio" | "jar" | "ar" | "pax" => {
            unpack_changes(command, &program)
        }
        "zip" if has_option(command, &["-m", "--move"]) => whole_changes(positional_arguments(command, 1, &[])),
        "find" | "gfind" => find_changes(command),
        "git" => git_changes(command),
        _ => Vec::new(),
    }
}

/// Whether a program moves, deletes or replaces folders that it is given.
pub(super) fn is_changing_program(program: &str) -> bool {
    CHANGING_PROGRAMS.contains(&program) || PLACING_PROGRAMS.contains(&program)
}

/// Whether a command changes folders that it gets as arguments only at run time, as `xargs rm` does.
pub(super) fn is_changing_piped_paths(command: &ShellCommand) -> bool {
    command.has_more_words && command.program().is_some_and(|program| is_changing_program(&program))
}

/// The folders that a command lists: its arguments, or the working folder. With the pattern of `find -name`, if it
/// limits the list.
pub(super) fn listed_folders(command: &ShellCommand) -> (Vec<String>, Option<String>) {
    let program = command.program().unwrap_or_default();
    let names = if program == "find" { find_folders(command) } else { positional_arguments(command, 1, &[]) };
    let lists = matches!(program.as_str(), "ls" | "find" | "fd" | "tree" | "git");
    let names = if names.is_empty() && lists { vec![".".to_owned()] } else { names };
    (names, find_name_pattern(command))
}

fn whole_changes(names: Vec<String>) -> Vec<FolderChange> {
    names.into_iter().map(FolderChange::Whole).collect()
}

fn has_option(command: &ShellCommand, options: &[&str]) -> bool {
    command.words.iter().skip(1).any(|word| options.contains(&word.text.as_str()))
}

/// Whether a short option is given, also in a cluster such as `-rf`.
fn has_short_option(command: &ShellCommand, letter: char) -> bool {
    let is_cluster = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains(letter);
    command.words.iter().skip(1).any(|word| is_cluster(&word.text))
}

/// The arguments that are not options. An option in `valued` is followed by its value, which is skipped.
fn positional_arguments(command: &ShellCommand, from: usize, valued: &[&str]) -> Vec<String> {
    let (mut found, mut at, mut is_past) = (Vec::new(), from, false);
    while let Some(text) = command.words.get(at).map(|word| word.text.as_str()) {
        if is_past || !text.starts_with('-') || text == "-" {
            found.push(text.to_owned());
        } else if text == "--" {
            is_past = true;
        } else if valued.contains(&text) {
            at += 1;
        }
        at += 1;
    }
    found
}

/// The value of an option: `-C x`, `-Cx`, `--directory=x` or `--directory x`.
fn option_value(command: &ShellCommand, short: &str, long: &str) -> Option<String> {
    let words = &command.words;
    words.iter().enumerate().skip(1).find_map(|(at, word)| {
        let text = word.text.as_str();
        let next = || words.get(at + 1).map(|word| word.text.clone());
        if text == short || text == long {
            return next();
        }
        let joined = text.strip_prefix(long).and_then(|rest| rest.strip_prefix('='));
        let joined = joined.or_else(|| text.strip_prefix(short).filter(|_| !text.starts_with("--")));
        joined.map(str::to_owned)
    })
}

/// `mv a b folder`, `cp -t folder a b`, `rsync -a x/ folder`.
fn placing_changes(command: &ShellCommand, program: &str) -> Vec<FolderChange> {
    let valued = ["-t", "-S", "-m", "-o", "-g", "-e", "--target-directory", "--suffix", "--mode", "--exclude", "--rsh"];
    let mut sources = positional_arguments(command, 1, &valued);
    let target = option_value(command, "-t", "--target-directory").filter(|_| program != "rsync");
    let Some(folder) = target.or_else(|| sources.pop()) else { return Vec::new() };
    let mut found = if MOVING_PROGRAMS.contains(&program) || has_option(command, &["--remove-source-files"]) {
        whole_changes(sources.clone())
    } else {
        Vec::new()
    };
    let replaces =
        has_short_option(command, 'T') || has_option(command, &["--no-target-directory", "--delete", "--delete-after"]);
    if replaces && program != "rsync" || has_option(command, &["--delete", "--delete-after"]) {
        found.push(FolderChange::Whole(folder.clone()));
    }
    for source in sources {
        let is_content = source.ends_with("/.") || source == "." || (program == "rsync" && source.ends_with('/'));
        let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        found.push(if is_content || name == ".." {
            FolderChange::Entries(folder.clone())
        } else {
            FolderChange::Entry { folder: folder.clone(), name }
        });
    }
    found
}

fn tar_changes(command: &ShellCommand) -> Vec<FolderChange> {
    let first = command.words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
    let is_bundle = !first.starts_with('-') && first.contains('x');
    let is_long = has_option(command, &["--extract", "--get"]);
    if has_option(command, &["--remove-files"]) {
        return whole_changes(positional_arguments(command, 1, &["-f", "--file", "-C", "--directory"]));
    }
    if !is_bundle && !is_long && !has_short_option(command, 'x') {
        return Vec::new();
    }
    let is_absolute = has_short_option(command, 'P') || has_option(command, &["--absolute-names", "--absolute-paths"]);
    let folder = if is_absolute { "/".to_owned() } else { target_folder(command, "-C", "--directory") };
    vec![FolderChange::Entries(folder)]
}

fn unpack_changes(command: &ShellCommand, program: &str) -> Vec<FolderChange> {
    let first = command.words.get(1).map(|word| word.text.as_str()).unwrap_or_default();
    let (unpacks, option) = match program {
        "unzip" => (!["-l", "-t", "-v", "-z", "-Z", "-p", "-c"].iter().any(|option| first.starts_with(option)), "-d"),
        "unar" => (true, "-o"),
        "cpio" => (has_short_option(command, 'i') || has_option(command, &["--extract"]), "-D"),
        "pax" => (has_short_option(command, 'r'), "-s"),
        "jar" | "ar" => (first.contains('x'), "-C"),
        _ => (matches!(first, "x" | "e"), "-o"),
    };
    if unpacks { vec![FolderChange::Entries(target_folder(command, option, "--directory"))] } else { Vec::new() }
}

fn target_folder(command: &ShellCommand, short: &str, long: &str) -> String {
    option_value(command, short, long).unwrap_or_else(|| ".".to_owned())
}

/// `find` with `-delete`, or with a command that may change something.
fn find_changes(command: &ShellCommand) -> Vec<FolderChange> {
    let inner = command.inner.iter().filter_map(|inner| inner.line.as_ref());
    let acts = inner.flat_map(|line| line.all_commands()).any(|command| !is_reading(command));
    if acts || has_option(command, &["-delete"]) { whole_changes(find_folders(command)) } else { Vec::new() }
}

fn find_folders(command: &ShellCommand) -> Vec<String> {
    let words = command.words.iter().skip(1).map(|word| word.text.as_str());
    let words = words.skip_while(|text| matches!(*text, "-H" | "-L" | "-P"));
    let folders = words.take_while(|text| !text.starts_with('-') && !matches!(*text, "(" | "!" | ","));
    let folders: Vec<String> = folders.map(str::to_owned).collect();
    if folders.is_empty() { vec![".".to_owned()] } else { folders }
}

/// The pattern of `find -name`, unless another condition widens the result.
pub(super) fn find_name_pattern(command: &ShellCommand) -> Option<String> {
    let widens = ["-o", "-or", "!", "-not", ","];
    if command.program().as_deref() != Some("find") || has_option(command, &widens) {
        return None;
    }
    let at = command.words.iter().position(|word| matches!(word.text.as_str(), "-name" | "-iname"))?;
    command.words.get(at + 1).filter(|word| word.is_literal).map(|word| word.text.clone())
}

fn git_subcommand(command: &ShellCommand) -> Option<usize> {
    command.first_argument_index().filter(|at| *at < command.words.len())
}

/// The folders of git's `-C` options; each is relative to the one before.
pub(super) fn git_folders(command: &ShellCommand) -> Vec<String> {
    let end = git_subcommand(command).unwrap_or(command.words.len());
    let words = &command.words[..end];
    let after = words.windows(2).filter(|pair| pair[0].text == "-C").map(|pair| pair[1].text.clone());
    if command.program().as_deref() == Some("git") { after.collect() } else { Vec::new() }
}

fn git_changes(command: &ShellCommand) -> Vec<FolderChange> {
    let Some(at) = git_subcommand(command) else { return Vec::new() };
    let named = |valued: &[&str]| positional_arguments(command, at + 1, valued);
    let or_here = |names: Vec<String>| whole_changes(if names.is_empty() { vec![".".to_owned()] } else { names });
    let is_staged_only = has_option(command, &["--staged", "-S"]) && !has_option(command, &["--worktree", "-W"]);
    match command.words[at].text.as_str() {
        "rm" if !has_option(command, &["--cached", "-n", "--dry-run"]) => whole_changes(named(&[])),
        "mv" => whole_changes(named(&[])),
        "checkout" => whole_changes(named(&["-b", "-B", "--orphan"])),
        "restore" if !is_staged_only => whole_changes(named(&["-s", "--source"])),
        "clean" if !has_short_option(command, 'n') && !has_option(command, &["--dry-run"]) => {
            or_here(named(&["-e", "--exclude"]))
        }
        "stash"
            if has_short_option(command, 'u')
                || has_short_option(command, 'a')
                || has_option(command, &["--all", "--include-untracked"]) =>
        {
            let given = named(&["-m", "--message"]);
            or_here(given.into_iter().filter(|name| !matches!(name.as_str(), "push" | "save")).collect())
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_changes(line: &str) -> Vec<FolderChange> {
        skald_tool_calls::shell::read(line).all_commands().into_iter().flat_map(folder_changes).collect()
    }

    fn entry(folder: &str, name: &str) -> FolderChange {
        FolderChange::Entry { folder: folder.to_owned(), name: name.to_owned() }
    }

    #[test]
    fn what_programs_do_to_folders_is_known() {
        let gone = |name: &str| FolderChange::Whole(name.to_owned());
        let filled = |name: &str| FolderChange::Entries(name.to_owned());
        for (line, expected) in [
            ("rm -rf a b", vec![gone("a"), gone("b")]),
            ("chmod -R 777 .", vec![gone("777"), gone(".")]),
            ("mv a b", vec![gone("a"), entry("b", "a")]),
            ("mv -t b a", vec![gone("a"), entry("b", "a")]),
            ("cp -r /x/y b", vec![entry("b", "y")]),
            ("cp -r x/. b", vec![filled("b")]),
            ("cp -rT x b", vec![gone("b"), entry("b", "x")]),
            ("rsync -a x/ b", vec![filled("b")]),
            ("rsync -a --delete x b", vec![gone("b"), entry("b", "x")]),
            ("tar xf a.tar", vec![filled(".")]),
            ("tar -xzf a.tgz -C b", vec![filled("b")]),
            ("tar --extract --directory=b -f a", vec![filled("b")]),
            ("tar -tf a.tar", vec![]),
            ("unzip a.zip -d b", vec![filled("b")]),
            ("unzip -l a.zip", vec![]),
            ("7z x a.7z -ob", vec![filled("b")]),
            ("find a -delete", vec![gone("a")]),
            ("find -name x -exec ls {} +", vec![]),
            ("git clean -fdx", vec![gone(".")]),
            ("git clean -n", vec![]),
            ("git checkout -- a", vec![gone("a")]),
            ("git restore --staged .", vec![]),
            ("git stash -u", vec![gone(".")]),
            ("git status", vec![]),
            ("$x a", vec![gone("a")]),
            ("ls a", vec![]),
        ] {
            assert_eq!(parse_changes(line), expected, "{line}");
        }
        assert_eq!(parse_changes("find a -exec rm {} +"), [gone("a"), gone("{}")]);
        assert_eq!(
            find_name_pattern(&skald_tool_calls::shell::read("find . -name '*.rs'").commands[0]),
            Some("*.rs".to_owned())
        );
        assert_eq!(find_name_pattern(&skald_tool_calls::shell::read("find . -name a -o -name b").commands[0]), None);
    }
}
