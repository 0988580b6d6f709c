//! Access rules: tokens, invitations, page sessions, roles, and who created them, when, and with which program.
//!
//! One store has one stream of these events. A token itself is never here, only its hash.

mod command;
mod decide;
mod event;
mod evolve;
#[cfg(test)]
mod golden;
mod restrictions;
mod state;
#[cfg(test)]
mod tests;

pub use command::{AccessCommand, AccessRefusal, InvitationToCreate, PageSessionToStart, TokenToCreate};
pub use event::{
    AccessEvent, EarlierToken, InvitationCreated, InvitationRedeemed, InvitationRevoked, PageSessionEnded,
    PageSessionStarted, ParticipantsBound, RoleGiven, TokenCreated, TokenRevoked, TokensImported,
};
pub use restrictions::{OauthSubject, RateFigures, TokenRestrictions, TokenScope};
pub use state::{AccessState, Invitation, PageSession, Token, TokenChange};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::decider::{Decider, DecisionContext};

/// The owner, who started the process: the principal's id and also the person.
pub const OWNER: &str = "owner";

/// The rules of access.
#[derive(Debug)]
pub struct AccessRules;

impl Decider for AccessRules {
    type Command = AccessCommand;
    type Event = AccessEvent;
    type Refusal = AccessRefusal;
    type State = AccessState;

    fn decide(
        state: &AccessState,
        command: &AccessCommand,
        given: &DecisionContext,
    ) -> Result<Vec<AccessEvent>, AccessRefusal> {
        decide::decide(state, command, given.at.into())
    }

    fn evolve(state: AccessState, event: &AccessEvent, given: &DecisionContext) -> AccessState {
        evolve::evolve(state, event, given)
    }
}

/// The default person of a token with this name: tokens with the same name belong to one person. Case and spacing do
/// not count.
pub fn person_of(name: &str) -> String {
    name.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrincipalKind {
    Human,
    Agent,
}

impl PrincipalKind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Human => "human",
            Self::Agent => "agent",
        }
    }
}

/// What a principal is in one campaign. The later ones may all that the earlier may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CampaignRole {
    /// Reads what is not secret.
    Guest,
    /// Also rolls and takes notes.
    Player,
    /// Also changes the campaign, and sees its secrets.
    Gm,
}

impl CampaignRole {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guest => "guest",
            Self::Player => "player",
            Self::Gm => "gm",
        }
    }
}
