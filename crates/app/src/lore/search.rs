//! Search over the lore: names, aliases, types and tags in memory, texts in the store's search rows, merged by rank.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skald_domain::lore::{EntityFilter, EntityMatch, MatchRank};

use super::access::EnteredLore;
use super::stream::{ENTITIES, POSTS};
use crate::{App, Fault, limits};
use skald_journal::{SearchClass, SearchHit, SearchQuery, search_tokens};

/// What was found, the best first.
pub(super) struct SearchResult {
    pub matches: Vec<EntityMatch>,
    /// For each entity whose text was found: where.
    places: HitPlaces,
    /// If there are more hits than are ranked: where they go on.
    pub next_below: Option<u32>,
}

/// Entities that fit a filter, with the score of a fuzzy name.
type FittingEntities = BTreeMap<u64, Option<f64>>;

/// Entities that were found by name and whose mentions are followed.
const FOLLOWED_NAMES_MAX: usize = 20;

pub(super) type HitPlaces = BTreeMap<u64, FoundBy>;

/// The text in which an entity was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FoundBy {
    /// The post, or `None` for the entity's own entry.
    pub post_id: Option<u64>,
    is_frequent: bool,
}

impl SearchResult {
    pub(super) fn without_query(matches: Vec<EntityMatch>) -> Self {
        Self { matches, places: HitPlaces::new(), next_below: None }
    }

    /// Where the texts of these entities were found.
    pub(super) fn hit_places(&self, ids: impl Iterator<Item = u64>) -> HitPlaces {
        ids.filter_map(|id| Some((id, *self.places.get(&id)?))).collect()
    }
}

impl App {
    /// Entities that fit a filter and a query. Names come before texts. Of more than `limits::RANKED_HITS_MAX` texts only
    /// the newest are ranked; those below `below` follow unranked, the newest first.
    pub(super) async fn search_lore(
        &self,
        lore: &EnteredLore,
        filter: EntityFilter,
        query: &str,
        below: Option<u32>,
    ) -> Result<SearchResult, Fault> {
        let fits = lore.fitting_entities(&filter);
        let places = self.search_texts(lore, query, fits.as_ref(), below).await?;
        let is_capped = places.len() > limits::RANKED_HITS_MAX;
        let mut named = lore.state().find(&EntityFilter { query: Some(query.to_owned()), ..filter });
        let mut seen: BTreeSet<u64> = named.iter().map(|found| found.entity_id).collect();
        let mut hits: Vec<(u64, FoundBy)> = places.iter().map(|(id, place)| (*id, *place)).rev().collect();
        let next_below = is_capped.then(|| {
            hits.truncate(limits::RANKED_HITS_MAX);
            hits.last().map_or(0, |(id, _)| u32::try_from(*id).unwrap_or(u32::MAX))
        });
        if below.is_none() {
            hits.sort_by_key(|(id, place)| (!place.is_frequent, std::cmp::Reverse(*id)));
        }
        let mentioning = if below.is_none() { lore.mentioning_entities(&named, fits.as_deref()) } else { Vec::new() };
        let texts = hits.into_iter().map(|(id, _)| id).chain(mentioning).filter(|id| seen.insert(*id));
        let score = |id: u64| fits.as_ref().and_then(|fits| *fits.get(&id)?);
        let texts = texts.map(|entity_id| EntityMatch { entity_id, rank: MatchRank::NoQuery, score: score(entity_id) });
        let texts: Vec<EntityMatch> = texts.collect();
        // Entities that are found by name stand on the first pages.
        if below.is_some() {
            named.clear();
        }
        let matches = named.into_iter().chain(texts).collect();
        Ok(SearchResult { matches, places, next_below })
    }

