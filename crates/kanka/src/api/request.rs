//! A request to the API: its path below the base, its query, its body, and the addresses that answers link to.

use std::sync::OnceLock;
use std::time::Duration;

use axum::body::to_bytes;
use axum::extract::{Query, Request};
use axum::http::header::HOST;
use axum::http::{HeaderMap, Method};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::{Map, Value};
use skald_app::idempotency_key::key_problem;
use skald_app::{Caller, Code, Fault, limits, parse_json, truncate_for_message, unidentified_caller_fault};

use super::API_PATH;
use super::errors::{ApiError, ApiResult};

/// The base paths below [`API_PATH`]. A client that appends `api/1.0/` to whatever base it is given needs the others.
const VERSION_PATHS: [&[&str]; 3] = [&["1.0", "api", "1.0"], &["api", "1.0"], &["1.0"]];

pub(super) struct ApiRequest {
    pub caller: Caller,
    pub method: Method,
    /// The decoded segments below the version.
    segments: Vec<String>,
    /// The address of the version, such as `http://127.0.0.1:8081/api/kanka/1.0`.
    pub base_url: String,
    /// The path below the base, as it was sent.
    pub path: String,
    query: Vec<(String, String)>,
    body: Map<String, Value>,
    idempotency_key: Option<String>,
    /// Only what changed after this moment is asked for.
    last_sync: Option<Timestamp>,
    /// How fresh the lore is that was read for this request, if its campaign is linked to Kanka.
    freshness: OnceLock<LoreFreshness>,
}

/// How fresh the lore of a linked campaign is, as its operations answer it.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct LoreFreshness {
    pub synced_at: Option<String>,
    pub stale: bool,
}

/// The caller that the middleware put into the request.
pub(super) fn caller(request: &Request) -> Result<Caller, Fault> {
    request.extensions().get::<Caller>().cloned().ok_or_else(unidentified_caller_fault)
}

impl ApiRequest {
    pub(super) async fn parse(request: Request, caller: Caller) -> ApiResult<Self> {
        let path = request.uri().path().to_owned();
        let below = path.strip_prefix(API_PATH).unwrap_or_default();
        let parts: Vec<&str> = below.split('/').filter(|part| !part.is_empty()).collect();
        let version = VERSION_PATHS.into_iter().find(|version| parts.starts_with(version));
        let version = version.ok_or_else(|| ApiError::no_route(&path))?;
        let (version, rest) = parts.split_at(version.len());
        let segments = rest.iter().map(|part| decode(part)).collect::<Option<Vec<String>>>();
        let segments = segments.ok_or_else(|| ApiError::no_route(&path))?;
        let base_url = format!("{}{API_PATH}/{}", origin(request.headers()), version.join("/"));
        let query = Query::<Vec<(String, String)>>::try_from_uri(request.uri());
        let query = query.map_err(|_| ApiError::invalid_field("query", "the query cannot be read", "encode it"))?;
        let method = if request.method() == Method::HEAD { Method::GET } else { request.method().clone() };
        let rest = rest.join("/");
        let idempotency_key = request_key(request.headers())?;
        let has_body = matches!(method, Method::POST | Method::PUT | Method::PATCH);
        let body = if has_body { read_body(request).await? } else { Map::new() };
        let mut parsed = Self {
            caller,
            method,
            segments,
            base_url,
            path: rest,
            query: query.0,
            body,
            idempotency_key,
            last_sync: None,
            freshness: OnceLock::new(),
        };
        parsed.last_sync = parsed.parameter("lastSync").map(parse_moment).transpose()?;
        Ok(parsed)
    }

    pub(super) fn last_sync(&self) -> Option<Timestamp> {
        self.last_sync
    }

    /// Stores the freshness in an answer. Of several answers the first one counts: it is the oldest.
    pub(super) fn note_freshness(&self, answer: &Value) {
        let mirror = answer.get("mirror").cloned();
        if let Some(freshness) = mirror.and_then(|mirror| serde_json::from_value(mirror).ok()) {
            let _ = self.freshness.set(freshness);
        }
    }

