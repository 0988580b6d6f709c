//! Runs every shell block of the README and the guides, page by page, in a fresh home folder, by bash and by zsh, and
//! compares what they print with the samples on the page.
//!
//! A block that cannot run here has a comment before it, `<!-- not run: why -->`; these are counted. A block of text after
//! `<!-- prints -->` shows what the block before it printed. `skald serve` is started in the background, awaited, and
//! stopped when the page starts another one or ends.
#![cfg(unix)]

mod page;
mod paste_rules;
mod sample_shape;
mod shell_session;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::initialize;

use crate::process::{RunningProgram, run};

use page::{GuideBlock, GuidePage};
use shell_session::run_page;

/// Shell blocks that are not run, by page. A block joins or leaves this list by a decision.
const NOT_RUN: [(&str, usize); 8] = [
    ("README.md", 1),
    ("docs/gate-hooks.md", 2),
    ("docs/grpc.md", 2),
    ("docs/hosting.md", 9),
    ("docs/install.md", 7),
    ("docs/kanka.md", 4),
    ("docs/keeping.md", 4),
    ("docs/plugin.md", 4),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the workspace")
}

/// The README and the guides, by their paths.
fn pages() -> Vec<GuidePage> {
    let folder = std::fs::read_dir(root().join("docs")).expect("the guides");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("a guide").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .filter_map(|path| Some(format!("docs/{}", path.file_name()?.to_str()?)))
        .collect();
    names.push("README.md".to_owned());
    names.sort();
    names.into_iter().map(|name| GuidePage::read(&root(), &name)).collect()
}

fn run_guides(shell: &str) {
    let mut problems = Vec::new();
    for page in pages() {
        if page.blocks.iter().any(GuideBlock::is_run) {
            problems.extend(run_page(shell, &root(), &page));
        }
    }
    assert!(problems.is_empty(), "{shell}:\n\n{}", problems.join("\n\n"));
}

#[test]
fn every_block_runs_with_bash() {
    run_guides("bash");
}

mod with_zsh {
    #[test]
    fn every_block_runs_with_zsh() {
        super::run_guides("zsh");
    }
}

/// An answer with the status 200 may say that nothing was done.
#[test]
fn a_failure_in_an_answer_fails_the_page() {
    let failures = [
        ("delete_entities", r#"{"entity_ids": [77]}"#),
        (
            "../../mcp",
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "odds", "arguments": {"expression": "d"}}}"#,
        ),
        ("../../mcp", r#"{"jsonrpc": "2.0", "id": 1, "method": "no/such/method"}"#),
    ];
    let initialize =
        r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}"#;
    let begin = format!(
        "```sh\nskald serve\nA=http://127.0.0.1:8081/api/v1\n\
         post() {{ curl -s -b jar -c jar -H 'Content-Type: application/json' -d \"$2\" \"$A/$1\"; echo; }}\n\
         post campaign_create '{{\"name\": \"Bells\", \"gm_mode\": \"AI\"}}'\npost ../../mcp '{initialize}'\n"
    );
    let sound = GuidePage::parse("sound", &format!("{begin}```\n"));
    assert_eq!(run_page("bash", &root(), &sound), None);
    for (path, body) in failures {
        let page = GuidePage::parse(path, &format!("{begin}post {path} '{body}'\n```\n"));
        let problem = run_page("bash", &root(), &page).unwrap_or_else(|| panic!("{path} {body} is no failure"));
        assert!(problem.contains("the answer above is a failure"), "{problem}");
    }
}

#[test]
fn what_is_not_run_is_counted_and_says_why() {
    for page in pages() {
        let expected = NOT_RUN.iter().find(|(name, _)| *name == page.name).map_or(0, |(_, count)| *count);
        let reasons: Vec<&str> = page.blocks.iter().filter_map(GuideBlock::reason_not_to_run).collect();
        assert_eq!(reasons.len(), expected, "{}: {reasons:#?}", page.name);
        for reason in reasons {
            assert!(reason.len() > 10, "{}: {reason:?} is no reason", page.name);
        }
    }
    let samples: usize = pages().iter().map(|page| page.blocks.iter().filter(|block| block.is_sample()).count()).sum();
    assert!(samples >= 8, "only {samples} samples are compared");
}

/// Printed text is compared with what is printed, or says why it is not.
#[test]
fn blocks_of_text_are_compared_or_say_why_not() {
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.is_text() && !block.is_sample()) {
            let reason = block.reason_not_to_compare().unwrap_or_default();
            assert!(reason.len() > 10, "{}:{}: neither compared nor a reason: {reason:?}", page.name, block.line);
        }
    }
}

/// A database belongs to its role, so the role is made first.
#[test]
fn roles_of_postgresql_are_made_before_their_databases() {
    let mut databases = 0;
    for page in pages() {
        let (mut roles, mut served) = (Vec::new(), Vec::new());
        for block in page.blocks.iter().filter(|block| block.is_shell()) {
            for line in block.text.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                if words.contains(&"createuser") {
                    roles.extend(words.last().copied());
                }
                if let Some(at) = words.iter().position(|word| *word == "createdb") {
                    let [owner, role, database] = words[at + 1..] else { panic!("{}: {line}", page.name) };
                    assert!(owner == "--owner" && roles.contains(&role), "{}: no role {role} yet: {line}", page.name);
                    served.push(database);
                    databases += 1;
                }
                // What is served is what was made, as who was made.
                if let Some((_, address)) = line.split_once("postgres://").filter(|_| !served.is_empty()) {
                    let (role, rest) = address.split_once(['@', ':']).unwrap_or((address, ""));
                    let database = rest.split(['?', '\'']).next().and_then(|rest| rest.rsplit('/').next());
                    let database = database.unwrap_or_default();
                    assert!(roles.contains(&role) && served.contains(&database), "{}: {line}", page.name);
                }
            }
        }
    }
    assert!(databases >= 2, "only {databases} pages make a database");
}

