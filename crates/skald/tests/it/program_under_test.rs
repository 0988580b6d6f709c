//! Test world: a store, the processes on it, and clients on each surface.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Map, Value, json};
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, initialize, request};
use skald_testkit::{Client, EventStream, Reply};

use crate::process::{PATIENCE, RunningProgram, skald_command};
use crate::test_stores;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Memory,
    Sqlite,
    Postgres,
}

/// The store and the folder of one test. The folder is deleted afterwards.
pub(crate) struct World {
    store: String,
    folder: PathBuf,
}

impl World {
    pub(crate) fn new(kind: StoreKind) -> Self {
        let (name, folder) = fresh_folder();
        let store = match kind {
            StoreKind::Memory => "memory".to_owned(),
            StoreKind::Sqlite => format!("sqlite:{}", folder.join("world.db").display()),
            StoreKind::Postgres => postgres_address(&test_stores::required_env("SKALD_TEST_POSTGRES"), &name),
        };
        Self { store, folder }
    }

    /// On a young PostgreSQL, whose transaction ids are still small. Only one test uses it.
    pub(crate) fn on_new_postgres() -> Self {
        let (name, folder) = fresh_folder();
        Self { store: postgres_address(&test_stores::required_env("SKALD_TEST_NEW_POSTGRES"), &name), folder }
    }

    pub(crate) fn sqlite() -> Self {
        Self::new(StoreKind::Sqlite)
    }

    /// The address of the store.
    pub(crate) fn store(&self) -> &str {
        &self.store
    }

    pub(crate) fn folder(&self) -> &PathBuf {
        &self.folder
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = skald_command(arguments);
        command.env("SKALD_STORE", &self.store);
        command
    }

