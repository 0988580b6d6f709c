//! Command lines that name what is guarded, or that call the gate as somebody else.
//!
//! A shell has more ways to hide a name than can be read here. This holds back what is said plainly, by its words; a
//! process that wants to be sure lets no shell, or only commands that it lists.

use std::collections::BTreeSet;
use std::path::Path;

use super::guarded::{ARTIFACTS, FOLDER, Guarded, NAMING, SETTINGS, refusal};
use super::paths;

/// What ends a word, or begins another command.
const JOINTS: &[char] = &[';', '&', '|', '`', '(', ')', '{', '}', '<', '>'];
/// What may stand before a path in its word.
const BEFORE_PATHS: &[char] = &['=', ',', ':', '@'];
/// Variables that say as whom the gate is called.
const VARIABLES: [&str; 2] = ["SKALD_ROLE", "SKALD_TOKEN"];

pub(super) fn refuses(command: &str, guarded: &Guarded) -> Option<String> {
    let plain = unquoted(command);
    let words: BTreeSet<&str> = plain
        .split(|letter: char| letter.is_whitespace() || JOINTS.contains(&letter))
        .filter(|word| !word.is_empty())
        .collect();
    as_another(&plain, &words).or_else(|| {
        let goes_up = words.iter().any(|word| word.split('/').any(|part| part == ".."));
        if is_in_settings(&words) {
            return Some(refusal(SETTINGS, "it installs the hooks"));
        }
        let pieces = words.iter().flat_map(|word| std::iter::once(*word).chain(word.split(BEFORE_PATHS)));
        let pieces: BTreeSet<&str> = pieces.filter(|piece| !piece.is_empty()).collect();
        pieces.into_iter().find_map(|piece| names(piece, goes_up, guarded).map(|what| refusal(piece, what)))
    })
}

/// The command without what only keeps its words together.
fn unquoted(command: &str) -> String {
    let joined = command.replace("\\\n", "").replace("\\\r\n", "");
    let kept = joined.chars().filter(|letter| !matches!(letter, '\'' | '"'));
    if cfg!(windows) {
        kept.map(|letter| if letter == '\\' { '/' } else { letter }).collect()
    } else {
        kept.filter(|letter| *letter != '\\').collect()
    }
}

/// Why a command may not be run, if it calls the gate as somebody else, or lets the folder name another run.
fn as_another(plain: &str, words: &BTreeSet<&str>) -> Option<String> {
    let is_skald = |word: &&&str| {
        let name = word.rsplit('/').next().unwrap_or(word);
        name == "skald" || name == "skald.exe"
    };
    let calls = words.iter().any(|word| is_skald(&word));
    let has = |option: &str| words.iter().any(|word| word.split('=').next() == Some(option));
    let why = if VARIABLES.iter().any(|name| plain.contains(name))
        || ((calls || has("gate")) && (has("--role") || has("--token")))
    {
        "an agent calls the gate as what it is: leave the role and the token out"
    } else if calls && has("token") {
        "an agent makes no tokens: ask a person"
    } else if has("create-run") && ["--write-config", "--config-path", "--force"].into_iter().any(has) {
        "an agent does not choose the run that its folder names: leave --write-config out, or ask a person"
    } else {
        return None;
    };
    Some(why.to_owned())
}

/// What a word names of what is guarded, if it does.
fn names(word: &str, goes_up: bool, guarded: &Guarded) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    if lower.contains(NAMING) {
        return Some("it names the run");
    }
    if lower.match_indices(FOLDER).any(|(index, found)| !is_artifact(&lower[index + found.len()..])) {
        return Some("it is in the folder of the gate");
    }
    if goes_up && lower.contains(FOLDER) {
        return Some("with .. in the same command it may be anything of the gate's");
    }
    if word.rsplit('/').next().is_some_and(|name| guarded.store_names().any(|store| is_beside(name, &store))) {
        return Some("it is where runs are kept");
    }
    if lower.contains(".claude/settings") {
        return Some("it installs the hooks");
    }
    guarded.at(word).or_else(|| is_matched(word, guarded).then_some("it stands for something of the gate's"))
}

