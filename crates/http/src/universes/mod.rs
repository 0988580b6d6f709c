//! Universes under `/universes`, where clients of the Solar System Constructor look for them. Every route calls the same
//! operations as the other surfaces; what is here is paths, headers and statuses.

mod described;
mod events;
mod list;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{ETAG, IF_NONE_MATCH, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};
use skald_app::{Answer, Class, Code, Fault, Toolset, Visible, Work, segment, short};

pub(crate) use described::described;

use crate::routes::{Asked, Rest, at_revision, json_bytes, json_pieces, read};
use crate::{MountedRoutes, fault};

/// Where they are all.
pub(crate) const UNIVERSES: &str = "/universes";
/// Whether a path is that of universes, of one, or below.
pub(crate) fn is_universes_path(path: &str) -> bool {
    path.strip_prefix(UNIVERSES).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

type Answered = Result<Response, Fault>;
type Fields = Query<Vec<(String, String)>>;
type Id = Path<String>;

/// The routes that may be seen; where nothing may be changed, those that read.
pub(crate) fn routes(visible: Visible) -> MountedRoutes<Rest> {
    if !visible.toolsets.contains(Toolset::Universe) {
        return MountedRoutes::default();
    }
    let said = |answer: Answered| answer.unwrap_or_else(|fault| fault::response(UNIVERSES, &fault));
    // Also where the request was refused before the universe was looked for.
    let of = move |id: &str, answer: Answered| said(answer.map_err(|fault| fault.universe(id)));
    let mut all = get(async move |rest, query, request| said(list::list(rest, query, request).await));
    let mut one = get(async move |rest, Path(id): Id, request| of(&id, show(rest, &id, request).await));
    let reading = events::routes();
    if visible.read_only {
        return reading.route(UNIVERSES, all).route("/universes/{id}", one);
    }
    all = all.post(async move |rest, request| said(create(rest, request).await));
    one = one
        .put(async move |rest, Path(id): Id, request| of(&id, replace(rest, &id, request).await))
        .delete(async move |rest, Path(id): Id, request| of(&id, delete(rest, &id, request).await));
    let commands =
        post(async move |rest, Path(id): Id, query, request| of(&id, command(rest, &id, query, request).await));
    reading.route(UNIVERSES, all).route("/universes/{id}", one).route("/universes/{id}/commands", commands)
}

/// A universe as it stands, for an answer. Its revision is left in the work.
async fn record(rest: &Rest, asked: &Asked, id: &str, work: &Work) -> Result<Answer, Fault> {
    rest.ask(&asked.caller, "universe_record", json!({"universeId": id}), work).await
}

/// A universe after something was done to it, with the revision that it is told at. A retry is answered also once it has
/// gone: with what was known then.
async fn after(rest: &Rest, asked: &Asked, id: &str, done: Value) -> Answered {
    let work = Work::default();
    match record(rest, asked, id, &work).await {
        Ok(answer) => {
            let pieces = with_repairs(answer.into_json_pieces(), &done["repaired"]);
            Ok(at_revision(json_pieces(pieces), &work))
        }
        Err(fault) if fault.class() == Class::NotFound => {
            let body = done.get("universe").cloned().unwrap_or_default().to_string();
            Ok(at_revision(json_bytes(body.into()), &asked.work))
        }
        Err(fault) => Err(fault),
    }
}

/// A record, and beside its fields what had to be repaired in the state, if anything.
fn with_repairs(mut record: Vec<Bytes>, repaired: &Value) -> Vec<Bytes> {
    if let Some(last) = record.last_mut().filter(|last| last.ends_with(b"}") && !repaired.is_null()) {
        last.truncate(last.len() - 1);
        record.push(format!(",\"repaired\":{repaired}}}").into());
    }
    record
}

async fn create(State(rest): State<Rest>, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let mut input = object(read(request).await?)?;
    only(&input, &["id", "name", "state", "campaignId"])?;
    required(&input, "name", "is required and must be a non-empty string", Value::is_string)?;
    required(&input, "state", "is required and must be a JSON object", Value::is_object)?;
    if let Some(id) = input.shift_remove("id") {
        input.insert("universeId".to_owned(), id);
    }
    input.insert("method".to_owned(), "create".into());
    let done = rest.ask(&asked.caller, "universe", input.into(), &asked.work).await?.into_value();
    let id = done["universe"]["id"].as_str().unwrap_or_default().to_owned();
    let mut response = after(&rest, &asked, &id, done).await?;
    *response.status_mut() = StatusCode::CREATED;
    set(response.headers_mut(), LOCATION, &format!("/universes/{}", segment(&id)));
    Ok(response)
}

async fn show(State(rest): State<Rest>, id: &str, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let known = request.headers().get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()).map(str::to_owned);
    let body = record(&rest, &asked, id, &asked.work).await?.into_json_pieces();
    let response = at_revision(json_pieces(body), &asked.work);
    let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
    let is_known = known.is_some_and(|known| {
        let mut tags = known.split(',').map(|tag| tag.trim().trim_start_matches("W/"));
        tags.any(|tag| tag == "*" || Some(tag) == etag)
    });
    if is_known {
        return Ok(at_revision((StatusCode::NOT_MODIFIED, Body::empty()).into_response(), &asked.work));
    }
    Ok(response)
}

