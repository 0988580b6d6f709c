//! The `Decider` trait: decides a command against a state into events or a refusal, and applies events to the state.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Inputs of a decision besides the state. The caller passes them in, so that deciding stays a pure function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionContext {
    /// The moment of the decision.
    pub at: Timestamp,
    /// The principal that sent the command.
    pub by: String,
}

/// The rules of one noun.
pub trait Decider: 'static {
    type Command: Send + 'static;
    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Refusal: Send + 'static;
    /// Must be cheap to clone: readers hold a copy while writers go on.
    type State: Default + Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// At least one event, or the refusal of the command.
    fn decide(
        state: &Self::State,
        command: &Self::Command,
        given: &DecisionContext,
    ) -> Result<Vec<Self::Event>, Self::Refusal>;

    /// The state after an event. It never fails and uses no randomness.
    fn evolve(state: Self::State, event: &Self::Event, given: &DecisionContext) -> Self::State;
}
