//! `browse_lore`: the lore as people look through it: hits of a search, or the newest entities, by type and tag.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::lore::{Entity, EntityFilter, EntityType, LoreSubject};
use skald_domain::text_fold::fold_text;
use skald_journal::search_tokens;

use super::access::EnteredLore;
use super::texts::Texts;
use crate::list_page::invalid_cursor_fault;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

/// Rows of a page, unless fewer are asked for.
const ROWS_MAX: usize = 30;
/// Characters of the beginning of a text.
const EXCERPT_CHARS: usize = 180;
/// In a larger lore types and tags are those of the rows that are shown: counting all takes longer than a page may.
const COUNTED_ENTITIES_MAX: usize = 5_000;
/// Revealed things that are listed, unless more or fewer are asked for.
const REVEALED_ROWS: usize = 12;
/// How long something that was revealed to the whole table is among what was revealed: until the next evening.
const TABLE_REVEALS_DAYS: i64 = 8;
/// Tags that are listed, those of the most entities.
const TAGS_MAX: usize = 40;

pub(super) struct BrowseLore;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BrowseLoreInput {
    /// The campaign.
    campaign_id: String,
    /// Words in names, aliases, texts and tags.
    query: Option<String>,
    /// Entities of this type alone.
    entity_type: Option<EntityType>,
    /// Entities with this tag alone.
    tag: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Up to 30, which is what is meant if left out.
    limit: Option<usize>,
    /// Names and types alone, for what is shown while somebody types.
    #[serde(default)]
    names_only: bool,
    /// How many revealed things; 12 if left out.
    revealed_limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BrowseLoreOutput {
    campaign_id: String,
    campaign_name: String,
    rows: Vec<BrowsedEntity>,
    /// What is private and was revealed to the caller, and what was revealed to the whole table lately, by when it was
    /// revealed, the newest first; on the first page of everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    revealed: Vec<RevealedThing>,
    /// How many of those there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    revealed_count: Option<usize>,
    /// Types that the caller sees something of.
    types: Vec<EntityType>,
    /// Tags of what the caller sees, those of the most entities first.
    tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BrowsedEntity {
    entity_id: u64,
    name: String,
    entity_type: EntityType,
    /// The subtype.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    subtype: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_private: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Where the words were found, or how the text begins.
    #[serde(skip_serializing_if = "String::is_empty")]
    excerpt: String,
    updated_at: Moment,
}

/// An entity that was revealed, or the one that a revealed post belongs to.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RevealedThing {
    entity_id: u64,
    /// Set if it is a post.
    #[serde(skip_serializing_if = "Option::is_none")]
    post_id: Option<u64>,
    /// The name of the entity, or that of the post.
    name: String,
    entity_type: EntityType,
}

impl Operation for BrowseLore {
    const NAME: &'static str = "browse_lore";
    const TITLE: &'static str = "Look through the lore";
    const SUMMARY: &'static str = "Hits of a search, or the newest entities, with the types and tags there are.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = BrowseLoreInput;
    type Output = BrowseLoreOutput;

