//! Search over the lore: names, aliases, types and tags in memory, texts in the store's search rows, merged by rank.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use skald_domain::lore::{EntityFilter, EntityMatch, MatchRank};

use super::access::EnteredLore;
use super::stream::{ENTITIES, POSTS, TIMELINE};
use crate::{App, Fault, limits};
use skald_journal::search_tokens::{self, SearchTerm};
use skald_journal::{SearchClass, SearchHit, SearchQuery};

/// What was found, the best first.
pub(super) struct SearchResult {
    pub matches: Vec<EntityMatch>,
    /// For each entity whose text was found: where.
    places: HitPlaces,
    /// If there are more hits than are ranked: where they go on.
    pub rest: Option<UnrankedRest>,
}

/// Where the hits begin that are not ranked. They follow the ranked ones, the newest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnrankedRest {
    /// Entities whose texts have the words as they were typed were ranked down to this id.
    pub ranked_from: u32,
    /// The next hits have lower ids.
    pub below: u32,
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
    /// Whether all words are in it as they were typed; otherwise the last is the beginning of one.
    is_whole: bool,
    is_frequent: bool,
}

impl SearchResult {
    pub(super) fn without_query(matches: Vec<EntityMatch>) -> Self {
        Self { matches, places: HitPlaces::new(), rest: None }
    }

    /// Where the texts of these entities were found.
    pub(super) fn hit_places(&self, ids: impl Iterator<Item = u64>) -> HitPlaces {
        ids.filter_map(|id| Some((id, *self.places.get(&id)?))).collect()
    }
}

/// Texts to search for.
struct TextSearch<'a> {
    lore: &'a EnteredLore,
    fits: Option<Arc<FittingEntities>>,
    /// The terms of the query; the last may be a prefix.
    terms: Vec<SearchTerm>,
    /// The same terms as whole words.
    whole_terms: Vec<SearchTerm>,
}

impl<'a> TextSearch<'a> {
    fn new(lore: &'a EnteredLore, fits: Option<Arc<FittingEntities>>, query: &str) -> Self {
        let terms = search_tokens::query_terms(query);
        let whole_word = |term: &SearchTerm| match term {
            SearchTerm::Prefix(word) => SearchTerm::Word(word.clone()),
            SearchTerm::Word(_) | SearchTerm::Phrase(_) => term.clone(),
        };
        let whole_terms = terms.iter().map(whole_word).collect();
        Self { lore, fits, terms, whole_terms }
    }

    fn has_prefix(&self) -> bool {
        self.terms != self.whole_terms
    }
}

/// The entities whose texts are searched: by default all.
#[derive(Clone, Default)]
struct TextRange {
    /// Only those with lower ids.
    below: Option<u32>,
    /// None of these, which have been answered.
    ranked: Arc<HitPlaces>,
}

impl TextRange {
    fn contains(&self, entity_id: u64) -> bool {
        self.below.is_none_or(|below| entity_id < u64::from(below)) && !self.ranked.contains_key(&entity_id)
    }
}

impl App {
    /// Entities that fit a filter and a query. Names come before texts. Of more than `limits::RANKED_HITS_MAX` texts only
    /// the newest are ranked; `rest` asks for the others.
    pub(super) async fn search_lore(
        &self,
        lore: &EnteredLore,
        filter: EntityFilter,
        query: &str,
        rest: Option<UnrankedRest>,
    ) -> Result<SearchResult, Fault> {
        let search = TextSearch::new(lore, lore.fitting_entities(&filter), query);
        let score = |id: u64| search.fits.as_ref().and_then(|fits| *fits.get(&id)?);
        let text_match = |entity_id| EntityMatch { entity_id, rank: MatchRank::NoQuery, score: score(entity_id) };
        let named = lore.state().find(&EntityFilter { query: Some(query.to_owned()), ..filter });
        let mut seen: BTreeSet<u64> = named.iter().map(|found| found.entity_id).collect();
        if let Some(rest) = rest {
            let (places, rest) = self.search_rest(&search, rest).await?;
            let unseen = places.keys().rev().filter(|id| !seen.contains(id));
            return Ok(SearchResult { matches: unseen.map(|id| text_match(*id)).collect(), places, rest });
        }
        let (places, rest) = self.search_ranked(&search).await?;
        let mut hits: Vec<(u64, FoundBy)> = places.iter().map(|(id, place)| (*id, *place)).collect();
        hits.sort_by_key(|(id, place)| (!place.is_whole, !place.is_frequent, Reverse(*id)));
        let mentioning = lore.mentioning_entities(&named, search.fits.as_deref());
        let texts = hits.into_iter().map(|(id, _)| id).chain(mentioning).filter(|id| seen.insert(*id));
        let texts: Vec<EntityMatch> = texts.map(text_match).collect();
        Ok(SearchResult { matches: named.into_iter().chain(texts).collect(), places, rest })
    }

