//! Tests of the stdio transport: one client over a pair of streams.

use std::time::Duration;

use serde_json::{Value, json};
use skald_app::{Principal, limits};
use skald_mcp::{McpOptions, StdioError};
use skald_testkit::mcp_messages::{self, LEGACY, initialize, request, tool_call};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, duplex};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::server::{default_engine, panic_and_slow_engine};

struct Stdio {
    input: Option<DuplexStream>,
    output: Lines<BufReader<DuplexStream>>,
    served: JoinHandle<Result<(), StdioError>>,
}

fn start(engine: std::sync::Arc<skald_app::LocalEngine>) -> Stdio {
    let (input, server_input) = duplex(1 << 20);
    let (server_output, output) = duplex(1 << 20);
    let served = tokio::spawn(async move {
        skald_mcp::serve(engine, Principal::Owner, &McpOptions::default(), server_input, server_output).await
    });
    Stdio { input: Some(input), output: BufReader::new(output).lines(), served }
}

impl Stdio {
    async fn write(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        let line =
            tokio::time::timeout(Duration::from_secs(5), self.output.next_line()).await.expect("an answer in time");
        serde_json::from_str(&line.unwrap().expect("a line")).unwrap()
    }

    async fn send_request(&mut self, message: &Value) -> Value {
        self.write(&message.to_string()).await;
        self.read().await
    }

    /// Closes the input, waits for the end, and returns how long the server took. With a paused clock only its own
    /// timers count, so that the result does not depend on the speed of the machine.
    async fn close_and_wait(&mut self) -> Duration {
        self.input = None;
        let began = Instant::now();
        (&mut self.served).await.unwrap().unwrap();
        began.elapsed()
    }
}

