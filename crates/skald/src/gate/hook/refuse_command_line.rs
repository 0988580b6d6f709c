//! Refuses shell command lines that name guarded paths, change folders above them, or call the gate in another role.
//!
//! A line is checked twice: by its words, whatever they do, and by its commands, as the shell parser splits it. A shell
//! has more ways to hide a name than can be parsed; docs/gate-hooks.md says which are beyond a hook.

use std::collections::BTreeSet;

use skald_tool_calls::shell::{CommandLine, LINE_BYTES_MAX, ShellCommand, read};

use super::guarded_paths::{AGENT_FOLDER, ARTIFACT_FOLDER, GATE_FOLDER, GuardedPaths, RUN_FILE, refusal_text};
use super::match_globs::{is_path_match, path_parts};
use super::{refuse_folder_changes, resolve_paths};

/// Characters that end a word or begin another command.
pub(super) const WORD_SEPARATORS: &[char] = &[';', '&', '|', '`', '(', ')', '{', '}', '<', '>'];
/// Characters after which a path may begin inside a word.
pub(super) const PATH_PREFIXES: &[char] = &['=', ',', ':', '@'];
/// Environment variables that set the caller's role or token.
const IDENTITY_VARIABLES: [&str; 2] = ["SKALD_ROLE", "SKALD_TOKEN"];
/// Arguments of `claude` that start an agent without the hooks, or change the servers of this one.
const UNHOOKING_ARGUMENTS: [&str; 6] =
    ["--settings", "--setting-sources", "--dangerously-skip-permissions", "mcp", "config", "plugin"];

pub(super) fn refuse_command_line(text: &str, guarded: &GuardedPaths) -> Option<String> {
    if text.len() > LINE_BYTES_MAX {
        return Some(format!(
            "a text of more than {LINE_BYTES_MAX} bytes is too long to be read as a command; write a file"
        ));
    }
    let (plain, line) = (remove_quotes(text), read(text));
    let read_words = line.all_commands().into_iter().flat_map(|command| {
        let targets = command.redirections.iter().map(|redirection| &redirection.target);
        command.assignments.iter().chain(&command.words).chain(targets).map(|word| word.text.clone())
    });
    let read_words: Vec<String> = read_words.collect();
    let separate = |letter: char| letter.is_whitespace() || WORD_SEPARATORS.contains(&letter);
    let words = plain.split(separate).chain(read_words.iter().map(String::as_str));
    let words: BTreeSet<&str> = words.filter(|word| !word.is_empty()).collect();
    refuse_impersonation(&plain, &words)
        .or_else(|| line.all_commands().into_iter().find_map(|command| refuse_hidden_argument(command, guarded)))
        .or_else(|| refuse_named_path(&words, guarded))
        .or_else(|| refuse_program_lookup(&line, guarded))
        .or_else(|| refuse_folder_changes::refuse_commands(text, &line, guarded))
}

/// The refusal if a word names a guarded path, whatever the command does with it.
fn refuse_named_path(words: &BTreeSet<&str>, guarded: &GuardedPaths) -> Option<String> {
    let goes_up = words.iter().any(|word| word.split('/').any(|part| part == ".."));
    if has_settings_file(words) {
        return Some(refusal_text(AGENT_FOLDER, "it installs the hooks"));
    }
    let pieces = words.iter().flat_map(|word| std::iter::once(*word).chain(word.split(PATH_PREFIXES)));
    let pieces: BTreeSet<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
    pieces.into_iter().find_map(|piece| word_reason(piece, goes_up, guarded).map(|what| refusal_text(piece, what)))
}

/// The command without quotes, escapes and line continuations. This is no parser: names are searched in the whole text
/// as well, so that a line which the shell parser reads wrongly is refused all the same.
fn remove_quotes(command: &str) -> String {
    let joined = command.replace("\\\n", "").replace("\\\r\n", "");
    let kept = joined.chars().filter(|letter| !matches!(letter, '\'' | '"'));
    if cfg!(windows) {
        kept.map(|letter| if letter == '\\' { '/' } else { letter }).collect()
    } else {
        kept.filter(|letter| *letter != '\\').collect()
    }
}