    pub(super) fn freshness(&self) -> Option<&LoreFreshness> {
        self.freshness.get()
    }

    pub(super) fn segments(&self) -> Vec<&str> {
        self.segments.iter().map(String::as_str).collect()
    }

    pub(super) fn body(&self) -> &Map<String, Value> {
        &self.body
    }

    /// The key under which a repeated request gets the same answer.
    pub(super) fn idempotency_key(&self) -> Option<&str> {
        self.idempotency_key.as_deref()
    }

    /// A parameter of the query; the last one counts. An empty one is as good as none.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut values = self.query.iter().filter(|(known, _)| known == name).map(|(_, value)| value.trim());
        values.rfind(|value| !value.is_empty())
    }

    /// All values of a parameter, sent as `name`, `name[]` or `name[0]`, each possibly with commas.
    pub(super) fn parameter_list(&self, name: &str) -> Vec<&str> {
        let is_named = |known: &str| {
            known == name || known.strip_prefix(name).is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        };
        let values = self.query.iter().filter(|(known, _)| is_named(known)).flat_map(|(_, value)| value.split(','));
        values.map(str::trim).filter(|value| !value.is_empty()).collect()
    }

    /// A parameter that switches something on or off.
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        match self.parameter(name)?.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Some(true),
            "0" | "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }

    /// All parameters but the page, for links to other pages.
    pub(super) fn query_besides_page(&self) -> impl Iterator<Item = (&str, &str)> {
        let query = self.query.iter().filter(|(name, _)| name != "page");
        query.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The address of a path below the version.
    pub(super) fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.base_url)
    }
}

/// A moment as clients write it: with an offset, or without one, which is taken as UTC.
fn parse_moment(text: &str) -> ApiResult<Timestamp> {
    let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    let moment = text.parse().ok().or_else(|| civil().map(|zoned| zoned.timestamp()));
    moment.ok_or_else(|| {
        let message = format!("{:?} is no moment", truncate_for_message(text));
        ApiError::invalid_field("lastSync", message, "send one like 2025-05-30T10:00:00Z")
    })
}

fn request_key(headers: &HeaderMap) -> ApiResult<Option<String>> {
    let Some(value) = headers.get("idempotency-key") else { return Ok(None) };
    match value.to_str().map(str::trim) {
        Ok(key) if key_problem(key).is_none() => Ok(Some(key.to_owned())),
        _ => {
            let fault = Fault::new(Code::InvalidParams, "the idempotency key is empty, too long or no plain text");
            Err(fault.hint(format!("send up to {} letters and digits", limits::KEY_CHARS_MAX)).into())
        }
    }
}

fn decode(part: &str) -> Option<String> {
    percent_decode_str(part).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

/// Scheme and host under which the client reached the server. The host was checked before.
fn origin(headers: &HeaderMap) -> String {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let scheme = text("x-forwarded-proto").filter(|scheme| matches!(*scheme, "http" | "https")).unwrap_or("http");
    format!("{scheme}://{}", text(HOST.as_str()).unwrap_or("localhost"))
}

/// The body as an object; an empty body is an empty one.
async fn read_body(request: Request) -> ApiResult<Map<String, Value>> {
    let limit = Duration::from_secs(limits::BODY_READ_SECONDS);
    let read = tokio::time::timeout(limit, to_bytes(request.into_body(), limits::BODY_BYTES_MAX)).await;
    let Ok(Ok(bytes)) = read else {
        let message = format!("the body could not be read; it may have {} bytes", limits::BODY_BYTES_MAX);
        return Err(Fault::new(Code::InvalidParams, message).into());
    };
    if bytes.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    match parse_json(&bytes)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(Fault::new(Code::InvalidParams, "the body is no JSON object").hint("send {\"name\": …}").into()),
    }
}
