//! Plans for a run: the shortest path to a state, and what is missing on it.

use std::collections::{BTreeMap, VecDeque};

use schemars::JsonSchema;
use serde::Serialize;

use super::RunView;
use super::events::{GuardResults, GuardStatus};
use crate::gate::process::{Decision, Transition, is_role_allowed};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Plan {
    pub from_state: String,
    pub to_state: String,
    /// In order; none, if the run is there already.
    pub steps: Vec<Step>,
}

/// One transition of a plan. Guards are evaluated in the current state; later steps may change that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Step {
    pub event_name: String,
    pub from_state: String,
    pub to_state: String,
    /// Who may take it; `*` stands for everybody.
    pub allowed_roles: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<String>,
    pub guard_status: GuardStatus,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub missing_requirements: Vec<String>,
}

impl RunView<'_> {
    /// The path to a state with the fewest events, regardless of roles; `None` if there is none, as in a cancelled run.
    pub fn plan(&self, target: &str) -> Option<Plan> {
        let start = self.run.state();
        let steps = self.shortest_path(start, target)?;
        let mut asked = GuardResults::new();
        let steps = steps.into_iter().map(|transition| self.plan_step(transition, &mut asked)).collect();
        Some(Plan { from_state: start.to_owned(), to_state: target.to_owned(), steps })
    }

    /// A plan for each final state that can be reached, the shortest first.
    pub fn plans(&self) -> Vec<Plan> {
        let finals = self.process.states.iter().filter(|state| state.is_final);
        let mut plans: Vec<Plan> = finals.filter_map(|state| self.plan(&state.name)).collect();
        plans.sort_by_key(|plan| plan.steps.len());
        plans
    }

    fn shortest_path(&self, start: &str, target: &str) -> Option<Vec<&Transition>> {
        if start == target {
            return Some(Vec::new());
        }
        if self.is_cancelled() {
            return None;
        }
        let mut came_by: BTreeMap<&str, &Transition> = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        while let Some(state) = waiting.pop_front() {
            for transition in self.process.transitions.iter().filter(|found| found.from == state) {
                let to = transition.to.as_str();
                if self.process.is_final(state) || to == start || came_by.contains_key(to) {
                    continue;
                }
                came_by.insert(to, transition);
                if to == target {
                    return Some(trace_path(&came_by, start, target));
                }
                waiting.push_back(to);
            }
        }
        None
    }

    fn plan_step<'a>(&'a self, transition: &'a Transition, asked: &mut GuardResults<'a>) -> Step {
        let view = self.transition_view(transition, asked);
        let of_event =
            self.process.event(&transition.event).map(|event| event.allowed_roles.clone()).unwrap_or_default();
        let allowed_roles = match &transition.allowed_roles {
            None => of_event,
            Some(roles) if roles.iter().any(|role| role == "*") => of_event,
            Some(roles) if of_event.iter().any(|role| role == "*") => roles.clone(),
            Some(roles) => of_event.into_iter().filter(|role| roles.contains(role)).collect(),
        };
        // A decision also needs the role's flag, which "*" does not grant.
        let allowed_roles = match Decision::from_event(&transition.event) {
            None => allowed_roles,
            Some(decision) => {
                let roles = self.process.roles.iter().map(|role| &role.name);
                let may =
                    |name: &&String| is_role_allowed(&allowed_roles, name) && self.process.can_decide(name, decision);
                roles.filter(may).cloned().collect()
            }
        };
        Step {
            event_name: transition.event.clone(),
            from_state: transition.from.clone(),
            to_state: view.to_state,
            allowed_roles,
            guard: view.guard,
            guard_status: view.guard_status,
            missing_requirements: view.missing_requirements,
        }
    }
}

fn trace_path<'a>(came_by: &BTreeMap<&str, &'a Transition>, start: &str, target: &str) -> Vec<&'a Transition> {
    let mut way = Vec::new();
    let mut state = target;
    while let Some(transition) = came_by.get(state).filter(|_| state != start) {
        way.push(*transition);
        state = &transition.from;
    }
    way.reverse();
    way
}
