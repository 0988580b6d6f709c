//! A stream that says when resources read differently. It carries no content: the page asks for that again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use skald_app::News;

use crate::SharedContext;
use crate::visitor::Visitor;

/// How often a silent stream says that it is alive.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Answers with an event `changed` for each change of one of the resources that the visitor may know of. Whoever comes
/// back names the last event, and is told of what happened meanwhile. Check before that the visitor may read them.
pub(crate) async fn stream_changes(
    context: &SharedContext,
    visitor: &Visitor,
    headers: &HeaderMap,
    uris: Vec<String>,
) -> Response {
    let visitor = visitor.clone();
    let after = headers.get("last-event-id").and_then(|value| value.to_str().ok()).filter(|id| !id.is_empty());
    let changes = context.engine.changes(&visitor.caller, after).await;
    let (stopping, revoked) = (context.options.stopping.clone(), visitor.caller.wait_for_revocation());
    let engine = Arc::clone(&context.engine);
    let events = stream::unfold((changes, visitor, engine, uris), async |(mut changes, mut visitor, engine, uris)| {
        loop {
            let news = changes.next().await?;
            if !visitor.refresh(&*engine).await {
                return None;
            }
            if uris.iter().any(|uri| engine.is_changed(&news, &visitor.caller, uri)) {
                return Some((Ok::<Event, Infallible>(changed_event(&news)), (changes, visitor, engine, uris)));
            }
        }
    });
    let end = async move {
        tokio::select! {
            () = stopping.cancelled() => {}
            () = revoked => {}
        }
    };
    Sse::new(events.boxed().take_until(Box::pin(end))).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

fn changed_event(news: &News) -> Event {
    // A browser drops an event without data.
    let event = Event::default().event("changed").data("1");
    match news.place() {
        Some(place) => event.id(&**place),
        None => event,
    }
}
