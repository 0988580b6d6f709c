//! Looks up the campaign of a universe or a run, with a cache for records that are read together.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::EVERY_CAMPAIGN;
use skald_journal::{Journal, StoreError};

pub(crate) struct OwnerCampaigns<'a> {
    journal: &'a dyn Journal,
    known: HashMap<(&'static str, String), Option<Arc<str>>>,
}

impl<'a> OwnerCampaigns<'a> {
    pub(crate) fn new(journal: &'a dyn Journal) -> Self {
        Self { journal, known: HashMap::new() }
    }

    /// The campaign whose members are notified of a change; `*` if the document belongs to none. `None` if there is no
    /// such document.
    pub(crate) async fn find_campaign(
        &mut self,
        collection: &'static str,
        id: &str,
    ) -> Result<Option<Arc<str>>, StoreError> {
        let key = (collection, id.to_owned());
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let place = self.journal.document(collection, id).await?.map(|place| {
            let body: Value = serde_json::from_str(&place.body).unwrap_or_default();
            body.get("campaign_id").and_then(Value::as_str).unwrap_or(EVERY_CAMPAIGN).into()
        });
        self.known.insert(key, place.clone());
        Ok(place)
    }
}
