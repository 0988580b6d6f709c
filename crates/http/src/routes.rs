//! REST routes from the catalogue: `POST /api/v1/<operation>` for each, and the routes that an operation declares.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Query, RawPathParams, Request, State};
use axum::http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on, post};
use serde_json::{Value, json};
use skald_app::idempotency_key::key_problem;
use skald_app::{
    API_PREFIX, Answer, Caller, CampaignRole, Code, Conversation, EVERY_CAMPAIGN, Engine, Fault, FaultShape,
    HttpMethod, MIME_JSON, OperationEntry, RateClass, RequestControl, RequestSurface, Route, ToolsetFilter, limits,
    parse_json, truncate_for_message, unidentified_caller_fault,
};

use crate::body_budget::read_bytes;
use crate::invitations::{REDEEM, redeem};
use crate::mounted_routes::Section;
use crate::public_routes::{HEALTH, MCP_HEALTH, READY};
use crate::route_handler::{RouteTarget, handle};
use crate::{Calls, Exposition, MountedRoutes, Readiness, fault, openapi};

/// The surface label in metrics.
const SURFACE: &str = "rest";

/// All routes of this crate: REST, OpenAPI, health and metrics.
pub fn routes(
    engine: &Arc<dyn Engine>,
    visible: ToolsetFilter,
    readiness: &Readiness,
    exposition: Exposition,
    calls: &Calls,
) -> MountedRoutes {
    let operations = engine.catalogue().operations();
    let rest = add_sections(operations, MountedRoutes::default());
    let operations: Vec<&OperationEntry> = operations.iter().filter(|entry| visible.admits(entry)).collect();
    let rest = operations.iter().filter(|entry| entry.exposed.has_post_route()).fold(rest, |routes, entry| {
        let name = entry.name;
        routes.mount(
            &format!("{API_PREFIX}/{name}"),
            post(async move |rest, request| handle_post(name, rest, request).await),
        )
    });
    let rest = group_targets(&operations).into_iter().fold(rest, |routes, targets| {
        let path = targets[0].route.path;
        routes.mount(path, method_router(targets))
    });
    let described = Arc::new(OnceLock::new());
    let (ready, mcp_ready) = (readiness.clone(), readiness.clone());
    let started = Instant::now();
    rest.mount(
        "/api/v1/openapi.json",
        get(async move |State(rest): State<Rest>, request: Request| {
            let document = || Bytes::from(openapi::document(rest.engine.catalogue(), visible).to_string());
            match check_rate(&*rest.engine, &request) {
                Ok(()) => json_response(vec![described.get_or_init(document).clone()]),
                Err(fault) => fault::response(FaultShape::Object, &fault),
            }
        }),
    )
    .mount(HEALTH, get(async move || json_text_response(health_json(started.elapsed()).to_string())))
    .mount(READY, get(async move || ready.response()))
    .mount(MCP_HEALTH, get(async move || mcp_ready.response()))
    .mount(REDEEM, post(redeem))
    .mount(
        "/metrics",
        get(async move |State(rest): State<Rest>, request: Request| metrics(&*rest.engine, &exposition, &request)),
    )
    .with_fallbacks(unknown_path, method_not_allowed)
    .with_state(Rest { engine: Arc::clone(engine), calls: calls.clone(), readiness: readiness.clone(), visible })
}

/// The metrics tell what goes on in every campaign, so they are for whoever may know all of it.
fn metrics(engine: &dyn Engine, exposition: &Exposition, request: &Request) -> Response {
    match check_rate(engine, request).and_then(|()| caller(request)) {
        Ok(caller) if caller.role_in(EVERY_CAMPAIGN) == Some(CampaignRole::Gm) => exposition.render().into_response(),
        Ok(_) => {
            let fault =
                Fault::new(Code::Forbidden, "metrics are for the owner, and for game masters of every campaign");
            fault::response(FaultShape::Object, &fault.hint("send a token with the role gm in all campaigns"))
        }
        Err(fault) => fault::response(FaultShape::Object, &fault),
    }
}

/// Counts a `GET` that calls no operation, or refuses it.
fn check_rate(engine: &dyn Engine, request: &Request) -> Result<(), Fault> {
    engine.check_rate(&caller(request)?, RateClass::Read)
}

/// Registers the paths of REST, including those of hidden operations.
fn add_sections<S: Clone + Send + Sync + 'static>(
    operations: &[OperationEntry],
    routes: MountedRoutes<S>,
) -> MountedRoutes<S> {
    let routes = routes.add_section(Section::from_path(SURFACE, API_PREFIX, FaultShape::Object));
    let all = operations.iter().flat_map(|entry| entry.routes);
    all.fold(routes, |routes, route| routes.add_section(Section::from_path(SURFACE, route.path, route.fault_shape)))
}

/// The routes of all operations, grouped by method and path. Within a group the body decides the operation.
fn group_targets(operations: &[&OperationEntry]) -> Vec<Vec<RouteTarget>> {
    let mut all: Vec<Vec<RouteTarget>> = Vec::new();
    for entry in operations {
        for route in entry.routes {
            let target = RouteTarget { operation: entry.name, route: *route };
            let is_same = |other: &Route| (other.method, other.path) == (route.method, route.path);
            match all.iter_mut().find(|targets| is_same(&targets[0].route)) {
                Some(targets) => targets.push(target),
                None => all.push(vec![target]),
            }
        }
    }
    all
}

fn method_router(targets: Vec<RouteTarget>) -> MethodRouter<Rest> {
    let method = match targets[0].route.method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
    };
    let handler =
        async move |State(rest): State<Rest>,
                    path: RawPathParams,
                    Query(query): Query<Vec<(String, String)>>,
                    request: Request| { handle(&rest, &targets, &path, &query, request).await };
    on(method, handler)
}

