//! Resource changes for subscribers: live, or from a position in the journal on, none missed and none sent twice.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::sync::broadcast::{self, Receiver, error::RecvError, error::TryRecvError};

use crate::campaign_lookup::DocumentOwner;
use crate::journal_follower::JournalFollower;
use crate::redaction::can_see_run;
use crate::{Caller, CampaignRole, Conversation, EVERY_CAMPAIGN};
use skald_domain::campaign::CampaignState;
use skald_domain::visibility::Visibility;
use skald_journal::{Cursor, Hash};

/// A change that subscribers are notified of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceChange {
    /// The resource at this URI reads differently now.
    Resource(Arc<str>),
    /// The list of resources has changed.
    ResourceList,
}

/// Of the members of a campaign, who may know of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeReaders {
    Members,
    /// Game masters, and those who are one of these participants.
    GameMastersAnd(BTreeSet<String>),
}

impl ChangeReaders {
    pub const GAME_MASTERS: Self = Self::GameMastersAnd(BTreeSet::new());

    /// Whoever sees something with this visibility. An actor's knowledge is that of whoever plays it.
    pub(crate) fn new(visibility: &Visibility, state: &CampaignState) -> Self {
        match visibility {
            Visibility::Table => Self::Members,
            Visibility::GameMasters => Self::GAME_MASTERS,
            Visibility::People(ids) => Self::GameMastersAnd(state.participants_among(ids)),
        }
    }

    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Members, _) | (_, Self::Members) => Self::Members,
            (Self::GameMastersAnd(ids), Self::GameMastersAnd(others)) => Self::GameMastersAnd(&ids | &others),
        }
    }

    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Members, other) | (other, Self::Members) => other,
            (Self::GameMastersAnd(ids), Self::GameMastersAnd(others)) => Self::GameMastersAnd(&ids & &others),
        }
    }

    pub(crate) fn audience_in(self, campaign_id: &Arc<str>) -> ChangeAudience {
        match self {
            Self::Members => ChangeAudience::InCampaign(Arc::clone(campaign_id)),
            Self::GameMastersAnd(ids) => ChangeAudience::GameMastersAnd(Arc::clone(campaign_id), ids.into()),
        }
    }
}

/// Changes of one record or event, each with its audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub changes: Arc<[(ResourceChange, ChangeAudience)]>,
    /// The journal place of the record, if the changes come from one.
    pub place: Option<JournalPlace>,
}

/// A place in the journal: everything up to it was delivered. It contains the start of the record's hash, so that a
/// place from another journal is detected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JournalPlace {
    pub cursor: Cursor,
    pub mark: u64,
}

impl Announcement {
    /// Changes that the same people hear of.
    pub(crate) fn new(
        changes: impl IntoIterator<Item = ResourceChange>,
        audience: &ChangeAudience,
        place: Option<JournalPlace>,
    ) -> Self {
        Self { changes: changes.into_iter().map(|change| (change, audience.clone())).collect(), place }
    }
}

impl JournalPlace {
    /// Before the first record.
    pub(crate) const BEGINNING: Self = Self { cursor: Cursor { transaction: 0, position: 0 }, mark: 0 };

    pub(crate) fn new(cursor: Cursor, hash: &Hash) -> Self {
        Self { cursor, mark: hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)) }
    }

    /// Parses the text form that clients get.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (cursor, mark) = text.rsplit_once('.')?;
        let cursor = cursor.contains('.').then(|| cursor.parse().ok())??;
        Some(Self { cursor, mark: u64::from_str_radix(mark, 16).ok()? })
    }
}

impl fmt::Display for JournalPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{:016x}", self.cursor, self.mark)
    }
}

/// Who is notified of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeAudience {
    Everybody,
    /// Those who have a role in this campaign.
    InCampaign(Arc<str>),
    /// The game masters of this campaign, and its members who are one of these participants: the change is about
    /// something that others may not know of.
    GameMastersAnd(Arc<str>, Arc<BTreeSet<String>>),
    /// Those who may see the run with this owner.
    RunReaders(DocumentOwner),
    /// One conversation of the principal with this id.
    Conversation(Arc<str>, Conversation),
}

