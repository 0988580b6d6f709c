//! The `Decider` trait: decides a command against a state into events or a refusal, and applies events to the state.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What a decision may know beside the state: handed in, so that deciding stays a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The moment of the decision.
    pub at: Timestamp,
    /// The principal that asks.
    pub by: String,
}

/// The rules of one noun.
pub trait Decider: 'static {
    type Command: Send + 'static;
    type Event: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Refusal: Send + 'static;
    /// Cheap to clone: readers hold one while writers go on.
    type State: Default + Clone + Serialize + DeserializeOwned + Send + Sync + 'static;

    /// The events of a command that may happen, at least one; or why it may not.
    fn decide(state: &Self::State, command: &Self::Command, given: &Given) -> Result<Vec<Self::Event>, Self::Refusal>;

    /// The state after an event that was decided so. Total: it never fails and never rolls.
    fn evolve(state: Self::State, event: &Self::Event, given: &Given) -> Self::State;
}