mod postgres {
    use super::*;

    /// The blocks about PostgreSQL of the page for hosts, on the PostgreSQL of the tests: a role, its database, a server on it, and
    /// the lore of a file that is brought over.
    #[test]
    fn blocks_about_postgresql_run() {
        let server = crate::test_stores::required_env("SKALD_TEST_POSTGRES");
        let server = server.trim_start_matches("postgres://").split('/').next().expect("an address");
        let (administrator, address) = server.split_once('@').expect("an administrator");
        let (host, port) = address.split_once(':').expect("a port");
        let role = format!("guide_{}", std::process::id());
        let page = GuidePage::read(&root(), "docs/hosting.md");
        let wanted = ["createuser", "serve --store 'postgres:", "skald export"];
        let blocks = wanted.map(|words| {
            let block = page.blocks.iter().find(|block| block.is_shell() && block.text.contains(words));
            let text = &block.unwrap_or_else(|| panic!("no block with {words}")).text;
            text.replace("--pwprompt skald", &format!("--pwprompt {role}"))
                .replace("--owner skald skald", &format!("--owner {role} {role}"))
                .replace("skald:PASSWORD@127.0.0.1/skald", &format!("{role}:PASSWORD@{address}/{role}"))
        });
        let [make, serve, bring_over] = blocks;
        let curl = "curl -s http://127.0.0.1:8081/api/v1";
        let create = format!("{curl}/campaign_create -d '{{\"name\": \"Dunmere\", \"gm_mode\": \"HUMAN\"}}'");
        let write = format!(
            "{curl}/create_entities -d '{{\"entities\": [{{\"entity_type\": \"location\", \"name\": \"Eel Market\"}}]}}'"
        );
        let find = format!("{curl}/find_entities -d '{{\"name\": \"Eel Market\"}}' | grep 'Eel Market'");
        let text = format!(
            "```sh\nexport PGHOST={host} PGPORT={port} PGUSER={administrator}\nmkdir -p /var/lib/skald\n\
             skald serve --store sqlite:/var/lib/skald/skald.db\n{create}\n{write}\n{make}{serve}{create}\n{bring_over}{find}\n\
             stop-server\ndropdb {role}\ndropuser {role}\n```\n"
        );
        assert_eq!(run_page("bash", &root(), &GuidePage::parse("docs/hosting.md", &text)), None);
    }
}

/// Snippets of configuration start Skald with arguments that it takes: it ends in order when the client leaves at once.
#[test]
fn snippets_for_clients_start_skald() {
    let mut snippets = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.text.contains("\"mcpServers\"")) {
            let snippet: Value = serde_json::from_str(&block.text)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", page.name, block.line));
            let words = entry_words(skald_entry(&snippet));
            let arguments = match &words[..] {
                [command, arguments @ ..] if command.ends_with("/skald") => arguments,
                // What stands behind the image goes to its program.
                ["podman", "run", options @ ..] => {
                    let image = options.iter().position(|word| word.starts_with("localhost/skald:")).expect("an image");
                    &options[image + 1..]
                }
                other => panic!("{}:{}: it starts {other:?}", page.name, block.line),
            };
            let output = run(arguments);
            assert!(output.status.success(), "{} {arguments:?}: {output:?}", page.name);
            snippets += 1;
        }
    }
    assert!(snippets >= 4, "only {snippets} snippets");
}

/// The entry for Skald in a client's file, wherever that client has it.
fn skald_entry(file: &Value) -> &Value {
    let lists = ["mcpServers", "servers", "mcp"];
    lists.iter().map(|list| &file[list]["skald"]).find(|entry| entry.is_object()).expect("an entry for skald")
}

/// The program that an entry starts, with its arguments: in one list, or apart.
fn entry_words(entry: &Value) -> Vec<&str> {
    let words = [&entry["command"], &entry["args"]].into_iter().flat_map(|field| match field {
        Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
        field => Vec::from_iter(field.as_str()),
    });
    words.collect()
}

#[test]
fn every_example_for_a_client_reaches_skald() {
    let (_server, address) = RunningProgram::serve(&[]);
    let mut names: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .expect("the examples")
        .map(|entry| entry.expect("an example").path())
        .filter(|path| path.is_file())
        .collect();
    names.sort();
    let (mut started, mut connected) = (0, 0);
    for path in names {
        let text = std::fs::read_to_string(&path).expect("an example");
        let file: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let entry = skald_entry(&file);
        match &entry_words(entry)[..] {
            // It ends in order when the client leaves at once.
            ["/usr/local/bin/skald", arguments @ ..] => {
                let output = run(arguments);
                assert!(output.status.success(), "{} {arguments:?}: {output:?}", path.display());
                started += 1;
            }
            words @ ([] | ["npx", "-y", "mcp-remote", _]) => {
                let url = words.last().copied().or(entry["url"].as_str()).expect("an address");
                let place = url.strip_prefix("http://127.0.0.1:8081").expect("the address of skald serve");
                let headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")];
                let body = json!(initialize("2025-11-25")).to_string();
                let answer = Client::connect(address).send("POST", place, &headers, body.as_bytes());
                assert_eq!(answer.status, 200, "{}: {}", path.display(), answer.text());
                connected += 1;
            }
            other => panic!("{} starts {other:?}", path.display()),
        }
    }
    assert_eq!((started, connected), (6, 6), "each client has both");
}
