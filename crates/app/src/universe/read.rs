//! Reading universes: one operation with a view, behind every resource.

use domain::universe::{Universe, UniverseState};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::noun::{Listed, moment, not_found};
use super::shape::StateShape;
use crate::listing::page_limit;
use crate::{Allowed, App, Call, Caller, CampaignRole, Code, Exposed, Fault, Kind, Operation, Route, Toolset, limits};

pub(super) struct UniverseRead;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum View {
    /// All universes, without what they hold.
    #[default]
    Universes,
    /// One universe.
    Universe,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct UniverseReadInput {
    /// What to read; the list if left out.
    #[serde(default)]
    view: View,
    /// The universe, where one is read.
    universe_id: Option<String>,
    /// The `nextCursor` of the page before.
    cursor: Option<String>,
    /// Rows of the list, the newest first.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

/// A universe as it is told.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseRecord {
    id: String,
    name: String,
    /// The campaign it belongs to, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    campaign_id: Option<String>,
    created_at: String,
    updated_at: String,
    /// How many commands it has seen.
    revision: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<StateShape>")]
    state: Option<UniverseState>,
}

impl UniverseRecord {
    /// `None` if there is no such universe.
    pub(super) fn of(universe: &Universe, revision: u64) -> Option<Self> {
        let about = universe.about()?;
        Some(Self {
            id: about.id.clone(),
            name: about.name.clone(),
            campaign_id: about.campaign_id.clone(),
            created_at: moment(about.created_at),
            updated_at: moment(universe.updated_at().unwrap_or(about.created_at)),
            revision,
            state: None,
        })
    }
}

#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseReadOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    universes: Option<Vec<Listed>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    universe: Option<UniverseRecord>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for UniverseRead {
    const NAME: &'static str = "universe_read";
    const TITLE: &'static str = "Read universes";
    const SUMMARY: &'static str = "Read the list of universes, or one with all that it holds.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: Kind = Kind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    // Of the three tools of this set none is this one: what it reads are resources.
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/universes").with("view", "universes")];
    type Input = UniverseReadInput;
    type Output = UniverseReadOutput;

    async fn run(app: &App, call: &Call<'_>, input: UniverseReadInput) -> Result<UniverseReadOutput, Fault> {
        let output = UniverseReadOutput::default();
        if input.view == View::Universes {
            let page = app.universes_of(call.caller, input.cursor.as_deref(), page_limit(input.limit)?).await?;
            return Ok(UniverseReadOutput { universes: Some(page.items), next_cursor: page.next_cursor, ..output });
        }
        let Some(universe_id) = &input.universe_id else {
            let fault = Fault::new(Code::InvalidParams, "universeId is required for the view universe");
            return Err(fault.at("/universeId").hint("the view universes lists them"));
        };
        let sky = app.sky::<Self>(call, universe_id, CampaignRole::Guest).await?;
        let universe = sky.universe()?;
        let record = UniverseRecord::of(&universe, sky.kept.revision()).ok_or_else(|| not_found(universe_id))?;
        let record = UniverseRecord { state: Some(universe.state().clone()), ..record };
        Ok(UniverseReadOutput { universe: Some(record), ..output })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.universe_ids(caller, field).await
    }
}
