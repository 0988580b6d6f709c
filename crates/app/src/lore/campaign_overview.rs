//! `campaign_overview`: what a campaign holds and what goes on in it, in one short answer; or which campaigns there are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::EnteredLore;
use super::entity_search::type_word;
use super::timeline_rows::TimelineFilter;
use crate::campaign::CampaignSummary;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

/// Campaigns that are listed at most.
const CAMPAIGNS_MAX: usize = 50;

pub(super) struct CampaignOverview;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CampaignOverviewInput {
    /// The context's if left out; with several and no context, all are listed.
    campaign_id: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct CampaignOverviewOutput {
    /// What goes on.
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The rules that its dice follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<CampaignStats>,
    #[serde(skip_serializing_if = "Option::is_none")]
    campaigns: Option<Vec<ListedCampaign>>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
struct CampaignStats {
    /// By type.
    entities: BTreeMap<String, usize>,
    relationships: usize,
    sessions: usize,
    timeline: usize,
    participants: usize,
    actors: usize,
    /// Changes that the canon holds, for game masters.
    #[serde(skip_serializing_if = "Option::is_none")]
    open_conflicts: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
struct ListedCampaign {
    id: String,
    name: String,
    system: String,
}

impl Operation for CampaignOverview {
    const NAME: &'static str = "campaign_overview";
    const TITLE: &'static str = "Overview of a campaign";
    const SUMMARY: &'static str = "What a campaign holds and what goes on; or the campaigns there are.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    type Input = CampaignOverviewInput;
    type Output = CampaignOverviewOutput;

    async fn run(app: &App, call: &Call<'_>, input: CampaignOverviewInput) -> Result<CampaignOverviewOutput, Fault> {
        let lore = match app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await {
            Err(fault) if input.campaign_id.is_none() && fault.code() == Code::InvalidParams => {
                return app.overview_of_all(call.caller).await;
            }
            entered => entered?,
        };
        let summary = app.campaign_summary::<Self>(call, &lore.campaign_id).await?;
        Ok(lore.overview(summary))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl App {
    async fn overview_of_all(&self, caller: &Caller) -> Result<CampaignOverviewOutput, Fault> {
        let campaigns: Vec<ListedCampaign> = self
            .campaign_names(caller, CAMPAIGNS_MAX)
            .await?
            .into_iter()
            .map(|(id, name)| ListedCampaign { id, name, system: SYSTEM.to_owned() })
            .collect();
        let summary = format!("{} campaigns", campaigns.len());
        Ok(CampaignOverviewOutput { summary, campaigns: Some(campaigns), ..CampaignOverviewOutput::default() })
    }
}

/// The rules of the duality dice.
const SYSTEM: &str = "daggerheart";

impl EnteredLore {
    fn overview(&self, summary: CampaignSummary) -> CampaignOverviewOutput {
        let mut entities: BTreeMap<String, usize> = BTreeMap::new();
        for entity in self.state().current_entities().filter(|entity| self.redaction.is_visible(&***entity)) {
            *entities.entry(type_word(self.state(), entity)).or_default() += 1;
        }
        let relationships = self.state().relationships().all();
        let stats = CampaignStats {
            entities,
            relationships: relationships.filter(|one| self.is_relationship_visible(one)).count(),
            sessions: summary.sessions,
            timeline: self.written_rows(&TimelineFilter::default()).len(),
            participants: summary.participants,
            actors: summary.actors,
            open_conflicts: self
                .redaction
                .is_game_master()
                .then(|| self.state().conflicts().filter(|conflict| conflict.is_open()).count()),
        };
        CampaignOverviewOutput {
            summary: summary.sentences.join(" "),
            id: Some(self.campaign_id.clone()),
            name: Some(self.campaign_name.clone()),
            system: Some(SYSTEM.to_owned()),
            description: Some(summary.description).filter(|text| !text.is_empty()),
            status: Some(summary.status),
            stats: Some(stats),
            campaigns: None,
        }
    }
}
