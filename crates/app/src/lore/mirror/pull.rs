//! Pulls from the remote place: everything, with a check of what is gone, or what changed since the last pull.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use super::apply_remote::AppliedEntity;
use super::remote::{RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteHead, RemoteKind};
use super::sync_run::{SyncFailure, SyncProgress, SyncRun};

/// Rows of a page of the remote place, to guess what a list costs.
const ROWS_PER_PAGE: usize = 45;
/// How often a list is read again whose rows moved while it was read.
const READS_OF_A_LIST: usize = 4;
/// Changes are asked for from so much before the last pull: the remote clock counts whole seconds, and compares with
/// "later than".
const OVERLAP: SignedDuration = SignedDuration::from_secs(5);
/// A list with more pages is an error of the remote place, and reading it ends there.
const PAGES_MAX: usize = 10_000;

/// What a pull of everything has seen so far.
#[derive(Default)]
struct FullPull {
    /// The moment of the first answer by the remote clock.
    sync: Option<Timestamp>,
    seen_ids: BTreeSet<u64>,
    /// Kinds that the remote place does not have, or whose lists cannot be read.
    absent_kinds: BTreeSet<&'static str>,
    orphans: Vec<RemoteEntity>,
    /// How many entities there are, as far as the answers say.
    total: usize,
}

/// What changed there since a moment.
#[derive(Default)]
struct ChangedList {
    changed: BTreeMap<u64, RemoteHead>,
    /// The moment of the first answer by the remote clock.
    sync: Option<Timestamp>,
    /// Whether as many rows were read as the place says there are.
    is_whole: bool,
}