    /// Runs a command that ends by itself.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().expect("the binary starts")
    }

    /// Creates a token: its secret, and its id.
    pub(crate) fn create_token(&self, arguments: &[&str]) -> (String, String) {
        let output = self.run(&[&["token", "create", "--json"], arguments].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let created: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let text = |field: &str| created[field].as_str().expect("a text").to_owned();
        (text("token"), text("id"))
    }

    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        Self::start_server(self.serve_command(arguments))
    }

    /// Like `serve`, in this working folder.
    pub(crate) fn serve_in(&self, working: &Path, arguments: &[&str]) -> Server {
        let mut command = self.serve_command(arguments);
        command.current_dir(working);
        Self::start_server(command)
    }

    fn serve_command(&self, arguments: &[&str]) -> Command {
        self.command(&[&["serve", "--http-addr", "127.0.0.1:0"], arguments].concat())
    }

    fn start_server(command: Command) -> Server {
        let (running, address) = RunningProgram::start_server(command);
        let grpc = running.grpc_address();
        Server { address, grpc, running }
    }

    /// A client on stdio, with a process of its own.
    pub(crate) fn stdio_client(&self, arguments: &[&str]) -> TestClient {
        TestClient::over_stdio(self.command(&[&["mcp"], arguments].concat()))
    }

    /// A client on this surface, and the server that it calls, unless that is its own process.
    pub(crate) fn client(&self, surface: Surface) -> (TestClient, Option<Server>) {
        if surface == Surface::Stdio {
            return (self.stdio_client(&[]), None);
        }
        let server = self.serve(&[]);
        if surface == Surface::Bridge {
            return (server.bridge_client(&[]), Some(server));
        }
        (server.client(surface), Some(server))
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A unique name, and a folder of that name.
fn fresh_folder() -> (String, PathBuf) {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("world_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(&name);
    std::fs::create_dir_all(&folder).expect("a folder");
    (name, folder)
}

/// Creates a schema, and returns its address, under which the server knows the program as well.
fn postgres_address(server: &str, schema: &str) -> String {
    format!("{}&application_name={schema}", test_stores::create_schema(server, schema))
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) grpc: SocketAddr,
    running: RunningProgram,
}

impl Server {
    /// Kills the server at once, whatever it is doing.
    pub(crate) fn kill(self) {
        self.running.kill();
    }

    pub(crate) fn signal(&self, name: &str) {
        self.running.signal(name);
    }

    /// Stops the server in order, and returns its log.
    pub(crate) fn stop(self) -> String {
        self.running.signal("TERM");
        let (status, _, log) = self.running.wait_for_exit();
        assert!(status.success(), "{log}");
        log
    }

    /// The command that starts a bridge to this server.
    pub(crate) fn bridge_command(&self, arguments: &[&str]) -> Command {
        skald_command(&[&["mcp", "--addr", &self.grpc.to_string()], arguments].concat())
    }

    /// A client on stdio, with a bridge of its own to this server.
    pub(crate) fn bridge_client(&self, arguments: &[&str]) -> TestClient {
        TestClient::over_stdio(self.bridge_command(arguments))
    }

    pub(crate) fn client(&self, surface: Surface) -> TestClient {
        self.client_with(surface, None, "test")
    }

    /// A client with a token and a client name; the owner if there is no token.
    pub(crate) fn client_with(&self, surface: Surface, token: Option<&str>, name: &str) -> TestClient {
        let client = Client::connect(self.address);
        let link = match surface {
            Surface::Stdio | Surface::Bridge => unreachable!("a client on stdio has a process of its own"),
            Surface::Session => ClientConnection::Session { client, id: String::new() },
            Surface::Stateless => ClientConnection::Stateless { client },
            Surface::Rest => ClientConnection::Rest { client },
        };
        let mut seat =
            TestClient { link, token: token.map(str::to_owned), name: name.to_owned(), address: Some(self.address) };
        seat.open_session();
        seat
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    Stdio,
    /// MCP over HTTP, of a revision with a handshake.
    Session,
    /// MCP over HTTP, of the revision without one.
    Stateless,
    Rest,
    /// MCP over stdio, of a bridge to a server.
    Bridge,
}

pub(crate) const SURFACES: [Surface; 5] =
    [Surface::Stdio, Surface::Session, Surface::Stateless, Surface::Rest, Surface::Bridge];
pub(crate) const OVER_HTTP: [Surface; 3] = [Surface::Session, Surface::Stateless, Surface::Rest];

enum ClientConnection {
    Stdio(RunningProgram),
    Session { client: Client, id: String },
    Stateless { client: Client },
    Rest { client: Client },
}

/// A test client. Its calls and answers are the same on every surface.
pub(crate) struct TestClient {
    link: ClientConnection,
    token: Option<String>,
    name: String,
    address: Option<SocketAddr>,
}

/// The idempotency key and the expected revision of a request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallOptions<'a> {
    pub(crate) key: Option<&'a str>,
    pub(crate) revision: Option<u64>,
}

/// The answer, or the fault.
pub(crate) type CallResult = Result<Value, Value>;

impl TestClient {
    pub(crate) fn over_stdio(command: Command) -> Self {
        let mut running = RunningProgram::start(command);
        running.request(&initialize("2025-11-25"));
        Self { link: ClientConnection::Stdio(running), token: None, name: "test".to_owned(), address: None }
    }

    /// Closes the input of a client's own process, and waits for its end.
    pub(crate) fn close_and_wait(self) {
        let ClientConnection::Stdio(mut running) = self.link else { panic!("only a client on stdio has a process") };
        running.close_input();
        let (status, _, errors) = running.wait_for_exit();
        assert!(status.success(), "{errors}");
    }

    fn open_session(&mut self) {
        let token = self.authorization();
        if let ClientConnection::Session { client, id } = &mut self.link {
            let headers = with_authorization(&[JSON], token.as_ref());
            let opened = client.send("POST", "/mcp", &headers, initialize("2025-11-25").to_string().as_bytes());
            opened.header("mcp-session-id").expect("a session").clone_into(id);
        }
    }

    /// Changes the client name, on surfaces that send it with each request.
    pub(crate) fn set_client_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn authorization(&self) -> Option<String> {
        self.token.as_ref().map(|token| format!("Bearer {token}"))
    }

    /// Sends an MCP request, and returns the whole message that answers it.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        let token = self.authorization();
        let mut message = request(7, method, params);
        match &mut self.link {
            ClientConnection::Stdio(running) => running.request(&message),
            ClientConnection::Session { client, id } => {
                let sent = with_authorization(&[JSON, ("Mcp-Session-Id", id.as_str())], token.as_ref());
                client.send("POST", "/mcp", &sent, message.to_string().as_bytes()).json()
            }
            ClientConnection::Stateless { client } => {
                let given = message["params"]["_meta"].take();
                message = mcp_messages::with_modern_meta(message);
                message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = json!(self.name);
                for (name, value) in given.as_object().cloned().unwrap_or_default() {
                    message["params"]["_meta"][name] = value;
                }
                let of_message = mcp_messages::modern_headers(&message);
                let of_message: Vec<(&str, &str)> =
                    of_message.iter().map(|(name, value)| (*name, value.as_str())).collect();
                let sent = with_authorization(&of_message, token.as_ref());
                client.send("POST", "/mcp", &sent, message.to_string().as_bytes()).json()
            }
            ClientConnection::Rest { .. } => panic!("REST has no messages"),
        }
    }

    /// Calls an operation, and parses the answer as a client of the surface does.
    pub(crate) fn call_with(&mut self, tool: &str, arguments: &Value, how: CallOptions) -> CallResult {
        let token = self.authorization();
        if let ClientConnection::Rest { client } = &mut self.link {
            let revision = how.revision.map(|revision| format!("\"{revision}\""));
            let key = how.key.map(|key| ("Idempotency-Key", key));
            let revision = revision.as_ref().map(|revision| ("If-Match", revision.as_str()));
            let given: Vec<(&str, &str)> = [Some(JSON), key, revision].into_iter().flatten().collect();
            let sent = with_authorization(&given, token.as_ref());
            return parse_rest_reply(&client.send(
                "POST",
                &format!("/api/v1/{tool}"),
                &sent,
                arguments.to_string().as_bytes(),
            ));
        }
        let mut meta = Map::new();
        meta.extend(how.key.map(|key| ("skald/idempotencyKey".to_owned(), json!(key))));
        meta.extend(how.revision.map(|revision| ("skald/expectedRevision".to_owned(), json!(revision))));
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments, "_meta": meta}));
        parse_tool_answer(&answer)
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> CallResult {
        self.call_with(tool, arguments, CallOptions::default())
    }

    /// The answer of a call that must succeed.
    pub(crate) fn ok(&mut self, tool: &str, arguments: &Value) -> Value {
        self.call(tool, arguments).unwrap_or_else(|fault| panic!("{tool} {arguments}: {fault}"))
    }

    /// The fault of a call that must fail.
    pub(crate) fn call_refused(&mut self, tool: &str, arguments: &Value) -> Value {
        match self.call(tool, arguments) {
            Ok(answer) => panic!("{tool} {arguments} was not refused: {answer}"),
            Err(fault) => fault,
        }
    }

    /// Reads a resource: by its URI over MCP, by its route over REST.
    pub(crate) fn read(&mut self, uri: &str) -> CallResult {
        let token = self.authorization();
        if let ClientConnection::Rest { client } = &mut self.link {
            let path = match uri {
                "campaigns://list" => "/campaigns".to_owned(),
                "context://current" => "/context".to_owned(),
                "universes://list" => "/universes".to_owned(),
                uri => {
                    let schemes =
                        [("campaign://", "/campaigns/"), ("universe://", "/universes/"), ("docs://", "/docs/")];
                    schemes.iter().fold(uri.to_owned(), |path, (scheme, prefix)| path.replace(scheme, prefix))
                }
            };
            return parse_rest_reply(&client.send(
                "GET",
                &format!("/api/v1{path}"),
                &with_authorization(&[], token.as_ref()),
                b"",
            ));
        }
        let answer = self.request("resources/read", &json!({"uri": uri}));
        let error = &answer["error"];
        if error.is_object() {
            let fault = error["data"]["error"].clone();
            let is_missing = fault["status"] == "NotFound" && !matches!(self.link, ClientConnection::Stateless { .. });
            // Revision 2026-07-28 has no separate code for a missing resource.
            let expected = if is_missing { -32002 } else { -32602 };
            assert_eq!(error["code"], expected, "{answer}");
            // A long URI is cut.
            let named = error["data"]["uri"].as_str().expect("a URI").trim_end_matches('…');
            assert!(uri.starts_with(named), "{answer}");
            return Err(fault);
        }
        let contents = &answer["result"]["contents"][0];
        assert_eq!((&contents["uri"], &contents["mimeType"]), (&json!(uri), &json!("application/json")));
        Ok(serde_json::from_str(contents["text"].as_str().expect("a text")).expect("JSON"))
    }

    pub(crate) fn read_ok(&mut self, uri: &str) -> Value {
        self.read(uri).unwrap_or_else(|fault| panic!("{uri}: {fault}"))
    }

    /// Opens a stream of notifications for these resources, and for the list of resources.
    pub(crate) fn watch(&mut self, uris: &[&str]) -> Notifications {
        let token = self.authorization();
        let address = self.address;
        let open = |method: &str, sent: &[(&str, &str)], body: &[u8]| {
            let client = Client::connect(address.expect("a server"));
            client.open(method, "/mcp", &with_authorization(sent, token.as_ref()), body)
        };
        if let ClientConnection::Stateless { .. } = self.link {
            let filter = json!({"notifications": {"resourceSubscriptions": uris, "resourcesListChanged": true}});
            let message = mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter));
            let of_message = mcp_messages::modern_headers(&message);
            let sent: Vec<(&str, &str)> = of_message.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let mut events = open("POST", &sent, message.to_string().as_bytes());
            let acknowledged = events.next().expect("an acknowledgement");
            assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
            return Notifications(events);
        }
        let ClientConnection::Session { id, .. } = &self.link else { panic!("only MCP over HTTP has such a stream") };
        let sent = [ACCEPT_BOTH, ("Mcp-Session-Id", id.as_str())];
        let events = open("GET", &sent, b"");
        for uri in uris {
            let subscribed = self.request("resources/subscribe", &json!({"uri": uri}));
            assert_eq!(subscribed["result"], json!({}), "{subscribed}");
        }
        Notifications(events)
    }

    pub(crate) fn is_rest(&self) -> bool {
        matches!(self.link, ClientConnection::Rest { .. })
    }

    pub(crate) fn process(&mut self) -> &mut RunningProgram {
        match &mut self.link {
            ClientConnection::Stdio(running) => running,
            _ => panic!("only a client on stdio has a process of its own"),
        }
    }
}

