//! The read model of the notes of campaigns, with a search row for each note, and its filling in stores of earlier
//! versions.

use serde::{Deserialize, Serialize};
use skald_domain::campaign::{CampaignEvent, CampaignState, SecretSubject};

use super::stream::{CAMPAIGNS, CampaignStream, campaign_stream};
use crate::redaction::Redaction;
use crate::{App, Fault, limits};
use skald_journal::{
    Document, Partitions, ReadModelChange, SearchBody, SearchClass, SearchText, StreamKinds, StreamName, rebuild_stream,
};

/// The read model with a document for each note.
pub(super) const NOTES: &str = "campaign_notes";
/// The read model of the campaigns whose notes have documents. Campaigns of earlier versions are not in it until
/// [`App::fill_note_documents`] has run.
const CAMPAIGNS_WITH_NOTES: &str = "campaigns_with_notes";

/// All notes have this class. Who may see a note can change without its text, so the state of the campaign decides
/// which rows a search accepts.
pub(super) const NOTE_CLASS: SearchClass = SearchClass::NamedPeople;

/// The body of a note's document.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct NoteDocument {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub text: String,
    /// How often it had been decided who may see the note when the text was written.
    visibility_steps: usize,
}

impl NoteDocument {
    /// Whether a caller may see it. A document may be newer than the state: then the state does not know whom its text is
    /// for.
    pub(super) fn is_visible(&self, redaction: &Redaction, state: &CampaignState, note_id: &str) -> bool {
        let of = SecretSubject::note(note_id);
        state.note_origin(note_id).is_some()
            && self.visibility_steps <= visibility_steps(state, &of)
            && redaction.admits(&state.visibility_of(&of))
    }
}

fn visibility_steps(state: &CampaignState, of: &SecretSubject) -> usize {
    state.secret(of).map_or(0, |secret| secret.steps.len())
}

/// What an event changes in the read models of notes; `state` is the state after the events of its command.
pub(super) fn note_changes(
    stream: &StreamName,
    state: &CampaignState,
    event: &CampaignEvent,
) -> Option<ReadModelChange> {
    let document = |collection: &str, id: &str, rank: i64, body: String, search: Option<SearchText>| {
        let (collection, partition) = (collection.to_owned(), stream.id().to_owned());
        ReadModelChange::Put(Document { collection, partition, id: id.to_owned(), rank, body, search })
    };
    match event {
        CampaignEvent::CampaignCreated { .. } => {
            Some(document(CAMPAIGNS_WITH_NOTES, stream.id(), 0, "{}".to_owned(), None))
        }
        CampaignEvent::NoteAdded { note_id, text, .. }
        | CampaignEvent::NoteChanged { note_id, text: Some(text), .. } => {
            // A later event of the same command may have removed the note.
            let origin = state.note_origin(note_id)?;
            let body = NoteDocument {
                session_id: origin.session_id.clone(),
                text: text.clone(),
                visibility_steps: visibility_steps(state, &SecretSubject::note(note_id)),
            };
            let search = SearchText {
                serial: origin.number,
                class: NOTE_CLASS,
                name: String::new(),
                extra: String::new(),
                body: SearchBody::Text(text.clone()),
            };
            let body = serde_json::to_string(&body).expect("a note is JSON");
            Some(document(NOTES, note_id, origin.number.into(), body, Some(search)))
        }
        CampaignEvent::NoteRemoved { note_id, .. } => {
            Some(ReadModelChange::Delete { collection: NOTES.to_owned(), id: note_id.clone() })
        }
        _ => None,
    }
}

impl App {
    /// Makes the documents of notes in a store of an earlier version, which has none. Costs two counts if there is nothing
    /// to do.
    pub async fn fill_note_documents(&self) -> Result<(), Fault> {
        let count = async |collection| {
            let counted = self.journal.count_documents(collection, Partitions::All).await;
            counted.map_err(|error| self.store_fault(&error))
        };
        if count(CAMPAIGNS).await? <= count(CAMPAIGNS_WITH_NOTES).await? {
            return Ok(());
        }
        let kinds = StreamKinds::default().with_kind::<CampaignStream>();
        let mut after: Option<(i64, String)> = None;
        loop {
            let place = after.as_ref().map(|(rank, id)| (*rank, id.as_str()));
            let campaigns = self.journal.documents(CAMPAIGNS, Partitions::All, place, limits::PAGE_MAX).await;
            let campaigns = campaigns.map_err(|error| self.store_fault(&error))?;
            for campaign in &campaigns {
                let filled = self.journal.document(CAMPAIGNS_WITH_NOTES, &campaign.id).await;
                if filled.map_err(|error| self.store_fault(&error))?.is_none() {
                    let rebuilt = rebuild_stream(&*self.journal, &kinds, &campaign_stream(&campaign.id)).await;
                    rebuilt.map_err(|error| self.store_fault(&error))?;
                }
            }
            let Some(last) = campaigns.last() else { return Ok(()) };
            after = Some((last.rank, last.id.clone()));
        }
    }
}