    /// The entities whose entry has a word, as far as the caller may see them.
    pub(super) async fn entities_with_word(&self, lore: &EnteredLore, word: &str) -> Result<Vec<u64>, Fault> {
        let hits = self.journal.search(SearchQuery {
            collection: ENTITIES.to_owned(),
            partition: lore.campaign_id.clone(),
            classes: lore.visible_classes(),
            terms: vec![SearchTerm::Word(word.to_owned())],
            below: None,
            limit: usize::MAX,
            accepts: lore.row_filter(false),
        });
        let hits = hits.await.map_err(|error| self.store_fault(&error))?;
        Ok(hits.into_iter().map(|hit| hit.serial.into()).collect())
    }

    /// The hits that are ranked, and where the others begin.
    ///
    /// Whole words are searched for first: an index reads them from the newest and stops at the limit. For a prefix it
    /// has to read all texts with any of its words, which takes longer, and is done only if there is room for them.
    async fn search_ranked(&self, search: &TextSearch<'_>) -> Result<(HitPlaces, Option<UnrankedRest>), Fault> {
        let mut places = self.search_texts(search, &search.whole_terms, TextRange::default()).await?;
        for place in places.values_mut() {
            place.is_whole = true;
        }
        if places.len() > limits::RANKED_HITS_MAX {
            let ranked_from = keep_newest(&mut places, limits::RANKED_HITS_MAX);
            let below = if search.has_prefix() { u32::MAX } else { ranked_from };
            return Ok((places, Some(UnrankedRest { ranked_from, below })));
        }
        if !search.has_prefix() {
            return Ok((places, None));
        }
        let mut longer = self.search_texts(search, &search.terms, TextRange::default()).await?;
        let is_complete = longer.len() <= limits::RANKED_HITS_MAX;
        longer.retain(|id, _| !places.contains_key(id));
        let below = keep_newest(&mut longer, limits::RANKED_HITS_MAX - places.len());
        places.append(&mut longer);
        Ok((places, (!is_complete).then_some(UnrankedRest { ranked_from: 0, below })))
    }

    /// The next hits after the ranked ones, and where those after them begin.
    async fn search_rest(
        &self,
        search: &TextSearch<'_>,
        rest: UnrankedRest,
    ) -> Result<(HitPlaces, Option<UnrankedRest>), Fault> {
        let mut ranked = HitPlaces::new();
        if rest.ranked_from < rest.below {
            ranked = self.search_texts(search, &search.whole_terms, TextRange::default()).await?;
            ranked.retain(|id, _| *id >= u64::from(rest.ranked_from));
        }
        let range = TextRange { below: Some(rest.below), ranked: Arc::new(ranked) };
        let mut places = self.search_texts(search, &search.terms, range).await?;
        let is_complete = places.len() <= limits::RANKED_HITS_MAX;
        let below = keep_newest(&mut places, limits::RANKED_HITS_MAX);
        Ok((places, (!is_complete).then_some(UnrankedRest { below, ..rest })))
    }

