//! Tests of the shell parser against a real shell: what it claims to understand, the shell runs the same way.
#![cfg(unix)]

use std::process::{Command, Stdio};

/// Pieces of random lines. None of them blocks, writes a file, or expands to something outside of the line.
const PIECES: [&str; 30] = [
    "a", "b", " ", " ", "'", "\"", "\\", "\n", ";", "; P ", "\nP ", " && P ", "#", " #", "$'", "$\"", "{", "}", ",",
    "{a,b}", "(", ")", "`", "\\n", "\\'", "\\\n", "\t", "=", "<<E", "\nE\n",
];
const LINES: u32 = 1500;

/// Pseudo-random numbers, the same in every test run.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next_below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("a small number") % end
    }
}

/// The arguments of each call of the program P, as the parser reads them; `None` if the parser does not claim to
/// understand the line.
fn parsed_calls(line: &str) -> Option<Vec<Vec<String>>> {
    let read = skald_tool_calls::shell::read(line);
    let is_call = |command: &skald_tool_calls::shell::ShellCommand| {
        let is_p = command.words.first().is_some_and(|word| word.text == "P");
        is_p && command.is_literal() && command.assignments.is_empty() && command.redirections.is_empty()
    };
    let words = |command: &skald_tool_calls::shell::ShellCommand| {
        command.words[1..].iter().map(|word| word.text.clone()).collect()
    };
    (read.is_understood && read.commands.iter().all(is_call)).then(|| read.commands.iter().map(words).collect())
}

/// The arguments of each call of P, as bash runs the line.
fn bash_calls(line: &str) -> Vec<Vec<String>> {
    let script = format!("P() {{ printf '\\3'; printf '%s\\2' \"$@\"; }}\nset -f\n{line}");
    let ran = Command::new("bash").args(["-c", &script]).stdin(Stdio::null()).stderr(Stdio::null()).output();
    let printed = String::from_utf8_lossy(&ran.expect("bash runs").stdout).into_owned();
    let calls = printed.split('\u{3}').skip(1);
    let words = |call: &str| call.split_terminator('\u{2}').map(str::to_owned).collect::<Vec<String>>();
    // For no argument, printf prints one empty text.
    calls.map(words).map(|words| if words == [""] { Vec::new() } else { words }).collect()
}

#[test]
fn what_is_understood_is_what_a_shell_runs() {
    let (mut numbers, mut compared) = (RandomNumbers(7), 0);
    for _ in 0..LINES {
        let count = 1 + numbers.next_below(9);
        let line: String = (0..count).map(|_| PIECES[numbers.next_below(PIECES.len())]).collect();
        let line = format!("P {line}");
        let Some(mut expected) = parsed_calls(&line) else { continue };
        for words in expected.iter_mut().filter(|words| **words == [""]) {
            words.clear();
        }
        compared += 1;
        // An error in a line ends it: the shell may run less than is written, but nothing else and nothing more.
        let ran = bash_calls(&line);
        assert!(expected.starts_with(&ran), "{line:?}: read {expected:?}, run {ran:?}");
    }
    assert!(compared > 200, "{compared}");
}
