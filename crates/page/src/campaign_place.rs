//! Pages of runs and of universes, which belong to a campaign or to none: their addresses and their frame.

use skald_app::Fault;

use crate::PageContext;
use crate::components::encode;
use crate::layout::{CampaignHead, CampaignPart, MainPart, PageLayout};
use crate::visitor::Visitor;

/// The list of such things of a campaign, or of those without one.
pub(crate) struct CampaignPlace {
    campaign: Option<CampaignHead>,
    part: CampaignPart,
    /// The part that has those without a campaign.
    main_part: MainPart,
}

impl CampaignPlace {
    pub(crate) fn campaign_id(&self) -> Option<&str> {
        self.campaign.as_ref().map(|campaign| campaign.id.as_str())
    }

    /// Whether the visitor leads what is here: the campaign, or every one.
    pub(crate) fn is_led_by(&self, visitor: &Visitor) -> bool {
        visitor.is_game_master_of(self.campaign_id().unwrap_or(skald_app::EVERY_CAMPAIGN))
    }

    /// The address of the list.
    pub(crate) fn list_path(&self) -> String {
        self.campaign_id().map_or_else(|| self.main_part.path().to_owned(), |id| self.part.path(&encode(id)))
    }

    pub(crate) fn item_path(&self, id: &str) -> String {
        format!("{}/{}", self.list_path(), encode(id))
    }

    pub(crate) fn layout<'a>(&'a self, title: &str, visitor: &'a Visitor) -> PageLayout<'a> {
        let layout = PageLayout::for_visitor(title, visitor);
        match &self.campaign {
            Some(campaign) => layout.campaign(campaign, self.part),
            None => layout.part(self.main_part),
        }
    }
}

impl PageContext {
    /// Checks that the visitor may enter the campaign, if one is named.
    pub(crate) async fn campaign_place(
        &self,
        visitor: &Visitor,
        campaign_id: Option<&str>,
        part: CampaignPart,
        main_part: MainPart,
    ) -> Result<CampaignPlace, Fault> {
        let campaign = match campaign_id {
            Some(campaign_id) => Some(self.campaign_head(visitor, campaign_id).await?),
            None => None,
        };
        Ok(CampaignPlace { campaign, part, main_part })
    }
}
