//! The campaign that a request is about, recorded where the caller is let into it: for the log and the audit.

use std::sync::{Arc, OnceLock};

tokio::task_local! {
    static ENTERED_CAMPAIGN: Arc<OnceLock<String>>;
}

/// Runs a handler, and records the first campaign that its caller is let into.
pub(crate) fn record_in<F: Future>(campaign_id: Arc<OnceLock<String>>, handler: F) -> impl Future<Output = F::Output> {
    ENTERED_CAMPAIGN.scope(campaign_id, handler)
}

/// Records that the caller of the running request has a role in this campaign. Nothing else is recorded: an id that was
/// merely sent may be any text.
pub(crate) fn record(campaign_id: &str) {
    // Outside of a request, as in an import of the command line, there is nothing to record it in.
    let _ = ENTERED_CAMPAIGN.try_with(|entered| entered.get_or_init(|| campaign_id.to_owned()).len());
}
