//! One REST route: from a request to the input of an operation, and from its answer to a response, as the [`Route`] says.

use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::header::{ETAG, HeaderName, IF_NONE_MATCH, LINK, LOCATION};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};
use skald_app::{
    Answer, Code, Fault, HttpMethod, OperationEntry, RequestBody, Route, Success, answer_bytes, input_from_text,
    percent_encode, truncate_for_message,
};

use crate::fault;
use crate::feed_response::{self, LAST_EVENT_ID_FIELD};
use crate::routes::{RequestContext, Rest, json_response, read_json, typed_response, with_etag};

/// An operation, and the route by which it is called.
#[derive(Clone, Copy)]
pub(crate) struct RouteTarget {
    pub operation: &'static str,
    pub route: Route,
}

type TextFields = [(String, String)];

/// Answers a request with the operation that it is for. All targets have the same method and path.
pub(crate) async fn handle(
    rest: &Rest,
    targets: &[RouteTarget],
    path: &RawPathParams,
    query: &TextFields,
    request: Request,
) -> Response {
    let route = targets[0].route;
    answer_request(rest, targets, path, query, request).await.unwrap_or_else(|fault| {
        // The fault names the universe even if the request was refused before the look-up.
        let named = path.iter().map(|(name, text)| (route.input_field(name), text));
        let with_subjects = rest.engine.catalogue().with_subjects_of(&input_from_text(&Value::Null, named));
        fault::response(route.fault_shape, &with_subjects(fault))
    })
}

async fn answer_request(
    rest: &Rest,
    targets: &[RouteTarget],
    path: &RawPathParams,
    query: &TextFields,
    request: Request,
) -> Result<Response, Fault> {
    let mut request_context = RequestContext::from_request(&request)?;
    // A path names a thing by its id alone, so that the thing has one URL.
    request_context.control.takes_only_ids = path.iter().next().is_some();
    request_context.control.is_read = targets[0].route.method == HttpMethod::Get;
    let known = request.headers().get(IF_NONE_MATCH).cloned();
    let after = match targets[0].route.success {
        Success::Events => feed_response::last_event_id(request.headers())?,
        Success::Ok | Success::Page(_) | Success::Created(_) | Success::NoContent => None,
    };
    let uri = request.uri().clone();
    let sent = if targets[0].route.body == RequestBody::None { None } else { Some(read_json(request).await?) };
    let RouteTarget { operation, route } = choose_target(targets, sent.as_ref());
    let entry = rest.engine.catalogue().operation(operation)?;
    let mut input = input_fields(entry, &route, path, query)?;
    if let Some(sent) = sent {
        add_body(&mut input, route.body, sent)?;
    }
    if let Some(id) = after {
        input.insert(LAST_EVENT_ID_FIELD.to_owned(), id.into());
    }
    let answer =
        rest.call_operation(&request_context.caller, operation, input.into(), &request_context.control).await?;
    Ok(match (route.success, answer) {
        (Success::Ok, answer) => {
            let response = with_etag(
                typed_response(route.mime_type, answer_bytes(answer, route.mime_type)),
                &request_context.control,
            );
            match known {
                Some(known) if route.is_conditional => apply_if_none_match(response, &known),
                _ => response,
            }
        }
        (Success::Page(field), answer) => {
            let (pieces, beside) = answer.into_field_pieces(field);
            let response = with_etag(json_response(pieces), &request_context.control);
            match beside.get("nextCursor").and_then(Value::as_str) {
                Some(cursor) => with_header(response, LINK, &next_page_link(uri.path(), query, cursor)),
                None => response,
            }
        }
        (Success::Created(template), answer) => {
            let location = fill_template(template, &answer);
            let mut response = with_etag(json_response(answer.into_json_pieces()), &request_context.control);
            *response.status_mut() = StatusCode::CREATED;
            with_header(response, LOCATION, &location)
        }
        (Success::NoContent, _) => StatusCode::NO_CONTENT.into_response(),
        (Success::Events, Answer::Feed(feed)) => feed_response::response(rest, request_context.caller, *feed),
        (Success::Events, Answer::Value(_) | Answer::Prepared(_) | Answer::Object(_)) => {
            // A bridge does not buffer events for slow readers, so it has no feed.
            let fault = Fault::new(Code::NotFound, "a bridge has no stream of a universe's commands");
            return Err(fault.hint("ask the server that keeps the universe"));
        }
    })
}

