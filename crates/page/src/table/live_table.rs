//! The stream of a table: sends its changed fragments to every screen as server-sent events.
//!
//! A change notification of the engine only triggers a rendering. The fragments are read again for this caller, so that
//! they contain nothing that the caller may not see. The id of each event is a place in the journal: a browser that
//! reconnects with it gets what happened since.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex as BlockingMutex, PoisonError};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{once, unfold};
use maud::{Markup, html};
use serde::Deserialize;
use skald_app::{Changes, Fault, limits};
use tokio::sync::Mutex;

use super::{TableState, fragments};
use crate::SharedContext;
use crate::extractors::{PagePath, PageQuery};
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// A standard header that the `http` crate has no constant for.
const LAST_EVENT_ID: &str = "last-event-id";
/// Tables whose rendering is remembered before all are forgotten.
const RENDERED_MAX: usize = 2_000;

/// The hidden element whose address a script opens as the stream of the table.
pub(crate) fn live_attributes(campaign_id: &str, place: Option<&str>) -> Markup {
    let after = place.map(|place| format!("?after={place}")).unwrap_or_default();
    html! { div #live hidden data-stream={ "/c/" (campaign_id) "/live" (after) } {} }
}

#[derive(Debug, Deserialize)]
pub(crate) struct LiveQuery {
    /// The place in the journal at which the page was rendered.
    after: Option<String>,
}

/// `GET /c/{campaign}/live`.
pub(crate) async fn stream(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    PageQuery(query): PageQuery<LiveQuery>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let last = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok()).filter(|id| !id.is_empty());
    let changes = context.engine.changes(&visitor.caller, last.or(query.after.as_deref())).await;
    // Refuse callers that may not enter before the stream begins: later there is no status to send.
    let (state, _) = TableState::read_people(&context, &visitor, &campaign).await?;
    let first = changes.place().map(|place| format!("id: {place}\n")).unwrap_or_default();
    let first = Bytes::from(format!("retry: 1000\n{first}\n"));
    let stopping = context.options.stopping.clone().cancelled_owned();
    let reader = LiveReader { context, visitor, campaign_id: state.head.id, changes, is_over: false };
    let events = unfold(reader, async |mut reader| reader.next().await.map(|bytes| (bytes, reader)));
    let bytes = once(async { first }).chain(events).map(Ok::<_, Infallible>).take_until(stopping);
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // A proxy that buffers answers would never pass on an endless one.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    Ok(response)
}

/// One screen that follows a table.
struct LiveReader {
    context: SharedContext,
    visitor: Visitor,
    campaign_id: String,
    changes: Changes,
    is_over: bool,
}

impl LiveReader {
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        // The resource of the lore changes when something is revealed or hidden.
        let resources =
            [format!("campaign://{}/events", self.campaign_id), format!("lore://{}/entities", self.campaign_id)];
        loop {
            let revoked = self.visitor.caller.wait_for_revocation();
            let beat = tokio::time::sleep(Duration::from_secs(limits::HEARTBEAT_SECONDS));
            tokio::select! {
                biased;
                () = revoked => return None,
                news = self.changes.next() => {
                    let news = news?;
                    if !self.visitor.refresh(&*self.context.engine).await {
                        return None;
                    }
                    let place = news.place().map(ToString::to_string);
                    if resources.iter().any(|uri| self.context.engine.is_changed(&news, &self.visitor.caller, uri)) {
                        return self.render(place.as_deref()).await;
                    }
                }
                () = beat => return self.heartbeat().await,
            }
        }
    }

    async fn render(&mut self, place: Option<&str>) -> Option<Bytes> {
        let rendered = self.context.rendered.fragments(&self.context, &self.visitor, &self.campaign_id, place).await;
        // End the stream after an error: a caller who lost the role is refused when the browser connects again.
        self.is_over = rendered.is_err();
        Some(encode(place, &rendered.ok()?))
    }

    /// A comment keeps the connection open, unless the caller may no longer read.
    async fn heartbeat(&mut self) -> Option<Bytes> {
        self.visitor.refresh(&*self.context.engine).await.then(|| Bytes::from_static(b":\n\n"))
    }
}

/// Fragments as one event: each line of them is a line of data.
fn encode(place: Option<&str>, html: &str) -> Bytes {
    let mut text = String::with_capacity(html.len() + 100);
    if let Some(place) = place {
        text.push_str("id: ");
        text.push_str(place);
        text.push('\n');
    }
    for line in html.lines() {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text.into()
}

/// The caller and the campaign. Two screens of one caller show the same.
type TableViewKey = (String, String);
/// The last rendering, and the place in the journal that it shows.
type LastRendering = Arc<Mutex<Option<(String, Arc<str>)>>>;

/// The last rendering of each table for each caller, so that many screens of one event cost one rendering.
#[derive(Default)]
pub(crate) struct RenderedTables(BlockingMutex<HashMap<TableViewKey, LastRendering>>);

impl RenderedTables {
    async fn fragments(
        &self,
        context: &SharedContext,
        visitor: &Visitor,
        campaign_id: &str,
        place: Option<&str>,
    ) -> Result<Arc<str>, Fault> {
        let last = self.last_rendering((visitor.caller.id().to_owned(), campaign_id.to_owned()));
        let mut last = last.lock().await;
        if let (Some(place), Some((rendered, html))) = (place, &*last)
            && rendered == place
        {
            return Ok(Arc::clone(html));
        }
        let state = TableState::read(context, visitor, campaign_id).await?;
        let html: Arc<str> = fragments(&state).into_string().into();
        *last = place.map(|place| (place.to_owned(), Arc::clone(&html)));
        Ok(html)
    }

    fn last_rendering(&self, key: TableViewKey) -> LastRendering {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if tables.len() >= RENDERED_MAX {
            tables.clear();
        }
        Arc::clone(tables.entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_an_event_is_data() {
        assert_eq!(
            encode(Some("7.1.ab"), "a\n\nevent: x"),
            "id: 7.1.ab\ndata: a\ndata: \ndata: event: x\n\n".as_bytes()
        );
    }
}
