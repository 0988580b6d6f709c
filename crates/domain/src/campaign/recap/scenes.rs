//! Scenes and the spotlight for a recap: which scenes there were, who was up at the end and who before.

use std::fmt::Write;

use jiff::Timestamp;

use super::super::event::CampaignEvent;
use super::super::spotlight::{GAME_MASTER, Spotlight};
use super::names::{Names, to_one_line};
use super::{format_time, truncate_list};

const SCENES_SHOWN: usize = 20;

#[derive(Default)]
pub(super) struct RecapScenes {
    scenes: Vec<String>,
    spotlight: Spotlight,
}

impl RecapScenes {
    pub(super) fn record_event(&mut self, at: Timestamp, event: &CampaignEvent) {
        if let CampaignEvent::SpotlightSet { scene: Some(scene), .. } = event {
            self.scenes.push(format!("{} ({})", to_one_line(scene), format_time(at)));
        }
        self.spotlight.record_event(event);
    }

    pub(super) fn render(&self, text: &mut String, names: &Names<'_>) {
        if !self.scenes.is_empty() {
            let scenes = truncate_list(self.scenes.iter().cloned(), SCENES_SHOWN).join(", ");
            let _ = writeln!(text, "\n**Scenes:** {scenes}");
        }
        // Without a scene or a turn of the game master, the rolls tell already who acted.
        let is_told = !self.scenes.is_empty() || self.spotlight.up.as_deref() == Some(GAME_MASTER);
        let name =
            |holder: &String| if holder == GAME_MASTER { "the game master".to_owned() } else { names.actor(holder) };
        if let Some(up) = self.spotlight.up.as_ref().filter(|_| is_told) {
            let last = self.spotlight.last.as_ref().map(|last| format!(", before that {}", name(last)));
            let _ = writeln!(text, "\n**Spotlight:** {}{}", name(up), last.unwrap_or_default());
        }
    }
}
