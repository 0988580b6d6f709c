//! Tests that a noun registered by a test appears on every surface without code written there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_app::reference_pages::render_pages;
use skald_app::{
    Allowed, App, Call, Caller, CampaignEffect, Engine, Exposed, Fault, FaultField, LocalEngine, Noun, Nouns,
    Operation, OperationEntry, OperationKind, PermissionClass, Prompt, PromptEntry, RecordAudience, Resource,
    ResourceChange, Route, Toolset, ToolsetFilter,
};
use skald_domain::decider::{Decider, DecisionContext};
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use skald_grpc::proto::skald::{CallRequest, DescribeRequest, ReadRequest};
use skald_http::{Access, Allowlist, Calls, Exposition, Readiness};
use skald_journal::{
    Document, ReadModelChange, Record, RegisteredKind, SideRowCheck, StoreError, StreamKind, StreamName, Streams,
    Submission, VerifyVerdict, WholeSnapshot, rebuild, verify,
};
use skald_mcp::McpOptions;
use skald_testkit::mcp_messages::{self, ACCEPT_BOTH, JSON, request};
use skald_testkit::{Client, EventStream};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::server::app;

/// The rules of lanterns: one can be lit, once.
struct LanternRules;

#[derive(Serialize, Deserialize)]
enum LanternEvent {
    #[serde(rename = "lantern.lit.v1")]
    Lit { oil: String },
}

#[derive(Default, Clone, Serialize, Deserialize)]
struct Lantern {
    is_lit: bool,
}

impl Decider for LanternRules {
    type Command = String;
    type Event = LanternEvent;
    type Refusal = &'static str;
    type State = Lantern;

    fn decide(lantern: &Lantern, oil: &String, _: &DecisionContext) -> Result<Vec<LanternEvent>, &'static str> {
        if lantern.is_lit { Err("it is lit already") } else { Ok(vec![LanternEvent::Lit { oil: oil.clone() }]) }
    }

    fn evolve(_: Lantern, _: &LanternEvent, _: &DecisionContext) -> Lantern {
        Lantern { is_lit: true }
    }
}

struct LanternStream;

impl StreamKind for LanternStream {
    type Rules = LanternRules;
    const NAME: &'static str = "lantern";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = WholeSnapshot<Lantern>;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(_: &LanternEvent) -> &'static str {
        "lantern.lit.v1"
    }

    fn read_model_changes(stream: &StreamName, _: &Lantern, _: &[LanternEvent]) -> Vec<ReadModelChange> {
        vec![ReadModelChange::Put(Document {
            collection: "lanterns".to_owned(),
            id: stream.id().to_owned(),
            partition: String::new(),
            rank: 0,
            body: "{}".to_owned(),
            search: None,
        })]
    }

    fn referenced_side_rows(_: &StreamName, _: &Lantern) -> Vec<(Cow<'static, str>, String)> {
        Vec::new()
    }

    fn removed_side_rows(_: &StreamName, _: &[LanternEvent]) -> Vec<(String, String)> {
        Vec::new()
    }
}

fn streams(app: &App) -> Streams<LanternStream> {
    Streams::new(Arc::clone(&app.journal))
}

fn stream(id: &str) -> StreamName {
    StreamName::new(LanternStream::NAME, id)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LanternInput {
    lantern_id: String,
}

#[derive(Serialize, JsonSchema)]
struct LanternOutput {
    is_lit: bool,
}

struct LanternLight;

impl Operation for LanternLight {
    const NAME: &'static str = "lantern_light";
    const TITLE: &'static str = "Light a lantern";
    const SUMMARY: &'static str = "Lights a lantern.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Dice;
    type Input = LanternInput;
    type Output = LanternOutput;

    async fn run(app: &App, call: &Call<'_>, input: LanternInput) -> Result<LanternOutput, Fault> {
        let given = DecisionContext { at: app.clock.now(), by: call.caller.id().to_owned() };
        let submission = Submission::new("whale oil".to_owned(), given);
        let applied = streams(app).execute(&stream(&input.lantern_id), submission).await;
        applied.map(|applied| LanternOutput { is_lit: applied.committed.state.is_lit }).map_err(|_| {
            Fault::new(skald_app::Code::Rejected, "the lantern is lit already").hint("read it with `lantern_read`")
        })
    }
}

struct LanternRead;

impl Operation for LanternRead {
    const NAME: &'static str = "lantern_read";
    const TITLE: &'static str = "Read a lantern";
    const SUMMARY: &'static str = "Whether a lantern is lit.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::Everywhere;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/lanterns/{lantern_id}")];
    type Input = LanternInput;
    type Output = LanternOutput;

    async fn run(app: &App, _: &Call<'_>, input: LanternInput) -> Result<LanternOutput, Fault> {
        let committed = streams(app).read(&stream(&input.lantern_id)).await.expect("the store is memory");
        Ok(LanternOutput { is_lit: committed.state.is_lit })
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DarkRoom {}

struct DescribeLight;

impl Prompt for DescribeLight {
    const NAME: &'static str = "describe_light";
    const TITLE: &'static str = "Describe the light";
    const SUMMARY: &'static str = "Describes what a lantern shows.";
    const TOOLSET: Toolset = Toolset::Campaign;
    type Arguments = DarkRoom;

    async fn render(_: &App, _: &Caller, _: DarkRoom) -> Result<String, Fault> {
        Ok("Describe what the lantern shows.".to_owned())
    }
}

struct LanternNoun;

impl Noun for LanternNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![OperationEntry::from_operation::<LanternLight>(), OperationEntry::from_operation::<LanternRead>()]
    }

    fn resources(&self) -> Vec<Resource> {
        vec![Resource {
            uri: "lantern://{lantern_id}",
            name: "lantern",
            title: "A lantern",
            summary: "Whether it is lit.",
            toolset: Toolset::Campaign,
            mime_type: "application/json",
            operation: "lantern_read",
            fixed: None,
            listed: None,
        }]
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        vec![PromptEntry::from_prompt::<DescribeLight>()]
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Campaign, "Light lanterns with lantern_light."))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        &[]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        Some(RegisteredKind::new::<LanternStream>())
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        Vec::new()
    }

    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange> {
        vec![ResourceChange::Resource(format!("lantern://{}", record.stream.id()).into())]
    }

    fn containing_resource(&self, _uri: &str) -> Option<String> {
        None
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::CampaignOfStreamId
    }

    fn wait_for_published_state<'a>(&'a self, _: &'a App, _: &'a Record) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &["oil"]
    }
}

