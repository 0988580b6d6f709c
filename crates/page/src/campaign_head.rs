//! The name of the campaign that a page belongs to, for its bar and its title.

use serde::Deserialize;
use serde_json::json;
use skald_app::Fault;

use crate::PageContext;
use crate::layout::CampaignHead;
use crate::visitor::Visitor;

#[derive(Debug, Deserialize)]
struct NamedCampaign {
    campaign: CampaignName,
}

#[derive(Debug, Deserialize)]
struct CampaignName {
    id: String,
    name: String,
}

impl PageContext {
    /// The campaign of a page. `NOT_FOUND` if the visitor has no role in it.
    pub(crate) async fn campaign_head(&self, visitor: &Visitor, campaign_id: &str) -> Result<CampaignHead, Fault> {
        let input = json!({"view": "campaign", "campaign_id": campaign_id});
        let NamedCampaign { campaign } = self.read(&visitor.caller, "campaign_read", input).await?;
        Ok(CampaignHead { id: campaign.id, name: campaign.name })
    }
}
