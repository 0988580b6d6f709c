//! `update_entities` and `delete_entities`: change entities field by field, and put them into the archive.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{EntityChange, LoreCommand, LoreEvent};

use super::access::EnteredLore;
use super::batch::{
    BatchItem, BatchOutput, BatchSubject, ItemAnswer, ItemFailure, ItemResult, PreparedItem, check_batch,
};
use super::entity_fields::{clearable, list_or_empty_text, privacy};
use super::entity_reference::EntityReference;
use super::entry_input::EntryFields;
use super::stream::LoreStream;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, Operation, OperationKind, PermissionClass, Toolset};
use skald_journal::Applied;

pub(super) struct UpdateEntities;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdateEntitiesInput {
    /// Up to 100; what is left out stays, an empty text clears.
    updates: Vec<EntityUpdateItem>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

/// One entity to change. What is left out stays; an empty text clears.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EntityUpdateItem {
    /// Its id or unique name.
    entity_id: EntityReference,
    name: Option<String>,
    r#type: Option<String>,
    /// Replaces the whole text, Markdown.
    entry: Option<String>,
    /// Adds to the text, without reading it first.
    entry_append: Option<String>,
    /// Replaces all tags.
    #[serde(default, deserialize_with = "list_or_empty_text")]
    tags: Option<Vec<String>>,
    is_private: Option<bool>,
    #[schemars(extend("x-unlisted" = true))]
    is_hidden: Option<bool>,
    #[serde(default, deserialize_with = "list_or_empty_text")]
    aliases: Option<Vec<String>>,
    parent: Option<EntityReference>,
    image: Option<String>,
    date: Option<String>,
    actor_id: Option<String>,
    /// The revision that you read; another one is a conflict.
    expected_revision: Option<u64>,
}

impl Operation for UpdateEntities {
    const NAME: &'static str = "update_entities";
    const TITLE: &'static str = "Update entities";
    const SUMMARY: &'static str = "Change entities. Only the fields that are sent change; an empty text clears a field. Earlier \
        versions stay in lore_history.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("updates");
    type Input = UpdateEntitiesInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: UpdateEntitiesInput) -> Result<BatchOutput, Fault> {
        let (campaign_id, updates) = (input.campaign_id.as_deref(), ("updates", &input.updates[..]));
        let sent_text: fn(&EntityUpdateItem) -> Option<&str> =
            |item| item.entry.as_deref().or(item.entry_append.as_deref());
        app.run_batch_of_texts::<Self, _>(call, campaign_id, updates, sent_text, changed_result).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// The result of a change of an entity.
fn changed_result(done: &Applied<LoreStream>) -> ItemResult {
    let entity_id = done.events.first().and_then(LoreEvent::entity_id);
    let entity = entity_id.and_then(|id| done.committed.state.entity(id));
    ItemResult { entity_id, revision: entity.map(|entity| entity.revision), ..ItemResult::of_success() }
}

impl EnteredLore {
    /// The entity that an item of a batch changes.
    fn entity_subject(&self, reference: &EntityReference) -> BatchSubject {
        self.resolve_entity(reference, "").map_or(BatchSubject::Missing, BatchSubject::Entity)
    }

    /// The result of an item that was not stored.
    pub(super) fn failed_entity(&self, failure: &ItemFailure, reference: &EntityReference) -> ItemResult {
        let entity_id = match reference {
            EntityReference::Id(id) => Some(*id),
            EntityReference::Name(_) => self.resolve_entity(reference, "").ok(),
        };
        let revision = entity_id.and_then(|id| self.visible_entity(id)).map(|entity| entity.revision);
        let named = ItemResult { entity_id, revision, ..ItemResult::default() };
        ItemResult::of_failure(failure, named)
    }
}

impl BatchItem for EntityUpdateItem {
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        Box::pin(app.prepare_update(lore, self, pointer))
    }

    fn subject(&self, lore: &EnteredLore) -> BatchSubject {
        // An earlier item may give an entity the name by which this one calls its parent.
        match App::resolve_parent(lore, self.parent.as_ref(), "") {
            Ok(_) => lore.entity_subject(&self.entity_id),
            Err(_) => BatchSubject::Missing,
        }
    }

    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        lore.failed_entity(failure, &self.entity_id)
    }
}

