//! Reference model of a run for property tests: plain lists, and guards evaluated from scratch.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::decider::DecisionContext;
use crate::gate::*;

/// The run as plain lists.
#[derive(Debug, Default)]
pub(super) struct RunModel {
    pub(super) state: String,
    pub(super) context: BTreeMap<String, Value>,
    /// Path, content and type; the last entry of a path counts.
    files: Vec<(String, String, String)>,
    pub(super) visits: Vec<String>,
    submitters: BTreeSet<String>,
}

impl RunModel {
    fn count_artifacts(&self, kind: &str, stale: &[String]) -> u64 {
        let mut last: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
        for (path, content, kind) in &self.files {
            last.insert(path, (content, kind));
        }
        let counted = last.iter().filter(|(path, (_, of))| *of == kind && !stale.iter().any(|stale| stale == *path));
        counted.map(|(_, (content, _))| *content).collect::<BTreeSet<_>>().len() as u64
    }

    /// Whether a guard is satisfied; `None` if that cannot be decided.
    fn is_satisfied(&self, guard: &Guard, stale: &[String]) -> Option<bool> {
        let parts = |parts: &[GuardPart]| -> Vec<Option<bool>> {
            let inline = parts.iter().map(|part| match part {
                GuardPart::Inline(guard) => self.is_satisfied(guard, stale),
                GuardPart::Named(name) => panic!("{name} is not written out"),
            });
            inline.collect()
        };
        match &guard.test {
            Test::ArtifactExists { artifact_type, .. } => Some(self.count_artifacts(artifact_type, stale) > 0),
            Test::ArtifactCount { artifact_type, min_count, .. } => {
                Some(self.count_artifacts(artifact_type, stale) >= *min_count)
            }
            Test::Context { variable, test } => match (self.context.get(variable), test) {
                (found, ContextTest::NotExists) => Some(found.is_none()),
                (None, _) => None,
                (Some(found), ContextTest::Equals(value)) => Some(found == value),
                (Some(found), ContextTest::Compare(GuardComparison::AtLeast, bound)) => {
                    found.as_u64().map(|found| found >= bound.as_u64().unwrap())
                }
                other => panic!("{other:?} is not made here"),
            },
            Test::Run { of, value, .. } => {
                let visits = self.visits.iter().filter(|state| *state == of).count() as u64;
                Some(visits < value.as_u64().unwrap())
            }
            Test::Cel(_) => panic!("expressions are not made here"),
            Test::All(all) => {
                let all = parts(all);
                if all.contains(&Some(false)) {
                    Some(false)
                } else if all.contains(&None) {
                    None
                } else {
                    Some(true)
                }
            }
            Test::Any(any) => {
                let any = parts(any);
                if any.contains(&Some(true)) {
                    Some(true)
                } else if any.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
            Test::Not(part) => parts(std::slice::from_ref(part.as_ref()))[0].map(|holds| !holds),
        }
    }

    /// Applies an event, after asserting that the rules allow it.
    pub(super) fn apply(&mut self, process: &Process, event: &RunEvent, given: &DecisionContext) {
        match event {
            RunEvent::Created(created) => {
                self.state = created.state.clone();
                self.visits.push(created.state.clone());
            }
            RunEvent::Emitted(emitted) => self.apply_emitted(process, emitted, given),
            RunEvent::Overridden(overridden) => {
                assert_eq!(overridden.from, self.state);
                let guard = &process.guards[&overridden.guard];
                assert_ne!(self.is_satisfied(guard, &[]), Some(true), "what is satisfied is not overridden");
                assert!(!overridden.reason.is_empty());
                assert!(process.transitions.iter().any(|way| {
                    way.from == overridden.from
                        && way.to == overridden.to
                        && way.guard.as_ref() == Some(&overridden.guard)
                }));
                let decides = ["approve", "reject"].contains(&overridden.event.as_str());
                assert_eq!(overridden.decision, decides);
                if decides {
                    assert!(!self.submitters.contains(&given.by), "who submitted decides nothing");
                } else {
                    self.submitters.insert(given.by.clone());
                }
                self.enter_state(&overridden.to);
            }
            RunEvent::Cancelled(_) => {}
        }
    }

    fn apply_emitted(&mut self, process: &Process, emitted: &Emitted, given: &DecisionContext) {
        assert_eq!(emitted.from, self.state);
        assert!(!process.is_final(&self.state), "final states are final");
        let decides = ["approve", "reject"].contains(&emitted.event.as_str());
        assert_eq!(emitted.decision, decides);
        if decides {
            assert!(!self.submitters.contains(&given.by), "who submitted decides nothing");
            assert_ne!(emitted.role, "agent");
            assert!(emitted.artifacts.is_empty(), "a decision brings no evidence");
        } else {
            self.submitters.insert(given.by.clone());
        }
        for artifact in &emitted.artifacts {
            let kind = artifact.types.first().cloned().unwrap_or_default();
            self.files.push((artifact.path.clone(), artifact.sha256.clone(), kind));
        }
        for result in &emitted.guards {
            let holds = self.is_satisfied(&process.guards[&result.guard], &emitted.stale);
            assert_eq!(result.satisfied, holds == Some(true), "{result:?} in {self:?}");
            assert_eq!(result.satisfied, result.missing.is_empty());
        }
        if emitted.recorded {
            assert_eq!(emitted.to, self.state, "what is recorded moves nothing");
            assert!(emitted.guards.iter().all(|result| !result.satisfied));
        } else {
            let is_way = |way: &&Transition| {
                (&way.from, &way.event, &way.to, &way.guard)
                    == (&emitted.from, &emitted.event, &emitted.to, &emitted.guard)
                    && way.allowed_roles.as_ref().is_none_or(|roles| roles.contains(&emitted.role))
            };
            assert!(process.transitions.iter().any(|way| is_way(&way)), "{emitted:?}");
            match &emitted.guard {
                Some(guard) => {
                    let last = emitted.guards.last().expect("the guard that let it through is recorded");
                    assert!(last.guard == *guard && last.satisfied);
                }
                // A transition without a guard is taken only if no guarded one could be.
                None => assert!(emitted.guards.iter().all(|result| !result.satisfied)),
            }
        }
        for name in &emitted.set {
            assert!(
                emitted.event == "e0" || !["v0", "v1", "v2"].contains(&name.as_str()) || !process.reads.contains(name)
            );
            self.context.insert(name.clone(), emitted.payload[name].clone());
        }
        if !emitted.recorded {
            self.enter_state(&emitted.to);
        }
    }

    fn enter_state(&mut self, state: &str) {
        self.state = state.to_owned();
        self.visits.push(state.to_owned());
    }
}
