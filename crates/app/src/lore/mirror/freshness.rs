//! Freshness of a linked campaign's lore, added to every answer about it.

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skald_domain::Moment;

use super::rows::MirrorLink;
use crate::{Answer, App, Fault, RequestControl};

/// The lore counts as stale when the last pull is older. The background task pulls every minute.
const STALE_AFTER: SignedDuration = SignedDuration::from_mins(3);

/// How fresh the lore is.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(in super::super) struct MirrorFreshness {
    /// When everything was pulled last.
    pub synced_at: Option<Moment>,
    /// Whether Kanka may have something newer: it cannot be reached, or was not asked for a while.
    pub stale: bool,
    /// Entities whose changes wait to be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending: Option<u64>,
}

/// The lore of a linked campaign that a caller entered.
#[derive(Debug, Clone)]
pub struct LinkedLore {
    campaign_id: String,
    sees_private: bool,
}

impl LinkedLore {
    pub(in super::super) fn new(campaign_id: &str, sees_private: bool) -> Self {
        Self { campaign_id: campaign_id.to_owned(), sees_private }
    }
}

impl App {
    /// Adds `mirror` to the answer if the lore that the caller entered is linked. If the freshness cannot be read, the answer
    /// goes out without it: the operation itself has succeeded.
    pub(crate) async fn with_freshness(&self, control: &RequestControl, mut answer: Answer) -> Answer {
        let Some(lore) = control.linked_lore.get() else { return answer };
        let fields = match &mut answer {
            Answer::Value(Value::Object(fields)) => fields,
            Answer::Object(object) => &mut object.fields,
            Answer::Value(_) | Answer::Prepared(_) | Answer::Feed(_) => return answer,
        };
        match self.mirror_freshness(lore).await {
            Ok(Some(freshness)) => {
                fields.insert("mirror".to_owned(), serde_json::to_value(freshness).unwrap_or_default());
            }
            Ok(None) => {}
            Err(fault) => tracing::warn!(%fault, "it cannot be read how fresh the lore of a campaign is"),
        }
        answer
    }

    /// `None` if the campaign is not linked any more. Only game masters get the number of waiting entities, since it counts
    /// private writes too.
    async fn mirror_freshness(&self, lore: &LinkedLore) -> Result<Option<MirrorFreshness>, Fault> {
        let Some(link) = self.mirror_link(&lore.campaign_id).await?.filter(|link| link.is_linked) else {
            return Ok(None);
        };
        let mut freshness = freshness_of_link(&link, self.clock.now());
        if lore.sees_private {
            freshness.pending = Some(self.waiting_entities(&lore.campaign_id, &link).await?.len() as u64);
        }
        Ok(Some(freshness))
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
