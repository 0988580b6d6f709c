//! Parses quotes and expansions in a word: `'…'`, `"…"`, `$'…'`, `$x`, `${…}`, `$(…)` and backticks.

use super::lexer::{Letter, Lexer, NESTED_MAX, WordDraft};

impl Lexer {
    /// Reads one element of a word outside of double quotes: a letter, a quoted part or an expansion.
    pub(super) fn read_letter(&mut self, letter: char, draft: &mut WordDraft) {
        match letter {
            // A backslash at the end of a line continues it on the next line.
            '\\' if self.peek(1) == Some('\n') => self.at += 2,
            '\\' => {
                match self.peek(1) {
                    Some(escaped) => draft.push(escaped, true),
                    None => self.is_understood = false,
                }
                self.at = (self.at + 2).min(self.letters.len());
                draft.has_quotes = true;
            }
            '\'' => {
                self.at += 1;
                draft.has_quotes = true;
                self.read_single_quoted(draft);
            }
            '"' => {
                self.at += 1;
                draft.has_quotes = true;
                self.read_double_quoted(Some('"'), draft);
            }
            '$' if self.peek(1) == Some('\'') => {
                self.at += 2;
                draft.has_quotes = true;
                self.read_ansi_quoted(draft);
            }
            '$' if self.peek(1) == Some('"') => self.at += 1,
            '$' => self.read_dollar(false, draft),
            '`' => self.read_backtick(draft),
            letter => {
                // Shells differ in how they treat other control characters.
                self.is_understood &= !letter.is_control();
                draft.push(letter, false);
                self.at += 1;
            }
        }
    }

    fn read_single_quoted(&mut self, draft: &mut WordDraft) {
        loop {
            let Some(letter) = self.peek(0) else {
                self.is_understood = false;
                return;
            };
            self.at += 1;
            if letter == '\'' {
                return;
            }
            draft.push(letter, true);
        }
    }

    /// Reads text as in double quotes, up to `end`, or to the end of the text.
    pub(super) fn read_double_quoted(&mut self, end: Option<char>, draft: &mut WordDraft) {
        loop {
            let Some(letter) = self.peek(0) else {
                self.is_understood &= end.is_none();
                return;
            };
            match letter {
                letter if Some(letter) == end => {
                    self.at += 1;
                    return;
                }
                '\\' if self.peek(1) == Some('\n') => self.at += 2,
                '\\' => {
                    let escaped = self.peek(1);
                    match escaped {
                        Some('"' | '\\' | '$' | '`' | '}') => self.at += 2,
                        _ => self.at += 1,
                    }
                    draft.push(escaped.filter(|letter| "\"\\$`}".contains(*letter)).unwrap_or('\\'), true);
                }
                '$' => self.read_dollar(true, draft),
                '`' => self.read_backtick(draft),
                letter => {
                    self.at += 1;
                    draft.push(letter, true);
                }
            }
        }
    }

    /// `$'…'` with escapes as in C. A shell without this syntax may end the quotes elsewhere, so a word with an escape
    /// counts as unknown.
    fn read_ansi_quoted(&mut self, draft: &mut WordDraft) {
        loop {
            let Some(letter) = self.peek(0) else {
                self.is_understood = false;
                return;
            };
            self.at += 1;
            match letter {
                '\'' => return,
                '\\' => {
                    draft.is_unknown = true;
                    let escaped = self.read_ansi_escape();
                    draft.letters.extend(escaped.map(|letter| Letter { letter, is_quoted: true }));
                }
                letter => draft.push(letter, true),
            }
        }
    }

    fn read_ansi_escape(&mut self) -> Option<char> {
        let letter = self.peek(0)?;
        self.at += 1;
        let (radix, digits) = match letter {
            'x' => (16, 2),
            'u' => (16, 4),
            'U' => (16, 8),
            '0'..='7' => {
                self.at -= 1;
                (8, 3)
            }
            'n' => return Some('\n'),
            't' => return Some('\t'),
            'r' => return Some('\r'),
            letter => return Some(letter),
        };
        let mut code = 0;
        for _ in 0..digits {
            let Some(digit) = self.peek(0).and_then(|letter| letter.to_digit(radix)) else { break };
            code = code * radix + digit;
            self.at += 1;
        }
        char::from_u32(code)
    }