impl SyncRun<'_> {
    /// Lists everything there. What is agreed on and not in a list is asked for by itself before it counts as gone: a row
    /// may move to a page that was read already.
    pub(super) async fn pull_all(&mut self, progress: &mut SyncProgress<'_>) -> Result<(), SyncFailure> {
        self.check_lease()?;
        self.link.asked_at = Some(self.app.clock.now().to_string());
        let kinds = self.remote.kinds();
        let mut pull = FullPull { total: self.remote.count_entities().await?, ..FullPull::default() };
        for kind in kinds.iter().filter(|kind| kind.entity_type.is_some()) {
            self.pull_kind(kind, &mut pull, progress).await?;
        }
        // Most campaigns have no entities of the kinds that are only read: then their lists are not asked for.
        for kind in kinds.iter().filter(|kind| kind.entity_type.is_none()) {
            if pull.seen_ids.len() < pull.total {
                self.pull_kind(kind, &mut pull, progress).await?;
            }
        }
        if pull.absent_kinds.len() == kinds.len() && self.unread.is_none() {
            return Err(RemoteFailure::new(RemoteFailureKind::NotFound, "the campaign has no lists of entities").into());
        }
        self.apply_orphans(pull.orphans).await?;
        for known in self.app.agreed_ids(self.campaign_id).await? {
            if !pull.seen_ids.contains(&known.entity_id) && !pull.absent_kinds.contains(known.kind.as_str()) {
                self.fetch(known.entity_id).await?;
            }
        }
        let now = self.app.clock.now();
        self.link.is_pulled = true;
        // A single entity that cannot be read is asked for by itself, and is no reason to list everything again.
        if !self.has_unread_list {
            self.link.skipped.retain(|entity_id, _| pull.seen_ids.contains(entity_id));
            self.link.swept_at = Some(now.to_string());
        }
        self.note_pull(pull.sync, now);
        Ok(())
    }

    /// Reads the list of a kind until it has as many rows as it says.
    async fn pull_kind(
        &mut self,
        kind: &'static RemoteKind,
        pull: &mut FullPull,
        progress: &mut SyncProgress<'_>,
    ) -> Result<(), SyncFailure> {
        let mut listed: BTreeSet<u64> = BTreeSet::new();
        for _ in 0..READS_OF_A_LIST {
            let (mut total, mut read_ids) = (0, BTreeSet::new());
            let mut hidden = 0;
            for page_number in 1..=PAGES_MAX {
                self.check_lease()?;
                let listed_page = match self.remote.list_kind(kind, page_number).await {
                    // What a list fails about is not gone. A first pull has to be whole.
                    Err(failure) if self.link.is_pulled && self.is_failing_alone(&failure).await? => {
                        let message = format!("the list of each {}: {}", kind.word, failure.message);
                        self.unread.get_or_insert(RemoteFailure::new(failure.kind, message));
                        self.has_unread_list = true;
                        pull.absent_kinds.insert(kind.word);
                        return Ok(());
                    }
                    listed_page => listed_page?,
                };
                let Some(page) = listed_page else {
                    // Without the campaign every list is answered like that of a kind that there is not.
                    self.confirm_campaign().await?;
                    pull.absent_kinds.insert(kind.word);
                    return Ok(());
                };
                pull.sync = pull.sync.or(page.sync);
                // If rows went away between two pages, the last one counts fewer than were to be read.
                total = page.total.max(total);
                hidden += page.hidden;
                for entity in &page.rows {
                    read_ids.insert(entity.entity_id);
                    if listed.insert(entity.entity_id) {
                        pull.seen_ids.insert(entity.entity_id);
                        self.apply_listed(entity, &mut pull.orphans).await?;
                    }
                }
                pull.total = pull.total.max(pull.seen_ids.len());
                progress(pull.seen_ids.len(), pull.total);
                self.send_waiting_known().await?;
                if page.is_last {
                    break;
                }
            }
            if read_ids.len() + hidden >= total {
                break;
            }
        }
        Ok(())
    }

    /// Asks what changed since the last pull, and fetches that.
    pub(super) async fn pull_changes(&mut self) -> Result<(), SyncFailure> {
        let Some(last) = self.link.remote_sync.as_deref().and_then(|text| text.parse::<Timestamp>().ok()) else {
            return self.pull_all(&mut |_, _| {}).await;
        };
        self.link.asked_at = Some(self.app.clock.now().to_string());
        let since = last.checked_sub(OVERLAP).unwrap_or(last);
        let ChangedList { changed, sync, is_whole } = self.list_changed(since).await?;
        let wanted = self.changed_heads(changed.into_values().collect()).await?;
        let mut by_kind: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for head in wanted {
            if let Some(kind) = head.kind {
                by_kind.entry(kind.word).or_default().push(head.entity_id);
            }
        }
        let mut orphans = Vec::new();
        let is_worth_a_list = |entity_ids: &Vec<u64>| entity_ids.len() > 2;
        let agreed = if by_kind.values().any(is_worth_a_list) {
            self.app.agreed_ids(self.campaign_id).await?
        } else {
            Vec::new()
        };
        for (word, entity_ids) in by_kind {
            let pages = agreed.iter().filter(|known| known.kind == word).count() / ROWS_PER_PAGE + 1;
            let kind = self.remote.kinds().iter().find(|kind| kind.word == word);
            match kind.filter(|_| is_worth_a_list(&entity_ids) && entity_ids.len() > pages) {
                Some(kind) => self.fetch_kind(kind, entity_ids, &mut orphans).await?,
                None => {
                    for entity_id in entity_ids {
                        self.fetch_listed(entity_id, &mut orphans).await?;
                    }
                }
            }
        }
        self.apply_orphans(orphans).await?;
        if is_whole {
            self.note_pull(sync, self.app.clock.now());
        }
        Ok(())
    }

    /// Reads the list of changes until it has as many rows as it says. If rows move all the time, the next pull asks for the
    /// same changes again.
    async fn list_changed(&mut self, since: Timestamp) -> Result<ChangedList, SyncFailure> {
        let mut list = ChangedList::default();
        for _ in 0..READS_OF_A_LIST {
            let (mut total, mut read_ids) = (0, BTreeSet::new());
            let mut hidden = 0;
            for page_number in 1..=PAGES_MAX {
                self.check_lease()?;
                let page = self.remote.list_changed(since, page_number).await?;
                list.sync = list.sync.or(page.sync);
                total = page.total.max(total);
                hidden += page.hidden;
                read_ids.extend(page.rows.iter().map(|head| head.entity_id));
                list.changed.extend(page.rows.into_iter().map(|head| (head.entity_id, head)));
                if page.is_last {
                    break;
                }
            }
            list.is_whole = read_ids.len() + hidden >= total;
            if list.is_whole {
                break;
            }
        }
        Ok(list)
    }

    /// Those that are not as they were when they were seen last.
    async fn changed_heads(&self, heads: Vec<RemoteHead>) -> Result<Vec<RemoteHead>, SyncFailure> {
        let ids: Vec<u64> = heads.iter().map(|head| head.entity_id).collect();
        let rows = self.app.agreed_rows(self.campaign_id, &ids).await?;
        let is_known = |head: &RemoteHead| {
            let known = rows.get(&head.entity_id).and_then(|row| row.updated_at.clone());
            known.is_some() && known == head.updated_at.map(|at| at.to_string())
        };
        Ok(heads.into_iter().filter(|head| !is_known(head)).collect())
    }

    /// Reads the list of a kind, which costs less than its entities one by one.
    async fn fetch_kind(
        &mut self,
        kind: &'static RemoteKind,
        entity_ids: Vec<u64>,
        orphans: &mut Vec<RemoteEntity>,
    ) -> Result<(), SyncFailure> {
        let mut wanted: BTreeSet<u64> = entity_ids.into_iter().collect();
        for page_number in 1..=PAGES_MAX {
            self.check_lease()?;
            let Some(page) = self.remote.list_kind(kind, page_number).await? else { break };
            for entity in page.rows.iter().filter(|entity| wanted.remove(&entity.entity_id)) {
                self.apply_listed(entity, orphans).await?;
            }
            if page.is_last || wanted.is_empty() {
                break;
            }
        }
        for entity_id in wanted {
            self.fetch_listed(entity_id, orphans).await?;
        }
        Ok(())
    }

    async fn apply_listed(
        &mut self,
        entity: &RemoteEntity,
        orphans: &mut Vec<RemoteEntity>,
    ) -> Result<(), SyncFailure> {
        if self.apply_remote_entity(entity).await? == AppliedEntity::ParentMissing {
            orphans.push(entity.clone());
        }
        Ok(())
    }

    /// Entities whose parents came after them.
    async fn apply_orphans(&mut self, orphans: Vec<RemoteEntity>) -> Result<(), SyncFailure> {
        let pulled = self.report.pulled;
        for entity in orphans {
            self.apply_remote_entity(&entity).await?;
        }
        // They were counted when they were seen.
        self.report.pulled = pulled;
        Ok(())
    }

    async fn fetch_listed(&mut self, entity_id: u64, orphans: &mut Vec<RemoteEntity>) -> Result<(), SyncFailure> {
        if self.unreadable.contains(&entity_id) {
            return Ok(());
        }
        self.check_lease()?;
        match self.remote.entity(entity_id).await {
            Ok(Some(entity)) => self.apply_listed(&entity, orphans).await,
            Ok(None) => self.apply_remote_deletion(entity_id).await,
            // Hidden from the token's user now. It stays here, since it may come back.
            Err(RemoteFailure { kind: RemoteFailureKind::Forbidden, .. }) => Ok(()),
            Err(failure) if failure.kind == RemoteFailureKind::BrokenEntity => {
                self.unread.get_or_insert(failure);
                Ok(())
            }
            Err(failure) if self.is_failing_alone(&failure).await? => {
                // Neither asked for nor sent again in this run: each attempt costs all repetitions.
                self.unreadable.insert(entity_id);
                self.failing.insert(entity_id);
                let message = format!("entity {entity_id}: {}", failure.message);
                self.unread.get_or_insert(RemoteFailure::new(failure.kind, message));
                Ok(())
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// Fetches an entity that a list does not have, or that is known to have changed.
    pub(super) async fn fetch(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
        let mut orphans = Vec::new();
        self.fetch_listed(entity_id, &mut orphans).await
    }

    fn note_pull(&mut self, sync: Option<Timestamp>, now: Timestamp) {
        if self.unread.is_some() {
            // The next pull asks for the same changes again.
            return;
        }
        self.link.remote_sync = Some(sync.unwrap_or(now).to_string());
        self.link.synced_at = Some(now.to_string());
    }
}
