//! `find_entities`: finds entities by name, type, tags, date and text, ranked, page by page.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::lore::{Entity, EntityFilter, EntityMatch, NameFilter, date_in_entry, parse_date};
use skald_domain::text_fold::fold_text;
use skald_journal::search_tokens::{self, SearchTerm};

use super::access::EnteredLore;
use super::entity_fields::EntityTypeWord;
use super::entity_reference::EntityReference;
use super::entity_view::EntityView;
use super::entry_input::CUT_MARK;
use super::get::parse_moment;
use super::mirror::MirrorFreshness;
use super::search::{FoundBy, SearchResult};
use super::search_cursor::SearchCursor;
use super::texts::Texts;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Completion, CompletionRequest, Fault, Operation, OperationKind,
    PermissionClass, Route, Toolset, limits,
};

/// Rows of a page, unless another number is asked for.
const PAGE_DEFAULT: usize = 25;
/// The most rows of a page; more are asked for as all.
const PAGE_MAX: usize = 100;
/// Characters of all entries in one answer. Longer ones are cut, so that all fit.
const ENTRIES_CHARS_MAX: usize = 40_000;
/// Characters that every entry may have, however many there are.
const ENTRY_CHARS_LEAST: usize = 400;
/// Texts of a page that are in memory at once.
const SHOWN_TEXTS_AT_ONCE: usize = 100;
/// Bytes of a long text whose syntax is looked at for a snippet.
const SNIPPET_SOURCE_BYTES: usize = 4_096;
/// Texts that are read at once to look for their dates.
const DATED_TEXTS_AT_ONCE: usize = 500;
/// Years of a range that are each searched for in texts. More are searched for by their first digits.
const SEARCHED_YEARS_MAX: i16 = 20;
/// The last year that a date in a text can have.
const YEAR_MAX: i16 = 9_999;