    /// `$name`, `${…}` or `$(…)`.
    fn read_dollar(&mut self, is_quoted: bool, draft: &mut WordDraft) {
        let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        // A line continuation right after `$` is not supported.
        self.is_understood &= !(self.peek(1) == Some('\\') && self.peek(2) == Some('\n'));
        match self.peek(1) {
            Some('(') => self.read_substitution(2, draft),
            Some('{') => {
                let name: String = self.letters[self.at + 2..].iter().copied().take_while(is_name).collect();
                if self.peek(2 + name.len()) == Some('}') {
                    self.at += 3 + name.len();
                    self.push_variable(&name, &format!("${{{name}}}"), is_quoted, draft);
                } else {
                    let begin = self.at;
                    self.at += 2;
                    self.nested += 1;
                    if self.nested > NESTED_MAX {
                        self.is_understood = false;
                        self.at = self.letters.len();
                    }
                    self.read_double_quoted(Some('}'), &mut WordDraft::default());
                    self.nested -= 1;
                    self.push_unknown(begin, draft);
                }
            }
            Some(first) if first.is_ascii_alphabetic() || first == '_' => {
                let name: String = self.letters[self.at + 1..].iter().copied().take_while(is_name).collect();
                self.at += 1 + name.len();
                self.push_variable(&name, &format!("${name}"), is_quoted, draft);
            }
            Some(special) if special.is_ascii_digit() || "?#@*!$-".contains(special) => {
                self.at += 2;
                self.push_unknown(self.at - 2, draft);
            }
            _ => {
                self.at += 1;
                draft.push('$', true);
            }
        }
    }

    fn push_variable(&mut self, name: &str, source: &str, is_quoted: bool, draft: &mut WordDraft) {
        draft.is_unknown = true;
        let value = self.variables.get(name).cloned().unwrap_or_else(|| (name == "IFS").then(|| " ".to_owned()));
        let value = value.unwrap_or_else(|| source.to_owned());
        draft.is_split |= !is_quoted && value.contains(char::is_whitespace);
        draft.push_quoted(&value);
    }

    /// Adds a part that is known only when the line runs, as it is written.
    fn push_unknown(&mut self, begin: usize, draft: &mut WordDraft) {
        draft.is_unknown = true;
        let source: String = self.letters[begin..self.at].iter().collect();
        draft.push_quoted(&source);
    }

    /// `$(…)`, `<(…)` or `>(…)`, whose commands are listed with the others.
    pub(super) fn read_substitution(&mut self, opening: usize, draft: &mut WordDraft) {
        let begin = self.at;
        self.at += opening;
        let documents = std::mem::take(&mut self.documents);
        self.read_nested_commands(Some(')'));
        self.is_understood &= self.documents.is_empty();
        self.documents = documents;
        self.push_unknown(begin, draft);
    }

    fn read_backtick(&mut self, draft: &mut WordDraft) {
        let begin = self.at;
        self.at += 1;
        let mut inside = String::new();
        loop {
            match self.peek(0) {
                None => {
                    self.is_understood = false;
                    break;
                }
                Some('`') => {
                    self.at += 1;
                    break;
                }
                Some('\\') if matches!(self.peek(1), Some('`' | '\\' | '$')) => {
                    inside.extend(self.peek(1));
                    self.at += 2;
                }
                Some(letter) => {
                    inside.push(letter);
                    self.at += 1;
                }
            }
        }
        let mut lexer = Self::new(&inside, self.variables.clone(), self.nested + 1);
        lexer.read_commands_until(None);
        self.is_understood &= lexer.is_understood;
        self.commands.append(&mut lexer.commands);
        self.push_unknown(begin, draft);
    }
}
