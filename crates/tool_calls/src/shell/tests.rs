use super::*;

/// The commands of a line, each as its words, including those that others run.
fn commands(text: &str) -> Vec<Vec<String>> {
    let line = read(text);
    line.all_commands().iter().map(|command| command.words.iter().map(|word| word.text.clone()).collect()).collect()
}

fn normal_forms(text: &str) -> Vec<String> {
    read(text).all_commands().iter().flat_map(|command| command.normal_forms()).collect()
}

#[test]
fn words_are_read_as_a_shell_reads_them() {
    for (text, words) in [
        ("git status", &["git", "status"][..]),
        ("g\\it pu''sh", &["git", "push"]),
        ("'git' \"push\"", &["git", "push"]),
        ("git push # to the end", &["git", "push"]),
        ("echo a#b", &["echo", "a#b"]),
        ("echo 'a; b' \"c | d\"", &["echo", "a; b", "c | d"]),
        ("echo \"a\\\"b\\n\"", &["echo", "a\"b\\n"]),
        ("git \\\n push", &["git", "push"]),
        ("gi\\\nt push", &["git", "push"]),
        ("$'gi\\x74' $'p\\165sh'", &["git", "push"]),
        ("$\"git\" push", &["git", "push"]),
        ("rm a{b,c}d", &["rm", "abd", "acd"]),
        ("rm .c{laude,}", &["rm", ".claude", ".c"]),
        ("rm {1..3}", &["rm", "1", "2", "3"]),
        ("find . -exec {} +", &["find", ".", "-exec", "{}", "+"]),
        ("rm${IFS}-r$IFS.", &["rm", "-r", "."]),
        ("echo ''", &["echo", ""]),
        ("git status 2>&1 >/dev/null", &["git", "status"]),
    ] {
        assert_eq!(commands(text)[0], words, "{text}");
        assert!(read(text).is_understood, "{text}");
    }
}

