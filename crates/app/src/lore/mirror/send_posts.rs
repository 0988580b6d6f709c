//! Sends changes of posts to the remote place: creates, updates and deletes them there.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::json;
use skald_domain::lore::{Entity, LoreCommand, MirroredPost, MirroredText, Post, PostChange, merge_post};

use super::apply_remote::{DELETED, DELETED_THERE, is_deleted_here};
use super::merge_versions::{SentText, assumed_post, their_post};
use super::remote::{RemoteFailure, RemoteFailureKind, RemotePost, RemotePostChange};
use super::rows::{AgreedPost, AgreedRow};
use super::sync_run::{SyncFailure, SyncRun};
use crate::lore::stream::LoreStream;
use skald_journal::CommittedState;

impl SyncRun<'_> {
    pub(super) async fn has_changed_posts(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        row: &AgreedRow,
    ) -> Result<bool, SyncFailure> {
        let known: BTreeSet<u64> = row.posts.iter().map(|post| post.post_id).collect();
        for post in entity.live_posts().filter(|post| !known.contains(&post.post_id)) {
            if self.unsent_mention(committed, post.text.as_ref()).await?.is_none() {
                return Ok(true);
            }
        }
        for agreed in &row.posts {
            if agreed.conflicts.contains_key(DELETED) {
                if is_restored_post(entity, agreed) {
                    return Ok(true);
                }
                continue;
            }
            let Some(post) = entity.post(agreed.post_id).filter(|post| !post.is_archived()) else { return Ok(true) };
            let (ours, _) = self.post_to_send(committed, post, agreed).await?;
            let theirs = assumed_post(agreed);
            if agreed.remote_id.is_none() || merge_post(&agreed.base, &ours, &theirs).there != theirs {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A post as it is sent. While its text mentions an entity without a remote id, the agreed text stands in for it.
    async fn post_to_send(
        &self,
        committed: &CommittedState<LoreStream>,
        post: &Post,
        agreed: &AgreedPost,
    ) -> Result<(MirroredPost, Option<SentText>), SyncFailure> {
        let (mut ours, sent) = self.our_post_version(committed, post, agreed).await?;
        if sent.is_some()
            && !agreed.conflicts.contains_key("entry")
            && self.unsent_mention(committed, post.text.as_ref()).await?.is_some()
        {
            ours.entry.clone_from(&agreed.base.entry);
        }
        Ok((ours, sent))
    }

    pub(super) async fn send_posts(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
        let Some(row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let committed = self.read_lore().await?;
        let entity = committed.state.entity(entity_id);
        let is_restored = |post: &AgreedPost| entity.is_some_and(|entity| is_restored_post(entity, post));
        if row.posts.iter().any(|post| post.remote_id.is_none() || is_restored(post)) {
            // The answer to its creation was lost, or it changed there while it was deleted here: read the remote version
            // before sending.
            self.check_lease()?;
            match self.remote.entity(entity_id).await {
                Ok(Some(seen)) => self.apply_remote_entity(&seen).await.map(drop)?,
                Ok(None) => return self.apply_remote_deletion(entity_id).await,
                Err(failure) if failure.kind.is_refusal() => {
                    return self.note_problem(entity_id, row, Some(failure.message)).await;
                }
                Err(failure) => return Err(failure.into()),
            }
        }
        let committed = self.read_lore().await?;
        let Some(entity) = committed.state.entity(entity_id).cloned() else { return Ok(()) };
        let Some(mut row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let known: BTreeSet<u64> = row.posts.iter().map(|post| post.post_id).collect();
        for post in entity.live_posts().filter(|post| !known.contains(&post.post_id)) {
            if self.unsent_mention(&committed, post.text.as_ref()).await?.is_some() {
                continue;
            }
            row.posts.push(AgreedPost { post_id: post.post_id, ..AgreedPost::default() });
        }
        for post_id in row.posts.iter().map(|post| post.post_id).collect::<Vec<_>>() {
            if self.send_post(&entity, &mut row, post_id).await? == EntityThere::Gone {
                break;
            }
        }
        Ok(())
    }

    async fn send_post(
        &mut self,
        entity: &Entity,
        row: &mut AgreedRow,
        post_id: u64,
    ) -> Result<EntityThere, SyncFailure> {
        let entity_id = entity.entity_id;
        let Some(place) = row.posts.iter().position(|post| post.post_id == post_id) else {
            return Ok(EntityThere::Kept);
        };
        let agreed = row.posts[place].clone();
        if agreed.conflicts.contains_key(DELETED) {
            return Ok(EntityThere::Kept);
        }
        match (agreed.remote_id, entity.post(post_id).filter(|post| !post.is_archived())) {
            (Some(remote_id), Some(post)) => self.update_post_there(entity_id, row, place, (remote_id, post)).await,
            (None, Some(post)) => self.create_post_there(entity_id, row, place, post).await,
            (Some(remote_id), None) => self.delete_post_there(entity_id, row, place, remote_id).await,
            (None, None) => {
                row.posts.remove(place);
                self.put_row(entity_id, row).await?;
                Ok(EntityThere::Kept)
            }
        }
    }

    async fn delete_post_there(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        remote_id: u64,
    ) -> Result<EntityThere, SyncFailure> {
        self.check_lease()?;
        match self.remote.delete_post(entity_id, remote_id).await {
            Ok(()) => self.report.sent += 1,
            Err(failure) if failure.kind == RemoteFailureKind::NotFound => self.confirm_campaign().await?,
            Err(failure) => return self.handle_post_refusal(entity_id, row, place, failure).await,
        }
        row.posts.remove(place);
        self.put_row(entity_id, row).await?;
        Ok(EntityThere::Kept)
    }

    async fn create_post_there(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        post: &Post,
    ) -> Result<EntityThere, SyncFailure> {
        let committed = self.read_lore().await?;
        let (post_id, entry_key) = (post.post_id, post.text.as_ref().map(|text| text.key));
        let unsent = AgreedPost { post_id, ..AgreedPost::default() };
        let (ours, sent) = self.our_post_version(&committed, post, &unsent).await?;
        // Stored before it is sent, so that a lost answer does not double it, also if it is edited here meanwhile.
        row.posts[place] = AgreedPost { base: ours.clone(), entry_key, ..row.posts[place].clone() };
        self.put_row(entity_id, row).await?;
        let draft = RemotePostChange {
            name: Some(ours.name.clone()),
            name_there: String::new(),
            html: Some(sent.map(|sent| sent.html).unwrap_or_default()),
            is_private: Some(ours.is_private),
        };
        self.check_lease()?;
        match self.remote.create_post(entity_id, draft).await {
            Ok(seen) => {
                let remote_id = Some(seen.id);
                row.posts[place] = AgreedPost { post_id, remote_id, base: ours, entry_key, ..AgreedPost::default() };
                self.store_post_answer(entity_id, row, place, &seen).await?;
                Ok(EntityThere::Kept)
            }
            Err(failure) => self.handle_post_refusal(entity_id, row, place, failure).await,
        }
    }

    async fn update_post_there(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        (remote_id, post): (u64, &Post),
    ) -> Result<EntityThere, SyncFailure> {
        let agreed = row.posts[place].clone();
        let committed = self.read_lore().await?;
        let (ours, sent) = self.post_to_send(&committed, post, &agreed).await?;
        let theirs = assumed_post(&agreed);
        let merged = merge_post(&agreed.base, &ours, &theirs);
        let change = RemotePostChange {
            name: Some(merged.there.name.clone()).filter(|name| *name != theirs.name),
            name_there: theirs.name.clone(),
            html: (merged.there.entry != theirs.entry).then(|| sent.map(|sent| sent.html).unwrap_or_default()),
            is_private: Some(merged.there.is_private).filter(|is_private| *is_private != theirs.is_private),
        };
        if change.is_empty() {
            return Ok(EntityThere::Kept);
        }
        self.check_lease()?;
        match self.remote.update_post(entity_id, remote_id, change.clone()).await {
            Ok(seen) => {
                let entry_key = match change.html {
                    Some(_) => post.text.as_ref().map(|text| text.key),
                    None => agreed.entry_key,
                };
                row.posts[place] = AgreedPost { base: merged.base, entry_key, problem: None, ..agreed };
                self.store_post_answer(entity_id, row, place, &seen).await?;
                Ok(EntityThere::Kept)
            }
            Err(failure) => self.handle_post_refusal(entity_id, row, place, failure).await,
        }
    }

    /// Handles a failed write of a post: its entity is gone there, the post is gone, or the write was refused.
    async fn handle_post_refusal(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        failure: RemoteFailure,
    ) -> Result<EntityThere, SyncFailure> {
        if !failure.kind.is_refusal() {
            return Err(failure.into());
        }
        let is_bound = row.posts[place].remote_id.is_some();
        if failure.kind == RemoteFailureKind::NotFound {
            if !self.is_there(entity_id).await? {
                self.apply_remote_deletion(entity_id).await?;
                return Ok(EntityThere::Gone);
            }
            if is_bound {
                row.posts[place].conflicts.insert(DELETED.to_owned(), json!(DELETED_THERE));
                row.posts[place].problem = None;
                self.put_row(entity_id, row).await?;
                return Ok(EntityThere::Kept);
            }
        }
        row.posts[place].problem = Some(failure.message);
        self.put_row(entity_id, row).await?;
        Ok(EntityThere::Kept)
    }

    /// Stores the merge base after a write, and takes over the text if the remote place has rewritten it.
    async fn store_post_answer(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        seen: &RemotePost,
    ) -> Result<(), SyncFailure> {
        self.report.sent += 1;
        // Writing a post also moves its entity's `updated_at`: remember that, or the next pull would fetch the entity.
        if let Some(at) = seen.updated_at.filter(|at| is_later(*at, row.updated_at.as_deref())) {
            row.updated_at = Some(at.to_string());
        }
        let agreed = row.posts[place].clone();
        let theirs = their_post(seen);
        let merged = merge_post(&agreed.base, &agreed.base, &theirs);
        let is_rewritten = !says_the_same(&merged.here, &agreed.base) && agreed.conflicts.is_empty();
        if !is_rewritten {
            if agreed.conflicts.is_empty() {
                row.posts[place].base = theirs;
            }
            return self.put_row(entity_id, row).await;
        }
        self.put_row(entity_id, row).await?;
        let committed = self.read_lore().await?;
        let Some((_, post)) = committed.state.post(agreed.post_id) else { return Ok(()) };
        if post.text.as_ref().map(|text| text.key) != agreed.entry_key {
            // Somebody changed the text here meanwhile: leave it to the next merge.
            return Ok(());
        }
        let entry = skald_markup::entry_from_html(&seen.html);
        let text =
            if entry.markdown.trim().is_empty() { None } else { Some(self.app.new_text(self.campaign_id, entry)?) };
        let (reference, side_row) = text.map(|text| (text.reference, text.row)).unzip();
        let change = PostChange {
            name: Some(theirs.name.clone()),
            is_private: Some(theirs.is_private),
            text: Some(reference.clone()),
        };
        row.posts[place].base = theirs;
        row.posts[place].entry_key = reference.map(|text| text.key);
        let mut side_rows: Vec<_> = side_row.into_iter().collect();
        side_rows.extend(self.side_rows(entity_id, row)?);
        let command = LoreCommand::UpdatePost {
            entity_id,
            post_id: agreed.post_id,
            expected_revision: Some(post.revision),
            change: Box::new(change),
        };
        if self.execute(command, side_rows).await?.is_err() {
            row.posts[place] = agreed;
        }
        Ok(())
    }
}

/// Whether a post is here again that was deleted here and changed there.
fn is_restored_post(entity: &Entity, agreed: &AgreedPost) -> bool {
    let is_here = entity.post(agreed.post_id).is_some_and(|post| !post.is_archived());
    is_here && is_deleted_here(&agreed.conflicts)
}

/// Whether an entity is there after a write of one of its posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntityThere {
    Kept,
    Gone,
}

fn is_later(at: Timestamp, known: Option<&str>) -> bool {
    known.and_then(|text| text.parse::<Timestamp>().ok()).is_none_or(|known| at > known)
}

pub(super) fn says_the_same(one: &MirroredPost, other: &MirroredPost) -> bool {
    let markdown = |entry: &Option<MirroredText>| entry.as_ref().map(|entry| entry.markdown_hash.clone());
    one.name == other.name && one.is_private == other.is_private && markdown(&one.entry) == markdown(&other.entry)
}
