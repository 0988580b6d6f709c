//! A watcher's position in the journal: drops changes it has already had, and reads the records it has missed.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use crate::campaign::{CONTEXT_URI, CampaignStream, campaign_stream, timeline_uri};
use crate::campaign_lookup::DocumentOwners;
use crate::lore::{LoreStream, lore_stream};
use crate::resource_changes::{AnnouncedChange, Announcement, ChangeAudience, JournalPlace, News, ResourceChange};
use crate::{EVERY_CAMPAIGN, Nouns, RecordAudience};
use skald_journal::{CommittedState, Cursor, Journal, Record, StoreError, Streams};

/// Records that a watcher reads at once.
pub(crate) const RECORDS_PER_READ: usize = 256;
/// How long a watcher waits after a failure to read.
const READ_RETRY_DELAY: Duration = Duration::from_millis(500);

/// One subscriber's place. Announcements at or before the place are dropped, so that none is sent twice; missed ones
/// are read from the journal.
pub(crate) struct JournalFollower {
    journal: Arc<dyn Journal>,
    nouns: Nouns,
    states: CampaignStates,
    /// `None` if the process does not follow the journal: then missed changes cannot be read.
    place: Option<JournalPlace>,
    state: FollowState,
    /// Whether changes may have been missed that are in no journal record.
    has_missed: bool,
}

enum FollowState {
    /// Everything up to the place was delivered.
    CaughtUp,
    /// Announcements after the place may have been lost and are read from the journal.
    Behind,
    /// The place came from a client, and may belong to another journal.
    Unverified,
    /// Missed changes cannot be read: everything counts as changed.
    Lost,
}

impl JournalFollower {
    /// From now on.
    pub(crate) fn new(
        journal: Arc<dyn Journal>,
        nouns: Nouns,
        states: CampaignStates,
        place: Option<JournalPlace>,
    ) -> Self {
        Self { journal, nouns, states, place, state: FollowState::CaughtUp, has_missed: false }
    }

    /// From a place that a client sent. `now` is the start if the place could not be parsed.
    pub(crate) fn resume_after(
        journal: Arc<dyn Journal>,
        nouns: Nouns,
        states: CampaignStates,
        claimed: Option<JournalPlace>,
        now: Option<JournalPlace>,
    ) -> Self {
        let (place, state) = match claimed {
            Some(place) => (Some(place), FollowState::Unverified),
            None => (now, FollowState::Lost),
        };
        Self { journal, nouns, states, place, state, has_missed: false }
    }

    pub(crate) fn place(&self) -> Option<JournalPlace> {
        self.place
    }

    pub(crate) fn fall_behind(&mut self) {
        self.state = if self.place.is_some() { FollowState::Behind } else { FollowState::Lost };
        self.has_missed = self.place.is_some();
    }

    /// Adds an announcement to the news, unless it was delivered already.
    pub(crate) fn add_announcement(&mut self, announcement: &Announcement, news: &mut News) {
        let is_delivered = |place: JournalPlace| self.place.is_some_and(|reached| place.cursor <= reached.cursor);
        if announcement.place.is_some_and(is_delivered) {
            return;
        }
        news.add(announcement);
        self.place = announcement.place.or(self.place);
    }

    /// News from the journal after the place, if something was missed. `None` once nothing is left.
    pub(crate) async fn catch_up(&mut self) -> Option<News> {
        if std::mem::take(&mut self.has_missed) {
            return Some(News::from_changes(
                [AnnouncedChange {
                    change: ResourceChange::Resource(CONTEXT_URI.into()),
                    campaign_id: None,
                    game_masters_only: false,
                    participant_ids: BTreeSet::new(),
                }],
                false,
                None,
            ));
        }
        loop {
            let caught = match self.state {
                FollowState::CaughtUp => return None,
                FollowState::Lost => {
                    self.state = FollowState::CaughtUp;
                    return Some(News::everything_at(self.place));
                }
                FollowState::Unverified => self.check_claimed_place().await.map(|()| News::default()),
                FollowState::Behind => self.read_missed().await,
            };
            match caught {
                Ok(news) if news.is_empty() => {}
                Ok(news) => return Some(news),
                Err(error) => {
                    tracing::warn!(%error, "what a watcher missed cannot be read right now");
                    tokio::time::sleep(READ_RETRY_DELAY).await;
                }
            }
        }
    }

    /// Checks that the record at the place has the expected hash. Otherwise the place is from another journal, and
    /// missed changes are unknown.
    async fn check_claimed_place(&mut self) -> Result<(), StoreError> {
        let claimed = self.place.unwrap_or(JournalPlace::BEGINNING);
        if place_at(&*self.journal, claimed.cursor).await? == Some(claimed) {
            self.state = FollowState::Behind;
        } else {
            let end = self.journal.end_cursor().await?;
            self.place = place_at(&*self.journal, end).await?;
            self.state = FollowState::Lost;
        }
        Ok(())
    }

