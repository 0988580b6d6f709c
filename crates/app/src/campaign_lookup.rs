//! Looks up the campaign of a universe or a run, with a cache for records that are read together.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::EVERY_CAMPAIGN;
use skald_journal::{Journal, StoreError};

pub(crate) struct OwnerCampaigns<'a> {
    journal: &'a dyn Journal,
    campaign_ids: HashMap<(&'static str, String), Option<Arc<str>>>,
}

impl<'a> OwnerCampaigns<'a> {
    pub(crate) fn new(journal: &'a dyn Journal) -> Self {
        Self { journal, campaign_ids: HashMap::new() }
    }

    /// The campaign whose members are notified of a change; `*` if the document belongs to none. `None` if there is no
    /// such document.
    pub(crate) async fn find_campaign(
        &mut self,
        collection: &'static str,
        id: &str,
    ) -> Result<Option<Arc<str>>, StoreError> {
        let key = (collection, id.to_owned());
        if let Some(campaign_id) = self.campaign_ids.get(&key) {
            return Ok(campaign_id.clone());
        }
        let campaign_id = self.journal.document(collection, id).await?.map(|document| {
            let body: Value = serde_json::from_str(&document.body).unwrap_or_default();
            body.get("campaign_id").and_then(Value::as_str).unwrap_or(EVERY_CAMPAIGN).into()
        });
        self.campaign_ids.insert(key, campaign_id.clone());
        Ok(campaign_id)
    }
}
