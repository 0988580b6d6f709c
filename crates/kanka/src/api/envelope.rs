//! Kanka's envelopes: one thing under `data`, or a page of a list with `sync`, `links` and `meta`.

use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use skald_app::limits;

use super::errors::json_response;
use super::request::ApiRequest;

const QUERY_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A page of a list.
pub(super) struct ListedPage {
    pub rows: Vec<Value>,
    /// How many rows all pages have.
    pub total: usize,
    /// The moment of the list, which the client sends as `lastSync` next time.
    pub sync: Option<String>,
}

/// One thing.
pub(super) fn single(request: &ApiRequest, row: Value) -> Response {
    json_response(StatusCode::OK, &json!({"data": trim_fields(request, row)}))
}

/// A thing that was created.
pub(super) fn created_response(request: &ApiRequest, row: Value) -> Response {
    json_response(StatusCode::CREATED, &json!({"data": trim_fields(request, row)}))
}

/// The answer to a deletion.
pub(super) fn deleted_response() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// The requested page number. As in Kanka, a value that is no number means the first page.
pub(super) fn page_number(request: &ApiRequest) -> usize {
    let text = request.parameter("page").unwrap_or("1");
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    // A number that overflows is a page past the end.
    if is_number { text.parse().unwrap_or(usize::MAX).max(1) } else { 1 }
}

/// A page of rows that the engine has cut already.
pub(super) fn page(request: &ApiRequest, listed: ListedPage) -> Response {
    let (number, count) = (page_number(request), listed.rows.len());
    let per_page = limits::KANKA_PAGE_ROWS;
    let last_page = listed.total.div_ceil(per_page).max(1);
    let first_row = (number - 1).saturating_mul(per_page).saturating_add(1);
    let from = (count > 0).then_some(first_row);
    let to = from.map(|from| from + count - 1);
    let rows: Vec<Value> = listed.rows.into_iter().map(|row| trim_fields(request, row)).collect();
    let link = |number: usize| page_url(request, number);
    let body = json!({
        "data": rows,
        "sync": listed.sync,
        "links": {
            "first": link(1),
            "last": link(last_page),
            "prev": (number > 1).then(|| link(number.saturating_sub(1).min(last_page))),
            "next": (number < last_page).then(|| link(number + 1)),
        },
        "meta": {
            "current_page": number,
            "from": from,
            "last_page": last_page,
            "path": request.url(&request.path),
            "per_page": per_page,
            "to": to,
            "total": listed.total,
        },
    });
    json_response(StatusCode::OK, &body)
}

/// A page of rows that are all at hand. With `lastSync` those are left out that have not changed since.
pub(super) fn page_of_all(request: &ApiRequest, mut rows: Vec<Value>, sync: Option<&String>) -> Response {
    if let Some(since) = request.last_sync() {
        let changed = |row: &Value| row.get("updated_at")?.as_str()?.parse::<Timestamp>().ok();
        rows.retain(|row| changed(row).is_none_or(|at| at > since));
    }
    let (total, per_page) = (rows.len(), limits::KANKA_PAGE_ROWS);
    let skipped = (page_number(request) - 1).saturating_mul(per_page);
    let rows = rows.into_iter().skip(skipped).take(per_page).collect();
    page(request, ListedPage { rows, total, sync: sync.cloned() })
}

fn page_url(request: &ApiRequest, number: usize) -> String {
    let encode = |text: &str| utf8_percent_encode(text, QUERY_SET).to_string();
    let others = request.query_besides_page().map(|(name, value)| format!("{}={}", encode(name), encode(value)));
    let query: Vec<String> = others.chain([format!("page={number}")]).collect();
    format!("{}?{}", request.url(&request.path), query.join("&"))
}

/// `fields=id,name` leaves only these.
fn trim_fields(request: &ApiRequest, row: Value) -> Value {
    let fields = request.parameter_list("fields");
    match row {
        Value::Object(row) if !fields.is_empty() => {
            let kept: Map<String, Value> =
                row.into_iter().filter(|(name, _)| fields.contains(&name.as_str())).collect();
            Value::Object(kept)
        }
        row => row,
    }
}
