//! A campaign in a few words and numbers, for an overview: who is at the table, and which session is played.

use super::access::EnteredCampaign;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, Operation};

/// Characters of a description.
const DESCRIPTION_CHARS: usize = 500;

#[derive(Debug)]
pub(crate) struct CampaignSummary {
    pub description: String,
    pub status: String,
    pub participants: usize,
    pub actors: usize,
    pub sessions: usize,
    /// What goes on.
    pub sentences: Vec<String>,
}

impl App {
    pub(crate) async fn campaign_summary<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
    ) -> Result<CampaignSummary, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Guest);
        let campaign = self.enter_campaign_as(call.caller, O::NAME, allowed, campaign_id).await?;
        Ok(campaign.summary(call.caller))
    }

    /// Ids and names of the campaigns that a caller has a role in, the newest first.
    pub(crate) async fn campaign_names(&self, caller: &Caller, most: usize) -> Result<Vec<(String, String)>, Fault> {
        let page = self.list_campaigns(caller, None, most).await?;
        Ok(page.items.into_iter().map(|campaign| (campaign.id, campaign.name)).collect())
    }
}

impl EnteredCampaign {
    fn summary(&self, caller: &Caller) -> CampaignSummary {
        let (state, seen) = (self.state(), self.redaction(caller));
        let campaign = state.campaign().and_then(|campaign| seen.redact_ref(campaign));
        let status = campaign.as_ref().and_then(|campaign| serde_json::to_value(campaign.status).ok());
        let status = status.and_then(|status| Some(status.as_str()?.to_lowercase())).unwrap_or_default();
        let name = campaign.as_ref().map(|campaign| campaign.name.clone()).unwrap_or_default();
        let theme = campaign.as_ref().map(|campaign| campaign.theme_prompt.as_str()).unwrap_or_default();
        let sessions: Vec<_> = state.sessions().newest_first().filter_map(|session| seen.redact_ref(session)).collect();
        let mut sentences = vec![format!("{name} is {status}.")];
        if let Some(newest) = sessions.first() {
            let ended = newest.ended_at.map_or("is being played".to_owned(), |at| format!("ended at {at}"));
            let title = if newest.name.is_empty() { &newest.id } else { &newest.name };
            sentences.push(format!("The newest of {} sessions, {title}, {ended}.", sessions.len()));
        }
        CampaignSummary {
            description: theme.chars().take(DESCRIPTION_CHARS).collect(),
            status,
            participants: state.participants().oldest_first().filter(|one| seen.is_visible(*one)).count(),
            actors: state.actors().oldest_first().filter(|one| seen.is_visible(*one)).count(),
            sessions: sessions.len(),
            sentences,
        }
    }
}
