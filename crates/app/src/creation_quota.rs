//! Creation quotas: how many things the holders of tokens may create. Each noun has its own, in its `quota.rs`; here is
//! how they are counted and refused. The owner of the store is not limited.

use crate::{App, Caller, Code, Fault, Principal};
use skald_journal::{Partitions, StreamName};

/// The limit of a quota.
#[derive(Clone, Copy)]
pub(crate) struct QuotaLimit {
    /// The subject and the object of the error message: "a campaign", "universes".
    pub what: &'static str,
    pub things: &'static str,
    pub most: usize,
    pub hint: &'static str,
}

/// A quota whose count is the number of rows in a read model.
#[derive(Clone, Copy)]
pub(crate) struct CreationQuota {
    pub bound: QuotaLimit,
    /// The read model with one row for each.
    pub collection: &'static str,
}

impl QuotaLimit {
    pub(crate) fn check(&self, count: usize) -> Result<(), Fault> {
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

    pub(crate) async fn has_records(&self, stream: &StreamName) -> Result<bool, Fault> {
        let head = self.journal.head(stream).await.map_err(|error| self.store_fault(&error))?;
        Ok(head.revision > 0)
    }

    pub(crate) async fn count_documents(
        &self,
        quota: &CreationQuota,
        partitions: Partitions<'_>,
    ) -> Result<usize, Fault> {
        let counted = self.journal.count_documents(quota.collection, partitions).await;
        let count = counted.map_err(|error| self.store_fault(&error))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Asserts that the last one fits, that one more does not, and that the refusal names the limit and who has none.
    pub(crate) fn assert_limit(bound: &QuotaLimit, most: usize) {
        assert!(bound.check(most - 1).is_ok());
        let refused = bound.check(most).unwrap_err();
        assert_eq!(refused.code(), Code::TooLarge);
        assert!(refused.to_string().contains(&format!("at most {most} {}", bound.things)), "{refused}");
        assert!(refused.body().hint.as_ref().is_some_and(|hint| hint.contains("owner")));
    }
}
