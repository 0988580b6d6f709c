use serde_json::json;

use super::*;

fn permissions(allowed: &[&str], denied: &[&str], ask: &[&str]) -> ToolPermissions {
    let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    ToolPermissions { allowed: owned(allowed), denied: owned(denied), ask: owned(ask) }
}

fn check_bash(permissions: &ToolPermissions, command: &str) -> Permission {
    permissions.check_call("Bash", &json!({ "command": command }))
}

#[test]
fn what_is_denied_comes_first_then_what_is_asked_for() {
    let mixed = permissions(&["Read", "Bash", "Edit"], &["Edit"], &["Bash"]);
    let of = |tool: &str| mixed.check_call(tool, &json!({}));
    assert_eq!([of("Read"), of("Bash"), of("Edit")], [Permission::Allow, Permission::Ask, Permission::Deny]);
    assert_eq!(of("Write"), Permission::Deny, "something is allowed, and this is not it");
    assert_eq!(permissions(&[], &["Edit"], &[]).check_call("Write", &json!({})), Permission::Allow);
    assert_eq!(ToolPermissions::default().check_call("Anything", &json!(null)), Permission::Allow);
}

#[test]
fn names_and_arguments_are_patterns() {
    let some = permissions(&["mcp__state-gate__*", "Edit(src/*)", "Bash(cargo test*)", "Bash(ls)"], &[], &[]);
    assert_eq!(some.check_call("mcp__state-gate__get_state", &json!({})), Permission::Allow);
    assert_eq!(some.check_call("mcp__other", &json!({})), Permission::Deny);
    assert_eq!(some.check_call("Edit", &json!({"file_path": "src/gate/mod.rs"})), Permission::Allow);
    assert_eq!(some.check_call("Edit", &json!({"file_path": "tests/x.rs"})), Permission::Deny);
    assert_eq!(some.check_call("Edit", &json!({"file_path": "src/../../x.rs"})), Permission::Deny);
    assert_eq!(check_bash(&some, "cargo test -p domain"), Permission::Allow);
    assert_eq!(check_bash(&some, "ls && cargo test"), Permission::Allow, "each part is allowed by some pattern");
    assert_eq!(check_bash(&some, "cargo run"), Permission::Deny);
}

#[test]
fn a_command_cannot_ride_on_another() {
    let git = permissions(&["Bash(git *)"], &[], &[]);
    assert_eq!(check_bash(&git, "git status"), Permission::Allow);
    for command in [
        "git status; rm -r .",
        "git status && rm -r .",
        "git status | sh",
        "git log $(rm -r .)",
        "git log `rm -r .`",
        "git log\nrm -r .",
        "git log & rm -r .",
        "git show > ~/.profile",
        "rm -r . # git *",
        "> git rm -r .",
        "<git rm -r .",
        "&> git rm -r .",
        "git log >> git config",
    ] {
        assert_eq!(check_bash(&git, command), Permission::Deny, "{command}");
    }
    let no_rm = permissions(&[], &["Bash(rm *)"], &[]);
    assert_eq!(check_bash(&no_rm, "cd x; rm -r ."), Permission::Deny);
    assert_eq!(check_bash(&no_rm, "ls $(rm -r .)"), Permission::Deny);
    assert_eq!(check_bash(&no_rm, "ls"), Permission::Allow);
}

#[test]
fn what_is_denied_cannot_hide() {
    let no_rm = permissions(&[], &["Bash(rm *)"], &[]);
    for command in [
        "/bin/rm -r .",
        "sudo rm -r .",
        "rm\t-r .",
        "\\rm -r .",
        "r''m -r .",
        "'rm' -r .",
        "X=1 rm -r .",
        "if true; then rm -r .; fi",
        "! rm -r .",
        "time rm -r .",
        "find . -exec rm -r {} +",
        "sh -c \"rm -r .\"",
        "rm${IFS}-r${IFS}.",
        "ls >x rm -r .",
    ] {
        assert_eq!(check_bash(&no_rm, command), Permission::Deny, "{command}");
    }
    assert_eq!(no_rm.check_call("Bash", &json!({"command": ["rm", "-r", "."]})), Permission::Deny);
    assert_eq!(no_rm.check_call("bash", &json!({"command": "rm -r ."})), Permission::Deny);
    assert_eq!(check_bash(&no_rm, "firm up"), Permission::Allow);
    let no_secrets = permissions(&[], &["Edit(secrets/*)", "Edit(a/key)"], &[]);
    for path in [
        "secrets/key",
        "./secrets/key",
        "secrets//key",
        "/home/me/secrets/key",
        "src/../secrets/key",
        "Secrets/key",
        "a/b/../key",
        "a\\key",
    ] {
        assert_eq!(no_secrets.check_call("Edit", &json!({ "file_path": path })), Permission::Deny, "{path}");
    }
    assert_eq!(no_secrets.check_call("Edit", &json!({"file_path": "src/key"})), Permission::Allow);
}

