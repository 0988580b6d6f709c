//! The creation quota of universes.

use super::stream::UNIVERSES;
use crate::creation_quota::{CreationQuota, QuotaLimit};
use crate::limits;

pub(super) const UNIVERSE_QUOTA: CreationQuota = CreationQuota {
    bound: QuotaLimit {
        what: "a campaign",
        things: "universes",
        most: limits::UNIVERSES_PER_CAMPAIGN_MAX,
        hint: "delete universes of the campaign, create it in another campaign, or ask the owner, for whom there is no limit",
    },
    collection: UNIVERSES,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::creation_quota::tests::assert_limit;

    #[test]
    fn the_last_one_fits_and_one_more_does_not() {
        assert_limit(&UNIVERSE_QUOTA.bound, limits::UNIVERSES_PER_CAMPAIGN_MAX);
    }
}
