//! Follows the journal while a process serves: publishes the resource changes of each new record, and those that it has
//! in other nouns.

use std::sync::Arc;
use std::time::Duration;

use crate::campaign_lookup::DocumentOwner;
use crate::journal_follower::{RECORDS_PER_READ, announcements_of, place_at};
use crate::resource_changes::{Announcement, ChangeAudience};
use crate::{CampaignEffect, ChangeReaders, LocalEngine, ResourceChange};
use skald_journal::{Cursor, Record, StoreError};

/// How long the follower of the journal waits after a failure.
const FOLLOW_RETRY_DELAY: Duration = Duration::from_millis(500);

impl LocalEngine {
    /// The current end of the journal, where subscribers start; `None` if the store cannot be read.
    pub async fn journal_end(&self) -> Option<Cursor> {
        let end = self.app.journal.end_cursor().await.ok()?;
        self.start_broadcast_at(end).await.ok()?;
        Some(end)
    }

    async fn start_broadcast_at(&self, cursor: Cursor) -> Result<(), StoreError> {
        let place = place_at(&*self.app.journal, cursor).await?;
        self.app.change_broadcast.start_at(place);
        Ok(())
    }

    /// Publishes the changes of every record that is appended after a cursor, by any process. Runs until it is dropped.
    pub async fn follow(&self, from: Option<Cursor>) {
        tokio::join!(self.follow_journal(from), self.app.watch_files());
    }

    async fn follow_journal(&self, from: Option<Cursor>) {
        let journal = &self.app.journal;
        let mut wakes = journal.subscribe_appends();
        let mut cursor = from;
        loop {
            match self.publish_new_records(&mut cursor).await {
                Ok(()) => {
                    if wakes.changed().await.is_err() {
                        return;
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "changes cannot be followed right now");
                    tokio::time::sleep(FOLLOW_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Publishes the changes of records appended since the cursor. Without one it starts at the end of the journal.
    async fn publish_new_records(&self, cursor: &mut Option<Cursor>) -> Result<(), StoreError> {
        let journal = &self.app.journal;
        let mut after = match *cursor {
            Some(cursor) => cursor,
            None => *cursor.insert(journal.end_cursor().await?),
        };
        if !self.app.change_broadcast.has_started() {
            self.start_broadcast_at(after).await?;
        }
        let states = self.app.campaign_states();
        loop {
            let records = journal.follow(after, RECORDS_PER_READ).await?;
            let is_last = records.len() < RECORDS_PER_READ;
            // Nouns update their own state before subscribers, who read it, are notified.
            for (_, record) in &records {
                self.app.wait_for_published_state(record).await?;
                self.app.nouns.iter().for_each(|noun| noun.record_appended(&self.app, record));
            }
            let all = announcements_of(&**journal, &self.app.nouns, &states, &records).await?;
            for ((place, record), announcement) in records.into_iter().zip(all) {
                if let Some(announcement) = announcement {
                    self.publish_campaign_effects(&record, &announcement);
                    self.app.change_broadcast.publish(announcement);
                }
                after = place;
                *cursor = Some(place);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Publishes changes in other nouns that follow from a record of a campaign.
    fn publish_campaign_effects(&self, record: &Record, announcement: &Announcement) {
        let (mut campaign, mut is_secret) = (None, true);
        for (_, audience) in announcement.changes.iter() {
            match audience {
                // If everybody may know of a part of it, whoever sees what follows may know of it.
                ChangeAudience::InCampaign(campaign_id) => (campaign, is_secret) = (Some(campaign_id), false),
                ChangeAudience::GameMastersAnd(campaign_id, _) => campaign = campaign.or(Some(campaign_id)),
                _ => {}
            }
        }
        let Some(campaign_id) = campaign else { return };
        let nouns = self.app.nouns.iter();
        let effects = nouns.flat_map(|noun| noun.changed_by_campaign(&self.app, record, campaign_id));
        let changes = effects.map(|CampaignEffect { change, created_by }| {
            let owner = DocumentOwner { campaign_id: Some(Arc::clone(campaign_id)), created_by };
            let game_masters = || ChangeReaders::GAME_MASTERS.audience_in(campaign_id);
            (change, if is_secret { game_masters() } else { ChangeAudience::RunReaders(owner) })
        });
        let changes: Arc<[_]> = changes.collect();
        if !changes.is_empty() {
            self.app.change_broadcast.publish(Announcement { changes, place: None });
        }
    }

    /// Publishes a change to all subscribers.
    pub fn publish(&self, change: ResourceChange) {
        self.app.publish_change(change, &ChangeAudience::Everybody);
    }
}
