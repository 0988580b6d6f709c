//! Applies remote entities to the lore here: creates, merges and archives entities and their posts.
//!
//! Every command stores the new merge base in its own transaction, so that a sync that is killed continues where it
//! stopped.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skald_domain::lore::{
    Entity, EntityChange, EntityType, ExplicitIds, LoreCommand, LoreRefusal, LoreRefusalKind, MirroredFields,
    MirroredPost, NewEntity, TextRef, VersionMerge, fold_name, merge_fields,
};

use super::merge_versions::{alias_travels, fit_text, their_fields, their_post, type_of_kind};
use super::remote::{RemoteEntity, RemoteKind, RemoteParent, RemotePost, RemoteTarget};
use super::rows::{AgreedPost, AgreedRow};
use super::sync_run::{ATTEMPTS, SyncFailure, SyncRun, busy_fault, conflict_value, html_there, is_same_version};
use crate::limits;
use crate::lore::stream::LoreStream;
use skald_journal::{CommittedState, SideRow};

/// The conflict of an entity or post that one side deleted and the other changed; its value says which side deleted it.
pub(super) const DELETED: &str = "deleted";
pub(super) const DELETED_HERE: &str = "here";
pub(super) const DELETED_THERE: &str = "there";
/// Entities that could not be taken over are listed up to this number.
const SKIPPED_MAX: usize = 100;

/// What applying a remote entity changed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppliedEntity {
    Unchanged,
    Changed,
    /// Its parent is not here yet: it is applied again when everything else is here.
    ParentMissing,
}

/// The outcome of a step: it is tried again if the lore changed meanwhile.
pub(super) enum Step<T> {
    Done(T),
    Again,
}