#[tokio::test]
async fn every_revision_is_spoken() {
    let outcome = tool_call("duality_outcome", &json!({"hope": 8, "fear": 5, "modifier": 2, "difficulty": 15}));
    for version in LEGACY {
        let mut stdio = start(default_engine());
        assert_eq!(stdio.send_request(&initialize(version)).await["result"]["protocolVersion"], version);
        stdio.write(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        assert_eq!(stdio.send_request(&outcome).await["result"]["structuredContent"]["total"], 15);
    }
    let mut stdio = start(default_engine());
    let discovered =
        stdio.send_request(&mcp_messages::with_modern_meta(request(1, "server/discover", &json!({})))).await;
    assert_eq!(discovered["result"]["supportedVersions"].as_array().unwrap().len(), 5);
    let called = stdio.send_request(&mcp_messages::with_modern_meta(outcome)).await;
    assert_eq!(
        (&called["result"]["structuredContent"]["total"], &called["result"]["resultType"]),
        (&json!(15), &json!("complete"))
    );
}

#[tokio::test]
async fn a_sloppy_handshake_is_repaired() {
    let mut stdio = start(default_engine());
    stdio.write(r#"{"jsonrpc":"2.0","method":"initialized"}"#).await;
    let opened = stdio
        .send_request(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2024-11-05"}}),
        )
        .await;
    assert_eq!(opened["result"]["protocolVersion"], "2024-11-05");
    stdio.write(r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#).await;
    assert_eq!(stdio.send_request(&request(2, "tools/list", &json!({}))).await["id"], 2);
}

#[tokio::test]
async fn a_line_that_cannot_be_read_is_answered() {
    let mut stdio = start(default_engine());
    for (line, code, id) in [
        ("nonsense", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600, json!(null)),
        (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, -32600, json!(9)),
    ] {
        stdio.write(line).await;
        let answer = stdio.read().await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{line}");
    }
    stdio.write("").await;
    assert_eq!(stdio.send_request(&initialize("2025-11-25")).await["id"], 1, "the conversation goes on");
    stdio.write("{").await;
    assert_eq!(stdio.read().await["error"]["code"], -32700);
    assert_eq!(stdio.send_request(&request(3, "ping", &json!({}))).await["result"], json!({}));
}

#[tokio::test]
async fn an_overlong_line_is_dropped_and_answered() {
    let mut stdio = start(default_engine());
    let mut input = stdio.input.take().unwrap();
    let writer = tokio::spawn(async move {
        let chunk = vec![b'x'; 1_000_000];
        for _ in 0..11 {
            input.write_all(&chunk).await.unwrap();
        }
        input.write_all(b"\n").await.unwrap();
        input
    });
    assert_eq!(stdio.read().await["error"]["code"], -32600);
    stdio.input = Some(writer.await.unwrap());
    assert_eq!(stdio.send_request(&initialize("2025-11-25")).await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn it_ends_with_its_input() {
    let mut silent = start(default_engine());
    assert_eq!(silent.close_and_wait().await, Duration::ZERO);
    let mut greeted = start(default_engine());
    greeted.send_request(&initialize("2025-11-25")).await;
    assert_eq!(greeted.close_and_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn an_open_listen_does_not_keep_it() {
    let mut stdio = start(default_engine());
    let filter = json!({"notifications": {"resourceSubscriptions": ["dice://rules/duality"]}});
    stdio.write(&mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter)).to_string()).await;
    assert_eq!(stdio.read().await["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(stdio.read().await["method"], "notifications/resources/updated");
    assert_eq!(stdio.close_and_wait().await, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_listen_that_comes_with_the_end_of_input_is_answered() {
    let mut stdio = start(default_engine());
    let filter = json!({"notifications": {"resourceSubscriptions": ["dice://rules/duality"]}});
    stdio.write(&mcp_messages::with_modern_meta(request(5, "subscriptions/listen", &filter)).to_string()).await;
    assert_eq!(stdio.close_and_wait().await, Duration::ZERO);
    let mut methods = Vec::new();
    while let Ok(Some(line)) = stdio.output.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        methods.push(message["method"].as_str().map_or_else(|| message["id"].to_string(), str::to_owned));
    }
    assert_eq!(methods.first().map(String::as_str), Some("notifications/subscriptions/acknowledged"));
    assert_eq!(methods.last().map(String::as_str), Some("5"), "{methods:?}");
}

#[tokio::test]
async fn an_id_that_is_under_way_is_not_taken_twice() {
    let mut stdio = start(panic_and_slow_engine());
    stdio.send_request(&initialize("2025-11-25")).await;
    let slow = tool_call("slow", &json!({"milliseconds": 150}));
    stdio.write(&slow.to_string()).await;
    assert_eq!(stdio.send_request(&slow).await["error"]["code"], -32600);
    assert_eq!(stdio.read().await["result"]["structuredContent"]["milliseconds"], 150, "the first one is answered");
    assert_eq!(stdio.send_request(&slow).await["result"]["isError"], false, "and then its id is free");
}

#[tokio::test]
async fn what_does_not_fit_a_known_method_is_said_to_be_that() {
    let mut stdio = start(default_engine());
    let misfit = request(1, "initialize", &json!({"protocolVersion": 5, "clientInfo": "curl"}));
    assert_eq!(stdio.send_request(&misfit).await["error"]["code"], -32602);
    let able = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": true, "roots": true}});
    assert_eq!(stdio.send_request(&request(1, "initialize", &able)).await["result"]["protocolVersion"], "2025-11-25");
    let misfit = request(2, "tools/call", &json!({"name": "roll_dice", "arguments": []}));
    assert_eq!(stdio.send_request(&misfit).await["error"]["code"], -32602);
    assert_eq!(stdio.send_request(&request(3, "no/such", &json!({}))).await["error"]["code"], -32601);
}

#[tokio::test]
async fn it_ends_when_nobody_reads_its_answers() {
    let mut stdio = start(default_engine());
    stdio.send_request(&initialize("2025-11-25")).await;
    let (_, nobody) = duplex(1);
    stdio.output = BufReader::new(nobody).lines();
    stdio.write(&request(2, "ping", &json!({})).to_string()).await;
    let ended = tokio::time::timeout(Duration::from_secs(5), &mut stdio.served).await;
    assert!(ended.is_ok(), "it goes on though its output is closed");
}

#[tokio::test]
async fn an_answer_that_was_begun_is_not_lost_at_the_end_of_input() {
    let mut stdio = start(panic_and_slow_engine());
    stdio.send_request(&initialize("2025-11-25")).await;
    stdio.write(&tool_call("slow", &json!({"milliseconds": 200})).to_string()).await;
    stdio.close_and_wait().await;
    assert_eq!(stdio.read().await["result"]["structuredContent"]["milliseconds"], 200);
}

#[tokio::test(start_paused = true)]
async fn a_call_has_only_so_long_after_the_end_of_input() {
    let grace = limits::SHUTDOWN_GRACE_SECONDS;
    for (seconds, is_answered) in [(grace - 1, true), (10 * grace, false)] {
        let mut stdio = start(panic_and_slow_engine());
        stdio.send_request(&initialize("2025-11-25")).await;
        stdio.write(&tool_call("slow", &json!({"milliseconds": 1_000 * seconds})).to_string()).await;
        let waited = stdio.close_and_wait().await.as_secs();
        assert!(waited >= seconds.min(grace) && waited < 2 * grace, "{waited}");
        let answer = stdio.output.next_line().await.unwrap();
        assert_eq!(answer.is_some(), is_answered, "{seconds} s: {answer:?}");
    }
}

#[tokio::test]
async fn the_last_line_needs_no_newline() {
    let mut stdio = start(default_engine());
    let message = initialize("2025-11-25").to_string();
    stdio.input.as_mut().unwrap().write_all(message.as_bytes()).await.unwrap();
    stdio.close_and_wait().await;
    assert_eq!(stdio.read().await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_not_answered() {
    let mut stdio = start(panic_and_slow_engine());
    stdio.send_request(&initialize("2025-11-25")).await;
    stdio.write(&tool_call("slow", &json!({"milliseconds": 60_000})).to_string()).await;
    stdio.write(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#).await;
    assert_eq!(stdio.send_request(&request(3, "ping", &json!({}))).await["id"], 3);
    assert_eq!(stdio.close_and_wait().await, Duration::ZERO, "the cancelled call is over");
}
