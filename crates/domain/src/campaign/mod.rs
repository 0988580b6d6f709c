//! Rules of a campaign: participants, actors, sessions, notes and rolls.
//!
//! One campaign is one stream of events. Notes and rolls are in the journal alone, so the state stays small however
//! long a campaign is played; a [`recap`] reads them from there.

mod actor_sheet;
mod command;
mod decide;
mod entities;
mod event;
mod evolve;
#[cfg(test)]
mod golden;
mod insertion_ordered_map;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod note_tests;
#[cfg(test)]
mod property_tests;
mod recap;
mod refusal;
mod roll;
#[cfg(test)]
mod secret_tests;
mod secrets;
mod spotlight;
mod state;
#[cfg(test)]
mod tests;
mod tracker;
mod tracker_decide;
#[cfg(test)]
mod tracker_tests;

pub use actor_sheet::{ActorSheet, GameTemplate, Thresholds, TraitValue, Traits};
pub use command::{BatchPart, CampaignCommand};
pub use entities::{
    Actor, ActorController, ActorKind, Campaign, CampaignStatus, Controller, GmMode, Note, Participant, Role, Session,
    SessionStatus,
};
pub use event::CampaignEvent;
pub use insertion_ordered_map::{HasId, InsertionOrderedMap};
pub use recap::{LuckReport, LuckRow, NotableRoll, People, describe_events, luck_report, recap};
pub use refusal::{CampaignAction, CampaignRefusal, CampaignRefusalKind};
pub use roll::{LoggedRoll, RecordedRoll};
pub use secrets::{CampaignSecret, HiddenCount, SecretPart, SecretSubject};
pub use spotlight::{GAME_MASTER, Spotlight};
pub use state::{CampaignState, NoteOrigin};
pub use tracker::{
    TickMoment, Tracker, TrackerBound, TrackerChange, TrackerCommand, TrackerDefinition, TrackerOwner, TrackerTick,
};

use crate::decider::{Decider, DecisionContext};

/// The rules of the campaign.
#[derive(Debug)]
pub struct CampaignRules;

impl Decider for CampaignRules {
    type Command = CampaignCommand;
    type Event = CampaignEvent;
    type Refusal = CampaignRefusal;
    type State = CampaignState;

    fn decide(
        state: &CampaignState,
        command: &CampaignCommand,
        given: &DecisionContext,
    ) -> Result<Vec<CampaignEvent>, CampaignRefusal> {
        decide::decide(state, command, given)
    }

    fn evolve(state: CampaignState, event: &CampaignEvent, given: &DecisionContext) -> CampaignState {
        evolve::evolve(state, event, given)
    }
}
