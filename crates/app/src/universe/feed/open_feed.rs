//! Opens a feed: checks the caller's permission for the universe and the position to continue from.

use crate::universe::UniverseStream;
use std::collections::VecDeque;
use std::sync::Arc;

use skald_domain::universe::{Created, Universe, UniverseEvent};

use super::feed_events::{FeedPosition, RecordEvents};
use super::record_pages::RecordPages;
use super::{Feed, shared_feeds::SharedFeed};
use crate::universe::stream::{role_campaign, universe_not_found_fault, universe_stream};
use crate::{App, Caller, Code, EVERY_CAMPAIGN, Fault, limits, truncate_for_message};
use skald_journal::{CommittedState, Record, StreamName, parse_events};

/// Records that are read at once.
const RECORDS_READ_AT_ONCE: usize = 256;

impl App {
    /// Opens the feed of a universe, from now on or after the event with the id `after`.
    pub(crate) async fn open_feed(
        &self,
        caller: &Caller,
        universe_id: &str,
        after: Option<&str>,
    ) -> Result<Feed, Fault> {
        // No universe can have such an id, so skip the lookup.
        if universe_id.is_empty() || limits::is_longer_than_id(universe_id) {
            return Err(universe_not_found_fault(universe_id));
        }
        let stream = universe_stream(universe_id);
        let committed =
            self.universes.read(&stream).await.map_err(|error| self.store_fault(&error).universe(universe_id))?;
        let requested = match after {
            None => Ok(FeedPosition::after_revision(committed.revision())),
            Some(text) => FeedPosition::parse(text).ok_or_else(|| bad_event_id_fault(text)),
        };
        // Check the role before reporting a bad event id, so that a hidden universe looks like a missing one.
        let looked_up = requested.as_ref().copied().unwrap_or(FeedPosition::after_revision(committed.revision()));
        let campaign_id = self
            .campaign_of_position(caller, &stream, &committed, looked_up)
            .await?
            .ok_or_else(|| universe_not_found_fault(universe_id))?;
        if caller.role_in(&campaign_id).is_none() {
            return Err(universe_not_found_fault(universe_id));
        }
        let position = requested.map_err(|fault| fault.universe(universe_id))?;
        self.check_position(&stream, position, committed.revision())
            .await
            .map_err(|fault| fault.universe(universe_id))?;
        let shared = self.feeds.open((&self.journal, self.heartbeat), &stream, committed.revision());
        Ok(Feed::new(shared, RecordPages::new(Arc::clone(&self.journal), stream), position, campaign_id))
    }

    /// The campaign whose roles count for the events after a position; `None` if there are and will be none.
    ///
    /// The id of a deleted universe may be reused in another campaign. A feed is about one universe, up to its
    /// deletion: the one that the record after the position belongs to.
    async fn campaign_of_position(
        &self,
        caller: &Caller,
        stream: &StreamName,
        committed: &CommittedState<UniverseStream>,
        position: FeedPosition,
    ) -> Result<Option<Arc<str>>, Fault> {
        let about = committed.state.identity();
        if position.revision >= committed.revision() {
            return Ok(about.map(|about| role_campaign(about.campaign_id.as_deref()).into()));
        }
        if caller.role_in(EVERY_CAMPAIGN).is_some() {
            return Ok(Some(EVERY_CAMPAIGN.into()));
        }
        let (mut newest_created, mut revision) = (None, 0);
        while revision <= position.revision {
            // The first record is usually enough.
            let limit = if revision == 0 { 1 } else { RECORDS_READ_AT_ONCE };
            let records = self.journal.read(stream, revision, limit).await.map_err(|error| self.store_fault(&error))?;
            let Some(last) = records.last() else { break };
            let upto = records.iter().take_while(|record| record.revision <= position.revision + 1);
            newest_created = upto.filter_map(created_event).last().or(newest_created);
            let is_only_one = || records.first().is_some_and(|first| is_single_universe(first, &committed.state));
            if revision == 0 && is_only_one() {
                break;
            }
            revision = last.revision;
        }
        Ok(newest_created.map(|created| role_campaign(created.campaign_id.as_deref()).into()))
    }

    /// Refuses a position that no event of the universe has.
    async fn check_position(&self, stream: &StreamName, position: FeedPosition, revision: u64) -> Result<(), Fault> {
        if position > FeedPosition::after_revision(revision)
            && position > FeedPosition::after_revision(self.stored_revision(stream).await?)
        {
            let message = format!("the last event id is {position}, and the universe is at revision {revision}");
            let fault =
                Fault::new(Code::InvalidParams, message).with_path("/lastEventId").value(&position.to_string().into());
            return Err(fault.hint("send the id of an event of this universe, or none to hear what comes from now on"));
        }
        if position.part == 0 {
            return Ok(());
        }
        let next = self.journal.read(stream, position.revision, 1).await.map_err(|error| self.store_fault(&error))?;
        let is_told = next.first().is_some_and(|record| position.part < RecordEvents::from_record(record).id_count());
        if is_told { Ok(()) } else { Err(bad_event_id_fault(&position.to_string())) }
    }

    /// The revision in the store. A feed delivers a record as soon as it is stored, which may be just before the
    /// stream's writer publishes the state after it; a reader that reconnects in between is ahead of that state.
    async fn stored_revision(&self, stream: &StreamName) -> Result<u64, Fault> {
        let head = self.journal.head(stream).await.map_err(|error| self.store_fault(&error))?;
        Ok(head.revision)
    }
}

fn bad_event_id_fault(text: &str) -> Fault {
    Fault::new(Code::InvalidParams, format!("{:?} is not the id of an event", truncate_for_message(text)))
        .with_path("/lastEventId")
        .value(&text.into())
        .hint("send the id of the last event that came, such as 7 or 7.2, or none to hear what comes from now on")
}

fn created_event(record: &Record) -> Option<Created> {
    if !record.kind.starts_with("universe.created") {
        return None;
    }
    parse_events::<UniverseStream>(record).ok()?.into_iter().find_map(|event| match event {
        UniverseEvent::Created(created) => Some(created),
        _ => None,
    })
}

/// Whether the stream has had a single universe from its first record until now.
fn is_single_universe(first: &Record, universe: &Universe) -> bool {
    let (Some(created), Some(about)) = (created_event(first), universe.identity()) else { return false };
    first.at == about.created_at && created.campaign_id == about.campaign_id
}

impl Feed {
    fn new(shared: Arc<SharedFeed>, pages: RecordPages, position: FeedPosition, campaign_id: Arc<str>) -> Self {
        metrics::gauge!(super::READERS_METRIC).increment(1);
        let mut wakes = shared.subscribe();
        let beats = *wakes.borrow_and_update();
        Self {
            shared,
            wakes,
            beats,
            position,
            read: VecDeque::new(),
            pages,
            is_live: false,
            is_over: false,
            campaign_id,
        }
    }
}
