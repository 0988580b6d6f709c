//! Progress of a run: states already left, and states that can still be reached.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use super::RunView;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Progress {
    /// States that were entered and left, in the order of the first time.
    pub completed_states: Vec<String>,
    pub current_state: String,
    /// States that were never entered and can still be reached, in the order of the process; none once it is cancelled.
    pub remaining_states: Vec<String>,
}

impl RunView<'_> {
    pub fn progress(&self) -> Progress {
        let current = self.run.state();
        let reached = if self.is_cancelled() { BTreeSet::new() } else { self.reachable_states() };
        let entered = self.run.entered_states();
        let remaining = self.process.states.iter().map(|state| &state.name);
        Progress {
            completed_states: entered.iter().filter(|name| name.as_str() != current).cloned().collect(),
            current_state: current.to_owned(),
            remaining_states: remaining
                .filter(|name| reached.contains(name.as_str()) && !entered.contains(name))
                .cloned()
                .collect(),
        }
    }

    /// The states that can be reached from the current one, regardless of guards and roles.
    fn reachable_states(&self) -> BTreeSet<&str> {
        let mut reached = BTreeSet::from([self.run.state()]);
        let mut waiting = vec![self.run.state()];
        while let Some(state) = waiting.pop() {
            let next = self.process.transitions_from(state).map(|transition| transition.to.as_str());
            waiting.extend(next.filter(|state| reached.insert(state)));
        }
        reached
    }
}
