//! Tests of deadlines, cancelled calls, messages that are too large, and shutdown.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_app::{
    Allowed, App, Call, CampaignRole, Catalogue, Fault, LocalEngine, Operation, OperationEntry, OperationKind,
    PermissionClass, RateFigures, Toolset, ToolsetFilter,
};
use skald_grpc::proto::skald::gateway_client::GatewayClient;
use skald_grpc::proto::skald::{CallRequest, DescribeRequest, EndSessionRequest, IdentifyRequest, WatchRequest};
use tonic::{Code, Request};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::server::{Server, app, code_and_reason, create_token, run, with_token};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Serialize, JsonSchema)]
struct Done {}

static BEGUN: AtomicUsize = AtomicUsize::new(0);
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Counts a call that was not finished.
struct Unfinished;

impl Drop for Unfinished {
    fn drop(&mut self) {
        GIVEN_UP.fetch_add(1, Ordering::SeqCst);
    }
}

/// Never answers.
struct Endless;

impl Operation for Endless {
    const NAME: &'static str = "endless";
    const TITLE: &'static str = "Endless";
    const SUMMARY: &'static str = "Never answers.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    type Input = Nothing;
    type Output = Done;

    async fn run(_: &App, _: &Call<'_>, _: Nothing) -> Result<Done, Fault> {
        let _unfinished = Unfinished;
        BEGUN.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    }
}

fn endless_call() -> CallRequest {
    CallRequest { operation: "endless".to_owned(), input: String::new() }
}

async fn wait_for_count(count: &AtomicUsize, expected: usize) {
    while count.load(Ordering::SeqCst) < expected {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[test]
fn a_deadline_and_a_caller_who_leaves_end_the_work() {
    run(async {
        let catalogue = Catalogue::new(vec![OperationEntry::from_operation::<Endless>()], Vec::new(), Vec::new());
        let server =
            Server::start_with(LocalEngine::with_catalogue(app(), catalogue), false, ToolsetFilter::EVERYTHING).await;
        let mut gateway = GatewayClient::new(server.channel());
        let mut request = Request::new(endless_call());
        request.set_timeout(Duration::from_millis(50));
        let status = gateway.call(request).await.unwrap_err();
        // Client and server both enforce the deadline; tonic's client reports `Cancelled` if it is first.
        assert!([Code::DeadlineExceeded, Code::Cancelled].contains(&status.code()), "{status:?}");
        wait_for_count(&GIVEN_UP, 1).await;

        let mut leaving = gateway.clone();
        let call = tokio::spawn(async move { leaving.call(endless_call()).await });
        wait_for_count(&BEGUN, 2).await;
        assert_eq!(GIVEN_UP.load(Ordering::SeqCst), 1);
        call.abort();
        wait_for_count(&GIVEN_UP, 2).await;
    });
}

#[test]
fn a_message_past_the_limit_is_refused_by_name() {
    run(async {
        let server = Server::start_with(LocalEngine::new(app()), false, ToolsetFilter::EVERYTHING).await;
        let mut gateway = GatewayClient::new(server.channel());
        let sized = |bytes: usize| CallRequest { operation: "roll".to_owned(), input: " ".repeat(bytes) };
        let most = skald_app::limits::BODY_BYTES_MAX;
        // A field's name and length take nine bytes, the operation's six.
        let fits = gateway.call(sized(most - 20)).await.unwrap_err();
        assert_eq!(fits.code(), Code::InvalidArgument, "it was read, and is no roll: {fits:?}");
        let status = gateway.call(sized(most + 1)).await.unwrap_err();
        assert_eq!(code_and_reason(&status), (Code::ResourceExhausted, "TOO_LARGE".to_owned()));
        assert!(status.message().contains("10485760"), "{status:?}");
    });
}

#[test]
fn a_stopping_server_ends_what_would_last() {
    run(async {
        let server = Server::start_with(LocalEngine::new(app()), false, ToolsetFilter::EVERYTHING).await;
        let mut gateway = GatewayClient::new(server.channel());
        let request = WatchRequest { after: String::new(), uris: Vec::new() };
        let mut stream = gateway.watch(request).await.unwrap().into_inner();
        stream.message().await.unwrap().expect("where it begins");
        let began = Instant::now();
        server.stopping.cancel();
        let ended = stream.message().await.unwrap_err();
        assert_eq!(ended.code(), Code::Unavailable);
        assert!(began.elapsed() < Duration::from_secs(5));
    });
}

#[test]
fn nothing_is_read_of_whoever_has_no_token() {
    run(async {
        let server = Server::start_with(LocalEngine::new(app()), true, ToolsetFilter::EVERYTHING).await;
        let mut client = GatewayClient::new(server.channel()).max_encoding_message_size(usize::MAX);
        // It would be refused for its size if it had been read.
        let large =
            CallRequest { operation: "roll".to_owned(), input: " ".repeat(skald_app::limits::BODY_BYTES_MAX + 1) };
        let refused = client.call(large).await.unwrap_err();
        assert_eq!(code_and_reason(&refused), (Code::Unauthenticated, "UNAUTHORIZED".to_owned()));
        let asked = HealthCheckRequest { service: String::new() };
        assert!(HealthClient::new(server.channel()).check(asked).await.is_ok(), "how it is, everybody may know");
    });
}

#[test]
fn whoever_watches_the_health_does_not_hold_up_the_end() {
    run(async {
        let server = Server::start(&LocalEngine::new(app())).await;
        let asked = HealthCheckRequest { service: String::new() };
        let mut statuses = HealthClient::new(server.channel()).watch(asked).await.unwrap().into_inner();
        assert_eq!(statuses.message().await.unwrap().unwrap().status(), ServingStatus::Serving);
        server.stopping.cancel();
        let rest = async { while statuses.message().await.is_ok_and(|status| status.is_some()) {} };
        tokio::time::timeout(Duration::from_secs(2), rest).await.expect("an end");
    });
}

/// What calls no operation counts too. `Identify` does not: it does no more than the check of the token.
#[test]
fn requests_beside_operations_are_counted() {
    run(async {
        let local = LocalEngine::new(app());
        local.app().rate_limits.set_figures(RateFigures {
            calls: Some(3),
            reads: Some(2),
            lists: Some(1),
            ..RateFigures::default()
        });
        let server = Server::start(&local).await;
        let (token, _) = create_token(&local, "*", CampaignRole::Gm).await;
        let mut gateway = GatewayClient::new(server.channel());
        let mut counts = [0; 3];
        while gateway.describe(with_token(&token, DescribeRequest {})).await.is_ok() {
            counts[0] += 1;
        }
        let mut streams = Vec::new();
        let refused = loop {
            match gateway.watch(with_token(&token, WatchRequest::default())).await {
                Ok(stream) => streams.push(stream),
                Err(refused) => break refused,
            }
        };
        counts[1] = streams.len();
        assert_eq!(code_and_reason(&refused), (Code::ResourceExhausted, "RATE_LIMITED".to_owned()));
        while gateway.end_session(with_token(&token, EndSessionRequest {})).await.is_ok() {
            counts[2] += 1;
        }
        assert_eq!(counts, [3, 2, 3], "a burst of lists, reads and calls");
        for _ in 0..50 {
            gateway.identify(with_token(&token, IdentifyRequest {})).await.expect("it counts against no limit");
        }
    });
}
