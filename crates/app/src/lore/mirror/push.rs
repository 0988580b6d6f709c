//! Pushes to the remote place. The journal is the queue: the records of the lore after the last one that was sent. So no
//! write is lost, and entities are sent in the order in which they were written.

use std::collections::BTreeSet;
use std::sync::Arc;

use skald_domain::lore::{Entity, LoreEvent};

use super::sync_run::{SyncFailure, SyncRun};
use crate::lore::stream::LoreStream;
use skald_journal::parse_events;

const RECORDS_PER_READ: usize = 500;
/// A push itself writes records, such as new ids, which need another pass. Each pass writes fewer.
const PASSES: usize = 6;

impl SyncRun<'_> {
    /// Sends everything that waits, and looks at the entities in `again` although nobody wrote to them since.
    pub(super) async fn push(&mut self, again: &BTreeSet<u64>) -> Result<(), SyncFailure> {
        let mut again: Vec<u64> = self.link.resend.union(again).copied().collect();
        for _ in 0..PASSES {
            let WaitingRecords { entity_ids: mut waiting, renamed_tags, revision } =
                self.read_waiting_records().await?;
            waiting.extend(again.drain(..).filter(|entity_id| !waiting.contains(entity_id)).collect::<Vec<_>>());
            if waiting.is_empty() && revision == self.link.sent_revision {
                break;
            }
            self.rename_tags(&renamed_tags).await?;
            self.send_entities(&waiting).await?;
            self.link.sent_revision = revision;
            self.link.resend.clone_from(&self.failing);
        }
        Ok(())
    }

    async fn read_waiting_records(&self) -> Result<WaitingRecords, SyncFailure> {
        let mut after = self.link.sent_revision;
        let mut renamed_tags = BTreeSet::new();
        let (mut entity_ids, mut known) = (Vec::new(), BTreeSet::new());
        let committed = self.read_lore().await?;
        loop {
            let records = self.app.journal.read(&self.stream, after, RECORDS_PER_READ).await;
            let records = records.map_err(|error| self.app.store_fault(&error))?;
            let Some(last) = records.last() else { break };
            after = last.revision;
            for record in &records {
                let events = parse_events::<LoreStream>(record);
                let events = events.map_err(|error| crate::Fault::internal(error, self.app.new_request_id()))?;
                for event in &events {
                    let ids = match event {
                        LoreEvent::ArchiveEmptied { entity_ids, .. } | LoreEvent::TagDeleted { entity_ids, .. } => {
                            entity_ids.clone()
                        }
                        LoreEvent::TagRenamed { tag_id, .. } => {
                            renamed_tags.insert(*tag_id);
                            let has_tag = |entity: &&Arc<Entity>| entity.tags.contains(tag_id);
                            committed.state.entities().filter(has_tag).map(|entity| entity.entity_id).collect()
                        }
                        // Texts that mention it were held back until it has its remote id, or is archived.
                        LoreEvent::EntityRenumbered { new_entity_id: entity_id, .. }
                        | LoreEvent::EntityArchived { entity_id, .. } => {
                            let mentioning = committed.state.mentioned_by(committed.state.current_id(*entity_id));
                            let mentioning = mentioning.into_iter().map(|place| place.entity_id);
                            std::iter::once(*entity_id).chain(mentioning).collect()
                        }
                        event => event.entity_id().into_iter().collect(),
                    };
                    entity_ids.extend(ids);
                }
            }
        }
        let committed = self.read_lore().await?;
        let current = entity_ids.into_iter().map(|entity_id| committed.state.current_id(entity_id));
        let entity_ids = current.filter(|entity_id| known.insert(*entity_id)).collect();
        Ok(WaitingRecords { entity_ids, renamed_tags, revision: after })
    }
}

/// What was written since the last push.
struct WaitingRecords {
    /// In the order of their first record.
    entity_ids: Vec<u64>,
    renamed_tags: BTreeSet<u32>,
    /// The revision of the last record.
    revision: u64,
}
