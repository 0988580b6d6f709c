//! Numbers of a campaign that a process takes into the context of its runs, so that nobody has to say them.

use serde_json::{Map, Value};

use super::finding::join_pointer;
use super::process::Process;
use crate::case_insensitive_enum::case_insensitive_enum;

/// A number of a campaign, by its word in a process file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignNumber {
    /// Participants who are players.
    Players,
    /// Characters of all kinds.
    Actors,
    /// Sessions that have not ended.
    OpenSessions,
}

case_insensitive_enum!(CampaignNumber { Players = "players", Actors = "actors", OpenSessions = "open_sessions" });

/// The numbers of a run's campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CampaignNumbers {
    pub players: u64,
    pub actors: u64,
    pub open_sessions: u64,
}

impl CampaignNumbers {
    fn get(self, number: CampaignNumber) -> u64 {
        match number {
            CampaignNumber::Players => self.players,
            CampaignNumber::Actors => self.actors,
            CampaignNumber::OpenSessions => self.open_sessions,
        }
    }
}

impl Process {
    /// The context variables that come from the campaign, with their values, for a run with this context. A number that
    /// `context_schema` does not allow is left out: a campaign without players does not make a party of none.
    pub fn context_from_campaign(&self, numbers: CampaignNumbers, context: &Map<String, Value>) -> Map<String, Value> {
        let found = self.from_campaign.iter().map(|(name, number)| (name.clone(), Value::from(numbers.get(*number))));
        let found: Map<String, Value> = found.collect();
        let Some(schema) = self.context_schema.as_ref().filter(|_| !found.is_empty()) else { return found };
        let mut whole = context.clone();
        whole.extend(found.clone());
        let misfits = schema.misfits(&Value::Object(whole), "");
        let fits = |name: &str| !misfits.iter().any(|misfit| misfit.path == join_pointer("", name));
        found.into_iter().filter(|(name, _)| fits(name)).collect()
    }

    /// Whether a run in a campaign depends on what happens in the campaign.
    pub fn follows_campaign(&self) -> bool {
        !self.from_campaign.is_empty() || self.reads_campaign()
    }
}