pub(super) struct FindEntities;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FindEntitiesInput {
    /// Words in names, aliases, entries, posts, tags and types.
    query: Option<String>,
    /// The kind of entity.
    entity_type: Option<EntityTypeWord>,
    /// Part of the name.
    name: Option<String>,
    /// Names like it, misspelt ones too.
    #[serde(default)]
    name_fuzzy: bool,
    /// The whole name.
    #[serde(default)]
    name_exact: bool,
    /// The subtype: NPC, City.
    r#type: Option<String>,
    /// All of these.
    tags: Option<Vec<String>>,
    /// What it belongs to or is in, by id or unique name.
    parent: Option<EntityReference>,
    /// By its date: start, end or both.
    date_range: Option<DateRange>,
    /// false: ids and names only, for looking around.
    include_full: Option<bool>,
    /// From 1.
    #[schemars(range(min = 1))]
    page: Option<usize>,
    /// Rows of a page, 25 if left out; 0 for all.
    #[schemars(range(max = 100))]
    limit: Option<usize>,
    /// Changed since this moment.
    last_synced: Option<String>,
    /// The `next_cursor` of the answer before.
    cursor: Option<String>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

/// Days, both included; either may be left out.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-brief" = true))]
pub(super) struct DateRange {
    /// 2025-05-01.
    start: Option<String>,
    /// 2025-05-31.
    end: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FindEntitiesOutput {
    entities: Vec<EntityView>,
    sync_info: SyncInfo,
    /// How fresh it is, on a campaign that is linked to Kanka.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    mirror: Option<MirrorFreshness>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SyncInfo {
    request_timestamp: Moment,
    newest_updated_at: Option<Moment>,
    /// How many were found; there are more if `more` is true.
    total_count: usize,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    returned_count: usize,
    /// Send it as cursor for the next rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for FindEntities {
    const NAME: &'static str = "find_entities";
    const TITLE: &'static str = "Find entities";
    const SUMMARY: &'static str = "Search the lore: people, places, factions, items, notes, quests. All filters combine. Long \
        entries are cut; get_entities has them whole.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/entities")];
    const TEXT_FIELD: Option<&'static str> = Some("entities");
    type Input = FindEntitiesInput;
    type Output = FindEntitiesOutput;

    async fn run(app: &App, call: &Call<'_>, input: FindEntitiesInput) -> Result<FindEntitiesOutput, Fault> {
        let request_timestamp = Moment::from(app.clock.now());
        let days = input.date_range.as_ref().map(DateRange::parse).transpose()?;
        let rows = PageRows::parse(&input)?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let filter = input.filter(&lore)?;
        let query = input.query.as_deref().map(str::trim).filter(|query| !query.is_empty());
        let children = lore.children_of(input.parent.as_ref())?;
        let find = || {
            let mut matches = lore.state().find(&filter);
            matches.retain(|found| children.as_ref().is_none_or(|children| children.contains(&found.entity_id)));
            matches
        };
        let mut found = match query {
            Some(query) => app.search_lore(&lore, filter.clone(), query, rows.start.rest, children.as_ref()).await?,
            None => SearchResult::without_query(find()),
        };
        if let Some(days) = days {
            match query {
                // Only some of the hits were ranked: the days have to be known before that.
                Some(query) if found.rest.is_some() || rows.start.rest.is_some() => {
                    let dated = app.matches_on_days(&lore, &find(), days).await?;
                    found = app.search_lore(&lore, filter.clone(), query, rows.start.rest, Some(&dated)).await?;
                }
                _ => {
                    let dated = app.matches_on_days(&lore, &found.matches, days).await?;
                    found.matches.retain(|found| dated.contains(&found.entity_id));
                }
            }
        }
        let page: Vec<&EntityMatch> = found.matches.iter().skip(rows.start.skipped).take(rows.count).collect();
        let is_full = input.include_full.unwrap_or(true);
        let shown = page.iter().filter(|_| is_full);
        let with_snippets = found.hit_places(shown.map(|found| found.entity_id));
        let entities = app.page_views(&lore, &page, is_full, (&with_snippets, query)).await?;
        let newest = page.iter().filter_map(|found| lore.visible_entity(found.entity_id));
        let newest_updated_at = newest.map(|entity| lore.updated_at(entity)).max().map(Moment::from);
        let end = rows.start.skipped + entities.len();
        let total_count = rows.start.total(found.matches.len());
        let next_cursor = rows.start.next_page(end, found.matches.len(), found.rest);
        let sync_info = SyncInfo {
            request_timestamp,
            newest_updated_at,
            total_count,
            more: found.rest.is_some(),
            returned_count: entities.len(),
            next_cursor,
        };
        Ok(FindEntitiesOutput { entities, sync_info, mirror: None })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        app.complete_lore_argument(caller, request).await
    }
}

impl FindEntitiesInput {
    fn filter(&self, lore: &EnteredLore) -> Result<EntityFilter, Fault> {
        let name = self.name.as_deref().map(str::trim).filter(|name| !name.is_empty()).map(ToOwned::to_owned);
        let name = name.map(|name| match (self.name_fuzzy, self.name_exact) {
            (true, _) => NameFilter::Fuzzy(name),
            (false, true) => NameFilter::Exactly(name),
            (false, false) => NameFilter::Contains(name),
        });
        let word = self.entity_type;
        let subtype = self.r#type.clone().filter(|text| !text.trim().is_empty());
        let since = self.last_synced.as_deref().map(|text| parse_moment(text, "/last_synced")).transpose()?;
        let subtype_or_tag = word.and_then(EntityTypeWord::subtype).filter(|_| subtype.is_none());
        Ok(EntityFilter {
            entity_type: word.map(EntityTypeWord::entity_type),
            subtype,
            subtype_or_tag: subtype_or_tag.map(ToOwned::to_owned),
            tags: self.tags.clone().unwrap_or_default(),
            name,
            updated_after: since,
            ..lore.entity_filter()
        })
    }
}

impl EnteredLore {
    /// The children of the entity that a filter names.
    fn children_of(&self, parent: Option<&EntityReference>) -> Result<Option<BTreeSet<u64>>, Fault> {
        let parent = parent.map(|parent| self.resolve_entity(parent, "/parent")).transpose()?;
        Ok(parent.map(|parent| self.state().children(parent).into_iter().collect()))
    }
}

/// Which rows of all that were found are answered.
#[derive(Clone, Copy)]
struct PageRows {
    start: SearchCursor,
    count: usize,
}

impl PageRows {
    fn parse(input: &FindEntitiesInput) -> Result<Self, Fault> {
        let count = match input.limit {
            None => PAGE_DEFAULT,
            Some(0) => limits::FOUND_ROWS_MAX,
            Some(limit) => limit.min(PAGE_MAX),
        };
        let Some(cursor) = input.cursor.as_deref() else {
            let page = input.page.unwrap_or(1).max(1);
            return Ok(Self { start: SearchCursor::skipping((page - 1).saturating_mul(count)), count });
        };
        if input.page.is_some() {
            let fault = Fault::new(Code::InvalidParams, "page and cursor both say where to go on");
            return Err(fault.with_path("/page").hint("send one of the two"));
        }
        Ok(Self { start: SearchCursor::parse(cursor)?, count })
    }
}

impl DateRange {
    fn parse(&self) -> Result<Days, Fault> {
        let day = |text: &Option<String>, field: &str| match text.as_deref().map(str::trim) {
            None | Some("") => Ok(None),
            Some(text) => parse_date(text).map(Some).ok_or_else(|| {
                Fault::new(Code::InvalidParams, format!("{:?} is no date", crate::truncate_for_message(text)))
                    .with_path(format!("/date_range/{field}"))
                    .value(&text.into())
                    .hint("send one like 2025-05-30")
            }),
        };
        Ok(Days { start: day(&self.start, "start")?, end: day(&self.end, "end")? })
    }
}

#[derive(Clone, Copy)]
struct Days {
    start: Option<Date>,
    end: Option<Date>,
}

impl Days {
    fn contains(self, date: Date) -> bool {
        self.start.is_none_or(|start| start <= date) && self.end.is_none_or(|end| date <= end)
    }
}

impl App {
    /// The entities of these matches whose date is in a range.
    async fn matches_on_days(
        &self,
        lore: &EnteredLore,
        matches: &[EntityMatch],
        days: Days,
    ) -> Result<BTreeSet<u64>, Fault> {
        let ids: Vec<u64> = matches.iter().map(|found| found.entity_id).collect();
        let years = self.entities_naming_years(lore, ids.len(), days).await?;
        self.entities_on_days(lore, &ids, days, years.as_ref()).await
    }