impl App {
    async fn prepare_update(
        &self,
        lore: &EnteredLore,
        item: &EntityUpdateItem,
        pointer: &str,
    ) -> Result<PreparedItem, Fault> {
        let entity_id = lore.resolve_entity(&item.entity_id, &format!("{pointer}/entity_id"))?;
        let entity = lore.state().entity(entity_id);
        let old = entity.and_then(|entity| entity.text.as_ref());
        let writes_text = item.entry.is_some() || item.entry_append.is_some();
        let texts = self.load_texts(&lore.campaign_id, old.into_iter().filter(|_| writes_text)).await?;
        let fields = EntryFields { entry: item.entry.as_deref(), entry_append: item.entry_append.as_deref(), pointer };
        let (text, row) = self.change_entry(lore, &fields, texts.entry(old), |_| None)?.into_parts();
        let change = EntityChange {
            name: item.name.clone(),
            subtype: item.r#type.clone(),
            tags: item.tags.clone(),
            aliases: item.aliases.clone(),
            is_private: privacy(item.is_private, item.is_hidden, pointer)?,
            parent: Self::resolve_parent(lore, item.parent.as_ref(), pointer)?,
            image: clearable(item.image.as_ref()),
            date: clearable(item.date.as_ref()),
            actor_id: self.resolve_linked_actor(lore, item.actor_id.as_ref(), pointer).await?,
            text,
            source: None,
        };
        // What is added to a text must not overwrite what somebody else wrote meanwhile.
        let adds_text = item.entry_append.is_some() && item.expected_revision.is_none();
        let read_revision = entity.map(|entity| entity.revision).filter(|_| adds_text);
        let expected_revision = item.expected_revision.or(read_revision);
        let command = LoreCommand::UpdateEntity { entity_id, expected_revision, change: Box::new(change) };
        Ok(PreparedItem { pinned_to_state: adds_text, ..PreparedItem::new(command, row) })
    }
}

pub(super) struct DeleteEntities;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeleteEntitiesInput {
    /// Ids or unique names.
    entity_ids: Vec<EntityReference>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

impl Operation for DeleteEntities {
    const NAME: &'static str = "delete_entities";
    const TITLE: &'static str = "Delete entities";
    const SUMMARY: &'static str = "Put entities with their posts into the archive: nobody finds them any more, and lore_history \
        brings them back until the archive is emptied.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const DESTRUCTIVE: bool = true;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("entity_ids");
    type Input = DeleteEntitiesInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: DeleteEntitiesInput) -> Result<BatchOutput, Fault> {
        check_batch(call, input.entity_ids.len(), "entity_ids")?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let items: Vec<DeletedEntity> = input.entity_ids.into_iter().map(DeletedEntity).collect();
        let answer = |_| -> ItemAnswer { Arc::new(|done| ItemResult { revision: None, ..changed_result(done) }) };
        Ok(app.run_batch::<Self, _>(call, &lore, ("entity_ids", &items), answer).await.with_misfits(call))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// An entity to put into the archive.
struct DeletedEntity(EntityReference);

impl BatchItem for DeletedEntity {
    fn prepare<'a>(
        &'a self,
        _: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        let entity_id = lore.resolve_entity(&self.0, pointer);
        let command = entity_id.map(|entity_id| LoreCommand::ArchiveEntity { entity_id, expected_revision: None });
        Box::pin(ready(command.map(|command| PreparedItem::new(command, None))))
    }

    fn subject(&self, lore: &EnteredLore) -> BatchSubject {
        lore.entity_subject(&self.0)
    }

    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        lore.failed_entity(failure, &self.0)
    }
}
