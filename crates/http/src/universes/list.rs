//! `GET /universes`: all universes in one array, as clients of the Solar System Constructor expect it, or a page of them.

use axum::body::Bytes;
use axum::extract::{Query, Request, State};
use axum::http::header::LINK;
use serde_json::{Map, Value, json};
use skald_app::{Class, Code, Fault, Work, limits, segment};

use super::{Answered, Fields, UNIVERSES, record, set, unknown_field};
use crate::routes::{Asked, Rest, json_bytes, json_pieces};

/// Universes in a page that has all that they hold.
const WHOLE_PAGE: u64 = 10;

pub(super) async fn list(State(rest): State<Rest>, Query(query): Fields, request: Request) -> Answered {
    let asked = Asked::by(&request)?;
    let Wanted { input, has_states, is_page } = Wanted::by(&query)?;
    let limit = input.get("limit").cloned();
    let (universes, next_cursor) =
        if is_page { page(&rest, &asked, input).await? } else { all(&rest, &asked, input).await? };
    let mut response = if has_states {
        let mut pieces = vec![Bytes::from_static(b"[")];
        for universe in &universes {
            let id = universe["id"].as_str().unwrap_or_default();
            match record(&rest, &asked, id, &Work::default()).await {
                Ok(record) => {
                    if pieces.len() > 1 {
                        pieces.push(Bytes::from_static(b","));
                    }
                    pieces.append(&mut record.into_json_pieces());
                }
                // It was deleted meanwhile.
                Err(fault) if fault.class() == Class::NotFound => {}
                Err(fault) => return Err(fault),
            }
        }
        pieces.push(Bytes::from_static(b"]"));
        json_pieces(pieces)
    } else {
        json_bytes(Value::from(universes).to_string().into())
    };
    if let Some(cursor) = next_cursor {
        let limit = limit.map(|limit| format!("&limit={limit}")).unwrap_or_default();
        let state = if has_states { "&state=full" } else { "" };
        let next = format!("<{UNIVERSES}?cursor={}{limit}{state}>; rel=\"next\"", segment(&cursor));
        set(response.headers_mut(), LINK, &next);
    }
    Ok(response)
}

/// Universes without what they hold, and the cursor of the next page.
type Page = (Vec<Value>, Option<String>);

async fn page(rest: &Rest, asked: &Asked, input: Map<String, Value>) -> Result<Page, Fault> {
    let mut listed = rest.ask(&asked.caller, "universe_read", input.into(), &Work::default()).await?.into_value();
    let next_cursor = listed["nextCursor"].as_str().map(str::to_owned);
    match listed["universes"].take() {
        Value::Array(universes) => Ok((universes, next_cursor)),
        _ => Ok((Vec::new(), next_cursor)),
    }
}

/// All of them, as many as one answer may have.
async fn all(rest: &Rest, asked: &Asked, mut input: Map<String, Value>) -> Result<Page, Fault> {
    let (mut universes, mut next_cursor) = (Vec::new(), None);
    while universes.len() < limits::UNIVERSES_LISTED_MAX {
        let limit = limits::PAGE_MAX.min(limits::UNIVERSES_LISTED_MAX - universes.len());
        input.insert("limit".to_owned(), limit.into());
        let (mut more, cursor) = page(rest, asked, input.clone()).await?;
        universes.append(&mut more);
        next_cursor = cursor;
        let Some(cursor) = &next_cursor else { break };
        input.insert("cursor".to_owned(), cursor.as_str().into());
    }
    Ok((universes, next_cursor))
}

/// What a query asks for.
struct Wanted {
    input: Map<String, Value>,
    has_states: bool,
    /// Whether a page is wanted, and not all.
    is_page: bool,
}

impl Wanted {
    fn by(query: &[(String, String)]) -> Result<Self, Fault> {
        let mut input = Map::from_iter([("view".to_owned(), json!("universes"))]);
        let mut has_states = false;
        for (name, text) in query {
            match (name.as_str(), text.as_str()) {
                ("state", "full") => has_states = true,
                ("state", "none") => has_states = false,
                ("cursor", cursor) => drop(input.insert("cursor".to_owned(), cursor.into())),
                ("limit", limit) => {
                    let number = limit.parse::<u64>().map_or_else(|_| Value::from(limit), Value::from);
                    input.insert("limit".to_owned(), number);
                }
                (name, text) => return Err(unknown_field(name, text, "state=full, cursor and limit")),
            }
        }
        if has_states {
            let limit = input.entry("limit").or_insert(WHOLE_PAGE.into());
            if limit.as_u64().is_some_and(|limit| limit > WHOLE_PAGE) {
                let message = format!("limit is {limit}, allowed with state=full: 1 to {WHOLE_PAGE}");
                let fault = Fault::new(Code::InvalidParams, message).at("/limit");
                return Err(fault.hint("follow the link header for more"));
            }
        }
        let is_page = input.contains_key("limit") || input.contains_key("cursor");
        Ok(Self { input, has_states, is_page })
    }
}