    /// The entities whose entry has a word that is a year of the range, or, of many years, begins like one: no other entry
    /// has a date in it. `None` if reading the entries is as fast.
    async fn entities_naming_years(
        &self,
        lore: &EnteredLore,
        entities: usize,
        days: Days,
    ) -> Result<Option<BTreeSet<u64>>, Fault> {
        if entities <= DATED_TEXTS_AT_ONCE {
            return Ok(None);
        }
        let first = days.start.map_or(0, Date::year);
        let last = days.end.map_or(YEAR_MAX, Date::year);
        let terms: Vec<SearchTerm> = if last.saturating_sub(first) < SEARCHED_YEARS_MAX {
            (first..=last).map(|year| SearchTerm::Word(format!("{year:04}"))).collect()
        } else {
            (first / 1_000..=last / 1_000).map(|thousands| SearchTerm::Prefix(thousands.to_string())).collect()
        };
        let mut found = BTreeSet::new();
        for term in terms {
            found.extend(self.entities_with_term(lore, term).await?);
        }
        Ok(Some(found))
    }

    /// Those of the entities whose date is in a range: their own date, or the one that their entry names. Only entries of
    /// `candidates` are read, if they are given.
    async fn entities_on_days(
        &self,
        lore: &EnteredLore,
        ids: &[u64],
        days: Days,
        candidates: Option<&BTreeSet<u64>>,
    ) -> Result<BTreeSet<u64>, Fault> {
        let mut found = BTreeSet::new();
        let has_own_date = |entity: &Entity| entity.details().date.as_deref().and_then(parse_date).is_some();
        let is_candidate = |entity: &Arc<Entity>| {
            has_own_date(entity) || candidates.is_none_or(|candidates| candidates.contains(&entity.entity_id))
        };
        let entities: Vec<&Arc<Entity>> =
            ids.iter().filter_map(|id| lore.visible_entity(*id)).filter(|entity| is_candidate(entity)).collect();
        for part in entities.chunks(DATED_TEXTS_AT_ONCE) {
            let entities = part.iter().copied();
            let undated = entities.clone().filter(|entity| !has_own_date(entity));
            let texts = self.load_texts(&lore.campaign_id, undated.filter_map(|entity| entity.text.as_ref())).await?;
            for entity in entities {
                let own = entity.details().date.as_deref().and_then(parse_date);
                let date = own.or_else(|| date_in_entry(texts.markdown(entity.text.as_ref())));
                if date.is_some_and(|date| days.contains(date)) {
                    found.insert(entity.entity_id);
                }
            }
        }
        Ok(found)
    }

