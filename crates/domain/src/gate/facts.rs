//! What was looked up before a decision, since the rules look nothing up.

use std::collections::BTreeSet;

use serde_json::Value;

/// What guards may know beside the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Paths of evidence whose file is gone, or is no longer what was submitted. It does not count.
    pub stale: BTreeSet<String>,
    /// What the campaign of the run says of its sessions, rolls and universes; `campaign` in expressions.
    pub campaign: Option<Value>,
}