/// Whether a command goes to the folder of an agent's settings and names one of them there.
fn is_in_settings(words: &BTreeSet<&str>) -> bool {
    let goes = words.iter().any(|word| word.trim_end_matches('/').to_ascii_lowercase().ends_with(SETTINGS));
    goes && words.iter().any(|word| word.trim_start_matches("./").to_ascii_lowercase().starts_with("settings"))
}

/// Whether a file has the store's name, or lies beside it under that name as its log does.
fn is_beside(name: &str, store: &str) -> bool {
    name.strip_prefix(store).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

/// Whether what follows the folder's name leads to the artifacts.
fn is_artifact(rest: &str) -> bool {
    rest.strip_prefix('/')
        .and_then(|rest| rest.strip_prefix(ARTIFACTS))
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest.starts_with(BEFORE_PATHS))
}

/// Whether a pattern stands for anything that is guarded and there.
fn is_matched(word: &str, guarded: &Guarded) -> bool {
    if !word.contains(['*', '?', '[']) {
        return false;
    }
    let pattern = parts(&paths::by_letter(&guarded.working, word));
    guarded.present().iter().any(|path| {
        let path = parts(path);
        let is_deep_enough = pattern.len() >= path.len();
        let is_artifact = path.last().is_some_and(|name| name == FOLDER)
            && pattern.get(path.len()).is_some_and(|part| part == ARTIFACTS);
        is_deep_enough && !is_artifact && pattern.iter().zip(&path).all(|(pattern, name)| stands_for(pattern, name))
    })
}

fn parts(path: &Path) -> Vec<String> {
    path.components().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
}

/// Whether a part of a pattern stands for a name, as shells have it: a name that begins with a dot is meant only by a
/// pattern that does. A class of letters is taken for any letter.
fn stands_for(pattern: &str, name: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let mut letters = Vec::new();
    let mut rest = pattern.chars();
    while let Some(letter) = rest.next() {
        match letter {
            '[' => {
                rest.by_ref().find(|letter| *letter == ']');
                letters.push('?');
            }
            letter => letters.push(letter),
        }
    }
    let name: Vec<char> = name.chars().collect();
    let (mut at, mut place) = (0, 0);
    let mut back: Option<(usize, usize)> = None;
    while place < name.len() {
        match (letters.get(at), back) {
            (Some('*'), _) => {
                back = Some((at + 1, place));
                at += 1;
            }
            (Some(letter), _) if *letter == '?' || *letter == name[place] => {
                at += 1;
                place += 1;
            }
            (_, Some((after, seen))) => {
                back = Some((after, seen + 1));
                (at, place) = (after, seen + 1);
            }
            (_, None) => return false,
        }
    }
    letters[at..].iter().all(|letter| *letter == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_stand_for_names_as_in_a_shell() {
        for (pattern, name) in
            [(".st*", FOLDER), ("state-*", NAMING), ("s?ate*json", NAMING), (".[rst]tate_gate", FOLDER)]
        {
            assert!(stands_for(pattern, name), "{pattern}");
        }
        for (pattern, name) in [("*", FOLDER), ("*.rs", NAMING), ("state", NAMING), (".?", FOLDER)] {
            assert!(!stands_for(pattern, name), "{pattern}");
        }
    }

    #[test]
    fn nobody_calls_the_gate_as_somebody_else() {
        let refused = |command: &str| {
            let plain = unquoted(command);
            as_another(&plain, &plain.split_whitespace().collect()).is_some()
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
        ] {
            assert!(refused(command), "{command}");
        }
        for command in
            ["skald gate get-state", "skald gate create-run --process-id a", "gh auth --token x", "cargo test token"]
        {
            assert!(!refused(command), "{command}");
        }
    }
}