impl SyncRun<'_> {
    pub(super) async fn apply_remote_entity(&mut self, seen: &RemoteEntity) -> Result<AppliedEntity, SyncFailure> {
        // Fields that the rules of lore refuse: they become conflicts.
        let mut refused: BTreeSet<&'static str> = BTreeSet::new();
        let seen = self.with_entity_parent(seen).await?;
        let seen = seen.as_ref();
        for _ in 0..ATTEMPTS {
            if let Step::Done(applied) = self.try_apply_remote_entity(seen, &mut refused).await? {
                if applied != AppliedEntity::Unchanged {
                    self.report.pulled += 1;
                }
                if let Some(ids) = &mut self.typed_ids {
                    ids.insert((seen.kind.word.to_owned(), seen.id), seen.entity_id);
                }
                let is_parent_unknown = matches!(seen.parent, RemoteParent::SameKind(_));
                return Ok(if is_parent_unknown { AppliedEntity::ParentMissing } else { applied });
            }
        }
        Err(busy_fault(seen.entity_id))
    }

    async fn try_apply_remote_entity(
        &mut self,
        seen: &RemoteEntity,
        refused: &mut BTreeSet<&'static str>,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let committed = self.read_lore().await?;
        let local = committed.state.entity(seen.entity_id).filter(|entity| entity.entity_id == seen.entity_id);
        let Some(row) = self.agreed_row(seen.entity_id).await? else {
            return match local {
                // It was deleted there, restored here, and is back there.
                Some(_) => self.bind(seen.entity_id, seen, AgreedRow::default()).await,
                None => self.bind_or_create(&committed, seen).await,
            };
        };
        match local {
            None => {
                // Removed for good here. A remote change since then wins over our removal.
                let theirs = their_fields(seen, type_of_kind(seen.kind), &row);
                if is_same_version(&theirs, &row.base) && posts_as_agreed(seen, &row) {
                    return Ok(Step::Done(AppliedEntity::Unchanged));
                }
                self.remove_row(seen.entity_id).await?;
                Ok(Step::Again)
            }
            Some(entity) if entity.is_archived() => self.note_deleted_here(entity, seen, row).await,
            Some(entity) => {
                let row = if is_deleted_here(&row.conflicts) { nothing_agreed(entity, row) } else { row };
                self.merge_here(&committed, entity, seen, row, refused).await
            }
        }
    }

    /// The entity is archived here. If it changed there since, that is a conflict; otherwise the next push deletes it there.
    async fn note_deleted_here(
        &self,
        entity: &Entity,
        seen: &RemoteEntity,
        row: AgreedRow,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let theirs = their_fields(seen, entity.entity_type, &row);
        if is_same_version(&theirs, &row.base) && posts_as_agreed(seen, &row) {
            return Ok(Step::Done(AppliedEntity::Unchanged));
        }
        let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_HERE))]);
        let posts = agreed_posts_as_seen(seen, &row);
        let row = AgreedRow { base: theirs, posts, conflicts, problem: None, ..row };
        self.put_row(entity.entity_id, &row).await?;
        Ok(Step::Done(AppliedEntity::Unchanged))
    }

    /// Handles a remote entity without a row: either our creation of it was never answered, or it is new here.
    async fn bind_or_create(
        &mut self,
        committed: &CommittedState<LoreStream>,
        seen: &RemoteEntity,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let name = fit_text(&seen.name, limits::NAME_CHARS_MAX).unwrap_or_default();
        let is_it = |(_, row): &(u64, super::rows::CreatedRow)| {
            row.problem.is_none() && row.kind == seen.kind.word && fold_name(&row.name) == fold_name(&name)
        };
        if let Some(place) = self.unanswered.iter().position(is_it) {
            let (entity_id, created) = self.unanswered.remove(place);
            if let Some(entity) = committed.state.entity(entity_id) {
                let theirs = their_fields(seen, entity.entity_type, &AgreedRow::default());
                let (base, entry_key) = created.agreed_fields(&theirs);
                return self.bind(entity_id, seen, AgreedRow { base, entry_key, ..AgreedRow::default() }).await;
            }
            self.app.remove_created_row(self.campaign_id, entity_id).await?;
        }
        if self.link.merges_by_name && !self.link.is_pulled {
            for entity_id in committed.state.entities_named(&name, true) {
                let Some(entity) = committed.state.entity(entity_id) else { continue };
                let is_same =
                    entity.entity_type == type_of_kind(seen.kind) && fold_name(&entity.name) == fold_name(&name);
                if is_same && seen.kind.entity_type.is_some() && self.agreed_row(entity_id).await?.is_none() {
                    return self.bind(entity_id, seen, AgreedRow::default()).await;
                }
            }
        }
        self.create_here(committed, seen).await
    }

    /// Gives an entity here the ids of the one there. Fields that differ are conflicts, as far as nothing is agreed on yet.
    async fn bind(
        &self,
        entity_id: u64,
        seen: &RemoteEntity,
        agreed: AgreedRow,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let row = AgreedRow { kind: seen.kind.word.to_owned(), id: seen.id, ..agreed };
        self.renumber(entity_id, RemoteTarget::from_entity(seen), &row).await?;
        Ok(Step::Again)
    }

    /// Gives an entity the ids of the remote one, and stores its row in the same transaction.
    pub(super) async fn renumber(
        &self,
        entity_id: u64,
        target: RemoteTarget,
        row: &AgreedRow,
    ) -> Result<(), SyncFailure> {
        let committed = self.read_lore().await?;
        let entity_type = committed.state.entity(entity_id).map_or(EntityType::Other, |entity| entity.entity_type);
        for ids in explicit_ids(target, entity_type) {
            let side_rows = self.side_rows(target.entity_id, row)?;
            match self.execute(LoreCommand::RenumberEntity { entity_id, ids }, side_rows).await? {
                Ok(_) => break,
                Err(refusal) if refusal.kind() == LoreRefusalKind::Unchanged => {
                    self.put_row(target.entity_id, row).await?;
                    break;
                }
                Err(LoreRefusal::IdTaken { field: "id", .. }) => {}
                Err(refusal) => return Err(takeover_fault(target.entity_id, &refusal)),
            }
        }
        Ok(self.app.remove_created_row(self.campaign_id, entity_id).await?)
    }

    async fn create_here(
        &mut self,
        committed: &CommittedState<LoreStream>,
        seen: &RemoteEntity,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let entity_type = type_of_kind(seen.kind);
        let mut row = AgreedRow { kind: seen.kind.word.to_owned(), id: seen.id, ..AgreedRow::default() };
        // An answer without `is_private` may be about a secret, so treat it as private.
        row.base.is_private = true;
        row.base = their_fields(seen, entity_type, &row);
        let is_here = |parent: u64| committed.state.entity(parent).is_some_and(|parent| !parent.is_archived());
        let is_parent_missing = row.base.parent.take_if(|parent| !is_here(*parent)).is_some();
        store_seen_fields(&mut row, seen);
        let mut side_rows = Vec::new();
        let text = self.seen_text(html_there(seen, &row), &mut side_rows)?;
        row.entry_key = text.as_ref().map(|text| text.key);
        let base = &row.base;
        let new = NewEntity {
            subtype: base.subtype.clone(),
            tags: base.tags.clone(),
            aliases: base.aliases.clone(),
            is_private: base.is_private,
            parent: base.parent,
            image: seen_image(seen),
            date: base.date.clone(),
            text,
            ..NewEntity::new(entity_type, &base.name)
        };
        side_rows.extend(self.side_rows(seen.entity_id, &row)?);
        let mut refusal = None;
        for ids in explicit_ids(RemoteTarget::from_entity(seen), entity_type) {
            let new = NewEntity { ids: Some(ids), ..new.clone() };
            match self.execute(LoreCommand::CreateEntity(Box::new(new)), side_rows.clone()).await? {
                Ok(_) => {
                    self.link.skipped.remove(&seen.entity_id);
                    if let Step::Again = self.apply_remote_posts(seen, row).await? {
                        return Ok(Step::Again);
                    }
                    let applied = if is_parent_missing { AppliedEntity::ParentMissing } else { AppliedEntity::Changed };
                    return Ok(Step::Done(applied));
                }
                // Another process created it meanwhile, or the parent was archived.
                Err(LoreRefusal::IdTaken { field: "entity_id", .. } | LoreRefusal::EntityArchived { .. }) => {
                    return Ok(Step::Again);
                }
                Err(refused) => refusal = Some(refused),
            }
        }
        if let Some(refusal) = refusal {
            self.report.skipped.push(format!("{} {}: {refusal}", seen.kind.word, seen.name));
            if self.link.skipped.len() < SKIPPED_MAX {
                let reason = format!("{} {:?} cannot be taken over: {refusal}", seen.kind.word, row.base.name);
                self.link.skipped.insert(seen.entity_id, reason);
            }
        }
        Ok(Step::Done(AppliedEntity::Unchanged))
    }

    /// The reference of a remote text, whose row is added to `side_rows`; `None` if the text is empty.
    pub(super) fn seen_text(&self, html: &str, side_rows: &mut Vec<SideRow>) -> Result<Option<TextRef>, SyncFailure> {
        let entry = skald_markup::entry_from_html(html);
        if entry.markdown.trim().is_empty() {
            return Ok(None);
        }
        let mut text = self.app.new_text(self.campaign_id, entry)?;
        let mentions = &mut text.reference.mentions;
        *mentions = mentions.iter().copied().take(limits::LORE_MENTIONS_MAX).collect();
        side_rows.push(text.row);
        Ok(Some(text.reference))
    }

    async fn merge_here(
        &mut self,
        committed: &CommittedState<LoreStream>,
        entity: &Entity,
        seen: &RemoteEntity,
        row: AgreedRow,
        refused: &mut BTreeSet<&'static str>,
    ) -> Result<Step<AppliedEntity>, SyncFailure> {
        let (ours, _) = self.our_version(committed, entity, seen.kind, &row).await?;
        let theirs = their_fields(seen, entity.entity_type, &row);
        let mut merged = merge_fields(&row.base, &ours, &theirs);
        for field in refused.iter().filter(|field| !merged.conflicts.contains(field)).copied().collect::<Vec<_>>() {
            record_conflict(&mut merged, field, &ours, &theirs, &row.base);
        }
        let is_here = |parent: u64| committed.state.entity(parent).is_some_and(|parent| !parent.is_archived());
        let is_parent_missing =
            merged.here.parent != ours.parent && merged.here.parent.is_some_and(|parent| !is_here(parent));
        if is_parent_missing {
            merged.here.parent = ours.parent;
        }
        let mut side_rows = Vec::new();
        let mut change = change_between(entity, &ours, &merged.here, seen.kind);
        if merged.here.entry != ours.entry {
            change.text = Some(self.seen_text(html_there(seen, &row), &mut side_rows)?);
        }
        let held = committed.state.fields_held_against(entity.entity_id, &change);
        if !held.is_empty() {
            // Neither side changes until a person decides here. The same remote value is held only once.
            let is_noted = |field: &str| row.conflicts.get(field) == Some(&conflict_value(field, &theirs, seen, &row));
            if !held.field_names().iter().all(|field| is_noted(field)) {
                change.retain_canon_fields(held);
                self.propose_here(entity, change, side_rows).await?;
            }
            refused.extend(held.field_names());
            return Ok(Step::Again);
        }
        if seen.image.as_ref().is_some_and(|image| *image != row.image) {
            change.image = Some(seen_image(seen));
        }
        let mut next = merged_row(&row, entity, seen, &theirs, &merged, change.text.as_ref());
        if is_parent_missing {
            next.base.parent = row.base.parent;
        }
        let is_changed = change != EntityChange::default();
        if is_changed && let Step::Again = self.update_here(entity, change, side_rows, (&row, &next), refused).await? {
            return Ok(Step::Again);
        }
        if next != row && (!is_changed || !next.conflicts.is_empty() || !row.conflicts.is_empty()) {
            self.put_row(entity.entity_id, &next).await?;
        }
        if let Step::Again = self.apply_remote_posts(seen, next).await? {
            return Ok(Step::Again);
        }
        Ok(Step::Done(match (is_parent_missing, is_changed) {
            (true, _) => AppliedEntity::ParentMissing,
            (false, true) => AppliedEntity::Changed,
            (false, false) => AppliedEntity::Unchanged,
        }))
    }

    /// Changes an entity, and stores its new row in the same transaction.
    async fn update_here(
        &self,
        entity: &Entity,
        change: EntityChange,
        mut side_rows: Vec<SideRow>,
        (row, next): (&AgreedRow, &AgreedRow),
        refused: &mut BTreeSet<&'static str>,
    ) -> Result<Step<()>, SyncFailure> {
        let (entity_id, expected_revision) = (entity.entity_id, Some(entity.revision));
        side_rows.extend(self.side_rows(entity_id, next)?);
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision, change: Box::new(change) };
        let Err(refusal) = self.execute(command, side_rows).await? else { return Ok(Step::Done(())) };
        match refusal.kind() {
            LoreRefusalKind::Unchanged => {
                self.put_row(entity_id, next).await?;
                Ok(Step::Done(()))
            }
            // The field became authoritative meanwhile, so the change is held: keep the old merge base.
            LoreRefusalKind::Held => {
                self.put_row(entity_id, row).await?;
                Ok(Step::Again)
            }
            LoreRefusalKind::RevisionConflict | LoreRefusalKind::NotFound => Ok(Step::Again),
            _ => match refused_field(&refusal) {
                Some(field) if refused.insert(field) => Ok(Step::Again),
                _ => Err(takeover_fault(entity_id, &refusal)),
            },
        }
    }

    /// Proposes a change that contradicts an authoritative value: the canon holds it until a person decides.
    async fn propose_here(
        &self,
        entity: &Entity,
        change: EntityChange,
        side_rows: Vec<SideRow>,
    ) -> Result<(), SyncFailure> {
        let (entity_id, expected_revision) = (entity.entity_id, Some(entity.revision));
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision, change: Box::new(change) };
        self.execute(command, side_rows).await.map(drop)
    }

    /// Archives an entity that is gone there, unless somebody changed it here.
    pub(super) async fn apply_remote_deletion(&mut self, entity_id: u64) -> Result<(), SyncFailure> {
        self.confirm_campaign().await?;
        self.link.skipped.remove(&entity_id);
        for _ in 0..ATTEMPTS {
            let committed = self.read_lore().await?;
            let Some(row) = self.agreed_row(entity_id).await? else { return Ok(()) };
            let entity = committed.state.entity(entity_id).filter(|entity| !entity.is_archived());
            let Some(entity) = entity else { return self.remove_row(entity_id).await };
            if self.is_changed_here(&committed, entity, &row).await? {
                let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_THERE))]);
                return self.put_row(entity_id, &AgreedRow { conflicts, problem: None, ..row }).await;
            }
            let command = LoreCommand::ArchiveEntity { entity_id, expected_revision: Some(entity.revision) };
            if !entity.canon_mark().fields.is_empty() {
                if !row.conflicts.contains_key(DELETED) {
                    let _ = self.execute(command, Vec::new()).await?;
                }
                let conflicts = BTreeMap::from([(DELETED.to_owned(), json!(DELETED_THERE))]);
                return self.put_row(entity_id, &AgreedRow { conflicts, problem: None, ..row }).await;
            }
            if self.execute(command, Vec::new()).await?.is_ok() {
                self.report.pulled += 1;
                return self.remove_row(entity_id).await;
            }
        }
        Err(busy_fault(entity_id))
    }
}

