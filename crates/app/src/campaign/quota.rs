//! The creation quota of campaigns.

use skald_journal::{Partitions, StreamName};

use super::stream::CAMPAIGNS;
use crate::creation_quota::{CreationQuota, QuotaLimit};
use crate::{App, Caller, CampaignRole, EVERY_CAMPAIGN, Fault, Principal, limits};

const CAMPAIGN_QUOTA: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "whoever has a token",
        things: "campaigns to lead",
        most: limits::CAMPAIGNS_PER_TOKEN_MAX,
        hint: "use one that is there, or ask the owner, for whom there is no limit",
    },
    collection: CAMPAIGNS,
};

impl App {
    /// Checks the quota of campaigns, which are counted by their game master. A game master of every campaign has
    /// all of them.
    pub(super) async fn check_campaign_quota(&self, caller: &Caller, stream: &StreamName) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        if self.has_records(stream).await? {
            return Ok(());
        }
        let roles = holder.roles.all();
        let is_lead = |role: &CampaignRole| *role == CampaignRole::Gm;
        CAMPAIGN_QUOTA.bound.check(match roles.get(EVERY_CAMPAIGN).filter(|role| is_lead(role)) {
            Some(_) => self.count_documents(&CAMPAIGN_QUOTA, Partitions::All).await?,
            None => roles.values().filter(|role| is_lead(role)).count(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::creation_quota::tests::assert_limit;

    #[test]
    fn the_last_one_fits_and_one_more_does_not() {
        assert_limit(&CAMPAIGN_QUOTA.bound, limits::CAMPAIGNS_PER_TOKEN_MAX);
    }
}