#[test]
fn every_argument_that_says_where_must_be_allowed() {
    let src = permissions(&["Edit(src/*)", "Glob(src/*)", "Bash(ls src/*)"], &[], &[]);
    let of = |tool: &str, input: Value| src.check_call(tool, &input);
    assert_eq!(of("Edit", json!({"command": "src/x", "file_path": "/etc/passwd"})), Permission::Deny);
    assert_eq!(of("Edit", json!({"path": "/etc/passwd", "file_path": "src/x"})), Permission::Deny);
    assert_eq!(of("Glob", json!({"path": "src/x", "pattern": "*.rs"})), Permission::Allow);
    assert_eq!(of("Glob", json!({"path": "src/x", "pattern": "../../etc/*"})), Permission::Deny);
    assert_eq!(of("Glob", json!({"path": "src/x", "pattern": "/etc/*"})), Permission::Deny);
    assert_eq!(of("Bash", json!({"command": "ls src/x ../y"})), Permission::Deny);
    assert_eq!(of("Bash", json!({"command": ""})), Permission::Allow, "nothing is done");
}

#[test]
fn a_colon_and_a_star_stand_for_a_command_alone_or_with_more() {
    let git = permissions(&["Bash(git status:*)"], &[], &[]);
    assert_eq!(check_bash(&git, "git status"), Permission::Allow);
    assert_eq!(check_bash(&git, "git status -s"), Permission::Allow);
    assert_eq!(check_bash(&git, "git statusx"), Permission::Deny);
    assert_eq!(check_bash(&permissions(&[], &["Bash(rm:*)"], &[]), "rm -r ."), Permission::Deny);
}

#[test]
fn stars_stand_for_anything_and_cost_little() {
    assert!(matches_glob("*", "") && matches_glob("a*c", "abbc") && matches_glob("*b*", "abc") && matches_glob("", ""));
    assert!(
        !matches_glob("a*c", "abcd") && !matches_glob("", "a") && !matches_glob("a", "") && !matches_glob("ab", "a")
    );
    assert!(!matches_glob(&"*a".repeat(50), &"b".repeat(10_000)));
}

#[test]
fn what_is_denied_beats_what_is_allowed_however_it_is_written() {
    let all_but_push = permissions(&["Bash(git *)", "Bash(*)"], &["Bash(git push *)"], &[]);
    for command in [
        "git push",
        "git push origin main",
        "git -C . push",
        "git -c a=b --git-dir=.git --work-tree . push",
        "git --no-pager push",
        "/usr/bin/git push",
        "GIT_DIR=x git push",
        "env -i git push",
        "command git push",
        "nohup git -C . push &",
        "g\\it pu''sh",
        "\"git\" 'push'",
        "$'git' $'\\x70ush'",
        "git \\\n  -C . \\\n  push",
        "sh -c 'git -C . push'",
        "bash -lc \"git -C . push\"",
        "eval git -C . push",
        "eval 'git -C' . push",
        "if true; then git -C . push; fi",
        "git status;git -C . push",
        "echo \"$(git -C . push)\"",
        "git -c alias.p=push p",
        "git -c alias.p='!git -C . push' p",
        "git {-C,.,push}",
        "x=push; git $x",
        "x=git; $x -C . push",
        "g=git p=push; $g $p",
        "git $(echo push)",
        "git \"$x\"",
        "$(echo git) push",
        "echo push | xargs git",
        "find . -maxdepth 0 -exec git -C {} push \\;",
        "sh <<END\ngit -C . push\nEND",
        "echo 'git push' | sh",
        "alias p='git -C . push'; p",
        "git rebase -x 'git -C . push' main",
        "python3 -c \"import os; os.system('git push')\"",
    ] {
        assert_eq!(check_bash(&all_but_push, command), Permission::Deny, "{command}");
    }
    for command in ["git status", "git -C . log", "git log push", "echo 'do not push'", "git stash push.txt", "ls $x"] {
        assert_eq!(check_bash(&all_but_push, command), Permission::Allow, "{command}");
    }
    let asked = permissions(&["Bash"], &[], &["Bash(git push *)"]);
    assert_eq!(check_bash(&asked, "git -C . push"), Permission::Ask);
}

