//! `Facts`, inputs of guards that are looked up before a decision, since the rules do no lookups.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::evidence::{Artifact, Evidence};

/// Inputs of guards that are not part of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Paths of evidence whose file is gone or has changed since it was submitted. Stale evidence does not count.
    pub stale: BTreeSet<String>,
    /// Sessions, rolls and universes of the run's campaign; `campaign` in expressions.
    pub campaign: Option<Value>,
    /// Context variables that come from the run's campaign, with their current values.
    pub campaign_numbers: Map<String, Value>,
    /// Other principals of the same person as the caller. What they submitted is the caller's own work.
    pub same_person: Vec<String>,
}

impl Facts {
    /// The facts after these artifacts are submitted: their paths are no longer stale.
    pub(super) fn without_resubmitted(&self, submitted: &[Artifact]) -> Cow<'_, Self> {
        if !submitted.iter().any(|artifact| self.stale.contains(&artifact.path)) {
            return Cow::Borrowed(self);
        }
        let mut facts = self.clone();
        for artifact in submitted {
            facts.stale.remove(&artifact.path);
        }
        Cow::Owned(facts)
    }

    /// The stale paths that the evidence contains.
    pub(super) fn stale_paths(&self, evidence: &Evidence) -> Vec<String> {
        self.stale.iter().filter(|path| evidence.get(path).is_some()).cloned().collect()
    }
}
