//! `Facts`, inputs of guards that are looked up before a decision, since the rules do no lookups.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::evidence::{Artifact, Evidence};

/// What guards may know beside the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Paths of evidence whose file is gone, or is no longer what was submitted. It does not count.
    pub stale: BTreeSet<String>,
    /// What the campaign of the run says of its sessions, rolls and universes; `campaign` in expressions.
    pub campaign: Option<Value>,
    /// Other principals who are the same person as whoever asks. What they submitted is that person's own work.
    pub same_person: Vec<String>,
}

impl Facts {
    /// The facts once these artifacts are submitted: what was known under their paths is stale no longer.
    pub(super) fn without(&self, submitted: &[Artifact]) -> Cow<'_, Self> {
        if !submitted.iter().any(|artifact| self.stale.contains(&artifact.path)) {
            return Cow::Borrowed(self);
        }
        let mut facts = self.clone();
        for artifact in submitted {
            facts.stale.remove(&artifact.path);
        }
        Cow::Owned(facts)
    }

    /// The paths of some evidence that are stale.
    pub(super) fn stale_of(&self, evidence: &Evidence) -> Vec<String> {
        self.stale.iter().filter(|path| evidence.get(path).is_some()).cloned().collect()
    }
}
