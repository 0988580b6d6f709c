//! `list_numbered_campaigns`: the caller's campaigns with their numbers, for programs that know campaigns by numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::Campaign;

use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
    limits,
};

pub(super) struct ListNumberedCampaigns;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListNumberedCampaignsInput {
    /// This one alone, by id, number or name; all if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListNumberedCampaignsOutput {
    /// The newest first.
    campaigns: Vec<NumberedCampaign>,
    /// The moment before they were read.
    read_at: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NumberedCampaign {
    number: u64,
    campaign: Campaign,
    /// The caller's role: gm, player or guest.
    role: String,
}

impl Operation for ListNumberedCampaigns {
    const NAME: &'static str = "list_numbered_campaigns";
    const TITLE: &'static str = "List numbered campaigns";
    const SUMMARY: &'static str = "The campaigns of the caller, each with its number.";
    // A server that offers the lore alone offers it to programs that know campaigns by numbers.
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = ListNumberedCampaignsInput;
    type Output = ListNumberedCampaignsOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: ListNumberedCampaignsInput,
    ) -> Result<ListNumberedCampaignsOutput, Fault> {
        let read_at = format!("{:.6}", app.clock.now());
        let found = match &input.campaign_id {
            Some(given) => {
                let campaign_id = app.resolve_campaign_id(call, given).await?;
                let allowed = Allowed::InCampaign(CampaignRole::Guest);
                let entered = app.enter_campaign_as(call.caller, Self::NAME, allowed, &campaign_id).await?;
                entered.state().campaign().cloned().into_iter().collect()
            }
            None => app.all_campaigns(call.caller).await?,
        };
        let mut campaigns = Vec::with_capacity(found.len());
        for campaign in found {
            let role = call.caller.role_in(&campaign.id).map(CampaignRole::as_str);
            if let (Some(number), Some(role)) = (app.campaign_number(&campaign.id).await?, role) {
                campaigns.push(NumberedCampaign { number, campaign, role: role.to_owned() });
            }
        }
        Ok(ListNumberedCampaignsOutput { campaigns, read_at })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl App {
    /// All campaigns that the caller has a role in.
    async fn all_campaigns(&self, caller: &Caller) -> Result<Vec<Campaign>, Fault> {
        let (mut campaigns, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.list_campaigns(caller, cursor.as_deref(), limits::PAGE_MAX).await?;
            campaigns.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(campaigns);
            }
        }
    }
}
