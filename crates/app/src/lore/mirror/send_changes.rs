//! Sends what changed here to the remote place: creates, updates and deletes entities, posts and aliases there.
//!
//! What is there is not read before it is written. A pull comes before every push, and only fields that changed here are
//! sent.

use skald_domain::lore::{Entity, EntityChange, LoreCommand, MirroredFields, PostChange, merge_fields, name_identity};

use super::apply_remote::DELETED;
use super::remote::{RemoteChange, RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteKind, RemoteTarget};
use super::rows::AgreedRow;
use super::sync_run::{SyncFailure, SyncRun, is_same_version};
use super::versions::{SentText, assumed_fields, current_mentions, sent_subtype, their_fields};
use crate::lore::stream::LoreStream;
use skald_journal::CommittedState;

impl SyncRun<'_> {
    /// Sends everything that changed in these entities, in this order. Those that are not there yet are created first, so
    /// that texts can mention them.
    pub(super) async fn send_entities(&mut self, entity_ids: &[u64]) -> Result<(), SyncFailure> {
        for group in self.creation_groups(entity_ids).await? {
            let mut rest = &group.entity_ids[..];
            while !rest.is_empty() {
                let (part, others) = rest.split_at(self.remote.created_at_once().clamp(1, rest.len()));
                self.create_there(group.kind, part).await?;
                rest = others;
            }
        }
        for entity_id in entity_ids {
            if !self.is_fresh() {
                // A long push is paced: what changed there meanwhile is merged before it would be overwritten.
                self.pull_changes().await?;
            }
            self.send_entity(*entity_id).await?;
        }
        Ok(())
    }

    /// Takes over what the remote place made of what was sent, if it is something else.
    pub(super) async fn apply_answer(&mut self, seen: &RemoteEntity) -> Result<(), SyncFailure> {
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
        self.apply_remote_entity(seen).await?;
        self.report.pulled = pulled;
        Ok(())
    }

    /// Sends what changed in one entity that is there, or deletes it there.
    pub(super) async fn send_entity(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
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
            return Box::pin(self.send_entity(entity_id)).await;
        }
        let change = remote_change((&theirs, &merged.there), sent.as_ref(), &row, kind, &entity);
        if change != RemoteChange::default() {
            let SentChange { answer, left_out } = self.send_change(target, change).await?;
            if let Some(seen) = self.handle_refusal(entity_id, &row, answer).await? {
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
                self.apply_answer(&RemoteEntity { aliases: None, posts: None, ..seen }).await?;
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
    pub(super) async fn rewrite_mentions(
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
    async fn handle_refusal<T>(
        &mut self,
        entity_id: u64,
        row: &AgreedRow,
        answer: Result<T, RemoteFailure>,
    ) -> Result<Option<T>, SyncFailure> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.kind == RemoteFailureKind::NotFound => {
                if self.is_there(entity_id).await? {
                    self.note_problem(entity_id, row.clone(), Some(failure.message)).await?;
                } else {
                    self.apply_remote_deletion(entity_id).await?;
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

    /// Whether the remote place has an entity, after a write of it was answered with 404.
    pub(super) async fn is_there(&self, entity_id: u64) -> Result<bool, SyncFailure> {
        self.check_lease()?;
        match self.remote.entity(entity_id).await {
            Ok(found) => Ok(found.is_some()),
            Err(failure) if failure.kind.is_refusal() => Ok(true),
            Err(failure) => Err(failure.into()),
        }
    }

    pub(super) async fn note_problem(
        &self,
        entity_id: u64,
        row: AgreedRow,
        problem: Option<String>,
    ) -> Result<(), SyncFailure> {
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
            Err(failure) if failure.kind == RemoteFailureKind::NotFound => {
                if self.is_there(target.entity_id).await? {
                    return self.note_problem(target.entity_id, row, Some(failure.message)).await;
                }
                self.confirm_campaign().await?;
            }
            Err(failure) if failure.kind.is_refusal() => {
                return self.note_problem(target.entity_id, row, Some(failure.message)).await;
            }
            Err(failure) => return Err(failure.into()),
        }
        self.remove_row(target.entity_id).await
    }

    async fn send_aliases(&mut self, entity_id: u64, wanted: &[String]) -> Result<(), SyncFailure> {
        let Some(mut row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let is_in = |list: &[String], name: &str| list.iter().any(|known| name_identity(known) == name_identity(name));
        let added: Vec<String> = wanted.iter().filter(|name| !is_in(&row.base.aliases, name)).cloned().collect();
        let removed: Vec<String> = row.base.aliases.iter().filter(|name| !is_in(wanted, name)).cloned().collect();
        for name in added {
            self.check_lease()?;
            let answer = self.remote.create_alias(entity_id, name.clone()).await;
            let Some(alias) = self.handle_refusal(entity_id, &row, answer).await? else { return Ok(()) };
            row.alias_ids.insert(alias.name, alias.id);
            row.base.aliases.push(name);
            self.put_row(entity_id, &row).await?;
            self.report.sent += 1;
        }
        for name in removed {
            let known = row.alias_ids.iter().find(|(known, _)| name_identity(known) == name_identity(&name));
            if let Some((known, id)) = known.map(|(known, id)| (known.clone(), *id)) {
                self.check_lease()?;
                match self.remote.delete_alias(entity_id, id).await {
                    Ok(()) => self.report.sent += 1,
                    Err(failure) if failure.kind == RemoteFailureKind::NotFound => self.confirm_campaign().await?,
                    Err(failure) => {
                        let refused = self.handle_refusal(entity_id, &row, Err::<(), _>(failure)).await?;
                        debug_assert!(refused.is_none());
                        return Ok(());
                    }
                }
                row.alias_ids.remove(&known);
            }
            row.base.aliases.retain(|known| name_identity(known) != name_identity(&name));
            self.put_row(entity_id, &row).await?;
        }
        Ok(())
    }
}

/// What became of a change.
struct SentChange {
    answer: Result<RemoteEntity, RemoteFailure>,
    /// Why a part of it was refused, if the rest was sent without it.
    left_out: Option<String>,
}

/// The change from what is there to what should be there, without aliases and posts.
fn remote_change(
    (theirs, wanted): (&MirroredFields, &MirroredFields),
    sent: Option<&SentText>,
    row: &AgreedRow,
    kind: &RemoteKind,
    entity: &Entity,
) -> RemoteChange {
    let subtype = Some(&wanted.subtype).filter(|subtype| **subtype != theirs.subtype);
    let has_other_tags = !MirroredFields::is_same_set(&wanted.tags, &theirs.tags);
    RemoteChange {
        name: Some(wanted.name.clone()).filter(|name| *name != theirs.name),
        subtype: subtype.map(|subtype| sent_subtype(kind, entity.entity_type, subtype)),
        html: (wanted.entry != theirs.entry).then(|| sent.map(|sent| sent.html.clone()).unwrap_or_default()),
        tags: has_other_tags.then(|| wanted.tags.clone()),
        hidden_tags: if has_other_tags { row.hidden_tags.clone() } else { Vec::new() },
        is_private: Some(wanted.is_private).filter(|is_private| *is_private != theirs.is_private),
        parent: Some(wanted.parent).filter(|parent| *parent != theirs.parent),
        date: Some(wanted.date.clone()).filter(|date| kind.has_date && *date != theirs.date),
    }
}
