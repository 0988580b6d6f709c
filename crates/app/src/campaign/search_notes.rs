//! Searches the notes of a campaign in its history, newest first, as far as the caller may see them.

use std::collections::BTreeMap;

use skald_domain::campaign::CampaignEvent;
use skald_domain::text_fold::fold_text;

use crate::{Allowed, App, Call, CampaignRole, Fault, Operation, limits};

/// A note that has all words of a query.
#[derive(Debug, Clone)]
pub(crate) struct FoundNote {
    pub note_id: String,
    pub session_id: Option<String>,
    pub text: String,
    pub at: jiff::Timestamp,
}

/// What a search of notes found.
#[derive(Debug)]
pub(crate) struct FoundNotes {
    /// The newest first.
    pub notes: Vec<FoundNote>,
    /// Whether older events were not looked through.
    pub is_cut: bool,
}

impl App {
    /// The newest notes that have all words, or all notes if there are none, among the newest events of the campaign.
    pub(crate) async fn search_notes<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
        query: &str,
    ) -> Result<FoundNotes, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Guest);
        let campaign = self.enter_campaign_as(call.caller, O::NAME, allowed, campaign_id).await?;
        let first = campaign.committed.revision().saturating_sub(limits::EVENTS_SCANNED_MAX as u64);
        let events =
            self.read_events(&campaign.redaction(call.caller), &campaign, first, limits::EVENTS_SCANNED_MAX).await?;
        let mut notes: BTreeMap<String, FoundNote> = BTreeMap::new();
        for logged in events {
            match logged.event {
                CampaignEvent::NoteAdded { note_id, session_id, text, .. } => {
                    let note = FoundNote { note_id: note_id.clone(), session_id, text, at: logged.recorded_at };
                    notes.insert(note_id, note);
                }
                CampaignEvent::NoteChanged { note_id, text: Some(text), .. } => {
                    if let Some(note) = notes.get_mut(&note_id) {
                        note.text = text;
                    }
                }
                CampaignEvent::NoteRemoved { note_id, .. } => {
                    notes.remove(&note_id);
                }
                _ => {}
            }
        }
        let words: Vec<String> = query.split_whitespace().map(fold_text).collect();
        let has_words = |note: &FoundNote| {
            let text = fold_text(&note.text);
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let mut notes: Vec<FoundNote> = notes.into_values().filter(has_words).collect();
        notes.sort_by_key(|note| std::cmp::Reverse(note.at));
        Ok(FoundNotes { notes, is_cut: first > 0 })
    }
}
