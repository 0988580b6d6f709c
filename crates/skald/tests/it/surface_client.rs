//! Test client on one surface, with a server of its own.

use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{Caller, Conversation, Engine, RequestControl};
use skald_grpc::{Bridge, Remote};
use skald_testkit::Client;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, MODERN, initialize, request, tool_call};

use crate::process::{RunningProgram, skald_command};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Surface {
    Rest,
    /// MCP over stdio, of a revision with a handshake or of the one without.
    Stdio(&'static str),
    Http(&'static str),
    Grpc,
    /// The same MCP clients, through a bridge to the server.
    BridgedStdio(&'static str),
    BridgedHttp(&'static str),
}

pub(crate) const LEGACY: &str = "2025-11-25";
pub(crate) const SURFACES: [Surface; 10] = [
    Surface::Rest,
    Surface::Stdio(LEGACY),
    Surface::Stdio(MODERN),
    Surface::Http(LEGACY),
    Surface::Http(MODERN),
    Surface::Grpc,
    Surface::BridgedStdio(LEGACY),
    Surface::BridgedStdio(MODERN),
    Surface::BridgedHttp(LEGACY),
    Surface::BridgedHttp(MODERN),
];

pub(crate) struct SurfaceClient {
    /// The process that the client talks to.
    server: RunningProgram,
    /// The server behind it, if that is a bridge.
    _behind: Option<RunningProgram>,
    way: SurfaceConnection,
    /// The `Authorization` header, unless the client is the owner.
    authorization: Option<String>,
}

enum SurfaceConnection {
    Rest(Client),
    Stdio(&'static str),
    Session(Client, String),
    Modern(Client),
    Grpc(tokio::runtime::Runtime, Arc<Remote>, Caller),
}

impl SurfaceClient {
    pub(crate) fn start(surface: Surface, store: &str) -> Self {
        Self::start_as(surface, store, None)
    }

    /// A client with this token; the owner if there is none.
    pub(crate) fn start_as(surface: Surface, store: &str, token: Option<&str>) -> Self {
        Self::start_with_options(surface, &["--store", store], &[], token)
    }

    /// Like `start_as`, with options for the server that has the store (`kept`), and for the process that the client
    /// talks to (`shown`).
    pub(crate) fn start_with_options(surface: Surface, kept: &[&str], shown: &[&str], token: Option<&str>) -> Self {
        let authorization = token.map(|token| format!("Bearer {token}"));
        let both = [kept, shown].concat();
        let serve = || RunningProgram::serve(&both);
        let bridged = |arguments: &[&str]| {
            let (behind, _) = RunningProgram::serve(kept);
            let address = behind.grpc_address().to_string();
            (skald_command(&[&["mcp", "--addr", &address], shown, arguments].concat()), Some(behind))
        };
        let (server, behind, way) = match surface {
            Surface::Stdio(version) => {
                let server = start_on_stdio(skald_command(&[&["mcp"], both.as_slice()].concat()), token, version);
                (server, None, SurfaceConnection::Stdio(version))
            }
            Surface::BridgedStdio(version) => {
                let (command, behind) = bridged(&[]);
                (start_on_stdio(command, token, version), behind, SurfaceConnection::Stdio(version))
            }
            Surface::Rest => {
                let (server, address) = serve();
                (server, None, SurfaceConnection::Rest(Client::connect(address)))
            }
            Surface::Http(version) => {
                let (server, address) = serve();
                (server, None, connect_over_http(Client::connect(address), version, authorization.as_ref()))
            }
            Surface::BridgedHttp(version) => {
                let (command, behind) = bridged(&["--transport", "http", "--http-addr", "127.0.0.1:0"]);
                let (server, address) = RunningProgram::start_server(command);
                (server, behind, connect_over_http(Client::connect(address), version, authorization.as_ref()))
            }
            Surface::Grpc => {
                let (server, _) = serve();
                let bridge = Bridge { address: server.grpc_address().to_string(), identity: "a-story".to_owned() };
                let runtime = tokio::runtime::Runtime::new().expect("a runtime");
                let remote = runtime.block_on(async { Remote::start(bridge) }).expect("an address");
                let caller = token.map_or_else(Caller::owner, |token| {
                    runtime.block_on(remote.authenticate(token)).expect("a token that is right")
                });
                (
                    server,
                    None,
                    SurfaceConnection::Grpc(
                        runtime,
                        remote,
                        caller.with_conversation(Conversation::Client("a story".into())),
                    ),
                )
            }
        };
        Self { server, _behind: behind, way, authorization }
    }

    pub(crate) fn call(&mut self, operation: &str, input: &Value, key: Option<&str>) -> Result<Value, Value> {
        let authorization = self.authorization.as_ref();
        match &mut self.way {
            SurfaceConnection::Rest(client) => {
                let key = key.map(|key| ("Idempotency-Key", key));
                let headers: Vec<_> = [JSON].into_iter().chain(key).collect();
                let path = format!("/api/v1/{operation}");
                let reply = client.send(
                    "POST",
                    &path,
                    &with_authorization(&headers, authorization),
                    input.to_string().as_bytes(),
                );
                if reply.status == 200 { Ok(reply.json()) } else { Err(reply.json()["error"].take()) }
            }
            SurfaceConnection::Stdio(version) => {
                parse_tool_answer(self.server.request(&call_message(operation, input, key, version)))
            }
            SurfaceConnection::Session(client, session) => {
                let headers =
                    with_authorization(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())], authorization);
                let message = call_message(operation, input, key, LEGACY);
                parse_tool_answer(client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json())
            }
            SurfaceConnection::Grpc(runtime, remote, caller) => {
                let control = RequestControl { idempotency_key: key.map(str::to_owned), ..RequestControl::default() };
                let answer = runtime.block_on(remote.call(caller, operation, input.clone(), &control));
                answer.map_err(|fault| fault.envelope()["error"].take())
            }
            SurfaceConnection::Modern(client) => {
                parse_tool_answer(send_modern(client, &call_message(operation, input, key, MODERN), authorization))
            }
        }
    }
}

impl SurfaceClient {
    /// Reads a JSON resource: by its URI, or over REST by its route.
    pub(crate) fn read(&mut self, uri: &str) -> Value {
        let authorization = self.authorization.as_ref();
        let message = request(4, "resources/read", &json!({"uri": uri}));
        let answer = match &mut self.way {
            SurfaceConnection::Rest(client) => {
                let path = uri.replacen("stategate://", "/api/v1/", 1);
                let reply = client.send("GET", &path, &with_authorization(&[], authorization), b"");
                assert_eq!(reply.status, 200, "{uri}: {}", reply.text());
                return reply.json();
            }
            SurfaceConnection::Grpc(runtime, remote, caller) => {
                let read = runtime.block_on(remote.read(caller, uri, &RequestControl::default()));
                return serde_json::from_str(&read.expect("a resource").into_text()).expect("JSON");
            }
            SurfaceConnection::Stdio(MODERN) => self.server.request(&mcp_messages::with_modern_meta(message)),
            SurfaceConnection::Stdio(_) => self.server.request(&message),
            SurfaceConnection::Session(client, session) => {
                let headers =
                    with_authorization(&[JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session.as_str())], authorization);
                client.send("POST", "/mcp", &headers, message.to_string().as_bytes()).json()
            }
            SurfaceConnection::Modern(client) => {
                send_modern(client, &mcp_messages::with_modern_meta(message), authorization)
            }
        };
        let contents = &answer["result"]["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")), "{answer}");
        serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON")
    }

    /// Whether operations are called as MCP tools.
    pub(crate) fn has_tools(&self) -> bool {
        !matches!(self.way, SurfaceConnection::Rest(_) | SurfaceConnection::Grpc(..))
    }
}

