//! Looks up the campaign and the creator of a universe or a run, with a cache for records that are read together.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use skald_journal::{Journal, StoreError};

/// Whose a document is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DocumentOwner {
    /// `None` if it belongs to no campaign.
    pub campaign_id: Option<Arc<str>>,
    /// The principal that created it; empty if it does not say.
    pub created_by: Arc<str>,
}

impl DocumentOwner {
    pub(crate) fn from_body(body: &str) -> Self {
        let body: Value = serde_json::from_str(body).unwrap_or_default();
        let field = |name: &str| body.get(name).and_then(Value::as_str);
        Self {
            campaign_id: field("campaign_id").map(Arc::from),
            created_by: field("created_by").unwrap_or_default().into(),
        }
    }
}

pub(crate) struct DocumentOwners<'a> {
    journal: &'a dyn Journal,
    owners: HashMap<(&'static str, String), Option<DocumentOwner>>,
}

impl<'a> DocumentOwners<'a> {
    pub(crate) fn new(journal: &'a dyn Journal) -> Self {
        Self { journal, owners: HashMap::new() }
    }

    /// `None` if there is no such document.
    pub(crate) async fn find_owner(
        &mut self,
        collection: &'static str,
        id: &str,
    ) -> Result<Option<DocumentOwner>, StoreError> {
        let key = (collection, id.to_owned());
        if let Some(owner) = self.owners.get(&key) {
            return Ok(owner.clone());
        }
        let owner = self.journal.document(collection, id).await?.map(|found| DocumentOwner::from_body(&found.body));
        self.owners.insert(key, owner.clone());
        Ok(owner)
    }
}