/// A stream of change notifications.
pub(crate) struct Notifications(EventStream);

impl Notifications {
    /// The URI of the next resource that changed; `list` for the list of resources.
    pub(crate) fn next_subject(&mut self) -> String {
        notification_subject(&self.0.next().expect("news"))
    }

    /// Whether another notification comes within a moment. The answer that ends a listener's request does not count.
    pub(crate) fn has_notification(&mut self) -> bool {
        self.0.set_read_timeout(Duration::from_millis(300));
        let comes = self.0.any(|message| message.get("method").is_some());
        self.0.set_read_timeout(PATIENCE);
        comes
    }

    /// The underlying SSE stream.
    pub(crate) fn into_events(self) -> EventStream {
        self.0
    }

    /// All notifications up to the first one of `last`.
    pub(crate) fn read_until(&mut self, last: &str) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|uri| uri != last) {
            heard.push(self.next_subject());
        }
        heard
    }
}

/// The subject of a notification: a URI, or `list`.
pub(crate) fn notification_subject(message: &Value) -> String {
    match message["method"].as_str() {
        Some("notifications/resources/updated") => message["params"]["uri"].as_str().expect("a URI").to_owned(),
        Some("notifications/resources/list_changed") => "list".to_owned(),
        _ => panic!("not a notification of a change: {message}"),
    }
}

