//! Sends what changed here to the remote place: creates, updates and deletes entities, posts and aliases there.
//!
//! What is there is not read before it is written. A pull comes before every push, and only fields that changed here are
//! sent.

use std::collections::BTreeSet;

use serde_json::json;
use skald_domain::lore::{
    Entity, EntityChange, LoreCommand, MirroredFields, MirroredPost, MirroredText, PostChange, fold_name, merge_fields,
    merge_post,
};

use super::remote::{
    RemoteChange, RemoteDraft, RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteKind, RemotePostChange,
    RemoteTarget,
};
use super::rows::{AgreedPost, AgreedRow, CreatedRow};
use super::settle_here::{DELETED, DELETED_THERE};
use super::sync_run::{SyncFailure, SyncRun, is_same_version};
use super::versions::{
    SentText, assumed_fields, assumed_post, current_mentions, kind_of_type, our_fields, sent_subtype, sent_text,
    their_fields, their_post,
};
use crate::lore::stream::LoreStream;
use skald_journal::CommittedState;

/// Entities of one kind that are created with one request.
pub const CREATED_AT_ONCE: usize = 20;

/// Entities to create, in the order in which they were written here.
pub(super) struct CreationGroup {
    pub kind: &'static RemoteKind,
    pub entity_ids: Vec<u64>,
}

