//! `universe_read`: one read operation with a view, behind every resource of a universe.

use std::slice;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::FoundUniverse;
use super::stream::ListedUniverse;
use super::views::{self, StatePart, ViewRequest};
use crate::list_page::{ListPage, check_page_limit};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Completion, CompletionRequest, Exposed, Fault, Operation,
    OperationKind, PermissionClass, Route, Toolset, limits,
};

pub(super) struct UniverseRead;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReadView {
    /// All universes, without what they hold.
    #[default]
    Universes,
    /// How much there is of what.
    Summary,
    /// Bodies, by id.
    Bodies,
    /// One body with those around it.
    Body,
    /// Groups, by id.
    Groups,
    /// Where bodies are, by id.
    Positions,
}

impl ReadView {
    fn state_view(self) -> Option<views::View> {
        match self {
            Self::Universes => None,
            Self::Summary => Some(views::View::Summary),
            Self::Bodies => Some(views::View::Bodies),
            Self::Body => Some(views::View::Body),
            Self::Groups => Some(views::View::Groups),
            Self::Positions => Some(views::View::Positions),
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UniverseReadInput {
    /// What to read; the list if left out.
    #[serde(default)]
    view: ReadView,
    /// The universe, where one is read; in the list, it alone.
    universe_id: Option<String>,
    /// In the list: only those of this campaign; empty: of none.
    campaign_id: Option<String>,
    /// The body, for the view body.
    body_id: Option<String>,
    /// Only the bodies, groups or positions of these ids.
    ids: Option<Vec<String>>,
    /// For positions and body: when, in simulated seconds; now if left out.
    t: Option<f64>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Rows of one page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseReadOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    universes: Option<Vec<ListedUniverse>>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// A part of a universe, which has a cursor of its own.
    #[serde(flatten)]
    part: Option<Box<StatePart>>,
}

impl Operation for UniverseRead {
    const NAME: &'static str = "universe_read";
    const TITLE: &'static str = "Read universes";
    const SUMMARY: &'static str = "Read the list of universes, or a part of one.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    // The toolset has three fixed tools; this operation serves resources.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[
        Route::get("/api/v1/universes").with_fixed_field("view", "universes"),
        Route::get("/api/v1/universes/{universeId}/summary").with_fixed_field("view", "summary"),
        Route::get("/api/v1/universes/{universeId}/bodies").with_fixed_field("view", "bodies"),
        Route::get("/api/v1/universes/{universeId}/body/{bodyId}").with_fixed_field("view", "body"),
        Route::get("/api/v1/universes/{universeId}/groups").with_fixed_field("view", "groups"),
        Route::get("/api/v1/universes/{universeId}/positions").with_fixed_field("view", "positions"),
    ];
    type Input = UniverseReadInput;
    type Output = UniverseReadOutput;

    async fn run(app: &App, call: &Call<'_>, input: UniverseReadInput) -> Result<UniverseReadOutput, Fault> {
        let output = UniverseReadOutput::default();
        let Some(view) = input.view.state_view() else {
            let page = list_universes(app, call, &input).await?;
            return Ok(UniverseReadOutput { universes: Some(page.items), next_cursor: page.next_cursor, ..output });
        };
        if let Some(campaign_id) = &input.campaign_id {
            let fault = Fault::new(Code::InvalidParams, "only the list takes a campaignId").with_path("/campaignId");
            return Err(fault.value(&campaign_id.as_str().into()).hint("leave it out, or send the view universes"));
        }
        let Some(universe_id) = &input.universe_id else {
            let fault = Fault::new(Code::InvalidParams, "universeId is required for what is in a universe");
            return Err(fault.with_path("/universeId").hint("the view universes lists them"));
        };
        let found_universe = app.find_universe::<Self>(call, universe_id, CampaignRole::Guest).await?;
        Ok(UniverseReadOutput { part: read_requested_part(&found_universe, view, &input)?.map(Box::new), ..output })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        match field {
            "campaignId" => app.complete_id_field(caller, "campaign_id").await,
            field => app.complete_universe_id(caller, field).await,
        }
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        if request.argument == "bodyId" { Some(app.complete_body_id(caller, request).await) } else { None }
    }
}

/// The list: of all that the caller sees, of one campaign, or one universe alone.
async fn list_universes(
    app: &App,
    call: &Call<'_>,
    input: &UniverseReadInput,
) -> Result<ListPage<ListedUniverse>, Fault> {
    let (cursor, limit) = (input.cursor.as_deref(), check_page_limit(input.limit)?);
    let campaign_id = match &input.campaign_id {
        None => None,
        // Universes without a campaign are stored under an empty id.
        Some(given) if given.is_empty() => Some(String::new()),
        Some(given) => {
            let to_field = |fault: Fault| fault.with_path("/campaignId");
            let campaign_id = app.resolve_campaign_id(call, given).await.map_err(to_field)?;
            app.enter_campaign_as(call.caller, UniverseRead::NAME, UniverseRead::ALLOWED, &campaign_id)
                .await
                .map_err(to_field)?;
            Some(campaign_id)
        }
    };
    if let Some(universe_id) = &input.universe_id {
        let found_universe = app.find_universe::<UniverseRead>(call, universe_id, CampaignRole::Guest).await?;
        let listed = app.list_one_universe(&found_universe).await?;
        let is_wanted = campaign_id.as_deref().is_none_or(|id| listed.campaign_id.as_deref().unwrap_or_default() == id);
        return Ok(ListPage { items: is_wanted.then_some(listed).into_iter().collect(), next_cursor: None });
    }
    match &campaign_id {
        Some(campaign_id) => app.list_universes_of(call.caller, campaign_id, cursor, limit).await,
        None => app.list_universes(call.caller, cursor, limit).await,
    }
}

/// The part to read. Other than in `get_universe_state`, the id of the view body is in `bodyId`.
fn read_requested_part(
    found_universe: &FoundUniverse,
    view: views::View,
    input: &UniverseReadInput,
) -> Result<Option<StatePart>, Fault> {
    let UniverseReadInput { body_id, ids, cursor, limit, t, .. } = input;
    let misplaced = |field: &str, message: &str, hint: &str| {
        let fault = Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).hint(hint);
        Err(fault.universe(&found_universe.universe_id))
    };
    let ids = match (view, body_id, ids) {
        (views::View::Body, _, Some(_)) => return misplaced("ids", "the view body takes no ids", "send bodyId"),
        (views::View::Body, None, _) => {
            return misplaced("bodyId", "bodyId is required for the view body", "the view bodies lists them");
        }
        (views::View::Body, Some(id), None) => Some(slice::from_ref(id)),
        (_, Some(_), _) => return misplaced("bodyId", "only the view body takes a bodyId", "send ids instead"),
        (_, None, ids) => ids.as_deref(),
    };
    let ask = ViewRequest { view: Some(view), ids, cursor: cursor.as_deref(), limit: *limit, t: *t };
    let is_of_body = |fault: &Fault| body_id.is_some() && fault.body().path.as_deref() == Some("/ids/0");
    views::read_part(found_universe, &ask)
        .map_err(|fault| if is_of_body(&fault) { fault.with_path("/bodyId") } else { fault })
}
