//! Normal form of a command, for matching it against denied patterns. It drops the program's folder, quotes, capital
//! letters and options before the subcommand, so that `/usr/bin/git -C . Push` is `git push`.

use super::inner_commands::index_after_options;
use super::programs::{CODE_LETTERS, PROGRAM_OPTIONS, ProgramOptions, TAKES_VARIABLES, WITH_SUBCOMMANDS, WRAPPERS};
use super::{CommandLine, ShellCommand, Word, lexer};

impl ShellCommand {
    /// The normal forms of the command: with and without the options before the subcommand.
    pub fn normal_forms(&self) -> Vec<String> {
        let Some(program) = self.program() else { return Vec::new() };
        let form = |from: usize| {
            let words = self.words.get(from..).unwrap_or_default().iter().map(|word| word.text.to_lowercase());
            let words = std::iter::once(program.clone()).chain(words);
            words.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut forms = vec![form(1)];
        if let Some(at) = subcommand_index(&program, &self.words)
            && at > 1
        {
            forms.push(form(at));
            // The word after an unknown option may be its value.
            if is_unknown_option(&program, &self.words[at - 1]) {
                forms.push(form(at + 1));
            }
        }
        forms
    }

    /// Index of the first argument that is no option: the subcommand, or the command that it runs, if it has one. The
    /// index may be past the end.
    pub fn first_argument_index(&self) -> Option<usize> {
        let program = self.program()?;
        let wrapped =
            || WRAPPERS.iter().find(|wrapper| wrapper.name == program).map(|found| found.command_index(&self.words));
        let at = subcommand_index(&program, &self.words).or_else(wrapped);
        Some(at.unwrap_or_else(|| index_after_options(&self.words, 1, &[])))
    }

    /// Whether the program or its subcommand is known only when the line runs.
    pub fn is_subcommand_unknown(&self) -> bool {
        let Some(program) = self.program() else { return !self.words.is_empty() };
        let Some(at) = subcommand_index(&program, &self.words) else { return false };
        let before = &self.words[1..at.min(self.words.len())];
        // An option may set an alias; an unknown word without quotes may expand to several, the subcommand among them.
        let is_open = |(place, word): (usize, &Word)| {
            let is_one_word = word.source.len() > 1 && word.source.starts_with('"') && word.source.ends_with('"');
            let sets = word.text.starts_with("-c") || (place > 0 && before[place - 1].text == "-c");
            word.text.starts_with("--config-env") || (!word.is_literal && (!is_one_word || sets))
        };
        before.iter().enumerate().any(is_open)
            || self.words.get(at).map_or(self.has_more_words, |word| !word.is_literal || word.has_pattern)
    }

    /// Index of the option that gives a program code, or names a program to run: `python -c`, `cargo --config`.
    pub fn program_option_index(&self) -> Option<usize> {
        let program = self.program()?;
        let subcommand = subcommand_index(&program, &self.words).and_then(|at| self.words.get(at));
        let letters = CODE_LETTERS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, letters)| *letters);
        let of_program: Vec<&ProgramOptions> = PROGRAM_OPTIONS
            .iter()
            .filter(|entry| entry.names.contains(&program.as_str()))
            .filter(|entry| entry.subcommand.is_empty() || subcommand.is_some_and(|word| word.text == entry.subcommand))
            .collect();
        let mut has_arguments = false;
        for (at, word) in self.words.iter().enumerate().skip(1) {
            let is_variable = TAKES_VARIABLES.contains(&program.as_str()) && lexer::is_assignment(&word.text);
            let options = of_program.iter().filter(|entry| !(entry.is_before_arguments && has_arguments));
            let is_named = options.flat_map(|entry| entry.options).any(|option| is_option(&word.text, option));
            let is_cluster = !has_arguments && is_option_cluster(&word.text, letters);
            if is_variable || is_named || is_cluster {
                return Some(at);
            }
            if word.text == "--" {
                return None;
            }
            has_arguments |= !word.text.starts_with('-');
        }
        None
    }
}

impl CommandLine {
    /// Whether a program runs that the line does not name: `$x`, `eval "$x"`, `… | sh`.
    pub fn has_unknown_program(&self) -> bool {
        self.commands.iter().any(|command| {
            let inner_is_unknown = |line: &CommandLine| line.has_unknown_program();
            (command.program().is_none() && !command.words.is_empty())
                || command.inner.iter().any(|inner| inner.line.as_ref().is_none_or(inner_is_unknown))
        })
    }
}

/// Index of the subcommand of a program, if the program has subcommands.
pub(super) fn subcommand_index(program: &str, words: &[Word]) -> Option<usize> {
    let (_, valued) = WITH_SUBCOMMANDS.iter().find(|(name, _)| *name == program)?;
    Some(index_after_options(words, 1, valued))
}

fn is_unknown_option(program: &str, word: &Word) -> bool {
    let valued = WITH_SUBCOMMANDS.iter().find(|(name, _)| *name == program).map_or(&[][..], |(_, valued)| *valued);
    word.text.starts_with('-') && !word.text.contains('=') && !valued.contains(&word.text.as_str())
}

/// Whether a word is an option, alone or with its value attached.
fn is_option(text: &str, option: &str) -> bool {
    let Some(rest) = text.strip_prefix(option) else { return false };
    let is_short = option.len() < 3 && !option.starts_with("--");
    rest.is_empty() || rest.starts_with('=') || is_short
}

fn is_option_cluster(text: &str, letters: &[char]) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.contains(letters)
}
