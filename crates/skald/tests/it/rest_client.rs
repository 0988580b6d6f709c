//! Test client of REST, which plays a campaign on one connection.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
use skald_testkit::Client;
use skald_testkit::mcp_messages::JSON;

/// A REST client with one connection.
pub(crate) struct RestClient(Client);

impl RestClient {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self(Client::connect(address))
    }

    /// Status and answer, if one comes.
    pub(crate) fn send(&mut self, operation: &str, input: &Value, key: &str) -> io::Result<(u16, Value)> {
        let headers = [JSON, ("Idempotency-Key", key)];
        let path = format!("/api/v1/{operation}");
        let reply = self.0.try_send("POST", &path, &headers, input.to_string().as_bytes())?;
        Ok((reply.status, reply.json()))
    }

    /// The answer of a call that must succeed.
    pub(crate) fn call(&mut self, operation: &str, input: &Value) -> Value {
        let reply = self.0.send("POST", &format!("/api/v1/{operation}"), &[JSON], input.to_string().as_bytes());
        assert_eq!(reply.status, 200, "{operation} {input}: {}", reply.text());
        reply.json()
    }

    /// The status and the body of a GET request.
    pub(crate) fn get(&mut self, path: &str) -> (u16, Value) {
        let reply = self.0.send("GET", path, &[], b"");
        (reply.status, reply.json())
    }

    /// Creates a campaign with a running session, and returns its id.
    pub(crate) fn open_campaign(&mut self, name: &str) -> String {
        let campaign = self.call("campaign_create", &json!({"name": name, "gm_mode": "HUMAN"}));
        let id = campaign["id"].as_str().expect("an id").to_owned();
        self.call("session_start", &json!({"campaign_id": id}));
        id
    }

    /// The events of a campaign, grouped by revision. Asserts that no revision is missing.
    pub(crate) fn history(&mut self, campaign_id: &str) -> Vec<Vec<Value>> {
        let mut input = json!({"campaign_id": campaign_id, "order": "oldest", "limit": 200});
        let mut commands: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
        loop {
            let page = self.call("events_list", &input);
            for logged in page["events"].as_array().expect("events") {
                let revision = logged["revision"].as_u64().expect("a revision");
                commands.entry(revision).or_default().push(logged["event"].clone());
            }
            if page["next_cursor"].is_null() {
                let revisions: Vec<u64> = commands.keys().copied().collect();
                let last = page["revision"].as_u64().expect("a revision");
                assert_eq!(revisions, (1..=last).collect::<Vec<_>>(), "the revisions of {campaign_id}");
                return commands.into_values().collect();
            }
            input["cursor"] = page["next_cursor"].clone();
        }
    }
}
