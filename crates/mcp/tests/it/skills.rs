//! Tests of the extension for skills, in both eras, and of the prompt for clients without it.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use skald_testkit::mcp_messages::{JSON, initialize, request};

use crate::server::{Server, default_engine};

const GAME_MASTER: &str = "skill://game-master/SKILL.md";

fn modern(server: &Server, method: &str, params: &Value) -> Value {
    server.post_modern(&request(1, method, params)).json()
}

#[test]
fn skills_are_listed_with_a_manifest_that_holds() {
    let server = Server::start(default_engine());
    let discovered = modern(&server, "server/discover", &json!({}));
    assert_eq!(discovered["result"]["capabilities"]["extensions"]["io.modelcontextprotocol/skills"], json!({}));
    let listed = modern(&server, "skills/list", &json!({}));
    let result = &listed["result"];
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")), "{listed}");
    assert!(result["ttlMs"].as_u64().is_some_and(|ttl| ttl > 0));
    let [skill] = &result["skills"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!(skill["uri"], GAME_MASTER);
    assert_eq!(skill["frontmatter"]["name"], "game-master");
    let files = skill["resources"].as_array().unwrap();
    assert_eq!((files.len(), &files[0]["uri"]), (6, &json!(GAME_MASTER)));
    for file in files {
        let read = modern(&server, "resources/read", &json!({"uri": file["uri"]}));
        let contents = &read["result"]["contents"][0];
        let text = contents["text"].as_str().unwrap();
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&file["uri"], &json!("text/markdown")));
        assert_eq!(file["size"].as_u64(), Some(text.len() as u64));
        let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
        let digest = skald_journal::hex(&digest);
        assert_eq!(file["digest"], format!("sha256:{digest}"));
    }
    let got = modern(&server, "skills/get", &json!({"uri": GAME_MASTER}));
    assert_eq!(&got["result"]["skill"], skill);
}

#[test]
fn what_is_no_skill_is_refused() {
    let server = Server::start(default_engine());
    for (method, params) in [
        ("skills/get", json!({"uri": "skill://nobody/SKILL.md"})),
        ("skills/get", json!({"uri": "skill://game-master/references/scenes.md"})),
        ("skills/get", json!({})),
        ("skills/list", json!({"cursor": "2"})),
        ("resources/read", json!({"uri": "skill://game-master/../SKILL.md"})),
    ] {
        let answer = modern(&server, method, &params);
        assert_eq!(answer["error"]["code"], -32602, "{method} {params}: {answer}");
    }
    let elsewhere = [("X-MCP-Toolsets", "dice")];
    let hidden = server.post_modern_with(&request(1, "skills/list", &json!({})), &elsewhere).json();
    assert_eq!(hidden["result"]["skills"], json!([]), "the skill is of the toolset campaign");
    let hidden =
        server.post_modern_with(&request(1, "resources/read", &json!({"uri": GAME_MASTER})), &elsewhere).json();
    assert_eq!(hidden["error"]["code"], -32602, "{hidden}");
}

#[test]
fn clients_of_earlier_revisions_have_skills_too() {
    let server = Server::start(default_engine());
    let opened = server.post(&[JSON], &initialize("2025-11-25"));
    let capabilities = &opened.json()["result"]["capabilities"];
    assert_eq!(capabilities["extensions"]["io.modelcontextprotocol/skills"], json!({}), "{capabilities}");
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let listed = server.call(&session, &request(2, "skills/list", &json!({})));
    assert_eq!(listed["result"]["skills"][0]["uri"], GAME_MASTER, "{listed}");
    let read = server.call(&session, &request(3, "resources/read", &json!({"uri": GAME_MASTER})));
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().starts_with("---\nname: game-master\n"));
}

#[test]
fn the_prompt_has_the_same_words() {
    let server = Server::start(default_engine());
    let prompt = |arguments: Value| {
        let answer = modern(&server, "prompts/get", &json!({"name": "game_master", "arguments": arguments}));
        answer["result"]["messages"][0]["content"]["text"].as_str().map(str::to_owned).ok_or(answer)
    };
    let whole = prompt(json!({})).unwrap();
    assert!(whole.starts_with("# Running an evening with Skald") && whole.contains("argument page"), "{whole}");
    assert!(prompt(json!({"page": "secrets"})).unwrap().starts_with("# Secrets"));
    let unknown = prompt(json!({"page": "treasure"})).unwrap_err();
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert!(unknown.to_string().contains("session-zero"), "{unknown}");
}