    /// The newest entities whose entry or posts have all words of a query, one more than are ranked.
    async fn search_texts(
        &self,
        lore: &EnteredLore,
        query: &str,
        fits: Option<&Arc<FittingEntities>>,
        below: Option<u32>,
    ) -> Result<HitPlaces, Fault> {
        let terms = search_tokens::query_terms(query);
        let mut places = HitPlaces::new();
        if terms.is_empty() {
            return Ok(places);
        }
        let committed = Arc::clone(&lore.committed);
        for collection in [ENTITIES, POSTS] {
            let (state, fits) = (Arc::clone(&committed), fits.cloned());
            let is_post = collection == POSTS;
            let accepts = move |serial: u32| {
                let entity_id = if is_post {
                    state.state.post(serial.into()).map(|(entity, _)| entity.entity_id)
                } else {
                    Some(u64::from(serial))
                };
                let is_below = |id: u64| !is_post || below.is_none_or(|below| id < u64::from(below));
                entity_id.is_some_and(|id| is_below(id) && fits.as_ref().is_none_or(|fits| fits.contains_key(&id)))
            };
            let hits = self.journal.search(SearchQuery {
                collection: collection.to_owned(),
                partition: lore.campaign_id.clone(),
                classes: lore.visible_classes(),
                terms: terms.clone(),
                below: below.filter(|_| !is_post),
                // All posts, since a new post may belong to an old entity.
                limit: if is_post { usize::MAX } else { limits::RANKED_HITS_MAX + 1 },
                accepts: Arc::new(accepts),
            });
            for hit in hits.await.map_err(|error| self.store_fault(&error))? {
                add_hit(&mut places, &committed.state, hit, is_post);
            }
        }
        while places.len() > limits::RANKED_HITS_MAX + 1 {
            places.pop_first();
        }
        Ok(places)
    }
}

fn add_hit(places: &mut HitPlaces, state: &skald_domain::lore::LoreState, hit: SearchHit, is_post: bool) {
    let serial = u64::from(hit.serial);
    let (entity_id, post_id) = if is_post {
        let Some((entity, _)) = state.post(serial) else { return };
        (entity.entity_id, Some(serial))
    } else {
        (serial, None)
    };
    let found = FoundBy { post_id, is_frequent: hit.is_frequent };
    places.entry(entity_id).and_modify(|place| place.is_frequent |= found.is_frequent).or_insert(found);
}

impl EnteredLore {
    /// The classes of search rows that the caller may see. No other row is read.
    fn visible_classes(&self) -> Vec<SearchClass> {
        let mut classes = vec![SearchClass::Public, SearchClass::Members];
        if self.sees_private {
            classes.push(SearchClass::GameMaster);
        }
        classes
    }

    /// The entities that fit a filter; `None` if all do.
    fn fitting_entities(&self, filter: &EntityFilter) -> Option<Arc<FittingEntities>> {
        let fits_all = filter.entity_type.is_none()
            && filter.subtype.is_none()
            && filter.tags.is_empty()
            && filter.name.is_none()
            && filter.updated_after.is_none();
        let found = || self.state().find(filter).into_iter().map(|found| (found.entity_id, found.score)).collect();
        (!fits_all).then(|| Arc::new(found()))
    }

    /// The entities whose texts mention those that were found by their whole name or a word of it, as far as the caller
    /// sees them. A text has the number of what it mentions, not the name.
    fn mentioning_entities(&self, named: &[EntityMatch], fits: Option<&FittingEntities>) -> Vec<u64> {
        let named = named.iter().filter(|found| found.rank <= MatchRank::NameWord).take(FOLLOWED_NAMES_MAX);
        let places = named.flat_map(|found| self.state().mentioned_by(found.entity_id));
        let visible = places.filter(|place| {
            self.visible_entity(place.entity_id).is_some()
                && place.post_id.is_none_or(|post_id| self.is_post_visible(post_id))
                && fits.is_none_or(|fits| fits.contains_key(&place.entity_id))
        });
        visible.map(|place| place.entity_id).take(limits::RANKED_HITS_MAX).collect()
    }
}
