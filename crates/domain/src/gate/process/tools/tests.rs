use serde_json::json;

use super::*;

fn permissions(allowed: &[&str], denied: &[&str], ask: &[&str]) -> ToolPermissions {
    let owned = |patterns: &[&str]| patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    ToolPermissions { allowed: owned(allowed), denied: owned(denied), ask: owned(ask) }
}

fn bash(permissions: &ToolPermissions, command: &str) -> Permission {
    permissions.of("Bash", &json!({ "command": command }))
}

#[test]
fn what_is_denied_comes_first_then_what_is_asked_for() {
    let mixed = permissions(&["Read", "Bash", "Edit"], &["Edit"], &["Bash"]);
    let of = |tool: &str| mixed.of(tool, &json!({}));
    assert_eq!([of("Read"), of("Bash"), of("Edit")], [Permission::Allow, Permission::Ask, Permission::Deny]);
    assert_eq!(of("Write"), Permission::Deny, "something is allowed, and this is not it");
    assert_eq!(permissions(&[], &["Edit"], &[]).of("Write", &json!({})), Permission::Allow);
    assert_eq!(ToolPermissions::default().of("Anything", &json!(null)), Permission::Allow);
}

#[test]
fn names_and_arguments_are_patterns() {
    let some = permissions(&["mcp__state-gate__*", "Edit(src/*)", "Bash(cargo test*)", "Bash(ls)"], &[], &[]);
    assert_eq!(some.of("mcp__state-gate__get_state", &json!({})), Permission::Allow);
    assert_eq!(some.of("mcp__other", &json!({})), Permission::Deny);
    assert_eq!(some.of("Edit", &json!({"file_path": "src/gate/mod.rs"})), Permission::Allow);
    assert_eq!(some.of("Edit", &json!({"file_path": "tests/x.rs"})), Permission::Deny);
    assert_eq!(some.of("Edit", &json!({"file_path": "src/../../x.rs"})), Permission::Deny);
    assert_eq!(bash(&some, "cargo test -p domain"), Permission::Allow);
    assert_eq!(bash(&some, "ls && cargo test"), Permission::Allow, "each part is allowed by some pattern");
    assert_eq!(bash(&some, "cargo run"), Permission::Deny);
}

#[test]
fn a_command_cannot_ride_on_another() {
    let git = permissions(&["Bash(git *)"], &[], &[]);
    assert_eq!(bash(&git, "git status"), Permission::Allow);
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
        assert_eq!(bash(&git, command), Permission::Deny, "{command}");
    }
    let no_rm = permissions(&[], &["Bash(rm *)"], &[]);
    assert_eq!(bash(&no_rm, "cd x; rm -r ."), Permission::Deny);
    assert_eq!(bash(&no_rm, "ls $(rm -r .)"), Permission::Deny);
    assert_eq!(bash(&no_rm, "ls"), Permission::Allow);
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
        assert_eq!(bash(&no_rm, command), Permission::Deny, "{command}");
    }
    assert_eq!(no_rm.of("Bash", &json!({"command": ["rm", "-r", "."]})), Permission::Deny);
    assert_eq!(no_rm.of("bash", &json!({"command": "rm -r ."})), Permission::Deny);
    assert_eq!(bash(&no_rm, "firm up"), Permission::Allow);
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
        assert_eq!(no_secrets.of("Edit", &json!({ "file_path": path })), Permission::Deny, "{path}");
    }
    assert_eq!(no_secrets.of("Edit", &json!({"file_path": "src/key"})), Permission::Allow);
}

#[test]
fn every_argument_that_says_where_must_be_allowed() {
    let src = permissions(&["Edit(src/*)", "Glob(src/*)", "Bash(ls src/*)"], &[], &[]);
    let of = |tool: &str, input: Value| src.of(tool, &input);
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
    assert_eq!(bash(&git, "git status"), Permission::Allow);
    assert_eq!(bash(&git, "git status -s"), Permission::Allow);
    assert_eq!(bash(&git, "git statusx"), Permission::Deny);
    assert_eq!(bash(&permissions(&[], &["Bash(rm:*)"], &[]), "rm -r ."), Permission::Deny);
}

#[test]
fn stars_stand_for_anything_and_cost_little() {
    assert!(is_like("*", "") && is_like("a*c", "abbc") && is_like("*b*", "abc") && is_like("", ""));
    assert!(!is_like("a*c", "abcd") && !is_like("", "a") && !is_like("a", "") && !is_like("ab", "a"));
    assert!(!is_like(&"*a".repeat(50), &"b".repeat(10_000)));
}