impl SyncRun<'_> {
    /// Sends everything that changed in these entities, in this order. Those that are not there yet are created first, so
    /// that texts can mention them.
    pub(super) async fn settle_all_there(&mut self, entity_ids: &[u64]) -> Result<(), SyncFailure> {
        for group in self.creation_groups(entity_ids).await? {
            for part in group.entity_ids.chunks(CREATED_AT_ONCE) {
                self.create_there(group.kind, part).await?;
            }
        }
        for entity_id in entity_ids {
            self.settle_there(*entity_id).await?;
        }
        Ok(())
    }

    async fn creation_groups(&self, entity_ids: &[u64]) -> Result<Vec<CreationGroup>, SyncFailure> {
        let committed = self.read_lore().await?;
        let rows = self.app.agreed_rows(self.campaign_id, entity_ids).await?;
        let mut groups: Vec<CreationGroup> = Vec::new();
        for entity_id in entity_ids.iter().filter(|entity_id| !rows.contains_key(entity_id)) {
            let entity = committed.state.entity(*entity_id).filter(|entity| !entity.is_archived());
            let Some(entity) = entity.filter(|entity| entity.entity_id == *entity_id) else { continue };
            let Some(kind) = kind_of_type(self.remote.kinds(), entity.entity_type) else { continue };
            match groups.iter_mut().find(|group| group.kind == kind) {
                Some(group) => group.entity_ids.push(*entity_id),
                None => groups.push(CreationGroup { kind, entity_ids: vec![*entity_id] }),
            }
        }
        Ok(groups)
    }

    /// Creates entities there with one request. That it is sent is stored before it is sent: if the answer is lost, the
    /// next pull recognises them.
    async fn create_there(&mut self, kind: &'static RemoteKind, entity_ids: &[u64]) -> Result<(), SyncFailure> {
        let mut drafts = Vec::with_capacity(entity_ids.len());
        for entity_id in entity_ids {
            let mut committed = self.read_lore().await?;
            if let Some(entity) = committed.state.entity(*entity_id)
                && self.rewrite_mentions(&committed, entity).await?
            {
                committed = self.read_lore().await?;
            }
            let Some(entity) = committed.state.entity(*entity_id) else { continue };
            let draft = self.draft(&committed, entity, kind).await?;
            let row = CreatedRow { kind: kind.word.to_owned(), name: entity.name.to_string(), problem: None };
            self.app.put_created_row(self.campaign_id, *entity_id, &row).await?;
            drafts.push((*entity_id, draft));
        }
        self.check_lease()?;
        let sent = drafts.iter().map(|(_, draft)| draft.draft.clone()).collect();
        match self.remote.create(kind, sent).await {
            Ok(created) if created.len() == drafts.len() => {
                for ((entity_id, draft), seen) in drafts.into_iter().zip(created) {
                    self.bind_created(entity_id, draft, &seen).await?;
                }
                Ok(())
            }
            Ok(created) => {
                let message = format!("{} entities were created, {} were answered", drafts.len(), created.len());
                Err(RemoteFailure::new(RemoteFailureKind::BrokenAnswer, message).into())
            }
            Err(failure) if failure.kind.is_refusal() && drafts.len() > 1 => {
                // One of them is refused: alone it does not keep the others back.
                for (entity_id, _) in drafts {
                    Box::pin(self.create_there(kind, &[entity_id])).await?;
                }
                Ok(())
            }
            Err(failure)
                if failure.kind == RemoteFailureKind::Invalid && drafts.iter().any(|(_, sent)| sent.is_reducible()) =>
            {
                // It may be the parent or the date. They are sent by themselves when the entity is there.
                for (_, sent) in &mut drafts {
                    sent.leave_out_links();
                }
                let sent = drafts.iter().map(|(_, draft)| draft.draft.clone()).collect();
                self.check_lease()?;
                match self.remote.create(kind, sent).await {
                    Ok(created) if created.len() == drafts.len() => {
                        for ((entity_id, draft), seen) in drafts.into_iter().zip(created) {
                            self.bind_created(entity_id, draft, &seen).await?;
                        }
                        Ok(())
                    }
                    Ok(_) => Err(failure.into()),
                    Err(failure) if failure.kind.is_refusal() => {
                        self.note_refused_creation(kind, drafts, &failure).await
                    }
                    Err(failure) => Err(failure.into()),
                }
            }
            Err(failure) if failure.kind.is_refusal() => self.note_refused_creation(kind, drafts, &failure).await,
            Err(failure) => Err(failure.into()),
        }
    }

    async fn note_refused_creation(
        &self,
        kind: &RemoteKind,
        drafts: Vec<(u64, SentDraft)>,
        failure: &RemoteFailure,
    ) -> Result<(), SyncFailure> {
        for (entity_id, draft) in drafts {
            let (kind, name) = (kind.word.to_owned(), draft.draft.name);
            let row = CreatedRow { kind, name, problem: Some(failure.message.clone()) };
            self.app.put_created_row(self.campaign_id, entity_id, &row).await?;
        }
        Ok(())
    }

    async fn draft(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        kind: &'static RemoteKind,
    ) -> Result<SentDraft, SyncFailure> {
        let state = &committed.state;
        let mentioned: Vec<u64> = entity.text.iter().flat_map(|text| text.mentions.iter().copied()).collect();
        let linked: Vec<u64> = mentioned.iter().copied().chain(entity.details().parent).collect();
        let there = self.app.agreed_rows(self.campaign_id, &linked).await?;
        // What mentions an entity that is not there yet is sent when that one has its id.
        let is_missing =
            |id: &u64| state.entity(*id).is_some_and(|entity| !entity.is_archived()) && !there.contains_key(id);
        let entry = if mentioned.iter().any(is_missing) { None } else { self.load_entry(entity.text.as_ref()).await? };
        let text = entry.as_ref().map(|entry| sent_text(entry, state));
        let row = AgreedRow::default();
        let version = text.as_ref().map(|text| text.version.clone());
        let mut fields = our_fields(state, entity, kind, &row, version);
        fields.parent = fields.parent.filter(|parent| there.contains_key(parent));
        fields.aliases = Vec::new();
        let draft = RemoteDraft {
            name: fields.name.clone(),
            subtype: sent_subtype(kind, entity.entity_type, &fields.subtype),
            html: text.map(|text| text.html).unwrap_or_default(),
            tags: fields.tags.clone(),
            is_private: fields.is_private,
            parent: fields.parent,
            date: fields.date.clone(),
        };
        let entry_key = entity.text.as_ref().filter(|_| fields.entry.is_some()).map(|text| text.key);
        Ok(SentDraft { draft, fields, entry_key })
    }

    /// Stores that an entity is there now, under the ids that it has there.
    async fn bind_created(&mut self, entity_id: u64, sent: SentDraft, seen: &RemoteEntity) -> Result<(), SyncFailure> {
        let mut row = AgreedRow {
            kind: seen.kind.word.to_owned(),
            id: seen.id,
            base: sent.fields,
            entry_key: sent.entry_key,
            image: seen.image.clone(),
            updated_at: seen.updated_at.map(|at| at.to_string()),
            ..AgreedRow::default()
        };
        if let Some(aliases) = &seen.aliases {
            row.alias_ids = aliases.iter().map(|alias| (alias.name.clone(), alias.id)).collect();
        }
        self.renumber(entity_id, seen, &row).await?;
        self.report.sent += 1;
        self.settle_answer(seen).await
    }

    /// Takes over what the remote place made of what was sent, if it is something else.
    async fn settle_answer(&mut self, seen: &RemoteEntity) -> Result<(), SyncFailure> {
        let committed = self.read_lore().await?;
        let (Some(row), Some(entity)) =
            (self.agreed_row(seen.entity_id).await?, committed.state.entity(seen.entity_id))
        else {
            return Ok(());
        };
        let theirs = their_fields(seen, entity.entity_type, &row);
        if is_same_version(&theirs, &assumed_fields(&row)) {
            return Ok(());
        }
        let pulled = self.report.pulled;
        self.settle_here(seen).await?;
        self.report.pulled = pulled;
        Ok(())
    }

    /// Sends what changed in one entity that is there, or deletes it there.
    async fn settle_there(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
        let committed = self.read_lore().await?;
        let entity_id = committed.state.current_id(entity_id);
        let Some(row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        if row.conflicts.contains_key(DELETED) {
            return Ok(());
        }
        let Some(kind) = self.kind_of_row(&row) else { return Ok(()) };
        let target = RemoteTarget { kind, id: row.id, entity_id };
        let Some(entity) = committed.state.entity(entity_id).filter(|entity| !entity.is_archived()).cloned() else {
            return self.delete_there(target, row).await;
        };
        let (mut ours, sent) = self.our_version(&committed, &entity, kind, &row).await?;
        if let Some(parent) = ours.parent.filter(|parent| Some(*parent) != row.base.parent)
            && self.agreed_row(parent).await?.is_none()
        {
            // A parent that is not there cannot be named there.
            ours.parent = row.base.parent;
        }
        let theirs = assumed_fields(&row);
        let merged = merge_fields(&row.base, &ours, &theirs);
        let is_changed =
            !is_same_version(&merged.there, &theirs) || self.has_changed_posts(&committed, &entity, &row).await?;
        if !is_changed {
            return self.note_problem(entity_id, row, None).await;
        }
        if kind.entity_type.is_none() {
            let problem = format!("a {} is only read from there: what is changed here stays here", kind.word);
            return self.note_problem(entity_id, row, Some(problem)).await;
        }
        if self.rewrite_mentions(&committed, &entity).await? {
            return Box::pin(self.settle_there(entity_id)).await;
        }
        let change = remote_change(&theirs, &merged.there, sent.as_ref(), kind, &entity);
        if change != RemoteChange::default() {
            let SentChange { answer, left_out } = self.send_change(target, change).await?;
            if let Some(seen) = self.settle_refusal(entity_id, &row, answer).await? {
                let mut next = AgreedRow { problem: left_out, ..row.clone() };
                // Aliases are sent by themselves.
                next.base = MirroredFields { aliases: row.base.aliases.clone(), ..merged.base.clone() };
                if next.problem.is_some() {
                    (next.base.parent, next.base.date) = (row.base.parent, row.base.date.clone());
                }
                if merged.there.entry != theirs.entry {
                    next.entry_key = entity.text.as_ref().map(|text| text.key);
                }
                next.updated_at = seen.updated_at.map(|at| at.to_string());
                self.put_row(entity_id, &next).await?;
                self.report.sent += 1;
                // An answer without lists says nothing about them.
                self.settle_answer(&RemoteEntity { aliases: None, posts: None, ..seen }).await?;
            } else if self.agreed_row(entity_id).await?.is_none_or(|row| row.conflicts.contains_key(DELETED)) {
                return Ok(());
            }
        }
        self.send_aliases(entity_id, &merged.there.aliases).await?;
        self.send_posts(entity_id).await
    }

    /// Sends a change. A parent or a date that is refused does not keep the other fields back.
    async fn send_change(&self, target: RemoteTarget, change: RemoteChange) -> Result<SentChange, SyncFailure> {
        self.check_lease()?;
        let answer = self.remote.update(target, change.clone()).await;
        let rest = RemoteChange { parent: None, date: None, ..change.clone() };
        match answer {
            Err(failure)
                if failure.kind == RemoteFailureKind::Invalid && rest != change && rest != RemoteChange::default() =>
            {
                self.check_lease()?;
                let answer = self.remote.update(target, rest).await;
                Ok(SentChange { answer, left_out: Some(failure.message) })
            }
            answer => Ok(SentChange { answer, left_out: None }),
        }
    }

    /// Writes mentions of entities that were renumbered under their ids of today, in the text of an entity and in its
    /// posts. Whether there were any.
    async fn rewrite_mentions(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
    ) -> Result<bool, SyncFailure> {
        let entity_id = entity.entity_id;
        let posts = entity.live_posts().map(|post| (Some(post), post.text.as_ref()));
        let mut is_rewritten = false;
        for (post, text) in std::iter::once((None, entity.text.as_ref())).chain(posts) {
            let Some(entry) = self.load_entry(text.filter(|text| !text.mentions.is_empty())).await? else { continue };
            let current = current_mentions(&entry, &committed.state);
            if current == entry {
                continue;
            }
            let text = self.app.new_text(self.campaign_id, current)?;
            let reference = Some(Some(text.reference));
            let command = match post {
                None => LoreCommand::UpdateEntity {
                    entity_id,
                    expected_revision: Some(entity.revision),
                    change: Box::new(EntityChange { text: reference, ..EntityChange::default() }),
                },
                Some(post) => LoreCommand::UpdatePost {
                    entity_id,
                    post_id: post.post_id,
                    expected_revision: Some(post.revision),
                    change: Box::new(PostChange { text: reference, ..PostChange::default() }),
                },
            };
            // If somebody wrote meanwhile, the next look finds what they wrote.
            let command = LoreCommand::SameValue(Box::new(command));
            is_rewritten |= self.execute(command, vec![text.row]).await?.is_ok();
        }
        Ok(is_rewritten)
    }

    /// The answer to a write, or `None` if it was refused: then the reason is noted, or the entity is gone there.
    async fn settle_refusal<T>(
        &mut self,
        entity_id: u64,
        row: &AgreedRow,
        answer: Result<T, RemoteFailure>,
    ) -> Result<Option<T>, SyncFailure> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.kind == RemoteFailureKind::NotFound => {
                self.check_lease()?;
                match self.remote.entity(entity_id).await? {
                    None => self.settle_gone(entity_id).await?,
                    Some(_) => self.note_problem(entity_id, row.clone(), Some(failure.message)).await?,
                }
                Ok(None)
            }
            Err(failure) if failure.kind.is_refusal() => {
                self.note_problem(entity_id, row.clone(), Some(failure.message)).await?;
                Ok(None)
            }
            Err(failure) => Err(failure.into()),
        }
    }

    async fn note_problem(&self, entity_id: u64, row: AgreedRow, problem: Option<String>) -> Result<(), SyncFailure> {
        if row.problem == problem {
            return Ok(());
        }
        self.put_row(entity_id, &AgreedRow { problem, ..row }).await
    }

    async fn delete_there(&mut self, target: RemoteTarget, row: AgreedRow) -> Result<(), SyncFailure> {
        if target.kind.entity_type.is_none() {
            let problem = format!("a {} is only read from there: it is deleted here alone", target.kind.word);
            return self.note_problem(target.entity_id, row, Some(problem)).await;
        }
        self.check_lease()?;
        match self.remote.delete(target).await {
            Ok(()) => self.report.sent += 1,
            Err(failure) if failure.kind == RemoteFailureKind::NotFound => {}
            Err(failure) if failure.kind.is_refusal() => {
                return self.note_problem(target.entity_id, row, Some(failure.message)).await;
            }
            Err(failure) => return Err(failure.into()),
        }
        self.remove_row(target.entity_id).await
    }

    async fn send_aliases(&mut self, entity_id: u64, wanted: &[String]) -> Result<(), SyncFailure> {
        let Some(mut row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let is_in = |list: &[String], name: &str| list.iter().any(|known| fold_name(known) == fold_name(name));
        let added: Vec<String> = wanted.iter().filter(|name| !is_in(&row.base.aliases, name)).cloned().collect();
        let removed: Vec<String> = row.base.aliases.iter().filter(|name| !is_in(wanted, name)).cloned().collect();
        for name in added {
            self.check_lease()?;
            let answer = self.remote.create_alias(entity_id, name.clone()).await;
            let Some(alias) = self.settle_refusal(entity_id, &row, answer).await? else { return Ok(()) };
            row.alias_ids.insert(alias.name, alias.id);
            row.base.aliases.push(name);
            self.put_row(entity_id, &row).await?;
            self.report.sent += 1;
        }
        for name in removed {
            let known = row.alias_ids.iter().find(|(known, _)| fold_name(known) == fold_name(&name));
            if let Some((known, id)) = known.map(|(known, id)| (known.clone(), *id)) {
                self.check_lease()?;
                match self.remote.delete_alias(entity_id, id).await {
                    Err(failure) if failure.kind != RemoteFailureKind::NotFound => {
                        let refused = self.settle_refusal(entity_id, &row, Err::<(), _>(failure)).await?;
                        debug_assert!(refused.is_none());
                        return Ok(());
                    }
                    _ => self.report.sent += 1,
                }
                row.alias_ids.remove(&known);
            }
            row.base.aliases.retain(|known| fold_name(known) != fold_name(&name));
            self.put_row(entity_id, &row).await?;
        }
        Ok(())
    }

    async fn has_changed_posts(
        &self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        row: &AgreedRow,
    ) -> Result<bool, SyncFailure> {
        let known: BTreeSet<u64> = row.posts.iter().map(|post| post.post_id).collect();
        if entity.live_posts().any(|post| !known.contains(&post.post_id)) {
            return Ok(true);
        }
        for agreed in &row.posts {
            if agreed.conflicts.contains_key(DELETED) {
                continue;
            }
            let Some(post) = entity.post(agreed.post_id).filter(|post| !post.is_archived()) else { return Ok(true) };
            let (ours, _) = self.our_post_version(committed, post, agreed).await?;
            let theirs = assumed_post(agreed);
            if agreed.remote_id.is_none() || merge_post(&agreed.base, &ours, &theirs).there != theirs {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn send_posts(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
        let Some(row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        if row.posts.iter().any(|post| post.remote_id.is_none()) {
            // The answer to its creation was lost: look whether it is there before it is sent again.
            self.check_lease()?;
            match self.remote.entity(entity_id).await? {
                Some(seen) => self.settle_here(&seen).await.map(drop)?,
                None => return self.settle_gone(entity_id).await,
            }
        }
        let committed = self.read_lore().await?;
        let Some(entity) = committed.state.entity(entity_id).cloned() else { return Ok(()) };
        let Some(mut row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let known: BTreeSet<u64> = row.posts.iter().map(|post| post.post_id).collect();
        for post in entity.live_posts().filter(|post| !known.contains(&post.post_id)) {
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
        let committed = self.read_lore().await?;
        let post = entity.post(post_id).filter(|post| !post.is_archived());
        let (Some(remote_id), Some(post)) = (agreed.remote_id, post) else {
            match (agreed.remote_id, post) {
                (Some(remote_id), None) => {
                    self.check_lease()?;
                    match self.remote.delete_post(entity_id, remote_id).await {
                        Err(failure) if failure.kind != RemoteFailureKind::NotFound => {
                            return self.settle_post_refusal(entity_id, row, place, failure).await;
                        }
                        _ => self.report.sent += 1,
                    }
                    row.posts.remove(place);
                    self.put_row(entity_id, row).await?;
                }
                (None, Some(post)) => {
                    // Stored before it is sent, so that a lost answer does not double it.
                    self.put_row(entity_id, row).await?;
                    let (ours, sent) = self.our_post_version(&committed, post, &agreed).await?;
                    let draft = RemotePostChange {
                        name: Some(ours.name.clone()),
                        html: Some(sent.map(|sent| sent.html).unwrap_or_default()),
                        is_private: Some(ours.is_private),
                    };
                    self.check_lease()?;
                    match self.remote.create_post(entity_id, draft).await {
                        Ok(seen) => {
                            let entry_key = post.text.as_ref().map(|text| text.key);
                            let remote_id = Some(seen.id);
                            row.posts[place] =
                                AgreedPost { post_id, remote_id, base: ours, entry_key, ..AgreedPost::default() };
                            self.store_post_answer(entity_id, row, place, &seen).await?;
                        }
                        Err(failure) => return self.settle_post_refusal(entity_id, row, place, failure).await,
                    }
                }
                (_, None) => {
                    row.posts.remove(place);
                    self.put_row(entity_id, row).await?;
                }
                (Some(_), Some(_)) => {}
            }
            return Ok(EntityThere::Kept);
        };
        let (ours, sent) = self.our_post_version(&committed, post, &agreed).await?;
        let theirs = assumed_post(&agreed);
        let merged = merge_post(&agreed.base, &ours, &theirs);
        let change = RemotePostChange {
            name: Some(merged.there.name.clone()).filter(|name| *name != theirs.name),
            html: (merged.there.entry != theirs.entry).then(|| sent.map(|sent| sent.html).unwrap_or_default()),
            is_private: Some(merged.there.is_private).filter(|is_private| *is_private != theirs.is_private),
        };
        if change == RemotePostChange::default() {
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
            Err(failure) => self.settle_post_refusal(entity_id, row, place, failure).await,
        }
    }

    /// A write of a post failed: its entity is gone there, the post is, or it was refused.
    async fn settle_post_refusal(
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
            self.check_lease()?;
            if self.remote.entity(entity_id).await?.is_none() {
                self.settle_gone(entity_id).await?;
                return Ok(EntityThere::Gone);
            }
            if is_bound {
                row.posts[place].conflicts.insert(DELETED.to_owned(), json!(DELETED_THERE));
                self.put_row(entity_id, row).await?;
                return Ok(EntityThere::Kept);
            }
        }
        row.posts[place].problem = Some(failure.message);
        self.put_row(entity_id, row).await?;
        Ok(EntityThere::Kept)
    }

    /// Stores what was agreed on with an answer, and takes over what the remote place made of the text.
    async fn store_post_answer(
        &mut self,
        entity_id: u64,
        row: &mut AgreedRow,
        place: usize,
        seen: &super::remote::RemotePost,
    ) -> Result<(), SyncFailure> {
        self.report.sent += 1;
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
            // Somebody wrote here meanwhile: the next pull compares.
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
        side_rows.push(self.side_row(entity_id, row)?);
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

/// Whether an entity is there after a write of one of its posts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntityThere {
    Kept,
    Gone,
}

/// What became of a change.
struct SentChange {
    answer: Result<RemoteEntity, RemoteFailure>,
    /// Why a part of it was refused, if the rest was sent without it.
    left_out: Option<String>,
}

/// An entity as it is created there, and what is agreed on if nothing of it is changed there.
struct SentDraft {
    draft: RemoteDraft,
    fields: MirroredFields,
    entry_key: Option<skald_domain::lore::TextKey>,
}

impl SentDraft {
    /// Whether it has fields that can be sent by themselves.
    fn is_reducible(&self) -> bool {
        self.draft.parent.is_some() || self.draft.date.is_some()
    }

    fn leave_out_links(&mut self) {
        (self.draft.parent, self.fields.parent) = (None, None);
        (self.draft.date, self.fields.date) = (None, None);
    }
}

fn says_the_same(one: &MirroredPost, other: &MirroredPost) -> bool {
    let markdown = |entry: &Option<MirroredText>| entry.as_ref().map(|entry| entry.markdown_hash.clone());
    one.name == other.name && one.is_private == other.is_private && markdown(&one.entry) == markdown(&other.entry)
}

/// The change from what is there to what should be there, without aliases and posts.
fn remote_change(
    theirs: &MirroredFields,
    wanted: &MirroredFields,
    sent: Option<&SentText>,
    kind: &RemoteKind,
    entity: &Entity,
) -> RemoteChange {
    let subtype = Some(&wanted.subtype).filter(|subtype| **subtype != theirs.subtype);
    RemoteChange {
        name: Some(wanted.name.clone()).filter(|name| *name != theirs.name),
        subtype: subtype.map(|subtype| sent_subtype(kind, entity.entity_type, subtype)),
        html: (wanted.entry != theirs.entry).then(|| sent.map(|sent| sent.html.clone()).unwrap_or_default()),
        tags: (!MirroredFields::is_same_set(&wanted.tags, &theirs.tags)).then(|| wanted.tags.clone()),
        is_private: Some(wanted.is_private).filter(|is_private| *is_private != theirs.is_private),
        parent: Some(wanted.parent).filter(|parent| *parent != theirs.parent),
        date: Some(wanted.date.clone()).filter(|date| kind.has_date && *date != theirs.date),
    }
}