/// The refusal if a command calls the gate with another role or token, makes tokens, changes the run that the folder
/// names, or starts an agent without the hooks.
fn refuse_impersonation(plain: &str, words: &BTreeSet<&str>) -> Option<String> {
    let is_program = |word: &str, name: &str| {
        let last = word.rsplit('/').next().unwrap_or(word);
        last.strip_suffix(".exe").unwrap_or(last) == name
    };
    let calls = |name: &str| words.iter().any(|word| is_program(word, name));
    let has = |option: &str| words.iter().any(|word| word.split('=').next() == Some(option));
    let why = if IDENTITY_VARIABLES.iter().any(|name| plain.contains(name))
        || ((calls("skald") || has("gate")) && (has("--role") || has("--token") || has("--token-file")))
    {
        "an agent calls the gate as what it is: leave the role and the token out"
    } else if calls("skald") && has("token") {
        "an agent makes no tokens: ask a person"
    } else if has("create-run") && ["--write-config", "--config-path", "--force"].into_iter().any(has) {
        "an agent does not choose the run that its folder names: leave --write-config out, or ask a person"
    } else if plain.contains("disableAllHooks") || (calls("claude") && UNHOOKING_ARGUMENTS.into_iter().any(has)) {
        "an agent starts no other without the hooks, and does not change its own settings: ask a person"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// The refusal if an argument of `skald` is known only at run time.
fn refuse_hidden_argument(command: &ShellCommand, guarded: &GuardedPaths) -> Option<String> {
    let program = command.program()?;
    let is_gate = program == "skald" || guarded.program_names().any(|name| name.to_lowercase() == program);
    let is_hidden = |(at, word): (usize, &skald_tool_calls::shell::Word)| {
        let is_one_word = word.source.contains('"');
        let before = &command.words[at - 1].text;
        let follows_option = before.starts_with("--") && !before.contains('=');
        let is_value = word.text.starts_with("--")
            && word.text.split(['=', '$']).next().is_some_and(|name| word.text[name.len()..].starts_with('='));
        !word.is_literal && !(is_one_word && (follows_option || is_value))
    };
    let words = command.words.iter().enumerate().skip(1);
    (is_gate && words.into_iter().any(is_hidden)).then(|| {
        "the arguments of skald are not known before it runs: write them out, each variable as \"$NAME\" after its option"
            .to_owned()
    })
}

/// The refusal if a line looks up the path of the hook's program, as with `which`, and has other commands too.
fn refuse_program_lookup(line: &CommandLine, guarded: &GuardedPaths) -> Option<String> {
    let all = line.all_commands();
    let looks_up = |command: &&ShellCommand| {
        let is_lookup = matches!(command.program().as_deref(), Some("which" | "whereis" | "type" | "command" | "hash"));
        let names = |word: &skald_tool_calls::shell::Word| guarded.program_names().any(|name| name == word.text);
        is_lookup && command.words.iter().skip(1).any(names)
    };
    let is_found = all.len() > 1 && all.iter().any(looks_up);
    is_found.then(|| refusal_text("skald", "it is the program of the hook"))
}

/// The reason why a word is refused, if it names a guarded path.
fn word_reason(word: &str, goes_up: bool, guarded: &GuardedPaths) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    if lower.contains(RUN_FILE) {
        return Some("it names the run");
    }
    if lower.match_indices(GATE_FOLDER).any(|(index, found)| !is_artifact_path(&lower[index + found.len()..])) {
        return Some("it is in the folder of the gate");
    }
    if goes_up && lower.contains(GATE_FOLDER) {
        return Some("with .. in the same command it may be anything of the gate's");
    }
    if word.rsplit('/').next().is_some_and(|name| guarded.store_names().any(|store| is_store_file_name(name, &store))) {
        return Some("it is where runs are kept");
    }
    if lower.contains(".claude/settings") {
        return Some("it installs the hooks");
    }
    guarded
        .path_reason(word)
        .or_else(|| is_guarded_match(word, guarded).then_some("it stands for something of the gate's"))
}

/// Whether a command names the folder of an agent's settings, and also a settings file.
fn has_settings_file(words: &BTreeSet<&str>) -> bool {
    let goes = words.iter().any(|word| word.trim_end_matches('/').to_ascii_lowercase().ends_with(AGENT_FOLDER));
    goes && words.iter().any(|word| word.trim_start_matches("./").to_ascii_lowercase().starts_with("settings"))
}

/// Whether a file name is the store's, or that of a file next to it, such as its WAL.
fn is_store_file_name(name: &str, store: &str) -> bool {
    name.strip_prefix(store).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Whether the rest of a path, after the gate's folder, leads to the artifacts.
fn is_artifact_path(rest: &str) -> bool {
    rest.strip_prefix('/')
        .and_then(|rest| rest.strip_prefix(ARTIFACT_FOLDER))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with(PATH_PREFIXES))
}

/// Whether a pattern matches a guarded file that exists.
fn is_guarded_match(word: &str, guarded: &GuardedPaths) -> bool {
    if !word.contains(['*', '?', '[']) {
        return false;
    }
    let pattern = path_parts(&resolve_paths::resolve_lexically(&guarded.working, word));
    guarded.existing_files().iter().any(|path| {
        let path = path_parts(path);
        let is_deep_enough = pattern.len() >= path.len();
        let is_artifact = path.last().is_some_and(|name| name == GATE_FOLDER)
            && pattern.get(path.len()).is_some_and(|part| part == ARTIFACT_FOLDER);
        is_deep_enough && !is_artifact && is_path_match(&pattern, &path)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both readings of a line find the same words, as long as nothing is expanded.
    #[test]
    #[cfg(not(windows))]
    fn the_text_without_quotes_has_the_words_that_the_parser_reads() {
        for command in [
            "rm -r 'notes'/\"a\"/b",
            "skald gate cancel \\\n --ro\"le\" human",
            "s\\kald --to'ken' x; sudo cat a && sh -c 'rm b'",
            "A=1 env B=2 cargo test > out.txt",
        ] {
            let (plain, line) = (remove_quotes(command), read(command));
            let is_separator = |letter: char| letter.is_whitespace() || WORD_SEPARATORS.contains(&letter);
            let plain: BTreeSet<&str> = plain.split(is_separator).collect();
            let read_words = line.all_commands().into_iter().flat_map(|command| &command.words);
            let read_words: Vec<&str> = read_words.flat_map(|word| word.text.split_whitespace()).collect();
            assert!(
                !read_words.is_empty() && read_words.iter().all(|word| plain.contains(word)),
                "{command}: {plain:?}"
            );
        }
    }

    #[test]
    fn nobody_calls_the_gate_as_somebody_else() {
        let refused = |command: &str| {
            let plain = remove_quotes(command);
            refuse_impersonation(&plain, &plain.split_whitespace().collect()).is_some()
        };
        for command in [
            "skald gate emit-event --event approve --role human",
            "skald gate emit-event --event approve --role=human",
            "skald gate cancel \\\n --ro\"le\" human",
            "/usr/bin/s'kald' gate get-state --token abc",
            "./copy gate cancel --role human",
            "SKALD_ROLE=human skald gate cancel",
            "export SKALD_TOKEN=x",
            "skald --log info token create me",
            "skald gate create-run --process-id lax --write-config",
            "claude -p x --settings y",
            "claude -p x --dangerously-skip-permissions",
        ] {
            assert!(refused(command), "{command}");
        }
        for command in [
            "skald gate get-state",
            "skald gate create-run --process-id a",
            "gh auth --token x",
            "cargo test token",
            "claude --version",
        ] {
            assert!(!refused(command), "{command}");
        }
    }
}
