//! Applies remote posts to the lore here: creates, merges and archives them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skald_domain::lore::{
    CanonField, Entity, LoreCommand, LoreRefusalKind, MirroredPost, NewPost, Post, PostChange, VersionMerge, fold_name,
    merge_post,
};

use super::apply_remote::{
    DELETED, DELETED_HERE, DELETED_THERE, Step, copy_post_field, is_deleted_here, post_with_nothing_agreed,
};
use super::merge_versions::their_post;
use super::remote::{RemoteEntity, RemotePost};
use super::rows::{AgreedPost, AgreedRow};
use super::send_posts::says_the_same;
use super::sync_run::{SyncFailure, SyncRun};
use skald_journal::SideRow;

impl SyncRun<'_> {
    /// Applies the posts of a remote entity that exists here. `row` is its stored row.
    pub(super) async fn apply_remote_posts(
        &self,
        seen: &RemoteEntity,
        mut row: AgreedRow,
    ) -> Result<Step<()>, SyncFailure> {
        let Some(theirs) = &seen.posts else { return Ok(Step::Done(())) };
        let stored = row.clone();
        row.posts_problem = None;
        for agreed in row.posts.clone() {
            let Some(remote_id) = agreed.remote_id else { continue };
            let theirs = theirs.iter().find(|post| post.id == remote_id);
            if let Step::Again = self.apply_remote_post(seen.entity_id, &mut row, agreed, theirs).await? {
                return Ok(Step::Again);
            }
        }
        let known: BTreeSet<u64> = row.posts.iter().filter_map(|post| post.remote_id).collect();
        for post in theirs.iter().filter(|post| !known.contains(&post.id)) {
            if let Step::Again = self.apply_new_remote_post(seen.entity_id, &mut row, post).await? {
                return Ok(Step::Again);
            }
        }
        if row != stored {
            self.put_row(seen.entity_id, &row).await?;
        }
        Ok(Step::Done(()))
    }

    async fn apply_remote_post(
        &self,
        entity_id: u64,
        row: &mut AgreedRow,
        agreed: AgreedPost,
        theirs: Option<&RemotePost>,
    ) -> Result<Step<()>, SyncFailure> {
        let committed = self.read_lore().await?;
        let Some(entity) = committed.state.entity(entity_id).cloned() else { return Ok(Step::Again) };
        let post_id = agreed.post_id;
        let local = entity.post(post_id).filter(|post| !post.is_archived());
        let Some(place) = row.posts.iter().position(|post| post.post_id == post_id) else { return Ok(Step::Again) };
        // Restored here after it was deleted here and changed there.
        let is_restored = local.is_some() && is_deleted_here(&agreed.conflicts);
        let agreed = if is_restored { post_with_nothing_agreed(&agreed) } else { agreed };
        let (Some(theirs), Some(post)) = (theirs, local) else {
            return match (theirs, local) {
                (Some(theirs), _) => {
                    // Deleted here: the next push deletes it there, unless it changed there since.
                    let version = their_post(theirs);
                    if version != agreed.base {
                        let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_HERE))]);
                        row.posts[place] = AgreedPost { base: version, conflicts, problem: None, ..agreed };
                    }
                    Ok(Step::Done(()))
                }
                (None, Some(post)) if self.our_post_version(&committed, post, &agreed).await?.0 != agreed.base => {
                    let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_THERE))]);
                    row.posts[place] = AgreedPost { conflicts, problem: None, ..agreed };
                    Ok(Step::Done(()))
                }
                (None, Some(post)) => {
                    let expected_revision = Some(post.revision);
                    let command = LoreCommand::ArchivePost { entity_id, post_id, expected_revision };
                    if are_posts_held(&entity) {
                        if !agreed.conflicts.contains_key(DELETED) {
                            let _ = self.execute(command, Vec::new()).await?;
                        }
                        let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_THERE))]);
                        row.posts[place] = AgreedPost { conflicts, problem: None, ..agreed };
                        return Ok(Step::Done(()));
                    }
                    let before = row.posts.clone();
                    row.posts.remove(place);
                    self.execute_post_command(entity_id, command, Vec::new(), (row, before)).await
                }
                (None, None) => {
                    row.posts.remove(place);
                    Ok(Step::Done(()))
                }
            };
        };
        let (ours, _) = self.our_post_version(&committed, post, &agreed).await?;
        let version = their_post(theirs);
        let mut merged = merge_post(&agreed.base, &ours, &version);
        let value = |field: &str| match field {
            "name" => json!(version.name),
            "entry" => json!(theirs.html),
            _ => json!(version.is_private),
        };
        if are_posts_held(&entity) {
            let noted = |field: &str| agreed.conflicts.get(field) == Some(&value(field));
            self.hold_post_fields((entity_id, post), &ours, theirs, &mut merged, noted).await?;
            for field in merged.conflicts.clone() {
                copy_post_field(field, &version, &mut merged.there);
                copy_post_field(field, &agreed.base, &mut merged.base);
            }
        }
        let mut side_rows = Vec::new();
        let change = PostChange {
            name: Some(merged.here.name.clone()).filter(|name| *name != ours.name),
            is_private: Some(merged.here.is_private).filter(|is_private| *is_private != ours.is_private),
            text: if merged.here.entry == ours.entry {
                None
            } else {
                Some(self.seen_text(&theirs.html, &mut side_rows)?)
            },
        };
        let mut next = AgreedPost { base: version.clone(), ..agreed.clone() };
        for field in &merged.conflicts {
            copy_post_field(field, &agreed.base, &mut next.base);
        }
        if let Some(text) = &change.text {
            next.entry_key = text.as_ref().map(|text| text.key);
        } else if merged.there.entry == version.entry && !merged.conflicts.contains(&"entry") {
            next.entry_key = post.text.as_ref().map(|text| text.key);
        }
        next.conflicts = merged.conflicts.iter().map(|field| ((*field).to_owned(), value(field))).collect();
        if change == PostChange::default() {
            row.posts[place] = next;
            return Ok(Step::Done(()));
        }
        let mut before = row.posts.clone();
        before[place] = if_refused(&next, &agreed, &change, value);
        row.posts[place] = next;
        let command = LoreCommand::UpdatePost {
            entity_id,
            post_id,
            expected_revision: Some(post.revision),
            change: Box::new(change),
        };
        self.execute_post_command(entity_id, command, side_rows, (row, before)).await
    }

    /// Proposes the remote changes of an authoritative post, unless the same were proposed before. The post here stays as it
    /// is: its name and text become conflicts.
    async fn hold_post_fields(
        &self,
        (entity_id, post): (u64, &Post),
        ours: &MirroredPost,
        theirs: &RemotePost,
        merged: &mut VersionMerge<MirroredPost>,
        is_noted: impl Fn(&str) -> bool,
    ) -> Result<(), SyncFailure> {
        let is_different = [merged.here.name != ours.name, merged.here.entry != ours.entry];
        let fields = ["name", "entry"].into_iter().zip(is_different).filter(|(_, is_different)| *is_different);
        let fields: Vec<&'static str> = fields.map(|(field, _)| field).collect();
        if !fields.iter().all(|field| is_noted(field)) {
            let mut side_rows = Vec::new();
            let text = if is_different[1] { Some(self.seen_text(&theirs.html, &mut side_rows)?) } else { None };
            let name = Some(merged.here.name.clone()).filter(|_| is_different[0]);
            let change = Box::new(PostChange { name, is_private: None, text });
            let (post_id, expected_revision) = (post.post_id, Some(post.revision));
            let command = LoreCommand::UpdatePost { entity_id, post_id, expected_revision, change };
            let _ = self.execute(command, side_rows).await?;
        }
        for field in fields {
            copy_post_field(field, ours, &mut merged.here);
            merged.conflicts.push(field);
        }
        Ok(())
    }

    /// Handles a remote post without a row: either our creation of it was never answered, or it is new here.
    async fn apply_new_remote_post(
        &self,
        entity_id: u64,
        row: &mut AgreedRow,
        theirs: &RemotePost,
    ) -> Result<Step<()>, SyncFailure> {
        let committed = self.read_lore().await?;
        let Some(entity) = committed.state.entity(entity_id).cloned() else { return Ok(Step::Again) };
        let version = their_post(theirs);
        for place in 0..row.posts.len() {
            let agreed = row.posts[place].clone();
            let Some(post) = entity.post(agreed.post_id).filter(|_| agreed.remote_id.is_none()) else { continue };
            if says_the_same(&agreed.base, &version) {
                // As it was sent. If it was edited here since, that is sent next.
                row.posts[place] = AgreedPost { remote_id: Some(theirs.id), base: version, problem: None, ..agreed };
                return Ok(Step::Done(()));
            }
            let unsent = AgreedPost { post_id: agreed.post_id, ..AgreedPost::default() };
            let (ours, _) = self.our_post_version(&committed, post, &unsent).await?;
            let merged = merge_post(&MirroredPost::default(), &ours, &version);
            if merged.conflicts.is_empty() && fold_name(&ours.name) == fold_name(&version.name) {
                let entry_key = post.text.as_ref().map(|text| text.key);
                row.posts[place] = AgreedPost { remote_id: Some(theirs.id), base: version, entry_key, ..agreed };
                return Ok(Step::Done(()));
            }
        }
        // The same post was written on both sides: bind the two instead of creating a second one.
        let known: BTreeSet<u64> = row.posts.iter().map(|agreed| agreed.post_id).collect();
        for post in entity.live_posts().filter(|post| !known.contains(&post.post_id)) {
            let agreed = AgreedPost { post_id: post.post_id, ..AgreedPost::default() };
            let (ours, _) = self.our_post_version(&committed, post, &agreed).await?;
            let is_same = merge_post(&MirroredPost::default(), &ours, &version).conflicts.is_empty();
            let is_same = is_same && ours.entry.is_some() == version.entry.is_some();
            if is_same && ours.name == version.name && ours.is_private == version.is_private {
                let entry_key = post.text.as_ref().map(|text| text.key);
                row.posts.push(AgreedPost { remote_id: Some(theirs.id), base: version, entry_key, ..agreed });
                return Ok(Step::Done(()));
            }
        }
        let mut side_rows = Vec::new();
        let text = self.seen_text(&theirs.html, &mut side_rows)?;
        let post_id = match committed.state.post(theirs.id) {
            None => theirs.id,
            Some(_) => committed.state.next_post_id(),
        };
        let new = NewPost {
            entity_id,
            name: version.name.clone(),
            is_private: version.is_private,
            text: text.clone(),
            post_id: Some(post_id),
        };
        let before = row.posts.clone();
        row.posts.push(AgreedPost {
            post_id,
            remote_id: Some(theirs.id),
            base: version,
            entry_key: text.map(|text| text.key),
            ..AgreedPost::default()
        });
        self.execute_post_command(entity_id, LoreCommand::CreatePost(Box::new(new)), side_rows, (row, before)).await
    }

    /// Decides a command with the row that it leads to. If the rules of lore refuse it, the posts of the row are as they
    /// were before: a post that is not here must not look like one that was deleted here.
    async fn execute_post_command(
        &self,
        entity_id: u64,
        command: LoreCommand,
        mut side_rows: Vec<SideRow>,
        (row, before): (&mut AgreedRow, Vec<AgreedPost>),
    ) -> Result<Step<()>, SyncFailure> {
        side_rows.extend(self.side_rows(entity_id, row)?);
        match self.execute(command, side_rows).await? {
            Ok(_) => Ok(Step::Done(())),
            Err(refusal) => match refusal.kind() {
                LoreRefusalKind::Unchanged => Ok(Step::Done(())),
                LoreRefusalKind::TooLarge | LoreRefusalKind::Invalid => {
                    row.posts = before;
                    row.posts_problem = Some(format!("a post cannot be taken over: {refusal}"));
                    Ok(Step::Done(()))
                }
                LoreRefusalKind::NotFound
                | LoreRefusalKind::RevisionConflict
                | LoreRefusalKind::Rejected
                | LoreRefusalKind::Held
                | LoreRefusalKind::Forbidden => Ok(Step::Again),
            },
        }
    }
}

/// What is agreed on about a post if the rules of lore refuse its change here: what differs is a conflict, so that each
/// side keeps its own.
fn if_refused(
    next: &AgreedPost,
    agreed: &AgreedPost,
    change: &PostChange,
    value_there: impl Fn(&str) -> Value,
) -> AgreedPost {
    let mut refused = next.clone();
    let changed = [change.name.is_some(), change.text.is_some(), change.is_private.is_some()];
    for (field, _) in ["name", "entry", "is_private"].into_iter().zip(changed).filter(|(_, changed)| *changed) {
        copy_post_field(field, &agreed.base, &mut refused.base);
        refused.conflicts.insert(field.to_owned(), value_there(field));
    }
    if change.text.is_some() {
        refused.entry_key = agreed.entry_key;
    }
    refused
}

fn are_posts_held(entity: &Entity) -> bool {
    entity.canon_mark().fields.contains(CanonField::Posts)
}
