//! Records of a campaign (campaign, participants, actors, sessions, notes) as every surface shows them.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::actor_sheet::{GameTemplate, Traits};
use super::tracker::Tracker;
use crate::Moment;
use crate::case_insensitive_enum::case_insensitive_enum;
use crate::visibility::Visibility;

/// Who runs the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum GmMode {
    Human,
    Ai,
    Hybrid,
}

case_insensitive_enum!(GmMode {
    Human = "HUMAN",
    Ai = "AI",
    Hybrid = "HYBRID"
});

/// DRAFT until the first session, then ACTIVE; COMPLETED when it ends; ARCHIVED when it is put away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum CampaignStatus {
    Draft,
    Active,
    Completed,
    Archived,
}

case_insensitive_enum!(CampaignStatus {
    Draft = "DRAFT",
    Active = "ACTIVE",
    Completed = "COMPLETED",
    Archived = "ARCHIVED",
});

/// What a participant is at the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Role {
    Gm,
    Player,
}

case_insensitive_enum!(Role {
    Gm = "GM",
    Player = "PLAYER"
});

/// Who speaks for a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Controller {
    #[default]
    Human,
    Ai,
}

case_insensitive_enum!(Controller {
    Human = "HUMAN",
    Ai = "AI"
});

/// PC, played by somebody; NPC, played by the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ActorKind {
    Pc,
    Npc,
}

case_insensitive_enum!(ActorKind {
    Pc = "PC",
    Npc = "NPC"
});

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SessionStatus {
    Active,
    Ended,
}

case_insensitive_enum!(SessionStatus {
    Active = "ACTIVE",
    Ended = "ENDED"
});

/// Who plays an actor: the game master, or one participant. Written as `GM` or as the participant's id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActorController {
    Gm,
    Participant(String),
}

impl ActorController {
    /// `GM` in any case is the game master; everything else is a participant's id.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        if text.eq_ignore_ascii_case("GM") { Self::Gm } else { Self::Participant(text.to_owned()) }
    }

    pub fn participant_id(&self) -> Option<&str> {
        match self {
            Self::Gm => None,
            Self::Participant(id) => Some(id),
        }
    }
}

impl fmt::Display for ActorController {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.participant_id().unwrap_or("GM"))
    }
}

impl Serialize for ActorController {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ActorController {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<'de, str>::deserialize(deserializer).map(|text| Self::read(&text))
    }
}

impl JsonSchema for ActorController {
    fn schema_name() -> Cow<'static, str> {
        "ActorController".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// A campaign, without what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Campaign {
    pub id: String,
    pub name: String,
    pub gm_mode: GmMode,
    pub participant_count: usize,
    pub actor_count: usize,
    pub theme_prompt: String,
    pub status: CampaignStatus,
    pub created_at: Moment,
    /// When anything but a note, a roll, a tracker or the spotlight last changed.
    pub updated_at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Moment>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Moment>,
}

/// Somebody at the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Participant {
    pub id: String,
    pub campaign_id: String,
    pub display_name: String,
    pub role: Role,
    pub controller: Controller,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trackers: Vec<Tracker>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

/// Somebody in the story.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    pub id: String,
    pub campaign_id: String,
    pub name: String,
    pub kind: ActorKind,
    pub notes: String,
    /// Who may see the notes; everybody if left out.
    #[serde(default, skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>", extend("x-unlisted" = true))]
    pub notes_visible_to: Visibility,
    /// Who plays the actor: GM, or a participant's id. Left out until it is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<ActorController>,
    /// The game whose rules its rolls follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template: Option<GameTemplate>,
    #[serde(default, skip_serializing_if = "Traits::is_empty")]
    pub traits: Traits,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trackers: Vec<Tracker>,
    pub created_at: Moment,
    pub updated_at: Moment,
}

/// One sitting of play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Session {
    pub id: String,
    pub campaign_id: String,
    pub name: String,
    pub status: SessionStatus,
    pub note_count: u64,
    pub roll_count: u64,
    pub started_at: Moment,
    pub updated_at: Moment,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Moment>,
}

/// Something worth remembering.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Note {
    pub id: String,
    /// Absent for a note that belongs to no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub text: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    pub at: Moment,
    /// The principal that wrote it.
    pub by: String,
}
