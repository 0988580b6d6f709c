//! Entities that were written here and not sent yet: the records of the lore after the last one that was sent, without
//! those that the mirror wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::PoisonError;

use skald_domain::lore::LoreEvent;

use super::rows::MirrorLink;
use super::sync_run::{SyncFailure, SyncRun, WRITER};
use crate::lore::stream::{LoreStream, lore_stream};
use crate::{App, Fault};
use skald_journal::parse_events;

const RECORDS_PER_READ: usize = 500;

/// What was read of the journal so far.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingEntities {
    read_to: u64,
    /// The last record of each entity, by entity id.
    last_records: BTreeMap<u64, u64>,
}

impl App {
    /// The entities that wait to be sent, by their ids of today.
    pub(super) async fn waiting_entities(&self, campaign_id: &str, link: &MirrorLink) -> Result<BTreeSet<u64>, Fault> {
        let stream = lore_stream(campaign_id);
        let known = {
            let waiting = self.mirrors.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            waiting.get(campaign_id).cloned().unwrap_or_default()
        };
        let mut waiting = known;
        waiting.last_records.retain(|_, revision| *revision > link.sent_revision);
        waiting.read_to = waiting.read_to.max(link.sent_revision);
        let committed = self.lore.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        while waiting.read_to < committed.revision() {
            let records = self.journal.read(&stream, waiting.read_to, RECORDS_PER_READ).await;
            let records = records.map_err(|error| self.store_fault(&error))?;
            let Some(last) = records.last() else { break };
            waiting.read_to = last.revision;
            for record in records.iter().filter(|record| record.by != WRITER) {
                let events = parse_events::<LoreStream>(record);
                for event in events.map_err(|error| Fault::internal(error, self.new_request_id()))? {
                    for entity_id in sent_entities(&event, &committed.state) {
                        waiting.last_records.insert(entity_id, record.revision);
                    }
                }
            }
        }
        let ids = waiting.last_records.keys().map(|entity_id| committed.state.current_id(*entity_id)).collect();
        let mut all = self.mirrors.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(campaign_id.to_owned(), waiting);
        Ok(ids)
    }
}

impl SyncRun<'_> {
    /// Sends what waits for entities that both sides have, while a pull of everything goes on. Each is read first, since the
    /// pull may not have come to it.
    pub(super) async fn send_waiting_known(&mut self) -> Result<(), SyncFailure> {
        for entity_id in self.app.waiting_entities(self.campaign_id, &self.link).await? {
            if self.sent_early.get(&entity_id) == Some(&self.revision_of(entity_id).await?) {
                continue;
            }
            if self.failing.contains(&entity_id) || self.agreed_row(entity_id).await?.is_none() {
                continue;
            }
            self.fetch(entity_id).await?;
            if self.failing.contains(&entity_id) {
                continue;
            }
            match self.send_entity(entity_id).await {
                Err(SyncFailure::Remote(failure)) => self.skip_failing(entity_id, failure).await?,
                sent => {
                    sent?;
                    let revision = self.revision_of(entity_id).await?;
                    self.sent_early.insert(entity_id, revision);
                }
            }
        }
        Ok(())
    }

    /// The revision of an entity here; none if it is gone.
    async fn revision_of(&self, entity_id: u64) -> Result<Option<u64>, SyncFailure> {
        Ok(self.read_lore().await?.state.entity(entity_id).map(|entity| entity.revision))
    }
}

/// The entities of which an event changes something that the remote place has too.
fn sent_entities(event: &LoreEvent, state: &skald_domain::lore::LoreState) -> Vec<u64> {
    match event {
        LoreEvent::EntityCreated { entity_id, .. }
        | LoreEvent::EntityUpdated { entity_id, .. }
        | LoreEvent::EntityArchived { entity_id, .. }
        | LoreEvent::EntityRestored { entity_id, .. }
        | LoreEvent::EntityVersionRestored { entity_id, .. }
        | LoreEvent::PostCreated { entity_id, .. }
        | LoreEvent::PostUpdated { entity_id, .. }
        | LoreEvent::PostArchived { entity_id, .. }
        | LoreEvent::PostRestored { entity_id, .. } => vec![*entity_id],
        LoreEvent::ConflictResolved { steps, .. } | LoreEvent::ConflictReopened { steps, .. } => {
            steps.iter().flat_map(|step| sent_entities(step, state)).collect()
        }
        LoreEvent::ArchiveEmptied { entity_ids, .. } | LoreEvent::TagDeleted { entity_ids, .. } => entity_ids.clone(),
        LoreEvent::TagRenamed { tag_id, .. } => {
            let has_tag = |entity: &&std::sync::Arc<skald_domain::lore::Entity>| entity.tags.contains(tag_id);
            state.entities().filter(has_tag).map(|entity| entity.entity_id).collect()
        }
        LoreEvent::TagCreated { .. }
        | LoreEvent::EntityRenumbered { .. }
        | LoreEvent::IdsReserved { .. }
        | LoreEvent::EntityMarked { .. }
        | LoreEvent::EntityDied { .. }
        | LoreEvent::ChangeHeld { .. }
        | LoreEvent::ConflictAcknowledged { .. }
        | LoreEvent::FindingReviewed { .. }
        | LoreEvent::RelationshipAdded { .. }
        | LoreEvent::RelationshipUpdated { .. }
        | LoreEvent::RelationshipRemoved { .. }
        | LoreEvent::TimelineEventAdded { .. }
        | LoreEvent::TimelineEventUpdated { .. }
        | LoreEvent::TimelineEventRemoved { .. }
        | LoreEvent::VisibilityChanged { .. } => Vec::new(),
    }
}
