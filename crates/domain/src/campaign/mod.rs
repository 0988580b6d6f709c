//! Rules of a campaign: participants, actors, sessions, notes and rolls.
//!
//! One campaign is one stream of events. Notes and rolls are in the journal alone, so the state stays small however
//! long a campaign is played; a [`recap`] reads them from there.

mod command;
mod decide;
mod event;
mod evolve;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod properties;
mod recap;
mod record;
mod refusal;
mod register;
mod roll;
mod state;
#[cfg(test)]
mod tests;

pub use command::CampaignCommand;
pub use event::CampaignEvent;
pub use recap::{LuckReport, LuckRow, NotableRoll, People, luck_report, recap};
pub use record::{
    Actor, ActorController, ActorKind, Campaign, CampaignStatus, Controller, GmMode, Note, Participant, Role, Session,
    SessionStatus,
};
pub use refusal::{CampaignAction, CampaignRefusal, CampaignRefusalKind};
pub use register::{HasId, Register};
pub use roll::{LoggedRoll, RecordedRoll};
pub use state::CampaignState;

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
        match command {
            CampaignCommand::RecordRolls(rolls) => decide::decide_rolls(state, rolls, given),
            command => decide::decide(state, command),
        }
    }

    fn evolve(state: CampaignState, event: &CampaignEvent, given: &DecisionContext) -> CampaignState {
        evolve::evolve(state, event, given)
    }
}
