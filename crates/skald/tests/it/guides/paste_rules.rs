//! Rules for blocks that people paste into a terminal: an interactive zsh takes a `#` behind a command for an argument and `!`
//! between double quotes for its history, and not every system has GNU's flags. Also the syntax of `claude mcp add`, which no
//! test here runs.

use super::page::GuideBlock;
use super::pages;

/// Flags and programs that only GNU or Linux has.
const NOT_ON_EVERY_SYSTEM: [&str; 8] =
    ["--long-help", "sed -i", "readlink -f", "date -d", "grep -P", "xargs -r", "mktemp --", "stat -c"];

#[test]
fn blocks_can_be_pasted_into_an_interactive_shell() {
    let mut problems = Vec::new();
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.is_shell()) {
            problems.extend(paste_problems(&block.text).into_iter().map(|problem| format!("{}: {problem}", page.name)));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
}

/// What an interactive shell would take for something else, line by line. Documents after `<<'END'` are not the shell's.
fn paste_problems(text: &str) -> Vec<String> {
    let (mut problems, mut document_end, mut quote) = (Vec::new(), None::<&str>, None);
    for line in text.lines() {
        if let Some(end) = document_end {
            document_end = (line != end).then_some(end);
            continue;
        }
        document_end = line.split_once("<<'").and_then(|(_, rest)| rest.split('\'').next());
        let mut before = ' ';
        for letter in line.chars() {
            match (quote, letter) {
                (None, '#') if before.is_whitespace() => problems.push(format!("a comment: {line}")),
                (Some('"'), '!') => problems.push(format!("`!` between double quotes: {line}")),
                (None, '\'' | '"') if before != '\\' => quote = Some(letter),
                (Some(open), _) if letter == open && before != '\\' => quote = None,
                _ => {}
            }
            before = letter;
        }
        let mut words = line.split_whitespace().skip_while(|word| *word != "skald");
        let is_dice = words.next().is_some() && matches!(words.next(), Some("roll" | "odds"));
        if is_dice && line.contains('"') {
            problems.push(format!("single quotes around an expression: {line}"));
        }
        for flag in NOT_ON_EVERY_SYSTEM.iter().filter(|flag| line.contains(*flag)) {
            problems.push(format!("{flag} is not on every system: {line}"));
        }
    }
    problems
}

#[test]
fn what_cannot_be_pasted_is_found() {
    for wrong in [
        "# a comment",
        "skald serve # in the background",
        "skald verify\t#twice",
        "echo \"done!\"",
        "X=1 skald odds \"4d6kh3\"",
        "sed -i s/a/b/ file",
    ] {
        assert_eq!(paste_problems(wrong).len(), 1, "{wrong}: {:?}", paste_problems(wrong));
    }
    for right in [
        "skald odds '4d6kh3 >= 15!'",
        "curl -d '{\"color\": \"#FFF4EA\"}'",
        "curl -d '{\"a\":\n  \"# b\"}'",
        "jq -r '.x' | wc -l",
        "cat > a.py <<'END'\n# a comment of the file\nprint(\"!\")\nEND\nskald version",
        "curl \"$A/x?y#z\"",
    ] {
        assert_eq!(paste_problems(right), Vec::<String>::new(), "{right}");
    }
}

/// As `claude mcp add --help` has it: options, the name, then an address or, after `--`, a command. `--header` and `--env` take
/// every word up to the next option, so the name stands before them.
#[test]
fn servers_are_added_to_claude_code_as_it_expects() {
    let mut lines = 0;
    for page in pages() {
        for line in
            page.blocks.iter().filter(|block| block.is_shell()).flat_map(|block: &GuideBlock| block.text.lines())
        {
            if line.trim_start().starts_with("claude mcp add ") {
                assert_eq!(claude_problem(line), None, "{}: {line}", page.name);
                lines += 1;
            }
        }
    }
    assert!(lines >= 3, "only {lines} lines add Skald to Claude Code");
    let printed = crate::process::run(&["doctor", "--http-addr", "127.0.0.1:0", "--require-token"]);
    let printed = String::from_utf8(printed.stdout).expect("text");
    let commands: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert_eq!(commands.len(), 2, "{printed}");
    for command in commands {
        assert_eq!(claude_problem(command), None, "{command}");
    }
    for wrong in [
        "claude mcp add --scope user --transport http http://127.0.0.1:8081/mcp",
        "claude mcp add --scope user --transport http --header \"A: b\" skald http://127.0.0.1:8081/mcp",
        "claude mcp add --scope user skald skald mcp",
        "claude mcp add --scope user skald http://127.0.0.1:8081/mcp",
        "claude mcp add --transport http skald http://127.0.0.1:8081/mcp",
    ] {
        assert!(claude_problem(wrong).is_some(), "{wrong}");
    }
}

fn claude_problem(line: &str) -> Option<&'static str> {
    let mut words: Vec<&str> = line.split_whitespace().skip(3).collect();
    let (mut is_http, mut is_everywhere) = (false, false);
    while let [option @ ("--transport" | "--scope"), value, ..] = words[..] {
        is_http |= option == "--transport" && value == "http";
        is_everywhere |= option == "--scope" && value == "user";
        words.drain(..2);
    }
    if !is_everywhere {
        return Some("without --scope user, Skald is there in the current folder only");
    }
    match words[..] {
        ["skald", address, ..] if is_http && address.starts_with("http") => match words[2..] {
            [] | ["--header", "\"Authorization:", "Bearer", _] => None,
            _ => Some("what follows the address is no header"),
        },
        ["skald", "--", command, "mcp", ..] if !is_http && command.ends_with("skald") => None,
        ["skald", "--env", variable, "--", command, "mcp", ..]
            if variable.contains('=') && command.ends_with("skald") =>
        {
            None
        }
        _ => Some("there is no name, or no address, or no -- before the command"),
    }
}