    /// The rows of a page. Texts are read a part at a time, so that a large page does not hold all of them at once: what is
    /// cut of an entry in the end is let go with its part.
    async fn page_views(
        &self,
        lore: &EnteredLore,
        page: &[&EntityMatch],
        is_full: bool,
        (places, query): (&super::search::HitPlaces, Option<&str>),
    ) -> Result<Vec<EntityView>, Fault> {
        let mut entities = Vec::with_capacity(page.len());
        if !is_full {
            let shown = page.iter().filter_map(|found| lore.visible_entity(found.entity_id));
            entities.extend(shown.map(|entity| EntityView::minimal(entity)));
            return Ok(entities);
        }
        let words = query.map(search_tokens::tokens).unwrap_or_default();
        let mut lengths = Vec::with_capacity(page.len());
        for part in page.chunks(SHOWN_TEXTS_AT_ONCE) {
            let texts = self.texts_for_page(lore, part, places).await?;
            for found in part {
                let Some(entity) = lore.visible_entity(found.entity_id) else { continue };
                let snippet =
                    places.get(&found.entity_id).and_then(|place| found_snippet(lore, entity, place, &texts, &words));
                let view = EntityView { match_score: found.score, snippet, ..lore.full_view(entity, &texts) };
                lengths.push(view.entry.as_ref().map_or(0, |entry| entry.chars().count()));
                entities.push(view);
            }
            // With more rows the share of each only becomes smaller.
            let share = entry_share(&lengths);
            for (entity, _) in entities.iter_mut().zip(&lengths).filter(|(_, length)| **length > share) {
                shorten_entry(entity, share);
            }
        }
        mark_cut_entries(&mut entities, &lengths);
        Ok(entities)
    }

    /// The texts that a page shows, or shows snippets of.
    async fn texts_for_page(
        &self,
        lore: &EnteredLore,
        page: &[&EntityMatch],
        hits: &super::search::HitPlaces,
    ) -> Result<Texts, Fault> {
        let entities = page.iter().filter_map(|found| lore.visible_entity(found.entity_id));
        let wanted = entities.map(|entity| {
            let in_post = hits.get(&entity.entity_id).and_then(|place| place.post_id);
            let post = in_post.and_then(|id| lore.visible_posts(entity).find(|post| post.post_id == id));
            [entity.text.as_ref(), post.and_then(|post| post.text.as_ref())]
        });
        let wanted: Vec<_> = wanted.flatten().flatten().collect();
        self.load_markdown(&lore.campaign_id, wanted.into_iter()).await
    }
}

/// Where the text that was found has the words. Names in mentions are those that the caller may see.
fn found_snippet(
    lore: &EnteredLore,
    entity: &skald_domain::lore::Entity,
    place: &FoundBy,
    texts: &Texts,
    words: &[String],
) -> Option<String> {
    let post = place.post_id.and_then(|id| lore.visible_posts(entity).find(|post| post.post_id == id));
    let text = post.map_or(entity.text.as_ref(), |post| post.text.as_ref());
    let name = |id: u64| lore.named_entity(id).and_then(|named| named.name);
    let snippet_of = |markdown: &str| {
        let plain = skald_markup::plain_text_with_names(markdown, name);
        let snippet = skald_markup::snippet(&plain, words, limits::SNIPPET_CHARS_MAX, fold_text);
        // An entity that was found by its name has a text without the words.
        let folded = fold_text(&snippet);
        words.iter().any(|word| folded.contains(word)).then_some(snippet)
    };
    // The syntax of a long text is looked at only near the words, unless they are in nothing that is shown there.
    let markdown = texts.markdown(text);
    let near = skald_markup::lines_around_match(markdown, words, SNIPPET_SOURCE_BYTES, fold_text);
    snippet_of(near).or_else(|| (near.len() < markdown.len()).then(|| snippet_of(markdown))?)
}

/// Ends entries that are longer than their share with the mark of a cut one. `lengths` are those of the whole entries.
fn mark_cut_entries(entities: &mut [EntityView], lengths: &[usize]) {
    let share = entry_share(lengths);
    for (entity, _) in entities.iter_mut().zip(lengths).filter(|(_, length)| **length > share) {
        shorten_entry(entity, share);
        if let Some(entry) = &mut entity.entry {
            *entry = format!("{} {CUT_MARK}", entry.trim_end());
            entity.truncated = true;
        }
    }
}

fn shorten_entry(entity: &mut EntityView, chars: usize) {
    if let Some(entry) = &mut entity.entry
        && let Some((end, _)) = entry.char_indices().nth(chars)
    {
        entry.truncate(end);
        entry.shrink_to_fit();
    }
}

/// How many characters each entry may have, so that the short ones leave their share to the long ones.
fn entry_share(lengths: &[usize]) -> usize {
    if lengths.iter().sum::<usize>() <= ENTRIES_CHARS_MAX {
        return usize::MAX;
    }
    let (mut left, mut sorted) = (ENTRIES_CHARS_MAX, lengths.to_vec());
    sorted.sort_unstable();
    for (index, length) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        if *length > share {
            return share.max(ENTRY_CHARS_LEAST);
        }
        left -= length;
    }
    usize::MAX
}