/// The liveness answer. It does not depend on readiness.
fn health_json(uptime: Duration) -> Value {
    json!({
        "ok": true,
        "status": "ok",
        "name": "skald",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime": uptime.as_secs()
    })
}

/// The state of the REST handlers.
#[derive(Clone)]
pub(crate) struct Rest {
    pub engine: Arc<dyn Engine>,
    pub calls: Calls,
    pub readiness: Readiness,
    pub visible: ToolsetFilter,
}

/// `POST /api/v1/<operation>`: the body is the input.
async fn handle_post(name: &'static str, State(rest): State<Rest>, request: Request) -> Response {
    let answered = async {
        let request_context = RequestContext::from_request(&request)?;
        let answer = rest
            .call_operation(&request_context.caller, name, read_json(request).await?, &request_context.control)
            .await?;
        Ok(with_etag(json_response(answer.into_json_pieces()), &request_context.control))
    };
    answered.await.unwrap_or_else(|fault| fault::response(FaultShape::Object, &fault))
}

/// The body of a request as JSON. An empty body is an empty object.
pub(crate) async fn read_json(request: Request) -> Result<Value, Fault> {
    let body = read_bytes(request.into_body()).await?;
    if body.trim_ascii().is_empty() { Ok(json!({})) } else { parse_json(&body) }
}

/// REST has no sessions: a caller's context is stored under this client name.
const CLIENT: &str = "rest";

/// The caller that `IdentifyHttp` put into the request.
pub(crate) fn caller(request: &Request) -> Result<Caller, Fault> {
    let caller = request.extensions().get::<Caller>().cloned().ok_or_else(unidentified_caller_fault)?;
    Ok(caller.with_conversation(Conversation::Client(CLIENT.into())))
}

/// The idempotency key and the expected revision, from the headers.
fn request_control(headers: &HeaderMap) -> Result<RequestControl, Fault> {
    let header = |name: &str| match headers.get(name).map(HeaderValue::to_str) {
        None => Ok(None),
        Some(Ok(text)) if key_problem(text.trim()).is_none() => Ok(Some(text.trim())),
        Some(_) => {
            let most = limits::KEY_CHARS_MAX;
            Err(Fault::new(Code::InvalidParams, format!("the header {name} has 1 to {most} plain characters")))
        }
    };
    let if_match = header(IF_MATCH.as_str())?;
    let idempotency_key = header("idempotency-key")?.map(str::to_owned);
    RequestControl::from_texts(RequestSurface::Rest, idempotency_key, if_match)
}

/// The caller of a request, its key and its expected revision.
pub(crate) struct RequestContext {
    pub caller: Caller,
    pub control: RequestControl,
}

impl RequestContext {
    pub(crate) fn from_request(request: &Request) -> Result<Self, Fault> {
        Ok(Self { caller: caller(request)?, control: request_control(request.headers())? })
    }
}

impl Rest {
    /// Calls an operation. It counts as under way until it has answered.
    pub(crate) async fn call_operation(
        &self,
        caller: &Caller,
        name: &str,
        input: Value,
        control: &RequestControl,
    ) -> Result<Answer, Fault> {
        let _call = self.calls.begin();
        let answer = self.engine.answer(caller, name, input, control).await;
        answer.map_err(|fault| fault.for_client(self.engine.catalogue(), self.visible, Cow::Borrowed))
    }
}

/// Adds the revision as `ETag`, if the operation set one.
pub(crate) fn with_etag(mut response: Response, control: &RequestControl) -> Response {
    let etag = control.revision.get().map(|revision| HeaderValue::try_from(format!("\"{revision}\"")));
    if let Some(Ok(etag)) = etag {
        response.headers_mut().insert(ETAG, etag);
    }
    response
}

fn json_text_response(text: String) -> Response {
    json_response(vec![text.into()])
}

/// JSON in pieces, sent without copying them together.
pub(crate) fn json_response(pieces: Vec<Bytes>) -> Response {
    typed_response(MIME_JSON, pieces)
}

pub(crate) fn typed_response(mime_type: &'static str, pieces: Vec<Bytes>) -> Response {
    let length: usize = pieces.iter().map(Bytes::len).sum();
    let body = match <[Bytes; 1]>::try_from(pieces) {
        Ok([whole]) => Body::from(whole),
        Err(pieces) => Body::from_stream(futures::stream::iter(pieces.into_iter().map(Ok::<_, Infallible>))),
    };
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(mime_type)), (CONTENT_LENGTH, length.into())];
    let mut response = (headers, body).into_response();
    if mime_type != MIME_JSON {
        // A browser that opens a document must not run scripts or guess its type.
        let headers = response.headers_mut();
        headers
            .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// The answer to a program at a path that is no route.
pub(crate) async fn unknown_path(request: Request) -> Response {
    let fault =
        Fault::new(Code::NotFound, format!("there is nothing at {:?}", truncate_for_message(request.uri().path())))
            .hint("GET /api/v1/openapi.json lists the REST routes; MCP is at /mcp");
    fault::response(fault::fault_shape(request.extensions()), &fault)
}

async fn method_not_allowed(request: Request) -> Response {
    let (method, path) = (request.method(), truncate_for_message(request.uri().path()));
    let fault = Fault::new(Code::InvalidParams, format!("{method} is not possible at {path:?}"))
        .hint("the allow header lists what is possible");
    fault::response_with_status(StatusCode::METHOD_NOT_ALLOWED, fault::fault_shape(request.extensions()), &fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_not_identified_is_not_the_owners() {
        assert_eq!(caller(&Request::default()).unwrap_err().code(), Code::InternalError);
    }
}