fn with_authorization<'a>(given: &[(&'a str, &'a str)], token: Option<&'a String>) -> Vec<(&'a str, &'a str)> {
    given.iter().copied().chain(token.map(|token| ("Authorization", token.as_str()))).collect()
}

/// Parses a REST reply. Asserts that the HTTP status fits the class of the fault.
pub(crate) fn parse_rest_reply(reply: &Reply) -> CallResult {
    let json = reply.json();
    if reply.status == 200 {
        return Ok(json);
    }
    let fault = json["error"].clone();
    let expected = match fault["status"].as_str().expect("a status") {
        "InvalidArgument" => 400,
        "Unauthenticated" => 401,
        "PermissionDenied" => 403,
        "NotFound" => 404,
        "Aborted" => 409,
        "FailedPrecondition" => 422,
        "ResourceExhausted" if fault["code"] == "RATE_LIMITED" => 429,
        "ResourceExhausted" => 413,
        other => panic!("{other}: {json}"),
    };
    assert_eq!(reply.status, expected, "{json}");
    Err(fault)
}

/// Parses a tool's answer. Asserts that a fault is the same in its three places, for models and for programs.
fn parse_tool_answer(answer: &Value) -> CallResult {
    let result = &answer["result"];
    let text = |at: usize| result["content"][at]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    if result["isError"] != true {
        let content = &result["structuredContent"];
        let told = serde_json::from_str::<Value>(text(0)).expect("JSON");
        // Tools of the lore tell a bare array, which is a field of the whole.
        let is_field =
            told.is_array() && content.as_object().is_some_and(|fields| fields.values().any(|field| *field == told));
        assert!(told == *content || is_field, "{answer}");
        return Ok(content.clone());
    }
    let fault = &result["_meta"]["skald/error"];
    assert_eq!(result.get("structuredContent"), None);
    assert!(text(0).starts_with(fault["code"].as_str().expect("a code")), "{answer}");
    assert_eq!(&serde_json::from_str::<Value>(text(1)).expect("JSON")["error"], fault);
    Err(fault.clone())
}

