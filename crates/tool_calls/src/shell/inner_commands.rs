//! Finds the commands that a command runs: those of `sudo` and `xargs`, of `sh -c` and `eval`, and aliases of git.

use super::programs::{ADDS_WORDS, RESERVED, SHELLS, WRAPPERS, WRAPPING_SUBCOMMANDS, Wrapper};
use super::{CommandLine, InnerCommands, ShellCommand, Word, lexer, normal_form, read_nested};

/// The commands that a command runs, as far as they are written in the line.
pub(super) fn find(command: &ShellCommand, depth: usize) -> Vec<InnerCommands> {
    let Some(program) = command.program() else { return Vec::new() };
    let finder = Finder { command, words: &command.words, depth };
    match program.as_str() {
        name if RESERVED.contains(&name) => finder.command_from(1, false),
        name if SHELLS.contains(&name) => finder.shell_commands(),
        "eval" => finder.line_from(1),
        "watch" => finder.line_from(index_after_options(finder.words, 1, &["-n", "--interval"])),
        "trap" => finder.line_at(index_after_options(finder.words, 1, &[])),
        "alias" => finder.alias_commands(),
        "source" | "." => finder.sourced_commands(),
        "su" | "script" => finder.option_lines(&["-c", "--command"]),
        "ssh" | "at" | "batch" => vec![InnerCommands { at: 0, line: None }],
        "find" | "gfind" => finder.find_actions(),
        "fd" | "fdfind" => finder.command_after_option(&["-x", "-X", "--exec", "--exec-batch"]),
        "git" => finder.git_commands(),
        name if name.starts_with("python") || name.starts_with("pypy") => finder.command_after_option(&["-m"]),
        name => finder.wrapped_command(name),
    }
}

/// Index of the first word after the options. Options of `valued` are followed by a value.
pub(super) fn index_after_options(words: &[Word], from: usize, valued: &[&str]) -> usize {
    let mut at = from;
    while let Some(text) = words.get(at).map(|word| word.text.as_str()) {
        if text == "--" {
            return at + 1;
        }
        if !text.starts_with(['-', '+']) || text.len() < 2 {
            break;
        }
        at += if valued.contains(&text) { 2 } else { 1 };
    }
    at
}

impl Wrapper {
    /// Index of the command that it runs, if there is one.
    pub(super) fn command_index(&self, words: &[Word]) -> usize {
        let at = index_after_options(words, 1, self.valued);
        let sets = words.get(at..).unwrap_or_default().iter().take_while(|word| lexer::is_assignment(&word.source));
        at + sets.count() + self.operands
    }
}

struct Finder<'a> {
    command: &'a ShellCommand,
    words: &'a [Word],
    depth: usize,
}

