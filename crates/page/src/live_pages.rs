//! Streams that say when a page has changed. Each page that follows changes is listed here with the resources that it
//! shows.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use skald_app::{Code, Fault};

use crate::SharedContext;
use crate::components::encode;
use crate::extractors::PagePath;
use crate::middleware::PageError;
use crate::resource_events::{StreamedResources, stream_changes};
use crate::visitor::Visitor;

/// The stream of the page of the runs without a campaign.
pub(crate) const RUNS_STREAM: &str = "/changes/runs";
/// The stream of the page of the universes without a campaign.
pub(crate) const SKIES_STREAM: &str = "/changes/skies";
/// The resource that changes with every run that a caller sees.
const RUNS: &str = "stategate://runs";
/// The list of the universes.
const UNIVERSES: &str = "universes://list";

/// A page of a campaign that follows changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LivePage {
    Sessions,
    Evening,
    Timeline,
    /// Lists of entities, what is held of them, and their mirror.
    Lore,
    Graph,
    Universes,
    Runs,
}

impl LivePage {
    const ALL: [Self; 7] =
        [Self::Sessions, Self::Evening, Self::Timeline, Self::Lore, Self::Graph, Self::Universes, Self::Runs];

    fn name(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Evening => "evening",
            Self::Timeline => "timeline",
            Self::Lore => "lore",
            Self::Graph => "graph",
            Self::Universes => "universes",
            Self::Runs => "runs",
        }
    }

    /// The address of its stream.
    pub(crate) fn path(self, campaign_id: &str) -> String {
        format!("/c/{}/changes/{}", encode(campaign_id), self.name())
    }

    fn uris(self, id: &str) -> Vec<String> {
        match self {
            Self::Sessions => vec![format!("campaign://{id}/sessions")],
            Self::Evening => vec![format!("campaign://{id}/events")],
            Self::Timeline => {
                vec![format!("imagineer://campaigns/{id}/timeline"), format!("campaign://{id}/events")]
            }
            Self::Lore => vec![format!("lore://{id}/entities")],
            Self::Graph => vec![format!("lore://{id}/graph.svg")],
            Self::Universes => vec![UNIVERSES.to_owned()],
            Self::Runs => vec![RUNS.to_owned()],
        }
    }
}

/// `GET /changes`: says when the campaigns of home, or what is going on in one of them, have changed.
pub(crate) async fn home_changes(
    State(context): State<SharedContext>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Response {
    stream_changes(&context, &visitor, &headers, StreamedResources::Campaigns).await
}

/// `GET /changes/runs`: says when there are other runs, or some have changed.
pub(crate) async fn run_changes(
    State(context): State<SharedContext>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Response {
    stream_changes(&context, &visitor, &headers, vec![RUNS.to_owned()]).await
}

/// `GET /changes/skies`: says when there are other universes, or others that the visitor may see.
pub(crate) async fn universe_changes(
    State(context): State<SharedContext>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Response {
    stream_changes(&context, &visitor, &headers, vec![UNIVERSES.to_owned()]).await
}

/// `GET /c/{campaign}/changes/{page}`.
pub(crate) async fn page_changes(
    State(context): State<SharedContext>,
    PagePath((campaign, name)): PagePath<(String, String)>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    let page = LivePage::ALL.into_iter().find(|page| page.name() == name).ok_or_else(|| {
        let fault = Fault::new(Code::NotFound, "no page has a stream of that name").with_path("/page");
        fault.value(&name.as_str().into()).allowed(LivePage::ALL.map(LivePage::name))
    })?;
    Ok(stream_changes(&context, &visitor, &headers, page.uris(&head.id)).await)
}
