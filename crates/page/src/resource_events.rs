//! Streams of server-sent events that say when resources have changed. They carry no content: the page fetches it again.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::{StreamExt, stream};
use serde::Deserialize;
use serde_json::json;
use skald_app::{Caller, Changes, Fault, News, limits};

use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// The interval of comments that keep a silent stream open.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// The list of the campaigns.
const CAMPAIGNS: &str = "campaigns://list";
/// Campaigns whose changes home follows.
const CAMPAIGNS_FOLLOWED: usize = limits::PAGE_MAX;

/// The resources that a stream is about.
pub(crate) enum StreamedResources {
    Listed(Vec<String>),
    /// The list of the visitor's campaigns, and each of them.
    Campaigns,
}

impl From<Vec<String>> for StreamedResources {
    fn from(uris: Vec<String>) -> Self {
        Self::Listed(uris)
    }
}

impl PageContext {
    async fn campaign_uris(&self, caller: &Caller) -> Vec<String> {
        #[derive(Default, Deserialize)]
        struct CampaignIds {
            #[serde(default)]
            campaigns: Vec<CampaignId>,
        }
        #[derive(Deserialize)]
        struct CampaignId {
            id: String,
        }
        let input = json!({"view": "campaigns", "limit": CAMPAIGNS_FOLLOWED});
        let found: Result<CampaignIds, Fault> = self.read(caller, "campaign_read", input).await;
        let ids = found.unwrap_or_default().campaigns.into_iter();
        std::iter::once(CAMPAIGNS.to_owned()).chain(ids.map(|row| format!("campaign://{}", row.id))).collect()
    }
}

/// A stream of changes that is open.
struct ChangeReader {
    changes: Changes,
    visitor: Visitor,
    context: SharedContext,
    uris: Vec<String>,
    follows_campaigns: bool,
}

impl ChangeReader {
    /// The next change of one of the resources; `None` once the visitor may read nothing any more.
    async fn next(&mut self) -> Option<Event> {
        loop {
            let news = self.changes.next().await?;
            if !self.visitor.refresh(&*self.context.engine).await {
                return None;
            }
            let is_changed = |uri: &str| self.context.engine.is_changed(&news, &self.visitor.caller, uri);
            if !self.uris.iter().any(|uri| is_changed(uri)) {
                continue;
            }
            if self.follows_campaigns && is_changed(CAMPAIGNS) {
                self.uris = self.context.campaign_uris(&self.visitor.caller).await;
            }
            return Some(changed_event(&news));
        }
    }
}

/// Answers with an event `changed` for each change of one of the resources that the visitor may know of. Whoever comes
/// back names the last event, and is told of what happened meanwhile. Check before that the visitor may read them.
pub(crate) async fn stream_changes(
    context: &SharedContext,
    visitor: &Visitor,
    headers: &HeaderMap,
    resources: impl Into<StreamedResources>,
) -> Response {
    let resources = resources.into();
    let after = headers.get("last-event-id").and_then(|value| value.to_str().ok()).filter(|id| !id.is_empty());
    let changes = context.engine.changes(&visitor.caller, after).await;
    let (stopping, revoked) = (context.options.stopping.clone(), visitor.caller.wait_for_revocation());
    let follows_campaigns = matches!(resources, StreamedResources::Campaigns);
    let uris = match resources {
        StreamedResources::Listed(uris) => uris,
        StreamedResources::Campaigns => context.campaign_uris(&visitor.caller).await,
    };
    let reader =
        ChangeReader { changes, visitor: visitor.clone(), context: Arc::clone(context), uris, follows_campaigns };
    let events = stream::unfold(reader, async |mut reader| {
        let event = reader.next().await?;
        Some((Ok::<Event, Infallible>(event), reader))
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