#[test]
fn every_command_of_a_line_is_listed() {
    for (text, expected) in [
        ("a; b && c || d | e & f\ng", &["a", "b", "c", "d", "e", "f", "g"][..]),
        ("a $(b; c) `d`", &["b", "c", "d", "a $(b; c) `d`"]),
        ("a \"$(b)\" \"`c`\"", &["b", "c", "a $(b) `c`"]),
        ("(a; b) && { c; }", &["a", "b", "c"]),
        ("a <(b) >(c)", &["b", "c", "a <(b) >(c)"]),
        ("a ${x:-$(b)}", &["b", "a ${x:-$(b)}"]),
        ("a <<END\nrm $(b)\nEND\nc", &["a", "b", "c"]),
        ("a <<'END'\nrm $(b)\nEND\nc", &["a", "c"]),
        ("# a\nb", &["b"]),
        ("# a \\\nb", &["b"]),
        ("a <<'END'\nx\\\nEND\nb\nEND", &["a", "b", "END"]),
        ("a \\\r\nb", &["a \r", "b"]),
        ("a \\\n#'\nb\n#'", &["a", "b"]),
    ] {
        let found: Vec<String> = commands(text).iter().map(|words| words.join(" ")).collect();
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn commands_in_commands_are_found() {
    for text in [
        "sudo -u root rm -r x",
        "env -i A=1 rm -r x",
        "env -S 'rm -r x'",
        "nohup nice -n 5 rm -r x",
        "timeout -k 1 5 rm -r x",
        "command rm -r x",
        "exec rm -r x",
        "A=1 B=2 rm -r x",
        "if rm -r x; then y; fi",
        "! rm -r x",
        "time -p rm -r x",
        "sh -c 'rm -r x'",
        "bash -lxc 'rm -r x'",
        "bash -o errexit -c 'rm -r x'",
        "sh -c \"bash -c 'rm -r x'\"",
        "eval rm -r x",
        "eval 'rm -r' x",
        "xargs -n 1 rm -r x",
        "find . -name a -exec rm -r x ;",
        "find . -exec true \\; -exec rm -r x +",
        "fd a -x rm -r x",
        "alias l='rm -r x'",
        "trap 'rm -r x' EXIT",
        "watch -n 1 'rm -r x'",
        "flock a.lock rm -r x",
        "flock a.lock -c 'rm -r x'",
        "su me -c 'rm -r x'",
        "git -c alias.y='!rm -r x' y",
        "git bisect run rm -r x",
        "git rebase -x 'rm -r x' main",
        "git submodule foreach 'rm -r x'",
        "python3 -m rm -r x",
        "uv run rm -r x",
        "rustup run stable rm -r x",
        "busybox rm -r x",
        "sh <<END\nrm -r x\nEND",
        "sh <<< 'rm -r x'",
        "x=rm; $x -r x",
        "x='rm -r'; $x x",
        "export x=rm; ${x} -r x",
    ] {
        let forms = normal_forms(text);
        assert!(forms.iter().any(|form| form.trim() == "rm -r x"), "{text}: {forms:?}");
    }
    assert_eq!(normal_forms("git -c alias.p=push p now").last().map(String::as_str), Some("git push now"));
}

#[test]
fn options_before_a_subcommand_do_not_hide_it() {
    for text in [
        "git push",
        "/usr/bin/git push",
        "GIT PUSH",
        "git.exe push",
        "git -C . push",
        "git -c a=b --git-dir=x --work-tree y push",
        "git --no-pager -P push",
        "git --some-new-option value push",
        "$(dirname x)/git push",
        "\"$HOME\"/bin/git push",
    ] {
        assert!(normal_forms(text).contains(&"git push".to_owned()), "{text}: {:?}", normal_forms(text));
    }
    assert!(!normal_forms("git log push").contains(&"git push".to_owned()));
}

#[test]
fn what_is_known_only_when_it_runs_is_unknown() {
    for text in
        ["$x push", "$(echo git) push", "`a`", "eval \"$x\"", "a | sh", "sh < a", "sh -s", "sh -c \"$x\"", "/bin/r?"]
    {
        assert!(read(text).has_unknown_program(), "{text}");
    }
    for text in ["git push", "sh a.sh", "a \"$x\"", "$HOME/bin/a", "x=1"] {
        assert!(!read(text).has_unknown_program(), "{text}");
    }
    let is_unknown = |text: &str| read(text).all_commands().iter().any(|command| command.is_subcommand_unknown());
    for text in [
        "git $x",
        "git $(echo push)",
        "git $x status",
        "git -c \"$x\" y",
        "git --config-env=alias.y=X y",
        "echo push | xargs git",
        "git pus?",
    ] {
        assert!(is_unknown(text), "{text}");
    }
    for text in ["git push $x", "git -C \"$x\" status", "xargs git add", "git"] {
        assert!(!is_unknown(text), "{text}");
    }
    // Which of two values a variable has is known only when the line runs.
    assert!(read("x=ls; true || x=rm; $x a").has_unknown_program());
}

#[test]
fn syntax_that_is_not_followed_is_said_to_be_so() {
    for text in [
        "a 'b",
        "a \"b",
        "a $(b",
        "a `b",
        "f() { a; }",
        "x=(a b)",
        "case x in x) a;; esac",
        "function f { a; }",
        "a <<END\nb",
        "a # it's",
        "a\u{7}b",
        "ls *(e:a:)",
        "a )",
        "a $\\\nb",
        "a\rb",
        "echo $((1<<2))\nrm x",
    ] {
        assert!(!read(text).is_understood, "{text}");
    }
    assert!(!read(&"a".repeat(LINE_BYTES_MAX + 1)).is_understood);
}

#[test]
fn options_that_name_a_program_are_found() {
    for (text, at) in [
        ("python3 -c a", Some(1)),
        ("python3 a.py -c b", None),
        ("perl -ne a", Some(1)),
        ("node --eval=a", Some(1)),
        ("cargo test --config a=b", Some(2)),
        ("cargo test -- --config a=b", None),
        ("git fetch --upload-pack=a x", Some(2)),
        ("git grep -Oless a", Some(2)),
        ("git status -uno", None),
        ("make test SHELL=a", Some(2)),
        ("tar --to-command=a -xf b", Some(1)),
        ("sed -n 1p a", None),
        ("ls -c", None),
    ] {
        assert_eq!(read(text).commands[0].program_option_index(), at, "{text}");
    }
}

/// Lines are untrusted input: none may take long or crash the program.
#[test]
fn no_line_takes_long() {
    let deep = 100_000;
    for text in [
        "$(".repeat(deep),
        "${x:-".repeat(deep / 2),
        "(".repeat(deep),
        "`".repeat(deep),
        "{a,b}".repeat(deep / 5),
        "{".repeat(deep),
        "sudo ".repeat(deep / 5),
        "eval ".repeat(deep / 5),
        "find . ".to_owned() + &"-exec ".repeat(deep / 6),
        "a <<A ".repeat(deep / 6),
        "git ".to_owned() + &"-c alias.x=y ".repeat(deep / 13) + &"x ".repeat(deep / 2),
        "\"$(".repeat(deep / 3),
        "<<A $(".repeat(deep / 6) + "\n" + &"A\n".repeat(deep / 6),
    ] {
        let line = read(&text);
        assert!(line.all_commands().len() <= deep, "{}", &text[..20]);
    }
}