/// Whether a conflict says that this side deleted what the other one changed.
pub(super) fn is_deleted_here(conflicts: &BTreeMap<String, Value>) -> bool {
    conflicts.get(DELETED).is_some_and(|side| side == DELETED_HERE)
}

/// Empties the merge base of an entity that was deleted here, changed there and restored here. The stored base is the
/// remote version, which was never merged here; without it every field that differs becomes a conflict.
fn nothing_agreed(entity: &Entity, row: AgreedRow) -> AgreedRow {
    let is_here = |agreed: &&AgreedPost| entity.post(agreed.post_id).is_some();
    let posts = row.posts.iter().filter(is_here).map(post_with_nothing_agreed).collect();
    AgreedRow { base: MirroredFields::default(), entry_key: None, conflicts: BTreeMap::new(), posts, ..row }
}

pub(super) fn post_with_nothing_agreed(agreed: &AgreedPost) -> AgreedPost {
    AgreedPost { post_id: agreed.post_id, remote_id: agreed.remote_id, ..AgreedPost::default() }
}

fn takeover_fault(entity_id: u64, refusal: &LoreRefusal) -> SyncFailure {
    let message = format!("entity {entity_id} of the remote place cannot be taken over: {refusal}");
    crate::Fault::new(crate::Code::Rejected, message).hint(refusal.hint()).into()
}

