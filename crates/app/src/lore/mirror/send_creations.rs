//! Creates entities in the remote place that are new here.

use skald_domain::lore::{Entity, MirroredFields};

use super::apply_remote::store_seen_fields;
use super::merge_versions::{kind_of_type, our_fields, sent_subtype, sent_text, their_fields};
use super::remote::{RemoteCreated, RemoteDraft, RemoteFailure, RemoteFailureKind, RemoteKind, RemoteTarget};
use super::rows::{AgreedRow, CreatedRow};
use super::sync_run::{SyncFailure, SyncRun};
use crate::lore::stream::LoreStream;
use skald_journal::CommittedState;

/// Entities to create, in the order in which they were written here.
pub(super) struct CreationGroup {
    pub kind: &'static RemoteKind,
    pub entity_ids: Vec<u64>,
    /// Whether nothing else is created with the same request.
    is_alone: bool,
}

impl SyncRun<'_> {
    pub(super) async fn creation_groups(&self, entity_ids: &[u64]) -> Result<Vec<CreationGroup>, SyncFailure> {
        let committed = self.read_lore().await?;
        let rows = self.app.agreed_rows(self.campaign_id, entity_ids).await?;
        let created = self.app.created_rows(self.campaign_id).await?;
        let is_known = |entity_id: &u64| rows.contains_key(entity_id) || self.failing.contains(entity_id);
        let mut groups: Vec<CreationGroup> = Vec::new();
        for entity_id in entity_ids.iter().filter(|entity_id| !is_known(entity_id)) {
            let entity = committed.state.entity(*entity_id).filter(|entity| !entity.is_archived());
            let Some(entity) = entity.filter(|entity| entity.entity_id == *entity_id) else { continue };
            let Some(kind) = kind_of_type(self.remote.kinds(), entity.entity_type) else { continue };
            // An entity whose creation failed before is sent alone, so that it does not block others again.
            let is_alone = created.iter().any(|(id, _)| id == entity_id);
            match groups.iter_mut().find(|group| group.kind == kind && !group.is_alone && !is_alone) {
                Some(group) => group.entity_ids.push(*entity_id),
                None => groups.push(CreationGroup { kind, entity_ids: vec![*entity_id], is_alone }),
            }
        }
        Ok(groups)
    }

    /// Creates entities there with one request. A row for each is stored before the request: if the answer is lost, the next
    /// pull recognises them by it.
    pub(super) async fn create_there(
        &mut self,
        kind: &'static RemoteKind,
        entity_ids: &[u64],
    ) -> Result<(), SyncFailure> {
        let mut drafts = self.announce_creations(kind, entity_ids).await?;
        let mut answer = self.request_creations(kind, &drafts).await?;
        if let Err(failure) = &answer {
            if failure.kind == RemoteFailureKind::NotFound {
                self.confirm_campaign().await?;
            }
            if failure.kind.is_refusal() && drafts.len() > 1 {
                // One of them is refused: sent one by one, it does not block the others.
                for (entity_id, _) in drafts {
                    Box::pin(self.create_there(kind, &[entity_id])).await?;
                }
                return Ok(());
            }
            if failure.kind == RemoteFailureKind::Invalid && drafts.iter().any(|(_, sent)| sent.is_reducible()) {
                // The refused field may be the parent or the date: create the entity without both, and send them afterwards.
                for (_, sent) in &mut drafts {
                    sent.leave_out_links();
                }
                answer = self.request_creations(kind, &drafts).await?;
            }
        }
        match answer {
            Ok(created) => self.bind_all_created(kind, drafts, created).await,
            Err(failure) if failure.kind.is_refusal() => self.note_refused_creation(kind, drafts, &failure).await,
            Err(failure) if self.is_failing_alone(&failure).await? => {
                // They may have been created nevertheless: the next run looks for them before it sends them again.
                self.failing.extend(drafts.iter().map(|(entity_id, _)| *entity_id));
                Ok(())
            }
            Err(failure) => Err(failure.into()),
        }
    }

    /// The drafts of entities, each stored as being created.
    async fn announce_creations(
        &mut self,
        kind: &'static RemoteKind,
        entity_ids: &[u64],
    ) -> Result<Vec<(u64, SentDraft)>, SyncFailure> {
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
            let row = CreatedRow {
                kind: kind.word.to_owned(),
                name: entity.name.to_string(),
                problem: None,
                sent: Some(draft.fields.clone()),
                entry_key: draft.entry_key,
            };
            self.app.put_created_row(self.campaign_id, *entity_id, &row).await?;
            drafts.push((*entity_id, draft));
        }
        Ok(drafts)
    }

    async fn request_creations(
        &self,
        kind: &'static RemoteKind,
        drafts: &[(u64, SentDraft)],
    ) -> Result<Result<Vec<RemoteCreated>, RemoteFailure>, SyncFailure> {
        self.check_lease()?;
        let sent = drafts.iter().map(|(_, sent)| sent.draft.clone()).collect();
        let answer = self.remote.create(kind, sent).await;
        Ok(answer.and_then(|created| {
            if created.len() == drafts.len() {
                return Ok(created);
            }
            let message = format!("{} entities were created, {} were answered", drafts.len(), created.len());
            Err(RemoteFailure::new(RemoteFailureKind::BrokenAnswer, message))
        }))
    }

    async fn note_refused_creation(
        &self,
        kind: &RemoteKind,
        drafts: Vec<(u64, SentDraft)>,
        failure: &RemoteFailure,
    ) -> Result<(), SyncFailure> {
        for (entity_id, draft) in drafts {
            let (kind, name) = (kind.word.to_owned(), draft.draft.name);
            let row = CreatedRow { kind, name, problem: Some(failure.message.clone()), sent: None, entry_key: None };
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
        // A text that mentions an entity without a remote id is sent once that entity has one.
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

    /// Gives created entities their remote ids. All of them get theirs before the first is read again: if that read fails,
    /// none is created twice.
    async fn bind_all_created(
        &mut self,
        kind: &'static RemoteKind,
        drafts: Vec<(u64, SentDraft)>,
        created: Vec<RemoteCreated>,
    ) -> Result<(), SyncFailure> {
        for ((entity_id, sent), created) in drafts.iter().zip(&created) {
            let target = RemoteTarget { kind, id: created.id, entity_id: created.entity_id };
            let mut row = AgreedRow { kind: kind.word.to_owned(), id: created.id, ..AgreedRow::default() };
            if let Some(seen) = &created.entity {
                store_seen_fields(&mut row, seen);
                (row.base, row.entry_key) = (sent.fields.clone(), sent.entry_key);
            } else {
                // The answer does not say which fields were stored, so every field counts as changed here.
                let (name, is_private) = (sent.fields.name.clone(), !sent.fields.is_private);
                row.base = MirroredFields { name, is_private, ..MirroredFields::default() };
            }
            self.renumber(*entity_id, target, &row).await?;
            self.report.sent += 1;
        }
        for ((_, sent), created) in drafts.into_iter().zip(created) {
            match created.entity {
                Some(seen) => self.apply_answer(&seen).await?,
                None => self.read_created(sent, created.entity_id).await?,
            }
        }
        Ok(())
    }

    /// Reads an entity that was created and answered with its ids alone. Fields that were not stored are sent next.
    async fn read_created(&mut self, sent: SentDraft, entity_id: u64) -> Result<(), SyncFailure> {
        self.check_lease()?;
        let seen = match self.remote.entity(entity_id).await {
            Ok(Some(seen)) => seen,
            // No field counts as stored, so the next send has all of them.
            Ok(None) => return Ok(()),
            Err(failure) if failure.kind.is_refusal() => return Ok(()),
            Err(failure) => return Err(failure.into()),
        };
        let seen = self.with_entity_parent(&seen).await?;
        let seen = seen.as_ref();
        let Some(mut row) = self.agreed_row(entity_id).await? else { return Ok(()) };
        let committed = self.read_lore().await?;
        let Some(entity) = committed.state.entity(entity_id) else { return Ok(()) };
        let theirs = their_fields(seen, entity.entity_type, &AgreedRow::default());
        row.base = sent.fields_if_stored(&theirs);
        row.entry_key = sent.entry_key.filter(|_| row.base.entry.is_some());
        store_seen_fields(&mut row, seen);
        self.put_row(entity_id, &row).await?;
        self.apply_answer(seen).await
    }
}

/// An entity as it is sent for creation, and its merge base if the remote place stores it unchanged.
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

    /// The merge base after the creation: each field as it was sent, if the remote place stored something for it.
    fn fields_if_stored(&self, theirs: &MirroredFields) -> MirroredFields {
        let sent = &self.fields;
        MirroredFields {
            name: sent.name.clone(),
            subtype: if theirs.subtype.is_empty() { String::new() } else { sent.subtype.clone() },
            entry: theirs.entry.as_ref().and(sent.entry.clone()),
            tags: theirs.tags.clone(),
            aliases: Vec::new(),
            is_private: theirs.is_private,
            parent: theirs.parent.and(sent.parent),
            date: theirs.date.as_ref().and(sent.date.clone()),
        }
    }

    fn leave_out_links(&mut self) {
        (self.draft.parent, self.fields.parent) = (None, None);
        (self.draft.date, self.fields.date) = (None, None);
    }
}