    async fn run(app: &App, call: &Call<'_>, input: BrowseLoreInput) -> Result<BrowseLoreOutput, Fault> {
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let limit = input.limit.unwrap_or(ROWS_MAX).min(ROWS_MAX);
        let skipped: usize = match input.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| invalid_cursor_fault(cursor))?,
        };
        let mut found = app.browsed_ids(&lore, &input, skipped + limit + 1).await?;
        let next_cursor = (found.len() > skipped + limit).then(|| (skipped + limit).to_string());
        found.truncate(skipped + limit);
        let entities: Vec<&Entity> = found
            .iter()
            .skip(skipped)
            .filter_map(|entity_id| lore.visible_entity(*entity_id))
            .map(|entity| &**entity)
            .collect();
        let texts = if input.names_only {
            Texts::default()
        } else {
            let wanted = entities.iter().filter_map(|entity| entity.text.as_ref());
            app.load_texts(&lore.campaign_id, wanted).await?
        };
        let words = search_tokens::tokens(input.query.as_deref().unwrap_or_default());
        let rows: Vec<BrowsedEntity> =
            entities.iter().map(|entity| lore.browsed_entity(entity, &texts, &words)).collect();
        let is_first = skipped == 0 && input.query.is_none() && input.tag.is_none() && input.entity_type.is_none();
        let mut revealed =
            if is_first && !input.names_only { lore.revealed_things(app.clock.now()) } else { Vec::new() };
        let revealed_count = Some(revealed.len()).filter(|count| *count > 0);
        revealed.truncate(input.revealed_limit.unwrap_or(REVEALED_ROWS));
        let (types, tags) = if input.names_only { Default::default() } else { lore.types_and_tags(&entities) };
        Ok(BrowseLoreOutput {
            campaign_id: lore.campaign_id.clone(),
            campaign_name: lore.campaign_name.clone(),
            rows,
            revealed,
            revealed_count,
            types,
            tags,
            next_cursor,
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl App {
    /// The entities to show, in order: at most so many.
    async fn browsed_ids(&self, lore: &EnteredLore, input: &BrowseLoreInput, most: usize) -> Result<Vec<u64>, Fault> {
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let tag = input.tag.as_deref().map(str::trim).filter(|tag| !tag.is_empty());
        let is_current =
            |entity: &&std::sync::Arc<Entity>| !entity.is_superseded() && lore.redaction.is_visible(&***entity);
        if query.is_none() && tag.is_none() && input.entity_type.is_none() {
            let newest = lore.state().newest_entities().filter(is_current);
            return Ok(newest.take(most).map(|entity| entity.entity_id).collect());
        }
        let filter = EntityFilter {
            entity_type: input.entity_type,
            tags: tag.map(ToOwned::to_owned).into_iter().collect(),
            ..lore.entity_filter()
        };
        let matches = if let Some(query) = query {
            self.search_lore(lore, filter, query, None, None).await?.matches
        } else {
            let mut matches = lore.state().find(&filter);
            matches.reverse();
            matches
        };
        let ids = matches.into_iter().map(|found| found.entity_id);
        Ok(ids.filter(|entity_id| lore.visible_entity(*entity_id).is_some()).take(most).collect())
    }
}

impl EnteredLore {
    fn browsed_entity(&self, entity: &Entity, texts: &Texts, words: &[String]) -> BrowsedEntity {
        let name = |id: u64| self.named_entity(id).and_then(|named| named.name);
        let plain = skald_markup::plain_text_with_names(texts.markdown(entity.text.as_ref()), name);
        BrowsedEntity {
            entity_id: entity.entity_id,
            name: entity.name.to_string(),
            entity_type: entity.entity_type,
            subtype: entity.subtype.to_string(),
            is_private: entity.is_private,
            tags: self.state().tag_names(entity).into_iter().map(ToOwned::to_owned).collect(),
            excerpt: skald_markup::snippet(&plain, words, EXCERPT_CHARS, fold_text),
            updated_at: Moment::from(self.updated_at(entity)),
        }
    }

    /// What was revealed to the caller alone or with others, and lately to the whole table, the newest first. Nothing for
    /// game masters, who know it all.
    fn revealed_things(&self, now: Timestamp) -> Vec<RevealedThing> {
        let Some(viewer) = self.redaction.viewer().filter(|viewer| !viewer.is_game_master) else { return Vec::new() };
        let state = self.state();
        let is_for_table = |of: &LoreSubject| state.visibility_of(*of).is_some_and(|visible_to| visible_to.is_table());
        let entities = viewer.revealed_entities.iter().map(|id| LoreSubject::Entity { entity_id: *id });
        let posts = viewer.revealed_posts.iter().map(|id| LoreSubject::Post { post_id: *id });
        // Since when the caller has been among those who see it. Earlier versions did not record that with the lore.
        let own = entities.chain(posts).filter(|of| !is_for_table(of)).map(|of| {
            let steps = state.visibility_steps(of).iter().rev();
            let seen = steps.take_while(|step| step.visible_to.is_visible_to(viewer)).last();
            (seen.map(|step| step.since.timestamp()), of)
        });
        let oldest = now - SignedDuration::from_hours(24 * TABLE_REVEALS_DAYS);
        let of_table = state.revealed_subjects().filter_map(|of| {
            let step = state.visibility_steps(of).last().filter(|step| step.visible_to.is_table())?;
            let since = step.since.timestamp();
            (since >= oldest && is_for_table(&of)).then_some((Some(since), of))
        });
        let mut found: Vec<(Option<Timestamp>, LoreSubject)> = own.chain(of_table).collect();
        found.sort_by_key(|(since, of)| Reverse((*since, *of)));
        found.into_iter().filter_map(|(_, of)| self.revealed_thing(of)).collect()
    }

    /// An entity or a post, if the caller sees it and what it belongs to.
    fn revealed_thing(&self, of: LoreSubject) -> Option<RevealedThing> {
        let (entity, post) = match of {
            LoreSubject::Entity { entity_id } => (self.visible_entity(entity_id)?, None),
            LoreSubject::Post { post_id } => {
                let (entity, post) = self.state().post(post_id)?;
                let is_visible = !post.is_archived() && self.redaction.is_visible(&**post);
                (self.visible_entity(entity.entity_id)?, Some(is_visible.then_some(post)?))
            }
            LoreSubject::TimelineEvent { .. } | LoreSubject::Relationship { .. } => return None,
        };
        Some(RevealedThing {
            entity_id: entity.entity_id,
            post_id: post.map(|post| post.post_id),
            name: post.map_or(&entity.name, |post| &post.name).to_string(),
            entity_type: entity.entity_type,
        })
    }

    /// The types and the tags of what the caller sees; in a large lore those of the rows.
    fn types_and_tags(&self, shown: &[&Entity]) -> (Vec<EntityType>, Vec<String>) {
        let (mut types, mut tags) = (BTreeMap::<EntityType, usize>::new(), BTreeMap::<u32, usize>::new());
        let mut count = |entity: &Entity| {
            *types.entry(entity.entity_type).or_default() += 1;
            entity.tags.iter().for_each(|tag| *tags.entry(*tag).or_default() += 1);
        };
        let is_large = self.state().entity_count() > COUNTED_ENTITIES_MAX;
        if is_large {
            for entity in shown {
                count(entity);
            }
        } else {
            let visible = self.state().current_entities().filter(|entity| self.redaction.is_visible(&***entity));
            for entity in visible {
                count(entity);
            }
        }
        let types = if is_large { EntityType::ALL.to_vec() } else { types.into_keys().collect() };
        let mut tags: Vec<(u32, usize)> = tags.into_iter().collect();
        tags.sort_by_key(|(id, count)| (std::cmp::Reverse(*count), *id));
        let tags = tags.into_iter().take(TAGS_MAX).map(|(id, _)| self.state().tag_name(id).to_owned());
        (types, tags.collect())
    }
}