/// MCP, REST and gRPC over one engine that has the noun.
struct Surfaces {
    http: std::net::SocketAddr,
    grpc: std::net::SocketAddr,
    local: Arc<LocalEngine>,
    runtime: tokio::runtime::Runtime,
}

impl Surfaces {
    fn start() -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        // Before the engine, which looks its counters up once.
        let exposition = Exposition::install().expect("no other test of this program has metrics");
        let mut app = app();
        app.nouns = Nouns::all().with_noun(Arc::new(LanternNoun));
        let local = LocalEngine::new(app);
        let engine: Arc<dyn Engine> = local.clone();
        let (following, from) = (Arc::clone(&local), runtime.block_on(local.journal_end()));
        runtime.spawn(async move { following.follow(from).await });
        let closing = CancellationToken::new();

        let access = Access { engine: Arc::clone(&engine), is_token_required: false, protected_resource: None };
        let (mcp, _) = skald_mcp::http_route(Arc::clone(&engine), &McpOptions::default());
        let routes = skald_http::routes(
            &engine,
            ToolsetFilter::EVERYTHING,
            &Readiness::default(),
            exposition,
            &Calls::default(),
        )
        .route(skald_mcp::PATH, mcp);
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let http = listener.local_addr().unwrap();
        let served =
            skald_http::serve(listener, routes, Allowlist::default(), access, Readiness::default(), closing.clone());
        runtime.spawn(served);

        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))).unwrap();
        let grpc = listener.local_addr().unwrap();
        let options = skald_grpc::GrpcOptions {
            is_token_required: false,
            visible: ToolsetFilter::EVERYTHING,
            stopping: closing.clone(),
        };
        runtime.spawn(async move {
            let health = skald_grpc::GrpcHealth::new().await;
            skald_grpc::serve(listener, engine, options, &health, closing).await
        });
        Self { http, grpc, local, runtime }
    }

    fn post_mcp(&self, session: &str, message: &Value) -> Value {
        let headers = [JSON, ACCEPT_BOTH, ("Mcp-Session-Id", session)];
        Client::connect(self.http).send("POST", "/mcp", &headers, message.to_string().as_bytes()).json()
    }
}

fn next_update(events: &mut EventStream) -> Value {
    let message = events.next().expect("a message");
    assert_eq!(message["method"], "notifications/resources/updated");
    message["params"]["uri"].clone()
}

