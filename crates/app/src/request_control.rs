//! `RequestControl`: cancellation, idempotency key, expected revision and surface of a request, and what the operation
//! notes for its answer and the audit.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::{Code, Fault, LinkedLore, RequestSurface, truncate_for_message};

/// One request in progress, which its sender can cancel.
#[derive(Debug, Clone, Default)]
pub struct RequestControl {
    pub cancelled: CancellationToken,
    /// A retry of the same request under this key gets the same answer.
    pub idempotency_key: Option<String>,
    /// The revision that the caller has read; another one is a conflict.
    pub expected_revision: Option<u64>,
    /// The surface that the request came by.
    pub surface: RequestSurface,
    /// Whether it reads a resource or is a `GET`: reads have a rate limit of their own.
    pub is_read: bool,
    /// Whether the surface has counted the request against the limits already, or it belongs to one that was counted.
    pub is_counted: bool,
    /// Whether ids may not be replaced by names: fields of a URI are ids.
    pub takes_only_ids: bool,
    /// The revision of the stream after this operation, set by the operation: the caller can expect it in the next
    /// request without reading first.
    pub revision: OnceLock<u64>,
    /// The campaign that the caller entered, for the log and the audit.
    pub campaign_id: Arc<OnceLock<String>>,
    /// The lore that the caller entered, if it is linked to Kanka: the answer says how fresh it is.
    pub linked_lore: OnceLock<LinkedLore>,
}

impl RequestControl {
    /// Of a surface that sends the idempotency key and the expected revision as texts, the revision as an etag. Both texts
    /// are checked by the surface for their length and characters.
    pub fn from_texts(
        surface: RequestSurface,
        idempotency_key: Option<String>,
        if_match: Option<&str>,
    ) -> Result<Self, Fault> {
        let expected_revision = match if_match {
            None | Some("*") => None,
            Some(text) => Some(text.trim_matches('"').parse().map_err(|_| {
                let given = truncate_for_message(text);
                let fault = Fault::new(Code::InvalidParams, format!("if-match is {given:?}, not a revision"));
                fault.hint("send the etag of the answer that you have seen")
            })?),
        };
        Ok(Self { idempotency_key, expected_revision, surface, ..Self::default() })
    }

    /// Only the first call counts: an operation is about one stream.
    pub fn set_revision(&self, revision: u64) {
        let _ = self.revision.set(revision);
    }
}
