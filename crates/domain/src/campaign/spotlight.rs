//! The spotlight of a session: the scene, who is up, and who was up last.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::{SingleDecision, check_name, check_session_active};
use super::event::CampaignEvent;
use super::refusal::{CampaignAction, CampaignRefusal};
use super::state::CampaignState;

/// Stands for the game master where otherwise an actor's id is.
pub const GAME_MASTER: &str = "GM";

/// Empty outside of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spotlight {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scene: Option<String>,
    /// GM, or an actor's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub up: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
}

impl Spotlight {
    /// Applies one event of the session. Whoever rolls is up, unless the roll is a secret.
    pub(super) fn record_event(&mut self, event: &CampaignEvent) {
        match event {
            CampaignEvent::SessionStarted { .. } | CampaignEvent::SessionEnded { .. } => *self = Self::default(),
            CampaignEvent::SpotlightSet { scene, up, .. } => {
                if let Some(scene) = scene {
                    self.scene = Some(scene.clone());
                }
                if let Some(up) = up {
                    self.pass_to(up);
                }
            }
            CampaignEvent::RollRecorded(roll)
                if roll.session_id.is_some() && !roll.reaction && roll.visible_to.is_table() =>
            {
                if let Some(actor_id) = &roll.actor_id {
                    self.pass_to(actor_id);
                }
            }
            _ => {}
        }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn pass_to(&mut self, holder: &str) {
        if self.up.as_deref() != Some(holder) {
            self.last = self.up.replace(holder.to_owned());
        }
    }
}

pub(super) fn set_spotlight(
    state: &CampaignState,
    session_id: Option<&str>,
    scene: Option<&String>,
    up: Option<&String>,
) -> SingleDecision {
    state.check_status(CampaignAction::Play)?;
    let session = state.find_session(session_id)?;
    check_session_active(session)?;
    if scene.is_none() && up.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["scene", "spotlight"] });
    }
    let scene = scene.map(|scene| check_name("scene", scene)).transpose()?;
    let up = match up.map(|up| up.trim()) {
        None => None,
        Some(up) if up.eq_ignore_ascii_case(GAME_MASTER) => Some(GAME_MASTER.to_owned()),
        Some(up) if state.actors.contains(up) => Some(up.to_owned()),
        Some(up) => return Err(CampaignRefusal::SpotlightHolderNotFound { holder: up.to_owned() }),
    };
    Ok(CampaignEvent::SpotlightSet { session_id: session.id.clone(), scene, up })
}
