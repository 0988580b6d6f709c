//! `get_entities` and `check_entity_updates`: entities by id, whole, and what changed since a moment.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::lore::{Entity, Post};

use super::access::EnteredLore;
use super::batch::check_batch;
use super::entity_reference::EntityReference;
use super::entity_view::EntityView;
use super::mirror::MirrorFreshness;
use super::texts::Texts;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Completion, CompletionRequest, Fault, Operation, OperationKind,
    PermissionClass, Route, Toolset, limits, truncate_for_message,
};

/// Entries or posts that are read at once.
const TEXTS_AT_ONCE: usize = 8;

pub(super) struct GetEntities;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GetEntitiesInput {
    /// Ids or unique names.
    entity_ids: Vec<EntityReference>,
    /// Their posts too.
    #[serde(default)]
    include_posts: bool,
    /// Only the posts after this one: the `posts_after` of an answer.
    posts_after: Option<u64>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct GetEntitiesOutput {
    /// One for each id, in order.
    results: Vec<FoundEntity>,
    /// How fresh it is, on a campaign that is linked to Kanka.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    mirror: Option<MirrorFreshness>,
}

/// An entity, or why there is none.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundEntity {
    #[serde(flatten)]
    entity: Option<EntityView>,
    /// The id that was asked for, if there is no entity.
    #[serde(rename = "entity_id", skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    asked_id: Option<u64>,
    /// The name that was asked for, if there is no entity.
    #[serde(rename = "name", skip_serializing_if = "Option::is_none")]
    #[schemars(skip)]
    asked_name: Option<String>,
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Operation for GetEntities {
    const NAME: &'static str = "get_entities";
    const TITLE: &'static str = "Get entities";
    const SUMMARY: &'static str =
        "Whole entities by id or unique name: text, tags, what they mention and what mentions them.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const TEXT_FIELD: Option<&'static str> = Some("results");
    type Input = GetEntitiesInput;
    type Output = GetEntitiesOutput;

    async fn run(app: &App, call: &Call<'_>, input: GetEntitiesInput) -> Result<GetEntitiesOutput, Fault> {
        check_batch(call, input.entity_ids.len(), "entity_ids")?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let found: Vec<Result<u64, Fault>> = input
            .entity_ids
            .iter()
            .enumerate()
            .map(|(index, reference)| lore.resolve_entity(reference, &format!("/entity_ids/{index}")))
            .collect();
        let found = if input.include_posts {
            app.views_with_posts(&lore, found, input.posts_after).await?
        } else {
            app.views_without_posts(&lore, found).await?
        };
        let result = |(reference, found): (EntityReference, Result<EntityView, Fault>)| match found {
            Ok(entity) => {
                FoundEntity { entity: Some(entity), asked_id: None, asked_name: None, success: true, error: None }
            }
            Err(fault) => {
                let (asked_id, asked_name) = match reference {
                    EntityReference::Id(id) => (Some(id), None),
                    EntityReference::Name(name) => (None, Some(name)),
                };
                FoundEntity { entity: None, asked_id, asked_name, success: false, error: Some(fault.to_string()) }
            }
        };
        let results = input.entity_ids.into_iter().zip(found).map(result).collect();
        Ok(GetEntitiesOutput { results, mirror: None })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    /// An entity with everything that the caller may see of it.
    pub(super) fn whole_entity(&self, entity_id: u64, with_posts: bool, texts: &Texts) -> Option<EntityView> {
        let entity = self.visible_entity(entity_id)?;
        let posts = with_posts.then(|| self.visible_posts(entity).map(|post| post.post_id).collect());
        Some(self.entity_with_posts(entity, posts.as_ref(), texts))
    }

    /// An entity with some of its posts.
    fn entity_with_posts(&self, entity: &Entity, post_ids: Option<&BTreeSet<u64>>, texts: &Texts) -> EntityView {
        let no_posts = BTreeSet::new();
        let shown = post_ids.unwrap_or(&no_posts);
        let posts = post_ids
            .map(|shown| self.post_views(entity, texts).into_iter().filter(|post| shown.contains(&post.id)).collect());
        EntityView { posts, ..self.with_relations(entity, shown, self.full_view(entity, texts)) }
    }
}

/// The texts of an entity, as many as were asked for.
#[derive(Default)]
struct EntityTexts {
    texts: Texts,
    /// The posts whose texts were read.
    post_ids: BTreeSet<u64>,
    /// If there are more posts: the one after which they follow.
    posts_after: Option<u64>,
}

impl EnteredLore {
    /// An entity with the posts whose texts were read.
    fn view_with_posts(&self, entity_id: u64, read: &EntityTexts) -> Option<EntityView> {
        let entity = self.visible_entity(entity_id)?;
        let view = self.entity_with_posts(entity, Some(&read.post_ids), &read.texts);
        Some(EntityView { posts_after: read.posts_after, ..view })
    }

    /// The posts of an entity that the caller sees and that follow one of its posts; all if it has no such post.
    fn posts_following(&self, entity: &Entity, after: Option<u64>) -> Vec<Arc<Post>> {
        let all = &entity.details().posts;
        let place = after.and_then(|after| all.iter().position(|post| post.post_id == after));
        let following = all.iter().skip(place.map_or(0, |place| place + 1));
        following.filter(|post| self.is_post_visible(post.post_id)).cloned().collect()
    }
}

impl App {
    /// Entities without their posts, in order, until their texts are as long as one answer may be. Entities after that
    /// are refused, so that no text has to be cut.
    async fn views_without_posts(
        &self,
        lore: &EnteredLore,
        found: Vec<Result<u64, Fault>>,
    ) -> Result<Vec<Result<EntityView, Fault>>, Fault> {
        let (mut views, mut bytes) = (Vec::with_capacity(found.len()), 0);
        for part in found.chunks(TEXTS_AT_ONCE) {
            let is_full = bytes >= limits::ENTITY_TEXTS_BYTES_MAX;
            let ids = part.iter().filter(|_| !is_full).filter_map(|found| found.as_ref().ok().copied());
            let texts = self.texts_of_entities(lore, ids, false).await?;
            bytes += texts.bytes();
            for found in part {
                let index = views.len();
                views.push(match found {
                    Ok(_) if is_full => Err(full_answer_fault(index)),
                    Ok(id) => lore.whole_entity(*id, false, &texts).ok_or_else(|| missing_at(lore, *id, index)),
                    Err(fault) => Err(fault.clone()),
                });
            }
        }
        Ok(views)
    }

    /// The same with posts. Of an entity whose posts go beyond what one answer may have, the further ones are left out.
    async fn views_with_posts(
        &self,
        lore: &EnteredLore,
        found: Vec<Result<u64, Fault>>,
        after: Option<u64>,
    ) -> Result<Vec<Result<EntityView, Fault>>, Fault> {
        let (mut views, mut left) = (Vec::with_capacity(found.len()), limits::ENTITY_TEXTS_BYTES_MAX);
        for (index, found) in found.into_iter().enumerate() {
            views.push(match found {
                Ok(_) if left == 0 => Err(full_answer_fault(index)),
                Ok(id) => {
                    let read = self.texts_of_entity(lore, id, after, left).await?;
                    left = left.saturating_sub(read.texts.bytes());
                    lore.view_with_posts(id, &read).ok_or_else(|| missing_at(lore, id, index))
                }
                Err(fault) => Err(fault),
            });
        }
        Ok(views)
    }

    /// The texts of an entity and of its posts after one of them, until they have so many bytes.
    async fn texts_of_entity(
        &self,
        lore: &EnteredLore,
        entity_id: u64,
        after: Option<u64>,
        bytes_max: usize,
    ) -> Result<EntityTexts, Fault> {
        let Some(entity) = lore.visible_entity(entity_id) else { return Ok(EntityTexts::default()) };
        let mut texts = self.load_texts(&lore.campaign_id, entity.text.iter()).await?;
        let posts = lore.posts_following(entity, after);
        let mut post_ids = BTreeSet::new();
        for part in posts.chunks(TEXTS_AT_ONCE) {
            if texts.bytes() >= bytes_max {
                break;
            }
            texts.append(self.load_texts(&lore.campaign_id, part.iter().filter_map(|post| post.text.as_ref())).await?);
            post_ids.extend(part.iter().map(|post| post.post_id));
        }
        let last_read = posts[..post_ids.len()].last().map_or(after.unwrap_or_default(), |post| post.post_id);
        let posts_after = (post_ids.len() < posts.len()).then_some(last_read);
        Ok(EntityTexts { texts, post_ids, posts_after })
    }

    /// The texts of entities, and of those of their posts that the caller sees.
    pub(super) async fn texts_of_entities(
        &self,
        lore: &EnteredLore,
        ids: impl Iterator<Item = u64>,
        with_posts: bool,
    ) -> Result<Texts, Fault> {
        let entities: Vec<_> = ids.filter_map(|id| lore.visible_entity(id)).collect();
        let posts = entities.iter().filter(|_| with_posts).flat_map(|entity| lore.visible_posts(entity));
        let posts: Vec<_> = posts.filter_map(|post| post.text.as_ref()).collect();
        let entries = entities.iter().filter_map(|entity| entity.text.as_ref());
        self.load_texts(&lore.campaign_id, entries.chain(posts)).await
    }
}

fn missing_at(lore: &EnteredLore, entity_id: u64, index: usize) -> Fault {
    lore.missing_entity(&EntityReference::Id(entity_id), &format!("/entity_ids/{index}"))
}

fn full_answer_fault(index: usize) -> Fault {
    let most = limits::ENTITY_TEXTS_BYTES_MAX;
    let message = format!("the entities before it have {most} bytes of texts, which is all that one answer holds");
    Fault::new(Code::TooLarge, message).with_path(format!("/entity_ids/{index}")).hint("ask for it in another call")
}

/// `lore://{campaign_id}/entity/{entity_id}`: one entity with its posts.
pub(super) struct ReadEntity;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadEntityInput {
    /// The campaign.
    campaign_id: String,
    /// Its number or unique name.
    entity_id: EntityReference,
    /// Only the posts after this one: the `posts_after` of an answer.
    posts_after: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReadEntityOutput {
    entity: EntityView,
    /// How fresh it is, on a campaign that is linked to Kanka.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    mirror: Option<MirrorFreshness>,
}

impl Operation for ReadEntity {
    const NAME: &'static str = "read_entity";
    const TITLE: &'static str = "An entity";
    const SUMMARY: &'static str = "One entity with its posts, and what mentions it.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: crate::Exposed = crate::Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/entities/{entity_id}")];
    type Input = ReadEntityInput;
    type Output = ReadEntityOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadEntityInput) -> Result<ReadEntityOutput, Fault> {
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let entity_id = lore.resolve_entity(&input.entity_id, "/entity_id")?;
        let most = limits::ENTITY_TEXTS_BYTES_MAX;
        let read = app.texts_of_entity(&lore, entity_id, input.posts_after, most).await?;
        let entity = lore.view_with_posts(entity_id, &read);
        let missing = || lore.missing_entity(&EntityReference::Id(entity_id), "/entity_id");
        entity.map(|entity| ReadEntityOutput { entity, mirror: None }).ok_or_else(missing)
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        app.complete_lore_argument(caller, request).await
    }
}

pub(super) struct CheckEntityUpdates;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckEntityUpdatesInput {
    /// Up to 10,000, or unique names.
    entity_ids: Vec<EntityReference>,
    /// The moment of your last look: 2025-05-30T10:00:00Z.
    last_synced: String,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct CheckEntityUpdatesOutput {
    modified_entity_ids: Vec<u64>,
    deleted_entity_ids: Vec<u64>,
    /// Send it as `last_synced` next time.
    check_timestamp: Moment,
}

impl Operation for CheckEntityUpdates {
    const NAME: &'static str = "check_entity_updates";
    const TITLE: &'static str = "Check for updates";
    const SUMMARY: &'static str = "Which of these entities changed or were deleted since a moment.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    type Input = CheckEntityUpdatesInput;
    type Output = CheckEntityUpdatesOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: CheckEntityUpdatesInput,
    ) -> Result<CheckEntityUpdatesOutput, Fault> {
        let most = limits::CHECKED_ENTITIES_MAX;
        if input.entity_ids.len() > most {
            let message = format!("entity_ids has {} items, allowed: {most}", input.entity_ids.len());
            let fault = Fault::new(Code::InvalidParams, message).with_path("/entity_ids");
            return Err(fault.hint("ask in several calls, or use `find_entities` with last_synced"));
        }
        let since = parse_moment(&input.last_synced, "/last_synced")?;
        // Taken before the state is read, so that no change falls between two checks.
        let check_timestamp = Moment::from(app.clock.now());
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let ids = input.entity_ids.iter().enumerate().map(|(index, reference)| match reference {
            EntityReference::Id(id) => Ok(*id),
            // What was deleted has no name any more, so a name that is unknown is an error.
            EntityReference::Name(_) => lore.resolve_entity(reference, &format!("/entity_ids/{index}")),
        });
        let ids = ids.collect::<Result<Vec<u64>, Fault>>()?;
        let (there, deleted): (Vec<u64>, Vec<u64>) = ids.into_iter().partition(|id| lore.visible_entity(*id).is_some());
        let is_modified = |id: &u64| {
            let entity = lore.visible_entity(*id);
            entity.is_some_and(|entity| lore.updated_at(entity) > since)
        };
        Ok(CheckEntityUpdatesOutput {
            modified_entity_ids: there.into_iter().filter(is_modified).collect(),
            deleted_entity_ids: deleted,
            check_timestamp,
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// A moment as clients write it: with an offset, or a date or time without one, which is taken as UTC.
pub(super) fn parse_moment(text: &str, pointer: &str) -> Result<Timestamp, Fault> {
    let text = text.trim();
    let civil = || text.parse::<jiff::civil::DateTime>().ok()?.to_zoned(jiff::tz::TimeZone::UTC).ok();
    text.parse().ok().or_else(|| civil().map(|zoned| zoned.timestamp())).ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("{:?} is no moment", truncate_for_message(text)))
            .with_path(pointer)
            .value(&text.into())
            .hint("send one like 2025-05-30T10:00:00Z")
    })
}