/// The code and the gRPC status of a fault.
pub(crate) fn code_and_status(fault: &Value) -> (&str, &str) {
    let text = |field: &str| fault[field].as_str().unwrap_or_else(|| panic!("no {field} in {fault}"));
    (text("code"), text("status"))
}

/// One test per scenario and store, each on every surface.
macro_rules! on_every_surface {
    ($($scenario:ident,)+) => {
        on_every_surface!(@ memory Memory $($scenario,)+);
        on_every_surface!(@ sqlite Sqlite $($scenario,)+);
        on_every_surface!(@ postgres Postgres $($scenario,)+);
    };
    (@ $module:ident $kind:ident $($scenario:ident,)+) => {
        mod $module {
            $(#[test]
            fn $scenario() {
                for surface in $crate::program_under_test::SURFACES {
                    let world = $crate::program_under_test::World::new($crate::program_under_test::StoreKind::$kind);
                    let (mut seat, _server) = world.client(surface);
                    super::$scenario(&mut seat);
                }
            })+
        }
    };
}
pub(crate) use on_every_surface;

/// One test per scenario and store, each against one server.
macro_rules! on_every_store {
    ($($scenario:ident,)+) => {
        on_every_store!(@ memory Memory $($scenario,)+);
        on_every_store!(@ sqlite Sqlite $($scenario,)+);
        on_every_store!(@ postgres Postgres $($scenario,)+);
    };
    (@ $module:ident $kind:ident $($scenario:ident,)+) => {
        mod $module {
            $(#[test]
            fn $scenario() {
                let world = $crate::program_under_test::World::new($crate::program_under_test::StoreKind::$kind);
                super::$scenario(&world.serve(&[]));
            })+
        }
    };
}
pub(crate) use on_every_store;
