//! The creation quotas of runs and of versions of processes.

use super::stream::RUNS;
use crate::creation_quota::{CreationQuota, QuotaLimit};
use crate::{App, Caller, Fault, Principal, limits};

pub(super) const RUN_QUOTA: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "a campaign",
        things: "runs",
        most: limits::RUNS_PER_CAMPAIGN_MAX,
        hint: "create it in another campaign, or ask the owner, for whom there is no limit",
    },
    collection: RUNS,
};

/// A process is in no campaign, and its versions are in no list: each token has a row with their number.
const PROCESS_VERSION_LIMIT: QuotaLimit = QuotaLimit {
    what: "whoever has a token",
    things: "submitted versions of processes",
    most: limits::PROCESS_VERSIONS_PER_TOKEN_MAX,
    hint: "submit one again that is there, or ask the owner, for whom there is no limit",
};

/// The kind of the rows that count versions of processes, by the token that submitted them.
pub(super) const PROCESS_VERSION_COUNT_KIND: &str = "process-versions";

impl App {
    /// Checks the quota of process versions for the caller and counts one more.
    pub(super) async fn count_process_version(&self, caller: &Caller) -> Result<(), Fault> {
        let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
        loop {
            let row = self.journal.get(PROCESS_VERSION_COUNT_KIND, &holder.id).await;
            let row = row.map_err(|error| self.store_fault(&error))?;
            let count = row.as_ref().and_then(|row| row.parse().ok()).unwrap_or_default();
            PROCESS_VERSION_LIMIT.check(count)?;
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::creation_quota::tests::assert_limit;

    #[test]
    fn the_last_one_fits_and_one_more_does_not() {
        assert_limit(&RUN_QUOTA.bound, limits::RUNS_PER_CAMPAIGN_MAX);
        assert_limit(&PROCESS_VERSION_LIMIT, limits::PROCESS_VERSIONS_PER_TOKEN_MAX);
    }
}
