//! Creation quotas: how many campaigns, universes, runs and process versions the holders of tokens may create. The
//! owner of the store is not limited.

use crate::{App, Caller, CampaignRole, Code, EVERY_CAMPAIGN, Fault, Principal, limits};
use skald_journal::{Partitions, StreamName};

/// The limit of a quota.
#[derive(Clone, Copy)]
struct QuotaLimit {
    /// The subject and the object of the error message: "a campaign", "universes".
    what: &'static str,
    things: &'static str,
    most: usize,
    hint: &'static str,
}

/// A quota whose count is the number of rows in a read model.
#[derive(Clone, Copy)]
pub(crate) struct CreationQuota {
    bound: QuotaLimit,
    /// The read model with one row for each.
    collection: &'static str,
}

pub(crate) const UNIVERSES: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "a campaign",
        things: "universes",
        most: limits::UNIVERSES_PER_CAMPAIGN_MAX,
        hint: "delete universes of the campaign, create it in another campaign, or ask the owner, for whom there is no limit",
    },
    collection: crate::universe::UNIVERSES,
};

pub(crate) const RUNS: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "a campaign",
        things: "runs",
        most: limits::RUNS_PER_CAMPAIGN_MAX,
        hint: "create it in another campaign, or ask the owner, for whom there is no limit",
    },
    collection: crate::gate::RUNS,
};

const CAMPAIGNS: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "whoever has a token",
        things: "campaigns to lead",
        most: limits::CAMPAIGNS_PER_TOKEN_MAX,
        hint: "use one that is there, or ask the owner, for whom there is no limit",
    },
    collection: crate::campaign::CAMPAIGNS,
};

/// A process is in no campaign, and its versions are in no list: each token has a row with their number.
const PROCESS_VERSIONS: QuotaLimit = QuotaLimit {
    what: "whoever has a token",
    things: "submitted versions of processes",
    most: limits::PROCESS_VERSIONS_PER_TOKEN_MAX,
    hint: "submit one again that is there, or ask the owner, for whom there is no limit",
};

/// The kind of the rows that count versions of processes, by the token that submitted them.
pub(crate) const PROCESS_VERSION_COUNT_KIND: &str = "process-versions";

impl QuotaLimit {
    fn check(&self, count: usize) -> Result<(), Fault> {
        if count < self.most {
            return Ok(());
        }
        let Self { what, things, most, hint } = self;
        let message = format!("{what} has at most {most} {things}; there are {count}");
        Err(Fault::new(Code::TooLarge, message).hint(*hint))
    }
}

impl App {
    /// Checks whether one more may be created in a campaign, or outside of all. An existing stream passes, since the
    /// request is a retry.
    pub(crate) async fn check_quota(
        &self,
        caller: &Caller,
        quota: &CreationQuota,
        stream: &StreamName,
        campaign_id: Option<&str>,
    ) -> Result<(), Fault> {
        if caller.principal == Principal::Owner || self.has_records(stream).await? {
            return Ok(());
        }
        let partition = [campaign_id.unwrap_or_default().to_owned()];
        quota.bound.check(self.count_documents(quota, Partitions::Of(&partition)).await?)
    }

    /// Checks the quota of campaigns, which are counted by their game master. A game master of every campaign has
    /// all of them.
    pub(crate) async fn check_campaign_quota(&self, caller: &Caller, stream: &StreamName) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        if self.has_records(stream).await? {
            return Ok(());
        }
        let roles = holder.roles.all();
        let is_lead = |role: &CampaignRole| *role == CampaignRole::Gm;
        CAMPAIGNS.bound.check(match roles.get(EVERY_CAMPAIGN).filter(|role| is_lead(role)) {
            Some(_) => self.count_documents(&CAMPAIGNS, Partitions::All).await?,
            None => roles.values().filter(|role| is_lead(role)).count(),
        })
    }

    /// Checks the quota of process versions for the caller and counts one more.
    pub(crate) async fn count_process_version(&self, caller: &Caller) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        loop {
            let row = self.journal.get(PROCESS_VERSION_COUNT_KIND, &holder.id).await;
            let row = row.map_err(|error| self.store_fault(&error))?;
            let count = row.as_ref().and_then(|row| row.parse().ok()).unwrap_or_default();
            PROCESS_VERSIONS.check(count)?;
            let next = (count + 1).to_string();
            let written = match &row {
                Some(old) => self.journal.replace(PROCESS_VERSION_COUNT_KIND, &holder.id, old, next).await,
                None => self.journal.put(PROCESS_VERSION_COUNT_KIND, &holder.id, next).await.map(|()| true),
            };
            if written.map_err(|error| self.store_fault(&error))? {
                return Ok(());
            }
        }
    }

    async fn has_records(&self, stream: &StreamName) -> Result<bool, Fault> {
        let head = self.journal.head(stream).await.map_err(|error| self.store_fault(&error))?;
        Ok(head.revision > 0)
    }

    async fn count_documents(&self, quota: &CreationQuota, partitions: Partitions<'_>) -> Result<usize, Fault> {
        let counted = self.journal.count_documents(quota.collection, partitions).await;
        let count = counted.map_err(|error| self.store_fault(&error))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_fits_and_one_more_does_not() {
        for (bound, most) in [
            (UNIVERSES.bound, limits::UNIVERSES_PER_CAMPAIGN_MAX),
            (RUNS.bound, limits::RUNS_PER_CAMPAIGN_MAX),
            (CAMPAIGNS.bound, limits::CAMPAIGNS_PER_TOKEN_MAX),
            (PROCESS_VERSIONS, limits::PROCESS_VERSIONS_PER_TOKEN_MAX),
        ] {
            assert!(bound.check(most - 1).is_ok());
            let refused = bound.check(most).unwrap_err();
            assert_eq!(refused.code(), Code::TooLarge);
            assert!(refused.to_string().contains(&format!("at most {most} {}", bound.things)), "{refused}");
            assert!(refused.body().hint.as_ref().is_some_and(|hint| hint.contains("owner")));
        }
    }
}
