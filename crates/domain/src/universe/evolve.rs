//! Applies events to a universe. It never fails: an event about a universe that does not exist changes nothing.

use std::sync::Arc;

use super::apply_command;
use super::event::{Created, Renamed, Replaced, UniverseEvent};
use super::state::{Universe, UniverseIdentity};
use crate::decider::DecisionContext;

pub(super) fn evolve(mut universe: Universe, event: &UniverseEvent, given: &DecisionContext) -> Universe {
    if universe.about.is_none() && !matches!(event, UniverseEvent::Created(_)) {
        return universe;
    }
    universe.updated_at = Some(given.at);
    match event {
        UniverseEvent::Created(Created { id, name, campaign_id, state }) => {
            universe.about = Some(Arc::new(UniverseIdentity {
                id: id.clone(),
                name: name.clone(),
                campaign_id: campaign_id.clone(),
                created_at: given.at,
            }));
            universe.state = state.clone().unwrap_or_default();
        }
        UniverseEvent::Renamed(Renamed { name }) => rename(&mut universe, name),
        UniverseEvent::Replaced(Replaced { name, state }) => {
            if let Some(name) = name {
                rename(&mut universe, name);
            }
            if let Some(state) = state {
                universe.state = state.clone();
            }
        }
        UniverseEvent::Commanded(commanded) => apply_command::apply(&mut universe.state, &commanded.command),
        UniverseEvent::Deleted(_) => return Universe::default(),
    }
    universe
}

fn rename(universe: &mut Universe, name: &str) {
    if let Some(about) = &mut universe.about {
        name.clone_into(&mut Arc::make_mut(about).name);
    }
}