    /// The newest entities whose entry or posts meet all terms, at least one more than are ranked if there are so many.
    async fn search_texts(
        &self,
        search: &TextSearch<'_>,
        terms: &[SearchTerm],
        range: TextRange,
    ) -> Result<HitPlaces, Fault> {
        let mut places = HitPlaces::new();
        if terms.is_empty() {
            return Ok(places);
        }
        let committed = Arc::clone(&search.lore.committed);
        for collection in [ENTITIES, POSTS] {
            let (state, fits, range) = (Arc::clone(&committed), search.fits.clone(), range.clone());
            let (is_post, below) = (collection == POSTS, range.below);
            let may_find = search.lore.row_filter(is_post);
            let accepts = move |serial: u32| {
                let entity_id = if is_post {
                    state.state.post(serial.into()).map(|(entity, _)| entity.entity_id)
                } else {
                    Some(u64::from(serial))
                };
                entity_id
                    .is_some_and(|id| range.contains(id) && fits.as_ref().is_none_or(|fits| fits.contains_key(&id)))
                    && may_find(serial)
            };
            let hits = self.journal.search(SearchQuery {
                collection: collection.to_owned(),
                partition: search.lore.campaign_id.clone(),
                classes: search.lore.visible_classes(),
                terms: terms.to_vec(),
                below: below.filter(|_| !is_post),
                // All posts, since a new post may belong to an old entity.
                limit: if is_post { usize::MAX } else { limits::RANKED_HITS_MAX + 1 },
                accepts: Arc::new(accepts),
            });
            for hit in hits.await.map_err(|error| self.store_fault(&error))? {
                add_hit(&mut places, &committed.state, hit, is_post);
            }
        }
        keep_newest(&mut places, limits::RANKED_HITS_MAX + 1);
        Ok(places)
    }
}

/// Drops all but the newest hits, and returns the lowest id that is left: the highest there is, if none is left.
fn keep_newest(places: &mut HitPlaces, count: usize) -> u32 {
    while places.len() > count {
        places.pop_first();
    }
    places.first_key_value().and_then(|(id, _)| u32::try_from(*id).ok()).unwrap_or(u32::MAX)
}

fn add_hit(places: &mut HitPlaces, state: &skald_domain::lore::LoreState, hit: SearchHit, is_post: bool) {
    let serial = u64::from(hit.serial);
    let (entity_id, post_id) = if is_post {
        let Some((entity, _)) = state.post(serial) else { return };
        (entity.entity_id, Some(serial))
    } else {
        (serial, None)
    };
    let found = FoundBy { post_id, is_whole: false, is_frequent: hit.is_frequent };
    places.entry(entity_id).and_modify(|place| place.is_frequent |= found.is_frequent).or_insert(found);
}

impl EnteredLore {
    /// The classes of search rows that the caller may see. No other row is read.
    fn visible_classes(&self) -> Vec<SearchClass> {
        let mut classes = vec![SearchClass::Public, SearchClass::Members];
        if self.sees_private || self.has_revealed_lore() {
            classes.push(SearchClass::GameMaster);
        }
        classes
    }

    /// Whether a row may be found. Of the rows of game masters others find what was revealed to them, before anything is
    /// ranked or counted.
    pub(super) fn row_filter(&self, is_post: bool) -> Arc<dyn Fn(u32) -> bool + Send + Sync> {
        if !self.has_revealed_lore() {
            return Arc::new(|_| true);
        }
        let (committed, redaction) = (Arc::clone(&self.committed), self.redaction.clone());
        Arc::new(move |serial| {
            let serial = u64::from(serial);
            if is_post {
                let found = committed.state.post(serial);
                return found
                    .is_some_and(|(entity, post)| redaction.is_visible(&**entity) && redaction.is_visible(&**post));
            }
            committed.state.entity(serial).is_some_and(|entity| redaction.is_visible(&**entity))
        })
    }

    /// The classes of search rows of a collection that the caller may see. What named people may see is found by all and
    /// filtered by who is named.
    pub(super) fn searched_classes(&self, collection: &str) -> Vec<SearchClass> {
        let mut classes = self.visible_classes();
        if collection == TIMELINE {
            classes.push(SearchClass::NamedPeople);
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
