//! `create_posts`, `update_posts` and `delete_posts`: further texts of an entity, each public or private.

use std::sync::Arc;

use futures::future::{BoxFuture, ready};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{LoreCommand, LoreEvent, NewPost, PostChange};

use super::access::EnteredLore;
use super::batch::{
    BatchItem, BatchOutput, BatchSubject, ItemAnswer, ItemFailure, ItemResult, PreparedItem, check_batch,
};
use super::entity_fields::privacy;
use super::entity_reference::EntityReference;
use super::entry_input::EntryFields;
use super::stream::LoreStream;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset,
};
use skald_journal::Applied;

pub(super) struct CreatePosts;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreatePostsInput {
    /// Up to 100.
    posts: Vec<NewPostItem>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewPostItem {
    entity_id: EntityReference,
    /// Its title.
    name: String,
    /// Markdown.
    entry: Option<String>,
    /// Only game masters see it.
    is_private: Option<bool>,
    #[schemars(extend("x-unlisted" = true))]
    is_hidden: Option<bool>,
}

impl Operation for CreatePosts {
    const NAME: &'static str = "create_posts";
    const TITLE: &'static str = "Create posts";
    const SUMMARY: &'static str =
        "Add posts to entities: further texts, such as a game master's secrets about a public place.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("posts");
    type Input = CreatePostsInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: CreatePostsInput) -> Result<BatchOutput, Fault> {
        let (campaign_id, posts) = (input.campaign_id.as_deref(), ("posts", &input.posts[..]));
        let sent_text: fn(&NewPostItem) -> Option<&str> = |item| item.entry.as_deref();
        app.run_batch_of_texts::<Self, _>(call, campaign_id, posts, sent_text, post_result).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

fn post_result(done: &Applied<LoreStream>) -> ItemResult {
    let event = done.events.first();
    let post_id = event.and_then(LoreEvent::post_id);
    let post = post_id.and_then(|id| done.committed.state.post(id));
    ItemResult {
        post_id,
        entity_id: event.and_then(LoreEvent::entity_id),
        revision: post.map(|(_, post)| post.revision),
        ..ItemResult::of_success()
    }
}

pub(super) struct UpdatePosts;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UpdatePostsInput {
    /// Up to 100; what is left out stays.
    updates: Vec<PostUpdateItem>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PostUpdateItem {
    entity_id: EntityReference,
    post_id: u64,
    name: Option<String>,
    entry: Option<String>,
    entry_append: Option<String>,
    is_private: Option<bool>,
    #[schemars(extend("x-unlisted" = true))]
    is_hidden: Option<bool>,
    expected_revision: Option<u64>,
}

impl Operation for UpdatePosts {
    const NAME: &'static str = "update_posts";
    const TITLE: &'static str = "Update posts";
    const SUMMARY: &'static str = "Change posts of entities; what is left out stays.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("updates");
    type Input = UpdatePostsInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: UpdatePostsInput) -> Result<BatchOutput, Fault> {
        let (campaign_id, updates) = (input.campaign_id.as_deref(), ("updates", &input.updates[..]));
        let sent_text: fn(&PostUpdateItem) -> Option<&str> =
            |item| item.entry.as_deref().or(item.entry_append.as_deref());
        app.run_batch_of_texts::<Self, _>(call, campaign_id, updates, sent_text, post_result).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    fn failed_post(&self, failure: &ItemFailure, reference: &EntityReference, post_id: u64) -> ItemResult {
        let entity_id = match reference {
            EntityReference::Id(id) => Some(*id),
            EntityReference::Name(_) => self.resolve_entity(reference, "").ok(),
        };
        let entity = entity_id.and_then(|id| self.visible_entity(id));
        let post = entity.and_then(|entity| self.visible_posts(entity).find(|post| post.post_id == post_id));
        let revision = post.map(|post| post.revision);
        let named = ItemResult { entity_id, post_id: Some(post_id), revision, ..ItemResult::default() };
        ItemResult::of_failure(failure, named)
    }

    /// Checks that a post is there, belongs to the entity and is visible to the caller.
    pub(super) fn find_post(&self, reference: &EntityReference, post_id: u64, pointer: &str) -> Result<u64, Fault> {
        let entity_id = self.resolve_entity(reference, &format!("{pointer}/entity_id"))?;
        let entity = self.visible_entity(entity_id);
        let is_there = entity.is_some_and(|entity| self.visible_posts(entity).any(|post| post.post_id == post_id));
        if is_there {
            return Ok(entity_id);
        }
        Err(Fault::new(Code::NotFound, format!("Post {post_id} of entity {entity_id} not found"))
            .with_path(format!("{pointer}/post_id"))
            .value(&post_id.into())
            .hint("`get_entities` with include_posts lists the posts of an entity"))
    }
}

impl App {
    fn prepare_post(&self, lore: &EnteredLore, item: &NewPostItem, pointer: &str) -> Result<PreparedItem, Fault> {
        let entity_id = lore.resolve_entity(&item.entity_id, &format!("{pointer}/entity_id"))?;
        let fields = EntryFields { entry: item.entry.as_deref(), entry_append: None, pointer };
        let (text, row) = self.change_entry(lore, &fields, None, |_| None)?.into_parts();
        let is_private = privacy(item.is_private, item.is_hidden, pointer)?.unwrap_or_default();
        let name = item.name.clone();
        let post = NewPost { entity_id, name, is_private, text: text.flatten(), post_id: None };
        Ok(PreparedItem::new(LoreCommand::CreatePost(Box::new(post)), row))
    }

    async fn prepare_post_update(
        &self,
        lore: &EnteredLore,
        item: &PostUpdateItem,
        pointer: &str,
    ) -> Result<PreparedItem, Fault> {
        let entity_id = lore.find_post(&item.entity_id, item.post_id, pointer)?;
        let post = lore.state().post(item.post_id).map(|(_, post)| post);
        let old = post.and_then(|post| post.text.as_ref());
        let writes_text = item.entry.is_some() || item.entry_append.is_some();
        let texts = self.load_texts(&lore.campaign_id, old.into_iter().filter(|_| writes_text)).await?;
        let fields = EntryFields { entry: item.entry.as_deref(), entry_append: item.entry_append.as_deref(), pointer };
        let (text, row) = self.change_entry(lore, &fields, texts.entry(old), |_| None)?.into_parts();
        let is_private = privacy(item.is_private, item.is_hidden, pointer)?;
        let change = Box::new(PostChange { name: item.name.clone(), is_private, text });
        let adds_text = item.entry_append.is_some() && item.expected_revision.is_none();
        let read_revision = post.map(|post| post.revision).filter(|_| adds_text);
        let expected_revision = item.expected_revision.or(read_revision);
        let command = LoreCommand::UpdatePost { entity_id, post_id: item.post_id, expected_revision, change };
        Ok(PreparedItem { pinned_to_state: adds_text, ..PreparedItem::new(command, row) })
    }
}

pub(super) struct DeletePosts;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DeletePostsInput {
    /// Up to 100.
    deletions: Vec<PostDeletion>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PostDeletion {
    entity_id: EntityReference,
    post_id: u64,
}

impl Operation for DeletePosts {
    const NAME: &'static str = "delete_posts";
    const TITLE: &'static str = "Delete posts";
    const SUMMARY: &'static str = "Put posts into the archive; lore_history brings them back.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    const DESTRUCTIVE: bool = true;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    const BATCH_FIELD: Option<&'static str> = Some("deletions");
    type Input = DeletePostsInput;
    type Output = BatchOutput;

    async fn run(app: &App, call: &Call<'_>, input: DeletePostsInput) -> Result<BatchOutput, Fault> {
        check_batch(call, input.deletions.len(), "deletions")?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let answer = |_| -> ItemAnswer { Arc::new(|done| ItemResult { revision: None, ..post_result(done) }) };
        Ok(app.run_batch::<Self, _>(call, &lore, ("deletions", &input.deletions), answer).await.with_misfits(call))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl BatchItem for NewPostItem {
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        Box::pin(ready(app.prepare_post(lore, self, pointer)))
    }

    fn subject(&self, _: &EnteredLore) -> BatchSubject {
        BatchSubject::New
    }

    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        ItemResult { revision: None, ..lore.failed_entity(failure, &self.entity_id) }
    }
}

impl BatchItem for PostUpdateItem {
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        Box::pin(app.prepare_post_update(lore, self, pointer))
    }

    fn subject(&self, _: &EnteredLore) -> BatchSubject {
        BatchSubject::Post(self.post_id)
    }

    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        lore.failed_post(failure, &self.entity_id, self.post_id)
    }
}

impl BatchItem for PostDeletion {
    fn prepare<'a>(
        &'a self,
        _: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>> {
        let (entity_id, post_id) = (lore.find_post(&self.entity_id, self.post_id, pointer), self.post_id);
        let archive = |entity_id| LoreCommand::ArchivePost { entity_id, post_id, expected_revision: None };
        Box::pin(ready(entity_id.map(|entity_id| PreparedItem::new(archive(entity_id), None))))
    }

    fn subject(&self, _: &EnteredLore) -> BatchSubject {
        BatchSubject::Post(self.post_id)
    }

    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult {
        lore.failed_post(failure, &self.entity_id, self.post_id)
    }
}
