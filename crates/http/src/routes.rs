//! REST, rendered from the catalogue: `POST /api/v1/<operation>` for each, and the routes that an operation names itself.

use std::borrow::Cow;
use std::convert::Infallible;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use axum::extract::{Query, RawPathParams, Request, State};
use axum::http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_MATCH, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde_json::{Value, json};
use skald_app::idempotency_key::key_misfit;
use skald_app::{
    Answer, Caller, Code, Conversation, Engine, Entry, Fault, JSON, Route, Verb, Visible, Work, document, from_text,
    limits, parse_json, short, unidentified,
};

use crate::body_budget::read_bytes;
use crate::public_routes::{HEALTH, MCP_HEALTH, READY};
use crate::{Calls, Exposition, MountedRoutes, Readiness, fault, openapi, universes};

/// Where the catalogue's operations are.
const API: &str = "/api/v1";

/// Every route of this room.
pub fn routes(
    engine: &Arc<dyn Engine>,
    visible: Visible,
    readiness: &Readiness,
    exposition: Exposition,
    calls: &Calls,
) -> MountedRoutes {
    let rest = engine.catalogue().operations().iter().filter(|entry| visible.admits(entry)).fold(
        MountedRoutes::default(),
        |routes, entry| {
            let name = entry.name;
            let routes = routes
                .route(&format!("/api/v1/{name}"), post(async move |rest, request| by_body(name, rest, request).await));
            entry
                .routes
                .iter()
                .fold(routes, |routes, route| routes.route(&format!("/api/v1{}", route.path), by_fields(name, *route)))
        },
    );
    let described = Arc::new(OnceLock::new());
    let (ready, mcp_ready) = (readiness.clone(), readiness.clone());
    let started = Instant::now();
    rest.merge(universes::routes(visible))
        .route(
            "/api/v1/openapi.json",
            get(async move |State(rest): State<Rest>| {
                let document = || Bytes::from(openapi::document(rest.engine.catalogue(), visible).to_string());
                json_bytes(described.get_or_init(document).clone())
            }),
        )
        .route(HEALTH, get(async move || json_text(health(started.elapsed()).to_string())))
        .route(READY, get(async move || ready.answer()))
        .route(MCP_HEALTH, get(async move || mcp_ready.answer()))
        .route("/metrics", get(async move || exposition.render()))
        .fallbacks(no_route, no_method)
        .with_state(Rest { engine: Arc::clone(engine), calls: calls.clone(), readiness: readiness.clone(), visible })
}

/// That the server lives; whether it takes requests is another question.
fn health(uptime: Duration) -> Value {
    json!({
        "ok": true,
        "status": "ok",
        "name": "skald",
        "version": env!("CARGO_PKG_VERSION"),
        "uptime": uptime.as_secs()
    })
}

/// What every REST handler works with.
#[derive(Clone)]
pub(crate) struct Rest {
    pub engine: Arc<dyn Engine>,
    pub calls: Calls,
    pub readiness: Readiness,
    pub visible: Visible,
}

/// The input is the body.
async fn by_body(name: &'static str, State(rest): State<Rest>, request: Request) -> Response {
    match (Asked::by(&request), read(request).await) {
        (Ok(asked), Ok(input)) => rest.call(&asked, name, input, JSON).await,
        (Err(fault), _) | (_, Err(fault)) => fault::response(API, &fault),
    }
}

/// The input is in the path and the query.
fn by_fields(name: &'static str, route: Route) -> MethodRouter<Rest> {
    let handler = async move |State(rest): State<Rest>,
                              path: RawPathParams,
                              query: Query<Vec<(String, String)>>,
                              request: Request| {
        let input = rest.engine.catalogue().operation(name).and_then(|entry| fields(entry, route, &path, &query));
        match (Asked::by(&request), input) {
            (Ok(asked), Ok(input)) => rest.call(&asked, name, input, route.mime_type).await,
            (Err(fault), _) | (_, Err(fault)) => fault::response(API, &fault),
        }
    };
    match route.verb {
        Verb::Get => get(handler),
    }
}

fn fields(entry: &Entry, route: Route, path: &RawPathParams, query: &[(String, String)]) -> Result<Value, Fault> {
    let query = query.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let given: Vec<(&str, &str)> = route.fixed.into_iter().chain(path).chain(query).collect();
    let repeated = given.iter().enumerate().find(|(at, (name, _))| given[..*at].iter().any(|(other, _)| other == name));
    if let Some((_, (name, _))) = repeated {
        let fault = Fault::new(Code::InvalidParams, format!("{name} is given more than once"));
        return Err(fault.at(format!("/{name}")).hint("give each field once, and none that the path says already"));
    }
    Ok(from_text(&entry.full_input, given))
}

/// The body of a request, as JSON; none is an empty object.
pub(crate) async fn read(request: Request) -> Result<Value, Fault> {
    let body = read_bytes(request.into_body()).await?;
    if body.trim_ascii().is_empty() { Ok(json!({})) } else { parse_json(&body) }
}

