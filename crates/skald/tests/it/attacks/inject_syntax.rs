//! Attack: syntax of SQL, of full-text queries, of patterns and of paths in every text of every operation.

use serde_json::json;
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

use crate::program_under_test::{StoreKind, Surface, World};
use crate::request_filler::RequestFiller;

/// Texts that mean something to a database, a search index, a file system or a terminal.
const TEXTS: [&str; 8] = [
    "'; DROP TABLE records; --",
    "\" OR \"1\"=\"1",
    "a* AND (NEAR(b, c) OR NOT d) ^",
    "entry : \"x\" - y",
    "%_\\%' ESCAPE '\\",
    "../../../../etc/passwd",
    "$(id) `id` ${HOME} %s%n",
    "[[x]] [entity:1|<script>] {attribute:1}",
];

/// As the owner, so that nothing is refused before it is used.
fn send_everything(kind: StoreKind) {
    let world = World::new(kind);
    let server = world.serve(&[]);
    let mut owner = server.client(Surface::Rest);
    let campaign = owner.ok("campaign_create", &json!({"name": "Bells", "gm_mode": "HUMAN"}));
    let campaign_id = campaign["id"].clone();
    let mut client = Client::connect(server.address);
    let document = client.send("GET", "/api/v1/openapi.json", &[], b"").json();
    let mut requests = 0;
    for text in TEXTS {
        let mut filler = RequestFiller::new(text);
        filler.add(&["campaign_id"], &campaign_id);
        for (template, operations) in document["paths"].as_object().expect("paths") {
            for (method, operation) in operations.as_object().expect("operations") {
                // Streams of events do not end.
                if template.starts_with("/universes/") && template.ends_with("/events") {
                    continue;
                }
                for path in filler.fill_path(template, &operation["parameters"]) {
                    for body in filler.fill_body(&operation["requestBody"], &document) {
                        let reply = client.send(&method.to_uppercase(), &path, &[JSON], body.as_bytes());
                        assert!(reply.status < 500, "{method} {path} {body}: {}", reply.text());
                        let answer = reply.text().to_lowercase();
                        let is_disclosed = ["sqlite", "fts5", "syntax error", "root:x:", "no such column"];
                        let disclosed = is_disclosed.iter().find(|words| answer.contains(**words));
                        assert!(disclosed.is_none(), "{method} {path} {body}: {answer}");
                        requests += 1;
                    }
                }
            }
        }
    }
    assert!(requests > 2_000, "{requests} requests");
    // The server is at rest and the store is sound.
    owner.ok("campaign_read", &json!({"campaign_id": campaign_id}));
    server.stop();
    let verified = world.run(&["verify"]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}

#[test]
fn a_text_is_never_syntax_in_a_file() {
    send_everything(StoreKind::Sqlite);
}

mod postgres {
    #[test]
    fn a_text_is_never_syntax_in_a_table() {
        super::send_everything(super::StoreKind::Postgres);
    }
}