/// The operation for a body: an array goes to the target that takes items.
fn choose_target(targets: &[RouteTarget], sent: Option<&Value>) -> RouteTarget {
    let is_array = sent.is_some_and(Value::is_array);
    let takes_items = |target: &&RouteTarget| matches!(target.route.body, RequestBody::Items(_));
    *targets.iter().find(|target| takes_items(target) == is_array).unwrap_or(&targets[0])
}

/// The input fields from the path, the query and the route's fixed values.
fn input_fields(
    entry: &OperationEntry,
    route: &Route,
    path: &RawPathParams,
    query: &TextFields,
) -> Result<Map<String, Value>, Fault> {
    let path = path.iter().map(|(name, text)| (route.input_field(name), text));
    let query = query.iter().map(|(name, text)| (name.as_str(), text.as_str()));
    let given: Vec<(&str, &str)> = route.fixed.into_iter().chain(path).chain(query).collect();
    let repeated = given.iter().enumerate().find(|(at, (name, _))| given[..*at].iter().any(|(other, _)| other == name));
    if let Some((_, (name, _))) = repeated {
        return Err(duplicate_field_fault(name));
    }
    match input_from_text(&entry.full_input, given) {
        Value::Object(fields) => Ok(fields),
        _ => Ok(Map::new()),
    }
}

/// Moves the body's fields into the input.
fn add_body(input: &mut Map<String, Value>, body: RequestBody, sent: Value) -> Result<(), Fault> {
    let sent = match (body, sent) {
        (RequestBody::None, _) => return Ok(()),
        (RequestBody::Fields, Value::Object(fields)) => fields,
        (RequestBody::Fields, other) => {
            let message = format!("the body is {}, expected an object", truncate_for_message(&other.to_string()));
            return Err(Fault::new(Code::InvalidParams, message).hint("send one JSON object"));
        }
        (RequestBody::Field(field) | RequestBody::Items(field), sent) => Map::from_iter([(field.to_owned(), sent)]),
    };
    if let Some(name) = sent.keys().find(|name| input.contains_key(*name)) {
        return Err(duplicate_field_fault(name));
    }
    input.extend(sent);
    Ok(())
}

fn duplicate_field_fault(name: &str) -> Fault {
    let fault = Fault::new(Code::InvalidParams, format!("{} is given more than once", truncate_for_message(name)));
    fault.with_path(format!("/{name}")).hint("give each field once, and none that the path says already")
}

/// 304 if `If-None-Match` names this revision.
fn apply_if_none_match(response: Response, known: &HeaderValue) -> Response {
    let Some(etag) = response.headers().get(ETAG) else { return response };
    let mut tags = known.to_str().unwrap_or_default().split(',').map(|tag| tag.trim().trim_start_matches("W/"));
    if tags.any(|tag| tag == "*" || tag.as_bytes() == etag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(ETAG, etag.clone())], Body::empty()).into_response();
    }
    response
}

/// The link to the next page: the same request with another cursor.
fn next_page_link(path: &str, query: &TextFields, cursor: &str) -> String {
    let cursor = format!("cursor={}", percent_encode(cursor));
    let others = query.iter().filter(|(name, _)| name != "cursor");
    let others = others.map(|(name, text)| format!("{}={}", percent_encode(name), percent_encode(text)));
    let fields: Vec<String> = [cursor].into_iter().chain(others).collect();
    format!("<{path}?{}>; rel=\"next\"", fields.join("&"))
}

/// A path template with its `{field}` segments replaced by fields of the answer.
fn fill_template(template: &str, answer: &Answer) -> String {
    let part = |part: &str| match part.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
        Some(name) => percent_encode(answer.text_field(name).unwrap_or_default()),
        None => part.to_owned(),
    };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn with_header(mut response: Response, name: HeaderName, value: &str) -> Response {
    if let Ok(value) = HeaderValue::try_from(value) {
        response.headers_mut().insert(name, value);
    }
    response
}
