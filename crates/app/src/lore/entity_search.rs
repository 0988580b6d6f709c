//! `entity_search`: entities by name or type, briefly; posts, timeline and session notes too where that is asked for.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{Entity, EntityFilter, EntityType, LoreState, fold_name};
use skald_domain::text_fold::fold_text;

use super::access::EnteredLore;
use super::entity_fields::EntityTypeWord;
use super::search::SearchResult;
use super::search_cursor::SearchCursor;
use super::texts::Texts;
use super::timeline_rows::{TimelineFilter, TimelineRow};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Completion, CompletionRequest, Fault, Operation, OperationKind,
    PermissionClass, Toolset, limits,
};
use skald_journal::{SearchQuery, search_tokens};

/// Rows of an answer, unless another number is asked for.
const LIMIT_DEFAULT: usize = 20;
const LIMIT_MAX: usize = 100;
/// Characters of a description.
const DESCRIPTION_CHARS: usize = 160;

pub(super) struct EntitySearch;

/// Where else to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SearchPlace {
    Entities,
    Posts,
    Timeline,
    Notes,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EntitySearchInput {
    /// The campaign.
    campaign_id: String,
    /// Words; all entities if left out.
    query: Option<String>,
    /// Filter by entity type.
    entity_type: Option<EntityTypeWord>,
    /// Also posts, timeline, or notes of sessions.
    #[serde(default)]
    r#in: Vec<SearchPlace>,
    /// 20 if left out.
    #[schemars(range(min = 1, max = LIMIT_MAX))]
    limit: Option<usize>,
    /// The `next_cursor`.
    cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EntitySearchOutput {
    entities: Vec<SearchedEntity>,
    /// How many were found; there are more if `more` has entities.
    total: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    posts: Option<Vec<FoundPost>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline: Option<Vec<TimelineRow>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<Vec<FoundSessionNote>>,
    /// Parts that have more: send narrower words, or for entities the cursor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more: Vec<SearchPlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct SearchedEntity {
    /// `entity_id` as a text.
    id: String,
    entity_id: u64,
    name: String,
    r#type: String,
    description: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct FoundPost {
    post_id: u64,
    entity_id: u64,
    name: String,
    description: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[schemars(extend("x-brief" = true))]
pub(super) struct FoundSessionNote {
    note_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    description: String,
}

impl Operation for EntitySearch {
    const NAME: &'static str = "entity_search";
    const TITLE: &'static str = "Search entities";
    const SUMMARY: &'static str = "Search for entities by name or type.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    type Input = EntitySearchInput;
    type Output = EntitySearchOutput;

    async fn run(app: &App, call: &Call<'_>, input: EntitySearchInput) -> Result<EntitySearchOutput, Fault> {
        let (limit, start) = (input.checked_limit()?, input.start_of_page()?);
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let filter = EntityFilter {
            entity_type: input.entity_type.map(EntityTypeWord::entity_type),
            subtype_or_tag: input.entity_type.and_then(EntityTypeWord::subtype).map(ToOwned::to_owned),
            ..lore.entity_filter()
        };
        let found = match query {
            Some(query) => app.search_lore(&lore, filter, query, start.rest, None).await?,
            None => SearchResult::without_query(lore.state().find(&filter)),
        };
        let visible: Vec<&Arc<Entity>> =
            found.matches.iter().filter_map(|found| lore.visible_entity(found.entity_id)).collect();
        let page: Vec<&Arc<Entity>> = visible.iter().skip(start.skipped).take(limit).copied().collect();
        let texts = app.load_texts(&lore.campaign_id, page.iter().filter_map(|entity| entity.text.as_ref())).await?;
        let entities: Vec<SearchedEntity> = page.iter().map(|entity| lore.found_entity(entity, &texts)).collect();
        let end = start.skipped + entities.len();
        // The texts that a search ranks are limited; the cursor goes on with the others.
        let mut more: Vec<SearchPlace> = found.rest.iter().map(|_| SearchPlace::Entities).collect();
        let asks = |place| input.r#in.contains(&place);
        let mut posts = None;
        if asks(SearchPlace::Posts) {
            let found = app.found_posts(&lore, query, limit + 1).await?;
            posts = Some(cut_part(found, limit, SearchPlace::Posts, &mut more));
        }
        let mut timeline = None;
        if asks(SearchPlace::Timeline) {
            let found = app.found_timeline(&lore, query, limit + 1).await?;
            timeline = Some(cut_part(found, limit, SearchPlace::Timeline, &mut more));
        }
        let mut notes = None;
        if asks(SearchPlace::Notes) {
            let found = app.search_notes::<Self>(call, &lore.campaign_id, query, limit + 1).await?;
            let words = query_words(query);
            let shown = found.into_iter().map(|note| FoundSessionNote {
                note_id: note.note_id,
                session_id: note.session_id,
                description: skald_markup::snippet(&note.text, &words, DESCRIPTION_CHARS, fold_text),
            });
            notes = Some(cut_part(shown.collect(), limit, SearchPlace::Notes, &mut more));
        }
        let next_cursor = start.next_page(end, visible.len(), found.rest);
        Ok(EntitySearchOutput {
            entities,
            total: start.total(visible.len()),
            posts,
            timeline,
            notes,
            more,
            next_cursor,
        })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        app.complete_lore_argument(caller, request).await
    }
}

impl EntitySearchInput {
    fn checked_limit(&self) -> Result<usize, Fault> {
        let limit = self.limit.unwrap_or(LIMIT_DEFAULT);
        if (1..=LIMIT_MAX).contains(&limit) {
            return Ok(limit);
        }
        let fault = Fault::new(Code::InvalidParams, format!("limit is {limit}, allowed: 1 to {LIMIT_MAX}"));
        Err(fault.with_path("/limit").value(&limit.into()).hint("ask for fewer, and send the cursor for the rest"))
    }

    fn start_of_page(&self) -> Result<SearchCursor, Fault> {
        self.cursor.as_deref().map_or(Ok(SearchCursor::default()), SearchCursor::parse)
    }
}

/// The type of an entity in the word by which a client asks for it: a character of type NPC, or with that tag, is an `npc`.
pub(super) fn type_word(state: &LoreState, entity: &Entity) -> String {
    let is_tagged = |word: &str| state.tag_names(entity).into_iter().any(|tag| fold_name(tag) == word);
    let is = |word: &str| fold_name(&entity.subtype) == word || is_tagged(word);
    match entity.entity_type {
        EntityType::Character if is("npc") => "npc".to_owned(),
        EntityType::Organization if is("faction") => "faction".to_owned(),
        entity_type => entity_type.as_str().to_owned(),
    }
}

/// The first rows of a part, up to `limit`. If there is another one, the part has more.
fn cut_part<T>(mut rows: Vec<T>, limit: usize, place: SearchPlace, more: &mut Vec<SearchPlace>) -> Vec<T> {
    if rows.len() > limit {
        rows.truncate(limit);
        more.push(place);
    }
    rows
}

fn query_words(query: Option<&str>) -> Vec<String> {
    search_tokens::tokens(query.unwrap_or_default())
}

impl EnteredLore {
    fn found_entity(&self, entity: &Entity, texts: &Texts) -> SearchedEntity {
        SearchedEntity {
            id: entity.entity_id.to_string(),
            entity_id: entity.entity_id,
            name: entity.name.to_string(),
            r#type: type_word(self.state(), entity),
            description: self.brief_text(texts.markdown(entity.text.as_ref()), &[]),
        }
    }

    /// The beginning of a text, or the place with one of the words. Names in mentions are those that the caller sees.
    pub(super) fn brief_text(&self, markdown: &str, words: &[String]) -> String {
        let name = |id: u64| self.named_entity(id).and_then(|named| named.name);
        let plain = skald_markup::plain_text_with_names(markdown, name);
        skald_markup::snippet(&plain, words, DESCRIPTION_CHARS, fold_text)
    }
}

impl App {
    async fn found_posts(
        &self,
        lore: &EnteredLore,
        query: Option<&str>,
        limit: usize,
    ) -> Result<Vec<FoundPost>, Fault> {
        let (state, may_find) = (Arc::clone(&lore.committed), lore.row_filter(true));
        // Rows that the caller may not see are dropped before the limit, or their number would tell of them.
        let accepts = move |serial: u32| state.state.post(serial.into()).is_some() && may_find(serial);
        let ids = self.search_collection(lore, super::stream::POSTS, query, limit, accepts).await?;
        let posts: Vec<_> = ids.into_iter().filter_map(|id| lore.state().post(id)).collect();
        let texts = self.load_texts(&lore.campaign_id, posts.iter().filter_map(|(_, post)| post.text.as_ref())).await?;
        let words = query_words(query);
        let rows = posts.into_iter().map(|(entity, post)| FoundPost {
            post_id: post.post_id,
            entity_id: entity.entity_id,
            name: post.name.to_string(),
            description: lore.brief_text(texts.markdown(post.text.as_ref()), &words),
        });
        Ok(rows.collect())
    }

    async fn found_timeline(
        &self,
        lore: &EnteredLore,
        query: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TimelineRow>, Fault> {
        let Some(query) = query else {
            let rows = lore.written_rows(&TimelineFilter::default());
            return Ok(rows.into_iter().take(limit).map(|(_, row)| row).collect());
        };
        let (state, redaction) = (Arc::clone(&lore.committed), lore.redaction.clone());
        // Rows that only other people may see are dropped before the limit, or their number would tell of them.
        let is_visible = move |serial: u32| {
            state.state.timeline().get(serial.into()).is_some_and(|event| redaction.is_visible(&**event))
        };
        let ids = self.search_collection(lore, super::stream::TIMELINE, Some(query), limit, is_visible).await?;
        let events = ids.into_iter().filter_map(|id| lore.state().timeline().get(id));
        Ok(events.map(|event| lore.timeline_row(event)).collect())
    }

    /// The newest documents of a collection of the lore that meet all words, by their numbers.
    async fn search_collection(
        &self,
        lore: &EnteredLore,
        collection: &str,
        query: Option<&str>,
        limit: usize,
        accepts: impl Fn(u32) -> bool + Send + Sync + 'static,
    ) -> Result<Vec<u64>, Fault> {
        let terms = search_tokens::query_terms(query.unwrap_or_default());
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let hits = self.journal.search(SearchQuery {
            collection: collection.to_owned(),
            partition: lore.campaign_id.clone(),
            classes: lore.searched_classes(collection),
            terms,
            below: None,
            within: None,
            limit: limit.min(limits::RANKED_HITS_MAX),
            accepts: Arc::new(accepts),
        });
        let hits = hits.await.map_err(|error| self.store_fault(&error))?;
        Ok(hits.into_iter().map(|hit| hit.serial.into()).collect())
    }
}
