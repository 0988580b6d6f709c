//! `universe_events`: opens the feed of a universe's accepted commands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Feed;
use super::rest;
use crate::{
    Allowed, Answer, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Route,
    Toolset,
};

pub(super) struct UniverseEvents;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UniverseEventsInput {
    /// The universe.
    universe_id: String,
    /// The id of the last event that came; what comes from now on if left out. The header Last-Event-ID counts before it.
    last_event_id: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseEventsOutput {
    /// Only events after this id are sent.
    last_event_id: String,
    #[serde(skip)]
    feed: Box<Feed>,
}

impl Operation for UniverseEvents {
    const NAME: &'static str = "universe_events";
    const TITLE: &'static str = "Follow a universe";
    const SUMMARY: &'static str =
        "Follow a universe: its commands as server-sent events. Last-Event-ID goes on where a reader was cut.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    // MCP and gRPC report changes in their own ways.
    const EXPOSED: Exposed = Exposed::RestOnly;
    const ROUTES: &'static [Route] = &[rest::EVENTS];
    type Input = UniverseEventsInput;
    type Output = UniverseEventsOutput;

    async fn run(app: &App, call: &Call<'_>, input: UniverseEventsInput) -> Result<UniverseEventsOutput, Fault> {
        // An empty id counts as absent.
        let after = input.last_event_id.as_deref().filter(|id| !id.is_empty());
        let feed = app.open_feed(call.caller, &input.universe_id, after).await?;
        Ok(UniverseEventsOutput { last_event_id: feed.last_event_id(), feed: Box::new(feed) })
    }

    fn answer(output: UniverseEventsOutput) -> Result<Answer, serde_json::Error> {
        Ok(Answer::Feed(output.feed))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_universe_id(caller, field).await
    }
}