impl ChangeAudience {
    /// The game masters of all campaigns.
    pub(crate) fn every_game_master() -> Self {
        Self::GameMastersAnd(EVERY_CAMPAIGN.into(), Arc::default())
    }
}

/// The union of several audiences.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Audience {
    everybody: bool,
    campaign_ids: BTreeSet<Arc<str>>,
    game_master_campaign_ids: BTreeSet<Arc<str>>,
    /// Participants by campaign.
    participants: BTreeMap<Arc<str>, BTreeSet<String>>,
    /// The owners of runs.
    run_owners: BTreeSet<DocumentOwner>,
    conversations: HashSet<(Arc<str>, Conversation)>,
}

impl Audience {
    fn add(&mut self, added: ChangeAudience) {
        match added {
            ChangeAudience::Everybody => self.everybody = true,
            ChangeAudience::InCampaign(id) => drop(self.campaign_ids.insert(id)),
            ChangeAudience::GameMastersAnd(id, participants) => {
                if !participants.is_empty() {
                    self.participants.entry(Arc::clone(&id)).or_default().extend(participants.iter().cloned());
                }
                self.game_master_campaign_ids.insert(id);
            }
            ChangeAudience::RunReaders(owner) => drop(self.run_owners.insert(owner)),
            ChangeAudience::Conversation(id, conversation) => drop(self.conversations.insert((id, conversation))),
        }
    }

    /// The owners of the runs that the caller may see.
    fn run_owners_seen_by(&self, caller: &Caller) -> impl Iterator<Item = &DocumentOwner> {
        self.run_owners.iter().filter(|run| can_see_run(caller, run.campaign_id.as_deref(), &run.created_by))
    }

    fn has_conversation(&self, caller: &Caller) -> bool {
        self.conversations.iter().any(|(id, of)| **id == *caller.id() && *of == caller.conversation)
    }

    fn has(&self, caller: &Caller) -> bool {
        self.everybody
            || self.has_conversation(caller)
            || self.campaign_ids.iter().any(|id| caller.role_in(id).is_some())
            || self.game_master_campaign_ids.iter().any(|id| is_game_master(caller, id))
            || self.participants.iter().any(|(id, participants)| !caller.own_participants(id, participants).is_empty())
            || self.run_owners_seen_by(caller).next().is_some()
    }
}

fn is_game_master(caller: &Caller, campaign_id: &str) -> bool {
    caller.role_in(campaign_id).is_some_and(|role| role >= CampaignRole::Gm)
}

/// One change, with the campaign whose members are notified; without one, every receiver is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnnouncedChange {
    pub change: ResourceChange,
    pub campaign_id: Option<Arc<str>>,
    /// Of the members, only game masters are notified, and those who are one of the participants below.
    pub game_masters_only: bool,
    pub participant_ids: BTreeSet<String>,
}

/// Changes since the subscriber's last read, without duplicates.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct News {
    resources: BTreeMap<Arc<str>, Audience>,
    resource_list: Audience,
    /// Changes may have been missed: every watched resource counts as changed.
    everything: bool,
    place: Option<Arc<str>>,
}

impl News {
    /// News received from another process.
    pub fn from_changes(
        changes: impl IntoIterator<Item = AnnouncedChange>,
        everything: bool,
        place: Option<Arc<str>>,
    ) -> Self {
        let mut news = Self { everything, place, ..Self::default() };
        for AnnouncedChange { change, campaign_id, game_masters_only, participant_ids } in changes {
            let audience = match campaign_id {
                None => ChangeAudience::Everybody,
                Some(id) if game_masters_only => ChangeAudience::GameMastersAnd(id, participant_ids.into()),
                Some(id) => ChangeAudience::InCampaign(id),
            };
            news.add_change(change, audience);
        }
        news
    }

    /// Whether a change was announced for this caller under exactly this URI. Parts of resources are handled by
    /// [`Engine::is_changed`](crate::Engine::is_changed).
    pub fn concerns(&self, caller: &Caller, uri: &str) -> bool {
        self.everything || self.resources.get(uri).is_some_and(|audience| audience.has(caller))
    }

