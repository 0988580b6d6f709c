//! How fresh the lore of a linked campaign is, in every answer about it.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::Moment;

use super::rows::MirrorLink;
use crate::lore::access::EnteredLore;
use crate::{App, Fault};

/// Without a pull for so long the lore counts as stale: the background task pulls every minute.
const STALE_AFTER: SignedDuration = SignedDuration::from_mins(3);

/// How fresh the lore is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in super::super) struct MirrorFreshness {
    /// When everything was pulled last.
    pub synced_at: Option<Moment>,
    /// Whether Kanka may have something newer: it cannot be reached, or was not asked for a while.
    pub stale: bool,
    /// Writes that wait to be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
}

impl App {
    /// `None` if the campaign is not linked. Only game masters are told what waits, since that counts private writes.
    pub(in super::super) async fn mirror_freshness(
        &self,
        lore: &EnteredLore,
    ) -> Result<Option<MirrorFreshness>, Fault> {
        let Some(link) = self.mirror_link(&lore.campaign_id).await?.filter(|link| link.is_linked) else {
            return Ok(None);
        };
        // After a write the lore is newer than the one that was entered.
        let committed = self.lore.read(&lore.stream).await.map_err(|error| self.store_fault(&error))?;
        let pending = lore.sees_private.then(|| committed.revision().saturating_sub(link.sent_revision));
        Ok(Some(MirrorFreshness { pending, ..freshness_of_link(&link, self.clock.now()) }))
    }
}

pub(super) fn freshness_of_link(link: &MirrorLink, now: Timestamp) -> MirrorFreshness {
    let synced_at = link.synced_at.as_deref().and_then(|text| text.parse::<Timestamp>().ok());
    let is_old = synced_at.is_none_or(|at| now.duration_since(at) > STALE_AFTER);
    MirrorFreshness {
        synced_at: synced_at.map(Moment::from),
        stale: is_old || link.failure.is_some() || !link.is_pulled,
        pending: None,
    }
}
