//! Searches the notes of a campaign, newest first, as far as the caller may see them.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::try_join_all;
use skald_domain::campaign::CampaignState;

use super::access::EnteredCampaign;
use super::note_documents::{NOTE_CLASS, NOTES, NoteDocument};
use crate::redaction::Redaction;
use crate::{Allowed, App, Call, CampaignRole, Fault, Operation, limits};
use skald_journal::{Document, Partitions, SearchQuery, search_tokens};

/// A note that was found.
#[derive(Debug, Clone)]
pub(crate) struct FoundNote {
    pub note_id: String,
    pub session_id: Option<String>,
    pub text: String,
}

impl App {
    /// The newest notes that have all words, up to `limit`; without a query all notes.
    pub(crate) async fn search_notes<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: &str,
        query: Option<&str>,
        limit: usize,
    ) -> Result<Vec<FoundNote>, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Guest);
        let campaign = self.enter_campaign_as(call.caller, O::NAME, allowed, campaign_id).await?;
        let redaction = campaign.redaction(call.caller);
        match query {
            Some(query) => self.notes_with_words(&campaign, &redaction, query, limit).await,
            None => self.newest_notes(&campaign, &redaction, limit).await,
        }
    }

    async fn notes_with_words(
        &self,
        campaign: &EnteredCampaign,
        redaction: &Redaction,
        query: &str,
        limit: usize,
    ) -> Result<Vec<FoundNote>, Fault> {
        let terms = search_tokens::query_terms(query);
        let Some(viewer) = redaction.viewer().filter(|_| !terms.is_empty()) else { return Ok(Vec::new()) };
        let state = campaign.state();
        // Rows that the caller may not see are dropped before the limit, or their number would tell of them.
        let (hidden, last) = (state.hidden_note_numbers(viewer), state.last_note_number());
        let hits = self.journal.search(SearchQuery {
            collection: NOTES.to_owned(),
            partition: campaign.campaign_id.clone(),
            classes: vec![NOTE_CLASS],
            terms,
            below: None,
            within: None,
            limit,
            accepts: Arc::new(move |number| number <= last && !hidden.contains(&number)),
        });
        let hits = hits.await.map_err(|error| self.store_fault(&error))?;
        let numbers: BTreeSet<u32> = hits.iter().map(|hit| hit.serial).collect();
        let ids = state.note_ids(&numbers);
        let ids = hits.iter().filter_map(|hit| ids.get(&hit.serial).copied());
        let documents = try_join_all(ids.map(|id| self.journal.document(NOTES, id))).await;
        let documents = documents.map_err(|error| self.store_fault(&error))?;
        let mut notes = Vec::new();
        for document in documents.into_iter().flatten() {
            notes.extend(self.visible_note(redaction, state, document)?);
        }
        Ok(notes)
    }

    async fn newest_notes(
        &self,
        campaign: &EnteredCampaign,
        redaction: &Redaction,
        limit: usize,
    ) -> Result<Vec<FoundNote>, Fault> {
        let partition = [campaign.campaign_id.clone()];
        let (mut notes, mut after) = (Vec::new(), None::<(i64, String)>);
        loop {
            let place = after.as_ref().map(|(rank, id)| (*rank, id.as_str()));
            let documents = self.journal.documents(NOTES, Partitions::Of(&partition), place, limits::PAGE_MAX).await;
            let documents = documents.map_err(|error| self.store_fault(&error))?;
            let Some(last) = documents.last() else { return Ok(notes) };
            after = Some((last.rank, last.id.clone()));
            for document in documents {
                notes.extend(self.visible_note(redaction, campaign.state(), document)?);
                if notes.len() == limit {
                    return Ok(notes);
                }
            }
        }
    }

    fn visible_note(
        &self,
        redaction: &Redaction,
        state: &CampaignState,
        document: Document,
    ) -> Result<Option<FoundNote>, Fault> {
        let note: NoteDocument =
            serde_json::from_str(&document.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        if !note.is_visible(redaction, state, &document.id) {
            return Ok(None);
        }
        Ok(Some(FoundNote { note_id: document.id, session_id: note.session_id, text: note.text }))
    }
}
