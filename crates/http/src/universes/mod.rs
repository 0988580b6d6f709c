//! Universes under `/universes`, where clients of the Solar System Constructor look for them. Every route calls the same
//! operations as the other surfaces; what is here is paths, headers and statuses.

mod described;
mod events;

use app::{Answer, Class, Code, Fault, Toolset, Visible, Work, segment, short};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{ETAG, IF_NONE_MATCH, LINK, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

pub(crate) use described::described;

use crate::fault;
use crate::routes::{Asked, Rest, at_revision, json_bytes, read};

/// Where they are all.
pub(crate) const UNIVERSES: &str = "/universes";
/// Universes in a page that has all that they hold.
const WHOLE_PAGE: u64 = 10;

/// Whether a path is that of universes, of one, or below.
pub(crate) fn is_universes_path(path: &str) -> bool {
    path.strip_prefix(UNIVERSES).is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

type Answered = Result<Response, Fault>;
type Fields = Query<Vec<(String, String)>>;
type Id = Path<String>;

/// The routes that may be seen; where nothing may be changed, those that read.
pub(crate) fn routes(visible: Visible) -> Router<Rest> {
    if !visible.toolsets.contains(Toolset::Universe) {
        return Router::new();
    }
    let said = |answer: Answered| answer.unwrap_or_else(|fault| fault::response(UNIVERSES, &fault));
    // Also where the request was refused before the universe was looked for.
    let of = move |id: &str, answer: Answered| said(answer.map_err(|fault| fault.universe(id)));
    let mut all = get(async move |rest, query, request| said(list(rest, query, request).await));
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
        Ok(answer) => Ok(at_revision(json_bytes(answer.into_json()), &work)),
        Err(fault) if fault.class() == Class::NotFound => {
            let body = done.get("universe").cloned().unwrap_or_default().to_string();
            Ok(at_revision(json_bytes(body.into()), &asked.work))
        }
        Err(fault) => Err(fault),
    }
}

async fn create(State(rest): State<Rest>, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let mut input = object(read(request).await?)?;
    only(&input, &["id", "name", "state", "campaignId"])?;
    required(&input, "name", "a non-empty string", Value::is_string)?;
    required(&input, "state", "a JSON object", Value::is_object)?;
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

async fn list(State(rest): State<Rest>, Query(query): Fields, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let (input, is_whole) = listing(&query)?;
    let limit = input.get("limit").cloned();
    let listed = rest.ask(&asked.caller, "universe_read", input.into(), &Work::default()).await?.into_value();
    let universes = listed["universes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut response = if is_whole {
        let mut records = Vec::with_capacity(universes.len());
        for universe in universes {
            let id = universe["id"].as_str().unwrap_or_default();
            match record(&rest, &asked, id, &Work::default()).await {
                Ok(record) => records.push(record.into_json()),
                // It was deleted meanwhile.
                Err(fault) if fault.class() == Class::NotFound => {}
                Err(fault) => return Err(fault),
            }
        }
        json_bytes([b"[", records.join(&b","[..]).as_slice(), b"]"].concat().into())
    } else {
        json_bytes(listed["universes"].to_string().into())
    };
    if let Some(cursor) = listed["nextCursor"].as_str() {
        let limit = limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        let state = if is_whole { "&state=full" } else { "" };
        let next = format!("<{UNIVERSES}?cursor={}{limit}{state}>; rel=\"next\"", segment(cursor));
        set(response.headers_mut(), LINK, &next);
    }
    Ok(response)
}

/// What the query of a list asks for, and whether with all that universes hold.
fn listing(query: &[(String, String)]) -> Result<(Map<String, Value>, bool), Fault> {
    let mut input = Map::from_iter([("view".to_owned(), json!("universes"))]);
    let mut is_whole = false;
    for (name, text) in query {
        match (name.as_str(), text.as_str()) {
            ("state", "full") => is_whole = true,
            ("state", "none") => is_whole = false,
            ("cursor", cursor) => drop(input.insert("cursor".to_owned(), cursor.into())),
            ("limit", limit) => {
                let number = limit.parse::<u64>().map_or_else(|_| Value::from(limit), Value::from);
                input.insert("limit".to_owned(), number);
            }
            (name, text) => return Err(unknown_field(name, text, "state=full, cursor and limit")),
        }
    }
    if is_whole {
        let limit = input.entry("limit").or_insert(WHOLE_PAGE.into());
        if limit.as_u64().is_some_and(|limit| limit > WHOLE_PAGE) {
            let message = format!("limit is {limit}, allowed with state=full: 1 to {WHOLE_PAGE}");
            return Err(Fault::new(Code::InvalidParams, message).at("/limit").hint("follow the link header for more"));
        }
    }
    Ok((input, is_whole))
}

async fn show(State(rest): State<Rest>, id: &str, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let known = request.headers().get(IF_NONE_MATCH).and_then(|known| known.to_str().ok()).map(str::to_owned);
    let body = record(&rest, &asked, id, &asked.work).await?.into_json();
    let response = at_revision(json_bytes(body), &asked.work);
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
    Ok(at_revision(json_bytes(answer.into_json()), &asked.work))
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
    what: &str,
    is_right: impl Fn(&Value) -> bool,
) -> Result<(), Fault> {
    let given = fields.get(field);
    if given.is_some_and(is_right) {
        return Ok(());
    }
    let fault = Fault::new(Code::InvalidParams, format!("\"{field}\" is required and must be {what}"));
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