/// REST has no sessions: what a caller set as context is kept under this name.
const CLIENT: &str = "rest";

/// Whom identification found to have sent a request.
pub(crate) fn caller(request: &Request) -> Result<Caller, Fault> {
    let caller = request.extensions().get::<Caller>().cloned().ok_or_else(unidentified)?;
    Ok(caller.within(Conversation::Client(CLIENT.into())))
}

/// What the headers say of how a request is to be done.
fn work(headers: &HeaderMap) -> Result<Work, Fault> {
    let header = |name: &str| match headers.get(name).map(HeaderValue::to_str) {
        None => Ok(None),
        Some(Ok(text)) if key_misfit(text.trim()).is_none() => Ok(Some(text.trim())),
        Some(_) => {
            let most = limits::KEY_CHARS_MAX;
            Err(Fault::new(Code::InvalidParams, format!("the header {name} has 1 to {most} plain characters")))
        }
    };
    let expected_revision = match header(IF_MATCH.as_str())? {
        None | Some("*") => None,
        Some(text) => Some(text.trim_matches('"').parse().map_err(|_| {
            let fault = Fault::new(Code::InvalidParams, format!("if-match is {:?}, not a revision", short(text)));
            fault.hint("send the etag of the answer that you have seen")
        })?),
    };
    let idempotency_key = header("idempotency-key")?.map(str::to_owned);
    Ok(Work { idempotency_key, expected_revision, ..Work::default() })
}

/// Who asks, and how it is to be done.
pub(crate) struct Asked {
    pub caller: Caller,
    pub work: Work,
}

impl Asked {
    pub(crate) fn by(request: &Request) -> Result<Self, Fault> {
        Ok(Self { caller: caller(request)?, work: work(request.headers())? })
    }
}

impl Rest {
    /// Calls an operation, which counts as under way until it has answered.
    pub(crate) async fn ask(&self, caller: &Caller, name: &str, input: Value, work: &Work) -> Result<Answer, Fault> {
        let _call = self.calls.begin();
        let answer = self.engine.answer(caller, name, input, work).await;
        answer.map_err(|fault| fault.for_client(self.engine.catalogue(), self.visible, Cow::Borrowed))
    }

    async fn call(&self, asked: &Asked, name: &str, input: Value, mime_type: &'static str) -> Response {
        match self.ask(&asked.caller, name, input, &asked.work).await {
            Ok(answer) => at_revision(typed(mime_type, document(answer, mime_type)), &asked.work),
            Err(fault) => fault::response(API, &fault),
        }
    }
}

/// An answer that says where the thing that it is about stands now.
pub(crate) fn at_revision(mut response: Response, work: &Work) -> Response {
    let etag = work.revision.get().map(|revision| HeaderValue::try_from(format!("\"{revision}\"")));
    if let Some(Ok(etag)) = etag {
        response.headers_mut().insert(ETAG, etag);
    }
    response
}

fn json_text(text: String) -> Response {
    json_bytes(text.into())
}

pub(crate) fn json_bytes(bytes: Bytes) -> Response {
    json_pieces(vec![bytes])
}

/// JSON in pieces, none of which is copied.
pub(crate) fn json_pieces(pieces: Vec<Bytes>) -> Response {
    typed(JSON, pieces)
}

fn typed(mime_type: &'static str, pieces: Vec<Bytes>) -> Response {
    let length: usize = pieces.iter().map(Bytes::len).sum();
    let body = match <[Bytes; 1]>::try_from(pieces) {
        Ok([whole]) => Body::from(whole),
        Err(pieces) => Body::from_stream(futures::stream::iter(pieces.into_iter().map(Ok::<_, Infallible>))),
    };
    let headers = [(CONTENT_TYPE, HeaderValue::from_static(mime_type)), (CONTENT_LENGTH, length.into())];
    let mut response = (headers, body).into_response();
    if mime_type != JSON {
        // A document opened in a browser runs nothing and is what it says it is.
        let headers = response.headers_mut();
        headers
            .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'"));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

async fn no_route(uri: Uri) -> Response {
    let fault = Fault::new(Code::NotFound, format!("there is nothing at {:?}", short(uri.path())))
        .hint("GET /api/v1/openapi.json lists the REST routes; MCP is at /mcp");
    fault::response(uri.path(), &fault)
}

async fn no_method(method: Method, uri: Uri) -> Response {
    let fault = Fault::new(Code::InvalidParams, format!("{method} is not possible at {:?}", short(uri.path())))
        .hint("the allow header lists what is possible");
    fault::with_status(StatusCode::METHOD_NOT_ALLOWED, uri.path(), &fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_that_was_not_identified_is_not_the_owners() {
        assert_eq!(caller(&Request::default()).unwrap_err().code(), Code::InternalError);
    }
}
