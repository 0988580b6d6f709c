//! Rules of a run, one piece of work that goes through a process.
//!
//! One run is one stream of events; its revision counts accepted events. A run is pinned to the hash of its process,
//! and every command carries that process. Refused attempts leave nothing in the stream.

mod check_submission;
mod command;
mod decide;
mod event;
mod evolve;
#[cfg(test)]
mod golden;
mod refusal;
mod state;

pub use command::{AGENT, ActingRole, Emit, Override, RunCommand, SubmittedArtifact};
pub(super) use decide::check_decision;
pub use event::{Cancelled, Created, Emitted, Overridden, ProcessPin, RunEvent};
pub use refusal::{RunRefusal, RunRefusalKind};
pub use state::{Run, RunState, RunStatus};

use crate::decider::{Decider, DecisionContext};

/// The rules of the run.
#[derive(Debug)]
pub struct RunRules;

impl Decider for RunRules {
    type Command = RunCommand;
    type Event = RunEvent;
    type Refusal = RunRefusal;
    type State = RunState;

    fn decide(state: &RunState, command: &RunCommand, given: &DecisionContext) -> Result<Vec<RunEvent>, RunRefusal> {
        decide::decide(state, command, given).map(|event| vec![event])
    }

    fn evolve(state: RunState, event: &RunEvent, given: &DecisionContext) -> RunState {
        evolve::evolve(state, event, given)
    }
}