#[test]
fn a_registered_noun_is_on_every_surface() {
    let surfaces = Surfaces::start();
    let initialized = Client::connect(surfaces.http).send(
        "POST",
        "/mcp",
        &[JSON, ACCEPT_BOTH],
        mcp_messages::initialize("2025-11-25").to_string().as_bytes(),
    );
    let session = initialized.header("mcp-session-id").expect("a session").to_owned();
    let instructions = initialized.json()["result"]["instructions"].to_string();
    assert!(instructions.contains("Light lanterns with lantern_light."), "{instructions}");

    // MCP: tools, resource templates, prompts, and news of a change.
    let named = |method: &str, list: &str, field: &str| {
        let listed = surfaces.post_mcp(&session, &request(2, method, &json!({})));
        let listed = listed["result"][list].as_array().expect("a list").clone();
        listed.iter().map(|item| item[field].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert!(named("tools/list", "tools", "name").contains(&"lantern_light".to_owned()));
    let templates = named("resources/templates/list", "resourceTemplates", "uriTemplate");
    assert!(templates.contains(&"lantern://{lantern_id}".to_owned()));
    assert!(named("prompts/list", "prompts", "name").contains(&"describe_light".to_owned()));
    let subscribed =
        surfaces.post_mcp(&session, &request(3, "resources/subscribe", &json!({"uri": "lantern://harbour"})));
    assert_eq!(subscribed["result"], json!({}));
    let mut news = Client::connect(surfaces.http).open("GET", "/mcp", &[("Mcp-Session-Id", &session)], b"");
    let called = json!({"name": "lantern_light", "arguments": {"lantern_id": "harbour"}});
    let lit = surfaces.post_mcp(&session, &request(4, "tools/call", &called));
    assert_eq!(lit["result"]["structuredContent"], json!({"is_lit": true}));
    assert_eq!(next_update(&mut news), "lantern://harbour");

    // REST: the operation's own route, the route that it names, and the description of both.
    let get = |path: &str| Client::connect(surfaces.http).send("GET", path, &[], b"").json();
    assert_eq!(get("/api/v1/lanterns/harbour"), json!({"is_lit": true}));
    let again =
        Client::connect(surfaces.http).send("POST", "/api/v1/lantern_light", &[JSON], br#"{"lantern_id": "harbour"}"#);
    assert_eq!(again.json()["error"]["code"], "REJECTED");
    let described = get("/api/v1/openapi.json");
    let paths = described["paths"].as_object().expect("paths");
    assert!(paths.contains_key("/api/v1/lantern_light") && paths.contains_key("/api/v1/lanterns/{lantern_id}"));

    // gRPC: described, called and read through the gateway.
    surfaces.runtime.block_on(async {
        let mut gateway = GatewayClient::connect(format!("http://{}", surfaces.grpc)).await.expect("a server");
        let described = gateway.describe(DescribeRequest {}).await.expect("described").into_inner();
        assert!(described.operations.iter().any(|operation| operation.name == "lantern_read"));
        let input = json!({"lantern_id": "attic"}).to_string();
        let read = gateway.call(CallRequest { operation: "lantern_read".to_owned(), input }).await.expect("an answer");
        assert_eq!(read.into_inner().answer, r#"{"is_lit":false}"#);
        let resource = gateway.read(ReadRequest { uri: "lantern://harbour".to_owned() }).await.expect("a resource");
        assert_eq!(resource.into_inner().text, r#"{"is_lit":true}"#);
    });

    // Metrics: calls of its operations are counted by their names, and by how they ended.
    let metrics = Client::connect(surfaces.http).send("GET", "/metrics", &[], b"").text();
    let counted = |outcome: &str| {
        let is_line = |line: &&str| {
            let parts = ["skald_operations_total", "operation=\"lantern_light\"", &format!("outcome=\"{outcome}\"")];
            parts.iter().all(|part| line.contains(part))
        };
        metrics.lines().filter(|line| !line.starts_with('#')).find(is_line).map(|line| line.ends_with(" 1"))
    };
    assert_eq!((counted("ok"), counted("REJECTED")), (Some(true), Some(true)), "{metrics}");

    // The reference pages: its operations, its resource, its prompt, and who may call it.
    let pages: BTreeMap<String, String> = render_pages(surfaces.local.catalogue()).into_iter().collect();
    let page = &pages["campaign.md"];
    for part in
        ["lantern_light", "lantern_read", "lantern://{lantern_id}", "describe_light", "/api/v1/lanterns/{lantern_id}"]
    {
        assert!(page.contains(part), "{part} is not on the page of its toolset");
    }
    assert!(
        pages["permissions.md"].contains("| `lantern_light` | anyone | `write` | call |"),
        "{}",
        pages["permissions.md"]
    );

    // The journal: its read model is verified and rebuilt with the others.
    surfaces.runtime.block_on(async {
        let app = surfaces.local.app();
        let kinds = app.nouns.stream_kinds();
        let verdict = verify(&*app.journal, &kinds).await.expect("a verdict");
        let VerifyVerdict::Sound(report) = verdict else { panic!("{verdict:?}") };
        assert_eq!((report.streams, report.documents), (1, 1));
        assert_eq!(rebuild(&*app.journal, &kinds).await.expect("rebuilt"), 1);
    });
}

/// No answer of any operation can hold a field that its noun calls secret.
#[test]
fn secret_fields_are_in_no_answer() {
    fn has_property(schema: &Value, name: &str) -> bool {
        match schema {
            Value::Object(fields) => {
                fields.get("properties").is_some_and(|properties| properties.get(name).is_some())
                    || fields.values().any(|field| has_property(field, name))
            }
            Value::Array(items) => items.iter().any(|item| has_property(item, name)),
            _ => false,
        }
    }
    let nouns = Nouns::all();
    let secrets: Vec<&str> = nouns.iter().flat_map(|noun| noun.secret_fields()).copied().collect();
    assert_eq!(secrets, ["secret_hash"]);
    for entry in nouns.iter().flat_map(|noun| noun.operations()) {
        let output = Value::Object(entry.output.as_ref().as_ref().clone());
        for secret in &secrets {
            assert!(!has_property(&output, secret), "{} answers {secret}", entry.name);
        }
    }
    assert!(has_property(&json!({"properties": {"a": {"properties": {"secret_hash": {}}}}}), "secret_hash"));
}