    async fn read_missed(&mut self) -> Result<News, StoreError> {
        let after = self.place.unwrap_or(JournalPlace::BEGINNING).cursor;
        let records = self.journal.follow(after, RECORDS_PER_READ).await?;
        if records.len() < RECORDS_PER_READ {
            self.state = FollowState::CaughtUp;
        }
        let mut news = News::default();
        let all = announcements_of(&*self.journal, &self.nouns, &self.states, &records).await?;
        for ((cursor, record), announcement) in records.iter().zip(all) {
            match announcement {
                Some(announcement) => self.add_announcement(&announcement, &mut news),
                None => self.place = Some(JournalPlace::new(*cursor, &record.hash)),
            }
        }
        news.set_place(self.place);
        Ok(news)
    }
}

/// The announcement for each record, `None` if it has no audience.
pub(crate) async fn announcements_of(
    journal: &dyn Journal,
    nouns: &Nouns,
    states: &CampaignStates,
    records: &[(Cursor, Record)],
) -> Result<Vec<Option<Announcement>>, StoreError> {
    let mut owners = DocumentOwners::new(journal);
    let mut all = Vec::with_capacity(records.len());
    for (cursor, record) in records {
        let noun = nouns.noun_of_record(record);
        let place = Some(JournalPlace::new(*cursor, &record.hash));
        let Some(noun) = noun else {
            all.push(None);
            continue;
        };
        // Steps of runs and times of universes stand in the timeline of their campaign.
        let mut timeline = None;
        let audience = match noun.record_audience() {
            RecordAudience::Nobody => {
                all.push(None);
                continue;
            }
            RecordAudience::CampaignOfStreamIdBySecrecy(secrecy) if (secrecy.is_secret)(record) => {
                let campaign_id: Arc<str> = record.stream.id().into();
                let changes = (secrecy.changes)(record, states).await?;
                let changes = changes.into_iter().map(|(change, readers)| (change, readers.audience_in(&campaign_id)));
                all.push(Some(Announcement { changes: changes.collect(), place }));
                continue;
            }
            RecordAudience::CampaignOfStreamId | RecordAudience::CampaignOfStreamIdBySecrecy(_) => {
                ChangeAudience::InCampaign(record.stream.id().into())
            }
            RecordAudience::CampaignInDocument(collection) => {
                let owner = owners.find_owner(collection, record.stream.id()).await?;
                let campaign_id = owner.and_then(|owner| owner.campaign_id);
                timeline = campaign_id.as_deref().map(timeline_uri);
                ChangeAudience::InCampaign(campaign_id.unwrap_or_else(|| EVERY_CAMPAIGN.into()))
            }
            RecordAudience::GameMastersAndCreatorInDocument(collection) => {
                let owner = owners.find_owner(collection, record.stream.id()).await?;
                timeline = owner.as_ref().and_then(|owner| owner.campaign_id.as_deref()).map(timeline_uri);
                owner.map_or_else(ChangeAudience::every_game_master, ChangeAudience::RunReaders)
            }
        };
        let timeline = timeline.map(|uri| ResourceChange::Resource(uri.into()));
        let changes = noun.changed_resources(record).into_iter().chain(timeline);
        all.push(Some(Announcement::new(changes, &audience, place)));
    }
    Ok(all)
}

/// The states of campaigns and their lore, which say who may know of a secret change.
#[derive(Clone)]
pub struct CampaignStates {
    pub(crate) campaigns: Streams<CampaignStream>,
    pub(crate) lore: Streams<LoreStream>,
}

impl CampaignStates {
    pub(crate) async fn campaign(&self, campaign_id: &str) -> Result<Arc<CommittedState<CampaignStream>>, StoreError> {
        self.campaigns.read(&campaign_stream(campaign_id)).await
    }

    pub(crate) async fn lore(&self, campaign_id: &str) -> Result<Arc<CommittedState<LoreStream>>, StoreError> {
        self.lore.read(&lore_stream(campaign_id)).await
    }
}

/// The place at a cursor, if there is a record: reads one record from just before the cursor.
pub(crate) async fn place_at(journal: &dyn Journal, cursor: Cursor) -> Result<Option<JournalPlace>, StoreError> {
    let Some(before) = cursor.position.checked_sub(1) else { return Ok(Some(JournalPlace::BEGINNING)) };
    let found = journal.follow(Cursor { position: before, ..cursor }, 1).await?;
    let found = found.first().filter(|(place, _)| *place == cursor);
    Ok(found.map(|(place, record)| JournalPlace::new(*place, &record.hash)))
}
