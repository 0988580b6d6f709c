//! Lexer of shell command lines: commands, words, quotes, substitutions, redirections, here-documents.

use std::collections::BTreeMap;

use super::{CommandLine, Redirection, ShellCommand, Word, braces};

/// Redirection operators, the longest first.
const OPERATORS: [&str; 12] = ["&>>", "<<<", "<<-", "&>", "<<", ">>", "<>", ">|", ">&", "<&", "<", ">"];
/// First words of compound commands that the lexer does not support.
const UNSUPPORTED_WORDS: [&str; 3] = ["case", "function", "select"];
/// Commands that set variables of the shell.
const DECLARATIONS: [&str; 5] = ["export", "declare", "local", "readonly", "typeset"];
/// Maximum nesting of substitutions.
pub(super) const NESTED_MAX: usize = 40;

/// A letter of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Letter {
    pub letter: char,
    /// Whether quotes keep the shell from interpreting it.
    pub is_quoted: bool,
}

pub(super) fn read(text: &str, depth: usize) -> CommandLine {
    let mut lexer = Lexer::new(text, BTreeMap::new(), depth);
    lexer.read_commands_until(None);
    CommandLine { commands: lexer.commands, is_understood: lexer.is_understood }
}

pub(super) struct Lexer {
    pub letters: Vec<char>,
    pub at: usize,
    pub variables: Variables,
    pub commands: Vec<ShellCommand>,
    /// Here-documents whose text begins on the next line.
    pub documents: Vec<HereDocument>,
    pub is_understood: bool,
    pub nested: usize,
}

/// Variables that the line itself sets; `None` if it sets several values, since the one in effect is known only when it
/// runs.
pub(super) type Variables = BTreeMap<String, Option<String>>;

pub(super) struct HereDocument {
    delimiter: String,
    is_literal: bool,
    strips_tabs: bool,
    /// Index of the command that reads it.
    command: Option<usize>,
}

/// A word that is being read.
#[derive(Default)]
pub(super) struct WordDraft {
    pub letters: Vec<Letter>,
    pub is_unknown: bool,
    /// Whether an unquoted variable contains blanks, where the shell splits the word.
    pub is_split: bool,
    pub has_quotes: bool,
}

impl WordDraft {
    pub(super) fn push(&mut self, letter: char, is_quoted: bool) {
        self.letters.push(Letter { letter, is_quoted });
    }

    pub(super) fn push_quoted(&mut self, text: &str) {
        self.letters.extend(text.chars().map(|letter| Letter { letter, is_quoted: true }));
    }
}

impl Lexer {
    pub(super) fn new(text: &str, variables: Variables, nested: usize) -> Self {
        Self {
            letters: text.chars().collect(),
            at: 0,
            variables,
            commands: Vec::new(),
            documents: Vec::new(),
            is_understood: nested <= NESTED_MAX,
            nested,
        }
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.letters.get(self.at + ahead).copied()
    }