/// The ids to try, in order: those of the remote place, then the entity id as typed id in case its typed id is taken.
fn explicit_ids(target: RemoteTarget, entity_type: EntityType) -> Vec<ExplicitIds> {
    let entity_id = target.entity_id;
    let own = ExplicitIds { id: entity_id, entity_id };
    if target.kind.entity_type == Some(entity_type) {
        vec![ExplicitIds { id: target.id, entity_id }, own]
    } else {
        vec![own]
    }
}

fn seen_image(seen: &RemoteEntity) -> Option<String> {
    let image = seen.image.as_ref()?.as_deref().filter(|image| image.chars().count() <= limits::LORE_IMAGE_CHARS_MAX);
    image.and_then(|image| fit_text(image, limits::LORE_IMAGE_CHARS_MAX))
}

/// The row after a merge. `text` is the new text here, if the merge changed it.
fn merged_row(
    row: &AgreedRow,
    entity: &Entity,
    seen: &RemoteEntity,
    theirs: &MirroredFields,
    merged: &VersionMerge<MirroredFields>,
    text: Option<&Option<TextRef>>,
) -> AgreedRow {
    let mut next = AgreedRow { base: theirs.clone(), ..row.clone() };
    for field in &merged.conflicts {
        copy_field(field, &row.base, &mut next.base);
    }
    if let Some(text) = text {
        next.entry_key = text.as_ref().map(|text| text.key);
    } else if merged.there.entry == theirs.entry && !merged.conflicts.contains(&"entry") {
        next.entry_key = entity.text.as_ref().map(|text| text.key);
    }
    let value = |field: &&str| ((*field).to_owned(), conflict_value(field, theirs, seen, row));
    next.conflicts = merged.conflicts.iter().map(value).collect();
    store_seen_fields(&mut next, seen);
    next
}