#[test]
fn what_is_known_only_when_it_runs_is_not_allowed_by_a_narrow_pattern() {
    let narrow = permissions(
        &[
            "Bash(git diff *)",
            "Bash(cargo test *)",
            "Bash(find src *)",
            "Bash(sh *)",
            "Bash(echo *)",
            "Bash(timeout 60 ls *)",
        ],
        &[],
        &[],
    );
    for command in [
        "git diff main",
        "git   diff\tmain",
        "git diff 'a; b'",
        "git diff main 2>&1",
        "git diff main >/dev/null",
        "cargo test -p a && git diff main",
        "find src -name '*.rs'",
        "find src -exec git diff {} +",
        "sh -c 'git diff main'",
        "sh scripts/check.sh",
        "timeout 60 ls src",
        "cargo test -- --config",
    ] {
        assert_eq!(check_bash(&narrow, command), Permission::Allow, "{command}");
    }
    for command in [
        "git diff $x",
        "git diff $(cat a)",
        "git diff `cat a`",
        "git diff ${x}",
        "git diff {a,b}",
        "git diff main > a",
        "git diff --output=a main",
        "git diff main < a",
        "git diff main &> a",
        "git -C . diff main",
        "x=1 git diff main",
        "git diff <(cat a)",
        "git diff main # it's; a",
        "git diff() { ls; }",
        "git diff 'main",
        "echo a <<END\nb\nEND",
        "git diff .'.'/x",
        "cargo test --config build.rustc-wrapper=a",
        "find src -exec rm {} +",
        "find src -execdir sh -c 'rm x' \\;",
        "sh -c 'rm x'",
        "sh -c \"$x\"",
        "echo rm | sh ",
        "sh -s",
        "timeout 60 rm x",
    ] {
        assert_eq!(check_bash(&narrow, command), Permission::Deny, "{command}");
    }
    let wide = permissions(&["Bash"], &[], &[]);
    assert_eq!(check_bash(&wide, "git diff $(cat a) > b"), Permission::Allow, "a whole shell is allowed");
    let code = permissions(&["Bash(python3 *)"], &[], &[]);
    assert_eq!(check_bash(&code, "python3 a.py"), Permission::Allow);
    assert_eq!(check_bash(&code, "python3 -c 'print(1)'"), Permission::Deny);
    assert_eq!(check_bash(&permissions(&["Bash(python3 -c *)"], &[], &[]), "python3 -c 'print(1)'"), Permission::Allow);
}

#[test]
fn every_string_of_a_call_counts_whatever_its_field_is_called() {
    let no_secrets = permissions(&[], &["*(secrets/*)", "*(rm *)"], &[]);
    for input in [
        json!({"target": "secrets/key"}),
        json!({"path": "a", "destination": "secrets/key"}),
        json!({"edits": [{"where": {"is": "./secrets/key"}}]}),
        json!({"files": {"secrets/key": "x"}}),
        json!({"cmd": "cat secrets/key"}),
        json!({"cmd": "rm", "args": ["-r", "x"]}),
        json!({"steps": [{"run": "rm -r x"}]}),
    ] {
        assert_eq!(no_secrets.check_call("mcp__other__do", &input), Permission::Deny, "{input}");
    }
    let harmless = json!({"file_path": "a", "content": "see secrets/key, and rm -r x"});
    assert_eq!(no_secrets.check_call("Write", &harmless), Permission::Allow, "a text may mention what it likes");
    let src = permissions(&["mcp__fs__write(src/*)"], &[], &[]);
    let of = |input: Value| src.check_call("mcp__fs__write", &input);
    assert_eq!(of(json!({"path": "src/a", "content": "some text"})), Permission::Allow);
    assert_eq!(of(json!({"path": "src/a", "also": "/etc/passwd"})), Permission::Deny);
    assert_eq!(of(json!({"path": "src/a", "also": {"to": ["lib/b"]}})), Permission::Deny);
    assert_eq!(of(json!({"path": "src/a", "script": "rm x"})), Permission::Deny);
}
