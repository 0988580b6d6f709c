//! Refusals of campaign commands: the reason, the input field at fault, and a hint.

use std::fmt;

use super::entities::CampaignStatus;
use crate::deceptive_characters::code_point;

/// The category of a refusal, which determines the error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignRefusalKind {
    NotFound,
    /// An input field is invalid.
    Invalid,
    ActiveSessionExists,
    /// The campaign would hold more than a limit allows.
    TooLarge,
    /// The current state does not allow it.
    Rejected,
}

/// An action on a campaign that depends on its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CampaignAction {
    Change,
    StartSession,
    Play,
    End,
    Archive,
    Restore,
}

impl CampaignAction {
    /// The statuses in which the action is allowed.
    pub fn allowed_statuses(self) -> &'static [CampaignStatus] {
        use CampaignStatus::{Active, Archived, Completed, Draft};
        match self {
            Self::Change | Self::StartSession => &[Draft, Active],
            Self::Play | Self::End => &[Active],
            Self::Archive => &[Draft, Active, Completed],
            Self::Restore => &[Archived],
        }
    }
}

impl fmt::Display for CampaignAction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Change => "changed",
            Self::StartSession | Self::Play => "played",
            Self::End => "ended",
            Self::Archive => "archived",
            Self::Restore => "restored",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CampaignRefusal {
    /// The stream is empty. The caller knows the id.
    #[error("there is no such campaign")]
    CampaignNotFound,
    #[error("there is no participant {participant_id} in this campaign")]
    ParticipantNotFound { field: &'static str, participant_id: String },
    #[error("there is no actor {actor_id} in this campaign")]
    ActorNotFound { actor_id: String },
    #[error("there is no session {session_id} in this campaign")]
    SessionNotFound { session_id: String },
    #[error("there is no note {note_id} in this campaign, or it was taken back")]
    NoteNotFound { note_id: String },
    #[error("there is nobody called {person} in this campaign")]
    PersonNotFound { person: String },
    #[error("{field} is required, it is empty")]
    Empty { field: &'static str },
    #[error("{field} has at most {chars_max} characters, this one has {chars}")]
    TooLong { field: &'static str, chars: usize, chars_max: usize },
    #[error("{field} has the character {}, and a name is one line of plain characters", code_point(*character))]
    Deceptive { field: &'static str, character: char },
    #[error("an update needs at least one of {}", fields.join(", "))]
    NothingToUpdate { fields: &'static [&'static str] },
    #[error("a campaign has at most {count_max} {things}")]
    TooMany { things: &'static str, count_max: usize },
    #[error(
        "the names, the theme and the notes about actors of a campaign have at most {bytes_max} bytes; they have {bytes} \
         now, and would have {bytes_after}"
    )]
    TooMuchText { bytes: usize, bytes_after: usize, bytes_max: usize },
    #[error("campaign {campaign_id} exists already")]
    CampaignExists { campaign_id: String },
    #[error("{id} exists already in this campaign")]
    IdTaken { id: String },
    #[error("the campaign is {}, it can be {action} only while it is {}", status.as_str(), status_names(action.allowed_statuses()).join(" or "))]
    StatusForbids { status: CampaignStatus, action: CampaignAction },
    #[error("active session exists: {session_id}")]
    ActiveSessionExists { session_id: String },
    #[error("the campaign cannot be {action} during a session, {session_id} is active")]
    SessionGoesOn { session_id: String, action: CampaignAction },
    #[error("no session is active")]
    NoActiveSession,
    #[error("session {session_id} has ended")]
    SessionEnded { session_id: String },
    /// What one command of several was refused for.
    #[error("{refusal}")]
    InPart { pointer: String, refusal: Box<CampaignRefusal> },
    #[error("an actor, a participant or the campaign has at most {count_max} {things}")]
    TooManyOnOne { things: &'static str, count_max: usize },
    #[error("there is no tracker {name:?} here{}", list_known(known))]
    TrackerNotFound { name: String, known: Vec<String> },
    #[error("a tracker is on an actor, on a participant or on the campaign, and both ids are given")]
    TrackerOwnedTwice,
    #[error("{name} is from {min}{}, {value} is outside", max.map(|max| format!(" to {max}")).unwrap_or_default())]
    TrackerOutOfBounds { name: String, value: i64, min: i64, max: Option<i64> },
    #[error("{name} has the minimum {min}, and its maximum {max} is below that")]
    TrackerBoundsCrossed { name: String, min: i64, max: i64 },
    #[error("{field} is from -{number_max} to {number_max}, {number} is outside")]
    NumberTooLarge { field: &'static str, number: i64, number_max: u64 },
    #[error("step is {step}: a step is not 0, and needs ticks")]
    StepWithoutTicks { step: i64 },
    #[error("damage is at least 1, this is {damage}")]
    DamageTooSmall { damage: i64 },
    #[error("actor {actor_id} has no thresholds")]
    NoThresholds { actor_id: String },
    #[error("actor {actor_id} has no Armor left")]
    ArmorSpent { actor_id: String },
    #[error("there is no actor {holder} in this campaign")]
    SpotlightHolderNotFound { holder: String },
}

fn list_known(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!(", only {}", known.join(", ")) }
}

impl CampaignRefusal {
    pub fn kind(&self) -> CampaignRefusalKind {
        match self {
            Self::CampaignNotFound
            | Self::ParticipantNotFound { .. }
            | Self::ActorNotFound { .. }
            | Self::SessionNotFound { .. }
            | Self::NoteNotFound { .. }
            | Self::PersonNotFound { .. }
            | Self::TrackerNotFound { .. }
            | Self::SpotlightHolderNotFound { .. } => CampaignRefusalKind::NotFound,
            Self::InPart { refusal, .. } => refusal.kind(),
            Self::TrackerOwnedTwice
            | Self::TrackerOutOfBounds { .. }
            | Self::TrackerBoundsCrossed { .. }
            | Self::NumberTooLarge { .. }
            | Self::StepWithoutTicks { .. }
            | Self::DamageTooSmall { .. } => CampaignRefusalKind::Invalid,
            Self::Empty { .. } | Self::TooLong { .. } | Self::Deceptive { .. } | Self::NothingToUpdate { .. } => {
                CampaignRefusalKind::Invalid
            }
            Self::TooMany { .. } | Self::TooMuchText { .. } | Self::TooManyOnOne { .. } => {
                CampaignRefusalKind::TooLarge
            }
            Self::ActiveSessionExists { .. } | Self::SessionGoesOn { .. } => CampaignRefusalKind::ActiveSessionExists,
            Self::CampaignExists { .. }
            | Self::IdTaken { .. }
            | Self::StatusForbids { .. }
            | Self::NoActiveSession
            | Self::NoThresholds { .. }
            | Self::ArmorSpent { .. }
            | Self::SessionEnded { .. } => CampaignRefusalKind::Rejected,
        }
    }

    /// The JSON pointer of the field at fault; `None` if the state of the campaign is the reason.
    pub fn pointer(&self) -> Option<String> {
        match self {
            Self::CampaignNotFound => Some("/campaign_id".to_owned()),
            Self::ParticipantNotFound { field, .. }
            | Self::Empty { field }
            | Self::TooLong { field, .. }
            | Self::Deceptive { field, .. }
            | Self::NumberTooLarge { field, .. } => Some(format!("/{field}")),
            Self::InPart { pointer, refusal } => Some(format!("{pointer}{}", refusal.pointer().unwrap_or_default())),
            Self::TrackerNotFound { .. } => Some("/name".to_owned()),
            Self::TrackerOwnedTwice => Some("/participant_id".to_owned()),
            Self::TrackerOutOfBounds { .. } => Some("/value".to_owned()),
            Self::TrackerBoundsCrossed { .. } => Some("/max".to_owned()),
            Self::StepWithoutTicks { .. } => Some("/step".to_owned()),
            Self::DamageTooSmall { .. } => Some("/damage".to_owned()),
            Self::ArmorSpent { .. } => Some("/armor".to_owned()),
            Self::SpotlightHolderNotFound { .. } => Some("/spotlight".to_owned()),
            Self::ActorNotFound { .. } | Self::NoThresholds { .. } => Some("/actor_id".to_owned()),
            Self::NoteNotFound { .. } => Some("/note_id".to_owned()),
            Self::PersonNotFound { .. } => Some("/visible_to".to_owned()),
            Self::SessionNotFound { .. } | Self::SessionEnded { .. } => Some("/session_id".to_owned()),
            Self::NothingToUpdate { .. }
            | Self::TooMany { .. }
            | Self::TooManyOnOne { .. }
            | Self::TooMuchText { .. }
            | Self::CampaignExists { .. }
            | Self::IdTaken { .. }
            | Self::StatusForbids { .. }
            | Self::ActiveSessionExists { .. }
            | Self::SessionGoesOn { .. }
            | Self::NoActiveSession => None,
        }
    }

    /// The id or status at fault, if there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::ParticipantNotFound { participant_id: id, .. }
            | Self::ActorNotFound { actor_id: id }
            | Self::SessionNotFound { session_id: id }
            | Self::NoteNotFound { note_id: id }
            | Self::PersonNotFound { person: id }
            | Self::CampaignExists { campaign_id: id }
            | Self::IdTaken { id }
            | Self::ActiveSessionExists { session_id: id }
            | Self::SessionGoesOn { session_id: id, .. }
            | Self::NoThresholds { actor_id: id }
            | Self::ArmorSpent { actor_id: id }
            | Self::SpotlightHolderNotFound { holder: id }
            | Self::TrackerNotFound { name: id, .. }
            | Self::SessionEnded { session_id: id } => Some(id),
            Self::InPart { refusal, .. } => refusal.value(),
            Self::StatusForbids { status, .. } => Some(status.as_str()),
            Self::Empty { .. } => Some(""),
            Self::CampaignNotFound
            | Self::TooLong { .. }
            | Self::Deceptive { .. }
            | Self::NothingToUpdate { .. }
            | Self::TooMany { .. }
            | Self::TooManyOnOne { .. }
            | Self::TooMuchText { .. }
            | Self::TrackerOwnedTwice
            | Self::TrackerOutOfBounds { .. }
            | Self::TrackerBoundsCrossed { .. }
            | Self::NumberTooLarge { .. }
            | Self::StepWithoutTicks { .. }
            | Self::DamageTooSmall { .. }
            | Self::NoActiveSession => None,
        }
    }

    /// The number at fault, if it is one.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::InPart { refusal, .. } => refusal.number(),
            Self::TrackerOutOfBounds { value: number, .. }
            | Self::TrackerBoundsCrossed { max: number, .. }
            | Self::NumberTooLarge { number, .. }
            | Self::StepWithoutTicks { step: number }
            | Self::DamageTooSmall { damage: number } => Some(*number),
            _ => None,
        }
    }

    /// The allowed statuses or fields, where they are a short list.
    pub fn allowed_values(&self) -> Vec<&'static str> {
        match self {
            Self::StatusForbids { action, .. } => status_names(action.allowed_statuses()),
            Self::NothingToUpdate { fields } => fields.to_vec(),
            Self::InPart { refusal, .. } => refusal.allowed_values(),
            _ => Vec::new(),
        }
    }

    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::CampaignNotFound => "list the campaigns for their ids, or create one",
            Self::ParticipantNotFound { field: "controller", .. } | Self::Empty { field: "controller" } => {
                "send GM, or the name or id of a participant of this campaign"
            }
            Self::ParticipantNotFound { .. } => {
                "send its name or id; `campaign_read` with view participants lists them"
            }
            Self::ActorNotFound { .. } => "send its name or id; `campaign_read` with view actors lists them",
            Self::SessionNotFound { .. } => "send its name or id; `campaign_read` with view sessions lists them",
            Self::NoteNotFound { .. } => "send the id that session_note answered; events_list has them",
            Self::PersonNotFound { .. } => "send gm, table, or names or ids of participants or actors of this campaign",
            Self::Empty { .. } => "send at least one character that is not a space",
            Self::TooLong { .. } => "shorten it, or put the rest elsewhere",
            Self::Deceptive { .. } => "leave that character out; a longer text may have several lines in the notes",
            Self::NothingToUpdate { .. } => "send what should change",
            Self::TooMany { .. } => "remove what is no longer played, or start another campaign",
            Self::TooMuchText { .. } => {
                "shorten notes, remove actors who are no longer played, or start another campaign"
            }
            Self::CampaignExists { .. } => "read it, or create another one under a new idempotency key",
            Self::IdTaken { .. } => "read it, or send the request again under a new idempotency key",
            Self::StatusForbids { status: CampaignStatus::Archived, .. } => "restore the campaign first",
            Self::StatusForbids { status: CampaignStatus::Completed, action: CampaignAction::End } => {
                "it has ended already; archive it to put it away"
            }
            Self::StatusForbids { status: CampaignStatus::Completed, .. } => {
                "to play on, archive the campaign and restore it"
            }
            Self::StatusForbids { action: CampaignAction::Restore, .. } => {
                "only what was archived needs restoring; go on as it is"
            }
            Self::StatusForbids { .. } => "start a session first; to put the campaign away without one, archive it",
            Self::ActiveSessionExists { .. } => "go on in that session, or end it first",
            Self::SessionGoesOn { .. } => "end the session first",
            Self::NoActiveSession => "start a session first, or name the session",
            Self::InPart { refusal, .. } => refusal.hint(),
            Self::TooManyOnOne { .. } => "remove one that is no longer needed",
            Self::TrackerNotFound { .. } => {
                "send one of these names, or set the tracker first; `tracker` with method read lists all"
            }
            Self::TrackerOwnedTwice => "send one of actor_id and participant_id, or none for the campaign",
            Self::TrackerOutOfBounds { .. } => "send a value within the bounds, or other bounds",
            Self::TrackerBoundsCrossed { .. } => "send a maximum that is at least the minimum",
            Self::NumberTooLarge { .. } => "send a smaller number",
            Self::StepWithoutTicks { .. } => "send ticks, session_end or fear, and a step such as -1",
            Self::DamageTooSmall { .. } => "leave out what hurts nobody; to heal, send by",
            Self::NoThresholds { .. } => {
                "set the trait thresholds, such as 8/12; `actor_update` does it; or send name HP and by"
            }
            Self::ArmorSpent { .. } => "leave armor out",
            Self::SpotlightHolderNotFound { .. } => "send GM, or the id of an actor of this campaign",
            Self::SessionEnded { .. } => "what has ended stays so; start another session to play on",
        }
    }
}

fn status_names(statuses: &[CampaignStatus]) -> Vec<&'static str> {
    statuses.iter().map(|status| status.as_str()).collect()
}