fn send_modern(client: &mut Client, message: &Value, authorization: Option<&String>) -> Value {
    let headers = mcp_messages::modern_headers(message);
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    client.send("POST", "/mcp", &with_authorization(&headers, authorization), message.to_string().as_bytes()).json()
}

fn with_authorization<'a>(
    headers: &[(&'a str, &'a str)],
    authorization: Option<&'a String>,
) -> Vec<(&'a str, &'a str)> {
    headers.iter().copied().chain(authorization.map(|bearer| ("Authorization", bearer.as_str()))).collect()
}

fn start_on_stdio(mut command: Command, token: Option<&str>, version: &str) -> RunningProgram {
    command.envs(token.map(|token| ("SKALD_TOKEN", token)));
    let mut server = RunningProgram::start(command);
    if version != MODERN {
        server.send_and_receive(&initialize(version));
    }
    server
}

fn connect_over_http(mut client: Client, version: &str, authorization: Option<&String>) -> SurfaceConnection {
    if version == MODERN {
        return SurfaceConnection::Modern(client);
    }
    let headers = with_authorization(&[JSON, ACCEPT_BOTH], authorization);
    let opened = client.send("POST", "/mcp", &headers, initialize(version).to_string().as_bytes());
    SurfaceConnection::Session(client, opened.header("mcp-session-id").expect("a session").to_owned())
}

fn call_message(operation: &str, input: &Value, key: Option<&str>, version: &str) -> Value {
    let message = tool_call(operation, input);
    let mut message = if version == MODERN { mcp_messages::with_modern_meta(message) } else { message };
    if let Some(key) = key {
        message["params"]["_meta"]["skald/idempotencyKey"] = json!(key);
    }
    message
}

/// The structured content of a tool's answer, or its error object.
fn parse_tool_answer(mut message: Value) -> Result<Value, Value> {
    let result = &mut message["result"];
    match result["isError"].as_bool() {
        Some(true) => Err(result["_meta"]["skald/error"].take()),
        _ if result["structuredContent"].is_object() => Ok(result["structuredContent"].take()),
        _ => panic!("no answer of a tool: {message}"),
    }
}