/// Stores what a remote answer has besides the merged fields: ids, image, hidden tags and the time of the change.
pub(super) fn store_seen_fields(row: &mut AgreedRow, seen: &RemoteEntity) {
    seen.kind.word.clone_into(&mut row.kind);
    row.id = seen.id;
    if let Some(image) = &seen.image {
        row.image.clone_from(image);
    }
    if seen.tags.is_some() {
        row.hidden_tags.clone_from(&seen.hidden_tags);
    }
    row.updated_at = seen.updated_at.map(|at| at.to_string());
    if let Some(aliases) = &seen.aliases {
        row.alias_ids = aliases.iter().map(|alias| (alias.name.clone(), alias.id)).collect();
    }
}

fn posts_as_agreed(seen: &RemoteEntity, row: &AgreedRow) -> bool {
    let Some(posts) = &seen.posts else { return true };
    let agreed: Vec<&AgreedPost> = row.posts.iter().filter(|post| post.remote_id.is_some()).collect();
    let is_agreed = |post: &RemotePost| {
        agreed.iter().any(|agreed| agreed.remote_id == Some(post.id) && agreed.base == their_post(post))
    };
    posts.len() == agreed.len() && posts.iter().all(is_agreed)
}

/// The rows of posts with their remote versions as merge base. A post that is new there gets a row without a local id.
fn agreed_posts_as_seen(seen: &RemoteEntity, row: &AgreedRow) -> Vec<AgreedPost> {
    let Some(posts) = &seen.posts else { return row.posts.clone() };
    let as_seen = |post: &RemotePost| {
        let agreed = row.posts.iter().find(|agreed| agreed.remote_id == Some(post.id)).cloned();
        AgreedPost { remote_id: Some(post.id), base: their_post(post), ..agreed.unwrap_or_default() }
    };
    posts.iter().map(as_seen).collect()
}