    fn is_next(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, letter)| self.peek(ahead) == Some(letter))
    }

    /// Reads commands up to a closing parenthesis, or to the end of the text.
    pub(super) fn read_commands_until(&mut self, end: Option<char>) {
        if self.nested > NESTED_MAX {
            self.at = self.letters.len();
            return;
        }
        let mut command = ShellCommand::default();
        loop {
            let Some(letter) = self.peek(0) else {
                self.is_understood &= end.is_none() && self.documents.is_empty();
                return self.finish_command(&mut command);
            };
            match letter {
                ' ' | '\t' => self.at += 1,
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\n' | '\r' => {
                    // A `\r` that does not end a line is part of a word.
                    self.is_understood &= letter == '\n' || matches!(self.peek(1), Some('\n') | None);
                    self.at += 1;
                    self.finish_command(&mut command);
                    self.read_here_documents();
                }
                '#' => self.skip_comment(),
                '&' | '<' | '>' if self.is_redirection() => self.read_redirection(&mut command),
                ';' | '&' => {
                    self.at += 1;
                    self.finish_command(&mut command);
                }
                '|' => {
                    self.at += 1;
                    self.finish_command(&mut command);
                    let is_pipe = self.peek(0) != Some('|');
                    self.at += usize::from(matches!(self.peek(0), Some('|' | '&')));
                    command.is_piped_into = is_pipe;
                }
                '(' => {
                    // A function, an array or a pattern of zsh, which are not supported.
                    self.is_understood &= command.words.is_empty() && command.assignments.is_empty();
                    self.at += 1;
                    self.finish_command(&mut command);
                    self.read_nested_commands(Some(')'));
                }
                ')' => {
                    self.at += 1;
                    self.finish_command(&mut command);
                    if end == Some(')') {
                        return;
                    }
                    self.is_understood = false;
                }
                _ => self.add_word(&mut command),
            }
        }
    }

    pub(super) fn read_nested_commands(&mut self, end: Option<char>) {
        self.nested += 1;
        if self.nested > NESTED_MAX {
            self.is_understood = false;
        }
        self.read_commands_until(end);
        self.nested -= 1;
    }

    /// Ends a command: stores it, and the variables that it sets.
    fn finish_command(&mut self, command: &mut ShellCommand) {
        let command = std::mem::take(command);
        if command.assignments.is_empty() && command.words.is_empty() && command.redirections.is_empty() {
            return;
        }
        let first = command.words.first().map(|word| word.text.as_str()).unwrap_or_default();
        self.is_understood &= !UNSUPPORTED_WORDS.contains(&first);
        let sets = if command.words.is_empty() {
            command.assignments.as_slice()
        } else if DECLARATIONS.contains(&first) {
            &command.words[1..]
        } else {
            &[]
        };
        for word in sets {
            if let Some((name, value)) = word.text.split_once('=') {
                let is_added = name.ends_with('+');
                let value = Some(value.to_owned()).filter(|_| !is_added);
                let kept = self.variables.entry(name.trim_end_matches('+').to_owned()).or_insert_with(|| value.clone());
                if *kept != value {
                    *kept = None;
                }
            }
        }
        let place = self.commands.len();
        for document in self.documents.iter_mut().filter(|document| document.command.is_none()) {
            document.command = Some(place);
        }
        self.commands.push(command);
    }

    /// Skips a comment. A shell without comments would run its text, so a line with shell syntax in it is not
    /// understood.
    fn skip_comment(&mut self) {
        while let Some(letter) = self.peek(0).filter(|letter| !matches!(letter, '\n' | '\r')) {
            self.is_understood &= !"'\"`$;&|<>(){}\\".contains(letter);
            self.at += 1;
        }
    }

    fn is_redirection(&self) -> bool {
        let is_process = matches!(self.peek(0), Some('<' | '>')) && self.peek(1) == Some('(');
        !is_process && OPERATORS.iter().any(|operator| self.is_next(operator))
    }

    fn read_redirection(&mut self, command: &mut ShellCommand) {
        let Some(operator) = OPERATORS.into_iter().find(|operator| self.is_next(operator)) else { return };
        self.at += operator.len();
        while matches!(self.peek(0), Some(' ' | '\t')) {
            self.at += 1;
        }
        let Some(target) = self.read_words().into_iter().next() else {
            self.is_understood = false;
            return;
        };
        match operator {
            "<<" | "<<-" => self.documents.push(HereDocument {
                is_literal: target.source != target.text,
                delimiter: target.text.clone(),
                strips_tabs: operator == "<<-",
                command: None,
            }),
            "<<<" => command.input = Some(target.text.clone()),
            _ => {}
        }
        command.redirections.push(Redirection { operator, target });
    }

    /// Reads the texts of the here-documents that begin here.
    fn read_here_documents(&mut self) {
        for document in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            loop {
                if self.at >= self.letters.len() {
                    self.is_understood = false;
                    break;
                }
                let line: String = self.letters[self.at..].iter().take_while(|letter| **letter != '\n').collect();
                self.at = (self.at + line.chars().count() + 1).min(self.letters.len());
                let line = if document.strips_tabs { line.trim_start_matches('\t') } else { &line };
                if line.trim_end_matches('\r') == document.delimiter {
                    break;
                }
                text.push_str(line);
                text.push('\n');
            }
            if !document.is_literal {
                self.add_substitutions(&text);
            }
            if let Some(command) = document.command.and_then(|place| self.commands.get_mut(place)) {
                command.input = Some(text);
            }
        }
    }

    /// Adds the commands of substitutions in a text that is expanded as in double quotes.
    fn add_substitutions(&mut self, text: &str) {
        let mut lexer = Self::new(text, self.variables.clone(), self.nested + 1);
        lexer.read_double_quoted(None, &mut WordDraft::default());
        self.is_understood &= lexer.is_understood;
        self.commands.append(&mut lexer.commands);
    }

    /// Reads a word and adds it to a command.
    fn add_word(&mut self, command: &mut ShellCommand) {
        let begin = self.at;
        let words = self.read_words();
        // Without progress the loop would never end.
        if self.at == begin {
            self.is_understood = false;
            self.at += 1;
        }
        let before_redirection = matches!(self.peek(0), Some('<' | '>')) && self.is_redirection();
        for word in words {
            let is_number = !word.source.is_empty() && word.source.chars().all(|letter| letter.is_ascii_digit());
            if before_redirection && is_number {
                continue;
            }
            let is_first = command.words.is_empty();
            if is_first && command.assignments.is_empty() && matches!(word.source.as_str(), "{" | "}") {
                continue;
            }
            if is_first && is_assignment(&word.source) {
                command.assignments.push(word);
            } else {
                command.words.push(word);
            }
        }
    }

    /// Reads the next word; several if braces or a variable expand to several.
    fn read_words(&mut self) -> Vec<Word> {
        let begin = self.at;
        let mut draft = WordDraft::default();
        while let Some(letter) = self.peek(0) {
            match letter {
                '<' | '>' if self.peek(1) == Some('(') => self.read_substitution(2, &mut draft),
                ' ' | '\t' | '\n' | '\r' | ';' | '|' | '(' | ')' | '&' | '<' | '>' => break,
                _ => self.read_letter(letter, &mut draft),
            }
        }
        let source: String = self.letters[begin..self.at].iter().collect();
        self.expand_words(&source, &draft)
    }

    fn expand_words(&mut self, source: &str, draft: &WordDraft) -> Vec<Word> {
        if draft.letters.is_empty() && !draft.has_quotes {
            return Vec::new();
        }
        let Some(expanded) = braces::expand(&draft.letters) else {
            self.is_understood = false;
            return vec![Word { source: source.to_owned(), text: source.to_owned(), ..Word::default() }];
        };
        let is_literal = !draft.is_unknown && expanded.len() == 1;
        let mut words = Vec::new();
        for letters in expanded {
            let text: String = letters.iter().map(|letter| letter.letter).collect();
            let has_pattern =
                letters.iter().any(|letter| !letter.is_quoted && matches!(letter.letter, '*' | '?' | '['));
            let texts = if draft.is_split {
                text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            } else {
                vec![text]
            };
            let word = |text| Word { source: source.to_owned(), text, is_literal, has_pattern };
            words.extend(texts.into_iter().map(word));
        }
        words
    }
}

/// Whether a word sets a variable: `NAME=value`.
pub(super) fn is_assignment(source: &str) -> bool {
    let Some((name, _)) = source.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    name.chars().all(is_letter) && name.chars().next().is_some_and(|letter| !letter.is_ascii_digit())
}