    pub fn concerns_list(&self, caller: &Caller) -> bool {
        self.everything || self.resource_list.has(caller)
    }

    pub fn is_everything(&self) -> bool {
        self.everything
    }

    /// The place to resume after, if it is known.
    pub fn place(&self) -> Option<&Arc<str>> {
        self.place.as_ref()
    }

    /// Every change that this caller may know of, once for each campaign that it concerns. Other people who hear of it
    /// are not named.
    pub fn changes_for<'a>(&'a self, caller: &'a Caller) -> impl Iterator<Item = AnnouncedChange> + 'a {
        let resources =
            self.resources.iter().map(|(uri, audience)| (ResourceChange::Resource(Arc::clone(uri)), audience));
        let all = resources.chain([(ResourceChange::ResourceList, &self.resource_list)]);
        all.flat_map(|(change, audience)| {
            let nobody = BTreeSet::new;
            let everybody = (audience.everybody || audience.has_conversation(caller)).then(|| (None, false, nobody()));
            let of_runs = audience.run_owners_seen_by(caller).map(|owner| {
                // Changes known only to a run's creator carry no campaign id.
                let campaign_id = owner.campaign_id.as_ref().filter(|id| is_game_master(caller, id));
                (campaign_id.map(Arc::clone), campaign_id.is_some(), nobody())
            });
            let of_runs: BTreeSet<_> = of_runs.collect();
            let of_campaigns = audience.campaign_ids.iter().filter(|id| caller.role_in(id).is_some());
            let of_masters = audience.game_master_campaign_ids.iter().filter(|id| is_game_master(caller, id));
            let of_campaigns = of_campaigns.map(move |id| (Some(Arc::clone(id)), false, nobody()));
            let of_masters = of_masters.map(move |id| (Some(Arc::clone(id)), true, nobody()));
            let of_participants = audience.participants.iter().filter(|(id, _)| !is_game_master(caller, id));
            let of_participants = of_participants.filter_map(|(id, participants)| {
                let own = caller.own_participants(id, participants);
                (!own.is_empty()).then(|| (Some(Arc::clone(id)), true, own))
            });
            let audience =
                everybody.into_iter().chain(of_campaigns).chain(of_masters).chain(of_participants).chain(of_runs);
            audience.map(move |(campaign_id, game_masters_only, participant_ids)| AnnouncedChange {
                change: change.clone(),
                campaign_id,
                game_masters_only,
                participant_ids,
            })
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        !self.everything && self.resources.is_empty() && self.resource_list == Audience::default()
    }

    pub(crate) fn add(&mut self, announcement: &Announcement) {
        for (change, audience) in announcement.changes.iter() {
            self.add_change(change.clone(), audience.clone());
        }
        self.set_place(announcement.place);
    }

    /// Sets the place that these news reach.
    pub(crate) fn set_place(&mut self, place: Option<JournalPlace>) {
        if let Some(place) = place {
            self.place = Some(place.to_string().into());
        }
    }

    pub(crate) fn everything_at(place: Option<JournalPlace>) -> Self {
        let mut news = Self { everything: true, ..Self::default() };
        news.set_place(place);
        news
    }

    fn add_change(&mut self, change: ResourceChange, added: ChangeAudience) {
        let audience = match change {
            ResourceChange::Resource(uri) => self.resources.entry(uri).or_default(),
            ResourceChange::ResourceList => &mut self.resource_list,
        };
        audience.add(added);
    }
}

/// Buffered changes per subscriber. One that falls further behind reads the journal, or treats everything as changed.
const BUFFERED_CHANGES_MAX: usize = 1_024;

/// Broadcasts announcements to subscribers in this process.
pub(crate) struct ChangeBroadcast {
    sender: broadcast::Sender<Announcement>,
    /// The last published place. Locked while publishing, so that a new subscriber starts at an exact place.
    last_place: Mutex<Option<JournalPlace>>,
}

impl Default for ChangeBroadcast {
    fn default() -> Self {
        Self { sender: broadcast::channel(BUFFERED_CHANGES_MAX).0, last_place: Mutex::default() }
    }
}

impl ChangeBroadcast {
    pub(crate) fn publish(&self, announcement: Announcement) {
        let mut last_place = self.lock_place();
        *last_place = announcement.place.or(*last_place);
        // Sending fails if there are no subscribers, which is fine.
        let _ = self.sender.send(announcement);
    }

    /// Sets the published place, unless there is one.
    pub(crate) fn start_at(&self, place: Option<JournalPlace>) {
        let mut last_place = self.lock_place();
        *last_place = last_place.or(place);
    }

    pub(crate) fn has_started(&self) -> bool {
        self.lock_place().is_some()
    }

    /// A receiver, and the place after which it starts.
    pub(crate) fn subscribe(&self) -> (Receiver<Announcement>, Option<JournalPlace>) {
        let last_place = self.lock_place();
        (self.sender.subscribe(), *last_place)
    }

    fn lock_place(&self) -> MutexGuard<'_, Option<JournalPlace>> {
        self.last_place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream of changes.
pub struct Changes(ChangeSource);

enum ChangeSource {
    /// From the broadcast of this process.
    Here(Box<BroadcastSource>),
    /// Received from another process.
    Elsewhere { news: BoxStream<'static, News>, place: Option<Arc<str>> },
}

struct BroadcastSource {
    receiver: Receiver<Announcement>,
    following: JournalFollower,
}

impl Changes {
    pub(crate) fn from_broadcast(receiver: Receiver<Announcement>, following: JournalFollower) -> Self {
        Self(ChangeSource::Here(Box::new(BroadcastSource { receiver, following })))
    }

    /// Changes from another process, starting after a place.
    pub fn from_remote(news: BoxStream<'static, News>, place: Option<Arc<str>>) -> Self {
        Self(ChangeSource::Elsewhere { news, place })
    }

    /// The place after which the next news start, if it is known.
    pub fn place(&self) -> Option<Arc<str>> {
        match &self.0 {
            ChangeSource::Here(here) => here.following.place().map(|place| place.to_string().into()),
            ChangeSource::Elsewhere { place, .. } => place.clone(),
        }
    }

    /// Waits for a change and returns it with all others that are buffered. `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<News> {
        match &mut self.0 {
            ChangeSource::Here(here) => here.next().await,
            ChangeSource::Elsewhere { news, place } => {
                let next = news.next().await?;
                if let Some(reached) = next.place() {
                    *place = Some(Arc::clone(reached));
                }
                Some(next)
            }
        }
    }
}

impl BroadcastSource {
    async fn next(&mut self) -> Option<News> {
        loop {
            // Missed changes are read from the journal first.
            if let Some(mut news) = self.following.catch_up().await {
                if news.is_everything() {
                    self.add_buffered(&mut news);
                }
                return Some(news);
            }
            match self.receiver.recv().await {
                Ok(announcement) => {
                    let mut news = News::default();
                    self.following.add_announcement(&announcement, &mut news);
                    self.add_buffered(&mut news);
                    if !news.is_empty() {
                        return Some(news);
                    }
                }
                Err(RecvError::Lagged(_)) => self.following.fall_behind(),
                Err(RecvError::Closed) => return None,
            }
        }
    }

    /// Adds buffered announcements, up to a gap.
    fn add_buffered(&mut self, news: &mut News) {
        loop {
            match self.receiver.try_recv() {
                Ok(announcement) => self.following.add_announcement(&announcement, news),
                Err(TryRecvError::Lagged(_)) => return self.following.fall_behind(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back() {
        let place = JournalPlace::new(Cursor { transaction: 7, position: 42 }, &[0xab; 32]);
        assert_eq!(place.to_string(), "7.42.abababababababab");
        assert_eq!(JournalPlace::parse(&place.to_string()), Some(place));
        for wrong in ["", "7", "7.42", "7.42.xyz", "a.42.00"] {
            assert_eq!(JournalPlace::parse(wrong), None, "{wrong}");
        }
    }
}