async fn replace(State(rest): State<Rest>, id: &str, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let mut input = object(read(request).await?)?;
    only(&input, &["name", "state"])?;
    // Null is refused, as in the original: what should stay is left out.
    for (field, what, is_right) in [
        ("name", "a non-empty string", Value::is_string as fn(&Value) -> bool),
        ("state", "a JSON object", Value::is_object),
    ] {
        if input.contains_key(field) {
            let rule = format!("must be {what} when provided");
            required(&input, field, &rule, is_right)?;
        }
    }
    input.insert("method".to_owned(), "replace".into());
    input.insert("universeId".to_owned(), id.into());
    let done = rest.ask(&asked.caller, "universe", input.into(), &asked.work).await?.into_value();
    after(&rest, &asked, id, done).await
}

async fn delete(State(rest): State<Rest>, id: &str, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    rest.ask(&asked.caller, "universe", json!({"method": "delete", "universeId": id}), &asked.work).await?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

/// One command, or an array of them that are done together or not at all.
async fn command(State(rest): State<Rest>, id: &str, Query(query): Fields, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let mut input = Map::from_iter([("universeId".to_owned(), json!(id))]);
    for (name, text) in query {
        if name != "state" {
            return Err(unknown_field(&name, &text, "state=full, state=none and state=auto"));
        }
        input.insert(name, text.into());
    }
    let (field, operation) = match read(request).await? {
        sent @ Value::Array(_) => (("commands", sent), "universe_commands"),
        sent => (("command", sent), "send_universe_command"),
    };
    input.insert(field.0.to_owned(), field.1);
    let answer = rest.ask(&asked.caller, operation, input.into(), &asked.work).await?;
    Ok(at_revision(json_pieces(answer.into_json_pieces()), &asked.work))
}

/// What was sent, as the fields of an operation.
fn object(sent: Value) -> Result<Map<String, Value>, Fault> {
    match sent {
        Value::Object(fields) => Ok(fields),
        other => {
            let message = format!("the body is {}, expected an object", short(&other.to_string()));
            Err(Fault::new(Code::InvalidParams, message).hint("send one JSON object"))
        }
    }
}

fn only(fields: &Map<String, Value>, known: &[&str]) -> Result<(), Fault> {
    match fields.iter().find(|(field, _)| !known.contains(&field.as_str())) {
        Some((field, value)) => Err(unknown_field(field, &value.to_string(), &known.join(", "))),
        None => Ok(()),
    }
}

fn required(
    fields: &Map<String, Value>,
    field: &str,
    rule: &str,
    is_right: impl Fn(&Value) -> bool,
) -> Result<(), Fault> {
    let given = fields.get(field);
    if given.is_some_and(is_right) {
        return Ok(());
    }
    let fault = Fault::new(Code::InvalidParams, format!("\"{field}\" {rule}"));
    let fault = fault.at(format!("/{field}")).hint(r#"such as {"name": "Sol", "state": {}}"#);
    Err(given.into_iter().fold(fault, Fault::value))
}

fn unknown_field(name: &str, text: &str, allowed: &str) -> Fault {
    let fault = Fault::new(Code::InvalidParams, format!("{}={} is not known here", short(name), short(text)));
    fault.at(format!("/{name}")).hint(format!("allowed: {allowed}"))
}

fn set(headers: &mut HeaderMap, name: axum::http::HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::try_from(value) {
        headers.insert(name, value);
    }
}