/// The change from one version to the other, without the text.
fn change_between(entity: &Entity, from: &MirroredFields, to: &MirroredFields, kind: &RemoteKind) -> EntityChange {
    let list = |from: &[String], to: &[String]| (!MirroredFields::is_same_set(from, to)).then(|| to.to_vec());
    let kept = entity.details().aliases.iter().map(ToString::to_string).filter(|alias| !alias_travels(alias));
    EntityChange {
        name: Some(to.name.clone()).filter(|name| *name != from.name),
        subtype: Some(to.subtype.clone()).filter(|subtype| *subtype != from.subtype),
        tags: list(&from.tags, &to.tags),
        aliases: list(&from.aliases, &to.aliases).map(|aliases| aliases.into_iter().chain(kept).collect()),
        is_private: Some(to.is_private).filter(|is_private| *is_private != from.is_private),
        parent: Some(to.parent).filter(|parent| *parent != from.parent),
        date: Some(to.date.clone()).filter(|date| kind.has_date && *date != from.date),
        ..EntityChange::default()
    }
}

/// Turns a field whose remote value the rules refuse into a conflict.
fn record_conflict(
    merged: &mut VersionMerge<MirroredFields>,
    field: &'static str,
    ours: &MirroredFields,
    theirs: &MirroredFields,
    base: &MirroredFields,
) {
    copy_field(field, ours, &mut merged.here);
    copy_field(field, theirs, &mut merged.there);
    copy_field(field, base, &mut merged.base);
    merged.conflicts.push(field);
}

pub(super) fn copy_field(field: &str, from: &MirroredFields, to: &mut MirroredFields) {
    match field {
        "name" => to.name.clone_from(&from.name),
        "type" => to.subtype.clone_from(&from.subtype),
        "entry" => to.entry.clone_from(&from.entry),
        "is_private" => to.is_private = from.is_private,
        "parent" => to.parent = from.parent,
        "date" => to.date.clone_from(&from.date),
        "tags" => to.tags.clone_from(&from.tags),
        "aliases" => to.aliases.clone_from(&from.aliases),
        _ => {}
    }
}

pub(super) fn copy_post_field(field: &str, from: &MirroredPost, to: &mut MirroredPost) {
    match field {
        "name" => to.name.clone_from(&from.name),
        "entry" => to.entry.clone_from(&from.entry),
        "is_private" => to.is_private = from.is_private,
        _ => {}
    }
}

/// The field that a refusal is about, if it can stay different on both sides.
fn refused_field(refusal: &LoreRefusal) -> Option<&'static str> {
    match refusal.pointer()?.as_str() {
        "/name" => Some("name"),
        "/subtype" => Some("type"),
        "/parent" => Some("parent"),
        "/date" => Some("date"),
        "/entry" => Some("entry"),
        "/tags" => Some("tags"),
        "/aliases" => Some("aliases"),
        _ => None,
    }
}