impl Finder<'_> {
    /// The words from an index on, as a command.
    fn command_from(&self, at: usize, has_more_words: bool) -> Vec<InnerCommands> {
        self.command_at(at, self.words.len(), has_more_words)
    }

    fn command_at(&self, at: usize, end: usize, has_more_words: bool) -> Vec<InnerCommands> {
        let Some(words) = self.words.get(at..end).filter(|words| !words.is_empty()) else { return Vec::new() };
        if self.depth > super::DEPTH_MAX {
            return vec![InnerCommands { at, line: None }];
        }
        let mut command = ShellCommand {
            words: words.to_vec(),
            has_more_words: has_more_words || self.command.has_more_words,
            is_piped_into: self.command.is_piped_into,
            input: self.command.input.clone(),
            ..ShellCommand::default()
        };
        let assignments = command.words.iter().take_while(|word| lexer::is_assignment(&word.source)).count();
        command.assignments = command.words.drain(..assignments).collect();
        command.inner = find(&command, self.depth + 1);
        vec![InnerCommands { at, line: Some(CommandLine { commands: vec![command], is_understood: true }) }]
    }

    /// Parses a text as a command line. `is_known` is false if a part of the text is known only when it runs.
    fn parse_line(&self, at: usize, text: &str, is_known: bool) -> InnerCommands {
        let mut line = read_nested(text, self.depth + 1);
        line.is_understood &= is_known;
        InnerCommands { at, line: Some(line) }
    }

    fn line_at(&self, at: usize) -> Vec<InnerCommands> {
        self.words.get(at).map(|word| self.parse_line(at, &word.text, word.is_literal)).into_iter().collect()
    }

    fn line_from(&self, at: usize) -> Vec<InnerCommands> {
        let Some(words) = self.words.get(at..).filter(|words| !words.is_empty()) else { return Vec::new() };
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        vec![self.parse_line(at, &text, words.iter().all(|word| word.is_literal))]
    }

    /// The command lines in the values of an option: `-c LINE`, `--command=LINE` or `-cLINE`.
    fn option_lines(&self, options: &[&str]) -> Vec<InnerCommands> {
        let mut found = Vec::new();
        for (at, word) in self.words.iter().enumerate().skip(1) {
            let given = options.iter().find_map(|option| {
                let rest = word.text.strip_prefix(option)?;
                let is_short = !option.starts_with("--");
                if rest.is_empty() {
                    Some(None)
                } else if is_short {
                    Some(Some(rest))
                } else {
                    rest.strip_prefix('=').map(Some)
                }
            });
            match given {
                Some(Some(text)) => found.push(self.parse_line(at, text, word.is_literal)),
                Some(None) => found.extend(self.line_at(at + 1)),
                None => {}
            }
        }
        found
    }

    /// The command after an option.
    fn command_after_option(&self, options: &[&str]) -> Vec<InnerCommands> {
        let at = self.words.iter().position(|word| options.contains(&word.text.as_str()));
        at.map(|at| self.command_from(at + 1, false)).unwrap_or_default()
    }

    /// A shell runs a command line, a script, or its standard input.
    fn shell_commands(&self) -> Vec<InnerCommands> {
        let (mut at, mut takes_line, mut reads) = (1, false, false);
        while let Some(text) = self.words.get(at).map(|word| word.text.as_str()) {
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with(['-', '+']) || text == "-" {
                break;
            }
            let letters = if text.starts_with("--") { "" } else { &text[1..] };
            takes_line |= letters.contains('c') || text == "--command";
            reads |= letters.contains('s');
            let has_value = letters.ends_with(['o', 'O']) || matches!(text, "--rcfile" | "--init-file");
            at += if has_value { 2 } else { 1 };
        }
        let script = self.words.get(at);
        let reads = reads || script.is_none_or(|script| matches!(script.text.as_str(), "-" | "/dev/stdin"));
        match (takes_line, script) {
            (true, _) => self.line_at(at),
            (false, Some(script)) if !reads && script.is_literal => Vec::new(),
            (false, _) => match &self.command.input {
                Some(input) => vec![self.parse_line(at, input, !self.command.is_piped_into)],
                None => vec![InnerCommands { at, line: None }],
            },
        }
    }

    fn sourced_commands(&self) -> Vec<InnerCommands> {
        let is_file = |word: &Word| word.is_literal && word.text != "/dev/stdin";
        match self.words.get(1) {
            None => Vec::new(),
            Some(word) if is_file(word) => Vec::new(),
            Some(_) => vec![InnerCommands { at: 1, line: None }],
        }
    }

    fn alias_commands(&self) -> Vec<InnerCommands> {
        let words = self.words.iter().enumerate().skip(1);
        let values = words.filter_map(|(at, word)| Some((at, word.text.split_once('=')?.1, word.is_literal)));
        values.map(|(at, text, is_literal)| self.parse_line(at, text, is_literal)).collect()
    }

    /// `find … -exec COMMAND ;`
    fn find_actions(&self) -> Vec<InnerCommands> {
        let is_action = |word: &Word| matches!(word.text.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
        let ends = |word: &Word| matches!(word.text.as_str(), ";" | "+");
        let (mut found, mut at) = (Vec::new(), 1);
        while let Some(action) = self.words.get(at..).and_then(|words| words.iter().position(is_action)) {
            let begin = at + action + 1;
            let count = self.words[begin..].iter().position(ends).unwrap_or(self.words.len() - begin);
            found.extend(self.command_at(begin, begin + count, true));
            at = begin + count;
        }
        found
    }

    /// Aliases that `-c` sets, and subcommands that run a command.
    fn git_commands(&self) -> Vec<InnerCommands> {
        let at = normal_form::subcommand_index("git", self.words).unwrap_or(self.words.len());
        let Some(subcommand) = self.words.get(at) else { return Vec::new() };
        let alias = format!("alias.{}=", subcommand.text);
        let before = self.words.iter().enumerate().take(at);
        let mut aliased = before.filter_map(|(place, word)| {
            let text = word.text.strip_prefix("-c").unwrap_or(&word.text);
            let is_alias = text.to_lowercase().starts_with(&alias.to_lowercase());
            is_alias.then(|| (place, text[alias.len()..].to_owned()))
        });
        let rest = |from: usize| self.words.get(from..).unwrap_or_default();
        let joined = |words: &[Word]| words.iter().map(|word| word.source.as_str()).collect::<Vec<_>>().join(" ");
        // If an alias is set twice, the last one counts.
        let aliased = aliased.next_back().map(|(place, value)| match value.strip_prefix('!') {
            Some(line) => self.parse_line(place, &format!("{line} {}", joined(rest(at + 1))), true),
            None => self.parse_line(place, &format!("git {value} {}", joined(rest(at + 1))), true),
        });
        let mut found: Vec<InnerCommands> = aliased.into_iter().collect();
        let named = |name: &str| rest(at + 1).first().is_some_and(|word| word.text == name);
        match subcommand.text.as_str() {
            "bisect" if named("run") => found.extend(self.command_from(at + 2, false)),
            "submodule" if named("foreach") => {
                found.extend(self.line_from(index_after_options(self.words, at + 2, &[])));
            }
            "rebase" => found.extend(self.option_lines(&["-x", "--exec"])),
            "filter-branch" => {
                for filter in ["--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter"] {
                    found.extend(self.option_lines(&[filter]));
                }
            }
            _ => {}
        }
        found
    }

    /// `sudo COMMAND`, `uv run COMMAND` and the like.
    fn wrapped_command(&self, name: &str) -> Vec<InnerCommands> {
        if let Some((_, subcommands, operands)) = WRAPPING_SUBCOMMANDS.iter().find(|(program, ..)| *program == name) {
            let at = normal_form::subcommand_index(name, self.words).unwrap_or(self.words.len());
            let is_one = self.words.get(at).is_some_and(|word| subcommands.contains(&word.text.as_str()));
            return if is_one {
                self.command_from(index_after_options(self.words, at + 1, &[]) + operands, false)
            } else {
                Vec::new()
            };
        }
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else { return Vec::new() };
        let is_lookup = |word: &Word| matches!(word.text.as_str(), "-v" | "-V");
        if name == "command" && self.words.get(1).is_some_and(is_lookup) {
            return Vec::new();
        }
        let mut found = match name {
            "env" => self.option_lines(&["-S", "--split-string"]),
            "flock" | "npx" | "runuser" => self.option_lines(&["-c", "--command", "--call"]),
            _ => Vec::new(),
        };
        if found.is_empty() {
            found = self.command_from(wrapper.command_index(self.words), ADDS_WORDS.contains(&name));
        }
        found
    }
}
