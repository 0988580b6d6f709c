//! Sends what changed here to the remote place: creates, updates and deletes entities, posts and aliases there.
//!
//! No remote entity is read before it is written: a pull precedes every push, and only fields that changed here are sent.

use skald_domain::lore::{Entity, MirroredFields, merge_fields, name_identity};

use super::apply_remote::{DELETED, is_deleted_here};
use super::merge_versions::{SentText, assumed_fields, sent_subtype, their_fields};
use super::remote::{RemoteChange, RemoteEntity, RemoteFailure, RemoteFailureKind, RemoteKind, RemoteTarget};
use super::rows::AgreedRow;
use super::sync_run::{SyncFailure, SyncRun, is_same_version};

/// The id of an alias while it is being created there.
const BEING_CREATED: u64 = 0;

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
                // A long push pulls in between, so that remote changes are merged before it overwrites them.
                self.pull_changes().await?;
            }
            if self.failing.contains(entity_id) {
                continue;
            }
            match self.send_entity(*entity_id).await {
                Err(SyncFailure::Remote(failure)) => self.skip_failing(*entity_id, failure).await?,
                sent => sent?,
            }
        }
        Ok(())
    }

    /// Applies the answer to a write: the remote place may have stored something else than was sent.
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
        let entity = committed.state.entity(entity_id).cloned();
        if row.conflicts.contains_key(DELETED) {
            self.send_deleted(entity_id, &row, entity.as_deref()).await?;
            // What failed about it before is no question any more, as long as nobody has decided.
            return match self.agreed_row(entity_id).await? {
                Some(row) if row.conflicts.contains_key(DELETED) => self.note_problem(entity_id, row, None).await,
                _ => Ok(()),
            };
        }
        let live = entity.filter(|entity| !entity.is_archived());
        let Some(kind) = self.kind_of_row(&row) else { return Ok(()) };
        let target = RemoteTarget { kind, id: row.id, entity_id };
        let Some(entity) = live else { return self.delete_there(target, row).await };
        if kind.entity_type.is_some() && self.rewrite_mentions(&committed, &entity).await? {
            return Box::pin(self.send_entity(entity_id)).await;
        }
        let (mut ours, sent) = self.our_version(&committed, &entity, kind, &row).await?;
        let held = self.held_text_problem(&committed, &entity, &row).await?;
        if sent.is_some()
            && !row.conflicts.contains_key("entry")
            && self.unsent_mention(&committed, entity.text.as_ref()).await?.is_some()
        {
            // The text waits until everything that it mentions has a remote id.
            ours.entry.clone_from(&row.base.entry);
        }
        if let Some(parent) = ours.parent.filter(|parent| Some(*parent) != row.base.parent)
            && !row.conflicts.contains_key("parent")
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
            return self.note_nothing_to_send(entity_id, row, held).await;
        }
        if kind.entity_type.is_none() {
            let problem = format!("a {} is only read from there: what is changed here stays here", kind.word);
            return self.note_problem(entity_id, row, Some(problem)).await;
        }
        let change = remote_change((&theirs, &merged.there), sent.as_ref(), &row, kind, &entity);
        if change.is_empty() {
            self.note_problem(entity_id, row, held).await?;
        } else {
            let SentChange { answer, left_out } = self.send_change(target, change).await?;
            if let Some(seen) = self.handle_refusal(entity_id, &row, answer).await? {
                let is_part_refused = left_out.is_some();
                let mut next = AgreedRow { problem: left_out.or(held), ..row.clone() };
                // Aliases are sent by themselves.
                next.base = MirroredFields { aliases: row.base.aliases.clone(), ..merged.base.clone() };
                if is_part_refused {
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

    /// Handles an entity that one side deleted while the other one changed it. The conflict ends without a decision if the
    /// entity was restored here, removed for good, or deleted on both sides.
    async fn send_deleted(
        &mut self,
        entity_id: u64,
        row: &AgreedRow,
        entity: Option<&Entity>,
    ) -> Result<(), SyncFailure> {
        let is_live = entity.is_some_and(|entity| !entity.is_archived());
        match (is_deleted_here(&row.conflicts), entity) {
            (true, Some(_)) if is_live => {
                self.fetch(entity_id).await?;
                match self.agreed_row(entity_id).await? {
                    Some(row) if !row.conflicts.contains_key(DELETED) => Box::pin(self.send_entity(entity_id)).await,
                    _ => Ok(()),
                }
            }
            // A remote change since then wins over our removal.
            (true, None) => {
                self.check_lease()?;
                match self.remote.entity(entity_id).await {
                    Ok(Some(seen)) => {
                        self.remove_row(entity_id).await?;
                        self.apply_remote_entity(&seen).await.map(drop)
                    }
                    Ok(None) => self.apply_remote_deletion(entity_id).await,
                    Err(failure) if failure.kind.is_refusal() => Ok(()),
                    Err(failure) => Err(failure.into()),
                }
            }
            (false, _) if !is_live => self.remove_row(entity_id).await,
            _ => Ok(()),
        }
    }

    /// Sends a change. If the parent or the date is refused, the other fields are sent without it.
    async fn send_change(&self, target: RemoteTarget, change: RemoteChange) -> Result<SentChange, SyncFailure> {
        self.check_lease()?;
        let answer = self.remote.update(target, change.clone()).await;
        let rest = RemoteChange { parent: None, date: None, ..change.clone() };
        match answer {
            Err(failure) if failure.kind == RemoteFailureKind::Invalid && rest != change && !rest.is_empty() => {
                self.check_lease()?;
                let answer = self.remote.update(target, rest).await;
                Ok(SentChange { answer, left_out: Some(failure.message) })
            }
            answer => Ok(SentChange { answer, left_out: None }),
        }
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
                // It was deleted there, or turned into another kind with another typed id.
                self.fetch(entity_id).await?;
                match self.agreed_row(entity_id).await? {
                    // Gone there and changed here: somebody decides about that, and nothing is left to send.
                    Some(now) if now.conflicts.contains_key(DELETED) => {}
                    Some(now) if (&now.kind, now.id) == (&row.kind, row.id) => {
                        self.note_problem(entity_id, now, Some(failure.message)).await?;
                    }
                    Some(_) => drop(self.failing.insert(entity_id)),
                    None => {}
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

    /// Notes that both sides are the same: what was refused before is not wanted any more.
    async fn note_nothing_to_send(
        &self,
        entity_id: u64,
        row: AgreedRow,
        held: Option<String>,
    ) -> Result<(), SyncFailure> {
        let mut next = AgreedRow { problem: held, ..row.clone() };
        for post in &mut next.posts {
            post.problem = None;
        }
        if next == row { Ok(()) } else { self.put_row(entity_id, &next).await }
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
        if row.alias_ids.values().any(|id| *id == BEING_CREATED) {
            // The answer to its creation was lost: read the remote list first, or it would be created twice.
            self.fetch(entity_id).await?;
            match self.agreed_row(entity_id).await? {
                Some(fetched) if !fetched.alias_ids.values().any(|id| *id == BEING_CREATED) => row = fetched,
                _ => return Ok(()),
            }
        }
        let is_in = |list: &[String], name: &str| list.iter().any(|known| name_identity(known) == name_identity(name));
        let added: Vec<String> = wanted.iter().filter(|name| !is_in(&row.base.aliases, name)).cloned().collect();
        let removed: Vec<String> = row.base.aliases.iter().filter(|name| !is_in(wanted, name)).cloned().collect();
        for name in added {
            // Stored before it is sent, so that a lost answer does not double it.
            let before = row.clone();
            row.alias_ids.insert(name.clone(), BEING_CREATED);
            self.put_row(entity_id, &row).await?;
            self.check_lease()?;
            let answer = self.remote.create_alias(entity_id, name.clone()).await;
            if answer.as_ref().is_err_and(|failure| failure.kind.is_refusal()) {
                self.put_row(entity_id, &before).await?;
            }
            let Some(alias) = self.handle_refusal(entity_id, &before, answer).await? else { return Ok(()) };
            row.alias_ids.remove(&name);
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
        name_there: theirs.name.clone(),
        subtype: subtype.map(|subtype| sent_subtype(kind, entity.entity_type, subtype)),
        html: (wanted.entry != theirs.entry).then(|| sent.map(|sent| sent.html.clone()).unwrap_or_default()),
        tags: has_other_tags.then(|| wanted.tags.clone()),
        hidden_tags: if has_other_tags { row.hidden_tags.clone() } else { Vec::new() },
        is_private: Some(wanted.is_private).filter(|is_private| *is_private != theirs.is_private),
        parent: Some(wanted.parent).filter(|parent| *parent != theirs.parent),
        date: Some(wanted.date.clone()).filter(|date| kind.has_date && *date != theirs.date),
    }
}
